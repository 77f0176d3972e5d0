"""The measure that predictors have unless told otherwise, and those that AutoMeasure compares."""

from labelsure.measures._base import Measure
from labelsure.measures._log_loss import LogLossMeasure
from labelsure.measures._penalties import LabelsetPrior, UnseenPenalty
from labelsure.measures._power import PowerMeasure
from labelsure.measures._registry import MANY_LABELS, MEASURES, make_measures, read_measure

CANDIDATES = (
    "power+unseen:0.3",
    "power+prior:0.1",
    "power+pairs+prior:0.1",
    "log-loss+unseen:1",
    "log-loss+prior:0.5",
    # with few examples, learners are surer of rare labels than they may be: a floor of 0.01
    "log-loss:0.01+unseen:1",
    "log-loss:0.01+unseen:5",
    "log-loss:0.01+prior:0.25",
    "log-loss:0.01+prior:0.5",
    "log-loss:0.01+prior:1",
    "log-loss:0.01+prior:2",
    "signed-oof+hp:2",
    "signed-oof+uniform-prior:0.03",
    "small-forest+unseen:5",
    "small-forest+prior:0.5",
    "power",
    "power+pairs",
    "log-loss",
    "log-loss:0.01",
)
"""Those with penalties first: where it makes little difference, one of them is chosen."""


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
    >>> from labelsure.measures import default_measure
    >>> default_measure(14, training_labels=True)
    LogLossMeasure() + LabelsetPrior()
    >>> default_measure(159, training_labels=True)
    LogLossMeasure() + UnseenPenalty()
    >>> default_measure(14, training_labels=False)
    PowerMeasure()
    """
    if not training_labels:
        return PowerMeasure()
    return LogLossMeasure() + (LabelsetPrior() if n_labels <= MANY_LABELS else UnseenPenalty())


def default_candidates(n_labels: int) -> list[Measure]:
    """Return the unfitted measures that :class:`AutoMeasure` compares unless told otherwise.

    Parameters
    ----------
    n_labels : int
        The number of labels: with many, some measures take too long.

    Examples
    --------
    >>> from labelsure.measures import default_candidates
    >>> default_candidates(6)[0]
    PowerMeasure() + UnseenPenalty(weight=0.3)
    """
    limits = {name: [MEASURES[term.name].up_to for term in read_measure(name)] for name in CANDIDATES}
    return make_measures(
        name for name in CANDIDATES if all(up_to is None or n_labels <= up_to for up_to in limits[name])
    )
