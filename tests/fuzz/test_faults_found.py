"""What fuzzing found, one test per fault that was repaired."""

import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import MultiOutputClassifier

from labelsure import (
    BPMLLClassifier,
    CrossConformalClassifier,
    FullConformalClassifier,
    InductiveConformalClassifier,
    LabelWiseConformalClassifier,
    MLkNNClassifier,
    MLNBClassifier,
    MLRBFClassifier,
    MultiLabelStratifiedKFold,
    advise,
    calibrate_labels,
    calibrate_outputs,
    control_precision,
    pac_significance,
    select_objects,
)
from labelsure._checks import (
    label_names_of,
    read_labels,
    split_unknown,
)
from labelsure._random import object_keys
from labelsure.batches import TablePredictor
from labelsure.conformal import ByObject
from labelsure.engine import AtMost
from labelsure.learners import outputs_of
from labelsure.learners._members import check_sample_weight
from labelsure.measures import (
    AutoMeasure,
    LogLossMeasure,
    PosteriorMeasure,
    default_candidates,
    make_measure,
)
from labelsure.metrics import Slab, calibration_curve, coverage_by_group
from labelsure.model_file import save_model

RNG = np.random.default_rng(0)
X, X_NEW = RNG.integers(0, 9, (16, 4)) / 8, RNG.integers(0, 9, (2, 4)) / 8
OUTPUTS, OUTPUTS_NEW = RNG.integers(0, 9, (16, 3)) / 8, RNG.integers(0, 9, (2, 3)) / 8
Y = np.maximum((RNG.random((16, 3)) < OUTPUTS).astype(int), np.eye(3, dtype=int)[np.arange(16) % 3])
LEARNERS = [
    MLkNNClassifier(2),
    MLRBFClassifier(),
    MLNBClassifier(n_generations=1),
    BPMLLClassifier(n_epochs=1),
]
KNN = MLkNNClassifier(2)
MASKED = np.ma.array(X, mask=np.arange(X.size).reshape(X.shape) == 5)
VECTOR = sparse.coo_array(np.array([1.0, 0.0, 1.0]))


class ArrayOnly:
    """Knows nothing but how to become an array."""

    def __array__(self, dtype=None, copy=None):
        return np.array(X_NEW, dtype=dtype)

    def __len__(self):
        return len(X_NEW)


def knn(**options):
    return InductiveConformalClassifier(
        MLkNNClassifier(2), calibration_size=0.5, random_state=0, **options
    )


@pytest.mark.parametrize("masked", [MASKED, list(MASKED)], ids=["array", "rows"])
@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
def test_masked_objects_are_refused(learner, masked):
    message = "X must have no masked entries, got a masked entry in row 1, column 1"
    for model in (learner, knn(), InductiveConformalClassifier(learner)):
        with pytest.raises(ValueError, match=message):
            model.fit(masked, Y)
    with pytest.raises(ValueError, match=message):
        knn().fit(X, Y).predict(masked)
    with pytest.raises(ValueError, match=message):
        calibrate_outputs(OUTPUTS, Y).predict_labelsets(OUTPUTS, masked)


@pytest.mark.parametrize("dtype", ["datetime64[ns]", "timedelta64[D]", "U8", "S8"])
def test_learners_refuse_arrays_of_dates_and_texts(dtype):
    with pytest.raises(ValueError, match="X must hold numbers, got an array of type"):
        MLkNNClassifier(2).fit(np.ones((4, 2)).astype(int).astype(dtype), Y[:4])


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
def test_learners_refuse_numbers_whose_squares_overflow(learner):
    for huge in (1e300 * X, sparse.csr_array(1e300 * X)):
        with pytest.raises(
            ValueError, match=r"X must hold numbers of at most 1e\+150 in size.*Scale your features"
        ):
            learner.fit(huge, Y)


def test_back_propagation_takes_features_that_hardly_vary():
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        model = BPMLLClassifier(n_epochs=1, random_state=0).fit(5e-324 * (8 * X), Y)
    assert np.isfinite(model.decision_function(X)).all()


