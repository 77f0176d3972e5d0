"""The container: a zip file whose first member, the manifest, says what all others are.

A file is looked at from the outside in, and every step bounds the next: the seal over all bytes, names, numbers and
sizes of members, the manifest, then one member after the other, whose bytes must be those that the manifest counted.
"""

import hashlib
import json
import os
import re
import stat
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

FORMAT = 1
"""The number of the format; files with a higher one are for a later labelsure."""

MANIFEST = "manifest.json"
MEMBER = re.compile(r"manifest\.json|model\.json|arrays/\d{1,4}\.npy|(learners|boosters)/\d{1,6}\.json")
"""All names that there are. Nothing is ever unpacked to disk, and still: a name is no place to be clever in."""

MOST_MEMBERS = 100_000
MOST_BYTES = 2**36
MOST_MANIFEST_BYTES = 2**24
MOST_RATIO = 250
"""Of the size of a member to what it takes in the file. Members that shrink more are stored as they are."""

SUSPICIOUS, LEVEL = 20, 6

SEAL = b"labelsure model file, sha256 "
DIGITS = 64
CHUNK = 2**20
EPOCH = (1980, 1, 1, 0, 0, 0)  # the same model makes the same bytes, whenever it is saved

Members = dict[str, bytes]


class ModelFileError(ValueError):
    """A model file cannot be written or must not be read; the message is one line and says why.

    Examples
    --------
    >>> from labelsure.models import ModelFileError
    >>> issubclass(ModelFileError, ValueError)
    True
    """


def write_archive(path: Path, manifest: Mapping[str, Any], members: Members) -> None:
    """Write manifest and members to a file that is not there yet.

    Parameters
    ----------
    path : Path
        The file.
    manifest : mapping
        What goes into the manifest beside the list of members.
    members : dict of str to bytes
        All others.
    """
    listed = {name: {"size": len(data), "sha256": _digest(data)} for name, data in members.items()}
    first = json.dumps({**manifest, "members": listed}, ensure_ascii=False, allow_nan=False, indent=1).encode()
    _check_limits({MANIFEST: first, **members})
    with path.open("xb") as file, zipfile.ZipFile(file, "w") as archive:
        for name, data in {MANIFEST: first, **members}.items():
            _put(archive, name, data)
        archive.comment = SEAL + b"0" * DIGITS
    with path.open("r+b") as sealed:
        digest = _digest_file(sealed)
        sealed.seek(-DIGITS, os.SEEK_END)
        sealed.write(digest.encode())
        sealed.flush()
        os.fsync(sealed.fileno())


def read_archive(path: Path) -> tuple[dict[str, Any], Members]:
    """Return the manifest and all other members of a file, every byte of which is what was written."""
    with path.open("rb") as file, _open(file) as archive:
        members = _check_members(archive)
        manifest = _read_manifest(archive)
        file.seek(-DIGITS, os.SEEK_END)
        if file.read() != _digest_file(file).encode():
            raise ModelFileError("its bytes are not those that were written (the checksum differs)")
        listed = manifest["members"]
        if set(listed) != {info.filename for info in members}:
            raise ModelFileError("its members are not those that its manifest lists")
        contents = {info.filename: _read(archive, info) for info in members}
        for name, data in contents.items():
            if listed[name] != {"size": len(data), "sha256": _digest(data)}:
                raise ModelFileError(f"{name} is not what its manifest says (the checksum differs)")
        return manifest, contents


def read_manifest_of(path: Path) -> dict[str, Any]:
    """Return the manifest alone, its numbers of members and bytes checked."""
    with path.open("rb") as file, _open(file) as archive:
        _check_members(archive)
        return _read_manifest(archive)


def parse_json(data: bytes) -> Any:
    """Return what a JSON text says; numbers are finite."""
    return json.loads(data.decode("utf-8"), parse_constant=_refuse_constant)


def _refuse_constant(name: str) -> Any:
    raise ModelFileError(f"it holds the number {name}, which JSON does not know")


def _open(file: IO[bytes]) -> zipfile.ZipFile:
    head = file.read(4)
    if head[:1] == b"\x80":
        raise ModelFileError("it is a pickle, which could run any code, and no model file of labelsure")
    if head != b"PK\x03\x04":
        raise ModelFileError("it is no model file of labelsure")
    try:
        return zipfile.ZipFile(file)
    except (zipfile.BadZipFile, ValueError, OverflowError, NotImplementedError) as error:
        raise ModelFileError("it is damaged, or cut short") from error


