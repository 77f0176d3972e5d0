"""A budget of answers over a batch: where they go, what they settle, and what is said about it."""

from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_multilabel_classification

from labelsure import CrossConformalClassifier, InductiveConformalClassifier, MLkNNClassifier
from labelsure.decisions import plan

X, Y = make_multilabel_classification(
    n_samples=200, n_classes=5, n_labels=2, length=200, random_state=0
)
TRUTH = Y[140:]
MODEL = CrossConformalClassifier(MLkNNClassifier(), cv=4, random_state=0).fit(X[:140], Y[:140])
PREDICTIONS = MODEL.predict_labelsets(X[140:])
REGION = PREDICTIONS.region(0.1)


def play(session, truth=TRUTH):
    while session.question is not None:
        session.answer(session.question.answer_for(truth[session.object]))
    return session


@given(budget=st.integers(0, 150), cost=st.sampled_from([0.5, 1.0, 2.0, inf]))
def test_plan_spends_no_more_than_its_budget_and_stops_only_where_nothing_is_affordable(
    budget, cost
):
    session = play(plan(REGION, budget=budget, labelset_cost=cost))
    assert session.spent <= budget
    questions = [asking.question for asking in session.questions if asking.left > 1]
    prices = [1 if question.labelset is None else cost for question in questions]
    assert all(session.spent + price > budget for price in prices)
    assert cost < inf or all(asking.n_labelsets == 0 for asking in session.questions)


def test_next_answer_goes_where_the_fewest_further_ones_are_expected():
    session = plan(REGION, budget=60)
    while session.question is not None:
        expected = [
            inf if asking.left < 2 else asking.expected_answers for asking in session.questions
        ]
        assert session.object == int(np.argmin(expected))
        session.answer(session.question.answer_for(TRUTH[session.object]))


def test_settled_objects_are_wrong_only_where_the_region_misses():
    session = play(plan(REGION, budget=1000))
    wrong = (session.labelsets != TRUTH[session.settled]).any(axis=1)
    assert wrong.tolist() == (~REGION.contains(TRUTH))[session.settled].tolist()
    assert session.object is None and session.question is None
    with pytest.raises(ValueError, match="This plan is at its end"):
        session.answer(True)


def test_undo_takes_the_last_answer_of_any_object_back():
    session = plan(REGION, budget=30)
    before = []
    while session.question is not None:
        before.append((session.object, str(session.question), repr(session)))
        session.answer(session.question.answer_for(TRUTH[session.object]))
    for step in reversed(before):
        session.undo()
        assert (session.object, str(session.question), repr(session)) == step
    with pytest.raises(ValueError, match="No answer was given yet"):
        session.undo()


def test_statement_bounds_the_share_of_wrong_ones_among_the_settled():
    inductive = InductiveConformalClassifier(MLkNNClassifier(), random_state=0).fit(
        X[:140], Y[:140]
    )
    region = inductive.predict_labelsets(X[140:]).region(0.1)
    session = play(plan(region, budget=40))
    n_settled = int(session.settled.sum())
    assert (
        f"{n_settled} of 60 objects are settled, for {session.spent:g} of 40 answers"
        in session.statement
    )
    assert region.statement in session.statement
    assert "in expectation at most 6 of all 60 objects are settled and wrong" in session.statement
    assert f"a share of at most {6 / n_settled:.3g} of the settled ones" in session.statement


def test_objects_with_an_empty_region_are_said_not_to_be_settled():
    region = PREDICTIONS.region(0.5)
    session = play(plan(region, budget=500))
    n_left_none = sum(asking.left == 0 for asking in session.questions)
    assert (region.sizes == 0).any() and not session.settled[region.sizes == 0].any()
    assert f"For {n_left_none} objects no labelset of the region is left" in session.statement
    nothing = plan(region[region.sizes == 0], budget=5)
    assert nothing.question is None and nothing.labelsets.shape == (0, 5)


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="region must be a LabelsetRegion, got"):
        plan(PREDICTIONS, budget=5)
    for budget in (-1, np.nan, "5"):
        with pytest.raises(ValueError, match="budget must be a finite number of at least 0"):
            plan(REGION, budget=budget)
    with pytest.raises(ValueError, match="value must be True or False"):
        plan(REGION, budget=5).answer("no")
