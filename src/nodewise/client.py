"""A running studio from Python: ask, tell, predict and export over HTTP, with the owner's token or a person's link.

It needs nothing beside Python's own HTTP. The token travels in a header, goes to the studio's own address alone (an
answer that leads elsewhere is not followed), and stands in no message.
"""

from __future__ import annotations

import csv
import http.client
import io
import json
import re
import secrets
import urllib.parse
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, overload

import numpy as np

from nodewise.graph.knn.rows import rows_as_columns
from nodewise.graph.tables.table import csv_text
from nodewise.ground.errors import InputError, NodewiseError, SessionError, UnknownNameError, WrongTypeError
from nodewise.ground.files import as_path, atomic_file, existing_file
from nodewise.session.meaning.history import Query

__all__ = ["Connection", "RemoteQuery", "connect"]

_FORMS = ("csv", "xlsx", "json", "npz", "pt")
_NAMED_FORMS = {"full": ".csv", "votes": ".csv"}
"""Forms of an export that the file's ending does not say, and the ending that they have."""
_WRONG_INPUT = frozenset({400, 404, 405, 413, 415})
_PART = 2**16


@dataclass(frozen=True)
class RemoteQuery(Query):
    """A node that the studio asks about, with what it would show of it.

    Attributes:
        title: its title. text: its text; None where it has none.
        attributes: its further columns.
        notes: what was written to it, each with its annotator.
    """

    title: str | None = None
    text: str | None = None
    attributes: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[Mapping[str, Any], ...] = ()


def connect(
    url: str, token: str | None = None, *, session: str | None = None, annotator: str = "me", timeout: float = 300.0
) -> Connection:
    """Work on a job in a running studio.

    Args:
        url: the studio's address, such as ``http://127.0.0.1:8080``, or somebody's whole link.
        token: the owner's or a person's; a link holds its own.
        session: which of the studio's jobs; by default the one that the link names, else the one that it was started
            with.
        annotator: under which name to answer. Whoever has a link of their own goes by the name of the link.
        timeout: seconds to wait for an answer.

    Raises:
        InputError: the address or the token cannot be one.
        SessionError: the studio is not there, or refuses; the message is the studio's own.

    Example:
        >>> import nodewise as nw
        >>> job = nw.connect("http://127.0.0.1:8080", "the-token")  # doctest: +SKIP
        >>> job.tell(job.ask().node, "spam")  # doctest: +SKIP
    """
    connection = Connection(url, token, session, annotator, timeout)
    connection.status()
    return connection


