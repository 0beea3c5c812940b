"""Routes that move the job on: ask, tell, skip, undo."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nodewise.studio.api.answers import AskAnswer, OneEvent, StatusAnswer, TellAnswer, UndoAnswer
from nodewise.studio.api.failures import Json
from nodewise.studio.api.requests import Annotator, AskRequest, BudgetRequest, Change, ClassRequest, SkipRequest, TellRequest, UndoRequest
from nodewise.studio.api.routing import Here, make_router, refusals
from nodewise.studio.work.studio import Studio
from nodewise.studio.work.worker import Priority

__all__ = ["router"]

router = make_router("labelling")


async def _answer(here: Studio, key: str, request: Change, change: Callable[[], Any]) -> Json:
    """Makes a change, and answers with what came of it and how far the job is then."""

    def job() -> dict[str, Any]:
        here.workplace.expect(request.session)
        return {key: change(), "status": here.workplace.status(request.annotator)}

    return Json(await here.worker.run(Priority.ANSWER, job))


@router.get("/status", response_model=StatusAnswer, responses=refusals(409))
async def status(here: Here, annotator: Annotator = None) -> Json:
    """How far the job is."""
    return Json(await here.worker.run(Priority.READ, lambda: here.workplace.status(annotator)))


@router.post("/ask", response_model=AskAnswer, responses=refusals(409, 415, 507))
async def ask(request: AskRequest, here: Here) -> Json:
    """The next nodes to label. Queries that the annotator has not answered are given again; those of different annotators differ."""

    def job() -> list[dict[str, Any]]:
        here.workplace.expect(request.session)
        return here.workplace.ask(request.annotator, request.k)

    return Json({"queries": await here.worker.run(Priority.ANSWER, job)})


@router.post("/tell", response_model=TellAnswer, responses=refusals(404, 409, 415, 507))
async def tell(request: TellRequest, here: Here) -> Json:
    """Give nodes their labels, asked for or not; again, to change them. They are on the disk when the answer arrives."""
    labels = [(each.node, each.label) for each in request.labels]
    return await _answer(here, "events", request, lambda: here.workplace.tell(request.annotator, labels, request.new_class))


@router.post("/skip", response_model=OneEvent, responses=refusals(404, 409, 415, 507))
async def skip(request: SkipRequest, here: Here) -> Json:
    """Say that a node cannot be told. The annotator is not asked again, and it spends no budget."""
    return await _answer(here, "event", request, lambda: here.workplace.skip(request.annotator, request.node))


@router.post("/undo", response_model=UndoAnswer, responses=refusals(409, 415, 507))
async def undo(request: UndoRequest, here: Here) -> Json:
    """Take back the last thing told, skipped, declared or set; or any one of them, or an undo, by its number."""
    return await _answer(here, "undone", request, lambda: here.workplace.undo(request.annotator, request.event))


@router.post("/classes", response_model=OneEvent, responses=refusals(409, 415, 507))
async def add_class(request: ClassRequest, here: Here) -> Json:
    """Declare a class that nobody has used yet."""
    return await _answer(here, "event", request, lambda: here.workplace.add_class(request.name, request.annotator))


@router.post("/budget", response_model=OneEvent, responses=refusals(409, 415, 507))
async def set_budget(request: BudgetRequest, here: Here) -> Json:
    """Raise or lower the budget."""
    return await _answer(here, "event", request, lambda: here.workplace.set_budget(request.budget, request.annotator))
