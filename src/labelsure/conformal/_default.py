"""The measure that predictors have unless told otherwise."""

from labelsure.measures import LabelsetPrior, LogLossMeasure, Measure, PowerMeasure, UnseenPenalty

FEW_LABELS = 20
"""With more labels, many labelsets are new, and a prior learned from those seen does more harm than good."""


def default_measure(n_labels: int, *, training_labels: bool) -> Measure:
    """Return the measure with the smallest regions on the whole in docs/experiments.md, of those that are fast.

    Parameters
    ----------
    n_labels : int
        The number of labels.
    training_labels : bool
        Whether the labelsets that the model was trained on are known; if not, the measure is the paper's.

    Examples
    --------
    >>> default_measure(14, training_labels=True)
    LogLossMeasure() + LabelsetPrior()
    >>> default_measure(159, training_labels=True)
    LogLossMeasure() + UnseenPenalty()
    >>> default_measure(14, training_labels=False)
    PowerMeasure()
    """
    if not training_labels:
        return PowerMeasure()
    return LogLossMeasure() + (LabelsetPrior() if n_labels <= FEW_LABELS else UnseenPenalty())
