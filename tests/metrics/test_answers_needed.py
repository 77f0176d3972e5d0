"""What a truthful reviewer has to answer, and how often an object is settled and wrong."""

from math import inf

import numpy as np
import pytest
from sklearn.datasets import make_multilabel_classification
from sklearn.neighbors import KNeighborsClassifier

from labelsure import InductiveConformalClassifier, MLkNNClassifier
from labelsure.decisions import plan
from labelsure.metrics import answers_needed
from three_errors import assert_at_most

X, Y = make_multilabel_classification(
    n_samples=200, n_classes=4, n_labels=2, length=200, random_state=0
)
MODEL = InductiveConformalClassifier(MLkNNClassifier(), random_state=0).fit(X[:120], Y[:120])
REGION = MODEL.predict_labelsets(X[120:]).region(0.3)


@pytest.mark.parametrize("cost", [0.5, 1.0, 2.0, inf])
@pytest.mark.parametrize("certain", [False, True])
def test_answers_needed_are_those_of_a_truthful_reviewer(certain, cost):
    needed = answers_needed(REGION, Y[120:], certain=certain, labelset_cost=cost)
    for i, one in enumerate(REGION):
        asking = one.questions(labelset_cost=cost)
        while not asking.certain and (certain or asking.left > 1):
            question = asking.question
            if question.labelset is None:
                asking.answer(bool(Y[120 + i, question.column]))
            else:
                asking.answer(question.labelset.tolist() == Y[120 + i].tolist())
        assert (asking.n_labels, asking.n_labelsets) == (needed.labels[i], needed.labelsets[i])
    paid = needed.labels + (0 if cost == inf else cost * needed.labelsets)
    assert needed.costs.tolist() == paid.tolist()
    assert cost < inf or not needed.labelsets.any()


def test_settled_and_wrong_together_with_nothing_left_are_the_region_s_misses():
    misses = ~REGION.contains(Y[120:])
    assert misses.any() and (REGION.sizes == 0).any()
    needed = answers_needed(REGION, Y[120:], certain=False)
    assert (needed.wrong | ~needed.settled).tolist() == misses.tolist()
    assert not answers_needed(REGION, Y[120:]).wrong.any()


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="Y must have 4 columns"):
        answers_needed(REGION, Y[120:, :3])
    with pytest.raises(ValueError, match="80"):
        answers_needed(REGION, Y)
    with pytest.raises(ValueError, match="labelset_cost"):
        answers_needed(REGION, Y[120:], labelset_cost=0)


@pytest.mark.validity
def test_settled_and_wrong_is_at_most_the_level_over_1000_data_sets():
    """Four dependent labels, 39 calibration examples, level 0.2; also with a batch budget."""
    budget_settled = []

    def wrong_shares(rng):
        latent = rng.normal(size=(110, 1)) + rng.normal(size=(110, 4)) * 0.7
        labels, objects = (latent > 0).astype(int), latent + rng.normal(size=(110, 4)) * 0.6
        model = InductiveConformalClassifier(
            KNeighborsClassifier(7), calibration_size=39, random_state=0
        )
        region = model.fit(objects[:90], labels[:90]).predict_labelsets(objects[90:]).region(0.2)
        misses = ~region.contains(labels[90:])
        shares = []
        for cost in (1.0, inf):
            needed = answers_needed(region, labels[90:], certain=False, labelset_cost=cost)
            assert (needed.wrong | ~needed.settled).tolist() == misses.tolist()
            shares.append(needed.wrong.mean())
        assert not answers_needed(region, labels[90:]).wrong.any()
        session = plan(region, budget=15)
        while session.question is not None:
            session.answer(session.question.answer_for(labels[90 + session.object]))
        budget_settled.append(session.settled.mean())
        wrong = (session.labelsets != labels[90:][session.settled]).any(axis=1).sum()
        return [*shares, wrong / 20, misses.mean()]

    means = assert_at_most(0.2, wrong_shares, 1000, seed=0)
    # the level is not kept by settling nothing
    assert means[0] > 0.1 and 0 < np.mean(budget_settled) < 1