def _check_members(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    """Return all members but the manifest; names, kinds and sizes are what they may be."""
    infos = archive.infolist()
    names = [info.filename for info in infos]
    if not infos or names[0] != MANIFEST or infos[0].header_offset != 0 or not archive.comment.startswith(SEAL):
        raise ModelFileError("it is a zip file, but no model file of labelsure")
    if len(set(names)) < len(names):
        raise ModelFileError("a member is there twice")
    for info in infos:
        kind = stat.S_IFMT(info.external_attr >> 16)
        # zipfile turns backslashes and cuts at zeros: the name in the file counts too
        if not MEMBER.fullmatch(info.filename) or info.orig_filename != info.filename or kind not in (0, stat.S_IFREG):
            raise ModelFileError(f"it has a member {info.orig_filename[:60]!r}, and there is no such thing")
        if info.flag_bits & 1 or info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ModelFileError(f"{info.filename} is packed in a way that model files are not")
        if info.file_size > MOST_RATIO * max(info.compress_size, 1):
            raise ModelFileError(f"{info.filename} grows to more than {MOST_RATIO} times its size when unpacked")
    if sum(info.compress_size for info in infos) > archive.start_dir:
        raise ModelFileError("its members overlap")
    if len(infos) > MOST_MEMBERS or sum(info.file_size for info in infos) > MOST_BYTES:
        raise ModelFileError(f"it has more than {MOST_MEMBERS} members or {MOST_BYTES} bytes")
    if infos[0].file_size > MOST_MANIFEST_BYTES:
        raise ModelFileError(f"its manifest has more than {MOST_MANIFEST_BYTES} bytes")
    return infos[1:]


def _check_limits(members: Members) -> None:
    """Refuse to write what would not be read."""
    size = sum(map(len, members.values()))
    if len(members) > MOST_MEMBERS or size > MOST_BYTES or len(members[MANIFEST]) > MOST_MANIFEST_BYTES:
        raise ModelFileError(
            f"the model takes {len(members)} members and {size} bytes, {len(members[MANIFEST])} of them names and"
            f" schema; files may have {MOST_MEMBERS}, {MOST_BYTES} and {MOST_MANIFEST_BYTES}"
        )


def _read_manifest(archive: zipfile.ZipFile) -> dict[str, Any]:
    manifest = parse_json(_read(archive, archive.infolist()[0]))
    if not isinstance(manifest, dict) or type(manifest.get("format")) is not int:
        raise ModelFileError("its manifest says no format")
    if manifest["format"] != FORMAT:
        writer = str(manifest.get("labelsure"))[:20]
        raise ModelFileError(
            f"it has format {manifest['format']}, written by labelsure {writer}, and this labelsure reads format"
            f" {FORMAT}: install that version, or fit again"
        )
    if not isinstance(manifest.get("members"), dict):
        raise ModelFileError("its manifest lists no members")
    return manifest


def _read(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    try:
        with archive.open(info) as member:
            data = member.read(info.file_size + 1)
    except Exception as error:  # zlib, struct, and whatever else zipfile meets in hostile bytes
        raise ModelFileError(f"{info.filename} is damaged") from error
    if len(data) != info.file_size:
        raise ModelFileError(f"{info.filename} has another size than it says")
    return data


def _put(archive: zipfile.ZipFile, name: str, data: bytes) -> None:
    """Add a member, packed unless that makes it suspiciously small."""
    info = zipfile.ZipInfo(name, EPOCH)
    info.external_attr = (stat.S_IFREG | 0o644) << 16
    info.create_system = 3  # the same bytes on every system
    repetitive = len(data) > SUSPICIOUS * len(zlib.compress(data, 1))  # a quick look tells most that are not
    small = repetitive and len(data) > MOST_RATIO / 2 * len(zlib.compress(data, LEVEL))
    archive.writestr(info, data, zipfile.ZIP_STORED if small else zipfile.ZIP_DEFLATED, LEVEL)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _digest_file(file: IO[bytes]) -> str:
    """Return the digest of all bytes but that of the seal, which is the end of the zip file's comment."""
    left = file.seek(0, os.SEEK_END) - DIGITS
    file.seek(0)
    digest = hashlib.sha256()
    while left > 0:
        data = file.read(min(CHUNK, left))
        digest.update(data)
        left -= len(data)
    return digest.hexdigest()
