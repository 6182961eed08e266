"""bench/ in a folder of its own, where fakes take the place of all programs that it starts."""

import os
import pathlib
import shutil
import subprocess
import sys
import time

import pytest

SOURCE = pathlib.Path(__file__).resolve().parents[2] / "bench"


class Bench:
    def __init__(self, root):
        self.root = root
        self.bin = root / "bin"
        self.bin.mkdir()
        shutil.copytree(SOURCE, root / "bench", ignore=shutil.ignore_patterns("results", "*.cpp", "*.hpp", "__pycache__"))
        self.environment = {**os.environ, "STENCIL_TUNE": str(self.bin / "stencil-tune"), "CUDA_HOME": "",
                            "PATH": f"{self.bin}:{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"}

    def fake(self, name, text):
        """A program in bin/."""
        self.write(f"bin/{name}", text).chmod(0o755)

    def write(self, name, text):
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def read(self, name):
        return (self.root / name).read_text()

    def start(self, *words, program="bench/bench", **environment):
        """Starts it in a process group of its own, as a terminal or timeout does."""
        return subprocess.Popen([self.root / program, *words], cwd=self.root, env={**self.environment, **environment},
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                start_new_session=True)

    def run(self, *words, **more):
        """Its status and what it said."""
        process = self.start(*words, **more)
        said, _ = process.communicate(timeout=60)
        return process.returncode, said


@pytest.fixture
def bench(tmp_path):
    return Bench(tmp_path)


def wait_until(condition):
    until = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.02)
