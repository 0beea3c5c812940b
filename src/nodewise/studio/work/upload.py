"""From an uploaded table to a session.

The graph is built beside the session's worker, its progress shown on the pages.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from nodewise.graph.label_sets import SEPARATOR
from nodewise.graph.preparation import Preparation, together
from nodewise.graph.tables.table import PICTURE, csv_lines, read_table
from nodewise.ground.errors import GraphError, InputError
from nodewise.ground.events import Event, Note, Progress, Reporter, Warned
from nodewise.studio.settings import ENDING
from nodewise.studio.work.cards import with_shown_text
from nodewise.studio.work.errors import ConflictError
from nodewise.studio.work.folders import is_zip, put_files, put_zip
from nodewise.studio.work.preview import preview_folder, preview_graph, preview_table
from nodewise.studio.work.stacked import are_tables, stack_tables
from nodewise.studio.work.table_files import GRAPHS, NormalisedTable, normalise_table

if TYPE_CHECKING:
    from nodewise.graph import Graph
    from nodewise.graph.knn.neighbours import Metric
    from nodewise.session import Session

__all__ = ["NewSession", "Upload", "check_job_name", "create_session", "kept_uploads", "preview", "told_to_pages"]

_LONGEST = 100
_CELLS = 10_000_000
"""Of an uploaded table: read as Python's texts, a cell takes about a hundred bytes."""
_HEAD = 2**20
"""Bytes of the line that names the columns."""
_BYTES = 200
"""Of a name in UTF-8: file systems take 255, and the file has further names while it is made."""


@dataclass(frozen=True)
class Upload:
    """A file as it was uploaded: what it was called, and its content from the beginning."""

    name: str
    content: BinaryIO


@dataclass(frozen=True)
class NewSession:
    """What a session is to be made of.

    Attributes:
        name: what it will be called.
        text: the columns of texts that become features, joined; none: pictures, or the columns of numbers and
            categories.
        label: the column of labels that are known already; None: there is none.
        id: the column of the nodes' names; None: one of a usual name, if its cells differ.
        knn: how many nearest rows each row is joined to, where there is no table of edges.
        metric: what near means.
        encoding: how the table is encoded; None: guessed.
        header: whether its first line names the columns; None: guessed.
        pictures: the folder that pictures may come from.
        labelled: of a folder of several node types the one to be labelled; None: what the files say.
        separator: what parts the classes where a cell of `label` may name several; None: ``;`` where `options` say
            that a node may have several, else a cell is one class.
        suggestions: the columns that hold what models say, each with the column of its confidences or None; a model
            is called as its column.
        options: further arguments of `Session.create`.
        annotator: who makes it, and brings what models say.
    """

    name: str
    text: tuple[str, ...] = ()
    label: str | None = None
    id: str | None = None
    knn: int = 10
    metric: Metric = "cosine"
    encoding: str | None = None
    header: bool | None = None
    pictures: Path | None = None
    labelled: str | None = None
    separator: str | None = None
    suggestions: Mapping[str, str | None] = field(default_factory=dict)
    options: dict[str, Any] | None = None
    annotator: str = "me"

    @property
    def several(self) -> bool:
        """Whether a node may have several classes."""
        return bool((self.options or {}).get("several")) or self.separator is not None

    def __post_init__(self) -> None:
        check_job_name(self.name)


def check_job_name(name: str) -> None:
    """Refuse a name that no session's file may have.

    Raises:
        InputError: says what a name may be.
    """
    fine = all(letter.isalnum() or letter in " ._-()+" for letter in name)
    short = 1 <= len(name) <= _LONGEST and len(name.encode("utf-8", "replace")) <= _BYTES
    if not short or not fine or name[0] in " ." or name[-1] in " ." or "\0" in name:
        raise InputError(
            f"a session's name has 1 to {_LONGEST} letters, digits or any of ' ._-()+', at most {_BYTES} bytes, neither"
            f" a blank nor a dot at its ends, got {name[:40]!r}"
        )