class Connection:
    """A job in a running studio, as `nodewise.connect` gives it; what is labelled is on the studio's disk at once.

    What the studio refuses is raised with its own sentence: an `InputError` where what was given is wrong, else a
    `SessionError`.

    Attributes:
        url: the studio's address, without the token.
        session: which of its jobs; None: the one that it was started with.
        annotator: under which name answers are given.
    """

    def __init__(self, url: str, token: str | None, session: str | None, annotator: str, timeout: float) -> None:
        parts, in_link = _split_link(url)
        if token is not None and in_link is not None and token != in_link:
            raise InputError("the link holds a token and another one is given: give one of them")
        self._token = _checked_token(token if token is not None else in_link)
        self._secure, self._host, self._port = parts.scheme == "https", str(parts.hostname), parts.port
        self.url = urllib.parse.urlunsplit((parts.scheme, parts.netloc, "", "", ""))
        named = re.fullmatch(r"/s/([^/]+)/?", parts.path)
        self.session = session if session is not None else urllib.parse.unquote(named[1]) if named else None
        self.annotator, self._timeout = annotator, timeout

    def __repr__(self) -> str:
        """One line: where, which job, and who; never the token."""
        job = "" if self.session is None else f", session={self.session!r}"
        return f"Connection({self.url!r}{job}, annotator={self.annotator!r})"

    def __reduce__(self) -> Any:
        """A connection is not pickled: its token would lie in the file."""
        raise TypeError("a connection holds a token, so it is not pickled: connect again where it is needed")

    @overload
    def ask(self, k: None = None) -> RemoteQuery: ...

    @overload
    def ask(self, k: int) -> list[RemoteQuery]: ...

    def ask(self, k: int | None = None) -> RemoteQuery | list[RemoteQuery]:
        """The next node to label, or with ``k`` up to that many. What was not answered is given again.

        Raises:
            SessionError: there is nothing to ask.
        """
        answer = self._post("/ask", k=1 if k is None else k)
        queries = [_query(each) for each in answer["queries"]]
        return queries[0] if k is None else queries

    def tell(
        self,
        node: int | str | Sequence[int | str],
        label: Any,
        *,
        new_class: bool = False,
        overrule: bool = False,
    ) -> int | list[int]:
        """Give a node its label, or several nodes theirs, all or none; as `nodewise.Session.tell`.

        Returns:
            The number of the event in the log, for `undo`; a list of them for several nodes.
        """
        many = not isinstance(node, (str, int, np.integer))
        nodes: list[Any] = list(node) if many else [node]  # type: ignore[arg-type]
        given = [label] * len(nodes) if not many or isinstance(label, str) else list(label)
        if len(given) != len(nodes):
            raise InputError(f"{len(nodes)} nodes but {len(given)} labels: give one for each")
        labels = [{"node": self._node(one), "label": said} for one, said in zip(nodes, given, strict=True)]
        events: list[int] = self._post("/tell", labels=labels, new_class=new_class, overrule=overrule)["events"]
        return events if many else events[0]

    def skip(self, node: int | str) -> int:
        """Say that a node cannot be labelled. Returns the event's number."""
        return int(self._post("/skip", node=self._node(node))["event"])

    def undo(self, event: int | None = None) -> dict[str, Any]:
        """Take back your last change, or one by its number; gives what was taken back."""
        given = {} if event is None else {"event": int(event)}
        return dict(self._post("/undo", **given)["undone"])

    def status(self) -> dict[str, Any]:
        """How far the job is: told, budget, classes, balance, open questions, done."""
        return dict(self._get("/status", annotator=self.annotator))

    @property
    def done(self) -> bool:
        """Whether there is nothing left to ask."""
        return bool(self.status()["done"])

    def predict(self, rows: Any = None) -> list[dict[str, Any]]:
        """What is predicted of every node: node, name, predicted, and class -> probability.

        Args:
            rows: rows that are not in the job, in a form of `add_rows`; then a dictionary for each of them, as the
                studio's table has it. They are not added.
        """
        if rows is None:
            answer = json.loads(self._fetch("GET", f"/export/json?{self._query_string()}"))
            classes = answer["classes"]
            return [
                {**each, "probabilities": dict(zip(classes, each["probabilities"], strict=True))}
                for each in answer.get("predictions", ())
            ]
        table = self._upload("/rows/predict", rows).decode()
        return [dict(row) for row in csv.DictReader(io.StringIO(table, newline=""))]

    def export(self, path: str | Path, *, format: str | None = None) -> Path:
        """Write labels and predictions to a file of this machine, by its ending: .csv, .xlsx, .json, .npz, .pt.

        Args:
            path: where to; a file that is there is replaced once the new one has arrived whole.
            format: ``"full"``, a .csv with the rows' own columns, votes and notes; ``"votes"``, one of who said what.
        """
        target = as_path(path, "the file to write")
        ending = target.suffix.lower()
        form = format if format is not None else ending.removeprefix(".")
        if form not in (*_FORMS, *_NAMED_FORMS) or ending != _NAMED_FORMS.get(form, f".{form}"):
            raise InputError(
                f"{target.name!r} cannot be exported to{'' if format is None else f' as {format!r}'}: give a file that"
                f" ends in .{', .'.join(_FORMS)}, or format='full' or 'votes' with a .csv"
            )
        with atomic_file(target) as file, self._answer("GET", f"/export/{form}?{self._query_string()}") as answer:
            while part := _read(answer, self.url, _PART):
                file.write(part)
            if answer.length:  # the connection was cut: parts that are read one by one do not say so
                raise _out_of_reach(self.url, http.client.IncompleteRead(b"", answer.length))
        return target

    def add_rows(self, rows: Any) -> range:
        """Add rows to the job; gives their numbers. One event, which `undo` takes back.

        Args:
            rows: a list of texts; a table (a file, a data frame, column -> cells, a list of dicts); or numbers [row,
                feature].
        """
        answer = json.loads(self._upload("/rows", rows, annotator=self.annotator))
        return range(answer["first"], answer["first"] + answer["count"])

    def suggest(self, name: str, answers: Mapping[int | str, str], confidence: float = 1.0) -> int:
        """Take what a model says: node -> label. No labels, but what the learner begins with.

        Returns the event's number.
        """
        labels = [{"node": self._node(node), "label": label} for node, label in answers.items()]
        return int(self._post("/suggestions", name=name, labels=labels, confidence=confidence)["event"])

    def _node(self, node: int | str) -> int:
        """The index of a node, which the API speaks of, from its index or name."""
        if not isinstance(node, str):
            if isinstance(node, bool) or not isinstance(node, (int, np.integer)):
                raise WrongTypeError(f"a node is given by its index or its name, got {str(node)[:40]!r}")
            return int(node)
        found = self._get("/nodes", q=node, annotator=self.annotator)["nodes"]
        for each in found:
            if each["name"] == node:
                return int(each["node"])
        raise UnknownNameError("node", node, [each["name"] for each in found])

    def _query_string(self, **query: str) -> str:
        named = {} if self.session is None else {"session": self.session}
        return urllib.parse.urlencode({**query, **named})

    def _get(self, path: str, **query: str) -> Any:
        return _json(self._fetch("GET", f"{path}?{self._query_string(**query)}"), self.url)

    def _post(self, path: str, **body: Any) -> Any:
        content = json.dumps({"session": self.session, "annotator": self.annotator, **body}).encode()
        return _json(self._fetch("POST", path, content, "application/json"), self.url)

    def _upload(self, path: str, rows: Any, **fields_of_form: str) -> bytes:
        name, content = _rows_as_file(rows)
        given = {**fields_of_form, **({} if self.session is None else {"session": self.session})}
        if name == "rows.csv":
            given |= {"header": "true", "encoding": "utf-8"}
        boundary = secrets.token_hex(16)
        parts = [
            f'--{boundary}\r\ncontent-disposition: form-data; name="{key}"\r\n\r\n{value}\r\n'.encode()
            for key, value in given.items()
        ]
        head = f'--{boundary}\r\ncontent-disposition: form-data; name="rows"; filename="{name}"\r\n'
        parts.append(f"{head}content-type: application/octet-stream\r\n\r\n".encode())
        body = b"".join([*parts, content, f"\r\n--{boundary}--\r\n".encode()])
        return self._fetch("POST", path, body, f"multipart/form-data; boundary={boundary}")

    def _fetch(self, method: str, path: str, body: bytes | None = None, kind: str | None = None) -> bytes:
        with self._answer(method, path, body, kind) as answer:
            return _read(answer, self.url)

    @contextmanager
    def _answer(
        self, method: str, path: str, body: bytes | None = None, kind: str | None = None
    ) -> Iterator[http.client.HTTPResponse]:
        """The studio's answer, whose body is still to be read.

        Raises:
            NodewiseError: the studio refuses, with its own sentence, or cannot be reached.
        """
        headers = {"accept": "application/json, */*"}
        if self._token is not None:
            headers["authorization"] = f"Bearer {self._token}"
        if kind is not None:
            headers["content-type"] = kind
        kinds = http.client.HTTPSConnection if self._secure else http.client.HTTPConnection
        connection = kinds(self._host, self._port, timeout=self._timeout)
        try:
            try:
                connection.request(method, f"/api/v1{path}", body, headers)
                answer = connection.getresponse()
            except (OSError, http.client.HTTPException) as error:
                raise _out_of_reach(self.url, error) from None
            if not 200 <= answer.status < 300:
                raise _refusal(answer.status, _read(answer, self.url, 2**20), self.url)
            yield answer
        finally:
            connection.close()


