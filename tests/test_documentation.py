"""The documentation is true: its examples run, its links work, its figures are those of the results.

Every Python block of README.md and docs/*.md is run, each page from top to bottom in one namespace.
A ``text`` block right below a Python block is what that prints; its words must be the same, its
numbers nearly so, because the last digits of a learner differ between machines and versions. A
block that cannot run is marked by a line above it, ``<!-- not run: the reason -->``.
"""

import contextlib
import importlib
import io
import json
import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import zip_longest
from pathlib import Path
from unittest.mock import patch

import pytest

import labelsure
from labelsure.conformal import GUARANTEES
from labelsure.measures import MEASURES
from labelsure.paper._tables import region_table, single_prediction_table

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
    "catboost", "dask", "distributed", "lightgbm", "mapie", "matplotlib", "pandas", "polars", "pyarrow", "river",
    "xgboost",
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
    text = "```python\nprint(1 + 1)\n```\n\n```text\n3\n```\n<!-- not run: why -->\n```python\nfails\n```\n"
    first, second = examples_of(text)
    assert words_and_numbers(run(first, "page", {})) != words_and_numbers(first.printed)
    assert (second.reason_not_to_run, second.printed, second.line) == ("why", None, 9)
    with pytest.raises(NameError):
        run(second, "page", {})


@pytest.mark.parametrize("page", PAGES)
def test_code_fits_its_column(page):
    blocks = FENCE.finditer(PAGES[page].read_text(encoding="utf-8"))
    lines = [
        line
        for block in blocks
        if block["language"] not in ("", "math")
        for line in block["body"].splitlines()
    ]
    assert [line for line in lines if len(line) > WIDTH] == []


def test_every_figure_is_on_a_page():
    text = "".join(path.read_text(encoding="utf-8") for path in PAGES.values())
    figures = [path.name for path in (ROOT / "docs" / "figures").glob("*.png")]
    assert [name for name in figures if f"figures/{name})" not in text] == []


@pytest.mark.parametrize("page", [*PAGES, *OTHER_PAGES])
def test_links_within_the_repository_lead_somewhere(page):
    path = ROOT / page
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", path.read_text(encoding="utf-8"))
    assert [link for link in links if not (path.parent / link).exists()] == []


@pytest.mark.parametrize("page", [*PAGES, *OTHER_PAGES])
def test_targets_of_make_that_are_named_exist(page):
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)
    named = re.findall(r"(?:^|`)make ([a-z-]+)", (ROOT / page).read_text(encoding="utf-8"), re.M)
    assert [target for target in named if target not in targets] == []


def sections_of(path):
    """Return the anchors of a page's headings, as GitHub makes them."""
    text = FENCE.sub("", path.read_text(encoding="utf-8"))
    headings = re.findall(r"^#+ (.*)$", text, re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES)
def test_links_to_sections_lead_somewhere(page):
    links = re.findall(r"\]\(([^)#:]*)#([^)]*)\)", PAGES[page].read_text(encoding="utf-8"))
    assert [
        (file, section)
        for file, section in links
        if section not in sections_of(_linked(page, file))
    ] == []


def _linked(page, file):
    return PAGES[page].parent / file if file else PAGES[page]


def test_a_section_that_is_not_there_is_noticed(tmp_path):
    page = tmp_path / "page.md"
    page.write_text('# A: `b=`\n```sh\n# no heading\n```\n## Who is "c"?\n')
    assert sections_of(page) == {"a-b", "who-is-c"}


def test_every_guarantee_and_every_word_for_a_measure_is_explained():
    pages = ("guarantees", "command-line", "measures")
    guarantees, command_line, measures = (
        PAGES[f"docs/{name}.md"].read_text(encoding="utf-8") for name in pages
    )
    missing = [
        name
        for name in GUARANTEES
        if f'| `"{name}"`' not in guarantees or f"`{name}`" not in command_line
    ]
    assert missing == []
    words = re.findall(r"`\+?([a-z-]+)`", measures)
    assert [name for name in MEASURES if name not in words] == []


def test_every_public_name_is_mentioned():
    text = "".join(path.read_text(encoding="utf-8") for path in PAGES.values())
    assert [name for name in labelsure.__all__ if name not in text and name != "__version__"] == []


def test_every_name_of_the_package_is_in_a_table_of_the_reference():
    page = PAGES["docs/reference.md"].read_text(encoding="utf-8")
    listed = re.findall(r"^   labelsure\.\w+\.(\w+)$", page, re.M)
    assert sorted(listed) == sorted(set(labelsure.__all__) - {"__version__"})


def test_every_page_is_in_one_table_of_contents():
    texts = [
        path.read_text(encoding="utf-8") for page, path in PAGES.items() if page.startswith("docs/")
    ]
    tables = re.findall(r"^```\{toctree\}\n(.*?)^```$", "".join(texts), re.M | re.S)
    entries = [re.sub(r".*<(.*)>", r"\1", line) for table in tables for line in table.split("\n")]
    found = [
        [entry for entry in entries if fnmatchcase(path.stem, entry)] for path in PAGES.values()
    ]
    wrong = {page for page, entries in zip(PAGES, found, strict=True) if len(entries) != 1}
    assert wrong == {"README.md", "docs/index.md"}


def test_tables_of_the_paper_are_those_of_the_results():
    page = PAGES["docs/reproduction.md"].read_text(encoding="utf-8")
    output = (ROOT / "docs" / "reproduction.txt").read_text(encoding="utf-8")
    kept = json.loads((ROOT / "docs" / "reproduction.json").read_text(encoding="utf-8"))
    for name in kept["single_predictions"]:
        assert single_prediction_table(name, kept, kept["standard_deviations"]) in page
        for table in (single_prediction_table, region_table):
            assert table(name, kept, kept["standard_deviations"]) in output


@pytest.mark.parametrize("command", ["benchmarks", "experiments"])
def test_figures_are_those_of_the_results(command, monkeypatch):
    monkeypatch.syspath_prepend(ROOT)
    writer = importlib.import_module(f"{command}.__main__")
    written = writer.PAGE.read_text(encoding="utf-8")
    assert written == writer.page(), f"run python -m {command} --write-docs"


@pytest.mark.parametrize(
    ("file", "line"),
    [("CITATION.cff", "version: {}"), ("CHANGELOG.md", "## [{}]")],
    ids=["citation", "changelog"],
)
def test_version_is_the_packages(file, line):
    lines = (ROOT / file).read_text(encoding="utf-8").splitlines()
    assert any(found.startswith(line.format(labelsure.__version__)) for found in lines)
