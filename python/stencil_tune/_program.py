"""The command line program that comes along with the package."""

from __future__ import annotations

import os
import shutil
import sys

from . import _native
from ._errors import Error


def find() -> str | None:
    """STENCIL_TUNE_PROGRAM, else the package's own, else the one on the PATH."""
    own = _native.FOLDER / "bin" / "stencil-tune"
    return os.environ.get("STENCIL_TUNE_PROGRAM") or (str(own) if own.exists() else shutil.which("stencil-tune"))


def path() -> str:
    """The same. Raises Error where there is none."""
    found = find()
    if not found:
        raise Error("there is no stencil-tune program: install the package anew, or set STENCIL_TUNE_PROGRAM to it",
                    "file_io")
    return found


def main() -> None:
    """What the installed `stencil-tune` is: this process becomes the program."""
    program = path()
    os.execv(program, ["stencil-tune", *sys.argv[1:]])
