"""PyTorch: kernels on tensors, operators with gradients. On the GPU where there is one, else (operators) on the CPU."""

import itertools
import pathlib
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch")

import stencil_tune as st  # noqa: E402
import stencil_tune.torch as stt  # noqa: E402

HAS_GPU = torch.cuda.is_available()
DEVICE = "cuda" if HAS_GPU else "cpu"
gpu = pytest.mark.skipif(not HAS_GPU, reason="no GPU")
HEAT = "u_next = u + alpha * (3*u[x-1] - u[x+2] + 2*u[y-1] + u[y+1] - 5*u); alpha = 0.0625"
REACTION = "a_next = a + 0.1*laplacian(a) - k*a*b^2; b_next = b + 0.05*laplacian(b) + k*a*b^2; k = 0.5"
BOUNDARIES = ["hold", "zero", "clamp", "periodic", "reflect", "x=hold,y=reflect"]


@pytest.fixture(scope="module")
def heat():
    return st.stencil(HEAT, rank=2)


def rand(*shape, dtype=torch.float64, seed=1, **more):
    return torch.rand(*shape, dtype=dtype, generator=torch.Generator().manual_seed(seed)).to(DEVICE).requires_grad_(
        more.get("requires_grad", False))


def heat_by_roll(u, alpha, steps):
    """HEAT in PyTorch, periodic."""
    for _ in range(steps):
        u = u + alpha * (3 * u.roll(1, 1) - u.roll(-2, 1) + 2 * u.roll(1, 0) + u.roll(-1, 0) - 5 * u)
    return u


@gpu
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
def test_a_kernel_on_tensors(dtype):
    u = torch.randint(-4, 4, (40, 50, 60), device="cuda").to(dtype)
    out = torch.full_like(u, 7)
    kernel = st.lookup("v = u[x-1] + 2*u[y+1] - u[z-1]", like=u)
    kernel(u, out)
    wanted = u[1:, :-1, :-1] + 2 * u[1:, 1:, 1:] - u[:-1, :-1, 1:]
    inside = kernel.updated()
    torch.testing.assert_close(out[inside], wanted, rtol=0, atol=0)
    assert (out[0] == 7).all()


@gpu
def test_the_current_stream_and_graphs(heat):
    u, v = rand(256, 512), torch.zeros(256, 512, dtype=torch.float64, device="cuda")
    kernel = st.lookup(heat, like=u, boundary="periodic").prepare()
    stream = torch.cuda.Stream()
    wanted = heat_by_roll(u, 0.0625, 1)
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(100_000_000)
        w = u.clone()
        kernel(w, v)
    assert not stream.query(), "the call does not wait"
    stream.synchronize()
    torch.testing.assert_close(v, wanted)

    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        kernel(u, v)
    v.zero_()
    graph.replay()
    torch.cuda.synchronize()
    torch.testing.assert_close(v, wanted)


@gpu
def test_views_and_refusals(heat):
    room = torch.rand(64, 128, device="cuda")
    out = torch.zeros_like(room)
    kernel = st.lookup(heat, like=room[:, :100], boundary="periodic")
    kernel(room[:, :100], out[:, :100])
    torch.testing.assert_close(out[:, :100], heat_by_roll(room[:, :100], 0.0625, 1))
    assert not out[:, 100:].any()
    with pytest.raises(st.ArgumentError, match="host memory"):
        kernel(room[:, :100].cpu(), out[:, :100])
    with pytest.raises(st.ArgumentError, match="f64"):
        kernel(room[:, :100].double(), out[:, :100])
    with pytest.raises(st.ArgumentError, match="requires a gradient"):
        kernel(room[:, :100].clone().requires_grad_(), out[:, :100])
    with pytest.raises(st.ArgumentError, match="overlap"):
        kernel(room[:, :100], room[:, :100])


