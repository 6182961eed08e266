"""What `bench/bench publish` does to the pages of docs/ and README.md, from made-up records."""

import json

from made_up import winner

import pytest



def section(name, text):
    return f"<!-- figures: {name} -->\n{text}\n<!-- end of figures: {name} -->\n"


README = "first\n" + section("gains", "old gains") + "last\n"
PAGE = """before
<!-- figures: one sweep -->
old sweep
<!-- end of figures: one sweep -->
between
<!-- figures: other systems, one sweep -->
old systems
<!-- end of figures: other systems, one sweep -->
<!-- figures: time steps -->
old steps
<!-- end of figures: time steps -->
<!-- figures: systems -->
old equations
<!-- end of figures: systems -->
after
"""
STAR, ODD = "star3d1r f32 512x512x512 512 1083", "star3d1r f32 509x487x601 509 866.4 1"
STAR_ROW = "| 3D star, order 1, f32, 512³ | **1083** | – | 4 | 450 | 1.50 x | 286 | 722 | – | – |"
ODD_ROW = "| 3D star, order 1, f32, 509 x 487 x 601 | **866** | – | 4 | 450 | 80 % of 512³ |"
SWEEP = "star3d1r f32 512x512x512 512 440"
YEE = "Maxwell, Yee's grid, six fields and a coefficient"


class Pages:
    def __init__(self, bench):
        self.bench = bench
        bench.write("README.md", README)
        bench.write("docs/performance.md", PAGE)

    def record(self, name, *cases, gpus=1, first=1, note=""):
        """Each case is STENCIL TYPE DIMS PITCH RATE_OF_THE_WINNER [COMPARED_WITH]. They take turns on the GPUs."""
        kept = []
        for number, words in enumerate(cases):
            stencil, type, dims, pitch, rate, *against = words.split()
            kept.append({
                "stencil": stencil, "type": type, "dims": dims, "pitch": int(pitch), "boundary": "hold",
                "steps": 1 if name == "single-sweep" else 100, "device": {"name": "Fake GPU", "uuid": f"GPU-{number % gpus}"},
                "copy_ceiling_gstencils": 500, "fits_in_l2": False, "case": number + first, "notes": [note],
                **({"compared_with_case": int(against[0])} if against else {}),
                "kernels": [{"kernel": "winner", "code": "temporal.bx32.t4.ch2", "gstencils": float(rate)},
                            {"kernel": "one sweep", "code": "direct.bx32", "gstencils": 450},
                            {"kernel": "naive", "code": "direct.bx64", "gstencils": 250},
                            {"kernel": "pmpp-register", "not_available": "no"}]})
        record = {"date": "2026-01-02T03:04", "commit": "abc", "cases": kept}
        self.bench.write(f"records/{name}.json", json.dumps(record))

    def ship(self, created_at, burst, under_load):
        """The only winner that ships."""
        trial = {"stencil_name": "star3d1r", "stage": 0, "type": "f32", "rank": 3, "nx": 512, "ny": 512, "nz": 512,
                 "pitch": 512, "steps": 100, "boundary_x": "hold", "boundary_y": "hold", "boundary_z": "hold",
                 "created_at": created_at, "rate": burst, "sustained_rate": under_load,
                 "code": "temporal.bx32.t8.ch2"}
        self.bench.write("db/pretuned/records.json", json.dumps({"winners": [{"trial": trial}]}))

    def ship_of_corpus(self, *lines):
        """Two definitions, and winners: NAME STAGE EXTENT STEPS KEY CODE of each."""
        self.bench.write("corpus/pair.toml", "name = 'pair'\n[[stage]]\na = 1\n[[stage]]\nb = 1\n")
        self.bench.write("corpus/wave.toml", "name = 'wave'\n")
        self.bench.write("corpus/spare.toml", "name = 'spare'\n")
        winners = []
        for line in lines:
            name, stage, extent, steps, key, code = line.split()
            made = winner(name, int(steps), code, "time")
            made["trial"].update(stage=int(stage), nx=int(extent), ny=int(extent), stencil_key=key, rate=200.0, share=0.5,
                                   created_at="2026-01-02T03:04")
            winners.append({**made, "naive_rate": 100.0})
        self.bench.write("db/pretuned/records.json", json.dumps({"winners": winners}))
        self.bench.write("docs/stencils.md", section("corpus", "old corpus"))
        self.bench.write("docs/scaling.md", section("weak scaling", "old weak") + section("strong scaling", "old strong"))

    def publish(self, status=0):
        """The page."""
        ended, said = self.bench.run("publish", "records")
        assert ended == status, said
        return self.page

    @property
    def page(self):
        return self.bench.read("docs/performance.md")

    def lines(self):
        return self.page.splitlines()

    def drawing(self, name):
        file = self.bench.root / "docs" / name
        return file.read_text() if file.exists() else None


@pytest.fixture
def pages(bench):
    return Pages(bench)


def test_puts_runs_beside_what_others_reach(pages):
    pages.record("temporal", STAR, ODD)
    assert "old steps" not in pages.publish()
    for line in (STAR_ROW, ODD_ROW, "old sweep", "before", "between", "after"):
        assert line in pages.lines()
    assert ">1083</text>" in pages.drawing("temporal.svg")


