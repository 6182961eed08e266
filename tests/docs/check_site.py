#!/usr/bin/env python3
"""The site that the target `site` wrote: links lead to files and places of it, each equation has a page with a picture and,
where a kernel of it ships, a drawing; tutorials have pictures and notebooks.

    check_site.py SITE ROOT     ROOT: of the repository, for what must have a page
"""

import html.parser
import json
import pathlib
import re
import sys
import urllib.parse
import xml.etree.ElementTree

from matplotlib import image


class Page(html.parser.HTMLParser):
    """What a page links to, and the names of its places."""

    def __init__(self, path):
        super().__init__()
        self.links, self.places, self.pictures = [], {""}, []
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.places.update(given[key] for key in ("id", "name") if given.get(key))
        self.links += [given[key] for key in ("href", "src") if given.get(key)]
        if tag == "img":
            self.pictures.append(given.get("src", ""))


def broken_links(pages):
    """Of all pages."""
    for path, page in pages.items():
        for link in page.links:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
            place = urllib.parse.unquote(parts.fragment)
            if target.is_dir() or not target.exists():
                yield f"{path}: {link} leads nowhere"
            elif target in pages and place not in pages[target].places:
                yield f"{path}: {link} names no place of {target.name}"


def shows(path):
    """Whether not all of a picture is of one colour."""
    pixels = image.imread(path)
    return (pixels != pixels[0, 0]).any()


def broken_drawings(site):
    for path in sorted(site.glob("_images/*.svg")):
        try:
            xml.etree.ElementTree.parse(path)
        except xml.etree.ElementTree.ParseError as error:
            yield f"{path}: {error}"


def missing_pictures(pages, site, root):
    names = [path.stem for path in sorted((root / "corpus").glob("*.toml"))]
    models = re.search(r"__all__ = (\[.*\])", (root / "python/stencil_tune/models/__init__.py").read_text())[1]
    names += [f"model-{name}" for name in re.findall(r'"([a-z_]+)"', models)]
    index = pages.get(site / "gallery/index.html")
    for name in names:
        path = site / f"gallery/{name}.html"
        if path not in pages or f"{name}.html" not in index.links:
            yield f"{name} has no page in the gallery"
            continue
        pictures = {pathlib.Path(picture).name: path.parent / picture for picture in pages[path].pictures}
        if f"{name}.png" not in pictures or not all(map(shows, pictures.values())):
            yield f"{path} has no picture that shows something"
        text = path.read_text()
        if "under load" in text and "of a zone" not in text and '<figure class="kernel">' not in text:
            yield f"{path} has no drawing of its kernel"
    if len(names) < 2:
        yield "no equations were found"


def broken_notebooks(pages, site):
    found = sorted(site.rglob("*.ipynb"))
    if not found:
        yield "no notebooks were found"
    for path in found:
        code = ["".join(cell["source"]) for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]
        for number, text in enumerate(code):
            compile(text, f"{path}:{number}", "exec")
        page = site / f"docs/{path.stem}.html"
        if not code or page not in pages or not any(shows(page.parent / picture) for picture in pages[page].pictures):
            yield f"{path} has no code, or its page no picture that shows something"


def main():
    site, root = (pathlib.Path(name).resolve() for name in sys.argv[1:])
    pages = {path: Page(path) for path in sorted(site.rglob("*.html")) if not path.is_relative_to(site / "cpp")}
    found = [*broken_links(pages), *broken_drawings(site), *missing_pictures(pages, site, root), *broken_notebooks(pages, site)]
    print(*found, f"{len(pages)} pages, {len(found)} faults", sep="\n")
    sys.exit(1 if found or not pages else 0)


if __name__ == "__main__":
    main()
