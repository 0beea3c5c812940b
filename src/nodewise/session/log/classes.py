"""The classes of a session: each keeps its number for good, whatever it is called. It imports neither torch nor numpy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from nodewise.ground.errors import SessionError
from nodewise.session.log.events import LAST_CLASS

__all__ = ["ClassList", "LabelClass"]


@dataclass(frozen=True)
class LabelClass:
    """One class.

    Attributes:
        number: 1, 2, 3 … for the life of the session and for everybody; never given to another class.
        name: what it is called now.
        description: its guideline: what belongs to it.
    """

    number: int
    name: str
    description: str = ""


@dataclass(frozen=True)
class ClassList:
    """The classes at one moment. Iterating gives those that can be told, by their numbers.

    Attributes:
        first_names: number -> the name that the class was first known by, for every number ever given, also those that were taken back.
        names: number -> what the class is called now, of those that are there, merged ones included.
        merged: number of a class -> number of the class that its labels count as.
        descriptions: number -> guideline.
        aliases: former name -> number.
        shown: numbers in the order that somebody has put them in; those left out follow by number.
    """

    first_names: Mapping[int, str] = field(default_factory=dict)
    names: Mapping[int, str] = field(default_factory=dict)
    merged: Mapping[int, int] = field(default_factory=dict)
    descriptions: Mapping[int, str] = field(default_factory=dict)
    aliases: Mapping[str, int] = field(default_factory=dict)
    shown: tuple[int, ...] = ()

    def __iter__(self) -> Iterator[LabelClass]:
        return (LabelClass(number, self.names[number], self.descriptions.get(number, "")) for number in self.numbers)

    def __len__(self) -> int:
        return len(self.numbers)

    @cached_property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of the classes that can be told."""
        return tuple(sorted(number for number in self.names if number not in self.merged))

    @property
    def in_order(self) -> tuple[LabelClass, ...]:
        """The classes as a screen shows them: in the order made by hand, the others after them."""
        by_number = {each.number: each for each in self}
        first = [number for number in dict.fromkeys(self.shown) if number in by_number]
        return tuple(by_number[number] for number in (*first, *(number for number in by_number if number not in first)))

    @cached_property
    def next_number(self) -> int:
        """The number of the next new class.

        Raises:
            SessionError: there are no more, which only a forged file can bring about.
        """
        number = max(self.first_names, default=0) + 1
        if number > LAST_CLASS:
            raise SessionError(f"the session has a class with the number {number - 1}, so none can be added: make a new session")
        return number

    def resolve(self, number: int) -> int:
        """The class that labels of a class count as: itself, unless it was merged."""
        while number in self.merged:
            number = self.merged[number]
        return number

    def name(self, number: int) -> str:
        """What labels of a class are called now."""
        number = self.resolve(number)
        return self.names.get(number, self.first_names.get(number, str(number)))

    def find(self, name: str) -> int | None:
        """The number of the class that is called so, or was: None where there is none."""
        return self._by_name.get(name, self.aliases.get(name))

    def is_told(self, name: str) -> bool:
        """Whether there is a class of exactly this name, merged ones included."""
        return name in self._by_name

    def former_number(self, name: str) -> int | None:
        """The number of a class of this name that was taken back: it comes back under the number that it had. None where there was none."""
        return next((number for number, first in self.first_names.items() if first == name and number not in self.names), None)

    def key(self, number: int) -> str:
        """What the classifier knows a class by: its first name, so that a rename changes no prediction."""
        return self._keys.get(self.resolve(number), str(number))

    def number_of_key(self, key: str) -> int | None:
        """The class that a key of the classifier stands for, merged ones resolved."""
        number = self._by_key.get(key)
        return None if number is None else self.resolve(number)

    @cached_property
    def duplicates(self) -> Sequence[str]:
        """Names that more than one class has; only taking back a rename can bring them about."""
        names = [self.names[number] for number in self.numbers]
        return sorted({name for name in names if names.count(name) > 1})

    @cached_property
    def _by_name(self) -> dict[str, int]:
        merged = {self.names[number]: number for number in sorted(self.names, reverse=True) if number in self.merged}
        return {**merged, **{self.names[number]: number for number in reversed(self.numbers)}}

    @cached_property
    def _keys(self) -> dict[int, str]:
        keys: dict[int, str] = {}
        taken: set[str] = set()
        for number in sorted(self.first_names):
            name = self.first_names[number]
            keys[number] = f"{name}\0{number}" if name in taken else name
            taken.add(name)
        return keys

    @cached_property
    def _by_key(self) -> dict[str, int]:
        return {key: number for number, key in self._keys.items()}
