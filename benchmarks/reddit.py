"""How fast the Reddit builder is, and how much memory it takes, on a generated month.

    python benchmarks/reddit.py --posts 1000000 --out benchmarks/results/reddit.json

Writes a month of N posts and 10 N comments, and one of a quarter of that, with lines as long as those of 2014; builds
graphs from each, plain and as .zst, in a process of its own; and saves lines a second, peak memory and the time of each
stage. The large month is also built with a quarter of the memory: what a month four times as large has to do with all
of it. With --bz2 a fortieth is built from .bz2. For comparison, the same run times a plain loop of ``json.loads`` over
the same lines. About 12 GB of disk for a million posts.
"""

from __future__ import annotations

import argparse
import bz2
import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from nodewise.ground.compute import numpy_generator

START, MONTH = 1_388_534_400, 31 * 86_400  # January 2014
LINES_A_POST = 10

POST = (
    '{"domain":"i.imgur.com","banned_by":null,"media_embed":{},"subreddit":"%s","selftext_html":null,"selftext":"%s",'
    '"likes":null,"secure_media":null,"link_flair_text":null,"id":"%s","secure_media_embed":{},"clicked":false,'
    '"stickied":false,"author":"%s","media":null,"score":%d,"approved_by":null,"over_18":false,"hidden":false,'
    '"thumbnail":"http://b.thumbs.redditmedia.com/3Vhy0tr9IbVdOAaS.jpg",'
    '"subreddit_id":"t5_2qh33","edited":false,"link_flair_css_class":null,"author_flair_css_class":null,"downs":0,'
    '"saved":false,"is_self":false,"permalink":"/r/%s/comments/%s/a_title/","name":"t3_%s","created":1388563200.0,'
    '"url":"http://i.imgur.com/%s.jpg",'
    '"author_flair_text":null,"title":"%s","created_utc":"%d","ups":%d,"num_comments":%d,'
    '"visited":false,"num_reports":null,"distinguished":null}\n'
)
COMMENT = (
    '{"distinguished":null,"author_flair_css_class":null,"retrieved_on":1431867412,"score_hidden":false,'
    '"subreddit":"%s","parent_id":"t3_%s","author":"%s","created_utc":"%d","name":"t1_%s","edited":false,"body":"%s",'
    '"subreddit_id":"t5_2qh33","id":"%s","controversiality":0,"link_id":"t3_%s","author_flair_text":null,'
    '"score":%d,"ups":%d,"downs":0,"gilded":0,"archived":true}\n'
)


