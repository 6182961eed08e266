"""Arrays of fields in layers that hold the layers alone, beside those of the whole grid."""

import numpy
import pytest
from device_arrays import CudaArray, aligned, host

import stencil_tune as st
from stencil_tune import models

LAYER, STEPS = 12, 5
SHAPE = 96, 110


def slabs_of(kernel, name, cells):
    """What the kernel's array holds of the cells on the grid."""
    shape = cells.shape if name in kernel.stencil.profiles else kernel.shape_of(name)
    for axis, (n, cells_there) in enumerate(zip(cells.shape, shape)):
        if cells_there < n:
            low, high = numpy.split(cells, [LAYER], axis)[0], numpy.split(cells, [n - LAYER], axis)[1]
            padding = list(shape)
            padding[axis] = cells_there - 2*LAYER
            return numpy.concatenate([low, numpy.zeros(padding, cells.dtype), high], axis)
    return cells


def test_a_run_a_measure_and_a_checkpoint_are_those_of_whole_arrays(where, tmp_path):
    device, make = where
    wave = models.acoustic(SHAPE, spacing=10.0, velocity=2000.0, layer=LAYER)
    draw = numpy.random.default_rng(1)
    fields = {name: cells if name in wave.stencil.profiles or name == "v" else
              draw.uniform(-1, 1, cells.shape).astype(cells.dtype) for name, cells in wave.fields.items()}
    whole, slabs = (st.lookup(wave.stencil, shape=SHAPE, steps=STEPS, device=device, slabs=alone)
                    for alone in (False, True))
    runs = []
    for kernel in (whole, slabs):
        arrays = [make(slabs_of(kernel, name, fields[name])) for name in kernel.stencil.arguments]
        kernel.advance(arrays, steps=STEPS)
        runs.append(arrays)
    in_layers = 0
    for name, of_grid, cells_there in zip(whole.stencil.arguments, *runs):
        if name in wave.stencil.inputs:
            numpy.testing.assert_array_equal(host(cells_there), slabs_of(slabs, name, host(of_grid)), name)
            in_layers += host(cells_there).size < host(of_grid).size
    assert in_layers == len([name for name in wave.stencil.layer_fields if name in wave.stencil.inputs]) > 0

    st.save_run(tmp_path / "half.npz", slabs, runs[1], steps=STEPS)
    others = [make(numpy.full_like(host(array), 7)) for array in runs[1]]
    assert st.load_run(tmp_path / "half.npz", slabs, others) == STEPS
    for name, array, other in zip(slabs.stencil.arguments, runs[1], others):
        if name in wave.stencil.inputs:
            numpy.testing.assert_array_equal(host(other), host(array), name)
    with pytest.raises(st.ArgumentError, match="slabs"):
        st.load_run(tmp_path / "half.npz", whole, runs[0])


def test_measures_of_slabs(where):
    device, make = where
    definition = """
rank = 2
fields = ["u", "m(x in layer)", "u_next", "m_next(x in layer)"]
[update]
u_next = "0.5*u + m[x-1]"
m_next = "0.5*m + 0.25*u"
[rotate]
u_next = "u"
m_next = "m"
[measure]
most = "max(abs(m))"
all = "sum(u*m[x+1])"
"""
    stencil = st.stencil(definition).with_layer(f"x={LAYER}")
    cells = numpy.random.default_rng(2).uniform(-1, 1, (2, *SHAPE))
    measured = []
    for slabs in (False, True):
        kernel = st.lookup(stencil, shape=SHAPE, dtype="f64", device=device, slabs=slabs)
        fields = {"u": cells[0], "m": cells[1], "u_next": cells[0], "m_next": cells[1]}
        measured.append(kernel.measure([make(slabs_of(kernel, name, fields[name])) for name in stencil.arguments]))
    assert measured[0] == pytest.approx(measured[1], rel=1e-13)
    assert measured[0]["most"] < 1


def test_slabs_of_fields_that_are_stored_in_types_of_their_own(where):
    device, make = where
    definition = """
rank = 2
fields = ["u", "m(x in layer)", "k(y in layer)", "u_next", "m_next(x in layer)"]
[storage]
m = "i16/100"
m_next = "i16/100"
k = "u8/255"
[update]
u_next = "0.5*u + m[x-1] - 0.25*k[y+1]*u"
m_next = "0.5*m + 0.25*u"
[rotate]
u_next = "u"
m_next = "m"
"""
    stencil = st.stencil(definition).with_layer(f"x={LAYER},y={LAYER}")
    draw = numpy.random.default_rng(3)
    u, m = draw.uniform(-1, 1, SHAPE).astype("f4"), draw.integers(-100, 101, SHAPE).astype("i2")
    fields = {"u": u, "m": m, "k": draw.integers(0, 256, SHAPE).astype("u1"), "u_next": u, "m_next": m}
    whole, slabs = (st.lookup(stencil, shape=SHAPE, dtype="f32", steps=STEPS, device=device, slabs=alone)
                    for alone in (False, True))
    assert slabs.shape_of("k") == (2*LAYER, SHAPE[1])
    runs = []
    for kernel in (whole, slabs):
        runs.append([make(slabs_of(kernel, name, fields[name])) for name in stencil.arguments])
        kernel.advance(runs[-1], steps=STEPS)
    for name, of_grid, cells_there in zip(stencil.arguments, *runs):
        if name in stencil.inputs:
            rounding = 1e-5 if name == "u" else 0
            numpy.testing.assert_allclose(host(cells_there), slabs_of(slabs, name, host(of_grid)), rounding, rounding, err_msg=name)


def test_shapes_and_what_does_not_fit(gpus):
    stencil = st.stencil("u_next = u + dz*psi[x-1]; psi(x in layer); dz(z)", rank=3).with_layer("x=20:10,y=5")
    kernel = st.lookup(stencil, shape=(30, 40, 200), slabs=True)
    assert kernel.shape_of("u") == (30, 40, 200)
    assert kernel.shape_of("psi") == (30, 40, 200 - 168)
    assert kernel.shape_of("dz") == (30,)
    with pytest.raises(st.ArgumentError, match="no field"):
        kernel.shape_of("v")
    assert st.lookup(stencil, shape=(30, 40, 200)).shape_of("psi") == (30, 40, 200)

    def array(*shape):
        return CudaArray(gpus.own(aligned(numpy.zeros(shape, "f4"))))

    fitting = {"u": array(30, 40, 200), "psi": array(30, 40, 32), "dz": array(30), "u_next": array(30, 40, 200)}
    kernel(**fitting)
    with pytest.raises(st.ArgumentError, match=r"psi has shape \(30, 40, 200\), .* \(30, 40, 32\)"):
        kernel(**{**fitting, "psi": array(30, 40, 200)})
    with pytest.raises(st.Error, match="without slabs"):
        kernel.export()
