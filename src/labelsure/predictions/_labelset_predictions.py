"""What a user holds after predicting."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from labelsure._core.optional import import_optional
from labelsure._core.types import FloatArray, IntArray, LabelMatrix, LabelMatrixLike
from labelsure._core.validation import check_choice, check_count, check_label_matrix, check_same_length
from labelsure.labelsets import BestLabelsets, LabelsetEngine, decode
from labelsure.predictions._guarantee import Guarantee, NoGuarantee
from labelsure.predictions._region import LabelsetRegion

GIBIBYTE = 2**30


class TopLabelsets(NamedTuple):
    """The most plausible labelsets of each object, made by :meth:`LabelsetPredictions.top`.

    Attributes
    ----------
    labelsets : array of shape (n, k, q)
        In order.
    p_values : array of shape (n, k)
        Their p-values.
    """

    labelsets: LabelMatrix
    p_values: FloatArray


class LabelsetPredictions:
    """The plausibility of every labelset for each of n objects.

    Made by ``predict_labelsets`` of a conformal predictor; nothing exponential is computed before it is asked for.

    Attributes
    ----------
    label_names : tuple of str
        The labels, in the order of the columns of every labelset.
    guarantee : Guarantee or NoGuarantee
        What is proven about regions; ``region(0.05).guarantee`` says it in a sentence.

    Examples
    --------
    >>> from labelsure import calibrate_outputs
    >>> predictor = calibrate_outputs([[0.9, 0.2], [0.6, 0.1], [0.3, 0.8]], [[1, 0], [1, 0], [0, 1]])
    >>> pred = predictor.predict_labelsets([[0.8, 0.3], [0.5, 0.5]])
    >>> pred.labelsets.tolist()
    [[1, 0], [1, 0]]
    >>> pred.confidence.tolist(), pred.credibility.tolist()
    ([0.75, 0.75], [0.75, 0.25])
    >>> pred.p_value([[1, 0], [1, 1]]).tolist()
    [0.75, 0.25]
    """

    def __init__(
        self,
        engine: LabelsetEngine,
        *,
        label_names: Sequence[str] | None = None,
        guarantee: Guarantee | NoGuarantee | None = None,
    ) -> None:
        self._engine = engine
        self.guarantee = guarantee or NoGuarantee("these p-values: how they were made is not known")
        names = (f"label_{j}" for j in range(engine.n_labels)) if label_names is None else label_names
        self.label_names = tuple(str(name) for name in names)

    def __len__(self) -> int:
        return self._engine.n_objects

    def __getitem__(self, objects: Any) -> "LabelsetPredictions":
        """Return the predictions of some of the objects: a slice, indices, a boolean mask or a single index."""
        chosen = np.atleast_1d(np.arange(len(self))[objects])
        if chosen.ndim != 1:
            raise IndexError(f"Objects are chosen along one axis, got an index of {chosen.ndim} dimensions.")
        return LabelsetPredictions(self._engine.take(chosen), label_names=self.label_names, guarantee=self.guarantee)

    def __repr__(self) -> str:
        return f"LabelsetPredictions({len(self)} objects, {len(self.label_names)} labels)"

    @cached_property
    def _best(self) -> BestLabelsets:
        return self._engine.top(2)

    @cached_property
    def _label_numerators(self) -> IntArray:
        return self._engine.label_numerators()

    @property
    def labelsets(self) -> LabelMatrix:
        """The labelset with the highest p-value of each object, ties by lowest total score; shape (n, q)."""
        return self._best.labelsets[:, 0]

    @property
    def credibility(self) -> FloatArray:
        """The highest p-value of each object, shape (n,); low values say that no labelset fits the object."""
        return self._engine.to_p_values(self._best.numerators)[:, 0]

    @property
    def confidence(self) -> FloatArray:
        """One minus the second highest p-value of each object, shape (n,); 1 where there is only one candidate."""
        return 1 - self._engine.to_p_values(self._best.numerators)[:, 1]

    def p_value(self, Y: LabelMatrixLike) -> FloatArray:
        """Return the p-value of one labelset per object, for any number of labels.

        Parameters
        ----------
        Y : array-like of shape (n, q)
            Zeros and ones.

        Returns
        -------
        array of shape (n,)
            0 for an empty labelset that is not a candidate.
        """
        Y = check_label_matrix(Y, n_labels=self._engine.n_labels)
        check_same_length(range(len(self)), Y, names=("the predictions", "Y"))
        return self._engine.to_p_values(self._engine.numerators_of(Y))

    def p_values(self, *, max_memory: int = 4 * GIBIBYTE) -> FloatArray:
        """Return the p-values of all candidate labelsets, columns as in :meth:`candidates`.

        Parameters
        ----------
        max_memory : int
            Bytes that the table may take; a larger one is refused.

        Returns
        -------
        array of shape (n, 2^q), or (n, 2^q - 1) where the empty labelset is no candidate
        """
        self._check_memory(len(self) * self._engine.n_candidates * 8, max_memory, "The p-value table")
        return self._engine.p_value_table()

    def candidates(self, *, max_memory: int = 4 * GIBIBYTE) -> LabelMatrix:
        """Return all candidate labelsets, one row each, in the order of the columns of :meth:`p_values`.

        Row c is the binary number c, label 0 its lowest bit; where the empty labelset is no candidate counting
        starts at 1.
        """
        engine = self._engine
        self._check_memory(engine.n_candidates * engine.n_labels * 8, max_memory, "The table of candidates")
        return decode(np.arange(engine.first_code, engine.first_code + engine.n_candidates), engine.n_labels)

    def region(self, significance: float, *, force_nonempty: bool = False) -> LabelsetRegion:
        """Return the regions of labelsets with a p-value above ``significance``.

        Parameters
        ----------
        significance : float
            Strictly between 0 and 1; 0.05 for 95 % confidence.
        force_nonempty : bool, default=False
            Whether the most plausible labelset belongs to the region in any case, as in the paper's tables.
        """
        return LabelsetRegion(self, significance, force_nonempty=force_nonempty)

    def top(self, k: int) -> TopLabelsets:
        """Return the k most plausible labelsets of each object with their p-values, for any number of labels.

        Parameters
        ----------
        k : int
            How many.

        Returns
        -------
        TopLabelsets
            ``labelsets`` of shape (n, k, q) and ``p_values`` of shape (n, k), the most plausible first: by p-value,
            then by lowest total score, then by lowest code. Where there are fewer than k candidates the rest has
            the p-value 0.

        Examples
        --------
        >>> from labelsure import calibrate_outputs
        >>> predictor = calibrate_outputs([[0.9, 0.2], [0.6, 0.1], [0.3, 0.8]], [[1, 0], [1, 0], [0, 1]])
        >>> top = predictor.predict_labelsets([[0.8, 0.3]]).top(2)
        >>> top.labelsets.tolist(), top.p_values.tolist()
        ([[[1, 0], [1, 1]]], [[0.75, 0.25]])
        """
        best = self._engine.top(check_count(k, name="k"))
        return TopLabelsets(best.labelsets, self._engine.to_p_values(best.numerators))

    @property
    def label_p_values(self) -> FloatArray:
        """The highest p-value among the labelsets with each label off and on, shape (n, q, 2).

        ``label_p_values[i, j, c]`` is the maximum of the p-values of object i's labelsets with ``t_j = c``. These are
        p-values of statements about single labels that hold jointly: at significance eps all the statements
        "t_j = 1 - c" with a value of at most eps are true together, with the probability of the region at eps.

        Examples
        --------
        >>> from labelsure import calibrate_outputs
        >>> predictor = calibrate_outputs([[0.9, 0.2], [0.6, 0.1], [0.3, 0.8]], [[1, 0], [1, 0], [0, 1]])
        >>> predictor.predict_labelsets([[0.8, 0.3]]).label_p_values.tolist()
        [[[0.25, 0.75], [0.75, 0.25]]]
        """
        return self._engine.to_p_values(self._label_numerators)

    def rank_labels(self, *, method: str = "difference") -> FloatArray:
        """Return a number per object and label by which labels can be ranked: the higher, the more plausible.

        Parameters
        ----------
        method : {"difference", "mass"}, default="difference"
            "difference": the highest p-value of a labelset with the label minus that of one without it, for any
            number of labels. "mass": the share of the sum of all p-values that falls on labelsets with the label;
            lists all labelsets.

        Returns
        -------
        array of shape (n, q)

        Examples
        --------
        >>> from labelsure import calibrate_outputs
        >>> predictor = calibrate_outputs([[0.9, 0.2], [0.6, 0.1], [0.3, 0.8]], [[1, 0], [1, 0], [0, 1]])
        >>> pred = predictor.predict_labelsets([[0.8, 0.3]])
        >>> pred.rank_labels().tolist(), pred.rank_labels(method="mass").tolist()
        ([[0.5, -0.5]], [[0.8, 0.4]])
        """
        if check_choice(method, ("difference", "mass"), name="method") == "mass":
            return self._engine.label_masses()
        return self.label_p_values[:, :, 1] - self.label_p_values[:, :, 0]

    def to_frame(self) -> Any:
        """Return a pandas DataFrame: the labels of the best labelset as 0/1 columns, confidence, credibility.

        Examples
        --------
        >>> from labelsure import calibrate_outputs
        >>> predictor = calibrate_outputs([[0.9, 0.2], [0.3, 0.8]], [[1, 0], [0, 1]], label_names=["sea", "city"])
        >>> print(predictor.predict_labelsets([[0.8, 0.3]]).to_frame())
           sea  city  confidence  credibility
        0    1     0    0.666667     0.666667
        """
        pandas = import_optional("pandas", extra="pandas", purpose="to_frame")
        labels = pandas.DataFrame(self.labelsets, columns=list(self.label_names))
        figures = pandas.DataFrame({"confidence": self.confidence, "credibility": self.credibility})
        return pandas.concat([labels, figures], axis=1)  # keeps a label that is itself called "confidence"

    def _check_memory(self, n_bytes: int, max_memory: int, what: str) -> None:
        if n_bytes > check_count(max_memory, name="max_memory", at_least=0):
            raise ValueError(
                f"{what} for {len(self)} objects and {self._engine.n_labels} labels would take"
                f" {_readable(n_bytes)}, more than max_memory={_readable(max_memory)}."
                " Ask for fewer objects (predictions[:100].p_values()), for single labelsets (p_value(Y)),"
                " or raise max_memory."
            )


def _readable(n_bytes: int) -> str:
    if n_bytes >= 2**60:
        return f"2^{n_bytes.bit_length() - 1} bytes"
    power = max(n_bytes.bit_length() - 1, 0) // 10
    return f"{n_bytes / 2 ** (10 * power):.4g} {('bytes', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB')[power]}"
