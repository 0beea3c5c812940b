"""Routes that move the job on: ask, tell, skip, undo."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from nodewise.studio.api.failures import Json
from nodewise.studio.api.requests import (
    Annotator,
    AskRequest,
    BudgetRequest,
    BulkRequest,
    Change,
    ClassRequest,
    DescribeRequest,
    MergeRequest,
    NoteRequest,
    OrderRequest,
    RedundancyRequest,
    ReleaseRequest,
    RenameRequest,
    SessionName,
    SettleRequest,
    SkipRequest,
    TellRequest,
    UndoRequest,
)
from nodewise.studio.api.responses import (
    AskResponse,
    CountResponse,
    EventNumberResponse,
    StatusResponse,
    TellResponse,
    UndoResponse,
)
from nodewise.studio.api.routing import CurrentRole, CurrentStudio, make_router, opening, refusals
from nodewise.studio.guard.roles import EVERYBODY, JUDGES, LABELLERS, VISITOR, WORKERS, permit
from nodewise.studio.work.annotators import check_answers, check_classes, check_undo
from nodewise.studio.work.errors import ForbiddenError
from nodewise.studio.work.open_session import OpenSession
from nodewise.studio.work.studio import Studio
from nodewise.studio.work.worker import Priority

if TYPE_CHECKING:
    from nodewise.session import Session

__all__ = ["router"]

router = make_router("labelling")


async def _change(studio: Studio, key: str, request: Change, change: Callable[[OpenSession], Any]) -> Json:
    """Makes a change, and answers with what came of it and how far the job is then."""
    get_session = opening(studio, request.session, request.annotator)

    def job() -> dict[str, Any]:
        opened = get_session()
        return {key: change(opened), "status": opened.status(request.annotator, predict=False)}

    return Json(await studio.worker.run(Priority.ANSWER, job))


async def _write(studio: Studio, request: Change, write: Callable[[Session], int], key: str = "event") -> Json:
    """The same for what is written to the session as it is."""
    return await _change(studio, key, request, lambda opened: opened.change(write))


@router.get("/status", response_model=StatusResponse, responses=refusals(404, 409))
@permit(*EVERYBODY)
async def status(studio: CurrentStudio, session: SessionName = None, annotator: Annotator = None) -> Json:
    """How far the job is."""
    get_session = opening(studio, session, annotator)
    return Json(await studio.worker.run(Priority.READ, lambda: get_session().status(annotator)))


@router.post("/ask", response_model=AskResponse, responses=refusals(404, 409, 415, 507))
@permit(*LABELLERS)
async def ask(request: AskRequest, studio: CurrentStudio) -> Json:
    """The next nodes to label. Queries that the annotator has not answered are given again.

    Those of different annotators differ.
    """
    get_session = opening(studio, request.session, request.annotator)
    queries = await studio.worker.run(Priority.ANSWER, lambda: get_session().ask(request.annotator, request.k))
    return Json({"queries": queries})


@router.post("/tell", response_model=TellResponse, responses=refusals(404, 409, 415, 507))
@permit(*LABELLERS)
async def tell(request: TellRequest, studio: CurrentStudio, role: CurrentRole) -> Json:
    """Give nodes their labels, asked for or not; again, to change them.

    They are on the disk when the answer arrives.
    """
    labels = [(each.node, each.label) for each in request.labels]

    def change(opened: OpenSession) -> list[int]:
        if role != "owner":
            check_answers(opened.session, request.annotator, labels, request.overrule)
        return opened.tell(request.annotator, labels, request.new_class, request.overrule)

    return await _change(studio, "events", request, change)


@router.post("/skip", response_model=EventNumberResponse, responses=refusals(404, 409, 415, 507))
@permit(*LABELLERS)
async def skip(request: SkipRequest, studio: CurrentStudio) -> Json:
    """Say that a node cannot be labelled. The annotator is not asked again, and it spends no budget."""
    return await _change(studio, "event", request, lambda opened: opened.skip(request.annotator, request.node))


@router.post("/undo", response_model=UndoResponse, responses=refusals(404, 409, 415, 507))
@permit(*WORKERS)
async def undo(request: UndoRequest, studio: CurrentStudio, role: CurrentRole) -> Json:
    """Take back the last thing labelled, skipped, declared or set; or any one of them, or an undo, by its number.

    Annotators take back what they did themselves, unless the owner has decided the node since.
    """

    def change(opened: OpenSession) -> dict[str, Any]:
        event = request.event
        if role != "owner":
            event = check_undo(opened.session, request.annotator, event, role)
        return opened.undo(request.annotator, event)

    return await _change(studio, "undone", request, change)


@router.post("/bulk", response_model=EventNumberResponse, responses=refusals(404, 409, 415, 507))
@permit(*LABELLERS)
async def bulk(request: BulkRequest, studio: CurrentStudio, role: CurrentRole) -> Json:
    """Label many nodes in one go.

    They train, spend no budget, are taken back as one, and no accuracy is measured on them.
    """
    labels = [(each.node, each.label) for each in request.labels]

    def change(opened: OpenSession) -> int:
        if role != "owner":
            check_answers(opened.session, request.annotator, labels, request.overrule)
        return opened.tell_bulk(request.annotator, labels, request.new_class, request.overrule)

    return await _change(studio, "event", request, change)


@router.post("/notes", response_model=EventNumberResponse, responses=refusals(404, 409, 415, 507))
@permit(*WORKERS)
async def add_note(request: NoteRequest, studio: CurrentStudio) -> Json:
    """Write something to a node for everybody to read."""
    return await _change(
        studio,
        "event",
        request,
        lambda opened: opened.change(
            lambda session: session.add_note(opened.node(request.node), request.text, request.annotator)
        ),
    )


@router.post("/release", response_model=CountResponse, responses=refusals(404, 409, 415, 507))
@permit(*LABELLERS)
async def release(request: ReleaseRequest, studio: CurrentStudio, role: CurrentRole) -> Json:
    """Free the queries that an annotator has not answered: they have left, or go by another name.

    The owner frees anybody's, others their own.
    """
    visitor = VISITOR.get()
    if role != "owner" and (
        request.released != (visitor.name or request.released) or visitor.is_others(request.released)
    ):
        raise ForbiddenError(f"the rows given to {request.released!r} are theirs: only the owner takes them back")
    return await _write(
        studio, request, lambda session: session.release(request.released, request.annotator, request.nodes), "count"
    )


@router.post("/classes", response_model=EventNumberResponse, responses=refusals(404, 409, 415, 507))
@permit("owner")
async def add_class(request: ClassRequest, studio: CurrentStudio) -> Json:
    """Declare a class that nobody has used yet."""
    return await _write(
        studio, request, lambda session: session.add_class(request.name, request.annotator, new_class=request.new_class)
    )


@router.post("/classes/rename", response_model=EventNumberResponse, responses=refusals(404, 409, 415, 507))
@permit("owner")
async def rename_class(request: RenameRequest, studio: CurrentStudio) -> Json:
    """Call a class something else: its labels, its number and every prediction stay."""
    return await _write(
        studio, request, lambda session: session.rename_class(request.name, request.new_name, request.annotator)
    )


@router.post("/classes/merge", response_model=EventNumberResponse, responses=refusals(404, 409, 415, 507))
@permit("owner")
async def merge_classes(request: MergeRequest, studio: CurrentStudio) -> Json:
    """Let the labels of one class count as another's."""
    return await _write(
        studio, request, lambda session: session.merge_classes(request.name, request.into, request.annotator)
    )


