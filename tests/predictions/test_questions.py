"""Questions about one object: which is asked, what answers leave, and what is certain."""

from itertools import product
from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_multilabel_classification

from labelsure import (
    ByCardinality,
    ByObject,
    CrossConformalClassifier,
    InductiveConformalClassifier,
    MLkNNClassifier,
    PowerMeasure,
)
from labelsure.engine import AtMost
from labelsure.learners import outputs_of
from labelsure.measures import MahalanobisMeasure
from labelsure.predictions import _region as module

NAMES = ["sea", "city", "night", "snow"]
X, Y = make_multilabel_classification(
    n_samples=150, n_classes=4, n_labels=2, length=200, random_state=0
)
LABELSETS = np.array(list(product([0, 1], repeat=4)))


def fitted(**options):
    return CrossConformalClassifier(MLkNNClassifier(), cv=3, random_state=0, **options).fit(
        X[:100], Y[:100], label_names=NAMES
    )


MODELS = {"posterior": fitted(), "p-values": fitted(measure=PowerMeasure())}
PREDICTIONS = {name: model.predict_labelsets(X[100:]) for name, model in MODELS.items()}
COSTS = st.sampled_from([0.3, 1.0, 2.0, 3.5, inf])


def posterior_of(model, i, labelsets):
    """The mean over the folds' models of exp(-score), from public scores."""
    if not len(labelsets):
        return np.empty(0)
    return np.mean(
        [
            np.exp(
                -fold.measure.scores(
                    outputs_of(learner, X[[100 + i] * len(labelsets)], 4), labelsets
                )
            )
            for fold, learner in zip(model.calibrator_.folds, model.models_, strict=True)
        ],
        axis=0,
    )


def entropy(share):
    return -sum(p * np.log2(p) for p in (share, 1 - share) if p > 0)


@pytest.mark.parametrize("weights", MODELS)
@given(data=st.data(), i=st.integers(0, 49), level=st.floats(0.02, 0.5), cost=COSTS)
def test_question_has_the_most_entropy_per_cost_of_all(weights, data, i, level, cost):
    region = PREDICTIONS[weights].region(level)
    asking, members = region[i].questions(labelset_cost=cost), region[i].members()
    left = members.labelsets
    weight = posterior_of(MODELS[weights], i, left) if weights == "posterior" else members.p_values
    known = set()
    while len(left) > 1:
        assert asking.left == len(left) and not asking.settled
        share = weight / weight.sum()
        gains = {j: entropy(share[left[:, j] == 1].sum()) for j in set(range(4)) - known}
        best = max([*gains.values(), entropy(share.max()) / cost])
        question = asking.question
        if question.labelset is None:
            assert question.label == NAMES[question.column] and question.column not in known
            agree = left[:, question.column] == 1
            assert gains[question.column] == pytest.approx(best, abs=1e-6)
            assert gains[question.column] > entropy(share.max()) / cost - 1e-6
        else:
            agree = (left == question.labelset).all(axis=1)
            assert share[agree] == pytest.approx(share.max())
            assert entropy(share.max()) / cost == pytest.approx(best, abs=1e-6)
        assert question.share == pytest.approx(share[agree].sum())
        value = data.draw(st.booleans())
        known |= set() if question.column is None else {question.column}
        left, weight = (part[agree == value] for part in (left, weight))
        asking.answer(value)
    assert asking.settled == (len(left) == 1)
    assert len(left) == 0 or asking.labelset.tolist() == left[0].tolist()


@pytest.mark.parametrize("weights", MODELS)
@given(data=st.data(), i=st.integers(0, 49), level=st.floats(0.02, 0.5), cost=COSTS)
def test_certain_labels_are_never_wrong_and_settled_ones_only_where_the_region_misses(
    weights, data, i, level, cost
):
    region = PREDICTIONS[weights].region(level)
    truth = np.array(data.draw(st.lists(st.integers(0, 1), min_size=4, max_size=4)))
    asking = region[i].questions(labelset_cost=cost)
    told = set()
    while not asking.certain:
        if truth in region[i] and asking.left < 2:
            assert asking.settled
        if asking.settled:
            assert np.array_equal(asking.labelset, truth) == (truth in region[i])
        j = data.draw(st.none() | st.sampled_from(range(4)))
        if j is None or j in told:
            told |= {asking.question.column}
            asking.answer(asking.question.answer_for(truth))
        elif asking.n_labelsets == 0:  # afterwards a label may be known without having been told
            told |= {j}
            asking.answer(bool(truth[j]), label=data.draw(st.sampled_from([j, NAMES[j]])))
    assert asking.labelset.tolist() == truth.tolist()
    assert asking.settled == (truth in region[i])
    assert cost < inf or asking.n_labelsets == 0
    assert asking.question is None and asking.n_labels <= 4


