"""What a user holds: the predictions of a batch of objects, and regions of labelsets."""

from labelsure.labelsets import SizeEstimate
from labelsure.predictions._labelset_predictions import LabelsetPredictions, TopLabelsets
from labelsure.predictions._region import LabelsetRegion, ObjectRegion

__all__ = ["LabelsetPredictions", "LabelsetRegion", "ObjectRegion", "SizeEstimate", "TopLabelsets"]
