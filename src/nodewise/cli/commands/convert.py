"""``nodewise convert``: any readable graph to another form; a table, texts, pictures or embeddings to a graph."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from nodewise.cli.command import add_command
from nodewise.cli.description import describe
from nodewise.cli.options import DataDirOption, FeaturesOption, JsonOption, complete_dataset
from nodewise.cli.screen import Screen
from nodewise.ground.errors import InputError

if TYPE_CHECKING:
    from nodewise.graph import Graph
    from nodewise.ground.events import Reporter

__all__ = ["convert", "register"]

EXAMPLES = """
nodewise convert my.graphml my.npz
nodewise convert digits digits.graphml
nodewise convert nodes.csv my.npz --edges edges.csv --text body --label topic
nodewise convert articles.csv articles.npz --knn 10 --text body --label topic
nodewise convert photos.csv photos.npz --knn 10 --images file --metric euclidean
nodewise convert embeddings.npy embeddings.npz --knn 15
nodewise convert tasks.json tasks.npz --knn 10
"""

Metric = Literal["cosine", "euclidean"]


def convert(
    screen: Screen,
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE",
            help=(
                "A graph: .npz, .graphml, .edges, a folder of CSV, or a data set's name. With --knn: .csv, .tsv, .txt,"
                " .npy, Label Studio's .json "
                "or a folder of pictures."
            ),
            autocompletion=complete_dataset,
            show_default=False,
        ),
    ],
    out: Annotated[
        Path,
        typer.Argument(
            metavar="OUT",
            help="Its ending says the form: .npz, .graphml, .edges; none for a folder of CSV.",
            show_default=False,
        ),
    ],
    knn: Annotated[
        int | None,
        typer.Option(
            "--knn",
            metavar="K",
            min=1,
            help="Join each row, text or picture to the K nearest to it.",
            show_default=False,
        ),
    ] = None,
    metric: Annotated[
        Metric | None, typer.Option("--metric", help="What near means for --knn.", show_default="cosine")
    ] = None,
    weighted: Annotated[
        bool, typer.Option("--weighted", help="Edges of --knn weigh as much as their ends are alike.")
    ] = False,
    text: Annotated[
        str | None,
        typer.Option("--text", metavar="COL", help="Column of texts; they become TF-IDF features.", show_default=False),
    ] = None,
    images: Annotated[
        str | None,
        typer.Option(
            "--images", metavar="COL", help="Column of picture files; their pixels become features.", show_default=False
        ),
    ] = None,
    label: Annotated[
        str | None,
        typer.Option(
            "--label", metavar="COL", help="Column of classes; an empty cell is unlabelled.", show_default=False
        ),
    ] = None,
    edges: Annotated[
        Path | None,
        typer.Option(
            "--edges", metavar="FILE", help="Table of edges, where SOURCE is a table of nodes.", show_default=False
        ),
    ] = None,
    labelled: Annotated[
        str | None,
        typer.Option(
            "--labelled", metavar="TYPE", help="Of several node types the one to be labelled.", show_default=False
        ),
    ] = None,
    directed: Annotated[
        bool, typer.Option("--directed", help="Edges lead from their first end to their second.")
    ] = False,
    separator: Annotated[
        str | None,
        typer.Option(
            "--separator",
            metavar="CHARACTER",
            help="What parts classes where a cell may name several, such as ';' in 'a;b'.",
            show_default=False,
        ),
    ] = None,
    several: Annotated[
        bool,
        typer.Option("--several", help="Take a file's sets of classes (y_multi) where it has one label a node, too."),
    ] = False,
    features: FeaturesOption = None,
    data_dir: DataDirOption = None,
    json: JsonOption = None,
) -> None:
    """Bring a graph into another form, or make one from a table, texts, pictures or embeddings.

    A note says what the form of OUT cannot hold.
    """
    from nodewise.graph import write_graph
    from nodewise.graph.features import prepared
    from nodewise.graph.graph import canonical_features

    spec = features or "raw"
    _check_ending(out)
    canonical_features(spec)  # a misspelt name is refused before any long work begins
    with screen.reporting() as reporter:
        how = _How(knn, metric, text, images, label, edges, labelled, directed, separator, several, weighted)
        graph = (
            _from_graph(source, how, data_dir, reporter) if knn is None else _from_things(source, knn, how, reporter)
        )
    graph = prepared(graph, spec, "raw")
    dropped = write_graph(graph, out)
    if json:
        summary = {"notes": list(graph.notes), "dropped": dropped}
        screen.json({"schema": 1, "out": str(out), "features": graph.features, **describe(graph), **summary}, json)
        return
    for note in graph.notes:
        screen.note(f"note: {note}")
    for what in dropped:
        screen.note(f"dropped: {what}", style="yellow")
    screen.line(f"{out}: {graph!r}")


@dataclass(frozen=True)
class _How:
    """What the options say of where edges, features and labels come from."""

    knn: int | None
    metric: Metric | None
    text: str | None
    images: str | None
    label: str | None
    edges: Path | None
    labelled: str | None
    directed: bool
    separator: str | None = None
    several: bool = False
    weighted: bool = False


def _from_things(source: str, knn: int, how: _How, reporter: Reporter) -> Graph:
    from nodewise.graph.knn.knn import graph_from_things

    if how.edges is not None:
        raise InputError(
            f"--edges got {str(how.edges)!r} and --knn got {knn}, but both say where edges come from: give one of them"
        )
    for option, given in (
        ("--labelled", how.labelled is not None),
        ("--directed", how.directed),
        ("--several", how.several),
    ):
        if given:
            raise InputError(f"{option} is said of a graph that has edges, and --knn makes them of rows: leave it out")
    return graph_from_things(
        Path(source),
        knn=knn,
        text=how.text,
        images=how.images,
        label=how.label,
        metric=how.metric or "cosine",
        reporter=reporter,
        separator=how.separator,
        weighted=how.weighted,
    )


def _from_graph(source: str, how: _How, data_dir: Path | None, reporter: Reporter) -> Graph:
    from nodewise.datasets import load_graph
    from nodewise.graph import Graph, read_graph

    for option, value in (("--metric", how.metric), ("--images", how.images)):
        if value is not None:
            raise InputError(
                f"{option} got {value!r}, which only a nearest-neighbour graph needs: add --knn K, such as --knn 10"
            )
    if how.weighted:
        raise InputError(
            "--weighted is said of a nearest-neighbour graph: add --knn K, such as --knn 10; weights that a file holds"
            " are kept as they are"
        )
    nodes, edges = Path(source).expanduser(), how.edges
    says_labels = nodes.is_dir() or nodes.suffix.lower() == ".graphml"  # in texts, which may name several classes
    if edges is None and how.text is None and how.label is None and (how.separator is None or says_labels):
        if how.labelled is not None or how.directed or how.separator is not None:
            graph = read_graph(
                source,
                labelled=how.labelled,
                directed=how.directed,
                several=how.several,
                separator=how.separator,
            )
            if how.directed and graph.relations is None and Path(source).suffix.lower() in (".npz", ".graphml"):
                raise InputError(
                    f"--directed is said of tables and edge lists; {source!r} says itself whether its edges lead one"
                    " way, and they do not: leave it out"
                )
            return graph
        return load_graph(source, data_dir=data_dir, reporter=reporter, several=how.several)
    if nodes.is_dir():
        from nodewise.graph.io.relational_folder import is_relational_folder

        if is_relational_folder(nodes):
            option = "--text" if how.text is not None else "--label" if how.label is not None else "--edges"
            raise InputError(
                f"{option} is said of one table, and {source!r} holds one for each node type, whose columns are found"
                " by their names: leave it out"
            )
        nodes, edges = nodes / "nodes.csv", edges or nodes / "edges.csv"
    elif edges is None:
        options = {"--text": how.text, "--label": how.label, "--separator": how.separator}
        given = next(f"{option} got {value!r}" for option, value in options.items() if value is not None)
        raise InputError(
            f"{given}, which is said of a table, but {source!r} alone has no edges: add --knn K to join similar"
            " rows, or --edges FILE with a table of edges"
        )
    reading = {"text": how.text, "label": how.label, "directed": how.directed, "separator": how.separator}
    return Graph.from_csv(nodes, edges, **reading)


def _check_ending(out: Path) -> None:
    """Refuses a form that cannot be written before any long work begins."""
    from nodewise.graph.io.files import FORMS

    known = [ending for forms in FORMS for ending in forms.split(", ") if ending.startswith(".")]
    if out.suffix and out.suffix.lower() not in known and not out.is_dir():
        raise InputError(
            f"OUT got {str(out)!r}, whose ending is not known: use {', '.join(known)}, or no ending for a folder of CSV"
        )


def register(app: typer.Typer) -> None:
    """Adds the command."""
    add_command(app, "convert", convert, examples=EXAMPLES, panel="Graphs")
