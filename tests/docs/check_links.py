#!/usr/bin/env python3
"""Every relative link and picture of the Markdown pages below a folder leads to a file there, and to a heading of it.

    check_links.py FOLDER [FILE...]      README.md and all of docs/, examples/, bench/ where no files are named
"""

import pathlib
import re
import sys

LINK = re.compile(r"\]\(([^)\s]+)\)")
INSTALLED = {"docs", "corpus", "examples", "kernels", "bench", "db"}  # the folders that installed pages can link to


def without_code(text):
    return re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.DOTALL)


def anchors(page):
    """GitHub's names of headings: lower case, words joined by dashes, no punctuation."""
    headings = re.findall(r"^#+ +(.*)$", re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.replace("`", "").lower()).strip().replace(" ", "-") for heading in headings}


def problems(page, root):
    for link in LINK.findall(without_code(page.read_text())):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.is_relative_to(root) or not target.exists():
            yield f"{page}: {link} leads nowhere"
        elif target.parent != root and target.relative_to(root).parts[0] not in INSTALLED:
            yield f"{page}: {link} leads to what is not installed"
        elif anchor and target.suffix == ".md" and anchor not in anchors(target):
            yield f"{page}: {link} names no heading of {target.name}"


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    pages = [pathlib.Path(name).resolve() for name in sys.argv[2:]]
    if not pages:
        pages = [*root.glob("*.md"), *(page for folder in ("docs", "examples", "bench") for page in root.glob(f"{folder}/**/*.md"))]
    found = [problem for page in sorted(pages) for problem in problems(page, root)]
    print(*found, f"{len(pages)} pages, {len(found)} links that lead nowhere", sep="\n")
    sys.exit(1 if found or not pages else 0)


if __name__ == "__main__":
    main()