def preview(
    nodes: Upload,
    scratch: Path,
    encoding: str | None = None,
    header: bool | None = None,
    more: Sequence[Upload] = (),
    labelled: str | None = None,
) -> dict[str, Any]:
    """The columns of an uploaded table or the attributes of an uploaded graph, see `preview_table`.

    `more` are further files of a folder, of which `labelled` is the type to be labelled.
    """
    from nodewise.graph import read_graph

    if _is_folder(nodes, more):
        with _unpacked(scratch, nodes, more) as folder:
            return preview_folder(folder, labelled)
    with kept_uploads(scratch, _tables(nodes, more)) as folder:
        stored = folder / _stored(nodes)
        if stored.suffix in GRAPHS:
            return preview_graph(read_graph(stored))
        table = _one_table(folder, nodes, more, encoding, header)
        return {
            **preview_table(table.path),
            "encoding": table.encoding,
            "header": table.header,
            "form": "table",
            "types": [],
            "labelled": None,
        }


def create_session(
    new: NewSession,
    nodes: Upload,
    edges: Upload | None,
    folder: Path,
    scratch: Path,
    reporter: Reporter,
    more: Sequence[Upload] = (),
) -> Session:
    """A session in ``folder``, made from uploaded tables.

    Args:
        new: what to make of them.
        nodes: a table with a row for each node; a zip of a folder; or the first file of one.
        edges: a table with a row for each edge; None: each row is joined to those most like it.
        folder: where the session's file will lie.
        scratch: where the uploads may lie meanwhile.
        reporter: gets the progress.
        more: the other files of a folder.

    Raises:
        ConflictError: there is a session of that name.
        InputError: the tables, or what is to be made of them, are wrong; says what to do.
    """
    from nodewise.session import Session
    from nodewise.session.settings import check_choices

    check_choices(new.options or {})
    path = folder / f"{new.name}{ENDING}"
    if path.exists() or path.is_symlink():
        raise ConflictError(f"there is a session {new.name!r} already: give the new one another name, or open that one")
    reporter(Progress("build", 0, None))
    graph = _graph_of(new, nodes, edges, more, scratch, reporter)
    for note in graph.notes:
        reporter(Note(note))
    reporter(Note(f"a graph of {graph.num_nodes} nodes and {graph.num_edges} edges"))
    options = dict(new.options or {})
    if options.get("use_labels") is False and not options.get("classes"):
        options["classes"] = list(
            graph.class_names
        )  # an answer key tells which classes there are, not which row has which
    if lost := [name for name in _columns_of(new.suggestions) if name not in graph.attributes]:
        raise InputError(
            f"the rows have no column {lost[0]!r} of a model's answers: those that are shown with a row are"
            f" {', '.join(graph.attributes) or 'none'}"
        )
    said = {name: (name, sure) for name, sure in new.suggestions.items()}
    return Session.create(path, graph, suggestions=said, annotator=new.annotator, reporter=reporter, **options)


def _columns_of(suggestions: Mapping[str, str | None]) -> list[str]:
    return [name for pair in suggestions.items() for name in pair if name is not None]


def told_to_pages(publish: Callable[[dict[str, Any]], None], give_way: Callable[[], None], session: str) -> Reporter:
    """A reporter that streams events to the pages.

    ``give_way`` ends the work where the studio is shut down or somebody has cancelled it.
    """

    def report(event: Event, /) -> None:
        give_way()
        if isinstance(event, Progress):
            publish(
                {"type": "progress", "session": session, "what": event.task, "done": event.done, "total": event.total}
            )
        elif isinstance(event, (Note, Warned)):
            publish({"type": "note", "session": session, "text": event.message})

    return report


def _graph_of(
    new: NewSession, nodes: Upload, edges: Upload | None, more: Sequence[Upload], scratch: Path, reporter: Reporter
) -> Graph:
    if _is_folder(nodes, more):
        with _unpacked(scratch, nodes, more) as kept:
            return _take_graph(kept, new)
    files = _tables(nodes, more) | ({} if edges is None else {"edges.csv": edges})
    with kept_uploads(scratch, files) as kept:
        stored = kept / _stored(nodes)
        if stored.suffix in GRAPHS:
            return _take_graph(stored, new)
        table = _one_table(kept, nodes, more, new.encoding, new.header)
        return _build(new, table.path, None if edges is None else kept / "edges.csv", reporter)


