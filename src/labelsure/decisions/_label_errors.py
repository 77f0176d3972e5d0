"""Label errors: which labels of a table are likely wrong, with a level given trusted rows."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from labelsure._checks import (
    BoolArray,
    FloatArray,
    IntArray,
    LabelMatrix,
    LabelMatrixLike,
    MatrixLike,
    check_count,
    check_gaps,
    check_same_length,
    check_significance,
    made_up_names,
    row_index_of,
)
from labelsure.conformal import CrossConformalClassifier, InductiveConformalClassifier
from labelsure.conformal._models import outputs_of_models
from labelsure.decisions._selection import select
from labelsure.measures import Need
from labelsure.predictions._frames import choose_library, make_frame

FIT_TRUSTED = "InductiveConformalClassifier(..., calibration_size=0.5).fit(X_trusted, Y_trusted)"
FIT_FOLDS = "CrossConformalClassifier(...).fit(X, Y)"

FEW = 10

NO_LEVEL = (
    "An order of doubt, without a level: ranks among the examined rows themselves are uniform"
    " whatever is wrong with them, so no share of errors among the first can be promised. With"
    " trusted rows it can: pass trusted=(X, Y)."
)


@dataclass(frozen=True, eq=False)
class LabelErrors:
    """Which labels of a table are in doubt; made by :func:`find_label_errors`.

    Attributes
    ----------
    gains : array of shape (n, q)
        log p(labelset with label j flipped | x) - log p(labelset as given | x): above 0 where
        another value of the label fits better, the higher the more doubtful; minus infinity where
        the model's constraints forbid the flip. NaN in rows with an unknown label, which are not
        examined.
    labels : array of shape (n, q)
        The labels as given; unknown ones are 0 here.
    p_values : array of shape (n,) or None
        Of "this row is labelled like the trusted ones"; None without trusted rows.
    flagged : bool array of shape (n,) or None
        The rows reported at the level; None without trusted rows.
    level : float or None
        The expected share of correct rows among the flagged ones is at most this; None without
        trusted rows.
    statement : str
        What is promised, under which conditions, and by whom.
    label_names : tuple of str
        The labels' names.
    index : pandas index or None
        That of the rows, where they came as a DataFrame.
    """

    gains: FloatArray
    labels: LabelMatrix
    statement: str
    label_names: tuple[str, ...]
    p_values: FloatArray | None = None
    flagged: BoolArray | None = None
    level: float | None = None
    index: Any = None

    def __repr__(self) -> str:
        pairs = f"{len(self.pairs)} doubtful labels in {len(self.gains)} rows"
        if self.flagged is None:
            return f"LabelErrors({pairs})"
        return (
            f"LabelErrors({pairs}, {int(self.flagged.sum())} rows flagged at level={self.level:g})"
        )

    @property
    def pairs(self) -> IntArray:
        """Row and column of the labels that are better flipped, (k, 2), most doubtful first."""
        rows, labels = np.nonzero(self.gains > 0)
        order = np.argsort(-self.gains[rows, labels], kind="stable")
        return np.column_stack([rows, labels])[order]

    @property
    def better(self) -> LabelMatrix:
        """The labelset that fits better for each of :attr:`pairs`, (k, q): one label flipped."""
        rows, labels = self.pairs.T
        flipped: LabelMatrix = self.labels[rows]  # a copy
        flipped[np.arange(len(rows)), labels] ^= 1
        return flipped

    def to_frame(self, *, library: str | None = None) -> Any:
        """Return a DataFrame with one row per doubtful label, the most doubtful first.

        Parameters
        ----------
        library : {"pandas", "polars"} or None, default=None
            Which DataFrame to make; None: of the library that the rows came in, else of pandas.
        """
        rows, labels = self.pairs.T
        names = np.array(self.label_names, dtype=object)
        columns = {
            "row": rows if self.index is None else np.asarray(self.index)[rows],
            "label": names[labels],
            "given": self.labels[rows, labels],
            "gain": self.gains[rows, labels],
            "better": [", ".join(names[on == 1]) for on in self.better],
        }
        if self.p_values is not None and self.flagged is not None:
            columns |= {"p_value": self.p_values[rows], "flagged": self.flagged[rows]}
        return make_frame(columns, library=choose_library(library, self.index))


def find_label_errors(
    model: Any,
    X: MatrixLike,
    Y: LabelMatrixLike,
    *,
    trusted: tuple[MatrixLike, LabelMatrixLike] | None = None,
    level: float = 0.1,
) -> LabelErrors:
    r"""Find the labels of a table that are likely wrong, ranked or, with trusted rows, at a level.

    The doubt about a label is the gain of flipping it under the model's posterior, :math:`\log
    p(\psi \oplus j \mid x) - \log p(\psi \mid x)`, which knows how labels go together. For a
    measure other than the posterior it is the fall of the score; the level holds all the same.

    Parameters
    ----------
    model : fitted conformal classifier
        Without ``trusted``, a :class:`CrossConformalClassifier` fitted on ``X`` and ``Y``: each row
        is judged by the model that has not seen it. With ``trusted``, an
        :class:`InductiveConformalClassifier` fitted on the trusted rows or on other data; it must
        not have seen ``X``.
    X : array-like of shape (n, n_features)
        The rows to examine.
    Y : array-like, sparse matrix or DataFrame of shape (n, q)
        Their labels; rows with NaN are not examined.
    trusted : pair (X, Y) or None, default=None
        Rows known to be labelled well. Where the model was fitted on these, in this order, those
        that it held out are used; ``calibration_size=0.5`` is a good choice then. Else all of them
        are, and must not have trained the model: the rows of the fit in another order are refused,
        some of them only cannot be recognised.
    level : float, default=0.1
        With ``trusted``: the accepted share of correct rows among the flagged ones, strictly
        between 0 and 1.

    Returns
    -------
    LabelErrors
        Doubtful labels in order and, with trusted rows, the rows that are flagged.

    Notes
    -----
    With trusted rows the p-value of a row is :math:`(|\{i : g_i \ge g\}| + 1) / (n + 1)`, g being
    the largest gain of the row and :math:`g_i` those of n trusted rows that calibrate. Rows are
    flagged by Benjamini and Hochberg. For independent rows, of which the correctly labelled ones
    are distributed like the trusted ones, the expected share of correct rows among those flagged is
    at most ``level``, whatever the model, the ties, and how labels depend on each other [1]_. It is
    a level for rows; the labels within a row are an order. Scores of several fold models would
    break the proof, so it takes a model without folds.

    Without trusted rows no level can be promised: ranks calibrated on the suspects themselves are
    uniform whatever is wrong with them.

    References
    ----------
    .. [1] Bates, S., Candes, E., Lei, L., Romano, Y., Sesia, M. (2023). Testing for outliers with
       conformal p-values. Annals of Statistics 51(1), 149-178.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from labelsure import CrossConformalClassifier, MLkNNClassifier
    >>> X, Y = make_multilabel_classification(200, n_classes=3, length=500, random_state=0)
    >>> Y[10, 1] ^= 1  # a mistake
    >>> model = CrossConformalClassifier(MLkNNClassifier(), cv=5, random_state=0).fit(X, Y)
    >>> errors = find_label_errors(model, X, Y)
    >>> print(errors.to_frame().head(2).round(1))
       row    label  given  gain                     better
    0   10  label_1      0   7.8  label_0, label_1, label_2
    1  153  label_0      1   1.6           label_1, label_2
    """
    promised = _check_level(level)
    _check_kind(model, folds=trusted is None)
    X, labels, complete = _read(model, X, Y)
    names = model.label_names_ or made_up_names(model.n_labels_)
    index = row_index_of(X)
    if trusted is None:
        gains = _out_of_fold_gains(model, X, labels)
        return LabelErrors(gains, labels, NO_LEVEL, names, index=index)
    n_suspects = int(complete.sum())
    trusted_gains = _trusted_gains(model, *trusted)
    n_trusted = len(trusted_gains)
    least = fewest_flagged(n_trusted, n_suspects, level)
    if least > n_suspects:
        raise ValueError(
            f"With {n_trusted} trusted rows to calibrate with, nothing can be flagged at"
            f" level={level:g}: that takes at least {math.ceil(1 / promised) - 1}. Bring more"
            " trusted rows, or accept a higher level."
        )
    scores, gains = _score_rows(model, X, labels, complete)
    if _rows_of_fit(model, scores) is not None or _holds_rows_of_fit(model, scores):
        raise ValueError(
            "model must not have seen the rows to examine, but was fitted on them. Use"
            f" {FIT_TRUSTED}."
        )
    every_row = np.zeros(n_trusted, dtype=bool)  # every trusted row counts in the p-values
    chosen = select(trusted_gains, every_row, gains[complete].max(axis=1), promised, batch=True)
    p_values, flagged = np.full(len(labels), np.nan), np.zeros(len(labels), dtype=bool)
    p_values[complete], flagged[complete] = chosen.p_values, chosen.accepted
    statement = (
        f"{int(flagged.sum())} of {n_suspects} rows flagged; flagging any takes at least {least}."
        " The expected share of correctly labelled rows among the flagged ones is at most"
        f" {float(promised):g}, for independent rows, of which correctly labelled ones are"
        f" distributed like the {n_trusted} trusted ones (Bates et al. 2023). It is an average over"
        " trusted rows and tables; the labels within a flagged row are an order, without a level."
    )
    return LabelErrors(
        gains, labels, statement, names, p_values, flagged, level=float(promised), index=index
    )


def fewest_flagged(n_trusted: int, n_suspects: int, level: float = 0.1) -> int:
    """Return how many suspects must look wrong together before any can be flagged at the level.

    Parameters
    ----------
    n_trusted : int
        The trusted rows that calibrate.
    n_suspects : int
        The rows to examine.
    level : float, default=0.1
        As in :func:`find_label_errors`.

    Returns
    -------
    int
        The smallest p-value is 1 / (n_trusted + 1), and of m suspects k are flagged only with
        p-values up to ``level`` k / m. More than ``n_suspects`` where nothing can be flagged at
        all.

    Examples
    --------
    >>> fewest_flagged(n_trusted=100, n_suspects=1000)
    100
    """
    n = check_count(n_trusted, name="n_trusted")
    m = check_count(n_suspects, name="n_suspects")
    return math.ceil(m / (_check_level(level) * (n + 1)))


def _check_level(level: Any) -> Fraction:
    example = "To accept 10 % correct rows pass level=0.1."
    return check_significance(level, name="level", example=example)


def _check_kind(model: Any, *, folds: bool) -> None:
    """Raise ValueError unless the model is a fitted one of the class that is needed."""
    wanted: Any = CrossConformalClassifier if folds else InductiveConformalClassifier
    if not isinstance(model, wanted):
        got = f"the class {model.__name__}" if isinstance(model, type) else type(model).__name__
        with_trusted = f"{got}: scores of several fold models would break the proof"
        raise ValueError(
            f"model must be of type {wanted.__name__} {'without' if folds else 'with'} trusted"
            f" rows, got {got if folds else with_trusted}. Use"
            f" {FIT_FOLDS if folds else FIT_TRUSTED}."
        )
    check_is_fitted(model)


def _read(
    model: Any, X: MatrixLike, Y: LabelMatrixLike, name: str = "Y"
) -> tuple[MatrixLike, LabelMatrix, BoolArray]:
    """Return objects, labels, unknown ones 0, and which rows have no unknown label."""
    X = model._check_objects(X)
    labels, unknown = check_gaps(
        Y, name=name, n_labels=model.n_labels_, label_names=model.label_names_
    )
    check_same_length(X, labels, names=(name.replace("Y", "X"), name))
    complete: BoolArray = np.ones(len(labels), dtype=bool)
    if unknown is not None:
        complete = ~np.asarray(unknown.any(axis=1))
    if not complete.any():
        raise ValueError(f"{name} must hold at least one row without unknown labels, got none.")
    return X, labels, complete


def _flip_gains(
    model: Any, k: int, X: MatrixLike, labels: LabelMatrix
) -> tuple[IntArray, FloatArray]:
    """Return scores under the model of fold k, (n,), and gains of flipping each label, (n, q)."""
    measure, rules = model.calibrator_.folds[k].measure, model.calibrator_.choices.constraints
    (outputs,) = outputs_of_models([model.models_[k]], X, model.n_labels_, n_jobs=model.n_jobs)
    energy = measure.energy(outputs, X=X if Need.FEATURES in measure.needs else None)
    given = energy.scores(labels)
    gains = np.empty(labels.shape)
    for j in range(labels.shape[1]):
        flipped = labels.copy()
        flipped[:, j] ^= 1
        gains[:, j] = np.ldexp(
            (given - energy.scores(flipped)).astype(np.float64), -measure.exponent_
        )
        if rules is not None:
            gains[~rules.allow(flipped), j] = -np.inf
    return given, gains


def _out_of_fold_gains(model: Any, X: MatrixLike, labels: LabelMatrix) -> FloatArray:
    gains = np.full(labels.shape, np.nan)
    for k, rows in enumerate(model.fold_indices_):
        scores = None
        if len(labels) == model.n_examples_:
            scores, gains[rows] = _flip_gains(model, k, _safe_indexing(X, rows), labels[rows])
        if scores is None or not np.allclose(scores, model.calibrator_.folds[k].scores):
            raise ValueError(
                "model must have been fitted on the rows to examine, X and Y, in this order. Use"
                f" {FIT_FOLDS}."
            )
    return gains


def _score_rows(
    model: Any, X: MatrixLike, labels: LabelMatrix, complete: BoolArray
) -> tuple[FloatArray, FloatArray]:
    """Return scores, (n,), and gains, (n, q), of one model; NaN in rows with unknown labels."""
    scores, gains = np.full(len(labels), np.nan), np.full(labels.shape, np.nan)
    scores[complete], gains[complete] = _flip_gains(
        model, 0, _safe_indexing(X, complete), labels[complete]
    )
    return scores, gains


def _trusted_gains(model: Any, X: MatrixLike, Y: LabelMatrixLike) -> FloatArray:
    """Return the largest gain of each trusted row that has not trained the model."""
    X, labels, complete = _read(model, X, Y, name="Y_trusted")
    scores, gains = _score_rows(model, X, labels, complete)
    rows = _rows_of_fit(model, scores)
    others = complete.sum() > len(model.calibrator_.folds[0].scores)
    if rows is None and others and _holds_rows_of_fit(model, scores):
        raise ValueError(
            "trusted must hold the rows that the model was fitted on in the same order, or none of"
            " them, got them in another order: those that trained it would break the level. Use"
            f" {FIT_TRUSTED}."
        )
    largest: FloatArray = gains[complete if rows is None else rows].max(axis=1)
    return largest


def _rows_of_fit(model: Any, scores: FloatArray) -> IntArray | None:
    """Return the rows that calibrated the model, if these rows begin those of fit, else None."""
    (rows,) = model.fold_indices_
    known, here = model.calibrator_.folds[0].scores, rows < len(scores)
    few = here.sum() < min(FEW, len(rows))  # a few scores agree by chance
    return None if few or not np.allclose(scores[rows[here]], known[here]) else rows[here]


def _holds_rows_of_fit(model: Any, scores: FloatArray) -> bool:
    """Tell whether these rows include all calibration examples; False if many scores are tied."""
    known, ordered = model.calibrator_.folds[0].scores, np.sort(scores[~np.isnan(scores)])
    if len(known) < FEW or len(np.unique(known)) < 0.9 * len(known):
        return False
    after = np.searchsorted(ordered, known).clip(max=len(ordered) - 1)
    same = [np.isclose(ordered[at], known, rtol=1e-9) for at in (after, np.maximum(after - 1, 0))]
    return bool(np.logical_or(*same).all())
