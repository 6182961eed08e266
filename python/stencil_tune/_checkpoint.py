"""Checkpoints: a run in a file, to go on with later. distributed.Grid has its own, a file for each rank."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
import zipfile
import zlib
from typing import Any, Iterator, Sequence

from . import _arrays, _values
from ._errors import ArgumentError, Error
from ._kernel import Kernel
from ._reference import ReferenceKernel, _numpy

_FACTS = "checkpoint.json"  # the entry that says what the file is of
_VERSION = 1
#: NumPy's, of the entries.
_TYPES = {"f64": "f8", "f32": "f4", "f16": "f2", "bf16": "u2", "i32": "i4", "i16": "i2", "u16": "u2", "i8": "i1", "u8": "u1"}


def save_run(path: str | os.PathLike[str], kernel: Kernel | ReferenceKernel, arrays: Sequence[Any], steps: int, *,
             stream: Any = None) -> None:
    """Writes all that a run needs to go on to one file, an .npz of NumPy with the fields by their names. Waits for the stream.

    Saved are the fields that a step reads: the state, constants, profiles, fields in layers. What a step only writes is made
    again; of fields of time whoever goes on gives the entries that it needs, of series the rows from `steps` on.

    Args:
        path: of the file, which takes its name once it is whole.
        kernel: the run's.
        arrays: one for each of `stencil.arguments`, as advance() left the list that it was given.
        steps: made so far.
        stream: of the run, as for a call.

    Raises:
        ArgumentError: arrays that are not the kernel's.
        Error: the file cannot be written, or NumPy is missing.
    """
    store = _Store(kernel, arrays, stream)
    facts = {"version": _VERSION, "steps": _values.whole(steps, "steps", 0), "name": kernel.stencil.name, **_facts_of(kernel)}
    target = os.path.abspath(_values.path(path, "path"))
    with _file_errors(target, "written"):
        number, temporary = tempfile.mkstemp(prefix=f".{os.path.basename(target)}.", dir=os.path.dirname(target))
        try:
            with os.fdopen(number, "wb") as file:
                with zipfile.ZipFile(file, "w") as archive:
                    archive.writestr(_FACTS, json.dumps(facts))
                    for place in store.places:
                        with archive.open(f"{kernel.stencil.fields[place]}.npy", "w", force_zip64=True) as entry:
                            _numpy().lib.format.write_array(entry, store.read(place), allow_pickle=False)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, target)
        except BaseException:
            os.unlink(temporary)
            raise


def load_run(path: str | os.PathLike[str], kernel: Kernel | ReferenceKernel, arrays: Sequence[Any], *,
             stream: Any = None) -> int:
    """Puts what save_run() wrote into the arrays, one for each of `stencil.arguments`, and returns the steps made so far.

    The run goes on with `advance(arrays, steps=..., step=made, series=series[made:])`, without same_layers. It is the same
    bit for bit where it is cut after a whole number of launches, of `kernel.fused_steps` steps, and of records. Nothing is
    changed where the file is damaged, or of another definition, grid, type or boundary.

    Raises:
        ArgumentError: the file is of another run; the message says what differs.
        Error: the file is damaged, none of save_run(), or cannot be read.
    """
    store = _Store(kernel, arrays, stream, written=True)
    source = _values.path(path, "path")
    with _file_errors(source, "read"), zipfile.ZipFile(source) as archive:
        facts = json.loads(archive.read(_FACTS))
        if facts["version"] != _VERSION:
            raise Error(f"'{source}' is a checkpoint of layout {facts['version']}, this package knows {_VERSION}", "file_io")
        for fact, mine in _facts_of(kernel).items():
            if facts[fact] != mine:
                raise ArgumentError(f"'{source}' was saved of {facts['name']}, {fact} {facts[fact]}; this run's is {mine}")
        cells = {}
        for place in store.places:
            with archive.open(f"{kernel.stencil.fields[place]}.npy") as entry:
                cells[place] = _numpy().lib.format.read_array(entry, allow_pickle=False)
            if cells[place].shape != kernel._shape(place) or cells[place].dtype != store.type(place):
                raise ValueError("cells of another shape")
        steps = _values.whole(facts["steps"], "steps", 0)
    for place, values in cells.items():
        store.write(place, values)
    return steps


def _facts_of(kernel: Kernel | ReferenceKernel) -> dict[str, Any]:
    """What must be the same to go on. Names of fields and the numbers of coefficients are part of the definition."""
    stencil = kernel.stencil
    text = json.dumps([stencil.definition(), stencil.fields])
    return {"stencil": hashlib.sha256(text.encode()).hexdigest()[:16], "type": kernel.dtype,
            "grid": "x".join(map(str, kernel.dims)) + (" and slabs" if kernel._slabs else ""), "boundary": kernel.boundary}


@contextlib.contextmanager
def _file_errors(path: str, done: str) -> Iterator[None]:
    """Errors of files and of damaged entries as the package's."""
    try:
        yield
    except OSError as error:
        raise Error(f"'{path}' cannot be {done}: {error.strerror or error}", "file_io") from error
    except (zipfile.BadZipFile, zlib.error, KeyError, TypeError, ValueError, EOFError, NotImplementedError) as error:
        if isinstance(error, Error):
            raise
        raise Error(f"'{path}' is damaged, or no checkpoint of save_run()", "file_io") from error


