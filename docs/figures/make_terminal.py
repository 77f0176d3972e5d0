"""The terminal picture in docs/command-line.md: the page's commands, rendered by Chromium.

Run it with ``python docs/figures/make_terminal.py``; it takes Debian's package chromium, and
playwright.
"""

import contextlib
import html
import io
import os
import shlex
import shutil
import tempfile
import textwrap
from pathlib import Path

from playwright.sync_api import sync_playwright

from labelsure.cli import main

HERE = Path(__file__).parent
COLUMNS, LINES_SHOWN = 118, 14
COMMANDS = (
    "labelsure datasets yeast --part train -o yeast-train.csv",
    "labelsure datasets yeast --part test -o yeast-test.csv",
    "labelsure fit yeast-train.csv --labels 'Class*' --learner logistic --folds 5 --model"
    " yeast.labelsure",
    "labelsure predict yeast.labelsure yeast-test.csv -o answers.csv --confidence 80",
    "labelsure evaluate yeast.labelsure yeast-test.csv",
    "labelsure explain yeast.labelsure yeast-test.csv --row 17 --confidence 80 --top 2",
)
STYLE = (
    "body{margin:0;background:#1d2430;color:#e6e6e6;font:15px/1.45 'DejaVu Sans"
    " Mono',monospace;padding:20px 24px;"
    "width:max-content} b{color:#8fd18f} i{color:#9aa5b1;font-style:normal}"
    " pre{margin:0;font:inherit}"
)


def run(command: str) -> str:
    """Return a command with what it prints, wrapped as a terminal does, as HTML."""
    with contextlib.redirect_stdout(io.StringIO()) as out:
        main(shlex.split(command)[1:])
    printed = out.getvalue().replace(f"{Path.cwd().resolve()}/", "")
    lines = [part for line in printed.splitlines() for part in textwrap.wrap(line, COLUMNS) or [""]]
    shown = [html.escape(line) for line in lines[:LINES_SHOWN]]
    more = ["<i>...</i>"] if len(lines) > LINES_SHOWN else []
    return "\n".join([f"<b>$</b> {html.escape(command)}", *shown, *more])


def photograph(page: str, path: Path) -> None:
    """Save what a page looks like."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        tab = browser.new_page(viewport={"width": 1180, "height": 100}, device_scale_factor=1)
        tab.set_content(page)
        tab.screenshot(path=path, full_page=True)
        browser.close()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        screen = "\n".join(map(run, COMMANDS))
        os.chdir(HERE)
    photograph(f"<style>{STYLE}</style><pre>{screen}</pre>", HERE / "terminal.png")
