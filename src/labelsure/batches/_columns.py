"""What tables of answers hold: the columns, what each of them is, and its cells for some objects."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from labelsure.conformal import Answers
from labelsure.predictions._repeated import RepeatedValues, repeat_labels

OWN = {
    "labels": "labels",
    "confidence": "number",
    "credibility": "number",
    "sure": "labels",
    "possible": "labels",
    "ruled_out": "labels",
    "n_labelsets": "count",
}
WHOLE_NUMBERS_UP_TO = 62
"""Labels beyond which the number of labelsets may not fit into 64 bits."""


@dataclass(frozen=True)
class AnswerColumns:
    """The columns of a table of answers, the same for any number of rows.

    Attributes
    ----------
    n_labels : int
        How many labels there are.
    significance : float
        The level at which labels are sure, possible or ruled out.
    n_top : int
        How many of the most plausible labelsets are listed.

    Examples
    --------
    >>> AnswerColumns(n_labels=3, significance=0.05, n_top=1).kinds["top1_p"]
    'number'
    """

    n_labels: int
    significance: float
    n_top: int

    @property
    def kinds(self) -> dict[str, str]:
        """What each column is, in order: "labels", "number", "count", "large count" or "text"."""
        count = "count" if self.n_labels <= WHOLE_NUMBERS_UP_TO else "large count"
        top = {
            f"top{k}{end}": kind for k in range(1, self.n_top + 1) for end, kind in (("", "labels"), ("_p", "number"))
        }
        return {**OWN, "n_labelsets": count, **top, "note": "text"}

    def of(self, answers: Answers) -> dict[str, Any]:
        """Return the columns for some objects: :class:`RepeatedValues` for labels and texts, arrays for numbers.

        ``labels`` are what ``predict`` returns; the most plausible labelset is ``top1``.

        Examples
        --------
        >>> from labelsure import calibrate_outputs
        >>> from labelsure.conformal import answer_batch
        >>> predictor = calibrate_outputs([[0.9, 0.2], [0.3, 0.8]], [[1, 0], [0, 1]], label_names=["sea", "city"])
        >>> columns = AnswerColumns(n_labels=2, significance=0.5, n_top=1)
        >>> columns.of(answer_batch(predictor, [[0.8, 0.3]]))["sure"].to_list()
        [('sea',)]
        """
        predictions = answers.predictions
        found = predictions.summary(self.significance, top=self.n_top).columns()
        found["labels"] = repeat_labels(predictions.label_names, answers.labels.astype(bool))
        found["n_labelsets"] = found["n_labelsets"].astype(self._count)
        return {name: found[name] for name in self.kinds}

    def nothing(self) -> dict[str, Any]:
        """Return the columns for no objects."""
        empty = {"number": np.zeros(0), "count": np.zeros(0, dtype=np.int64), "large count": np.zeros(0)}
        none = RepeatedValues([], np.zeros(0, dtype=np.int64))
        return {name: empty.get(kind, none) for name, kind in self.kinds.items()}

    @property
    def _count(self) -> type[Any]:
        return np.int64 if self.n_labels <= WHOLE_NUMBERS_UP_TO else np.float64
