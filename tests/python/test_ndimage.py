"""The filters on arrays of NumPy, against SciPy's and sums over padded copies. tests/gpu compares them with CuPy's."""

import numpy
import pytest
import scipy.ndimage

import stencil_tune as st
from stencil_tune import ndimage

PAD = {"reflect": "symmetric", "mirror": "reflect", "nearest": "edge", "wrap": "wrap", "constant": "constant"}


def summed(image, weights, mode, cval=0.0, origin=(0, 0)):
    """out[i] = sum over j of weights[j] * image[i + j - shape // 2 - origin]"""
    room = 8
    padded = numpy.pad(image, room, mode=PAD[mode], **({"constant_values": cval} if mode == "constant" else {}))
    out = numpy.zeros_like(image)
    for index in numpy.ndindex(weights.shape):
        at = [room + i - size // 2 - shift for i, size, shift in zip(index, weights.shape, origin)]
        out += weights[index] * padded[tuple(slice(low, low + size) for low, size in zip(at, image.shape))]
    return out


IMAGE = numpy.random.default_rng(1).integers(-9, 9, (11, 14)).astype(float)
WEIGHTS = numpy.random.default_rng(2).integers(-4, 4, (3, 4)).astype(float)


@pytest.mark.parametrize("mode", PAD)
@pytest.mark.parametrize("cval", [0.0, 3.0])
def test_correlate_has_all_modes(mode, cval):
    numpy.testing.assert_array_equal(ndimage.correlate(IMAGE, WEIGHTS, mode=mode, cval=cval),
                                     summed(IMAGE, WEIGHTS, mode, cval))


def test_origins_and_convolve():
    numpy.testing.assert_array_equal(ndimage.correlate(IMAGE, WEIGHTS, mode="wrap", origin=(1, -2)),
                                     summed(IMAGE, WEIGHTS, "wrap", origin=(1, -2)))
    numpy.testing.assert_array_equal(ndimage.convolve(IMAGE, WEIGHTS, mode="wrap", origin=(1, -1)),
                                     summed(IMAGE, WEIGHTS[::-1, ::-1], "wrap", origin=(-1, 0)))


def test_separable_filters():
    box = numpy.full((3, 4), 1 / 12)
    numpy.testing.assert_allclose(ndimage.uniform_filter(IMAGE, (3, 4), mode="nearest"), summed(IMAGE, box, "nearest"),
                                  rtol=1e-13, atol=1e-13)
    line = numpy.exp(-0.5 * numpy.arange(-3, 4)**2 / 0.7**2)
    line /= line.sum()
    out = numpy.empty_like(IMAGE)
    assert ndimage.gaussian_filter(IMAGE, (0.7, 0), mode="mirror", output=out) is out
    numpy.testing.assert_allclose(out, summed(IMAGE, line[:, None], "mirror"), rtol=1e-13, atol=1e-13)
    numpy.testing.assert_array_equal(ndimage.gaussian_filter(IMAGE, 0), IMAGE)


def test_laplace_on_three_axes():
    cube = numpy.random.default_rng(3).integers(-9, 9, (4, 5, 6)).astype(numpy.float32)
    wanted = sum(numpy.roll(cube, side, axis) for axis in range(3) for side in (-1, 1)) - 6 * cube
    numpy.testing.assert_array_equal(ndimage.laplace(cube, mode="wrap"), wanted)


MODES = ["reflect", "grid-mirror", "mirror", "nearest", "wrap", "grid-wrap", "constant", "grid-constant"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("shape, size", [((13,), (4,)), ((11, 14), (3, 4)), ((5, 6, 7), (2, 3, 3))])
@pytest.mark.parametrize("dtype, close", [("f4", 1e-5), ("f8", 1e-13)])
def test_filters_are_scipys(mode, shape, size, dtype, close):
    random = numpy.random.default_rng(1)
    image, weights = random.random(shape).astype(dtype), random.random(size).astype(dtype)
    calls = [("correlate", (weights,), {}), ("convolve", (weights,), {}), ("correlate", (weights,), {"origin": -1}),
             ("convolve", (weights,), {"origin": -1}), ("laplace", (), {}), ("uniform_filter", (4,), {}),
             ("uniform_filter", (3,), {"origin": 1}), ("gaussian_filter", (0.9,), {})]
    for cval in (0.0, 2.5):
        for name, given, more in calls:
            mine, theirs = (getattr(module, name)(image, *given, mode=mode, cval=cval, **more)
                            for module in (ndimage, scipy.ndimage))
            numpy.testing.assert_allclose(mine, theirs, rtol=close, atol=close, err_msg=f"{name}, {more}, cval {cval}")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", ["u1", "i1", "u2", "i2", "i4"])
def test_whole_numbers_are_scipys(mode, dtype):
    """Exactly where sums are whole. Of others SciPy cuts 99.99...9 where the sum is 100, or does not."""
    random, known = numpy.random.default_rng(1), numpy.iinfo(dtype)
    image = random.integers(max(known.min, -30000), min(known.max, 30000), (11, 14), endpoint=True).astype(dtype)
    weights = random.integers(-4, 5, (3, 4)).astype(float)
    for name, given, exact in [("correlate", (weights,), True), ("convolve", (weights,), True), ("laplace", (), True),
                               ("uniform_filter", (3,), True), ("correlate", (weights / 7,), False),
                               ("gaussian_filter", (0.9,), False)]:
        for cval in (0.0, 2.5):
            for output in (None, "f8", "i4"):
                mine, theirs = (getattr(module, name)(image, *given, mode=mode, cval=cval, output=output)
                                for module in (ndimage, scipy.ndimage))
                assert mine.dtype == theirs.dtype
                off = numpy.abs(mine.astype("f8") - theirs.astype("f8"))
                off = numpy.minimum(off, 2.0**(8 * mine.dtype.itemsize) - off)
                if mine.dtype.kind == "f":
                    numpy.testing.assert_allclose(mine, theirs, rtol=1e-13, atol=1e-9)
                elif exact and float(cval).is_integer():
                    assert off.max() == 0, (name, cval, output)
                else:
                    assert off.max() <= 1 and (off == 0).mean() > 0.9, (name, cval, output)


CUBE = numpy.random.default_rng(4).random((6, 7, 8))


@pytest.mark.parametrize("name, given, more", [
    ("gaussian_filter", (0.9,), {"mode": ["reflect", "wrap", "nearest"]}),
    ("gaussian_filter", (0.9,), {"mode": ["constant", "mirror", "grid-constant"], "cval": 1.5}),
    ("gaussian_filter", (numpy.array([0.9, 0.0, 1.2]),), {}),
    ("gaussian_filter", (numpy.array(0.7),), {"order": (0, 0, 0)}),
    ("gaussian_filter", (0.9,), {"radius": 2}),
    ("gaussian_filter", ((0.9, 0.8),), {"radius": (1, 2), "axes": (-1, 0)}),
    ("gaussian_filter", (0.9,), {"axes": 1, "mode": "wrap"}),
    ("uniform_filter", ([2, 3],), {"axes": (2, 0), "mode": ("wrap", "reflect"), "origin": (-1, 1)}),
    ("uniform_filter", (0,), {}),
    ("uniform_filter", ((0, 3, 1),), {}),
    ("laplace", (), {"mode": ["wrap", "reflect", "constant"], "cval": 2.0}),
    ("laplace", (), {"axes": (0, 2)}),
    ("laplace", (), {"axes": ()}),
    ("correlate", (WEIGHTS,), {"axes": (0, 2), "origin": (1, 0)}),
    ("convolve", (WEIGHTS,), {"axes": (0, 2), "mode": "mirror"}),
])
def test_arguments_for_each_axis_are_scipys(name, given, more):
    mine, theirs = (getattr(module, name)(CUBE, *given, **more) for module in (ndimage, scipy.ndimage))
    numpy.testing.assert_allclose(mine, theirs, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("mode", ["reflect", "wrap"])
@pytest.mark.parametrize("kind", ["float32", float, numpy.float32, numpy.dtype("f8")])
def test_outputs_of_another_type(mode, kind):
    for name, given in (("gaussian_filter", (0.9,)), ("laplace", ()), ("correlate", (WEIGHTS,))):
        for image in (IMAGE, IMAGE.astype("f4"), IMAGE.astype("i4")):
            mine, theirs = (getattr(module, name)(image, *given, output=kind, mode=mode)
                            for module in (ndimage, scipy.ndimage))
            assert mine.dtype == theirs.dtype
            numpy.testing.assert_allclose(mine, theirs, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("mode", ["reflect", "wrap"])
def test_outputs_in_place_and_with_gaps(mode):
    for name, given in (("uniform_filter", (3,)), ("uniform_filter", ((1, 3),)), ("laplace", ()), ("convolve", (WEIGHTS,))):
        wanted = getattr(scipy.ndimage, name)(IMAGE, *given, mode=mode)
        room = numpy.zeros((22, 28))
        for out in (IMAGE.copy(), room[::2, ::2], IMAGE.astype("f4")):
            image = out if out.base is None and out.dtype == IMAGE.dtype else IMAGE
            assert getattr(ndimage, name)(image, *given, output=out, mode=mode) is out
            numpy.testing.assert_allclose(out, wanted, rtol=1e-5, atol=1e-5)


def test_nothing_to_filter():
    for name, given in (("uniform_filter", (3,)), ("laplace", ()), ("correlate", (WEIGHTS,)), ("gaussian_filter", (1,))):
        assert getattr(ndimage, name)(numpy.zeros((0, 5)), *given).shape == (0, 5)


def test_what_kernels_do_not_have():
    for call in (lambda: ndimage.laplace(IMAGE.astype(int)), lambda: ndimage.laplace(IMAGE, mode="odd"),
                 lambda: ndimage.gaussian_filter(IMAGE, 1, order=1), lambda: ndimage.laplace([1.0]),
                 lambda: ndimage.correlate(IMAGE, [1.0, 2.0]), lambda: ndimage.uniform_filter(IMAGE, (3,)),
                 lambda: ndimage.laplace(IMAGE, output=int), lambda: ndimage.laplace(IMAGE[None, None]),
                 lambda: ndimage.laplace(IMAGE, output=[1.0]), lambda: ndimage.laplace(IMAGE, output="complex64"),
                 lambda: ndimage.laplace(IMAGE, output=numpy.zeros((11, 15))), lambda: ndimage.laplace(IMAGE, axes=2),
                 lambda: ndimage.laplace(IMAGE, axes=(0, -2)), lambda: ndimage.laplace(IMAGE, mode=["wrap"]),
                 lambda: ndimage.correlate(IMAGE, WEIGHTS, mode=["wrap", "wrap"]),
                 lambda: ndimage.correlate(IMAGE, WEIGHTS, origin=2), lambda: ndimage.uniform_filter(IMAGE, 3, origin=-2),
                 lambda: ndimage.correlate(IMAGE, WEIGHTS, axes=(1, 0)),
                 lambda: ndimage.correlate(IMAGE, numpy.zeros((0, 3))), lambda: ndimage.laplace(numpy.float64(1)),
                 lambda: ndimage.gaussian_filter(IMAGE, 1, radius=-1), lambda: ndimage.gaussian_filter(IMAGE, 1, radius=1.5)):
        with pytest.raises(st.ArgumentError):
            call()
