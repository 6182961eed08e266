"""Tunes the problems whose winners ship with the library, and puts them into db/pretuned/NAME.json.

    bench/bench pretune NAME [--only STENCIL,...] [--into FOLDER] [--seconds N] [options of tune]
    bench/bench pretune h200 --budget 60s

What ships of other problems stays. It needs the GPU that NAME stands for; a new NAME is a word of its name, such as h100.
Each stencil of one field is tuned on a grid that every vector divides and on one that none does: lookup chooses between
them. Winners that ship are among what each tune tries first. All GPUs of the machine work.
"""

from bench import shipping

# Type, steps of a run, grids, stencils.
PROBLEMS = [
    ("f32", 1, "512x512x512 509x487x601", "star3d1r star3d2r star3d4r box3d1r heat3d acoustic3d_o4 acoustic3d_o8"),
    ("f64", 1, "512x512x512 509x487x601", "star3d1r star3d2r star3d4r heat3d"),
    ("f32", 1, "16384x16384 15991x14983", "star2d1r box2d1r heat2d gaussian5x5"),
    ("f64", 1, "16384x16384 15991x14983", "star2d1r"),
    ("f32", 1, "268435456", "star1d2r"),
]
for each in ("f32", "f64"):
    PROBLEMS += [
        (each, 100, "512x512x512", "star3d1r star3d2r box3d1r heat3d diffusion3d_19pt"),
        (each, 100, "16384x16384", "star2d1r star2d2r box2d1r heat2d"),
        (each, 100, "512x512x512", "yee3d acoustic3d_o2 acoustic3d_o4 acoustic3d_o8 anisotropic_diffusion3d"),
        (each, 100, "384x384x384", "elastic3d"),
        (each, 100, "8192x8192", "gray_scott2d shallow2d fdtd2d"),
    ]


def add_arguments(parser):
    shipping.add_arguments(parser)
    parser.add_argument("--only", metavar="STENCIL,...", help="leaves out other stencils")


def run(given):
    only = given.only.split(",") if given.only else None
    tunes = [["tune", "--stencil", stencil, "--type", type, "--dims", grid, "--steps", str(steps)]
             for type, steps, grids, stencils in PROBLEMS for stencil in stencils.split() for grid in grids.split()
             if only is None or stencil in only]
    return shipping.tune_all(given, tunes)
