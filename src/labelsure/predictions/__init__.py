"""What a user holds: the predictions of a batch of objects, and regions of labelsets."""

from labelsure.engine import RegionSize
from labelsure.predictions._batch import RankedLabelsets
from labelsure.predictions._guarantee import Guarantee, LabelWiseGuarantee, NoGuarantee
from labelsure.predictions._label_wise import LabelWisePredictions, LabelWiseRegion
from labelsure.predictions._labelset_predictions import LabelsetPredictions
from labelsure.predictions._questions import Questions, YesNoQuestion
from labelsure.predictions._region import LabelsetRegion, ObjectRegion
from labelsure.predictions._summary import ObjectSummary, PlausibleLabelset, Summaries

__all__ = [
    "Guarantee",
    "LabelWiseGuarantee",
    "LabelWisePredictions",
    "LabelWiseRegion",
    "LabelsetPredictions",
    "LabelsetRegion",
    "NoGuarantee",
    "ObjectRegion",
    "ObjectSummary",
    "PlausibleLabelset",
    "Questions",
    "RankedLabelsets",
    "RegionSize",
    "Summaries",
    "YesNoQuestion",
]
