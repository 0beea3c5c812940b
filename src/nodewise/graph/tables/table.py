"""A table of texts: CSV files as people have them, read and written, and which column names mean what.

What people get is CSV that any reader reads back row by row, whatever its cells hold, and of which no spreadsheet runs
a cell.
"""

from __future__ import annotations

import csv
import difflib
import itertools
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from nodewise.graph.checks import are_classes
from nodewise.ground.errors import GraphError
from nodewise.ground.events import count, listed
from nodewise.ground.files import atomic_file, existing_file

__all__ = [
    "COLUMNS",
    "EDGE_ENDS",
    "ID",
    "LABEL",
    "LINK",
    "PICTURE",
    "TEXT",
    "TITLE",
    "Table",
    "are_indices",
    "cell",
    "csv_lines",
    "csv_text",
    "defused",
    "dropped_of_edges",
    "dropped_of_relation",
    "edge_weight",
    "first_record",
    "guess_delimiter",
    "harmless",
    "id_column",
    "label_column",
    "label_columns",
    "meaning",
    "never_features",
    "numbers",
    "read_rows",
    "read_table",
    "restored",
    "unweighted_edges",
    "weight_field",
    "write_rows",
]

COLUMNS = 50_000
"""Columns of a table, at most: each costs memory of its own, however few bytes the file spends on it."""
_RECORD = 2**16  # characters of the first row that are looked at to tell the delimiter
_QUOTED = frozenset('",;\t\r\n|')
_SPECIAL = frozenset('",\r\n')
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_FORMULA = tuple("=+-@\uff1d\uff0b\uff0d\uff20")
LABEL = ("label", "class", "category", "target", "topic", "y")
"""The class of a node; the first that a table has counts, the others are never features."""
ID = ("id", "node_id", "nodeid", "node id", "node", "key", "name", "index")
"""What a node is called."""
TITLE = ("title", "headline", "subject", "heading")
TEXT = ("text", "body", "abstract", "content", "description", "message", "selftext", "question", "comment", "review")
LINK = ("link", "url", "href", "permalink", "website")
PICTURE = ("picture", "image", "img", "photo")
"""What a person is shown: with `ID`, columns that never become features of their own accord."""
EDGE_ENDS = (
    ("source", "target"),
    ("src", "dst"),
    ("from", "to"),
    ("start", "end"),
    ("node1", "node2"),
    ("node_1", "node_2"),
    ("id1", "id2"),
    ("id_1", "id_2"),
    ("u", "v"),
    ("i", "j"),
    ("head", "tail"),
    ("citing", "cited"),
)
"""The two columns of a table of edges."""
WEIGHTS = ("weight", "weights", "edge_weight", "edge_weights", "w")
"""The weight of an edge, in any case; the first that the edges have counts."""
_KINDS = {"label": LABEL, "id": ID, "title": TITLE, "text": TEXT, "link": LINK, "picture": PICTURE}
_MEANINGS = {name: kind for kind, names in _KINDS.items() for name in names}


@dataclass(frozen=True)
class Table:
    """A CSV file by columns.

    Attributes:
        path: where it came from, for messages.
        columns: column name -> one string a row.
        lines: the line on which each row ends.
    """

    path: Path
    columns: dict[str, list[str]]
    lines: list[int]

    def __len__(self) -> int:
        return len(self.lines)

    def column(self, name: str) -> list[str]:
        """The cells of a column.

        Raises:
            GraphError: if there is none of that name; says what was probably meant.
        """
        if name not in self.columns:
            near = difflib.get_close_matches(name, list(self.columns), n=1)
            meant = f"did you mean {near[0]!r}?" if near else "name one of these."
            raise GraphError(f"{self.path} has no column {name!r}; its columns are {listed(self.columns, 20)}: {meant}")
        return self.columns[name]

    def find(self, names: Iterable[str]) -> str | None:
        """The first of `names` that is a column, in any case."""
        lower = {column.strip().lower(): column for column in reversed(self.columns)}
        return next((lower[name] for name in names if name in lower), None)


