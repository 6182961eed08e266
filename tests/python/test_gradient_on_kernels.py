"""Gradients through kernels of the host executor, in fused steps: what tests of the reference do not reach."""

import numpy
import pytest
from device_arrays import aligned
from test_gradient import Numpy

import stencil_tune as st
from stencil_tune import models
from stencil_tune._gradients.propagation import Propagation
from stencil_tune._gradients.run import Run
from stencil_tune._gradients.shot import Shot
from stencil_tune._kernel import Kernel

UPWIND = "u_next = u + alpha * (u[x-1] + 2*u[x+1] + 3*u[y-1] + 2*u[y+1] - 8*u); alpha = 0.0625"
SHAPE = (80, 96)


class DeviceArray(numpy.ndarray):
    """Memory of a GPU that NumPy computes on."""

    @property
    def __cuda_array_interface__(self):
        dense = self.flags.c_contiguous
        return {"shape": self.shape, "typestr": self.dtype.str, "data": (self.ctypes.data, False), "version": 3,
                "strides": None if dense else self.strides}


@pytest.fixture
def ops(gpus):
    class Operations(Numpy):
        kept = []  # their memory is no GPU's once it is freed

        def made(self, values):
            array = gpus.own(aligned(values)).view(DeviceArray)
            self.kept.append(array)
            return array

        def empty(self, like, shape=None):
            return self.made(numpy.full(like.shape if shape is None else shape, numpy.nan))  # what nobody writes shows

        def zeros(self, like, shape):
            return self.made(numpy.zeros(shape))

        def copy(self, array):
            return self.made(array)

        def series(self, like, shape):
            return self.made(numpy.zeros(shape))

    return Operations()


@pytest.mark.parametrize("boundary", ["hold", "x=hold,y=periodic"])
def test_a_run_back_through_held_layers_is_its_transpose_to_the_bit(boundary, ops, gpus, monkeypatch):
    steps = 7  # two launches of three, and one
    stencil = st.stencil(UPWIND, rank=2)
    st.tune(stencil.adjoint(), shape=SHAPE, dtype="f64", boundary=boundary, steps=steps, predict_for="h200", max_trials=1,
            candidates=["temporal.bx32.by1.rx3.pf2.t3"], progress=False)
    steps_of, step = [], Kernel.__call__
    monkeypatch.setattr(Kernel, "__call__", lambda kernel, *arrays, **more: (
        steps_of.append(kernel.shape), step(kernel, *arrays, **more)))
    run = Run(stencil, boundary, steps, ops)
    u, gradient = (ops.made(numpy.random.default_rng(seed).integers(-4, 5, SHAPE).astype(float)) for seed in (1, 2))
    after = run.forward([u], {"alpha": 1})[0]
    copies = gpus.count("copy_boxes")
    assert copies > 0
    back, _ = run.backward([u], [gradient], {"alpha": 1})
    assert float((after * gradient).sum()) == float((u * back[0]).sum())
    assert gpus.count("copy_boxes") == copies, "all layers are zeros from the beginning"
    ends = [(80, 8)] if "periodic" in boundary else [(8, 96), (80, 8)]
    assert steps_of == [shape for shape in ends for _ in range(2)], "once, of the sums of all launches"


@pytest.mark.parametrize("shape", [(3, 3), (4, 7), (9, 5)])
def test_small_grids_are_taken_back_too(shape, ops):
    run = Run(st.stencil(UPWIND, rank=2), "hold", 5, ops)
    u, gradient = (ops.made(numpy.random.default_rng(seed).integers(-4, 5, shape).astype(float)) for seed in (1, 2))
    after = run.forward([u], {"alpha": 1})[0]
    back, _ = run.backward([u], [gradient], {"alpha": 1})
    assert float((after * gradient).sum()) == float((u * back[0]).sum())


