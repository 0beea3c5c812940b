"""A studio from Python: rows become a job, the page opens, and the session is there to be used meanwhile."""

from __future__ import annotations

import atexit
import tempfile
import threading
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import numpy as np

from nodewise.graph import Graph, read_graph
from nodewise.graph.knn.knn import graph_from_things, knn_from_table, knn_graph
from nodewise.graph.knn.rows import rows_as_columns
from nodewise.ground.errors import InputError, SessionError, WrongTypeError
from nodewise.ground.files import as_path
from nodewise.session.session import Session
from nodewise.studio.guard.tokens import new_token
from nodewise.studio.server import address, bind, make_server, open_browser, require_extra
from nodewise.studio.settings import ENDING, StudioSettings
from nodewise.studio.work.cards import with_shown_text
from nodewise.studio.work.stacked import are_tables, stack_tables
from nodewise.studio.work.table_files import GRAPHS, normalise_table

if TYPE_CHECKING:
    from typing import Unpack

    import uvicorn

    from nodewise.session.settings import SettingsByName

__all__ = ["StudioSession", "open_studio"]

_BUDGET = 50
"""Labels to ask for at first where nothing says how many classes there will be; the page can raise it."""
_NAME = "studio"
"""What the job's file is called where nothing says a name."""


class StudioSession(Session):
    """A session that is open in a studio of this process as well: what either is told, both know.

    `close` ends the studio, then the session; every label stays in the file.

    Attributes:
        address: what to open in a browser. It holds a token, made anew each time: whoever has the address is the job's
            owner while the studio runs.
    """

    address: str = ""
    _server: uvicorn.Server | None = None
    _thread: threading.Thread | None = None

    def __repr__(self) -> str:
        """One line: the session, and where its page is."""
        return f"{super().__repr__()}, open at {self.address}" if self.address else super().__repr__()

    def _repr_html_(self) -> str:
        """The link to the page and a small table, for notebooks."""
        link = f'<a href="{escape(self.address)}" target="_blank" rel="noreferrer">Open the studio</a>'
        return f"<p>{link}</p>{super()._repr_html_()}" if self.address else super()._repr_html_()

    def close(self) -> None:
        """End the studio, and let go of the file. Nothing is lost without it."""
        server, thread, self._server, self._thread, self.address = self._server, self._thread, None, None, ""
        if server is not None and thread is not None:
            atexit.unregister(self.close)
            server.should_exit = True
            thread.join()
        super().close()

    def serve(self, port: int, pictures: Path | None, browser: bool, own: Mapping[str, Any]) -> None:
        """Run a studio of this session's folder beside this thread.

        Args:
            port: where; 0: any that is free.
            pictures: the folder whose pictures are shown.
            browser: whether to open a browser.
            own: the classifier and the strategy, where they are the caller's.
        """
        from nodewise.studio.app import create_app

        token, listening = new_token(), bind("127.0.0.1", port, exactly=port != 0)
        try:
            number = listening.getsockname()[1]
            settings = StudioSettings(port=number, token=token, folder=self.path.parent, pictures=pictures)
            server = make_server(create_app(settings, Session.open(self.path, **own)))
        except BaseException:
            listening.close()
            raise
        thread = threading.Thread(
            target=server.run, kwargs={"sockets": [listening]}, name="nodewise studio server", daemon=True
        )
        thread.start()
        while not server.started:
            thread.join(0.02)
            if not thread.is_alive():
                listening.close()
                raise SessionError("the studio did not start: run `nodewise studio` in a terminal, which says why")
        atexit.register(self.close)
        self._server, self._thread = server, thread
        root = address("127.0.0.1", number)
        self.address = f"{root}s/{quote(self.path.name.removesuffix(ENDING), safe='')}?token={token}"
        if browser:
            threading.Thread(target=open_browser, args=(server, self.address), daemon=True).start()


def open_studio(
    source: Any,
    path: str | Path | None = None,
    *,
    text: str | None = None,
    label: str | None = None,
    k: int = 10,
    port: int = 0,
    pictures: str | Path | None = None,
    browser: bool = True,
    **settings: Unpack[SettingsByName],
) -> StudioSession:
    """Label rows in a browser, from a notebook or a script; the session is there to be used meanwhile.

    Where the job's file is there already and is of the same rows, it is gone on with, so that a cell may be run again.

    Args:
        source: a data frame, column -> cells, a list of dicts or of texts, numbers [row, feature]; a table's file, a
            folder of tables with the same columns, or of pictures; a graph, its file or folder, or a data set's name;
            or a session, or its file.
        path: the job's file; by default named after the source's file, else ``studio.nodewise``, in this folder.
        text: the column of texts, if these are to be compared; None: all columns are.
        label: the column of classes that are known; None: one of a usual name; an empty text: none.
        k: how many similar rows each row is joined to.
        port: of this machine; 0: any that is free.
        pictures: the only folder whose pictures are shown; by default a folder of pictures that is the source.
        browser: whether to open the page; else its address stands in what is returned.
        **settings: of a new session, as for `nodewise.Session.create`; where neither budget nor classes are known, the
            budget is 50.

    Returns:
        The session; its ``close()`` ends the studio. In a notebook it shows itself as a link to the page.

    Raises:
        InputError: something given is wrong, or the file holds a job of other rows.

    Example:
        >>> import nodewise as nw
        >>> texts = ["cheap pills", "meeting at noon", "cheap watches", "notes of the meeting"]
        >>> with nw.open_studio(texts, budget=2, k=1, browser=False) as session:
        ...     event = session.tell(0, "spam")
        ...     session.labels
        {0: 'spam'}
    """
    require_extra()
    given: dict[str, Any] = dict(settings)
    own: dict[str, Any] = {name: given[name] for name in ("classifier", "strategy") if name in given}
    objects = {name: value for name, value in own.items() if value is not None and not isinstance(value, str)}
    folder = None if pictures is None else as_path(pictures, "the folder of pictures")
    file = _session_file(source)
    if file is not None:
        rest = [name for name in settings if name not in own]
        if path is not None or text is not None or label is not None or rest:
            raise InputError(
                f"{file.name!r} is a session with settings of its own: leave out path, text, label and the settings"
            )
        session = StudioSession.open(file, **own)
    else:
        graph = _graph_of(source, text, label, k)
        if folder is None and _is_picture_folder(source):
            folder = Path(source).expanduser().absolute()
        target = Path(f"{_stem(source)}{ENDING}") if path is None else as_path(path, "the file of the job")
        if target.exists():
            session = StudioSession.open(target, **objects)
            if not isinstance(graph, Graph) or not _same_rows(graph, session.graph):
                session.close()
                raise InputError(
                    f"{str(target)!r} is a job of other rows: give another path, or open that job by"
                    f" open_studio({str(target)!r})"
                )
        else:
            if isinstance(graph, Graph) and not graph.num_classes and not {"budget", "classes"} & given.keys():
                settings["budget"] = min(_BUDGET, graph.num_nodes)
            session = StudioSession.create(target, graph, **settings)
    try:
        if session.settings.strategy == "policy":  # its weights lie in the file
            objects.pop("strategy", None)
        session.serve(port, folder, browser, objects)
    except BaseException:
        session.close()
        raise
    return session


