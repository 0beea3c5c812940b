"""The whole job as one CSV: the original columns and texts, the label that counts, every vote, the prediction, the
notes.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING

from nodewise.session.files.export import harmless, prediction_rows

if TYPE_CHECKING:
    from nodewise.session import Session

__all__ = ["write_full_table"]


def write_full_table(session: Session, path: Path) -> None:
    """Write a row a node; cells that a spreadsheet would run are made harmless."""
    history, graph = session.refresh(), session.graph
    prediction = session.predict() if session.training(history).told or session.rules().given else None
    head, rows = prediction_rows(session, prediction)
    people = sorted({who for votes in history.votes.values() for who in votes})
    taken = set(head)
    columns = {name if name not in taken else f"original {name}": cells for name, cells in graph.attributes.items()}
    with path.open("w", encoding="utf-8", newline="") as handle:
        writer = csv.writer(handle, lineterminator="\n")
        writer.writerow(map(harmless, [*head, *columns, *(f"vote of {who}" for who in people), "notes"]))
        for node, row in enumerate(rows):
            votes = history.votes.get(node, {})
            notes = "\n".join(f"{note.annotator}: {note.text}" for note in history.notes.get(node, ()))
            cells = [
                *(str(column[node]) for column in columns.values()),
                *(votes.get(who, "") for who in people),
                notes,
            ]
            writer.writerow([harmless(str(cell)) for cell in (*row, *cells)])
