"""The version of the library that was loaded."""

from . import _native


def version() -> str:
    return str(_native.library().version().decode())
