"""The measures that AutoMeasure compares unless told otherwise."""

from labelsure.measures import Measure, PowerMeasure


def default_candidates(n_labels: int) -> list[Measure]:
    return [PowerMeasure(), PowerMeasure(pair_penalty=1.0)]
