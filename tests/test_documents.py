"""What the documents say is true: their links lead somewhere, their commands parse, their Python runs."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

import nodewise as nw
from benchmarks.pages import PAGES
from nodewise.cli import main
from nodewise.graph import write_graph
from tests.small_graphs import random_graph

ROOT = Path(__file__).parents[1]
DOCUMENTS = sorted(path for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")] if "_generated" not in path.parts)


def blocks(path: Path, language: str) -> list[str]:
    """The fenced blocks of a document in one language; ``""`` for those without."""
    fences = re.findall(r"^```(\w*)\n(.*?)^```$", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    return [text for name, text in fences if name == language]


def commands() -> list[str]:
    """Every command line of ours that a document shows, without the words beside it."""
    whole = (re.sub(r"\\\n\s*", "", block) for path in DOCUMENTS for block in blocks(path, "") + blocks(path, "bash"))
    lines = (line for block in whole for line in block.splitlines())
    return sorted({re.split(r"\s{2,}|\s#", line.strip())[0] for line in lines if line.startswith("nodewise ")})


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(path: Path) -> None:
    targets = re.findall(r"\]\(([^)#]+)[^)]*\)", path.read_text(encoding="utf-8"))
    made = "_generated/"  # pages that make docs makes, and whose links Sphinx checks
    assert not [
        target
        for target in targets
        if not target.startswith(("https://", made)) and not (path.parent / target).exists()
    ]


def headings(path: Path) -> set[str]:
    """What a link may name of a page: its headings, as the site's addresses spell them."""
    found = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in found}


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_links_into_a_page_name_one_of_its_headings(path: Path) -> None:
    inside = re.findall(r"\]\(([\w./-]*\.md)?#([\w-]+)\)", path.read_text(encoding="utf-8"))
    pages = {page: headings(path.parent / page if page else path) for page, _ in inside}
    assert not [f"{page}#{heading}" for page, heading in inside if heading not in pages[page]]