def test_centres_take_sparse_rows_with_wide_indices():
    wide = sparse.csr_array(X)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    model = MLRBFClassifier(centre_fraction=0.3, random_state=0).fit(wide, Y)
    np.testing.assert_allclose(
        model.decision_function(X_NEW),
        MLRBFClassifier(centre_fraction=0.3, random_state=0).fit(X, Y).decision_function(X_NEW),
    )
    assert wide.indices.dtype == np.int64


def test_sparse_outputs_stay_as_they_are():
    given = sparse.csr_array(
        (np.array([0.5, 0.25]), np.array([2, 0]), np.array([0, 2])), shape=(1, 3)
    )
    calibrate_outputs(OUTPUTS, Y).predict_labelsets(given).p_values()
    assert given.indices.tolist() == [2, 0]
    assert given.data.tolist() == [0.5, 0.25]


def test_no_sparse_rows_are_no_error():
    pred = calibrate_outputs(OUTPUTS, Y).predict_labelsets(sparse.csr_array((0, 3)))
    assert pred.p_values().shape == (0, 8)
    scores = calibrate_outputs(OUTPUTS, Y).nonconformity(
        sparse.csr_array((0, 3)), sparse.csr_array((0, 3))
    )
    assert len(scores) == 0


def test_no_rows_of_objects_keep_their_columns():
    pred = calibrate_outputs(OUTPUTS, Y).predict_labelsets(np.empty((0, 3), dtype=object))
    assert pred.p_values().shape == (0, 8)


def test_sparse_vectors_are_refused():
    vector = sparse.coo_array(np.array([0.5, 0.0, 0.25]))
    with pytest.raises(ValueError, match=r"outputs must have shape \(n_objects, 3\), got \(3,\)"):
        calibrate_outputs(OUTPUTS, Y).predict_labelsets(vector)
    with pytest.raises(
        ValueError, match=r"A sparse X must have one row per object, got shape \(3,\)"
    ):
        object_keys(vector)


def test_sparse_outputs_are_refused_in_words_where_only_dense_ones_go():
    with pytest.raises(
        ValueError, match=r"got a csr_array that .*\(a sparse matrix, of which toarray"
    ):
        calibrate_labels(sparse.csr_array(OUTPUTS), Y)


def test_keys_of_durations_and_of_numbers_of_any_type():
    """Durations and fractions once led to an endless recursion."""
    days = np.array([[1, 2], [1, 3]], dtype="timedelta64[D]")
    assert object_keys(days)[0] != object_keys(days)[1]
    cells = np.array([[Fraction(1, 2), Decimal("0.5"), np.True_, 10**400]], dtype=object)
    floats = np.array([[0.5, 0.5, 1.0, 10**400]], dtype=object)
    assert object_keys(cells) == object_keys(floats)


def test_keys_of_what_can_only_become_an_array():
    assert object_keys(ArrayOnly()).tolist() == object_keys(X_NEW).tolist()


def test_tables_of_arrow_have_their_names():
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table({"sea": [1, 0, 1], "city": [0, 1, 1]})
    assert label_names_of(table) == ("sea", "city")
    labels, names = read_labels(table, ["city", "sea"])
    assert labels.tolist() == [[0, 1], [1, 0], [1, 1]]
    assert names == ("city", "sea")
    assert object_keys(table).tolist() == object_keys(np.array([[1, 0], [0, 1], [1, 1]])).tolist()
    filled, missing = split_unknown(pyarrow.table({"sea": [1.0, None], "city": [0.0, 1.0]}))
    assert filled.column_names == missing.column_names == ["sea", "city"]
    assert read_labels(filled, None)[0].tolist() == [[1, 0], [0, 1]]


def test_weights_that_are_no_numbers_are_refused():
    for bad in (
        np.ma.array(np.ones(16), mask=np.arange(16) == 3),
        np.ones(16).astype(str),
        np.ones(16).astype("m8[D]"),
    ):
        with pytest.raises(ValueError, match="sample_weight must be a dense array of numbers"):
            check_sample_weight(bad, X)
        with pytest.raises(
            ValueError, match="what weight returns must be a dense array of numbers"
        ):
            knn(weight=lambda X, bad=bad: bad[: len(X)]).fit(X, Y)


