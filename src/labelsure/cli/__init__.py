"""The command ``labelsure``: parses arguments, runs a command, turns errors into exit codes."""

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
    _datasets,
    _evaluate,
    _explain,
    _fit,
    _predict,
    _report,
    _reproduce,
)
from labelsure.cli._common import check_inputs, printable, say

__all__ = ["main"]

COMMANDS = (_fit, _predict, _evaluate, _report, _explain, _check, _datasets, _reproduce)
FAILED = 1
MISUNDERSTOOD = 2
INTERRUPTED = 130  # what shells report for a program ended by Ctrl-C: 128 and the signal's number
# what a printed line fails with if stdout leads to a full disk
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


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
    usual, warnings.formatwarning = warnings.formatwarning, _as_note
    try:
        check_inputs(options)
        options.run(options)
        sys.stdout.flush()
        return 0
    except KeyboardInterrupt:
        return INTERRUPTED
    except CommandError as error:
        message = str(error)
    except MemoryError as error:
        reason = f" ({' '.join(str(error).split())})" if str(error) else ""
        advice = "Try a smaller --batch, fewer --jobs or fewer rows."
        message = f"this takes more memory than there is{reason}. {advice}"
    except BrokenPipeError:  # the reader, say `head`, has seen enough
        _discard_stdout()
        return FAILED
    except OSError as error:
        if error.errno not in NO_ROOM or error.filename is not None:
            raise
        _discard_stdout()
        message = f"output could not be written: {error.strerror}."
    finally:
        warnings.formatwarning = usual
    say(f"labelsure: error: {message}", file=sys.stderr)
    return FAILED


def _as_note(message: Warning | str, *_where: Any, **_line: Any) -> str:
    """Return a warning as one line without the file and line that it comes from."""
    return f"labelsure: note: {printable(' '.join(str(message).split()))}\n"


def _discard_stdout() -> None:
    """Redirect stdout to nowhere: Python's own flush at exit must not fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class _Parser(argparse.ArgumentParser):
    """Reports an error in one line, without the usage of all options."""

    def error(self, message: str) -> NoReturn:
        hint = f"See {self.prog} --help"
        self.exit(MISUNDERSTOOD, f"{self.prog}: error: {printable(message)}. {hint}\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="labelsure", description="Multi-label predictions you can be sure of.")
    parser.add_argument("--version", action="version", version=f"labelsure {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="command", required=True)
    for command in COMMANDS:
        command.add_parser(commands)
    compile_command = commands.add_parser(
        "compile",
        help="compile beforehand what learns and what answers questions about labelsets",
        description="Compile what learns and what answers questions about labelsets, and cache it,"
        " so that the first questions in every new process are answered at once. The cache is"
        " beside the package, in the user's cache, or in the folder that the environment variable"
        " NUMBA_CACHE_DIR names.",
    )
    compile_command.set_defaults(run=_compile)
    return parser


def _compile(_: argparse.Namespace) -> None:
    """Compile, and print where the machine code is cached."""
    from labelsure.conformal import compile_kernels

    folders = compile_kernels()
    if not folders:
        raise CommandError(
            "compiled, but no folder could be written to keep it in. Set the environment variable"
            " NUMBA_CACHE_DIR, here and where labelsure runs."
        )
    say("\n  ".join(["Compiled code is kept in", *map(str, folders)]))
