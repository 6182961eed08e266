"""Gradients through runs, on arrays of NumPy and the reference: dot products and differences."""

import itertools

import numpy
import pytest

import stencil_tune as st
from stencil_tune._gradient import ArrayOperations, Run

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
REACTION = "a_next = a + 0.1*laplacian(a) - k*a*b^2; b_next = b + 0.05*laplacian(b) + k*a*b^2; k = 0.5"


class Numpy(ArrayOperations):
    def empty(self, like):
        return numpy.full(like.shape, numpy.nan)  # what nobody writes shows

    def zeros(self, like, shape):
        return numpy.zeros(shape)

    def copy(self, array):
        return array.copy()

    def total(self, array):
        return array.sum()


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


@pytest.mark.parametrize("definition", [WAVE, REACTION])
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
    two = st.stencil('rank = 1\nfields = ["a", "b"]\n[[stage]]\nb = "a[x-1]"\n[[stage]]\na = "b[x+1]"\n')
    with pytest.raises(st.ArgumentError, match="2 stages"):
        Run(two, "hold", 1, Numpy()).backward([random(1)[0]], [random(2)[0]], None)