def test_full_predictor_takes_frames_of_several_types_below_each_other():
    polars = pytest.importorskip("polars")
    whole = (8 * X).astype(int)
    asked = whole[:1] + 0.5  # which integers cannot hold
    names = [f"c{j}" for j in range(4)]
    expected = (
        FullConformalClassifier(MLkNNClassifier(2), random_state=0)
        .fit(whole, Y)
        .predict_labelsets(asked)
    )
    model = FullConformalClassifier(MLkNNClassifier(2), random_state=0).fit(
        polars.DataFrame(whole, schema=names), Y
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # an array has no names
        assert np.array_equal(model.predict_labelsets(asked).p_values(), expected.p_values())


def test_full_predictor_refuses_objects_of_another_kind():
    model = FullConformalClassifier(MultiOutputClassifier(LogisticRegression())).fit(X, Y)
    with pytest.raises(
        ValueError, match="X must be of the kind that fit was given, float64, got datetime64"
    ):
        model.predict(X_NEW.astype("datetime64[D]"))


def label_wise(**options):
    return LabelWiseConformalClassifier(MLkNNClassifier(2), **options).fit(X, Y)


def measured(name, **options):
    return knn(measure=make_measure(name).set_params(**options)).fit(X, Y)


def calibrated(**options):
    return calibrate_outputs(OUTPUTS, Y, **options).predict_labelsets(OUTPUTS_NEW)


def selected(**options):
    return select_objects([0.5], [True], [0.5], **options)


FLAGS = {
    "smoothed": lambda value: knn(smoothed=value).fit(X, Y),
    "smoothed of labels": lambda value: label_wise(smoothed=value),
    "prefit": lambda value: knn(prefit=value).fit(X, Y),
    "prefit of labels": lambda value: label_wise(prefit=value),
    "conditional": lambda value: calibrate_labels(OUTPUTS, Y, conditional=value),
    "force_nonempty": lambda value: calibrated().region(0.2, force_nonempty=value),
    "per_label": lambda value: (
        calibrate_labels(OUTPUTS, Y).predict_labels(OUTPUTS_NEW).region(0.2, per_label=value)
    ),
    "batch": lambda value: selected(batch=value),
    "random_ties": lambda value: selected(random_ties=value),
    "shuffle": lambda value: list(MultiLabelStratifiedKFold(2, shuffle=value).split(X, Y)),
    "rescale": lambda value: measured("mahalanobis", rescale=value),
    "out_of_fold": lambda value: measured("label-wise", out_of_fold=value),
}


@pytest.mark.parametrize("flag", FLAGS)
@pytest.mark.parametrize("value", ["no", None, 2, np.array([True, False])], ids=str)
def test_flags_are_true_or_false(flag, value):
    with pytest.raises(ValueError, match=rf"{flag.split()[0]} must be True or False, got"):
        FLAGS[flag](value)


TINY = Fraction(1, 10**400)
KFOLD = MultiLabelStratifiedKFold(2)
FULL = FullConformalClassifier(MLkNNClassifier(2))
REFUSALS = {
    "label_names": (lambda: calibrated(label_names=3), "must be a sequence of 3 names"),
    "label_names, a set": (lambda: read_labels(Y, {"a", "b", "c"}), "a sequence of 3 names"),
    "labels of a constraint": (lambda: calibrated(constraints=AtMost(1, None)), "must name labels"),
    "mondrian": (lambda: knn(mondrian=ByObject(3)).fit(X, Y), "ByObject takes a function"),
    "cv": (lambda: CrossConformalClassifier(cv=b"12").fit(X, Y), "cv must be a whole number"),
    "n_fits": (lambda: FULL.fit(X, Y).n_fits(None), "n_objects must be a whole"),
    "n_calibration": (lambda: pac_significance(10**400, 0.1), "must be at most 100000000"),
    "epsilon": (lambda: pac_significance(10, 1e-300), r"takes more than 10\^15"),
    "epsilon, the least": (lambda: pac_significance(100, 5e-324), r"than 10\^15 calibration"),
    "epsilon, below floats": (lambda: pac_significance(9, TINY), r"more than 10\^15 calibration"),
    "delta, below floats": (lambda: pac_significance(9, 0.1, delta=TINY), "takes at least 8742"),
    "hidden_fraction": (lambda: BPMLLClassifier(hidden_fraction=1e300).fit(X, Y), "into 64 GiB"),
    "y of folds": (lambda: KFOLD.split(None, VECTOR), r"must be a label matrix.*shape \(3,\)"),
    "y without labels": (lambda: KFOLD.split(None, sparse.csr_array((4, 0))), "at least one label"),
    "folds": (lambda: calibrated(folds=[[0], [0, 1]]), "folds must be an array of shape"),
    "target": (lambda: control_precision(OUTPUTS, Y, target=10**400), "a number strictly between"),
    "thresholds": (lambda: control_precision(OUTPUTS, Y, thresholds=10**400), "at most 1000000"),
    "levels": (lambda: advise(None, X, Y, levels=3.0), "must be a number strictly between 0 and 1"),
    "significance": (lambda: AutoMeasure(significance=np.array(7)).levels(), "strictly between"),
    "measure": (lambda: make_measure(3), "The name of a measure must be a text"),
    "n_labels": (lambda: default_candidates(None), "n_labels must be a whole number"),
    "number of labels": (lambda: outputs_of(KNN.fit(X, Y), X, None), "must be a whole number"),
    "X of a slab": (lambda: Slab(np.ones(2), 0.0, 1.0).holds([1.0, 2.0]), "X must have shape"),
    "groups": (lambda: coverage_by_group([True], None), "groups must have one row per object"),
    "top": (
        lambda: TablePredictor(calibrate_outputs(OUTPUTS, Y), top=2**70),
        "top must be at most 1000000, got",
    ),
    "model": (lambda: TablePredictor("a\0b"), "model must be a predictor or the path of its file"),
    "trusted": (lambda: save_model(None, "never", trusted=None), "must hold names of classes"),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_odd_values_are_refused_in_words(name):
    refuse, message = REFUSALS[name]
    with pytest.raises(ValueError, match=message):
        refuse()


def test_predictions_refuse_what_they_cannot_list_or_write():
    pred = calibrated()
    with pytest.raises(
        ValueError, match=r"k labelsets for 2 objects must fit into 64 GiB, got 2\^"
    ):
        pred.top(2**70)
    with pytest.raises(ValueError, match="prefix must be a text"):
        pred.to_frame(prefix=3)
    with pytest.raises(ValueError, match="prefix must be a text"):
        pred.to_frame(prefix=3, layout="long")
    with pytest.raises(ValueError, match=r"more than max_memory=3 bytes"):
        pred.p_values(max_memory=np.int8(3))
    with pytest.raises(IndexError, match="There are 2 objects, got index"):
        pred[np.uint64(2**63)]
    with pytest.raises(ValueError, match="significance must be a number strictly between 0 and 1"):
        pred.guarantee.sentence(None)


@pytest.mark.parametrize(
    "number",
    [Fraction(1, 8), np.longdouble(0.125), np.float32(0.125)],
    ids=lambda n: type(n).__name__,
)
def test_parameters_may_be_numbers_of_any_type(number):
    for make in (
        lambda value: LogLossMeasure(floor=value),
        lambda value: PosteriorMeasure(
            prior_exponent=value,
            marginals_share=value,
            temperature=value,
            intercepts=value,
            smoothing=value,
        ),
    ):
        tables = [
            calibrate_outputs(
                OUTPUTS, Y, measure=make(value), training_labels=Y, training_outputs=OUTPUTS
            )
            .predict_labelsets(OUTPUTS_NEW)
            .p_values()
            for value in (number, 0.125)
        ]
        assert np.array_equal(*tables)
    pred = calibrate_outputs(OUTPUTS, Y).predict_labelsets(OUTPUTS)
    curves = [
        calibration_curve(Y, pred, 0.2, coverage_level=value) for value in (1 - number, 0.875)
    ]
    assert np.array_equal(curves[0].high, curves[1].high)
