"""Arguments as the C interface takes them. What is none of the kind raises ArgumentError: nothing is guessed or cut."""

from __future__ import annotations

import math
import operator
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from typing import Any, NoReturn

from ._errors import ArgumentError

INT32 = 2**31 - 1  #: the most that an int32_t holds
INT64 = 2**63 - 1
_ADDRESS = 2**64 - 1
_MOST_SHOWN = 60  # characters of a value that a message shows
_SHOWN = (type(None), str, bytes, bool, int, float, complex, list, tuple, dict, set)


def refuse(given: Any, what: str, wanted: str) -> NoReturn:
    """Raises ArgumentError: "steps is 2.0: a whole number is needed"."""
    shown = repr(given) if isinstance(given, _SHOWN) else f"of type {type(given).__name__}"
    if len(shown) > _MOST_SHOWN:
        shown = shown[:_MOST_SHOWN] + "..."
    raise ArgumentError(f"{what} is {shown}: {wanted}")


def whole(given: Any, what: str, least: int = -INT64 - 1, most: int = INT64) -> int:
    """A whole number of Python, NumPy or another library that is one by its type: 512.0 is none."""
    value: int = given
    if type(given) is not int:
        try:
            value = operator.index(given)
        except TypeError:
            refuse(given, what, "a whole number is needed")
    if not least <= value <= most:
        span = f"from {least} on" if most == INT64 else f"from {least} to {most}"
        refuse(value, what, f"a whole number {span} is needed")
    return value


def ordinal(given: Any, what: str = "device") -> int:
    """Ordinal of a GPU."""
    return whole(given, what, 0, INT32)


def address(given: Any, what: str) -> int:
    """Address of memory, of a stream or of what another library made."""
    return whole(given, what, 0, _ADDRESS)


def number(given: Any, what: str) -> float:
    """A number; an array is none, unless it has no axes."""
    if type(given) is float:
        return given
    if not isinstance(given, (str, bytes, bytearray)) and getattr(given, "ndim", 0) == 0:
        try:
            return float(given)
        except (TypeError, ValueError, OverflowError):
            pass
    refuse(given, what, "a number is needed")


def finite(given: Any, what: str) -> float:
    """The same without infinities and NaN."""
    value = number(given, what)
    if not math.isfinite(value):
        refuse(value, what, "a finite number is needed")
    return value


def flag(given: Any, what: str) -> bool:
    """True or False, of NumPy too."""
    if type(given).__name__ in ("bool", "bool_"):
        return bool(given)
    refuse(given, what, "True or False is needed")


def text(given: Any, what: str) -> str:
    """A text that C can read to its end."""
    if not isinstance(given, str):
        refuse(given, what, "a text is needed")
    if "\0" in given:
        refuse(given, what, "a text must not have null characters")
    if not given.isascii() and re.search("[\ud800-\udfff]", given):
        refuse(given, what, "a text must be Unicode")
    return given


def path(given: Any, what: str) -> str:
    """Path of a file: a text, or an object of a path."""
    if not isinstance(given, (str, bytes, os.PathLike)):
        refuse(given, what, "a path is needed")
    found = os.fsdecode(given)
    if "\0" in found:
        refuse(found, what, "a path must not have null characters")
    if not found.isascii() and re.search("[\ud800-\udc7f\udd00-\udfff]", found):
        refuse(found, what, "a path must be Unicode, or bytes as the system gave them")
    return found


def several(given: Any, what: str, wanted: str = "several values are needed") -> tuple[Any, ...]:
    """What a sequence, an array or an iterator has; of a text, a set or a mapping it would be letters or a chance order."""
    if type(given) is list:
        return tuple(given)
    if isinstance(given, Iterable) and not isinstance(given, (str, bytes, bytearray, Mapping, Set)):
        try:
            return tuple(given)
        except TypeError:  # an array without axes raises it
            pass
    refuse(given, what, wanted)


def array(given: Any, what: str, read: Callable[[], Any], wanted: str = "an array of numbers is needed") -> Any:
    """What another library makes of it."""
    try:
        return read()
    except (TypeError, ValueError, OverflowError):
        refuse(given, what, wanted)


def arrays(given: Any, what: str = "arrays") -> Sequence[Any]:
    """As they are given: a list is reordered in place."""
    if type(given) is list or isinstance(given, Sequence) and not isinstance(given, (str, bytes, bytearray)):
        return given
    refuse(given, what, "a list or tuple is needed, of an array for each of the stencil's arguments")


def named(given: Any, what: str) -> dict[str, Any]:
    """Values by name."""
    if not isinstance(given, Mapping):
        refuse(given, what, "a dict by name is needed")
    return {text(name, f"a name in {what}"): value for name, value in given.items()}


def coordinates(given: Any, what: str, rank: int, whose: str) -> tuple[int, int, int]:
    """Coordinates that are given from z on, as arrays are indexed, from x on."""
    values = [whole(value, what) for value in several(given, what, "coordinates (z, y, x) are needed")]
    if len(values) != rank:
        raise ArgumentError(f"{what} has {len(values)} coordinates, {whose} {rank} axes")
    x, y, z = [*reversed(values), 0, 0][:3]
    return x, y, z
