"""Pages with sections between markers, and drawings: written all together, or compared with what is there."""

import difflib
import sys

from bench import ROOT


class Pages:
    """Texts by their paths, relative to ROOT."""

    def __init__(self):
        self.texts = {}

    def replace(self, path, name, section):
        """Ends the program where the page lacks the section's markers: then nothing is written."""
        begin, end = f"<!-- figures: {name} -->", f"<!-- end of figures: {name} -->"
        text = self.texts.get(path) or (ROOT / path).read_text()
        before, found, rest = text.partition(begin)
        _, ended, after = rest.partition(end)
        if not found or not ended:
            sys.exit(f"{path} has no lines '{begin}' and '{end}'")
        self.texts[path] = f"{before}{begin}\n{section}{end}{after}"

    def draw(self, path, drawing):
        self.texts[path] = drawing

    def write(self):
        for path, text in self.texts.items():
            (ROOT / path).write_text(text)

    def differences(self):
        """What is there beside what would be written, in lines."""
        for path, text in self.texts.items():
            kept = (ROOT / path).read_text() if (ROOT / path).exists() else ""
            yield from difflib.unified_diff(kept.splitlines(), text.splitlines(), path, "by the records", lineterm="", n=0)
