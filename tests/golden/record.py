"""Write the record of answers: ``PYTHONPATH=src python tests/golden/record.py COMMIT [--arrays FOLDER]``.

Run it with the code whose answers are to be kept. ``--arrays`` also stores the answers themselves, for compare.py.
"""

import argparse
import json
import pickle
from pathlib import Path

from answers import answer, digest
from configurations import CONFIGURATIONS, repaired

RECORD = Path(__file__).with_name("record.json")


def main():
    """Answer every configuration and write the fingerprints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("commit", help="which code answers")
    parser.add_argument("--arrays", type=Path, help="a folder for the answers themselves")
    arguments = parser.parse_args()
    kept, changed = {}, {}
    for i, (name, configuration) in enumerate(CONFIGURATIONS.items()):
        answers = answer(configuration)
        for question, value in answers.items():
            section = changed if repaired(configuration, question) else kept
            section.setdefault(name, {})[question] = digest(value)
        if arguments.arrays is not None:
            (arguments.arrays / f"{i:03d}.pickle").write_bytes(pickle.dumps((name, answers)))
    import sklearn

    header = {"commit": arguments.commit, "sklearn": sklearn.__version__, "configurations": len(CONFIGURATIONS)}
    text = ",\n".join(
        f'"{section}": {{\n'
        + ",\n".join(f"{json.dumps(name)}: {json.dumps(own)}" for name, own in part.items())
        + "\n}"
        for section, part in (("kept", kept), ("repaired", changed))
    )
    RECORD.write_text(f'{{"header": {json.dumps(header)},\n{text}}}\n')


if __name__ == "__main__":
    main()
