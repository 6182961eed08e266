"""Every argument of every public function, given what it is not: an ArgumentError with a message, or success."""

import dataclasses
import pathlib
from typing import Any, Callable

import numpy
import pytest
from device_arrays import CudaArray, aligned
from test_distributed import FakeMpi, Group
from test_user_kernel import SAXPY
from test_tune import REPORT

import stencil_tune as st
from stencil_tune import distributed, ndimage

SHAPE = (6, 32)
HEAT = "u_next = u + alpha*laplacian(u); alpha = 0.1"
WRONG = [None, [], {}, set(), object(), int, 2.5, 512.0, float("nan"), "x", "a\0b", "\ud800", b"x", -1, -2, 0, 2**31,
         2**32 + 1, 2**40, 2**64 + 5, 2**70, 1e300, True, (1, 2, 3, 4, 5), (3, slice(None)), [None, None], [2.5, "x"], {"u": None},
         {"alpha": numpy.ones(3)}, {"x": 3}, {3: 3}, {"u_next": [3]}, {"u_next": [("x", 1)]}, numpy.zeros(3),
         numpy.zeros((2, 2), "f4"), numpy.zeros((), "i4"), numpy.array(["x"]), numpy.array([object()]), lambda *_: 0,
         slice(1, 2)]
# Where it is no matter of arguments: a file or database that is not there.
ENVIRONMENT = {"path": "file_io", "database": "database_io", "definition": "file_io", "n": "illegal_candidate"}


@dataclasses.dataclass
class Call:
    """A function with arguments that are right."""

    function: Callable[..., Any]
    right: dict[str, Any]
    starred: str = ""  # the argument that is a tuple of positional ones

    def __call__(self, **changed):
        given = {**self.right, **changed}
        starred = given.pop(self.starred, ())
        return self.function(*(starred if isinstance(starred, tuple) else (starred,)), **given)


