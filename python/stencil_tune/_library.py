"""Open databases of winners, one for each path, kept until the process ends."""

from __future__ import annotations

import ctypes as c
import os
import threading

from . import _native, _program, _values

_open: dict[str, int] = {}
_lock = threading.Lock()

#: Counts the times that winners were read anew: caches of kernels have it in their keys, so that none outlives tuning.
generation = 0


def handle_of(database: str | os.PathLike[str] | None) -> int:
    """The library's handle for a database; None: STENCIL_TUNE_DB, else the user's data folder."""
    path = _values.path(database, "database") if database is not None else ""
    with _lock:
        if path not in _open:
            native = _native.library()
            options = _native.Options(struct_size=c.sizeof(_native.Options), database=os.fsencode(path) or None,
                                      program=os.fsencode(_program.find() or "") or None)
            _open[path] = native.handle(native.open_with, c.byref(options))
        return _open[path]


def renew() -> None:
    """After a race, at which the library itself read winners anew."""
    global generation
    with _lock:
        generation += 1


def reload() -> None:
    """Reads all of them anew: after tuning went on. Kernels that a caller holds stay as they are."""
    global generation
    native = _native.library()
    with _lock:
        for handle in _open.values():
            native.check(native.reload(handle))
        generation += 1
