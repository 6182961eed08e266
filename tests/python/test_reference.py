"""device="cpu": the reference on arrays of NumPy."""

import numpy
import pytest
from device_arrays import CudaArray, aligned

import stencil_tune as st

HEAT = "u_next = u + alpha * laplacian(u); alpha = 0.25"


def test_steps_are_numpys():
    u = numpy.random.default_rng(1).integers(-8, 8, (9, 12)).astype(numpy.float32)
    wanted = u
    for _ in range(3):
        last = wanted
        wanted = last.copy()
        wanted[1:-1, 1:-1] += 0.25 * (last[1:-1, :-2] + last[1:-1, 2:] + last[:-2, 1:-1] + last[2:, 1:-1] -
                                      4 * last[1:-1, 1:-1])
    kernel = st.lookup(st.stencil(HEAT, rank=2), like=u, device="cpu")
    assert kernel.match == "reference" and "slow" in kernel.evidence.sentence
    arrays = [u.copy(), numpy.zeros_like(u)]
    last = arrays[1]
    result = kernel.advance(arrays, steps=3)
    assert result is last and arrays[0] is result
    numpy.testing.assert_array_equal(result, wanted)


def test_a_call_leaves_held_layers_alone_and_strides_do_not_matter():
    u = numpy.arange(30.0).reshape(6, 5).T
    out = numpy.full((5, 6), -1.0)
    kernel = st.lookup("v = u[x-1] + s*u[y+1]; s = 1", shape=u.shape, dtype="f64", device="cpu")
    kernel(u, out, coefficients={"s": 10})
    numpy.testing.assert_array_equal(out[:-1, 1:], u[:-1, :-1] + 10 * u[1:, 1:])
    assert (out[-1] == -1).all() and (out[:, 0] == -1).all()


def test_arrays_are_taken_in_the_order_of_the_fields():
    definition = 'rank = 1\nfields = ["v", "u"]\n[update]\nv = "u[x-1]"\n[rotate]\nv = "u"\n'
    u, v = numpy.arange(5.0), numpy.full(5, 7.0)
    kernel = st.lookup(definition, like=u, device="cpu")
    kernel(v, u)
    numpy.testing.assert_array_equal(v, [7, 0, 1, 2, 3])
    arrays = [v, u]
    assert kernel.advance(arrays, steps=1) is v
    assert arrays[1] is v and arrays[0] is u
    numpy.testing.assert_array_equal(v, [0, 0, 1, 2, 3])


def test_it_agrees_with_the_kernel(gpus):
    gray_scott = st.stencil("a_next = a + da*laplacian(a) - a*b^2; b_next = b + db*laplacian(b) + a*b^2; "
                            "da = 0.125; db = 0.0625", rank=2)
    host = [aligned(numpy.random.default_rng(i).random((9, 32))) for i in range(4)]
    for array in host:
        gpus.own(array)
    device = [CudaArray(array) for array in host]
    kernel = st.lookup(gray_scott, like=device[0], boundary="reflect")
    reference = st.lookup(gray_scott, like=host[0], boundary="reflect", device="cpu")
    after = [array.copy() for array in host]
    reference(*after)
    kernel(*device)
    for wanted, got in zip(after, host):
        numpy.testing.assert_allclose(got, wanted, rtol=1e-14, atol=1e-15)


def test_refusals():
    kernel = st.lookup("heat2d", dims=(8, 6), device="cpu")
    u = numpy.zeros((6, 8), numpy.float32)
    with pytest.raises(st.ArgumentError, match="overlap"):
        kernel(u, u)
    with pytest.raises(st.ArgumentError, match=r"shape \(8, 6\)"):
        kernel(u.T.copy(), u)
    with pytest.raises(st.ArgumentError, match="cells of f64"):
        kernel(u, u.astype(float))
    frozen = u.copy()
    frozen.flags.writeable = False
    with pytest.raises(st.ArgumentError, match="u_next is read-only"):
        kernel(u, frozen)
    with pytest.raises(st.ArgumentError, match="steps is -1: a whole number from 0 on is needed"):
        kernel.advance([u, u.copy()], steps=-1)
    with pytest.raises(st.ArgumentError, match="origin has 3 coordinates, the arrays have 2 axes"):
        kernel(u, u.copy(), origin=(1, 2, 3))
    with pytest.raises(st.ArgumentError, match="bf16"):
        st.lookup("heat2d", dims=8, dtype="bf16", device="cpu")


@pytest.mark.parametrize("asked, match", [
    ({"dims": (8, 0)}, "extent 0 on axis 1 of a grid of rank 2"), ({"dims": -1}, "extent -1 on axis 0"),
    ({"dims": (8, 6), "boundary": "odd"}, "unknown boundary 'odd'"),
    ({"dims": (8, 6), "boundary": {"z": "hold"}}, "axis"), ({"dims": (8, 6), "pitch": 7}, "pitch 7 is less than the 8"),
    ({"dims": (2**40, 2**40)}, "does not fit in 64 bits"),
])
def test_lookups_refuse_what_a_gpus_lookup_refuses(asked, match):
    said = []
    for where in ({"device": "cpu"}, {"gpu": "h200"}):
        with pytest.raises(st.ArgumentError, match=match) as error:
            st.lookup("heat2d", **asked, **where)
        said.append(str(error.value))
    assert said[0] == said[1]


def test_a_definitions_boundary_is_what_is_said():
    walls = st.stencil('rank = 2\nfields = ["u", "v"]\n[update]\nv = "u[x-1] + u[y+1]"\n[boundary]\nx = "zero"\n')
    for kernel in (st.lookup(walls, dims=(8, 6), device="cpu"), st.lookup(walls, dims=(8, 6), gpu="h200")):
        assert kernel.boundary == "x=zero,y=hold" and "boundary x=zero,y=hold" in repr(kernel)
    with pytest.raises(st.ArgumentError, match="says what lies beyond the edges in x itself"):
        st.lookup(walls, dims=(8, 6), boundary="periodic", device="cpu")
