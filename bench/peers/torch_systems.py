#!/usr/bin/env python3
"""What torch.compile reaches on whole steps of systems: the same updates as the definitions in corpus/, boundary hold.

    bench/peers/torch_systems.py [NAME...]            PyTorch 2 and a GPU; all cases where none is named
    bench/peers/torch_systems.py --type f64 --json    f64; one line of JSON a case, after one of where it is from
    bench/peers/torch_systems.py --scale 8            extents divided by 8: a quick try

A step writes the `_next` arrays from the others; then names rotate, as in the definition. Prints GStencil/s: cells that
every stage updates, times steps, over the median time of samples of CUDA events. Before anything is timed, three steps
are compared with the same slices, not compiled, in f64. With and without max-autotune; the better one counts.
"""

import argparse
import json
import statistics
import time
from dataclasses import dataclass
from typing import Callable

import torch

ACCURACY = {  # weights of the second derivative, from the centre outwards (Fornberg 1988)
    2: [-2.0, 1.0],
    4: [-5 / 2, 4 / 3, -1 / 12],
    8: [-205 / 72, 8 / 5, -1 / 5, 8 / 315, -1 / 560],
}
FORWARD4 = {-1: 1 / 24, 0: -9 / 8, 1: 9 / 8, 2: -1 / 24}  # staggered first derivative, accuracy order 4


def window(array, layers, shift=(0, 0, 0)):
    """The cells `layers` away from every edge, seen from `shift` = (x, y, z) beside them. x is the last axis."""
    return array[tuple(slice(layers + by, array.shape[axis] - layers + by)
                       for axis, by in enumerate(reversed(shift[:array.dim()])))]


def along(axis, by):
    return tuple(by if a == axis else 0 for a in range(3))


@dataclass(frozen=True)
class Case:
    extents: tuple  # x first
    fields: list    # of which a step reads
    rotations: dict  # after a step: the array of the key takes the name of the value
    layers: int     # that no stage updates, on each side
    step: Callable  # writes the _next arrays of a dictionary
    low: float = 0.0  # random cells lie between these
    high: float = 1.0


def acoustic(accuracy):
    weights = ACCURACY[accuracy]
    r = len(weights) - 1

    def step(a):
        p, c = a["p"], lambda name: window(a[name], r)
        laplacian = 3 * weights[0] * c("p")
        for axis in range(3):
            for d in range(1, r + 1):
                laplacian = laplacian + weights[d] * (window(p, r, along(axis, d)) + window(p, r, along(axis, -d)))
        c("p_next").copy_(2 * c("p") - c("p_prev") + 0.1 * c("v") ** 2 * laplacian)

    return Case((512, 512, 512), ["p", "p_prev", "v"], {"p": "p_prev", "p_next": "p"}, r, step)


def gray_scott(a):
    u, v = window(a["u"], 1), window(a["v"], 1)

    def laplacian(f):
        return (window(f, 1, (1, 0)) + window(f, 1, (-1, 0)) + window(f, 1, (0, 1)) + window(f, 1, (0, -1))
                - 4 * window(f, 1))

    reaction = u * v ** 2
    window(a["u_next"], 1).copy_(u + 0.16 * laplacian(a["u"]) + (0.06 * (1 - u) - reaction))
    window(a["v_next"], 1).copy_(v + 0.08 * laplacian(a["v"]) + (reaction - (0.06 + 0.062) * v))


def shallow(a):
    c, g = 0.1, 9.81
    h, uh, vh = a["h"], a["uh"], a["vh"]
    fu, fv, gv = uh * uh / h + 0.5 * g * h * h, uh * vh / h, vh * vh / h + 0.5 * g * h * h

    def update(f, fx, fy):
        mean = 0.25 * (window(f, 1, (-1, 0)) + window(f, 1, (1, 0)) + window(f, 1, (0, -1)) + window(f, 1, (0, 1)))
        return mean - 0.5 * c * (window(fx, 1, (1, 0)) - window(fx, 1, (-1, 0)) + window(fy, 1, (0, 1))
                                 - window(fy, 1, (0, -1)))

    window(a["h_next"], 1).copy_(update(h, uh, vh))
    window(a["uh_next"], 1).copy_(update(uh, fu, fv))
    window(a["vh_next"], 1).copy_(update(vh, fv, gv))


