"""What a user holds: the predictions of a batch of objects, and regions of labelsets."""

from labelsure.labelsets import RegionSize
from labelsure.predictions._guarantee import Guarantee, NoGuarantee, as_promised
from labelsure.predictions._label_wise import LabelWisePredictions
from labelsure.predictions._label_wise_region import LabelWiseRegion
from labelsure.predictions._labelset_predictions import LabelsetPredictions, TopLabelsets
from labelsure.predictions._region import LabelsetRegion, ObjectRegion

__all__ = [
    "Guarantee",
    "LabelWisePredictions",
    "LabelWiseRegion",
    "LabelsetPredictions",
    "LabelsetRegion",
    "NoGuarantee",
    "ObjectRegion",
    "RegionSize",
    "TopLabelsets",
    "as_promised",
]
