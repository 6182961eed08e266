"""Runs that are cut in two by save_run() and load_run(): the same bit for bit as runs that are not."""

import numpy
import pytest
from device_arrays import CudaArray, aligned, host

import stencil_tune as st
from stencil_tune import models

# Coordinates, the step's number and a field of time; `v` is written and read by no later step.
PLACES = """
rank = 2
fields = ["u", "c(y)", "w(t)", "u_next", "v"]
[update]
u_next = "u + 0.1*c*(u[x+1] - u) + w*x + random(3)*t"
v = "2*u"
[rotate]
u_next = "u"
"""
STEPS, CUT = 9, 4


def copies(make, fields):
    return [make(cells) for cells in fields.values()]


def garbage(make, fields):
    """As another process has them before it loads."""
    return [make(numpy.full_like(cells, 7)) for cells in fields.values()]


def test_a_wave_in_layers_with_points(where, tmp_path):
    device, make = where
    wave = models.acoustic((20, 24), spacing=10.0, velocity=numpy.linspace(1500, 2500, 24), layer=4)
    assert wave.stencil.layer_fields and wave.stencil.profiles
    kernel = st.lookup(wave.stencil, shape=(20, 24), steps=STEPS, device=device)
    assert CUT % kernel.fused_steps == 0
    series = numpy.sin(numpy.arange(STEPS, dtype="f4"))[:, None] * wave.sources["p_next"][8, 9].astype("f4")

    def points():
        return kernel.place_points({"p_next": [(8.25, 9)]}, {"p": [(10, 11), (7, 5.5)]}, every=2)

    records = make(numpy.zeros((4, 2), "f4"))
    whole = copies(make, wave.fields)
    kernel.advance(whole, steps=STEPS, points=points(), series=make(series), records=records)

    first, early = copies(make, wave.fields), make(numpy.zeros((2, 2), "f4"))
    kernel.advance(first, steps=CUT, points=points(), series=make(series[:CUT]), records=early)
    st.save_run(tmp_path / "shot.npz", kernel, first, CUT)

    second, late = garbage(make, wave.fields), make(numpy.zeros((2, 2), "f4"))
    made = st.load_run(tmp_path / "shot.npz", kernel, second)
    assert made == CUT
    kernel.advance(second, steps=STEPS - made, step=made, points=points(), series=make(series[made:]), records=late)

    wanted, found = (dict(zip(wave.fields, arrays)) for arrays in (whole, second))
    assert numpy.abs(host(wanted["p"])).max() > 0
    for name in wave.stencil.inputs:
        numpy.testing.assert_array_equal(host(found[name]), host(wanted[name]), err_msg=name)
    numpy.testing.assert_array_equal(numpy.concatenate([host(early), host(late)]), host(records))


def test_fields_stored_in_types_of_their_own(where, tmp_path):
    device, make = where
    grown = st.stencil("u_next = u + 0.5*mask + 0.25*(u[x+1] - u)*h; storage mask = u8; storage h = f16", rank=2)
    kernel = st.lookup(grown, shape=(9, 40), dtype="f64", device=device)
    fields = {"u": numpy.random.default_rng(1).random((9, 40)), "mask": numpy.arange(360, dtype="u1").reshape(9, 40),
              "h": numpy.linspace(0, 1, 360, dtype="f2").reshape(9, 40)}
    fields = {name: fields.get(name, numpy.zeros((9, 40))) for name in grown.arguments}
    arrays = copies(make, fields)
    kernel.advance(arrays, steps=CUT)
    st.save_run(tmp_path / "run.npz", kernel, arrays, CUT)
    again = garbage(make, fields)
    assert st.load_run(tmp_path / "run.npz", kernel, again) == CUT
    for name, array, wanted in zip(grown.arguments, again, arrays):
        if name in grown.inputs:
            assert host(array).dtype == fields[name].dtype
            numpy.testing.assert_array_equal(host(array), host(wanted), err_msg=name)


@pytest.mark.parametrize("dtype", ["f8", "f2"])
def test_places_and_numbers_of_steps(where, tmp_path, dtype):
    device, make = where
    stencil = st.stencil(PLACES)
    shape = (6, 40)
    kernel = st.lookup(stencil, shape=shape, dtype="f64" if dtype == "f8" else "f16", boundary="hold", device=device)
    fields = {"u": numpy.random.default_rng(1).random(shape), "c": numpy.arange(6), "w": numpy.linspace(0, 1, STEPS),
              "u_next": numpy.zeros(shape), "v": numpy.zeros(shape)}
    fields = {name: cells.astype(dtype) for name, cells in fields.items()}
    whole = copies(make, fields)
    kernel.advance(whole, steps=STEPS, origin=(2, 3))

    first = copies(make, fields)
    kernel.advance(first, steps=CUT, origin=(2, 3))
    st.save_run(tmp_path / "run.npz", kernel, first, CUT)
    with numpy.load(tmp_path / "run.npz") as saved:
        assert set(saved) == {"u", "c", "checkpoint.json"}, "no field of time, and none that a step only writes"
        numpy.testing.assert_array_equal(saved["u"], host(first[0]))

    second = garbage(make, fields)
    second[2] = make(fields["w"])
    assert st.load_run(tmp_path / "run.npz", kernel, second) == CUT
    kernel.advance(second, steps=STEPS - CUT, step=CUT, origin=(2, 3))
    numpy.testing.assert_array_equal(host(second[0]), host(whole[0]))


