"""stencil_tune.torch.propagate: on the GPU where there is one, else on the CPU."""

import gc
import pathlib
import subprocess
import sys
import weakref

import pytest

torch = pytest.importorskip("torch")

import stencil_tune as st  # noqa: E402
import stencil_tune.torch as stt  # noqa: E402
from stencil_tune import models  # noqa: E402
from stencil_tune._gradients.propagation import Propagation  # noqa: E402

HAS_GPU = torch.cuda.is_available()
DEVICE = "cuda" if HAS_GPU else "cpu"
SHAPE, STEPS = (12, 14), 8
SOURCES, RECEIVERS = {"p_next": [(5.25, 6), (7, 7)]}, {"p": [(4, 5.5), (6, 8), (8, 6)]}
BURGERS = "u_next = u - a*u*(u[x+1] - u[x-1]) + b*laplacian(u); a = 0.1; b = 0.05"


@pytest.fixture(scope="module")
def wave():
    return models.acoustic(SHAPE, 10, 2000, layer=3, dtype="f64")


def rand(*shape, seed=1, low=0.0, **more):
    cells = torch.rand(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed)) + low
    return cells.to(DEVICE).requires_grad_(more.get("requires_grad", True))


def shot(wave, v, series, p=None, **more):
    fields = {"v": v} if p is None else {"v": v, "p": p}
    return stt.propagate(wave, fields, steps=STEPS, sources=SOURCES, series=series, receivers=RECEIVERS, **more)


@pytest.mark.parametrize("storage", ["device", "recompute"])
def test_gradcheck(wave, storage):
    def records(v, series, p):
        after = shot(wave, v, series, p, storage=storage)
        return after.records, after.state["p"], after.state["p_prev"]

    v, series, p = rand(*SHAPE, low=0.1) * 0.2, rand(STEPS, 2, seed=2), rand(*SHAPE, seed=3)
    assert torch.autograd.gradcheck(records, (v.detach().requires_grad_(), series, p), fast_mode=True)


@pytest.mark.parametrize("boundary", ["hold", "periodic", "x=clamp,y=zero", "reflect"])
def test_gradcheck_of_coefficients_and_state(boundary):
    burgers = st.stencil(BURGERS, rank=2)

    def run(u, values, series):
        after = stt.propagate(burgers, {"u": u}, steps=4, boundary=boundary, coefficients=values, storage="recompute",
                              sources={"u_next": [(2.5, 3.25)]}, series=series, receivers={"u": [(3, 2.5)]})
        return after.records, after.state["u"]

    values = torch.tensor([0.1, 0.05], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(run, (rand(6, 7), values, rand(4, 1, seed=2)))


def test_what_is_stored_makes_no_difference(wave):
    found = []
    for storage in ("device", "recompute", None):
        v, series = rand(*SHAPE, low=0.1), rand(STEPS, 2, seed=2)
        shot(wave, 0.2 * v, series, storage=storage).records.square().sum().backward()
        found.append((v.grad, series.grad))
    assert found[0][0].abs().max() > 0
    for other in found[1:]:
        torch.testing.assert_close(other, found[0], rtol=1e-12, atol=1e-14)


def test_states_are_freed_with_their_run(wave):
    """References that go round in a circle would hold gigabytes until the garbage collector comes by."""
    kept = weakref.WeakSet()
    forward = Propagation.propagate

    def propagate(self, *arguments):
        after = forward(self, *arguments)
        kept.update(each.untyped_storage() for each in after[2])
        return after

    gc.disable()
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Propagation, "propagate", propagate)
            v, series = rand(*SHAPE, low=0.1), rand(STEPS, 2, seed=2)
            records = shot(wave, 0.2 * v, series, storage="device").records
            assert len(kept) > 0
            records.square().sum().backward()
        del records
        assert len(kept) == 0
    finally:
        gc.enable()


@pytest.mark.parametrize("boundary", ["hold", "periodic", "x=zero,y=hold"])
def test_a_run_that_is_taken_back_keeps_nothing(boundary):
    bare = st.stencil("p_next = 2*p - p_prev + v*laplacian(p)", rank=2)
    found, kept = [], []
    for storage in ("device", "reverse"):
        v, series = rand(*SHAPE, low=0.1), rand(STEPS, 2, seed=2)
        records = shot(bare, 0.2 * v, series, boundary=boundary, storage=storage).records
        kept.append(sum(tensor.numel() for tensor in records.grad_fn.saved_tensors))
        records.square().sum().backward()
        found.append((v.grad, series.grad))
    assert found[0][0].abs().max() > 0
    torch.testing.assert_close(found[1], found[0], rtol=1e-11, atol=1e-13)
    assert kept[0] - kept[1] == (STEPS - 3) * SHAPE[0] * SHAPE[1]
    with pytest.raises(st.ArgumentError, match="cannot be taken back"):
        stt.propagate(st.stencil(BURGERS, rank=2), {"u": rand(6, 7)}, steps=2, storage="reverse").state["u"].sum().backward()


def test_a_linear_run_keeps_nothing():
    heat = st.stencil("u_next = u + 0.1*laplacian(u)", rank=2)
    u = rand(8, 9)
    after = stt.propagate(heat, {"u": u}, steps=5, receivers={"u": [(4, 4.5)]}, storage="device")
    saved = after.records.grad_fn.saved_tensors
    assert [tensor.shape for tensor in saved] == [u.shape]


