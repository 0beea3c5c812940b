"""Reads a pickled numpy array without unpickling it.

A pickle is a program, and `pickle.load` runs it. Here its instructions are walked by `pickletools.genops`, which runs
nothing, and only those are understood with which numpy writes one plain array of numbers (protocols 0 to 5, numpy 1 and
2). The few functions that such a pickle calls are played here by hand; whatever else it asks for is refused by name.
Nothing is allocated beyond the file's own bytes.
"""

from __future__ import annotations

import math
import pickletools
import re
from dataclasses import dataclass
from io import BytesIO
from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np
import numpy.typing as npt

__all__ = ["PickleRefusedError", "read_pickled_array"]

_FUNCTIONS = {
    "numpy.core.multiarray _reconstruct": "reconstruct",
    "numpy._core.multiarray _reconstruct": "reconstruct",
    "numpy.core.numeric _frombuffer": "frombuffer",
    "numpy._core.numeric _frombuffer": "frombuffer",
    "numpy ndarray": "ndarray",
    "numpy dtype": "dtype",
    "_codecs encode": "encode",
    "__builtin__ bytes": "bytes",
}
_CONSTANTS = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False, "EMPTY_TUPLE": ()}
_PLAIN = {
    "INT",
    "BININT",
    "BININT1",
    "BININT2",
    "LONG",
    "LONG1",
    "UNICODE",
    "BINUNICODE",
    "SHORT_BINUNICODE",
    "BINUNICODE8",
    "BINBYTES",
    "SHORT_BINBYTES",
    "BINBYTES8",
    "BYTEARRAY8",
    "STRING",
    "BINSTRING",
    "SHORT_BINSTRING",
}
_MOST_AXES = 32
_DEEPEST = 100  # parts on the stack; an array needs fifteen and one for each axis


class PickleRefusedError(ValueError):
    """A pickle that is not one plain array of numbers; the message completes the sentence "it …"."""


@dataclass(frozen=True)
class _Function:
    """A name that the pickle mentions; it is never looked up."""

    name: str


@dataclass
class _Kind:
    """A dtype on its way: its code, such as ``"f8"``, and its byte order."""

    code: str
    order: str = "<"


@dataclass
class _Array:
    """An array on its way: nothing until it is built."""

    value: npt.NDArray[Any] | None = None


class _Mark:
    """Where a tuple's parts begin on the stack."""


def read_pickled_array(content: bytes) -> npt.NDArray[Any]:
    """The array that the pickle describes, read-only.

    Raises:
        PickleRefusedError: it is anything but one plain array of numbers.
    """
    stream, machine = BytesIO(content), _Machine()
    try:
        with catch_warnings():
            simplefilter("ignore")  # Python warns of escapes that a damaged name holds; it is refused all the same
            for instruction, argument, _ in pickletools.genops(stream):
                machine.step(instruction.name, argument)
    except PickleRefusedError:
        raise
    except (
        ValueError,
        IndexError,
        KeyError,
        TypeError,
    ) as error:  # torn or not a pickle at all, or instructions that lead nowhere
        raise PickleRefusedError(f"is damaged or no pickle ({_short(str(error))})") from None
    if stream.read(1):
        raise PickleRefusedError("goes on after its end")
    if len(machine.stack) != 1 or not isinstance(machine.stack[0], _Array) or machine.stack[0].value is None:
        raise PickleRefusedError("does not describe one array")
    return machine.stack[0].value