def test_layers_that_are_alike_are_not_copied_again(ops, gpus):
    kernel = st.lookup(st.stencil(UPWIND, rank=2), shape=SHAPE, dtype="f64")
    arrays = [ops.made(numpy.random.default_rng(1).random(SHAPE)), ops.made(numpy.zeros(SHAPE))]
    copy = [ops.made(array) for array in arrays]
    kernel.advance(arrays, steps=3)
    copies = gpus.count("copy_boxes")
    after = kernel.advance(arrays, steps=2, same_layers=True)
    assert gpus.count("copy_boxes") == copies
    numpy.testing.assert_array_equal(after, kernel.advance(copy, steps=5))
    with pytest.raises(st.ArgumentError, match="without points"):
        kernel.advance(arrays, steps=1, points=kernel.place_points(), same_layers=True)


@pytest.mark.parametrize("shape", [(13, 15), (9, 24)])
@pytest.mark.parametrize("boundary", ["hold", "periodic"])
def test_kept_states_of_any_grid_are_read_again(shape, boundary, ops, monkeypatch):
    """Those of odd ones are aligned to no more than cells."""
    wave, steps = st.stencil("p_next = 2*p - p_prev + v*laplacian(p)", rank=2), 7
    draw, shot = numpy.random.default_rng(4), Shot({"p_next": [(4.5, 6)]}, {"p": [(5, 7.25), (6, 6)]})
    series, of_records = draw.uniform(-1, 1, (steps, 1)), draw.uniform(-1, 1, (steps, 2))
    fields = {name: draw.uniform(0, 0.25, shape) for name in wave.inputs}

    def gradients(on):
        run = Propagation(wave, boundary, steps, on, shot, on.copy(series), 1)
        inputs = [on.copy(fields[name]) for name in wave.inputs]
        state, _, kept = run.propagate(inputs, None)
        back, _ = run.gradients(inputs, [on.zeros(field, field.shape) for field in state], on.copy(of_records), kept, None,
                                ["v"])
        return back[wave.inputs.index("v")], run.of_series

    runs, through = [], Kernel.advance_through
    monkeypatch.setattr(Kernel, "advance_through", lambda kernel, *arrays, **more: (
        runs.append(more["steps"]), through(kernel, *arrays, **more)))
    for got, wanted in zip(gradients(ops), gradients(Numpy())):
        assert numpy.abs(wanted).max() > 0
        numpy.testing.assert_allclose(got, wanted, rtol=1e-11, atol=1e-13 * numpy.abs(wanted).max())
    assert runs == [steps - 1, steps - 2], "there, but for the last step, and back, but for the first two"


@pytest.mark.parametrize("layer, stride", [("x=10,y=0", 3), ("x=0,y=10", 1)])
def test_a_shot_is_taken_back_zone_by_zone_as_on_the_reference(ops, monkeypatch, layer, stride):
    steps, side = 4, 600  # smaller grids are made at once
    ground = models.acoustic((side, side), 10, 2000, layer=layer, accuracy=2, dtype="f64")
    draw, shot = numpy.random.default_rng(3), Shot({"p_next": [(15.5, 20)]}, {"p": [(20, 21.25), (16, 18)]})
    series, of_records = draw.uniform(-1, 1, (steps, 1)), draw.uniform(-1, 1, (steps, 2))
    launched, advance = [], Kernel.advance
    monkeypatch.setattr(Kernel, "advance", lambda kernel, *arrays, **more: (
        launched.append(kernel), advance(kernel, *arrays, **more)))

    def gradients(on):
        run = Propagation(ground.stencil, "hold", steps, on, shot, on.copy(series), stride)
        inputs = [on.copy(ground.fields[name]) for name in ground.stencil.inputs]
        state, _, kept = run.propagate(inputs, None)
        zeros = [on.zeros(field, field.shape) for field in state]
        back, _ = run.gradients(inputs, zeros, on.copy(of_records), kept, None, ["v"])
        return back[ground.stencil.inputs.index("v")], run.of_series

    for got, wanted in zip(gradients(ops), gradients(Numpy())):
        assert numpy.abs(wanted).max() > 0
        numpy.testing.assert_allclose(got, wanted, rtol=1e-11, atol=1e-13 * numpy.abs(wanted).max())
    assert launched[-1].stencil.name.startswith("adjoint step of ")
    assert any("made in 3 zones" in note for note in launched[-1].evidence.notes)
