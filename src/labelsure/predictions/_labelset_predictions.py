"""What a user holds after predicting."""

import warnings
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from typing import Any

import numpy as np

from labelsure._checks import (
    BoolArray,
    FloatArray,
    IntArray,
    LabelMatrix,
    check_choice,
    check_count,
    check_flag,
    check_label_names,
    check_number,
    check_same_length,
    check_significance,
    choose_significance,
    made_up_names,
)
from labelsure.engine._engine import LabelsetEngine
from labelsure.engine._results import BestLabelsets
from labelsure.predictions._batch import Posterior, RankedLabelsets, check_labelsets, choose_objects
from labelsure.predictions._frames import frame_of_labels
from labelsure.predictions._guarantee import Guarantee, NoGuarantee
from labelsure.predictions._region import LabelsetRegion
from labelsure.predictions._show import count_objects, show_predictions
from labelsure.predictions._summary import Summaries

GIBIBYTE = 2**30


def _readable(n_bytes: int) -> str:
    if n_bytes >= 2**60:
        return f"2^{n_bytes.bit_length() - 1} bytes"
    power = max(n_bytes.bit_length() - 1, 0) // 10
    return (
        f"{n_bytes / 2 ** (10 * power):.4g} {('bytes', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB')[power]}"
    )


UNKNOWN = NoGuarantee("these p-values: how they were made is not known")


