"""What the gallery's pictures start from: a scene for each equation of corpus/, by its name, and one for each ready equation
of stencil_tune.models. Grids are as small as a picture allows: the CPU reference runs each in under 2 s. A grid of few cells
in z, periodic there, holds waves that are the same along z."""

from functools import partial
from typing import Any, Callable, NamedTuple

import numpy as np
import stencil_tune as st
from stencil_tune import models


class Scene(NamedTuple):
    """A run. Fields that are not named start as zeros; of a volume the plane in the middle of z is drawn."""

    shape: tuple[int, ...]
    steps: int  # 0: one sweep of an equation that no run repeats
    fields: dict[str, Any]  # at the start
    show: str | Callable[[dict], Any]  # the field that is drawn, or what is made of the fields
    what: str  # the picture in words
    before: str = ""  # a field to draw beside it; "": what is shown, at the start
    signed: bool = False  # whether 0 is the middle of the colours
    boundary: str = "periodic"
    layer: str = ""  # "": the definition's own


def blobs(shape, *places, width):
    """Gaussians around places, (y, x) or (z, y, x), as shares of the extents."""
    total = np.zeros(shape)
    for place in places:
        cells = shape[-len(place):]
        axes = [(at - share * n)**2 for at, share, n in zip(np.indices(shape)[-len(place):], place, cells)]
        total += np.exp(-sum(axes) / (2 * width**2))
    return total


def photo(n):
    """A test picture: a ramp, a disc, a frame, stripes."""
    y, x = np.indices((n, n)) / n
    image = 0.3 * x
    image[(x - 0.3)**2 + (y - 0.35)**2 < 0.04] = 1.0
    image[(abs(x - 0.7) < 0.2) & (abs(y - 0.3) < 0.2)] = 0.8
    image[(abs(x - 0.7) < 0.12) & (abs(y - 0.3) < 0.12)] = 0.1
    stripes = (y > 0.65) & (y < 0.9) & (x > 0.1) & (x < 0.9)
    image[stripes] = 0.5 + 0.5 * np.sign(np.sin(60 * x[stripes]**2))
    return image


def filtered(output, what):
    return Scene((192, 192), 0, {"image": photo(192)}, output, what, before="image")


gaussian5x5 = partial(filtered, "blurred", "blurred a little")
gaussian9x9 = partial(filtered, "blurred", "blurred more")
sobel2d = partial(filtered, "edges", "edges")


def gradient2d():
    return Scene((192, 192), 1, {"u": blobs((192, 192), (0.3, 0.3), (0.6, 0.7), width=25)}, "u",
                 "one step: what is flat has moved furthest")


def heat2d():
    return Scene((128, 128), 150, {"u": photo(128)}, "u", "heat has spread, edges are gone")


def cubes(shape):
    z, y, x = (at / cells for at, cells in zip(np.indices(shape), shape))
    return 1.0 * ((abs(x - 0.3) < 0.15) & (abs(y - 0.3) < 0.15) & (abs(z - 0.5) < 0.3)) + 0.6 * (
        (x - 0.65)**2 + (y - 0.65)**2 + (z - 0.5)**2 < 0.05)


def smoothed3d(steps):
    return Scene((48, 48, 48), steps, {"u": cubes((48, 48, 48))}, "u", "a hot block and a ball, cut through")


heat3d = partial(smoothed3d, 40)
box27 = partial(smoothed3d, 20)
diffusion3d_19pt = partial(smoothed3d, 30)


def jacobi1d():
    start = np.zeros(192)
    start[30:60], start[100:104], start[140:170] = 0.6, 1.0, np.linspace(0, 1, 30)
    return Scene((192,), 160, {"a": start}, "a", "each row is a step, the first on top: steps of the mean smooth a line")


def anisotropic_diffusion3d():
    shape = (40, 24, 40)
    return Scene(shape, 100, {"u": blobs(shape, (0.5, 0.5, 0.5), width=3), "k": 1.0}, lambda f: f["u"][:, 12, :],
                 "x to the right, z down: five times as fast along x")


def variable_diffusion3d():
    shape = (3, 64, 64)
    k = np.ones(shape)
    k[:, :, 30:34] = 0.0
    k[:, 24:40, 30:34] = 1.0
    return Scene(shape, 500, {"u": np.where(np.indices(shape)[2] < 30, 1.0, 0.0), "kx": k, "ky": k, "kz": k}, "u",
                 "heat passes a gap in a wall", boundary="reflect")


def acoustic(accuracy):
    shape = (33, 49, 49)
    velocity = np.where(np.indices(shape)[1] < 34, 1.0, 1.3)
    pulse = blobs(shape, (0.5, 0.45, 0.5), width=1.3)
    return Scene(shape, 47, {"p": pulse, "p_prev": pulse, "v": velocity}, "p",
                 f"a short pulse above a faster layer, accuracy order {accuracy}: the lower, the more trails the front",
                 signed=True, boundary="hold")