@router.post("/classes/describe", response_model=EventNumberResponse, responses=refusals(404, 409, 415, 507))
@permit("owner")
async def describe_class(request: DescribeRequest, studio: CurrentStudio) -> Json:
    """Say what belongs to a class; without a name, what everybody should know of the job."""

    def change(session: Session) -> int:
        if request.name is None:
            return session.set_guideline(request.text, request.annotator)
        return session.describe_class(request.name, request.text, request.annotator)

    return await _write(studio, request, change)


@router.post("/classes/order", response_model=EventNumberResponse, responses=refusals(404, 409, 415, 507))
@permit("owner")
async def order_classes(request: OrderRequest, studio: CurrentStudio) -> Json:
    """Put the classes in an order for the screen; keys and colours stay."""
    return await _write(studio, request, lambda session: session.order_classes(request.names, request.annotator))


@router.post("/settle", response_model=EventNumberResponse, responses=refusals(404, 409, 415, 507))
@permit(*JUDGES)
async def settle(request: SettleRequest, studio: CurrentStudio, role: CurrentRole) -> Json:
    """Decide a disagreement: the label counts whatever the votes say, and nobody is asked about the node again."""

    def change(opened: OpenSession) -> int:
        if role != "owner":
            check_classes(opened.session, [request.label])
        return opened.settle(request.annotator, request.node, request.label)

    return await _change(studio, "event", request, change)


@router.post("/redundancy", response_model=EventNumberResponse, responses=refusals(404, 409, 415, 507))
@permit("owner")
async def set_redundancy(request: RedundancyRequest, studio: CurrentStudio) -> Json:
    """Change how many are to label each node; raised, further opinions on what is labelled are asked for."""
    return await _write(studio, request, lambda session: session.set_redundancy(request.redundancy, request.annotator))


@router.post("/budget", response_model=EventNumberResponse, responses=refusals(404, 409, 415, 507))
@permit("owner")
async def set_budget(request: BudgetRequest, studio: CurrentStudio) -> Json:
    """Raise or lower the budget."""
    return await _write(studio, request, lambda session: session.set_budget(request.budget, request.annotator))
