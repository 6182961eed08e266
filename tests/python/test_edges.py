"""What lies at edges, by hand: held layers of systems, of older levels and of intermediates, corners, and cuts."""

import numpy
import pytest
from device_arrays import CudaArray, aligned
from edge_cases import OPEN_FAULTS
from test_distributed import Group
from test_gradient import Numpy

import stencil_tune as st
from stencil_tune import distributed
from stencil_tune._gradients.run import Run

TURNED = "a_next = 0.5*b[x-1] + 0.5*a; b_next = 0.5*a[x+1] + 0.5*b"
OLDER = """
rank = 1
fields = ["p", "q", "p_next"]
[update]
p_next = "0.5*p[x+1] - 0.25*q[x-1]"
[rotate]
p_next = "p"
p = "q"
"""
TWO_STAGES = """
rank = 1
fields = ["u", "v", "u1", "u_next", "v_next"]
[[stage]]
u1 = "u[x-1] + v[x+1]"
[[stage]]
u_next = "u + u1[x-1]"
v_next = "v"
[rotate]
u_next = "u"
v_next = "v"
"""
UP, DOWN = numpy.arange(1.0, 9.0), numpy.arange(101.0, 109.0)


def once_mended(fault):
    return pytest.mark.skipif(fault in OPEN_FAULTS, reason=f"known to be wrong: {fault}")


def run(stencil, fields, steps, gpus=None, **more):
    """Fields after a run, by name, of the reference or of kernels; those that are not given hold 1000."""
    stencil = stencil if isinstance(stencil, st.Stencil) else st.stencil(stencil, rank=1)
    like = next(iter(fields.values()))
    host = [aligned(fields.get(name, numpy.full_like(like, 1000.0))) for name in stencil.arguments]
    device = {"device": "cpu"} if gpus is None else {}
    kernel = st.lookup(stencil, shape=like.shape, dtype="f64", **device, **more)
    arrays = [array if gpus is None else CudaArray(gpus.own(array)) for array in host]
    kernel.advance(arrays, steps=steps)
    return {name: numpy.array(getattr(array, "host", array)) for name, array in zip(stencil.arguments, arrays)}


def run_cut(stencil, fields, steps, ranks):
    """The same of a periodic grid that is cut."""
    def body(mine):
        grid = distributed.Grid(st.stencil(stencil, rank=1), shape=UP.shape, dtype="f64", boundary="periodic", ranks=mine)
        for name, cells in fields.items():
            grid.scatter(name, cells if mine.rank == 0 else None)
        grid.advance(steps)
        return {name: grid.gather(name, numpy.zeros(UP.shape) if mine.rank == 0 else None) for name in fields}

    return Group(ranks).run(body)[0]


@once_mended("crossed_outputs")
def test_outputs_in_any_order_have_the_layers_of_what_they_become(gpus):
    wanted = {"a": [1, 51.5, 52.5, 53.5, 54.5, 55.5, 56.5, 8], "b": [101, 52.5, 53.5, 54.5, 55.5, 56.5, 57.5, 108]}
    for where in (None, gpus):
        after = run(TURNED, {"a": UP, "b": DOWN}, 1, where)
        assert {name: after[name].tolist() for name in wanted} == wanted
    whole = run(TURNED, {"a": UP, "b": DOWN}, 3, gpus, boundary="periodic")
    for name, cells in run_cut(TURNED, {"a": UP, "b": DOWN}, 3, 2).items():
        numpy.testing.assert_array_equal(cells, whole[name])


@once_mended("older_level_layers")
def test_an_older_level_keeps_its_layers_until_it_is_another(gpus):
    p1 = [1, *(0.5 * UP[2:] - 0.25 * DOWN[:-2]), 8]
    p2 = [1, *(0.5 * numpy.array(p1)[2:] - 0.25 * UP[:-2]), 8]
    for where in (None, gpus):
        assert run(OLDER, {"p": UP, "q": DOWN}, 1, where)["p"].tolist() == p1
        after = run(OLDER, {"p": UP, "q": DOWN}, 2, where)
        assert after["p"].tolist() == p2 and after["q"].tolist() == p1
    whole = run(OLDER, {"p": UP, "q": DOWN}, 3, gpus, boundary="periodic")
    for name, cells in run_cut(OLDER, {"p": UP, "q": DOWN}, 3, 2).items():
        numpy.testing.assert_array_equal(cells, whole[name])


def test_a_level_that_nobody_reads_is_right_too(gpus):
    unread = OLDER.replace(" - 0.25*q[x-1]", "")
    for where in (None, gpus):
        assert run(unread, {"p": UP, "q": DOWN}, 2, where)["q"].tolist() == [*(0.5 * UP[1:]), 8]


@once_mended("intermediate_layers")
def test_an_intermediate_has_the_layers_of_what_its_stage_stands_for(gpus):
    rk3 = st.stencil("advection2d_rk3")
    ones = numpy.ones((12, 16))
    for where in (None, gpus):
        numpy.testing.assert_allclose(run(rk3, {"u": ones}, 3, where)["u"], 1, rtol=1e-14)
    numpy.testing.assert_allclose(Run(rk3, "hold", 3, Numpy()).forward([ones], None)[0], 1, rtol=1e-14)


