"""The checks of scikit-learn's check_estimator that our classifiers fail, with reasons."""

from sklearn.utils import get_tags

NOT_ZERO_AND_ONE = (
    "the check's y holds other numbers or strings;"
    " a label matrix holds 0 and 1 (MultiLabelBinarizer)"
)
FLAT_Y = "the check passes a flat y; a label matrix has one column per label, also for one label"
ONE_COLUMN = (
    "the check wants the (n, 2) probabilities of a binary classifier;"
    " ours have one column per label"
)
OWN_MESSAGE = (
    "the error is raised, but its message names the value and the cell"
    " instead of sklearn's kind of target"
)

EVERY_CLASSIFIER = {
    "check_estimators_dtypes": NOT_ZERO_AND_ONE,
    "check_classifier_data_not_an_array": NOT_ZERO_AND_ONE,
    "check_fit2d_1feature": NOT_ZERO_AND_ONE,
    "check_classifiers_classes": FLAT_Y,
    "check_classifiers_one_label": FLAT_Y,
    "check_classifiers_train": "the check wants a flat prediction even where y is a matrix with"
    " one column",
    "check_classifiers_regression_target": OWN_MESSAGE,
    "check_classifier_not_supporting_multiclass": OWN_MESSAGE,
}
WITH_DECISIONS = {
    "check_classifier_multioutput": "the check indexes classes_ as one array; ours is a list with"
    " one array per label, as MultiOutputClassifier's, which scikit-learn's scorers understand"
}
WITH_PROBABILITIES = {
    "check_estimator_sparse_array": ONE_COLUMN,
    "check_estimator_sparse_matrix": ONE_COLUMN,
}
CONFORMAL = {
    "check_complex_data": "the complex X would be refused by the classifier inside, but the flat"
    " y is refused before",
    "check_requires_y_none": "y=None is refused, in words of our own that say what to pass",
}
WITH_METADATA = {"check_classifiers_one_label_sample_weights": FLAT_Y}
FOLDS_OF_ROWS = "an example with weight 2 is in one inner fold, two equal examples may be in two"
POOLS = {
    "check_complex_data": "the complex X would be refused by the members, but the flat y is"
    " refused before",
    "check_requires_y_none": "y=None is refused, in words of our own that say what to pass",
    "check_sample_weights_pandas_series": NOT_ZERO_AND_ONE,
    "check_sample_weights_not_an_array": NOT_ZERO_AND_ONE,
    "check_sample_weights_shape": NOT_ZERO_AND_ONE,
    "check_sample_weights_not_overwritten": NOT_ZERO_AND_ONE,
    "check_classifiers_one_label_sample_weights": FLAT_Y,
    "check_sample_weight_equivalence_on_dense_data": FOLDS_OF_ROWS,
    "check_sample_weight_equivalence_on_sparse_data": FOLDS_OF_ROWS,
}


def expected_failed_checks(estimator):
    """Return name and reason of every check that this classifier fails."""
    if hasattr(estimator, "learn_weights"):
        return EVERY_CLASSIFIER | WITH_PROBABILITIES | POOLS
    conformal = CONFORMAL | (WITH_METADATA if hasattr(estimator, "update") else {})
    if hasattr(estimator, "predict_labelsets") or hasattr(estimator, "predict_labels"):
        # classifiers without the tag refuse sparse X
        of_sparse = WITH_PROBABILITIES if get_tags(estimator).input_tags.sparse else {}
        return EVERY_CLASSIFIER | of_sparse | conformal
    if hasattr(estimator, "predict_proba"):
        return EVERY_CLASSIFIER | WITH_PROBABILITIES
    if hasattr(estimator, "decision_function"):
        return EVERY_CLASSIFIER | WITH_DECISIONS
    return EVERY_CLASSIFIER | conformal


def assert_fails_only_where_declared(results, expected):
    """Refuse a failing check that is not on the list, and a listed one that passes."""
    assert {r["check_name"]: r["exception"] for r in results if r["status"] == "failed"} == {}
    assert {r["check_name"] for r in results if r["status"] == "xfail"} == set(expected)
