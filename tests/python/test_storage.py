"""Fields that are stored in types of their own, against plain NumPy in f64."""

import numpy
import pytest
from device_arrays import CudaArray, aligned

import stencil_tune as st

SHAPE = (12, 64)
DTYPES = {"u8": "u1", "i8": "i1", "u16": "u2", "i16": "i2", "i32": "i4", "f16": "f2", "f32": "f4", "f64": "f8"}
PADS = {"zero": "constant", "clamp": "edge", "periodic": "wrap", "reflect": "reflect"}
SCALE, SHIFT = 0.25, -3.5


def made(gpus, values, dtype):
    return gpus.own(aligned(numpy.asarray(values, dtype)))


def drawn(dtype, seed):
    random = numpy.random.default_rng(seed)
    if numpy.dtype(dtype).kind in "ui":
        known = numpy.iinfo(dtype)
        return random.integers(max(known.min, -1000), min(known.max, 1000) + 1, SHAPE).astype(dtype)
    return random.normal(size=SHAPE).astype(dtype)


def stored(values, dtype):
    """The values as numbers of the type, as docs/stencils.md says."""
    if numpy.dtype(dtype).kind not in "ui":
        return values.astype(dtype)
    known = numpy.iinfo(dtype)
    return numpy.clip(numpy.rint(numpy.where(numpy.isnan(values), known.min, values)), known.min, known.max).astype(dtype)


def on_both(gpus, stencil, boundary, arrays, dtype):
    """A launch of the reference, and of a kernel: the last array afterwards."""
    *inputs, out = arrays
    on_cpu = out.copy()
    st.lookup(stencil, dims=SHAPE[::-1], dtype=dtype, boundary=boundary, device="cpu")(*inputs, on_cpu)
    on_gpu = [made(gpus, array, array.dtype) for array in arrays]
    st.lookup(stencil, dims=SHAPE[::-1], dtype=dtype, boundary=boundary)(*map(CudaArray, on_gpu))
    return on_cpu, on_gpu[-1]


def expect_stored(found, values, dtype):
    """A whole number may be its neighbour where rounding decides, another at half a unit of storage."""
    right = stored(values, dtype)
    if numpy.dtype(dtype).kind in "ui":
        off = numpy.abs(found.astype("f8") - right.astype("f8"))
        near = numpy.abs(numpy.abs(values - numpy.floor(values)) - 0.5) < 1e-3 * (1 + numpy.abs(values) * 1e-3)
        assert ((off == 0) | (near & (off == 1))).all()
        assert (off == 0).mean() > 0.9
    else:
        numpy.testing.assert_allclose(found, right, rtol={"f2": 2e-3, "f4": 1e-5, "f8": 1e-5}[dtype], atol=1e-3)


@pytest.mark.parametrize("boundary", PADS)
@pytest.mark.parametrize("read, written", [("u8", "i16"), ("i8", "u8"), ("u16", "f16"), ("i16", "i8"), ("i32", "f64"),
                                           ("f64", "i32"), ("f16", "u16"), ("u8", "u8")])
def test_are_read_and_written_as_they_are_stored(gpus, boundary, read, written):
    stencil = st.stencil(f"v = 0.3*u + 0.5*u[x-1, y+1] - u[x+2]; storage u = {read}*{SCALE} - {-SHIFT}; "
                         f"storage v = {written}/2", rank=2)
    assert stencil.storages == {"u": read, "v": written}
    u = drawn(DTYPES[read], 1)
    value = numpy.pad(u.astype("f8") * SCALE + SHIFT, 2, mode=PADS[boundary])
    right = (0.3*value[2:-2, 2:-2] + 0.5*value[3:-1, 1:-3] - value[2:-2, 4:]) * 2
    for found in on_both(gpus, stencil, boundary, [u, numpy.zeros(SHAPE, DTYPES[written])], "f32"):
        expect_stored(found, right, DTYPES[written])


def test_whole_numbers_end_at_their_range_and_ties_are_even(gpus):
    stencil = st.stencil("v = 0.5*u; storage v = u8", rank=2)
    u = numpy.zeros(SHAPE)
    u[0, :8] = [1, 3, 5, -7, 511, 1e9, numpy.nan, numpy.inf]
    for found in on_both(gpus, stencil, "zero", [u, numpy.zeros(SHAPE, "u1")], "f64"):
        assert found[0, :8].tolist() == [0, 2, 2, 0, 255, 255, 0, 255]


