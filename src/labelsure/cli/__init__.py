"""The command ``labelsure``: one module per command."""

from labelsure.cli._main import main

__all__ = ["main"]
