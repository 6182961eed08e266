"""Coordinates, numbers of steps, sources and receivers."""

import numpy
import pytest
from device_arrays import CudaArray, aligned

import stencil_tune as st

SHAPE = (12, 40)


@pytest.fixture
def made(gpus):
    def make(values=0, shape=SHAPE, dtype=numpy.float64):
        array = aligned(numpy.zeros(shape, dtype))
        array[...] = values
        return gpus.own(array)

    return make


def test_coordinates_begin_at_the_origin(made):
    ramp = st.stencil('rank = 2\nfields = ["u", "u_next"]\n[update]\nu_next = "u + x + 100*y + 10000*t"\n'
                      '[rotate]\nu_next = "u"\n')
    u, u_next = made(), made()
    kernel = st.lookup(ramp, shape=SHAPE, dtype="f64")
    row, column = numpy.indices(SHAPE)
    for origin, step in ((None, 0), ((5, 7), 3), ((0, -4), 0)):
        y, x = origin or (0, 0)
        kernel(CudaArray(u), CudaArray(u_next), origin=origin, step=step)
        numpy.testing.assert_array_equal(u_next, column + x + 100 * (row + y) + 10000 * step)
    after = kernel.advance([CudaArray(u), CudaArray(u_next)], steps=3, origin=(5, 7), step=2)
    numpy.testing.assert_array_equal(after.host, 3 * (column + 7 + 100 * (row + 5)) + 10000 * (2 + 3 + 4))
    with pytest.raises(st.ArgumentError, match="origin has 3 coordinates, the arrays have 2 axes"):
        kernel(CudaArray(u), CudaArray(u_next), origin=(1, 2, 3))


def waves(p, q, series, source, receivers):
    """What the kernel below does, and what it records."""
    records = []
    for value in series:
        after = p.copy()
        inside = (slice(1, -1), slice(1, -1))
        after[inside] = (2 * p - q)[inside] + 0.25 * (p[2:, 1:-1] + p[:-2, 1:-1] + p[1:-1, 2:] + p[1:-1, :-2] -
                                                      4 * p[inside])
        for (y, x), weight in source:
            after[y, x] += weight * value
        p, q = after, p
        records.append([p[at] for at in receivers])
    return p, numpy.array(records)


def test_sources_add_and_receivers_record(made):
    wave = st.stencil('rank = 2\nfields = ["p", "q", "p_next"]\n[update]\np_next = "2*p - q + 0.25*laplacian(p)"\n'
                      '[rotate]\np_next = "p"\np = "q"\n')
    kernel = st.lookup(wave, shape=SHAPE, dtype="f64", steps=8)
    receivers = [(3, 4), (8, 30), (5, 12)]
    points = kernel.place_points({"p_next": [(5, 10.25)]}, {"p": receivers}, every=2)
    assert (points.sources, points.receivers, points.records(7), points.dtype) == (1, 3, 3, "f64")
    start = [numpy.random.default_rng(seed).random(SHAPE) for seed in (1, 2)]
    arrays = [CudaArray(made(start[0])), CudaArray(made(start[1])), CudaArray(made())]
    series, records = made(shape=(6, 1), values=numpy.arange(1.0, 7)[:, None]), made(shape=(3, 3))
    p, _ = kernel.advance(arrays, steps=6, points=points, series=CudaArray(series), records=CudaArray(records))
    wanted, seen = waves(*start, series[:, 0], [((5, 10), 0.75), ((5, 11), 0.25)], receivers)
    numpy.testing.assert_allclose(p.host, wanted, rtol=1e-13)
    numpy.testing.assert_allclose(records, seen[1::2], rtol=1e-13)


def test_points_that_do_not_fit_are_refused(made):
    kernel = st.lookup("heat2d", shape=SHAPE, dtype="f64")
    for sources, match in (({"w": [(1, 2)]}, "'w' is no field"), ({"u_next": [(1, 2, 3)]}, r"positions are \(y, x\)"),
                           ({"u_next": [(0, 2)]}, "source"), ({"u_next": [(50, 2)]}, "source")):
        with pytest.raises(st.ArgumentError, match=match):
            kernel.place_points(sources)
    points = kernel.place_points({"u_next": [(4, 4)]}, {"u": [(5, 5)]})
    arrays = [CudaArray(made()), CudaArray(made())]
    series, records = CudaArray(made(shape=(2, 1))), CudaArray(made(shape=(2, 1)))
    for more, match in (({}, "take series"), ({"series": CudaArray(made(shape=(3, 1))), "records": records}, r"\(2, 1\)"),
                        ({"series": series}, "take records"),
                        ({"series": CudaArray(made(shape=(2, 1), dtype=numpy.float32)), "records": records}, "f64"),
                        ({"series": series, "records": CudaArray(records.host, read_only=True)}, "read-only")):
        with pytest.raises(st.ArgumentError, match=match):
            kernel.advance(arrays, steps=2, points=points, **more)
    with pytest.raises(st.ArgumentError, match="go with points"):
        kernel.advance(arrays, steps=2, series=series)
    other = st.lookup("heat2d", shape=SHAPE, dtype="f64", boundary="zero")
    with pytest.raises(st.ArgumentError, match="another kernel"):
        other.advance(arrays, steps=2, points=points, series=series, records=records)
