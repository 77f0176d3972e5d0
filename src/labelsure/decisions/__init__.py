"""Decisions with guarantees: recall, precision and cover under control, review, PAC regions."""

from labelsure.decisions._advise import Advice, Answer, advise
from labelsure.decisions._controllers import CoverController, PrecisionController, RecallController
from labelsure.decisions._cover import LabelCover, control_cover
from labelsure.decisions._label_errors import LabelErrors, fewest_flagged, find_label_errors
from labelsure.decisions._pac import PacRegion, pac_region, pac_significance
from labelsure.decisions._plan import QuestionPlan, plan
from labelsure.decisions._review import Question, ReviewSelector
from labelsure.decisions._selection import Selection, select_objects
from labelsure.decisions._thresholds import ThresholdPredictor, control_precision, control_recall

__all__ = [
    "Advice",
    "Answer",
    "CoverController",
    "LabelCover",
    "LabelErrors",
    "PacRegion",
    "PrecisionController",
    "Question",
    "QuestionPlan",
    "RecallController",
    "ReviewSelector",
    "Selection",
    "ThresholdPredictor",
    "advise",
    "control_cover",
    "control_precision",
    "control_recall",
    "fewest_flagged",
    "find_label_errors",
    "pac_region",
    "pac_significance",
    "plan",
    "select_objects",
]
