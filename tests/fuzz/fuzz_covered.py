"""Which public names are not fuzzed by a call of their own, and why."""

MADE_BY_US = "made by labelsure from checked arrays, never by a user: its methods are called on what a call returns"
ENGINE = "a part of the engine, fed by the predictors: compared with brute force in tests/labelsets"
STAGE = "a stage inside the predictors, for those who build on them: takes what the doors have checked"
BASE = "a base class: called through every class that is made of it"
FILES = "reads files: generated and mutated files are in tests/datasets and tests/models"

REASONS = {
    "conformal": {
        "CalibratedFold": STAGE,
        "Calibrator": STAGE,
        "Choices": STAGE,
        "FoldExamples": STAGE,
        "FoldModel": STAGE,
        "GroupSizes": STAGE,
        "Known": STAGE,
        "LabelCalibration": STAGE,
        "LabelWiseOutputsPredictor": MADE_BY_US,
        "OutputsPredictor": MADE_BY_US,
        "Split": STAGE,
        "Taxonomy": BASE,
        "WrappingClassifier": BASE,
        "calibrate": STAGE,
        "fit_models": STAGE,
        "gather_examples": STAGE,
        "hold_out": STAGE,
        "make_splits": STAGE,
        "outputs_of_models": STAGE,
        "single_answers": STAGE,
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
        "read_file": FILES,
        "read_hierarchy": FILES,
        "read_mulan": FILES,
    },
    "decisions": {
        "Advice": MADE_BY_US,
        "Answer": MADE_BY_US,
        "LabelCover": MADE_BY_US,
        "PacRegion": MADE_BY_US,
        "Question": MADE_BY_US,
        "Selection": MADE_BY_US,
        "ThresholdPredictor": MADE_BY_US,
    },
    "estimators": {
        "FittedBase": MADE_BY_US,
        "LogOdds": MADE_BY_US,
        "LogitPool": BASE,
        "MetaClassifier": BASE,
        "check_sample_weight": "the door of sample_weight, called through the predictors",
        "fit_known": STAGE,
        "learner_of_one_label": STAGE,
        "table_pipeline": "made by the command line for a table's columns",
        "weight_params": STAGE,
    },
    "labelsets": dict.fromkeys(
        (
            "BestLabelsets",
            "CategoryEngine",
            "CompactEngine",
            "CompactFolds",
            "Empty",
            "EngineOptions",
            "Fold",
            "FoldEngine",
            "GroupedEngine",
            "Inequality",
            "LabelsetEngine",
            "LabelsetRules",
            "StoredEngine",
            "StrangestEmpty",
            "Weighing",
            "broken_by",
            "decode",
            "make_engine",
        ),
        ENGINE,
    )
    | {"Constraint": BASE, "RegionSize": MADE_BY_US},
    "measures": {
        "Costs": "what a measure of one's own returns: tests/_core/test_costs.py",
        "OwnScores": "the same",
        "Measure": BASE,
        "Need": "flags",
        "MeasureChoice": MADE_BY_US,
        "MeasureChoices": MADE_BY_US,
        "CountedPrior": MADE_BY_US,
        "PosteriorParameters": MADE_BY_US,
        "MeasureWord": "a line of the registry",
        "default_measure": STAGE,
    },
    "metrics": dict.fromkeys(
        (
            "CalibrationCurve",
            "ConditionalCoverage",
            "EfficiencyCriteria",
            "GroupCoverage",
            "SizeHistogram",
            "UniformityTest",
        ),
        MADE_BY_US,
    ),
    "models": {"ModelFile": MADE_BY_US, "ModelFileError": "an exception"},
    "plots": {},
    "predictions": dict.fromkeys(
        (
            "JointScores",
            "LabelWiseGuarantee",
            "LabelWisePredictions",
            "LabelWiseRegion",
            "LabelsetPredictions",
            "LabelsetRegion",
            "NoGuarantee",
            "ObjectRegion",
            "ObjectSummary",
            "PlausibleLabelset",
            "RankedLabelsets",
            "RegionSize",
            "Summaries",
            "Guarantee",
        ),
        MADE_BY_US,
    )
    | {"as_promised": "writes a number that it is given by statements"},
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
