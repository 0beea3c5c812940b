"""Suggestions fetched from an endpoint that speaks the chat-completions protocol.

Nothing is sent before the owner has seen what is sent: `LiveSuggestions.prepare` fixes the prompt in a file beside the
session, and only what is fixed there is sent, to the byte. Each reply is in that file before the next question goes
out, so that a fetch that was killed goes on where it was. The key is read when a request is made; it is stored nowhere.
"""

from __future__ import annotations

import hashlib
import http.client
import io
import json
import os
import re
import socket
import time
import urllib.parse
from collections.abc import Callable, Container, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nodewise.ground.errors import InputError, SessionError
from nodewise.session.meaning.rules import Moment
from nodewise.session.meaning.suggestions import swaying_columns

__all__ = ["KEY", "Fetched", "LiveSuggestions", "Reply"]

KEY = "NODEWISE_SUGGEST_KEY"
"""The environment variable that holds the endpoint's key."""
_EXAMPLES, _LONGEST_TEXT, _LONGEST_REPLY, _LONGEST_KEPT = 8, 4000, 2**20, 20_000
"""Labelled rows that a prompt shows at most, characters of a row that are sent, bytes of a reply that are read, and
characters of what it says that are kept: what names a class is no longer."""
_RECEIVED = 2 * _LONGEST_REPLY
"""Bytes that a connection may bring, heads and what they make of lengths included."""
_MOST_TOKENS = 10**9
"""Tokens that a reply is believed to have taken."""
_TRIES, _FIRST_PAUSE, _LONGEST_PAUSE, _PATIENCE = 5, 1.0, 60.0, 60.0
"""Attempts at a question, seconds before the second one, doubled each time, and seconds that a request may take from
its first byte to the last of its reply."""
_GIVES_UP = 3
"""Nodes in a row without a reply after which a fetch ends: the endpoint is down."""
_AGAIN = frozenset({408, 425, 429, 500, 502, 503, 504})
"""Codes after which a question is sent again; any other failure ends the fetch."""


@dataclass(frozen=True)
class Reply:
    """What came back for a node.

    Attributes:
        node: its index. text: what the model said, empty where it refused.
        label: the class that this names; None where it names none.
        tokens: what the endpoint counted.
    """

    node: int
    text: str
    label: str | None
    tokens: int


@dataclass
class Fetched:
    """How a fetch went.

    Attributes:
        calls: requests that were sent, repeated ones included. answered: replies that name a class.
        refused: replies without a text. unnamed: replies that name no class. failed: nodes for which no reply came.
        tokens: what the endpoint counted. left: nodes not asked, since the budget of calls was spent.
    """

    calls: int = 0
    answered: int = 0
    refused: int = 0
    unnamed: int = 0
    failed: int = 0
    tokens: int = 0
    left: int = 0


