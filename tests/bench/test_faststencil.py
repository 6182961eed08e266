"""How bench/peers/faststencil/side-by-side times both sides and what it keeps."""

import json

import pytest


@pytest.fixture
def side_by_side(bench):
    bench.fake("stencil-tune", """#!/usr/bin/env bash
case $1 in
  devices) echo '{"devices": [{"name": "Fake GPU", "driver": "13.0"}]}' ;;
  tune) echo "$*" >>tunes ;;
  export)
    [[ $* != *--code*temporal.bx32.by1.* ]] || exit 1 # illegal here
    printf '// Candidate systolic.rx13.t32.tg8 for it\\n' >"${@: -1}"
    ;;
  *) echo 'stencil-tune 1 (abc)' ;;
esac
""")
    # Ours run at 2000, FastStencil's at 1600; its 3D is not built.
    bench.fake("nvcc", """#!/usr/bin/env bash
[[ $* != *3dstencil* ]] || { echo 'error: no'; exit 1; }
rate=2000
while [[ $1 != -o ]]; do [[ $1 != *dstencil* ]] || rate=1600; shift; done
printf '#!/usr/bin/env bash\\nwhile read -r rest steps; do echo "%s $rest $steps" >>runs; echo "it says %s.5 GStencil/s, and so on"; done\\n' \\
  "$rate" "$rate" >"$2"
chmod +x "$2"
""")
    trial = {"stencil_name": "star2d1r", "type": "f64", "steps": 100}
    codes = ["systolic.bx32.by1.rx13", "temporal.bx32.by1.rx4"]
    bench.write("db/pretuned/h200.json", json.dumps({"winners": [{"trial": {**trial, "code": code}} for code in codes]}))
    return lambda *rows: bench.run("checkout", "folder", "--bin", "bin", *rows, program="bench/peers/faststencil/side-by-side")


def test_puts_both_rates_side_by_side(bench, side_by_side):
    status, _ = side_by_side("j2d5pt")
    assert status == 0
    text = bench.read("folder/faststencil.txt")
    assert text.count("2000.5   1600.5  1.25 x   2000.5   1600.5  1.25 x") == 2  # its own grid and the equal one
    assert "Fake GPU" in text and "(abc)" in text
    races = [tune for tune in bench.read("tunes").splitlines() if "--dims 11616x11616" in tune]
    assert races and all("--candidates systolic" in tune and "temporal.bx32.by1." not in tune for tune in races)  # legal codes


def test_rests_before_bursts_alone_and_loads_for_long(bench, side_by_side):
    side_by_side("j2d5pt")
    runs = bench.read("runs").splitlines()
    assert runs.count("1600 100 320") == 10  # five bursts of ten launches a grid
    assert "1600 0 17792" in runs  # 1.5 s of 1600.5 GStencil/s on 11616 x 11616, in whole launches of 32 steps


def test_says_what_could_not_be_built_and_goes_on(bench, side_by_side):
    _, said = side_by_side("j3d27pt")
    assert "nvcc does not build faststencil-3d: error: no" in said
    side_by_side("j3d27pt", "j2d5pt")
    assert len(bench.read("tunes").splitlines()) == 4  # two grids each: what is known does not run again
    rows = [line for line in bench.read("folder/faststencil.txt").splitlines() if line.startswith("box3d1r")]
    assert len(rows) == 2 and all("faststencil: " in row for row in rows)
