"""Model files changed at random: bytes, members, JSON values and arrays, the last three with checksums made anew."""

import json
import random
import struct
from io import BytesIO
from pathlib import Path

import numpy as np

from labelsure.models._archive import read_archive, write_archive

STRANGE = [None, True, False, -1, 0, 1, 2, 3, 7, 255, 2**31, -(2**31), 2**40, 2**63, 1e308, -0.5, 0.5, 1e-300, "", "x",
           "nan", "list", "../../etc/passwd", "os.system", "builtins.eval", "posix.system", [], {}, [[]], {"object": 0},
           {"array": 0}, {"list": []}, {"float": "inf"}, {"dict": [[{"list": []}, 1]]}]  # fmt: skip


def places_of(node, found, parent=None, key=None):
    """List all values of a JSON text, with where they are."""
    if parent is not None:
        found.append((parent, key))
    for inner, part in node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ():
        places_of(part, found, node, inner)
    return found


def change_lines(text, rng):
    """Change one or a few lines of a text: leave them out, cut them, repeat others, change numbers in them."""
    lines = text.split("\n")
    for _ in range(rng.choice([1, 2, 4])):
        place, kind = rng.randrange(len(lines)), rng.randrange(4)
        if kind == 0 and len(lines) > 1:
            del lines[place]
        elif kind == 1:
            lines[place] = lines[rng.randrange(len(lines))]
        elif kind == 2:
            lines[place] = lines[place][: rng.randrange(len(lines[place]) + 1)]
        else:
            key, equals, rest = lines[place].partition("=")
            words = rest.split(" ")
            words[rng.randrange(len(words))] = rng.choice(["-1", "0", "1", "2", "99999", "1e308", "nan", "", "x"])
            lines[place] = key + equals + " ".join(words)
    return "\n".join(lines)


def change_json(data, rng):
    """Change one or a few values: another one, a strange one, one less, a copy from elsewhere, none at all."""
    tree = json.loads(data)
    if isinstance(tree, str):
        return json.dumps(change_lines(tree, rng)).encode()
    for _ in range(rng.choice([1, 1, 1, 2, 5])):
        places = places_of(tree, [])
        if not places:
            break
        parent, key = rng.choice(places)
        value, kind = parent[key], rng.randrange(6)
        if kind == 0 and isinstance(parent, dict):
            del parent[key]
        elif kind == 1 and isinstance(value, int | float) and not isinstance(value, bool):
            parent[key] = value + rng.choice([-1, 1, 1000, -value * 2])
        elif kind == 2:
            other, place = rng.choice(places)
            parent[key] = json.loads(json.dumps(other[place])) if place in other or isinstance(other, list) else None
        elif kind == 3 and isinstance(value, str):
            parent[key] = rng.choice(STRANGE) if rng.random() < 0.5 else value[: rng.randrange(len(value) + 1)] + "x"
        elif kind == 4 and isinstance(value, list) and value:
            value.append(value[0]) if rng.random() < 0.5 else value.pop()
        else:
            parent[key] = rng.choice(STRANGE)
    return json.dumps(tree).encode()


def change_array(data, rng):
    """Change entries of a flat array, its length, or its type."""
    array = np.load(BytesIO(data)).copy()
    kind = rng.randrange(12)
    if kind == 0:
        raw = bytearray(data)
        for _ in range(rng.choice([1, 4])):
            raw[rng.randrange(len(raw))] = rng.randrange(256)
        return bytes(raw)
    if kind == 1:
        array = array[: rng.randrange(len(array) + 1)] if rng.random() < 0.5 else np.concatenate([array, array[:3]])
    elif kind == 2 and array.dtype.kind in "iuf":
        array = array.astype(rng.choice(["<i8", "<f8", "<i4", "<f4", "|b1", "<u8"]))
    elif len(array):
        for _ in range(rng.choice([1, 3, 20])):
            place = rng.randrange(len(array))
            word = struct.pack("<d", rng.choice([np.nan, np.inf, -1.0, 1e300])) + rng.randbytes(120)
            word = rng.choice([word, b"\xff" * 128, b"\0" * 128, rng.randbytes(128), b"\x7f" * 128])
            array[place : place + 1] = np.frombuffer((word * 9)[: array.dtype.itemsize], dtype=array.dtype)
    buffer = BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return buffer.getvalue()


def change_bytes(path, rng):
    """Change a few bytes of a file, cut it, or put something into it; nothing is signed again."""
    raw = bytearray(Path(path).read_bytes())
    kind = rng.randrange(3)
    if kind == 0:
        raw = raw[: rng.randrange(len(raw))]
    elif kind == 1:
        place = rng.randrange(len(raw))
        raw[place:place] = rng.randbytes(rng.randrange(1, 40))
    else:
        for _ in range(rng.choice([1, 1, 5])):
            place = rng.randrange(len(raw))
            raw[place] ^= rng.randrange(1, 256)
    return bytes(raw)


def mutate(path, place, seed):
    """Write a changed copy of the model file at ``path`` to ``place``; the same for the same seed."""
    rng = random.Random(seed)
    if rng.random() < 0.1:
        place.write_bytes(change_bytes(path, rng))
        return
    manifest, members = read_archive(Path(path))
    manifest.pop("members")
    if rng.random() < 0.05:
        manifest = json.loads(change_json(json.dumps(manifest), rng))
    changed = set()
    for _ in range(rng.choice([1, 1, 2])):
        # arrays are few and large, so that a fair draw of members would hardly ever find them
        kinds = {name.partition("/")[0]: name for name in members if name not in changed}
        kind = "arrays" if "arrays" in kinds and rng.random() < 0.6 else rng.choice(list(kinds))
        name = rng.choice([name for name in members if name.partition("/")[0] == kind and name not in changed])
        members[name] = change_array(members[name], rng) if kind == "arrays" else change_json(members[name], rng)
        changed.add(name)
    if rng.random() < 0.03:
        del members[rng.choice(list(members))]
    write_archive(place, manifest, members)