def fdtd(a):
    hz = a["hz"]
    window(a["ex_next"], 1).copy_(window(a["ex"], 1) - 0.5 * (window(hz, 1) - window(hz, 1, (0, -1))))
    window(a["ey_next"], 1).copy_(window(a["ey"], 1) + 0.5 * (window(hz, 1) - window(hz, 1, (-1, 0))))
    ex, ey = a["ex_next"], a["ey_next"]
    window(a["hz_next"], 1).copy_(window(hz, 1) + 0.7 * ((window(ey, 1, (1, 0)) - window(ey, 1))
                                                          - (window(ex, 1, (0, 1)) - window(ex, 1))))


def anisotropic(a):
    u, k = a["u"], a["k"]
    total = window(u, 1)
    for axis, weight in enumerate((0.1, 0.08, 0.02)):
        ahead, behind = along(axis, 1), along(axis, -1)
        up = 0.5 * (window(k, 1) + window(k, 1, ahead)) * (window(u, 1, ahead) - window(u, 1))
        down = 0.5 * (window(k, 1, behind) + window(k, 1)) * (window(u, 1) - window(u, 1, behind))
        total = total + weight * (up - down)
    window(a["u_next"], 1).copy_(total)


def difference(f, axis, ahead, layers, weights):
    """The staggered first derivative along an axis: of weights at d and d - 1, seen from between the two."""
    return sum(w * window(f, layers, along(axis, d if ahead else d - 1)) for d, w in weights.items())


def curl_step(a):
    d = lambda f, axis, ahead: difference(a[f], axis, ahead, 1, {0: -1.0, 1: 1.0})
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        window(a[f"h{'xyz'[i]}_next"], 1).copy_(
            window(a[f"h{'xyz'[i]}"], 1) - 0.4 * (d(f"e{'xyz'[k]}", j, True) - d(f"e{'xyz'[j]}", k, True)))
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        window(a[f"e{'xyz'[i]}_next"], 1).copy_(
            window(a[f"e{'xyz'[i]}"], 1)
            + window(a["ca"], 1) * (d(f"h{'xyz'[k]}_next", j, False) - d(f"h{'xyz'[j]}_next", k, False)))


def elastic(a):
    dt, r = 0.3, 2
    d = lambda f, axis, ahead: difference(a[f], axis, ahead, r, FORWARD4)
    at = lambda f: window(a[f], r)
    stress = lambda i, j: "s" + "".join(sorted("xyz"[i] + "xyz"[j]))
    for i in range(3):
        force = sum(d(stress(i, j), j, i == j) for j in range(3))
        at(f"v{'xyz'[i]}_next").copy_(at(f"v{'xyz'[i]}") + dt * at("b") * force)
    strain = [d(f"v{'xyz'[i]}_next", i, False) for i in range(3)]
    for i in range(3):
        others = sum(strain[j] for j in range(3) if j != i)
        at(stress(i, i) + "_next").copy_(
            at(stress(i, i)) + dt * ((at("lambda") + 2 * at("mu")) * strain[i] + at("lambda") * others))
        for j in range(i + 1, 3):
            shear = d(f"v{'xyz'[i]}_next", j, True) + d(f"v{'xyz'[j]}_next", i, True)
            at(stress(i, j) + "_next").copy_(at(stress(i, j)) + dt * at("mu") * shear)


def following(names):
    return {f"{name}_next": name for name in names}


ELASTIC = ["vx", "vy", "vz", "sxx", "syy", "szz", "sxy", "sxz", "syz"]
YEE = ["ex", "ey", "ez", "hx", "hy", "hz"]
CASES = {
    "yee3d": Case((512, 512, 512), YEE + ["ca"], following(YEE), 1, curl_step),
    "acoustic3d_o2": acoustic(2),
    "acoustic3d_o4": acoustic(4),
    "acoustic3d_o8": acoustic(8),
    "gray_scott2d": Case((8192, 8192), ["u", "v"], following(["u", "v"]), 1, gray_scott),
    "shallow2d": Case((8192, 8192), ["h", "uh", "vh"], following(["h", "uh", "vh"]), 1, shallow, 1.0, 1.1),
    "fdtd2d": Case((8192, 8192), ["ex", "ey", "hz"], following(["ex", "ey", "hz"]), 1, fdtd),
    "anisotropic_diffusion3d": Case((512, 512, 512), ["u", "k"], following(["u"]), 1, anisotropic),
    "elastic3d": Case((384, 384, 384), ELASTIC + ["b", "lambda", "mu"], following(ELASTIC), 2, elastic, 0.1, 0.2),
}


