"""Coordinates, numbers of steps, sources and receivers."""

import numpy
import pytest
from device_arrays import CudaArray, aligned
from edge_oracle import philox

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
    kernel, reference = (st.lookup(ramp, shape=SHAPE, dtype="f64", device=device) for device in (0, "cpu"))
    row, column = numpy.indices(SHAPE)
    for origin, step in ((None, 0), ((5, 7), 3), ((0, -4), 0)):
        y, x = origin or (0, 0)
        kernel(CudaArray(u), CudaArray(u_next), origin=origin, step=step)
        numpy.testing.assert_array_equal(u_next, column + x + 100 * (row + y) + 10000 * step)
        on_cpu = numpy.zeros(SHAPE)
        reference(numpy.zeros(SHAPE), on_cpu, origin=origin, step=step)
        numpy.testing.assert_array_equal(on_cpu, u_next)
    after = kernel.advance([CudaArray(u), CudaArray(u_next)], steps=3, origin=(5, 7), step=2)
    numpy.testing.assert_array_equal(after.host, 3 * (column + 7 + 100 * (row + 5)) + 10000 * (2 + 3 + 4))
    on_cpu = reference.advance([numpy.zeros(SHAPE), numpy.zeros(SHAPE)], steps=3, origin=(5, 7), step=2)
    numpy.testing.assert_array_equal(on_cpu, after.host)
    with pytest.raises(st.ArgumentError, match="origin has 3 coordinates, the arrays have 2 axes"):
        kernel(CudaArray(u), CudaArray(u_next), origin=(1, 2, 3))


def random_numbers(shape, origin, step, seed, call, dtype="f64"):
    """The second implementation's."""
    row, column = (index + first for index, first in zip(numpy.indices(shape), origin))
    first, second, *_ = philox((column, row, 0, step), (seed, call))
    if dtype == "f32":
        return (first >> 8) * 2.0**-24
    return ((first << 32 | second) >> 11) * 2.0**-53


def test_random_numbers_follow_from_seed_cell_and_step(made):
    noise = st.stencil('rank = 2\nfields = ["u", "u_next"]\n[coefficients]\ns = 7\n[let]\na = "random(s)"\n'
                       'b = "random(40)"\n[update]\nu_next = "u + a - 2*b[x+1, y-2] + 4*random(40) + 8*random(40, 1)"\n')
    for dtype, places in (("f64", numpy.float64), ("f32", numpy.float32)):
        u, u_next = made(dtype=places), made(dtype=places)
        kernel, reference = (st.lookup(noise, shape=SHAPE, dtype=dtype, device=device) for device in (0, "cpu"))
        for (y, x), step, seed in (((0, 0), 0, 7), ((-5, 2**31), 3, 9)):
            wanted = (random_numbers(SHAPE, (y, x), step, seed, 0, dtype) +
                      -2 * random_numbers(SHAPE, (y - 2, x + 1), step, 40, 1, dtype) +
                      4 * random_numbers(SHAPE, (y, x), step, 40, 2, dtype) +
                      8 * random_numbers(SHAPE, (y, x), step, 40, 1, dtype))
            kernel(CudaArray(u), CudaArray(u_next), coefficients={"s": seed}, origin=(y, x), step=step)
            numpy.testing.assert_allclose(u_next, wanted, rtol=0, atol=1e-14 if dtype == "f64" else 3e-6)
            on_cpu = numpy.zeros(SHAPE, places)
            reference(numpy.zeros(SHAPE, places), on_cpu, coefficients={"s": seed}, origin=(y, x), step=step)
            numpy.testing.assert_allclose(on_cpu, u_next, rtol=0, atol=1e-14 if dtype == "f64" else 3e-6)


