"""What the studio is started with."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from nodewise.ground.errors import InputError
from nodewise.studio.guard.origins import GuardRules
from nodewise.studio.guard.people import People

__all__ = ["ENDING", "StudioSettings"]

ENDING = ".nodewise"
"""How the name of a session's file ends."""


@dataclass(frozen=True)
class StudioSettings:
    """Where the studio listens, whom it lets in, and how much it takes.

    Attributes:
        host: the address that it is bound to.
        port: the port that it is bound to.
        token: what a request has to know; None: nothing, which only an address of this machine may have.
        annotator_token: what those have to know who may label and look, and nothing else; None: everybody is the owner.
        allowed_hosts: further names under which the studio is reached, such as that of a proxy.
        folder: where sessions are found and made.
        pictures: the folder that pictures of nodes are shown from; None: only those that lie in the graph itself are
            shown.
        upload_bytes: the largest upload.
        request_bytes: the largest body of any other request.
        connections: how many there may be at a time; beyond that those go that have waited longest without a whole
            request.
        head_seconds: how long a request's head may take to arrive.
    """

    host: str = "127.0.0.1"
    port: int = 8080
    token: str | None = field(default=None, repr=False)
    allowed_hosts: tuple[str, ...] = ()
    folder: Path = Path()
    pictures: Path | None = None
    upload_bytes: int = 256 * 2**20
    request_bytes: int = 2**20
    connections: int = 512
    head_seconds: float = 10.0
    annotator_token: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if not 0 <= self.port <= 65535:
            raise InputError(f"a port is a number from 0 to 65535, got {self.port}")
        self.rules()  # refuses an address that others can reach where there is no token
        for name, folder in (("folder", self.folder), ("pictures", self.pictures)):
            if folder is not None and not folder.is_dir():
                raise InputError(
                    f"there is no folder {str(folder)!r} for the studio's {name}: make it, or give another"
                )

    def rules(self) -> GuardRules:
        """What the guard holds every request to."""
        return GuardRules.for_address(
            self.host,
            self.port,
            token=self.token,
            annotator_token=self.annotator_token,
            allow_hosts=self.allowed_hosts,
            upload_limit=self.upload_bytes,
            body_limit=self.request_bytes,
            people=People(self.folder),
        )
