"""Routes about models: what they say is looked at, brought, reported and taken back."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import Depends, File, Form, Query, UploadFile

from nodewise.studio.api.failures import Json
from nodewise.studio.api.requests import SessionName, SuggestRequest, WithdrawRequest
from nodewise.studio.api.responses import EventNumberResponse
from nodewise.studio.api.routing import CurrentStudio, FormRoute, make_router, refusals
from nodewise.studio.api.suggestion_responses import (
    SuggestedEventResponse,
    SuggestionPreviewResponse,
    SuggestionsResponse,
    WithdrawnResponse,
)
from nodewise.studio.api.uploads import FormColumn, FormSession, FormWho, as_upload, change_beside, opened_session
from nodewise.studio.guard.roles import JUDGES, permit
from nodewise.studio.work.model_files import Brought, bring, offered_columns, preview_suggestions
from nodewise.studio.work.worker import Priority

__all__ = ["forms", "router"]

router = make_router("models")
forms = make_router("models")
forms.route_class = FormRoute

_Rows = Annotated[UploadFile | None, File(description="a table of answers; without it a column of the rows is taken")]
_Name = Annotated[str, Form(min_length=1, max_length=200, description="the model")]


async def _brought(
    name: _Name,
    rows: _Rows = None,
    node: FormColumn = None,
    label: FormColumn = None,
    confidence: FormColumn = None,
) -> Brought:
    """What a model says, as a form has it: in a table, or in a column of the job's own rows."""
    return Brought(name, None if rows is None else as_upload(rows), node, label, confidence)


_Answers = Annotated[Brought, Depends(_brought)]


@router.get("/suggestions", response_model=SuggestionsResponse, responses=refusals(404, 409))
@permit(*JUDGES)
async def suggestions(
    studio: CurrentStudio,
    limit: Annotated[int, Query(ge=0, le=1000)] = 50,
    session: SessionName = None,
) -> Json:
    """How right each model is by people's labels and by the audit, and where it and the learner differ."""

    def job() -> dict[str, Any]:
        opened = studio.sessions.get(session).page.session
        return {
            "models": [each.as_dict() for each in opened.model_reports()],
            "differing": [asdict(each) for each in opened.model_disagreements(limit)] if limit else [],
            "columns": offered_columns(opened),
        }

    return Json(await studio.worker.run(Priority.BACKGROUND, job))


@router.post("/suggestions", response_model=EventNumberResponse, responses=refusals(404, 409, 415, 507))
@permit("owner")
async def suggest(request: SuggestRequest, studio: CurrentStudio) -> Json:
    """Take what a model says of nodes: no labels, but what the learner begins with."""

    def job() -> dict[str, Any]:
        opened = studio.sessions.get(request.session)
        answers: dict[int | str, str] = {opened.node(each.node): each.label for each in request.labels}
        event = opened.change(
            lambda session: session.suggest(request.name, answers, request.confidence, request.annotator)
        )
        return {"event": event, "status": opened.status(request.annotator, predict=False)}

    return Json(await studio.worker.run(Priority.ANSWER, job))


@forms.post("/suggestions/preview", response_model=SuggestionPreviewResponse, responses=refusals(404, 409, 415, 507))
@permit("owner")
async def preview_answers(studio: CurrentStudio, brought: _Answers, session: FormSession = None) -> Json:
    """What a model's answers would bring, from a table or a column of the job's own rows. Nothing is kept."""
    opened = await opened_session(studio, session)
    return Json(
        await studio.builder.run(Priority.READ, lambda: preview_suggestions(opened.session, brought, studio.scratch))
    )


@forms.post("/suggestions/bring", response_model=SuggestedEventResponse, responses=refusals(404, 409, 415, 507))
@permit("owner")
async def bring_answers(
    studio: CurrentStudio, brought: _Answers, session: FormSession = None, annotator: FormWho = "me"
) -> Json:
    """Take a model's answers, from a table or a column of the job's own rows. One event, which an undo takes back."""
    return await change_beside(
        studio, session, annotator, lambda opened: bring(opened.session, brought, studio.scratch, annotator)
    )


@router.post("/suggestions/withdraw", response_model=WithdrawnResponse, responses=refusals(404, 409, 415, 507))
@permit("owner")
async def withdraw(request: WithdrawRequest, studio: CurrentStudio) -> Json:
    """Take back all that a model has said. An undo of each event brings it back."""

    def job() -> dict[str, Any]:
        opened = studio.sessions.get(request.session)
        events = opened.change(lambda session: session.withdraw(request.name, request.annotator))
        return {"events": events, "status": opened.status(request.annotator, predict=False)}

    return Json(await studio.worker.run(Priority.ANSWER, job))