class LiveSuggestions:
    """A model behind an endpoint, asked about the nodes of one job.

    Attributes:
        name: what the model is called in the job. url: the endpoint.
        classes: the names that a reply may have.
    """

    def __init__(self, path: Path, head: Mapping[str, Any], rows: Mapping[int, str], labelled: Container[int]) -> None:
        self._path, self._head, self._rows, self._labelled = path, head, rows, labelled
        self.name, self.url, self.classes = str(head["name"]), str(head["url"]), tuple(head["classes"])

    @classmethod
    def prepare(cls, moment: Moment, session: Path, url: str, name: str, asks_for: str = "") -> LiveSuggestions:
        """Fix what will be sent, or take what was fixed before; nothing is sent.

        Args:
            moment: the job, for its guideline, classes, a labelled row of each class and the rows to ask about.
            session: its file; what is fixed and what is answered lies beside it.
            url: of the endpoint. name: what the model is called in the job.
            asks_for: the model's own name at the endpoint; `name` by default.

        Raises:
            InputError: the address cannot be used, there is no class or no text, or the same name was fixed for
                another endpoint.
        """
        _check_address(url)
        classes = [each.name for each in moment.history.classes]
        if not classes:
            raise InputError("the job has no classes to ask for: add them first")
        if not moment.contents.graph.attributes:
            raise InputError("the graph has no texts or columns, so there is nothing to ask a model about")
        path = _file(session, name)
        audit = set(moment.contents.audit)
        rows = {node: _row(moment, node) for node in moment.rows}
        labelled = set(moment.labels) - audit
        if path.is_file():
            head = _read_head(path)
            if head["url"] != url or head["name"] != name:
                raise InputError(
                    f"{name!r} was fixed for {head['url']!r}: give another name (--as), or remove {path.name!r}"
                )
            if asks_for and head["model"] != asks_for:
                raise InputError(f"{name!r} was fixed for the model {head['model']!r}: give another name (--as)")
            return cls(path, head, rows, labelled)
        head = {
            "form": 1,
            "url": url,
            "name": name,
            "model": asks_for or name,
            "classes": classes,
            "messages": _messages(moment, classes, audit),
        }
        with path.open("x", encoding="utf-8") as file:
            file.write(json.dumps(head) + "\n")
        return cls(path, head, rows, labelled)

    @staticmethod
    def was_prepared(session: Path, name: str) -> bool:
        """Whether what a model would be sent has been fixed, and so could be looked at."""
        return _file(session, name).is_file()

    def body(self, node: int) -> bytes:
        """The bytes that are sent for a node."""
        question = {"role": "user", "content": self._rows[node]}
        sent = {"model": self._head["model"], "messages": [*self._head["messages"], question], "temperature": 0}
        return json.dumps(sent).encode()

    def _digest(self, node: int) -> str | None:
        """What tells the bytes of a node as it is now; None where the job has no such row."""
        return hashlib.sha256(self.body(node)).hexdigest() if node in self._rows else None

    def show(self, most: int) -> list[bytes]:
        """The bytes for up to so many nodes that wait, which from now on may be sent; nothing else is."""
        nodes = self.waiting()[:most]
        self._append({"shown": {node: self._digest(node) for node in nodes}})
        return [self.body(node) for node in nodes]

    def waiting(self) -> list[int]:
        """The nodes without a label that no reply has come for, as they are now."""
        have = {reply.node for reply in self.replies()}
        return [node for node in self._rows if node not in have and node not in self._labelled]

    def replies(self) -> list[Reply]:
        """What has come back for the rows as they are now, one for each, the oldest first.

        A reply belongs to the bytes that were sent for it: where a row's text has changed since, or its number is
        another row's, in a copy of the job, it does not count. Neither does a line that a kill has cut off.
        """
        found: dict[int, Reply] = {}
        shown: dict[int, Any] = {}
        for kept in self._lines():
            with suppress(ValueError, KeyError, TypeError, AttributeError):
                if "shown" in kept:
                    shown |= {int(node): digest for node, digest in kept["shown"].items()}
                    continue
                node, text, tokens = int(kept["node"]), str(kept["text"]), int(kept.get("tokens", 0))
                if self._digest(node) == kept.get("sent", shown.get(node)) is not None:
                    found[node] = Reply(node, text, self._class_of(text), tokens)
        return list(found.values())

    def _shown(self) -> set[int]:
        """The nodes whose bytes of now have been shown."""
        digests: dict[int, Any] = {}
        for kept in self._lines():
            with suppress(ValueError, TypeError, AttributeError):
                digests |= {int(node): digest for node, digest in kept.get("shown", {}).items()}
        return {node for node, digest in digests.items() if digest is not None and self._digest(node) == digest}

    def _lines(self) -> Iterator[dict[str, Any]]:
        """What was written behind the head; a line that a kill has cut off is none."""
        for line in self._path.read_text(encoding="utf-8").split("\n")[1:]:
            with suppress(ValueError, RecursionError):
                kept = json.loads(line)
                if isinstance(kept, dict):
                    yield kept

    def fetch(
        self,
        calls: int,
        *,
        rate: float | None = None,
        pause: Callable[[float], object] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> Iterator[Fetched]:
        """Ask about the nodes that wait and were shown; gives how it stands after each, the same record every time.

        Args:
            calls: requests at most, repeated ones included.
            rate: requests a minute, at most.
            pause: waits so many seconds. clock: gives seconds.

        Raises:
            SessionError: the endpoint refuses the key or the request, or cannot be reached.
        """
        shown, last, unheard = self._shown(), -1e9, 0
        waiting = [node for node in self.waiting() if node in shown]
        done = Fetched()
        for index, node in enumerate(waiting):
            text: str | None = None
            for attempt in range(_TRIES):
                if done.calls >= calls:
                    done.left = len(waiting) - index
                    yield done
                    return
                if rate is not None:
                    pause(max(0.0, last + 60 / rate - clock()))
                last = clock()
                done.calls += 1
                try:
                    text, tokens = self._send(self.body(node))
                    break
                except _AgainError as error:
                    if attempt == _TRIES - 1:
                        done.failed += 1
                    else:
                        pause(min(_LONGEST_PAUSE, max(error.after, _FIRST_PAUSE * 2**attempt)))
            unheard = 0 if text is not None else unheard + 1
            if text is not None:
                self._append({"node": node, "sent": self._digest(node), "text": text, "tokens": tokens})
                label = self._class_of(text)
                done.tokens += tokens
                done.answered += label is not None
                done.refused += not text.strip()
                done.unnamed += bool(text.strip()) and label is None
            yield done
            if unheard == _GIVES_UP:
                raise SessionError(
                    f"{self.url!r} gave no answer about {_GIVES_UP} nodes in a row, asked {_TRIES} times each: nothing"
                    " more was sent; the same command goes on once it answers again"
                )

    def _class_of(self, text: str) -> str | None:
        """The class that a reply names: nothing but its name, in any case, quotes and a full stop aside."""
        said = text.strip().strip("\"'`*.").strip().casefold()
        return next((name for name in self.classes if name.casefold() == said), None)

    def _append(self, line: Mapping[str, Any]) -> None:
        """One more line of the file, behind one that a kill may have cut off."""
        with self._path.open("r+b") as file:
            file.seek(-1, os.SEEK_END)
            torn = file.read(1) != b"\n"
            file.write((b"\n" if torn else b"") + json.dumps(line).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())

    def _send(self, body: bytes) -> tuple[str, int]:
        """One request: what the model says and how many tokens that took. Redirections are not followed."""
        at, until = urllib.parse.urlsplit(self.url), time.monotonic() + _PATIENCE
        kind = http.client.HTTPSConnection if at.scheme == "https" else http.client.HTTPConnection
        connection = kind(at.hostname or "", at.port, timeout=_PATIENCE)
        heads = {"Content-Type": "application/json"}
        if key := _key():
            heads["Authorization"] = f"Bearer {key}"
        try:
            connection.connect()
            with connection.sock as plain:
                connection.sock = _TimedSocket(plain, until)
                connection.request("POST", urllib.parse.urlunsplit(("", "", at.path or "/", at.query, "")), body, heads)
                try:
                    answer = connection.getresponse()
                    content = answer.read(_LONGEST_REPLY + 1)
                except ValueError:  # of a chunk that claims less than no bytes
                    raise _AgainError(0.0) from None
            after = answer.getheader("Retry-After") or ""
        except (OSError, http.client.HTTPException):
            raise _AgainError(0.0) from None  # what it says may hold the key's head
        if answer.status in _AGAIN:
            raise _AgainError(float(after) if after.isdecimal() else 0.0)
        if answer.status != 200:
            advice = {401: f": check the key in {KEY}", 403: f": check the key in {KEY}", 404: ": check the address"}
            raise SessionError(
                f"{self.url!r} answers {answer.status}{advice.get(answer.status, ': nothing more was sent')}"
            )
        return _said(content)


class _TimedSocket(io.RawIOBase):
    """A connected socket that a request and its reply may use until some moment, however slowly the bytes drip.

    A socket's own patience begins anew with each byte. Nor do more bytes come through than a reply may have, whatever
    its head says of its length: a chunk of less than no bytes is read by http.client to the end of the connection.
    """

    def __init__(self, plain: socket.socket, until: float) -> None:
        self._socket, self._until, self._left = plain, until, _RECEIVED

    def _in_time(self) -> socket.socket:
        left = self._until - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self._socket.settimeout(left)
        return self._socket

    def sendall(self, content: bytes) -> None:
        """As a socket's."""
        self._in_time().sendall(content)

    def makefile(self, mode: str) -> io.BufferedReader:
        """What the reply is read from, which outlives the connection's interest in the socket."""
        return io.BufferedReader(_TimedSocket(self._socket, self._until))

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: Any) -> int:
        """As a socket's."""
        received = self._in_time().recv_into(buffer)
        self._left -= received
        if self._left < 0:
            raise OSError("more came than a reply may have")
        return received


