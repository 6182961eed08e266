"""Equations that are ready to run, with absorbing layers: definitions, profiles, coefficients and a stable time step.

>>> from stencil_tune import models
>>> wave = models.acoustic((300, 400), spacing=10.0, velocity=2000.0)
>>> wave.stencil.layer_fields["psi_x_p"], wave.receivers, wave.fields["bx"].shape
('x', ('p',), (400,))

Every equation takes these arguments and returns a `Model`. docs/python.md has an example.

Args:
    shape: cells, (z, y, x) as arrays have them; two axes are y and x.
    spacing: size of a cell, one number or one an axis, (z, y, x).
    material: a number, or an array of the grid's shape, or one that NumPy makes of it, such as (z, 1, 1).
    layer: cells of the absorbing layers, as Stencil.with_layer() takes them: 20, "20:0", "x=20,z=0:20"; 0: the bare equation.
    accuracy: accuracy order in space.
    reflection: what the layer's end sends back of an amplitude at normal incidence, by the theory of continuous layers.
    frequency: whose waves are absorbed at grazing incidence too: it shifts the pole of the layers' stretching to
        pi * frequency where they begin; None: by no more than keeps the layers stable, which absorbs long waves best.
    dt: time of a step; None: nine tenths of the largest stable one.
    dtype: "f32", "f64", ...
"""

from ._equation import Model
from ._flows import heat, shallow_water
from ._maxwell import drude, maxwell
from ._waves import acoustic, elastic, viscoacoustic

__all__ = ["Model", "acoustic", "drude", "elastic", "heat", "maxwell", "shallow_water", "viscoacoustic"]