@once_mended("intermediate_layers")
def test_an_intermediate_between_two_fields_needs_a_line(gpus):
    with pytest.raises(st.Error, match=r'u1 = "'):
        run(TWO_STAGES, {"u": UP, "v": DOWN}, 1)
    run(TWO_STAGES, {"u": UP, "v": DOWN}, 1, boundary="periodic")  # nothing is held
    for layers, first in (("u", 1), ("v", 101)):
        named = TWO_STAGES.replace("[rotate]", f'[hold]\nu1 = "{layers}"\n[rotate]')
        for where in (None, gpus):
            after = run(named, {"u": UP, "v": DOWN}, 1, where)
            assert after["u"].tolist()[:3] == [1, 2 + first, 3 + 1 + 103]


@once_mended("zero_then_neumann")
@pytest.mark.parametrize("words", ['x = "zero"\ny = "neumann(0.25)"', 'y = "neumann(0.25)"',
                                   'x.low = "zero"\nx.high = "reflect"\ny = "neumann(0.25)"'])
def test_the_first_axis_has_the_last_word_in_a_corner(words, gpus):
    corner = st.stencil(f'rank = 2\nfields = ["u", "v"]\n[update]\nv = "u[x-1, y-1]"\n[boundary]\n{words}\n')
    u, v = numpy.ones((4, 4)), numpy.zeros((4, 4))
    boundary = "x=hold,y=hold" if "x" in words else "x=zero,y=hold"
    st.lookup(corner, shape=u.shape, dtype="f64", device="cpu", boundary=boundary)(u, v)
    host = [gpus.own(aligned(numpy.ones((4, 4)))) for _ in range(2)]
    st.lookup(corner, shape=u.shape, dtype="f64", boundary=boundary)(*map(CudaArray, host))
    for got in (v, host[1]):
        assert got.tolist() == [[0, 1.5, 1.5, 1.5], *[[0, 1, 1, 1]] * 3]


@once_mended("distances_across_a_cut")
def test_distances_count_from_the_grids_edge_where_a_periodic_axis_is_cut(gpus):
    definition = ('rank = 1\nfields = ["u", "u_next"]\n[update]\n'
                  'u_next = "u[x-1] + 10*x_before[x-2] + 100*x_after[x+1]"\n')
    whole = run(definition, {"u": UP}, 2, gpus, boundary="periodic")
    numpy.testing.assert_array_equal(whole["u"], run(definition, {"u": UP}, 2, boundary="periodic")["u"])
    try:
        cut = run_cut(definition, {"u": UP}, 2, 2)
    except st.ArgumentError as refusal:
        assert "x_before" in str(refusal) or "cut" in str(refusal)
    else:
        numpy.testing.assert_array_equal(cut["u"], whole["u"])


@pytest.mark.parametrize("boundary", ["hold", "zero", "periodic"])
def test_arrays_along_an_axis_may_be_read_farther_than_fields_where_it_is_cut(boundary, gpus):
    stencil = st.stencil("u_next = u[x-1] + r[x+2]; r(x)", rank=1)

    def body(ranks):
        grid = distributed.Grid(stencil, shape=UP.shape, dtype="f64", boundary=boundary, ranks=ranks)
        grid.write("r", DOWN)
        grid.scatter("u", UP if ranks.rank == 0 else None)
        grid.advance(2)
        return grid.gather("u", numpy.zeros(UP.shape) if ranks.rank == 0 else None)

    wanted = run(stencil, {"u": UP, "r": DOWN}, 2, gpus, boundary=boundary)["u"]
    numpy.testing.assert_array_equal(Group(2).run(body)[0], wanted)


def test_a_level_that_is_read_once_it_is_older_is_an_input():
    skipping = st.stencil("""
rank = 1
fields = ["p", "p1", "p2", "p_next"]
[update]
p_next = "0.5*p[x+1] - 0.25*p2[x-1]"
[rotate]
p_next = "p"
p = "p1"
p1 = "p2"
""")
    assert skipping.inputs == ("p", "p1", "p2")
    forward = Run(skipping, "periodic", 2, Numpy())
    p, p1, p2 = forward.forward([UP, DOWN, 0 * UP], None)
    first = 0.5 * numpy.roll(UP, -1)
    numpy.testing.assert_array_equal(p, 0.5 * numpy.roll(first, -1) - 0.25 * numpy.roll(DOWN, 1))
    numpy.testing.assert_array_equal((p1, p2), (first, UP))
    back, _ = forward.backward([UP, DOWN, 0 * UP], [1 + 0 * UP, 0 * UP, 0 * UP], None)
    numpy.testing.assert_array_equal(back, [[0.25] * 8, [-0.25] * 8, [-0.125] * 8])


def test_coefficients_have_gradients_beside_a_probe():
    probed = st.stencil('rank = 1\nfields = ["u", "u_next", "probe"]\n[coefficients]\nk = 0.5\n[update]\n'
                        'u_next = "k*u[x-1]"\nprobe = "k*u"\n[rotate]\nu_next = "u"\n')
    _, total = Run(probed, "periodic", 2, Numpy()).backward([UP], [numpy.ones(8)], None, for_coefficients=True)
    assert total == {"k": pytest.approx(2 * 0.5 * UP.sum())}