acoustic3d_o2 = partial(acoustic, 2)
acoustic3d_o4 = partial(acoustic, 4)
acoustic3d_o8 = partial(acoustic, 8)


def acoustic3d_sponge():
    shape = (5, 88, 88)
    at = np.arange(88)
    sponge = np.exp(-(0.015 * np.clip(20 - np.minimum(at, 87 - at), 0, None))**2)
    pulse = blobs(shape, (0.5, 0.35), width=2)
    return Scene(shape, 110, {"p": pulse, "p_prev": pulse, "v": 1.0, "gx": sponge, "gy": sponge, "gz": 1.0}, "p",
                 "the front that has reached the sponge at the left is gone", signed=True,
                 boundary="x=hold,y=hold,z=periodic")


def acoustic_cpml(planes, cells, width, steps):
    """Profiles of matched layers for waves of half a cell a step. planes: along z, where there are no layers; 0: a plane."""
    at, profiles = np.arange(cells), {}
    for half in ("", "h"):
        near = at + 0.5 * bool(half)
        b = np.exp(-0.6 * np.clip((width - 0.5 - np.minimum(near, cells - 1 - near)) / (width - 2), 0, None)**2)
        for axis in "xy":
            profiles |= {f"b{axis}{half}": b, f"a{axis}{half}": b - 1}
    shape = (planes, cells, cells) if planes else (cells, cells)
    pulse = blobs(shape, (0.4, 0.4), width=2)
    return Scene(shape, steps, {"p": pulse, "p_prev": pulse, "v": 0.25, **profiles}, "p",
                 "the front that has reached the layers at the left and the top is gone", signed=True,
                 boundary="x=hold,y=hold,z=periodic" if planes else "hold",
                 layer=f"x={width},y={width},z=0" if planes else f"{width}")


acoustic2d_o4_cpml = partial(acoustic_cpml, 0, 88, 20, 110)
acoustic3d_o2_cpml = partial(acoustic_cpml, 3, 72, 16, 84)
acoustic3d_o4_cpml = partial(acoustic_cpml, 3, 60, 12, 70)
acoustic3d_o8_cpml = partial(acoustic_cpml, 3, 60, 12, 70)


def tti3d():
    shape, epsilon, tilt = (5, 72, 72), 0.4, np.radians(30)
    nx, ny = np.sin(tilt), np.cos(tilt)
    pulse = blobs(shape, (0.5, 0.5), width=2)
    tensor = {"axx": 1 + 2 * epsilon * (1 - nx * nx), "ayy": 1 + 2 * epsilon * (1 - ny * ny), "azz": 1 + 2 * epsilon,
              "axy": -2 * epsilon * nx * ny}
    return Scene(shape, 70, {"p": pulse, "p_prev": pulse, **tensor}, "p", "an ellipse, tilted by 30 degrees", signed=True)


def elastic3d():
    shape = (5, 60, 60)
    return Scene(shape, 46, {"vy": blobs(shape, (0.5, 0.5), width=1.6), "b": 1.0, "lambda": 1.0, "mu": 1.0}, "vy",
                 "a vertical push: the P wave runs up and down, the slower S wave to the sides", signed=True)


def fdtd2d():
    return Scene((144, 144), 130, {"hz": blobs((144, 144), (0.4, 0.35), width=3)}, "hz",
                 "a pulse has come back from the walls", signed=True, boundary="hold")


def yee(what, ca, steps=90, **others):
    shape = (4, 64, 64)
    return Scene(shape, steps, {"ez": blobs(shape, (0.5, 0.35), width=2), "ca": ca, **others}, "ez", what, signed=True,
                 boundary="x=hold,y=hold,z=periodic")


def yee3d():
    return yee("a pulse enters glass at the right, where it is slower, and is sent back",
               np.where(np.arange(64) < 36, 0.4, 0.18))


def yee3d_lossy():
    loss = np.where(np.arange(64) < 36, 0.0, 0.06)
    return yee("a pulse dies away in a conductor at the right", (1 - loss) / (1 + loss), cb=0.4 / (1 + loss), da=1.0,
               db=0.4)


def yee3d_layer():
    at = np.arange(64)
    loss = 0.25 * (np.clip(14 - np.minimum(at, 63 - at), 0, None) / 14)**3
    return yee("layers at the edges swallow the pulse", 0.4, sx=loss, sy=loss, sz=0.0)


def advected(steps, what):
    return Scene((128, 128), steps, {"u": photo(128)}, "u", what)


advection2d = partial(advected, 100, "carried to the right and down; first order blurs")
advection2d_rk3 = partial(advected, 60, "carried to the right and down; edges stay")