def random_arrays(case, extents, dtype):
    """Every array of a step; those that are written have the held layers of the array whose name they take."""
    arrays = {}
    for name in case.fields:
        cells = torch.rand(tuple(reversed(extents)), device="cuda", dtype=dtype)
        arrays[name] = case.low + (case.high - case.low) * cells
    for name, becomes in case.rotations.items():
        if name not in arrays:
            arrays[name] = arrays[becomes].clone()
    return arrays


def rotate(arrays, rotations):
    """Names move on; the arrays that lose theirs take those that are written next."""
    renamed = {becomes: arrays[name] for name, becomes in rotations.items()}
    spare = [arrays[name] for name in arrays if name in rotations.values() and name not in rotations]
    free = [name for name in rotations if name not in rotations.values()]
    return {**arrays, **renamed, **dict(zip(free, spare))}


def worst_difference(case, extents, dtype, compiled):
    arrays = random_arrays(case, extents, dtype)
    wide = {name: array.to(torch.float64, copy=True) for name, array in arrays.items()}
    for _ in range(3):
        compiled(arrays)
        case.step(wide)
        arrays, wide = rotate(arrays, case.rotations), rotate(wide, case.rotations)
    return max((arrays[name].double() - wide[name]).abs().max().item() for name in set(case.rotations.values()))


def seconds_a_step(case, extents, dtype, compiled, samples=15, repeats=12):
    arrays = random_arrays(case, extents, dtype)

    def run(steps):
        nonlocal arrays
        for _ in range(steps):
            compiled(arrays)
            arrays = rotate(arrays, case.rotations)

    run(2 * repeats)
    times = []
    for _ in range(samples):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        run(repeats)
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) / 1e3 / repeats)
    return statistics.median(times)


def measure(name, case, dtype, scale):
    extents = tuple(n // scale for n in case.extents)
    cells = 1
    for n in extents:
        cells *= n - 2 * case.layers
    best = {"case": name, "extents": "x".join(map(str, extents)), "type": "f64" if dtype == torch.float64 else "f32"}
    for mode in (None, "max-autotune-no-cudagraphs"):
        torch._dynamo.reset()
        compiled = torch.compile(case.step, mode=mode)
        worst = worst_difference(case, extents, dtype, compiled)
        limit = 1e-11 if dtype == torch.float64 else 1e-4
        if not worst < limit:
            raise SystemExit(f"{name}: wrong result, off by {worst:g}")
        rate = cells / seconds_a_step(case, extents, dtype, compiled) / 1e9
        if rate > best.get("gstencils", 0):
            best.update(gstencils=round(rate, 1), mode=mode or "default", worst_difference=worst)
        torch.cuda.empty_cache()
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(CASES))
    parser.add_argument("--type", choices=["f32", "f64"], default="f32")
    parser.add_argument("--scale", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    unknown = [name for name in asked.names if name not in CASES]
    if unknown:
        parser.error(f"no case {', '.join(unknown)}; there are {', '.join(CASES)}")
    if not torch.cuda.is_available():
        raise SystemExit("no GPU here")
    torch.manual_seed(1)
    if asked.json:
        print(json.dumps({"gpu": torch.cuda.get_device_name(), "torch": torch.__version__,
                          "date": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())}), flush=True)
    else:
        print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, {asked.type}, whole steps")
    for name in asked.names or CASES:
        row = measure(name, CASES[name], torch.float64 if asked.type == "f64" else torch.float32, asked.scale)
        print(json.dumps(row) if asked.json else
              f"{name} {row['extents']}: {row['gstencils']:.1f} GStencil/s ({row['mode']})", flush=True)


if __name__ == "__main__":
    main()