@dataclass(eq=False, repr=False)
class LabelsetPredictions:
    """The plausibility of every labelset for each of n objects.

    Made by ``predict_labelsets`` of a conformal predictor; nothing exponential is computed before
    it is needed.

    Attributes
    ----------
    label_names : tuple of str
        The labels, in the order of the columns of every labelset.
    guarantee : Guarantee or NoGuarantee
        What is proven about regions; ``region(0.05).statement`` says it in a sentence.
    index : pandas Index, array or None
        What the objects are called, where they came in a DataFrame.
    answers : str
        What ``predict`` of the classifier answers instead of :attr:`labelsets`, and why; "" where
        it answers these.

    Examples
    --------
    >>> from labelsure import calibrate_outputs
    >>> outputs, Y = [[0.9, 0.2], [0.6, 0.1], [0.3, 0.8]], [[1, 0], [1, 0], [0, 1]]
    >>> predictor = calibrate_outputs(outputs, Y, empty_labelset="exclude")
    >>> pred = predictor.predict_labelsets([[0.8, 0.3], [0.5, 0.5]])
    >>> pred.labelsets.tolist()
    [[1, 0], [1, 0]]
    >>> pred.confidence.tolist(), pred.credibility.tolist()
    ([0.75, 0.75], [0.75, 0.25])
    >>> pred.p_value([[1, 0], [1, 1]]).tolist()
    [0.75, 0.25]
    """

    _engine: LabelsetEngine
    _: KW_ONLY
    label_names: tuple[str, ...] = ()
    guarantee: Guarantee | NoGuarantee = UNKNOWN
    index: Any = None
    answers: str = ""
    _find_probabilities: Callable[[], FloatArray] | None = None
    _posterior: Posterior | None = None

    def __post_init__(self) -> None:
        if self.index is not None:
            check_same_length(range(len(self)), self.index, names=("the predictions", "index"))
        given, n_labels = self.label_names, self._engine.n_labels
        self.label_names = made_up_names(n_labels)
        if len(given):
            self.label_names = check_label_names(given, n_labels)

    def __len__(self) -> int:
        return self._engine.n_objects

    def __getitem__(self, objects: Any) -> "LabelsetPredictions":
        """Return the predictions of some objects: a slice, indices, a mask or a single index."""
        rows, index = choose_objects(len(self), objects, self.index)
        find = None if self._find_probabilities is None else partial(_take_rows, self, rows)
        return replace(
            self,
            _engine=self._engine.take(rows),
            index=index,
            _find_probabilities=find,
            _posterior=self._posterior and self._posterior.take(rows),
        )

    def __repr__(self) -> str:
        n_unsure = int(np.sum(~self.certain)) if "_best" in vars(self) else 0
        unsure = f", {n_unsure} best labelsets not certain" if n_unsure else ""
        n_labels = len(self.label_names)
        return f"LabelsetPredictions({count_objects(len(self))}, {n_labels} labels{unsure})"

    def _repr_html_(self) -> str:
        return show_predictions(self)

    @cached_property
    def _best(self) -> BestLabelsets:
        """The two most plausible labelsets of each object."""
        return self._engine.top(2)

    @cached_property
    def _label_numerators(self) -> IntArray:
        """The highest numerator among the labelsets with each label off and on."""
        return self._engine.label_numerators()

    @property
    def labelsets(self) -> LabelMatrix:
        """The labelset with the highest p-value of each object, (n, q); ties by lowest score.

        Where :attr:`certain` is False it is the best one found.
        """
        return self._best.labelsets[:, 0]

    @property
    def credibility(self) -> FloatArray:
        """The highest p-value of each object, (n,); low where no labelset fits the object.

        Where :attr:`certain` is False it is at least that.
        """
        return self._engine.to_p_values(self._best.numerators)[:, 0]

    @property
    def confidence(self) -> FloatArray:
        """One minus the second highest p-value of each object, (n,); 1 for a single candidate.

        Where :attr:`certain` is False it is at least that.
        """
        return 1 - self._engine.to_p_values(self._best.upper)[:, 1]

    @property
    def certain(self) -> BoolArray:
        """Whether each object's best labelset is proven to be the best, shape (n,).

        False only where, with very many labels, a search was stopped before it had ruled out all
        others.
        """
        return self._best.certain

    @property
    def nested(self) -> bool:
        """Whether a region is always the labelsets with a p-value above its significance.

        Then regions at lower significances hold those at higher ones. False for
        ``guarantee="exact"``, which merges the folds anew for each level.
        """
        return self._engine.at_level(Fraction(1, 2))[0] is self._engine

    def p_value(self, Y: Any) -> FloatArray:
        """Return the p-value of one labelset per object, or of one labelset for all of them.

        Parameters
        ----------
        Y : label matrix of shape (n, q), labelset of shape (q,), or set or list of label names
            Zeros and ones, one row per object; or one labelset for all objects, as zeros and ones
            or by the names of its labels. The columns of a DataFrame are taken by name. For any
            number of labels.

        Returns
        -------
        array of shape (n,)
            0 for a labelset that is no candidate: an empty one that is excluded, one that breaks a
            constraint.

        Examples
        --------
        >>> from labelsure import calibrate_outputs
        >>> outputs, Y = [[0.9, 0.2], [0.3, 0.8]], [[1, 0], [0, 1]]
        >>> predictor = calibrate_outputs(outputs, Y, label_names=["sea", "city"])
        >>> pred = predictor.predict_labelsets([[0.8, 0.3], [0.2, 0.9]])
        >>> pred.p_value([[1, 0], [0, 1]]).round(3).tolist()
        [0.667, 1.0]
        >>> pred.p_value({"sea"}).round(3).tolist()
        [0.667, 0.333]
        """
        return self._engine.to_p_values(self._engine.numerators_of(self._check(Y)))

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
        self._check_memory(max_memory, len(self), "The p-value table")
        return self._engine.p_value_table()

    def candidates(self, *, max_memory: int = 4 * GIBIBYTE) -> LabelMatrix:
        """Return all candidate labelsets, one row each, ordered as columns of :meth:`p_values`.

        Row c is the binary number c, label 0 its lowest bit; where the empty labelset is no
        candidate counting starts at 1.
        """
        self._check_memory(max_memory, len(self.label_names), "The table of candidates")
        return self._engine.candidates()

    def region(
        self,
        significance: float | None = None,
        *,
        confidence: float | None = None,
        force_nonempty: bool = False,
        size_precision: float = 1.0,
    ) -> LabelsetRegion:
        """Return the regions of labelsets that cannot be ruled out: :class:`LabelsetRegion`.

        Parameters
        ----------
        significance : float or None, default=None
            The error rate that you accept, strictly between 0 and 1; 0.05 for 95 % confidence.
        confidence : float or None, default=None
            One minus the significance; give one of the two.
        force_nonempty : bool, default=False
            Whether the most plausible labelset belongs to the region in any case, as in the paper's
            tables.
        size_precision : float, default=1.0
            The precision of sizes that are too large to be counted, above about a million
            labelsets: they are estimated, with a 99 % interval within a factor 2^size_precision of
            the estimate. 0.1 takes about ten times as long as 1.

        Warns
        -----
        UserWarning
            Where there are too few calibration examples for this level, so that regions hold every
            labelset; where a significance above 0.5 looks like a confidence.

        Examples
        --------
        >>> from labelsure import calibrate_outputs
        >>> outputs, Y = [[0.9, 0.2], [0.3, 0.8]], [[1, 0], [0, 1]]
        >>> pred = calibrate_outputs(outputs, Y).predict_labelsets([[0.8, 0.3]])
        >>> pred.region(confidence=0.65), pred.region(0.35)
        (LabelsetRegion(significance=0.35, 1 object), LabelsetRegion(significance=0.35, 1 object))
        """
        significance = choose_significance(significance, confidence)
        least = self.guarantee.vacuous_below
        if least is not None and check_significance(significance) < least:
            warnings.warn(self.guarantee.limit, stacklevel=2)
        return self._region(significance, force_nonempty, size_precision)

    def summary(
        self,
        significance: float = 0.05,
        *,
        top: int = 5,
        force_nonempty: bool = False,
        size_precision: float = 1.0,
    ) -> Summaries:
        """Return a readable record per object: labels by name, how sure, and what to beware of.

        Parameters
        ----------
        significance : float, default=0.05
            The level at which labels are sure, possible or ruled out; 0.05 for 95 % confidence.
        top : int, default=5
            How many of the most plausible labelsets to list; 0 for none.
        force_nonempty, size_precision
            As in :meth:`region`.

        Returns
        -------
        Summaries
            A sequence of :class:`ObjectSummary`; ``print`` it, or one of them, for words.

        Examples
        --------
        >>> from labelsure import calibrate_outputs
        >>> outputs, Y = [[0.9, 0.2], [0.3, 0.8]], [[1, 0], [0, 1]]
        >>> predictor = calibrate_outputs(outputs, Y, label_names=["sea", "city"])
        >>> print(predictor.predict_labelsets([[0.8, 0.3]]).summary(significance=0.35)[0])
        Object 0: sea (confidence 0.667, credibility 0.667).
        At 65 % confidence 1 labelset is left. Sure: sea. Ruled out: city.
        Most plausible: {sea} p = 0.667; {sea, city} p = 0.333; no label p = 0.333; {city} p =
        0.333.
        """
        # notes say where a level cannot be reached
        region = self._region(significance, force_nonempty, size_precision)
        return Summaries(region, check_count(top, name="top", at_least=0), self._objects)

    def top(self, k: int) -> RankedLabelsets:
        """Return the k most plausible labelsets of each object with their p-values.

        Parameters
        ----------
        k : int
            How many.

        Returns
        -------
        RankedLabelsets
            ``labelsets`` of shape (n, k, q) and ``p_values`` of shape (n, k), the most plausible
            first: by p-value, then by lowest total score, then by lowest code. Where there are
            fewer than k candidates the rest has the p-value 0; ``certain`` says where these are
            proven to be the best. ``to_frame()`` makes a table.

        Examples
        --------
        >>> from labelsure import calibrate_outputs
        >>> outputs, Y = [[0.9, 0.2], [0.6, 0.1], [0.3, 0.8]], [[1, 0], [1, 0], [0, 1]]
        >>> predictor = calibrate_outputs(outputs, Y, empty_labelset="exclude")
        >>> top = predictor.predict_labelsets([[0.8, 0.3]]).top(2)
        >>> top.labelsets.tolist(), top.p_values.tolist()
        ([[[1, 0], [1, 1]]], [[0.75, 0.25]])
        """
        n_listed = check_count(k, name="k")
        n_bytes = len(self) * n_listed * (len(self.label_names) + 8)
        if n_bytes > 64 * GIBIBYTE:
            raise ValueError(
                f"k labelsets for {len(self)} objects must fit into 64 GiB, got"
                f" {_readable(n_bytes)}."
            )
        best = self._engine.top(n_listed)
        p_values = self._engine.to_p_values(best.numerators)
        return RankedLabelsets(
            best.labelsets, p_values, self.label_names, objects=self._objects, certain=best.certain
        )

    @cached_property
    def probabilities(self) -> FloatArray:
        """The probability that each label is on, (n, q): for thresholds, scorers and ranking.

        The sum of the posterior's probabilities over the candidates with the label, in the mean
        over the folds' models; see :meth:`CrossConformalClassifier.predict_proba`. P-values and
        regions do not depend on it.

        Examples
        --------
        >>> from labelsure import calibrate_outputs
        >>> outputs, Y = [[0.9, 0.2], [0.6, 0.1], [0.3, 0.8]], [[1, 0], [1, 0], [0, 1]]
        >>> predictions = calibrate_outputs(outputs, Y).predict_labelsets([[0.8, 0.3]])
        >>> predictions.probabilities.round(2).tolist()
        [[0.96, 0.17]]
        """
        if self._find_probabilities is None:
            raise ValueError(
                "Probabilities are known of predictions that a fitted predictor made, and not of"
                " these, made by hand."
            )
        return self._find_probabilities()

    @property
    def label_p_values(self) -> FloatArray:
        """The highest p-value among the labelsets with each label off and on, shape (n, q, 2).

        ``label_p_values[i, j, c]`` is the maximum of the p-values of object i's labelsets with
        ``t_j = c``. These are p-values of statements about single labels that hold jointly: at
        significance eps all the statements "t_j = 1 - c" with a value of at most eps are true
        together, with the probability of the region at eps. Where, with very many labels, a search
        was stopped, they are upper bounds: this holds, but says less.

        Examples
        --------
        >>> from labelsure import calibrate_outputs
        >>> outputs, Y = [[0.9, 0.2], [0.6, 0.1], [0.3, 0.8]], [[1, 0], [1, 0], [0, 1]]
        >>> predictor = calibrate_outputs(outputs, Y, empty_labelset="exclude")
        >>> predictor.predict_labelsets([[0.8, 0.3]]).label_p_values.tolist()
        [[[0.25, 0.75], [0.75, 0.25]]]
        """
        return self._engine.to_p_values(self._label_numerators)

    def rank_labels(self, *, method: str = "difference") -> FloatArray:
        """Return a number per object and label, (n, q), to rank labels by.

        Parameters
        ----------
        method : {"difference", "mass"}, default="difference"
            "difference": the highest p-value of a labelset with the label minus that of one without
            it, for any number of labels. "mass": the share of the sum of all p-values that falls on
            labelsets with the label; lists all labelsets.

        Examples
        --------
        >>> from labelsure import calibrate_outputs
        >>> outputs, Y = [[0.9, 0.2], [0.6, 0.1], [0.3, 0.8]], [[1, 0], [1, 0], [0, 1]]
        >>> predictor = calibrate_outputs(outputs, Y, empty_labelset="exclude")
        >>> pred = predictor.predict_labelsets([[0.8, 0.3]])
        >>> pred.rank_labels().tolist(), pred.rank_labels(method="mass").tolist()
        ([[0.5, -0.5]], [[0.8, 0.4]])
        """
        if check_choice(method, ("difference", "mass"), name="method") == "mass":
            return self._engine.label_masses()
        return self.label_p_values[:, :, 1] - self.label_p_values[:, :, 0]

    def to_frame(
        self, *, layout: str = "wide", prefix: str = "", library: str | None = None
    ) -> Any:
        """Return a DataFrame: the best labelset as 0/1 columns, confidence, credibility.

        With ``layout="long"`` there is one row per object and label: the :attr:`label_p_values` of
        its being off and on, and its value in the best labelset.

        Parameters
        ----------
        layout : {"wide", "long"}, default="wide"
            "wide": one row per object. "long": one row per object and label.
        prefix : str, default=""
            Put before the names of the labels, for labels called "confidence" or to join the frame
            with others.
        library : {"pandas", "polars"} or None, default=None
            Which DataFrame to make; None: of the library that the objects came in, else of pandas.
            The index of a pandas table is kept, so that it can be joined with theirs; in polars,
            which has none, it is a column.

        Examples
        --------
        >>> from labelsure import calibrate_outputs
        >>> outputs, Y = [[0.9, 0.2], [0.3, 0.8]], [[1, 0], [0, 1]]
        >>> predictor = calibrate_outputs(outputs, Y, label_names=["sea", "city"])
        >>> print(predictor.predict_labelsets([[0.8, 0.3]]).to_frame())
           sea  city  confidence  credibility
        0    1     0    0.666667     0.666667
        """
        return frame_of_labels(
            self,
            self.labelsets,
            "value",
            layout,
            prefix,
            library,
            p_values=lambda: self.label_p_values,
            figures=lambda: {"confidence": self.confidence, "credibility": self.credibility},
        )

    def _region(
        self, significance: float, force_nonempty: bool, size_precision: float
    ) -> LabelsetRegion:
        at_level = self._engine.at_level(check_significance(significance))
        forced = check_flag(force_nonempty, name="force_nonempty")
        precision = check_number(size_precision, name="size_precision", above=0)
        return LabelsetRegion(significance, forced, precision, self, *at_level)

    def _check(self, Y: Any, name: str = "Y", n_objects: int | None = None) -> LabelMatrix:
        """Return one labelset per object, or for ``n_objects`` of them."""
        n_rows = len(self) if n_objects is None else n_objects
        return check_labelsets(Y, n_objects=n_rows, label_names=self.label_names, name=name)

    def _check_memory(self, max_memory: int, n_rows: int, what: str) -> None:
        """Raise ValueError where ``n_rows`` numbers per candidate labelset take too much memory."""
        n_bytes = n_rows * self._engine.n_candidates * 8
        most = check_count(max_memory, name="max_memory", at_least=0)
        if n_bytes > most:
            raise ValueError(
                f"{what} for {len(self)} objects and {len(self.label_names)} labels would take"
                f" {_readable(n_bytes)}, more than max_memory={_readable(most)}. Ask for fewer"
                " objects (predictions[:100].p_values()), for single labelsets (p_value(Y)), or"
                " raise max_memory."
            )

    @property
    def _objects(self) -> Any:
        """What the objects are called."""
        return range(len(self)) if self.index is None else self.index


def _take_rows(predictions: LabelsetPredictions, rows: IntArray) -> FloatArray:
    return predictions.probabilities[rows]