def burgers2d():
    y, x = np.indices((128, 128)) * 2 * np.pi / 128
    return Scene((128, 128), 180, {"u": np.sin(x) * np.cos(y / 2)**2, "v": 0.5 * np.sin(y + 1)}, "u",
                 "what is fast has caught up with what is slow: shocks", signed=True)


def cahn_hilliard2d():
    noise = 0.2 * np.random.default_rng(1).standard_normal((72, 72))
    return Scene((72, 72), 1700, {"c": noise}, "c", "a mixture has separated", signed=True)


def gray_scott2d():
    spots = blobs((72, 72), (0.3, 0.3), (0.55, 0.7), (0.75, 0.25), (0.15, 0.75), width=3)
    spots = np.minimum(spots, 1)
    return Scene((72, 72), 1300, {"u": 1 - 0.5 * spots, "v": 0.3 * spots}, "v", "spots grow into coral")


def fitzhugh_nagumo3d():
    shape = (3, 64, 64)
    _, y, x = np.indices(shape)
    excited, tired = (x > 14) & (x < 30) & (y > 32), (x < 16) & (y > 32)
    start = {"u": np.where(excited, 1.8, -1.2), "v": np.where(tired, 0.6, -0.6)}
    return Scene(shape, 740, start, "u", "a broken front curls up", signed=True, boundary="x=reflect,y=reflect,z=periodic")


def flux_divergence3d():
    shape = (12, 96, 96)
    _, y, x = np.indices(shape) * 2 * np.pi / 96
    u, v = np.sin(x) * np.cos(2 * y), -0.5 * np.cos(x) * np.sin(2 * y)
    pressure = 1 + 0.25 * (np.cos(2 * x) + np.cos(4 * y))
    energy = 2.5 * pressure + 0.5 * (u * u + v * v)
    return Scene(shape, 0, {"mx": u, "my": v, "u": u, "v": v, "p": pressure, "e": energy}, "f_mx",
                 "what vortices add to the momentum along x", before="mx", signed=True)


def himeno():
    shape = (25, 56, 56)
    z, y, x = np.indices(shape)
    inside = (x - 28)**2 + (y - 28)**2 + (z - 12)**2 < 80
    return Scene(shape, 45, {"p": 1.0 * inside, **dict.fromkeys(("a0", "a1", "a2", "c0", "c1", "c2"), 1.0), "a3": 1 / 6,
                             "bnd": 1.0 * ~inside, "wrk1": 0.01 * (x > 44)}, "p",
                 "pressure around a ball that holds its own, beside a source", boundary="hold")


def chip(shape):
    power = np.zeros(shape)
    for y, x, size, watts in ((0.2, 0.25, 0.12, 1.0), (0.3, 0.7, 0.08, 2.0), (0.7, 0.3, 0.16, 0.5), (0.75, 0.75, 0.05, 3.0)):
        n, m = shape[-2:]
        power[..., int((y - size) * n):int((y + size) * n), int((x - size) * m):int((x + size) * m)] = watts
    return power


def hotspot2d():
    return Scene((96, 96), 250, {"temperature": 80.0, "power": chip((96, 96))}, "temperature", "four units heat a chip",
                 before="power", boundary="clamp")


def hotspot3d():
    return Scene((8, 64, 64), 120, {"temperature": 160.0, "power": 40 * chip((8, 64, 64))}, "temperature",
                 "the middle layer of a stacked chip", before="power", boundary="clamp")


def equilibrium(velocities, weights, rho, u):
    """Of a lattice Boltzmann method."""
    along = [sum(c * component for c, component in zip(velocity, u)) for velocity in velocities]
    square = sum(component**2 for component in u)
    return {f"f{i}": w * rho * (1 + 3 * c + 4.5 * c**2 - 1.5 * square) for i, (c, w) in enumerate(zip(along, weights))}