@gpu
def test_points_record_the_same_in_fused_and_single_steps():
    wave = st.stencil(pathlib.Path(__file__).resolve().parents[3] / "corpus" / "acoustic3d_o2.toml")
    found = []
    for steps in (1, 40):
        kernel = st.lookup(wave, shape=(64, 80, 96), dtype="f32", steps=steps, device=0)
        points = kernel.place_points({"p_next": [(20.3, 40, 50.5)]}, {"p": [(22, 41.5, 48.25), (30, 30, 30)]}, every=2)
        p, q, v, out = (torch.zeros(64, 80, 96, device="cuda") for _ in range(4))
        v += 1
        series = torch.sin(torch.arange(40, device="cuda").float() / 4)[:, None].contiguous()
        records = torch.full((20, 2), -1.0, device="cuda")
        kernel.advance([p, q, v, out], steps=40, points=points, series=series, records=records)
        found.append(records)
    assert found[0][-1, 0] != 0
    torch.testing.assert_close(found[0], found[1])


def test_the_operator_is_the_run(heat):
    u = rand(16, 24)
    before = u.clone()
    later = stt.advance(heat, u, steps=5, boundary="periodic")
    torch.testing.assert_close(later, heat_by_roll(u, 0.0625, 5))
    torch.testing.assert_close(stt.step(heat, u, boundary="periodic", coefficients={"alpha": 0.5}),
                               heat_by_roll(u, 0.5, 1))
    assert torch.equal(u, before)
    held = stt.step(heat, u)
    assert torch.equal(held[0], u[0]) and torch.equal(held[:, -2:], u[:, -2:])