def read_table(path: Path, *, delimiter: str | None = None, encoding: str = "utf-8") -> Table:
    """Reads a CSV file whose first row names the columns.

    Args:
        path: the file; a byte order mark is fine.
        delimiter: what stands between cells, or None: comma, semicolon or tab, whichever the first row has most of.
        encoding: how it is encoded.

    Raises:
        GraphError: if it cannot be read, a row has too few or too many cells, or a column name is missing or doubled.
    """
    rows = read_rows(path, delimiter=delimiter, encoding=encoding)
    _, header = next(rows, (0, []))
    if not header:
        raise GraphError(f"{path} has no rows: its first row must name the columns")
    header = [text or f"column {i}" for i, text in enumerate(header, start=1)]
    if len(set(header)) != len(header):
        raise GraphError(
            f"{path}: every column needs a name of its own in the first row, received {listed(header, 20)}"
        )
    columns: list[list[str]] = [[] for _ in header]
    lines = []
    for line, row in rows:
        if len(row) != len(header):
            raise GraphError(
                f"{path}, line {line}: {len(row)} cells where the first row has {len(header)}; the file may be cut off,"
                " or a cell with a comma or line break needs quotes"
            )
        lines.append(line)
        for column, value in zip(columns, row, strict=True):
            column.append(value)
    return Table(path, dict(zip(header, columns, strict=True)), lines)


def read_rows(
    path: Path, *, delimiter: str | None = None, encoding: str = "utf-8", comments: str = ""
) -> Iterator[tuple[int, list[str]]]:
    """Gives line number and cells of every row.

    Empty lines and, outside quotes, lines that start with a letter of `comments` are passed over.
    """
    existing_file(path)
    reader, begun = None, 1
    try:
        with path.open(
            encoding="utf-8-sig" if encoding.lower() in ("utf-8", "utf8") else encoding, newline=""
        ) as handle:
            record = first_record(handle, comments)
            handle.seek(0)
            delimiter = guess_delimiter(record[:_RECORD]) if delimiter is None else delimiter
            if record.count(delimiter) >= COLUMNS and delimiter != " ":
                raise GraphError(
                    f"{path} has about {record.count(delimiter) + 1:,} columns in its first row, at most {COLUMNS:,}"
                    " can be read: keep those that are needed, or save a wide table of numbers as .npy"
                )
            # Python's limit for a cell, 131,072 characters, is less than a long text; it is for the whole process, and
            # only ever raised.
            csv.field_size_limit(max(csv.field_size_limit(), 2**31 - 1))
            reader = csv.reader(
                _records(handle, comments), delimiter=delimiter, strict=True, skipinitialspace=delimiter == " "
            )
            for row in reader:
                if row:
                    yield reader.line_num, row
                begun = reader.line_num + 1
    except UnicodeError as error:
        raise GraphError(
            f"{path} is not encoded as {encoding} ({error}): save it as UTF-8, or say its encoding"
        ) from error
    except LookupError as error:
        raise GraphError(
            f"{encoding!r} is no known encoding: use 'utf-8', 'latin-1' or another that Python knows"
        ) from error
    except csv.Error as error:
        where = "" if reader is None else f", line {begun}"
        goes_on = (
            "" if reader is None or reader.line_num <= begun else f"; what it begins goes on to line {reader.line_num}"
        )
        raise GraphError(
            f"{path}{where} cannot be read as CSV ({error}){goes_on}: it may be cut off within quotes, or hold a stray"
            ' quotation mark; write "" for one within a quoted cell'
        ) from error
    except OSError as error:
        raise GraphError(f"{path} cannot be read: {error.strerror or error}; check its permissions") from error


def write_rows(path: Path, rows: Iterable[Sequence[str]], delimiter: str = ",", head: str = "") -> None:
    """Writes rows whose cells `cell` has made; the file appears whole or not at all."""
    with atomic_file(path) as handle:
        handle.write(head.encode())
        part: list[str] = []
        for row in rows:
            part.append(delimiter.join(row))
            if len(part) == 65536:
                handle.write(("\n".join(part) + "\n").encode())
                part = []
        if part:
            handle.write(("\n".join(part) + "\n").encode())


def cell(text: str, special: frozenset[str] = _QUOTED) -> str:
    """A text as a CSV cell: in quotes where it holds anything that some reader might take for a delimiter.

    Raises:
        GraphError: for a NUL character, which CSV readers refuse.
    """
    if "\0" in text:
        raise GraphError(f"{text!r} holds a NUL character, which text files cannot hold: remove it, or write .npz")
    if not text or text[0] == " " or text[-1] == " " or not special.isdisjoint(text):
        return '"' + text.replace('"', '""') + '"'
    return text


def csv_text(head: Sequence[object], rows: Iterable[Sequence[object]], *, keep_formulas: bool = False) -> str:
    """A table as CSV, whole; see `csv_lines`."""
    return "".join(csv_lines(head, rows, keep_formulas=keep_formulas))