def test_steps_that_are_fused_in_half_precision(gpus, tmp_path):
    """Between fused steps cells are not rounded to 16 bits: the cut is after a launch."""
    upwind = st.stencil("u_next = u + a*(u[x-1] + 2*u[x+1] + 3*u[y-1] + 2*u[y+1] - 8*u); a = 0.0625", rank=2)
    shape, database = (40, 96), tmp_path / "winners.db"
    st.tune(upwind, shape=shape, dtype="f16", steps=8, predict_for="h200", max_trials=1, database=database, progress=False,
            candidates=["temporal.bx32.by1.rx3.pf2.t3"])
    kernel = st.lookup(upwind, shape=shape, dtype="f16", steps=8, device=0, database=database)
    assert kernel.fused_steps == 3
    start = numpy.random.default_rng(3).random(shape).astype("f2")

    def pair(values):
        return [CudaArray(gpus.own(aligned(values))) for _ in range(2)]

    whole = kernel.advance(pair(start), steps=8).host
    for cut, is_whole in ((3, True), (6, True), (4, False)):
        first, second = pair(start), pair(numpy.zeros_like(start))
        kernel.advance(first, steps=cut)
        st.save_run(tmp_path / "run.npz", kernel, first, cut)
        made = st.load_run(tmp_path / "run.npz", kernel, second)
        after = kernel.advance(second, steps=8 - made).host
        assert numpy.array_equal(after, whole) == is_whole, cut
        numpy.testing.assert_allclose(after, whole, rtol=0.01)


def test_padded_rows_keep_what_lies_between_them(gpus, tmp_path):
    heat = st.stencil("u_next = u + alpha*laplacian(u); alpha = 0.1", rank=2)
    rooms = [gpus.own(aligned(numpy.random.default_rng(seed).random((6, 40)).astype("f4"))) for seed in range(4)]
    u, u_next, other, other_next = (CudaArray(room[:, 8:]) for room in rooms)  # the last row ends where its room ends
    kernel = st.lookup(heat, like=u)
    st.save_run(tmp_path / "run.npz", kernel, [u, u_next], 0)
    between = rooms[2][:, :8].copy()
    assert st.load_run(tmp_path / "run.npz", kernel, [other, other_next]) == 0
    numpy.testing.assert_array_equal(other.host, u.host)
    numpy.testing.assert_array_equal(rooms[2][:, :8], between)


def test_what_does_not_fit_is_refused(tmp_path):
    path = tmp_path / "run.npz"
    text = "u_next = u + alpha*laplacian(u); alpha = 0.1"

    def run(line=text, shape=(6, 8), **more):
        kernel = st.lookup(st.stencil(line, rank=2), shape=shape, device="cpu", **more)
        return kernel, [numpy.full(shape, 5.0, "f8" if more else "f4") for _ in range(2)]

    def refuses(match, kernel, arrays, error=st.ArgumentError):
        before = [array.copy() for array in arrays]
        with pytest.raises(error, match=match):
            st.load_run(path, kernel, arrays)
        for now, then in zip(arrays, before):
            numpy.testing.assert_array_equal(now, then)

    refuses("cannot be read: No such file", *run(), st.Error)
    kernel, arrays = run()
    st.save_run(path, kernel, [numpy.zeros((6, 8), "f4"), arrays[1]], 3)
    refuses("saved of .*, grid 8x6; this run's is 9x6", *run(shape=(6, 9)))
    refuses("type f32; this run's is f64", *run(dtype="f64"))
    refuses("stencil [0-9a-f]+; this run's is", *run(text.replace("0.1", "0.2")))
    refuses("stencil [0-9a-f]+; this run's is", *run("u_next = u + alpha*(u[x-1] - u); alpha = 0.1"))
    refuses("u has shape", kernel, [numpy.zeros((6, 9), "f4"), arrays[1]])
    periodic = st.lookup(kernel.stencil, shape=(6, 8), boundary="periodic", device="cpu")
    refuses("boundary hold; this run's is periodic", periodic, arrays)
    frozen = numpy.zeros((6, 8), "f4")
    frozen.flags.writeable = False
    refuses("u is read-only, and what was saved goes there", kernel, [frozen, arrays[1]])

    whole = path.read_bytes()
    at = whole.index(b"\x93NUMPY") + 200  # among the cells of u
    for damaged in (whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1:], whole[:len(whole) // 2], b"", b"PK" * 99):
        path.write_bytes(damaged)
        refuses("is damaged, or no checkpoint", kernel, arrays, st.Error)
    numpy.savez(path, u=arrays[0])
    refuses("is damaged, or no checkpoint", kernel, arrays, st.Error)


def test_a_run_that_cannot_be_written_leaves_the_one_before(tmp_path, monkeypatch):
    kernel = st.lookup("heat2d", dims=8, device="cpu")
    arrays = [numpy.zeros((8, 8), "f4") for _ in range(2)]
    st.save_run(tmp_path / "run.npz", kernel, arrays, 3)
    before = (tmp_path / "run.npz").read_bytes()

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(st.Error, match="cannot be written: No space left") as error:
        st.save_run(tmp_path / "run.npz", kernel, arrays, 4)
    assert error.value.code == "file_io"
    assert (tmp_path / "run.npz").read_bytes() == before and len(list(tmp_path.iterdir())) == 1