def test_each_of_a_reviewer_s_twelve_questions_has_an_answer_with_a_link() -> None:
    parts = re.split(r"^## (\d+)\. ", (ROOT / "docs" / "reviewer.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert parts[1::2] == [str(number) for number in range(1, 13)]
    assert not [part.splitlines()[0] for part in parts[2::2] if "](" not in part]


def test_every_picture_is_shown_on_some_page() -> None:
    shown = {name for path in DOCUMENTS for name in re.findall(r"[\w-]+\.png", path.read_text(encoding="utf-8"))}
    kept = {path.name for folder in ("images", "figures") for path in (ROOT / "docs" / folder).iterdir()}
    assert kept - shown == set(), "a picture that no page shows"


@pytest.mark.slow
def test_every_command_shown_exists_with_its_options(capfd: pytest.CaptureFixture[str]) -> None:
    assert len(commands()) >= 5
    for command in commands():
        assert main([*shlex.split(command)[1:], "--help"]) == 0, capfd.readouterr().err


@pytest.mark.long
def test_the_figures_in_readme_and_docs_are_those_of_the_result_files(tmp_path: Path) -> None:
    """The pages, made anew in a copy, are the pages that are here."""
    for name in ("benchmarks", "docs"):
        shutil.copytree(
            ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("_generated", "images", "__pycache__")
        )
    for name in ("README.md", "SECURITY.md"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / "docs" / "images").mkdir()
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "MPLBACKEND": "agg"}
    command = [sys.executable, "benchmarks/pages.py"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    pages = [path.relative_to(tmp_path) for path in (*tmp_path.glob("*.md"), *tmp_path.glob("docs/**/*.md"))]
    differing = [str(page) for page in pages if (tmp_path / page).read_bytes() != (ROOT / page).read_bytes()]
    assert differing == [], "make pages writes them"
    marked = {
        str(page)
        for page in pages
        if re.search(r"<!-- (generated|measured|audit|campaigns|[a-z-]+:begin)", (ROOT / page).read_text("utf-8"))
    }
    assert marked - {*PAGES, "README.md", "docs/departures.md"} == set(), (
        "a page that is made and that nothing here makes"
    )


TEXTS = [
    f"{'offer prize win' if i % 2 else 'meeting notes agenda'} number {i} {'cash' if i % 3 else 'plan'}"
    for i in range(100)
]


def ordered_blocks(path: Path) -> list[tuple[str, str]]:
    """The blocks of a page that a reader types, in the order in which they stand: language and text."""
    fences = re.findall(r"^```(\w*)\n(.*?)^```$", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    return [(language, text) for language, text in fences if language in ("", "bash", "python")]


def typed(block: str) -> list[str]:
    """The commands of a block, but for those that wait for a browser, take long, or need a GPU."""
    lines = [] if "--device cuda" in block else re.sub(r"\\\n\s*", "", block).splitlines()
    left_out = ("nodewise studio", "nodewise demo", "nodewise reproduce")
    return [line for line in lines if line.startswith("nodewise ") and not line.startswith(left_out)]


def files_below(folder: Path) -> dict[str, int]:
    """When each file was last written."""
    return {str(path.relative_to(folder)): path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


def prepare_data() -> None:
    """Files as `docs/start.md` and `docs/guides/data.md` call the reader's."""
    image = pytest.importorskip("PIL.Image")
    Path("articles.csv").write_text("body\n" + "\n".join(TEXTS), encoding="utf-8")
    Path("things.csv").write_text(
        "height,kind\n" + "\n".join(f"{i},{'ab'[i % 2]}" for i in range(20)), encoding="utf-8"
    )
    Path("photos").mkdir()
    for i in range(20):
        image.new("RGB", (4, 4), (12 * i, 90, 255 - 12 * i)).save(f"photos/{i}.png")
    Path("photos.csv").write_text("file\n" + "\n".join(f"photos/{i}.png" for i in range(20)), encoding="utf-8")
    chosen = [
        {"result": [{"from_name": "sentiment", "to_name": "text", "type": "choices", "value": {"choices": ["good"]}}]}
    ]
    tasks = [
        {"data": {"text": text, "body": text}, "annotations": chosen if i < 3 else []}
        for i, text in enumerate(TEXTS[:20])
    ]
    Path("tasks.json").write_text(json.dumps(tasks), encoding="utf-8")


def prepare_texts() -> None:
    """The graph, the rows that come later and the colleague's job that `docs/session.md` speaks of."""
    write_graph(nw.Graph.from_texts(TEXTS, k=3), Path("my.npz"))
    Path("next-week.csv").write_text("text\nwin a cash prize\nnotes of the plan\n", encoding="utf-8")
    Path("corrected.csv").write_text("id,text\n3,notes of the plan\n", encoding="utf-8")
    with nw.Session.create("colleague.nodewise", "my.npz", budget=9, classes=["spam", "fine"]) as session:
        session.tell(40, "spam")


def prepare_team() -> None:
    """A graph that the budget fits, and the folders of a studio for a team."""
    write_graph(nw.Graph.from_texts([f"{text} {i}" for i in range(3) for text in TEXTS], k=3), Path("articles.npz"))
    Path("answers.csv").write_text("id,label\n3,spam\n5,fine\n", encoding="utf-8")
    for name in ("jobs", "backups"):
        Path(name).mkdir()
    nw.Session.create("jobs/letters.nodewise", nw.Graph.from_texts(TEXTS, k=3), budget=3).close()


def prepare_several() -> None:
    """A graph that the budget fits."""
    write_graph(nw.Graph.from_texts([f"{text} {i}" for i in range(3) for text in TEXTS], k=3), Path("articles.npz"))


def prepare_reddit() -> None:
    """A month whose subreddits of rank 11 to 20 have users in common, word vectors, and the paper's first graph in
    small.
    """
    zstandard = pytest.importorskip("zstandard")
    pytest.importorskip("duckdb")
    posts: list[dict[str, object]] = []
    comments: list[tuple[int, str]] = []
    for rank in range(20):
        for i in range(25 - rank):
            number = len(posts)
            posts.append(
                {
                    "id": f"p{number}",
                    "author": f"u{number}",
                    "created_utc": number,
                    "subreddit": f"r{rank}",
                    "title": f"word{i % 4}",
                }
            )
            comments += [(post, f"{user}{number}") for post in (max(number - 1, 0), number) for user in "xy"]
    said = [
        {"id": f"c{i}", "link_id": f"t3_p{post}", "author": user, "body": ""} for i, (post, user) in enumerate(comments)
    ]
    for name, rows in (("RS_2014-01.zst", posts), ("RC_2014-01.zst", said)):
        Path(name).write_bytes(zstandard.ZstdCompressor().compress("\n".join(map(json.dumps, rows)).encode()))
    with zipfile.ZipFile("glove.840B.300d.zip", "w") as archive:
        archive.writestr("glove.840B.300d.txt", "".join(f"word{i}" + f" {i}" * 300 + "\n" for i in range(4)))
    Path("data").mkdir()
    write_graph(replace(random_graph(nodes=160), name="reddit1"), Path("data/reddit1.npz"))


def prepare_suggestions() -> None:
    """The job and the answers that the commands of the guide speak of."""
    import nodewise as nw

    with nw.Session.create("job.nodewise", "wine", budget=9, use_labels=False):
        Path("answers.csv").write_text("node,label\n0,class_0\n70,class_1\n150,class_2\n")


def prepare_fitted() -> None:
    """The job and the rows that the commands of the guide speak of."""
    with nw.Session.create("job.nodewise", nw.Graph.from_texts(TEXTS, k=3), budget=9, classes=["spam", "fine"]) as job:
        job.tell(0, "fine")
        job.tell(1, "spam")
    Path("new.csv").write_text("text\nwin a cash prize\nnotes of the plan\n", encoding="utf-8")


def prepare_plugins() -> None:
    """The page's whole file, in the folder that it is imported from."""
    sys.modules.pop("mine", None)  # another test's
    Path("mine.py").write_text(blocks(ROOT / "docs" / "plugins.md", "python")[0], encoding="utf-8")


PREPARED = {
    "plugins.md": prepare_plugins,
    "start.md": prepare_data,
    "guides/data.md": prepare_data,
    "guides/policies.md": lambda: None,
    "guides/statistics.md": lambda: None,
    "protocol.md": lambda: None,
    "guides/suggestions.md": prepare_suggestions,
    "guides/trust.md": lambda: None,
    "closed-form.md": lambda: None,
    "session.md": prepare_texts,
    "guides/relations.md": lambda: None,
    "guides/fitted.md": prepare_fitted,
    "several-labels.md": prepare_several,
    "team.md": prepare_team,
    "reddit.md": prepare_reddit,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", PREPARED)
def test_the_blocks_of_a_guide_run_as_typed_one_after_the_other(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, registries: None
) -> None:
    """In one folder, commands and Python alike; no block writes over a file that is there, but a session goes on."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("NODEWISE_DATA", str(tmp_path / "here" / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.syspath_prepend(tmp_path / "here")
    PREPARED[name]()
    names: dict[str, object] = {"my_label": lambda node: ("fine", "spam")[node % 2]}
    ran = 0
    for language, block in ordered_blocks(ROOT / "docs" / name):
        before = files_below(Path())
        if language == "python":
            exec(compile(block, f"{name}, a block", "exec"), names)
            ran += 1
        for command in typed(block) if language != "python" else []:
            assert main(shlex.split(command.replace("$(date +%F)", "2026-11-15"))[1:]) == 0, command
            ran += 1
        after = files_below(Path())
        changed = {file for file, written in before.items() if after.get(file) != written}
        assert not [file for file in changed if not file.endswith(".nodewise")], block
    assert ran >= 1
