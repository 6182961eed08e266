"""What `bench/bench exports` makes of what the programs, nvcc and exported files say."""

import json

import pytest


@pytest.fixture
def exports(bench):
    """Runs it on winners: name -> what its exported file will print."""
    bench.fake("stencil-tune", "#!/usr/bin/env bash\necho 'stencil-tune 1 (abc)'\n")
    bench.fake("stencil_tune_bench_kernel_code", """#!/usr/bin/env bash
while read -r name said; do
  printf '// Build: nvcc -O3 -arch=sm_90 %s.cu (runs)\\n// %s\\n' "$name" "$said" >"$2/$name.cu"
done <winners
""")
    # What it builds prints the second line of its source; of "broken" it builds nothing.
    bench.fake("nvcc", """#!/usr/bin/env bash
echo "$*" >>builds
[[ $* == *broken* ]] && { echo 'error: no'; exit 1; }
sed -n '2s|^// \\(.*\\)|#!/usr/bin/env bash\\necho "self-check: right"\\necho "64 x 32 x 1: \\1 GStencil/s, 9 GB/s"|p' "${@: -1}" >"${@: -2:1}"
chmod +x "${@: -2:1}"
""")
    bench.fake("stencil_tune_bench_shipped_rates", """#!/usr/bin/env bash
echo '{"gpu": "Fake GPU", "driver": "13.0", "winners": 2}'
while read -r name; do
  if [[ $name == *lost* ]]; then echo '{"problem": "no kernel"}'; else echo '{"ms_a_step": 0.25, "gstencils": 400.0}'; fi
done
""")

    def run(winners, *words):
        bench.write("winners", "".join(f"{name} {said}\n" for name, said in winners.items()))
        return bench.run("exports", "folder", "--bin", "bin", "--jobs", "2", *words)

    return run


def shares(bench):
    return {row["winner"]: round(100 * row.get("share", 0), 1) for row in json.loads(bench.read("folder/exports.json"))["exports"]}


def test_compares_times_of_a_step(bench, exports):
    run, sweep = "run.n100.temporal.t4.mb1", "sweep.n1.direct.tb2"
    status, _ = exports({run: "1.0 ms, 399.0", sweep: "0.25 ms, 400.0"})
    assert status == 0
    assert shares(bench) == {run: 100, sweep: 100}  # four steps a launch
    text = bench.read("folder/exports.txt")
    assert "Fake GPU" in text and "(abc)" in text and "0 below 97 %" in text


def test_fails_where_one_is_slower(exports):
    status, said = exports({"slow.direct": "0.26 ms, 385.0"})
    assert status == 1 and "96.2 %" in said


def test_fails_where_one_cannot_be_built_or_timed(exports):
    status, said = exports({"broken.direct": "0.25 ms, 400.0", "lost.direct": "0.25 ms, 400.0"})
    assert status == 1
    assert "error: no" in said and "no kernel" in said and "none was timed" in said


def test_goes_on_where_it_stopped(bench, exports):
    status, said = exports({"a.direct": "0.25 ms, 400.0"}, "--seconds", "0.0001")  # builds it, and times nothing
    assert status == 1 and "not finished" in said
    exports({"a.direct": "0.25 ms, 400.0"})
    exports({"a.direct": "0.25 ms, 400.0", "b.direct": "0.25 ms, 400.0"})
    assert shares(bench) == {"a.direct": 100, "b.direct": 100}
    assert bench.read("builds").count("a.direct.cu") == 1
