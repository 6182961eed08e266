"""Gradients through runs, on arrays of NumPy and the reference: dot products and differences."""

import itertools

import numpy
import pytest

import stencil_tune as st
from stencil_tune._gradients.edges import edges_of, shell
from stencil_tune._gradients.padding import ArrayOperations
from stencil_tune._gradients.run import Run
from stencil_tune._reference import ReferenceKernel

SHAPE = (7, 9)
HEAT = "u_next = u + alpha * (3*u[x-1] - u[x+2] + 2*u[y-1] + u[y+1] - 5*u); alpha = 0.25"
WAVE = """
rank = 2
fields = ["p", "p_prev", "v", "p_next"]
[coefficients]
c2 = 0.25
[update]
p_next = "2*p - p_prev + c2 * v * laplacian(p)"
[rotate]
p_next = "p"
p = "p_prev"
"""
TWO_STAGES = """
rank = 2
fields = ["p", "q", "v", "flux", "p_next", "q_next"]
[coefficients]
a = 0.25
b = 0.5
[[stage]]
flux = "v * (p[x+1] - p) * p"
q_next = "q + b * (p[y+1] - p[y-1])"
[[stage]]
p_next = "p + a * (flux - flux[x-1]) + b * q_next[y+1] * q"
[rotate]
p_next = "p"
q_next = "q"
[hold]
flux = "p"
"""
SYMMETRIC = "u_next = u + alpha * laplacian(u); alpha = 0.25"
REACTION = "a_next = a + 0.1*laplacian(a) - k*a*b^2; b_next = b + 0.05*laplacian(b) + k*a*b^2; k = 0.5"


class Numpy(ArrayOperations):
    def empty(self, like, shape=None):
        return numpy.full(like.shape if shape is None else shape, numpy.nan)  # what nobody writes shows

    def zeros(self, like, shape):
        return numpy.zeros(shape)

    def copy(self, array):
        return array.copy()

    def total(self, array):
        return array.sum()

    def series(self, like, shape):
        return numpy.zeros(shape)

    def numbers(self, like, values):
        return numpy.array(values)

    def add_at(self, array, places, values):
        numpy.add.at(array.reshape(-1), places, values)


def random(seed, low=0.5, high=1.5):
    return numpy.random.default_rng(seed).uniform(low, high, SHAPE)


def integers(seed):
    return numpy.random.default_rng(seed).integers(-4, 5, SHAPE).astype(float)


def dot(a, b):
    return float(sum((x * y).sum() for x, y in zip(a, b)))


@pytest.mark.parametrize("boundary", ["periodic", "zero", "hold", "clamp", "reflect", "x=hold,y=clamp",
                                      "x=reflect,y=periodic"])
@pytest.mark.parametrize("steps", [1, 3])
def test_a_linear_runs_adjoint_is_its_transpose_to_the_bit(boundary, steps):
    run = Run(st.stencil(HEAT, rank=2), boundary, steps, Numpy())
    u, gradient = integers(1), integers(2)
    before = u.copy(), gradient.copy()
    back, _ = run.backward([u], [gradient], {"alpha": 2})
    assert dot(run.forward([u], {"alpha": 2}), [gradient]) == dot([u], back)
    numpy.testing.assert_array_equal((u, gradient), before)


@pytest.mark.parametrize("steps", [2, 3])
@pytest.mark.parametrize("boundary", ["hold", "x=hold,y=periodic", "x=zero,y=hold"])
def test_fused_steps_go_back_through_held_layers(boundary, steps, monkeypatch):
    """Beside them the steps between are made by sums of the ends of each axis."""
    monkeypatch.setattr(ReferenceKernel, "fused_steps", 3)
    shapes = []
    call = ReferenceKernel.__call__

    def spy(kernel, *arrays, **more):
        shapes.append(kernel.shape)
        call(kernel, *arrays, **more)

    monkeypatch.setattr(ReferenceKernel, "__call__", spy)
    u, gradient = (numpy.random.default_rng(seed).integers(-4, 5, (60, 70)).astype(float) for seed in (1, 2))
    for run_steps in (steps, 2 * steps + 1):
        run = Run(st.stencil(SYMMETRIC, rank=2), boundary, run_steps, Numpy())
        back, _ = run.backward([u], [gradient], {"alpha": 2})
        assert dot(run.forward([u], {"alpha": 2}), [gradient]) == dot([u], back)
        width = 2 * (1 + min(3, run_steps))
        ends = [(width, 70), (60, width)]
        held = [shape for shape, edge in zip(ends, edges_of(run.stencil, boundary, u.shape)) if sum(edge.held)]
        assert held and all(shape in shapes for shape in held)


def test_the_order_of_a_definitions_fields_makes_no_difference():
    listed = 'fields = ["p", "q", "v", "flux", "p_next", "q_next"]'
    turned = st.stencil(TWO_STAGES.replace(listed, 'fields = ["q_next", "flux", "p", "p_next", "v", "q"]'))
    given, gradients = {name: random(seed) for seed, name in enumerate("pqv")}, [random(3), random(4)]
    runs = [Run(each, "periodic", 2, Numpy()) for each in (st.stencil(TWO_STAGES), turned)]
    assert runs[1].stencil.inputs == ("p", "v", "q")
    forward, back = zip(*((run.forward([given[name] for name in run.stencil.inputs], None),
                           dict(zip(run.stencil.inputs, run.backward([given[name] for name in run.stencil.inputs],
                                                                     gradients, None)[0]))) for run in runs))
    for one, other in [*zip(*forward), *((back[0][name], back[1][name]) for name in given)]:
        numpy.testing.assert_allclose(one, other, rtol=1e-12)