def test_puts_the_sweep_tuned_for_the_same_grid_beside_runs(pages):
    def odd_row(one_sweep):
        return ODD_ROW.replace("450", one_sweep)

    pages.record("temporal", STAR, ODD, note="one sweep: direct.bx32 (match: nearest size): tuned at 512x512x512")
    pages.publish()
    assert odd_row("–") in pages.lines()
    pages.record("single-sweep", SWEEP, "star3d1r f32 509x487x601 509 423")
    pages.publish()
    assert odd_row("423") in pages.lines()
    pages.record("temporal", STAR, ODD, note="one sweep: direct.bx32 (match: exact): tuned at 512x512x512")
    pages.publish()
    assert STAR_ROW in pages.lines()


def test_puts_shares_of_the_copy(pages):
    pages.record("single-sweep", "box2d1r f64 16384x16384 16384 460", "star3d4r f32 509x487x601 512 400")
    pages.publish()
    for line in ("| 2D box, order 1, f64, 16384² | **460** | 92 % | 250 | – | – | – | – |",
                 "| 3D star, order 4, f32, 509 x 487 x 601, rows padded | **400** | 80 % | 250 | – | – | – | – |", "old steps"):
        assert line in pages.lines()
    assert pages.drawing("temporal.svg") is None  # without a record of runs


def test_leaves_out_what_did_not_run(pages):
    pages.record("temporal", "star3d1r f32 512x512x512 512 0", ODD)
    assert "| 3D star, order 1, f32, 512³" not in pages.publish()
    assert ODD_ROW.replace("80 % of 512³", "") in pages.lines()


def test_compares_with_the_case_of_that_number(pages):
    pages.record("temporal", STAR, ODD[:-1] + "4", first=4)
    pages.publish()
    assert ODD_ROW in pages.lines()


@pytest.mark.parametrize("gpus, words", [(1, ", one Fake GPU)"), (2, ", each row on one of 2 Fake GPU)")])
def test_says_how_many_gpus_it_took(pages, gpus, words):
    pages.record("temporal", STAR, ODD, gpus=gpus)
    assert words in pages.publish()


def test_shows_the_winner_that_ships_where_it_raced_since(pages):
    pages.record("temporal", STAR, ODD)
    pages.ship("2026-01-01T00:00", 1444, 1300)
    pages.publish()
    assert STAR_ROW in pages.lines()
    pages.ship("2026-02-03T00:00", 1444, 1300)
    assert "until 2026-02-03" in pages.publish()
    assert "| 3D star, order 1, f32, 512³ | **1444** | 1300 | 8 | 450 | 2.00 x | 286 | 722 | – | – |" in pages.lines()
    assert ODD_ROW.replace("80 %", "60 %") in pages.lines()


def test_writes_the_same_again(pages):
    pages.record("temporal", STAR)
    assert pages.publish() == pages.publish()


def test_draws_what_tuning_gains_where_both_records_have_it(pages):
    pages.record("single-sweep", SWEEP)
    pages.publish()
    assert "old gains" in pages.bench.read("README.md") and pages.drawing("gains.svg") is None
    pages.record("temporal", STAR)
    pages.publish()
    for figure in (250, 440, 722, 1083):
        assert f">{figure}</text>" in pages.drawing("gains.svg")
    readme = pages.bench.read("README.md")
    assert readme.startswith("first\n") and readme.endswith("last\n")
    assert "](docs/gains.svg)" in readme and "Fake GPU" in readme and "2026-01-02" in readme