@given(data=st.data(), i=st.integers(0, 49), cost=COSTS)
def test_undo_goes_back_through_the_same_questions(data, i, cost):
    asking = PREDICTIONS["posterior"].region(0.05)[i].questions(labelset_cost=cost)
    truth, seen = data.draw(st.sampled_from(list(LABELSETS))), []
    while not asking.certain:
        seen.append((str(asking.question), asking.left, repr(asking)))
        asking.answer(asking.question.answer_for(truth))
    for step in reversed(seen):
        asking.undo()
        assert (str(asking.question), asking.left, repr(asking)) == step
    with pytest.raises(ValueError, match="No answer was given yet"):
        asking.undo()


def test_bad_answers_are_refused_in_one_line():
    asking = PREDICTIONS["posterior"].region(0.05)[0].questions()
    with pytest.raises(ValueError, match=r"label must be a label's name.*got 'fog'\. The labels"):
        asking.answer(True, label="fog")
    with pytest.raises(ValueError, match="number from 0 to 3, got 4"):
        asking.answer(True, label=4)
    with pytest.raises(ValueError, match="value must be True or False, got 'yes'"):
        asking.answer("yes")
    for label in NAMES:
        asking.answer(True, label=label)
        if not asking.certain:
            with pytest.raises(ValueError, match=f"Whether it has '{label}' is known already"):
                asking.answer(False, label=label)
    with pytest.raises(ValueError, match="nothing is left to ask"):
        asking.answer(True)
    for cost in (0, -1, np.nan, "2", -inf):
        with pytest.raises(ValueError, match="labelset_cost must be a finite number above 0"):
            PREDICTIONS["posterior"].region(0.05)[0].questions(labelset_cost=cost)


@pytest.mark.filterwarnings("ignore:With 100 calibration examples")
def test_answers_that_leave_no_labelset_are_refused():
    asking = PREDICTIONS["posterior"].region(0.001)[0].questions(labelset_cost=0.01)
    assert asking.left == 16
    while asking.left:
        asking.answer(False)
    assert asking.n_labelsets == 16
    for label in NAMES[:2]:
        asking.answer(True, label=label)
    with pytest.raises(ValueError, match="This answer leaves no labelset"):
        asking.answer(True, label="night")
    assert asking.n_labels == 2


WIDE_X, WIDE_Y = make_multilabel_classification(
    n_samples=160, n_classes=10, n_labels=3, length=30, random_state=1
)
WIDE_Y[:, 8] |= WIDE_Y[:, 9]
WIDE = {
    "strangest empty": CrossConformalClassifier(MLkNNClassifier(), cv=3, random_state=0),
    "cross": CrossConformalClassifier(MLkNNClassifier(), cv=3, random_state=0),
    "exact": CrossConformalClassifier(MLkNNClassifier(), cv=3, random_state=0, guarantee="exact"),
    "constraints": CrossConformalClassifier(
        MLkNNClassifier(),
        cv=3,
        random_state=0,
        constraints=[AtMost(6, list(range(10)))],
        on_violation="drop",
    ),
    "pairs": InductiveConformalClassifier(
        MLkNNClassifier(), measure=MahalanobisMeasure(), random_state=0
    ),
    "cardinality": InductiveConformalClassifier(
        MLkNNClassifier(), mondrian=ByCardinality(), random_state=0
    ),
    "objects": InductiveConformalClassifier(
        MLkNNClassifier(), mondrian=ByObject(lambda X: (X[:, 0] > 3).astype(int)), random_state=0
    ),
}


@pytest.mark.parametrize("name", WIDE)
def test_regions_too_large_to_list_are_narrowed_by_constraints(name, monkeypatch):
    labels = WIDE_Y.copy()
    if name == "strangest empty":
        labels[~labels.any(axis=1), 0] = 1
    region = WIDE[name].fit(WIDE_X[:120], labels[:120]).predict_labelsets(WIDE_X[120:]).region(0.1)
    listed = [one.members().labelsets for one in region]
    monkeypatch.setattr(module, "MOST_LISTED", 8)
    monkeypatch.setattr(module, "MOST_PLAUSIBLE", 5)
    rng, n_large = np.random.default_rng(0), 0
    for i, members in enumerate(listed[:2]):
        for truth in [
            *members[rng.integers(len(members), size=2 * bool(len(members)))],
            WIDE_Y[120 + i],
        ]:
            asking, left = region[i].questions(), members
            n_large += len(members) > 8
            while not asking.certain:
                assert asking.left == len(left) and asking.settled == (len(left) == 1)
                question = asking.question
                value = question.answer_for(truth)
                asks = (
                    left[:, question.column] == 1
                    if question.labelset is None
                    else left == question.labelset
                )
                left = left[(asks if asks.ndim == 1 else asks.all(axis=1)) == value]
                asking.answer(value)
            assert asking.labelset.tolist() == truth.tolist()
    assert n_large > 1
