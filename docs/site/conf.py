"""The documentation's site, built by the CMake target `site` in a folder of links to the tree's own files: links between
pages are the same there and in the repository."""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

project = "stencil-tune"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
include_patterns = ["*.md", "docs/*.md", "docs/python/*.md", "gallery/*.md", "examples/README.md", "bench/README.md",
                    "bench/results/*/README.md"]
myst_heading_anchors = 6
myst_enable_extensions = ["colon_fence"]

autodoc_mock_imports = ["cupy", "jax", "torch"]
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
napoleon_use_ivar = True  # attributes of a named tuple are members already

html_theme = "furo"
html_title = "stencil-tune"
html_show_copyright = False
html_copy_source = False
html_static_path = [str(ROOT / "docs/site/static")]
html_css_files = ["site.css"]