D2Q9 = [(0, 0), (1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (-1, 1), (-1, -1), (1, -1)]


def lbm_d2q9():
    n = 60
    y, x = np.indices((n, n)) / n
    u = 0.25 * np.where(y < 0.5, np.tanh(60 * (y - 0.25)), np.tanh(60 * (0.75 - y)))
    v = 0.12 * np.sin(2 * np.pi * (x + 0.25))

    def vorticity(f):
        rho = sum(f[f"f{i}"] for i in range(9))
        u, v = (sum(c[axis] * f[f"f{i}"] for i, c in enumerate(D2Q9)) / rho for axis in (0, 1))
        return np.roll(v, -1, 1) - np.roll(v, 1, 1) - np.roll(u, -1, 0) + np.roll(u, 1, 0)

    return Scene((n, n), 170, equilibrium(D2Q9, [4 / 9] + 4 * [1 / 9] + 4 * [1 / 36], 1.0, (u, v)), vorticity,
                 "vorticity: two layers between streams begin to roll up", signed=True)


def lbm_d3q19():
    shape = (3, 44, 44)
    rho = 1 + 0.1 * blobs(shape, (0.35, 0.35), (0.65, 0.65), width=2)
    return Scene(shape, 24, equilibrium(19 * [(0, 0, 0)], [1 / 3] + 6 * [1 / 18] + 12 * [1 / 36], rho, (0.0, 0.0, 0.0)),
                 lambda f: sum(f[f"f{i}"] for i in range(19)) - 1, "density: sound of two pulses", signed=True)


def life():
    alive = np.random.default_rng(3).random((128, 128)) < 0.3
    return Scene((128, 128), 300, {"alive": 1.0 * alive}, "alive", "what is left of a random soup")


def charges(shape, *depth):
    return blobs(shape, (*depth, 0.35, 0.3), width=2) - blobs(shape, (*depth, 0.65, 0.7), width=2)


def poisson2d_9pt():
    return Scene((96, 96), 600, {"f": charges((96, 96))}, "u", "the potential of two charges", before="f", signed=True,
                 boundary="hold")


def poisson3d_19pt():
    return Scene((40, 40, 40), 80, {"f": charges((40, 40, 40), 0.5)}, "u", "the potential of two charges, cut through",
                 before="f", signed=True, boundary="hold")


def shallow2d():
    return Scene((128, 128), 130, {"h": 1 + 0.6 * (blobs((128, 128), (0.35, 0.4), width=8) > 0.5)}, "h",
                 "a column of water has fallen", boundary="reflect")


# Ready equations: each draws a field of a run by itself. Its text is on its page.


def shot(model, field, place, frequency, steps, signal=lambda phase: (1 - 2 * phase**2) * np.exp(-phase**2)):
    """The fields after a Ricker wavelet at a place."""
    arrays = list(model.fields.values())
    kernel = st.lookup(model.stencil, like=arrays[0], steps=steps, device="cpu")
    phase = np.pi * frequency * model.dt * np.arange(steps) - np.pi
    series = (signal(phase) * model.sources[field][place]).astype(np.float32)[:, None]
    kernel.advance(arrays, steps=steps, points=kernel.place_points({field: [place]}), series=series)
    return dict(zip(model.fields, arrays))


def model_acoustic():
    """A shot above two layers; what leaves at the sides does not come back."""
    velocity = np.full((72, 104), 2000.0)
    velocity[38:], velocity[54:] = 2800.0, 3600.0
    wave = models.acoustic((72, 104), 10.0, velocity, layer=12)
    return shot(wave, "p_next", (15, 52), 22.0, 130)["p"]


def model_viscoacoustic():
    """A shot in ground whose right half swallows sound."""
    quality = np.where(np.arange(96) < 48, 200.0, 8.0)
    wave = models.viscoacoustic((72, 96), 10.0, 2000.0, 1000.0, quality, 20.0, layer=10)
    return shot(wave, "p_next", (36, 48), 25.0, 80)["p"]


def model_elastic():
    """An explosion below the surface, the velocity along y: P and S waves, and a Rayleigh wave along the top."""
    wave = models.elastic((56, 88), 10.0, 3000.0, 1700.0, 2200.0, free_surface=True, layer=10)
    return shot(wave, "syy_next", (7, 38), 24.0, 86)["vy"]


def model_maxwell():
    """A dipole's wave at a rod of glass, the electric field along it."""
    y, x = np.indices((88, 88))
    rod = np.where((x - 56)**2 + (y - 44)**2 < 15**2, 4.0, 1.0)
    wave = models.maxwell((88, 88), 0.01, rod, layer=10)
    return shot(wave, "ez_next", (44, 20), 2.2e9, 84)["ez"]


def model_drude():
    """A dipole's wave at a rod of metal below its plasma frequency, which no wave enters."""
    y, x = np.indices((80, 80))
    rod = np.where((x - 50)**2 + (y - 40)**2 < 13**2, 4e10, 0.0)
    wave = models.drude((80, 80), 0.01, rod, 1e8, layer=10)
    return shot(wave, "ez_next", (40, 20), 2.2e9, 72)["ez"]


def model_shallow_water():
    """A wave slows down over a shoal, and its front bends around it."""
    depth = 50 - 38 * blobs((96, 96), (0.5, 0.6), width=12)
    wave = models.shallow_water((96, 96), 100.0, depth, layer=10)
    return shot(wave, "eta_next", (48, 16), 0.015, 105)["eta"]


def model_heat():
    """A warm plate loses heat through its right wall, while a heater in it stays on."""
    plate = models.heat((80, 80), 0.01, 1e-4, exchange={"x.high": 40.0}, outside=0.0)
    plate.fields["u"][...] = 1.0
    return shot(plate, "u_next", (40, 24), 1.0, 500, lambda phase: 0 * phase + 2.0)["u"]