class _AgainError(Exception):
    """A request that may be sent again, after some seconds."""

    def __init__(self, after: float) -> None:
        super().__init__()
        self.after = after


def _said(content: bytes) -> tuple[str, int]:
    """What a reply says, empty where the model refused, and the tokens it counted."""
    try:
        reply = json.loads(content[:_LONGEST_REPLY])
        message = reply["choices"][0]["message"]
        text = "" if message.get("refusal") else str(message.get("content") or "").strip()[:_LONGEST_KEPT]
        used = reply.get("usage")
        tokens = int(used.get("total_tokens", 0)) if isinstance(used, dict) else 0
        return text, min(max(tokens, 0), _MOST_TOKENS)
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, OverflowError, RecursionError):
        raise _AgainError(0.0) from None  # cut off, or no reply of the protocol


def _row(moment: Moment, node: int) -> str:
    """What is sent of a node: its columns, without those that hold what models have said or the owner knows of it."""
    graph = moment.contents.graph
    twice = () if graph.preparation is None else graph.preparation.originals.values()  # the text holds them
    kept_back = {*swaying_columns(moment.history), *twice}
    cells = graph.attributes.items()
    return "\n".join(f"{name}: {cell[node]}" for name, cell in cells if name not in kept_back)[:_LONGEST_TEXT]