def _session_file(source: Any) -> Path | None:
    """The file of a session that is given, itself or by its path."""
    if isinstance(source, Session):
        return source.path
    if isinstance(source, (str, Path)) and Path(source).suffix == ENDING:
        return Path(source).expanduser()
    return None


def _graph_of(source: Any, text: str | None, label: str | None, k: int) -> Graph | str:
    """The graph of what is to be labelled; a data set's name as it is."""
    plain = _graph_without_columns(source, k)
    if plain is None:
        return with_shown_text(_graph_of_table(source, text, label, k), text)
    if text is not None or label is not None:
        named = f"text={text!r}" if text is not None else f"label={label!r}"
        raise InputError(f"{named} names a column, and what was given is no table: leave it out")
    return plain


def _graph_without_columns(source: Any, k: int) -> Graph | str | None:
    """The graph of what has no columns to choose from; None where it is a table."""
    if isinstance(source, Graph):
        return source
    if isinstance(source, (str, Path)):
        path = Path(source).expanduser()
        if not path.exists():
            return str(source)
        if path.suffix.lower() in GRAPHS or (path.is_dir() and any(path.glob("nodes*.csv"))):
            return read_graph(path)
        return graph_from_things(path, knn=k) if path.suffix.lower() in (".npy", ".txt") else None
    if isinstance(source, np.ndarray) and source.dtype.kind in "fiub":
        return knn_graph(source, k)
    if isinstance(source, Sequence) and source and all(isinstance(row, str) for row in source):
        return Graph.from_texts(list(source), k=k)
    return None


def _graph_of_table(source: Any, text: str | None, label: str | None, k: int) -> Graph:
    """The graph of a table, of Label Studio's tasks, or of a folder of pictures."""
    if isinstance(source, (str, Path)):
        path = Path(source).expanduser()
        tables = _tables_in(path)
        if (path.is_dir() and not tables) or path.suffix.lower() == ".json":
            return graph_from_things(path, knn=k, text=text, label=label)
        with tempfile.TemporaryDirectory() as folder:
            target = Path(folder) / "table.csv"
            if tables:
                table = stack_tables([(each, each.name) for each in tables], target)
            else:
                table = normalise_table(path, path.name, target)
            return knn_from_table(table.path, k, label=label, text=text, name=path.stem)
    frame = rows_as_columns(source) if isinstance(source, Sequence) else source
    if frame is None:
        raise WrongTypeError(
            f"no job can be made of {type(source).__name__}: give a data frame, a list of texts or dicts, numbers, a"
            " graph, or the path of a file or folder"
        )
    return Graph.from_dataframe(frame, label, text, k, name=_NAME)


def _tables_in(path: Path) -> list[Path]:
    """The tables of a folder that holds nothing else but hidden files, by their names; they are put together."""
    inside = sorted(each for each in path.iterdir() if not each.name.startswith(".")) if path.is_dir() else []
    return inside if are_tables([each.name for each in inside]) else []


def _is_picture_folder(source: Any) -> bool:
    """Whether a folder holds no table of nodes nor tables alone, so that it is one of pictures."""
    folder = Path(source).expanduser() if isinstance(source, (str, Path)) else None
    return folder is not None and folder.is_dir() and not any(folder.glob("nodes*.csv")) and not _tables_in(folder)


def _stem(source: Any) -> str:
    name = Path(source).stem if isinstance(source, (str, Path)) else ""
    return name if name and not name.startswith(".") else _NAME


def _same_rows(one: Graph, other: Graph) -> bool:
    """Whether a job of the second graph, which may have grown, was begun with the rows of the first."""
    count = one.num_nodes
    if other.num_nodes < count or (one.node_names is None) != (other.node_names is None):
        return False
    if one.node_names is not None and tuple(one.node_names) != tuple((other.node_names or ())[:count]):
        return False
    if list(one.attributes) != list(other.attributes):
        return False
    if not one.attributes:  # rows that were added are joined to others, so that the first edges stay the first
        return np.array_equal(one.edge_index, other.edge_index) or other.num_nodes > count
    pairs = ((cells, other.attributes[name][:count]) for name, cells in one.attributes.items())
    return all(list(map(str, cells)) == list(map(str, others)) for cells, others in pairs)
