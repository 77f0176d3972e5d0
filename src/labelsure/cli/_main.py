"""The entry point: reads the command line, runs one command, turns what went wrong into an exit code."""

import argparse
import errno
import os
import sys
import warnings
from collections.abc import Sequence
from typing import Any, NoReturn

from labelsure._errors import CommandError
from labelsure._version import __version__
from labelsure.cli import (
    _check,
    _compile,
    _datasets,
    _evaluate,
    _explain,
    _fit,
    _predict,
    _report,
    _reproduce,
)
from labelsure.cli._models import check_installed
from labelsure.cli._writing import printable, say

COMMANDS = (_fit, _predict, _evaluate, _report, _explain, _check, _datasets, _reproduce, _compile)
FAILED = 1
MISUNDERSTOOD = 2
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
"""What a printed line ends with where stdout leads to a full disk."""

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
        0 if all went well, 1 with a message on stderr if not, 130 after Ctrl-C. A command line that
        cannot be understood exits with 2.

    Examples
    --------
    >>> main(["--version"])
    Traceback (most recent call last):
    ...
    SystemExit: 0
    """
    options = _parser().parse_args(arguments)
    written, warnings.formatwarning = warnings.formatwarning, _as_note
    try:
        check_installed(options)
        options.run(options)
        sys.stdout.flush()
    except CommandError as error:
        say(f"labelsure: error: {error}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    except MemoryError as error:
        say(f"labelsure: error: {_no_memory(error)}", file=sys.stderr)
        return FAILED
    except BrokenPipeError:  # the reader, say `head`, has seen enough
        _give_up_stdout()
        return FAILED
    except OSError as error:
        if error.errno not in NO_ROOM or error.filename is not None:
            raise
        _give_up_stdout()
        say(f"labelsure: error: output could not be written: {error.strerror}.", file=sys.stderr)
        return FAILED
    finally:
        warnings.formatwarning = written
    return 0


def _as_note(message: Warning | str, *_where: Any, **_line: Any) -> str:
    """Return a warning, of a learner say, as one line without the place in the code that it comes from."""
    return f"labelsure: note: {printable(' '.join(str(message).split()))}\n"


def _no_memory(error: MemoryError) -> str:
    reason = f" ({' '.join(str(error).split())})" if str(error) else ""
    return f"this takes more memory than there is{reason}. Try a smaller --batch, fewer --jobs or fewer rows."


def _give_up_stdout() -> None:
    """Lead stdout nowhere: Python's own flush at exit must not fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line, as everything else here does, and not how to use all options."""

    def error(self, message: str) -> NoReturn:
        self.exit(
            MISUNDERSTOOD, f"{self.prog}: error: {printable(message)}. See {self.prog} --help\n"
        )


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="labelsure",
        description="Multi-label predictions you can be sure of.",
    )
    parser.add_argument("--version", action="version", version=f"labelsure {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="command", required=True)
    for command in COMMANDS:
        command.add_parser(commands)
    return parser
