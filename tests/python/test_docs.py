"""The Python blocks of README and of pages with such blocks, as one session a page. Those marked `gpu` run on a GPU alone,
those marked with a package's name where it is installed, those marked `picture` where the site is made."""

import importlib.util
import pathlib
import subprocess
import sys

import numpy
import pytest
from device_arrays import CudaArray, aligned

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests" / "docs"))
from blocks import blocks_of  # noqa: E402


@pytest.mark.parametrize("page", ["docs/python.md", "docs/stencils.md", "docs/tutorial-python.md", "docs/tutorial-maxwell.md",
                                  "docs/tutorial-cavity.md", "docs/tutorial-inversion.md", "README.md"])
def test_a_pages_blocks_run_in_order(page, gpus, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    u, u_next = (CudaArray(gpus.own(aligned(numpy.zeros((8, 16, 32), numpy.float32)))) for _ in range(2))
    session = {"u": u, "u_next": u_next}
    blocks = [block for block in blocks_of(ROOT / page) if block.language == "python"]
    assert blocks
    for block in blocks:
        code = compile(block.text, f"{page}:{block.line}", "exec")
        if not block.note or block.note != "gpu" and importlib.util.find_spec(block.note):
            exec(code, session)  # pylint: disable=exec-used


@pytest.mark.parametrize("command", [["heat.py", "--cells", "10", "--steps", "20", "--cpu"],
                                     ["cavity.py", "--cells", "8", "--cpu"],
                                     ["relaxation.py", "--cells", "16", "--cpu"],
                                     ["forest_fire.py", "--cells", "24", "--steps", "300", "--cpu"]])
def test_examples_have_the_known_answer(command):
    done = subprocess.run([sys.executable, ROOT / "examples" / "python" / command[0], *command[1:]], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    assert done.returncode == 0, done.stdout