@pytest.mark.parametrize("boundary", BOUNDARIES)
@pytest.mark.parametrize("steps", [1, 3])
def test_gradcheck(heat, boundary, steps):
    u = rand(6, 7, requires_grad=True)
    alpha = torch.tensor([0.0625], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(
        lambda u, alpha: stt.advance(heat, u, steps=steps, boundary=boundary, coefficients=alpha), (u, alpha))


def test_gradcheck_of_two_fields():
    reaction = st.stencil(REACTION, rank=2)
    a, b = rand(5, 6, requires_grad=True), rand(5, 6, seed=2, requires_grad=True)
    k = torch.tensor([0.5], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(
        lambda a, b, k: stt.advance(reaction, a, b, steps=2, boundary="hold", coefficients=k), (a, b, k))


def test_gradients_are_pytorchs_own(heat):
    u = rand(12, 20, requires_grad=True)
    stt.advance(heat, u, steps=7, boundary="periodic").square().sum().backward()
    own = u.detach().clone().requires_grad_()
    heat_by_roll(own, 0.0625, 7).square().sum().backward()
    torch.testing.assert_close(u.grad, own.grad)


def test_opcheck(heat):
    name = heat._written
    alpha = torch.tensor([0.0625], dtype=torch.float64, requires_grad=True)
    torch.library.opcheck(torch.ops.stencil_tune.advance, ([rand(6, 8, requires_grad=True)], alpha, name, "hold", 2))
    torch.library.opcheck(torch.ops.stencil_tune.advance, ([rand(6, 8)], None, name, "periodic", 1))
    torch.library.opcheck(torch.ops.stencil_tune.advance_backward,
                          ([rand(6, 8)], [rand(6, 8)], alpha.detach(), name, "hold", 2, [True], True))
    torch.library.opcheck(torch.ops.stencil_tune.run, ([rand(6, 8)], alpha.detach(), name, "hold", 2))
    torch.library.opcheck(torch.ops.stencil_tune.run_one, (rand(6, 8), None, name, "hold", 2))


@pytest.mark.parametrize("boundary", BOUNDARIES)
@pytest.mark.parametrize("steps", [1, 5])
def test_gradients_of_coefficients_alone(heat, boundary, steps):
    u, alpha = rand(6, 7), torch.tensor([0.0625], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(
        lambda alpha: stt.advance(heat, u, steps=steps, boundary=boundary, coefficients=alpha), (alpha,))


def test_gradients_through_several_stages():
    stages = st.stencil("""
rank = 2
fields = ["p", "v", "flux", "p_next"]
[coefficients]
a = 0.25
[[stage]]
flux = "v * (p[x+1] - p) * p"
[[stage]]
p_next = "p + a * (flux - flux[x-1]) + a^2 * flux[y+1]"
[rotate]
p_next = "p"
""")
    p, v = rand(6, 7, requires_grad=True), rand(6, 7, seed=2, requires_grad=True)
    a = torch.tensor([0.25], dtype=torch.float64, requires_grad=True)
    for boundary in ("hold", "periodic"):
        assert torch.autograd.gradcheck(
            lambda p, v, a, boundary=boundary: stt.advance(stages, p, v, steps=3, boundary=boundary, coefficients=a),
            (p, v, a))


def test_gradcheck_where_cells_are_not_alike():
    walls = st.stencil('rank = 2\nfields = ["u", "psi(y in layer)", "u_next", "psi_next(y in layer)"]\nlayer = "y=2"\n'
                       '[update]\nu_next = "0.5*u + sin(x)*u[x-1] - 0.25*psi[y+1]"\npsi_next = "0.5*psi + u[y-1]"\n'
                       '[rotate]\nu_next = "u"\npsi_next = "psi"\n[boundary]\nx = "odd"\n')
    assert torch.autograd.gradcheck(lambda u, psi: stt.advance(walls, u, psi, steps=5),
                                    (rand(6, 7, requires_grad=True), rand(6, 7, seed=2, requires_grad=True)))


def test_calls_that_pytorch_watches_are_operators(heat):
    u = rand(6, 8)
    plain = stt.advance(heat, u, steps=2)
    seen = []

    class Watch(torch.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            seen.append(str(function))
            return function(*args, **(kwargs or {}))

    with Watch():
        watched = stt.advance(heat, u, steps=2)
    assert any("stencil_tune" in name for name in seen)
    compiled = torch.compile(lambda field: stt.advance(heat, field, steps=2), fullgraph=True)(u)
    for other in (watched, compiled):
        torch.testing.assert_close(other, plain, rtol=0, atol=0)


@pytest.mark.parametrize("boundary", ["hold", "periodic"])
@pytest.mark.parametrize("coefficients", [None, {"alpha": 0.125}])
def test_calls_like_earlier_ones_compute_the_same(heat, boundary, coefficients):
    """They go short ways."""
    for seed in range(3):
        u = rand(40, 48, seed=seed)
        for steps in (1, 3):
            after = stt.advance(heat, u, steps=steps, boundary=boundary, coefficients=coefficients)
            wanted = stt.advance(heat, u.cpu(), steps=steps, boundary=boundary, coefficients=coefficients)
            torch.testing.assert_close(after.cpu(), wanted, rtol=1e-12, atol=1e-12)


def test_what_later_stages_read_beyond_the_updated_cells_is_the_states():
    stages = st.stencil("""
rank = 2
fields = ["p", "flux", "p_next"]
[[stage]]
flux = "p[x+1] - p"
[[stage]]
p_next = "p + flux"
[rotate]
p_next = "p"
""")
    p = rand(6, 7)
    first = stt.advance(stages, p, steps=1)
    for _ in range(3):  # the second call and later ones go the short way, into memory that was used
        spoilt = [torch.full_like(p, float("nan")) for _ in range(8)]
        del spoilt
        torch.testing.assert_close(stt.advance(stages, p, steps=1), first, rtol=0, atol=0)
    torch.testing.assert_close(first[:, -1], 2 * p[:, -1], rtol=0, atol=0)


def test_gradients_of_gradients(heat):
    wave = st.stencil("p_next = 2*p - q + 0.1*laplacian(p); q_next = p", rank=2)
    for boundary in ("hold", "periodic", "reflect"):
        assert torch.autograd.gradgradcheck(
            lambda u, boundary=boundary: stt.advance(heat, u, steps=3, boundary=boundary), rand(6, 7, requires_grad=True))
        assert torch.autograd.gradgradcheck(
            lambda p, q, boundary=boundary: stt.advance(wave, p, q, steps=2, boundary=boundary),
            (rand(5, 6, requires_grad=True), rand(5, 6, seed=2, requires_grad=True)))
    burgers = st.stencil("u_next = u - 0.1*u*(u[x+1] - u[x-1])", rank=2)
    u = rand(6, 7, requires_grad=True)
    (slope,) = torch.autograd.grad(stt.step(burgers, u).sum(), u, create_graph=True)
    with pytest.raises(st.ArgumentError, match="gradient of a gradient"):
        slope.sum().backward()


def test_compile_keeps_one_graph(heat):
    def loss(u, alpha):
        return (stt.advance(heat, 2 * u, steps=3, boundary="hold", coefficients=alpha).sin() ** 2).sum()

    u, alpha = rand(8, 12, requires_grad=True), torch.tensor([0.0625], dtype=torch.float64, requires_grad=True)
    wanted = torch.autograd.grad(loss(u, alpha), (u, alpha))
    # Without a GPU the compilers behind it are not looked at.
    compiled = torch.compile(loss, fullgraph=True, backend="inductor" if HAS_GPU else "aot_eager")
    got = torch.autograd.grad(compiled(u, alpha), (u, alpha))
    torch.testing.assert_close(got, wanted)


def test_half_types_run_as_tensors_do(heat):
    u = rand(16, 24, dtype=torch.float32).half().requires_grad_()
    stt.step(heat, u, boundary="zero").float().sum().backward()
    assert u.grad.dtype == torch.float16


def test_a_definition_outlives_its_file(tmp_path):
    path = tmp_path / "line.toml"
    path.write_text('rank = 1\nfields = ["u", "v"]\n[update]\nv = "u[x+1]"\n[rotate]\nv = "u"\n')
    line = st.stencil(path)
    path.unlink()
    assert torch.equal(stt.step(line, torch.arange(4.0, device=DEVICE), boundary="periodic"),
                       torch.tensor([1.0, 2, 3, 0], device=DEVICE))


def test_refusals(heat):
    with pytest.raises(st.ArgumentError, match="reads 1 fields, u; 2 were given"):
        stt.step(heat, rand(4, 4), rand(4, 4))
    with pytest.raises(st.ArgumentError, match="propagate takes them"):
        stt.step(st.stencil("u_next = u*dy + u[x+1]; dy(y)", rank=2), rand(4), rand(4, 4))
    with pytest.raises(st.ArgumentError, match="has 1, alpha"):
        stt.step(heat, rand(4, 4), coefficients=torch.zeros(3))
    right = {"stencil": heat, "field": rand(6, 8), "steps": 1, "boundary": "hold", "coefficients": None}
    for argument, wrong in itertools.product(right, [(), [], object(), 2.5, "x", -1, 2**40, {"alpha": torch.ones(3)}]):
        given = {**right, argument: wrong}
        with pytest.raises(st.ArgumentError):
            stt.advance(given.pop("stencil"), given.pop("field"), **given)


def test_the_example_learns_a_wave_speed():
    example = pathlib.Path(__file__).resolve().parents[3] / "examples" / "python" / "wave_speed.py"
    done = subprocess.run([sys.executable, example, "--cells", "64" if HAS_GPU else "16"], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    assert done.returncode == 0, done.stdout


@gpu
def test_the_first_launch_is_on_the_current_stream_too(heat):
    kernel = st.lookup(heat, shape=(64, 128), dtype="f64", boundary="periodic", device=0).prepare()
    code = ("import torch, stencil_tune as st; s = torch.cuda.Stream(); u = torch.rand(64, 128, device='cuda'); "
            "v = torch.zeros_like(u); k = st.lookup('heat2d', shape=(64, 128), device=0).prepare(); "
            "torch.cuda.synchronize(); torch.cuda.set_stream(s); torch.cuda._sleep(500_000_000); k(u, v); "
            "assert not s.query(); w = torch.cuda.ExternalStream(0).query(); s.synchronize(); assert v.any(); assert w")
    done = subprocess.run([sys.executable, "-c", code], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          check=False)
    assert done.returncode == 0, done.stdout
    assert kernel.dims == (128, 64)
