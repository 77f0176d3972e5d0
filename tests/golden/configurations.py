"""The predictors whose answers are on record: a name says which fields are not as usual."""

from typing import NamedTuple

FORESTS = ("forest", "forest+unseen", "auto-words")
TREES = ("tree", "extra-trees")
"""Measures and learners that follow scikit-learn's trees: compared with the record's version."""

SINGLE = "single answers "
"""Begins the names of configurations asked for metrics, questions and doubtful labels. No two gains
of their questions are nearly tied: weights and probabilities changed by 1e-12 gave the same."""


class Configuration(NamedTuple):
    """One predictor on one set of data."""

    made: str
    measure: str = "default"
    learner: str = "steps"
    n_labels: int = 4
    n_rows: int = 48
    guarantee: str = "cross"
    mondrian: str = "none"
    smoothed: bool = False
    empty: str = "auto"
    empties: bool = True  # whether there are examples without labels
    constraints: str = "none"
    groups: str = "none"
    gaps: bool = False
    weighted: bool = False
    then: str = ""  # what is done after fit: "updated", "recalibrated", "saved"
    seed: int = 0

    @classmethod
    def read(cls, name):
        """Return the configuration of a name such as "cross measure=power n_labels=9"."""
        made, *changes = name.removeprefix(SINGLE).split()
        given = dict(change.split("=", 1) for change in changes)
        for field, value in given.items():
            usual = cls._field_defaults[field]
            given[field] = value == "True" if isinstance(usual, bool) else type(usual)(value)
        return cls(made, **given)

    @property
    def follows_trees(self):
        """Whether answers may change with the version of scikit-learn."""
        return self.measure in FORESTS or self.learner in TREES
