"""Ready equations over long runs: no layer lets waves grow, and a free surface carries Rayleigh's wave at its speed."""

import numpy
import pytest

import stencil_tune as st
from stencil_tune import models

STEPS = 20000
LIGHT = 299792458.0
RANDOM = numpy.random.default_rng(1)
SPEED = 1 + 0.5 * RANDOM.random((26, 26))  # contrasts from cell to cell, in the layers too
SEABED = numpy.where(numpy.arange(26)[:, None] < 13, 0, 0.5)  # of S waves, below water

EQUATIONS = {
    "acoustic, accuracy 2": (lambda how: models.acoustic((26, 26), 1, SPEED, accuracy=2, **how), "p"),
    "acoustic, accuracy 8": (lambda how: models.acoustic((30, 30), 1, 1, accuracy=8, **how), "p"),
    "maxwell tm": (lambda how: models.maxwell((26, 26), LIGHT, 1 + SPEED, conductivity=0, **how), "ez"),
    "maxwell te": (lambda how: models.maxwell((26, 26), LIGHT, SPEED, polarization="te", accuracy=4, **how), "hz"),
    "drude": (lambda how: models.drude((26, 26), LIGHT, 0.5 * (SPEED > 1.4), 0.01, **how), "ez"),
    "elastic": (lambda how: models.elastic((26, 26), 1, SPEED, 0.5 * SPEED, 1 + SPEED, **how), "vx"),
    "elastic, free surface": (lambda how: models.elastic((26, 26), 1, 1, 0.5, 1, free_surface=True, **how), "vy"),
    "elastic, water above": (lambda how: models.elastic((26, 26), 1, 1 + SEABED, SEABED, 1 + SEABED, free_surface=True,
                                                        accuracy=2, **how), "vy"),
    "viscoacoustic": (lambda how: models.viscoacoustic((26, 26), 1, SPEED, 1, 20, 0.1, **how), "p"),
    "shallow_water": (lambda how: models.shallow_water((26, 26), 300, 1e4 * SPEED, **how), "eta"),
}


@pytest.mark.parametrize("name", EQUATIONS)
def test_is_stable(name):
    """Noise dies away, or stands still as eddies in a fluid do; nothing grows."""
    make, field = EQUATIONS[name]
    model = make({"layer": 8, "dtype": "f64"})
    shape = model.fields[field].shape
    model.fields[field][6:-6, 6:-6] = RANDOM.standard_normal((shape[0] - 12, shape[1] - 12))
    arrays = list(model.fields.values())
    kernel = st.lookup(model.stencil, like=model.fields[field], device="cpu")
    left = []
    for _ in range(4):
        kernel.advance(arrays, steps=STEPS // 4)
        left.append(max(numpy.abs(array).max() for array, what in zip(arrays, model.fields) if what in model.receivers))
    assert left[-1] < min(3, 1.5 * left[0]), left


def test_rayleighs_wave_keeps_its_speed():
    """0.9194 of the S wave's in a Poisson solid (Lord Rayleigh, 1885)."""
    shear = 3**-0.5
    ground = models.elastic((50, 190), 1, 1, shear, 1, free_surface=True, layer="x=20,y=0:20", dtype="f64")
    steps = 620
    phase = numpy.pi * (numpy.arange(steps) * ground.dt / 30 - 1.5)
    kernel = st.lookup(ground.stencil, like=ground.fields["vx"], device="cpu")
    points = kernel.place_points({"vy_next": [(0, 30)]}, {"vy": [(0, 90), (0, 160)]})
    records = numpy.empty((steps, 2))
    kernel.advance(list(ground.fields.values()), steps=steps, points=points, records=records,
                   series=((1 - 2 * phase**2) * numpy.exp(-phase**2))[:, None])
    near, far = (numpy.argmax(numpy.abs(records[:, i])) for i in (0, 1))
    assert abs(70 / ((far - near) * ground.dt) / (0.9194 * shear) - 1) < 0.02
