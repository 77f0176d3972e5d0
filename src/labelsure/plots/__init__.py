"""Pictures of predictions: displays in the manner of scikit-learn, drawn by matplotlib."""

from labelsure.plots._calibration import CalibrationDisplay
from labelsure.plots._confidence import ConfidenceDisplay
from labelsure.plots._labels import LabelDisplay
from labelsure.plots._labelsets import LabelsetDisplay
from labelsure.plots._sizes import RegionSizeDisplay

__all__ = [
    "CalibrationDisplay",
    "ConfidenceDisplay",
    "LabelDisplay",
    "LabelsetDisplay",
    "RegionSizeDisplay",
]
