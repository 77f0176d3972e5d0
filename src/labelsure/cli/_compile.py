"""``labelsure compile``: what learns and what answers questions about labelsets, compiled beforehand."""

from argparse import Namespace
from typing import Any

from labelsure._errors import CommandError
from labelsure.cli._writing import say


def add_parser(commands: Any) -> None:
    """Add the command to ``commands``, argparse's subparsers."""
    parser = commands.add_parser(
        "compile",
        help="compile beforehand what learns and what answers questions about labelsets",
        description=(
            "Compile what learns and what answers questions about labelsets, and keep it, so that"
            " the first questions"
            " in every new process are answered at once. It is kept beside the package, in the"
            " user's cache, or in the"
            " folder that the environment variable NUMBA_CACHE_DIR names."
        ),
    )
    parser.set_defaults(run=run)


def run(_: Namespace) -> None:
    """Compile, and print where the machine code is."""
    from labelsure.conformal import compile_kernels

    folders = compile_kernels()
    if not folders:
        raise CommandError(
            "compiled, but no folder could be written to keep it in. Set the environment variable"
            " NUMBA_CACHE_DIR, here"
            " and where labelsure runs."
        )
    say("\n  ".join(["Compiled code is kept in", *map(str, folders)]))
