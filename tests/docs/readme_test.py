#!/usr/bin/env python3
"""What README promises to be: short, with a picture of what is gained and a way in from every language.

    readme_test.py README
"""

import pathlib
import sys
import unittest

from blocks import blocks_of

README = pathlib.Path(sys.argv.pop())
LINES = 150


class Readme(unittest.TestCase):
    def test_is_read_in_one_go(self):
        self.assertLess(len(README.read_text().splitlines()), LINES)

    def test_shows_every_way_in(self):
        shown = {block.language for block in blocks_of(README)}
        self.assertLessEqual({"sh", "cpp", "c", "fortran", "python", "text"}, shown)
        self.assertIn("stencil-tune export", README.read_text())

    def test_shows_what_is_gained(self):
        self.assertIn("](docs/gains.svg)", README.read_text())


if __name__ == "__main__":
    unittest.main()
