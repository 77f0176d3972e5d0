"""The ten criteria of efficiency: how little predictions leave open."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from labelsure._checks import FloatArray, LabelMatrix, LabelMatrixLike, check_significance
from labelsure.metrics._inputs import check_levels, check_true_labels
from labelsure.metrics._regions import mean_region_size, share_above, sizes_of
from labelsure.predictions import LabelsetPredictions, RankedLabelsets

BLOCK_BYTES = 2**26
"""P-values held at a time while they are added up."""


@dataclass(frozen=True)
class EfficiencyCriteria:
    """The ten criteria of efficiency of one set of predictions, smaller is better.

    Made by :func:`efficiency_criteria`; ``dataclasses.asdict`` turns it into a mapping.

    Attributes
    ----------
    significance : tuple of float
        The levels of N, M, E, OM and OE.
    S, F, OF : float or None
        Sums of p-values: of all labelsets, of all but the most plausible, of the false ones; None
        with more labels than can be listed.
    U, OU : float
        The second largest p-value; the largest of a false labelset.
    N, M, E : tuple of float
        By level: the size of a region, the share of regions with more than one labelset, the
        labelsets beyond the first.
    OM, OE : tuple of float
        By level: the share of regions with a false labelset, the number of false labelsets in a
        region.
    n_estimated : tuple of int
        By level: of how many regions the size is an estimate, which N, E and OE then rest on.

    Examples
    --------
    >>> criteria = EfficiencyCriteria(
    ...     significance=(0.05, 0.2), S=1.25, U=0.25, F=0.5, OU=0.25, OF=0.5,
    ...     N=(3.0, 1.5), M=(1.0, 0.5), E=(2.0, 0.5), OM=(1.0, 0.5), OE=(2.0, 0.5), n_estimated=(0, 0),
    ... )
    >>> print(criteria)
    significance     any    0.05     0.2
    S               1.25
    N                          3     1.5
    U               0.25
    F                0.5
    M                          1     0.5
    E                          2     0.5
    OU              0.25
    OF               0.5
    OM                         1     0.5
    OE                         2     0.5
    """

    significance: tuple[float, ...]
    S: float | None
    N: tuple[float, ...]
    U: float
    F: float | None
    M: tuple[float, ...]
    E: tuple[float, ...]
    OU: float
    OF: float | None
    OM: tuple[float, ...]
    OE: tuple[float, ...]
    n_estimated: tuple[int, ...]

    def __str__(self) -> str:
        """Write a table with one row per criterion and one column per level."""
        lines = [
            f"{'significance':<12}{'any':>8}"
            + "".join(f"{level:>8g}" for level in self.significance)
        ]
        for name in ("S", "N", "U", "F", "M", "E", "OU", "OF", "OM", "OE"):
            value = getattr(self, name)
            figures = "".join(f" {one:>7.4g}" for one in value) if isinstance(value, tuple) else ""
            whole = "" if isinstance(value, tuple) else "-" if value is None else f"{value:.4g}"
            lines.append(f"{name:<12}{whole:>8}{figures}".rstrip())
        if any(self.n_estimated):
            lines.append(f"{'estimated':<20}" + "".join(f"{n:>8}" for n in self.n_estimated))
        return "\n".join(lines)


def efficiency_criteria(
    Y_true: LabelMatrixLike,
    predictions: LabelsetPredictions,
    significance: float | Iterable[float] = (0.05, 0.1, 0.2),
) -> EfficiencyCriteria:
    r"""Return the ten criteria of efficiency of [1]_: how little predictions leave open.

    Means over objects, with :math:`p(\psi)` the p-value of a labelset, :math:`\psi_i` the true one
    and :math:`\Gamma` the region at a level:

    ==  ======================================  ==  ===========================================
    S   :math:`\sum_\psi p(\psi)`               OF  :math:`\sum_{\psi \neq \psi_i} p(\psi)`
    F   :math:`\sum p - \max p`
    U   the second largest p                    OU  :math:`\max_{\psi \neq \psi_i} p(\psi)`
    N   :math:`|\Gamma|`                        OE  :math:`|\Gamma \setminus \{\psi_i\}|`
    E   :math:`\max(|\Gamma| - 1, 0)`
    M   :math:`[|\Gamma| > 1]`                  OM  :math:`[\Gamma \setminus \{\psi_i\} \neq \emptyset]`
    ==  ======================================  ==  ===========================================

    S, N, OF and OE are the *probabilistic* criteria: in the idealised setting of [1]_ nothing beats
    scores that are the true probabilities of labelsets. For the others something may, so prefer
    these four to compare measures. True labels that are no candidate, the empty labelset where it
    is excluded, make all candidates false.

    Parameters
    ----------
    Y_true : array-like, sparse matrix or DataFrame of shape (n, q)
        Zeros and ones: true labels.
    predictions : LabelsetPredictions
        Of the n objects.
    significance : float or iterable of float, default=(0.05, 0.1, 0.2)
        The levels of the regions for N, M, E, OM and OE.

    Returns
    -------
    EfficiencyCriteria
        With more than 24 labels S, F and OF, which list all labelsets, are None.

    References
    ----------
    .. [1] Vovk, V., Fedorova, V., Nouretdinov, I., Gammerman, A. (2016). Criteria of efficiency for
       conformal prediction. COPA 2016, LNCS 9653, 23-39.

    Examples
    --------
    >>> from labelsure import calibrate_outputs
    >>> predictor = calibrate_outputs([[0.9, 0.2], [0.6, 0.1], [0.3, 0.8]], [[1, 0], [1, 0], [0, 1]], empty="exclude")
    >>> predictions = predictor.predict_labelsets([[0.8, 0.3], [0.8, 0.3]])
    >>> criteria = efficiency_criteria([[1, 0], [1, 1]], predictions, significance=(0.2, 0.3))
    >>> criteria.S, criteria.OF, criteria.N, criteria.OE
    (1.25, 0.75, (3.0, 1.0), (2.0, 0.5))
    """
    labels = check_true_labels(Y_true, predictions)
    levels = check_levels(significance)
    top = predictions.top(2)
    sums = _sums_of_p_values(predictions)
    regions = [predictions.region(level, bits=0.1) for level in levels]
    sizes = [sizes_of(region) for region in regions]
    false = [sizes_of(region, less=region.contains(labels)) for region in regions]
    return EfficiencyCriteria(
        significance=tuple(float(check_significance(level)) for level in levels),
        S=None if sums is None else float(np.mean(sums)),
        N=tuple(mean_region_size(size) for size in sizes),
        U=float(np.mean(top.p_values[:, 1])),
        F=None if sums is None else float(np.mean(sums - top.p_values[:, 0])),
        M=tuple(share_above(size, 1) for size in sizes),
        E=tuple(mean_region_size(sizes_of(region, less=1)) for region in regions),
        OU=float(np.mean(_largest_false_p_values(top, labels))),
        OF=None if sums is None else float(np.mean(sums - predictions.p_value(labels))),
        OM=tuple(share_above(size, 0) for size in false),
        OE=tuple(mean_region_size(size) for size in false),
        n_estimated=tuple(
            sum(one.at_least < one.at_most for one in region.size_estimates) for region in regions
        ),
    )


def _largest_false_p_values(top: RankedLabelsets, labels: LabelMatrix) -> FloatArray:
    """Return the largest p-value of a false labelset for each object, from its two most plausible labelsets."""
    best_is_true = (top.labelsets[:, 0] == labels).all(axis=1)
    return np.where(best_is_true, top.p_values[:, 1], top.p_values[:, 0])


def _sums_of_p_values(predictions: LabelsetPredictions) -> FloatArray | None:
    """Return each object's sum of the p-values of all labelsets, a limited number of objects at a time."""
    try:
        predictions[:0].p_values()
    except ValueError:  # too many labels to list all labelsets
        return None
    n_at_once = max(1, BLOCK_BYTES // (8 * 2 ** len(predictions.label_names)))
    starts = range(0, len(predictions), n_at_once)
    return np.concatenate(
        [predictions[start : start + n_at_once].p_values().sum(axis=1) for start in starts]
    )
