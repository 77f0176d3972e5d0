"""The entry point: reads the command line, runs one command, turns what went wrong into an exit code."""

import argparse
import os
import sys
from collections.abc import Sequence

from labelsure._version import __version__
from labelsure.cli import (
    _compare,
    _compile,
    _datasets,
    _evaluate,
    _explain,
    _fit,
    _predict,
    _report,
    _reproduce,
)
from labelsure.cli._errors import CommandError

COMMANDS = (_fit, _predict, _evaluate, _report, _explain, _datasets, _compare, _reproduce, _compile)
FAILED = 1
INTERRUPTED = 130
"""What shells report for a program ended by Ctrl-C: 128 and the signal's number."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command ``labelsure`` and return its exit code.

    Parameters
    ----------
    arguments : sequence of str or None
        The words after ``labelsure``; None takes those of the command line.

    Returns
    -------
    int
        0 if all went well, 1 with a message on stderr if not, 130 after Ctrl-C. A command line that cannot be
        understood exits with 2.

    Examples
    --------
    >>> main(["--version"])
    Traceback (most recent call last):
    ...
    SystemExit: 0
    """
    options = _parser().parse_args(arguments)
    try:
        options.run(options)
        sys.stdout.flush()
    except CommandError as error:
        print(f"labelsure: error: {error}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # the reader, say `head`, has seen enough; Python's own flush at exit must not fail again
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="labelsure",
        description="Multi-label predictions you can be sure of.",
    )
    parser.add_argument("--version", action="version", version=f"labelsure {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="command", required=True)
    for command in COMMANDS:
        command.add_parser(commands)
    return parser
