"""Who may use which route, where people have tokens beside the owner's: each route says so itself.

`permit` stands at every route; `Permissions` reads the routes and is what the guard asks, before anything of a request
is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeVar

if TYPE_CHECKING:
    from starlette.routing import BaseRoute

__all__ = [
    "EVERYBODY",
    "JUDGES",
    "LABELLERS",
    "VISITOR",
    "WORKERS",
    "Permissions",
    "Role",
    "Visitor",
    "permit",
    "permitted_roles",
]

T = TypeVar("T")

Role = Literal["owner", "reviewer", "annotator", "onlooker"]
EVERYBODY: tuple[Role, ...] = ("owner", "reviewer", "annotator", "onlooker")
"""Who may look. An onlooker changes nothing: a route that changes something is not for everybody."""
WORKERS: tuple[Role, ...] = ("owner", "reviewer", "annotator")
"""Who may write notes and take their own changes back."""
LABELLERS: tuple[Role, ...] = ("owner", "annotator")
"""Who is asked, and answers."""
JUDGES: tuple[Role, ...] = ("owner", "reviewer")
"""Who settles disagreements, and reads what everybody said."""

_MARK = "nodewise_permitted_roles"


@dataclass(frozen=True)
class Visitor:
    """Who sends a request, as far as their token tells.

    Attributes:
        role: what they may do.
        name: who they are, where the token is one person's; None: what they say themselves is taken.
        is_others: whether a name that they say is of somebody who has a token of their own.
    """

    role: Role
    name: str | None = None
    is_others: Callable[[str], bool] = field(default=lambda name: False, compare=False, repr=False)


_NOBODY = Visitor("onlooker")
VISITOR: ContextVar[Visitor] = ContextVar("VISITOR", default=_NOBODY)
"""Who sends the request that is being answered; the guard tells it."""


def permit(*roles: Role) -> Callable[[T], T]:
    """Declares who may use a route: put it right above the function that answers, or around a mounted application.

    What is in a request may still be refused, such as a class that is new.
    """

    def declare(endpoint: T) -> T:
        setattr(endpoint, _MARK, frozenset(roles))
        return endpoint

    return declare


def permitted_roles(route: BaseRoute) -> frozenset[Role] | None:
    """Who may use a route; None where it does not say."""
    endpoint = getattr(route, "endpoint", None) or getattr(route, "app", None)
    roles: frozenset[Role] | None = getattr(endpoint, _MARK, None)
    return roles


class Permissions:
    """Whether a role may send a request, as the routes declare it; what no route answers is the owner's.

    Args:
        routes: every route of the studio.

    Raises:
        TypeError: one does not say who may use it.
    """

    def __init__(self, routes: Iterable[BaseRoute]) -> None:
        self._roles: list[tuple[BaseRoute, frozenset[Role]]] = []
        for route in routes:
            roles = permitted_roles(route)
            if not roles:
                raise TypeError(f"the route {route!r} does not say who may use it: put @permit(…) above its function")
            self._roles.append((route, roles))

    def __call__(self, role: Role, scope: Mapping[str, Any]) -> bool:
        """Whether a role may send the request of this ASGI scope."""
        from starlette.routing import Match

        if role == "owner":
            return True
        for route, roles in self._roles:
            if route.matches(dict(scope))[0] is Match.FULL:
                return role in roles
        return False

    def declared(self) -> list[tuple[BaseRoute, frozenset[Role]]]:
        """Every route with those who may use it."""
        return list(self._roles)