class _Machine:
    """The stack and the memo of a pickle, for the instructions that a plain array needs."""

    def __init__(self) -> None:
        self.stack: list[Any] = []
        self._memo: dict[int, Any] = {}

    def step(self, name: str, argument: Any) -> None:
        """Play one instruction."""
        stack = self.stack
        if len(stack) > _DEEPEST:
            raise PickleRefusedError("piles up more parts than a plain array has")
        if name in ("PROTO", "FRAME", "STOP"):
            return
        if name in _CONSTANTS:
            stack.append(_CONSTANTS[name])
        elif name in _PLAIN:
            stack.append(argument)
        elif name == "MARK":
            stack.append(_Mark())
        elif name == "TUPLE":
            self._collect(self._mark())
        elif name in ("TUPLE1", "TUPLE2", "TUPLE3"):
            self._collect(len(stack) - int(name[-1]))
        elif name in ("PUT", "BINPUT", "LONG_BINPUT"):
            self._memo[argument] = stack[-1]
        elif name == "MEMOIZE":
            self._memo[len(self._memo)] = stack[-1]
        elif name in ("GET", "BINGET", "LONG_BINGET"):
            stack.append(self._memo[argument])
        elif name == "GLOBAL":
            stack.append(_function(argument))
        elif name == "STACK_GLOBAL":
            attribute, module = stack.pop(), stack.pop()
            stack.append(_function(f"{_text(module)} {_text(attribute)}"))
        elif name == "REDUCE":
            arguments, function = stack.pop(), stack.pop()
            stack.append(_call(function, arguments))
        elif name == "BUILD":
            state = stack.pop()
            _build(stack[-1], state)
        else:
            raise PickleRefusedError(f"has the instruction {name}, which a plain array does not need")

    def _mark(self) -> int:
        """Takes the last mark off the stack; what follows moves down."""
        index = max(i for i, value in enumerate(self.stack) if isinstance(value, _Mark))
        del self.stack[index]
        return index

    def _collect(self, first: int) -> None:
        if first < 0:
            raise IndexError("a tuple without its parts")
        self.stack[first:] = [tuple(self.stack[first:])]


def _function(name: str) -> _Function:
    if name not in _FUNCTIONS:
        raise PickleRefusedError(f"asks for {_short('.'.join(name.split(' ')))}, which a plain array does not need")
    return _Function(_FUNCTIONS[name])


def _call(function: Any, arguments: Any) -> Any:
    """What a function of numpy's would give, by hand."""
    name = function.name if isinstance(function, _Function) else None
    if not isinstance(arguments, tuple):
        raise TypeError("arguments that are no tuple")
    if name == "reconstruct" and arguments[:1] == (_Function("ndarray"),) and arguments[1:2] == ((0,),):
        return _Array()
    if name == "dtype" and 1 <= len(arguments) <= 3:
        return _Kind(_text(arguments[0]))
    if name == "encode" and len(arguments) == 2 and arguments[1] == "latin1":
        return _text(arguments[0]).encode("latin1")
    if name == "bytes" and not arguments:  # an empty array's
        return b""
    if name == "frombuffer" and len(arguments) == 4:
        data, kind, shape, order = arguments
        return _Array(_array(shape, kind, _text(order) == "F", data))
    raise PickleRefusedError("calls a function in a way that a plain array does not need")


def _build(target: Any, state: Any) -> None:
    """Fills in a dtype or an array."""
    if isinstance(target, _Kind) and isinstance(state, tuple) and len(state) >= 5 and state[0] in (3, 4):
        if state[2:5] != (None, None, None) or any(part not in (None, -1, 0) for part in state[5:]):
            raise PickleRefusedError("holds an array of records or objects, not of numbers")
        target.order = _text(state[1])
    elif isinstance(target, _Array) and target.value is None and isinstance(state, tuple) and len(state) == 5:
        _, shape, kind, fortran, data = state
        target.value = _array(shape, kind, bool(fortran), data)
    else:
        raise PickleRefusedError("sets a state that a plain array does not have")


def _array(shape: Any, kind: Any, fortran: bool, data: Any) -> npt.NDArray[Any]:
    """The array itself, once its size is seen to be that of its bytes."""
    if (
        not isinstance(kind, _Kind)
        or not re.fullmatch(r"[fiub][1248]", kind.code)
        or kind.order not in ("<", ">", "|", "=")
    ):
        raise PickleRefusedError("holds an array of records or objects, not of numbers")
    if (
        not isinstance(shape, tuple)
        or len(shape) > _MOST_AXES
        or not all(type(side) is int and side >= 0 for side in shape)
    ):
        raise PickleRefusedError("gives a shape that no array has")
    if isinstance(data, str):  # as Python 2 wrote them
        data = data.encode("latin1")
    if not isinstance(data, (bytes, bytearray)):
        raise PickleRefusedError("holds an array of records or objects, not of numbers")
    dtype = np.dtype(kind.order.replace("|", "<") + kind.code)
    announced = math.prod(shape) * dtype.itemsize
    if announced != len(data):
        raise PickleRefusedError(f"gives a shape of {announced:,} bytes, but holds {len(data):,}")
    return np.frombuffer(bytes(data), dtype).reshape(shape, order="F" if fortran else "C")


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("a text is missing")
    return value


def _short(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:80]}…"