def _split_link(url: str) -> tuple[urllib.parse.SplitResult, str | None]:
    """The parts of an address, and the token in it; the messages do not show what may hold one."""
    if not isinstance(url, str):
        raise WrongTypeError(f"a studio's address is a text, got {type(url).__name__}")
    try:
        parts = urllib.parse.urlsplit(url.strip())
        port = parts.port
    except ValueError:
        raise InputError("the studio's address cannot be read: give one such as http://127.0.0.1:8080") from None
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username is not None or port == 0:
        raise InputError(
            f"a studio's address begins with http:// or https:// and a host, got {parts.scheme[:20]!r}:"
            " give one such as http://127.0.0.1:8080, or a person's whole link"
        )
    if re.search(r"[^\x21-\x7e]", parts.netloc):
        raise InputError("the host of the studio's address holds characters that no host has: check the address")
    tokens = urllib.parse.parse_qs(parts.query).get("token", [])
    return parts, tokens[0] if tokens else None


def _checked_token(token: str | None) -> str | None:
    """A token that a header can hold; the message does not show it."""
    if token is None:
        return None
    if not isinstance(token, str) or not re.fullmatch(r"[\x21-\x7e]+", token.strip()):
        raise InputError("a token is one word of printable ASCII characters, and what was given is none: check it")
    return token.strip()