def base36(numbers: np.ndarray) -> list[str]:
    digits = np.array(list("0123456789abcdefghijklmnopqrstuvwxyz"))
    width = 7
    letters = digits[(numbers[:, None] // 36 ** np.arange(width - 1, -1, -1)) % 36]
    return [text.lstrip("0") or "0" for text in np.ascontiguousarray(letters).view(f"<U{width}").ravel().tolist()]


def texts(rng: np.random.Generator, words: list[str], count: int, mean: float) -> list[str]:
    lengths = np.maximum(rng.lognormal(np.log(mean), 0.8, count).astype(int), 1)
    picks = np.minimum(rng.zipf(1.3, lengths.sum()) - 1, len(words) - 1)
    ends = np.cumsum(lengths)
    return [
        " ".join(words[place] for place in picks[end - length : end]) for end, length in zip(ends, lengths, strict=True)
    ]


class Generator:
    """A month's lines, a hundred thousand at a time, the same for the same seed."""

    def __init__(self, posts: int, seed: int) -> None:
        self.posts, self.seed = posts, seed
        rng = numpy_generator(seed, "words")
        letters = np.array(list("etaoinshrdlucmfwypvbgkjqxz"))
        self.words = [
            "".join(rng.choice(letters, size=2 + index % 9)) + ("" if index < 300 else f"{index % 97}")
            for index in range(20_000)
        ]
        self.bodies = texts(rng, self.words, 20_000, 45)
        self.titles = texts(rng, self.words, 20_000, 9)
        share = 1 / np.arange(1, 5001) ** 1.05  # posts a subreddit: a few large ones and a long tail
        self.subreddit = rng.choice(5000, size=posts, p=share / share.sum())
        self.users = 3 * np.bincount(self.subreddit, minlength=5000) + 5
        self.first_user = np.cumsum(self.users) - self.users
        self.created = START + rng.integers(0, MONTH, posts)

    def user(self, rng: np.random.Generator, subreddit: np.ndarray) -> np.ndarray:
        """Users who mostly stay in their subreddit, a few of them far more active than the others.

        0 is deleted, 1 a bot in all of them.
        """
        inside = (rng.random(subreddit.size) ** 2.5 * self.users[subreddit]).astype(np.int64) + self.first_user[
            subreddit
        ]
        everywhere = (rng.random(subreddit.size) ** 2.5 * (self.posts // 10)).astype(np.int64) + self.users.sum()
        chance = rng.random(subreddit.size)
        return np.select([chance < 0.25, chance < 0.26, chance < 0.4], [0, 1, everywhere + 2], inside + 2)

    def submissions(self) -> Iterator[str]:
        for start in range(0, self.posts, 100_000):
            rng = numpy_generator(self.seed, "posts", start)
            stop = min(start + 100_000, self.posts)
            names, subs = base36(np.arange(start, stop) + 100_000_000), self.subreddit[start:stop]
            people = names_of(self.user(rng, subs))
            text, title, score = (
                rng.integers(0, 40_000, stop - start),
                rng.integers(0, 20_000, stop - start),
                rng.integers(0, 500, stop - start),
            )
            columns = zip(
                names,
                subs.tolist(),
                people,
                text.tolist(),
                title.tolist(),
                score.tolist(),
                self.created[start:stop].tolist(),
                strict=True,
            )
            yield "".join(
                POST
                % (
                    f"sub{sub}",
                    self.bodies[t] if t < 20_000 else "",
                    name,
                    who,
                    s,
                    f"sub{sub}",
                    name,
                    name,
                    name,
                    self.titles[h],
                    at,
                    s,
                    s,
                )
                for name, sub, who, t, h, s, at in columns
            )

    def comments(self) -> Iterator[str]:
        for start in range(0, self.posts * LINES_A_POST, 100_000):
            rng = numpy_generator(self.seed, "comments", start)
            size = min(100_000, self.posts * LINES_A_POST - start)
            post = (rng.beta(0.7, 1.3, size) * self.posts).astype(np.int64)
            subs = self.subreddit[post]
            names, on = base36(np.arange(start, start + size) + 20_000_000_000), base36(post + 100_000_000)
            people = names_of(self.user(rng, subs))
            at, body, score = self.created[post] + 60, rng.integers(0, 20_000, size), rng.integers(0, 50, size)
            columns = zip(names, on, subs.tolist(), people, at.tolist(), body.tolist(), score.tolist(), strict=True)
            yield "".join(
                COMMENT % (f"sub{sub}", link, who, t, name, self.bodies[b], name, link, s, s)
                for name, link, sub, who, t, b, s in columns
            )

    def glove(self) -> Iterator[str]:
        rng = numpy_generator(self.seed, "glove")
        rows = [" ".join(f"{value:.5f}" for value in rng.normal(size=300)) for _ in range(200)]
        yield from (f"{word} {rows[index % 200]}\n" for index, word in enumerate(dict.fromkeys(self.words)))
        yield from (f"other{index} {rows[index % 200]}\n" for index in range(100_000))


def names_of(people: np.ndarray) -> list[str]:
    return ["[deleted]" if who == 0 else "AutoModerator" if who == 1 else f"user_{who}" for who in people.tolist()]


def generate(posts: int, seed: int, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    month = Generator(posts, seed)
    for name, parts in (
        ("RS_2014-01", month.submissions()),
        ("RC_2014-01", month.comments()),
        ("glove.txt", month.glove()),
    ):
        with (folder / name).open("w", encoding="ascii") as file:
            file.writelines(parts)


def pack(source: Path, target: Path) -> None:
    if target.suffix == ".zst":
        import zstandard

        options = zstandard.ZstdCompressionParameters.from_level(
            3, window_log=31, enable_ldm=True
        )  # as the archives are packed
        with source.open("rb") as plain, target.open("wb") as packed:
            zstandard.ZstdCompressor(compression_params=options).copy_stream(plain, packed)
    else:
        with source.open("rb") as plain, bz2.open(target, "wb", compresslevel=9) as packed:
            shutil.copyfileobj(plain, packed, 1 << 20)


def build_here(folder: Path, ending: str, size: int, memory: float) -> dict[str, object]:
    """Runs in a process of its own, so that the peak is the build's."""
    import resource

    from nodewise.datasets.reddit import Limits, RedditSettings, build_reddit
    from nodewise.ground.events import Event, Note, Progress

    seen: dict[str, float] = {}
    began = time.perf_counter()

    def listen(event: Event, /) -> None:
        if isinstance(event, (Progress, Note)):
            seen[event.task if isinstance(event, Progress) else event.message] = time.perf_counter() - began

    report = build_reddit(
        folder / f"RS_2014-01{ending}",
        folder / f"RC_2014-01{ending}",
        folder / "glove.txt",
        folder / "out",
        RedditSettings(group_size=size),
        limits=Limits(memory, threads=2),
        overwrite=True,
        reporter=listen,
    )
    seconds = time.perf_counter() - began
    order = [
        "read submissions (MB)",
        "read comments (MB)",
        "choosing posts",
        "matching comments with posts",
        "join posts",
        "read GloVe (MB)",
    ]
    ends = [seen[order[0]], seen[order[1]], seen[order[3]], seen["join posts"], seen["read GloVe (MB)"], seconds]
    names = [
        "read submissions",
        "read comments",
        "choose posts",
        "match comments, join posts",
        "read GloVe",
        "features, files",
    ]
    stages = {name: round(end - start, 2) for name, start, end in zip(names, [0.0, *ends[:-1]], ends, strict=True)}
    lines = report.submissions.lines + report.comments.lines
    used = resource.getrusage(resource.RUSAGE_SELF)
    return {
        "lines": lines,
        "seconds": round(seconds, 2),
        "lines_per_second": round(lines / seconds),
        "peak_memory_gb": round(peak_memory() / 1e9, 3),
        "cpu_seconds": round(used.ru_utime + used.ru_stime, 2),
        "stages_seconds": stages,
        "graphs": [[group.graph, group.nodes, group.edges] for group in report.groups],
    }


def peak_memory() -> int:
    """Bytes; from Linux's own record where there is one, since getrusage would also count what the parent had before
    this process.
    """
    import resource

    with contextlib.suppress(OSError):
        status = dict(
            line.split(":", 1)
            for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
            if ":" in line
        )
        return int(status["VmHWM"].split()[0]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def measure(posts: int, seed: int, kinds: dict[str, tuple[str, float]], folder: Path) -> dict[str, Any]:
    """Builds a month of each kind: name -> (ending, memory in GB)."""
    month = folder / str(posts)
    run_self("generate", str(posts), str(seed), str(month))
    sizes = {name: (month / name).stat().st_size for name in ("RS_2014-01", "RC_2014-01")}
    found: dict[str, Any] = {
        "posts": posts,
        "comments": posts * LINES_A_POST,
        "bytes": sum(sizes.values()),
        "bytes_a_line": round(sum(sizes.values()) / (posts * (1 + LINES_A_POST))),
        "json_loads_lines_per_second": loop_of_json_loads(month),
    }
    for kind, (ending, memory) in kinds.items():
        for name in sizes if ending else ():
            run_self("pack", str(month / name), str(month / f"{name}{ending}"))
        load = round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None
        arguments = str(month), ending or "plain", str(min(300_000, posts // 3)), str(memory)
        found[kind] = {"memory_gb": memory, "load_before": load} | json.loads(run_self("build", *arguments))
        for name in sizes if ending else ():
            (month / f"{name}{ending}").unlink()
    shutil.rmtree(month)
    return found


def loop_of_json_loads(month: Path, lines: int = 200_000) -> int:
    """What one core of this machine manages with Python's own parser, nothing else done."""
    with (month / "RC_2014-01").open(encoding="ascii") as file:
        sample = [line for _, line in zip(range(lines), file, strict=False)]
    began = time.perf_counter()
    for line in sample:
        json.loads(line)
    return round(len(sample) / (time.perf_counter() - began))


def run_self(*arguments: str) -> str:
    return subprocess.run([sys.executable, __file__, *arguments], check=True, stdout=subprocess.PIPE, text=True).stdout


def main() -> None:
    if sys.argv[1:2] == ["generate"]:
        generate(int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]))
        return
    if sys.argv[1:2] == ["build"]:
        ending = "" if sys.argv[3] == "plain" else sys.argv[3]
        print(json.dumps(build_here(Path(sys.argv[2]), ending, int(sys.argv[4]), float(sys.argv[5]))))
        return
    if sys.argv[1:2] == ["pack"]:
        pack(Path(sys.argv[2]), Path(sys.argv[3]))
        return
    from machine import describe_machine  # imports torch, which would weigh on the build's own process

    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument(
        "--posts", type=int, default=1_000_000, help="posts of the large month; the small one has a quarter"
    )
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--bz2", action="store_true", help="measure .bz2 as well, on a fortieth of the large month")
    options.add_argument(
        "--folder", type=Path, default=None, help="where the month is written; a temporary folder by default"
    )
    options.add_argument("--out", type=Path, default=Path("benchmarks/results/reddit.json"))
    given = options.parse_args()
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        both = {"plain": ("", 8.0), "zst": (".zst", 8.0)}
        tiny = measure(given.posts // 40, given.seed, {"bz2": (".bz2", 8.0)}, Path(folder)) if given.bz2 else None
        small = measure(given.posts // 4, given.seed, both, Path(folder))
        large = measure(given.posts, given.seed, {**both, "plain_quarter_memory": ("", 2.0)}, Path(folder))
    result = {
        "schema": 1,
        "machine": {**describe_machine(), "duckdb": version("duckdb")},
        "seed": given.seed,
        "tiny": tiny,
        "small": small,
        "large": large,
        "ratios": {
            kind: {
                "time_a_line_large_to_small": ratio(large, small, kind, "seconds"),
                "cpu_time_a_line_large_to_small": ratio(large, small, kind, "cpu_seconds"),
                "speed_to_json_loads_alone": round(
                    large[kind]["lines_per_second"] / large["json_loads_lines_per_second"], 2
                ),
            }
            for kind in ("plain", "zst")
        },
    }
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(result, indent=2))


def ratio(large: dict[str, Any], small: dict[str, Any], kind: str, figure: str) -> float:
    """1 where the time is linear in the lines."""
    return round(large[kind][figure] / large[kind]["lines"] / (small[kind][figure] / small[kind]["lines"]), 3)


if __name__ == "__main__":
    main()