def csv_lines(
    head: Sequence[object], rows: Iterable[Sequence[object]], *, keep_formulas: bool = False
) -> Iterator[str]:
    """A table as CSV, a row a line, each with its end, one after the other; None is an empty cell.

    A cell with a quotation mark, a comma, a line break or a carriage return stands in quotes. Python's own writer
    leaves a carriage return bare before 3.13, and readers begin a new row there.

    Args:
        head: the columns' names.
        rows: as many cells each.
        keep_formulas: leave cells that a spreadsheet would run as they are; else they are made `harmless`.
    """
    for row in itertools.chain([head], rows):
        cells = ["" if cell is None else str(cell if keep_formulas else harmless(cell)) for cell in row]
        line = ",".join(map(_quoted, cells)) if cells != [""] else '""'  # an empty line would be no row
        yield line + "\n"


def harmless(cell: object) -> object:
    """A cell that no spreadsheet runs.

    Text that begins like a formula gets an apostrophe in front, numbers stay numbers.

    Spreadsheets take a cell for a formula that begins with =, +, -, @ or their full-width forms, also behind blanks,
    tabs and line ends.
    """
    if not isinstance(cell, str) or not (cell.lstrip().startswith(_FORMULA) or cell[:1] in ("\t", "\r", "\n")):
        return cell
    return cell if _NUMBER.fullmatch(cell) else "'" + cell


def defused(text: str) -> str:
    """The same as `harmless` for a file that is read back: `restored` gives the text as it was, also one that begins
    with an apostrophe itself.
    """
    return "'" + text if _is_formula(text) else text


def restored(text: str) -> str:
    """The text that `defused` was given."""
    return text[1:] if text.startswith("'") and _is_formula(text) else text


def _is_formula(text: str) -> bool:
    """Whether a spreadsheet would run it, apostrophes before it aside."""
    bare = text.lstrip("'")
    return harmless(bare) != bare


def numbers(texts: Sequence[str]) -> list[float] | None:
    """The numbers that the texts say, or None if one of them is no finite number; codes with leading zeros are none."""
    values = []
    for text in texts:
        bare = text.strip().removeprefix("-")
        if not bare[:1].isascii() or (len(bare) > 1 and bare[0] == "0" and bare[1].isdigit()) or "_" in bare:
            return None
        try:
            value = float(text)
        except ValueError:
            return None
        if value - value != 0:
            return None
        values.append(value)
    return values


def guess_delimiter(record: str, choices: str = ",;\t") -> str:
    """The delimiter that a first row has most of, outside quotes; a comma where it has none."""
    counts = dict.fromkeys(choices, 0)
    quoted = False
    for letter in record:
        if letter == '"':
            quoted = not quoted
        elif not quoted and letter in counts:
            counts[letter] += 1
    best = max(choices, key=lambda letter: counts[letter])
    return best if counts[best] else choices[0]


def first_record(lines: Iterable[str], comments: str = "") -> str:
    """The first row as it is written, with the line breaks within its quotes.

    Comments and empty lines before it do not count.
    """
    record: list[str] = []
    filled, quoted = False, False
    for line in _records(lines, comments):
        record.append(line)
        filled = filled or not line.isspace()
        quoted ^= line.count('"') % 2 == 1
        if filled and not quoted:
            break
    return "".join(record)


def meaning(column: str) -> str | None:
    """What a column of that name usually holds: label, id, title, text, link or picture.

    None where the name does not tell.
    """
    return _MEANINGS.get(column.strip().lower())


def label_column(table: Table, wanted: str | None, taken: Sequence[str | None], notes: list[str]) -> str | None:
    """The column of the classes: the one wanted, none where that is an empty text, else the first of a usual name that
    may hold classes.
    """
    if wanted is not None:
        return wanted or None
    for column in label_columns({name: cells for name, cells in table.columns.items() if name not in taken}):
        if are_classes(table.columns[column]):
            return column
        notes.append(
            f"the column {column!r} differs on every node, or holds long texts, and was taken as an attribute, not as"
            " classes"
        )
    return None


def label_columns(columns: Mapping[str, Sequence[str]]) -> list[str]:
    """The columns whose names say that they hold classes, the likeliest first.

    A column ``y`` beside a column ``x`` is a coordinate, not a class, if both hold numbers that are not all whole.
    """
    lower = {column.strip().lower(): column for column in reversed(list(columns))}
    return [lower[name] for name in LABEL if name in lower and not (name == "y" and _is_coordinate(columns, lower))]