def test_a_shell_is_the_layers_beside_those_held():
    edges = edges_of(st.stencil(SYMMETRIC, rank=2), "x=hold,y=hold", (8, 9))
    cells = numpy.zeros((8, 9), int)
    for times in (0, 1, 2):
        for region in shell(edges, times):
            cells[region] += 10**times
    assert cells[0].tolist() == [1] * 9 and cells[:, -1].tolist() == [1] * 8
    assert cells[1].tolist() == [1, *[110] * 7, 1] and cells[2].tolist() == [1, 110, *[100] * 5, 110, 1]
    assert cells[3].tolist() == [1, 110, 100, 0, 0, 0, 100, 110, 1]


@pytest.mark.parametrize("definition", [SYMMETRIC, REACTION, "u_next = u + c*sin(u[x-1]*d) + d; c = 0.25; d = 0.5"])
@pytest.mark.parametrize("boundary", ["periodic", "hold", "x=clamp,y=zero", "reflect"])
def test_coefficients_alone_take_no_checkpoints(definition, boundary, monkeypatch):
    run = Run(st.stencil(definition, rank=2), boundary, 5, Numpy())
    inputs = [random(i) for i in range(len(run.state))]
    gradients = [integers(10 + i) for i in range(len(run.state))]
    _, by_checkpoints = run._step_by_step(inputs, gradients, None, True, {})
    monkeypatch.setattr(Run, "_states_from_the_last", None)
    back, total = run.backward(inputs, gradients, None, for_coefficients=True, wanted=())
    assert back == [None] * len(inputs)
    assert total == {name: pytest.approx(value, rel=1e-12) for name, value in by_checkpoints.items()}


@pytest.mark.parametrize("definition", [WAVE, REACTION, TWO_STAGES])
@pytest.mark.parametrize("boundary", ["periodic", "hold", "x=clamp,y=zero", "reflect"])
def test_gradients_are_differences(definition, boundary):
    stencil = st.stencil(definition, rank=2)
    run = Run(stencil, boundary, 5, Numpy())
    inputs = [random(i) for i in range(len(stencil.inputs))]
    gradients = [integers(10 + i) for i in range(len(run.state))]
    back, of_coefficients = run.backward(inputs, gradients, None, for_coefficients=True)

    def loss(fields, coefficients=None):
        return dot(run.forward(fields, coefficients), gradients)

    step = 1e-6
    for i, gradient in enumerate(back):
        direction = integers(20 + i)
        moved = [[field + by * direction if j == i else field for j, field in enumerate(inputs)]
                 for by in (step, -step)]
        assert (loss(moved[0]) - loss(moved[1])) / (2 * step) == pytest.approx(dot([direction], [gradient]), rel=1e-6)
    for name, value in stencil.coefficients.items():
        slope = (loss(inputs, {name: value + step}) - loss(inputs, {name: value - step})) / (2 * step)
        assert slope == pytest.approx(of_coefficients[name], rel=1e-6)


PLACED = """
rank = 2
fields = ["d(y)", "w(t)", "u", "u_next"]
[coefficients]
k = 0.5
[update]
u_next = "u + k*sin(x)*u[x-1] + (1 + y_before[y-1])*u[y+1]*d[y+2] + w*random(3)*u[x+2] + 0.1*x_after[x+1]*u*u - k*u[x-1]^2"
[rotate]
u_next = "u"
"""


@pytest.mark.parametrize(("boundary", "words"), [
    *((boundary, "") for boundary in ("periodic", "hold", "zero", "x=clamp,y=reflect", "x=hold,y=clamp")),
    ("hold", '[boundary]\nx = "odd"\ny.low = "robin(1, k, 0.25)"\ny.high = "zero"\n'),
    ("y=zero", '[boundary]\nx = "dirichlet(k)"\n')])
def test_weights_are_those_of_the_cell_that_read(boundary, words):
    run = Run(st.stencil(PLACED + words), boundary, 3, Numpy(), origin=(4, -2), first=2)
    d, w = random(5)[:, 0].copy(), random(6)[0, :5]
    u, gradient, direction = random(1), integers(2), integers(3)
    back, of_coefficients = run.backward([d, w, u], [gradient], None, for_coefficients=True)

    def loss(by, coefficients=None):
        return dot(run.forward([d, w, u + by * direction], coefficients), [gradient])

    step = 1e-6
    assert (loss(step) - loss(-step)) / (2 * step) == pytest.approx(dot([direction], [back[2]]), rel=1e-6)
    slope = (loss(0, {"k": 0.5 + step}) - loss(0, {"k": 0.5 - step})) / (2 * step)
    assert slope == pytest.approx(of_coefficients["k"], rel=1e-6)


def test_runs_of_all_lengths_meet_their_checkpoints():
    stencil = st.stencil(REACTION, rank=2)
    inputs, gradients = [random(1), random(2)], [integers(3), integers(4)]
    for steps in (1, 2, 4, 7):
        whole, _ = Run(stencil, "periodic", steps, Numpy()).backward(inputs, gradients, None)
        single = Run(stencil, "periodic", 1, Numpy())
        states = list(itertools.accumulate(range(steps - 1), lambda state, _: single.forward(state, None),
                                           initial=inputs))
        back = gradients
        for state in reversed(states):
            back, _ = single.backward(state, back, None)
        numpy.testing.assert_allclose(whole, back, rtol=1e-14)


def test_what_has_no_gradient_says_so():
    with pytest.raises(st.ArgumentError, match="no rotation"):
        Run(st.stencil("w = u[x-1] + v", rank=2), "hold", 1, Numpy())
    with pytest.raises(st.Error, match="tangents are known"):
        st.stencil("u_next = a*u + x; a = 1", rank=2).tangent("a")
