"""The negative log posterior probability of a labelset: what ranks labelsets best."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import logit

from labelsure._checks import FloatArray, LabelMatrix, MatrixLike, check_number, check_outputs
from labelsure.measures._base import Measure, rows_with_outputs
from labelsure.measures._costs import Costs
from labelsure.measures._energy import Energy
from labelsure.measures._log_partition import CountedPrior, LabelsetPosterior
from labelsure.measures._need import Need
from labelsure.measures._penalties import LabelsetPrior
from labelsure.measures._points import labels_are_better, most_probable, point_figures

FIT_ENTRIES = 2**21
"""Examples times seen labelsets, or times labels, that parameters are learned from: more examples
would not change them much, and take longer than a linear learner does."""

TOLERANCE = 1e-5
"""The search for parameters ends where a step gains less than this share of the log-likelihood:
further steps changed results for new examples in the third digit, and took five times as long."""

USUAL = (0.7, 0.7, 1.0, 0.0)
"""The exponent of the prior, the marginals' share, the slope 1 / temperature and intercepts, before
anything is learned: about what was learned on scene and yeast, whatever the learner."""

LIMITS = (0.01, 0.0, 0.01, -np.inf), (2.0, 2.0, np.inf, np.inf)
"""Bounds of the learned parameters: without a prior or with a slope of zero, no information is
left."""


@dataclass(kw_only=True, eq=False, repr=False)
class PosteriorMeasure(Measure):
    r"""Minus the log posterior probability of a labelset, given outputs and labelset frequencies.

    With outputs o, u_j = logit(o_j) / temperature + intercept_j, f_j the frequency of label j in
    training and P the smoothed frequency of labelsets, as in :class:`LabelsetPrior`::

        -log p(psi | x) = log Z(x) - sum_{j in psi} (u_j - marginals_share logit(f_j))
                          - prior_exponent log P(psi)

    The outputs say how likely labels are one by one, so they know label frequencies already; P says
    how likely they are together, and knows them too. ``marginals_share`` takes out what would be
    counted twice. log Z(x) makes probabilities sum to one over all 2^q labelsets [1]_: labelsets of
    objects that the learner is sure of are compared with those of objects that it is not. It has a
    closed form at any number of labels, because P is a product over labels but for the labelsets
    seen in training.

    Labelsets ranked by their conditional probability give the smallest regions at any coverage,
    were the probability right [2]_; a wrong one makes regions larger, not less valid.

    Parameters
    ----------
    prior_exponent : float or None
        None: learned. At least 0; 0 leaves the prior out.
    marginals_share : float or None
        None: learned. At least 0.
    temperature : float or None
        None: learned. Above 0; above 1 where the learner is surer than it may be.
    intercepts : float or None
        None: one per label, learned. A number: the same for all labels, 0 to leave outputs as they
        are.
    smoothing : float, default=1.0
        How many examples the product of label frequencies counts for in P; above 0.

    Attributes
    ----------
    parameters_ : PosteriorParameters
        What was learned or given: prior_exponent, marginals_share, temperature, intercepts (one per
        label).
    prior_ : LabelsetPrior
        -prior_exponent log P.
    labels_are_better_ : bool
        Whether for out-of-fold outputs the labels that are more likely than not, each by itself,
        were better single answers than the most probable labelset: by macro F-measure, or with a
        number of labels within 15 % of the truth's where that of labelsets was not. Then
        ``predict`` of a conformal classifier gives those.

    Notes
    -----
    What is not given is learned by maximum likelihood on the fold's training part: outputs of
    models that had not seen the example, and for every example a prior that does not count its own
    labelset. All parameters have Gaussian priors with variance one, around prior_exponent 0.7,
    marginals_share 0.7, 1 / temperature 1 and intercepts 0: a rare label hardly moves its
    intercept. An output o counts as (n o + 1/2) / (n + 1), with n training examples: no learner
    knows from them that something is certain.

    Outputs may be sparse: scores and parameters are those of the same outputs as an array, to the
    last bit.

    Under constraints log Z(x) still sums over all labelsets, so that p-values do not depend on
    them. Any function of the object may stand in its place without a loss of validity. Summing over
    the labelsets allowed instead changed mean sizes of regions by half a percent at most, up or
    down, on trees of 7 and 10 labels, one of scene's six labels, and lists of the labelsets of
    emotions and yeast, with two learners and four random splits each.

    References
    ----------
    .. [1] Menon, A. K. et al. (2021). Long-tail learning via logit adjustment. ICLR. (For single
       labels.)
    .. [2] Sadinle, M., Lei, J., Wasserman, L. (2019). Least ambiguous set-valued classifiers with
       bounded error levels. Journal of the American Statistical Association 114(525), 223-234.

    Examples
    --------
    >>> from labelsure.measures import PosteriorMeasure
    >>> measure = PosteriorMeasure(prior_exponent=1, marginals_share=1, temperature=1, intercepts=0)
    >>> measure = measure.fit([[1, 0], [1, 0], [0, 1], [0, 1]])
    >>> # one label each in training: both are strange
    >>> measure.scores([[0.5, 0.5]] * 2, [[1, 0], [1, 1]]).round(2)
    array([0.8, 3. ])
    """

    prior_exponent: float | None = None
    marginals_share: float | None = None
    temperature: float | None = None
    intercepts: float | None = None
    smoothing: float = 1.0

    @property
    def needs(self) -> Need:  # type: ignore[override]
        """The labelsets of training, and out-of-fold outputs if parameters are learned."""
        return Need.TRAINING_LABELS | (
            Need.OUT_OF_FOLD_OUTPUTS if None in self._given() else Need.NOTHING
        )

    def check_parameters(self, n_labels: int | None = None) -> None:
        """Raise ValueError where a parameter is out of range."""
        for name in ("prior_exponent", "marginals_share"):
            if getattr(self, name) is not None:
                check_number(getattr(self, name), name=name, at_least=0)
        if self.temperature is not None:
            check_number(self.temperature, name="temperature", above=0)
        if self.intercepts is not None:
            check_number(self.intercepts, name="intercepts")
        check_number(self.smoothing, name="smoothing", above=0)

    def _learn(self, labels: LabelMatrix, outputs: FloatArray | None, X: MatrixLike) -> float:
        self.n_training_ = len(labels)
        prior = LabelsetPrior(smoothing=self.smoothing).fit(labels)
        self._counted = CountedPrior(
            prior.labelsets_, prior.counts_, prior.marginals_, float(self.smoothing)
        )
        sample = None if outputs is None else self._sample(labels, outputs)
        self.parameters_ = self._learned(sample)
        exponent, share, temperature, intercepts = self.parameters_
        self.prior_ = LabelsetPrior(exponent, smoothing=self.smoothing).fit(labels)
        # equal arrays are kept once
        self.prior_.labelsets_, self.prior_.counts_ = prior.labelsets_, prior.counts_
        self._shifts: FloatArray = intercepts - share * logit(self._counted.marginals)
        self.labels_are_better_ = sample is not None and self._finds_labels_better(*sample)
        steepest = np.log(2 * self.n_training_ + 1) / temperature
        sums = (steepest + np.abs(self._shifts)).sum() + self.prior_.bound_
        # labels and prior, and once more with log 2^q in log Z
        return float(2 * sums + self.n_labels_ * np.log(2))

    def _given(self) -> tuple[float | None, ...]:
        """Return the parameters in learning order, with 1 / temperature; None if not given."""
        slope = None if self.temperature is None else 1 / float(self.temperature)
        given = (self.prior_exponent, self.marginals_share, slope, self.intercepts)
        exponent, share, slope, intercepts = (None if one is None else float(one) for one in given)
        return exponent, share, slope, intercepts

    def _sample(self, labels: LabelMatrix, outputs: FloatArray) -> tuple[LabelMatrix, FloatArray]:
        """Return the examples that are learned from: every k-th of those with outputs."""
        rows = np.flatnonzero(rows_with_outputs(outputs))
        wide = max(len(self._counted.counts), self.n_labels_)
        rows = rows[:: max(len(rows) * wide // FIT_ENTRIES, 1)]
        return labels[rows], outputs[rows]

    def _learned(self, sample: tuple[LabelMatrix, FloatArray] | None) -> "PosteriorParameters":
        """Return the likeliest parameters, those that were given being as given."""
        lengths = (1, 1, 1, self.n_labels_)
        values = [
            usual if value is None else value
            for value, usual in zip(self._given(), USUAL, strict=True)
        ]
        found = centre = np.repeat(values, lengths)
        if sample is not None and None in self._given():
            labels, outputs = sample
            fixed = np.repeat([value is not None for value in self._given()], lengths)
            low, high = (np.where(fixed, centre, np.repeat(limits, lengths)) for limits in LIMITS)
            loss = self._make_loss(labels, self._logits(outputs), centre)
            bounds = list(zip(low, high, strict=True))
            found = minimize(
                loss,
                centre,
                jac=True,
                method="L-BFGS-B",
                bounds=bounds,
                options={"ftol": TOLERANCE},
            ).x
        return PosteriorParameters(float(found[0]), float(found[1]), 1 / float(found[2]), found[3:])

    def _finds_labels_better(self, labels: LabelMatrix, outputs: FloatArray) -> bool:
        """Return whether labels more likely than not beat the most probable labelset."""
        values, exponent = self._values(outputs), self.parameters_.prior_exponent
        best = most_probable(self._counted, values, exponent, self._counted.numbers_of(labels))
        return labels_are_better(point_figures(labels, outputs > 0.5), point_figures(labels, best))

    def _make_loss(
        self, labels: LabelMatrix, logits: FloatArray, centre: FloatArray
    ) -> Callable[[FloatArray], tuple[float, FloatArray]]:
        """Return the function that gives the loss (minus log posterior density) and its gradient.

        The loss is per example; for every example the prior over labelsets is that of the others.
        """
        counted = self._counted
        on = labels.astype(np.float64)
        log_odds = logit(self._counted.marginals)
        own = counted.numbers_of(labels)
        log_prior = counted.log_seen_without_one[own]

        def loss(parameters: FloatArray) -> tuple[float, FloatArray]:
            (exponent, share, slope), intercepts = parameters[:3], parameters[3:]
            values = slope * logits + intercepts - share * log_odds
            moments = counted.moments(values, exponent, own)
            log_likelihood = (
                (values * on).sum(axis=1) + exponent * log_prior - moments.log_sums
            ).sum()
            rest = on - moments.marginals
            by_first = (
                (log_prior - moments.log_priors).sum(),
                -(rest @ log_odds).sum(),
                (rest * logits).sum(),
            )
            away, gradient = parameters - centre, np.concatenate([by_first, rest.sum(axis=0)])
            return (away @ away / 2 - log_likelihood) / len(on), (away - gradient) / len(on)

        return loss

    def _logits(self, outputs: FloatArray) -> FloatArray:
        """Return the logits of outputs, none of which is certain."""
        n = self.n_training_
        logits: FloatArray = np.log(n * outputs + 0.5) - np.log(n * (1 - outputs) + 0.5)
        return logits

    def _values(self, outputs: FloatArray) -> FloatArray:
        values: FloatArray = self._logits(outputs) / self.parameters_.temperature + self._shifts
        return values

    def log_sums(self, outputs: FloatArray) -> FloatArray:
        """Return log Z of objects, which normalises the posterior over all 2^q labelsets.

        Parameters
        ----------
        outputs : array-like of shape (n, q)
            Between 0 and 1.
        """
        values = self._values(check_outputs(outputs, n_labels=self.n_labels_))
        return self._counted.log_sums(values, self.parameters_.prior_exponent)

    def posterior(self, outputs: FloatArray, X: MatrixLike = None) -> LabelsetPosterior:
        """Return the posterior probabilities of labelsets; see :meth:`Measure.posterior`."""
        values = self._values(check_outputs(outputs, n_labels=self.n_labels_))
        return LabelsetPosterior(self._counted, values, self.parameters_.prior_exponent)

    def _energy(self, outputs: FloatArray, X: MatrixLike, exponent: int) -> Energy:
        values = self._values(outputs)
        log_sums = self._counted.log_sums(values, self.parameters_.prior_exponent)
        costs = Costs(on=-values, constant=log_sums)
        labels: Energy = costs.energy(outputs.shape, exponent, form="sum", bound=self.bound_)
        return labels + self.prior_._energy(outputs, X, exponent)


class PosteriorParameters(NamedTuple):
    """What a :class:`PosteriorMeasure` was given, or learned.

    Attributes
    ----------
    prior_exponent, marginals_share, temperature : float
        As in :class:`PosteriorMeasure`.
    intercepts : array of shape (q,)
        One for each label.
    """

    prior_exponent: float
    marginals_share: float
    temperature: float
    intercepts: FloatArray
