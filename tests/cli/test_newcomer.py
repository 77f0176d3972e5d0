"""A first session: the commands of README and docs, word for word, in an empty folder."""

import re
import shlex
from pathlib import Path

import pytest

from labelsure.cli import main
from test_documentation import FENCE, PAGES, words_and_numbers

pytest.importorskip("pyarrow", reason="tables are read by pyarrow")

COMMANDS = ("datasets", "fit", "predict", "evaluate", "report", "explain", "check")
"""Those that take seconds with a fast learner."""


def steps_of(text):
    """Return the commands of a page's shell blocks with the output that the page shows, if any."""
    blocks, steps = list(FENCE.finditer(text)), []
    for i, block in enumerate(blocks):
        if block["language"] != "sh" or block["reason"] is not None:
            continue
        lines = block["body"].replace("\\\n", " ").splitlines()
        commands = [
            shlex.split(line, comments=True)[1:] for line in lines if line.startswith("labelsure ")
        ]
        steps += [(words, None) for words in commands if words[0] in COMMANDS]
        following = blocks[i + 1] if i + 1 < len(blocks) else None
        shown = following is not None and following["language"] == "text"
        if steps and shown and not text[block.end() : following.start()].strip():
            steps[-1] = (steps[-1][0], following["body"])
    return steps


WAYS = {
    page: steps
    for page, path in PAGES.items()
    if (steps := steps_of(path.read_text(encoding="utf-8")))
}
WAYS = {page: steps for page, steps in WAYS.items() if any(words[0] == "fit" for words, _ in steps)}


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=[] if page == "README.md" else [pytest.mark.validity])
        for page in WAYS
    ],
)
def test_the_commands_of_a_page_work_in_an_empty_folder(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for words, shown in WAYS[page]:
        assert main([*words, "--jobs", "1"] if words[0] != "datasets" else words) == 0, words
        printed = capsys.readouterr().out.replace(f"{tmp_path.resolve()}/", "")
        if shown is not None:
            part = printed[: len(shown)] if words[0] == "explain" else printed
            (found, numbers), (expected, expected_numbers) = map(words_and_numbers, (part, shown))
            assert found[: len(expected)] == expected, printed
            assert numbers[: len(expected_numbers)] == pytest.approx(
                expected_numbers, rel=0.1, abs=0.03
            ), printed
    outputs = [words[words.index("-o") + 1] for words, _ in WAYS[page] if "-o" in words]
    assert all(Path(output).stat().st_size for output in outputs)


def test_the_page_about_the_command_line_goes_the_whole_way():
    used = {words[0] for words, _ in WAYS["docs/command-line.md"]}
    assert used == set(COMMANDS)


def test_every_command_and_option_is_on_the_page(capsys):
    page = PAGES["docs/command-line.md"].read_text(encoding="utf-8")
    for command in COMMANDS:
        with pytest.raises(SystemExit):
            main([command, "--help"])
        options = set(re.findall(r"--[a-z-]+", capsys.readouterr().out)) - {"--help", "--output"}
        assert [option for option in sorted(options) if option not in page] == []
