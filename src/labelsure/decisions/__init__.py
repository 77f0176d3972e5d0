"""What may be acted on: sets of labels whose recall or precision is under control."""

from labelsure.decisions._precision import control_precision
from labelsure.decisions._recall import control_recall
from labelsure.decisions._risk_control import ThresholdPredictor

__all__ = ["ThresholdPredictor", "control_precision", "control_recall"]