def test_tables_are_looked_up_by_the_whole_number_below(gpus):
    stencil = st.stencil("v = table(id, 10, a, 30, u); a = 20; storage id = i8", rank=2)
    id, u = numpy.resize(numpy.array([-128, -1, 0, 1, 2, 3, 4, 127], "i1"), SHAPE), numpy.full(SHAPE, 7.0, "f4")
    right = numpy.array([10, 20, 30, 7.0])[numpy.clip(id, 0, 3)]
    for found in on_both(gpus, stencil, "zero", [id, u, numpy.zeros(SHAPE, "f4")], "f32"):
        numpy.testing.assert_array_equal(found, right)
    assert st.stencil("v = table(u, 1, 2, 3)", rank=1).key == st.stencil(
        "v = u < 1 ? 1 : u < 2 ? 2 : 3", rank=1).key


@pytest.mark.parametrize("steps", [1, 2, 5])
def test_states_of_whole_numbers_are_rounded_at_every_step(gpus, steps):
    stencil = st.stencil("u_next = u + 0.3*id*laplacian(u); storage u = i16/16; storage u_next = i16/16; "
                         "storage id = u8", rank=2)
    u, id = drawn("i2", 3), (drawn("u1", 4) % 2).astype("u1")
    right = u.astype("f8")
    for _ in range(steps):
        wide = numpy.pad(right, 1, mode="wrap")
        around = wide[:-2, 1:-1] + wide[2:, 1:-1] + wide[1:-1, :-2] + wide[1:-1, 2:] - 4 * wide[1:-1, 1:-1]
        right = numpy.clip(numpy.rint(right + 0.3 * id * around), -32768, 32767)
    for device in ("cpu", None):
        kernel = st.lookup(stencil, dims=SHAPE[::-1], dtype="f64", boundary="periodic", steps=steps, device=device)
        own = [array.copy() if device else CudaArray(made(gpus, array, array.dtype)) for array in (u, id, u)]
        found = kernel.advance(own, steps=steps)
        numpy.testing.assert_array_equal(found if device else found.host, right)


def test_what_does_not_fit_is_refused(gpus):
    stencil = st.stencil("v = u + 1; storage u = u8", rank=2)
    u, v = numpy.zeros(SHAPE, "u1"), numpy.zeros(SHAPE, "f4")
    with pytest.raises(st.ArgumentError, match="u has cells of f32, the definition stores it as u8"):
        st.lookup(stencil, like=v, device="cpu")(v, v.copy())
    with pytest.raises(st.ArgumentError, match="v has cells of u8, the kernel was looked up for f32"):
        st.lookup(stencil, dims=SHAPE[::-1])(CudaArray(made(gpus, u, "u1")), CudaArray(made(gpus, u, "u1")))
    with pytest.raises(st.ArgumentError, match="stores field 'u' in a type of its own: derivatives"):
        stencil.adjoint()
    for line, why in [("v = u; storage u = u7", "unknown type of stored cells 'u7'"), ("v = u; storage w = u8", "w"),
                      ("v = u; storage u = u8*2*k + v", "the same in all cells"), ("v = u; storage u = u8/3/2", "longer ones in brackets"),
                      ("v = u; storage u = u8; storage u = i8", "stored in one type"),
                      ("u_next = u; storage u = u8", "'u_next' becomes 'u' after a step: both are stored in the same")]:
        with pytest.raises(st.DefinitionError, match=why):
            st.stencil(line, rank=2)
    with pytest.raises(st.DefinitionError, match="stored with a scale: beyond its edges"):
        st.stencil('rank = 1\nfields = ["u", "v"]\n[storage]\nu = "u8/2"\n[update]\nv = "u[x-1]"\n'
                   '[boundary]\nx = "neumann(1)"\n')


def test_a_definition_is_written_with_its_storage():
    stencil = st.stencil("v = 2*u[x+1] + 1; storage u = i8/4; storage v = u16 - 0.5", rank=1)
    again = st.stencil(stencil.definition())
    assert again.key == stencil.key and list(again.storages.values()) == ["i8", "u16"]
    assert "u is stored as i8" in stencil.show()
    text = 'rank = 1\nfields = [{}]\n[storage]\nu = "i8/4"\nv = "u16 - 0.5"\n[update]\nv = "2*u[x+1] + 1"\n'
    assert stencil.key == st.stencil(text.format('"v", "u"')).key
    assert stencil.key != st.stencil("v = 2*u[x+1] + 1; storage u = i8/4; storage v = u8 - 0.5", rank=1).key