def test_a_run_is_that_of_a_kernel(wave):
    series = rand(STEPS, 2, requires_grad=False)
    after = stt.propagate(wave, {"v": torch.as_tensor(wave.fields["v"]).to(DEVICE)}, steps=STEPS, sources=SOURCES,
                          series=series, receivers=RECEIVERS)
    arrays = [torch.as_tensor(array).clone().to(DEVICE) for array in wave.fields.values()]
    kernel = st.lookup(wave.stencil, like=arrays[0], steps=STEPS, device=None if HAS_GPU else "cpu")
    points = kernel.place_points(SOURCES, RECEIVERS)
    records = torch.zeros(STEPS, 3, dtype=torch.float64, device=DEVICE)
    kernel.advance(arrays, steps=STEPS, points=points, series=series, records=records)
    torch.testing.assert_close(after.records, records, rtol=1e-12, atol=1e-14)
    torch.testing.assert_close(after.state["p"], dict(zip(wave.stencil.arguments, arrays))["p"], rtol=1e-12, atol=1e-14)
    assert set(after.state) >= {"p", "p_prev"} and not after.records.requires_grad


def test_types_of_fields_and_series():
    wave = models.acoustic(SHAPE, 10, 2000, layer=3)
    v = torch.as_tensor(wave.fields["v"]).to(DEVICE).requires_grad_()
    series = rand(STEPS, 2)  # of f64, which the run takes as f32
    records = shot(wave, v, series).records
    records.sum().backward()
    assert records.dtype == v.grad.dtype == torch.float32 and series.grad.dtype == torch.float64


def test_opcheck(wave):
    call = repr({"stencil": wave.stencil._written, "boundary": "hold", "steps": 4, "sources": SOURCES,
                 "receivers": RECEIVERS, "origin": (0, 0), "step": 0})
    fields = [torch.as_tensor(wave.fields[name]).to(DEVICE) for name in wave.stencil.inputs]
    fields[wave.stencil.inputs.index("v")].requires_grad_()
    series = rand(4, 2)
    for stride in (0, 1, 2):
        torch.library.opcheck(torch.ops.stencil_tune.propagate, (fields, series, None, call, stride))
    fields, series = [field.detach() for field in fields], series.detach()
    made = torch.ops.stencil_tune.propagate(fields, series, None, call, 2)
    states = len(wave.stencil._state)
    torch.library.opcheck(torch.ops.stencil_tune.propagate_backward,
                          (fields, series, None, made[states + 1:], made[:states], made[states], call, 2,
                           [name in ("v", "p") for name in wave.stencil.inputs], False))


def test_compile_keeps_one_graph(wave):
    def loss(v, series):
        return (shot(wave, 0.2 * v, series, storage="recompute").records ** 2).sum()

    given = rand(*SHAPE, low=0.1), rand(STEPS, 2, seed=2)
    wanted = torch.autograd.grad(loss(*given), given)
    compiled = torch.compile(loss, fullgraph=True, backend="inductor" if HAS_GPU else "aot_eager")
    torch.testing.assert_close(torch.autograd.grad(compiled(*given), given), wanted)


def test_refusals(wave):
    v, series = rand(*SHAPE), rand(STEPS, 2)
    for more, words in [({"series": rand(STEPS, 3)}, "series: a tensor of shape"), ({"series": None}, "series: a tensor"),
                        ({"fields": {"w": v}}, "'w' is no field"), ({"fields": {"v": v[1:]}}, "has shape|was looked up"),
                        ({"storage": "disk"}, "storage is"), ({"sources": {"p_next": [(1, 2, 3)]}, "series": rand(STEPS, 1)},
                                                              "positions are"),
                        ({"receivers": {"p": [(40, 2)]}}, "outside"), ({"steps": 0}, "steps"),
                        ({"fields": {"v": v, "ax": rand(SHAPE[1])}}, "its gradient is not known")]:
        given = {"fields": {"v": v}, "steps": STEPS, "sources": SOURCES, "series": series, "receivers": RECEIVERS, **more}
        with pytest.raises(st.ArgumentError, match=words):
            stt.propagate(wave, given.pop("fields"), **given)
    with pytest.raises(st.ArgumentError, match="reads v: give it"):
        stt.propagate(st.stencil("u_next = u + v*laplacian(u)", rank=2), {"u": v}, steps=1)
    (slope,) = torch.autograd.grad(shot(wave, v, series).records.sum(), series, create_graph=True)
    with pytest.raises(st.ArgumentError, match="gradient of a gradient"):
        slope.sum().backward()


@pytest.mark.parametrize("example, sizes", [
    ("fwi", ["--cells", "24", "--iterations", "6", "--shots", "1"]), ("migration", ["--cells", "64", "--shots", "1"]),
    ("source_location", ["--cells", "40"]), ("splitter", ["--scale", "1", "--iterations", "6"])])
def test_examples_find_what_they_look_for(example, sizes):
    """They say so themselves."""
    path = pathlib.Path(__file__).resolve().parents[3] / "examples" / "python" / f"{example}.py"
    done = subprocess.run([sys.executable, path, *([] if HAS_GPU else sizes)], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    assert done.returncode == 0, done.stdout
