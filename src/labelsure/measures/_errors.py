"""Distances of a labelset from the outputs: powers, the largest error, Mahalanobis."""

import math
from dataclasses import KW_ONLY, dataclass

import numpy as np

from labelsure._checks import (
    BoolArray,
    FloatArray,
    LabelMatrix,
    MatrixLike,
    check_choice,
    check_flag,
    check_number,
)
from labelsure._parallel import one_thread
from labelsure.measures._base import Measure, rows_with_outputs
from labelsure.measures._costs import Costs
from labelsure.measures._need import Need

SMALLEST_RATIO = 1e-10
"""A covariance whose eigenvalues differ by more than this is numerically singular."""

LARGEST_PRODUCT = 64
"""Whole powers up to this are products, the same to the last bit wherever they are computed."""

SMALLEST_SPREAD = 1e-6
"""Outputs or residuals that differ by less than this do not vary: the rest may be rounding."""


@dataclass(eq=False, repr=False)
class PowerMeasure(Measure):
    """Sum of powers of the label-wise errors, plus a penalty for pairs of labels never seen.

    For the labelset psi with indicator t and outputs o::

        sum_j |t_j - o_j|^d + pair_penalty * #{j < r in psi: no training example has both j and r}

    Parameters
    ----------
    d : float, default=4
        The power, above 0. Large powers let the worst label decide, small ones the number of
        errors.
    pair_penalty : float, default=0
        The paper's lambda: what each unseen pair adds; at least 0.

    Attributes
    ----------
    unseen_pairs_ : bool array of shape (q, q) or None
        Entry (j, r), j < r, tells whether labels j and r never occur together in the training part;
        None without a penalty for that.

    References
    ----------
    Papadopoulos, H. (2014). A cross-conformal predictor for multi-label classification. AIAI
    Workshops, 241-250.

    Examples
    --------
    >>> from labelsure.measures import PowerMeasure
    >>> measure = PowerMeasure(d=2, pair_penalty=1.0).fit([[1, 0], [0, 1]])
    >>> measure.scores([[0.5, 0.75], [0.5, 0.75]], [[0, 1], [1, 1]])
    array([0.3125, 1.3125])
    """

    d: float = 4
    _: KW_ONLY
    pair_penalty: float = 0.0

    @property
    def needs(self) -> Need:  # type: ignore[override]
        """The training labels, where there is a penalty for unseen pairs."""
        return Need.TRAINING_LABELS if self.pair_penalty else Need.NOTHING

    def check_parameters(self, n_labels: int | None = None) -> None:
        """Raise ValueError where the power is not above 0, or the penalty below."""
        check_number(self.d, name="d", above=0)
        check_number(self.pair_penalty, name="pair_penalty", at_least=0)

    def _learn(self, labels: LabelMatrix, outputs: FloatArray | None, X: MatrixLike) -> float:
        self.unseen_pairs_: BoolArray | None = None
        if self.pair_penalty > 0:
            together = labels.T.astype(np.float64) @ labels
            self.unseen_pairs_ = np.triu(together == 0, 1)
        return self.n_labels_ + float(self.pair_penalty) * self.n_labels_ * (self.n_labels_ - 1) / 2

    def _costs(self, outputs: FloatArray, X: MatrixLike) -> Costs:
        d = float(self.d)
        pairs = (
            None
            if self.unseen_pairs_ is None
            else float(self.pair_penalty) * self.unseen_pairs_.astype(np.float64)
        )
        return Costs(off=_power(outputs, d), on=_power(1 - outputs, d), pairwise=pairs)


def _power(values: FloatArray, d: float) -> FloatArray:
    """Return powers, whole ones by squaring: libraries differ in the last bit of all others."""
    if not (d.is_integer() and d <= LARGEST_PRODUCT):
        powers: FloatArray = np.power(values, d)
        return powers
    power, square = None, values
    for place in range(int(d).bit_length()):
        square = values if place == 0 else square * square
        if int(d) >> place & 1:
            power = square if power is None else power * square
    assert power is not None
    return power


