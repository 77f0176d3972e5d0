"""The measures that AutoMeasure compares unless told otherwise."""

from labelsure.measures import (
    ForestMeasure,
    HammingPenalty,
    LabelsetPrior,
    LogLossMeasure,
    MahalanobisMeasure,
    Measure,
    PowerMeasure,
    UnseenPenalty,
)

JOINT_LABELS = 20
"""Up to so many labels candidates include Mahalanobis distances, whose regions take long to search with more labels,
and forests, which did not help on medical and enron and take long to grow."""

PAIR_LABELS = 100
"""Up to so many labels candidates include penalties for pairs. On bibtex, with 159, the best labelset of some objects
takes minutes to find, and whoever predicts with what was chosen would wait for it."""


def default_candidates(n_labels: int) -> list[Measure]:
    """Return unfitted measures, those with penalties first: where it makes little difference, one of them is chosen.

    Parameters
    ----------
    n_labels : int
        The number of labels.

    Examples
    --------
    >>> default_candidates(6)[0]
    PowerMeasure() + UnseenPenalty(weight=0.3)
    """
    power = PowerMeasure()
    pairs = [PowerMeasure(pair_penalty=1.0)] if n_labels <= PAIR_LABELS else []
    log_loss = LogLossMeasure(floor=0.01)  # with few examples, learners are surer of rare labels than they may be
    candidates: list[Measure] = [power + UnseenPenalty(0.3)]
    candidates += [base + LabelsetPrior(0.1) for base in (power, *pairs)]
    candidates += [LogLossMeasure() + UnseenPenalty(1.0), LogLossMeasure() + LabelsetPrior(0.5)]
    candidates += [log_loss + UnseenPenalty(weight) for weight in (1.0, 5.0)]
    candidates += [log_loss + LabelsetPrior(weight) for weight in (0.25, 0.5, 1.0, 2.0)]
    if n_labels <= JOINT_LABELS:
        distance = MahalanobisMeasure(out_of_fold=True)
        forest = ForestMeasure(n_estimators=100, floor=0.01)
        candidates += [distance + HammingPenalty(2.0), distance + LabelsetPrior(0.03, base="uniform")]
        candidates += [forest + UnseenPenalty(5.0), forest + LabelsetPrior(0.5)]
    return [*candidates, power, *pairs, LogLossMeasure(), log_loss]
