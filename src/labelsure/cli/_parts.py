"""Work that goes on after an interruption: finished parts are kept beside the output until it is whole."""

import hashlib
import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from labelsure._core.files import is_ours, seal, unseal
from labelsure.cli._errors import CommandError
from labelsure.cli._writing import write_whole

KEY = "key.json"


class Parts:
    """A folder beside the output for the parts of one piece of work, told apart by what they depend on.

    Parameters
    ----------
    output : Path
        The file that is to be written.
    key : mapping
        Everything that the parts depend on. Parts of other work on the same output are thrown away.
    """

    def __init__(self, output: Path, key: Mapping[str, Any]) -> None:
        self.output, self.folder = output, folder_of_parts(output)
        written = json.dumps(dict(key), indent=1, sort_keys=True)
        found = self._read_key()
        self.resumed = found == written and is_ours(self.folder.lstat())  # else others could have put answers there
        self.thrown_away = found is not None and not self.resumed
        try:
            if not self.resumed:
                if self.folder.exists():  # of other work, or killed before it began
                    shutil.rmtree(self.folder)
                self.folder.mkdir(mode=0o700)
                write_whole(self.folder / KEY, written)
        except OSError as error:
            raise CommandError(f"{self.folder} could not be written: {error.strerror or error}.") from error
        except CommandError:
            self.remove()
            raise

    def _read_key(self) -> str | None:
        try:
            return (self.folder / KEY).read_text(encoding="utf-8")
        except (OSError, ValueError):
            return None

    def path(self, number: int) -> Path:
        """Return where a part is kept."""
        return self.folder / f"{number:07d}"

    def write(self, number: int, content: bytes) -> None:
        """Keep a part."""
        write_whole(self.path(number), seal(content) + content)

    def find(self, number: int) -> bytes | None:
        """Return a part, None where it is not there or damaged."""
        try:
            return unseal(self.path(number).read_bytes())
        except OSError:
            return None

    def read(self, number: int) -> bytes:
        """Return a part that is there, or raise CommandError."""
        if (content := self.find(number)) is None:
            raise CommandError(f"{self.path(number)} was removed or damaged before the output was whole.")
        return content

    def remove(self) -> None:
        """Remove all parts: the output is whole, or nothing was kept."""
        shutil.rmtree(self.folder, ignore_errors=True)


def folder_of_parts(output: Path) -> Path:
    """Return the folder that is beside an output until it is whole."""
    return output.with_name(f".{output.name}.parts")


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.expanduser().open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
