"""Print where answers differ from stored ones: ``PYTHONPATH=src python tests/golden/compare.py FOLDER [NAME ...]``.

FOLDER is what ``record.py --arrays`` wrote. Without names all configurations are compared, repaired answers too.
"""

import argparse
import pickle
from pathlib import Path

import numpy as np
from answers import answer, digest
from configurations import CONFIGURATIONS, repaired


def main():
    """Compare, and print the first difference of each question."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    for path in sorted(arguments.folder.glob("*.pickle")):
        name, stored = pickle.loads(path.read_bytes())
        if name not in CONFIGURATIONS or (arguments.names and name not in arguments.names):
            continue
        for question, new in answer(CONFIGURATIONS[name]).items():
            if digest(new) != digest(stored[question]):
                expected = " (a repair)" if repaired(CONFIGURATIONS[name], question) else ""
                print(f"{name}: {question}{expected}: {first_difference(stored[question], new)}")  # noqa: T201


def first_difference(old, new):
    """Return a few words on where two answers part."""
    if isinstance(old, np.ndarray):
        if old.shape != new.shape:
            return f"shape {old.shape} became {new.shape}"
        places = np.argwhere(old != new)
        place = tuple(places[0].tolist())
        return f"{len(places)} of {old.size} entries, first at {place}: {old[place]!r} became {new[place]!r}"
    place = next(i for i, (a, b) in enumerate(zip(old, new, strict=True)) if a != b)
    return f"at {place}: {old[place]!r} became {new[place]!r}"


if __name__ == "__main__":
    main()