def test_puts_whole_steps_beside_torch_compile_and_other_grids(pages):
    pages.record("systems", "yee3d f32 512x512x512 512 150", "yee3d f32 509x487x601 509 120 1",
                 "yee3d f32 509x487x601 512 135 1", "fdtd2d f32 8192x8192 8192 700")
    assert "old equations" not in pages.publish()
    assert f"| {YEE}, f32, 512³ | **150** | – | 4 | – | – |  |" in pages.lines()
    assert f"| {YEE} | 80 % | 90 % |" in pages.lines()
    lines = [{"torch": "2.11", "date": "2026-01-03"},
             {"case": "yee3d", "extents": "512x512x512", "type": "f32", "gstencils": 50.0}]
    pages.bench.write("records/torch-systems.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    assert "PyTorch 2.11, 2026-01-03" in pages.publish()
    assert f"| {YEE}, f32, 512³ | **150** | – | 4 | – | 50 | 3.0 x |" in pages.lines()
    pages.record("single-sweep", SWEEP)
    pages.record("temporal", STAR)
    pages.publish()
    assert ">150</text>" in pages.drawing("gains.svg")
    assert "run 3.0 to 3.0 times as fast as with torch.compile (runs" in pages.bench.read("README.md")


def test_puts_one_sweep_beside_other_systems(pages):
    pages.record("single-sweep", SWEEP)
    assert "old systems" not in pages.publish()
    assert "| 3D star, order 1, f32, 512³ | **440** | 368 | 355 | 208 | 216 | 23 | 83 | – |" in pages.lines()


def test_changes_nothing_without_records(pages):
    assert pages.publish(status=1) == PAGE


def test_changes_nothing_without_markers(pages):
    pages.bench.write("docs/performance.md", "no markers\n")
    pages.record("temporal", STAR)
    assert pages.publish(status=1) == "no markers\n"
    assert pages.drawing("temporal.svg") is None


def test_compares_without_writing(pages):
    pages.record("temporal", STAR)
    status, said = pages.bench.run("publish", "records", "--check")
    assert (status, pages.page, pages.drawing("temporal.svg")) == (1, PAGE, None)
    assert "-old steps\n+![" in said and f"+{STAR_ROW}\n" in said
    pages.publish()
    assert pages.bench.run("publish", "records", "--check") == (0, "")


def test_puts_systems_of_other_gpus_below(pages):
    pages.record("systems", "yee3d f32 512x512x512 512 120")
    pages.bench.write("h9/systems.json", pages.bench.read("records/systems.json"))
    pages.record("systems", "yee3d f32 512x512x512 512 150")
    pages.bench.write("docs/performance.md", PAGE + section("systems, h9", "old"))
    first, second = pages.publish().split("<!-- figures: systems, h9 -->")
    assert f"| {YEE}, f32, 512³ | **150** |" in first and f"| {YEE}, f32, 512³ | **120** |" in second
    assert "[h9/systems.json](../h9/systems.json)" in second


def test_says_what_ships_of_the_corpus_and_what_the_program_predicts_of_it(pages):
    point = {"gpus": 8, "cut": "1x1x8", "part": "1024x1024x1024", "fused_steps": 5, "steps_per_exchange": 10,
             "exchange_us": 123.6, "step_us": 881.54, "gstencils": 9704.6, "efficiency": 0.9637}
    pages.bench.fake("stencil-tune", f"#!/bin/sh\necho \"$@\" >> asked\necho '[{json.dumps(point)}]'\n")
    pages.record("temporal", STAR)
    pages.ship_of_corpus("pair 1 64 1 k direct.bx32", "pair 1 96 1 k direct.bx64", "pair -1 64 100 k system.t4",
                         "wave -1 32 3 k1 system.t3", "wave -1 24 3 k2 system.t3")
    pages.publish()
    text = pages.bench.read("docs/stencils.md")
    assert "| `pair, stage 1` | f32, 64² | **200.0** | 50.0 % | 100.0 | `direct.bx32` |\n\nWinners of runs ship of `pair` (f32); " in text
    assert "of `wave` (f32). No winner ships of `spare`." in " ".join(text.split()) and "stage 0" not in text
    text = pages.bench.read("docs/scaling.md")
    assert text.count("| star3d1r, f32 | 8 | 1x1x8 | 1024x1024x1024 | 5 | 10 | 124 | 881.5 | 9705 | 96.4 % |") == 2
    assert "stencil-tune --stencil star3d1r --dims 2048 --steps 100 --gpus 8,64,512,4096 --device-model records\n" in text
    asked = pages.bench.read("asked").splitlines()
    assert len(asked) == 6 and sum(" --weak --json" in words for words in asked) == 3


def test_puts_scaling_that_was_measured(pages):
    pages.record("temporal", STAR)
    point = {"stencil": "yee3d", "scaling": "strong", "dims": [64, 64, 64], "fused_steps": 4, "gstencils": 190.04,
             "whole_on_one_gstencils": 90, "one_gpu_gstencils": 100, "efficiency": 1.0556, "target": 0}
    record = {"gpu": "Fake GPU", "commit": "0123456789", "date": "2026-01-02T03:04", "points": [point],
              "links": {"node_gbs": 297.03, "node_latency_us": 12.98}}
    pages.bench.write("h9/scaling.json", json.dumps(record))
    pages.bench.write("h9/scaling.txt", "yee3d  strong  64x64x64  1x1x2  4  190.0  90.0  105.6 %    +1.4 %\n")
    pages.bench.write("docs/scaling.md", section("measured, h9", "old"))
    pages.publish()
    text = pages.bench.read("docs/scaling.md")
    assert "| yee3d | strong | 64x64x64 | 4 | 190.0 | 90.0 | 105.6 % |  | +1.4 % |" in text
    assert "yee3d 100.0 GStencil/s and 95.0 %." in text


def test_puts_scores_of_searches(pages):
    pages.record("temporal", STAR)
    spaces = [{"name": "gemm", "evaluations": 1400, "score": 0.741, "curve": [0.0, 0.5]}]
    strategies = [{"name": name, "score": 0.741, "spaces": spaces} for name in ("portfolio", "local", "random")]
    pages.bench.write("search/scores.json", json.dumps({"repeats": 100, "strategies": strategies}))
    pages.bench.write("docs/search.md", section("scores", "old"))
    pages.publish()
    assert "| gemm (1,400) | 0.74 | 0.74 |\n| **mean** | **0.741** | 0.741 |" in pages.bench.read("docs/search.md")
    assert "portfolio 0.74</text>" in pages.drawing("search.svg")