def test_as_many_fields_as_there_may_be(made):
    """64 that take turns, each a mean with the next one's neighbour: one kernel for all, and stages of half of them."""
    half = range(64)
    updates = [f'g{i} = "0.5*f{i} + 0.5*f{(i + 1) % 64}[x+1]"' for i in half]
    turns = "[rotate]\n" + "\n".join(f'g{i} = "f{i}"' for i in half)
    head = "rank = 2\nfields = [" + ", ".join(f'"f{i}", "g{i}"' for i in half) + "]\n"
    draw = numpy.random.default_rng(4)
    start = [draw.uniform(-1, 1, (4, 40)) for _ in half]
    now = start
    for _ in range(3):
        now = [0.5 * now[i] + 0.5 * numpy.roll(now[(i + 1) % 64], -1, axis=1) for i in half]
    for stages in ([updates], [updates[:32], updates[32:]]):
        text = head + "".join("[[stage]]\n" + "\n".join(stage) + "\n" for stage in stages) + turns
        kernel = st.lookup(st.stencil(text), shape=(4, 40), dtype="f32", boundary="periodic")
        arrays = [CudaArray(made(start[place // 2], (4, 40), numpy.float32)) for place in range(128)]
        kernel.advance(arrays, steps=3)
        for i in half:
            numpy.testing.assert_allclose(arrays[2 * i].host, now[i], rtol=0, atol=1e-6)


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


@pytest.mark.parametrize("device", [0, "cpu"])
def test_sources_add_and_receivers_record(made, device):
    wave = st.stencil('rank = 2\nfields = ["p", "q", "p_next"]\n[update]\np_next = "2*p - q + 0.25*laplacian(p)"\n'
                      '[rotate]\np_next = "p"\np = "q"\n')
    kernel = st.lookup(wave, shape=SHAPE, dtype="f64", steps=8, device=device)
    as_given = numpy.asarray if device == "cpu" else CudaArray
    receivers = [(3, 4), (8, 30), (5, 12)]
    points = kernel.place_points({"p_next": [(5, 10.25)]}, {"p": receivers}, every=2)
    assert (points.sources, points.receivers, points.records(7), points.dtype) == (1, 3, 3, "f64")
    start = [numpy.random.default_rng(seed).random(SHAPE) for seed in (1, 2)]
    arrays = [as_given(made(start[0])), as_given(made(start[1])), as_given(made())]
    series, records = made(shape=(6, 1), values=numpy.arange(1.0, 7)[:, None]), made(shape=(3, 3))
    p, _ = kernel.advance(arrays, steps=6, points=points, series=as_given(series), records=as_given(records))
    wanted, seen = waves(*start, series[:, 0], [((5, 10), 0.75), ((5, 11), 0.25)], receivers)
    numpy.testing.assert_allclose(p if device == "cpu" else p.host, wanted, rtol=1e-13, atol=1e-14)
    numpy.testing.assert_allclose(records, seen[1::2], rtol=1e-13)


TWO_STAGES = """
rank = 2
fields = ["a", "b", "a_next", "b_next", "dy(y)"]
[[stage]]
a_next = "a + 0.25*dy*(b[x+1] - b) + 0.001*t"
[[stage]]
b_next = "b + 0.25*(a_next[y+1] - a_next[y-1])"
[rotate]
a_next = "a"
b_next = "b"
"""


@pytest.mark.parametrize("dtype, close", [(numpy.float32, 1e-6), (numpy.float16, 1e-2)])
def test_the_reference_has_points_where_kernels_have_them(made, dtype, close):
    """Between stages, with a step that counts on from call to call."""
    stencil = st.stencil(TWO_STAGES)
    random = numpy.random.default_rng(3)
    start = {name: made(random.random(SHAPE if name != "dy" else SHAPE[0]), SHAPE if name != "dy" else SHAPE[:1], dtype)
             for name in stencil.arguments}
    series = made(random.random((6, 3)), (6, 3), "f4")
    found = []
    for device in (0, "cpu"):
        as_given = numpy.asarray if device == "cpu" else CudaArray
        arrays = [as_given(made(values, values.shape, dtype)) for values in start.values()]
        kernel = st.lookup(stencil, shape=SHAPE, dtype=dtype, boundary="clamp", device=device)
        points = kernel.place_points({"a_next": [(3, 4.5), (0, 0)], "b_next": [(11, 39)]},
                                     {"b": [(3.25, 4), (0, 1)], "a": [(11, 38.5)]}, every=2)
        records = made(shape=(3, 3), dtype="f4")
        for first, last in ((0, 2), (2, 6)):
            now = kernel.advance(arrays, steps=last - first, step=first, points=points,
                                 series=as_given(series[first:last]), records=as_given(records[first // 2:last // 2]))
        found.append([records, *(each if device == "cpu" else each.host for each in now)])
    for on_gpu, on_cpu in zip(*found):
        numpy.testing.assert_allclose(on_cpu, on_gpu, rtol=close, atol=close)
        assert on_cpu.any()


@pytest.mark.parametrize("device", [0, "cpu"])
def test_points_that_do_not_fit_are_refused(made, device):
    kernel = st.lookup("heat2d", shape=SHAPE, dtype="f64", device=device)

    def as_given(array, read_only=False):
        if device != "cpu":
            return CudaArray(array, read_only=read_only)
        array.flags.writeable = not read_only
        return array

    for sources, match in (({"w": [(1, 2)]}, "'w' is no field"), ({"u_next": [(1, 2, 3)]}, r"positions are \(y, x\)"),
                           ({"u_next": [(0, 2)]}, "source"), ({"u_next": [(50, 2)]}, "source"),
                           ({"u_next": [(float("nan"), 2)]}, "along y: a position")):
        with pytest.raises(st.ArgumentError, match=match):
            kernel.place_points(sources)
    points = kernel.place_points({"u_next": [(4, 4)]}, {"u": [(5, 5)]})
    arrays = [as_given(made()), as_given(made())]
    series, records = as_given(made(shape=(2, 1))), as_given(made(shape=(2, 1)))
    for more, match in (({}, "take series"), ({"series": as_given(made(shape=(3, 1))), "records": records}, r"\(2, 1\)"),
                        ({"series": series}, "take records"),
                        ({"series": as_given(made(shape=(2, 1), dtype=numpy.float32)), "records": records}, "f64"),
                        ({"series": series, "records": as_given(made(shape=(2, 1)), read_only=True)}, "read-only")):
        with pytest.raises(st.ArgumentError, match=match):
            kernel.advance(arrays, steps=2, points=points, **more)
    with pytest.raises(st.ArgumentError, match="go with points"):
        kernel.advance(arrays, steps=2, series=series)
    other = st.lookup("heat2d", shape=SHAPE, dtype="f64", boundary="zero", device=device)
    with pytest.raises(st.ArgumentError, match="another kernel"):
        other.advance(arrays, steps=2, points=points, series=series, records=records)
