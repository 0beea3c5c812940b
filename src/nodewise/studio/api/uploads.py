"""What routes share that take a file: the fields of their forms, and work on it beside the worker."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import Depends, Form, UploadFile

from nodewise.studio.api.failures import Json
from nodewise.studio.api.requests import speaker
from nodewise.studio.work.open_session import OpenSession
from nodewise.studio.work.studio import Studio
from nodewise.studio.work.upload import Upload
from nodewise.studio.work.worker import Priority

__all__ = [
    "FormColumn",
    "FormEncoding",
    "FormHeader",
    "FormSession",
    "FormTicket",
    "FormWho",
    "as_upload",
    "change_beside",
    "opened_session",
]

FormColumn = Annotated[str | None, Form(max_length=500)]
FormEncoding = Annotated[str | None, Form(max_length=40, description="how the table is encoded; guessed by default")]
FormHeader = Annotated[bool | None, Form(description="whether the first line names the columns; guessed by default")]
FormSession = Annotated[
    str | None,
    Form(
        min_length=1,
        max_length=255,
        description="which session; by default the one that the studio was started with, or opened first",
    ),
]
FormTicket = Annotated[
    str | None,
    Form(min_length=8, max_length=64, description="a word of your own, by which POST /cancel ends the work"),
]


async def _form_speaker(
    annotator: Annotated[str, Form(min_length=1, max_length=200, description="who does it")] = "me",
) -> str:
    """Who does it: whoever has a link goes by its name, whatever the form says."""
    return speaker(annotator) or annotator


FormWho = Annotated[str, Depends(_form_speaker)]


def as_upload(file: UploadFile) -> Upload:
    """A file of a form as what the work takes."""
    return Upload(file.filename or "", file.file)


async def opened_session(studio: Studio, session: str | None) -> OpenSession:
    """The session of that name, or the one meant where none is named."""
    return await studio.worker.run(Priority.READ, lambda: studio.sessions.get(session))


async def change_beside(
    studio: Studio, session: str | None, annotator: str, change: Callable[[OpenSession], dict[str, Any]]
) -> Json:
    """Makes a change beside the worker, which goes on asking, and answers with what came of it."""
    opened = await opened_session(studio, session)
    result = await studio.builder.run(Priority.BACKGROUND, lambda: change(opened))
    status = await studio.worker.run(Priority.ANSWER, lambda: opened.after_change(annotator))
    return Json({**result, "status": status})
