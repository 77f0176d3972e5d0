"""Selection around fitted models: every kind of model, the model's own examples, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_multilabel_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC

from labelsure import (
    CrossConformalClassifier,
    FullConformalClassifier,
    InductiveConformalClassifier,
    LabelWiseConformalClassifier,
    MLkNNClassifier,
    ReviewSelector,
    calibrate_labels,
    calibrate_outputs,
    select_objects,
)
from labelsure.engine import AtMost

X, Y = make_multilabel_classification(
    n_samples=400, n_features=6, n_classes=3, length=80, random_state=0
)
TRAIN, HELD_OUT, NEW = slice(0, 150), slice(150, 300), slice(300, 400)
KNN = MLkNNClassifier().fit(X[TRAIN], Y[TRAIN])

MODELS = {
    "inductive": InductiveConformalClassifier(MLkNNClassifier(), random_state=0),
    "cross": CrossConformalClassifier(MLkNNClassifier(), cv=3, random_state=0),
    "label-wise": LabelWiseConformalClassifier(MLkNNClassifier(), random_state=0),
    "label-wise, folds": LabelWiseConformalClassifier(
        MLkNNClassifier(), cv=3, conditional=True, random_state=0
    ),
    "neighbours": KNeighborsClassifier(),
    "logistic regression": OneVsRestClassifier(LogisticRegression()),
    "support vectors": OneVsRestClassifier(LinearSVC()),
}
QUESTIONS = [{}, {"at_most": 1}, {"label": 1}]


def best_labels(model, X):
    """Return the labelsets that sureness is about: where there are p-values of them, the most plausible ones."""
    return (
        model.predict_labelsets(X).labelsets
        if hasattr(model, "predict_labelsets")
        else model.predict(X)
    )


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("question", QUESTIONS, ids=["whole", "at most 1", "one label"])
def test_selection_around_a_model_is_that_of_its_arrays(name, question):
    model = MODELS[name].fit(X[TRAIN], Y[TRAIN])
    selector = ReviewSelector(model, **question).calibrate(X[HELD_OUT], Y[HELD_OUT])
    selection = selector.select(X[NEW], alpha=0.3)
    assert selection.labelsets.tolist() == best_labels(model, X[NEW]).tolist()
    wrong = best_labels(model, X[HELD_OUT]) != Y[HELD_OUT]
    right = ~wrong[:, 1] if "label" in question else wrong.sum(axis=1) <= question.get("at_most", 0)
    assert selector.right_.tolist() == right.tolist()
    of_arrays = select_objects(selector.sureness_, right, selection.sureness, alpha=0.3)
    assert selection.accepted.tolist() == of_arrays.accepted.tolist()
    assert selection.p_values.tolist() == of_arrays.p_values.tolist()


def test_sureness_ranks_right_predictions_above_wrong_ones():
    """Each kind of sureness is higher for right predictions on average, else the selection would be in vain.

    The gap, which comes first, clearly so: outputs know nothing of labelsets, and the surest
    p-values all tie.
    """
    learner = OneVsRestClassifier(LogisticRegression())
    model = InductiveConformalClassifier(learner, random_state=0).fit(X[TRAIN], Y[TRAIN])
    for kind in ("gap", "outputs", "p-values"):
        selector = ReviewSelector(model, sureness=kind).calibrate(X[HELD_OUT], Y[HELD_OUT])
        ranks = np.argsort(np.argsort(selector.sureness_))
        assert ranks[selector.right_].mean() > ranks[~selector.right_].mean() + (
            15 if kind == "gap" else 0
        )


def test_full_conformal_predictor_is_asked_for_p_values():
    model = FullConformalClassifier(MLkNNClassifier(n_neighbors=3), random_state=0).fit(
        X[:20], Y[:20]
    )
    selector = ReviewSelector(model).calibrate(X[150:156], Y[150:156])
    confidence = model.predict_labelsets(X[150:156]).confidence
    assert selector.sureness_.tolist() == confidence.tolist()


def outputs_of(part, n_folds=None):
    outputs = KNN.predict_proba(X[part])
    return outputs if n_folds is None else np.stack([outputs, outputs**2])


@pytest.mark.parametrize("calibrate", [calibrate_outputs, calibrate_labels])
@pytest.mark.parametrize("n_folds", [None, 2])
def test_ready_made_outputs_are_selected_from(calibrate, n_folds):
    folds = None if n_folds is None else np.arange(50) % 2
    predictor = calibrate(
        KNN.predict_proba(X[150:200]), Y[150:200], folds=folds, label_names=["a", "b", "c"]
    )
    for question in (*QUESTIONS, {"label": "b"}):
        selector = ReviewSelector(predictor, **question)
        selection = selector.calibrate(outputs_of(slice(200, 300), n_folds), Y[200:300]).select(
            outputs_of(NEW, n_folds)
        )
        assert len(selection) == 100
        assert selection.label_names == ("a", "b", "c")


def test_frames_keep_their_names():
    names = ["sea", "city", "wood"]
    frame = pd.DataFrame(X, index=[f"photo {i}" for i in range(400)])
    labels = pd.DataFrame(Y, columns=names)
    model = InductiveConformalClassifier(MLkNNClassifier(), random_state=0).fit(
        frame[TRAIN], labels[TRAIN]
    )
    selector = ReviewSelector(model, label="wood").calibrate(
        frame[HELD_OUT], labels[HELD_OUT][names[::-1]]
    )
    by_position = ReviewSelector(model, label=2).calibrate(frame[HELD_OUT], Y[HELD_OUT])
    assert selector.right_.tolist() == by_position.right_.tolist()
    table = selector.select(frame[NEW], alpha=0.2).to_frame(prefix="is_")
    assert table.columns.tolist() == [
        "is_sea",
        "is_city",
        "is_wood",
        "accepted",
        "p_value",
        "sureness",
    ]
    assert table.index[0] == "photo 300"
    assert "a wrong value of 'wood'" in selector.select(frame[NEW], alpha=0.2).statement


def test_label_called_like_a_column_of_the_table_is_noticed():
    labels = pd.DataFrame(Y, columns=["accepted", "b", "c"])
    selection = ReviewSelector(KNN).calibrate(X[HELD_OUT], labels[HELD_OUT]).select(X[NEW])
    with pytest.raises(ValueError, match="column 'accepted' of its own"):
        selection.to_frame()


def test_single_label_and_sparse_objects_are_understood():
    plain = LogisticRegression().fit(X[TRAIN], Y[TRAIN, 0])
    selection = (
        ReviewSelector(plain).calibrate(X[HELD_OUT], Y[HELD_OUT, :1]).select(X[NEW], alpha=0.3)
    )
    assert selection.labelsets.ravel().tolist() == plain.predict(X[NEW]).tolist()
    thin = InductiveConformalClassifier(OneVsRestClassifier(LogisticRegression()), random_state=0)
    thin.fit(sparse.csr_array(X[TRAIN]), Y[TRAIN])
    selector = ReviewSelector(thin).calibrate(
        sparse.csr_array(X[HELD_OUT]), sparse.csr_array(Y[HELD_OUT])
    )
    assert len(selector.select(sparse.csr_array(X[NEW]))) == 100


def own_examples(model, **options):
    return ReviewSelector(model, **options).calibrate(X[:300], Y[:300], from_fit=True)


@pytest.mark.parametrize("kind", ["gap", "outputs"])
def test_own_calibration_examples_serve_where_sureness_does_not_know_them(kind):
    model = InductiveConformalClassifier(MLkNNClassifier(), random_state=0).fit(X[:300], Y[:300])
    (rows,) = model.fold_indices_
    fresh = ReviewSelector(model, sureness=kind).calibrate(X[rows], Y[rows])
    own = own_examples(model, sureness=kind)
    assert own.sureness_.tolist() == fresh.sureness_.tolist()
    assert own.right_.tolist() == fresh.right_.tolist()


@pytest.mark.parametrize("kind", ["gap", "outputs"])
def test_own_calibration_examples_change_neither_prediction_nor_sureness(kind):
    """Other labels for the calibration examples, labelsets that the data do not have among them: nothing moves."""
    learner = OneVsRestClassifier(LogisticRegression()).fit(X[TRAIN], Y[TRAIN])
    answers = []
    for labels in (Y[HELD_OUT], 1 - Y[HELD_OUT]):
        model = InductiveConformalClassifier(learner, prefit=True).fit(
            X[HELD_OUT],
            labels,
            training_labels=Y[TRAIN],
            training_outputs=learner.predict_proba(X[TRAIN]),
        )
        selector = ReviewSelector(model, sureness=kind).calibrate(
            X[HELD_OUT], labels, from_fit=True
        )
        selection = selector.select(X[NEW], alpha=0.3)
        answers.append(
            (selection.labelsets.tolist(), selection.sureness.tolist(), selector.sureness_.tolist())
        )
    assert answers[0] == answers[1]


@pytest.mark.parametrize(
    ("model", "options", "message"),
    [
        (
            CrossConformalClassifier(MLkNNClassifier(), cv=3),
            {},
            "from_fit goes with an InductiveConformalClassifier",
        ),
        (
            LabelWiseConformalClassifier(MLkNNClassifier()),
            {},
            "from_fit goes with an InductiveConformalClassifier",
        ),
        (
            InductiveConformalClassifier(MLkNNClassifier()),
            {"sureness": "p-values"},
            "p-values depend on the examples",
        ),
        (
            InductiveConformalClassifier(MLkNNClassifier()),
            {"sureness": len},
            "functions of your own may",
        ),
        (
            InductiveConformalClassifier(MLkNNClassifier(), mondrian="cardinality"),
            {},
            "from_fit goes without mondrian and weight",
        ),
        (
            InductiveConformalClassifier(MLkNNClassifier(), weight=lambda X: np.ones(len(X))),
            {},
            "from_fit goes without mondrian and weight",
        ),
    ],
)
def test_own_calibration_examples_are_refused_where_they_are_known(model, options, message):
    with pytest.raises(ValueError, match=message):
        own_examples(model.fit(X[:300], Y[:300]), **options)


def test_own_calibration_examples_are_rows_of_x_with_unknown_labels():
    """Of a learner of all labels together, and of one fitted already; the statement says what gaps take."""
    gaps = np.where(np.random.RandomState(0).rand(300, Y.shape[1]) < 0.1, np.nan, Y[:300])
    learner = RandomForestClassifier(10, random_state=0)
    models = [
        InductiveConformalClassifier(learner, random_state=0),
        InductiveConformalClassifier(clone(learner).fit(X[300:400], Y[300:400]), prefit=True),
    ]
    for model in models:
        (rows,) = model.fit(X[:300], gaps).fold_indices_
        own = ReviewSelector(model).calibrate(X[:300], gaps, from_fit=True)
        fresh = ReviewSelector(model).calibrate(X[rows], Y[rows])
        assert (own.sureness_.tolist(), own.right_.tolist()) == (
            fresh.sureness_.tolist(),
            fresh.right_.tolist(),
        )
        selection = own.select(X[NEW], alpha=0.5)
        assert selection.accepted.any()
        assert (
            f"{model.n_incomplete_} more examples have unknown labels and do not calibrate"
            in selection.statement
        )


def test_own_calibration_examples_that_belong_together_are_refused():
    """Pages of one document are no exchangeable examples; groups of one example each are."""
    model = InductiveConformalClassifier(MLkNNClassifier(), random_state=0)
    own_examples(model.fit(X[:300], Y[:300], groups=np.arange(300)))
    with pytest.raises(ValueError, match="from_fit goes without groups"):
        own_examples(model.fit(X[:300], Y[:300], groups=np.arange(300) // 3))


def test_other_examples_than_those_of_fit_are_noticed():
    model = InductiveConformalClassifier(MLkNNClassifier(), random_state=0).fit(X[:300], Y[:300])
    with pytest.raises(
        ValueError, match="from_fit takes the 300 examples that fit was given, got 150"
    ):
        ReviewSelector(model).calibrate(X[HELD_OUT], Y[HELD_OUT], from_fit=True)
    with pytest.raises(ValueError, match="in the same order: these score differently"):
        ReviewSelector(model).calibrate(X[299::-1], Y[299::-1], from_fit=True)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (
            InductiveConformalClassifier,
            "got the class InductiveConformalClassifier. Pass a fitted instance",
        ),
        ("a model", "model must be a fitted predictor"),
        (None, "model must be a fitted predictor"),
        (InductiveConformalClassifier(), "not fitted yet"),
        (KNeighborsClassifier(), "not fitted yet"),
    ],
)
def test_model_must_be_fitted(model, message):
    with pytest.raises(ValueError, match=message):
        ReviewSelector(model).calibrate(X[HELD_OUT], Y[HELD_OUT])


def test_classifier_without_outputs_is_asked_for_a_function():
    class Silent:
        def predict(self, X):
            return KNN.predict(X)

    with pytest.raises(ValueError, match="sureness must be None or a function from X"):
        ReviewSelector(Silent()).calibrate(X[HELD_OUT], Y[HELD_OUT])
    selector = ReviewSelector(Silent(), sureness=lambda X: X[:, 0]).calibrate(
        X[HELD_OUT], Y[HELD_OUT]
    )
    assert len(selector.select(X[NEW])) == 100


@pytest.mark.parametrize(
    ("held_out", "labels", "message"),
    [
        (X[:0], Y[:0], "at least one held-out example, got none"),
        (X[:3], Y[:2], "X and y must have the same number of rows, got 3 and 2"),
        (X[:3], Y[:3, :2], "y must have 3 columns, one per label, got 2"),
        (X[:3], np.full((3, 3), np.nan), "y must hold only 0 and 1, got nan"),
        (np.full((3, 6), np.nan), Y[:3], "NaN"),
    ],
)
def test_bad_held_out_examples_are_named(held_out, labels, message):
    with pytest.raises(ValueError, match=message):
        ReviewSelector(MODELS["inductive"].fit(X[TRAIN], Y[TRAIN])).calibrate(held_out, labels)


def test_selector_must_be_calibrated():
    with pytest.raises(NotFittedError, match=r"call calibrate\(X, y\) first"):
        ReviewSelector(KNN).select(X[NEW])


def test_own_calibration_examples_that_may_have_dropped_constraints_are_refused():
    """They would decide which labelsets are candidates, and so on what is judged."""
    constraints = {"constraints": [AtMost(2, [0, 1, 2])], "on_violation": "drop"}
    model = InductiveConformalClassifier(MLkNNClassifier(), random_state=0, **constraints)
    with pytest.warns(UserWarning, match="Going on without"):
        model.fit(X[:300], Y[:300])
    with pytest.raises(ValueError, match="from_fit goes without on_violation='drop'"):
        own_examples(model)


def test_statement_says_how_many_examples_do_not_know_the_label():
    hidden = Y[HELD_OUT].astype(float)
    hidden[::2, 1] = np.nan
    selector = ReviewSelector(KNN, label=1).calibrate(X[HELD_OUT], hidden)
    selection = selector.select(X[NEW], alpha=0.3)
    assert selection.accepted.any()
    assert (
        "75 more held-out examples do not say whether they have this label" in selection.statement
    )
