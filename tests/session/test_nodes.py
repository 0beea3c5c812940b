"""Every method of a session that takes nodes takes a mask, and refuses zeros and ones, one for each node."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from nodewise.ground.errors import InputError
from nodewise.session import Session
from tests.session.jobs import small_job

MASK = np.isin(np.arange(60), [3, 5])
BY: dict[str, Callable[[Session, Any, Path], object]] = {
    "tell": lambda session, nodes, folder: session.tell(nodes, "a"),
    "tell, one label each": lambda session, nodes, folder: session.tell(nodes, ["a", "b"]),
    "tell_bulk": lambda session, nodes, folder: session.tell_bulk(nodes, "a"),
    "skip": lambda session, nodes, folder: session.skip(nodes),
    "add_note": lambda session, nodes, folder: session.add_note(nodes, "odd"),
    "remove_rows": lambda session, nodes, folder: session.remove_rows(nodes),
    "assign": lambda session, nodes, folder: session.assign(nodes, "ada"),
    "erase_rows": lambda session, nodes, folder: session.erase_rows(nodes, folder / "erased"),
}


def reached(session: Session) -> list[int]:
    """The nodes that the events name."""
    said = (event.body for event in session.events)
    return [node for body in said for node in (body["nodes"] if "nodes" in body else [body["node"]])]


@pytest.mark.parametrize("by", BY)
def test_a_mask_is_a_mask(by: str, tmp_path: Path) -> None:
    for number, mask in enumerate((MASK, MASK.tolist(), torch.tensor(MASK))):
        with small_job(tmp_path / f"job{number}") as session:
            BY[by](session, mask, tmp_path)
            if by == "erase_rows":
                with Session.open(tmp_path / "erased") as erased:
                    assert reached(erased) == [3, 5]
                (tmp_path / "erased").unlink()
            else:
                assert reached(session) == [3, 5]


@pytest.mark.parametrize("by", BY)
@pytest.mark.parametrize("ambiguous", [MASK.astype(int), MASK.astype(int).tolist(), MASK[:50], [True, False]])
def test_what_is_ambiguous_or_speaks_for_other_nodes_is_refused(by: str, ambiguous: Any, tmp_path: Path) -> None:
    with small_job(tmp_path / "job") as session:
        with pytest.raises(InputError, match="60 zeros and ones, one for each node|a mask needs one True or False"):
            BY[by](session, ambiguous, tmp_path)
        assert session.events == () and not (tmp_path / "erased").exists()


def test_what_was_given_is_freed_by_a_mask(tmp_path: Path) -> None:
    with small_job(tmp_path / "job") as session:
        assert session.assign([3, 5, 7], "ada") == [3, 5, 7]
        with pytest.raises(InputError, match="zeros and ones"):
            session.release("ada", nodes=MASK.astype(int))
        assert session.release("ada", nodes=MASK) == 2


def test_indices_names_and_repetition_stay_one_for_one(tmp_path: Path) -> None:
    with small_job(tmp_path / "job") as session:
        session.tell([3, "5", np.int64(3)], ["a", "b", "b"])
        assert session.labels == {3: "b", 5: "b"} and len(session.events) == 3
        with pytest.raises(InputError, match="must be several nodes, received '35': give a list"):
            session.tell_bulk("35", "a")