class _Store:
    """The cells of a run's arrays, wherever these are, as arrays of NumPy."""

    def __init__(self, kernel: Kernel | ReferenceKernel, arrays: Sequence[Any], stream: Any, written: bool = False):
        if not isinstance(kernel, (Kernel, ReferenceKernel)):
            _values.refuse(kernel, "kernel", "lookup() makes one")
        self.kernel, stencil = kernel, kernel.stencil
        self.places = [place for place, name in enumerate(stencil.fields)
                       if name in stencil.inputs and stencil._along[place] != "t"]
        given = kernel._in_order(_values.arrays(arrays), {})
        for place in self.places if written else ():
            if not _arrays.read_any(given[place]).writable:
                raise ArgumentError(f"{stencil.fields[place]} is read-only, and what was saved goes there")
        if isinstance(kernel, Kernel):
            self._addresses, self._stream = kernel._addresses(given, stream, range(0))
        else:
            self._views = [kernel._view(array, place) for place, array in enumerate(given)]

    def type(self, place: int) -> Any:
        stencil = self.kernel.stencil
        return _numpy().dtype(_TYPES[stencil.storages.get(stencil.fields[place], self.kernel.dtype)])

    def read(self, place: int) -> Any:
        kernel = self.kernel
        cells = self._on_gpu(kernel, place)[1] if isinstance(kernel, Kernel) else self._views[place]
        return _numpy().ascontiguousarray(cells)

    def write(self, place: int, cells: Any) -> None:
        kernel = self.kernel
        if not isinstance(kernel, Kernel):
            self._views[place][...] = cells
            return
        room, inside = self._on_gpu(kernel, place)  # what lies between rows stays as it is
        inside[...] = cells
        kernel._native.check(kernel._native.write_array_on_device(
            kernel._handle, self._stream, self._addresses[place], room.ctypes.data, room.nbytes))

    def _on_gpu(self, kernel: Kernel, place: int) -> tuple[Any, Any]:
        """A copy of an array's memory as far as it is surely the array's, to its last cell, and a view of the cells in it."""
        shape, kind, numpy = kernel._shape(place), self.type(place), _numpy()
        dense = _arrays.dense_strides(shape)
        strides = [kind.itemsize * step for step in (dense if kernel._profiles[place] else kernel._whole(place)[1])]
        last = sum((extent - 1) * step for extent, step in zip(shape, strides))
        room = numpy.empty(last // kind.itemsize + 1, kind)
        kernel._native.check(kernel._native.read_array_on_device(
            kernel._handle, self._stream, room.ctypes.data, self._addresses[place], room.nbytes))
        return room, numpy.lib.stride_tricks.as_strided(room, shape, strides)
