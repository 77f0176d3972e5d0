"""Commands as one text, run in this process."""

import shlex

from labelsure.cli import main

LABELS_OPTION = "--labels bug,billing,urgent"
FAST = "--learner logistic --measure log-loss --folds 3 --jobs 1"


def call(words, *more):
    """Run a command, here, and return its exit code."""
    try:
        return main([*shlex.split(words), *map(str, more)])
    except SystemExit as error:  # argparse
        return error.code
