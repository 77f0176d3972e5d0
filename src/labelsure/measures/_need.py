"""What measures may need to know."""

from enum import Flag, auto


class Need(Flag):
    """What a measure needs to know of a fold's training part, and of objects.

    Examples
    --------
    >>> from labelsure.measures import HammingPenalty, MahalanobisMeasure, Need
    >>> needs = (MahalanobisMeasure(out_of_fold=True) + HammingPenalty()).needs
    >>> Need.TRAINING_LABELS in needs, Need.OUT_OF_FOLD_OUTPUTS in needs, Need.FEATURES in needs
    (True, True, False)
    """

    NOTHING = 0
    TRAINING_LABELS = auto()
    """The labelsets seen in training."""
    TRAINING_OUTPUTS = auto()
    """The learner's outputs for its training examples."""
    OUT_OF_FOLD_OUTPUTS = 4 | TRAINING_OUTPUTS
    """Outputs from models that were not trained on the example, for some of the training examples:
    rows of NaN for the others."""
    FEATURES = 8
    """The objects themselves, those of training and new ones."""