class MaxNormMeasure(Measure):
    """The largest of the label-wise errors: one label badly wrong is as strange as all of them.

    For the labelset psi with indicator t and outputs o::

        max_j |t_j - o_j|

    This is the limit for d to infinity of the norms ``(sum_j |t_j - o_j|^d)^(1/d)``, which order
    labelsets as :class:`PowerMeasure` does and were proposed for multi-label conformal prediction
    by [1]_. Many labelsets tie.

    Notes
    -----
    A maximum does not add up, so all 2^q labelsets of an object are scored, one by one. An object's
    answers to one question take about 0.5 ms with 12 labels and ten folds, 2 ms with 16, 65 ms with
    20 and 1.1 s with 24; one fold takes a fourth to a tenth of that. More labels are refused, but
    where constraints list the candidates (``Allowed``). In ``PowerMeasure(d=8)`` the worst label
    decides nearly alone too, and it is searched for any number of labels.

    References
    ----------
    .. [1] Maltoudoglou, L., Paisios, A., Lenc, L., Martinek, J., Kral, P., Papadopoulos, H. (2022).
       Well-calibrated confidence measures for multi-label text classification with a large number
       of labels. Pattern Recognition 122, 108271.

    Examples
    --------
    >>> from labelsure.measures import MaxNormMeasure
    >>> measure = MaxNormMeasure().fit([[1, 0]])
    >>> measure.scores([[0.5, 0.75], [0.5, 0.75]], [[0, 1], [0, 0]])
    array([0.5 , 0.75])

    With one fold a region holds all labelsets whose labels are all good enough, here 2^n for n
    undecided labels:

    >>> import numpy as np
    >>> from labelsure import calibrate_outputs
    >>> rng = np.random.default_rng(0)
    >>> outputs = rng.beta(0.3, 0.6, size=(101, 12))
    >>> Y = (rng.random((100, 12)) < outputs[:100]).astype(int)
    >>> model = calibrate_outputs(outputs[:100], Y, measure=MaxNormMeasure())
    >>> pred = model.predict_labelsets(outputs[100:])
    >>> region = pred.region(significance=0.2)
    >>> n_undecided = int((region.outer & ~region.inner).sum())
    >>> n_undecided, int(region.sizes[0]) == 2**n_undecided
    (8, True)
    """

    form = "maximum"

    def _learn(self, labels: LabelMatrix, outputs: FloatArray | None, X: MatrixLike) -> float:
        return 1.0

    def _costs(self, outputs: FloatArray, X: MatrixLike) -> Costs:
        return Costs(off=outputs, on=1 - outputs)


