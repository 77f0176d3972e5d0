"""The documentation is true: its examples run and its links lead somewhere.

Every Python block of README.md and docs/*.md is run, each page from top to bottom in one namespace.
A ``text`` block right below a Python block is what that prints; its words must be the same, its
numbers nearly so, because the last digits of a learner differ between machines and versions. A
block that cannot run is marked by a line above it, ``<!-- not run: the reason -->``.
"""

import contextlib
import io
import re
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from unittest.mock import patch

import pytest

import labelsure
from labelsure.measures import MEASURES

ROOT = Path(__file__).parents[1]
PAGES = {
    str(path.relative_to(ROOT)): path
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
}
OTHER_PAGES = [
    "CHANGELOG.md",
    "CODE_OF_CONDUCT.md",
    "CONTRIBUTING.md",
    "RELEASING.md",
    "SECURITY.md",
]
FENCE = re.compile(
    r"(?P<mark><!-- not run: (?P<reason>[^\n]*?)"
    r" -->\n)?^```(?P<language>[\w{}-]*)\n(?P<body>.*?)^```$\n?",
    re.M | re.S,
)
OPTIONAL = {
    "catboost", "dask", "distributed", "lightgbm", "mapie", "matplotlib", "pandas", "polars",
    "pyarrow", "river", "xgboost",
}  # fmt: skip
"""What a page may import although not everybody has it; the page is skipped then, and says why."""

WIDTH = 80
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


@dataclass(frozen=True)
class Example:
    """A Python block of a page, with what it is said to print."""

    line: int
    code: str
    reason_not_to_run: str | None
    printed: str | None


def examples_of(text):
    blocks = list(FENCE.finditer(text))
    for block, following in zip_longest(blocks, blocks[1:]):
        if block["language"] == "python":
            adjacent = following is not None and not text[block.end() : following.start()].strip()
            printed = following["body"] if adjacent and following["language"] == "text" else None
            line = text[: block.start("body")].count("\n")
            yield Example(line, block["body"], block["reason"], printed)


def run(example, page, namespace):
    # so that errors name the page's line
    program = compile("\n" * example.line + example.code, page, "exec")
    # a page may add words of its own
    with (
        contextlib.redirect_stdout(io.StringIO()) as out,
        patch.dict(MEASURES),
    ):
        try:
            exec(program, namespace)
        except ImportError as error:
            missing = error.name or getattr(error.__cause__, "name", None)
            if missing not in OPTIONAL:
                raise
            pytest.skip(f"{page} needs {missing}")
    return out.getvalue()


def words_and_numbers(text):
    return NUMBER.sub("#", text).split(), [float(number) for number in NUMBER.findall(text)]


@pytest.mark.parametrize("page", PAGES)
def test_examples_run_and_print_what_the_page_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    namespace = {"__name__": "__main__"}
    for example in examples_of(PAGES[page].read_text(encoding="utf-8")):
        if example.reason_not_to_run is not None:
            assert example.reason_not_to_run.strip()
            continue
        try:
            printed = run(example, page, namespace)
        except ImportError as error:
            if "labelsure[" not in str(error):
                raise
            pytest.skip(str(error))
        if example.printed is not None:
            words, numbers = words_and_numbers(printed)
            expected_words, expected_numbers = words_and_numbers(example.printed)
            place = f"{page}, the block at line {example.line + 1}"
            assert words == expected_words, f"{place} prints:\n{printed}"
            assert numbers == pytest.approx(expected_numbers, rel=0.1, abs=0.03), (
                f"{place} prints:\n{printed}"
            )


def test_a_wrong_example_is_noticed():
    text = (
        "```python\nprint(1 + 1)\n```\n\n```text\n3\n```\n"
        "<!-- not run: why -->\n```python\nfails\n```\n"
    )
    first, second = examples_of(text)
    assert words_and_numbers(run(first, "page", {})) != words_and_numbers(first.printed)
    assert (second.reason_not_to_run, second.printed, second.line) == ("why", None, 9)
    with pytest.raises(NameError):
        run(second, "page", {})


def sections_of(path):
    """Return the anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", FENCE.sub("", path.read_text(encoding="utf-8")), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", [*PAGES, *OTHER_PAGES])
def test_links_and_targets_of_make_lead_somewhere(page):
    path = ROOT / page
    text = path.read_text(encoding="utf-8")
    for file, section in re.findall(r"\]\(([^)#:]*)(?:#([^)]*))?\)", text):
        linked = path.parent / file if file else path
        assert linked.exists(), file
        assert not section or section in sections_of(linked), f"{file}#{section}"
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)
    assert {*re.findall(r"(?:^|`)make ([a-z-]+)", text, re.M)} <= {*targets}


def test_every_public_name_is_mentioned():
    text = "".join(path.read_text(encoding="utf-8") for path in PAGES.values())
    assert [name for name in labelsure.__all__ if name not in text and name != "__version__"] == []


@pytest.mark.parametrize(
    ("file", "line"),
    [("CITATION.cff", "version: {}"), ("CHANGELOG.md", "## [{}]")],
    ids=["citation", "changelog"],
)
def test_version_is_the_packages(file, line):
    lines = (ROOT / file).read_text(encoding="utf-8").splitlines()
    assert any(found.startswith(line.format(labelsure.__version__)) for found in lines)
