"""Sphinx settings: ``make docs`` builds offline, with warnings as errors."""

import re
from importlib import import_module

from labelsure import __version__

project = "labelsure"
author = "The labelsure developers"
copyright = "2026, the labelsure developers. BSD 3-Clause licence"  # noqa: A001 (the name that Sphinx reads)
version = release = __version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx_gallery.gen_gallery",
]
templates_path = ["_templates"]
exclude_patterns = [
    "_templates",
    "generated/gallery/*.ipynb",
    "generated/gallery/*.py",
    "generated/gallery/*.md5",
]
nitpicky = True
nitpick_ignore_regex = [
    ("py:.*", r"sklearn\..*"),  # built offline: no index of other sites is read
    # a method of the same class, seen from a table of classes
    ("py:meth", r"\w+"),
]
suppress_warnings = ["config.cache"]

# Markdown as GitHub shows it, too: links to headings, formulas in dollars and
# in fences called math.
myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 4
myst_fence_as_directive = ["math"]

autosummary_generate = True
autosummary_imported_members = (
    True  # rooms re-export what their private modules define
)
autosummary_ignore_module_all = False
autodoc_typehints = "none"  # the docstrings name the types in words
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "generated/gallery",
    "filename_pattern": "/plot_",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "write_computation_times": False,
    "min_reported_time": 3600,
    "abort_on_example_error": True,
}

html_theme = "pydata_sphinx_theme"
html_title = "labelsure"
html_static_path = ["_static"]
html_css_files = ["labelsure.css"]
html_favicon = "_static/mark.svg"
html_logo = "_static/mark.svg"
html_context = {"default_mode": "auto"}  # light or dark as the system is
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "labelsure"},
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": ["sphinx-version"],
}

ROOMS = (
    *(
        "conformal",
        "predictions",
        "measures",
        "learners",
        "paper",
        "decisions",
        "metrics",
        "engine",
        "datasets",
    ),
    *("model_file", "plots", "report"),
)
SKLEARN_REQUEST = re.compile(r"set_\w+_request|get_metadata_routing")


def skip_member(_app, _what, name, member, skip, _options):  # type: ignore[no-untyped-def]
    """Skip methods that scikit-learn adds: they refer to its own site."""
    from_sklearn = str(getattr(member, "__module__", "")).startswith("sklearn")
    return True if from_sklearn or SKLEARN_REQUEST.fullmatch(name) else skip


def find_home(app, env, node, contents):  # type: ignore[no-untyped-def]
    """Link ``labelsure.Name`` and a bare ``Name`` to the page of its room."""
    if node.get("refdomain") != "py":
        return None
    name, dot, member = (
        node["reftarget"].removeprefix("labelsure.").partition(".")
    )
    rooms = [
        room
        for room in ROOMS
        if name in getattr(import_module(f"labelsure.{room}"), "__all__", ())
    ]
    target = f"labelsure.{rooms[0]}.{name}{dot}{member}" if rooms else ""
    domain = env.get_domain("py")
    if not rooms:
        return None
    return domain.resolve_xref(
        env,
        node["refdoc"],
        app.builder,
        node["reftype"],
        target,
        node,
        contents,
    )


def setup(app):  # type: ignore[no-untyped-def]
    """Connect the hooks."""
    app.connect("autodoc-skip-member", skip_member)
    app.connect("missing-reference", find_home)