@dataclass(eq=False, repr=False)
class MahalanobisMeasure(Measure):
    """Mahalanobis distance of the errors from zero, under the covariance of training errors.

    For the labelset psi with indicator t and outputs o::

        sqrt(r' S^-1 r),    S = covariance of r over the training examples

    with ``r = |t - o|`` for ``residuals="absolute"`` [1]_, and r = t - (a + b o), label by label,
    for ``residuals="signed"``: a and b are least squares fits of the training labels to the
    outputs, so that residuals have mean zero. Signs tell the covariance which labels replace each
    other and which come together.

    Parameters
    ----------
    residuals : {"signed", "absolute"}, default="signed"
        Which of the two. With "absolute" every object has a matrix of q^2 pairwise costs of its
        own, which takes 8 q^2 bytes per object; with "signed" all objects of a fold share one.
    rescale : bool, default=True
        Whether signed residuals are those of the fit with slope b; else b = 1 and only the mean is
        taken off. Outputs that went through a sigmoid, such as those of ML-RBF, span less than [0,
        1]: the slope undoes that. A label whose output is constant (within 1e-6) has slope 0. a + b
        o is kept between -1 and 2.
    shrinkage : "ledoit-wolf" or float from 0 to 1, default="ledoit-wolf"
        The share w of the mean variance in (1 - w) S + w mean(diag S) I, which stands for S.
        "ledoit-wolf" estimates it [2]_, but takes at least 1 / n_training, so that labels that
        never vary, or fewer examples than labels, do not make S singular. 0 is the plain
        covariance, refused where it is singular. Where no residual varies at all (standard
        deviations below 1e-6), S is the identity for every w above 0.
    normalised : bool, default=True
        Whether distances are divided by sqrt(sum of the absolute values of S^-1). That changes no
        p-value of the measure alone; in a sum it puts the distance on a scale where penalties
        between 0 and 2 make sense.
    out_of_fold : bool, default=False
        Whether S (and a, b) come from outputs of models that had not seen the example: more fits. A
        learner that knows its training examples by heart (a deep tree, one nearest neighbour) needs
        it: without errors on them there is nothing to learn, and S is the identity. The errors of
        forests and boosting on them are far too small as well, though they may still go together in
        the right way. ML-RBF or logistic regression do without.

    Attributes
    ----------
    slope_, intercept_ : arrays of shape (q,)
        b and a of the signed residuals; 1 and 0 with absolute ones, which they are not used for.
    shrinkage_ : float
        The w that was used.
    precision_ : array of shape (q, q)
        S^-1, divided by the sum of its absolute values if ``normalised``.

    Notes
    -----
    The square root needs the other measure of a sum to be a penalty on labelsets alone. Pairwise
    costs of either sign bind the labels together, so outputs have to be dense.

    References
    ----------
    .. [1] Katsios, K., Papadopoulos, H. (2024). Multi-label conformal prediction with a Mahalanobis
       distance nonconformity measure. COPA, PMLR 230, 522-535.
    .. [2] Ledoit, O., Wolf, M. (2004). A well-conditioned estimator for large-dimensional
       covariance matrices. Journal of Multivariate Analysis 88(2), 365-411.

    Examples
    --------
    One of two labels is on, and the outputs cannot tell which: then both or none would be strange.

    >>> import numpy as np
    >>> from labelsure.measures import MahalanobisMeasure
    >>> Y = np.array([[1, 0], [0, 1], [1, 0], [0, 1], [1, 1]])
    >>> measure = MahalanobisMeasure(shrinkage=0.1).fit(Y, outputs=np.full((5, 2), 0.5))
    >>> measure.scores([[0.5, 0.5]] * 3, [[0, 1], [1, 1], [0, 0]]).round(2)
    array([0.27, 0.4 , 0.6 ])
    """

    residuals: str = "signed"
    _: KW_ONLY
    rescale: bool = True
    shrinkage: str | float = "ledoit-wolf"
    normalised: bool = True
    out_of_fold: bool = False

    form = "root"

    @property
    def needs(self) -> Need:  # type: ignore[override]
        """Labels and outputs of training, out-of-fold ones where that was asked for."""
        return Need.TRAINING_LABELS | (
            Need.OUT_OF_FOLD_OUTPUTS if self.out_of_fold else Need.TRAINING_OUTPUTS
        )

    def check_parameters(self, n_labels: int | None = None) -> None:
        """Raise ValueError where residuals or shrinkage are none that there are."""
        check_choice(self.residuals, ("signed", "absolute"), name="residuals")
        for name in ("rescale", "normalised", "out_of_fold"):
            check_flag(getattr(self, name), name=name)
        if isinstance(self.shrinkage, str):
            check_choice(self.shrinkage, ("ledoit-wolf",), name="shrinkage, unless a number,")
        elif check_number(self.shrinkage, name="shrinkage", at_least=0) > 1:
            raise ValueError(f"shrinkage must lie between 0 and 1, got {self.shrinkage!r}.")

    def _learn(self, labels: LabelMatrix, outputs: FloatArray | None, X: MatrixLike) -> float:
        assert outputs is not None
        known = rows_with_outputs(outputs)
        labels = labels[known]
        outputs = outputs[known]
        if len(labels) < 2:
            raise ValueError(
                f"A covariance of errors needs at least 2 training examples, got {len(labels)}."
            )
        self.slope_, self.intercept_ = self._fit_lines(labels, outputs)
        offset, weight = self._residual_parts(outputs)
        with one_thread():  # sums in BLAS depend on its number of threads; results must not
            covariance, self.shrinkage_ = _shrink_covariance(
                offset + weight * labels, self.shrinkage
            )
            self.precision_ = _invert(covariance)
        if self.normalised:
            self.precision_ = self.precision_ / np.abs(self.precision_).sum()
        reach = 2.0 if self.residuals == "absolute" else 3.0  # no |offset| + |weight| is larger
        return reach * math.sqrt(np.abs(self.precision_).sum())

    def _fit_lines(self, labels: LabelMatrix, outputs: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return slopes and intercepts of the labels over the outputs."""
        slope = np.ones(self.n_labels_)
        if self.residuals == "absolute":
            return slope, np.zeros(self.n_labels_)
        if self.rescale:
            around_mean = outputs - outputs.mean(axis=0)
            products = (around_mean * (labels - labels.mean(axis=0))).sum(axis=0)
            squares = (around_mean**2).sum(axis=0)
            slope = np.divide(
                products,
                squares,
                out=np.zeros_like(squares),
                where=np.ptp(outputs, axis=0) > SMALLEST_SPREAD,
            )
        return slope, labels.mean(axis=0) - slope * outputs.mean(axis=0)

    def _residual_parts(self, outputs: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the empty labelset's residuals and what each label adds to its own."""
        if self.residuals == "absolute":
            return outputs, 1 - 2 * outputs  # |t - o| = o + t (1 - 2 o)
        return -np.clip(self.intercept_ + self.slope_ * outputs, -1.0, 2.0), np.ones_like(outputs)

    def _costs(self, outputs: FloatArray, X: MatrixLike) -> Costs:
        """Return the costs of ``(offset + weight t)' precision (offset + weight t)``, expanded."""
        offset, weight = self._residual_parts(outputs)
        slant = _times(offset, self.precision_)
        return Costs(
            constant=offset * slant,
            on=weight * (2 * slant + weight * np.diag(self.precision_)),
            pairwise=2 * self.precision_
            if self.residuals == "signed"
            else (2 * np.outer(row, row) * self.precision_ for row in weight),
        )


def _shrink_covariance(residuals: FloatArray, shrinkage: str | float) -> tuple[FloatArray, float]:
    """Return the shrunk covariance of the residuals, and by how much it was shrunk."""
    from sklearn.covariance import empirical_covariance, ledoit_wolf_shrinkage, shrunk_covariance

    if isinstance(shrinkage, str):
        share = max(float(ledoit_wolf_shrinkage(residuals)), 1 / len(residuals))
    else:
        share = float(shrinkage)
    covariance = empirical_covariance(residuals)
    if share > 0 and np.diag(covariance).max() <= SMALLEST_SPREAD**2:
        return np.eye(len(covariance)), share
    return shrunk_covariance(covariance, share), share


def _invert(covariance: FloatArray) -> FloatArray:
    """Return the inverse of a symmetric matrix, or say that there is none."""
    values, vectors = np.linalg.eigh(covariance)
    if values[0] <= SMALLEST_RATIO * values[-1] or values[-1] <= SMALLEST_SPREAD**2:
        raise ValueError(
            f"The covariance of the training errors is singular (eigenvalues from {values[0]:.3g}"
            f" to {values[-1]:.3g}): a label never varies, labels determine each other, or there"
            " are fewer examples than labels."
            ' Pass shrinkage="ledoit-wolf" or a larger number.'
        )
    inverse: FloatArray = (vectors / values) @ vectors.T
    return (inverse + inverse.T) / 2


def _times(rows: FloatArray, matrix: FloatArray) -> FloatArray:
    """Return ``rows @ matrix``, always summed in the same order.

    In BLAS an object's last digits depend on how many objects are beside it.
    """
    product = np.zeros_like(rows)
    for column, row in zip(rows.T, matrix, strict=True):
        product += column[:, None] * row
    return product