def _is_folder(nodes: Upload, more: Sequence[Upload]) -> bool:
    """Whether files are those of a graph's folder, and no tables of the same columns."""
    return is_zip(nodes.name) or (bool(more) and not are_tables([each.name for each in (nodes, *more)]))


def _tables(nodes: Upload, more: Sequence[Upload]) -> dict[str, Upload]:
    """The tables of the nodes by the names that they are kept under."""
    return {_stored(nodes): nodes} | {f"part-{number}.csv": each for number, each in enumerate(more)}


def _one_table(
    kept: Path, nodes: Upload, more: Sequence[Upload], encoding: str | None, header: bool | None
) -> NormalisedTable:
    """The table of the nodes in the form that the readers understand; several are put together, by their names."""
    files = sorted(_tables(nodes, more).items(), key=lambda each: each[1].name)
    if len(files) == 1:
        return normalise_table(kept / files[0][0], nodes.name, kept / "table.csv", encoding, header)
    return stack_tables([(kept / ours, each.name) for ours, each in files], kept / "table.csv", encoding, header)


def _build(new: NewSession, nodes: Path, edges: Path | None, reporter: Reporter) -> Graph:
    from nodewise.graph import Graph
    from nodewise.graph.knn.knn import knn_from_table

    table = nodes
    nodes, text = _join_texts(table, new.text)
    columns: dict[str, Any] = {"label": new.label or "", "text": text, "id": new.id}
    if new.label and new.several:
        columns["separator"] = new.separator or SEPARATOR
    joined = new.text if len(new.text) > 1 else ()
    if edges is None and text is None and (picture := _picture_column(nodes)) is not None and new.pictures is not None:
        graph = _picture_graph(new, nodes, picture, reporter)
    elif edges is None:
        graph = knn_from_table(nodes, new.knn, new.metric, reporter=reporter, name=new.name, **columns)
    else:
        graph = Graph.from_csv(nodes, edges, name=new.name, **columns)
    graph = replace(with_shown_text(graph, text), preparation=_told_joined(graph.preparation, text, joined))
    return _with_originals(graph, table) if joined else graph


def _with_originals(graph: Graph, table: Path) -> Graph:
    """The graph with the columns that its texts were put together from, for whoever exports it."""
    if graph.preparation is None:
        return graph
    cells = read_table(table)
    kept: dict[str, Any] = {attribute: cells.column(name) for name, attribute in graph.preparation.originals.items()}
    return replace(graph, attributes={**kept, **graph.attributes})


def _told_joined(known: Preparation | None, text: str | None, joined: tuple[str, ...]) -> Preparation | None:
    """How rows became features, with the columns that the texts were put together from: new rows have those."""
    if known is None or not joined:
        return known
    parts = [{**part, "joined": list(joined)} if part.get("column") == text else part for part in known.parts]
    return replace(known, parts=tuple(parts))


def _stored(upload: Upload) -> str:
    """The name under which an upload is kept: ours, with the ending that tells its form."""
    ending = Path(upload.name).suffix.lower()
    return f"nodes{ending}" if ending in GRAPHS else "nodes.csv"


def _take_graph(path: Path, new: NewSession) -> Graph:
    """A graph that was uploaded as it is; without a column of labels those in it stay out of sight."""
    from nodewise.graph import read_graph
    from nodewise.graph.io.files import parted_labels

    graph = replace(read_graph(path, labelled=new.labelled, several=new.several), name=new.name)
    graph = parted_labels(graph, new.separator or SEPARATOR) if new.label and new.several else graph
    return graph if new.label else replace(graph, y=None, y_sets=None, class_names=())


def _join_texts(path: Path, columns: tuple[str, ...]) -> tuple[Path, str | None]:
    """The table and its one column of texts.

    Several are joined, a blank line between them, in a column of their own.
    """
    if len(columns) < 2:
        return path, columns[0] if columns else None
    table = read_table(path)
    joined = together([table.column(name) for name in columns])
    kept = {name: cells for name, cells in table.columns.items() if name not in columns}
    name = "text" if "text" not in kept else "joined text"
    target = path.with_name("joined.csv")
    with target.open("w", encoding="utf-8", newline="") as handle:
        handle.writelines(csv_lines([*kept, name], zip(*kept.values(), joined, strict=True), keep_formulas=True))
    return target, name