def _query(answer: Mapping[str, Any]) -> RemoteQuery:
    card = answer.get("card", {})
    known = {one.name for one in fields(Query)}
    parts = {name: value for name, value in answer.items() if name in known}
    given = answer.get("given")
    predicted = answer.get("predicted") or []
    parts |= {
        "why": tuple(answer.get("why", ())),
        "predicted": dict(predicted.items() if isinstance(predicted, Mapping) else predicted),
        "given": None if given is None else tuple(given),
    }
    return RemoteQuery(
        **parts,
        title=card.get("title"),
        text=card.get("text"),
        attributes=card.get("attributes", {}),
        notes=tuple(card.get("notes", ())),
    )


def _rows_as_file(rows: Any) -> tuple[str, bytes]:
    """Rows as a file to be sent: its name, whose ending says the form, and its bytes."""
    if isinstance(rows, (str, Path)):
        path = existing_file(Path(rows).expanduser())
        return f"file{path.suffix.lower()}", path.read_bytes()
    if isinstance(rows, np.ndarray) and rows.dtype.kind in "fiub":
        held = io.BytesIO()
        np.save(held, rows, allow_pickle=False)
        return "rows.npy", held.getvalue()
    columns = rows_as_columns(rows)
    if columns is None:
        texts = list(rows)
        if not all(isinstance(text, str) for text in texts):
            raise WrongTypeError("rows are texts, a table or numbers: give a list of texts, a data frame or an array")
        columns = {"text": texts}
    if not columns:
        raise InputError("there is no row to send: give at least one")
    table = csv_text(list(columns), zip(*columns.values(), strict=True), keep_formulas=True)
    return "rows.csv", table.encode()


def _read(answer: http.client.HTTPResponse, url: str, most: int | None = None) -> bytes:
    try:
        return answer.read() if most is None else answer.read(most)
    except (OSError, http.client.HTTPException) as error:
        raise _out_of_reach(url, error) from None


def _json(content: bytes, url: str) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        raise SessionError(f"what answers at {url} is no nodewise studio: check the address") from None


def _out_of_reach(url: str, error: Exception) -> SessionError:
    said = getattr(error, "strerror", None) or type(error).__name__
    return SessionError(f"the studio at {url} cannot be reached ({said}): check the address, and that it runs")


def _refusal(status: int, content: bytes, url: str) -> NodewiseError:
    """The error that a refusal stands for, with the studio's sentence."""
    try:
        answer = json.loads(content)
        said = str(answer["error"])
    except (ValueError, TypeError, KeyError, RecursionError):
        return SessionError(f"what answers at {url} is no nodewise studio (status {status}): check the address")
    return InputError(said) if status in _WRONG_INPUT else SessionError(said)
