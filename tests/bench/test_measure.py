"""How `bench/bench measure` runs its steps and what it keeps of them. The steps are fakes, but it is the real one."""

import json
import os
import shutil
import tarfile

import pytest

# Says what it was called with, and leaves a file in its folder. HANGS names one that does not end.
STEP = """#!/usr/bin/env bash
name=$(basename "$0")
if [[ $name == bench ]]; then name=$1; shift; fi
echo "$name $*" | tee -a "$RAN"
for word in "$@"; do
  if [[ $word == */build/measure/* ]]; then mkdir -p "$word/built" && date >"$word/$name.json" && touch "$word/built/large"; fi
  if [[ $name == retime && $word == */build/measure/* ]]; then touch "$word/h200.json"; fi
done
if [[ $name == "${HANGS:-}" ]]; then
  trap 'echo "it heard"; exit 143' TERM
  while :; do sleep 0.1; done
fi
"""


@pytest.fixture
def bench(bench):
    bench.fake("stencil-tune", """#!/usr/bin/env bash
case $1 in
  devices) echo '{"devices": [{"name": "NVIDIA H200", "uuid": "GPU-1", "driver": "13.0"}]}' ;;
  *) echo 'stencil-tune 1 (abc)' ;;
esac
""")
    for name in ("bin/stencil_tune_bench_kernel_code", "bin/stencil_tune_bench_shipped_rates", "db/pretuned/h200.json",
                 "checkout/2dstencil/file"):
        bench.write(name, "")
    os.rename(bench.root / "bench/bench", bench.root / "bench/measures")
    for name in ("bench/bench", "bench/peers/torch_systems.py", "bench/peers/faststencil/side-by-side"):
        bench.write(name, STEP).chmod(0o755)
    bench.environment["RAN"] = str(bench.root / "ran")
    return bench


def measure(bench, *words, **environment):
    return bench.run("measure", "out", "--bin", "bin", *words, program="bench/measures", **environment)


def ran(bench):
    return bench.read("ran").splitlines() if (bench.root / "ran").exists() else []


def ended(bench):
    return {step["step"]: step["status"] for step in json.loads(bench.read("out/measure.json"))["steps"]}


def packed(bench):
    with tarfile.open(bench.root / "out/results.tar.gz") as tar:
        return {entry.name: tar.extractfile(entry).read().decode() for entry in tar if entry.isfile()}


def test_prints_the_plan_and_runs_nothing(bench):
    status, said = measure(bench, "--dry-run")
    assert status == 0
    assert said.index("bench/bench retime h200 also") < said.index("left out: no CHECKOUT") < said.index("MiB")
    assert not ran(bench) and not (bench.root / "out").exists()


def test_keeps_what_steps_made_in_few_files(bench):
    status, _ = measure(bench, "exports", "contenders", "torch")
    assert status == 0
    contenders, exports, torch = ran(bench)  # the most valuable first
    assert contenders.startswith("retime ") and contenders.endswith(" --seconds 120")  # nothing starts in the time to end
    assert exports.startswith("exports ") and exports.endswith("/shipped/h200.json") and "--winners" in exports
    assert torch == "torch_systems.py --json"
    assert sorted(file.name for file in (bench.root / "out").iterdir()) == ["measure.json", "measure.txt", "results.tar.gz"]
    kept = packed(bench)
    assert "results/shipped/retime.json" in kept and kept["results/torch-systems.jsonl"] == torch + "\n"
    assert not any("large" in name for name in kept)  # what was built stays
    assert json.loads(bench.read("out/measure.json"))["program"] == "stencil-tune 1 (abc)"


def test_leaves_out_what_cannot_run(bench):
    (bench.root / "db/pretuned/h200.json").unlink()
    status, said = measure(bench, "contenders", "exports", "faststencil", "--faststencil", "checkout")
    assert status == 1
    assert ended(bench) == {"contenders": "left out", "exports": "done", "faststencil": "done"}
    assert "contenders: left out, no db/pretuned/h200.json" in said


def test_ends_a_step_that_overruns_and_keeps_it(bench):
    # After 3 s it is told to end; another would need 3.
    measure(bench, "exports", "torch", "--seconds", "4", "--grace", "1", HANGS="exports")
    assert ended(bench) == {"exports": "cut short", "torch": "no time"}
    assert packed(bench)["results/exports.txt"].endswith("it heard\n")


def test_goes_on_from_what_another_machine_had(bench):
    measure(bench, "contenders")
    os.rename(bench.root / "out/results.tar.gz", bench.root / "before.tar.gz")
    shutil.rmtree(bench.root / "build")
    shutil.rmtree(bench.root / "out")
    status, _ = measure(bench, "exports", "--resume", "before.tar.gz")
    assert status == 0
    assert "results/shipped/retime.json" in packed(bench)


def test_refuses_a_step_that_there_is_not(bench):
    status, said = measure(bench, "exprots")
    assert status == 1 and "no step exprots" in said