def _messages(moment: Moment, classes: list[str], audit: set[int]) -> list[dict[str, str]]:
    """The prompt before the question: guideline, classes, and a labelled row of each class; none of the audit's."""
    history = moment.history
    lines = ["Say which class the row belongs to.", *([history.guideline] if history.guideline else []), "The classes:"]
    lines += [f"- {each.name}" + (f": {each.description}" if each.description else "") for each in history.classes]
    lines.append("Answer with the name of one class and nothing else.")
    shown: dict[str, int] = {}
    for node, label in history.labels.items():
        if node not in audit and node not in history.gone and node not in history.known.answers:
            shown.setdefault(label, node)
    said = [{"role": "system", "content": "\n".join(lines)}]
    for label, node in list(shown.items())[:_EXAMPLES]:
        said += [{"role": "user", "content": _row(moment, node)}, {"role": "assistant", "content": label}]
    return said


def _file(session: Path, name: str) -> Path:
    """Where what is sent and what came back lies."""
    return session.with_name(f"{session.name}.{re.sub('[^A-Za-z0-9_-]', '-', name)}.replies.jsonl")


def _read_head(path: Path) -> Mapping[str, Any]:
    """What was fixed, from the first line of its file."""
    try:
        head = json.loads(path.read_text(encoding="utf-8").split("\n")[0])
        texts = [head[key] for key in ("url", "name", "model")] + list(head["classes"])
        if all(isinstance(text, str) for text in texts) and isinstance(head["messages"], list):
            return dict(head)
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    raise InputError(f"{path.name!r} does not say what was fixed to be sent: remove it, and look with --show again")


def _key() -> str:
    """The endpoint's key; empty where there is none.

    Raises:
        InputError: it cannot stand in a request; what would say so later repeats it.
    """
    key = os.environ.get(KEY, "").strip()
    if not (key.isascii() and key.isprintable()):
        raise InputError(f"the key in {KEY} holds a line break or a character that no key has: set it again")
    return key


def _check_address(url: str) -> None:
    try:
        at = urllib.parse.urlsplit(url)
        usable = at.port != 0 and bool(at.hostname) and url.isascii() and url.isprintable() and " " not in url
    except ValueError:  # no port, or no address in brackets
        usable = False
    if not usable or at.scheme not in ("http", "https") or at.username or at.password:
        raise InputError(f"the endpoint must be an http or https address without a name or password, got {url!r}")
    if at.scheme == "http" and at.hostname not in ("localhost", "127.0.0.1", "::1") and _key():
        raise InputError(f"the key in {KEY} would be sent readable by others to {at.hostname!r}: use an https address")