def _picture_column(path: Path) -> str | None:
    return read_table(path).find(PICTURE)


def _picture_graph(new: NewSession, path: Path, column: str, reporter: Reporter) -> Graph:
    """Rows joined by how alike their pictures look; only files in the studio's folder of pictures are opened.

    Raises:
        GraphError: a row names no picture there.
    """
    from nodewise.graph.knn.knn import knn_from_images

    assert new.pictures is not None
    table, folder = read_table(path), new.pictures.resolve()
    paths = [(folder / cell.strip()).resolve() for cell in table.column(column)]
    for line, cell, file in zip(table.lines, table.column(column), paths, strict=True):
        if not file.is_relative_to(folder) or not file.is_file():
            raise GraphError(
                f"{path}, line {line}: there is no picture {cell[:100]!r} in the studio's folder of pictures: see"
                " --pictures"
            )
    label = None if not new.label else table.column(new.label)
    others = {name: cells for name, cells in table.columns.items() if name not in (column, new.label)}
    parts: dict[str, Any] = {"y": label, "attributes": others, "name": new.name}
    if new.label and new.several:
        parts["separator"] = new.separator or SEPARATOR
    graph = knn_from_images(paths, new.knn, new.metric, reporter=reporter, **parts)
    names = [file.relative_to(folder).as_posix() for file in paths]
    return replace(graph, attributes={**graph.attributes, "picture": np.array(names, dtype=object)})


def _copy(called: str, source: BinaryIO, file: BinaryIO) -> None:
    """Copies an upload of that name, unless reading it would take much more memory than the file has bytes.

    One of commas alone is all cells.

    Raises:
        GraphError: it has too many cells, or its first line does not end.
    """
    cells, size, first = dict.fromkeys(b",;\t|", 0), 0, False
    lines = 0
    while piece := source.read(2**20):
        lines += piece.count(b"\n")
        first = first or b"\n" in piece or b"\r" in piece
        size += len(piece)
        for mark in cells:
            cells[mark] += piece.count(mark)
        most = lines + max(cells.values())
        if most > _CELLS:
            raise GraphError(
                f"{called[:_LONGEST] or 'the table'} has more than {_CELLS:,} cells, which is more than the studio"
                " takes: leave out columns or rows, or make the session on the command line, nodewise session new"
            )
        if not first and size >= _HEAD and max(cells.values()) > _HEAD // 16:
            raise GraphError(
                f"{called[:_LONGEST] or 'the table'} names no columns: its first line is longer than {_HEAD:,}"
                " bytes; put a line of names at the top"
            )
        file.write(piece)


@contextmanager
def kept_uploads(scratch: Path, files: dict[str, Upload]) -> Iterator[Path]:
    """The uploads as files in a folder of their own, under names of ours; in messages they are called by theirs."""
    with tempfile.TemporaryDirectory(dir=scratch) as name:
        folder = Path(name)
        for ours, upload in files.items():
            with (folder / ours).open("wb") as file:
                upload.content.seek(0)
                _copy(upload.name, upload.content, file)
        try:
            yield folder
        except InputError as error:
            said = str(error)
            for ours, upload in files.items():
                said = said.replace(str(folder / ours), upload.name[:_LONGEST] or ours)
            for made in ("table.csv", "joined.csv"):  # the table in another form
                said = said.replace(str(folder / made), next(iter(files.values())).name[:_LONGEST] or "the table")
            raise GraphError(said) from error


@contextmanager
def _unpacked(scratch: Path, first: Upload, more: Sequence[Upload]) -> Iterator[Path]:
    """The files of an uploaded folder, or of a zip of one, in a folder of ours; in messages they are called by name."""
    with tempfile.TemporaryDirectory(dir=scratch) as name:
        folder = Path(name)
        if is_zip(first.name) and not more:
            put_zip(first.name, first.content, folder, _copy)
        else:
            put_files([(each.name, each.content) for each in (first, *more)], folder, _copy)
        try:
            yield folder
        except InputError as error:
            raise GraphError(str(error).replace(f"{folder}/", "").replace(str(folder), "the folder")) from error
