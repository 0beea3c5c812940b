"""From a month of dumps to graphs: the whole build, from top to bottom."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from nodewise import __version__
from nodewise.datasets.reddit.glove import check_glove
from nodewise.datasets.reddit.graphs import Joined, join_posts, make_graph
from nodewise.datasets.reddit.ingest import Ingested, ingest
from nodewise.datasets.reddit.members import find_members
from nodewise.datasets.reddit.publish import PUBLISHING, Publisher
from nodewise.datasets.reddit.records import COMMENTS, SUBMISSIONS
from nodewise.datasets.reddit.report import BuildReport
from nodewise.datasets.reddit.select import Selected, select_posts
from nodewise.datasets.reddit.settings import Limits, RedditSettings
from nodewise.datasets.reddit.sources import Source, resolve_glove, resolve_sources
from nodewise.datasets.reddit.vectors import word_vectors
from nodewise.datasets.reddit.words import vocabulary
from nodewise.datasets.reddit.work import Work
from nodewise.ground.errors import InputError, NodewiseError
from nodewise.ground.events import Note, Progress, Reporter, Silent, Warned, count

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["build_reddit"]

Sources = Source | Iterable[Source]


def build_reddit(
    submissions: Sources,
    comments: Sources,
    glove: Sources,
    out: str | PathLike[str],
    settings: RedditSettings | None = None,
    *,
    limits: Limits | None = None,
    work: str | PathLike[str] | None = None,
    keep_work: bool = False,
    overwrite: bool = False,
    reporter: Reporter | None = None,
) -> BuildReport:
    """Builds post graphs from Reddit dumps as the paper's Appendix B describes, and saves them with a report.

    The graphs are ``reddit1.npz``, ``reddit2.npz``, … in `out`, one for each full group of posts in order of time, and
    the report is ``reddit-report.json``. They appear when the build has succeeded, and not before. A build that was
    stopped goes on where it was when it is started again with the same files.

    Args:
        submissions: files, folders or globs of submission dumps: a JSON object a line, plain, bz2, xz, gz or zst.
        comments: the same of comment dumps.
        glove: GloVe text files, plain, gz or zip.
        out: the folder for the graphs; with it as data folder, ``load_graph("reddit1")`` finds them.
        settings: the paper's numbers by default.
        limits: memory and threads.
        work: scratch folder, by default a hidden one in `out`; it may need about a tenth of the decompressed dumps.
        keep_work: leave the scratch folder, so that another build with other numbers need not read the dumps again.
        overwrite: replace graphs that `out` holds already.
        reporter: gets the progress.

    Raises:
        InputError: if the input cannot be used; nothing is written then.
        MissingExtraError: if DuckDB or zstandard is needed and not installed.
    """
    settings, limits, say = settings or RedditSettings(), limits or Limits(), reporter or Silent()
    posts_files, comment_files = resolve_sources("submissions", submissions), resolve_sources("comments", comments)
    if both := set(posts_files) & set(comment_files):
        raise InputError(f"{min(both).name} is given as submissions and as comments: each file is one or the other")
    glove_files = resolve_glove(glove, settings.width)
    for path in glove_files:
        check_glove(path, settings.width)
    target = Path(out)
    folder = Path(work) if work is not None else target / f".{settings.prefix}-work"
    with (
        _opened(folder, limits, keep_work) as scratch,
        Publisher(target, settings.prefix, scratch, overwrite) as publisher,
    ):
        posts = _some(ingest(scratch, SUBMISSIONS, posts_files, limits.chunk_bytes, say), "submissions")
        replies = _some(ingest(scratch, COMMENTS, comment_files, limits.chunk_bytes, say), "comments")

        say(Note("choosing posts"))
        selected = select_posts(scratch, settings)  # steps 1 to 3
        notes = _about_groups(selected, settings)
        for note in notes:
            say(Warned(note))
        say(Note("matching comments with posts"))
        counts = find_members(scratch, settings)
        joined: list[Joined] = []
        for done, group in enumerate(selected.groups, start=1):
            joined.append(join_posts(scratch, group, settings))  # steps 4 and 5
            for note in joined[-1].report.notes:
                say(Warned(f"group {group.number}: {note}"))
            say(Progress("join posts", done, len(selected.groups)))
        _check_joined(joined)

        needed = vocabulary(text for part in joined for text in part.texts)
        row_of, vectors = word_vectors(glove_files, needed, settings.width, folder, say)
        if not row_of:
            raise InputError(
                f"none of the {count(len(needed), 'different word')} of the chosen posts is in {glove_files[0].name},"
                " so there are no features: check that it is a GloVe file of the language of the posts"
            )
        reports = []
        for part in joined:
            if part.component is None:
                reports.append(part.report)
                continue
            graph, report = make_graph(part, f"{settings.prefix}{part.group.number}", row_of, vectors)
            publisher.stage(graph)
            reports.append(report)
            say(Progress("write graphs", len(reports), len(joined)))
        whole = BuildReport(
            __version__,
            settings,
            posts,
            replies,
            selected,
            counts,
            len(needed),
            len(row_of),
            tuple(reports),
            tuple(notes),
        )
        publisher.publish(whole.as_json())
    return whole


@contextmanager
def _opened(folder: Path, limits: Limits, keep: bool) -> Iterator[Work]:
    """The work folder; gone after success, and after a failure before anything of use was in it."""
    made = [parent for parent in folder.parents if not parent.exists()]
    work = Work(folder, limits)
    import duckdb

    try:
        yield work
    except (duckdb.Error, NodewiseError, RuntimeError) as error:
        if isinstance(error, duckdb.InterruptException) or str(error) == "Query interrupted":
            raise KeyboardInterrupt from None  # so DuckDB tells of Ctrl-C
        _tidy(work, made)
        if isinstance(error, duckdb.OutOfMemoryException):
            raise NodewiseError(
                f"the join engine needs more memory than its half of {limits.memory_gb:g} GB: raise the memory limit"
            ) from None
        if isinstance(error, duckdb.Error):
            raise NodewiseError(
                f"the join engine failed: {' '.join(str(error).split())[:300]}. What was done is kept in {folder}"
            ) from None
        raise
    else:
        if keep:
            work.forget(PUBLISHING)
        else:
            work.delete()
    finally:
        work.close()


def _tidy(work: Work, made: Sequence[Path]) -> None:
    """After a failure: takes away a work folder in which nothing is worth keeping, and the folders made for it."""
    import duckdb

    with suppress(duckdb.Error, OSError):
        if not work.holds_results():
            work.delete()
            for folder in made:
                folder.rmdir()


def _some(ingested: Ingested, kind: str) -> Ingested:
    if ingested.rows:
        return ingested
    files = ", ".join(Path(path).name for path, _ in ingested.files)
    if not ingested.lines:
        raise InputError(f"no {kind}: {files} has no lines. Check the files, or download them again")
    reasons = ", ".join(f"{number:,} {reason}" for reason, number in ingested.rejected.items())
    raise InputError(
        f"no {kind}: none of the {ingested.lines:,} lines of {files} can be used ({reasons}); {ingested.examples[0]}"
    )


def _about_groups(selected: Selected, settings: RedditSettings) -> list[str]:
    if not selected.placed:
        raise InputError(
            f"no posts are left: all {selected.anonymous:,} are by deleted users. Check that the submissions are"
            " complete"
        )
    size, full = settings.group_size, selected.full_groups
    if not full:
        return [
            f"there are only {selected.placed:,} posts, less than one group of {size:,}: they are kept as one"
            " incomplete group"
        ]
    notes = []
    if settings.groups is not None and full < settings.groups:
        notes.append(f"the posts fill {count(full, 'group')} of {size:,}, not {settings.groups}")
    if selected.left_over and (settings.groups is None or full < settings.groups):
        notes.append(f"{count(selected.left_over, 'post')} after the last full group of {size:,} left out")
    return notes


def _check_joined(joined: Sequence[Joined]) -> None:
    if all(part.component is None for part in joined):
        reasons = "; ".join(f"group {part.group.number}: {', '.join(part.report.notes)}" for part in joined)
        raise InputError(
            f"no graph can be built: {reasons}. Check that the comments belong to the submissions, or ask for other"
            " ranks or groups"
        )
