"""The fenced blocks of a page: their language, what the fence says beyond it, and their text."""

import dataclasses
import re

COMMANDS = re.compile(r" {4,}(stencil-tune|scripts/|build/|cmake|nvcc|bench/)\b")


@dataclasses.dataclass
class Block:
    language: str
    note: str  # "fragment", "from FILE", what a block of Python needs ("gpu", a package), or nothing
    text: str
    line: int


def blocks_of(page):
    """Raises ValueError for a fence without a language, and for a command that stands outside of a fence."""
    blocks, block = [], None
    for number, line in enumerate(page.read_text().splitlines(), 1):
        fence = re.match(r"```(\S*) *(.*)$", line)
        if fence and block is None:
            if not fence[1]:
                raise ValueError(f"{page}:{number}: a block without a language: sh, cpp, ... or text")
            block = Block(fence[1], fence[2], "", number)
        elif fence:
            blocks.append(block)
            block = None
        elif block is not None:
            block.text += line + "\n"
        elif COMMANDS.match(line):
            raise ValueError(f"{page}:{number}: a command outside of a sh block, so that nothing runs it: {line.strip()}")
    if block is not None:
        raise ValueError(f"{page}:{block.line}: a block without an end")
    return blocks