@pytest.fixture(autouse=True)
def nothing_is_left_behind(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def device(gpus):
    def make(shape=SHAPE, dtype=numpy.float32):
        return CudaArray(gpus.own(aligned(numpy.zeros(shape, dtype))))

    return make


def of_kernels(kernel, make, regions):
    """What kernels on a GPU and the reference have alike."""
    u, v = make(), make()
    points = kernel.place_points({"u_next": [(2, 2.5)]}, {"u": [(3, 3)]})
    series, records = make((2, 1)), make((2, 1))
    optional = {"stream": None, "coefficients": None, "origin": None, "step": 0}
    return {
        "call": Call(kernel.__call__, {"u": u, "u_next": v, "region": None, **optional}),
        "call of arrays": Call(kernel.__call__, {"arrays": (u, v)}, "arrays"),
        "first": Call(lambda first: kernel(first, v), {"first": u}),
        "second": Call(lambda second: kernel(u, second), {"second": v}),
        "advance": Call(kernel.advance, {"arrays": [u, v], "steps": 2, "points": None, "series": None, "records": None,
                                         "same_layers": False, **optional}),
        "advance with points": Call(kernel.advance, {"arrays": [u, v], "steps": 2, "points": points, "series": series,
                                                     "records": records, **optional}),
        "in advance": Call(lambda array: kernel.advance([u, array], steps=1), {"array": v}),
        "regions": Call(kernel.prepared_regions, {"regions": [(slice(0, 2), slice(None))]}),
        "a region": Call(lambda region: kernel.prepared_regions([region]), {"region": (slice(0, 2), slice(None))}),
        "slices": Call(lambda low, high, step: kernel(u, v, region=(slice(low, high, step), slice(None))),
                       {"low": 0, "high": 2, "step": 1}),
        "update": Call(kernel.update_regions, {"arrays": (u, v), "regions": regions, "stream": None,
                                               "coefficients": None}, "arrays"),
        "place": Call(kernel.place_points, {"sources": None, "receivers": None, "every": 1}),
        "a source": Call(lambda at: kernel.place_points({"u_next": [at]}), {"at": (2, 2)}),
        "a coordinate": Call(lambda y: kernel.place_points({"u_next": [(y, 2)]}), {"y": 2}),
        "records": Call(points.records, {"steps": 3}),
        "prepare": Call(kernel.prepare, {"stream": None}),
        "save": Call(st.save_run, {"path": "run.npz", "kernel": kernel, "arrays": [u, v], "steps": 3, "stream": None}),
        "load": Call(st.load_run, {"path": "run.npz", "kernel": kernel, "arrays": [u, v], "stream": None}),
        "coefficient": Call(lambda alpha: kernel(u, v, coefficients={"alpha": alpha}), {"alpha": 0.1}),
    }


def test_of_kernels(device, tmp_path):
    kernel = st.lookup(st.stencil(HEAT, rank=2), like=device())
    refuse_all({
        **of_kernels(kernel, device, kernel.prepared_regions([(slice(0, 2), slice(None))])),
        "evidence": Call(kernel.evidence_of, {"stage": 0}), "updated": Call(kernel.updated, {"stage": 0}),
        "source": Call(kernel.source, {"stage": 0}),
        "export": Call(kernel.export, {"path": tmp_path / "heat.cu", "name": None, "stage": 0, "with_main": False,
                                       "split_header": False, "architecture": None}),
    })


def test_of_the_reference(tmp_path):
    kernel = st.lookup(st.stencil(HEAT, rank=2), shape=SHAPE, device="cpu")
    refuse_all(of_kernels(kernel, lambda shape=SHAPE: numpy.zeros(shape, "f4"), [(slice(0, 2), slice(None))]))


def test_of_stencils_and_lookups(device, tmp_path):
    heat = st.stencil(HEAT, rank=2)
    where = {"dtype": None, "boundary": "hold", "steps": 1, "pitch": 0, "race": 0, "database": None}
    refuse_all({
        "stencil": Call(st.stencil, {"definition": HEAT, "rank": 2}),
        "tangent": Call(heat.tangent, {"coefficient": "alpha"}), "stage": Call(heat.stage, {"number": 0}),
        "values": Call(heat.coefficient_values, {"given": None}),
        "lookup": Call(st.lookup, {"stencil": heat, "dims": (32, 6), "device": 0, "gpu": None, **where}),
        "like": Call(st.lookup, {"stencil": heat, "like": device(), "device": None, **where}),
        "by name": Call(st.lookup, {"stencil": heat, "shape": SHAPE, "gpu": "h200", **where}),
        "reference": Call(st.lookup, {"stencil": heat, "shape": SHAPE, "device": "cpu", **where}),
        "an extent": Call(lambda nx: st.lookup(heat, dims=(nx, 6), device="cpu"), {"nx": 32}),
        "an axis": Call(lambda kind: st.lookup(heat, dims=8, boundary={"x": kind}), {"kind": "zero"}),
    })


def test_of_kernels_of_the_users_own(device, tmp_path):
    source = tmp_path / "saxpy.cu"
    source.write_text(SAXPY)
    y, x = device((100,)), device((100,), numpy.int32)
    saxpy = st.kernel(source, {"n": 100})
    refuse_all({
        "kernel": Call(st.kernel, {"definition": source, "sizes": None, "device": None, "database": None}),
        "size": Call(lambda n: st.kernel(source, {"n": n}), {"n": 100}),
        "call": Call(lambda y, x, a, n, stream: saxpy(y, x, a, n, stream=stream),
                     {"y": y, "x": x, "a": 0.5, "n": 100, "stream": None}),
        "call of arguments": Call(saxpy, {"arguments": (y, x, 0.5, 100)}, "arguments"),
    })


def test_of_tuning(tmp_path, monkeypatch):
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ncat <<'E'\n{REPORT}\nE\n")
    program.chmod(0o700)
    monkeypatch.setenv("STENCIL_TUNE_PROGRAM", str(program))
    refuse_all({"tune": Call(st.tune, {
        "stencil": st.stencil(HEAT, rank=2), "dims": 64, "like": None, "shape": None, "dtype": None, "boundary": "hold",
        "steps": 1, "pitch": 0, "budget": 60, "effort": None, "max_trials": None, "candidates": (), "device": None,
        "predict_for": None, "objective": "time", "database": None, "progress": False})})


def test_of_filters(tmp_path):
    image = numpy.zeros((7, 9))
    common = {"input": image, "output": None, "mode": "reflect", "cval": 0.0, "axes": None}
    refuse_all({
        **{name: Call(getattr(ndimage, name), {**common, "weights": numpy.ones((3, 3)), "origin": 0})
           for name in ("correlate", "convolve")},
        "laplace": Call(ndimage.laplace, common),
        "uniform": Call(ndimage.uniform_filter, {**common, "size": 3, "origin": 0}),
        "gaussian": Call(ndimage.gaussian_filter, {**common, "sigma": 1.0, "order": 0, "truncate": 4.0, "radius": None}),
    })


def test_of_distributed_grids(gpus, tmp_path):
    def refuse_on(ranks):
        refuse_all(calls_of_grids(ranks, gpus, tmp_path / "heat"))

    Group(1).run(refuse_on)  # on a thread of its own, whose GPU a grid changes


def calls_of_grids(ranks, gpus, file):
    heat = st.stencil(HEAT, rank=2)
    grid = distributed.Grid(heat, shape=SHAPE, ranks=ranks)
    points = grid.place_points({"u_next": [(2, 2)]}, {"u": [(3, 3)]})
    series, records = (gpus.own(numpy.zeros((2, 1), "f4")) for _ in range(2))
    cells = numpy.zeros(SHAPE, "f4")
    grid.save(file, 1)
    return {
        "grid": Call(distributed.Grid, {
            "stencil": heat, "ranks": ranks, "dims": None, "shape": SHAPE, "dtype": None, "boundary": "hold",
            "steps": 1, "cut": None, "steps_per_exchange": 0, "overlap": False, "timeout": 0, "device": 0, "stream": 0,
            "database": None}),
        "write": Call(grid.write, {"field": "u", "cells": cells}), "read": Call(grid.read, {"field": "u", "into": cells}),
        "scatter": Call(grid.scatter, {"field": "u", "cells": cells, "root": 0}),
        "gather": Call(grid.gather, {"field": "u", "into": cells, "root": 0}),
        "advance": Call(grid.advance, {"steps": 1, "coefficients": None, "origin": None, "step": 0}),
        "advance with points": Call(grid.advance, {"steps": 2, "points": points, "series": series.ctypes.data,
                                      "records": records.ctypes.data}),
        "gather records": Call(grid.gather_records, {"points": points, "records": records.ctypes.data, "steps": 2,
                                                     "into": cells[:2, :1].copy(), "root": 0}),
        "place": Call(grid.place_points, {"sources": None, "receivers": None, "every": 1}),
        "save": Call(grid.save, {"path": file, "steps": 1}), "load": Call(grid.load, {"path": file}),
        "mpi": Call(distributed.mpi, {"communicator": FakeMpi(ranks)}),
    }


def is_right(name, argument, value):
    """Whether the number would be taken: a run without an end, or the address of a communicator."""
    is_endless = "advance" in name and argument == "steps"
    return isinstance(value, int) and (argument == "ranks" or is_endless and 9 < value < 2**63)


def refuse_all(calls):
    failures = []
    for name, call in calls.items():
        call()  # is right
        for argument in call.right:
            for value in WRONG:
                if not is_right(name, argument, value):
                    failures += outcome(name, call, argument, value)
    assert not failures, "\n".join(failures)


def outcome(name, call, argument, value):
    try:
        call(**{argument: value})
    except st.ArgumentError as error:
        assert len(str(error)) > 10
    except st.Error as error:
        if error.code != ENVIRONMENT.get(argument):
            return [f"{name}({argument}={value!r}): {error.code}: {error}"]
    except BaseException as error:  # no other kind may get through
        return [f"{name}({argument}={value!r}): {type(error).__name__}: {error}"]
    return []


@pytest.mark.parametrize("call, match", [
    (lambda kernel, u, v: kernel(u, v, region=(3, slice(None))), r"a part of region is 3: a slice is needed; slice\(3, 4\)"),
    (lambda kernel, u, v: kernel(u, v, coefficients={"alpha": numpy.ones(3)}), "alpha is of type ndarray: a number"),
    (lambda kernel, u, v: kernel.advance([u, v], steps=2.0), "steps is 2.0: a whole number is needed"),
    (lambda kernel, u, v: kernel.advance({"u": u, "u_next": v}, steps=2), "arrays is .*: a list or tuple is needed"),
    (lambda kernel, u, v: kernel.place_points(every=0), "every is 0: a whole number from 1 to 2147483647"),
    (lambda kernel, u, v: kernel.place_points(every=2**32 + 1), "every is 4294967297"),
    (lambda kernel, u, v: st.lookup("heat2d", dims=512.0), "dims is 512.0: a whole number is needed"),
    (lambda kernel, u, v: st.lookup("heat2d", dims=64, steps=2**40), "steps is 1099511627776"),
    (lambda kernel, u, v: st.lookup("heat2d", dims=64, device=2**31), "device is 2147483648"),
    (lambda kernel, u, v: st.lookup("heat2d", dims=64, device=-2), "device is -2"),
    (lambda kernel, u, v: st.lookup("heat2d", dims=64, boundary=("x", "hold")), "boundary is .*: a text is needed"),
    (lambda kernel, u, v: st.lookup(None, dims=64), "definition is None: a text is needed"),
    (lambda kernel, u, v: st.stencil("v = u[x-1]\0 + 1"), "null characters"),
    (lambda kernel, u, v: st.stencil(pathlib.Path("a\0b.toml")), "null characters"),
])
def test_messages_say_what_was_given_and_what_is_needed(device, call, match):
    kernel = st.lookup(st.stencil(HEAT, rank=2), like=device())
    with pytest.raises(st.ArgumentError, match=match):
        call(kernel, device(), device())


def test_whole_numbers_of_numpy_are_whole_numbers(device):
    kernel = st.lookup("heat2d", dims=(numpy.int64(32), numpy.uint8(6)), steps=numpy.int32(2), device=numpy.int64(0))
    kernel.advance([device(), device()], steps=numpy.int16(2))
    assert kernel.place_points(every=numpy.int64(2)).records(numpy.int8(5)) == 2
    assert st.lookup("heat2d", dims=numpy.int64(32)).dims == (32, 32)
