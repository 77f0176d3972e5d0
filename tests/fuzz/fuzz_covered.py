"""Which public names are not fuzzed by a call of their own, and why."""

MADE_BY_US = "made by labelsure from checked arrays, never by a user: its methods are called on what a call returns"
ENGINE = "a part of the engine, fed by the predictors: compared with brute force in tests/engine"
STAGE = (
    "a stage inside the predictors, for those who build on them: takes what the doors have checked"
)
BASE = "a base class: called through every class that is made of it"
FILES = "reads files: generated and mutated files are in tests/datasets and tests/model_file"

REASONS = {
    "batches": {
        "BatchError": "an exception",
    },
    "conformal": {
        "LabelWiseOutputsPredictor": MADE_BY_US,
        "OutputsPredictor": MADE_BY_US,
        "compile_kernels": "takes no arguments",
    },
    "datasets": {
        "Column": FILES,
        "Dataset": MADE_BY_US,
        "DatasetError": "an exception",
        "Table": FILES,
        "TableBatch": MADE_BY_US,
        "TableSchema": FILES,
        "available_datasets": "takes no arguments",
        "infer_schema": FILES,
        "open_table": FILES,
        "read_hierarchy": FILES,
        "read_mulan": FILES,
    },
    "decisions": {
        "Advice": MADE_BY_US,
        "Answer": MADE_BY_US,
        "LabelCover": MADE_BY_US,
        "LabelErrors": MADE_BY_US,
        "PacRegion": MADE_BY_US,
        "Question": MADE_BY_US,
        "QuestionPlan": MADE_BY_US,
        "Selection": MADE_BY_US,
        "ThresholdPredictor": MADE_BY_US,
    },
    "learners": {
        "FittedBase": MADE_BY_US,
        "table_pipeline": "made by the command line for a table's columns",
    },
    "engine": {
        "broken_by": ENGINE,
        "Constraint": BASE,
        "RegionSize": MADE_BY_US,
    },
    "measures": {
        "Costs": "what a measure of one's own returns: tests/measures/test_costs.py",
        "OwnScores": "the same",
        "Measure": BASE,
        "Need": "flags",
        "MeasureWord": "a line of the registry",
    },
    "metrics": dict.fromkeys(
        (
            "AnswersNeeded",
            "CalibrationCurve",
            "ConditionalCoverage",
            "EfficiencyCriteria",
            "GroupCoverage",
            "SizeHistogram",
            "UniformityTest",
        ),
        MADE_BY_US,
    ),
    "model_file": {"ModelFile": MADE_BY_US, "ModelFileError": "an exception"},
    "plots": {},
    "predictions": dict.fromkeys(
        (
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
            "Guarantee",
            "YesNoQuestion",
        ),
        MADE_BY_US,
    ),
    "paper": {},
    "report": {},
}
"""By room and name."""

METHODS = (
    "conformal.OutputsPredictor",
    "conformal.LabelWiseOutputsPredictor",
    "predictions.LabelsetPredictions",
    "predictions.LabelsetRegion",
    "predictions.ObjectRegion",
    "predictions.LabelWisePredictions",
    "predictions.LabelWiseRegion",
    "predictions.RankedLabelsets",
    "predictions.Summaries",
)
"""Classes that users hold and are handed: every public method of theirs has a call of its own."""

METHODS_WITHOUT = {
    "predictions.LabelsetRegion.hold": STAGE,
    "predictions.Summaries.count": "of Python's Sequence",
    "predictions.Summaries.index": "of Python's Sequence",
}