def never_features(columns: Mapping[str, Sequence[str]]) -> set[str]:
    """The columns that become features only where somebody names them.

    A class would give the answer away, names and links mean nothing.
    """
    labels = {column.strip().lower() for column in label_columns(columns)}
    return {column for column in columns if column.strip().lower() in labels or meaning(column) not in (None, "label")}


def id_column(table: Table, wanted: str | None, notes: list[str], *, exact: bool = False) -> tuple[list[str], str]:
    """The ids of a table of nodes and the name of their column.

    Blanks around an id are not part of it unless `exact`.
    """
    known = wanted if wanted is not None else table.find(ID)
    name = known if known is not None else next(iter(table.columns))
    ids = table.column(name) if exact else [text.strip() for text in table.column(name)]
    seen: dict[str, int] = {}
    for row, text in enumerate(ids):
        if not text:
            raise GraphError(
                f"{table.path}, line {table.lines[row]}: the id in column {name!r} is empty; every node needs one"
            )
        if text in seen:
            hint = "every node needs an id of its own" + (
                "" if wanted else "; say which column holds the ids (id=…) if it is not this one"
            )
            where = f"{table.path}, line {table.lines[row]}"
            raise GraphError(
                f"{where}: the id {text!r} in column {name!r} was on line {table.lines[seen[text]]} already: {hint}"
            )
        seen[text] = row
    if known is None:
        notes.append(f"the first column, {name!r}, was taken as the id")
    return ids, name


def are_indices(ids: Sequence[str]) -> bool:
    """Whether ids are the nodes' indices, 0 … nodes-1 in order, and so no names."""
    return len(ids) > 0 and ids[0] == "0" and list(ids) == [str(i) for i in range(len(ids))]


def _quoted(cell: str) -> str:
    return cell if _SPECIAL.isdisjoint(cell) else '"' + cell.replace('"', '""') + '"'


def _records(lines: Iterable[str], comments: str) -> Iterator[str]:
    """The lines without comments; a line break within quotes does not start a comment."""
    quoted = False
    for line in lines:
        if not quoted and comments and line[:1] in comments and line[:1]:
            yield "\n"  # an empty line: line numbers stay right
            continue
        quoted ^= line.count('"') % 2 == 1
        yield line


def _is_coordinate(columns: Mapping[str, Sequence[str]], lower: Mapping[str, str]) -> bool:
    if "x" not in lower:
        return False
    one, other = (numbers(columns[lower[name]]) for name in "xy")
    return one is not None and other is not None and any(value != round(value) for value in (*one, *other))


def weight_field(fields: Iterable[str]) -> str | None:
    """The one of the edges' fields that holds their weights, by its name; None where there is none."""
    lower = {name.strip().lower(): name for name in reversed(list(fields))}
    return next((lower[name] for name in WEIGHTS if name in lower), None)


def edge_weight(text: str, where: str) -> float:
    """The weight that a cell says.

    Raises:
        GraphError: if it is no positive, finite number; begins with `where`.
    """
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise GraphError(
            f"{where} has the weight {text.strip()!r}: a weight is a positive, finite number; correct it, or leave the"
            " edge out"
        )
    return value


def unweighted_edges(number: int) -> str:
    """What is noted of edges without a weight among others that have one."""
    return f"{count(number, 'edge')} without a weight counted as 1"


def dropped_of_edges(fields: Iterable[str] = (), *, directed: bool = False) -> list[str]:
    """What a reader drops of the edges, in the words of all readers.

    Args:
        fields: names of what the edges hold beside their ends and their weight; those called so are further weights.
        directed: whether the source tells the way from the way back.
    """
    names = list(dict.fromkeys(fields))
    others = [name for name in names if name.strip().lower() not in WEIGHTS]
    notes = []
    if len(others) < len(names):
        notes.append("further weights of the edges were dropped: an edge has one")
    if directed:
        notes.append("the direction of the edges was dropped: an edge leads both ways")
    if others:
        notes.append(f"what else the edges hold was dropped: {listed(others)}")
    return notes


def dropped_of_relation(name: str, given: int, kept: int, weighted: bool, fields: Iterable[str] = ()) -> list[str]:
    """What a reader drops of the edges of a relation, in the words of all readers.

    Args:
        name: the relation's.
        given: how many edges the source has.
        kept: how many are left, each once.
        weighted: whether they have weights: those of an edge that is given twice add up.
        fields: see `dropped_of_edges`.
    """
    notes = dropped_of_edges(fields)
    if given > kept:
        done = "added to the weight of the first" if weighted else "dropped"
        notes.append(f"{count(given - kept, 'repeated edge')} {done}")
    return [f"{note} (relation {name!r})" for note in notes]
