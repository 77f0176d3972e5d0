"""Is the expected share of wrong ones among the accepted at most alpha? Exactly in small bags, and by simulation.

The theorem needs only that examples are exchangeable, so it holds in any bag of n + m examples,
each choice of the n held-out ones being equally likely: there the expected share is a fraction, and
is checked as one. Simulations draw data sets full of ties; the mean share may pass alpha by what a
correct method shows with probability at most 1e-4 (normal approximation). Seeds are fixed.
"""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm
from sklearn.datasets import make_multilabel_classification
from sklearn.multioutput import MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB

from labelsure import InductiveConformalClassifier, ReviewSelector, select_objects

FALSE_ALARM = 1e-4


@st.composite
def bags(draw):
    n, m = draw(st.integers(1, 5)), draw(st.integers(1, 4))
    examples = st.tuples(st.integers(0, 4), st.booleans())
    return n, draw(st.lists(examples, min_size=n + m, max_size=n + m))


def false_share(selection, right_of_new):
    n_accepted = int(selection.accepted.sum())
    return Fraction(int((selection.accepted & ~right_of_new).sum()), max(n_accepted, 1))


def splits_of(bag):
    n, examples = bag
    sureness, right = (np.array(column) for column in zip(*examples, strict=True))
    for held_out in combinations(range(len(examples)), n):
        new = np.setdiff1d(np.arange(len(examples)), held_out)
        yield sureness[list(held_out)], right[list(held_out)], sureness[new], right[new]


@settings(max_examples=60, deadline=None)
@given(bags(), st.integers(2, 18).map(lambda k: k / 20))
def test_expected_false_share_in_any_bag_is_at_most_alpha(bag, alpha):
    shares = [
        false_share(select_objects(*split[:3], alpha=alpha), split[3].astype(bool))
        for split in splits_of(bag)
    ]
    assert sum(shares) <= Fraction(str(alpha)) * len(shares)


@settings(max_examples=60, deadline=None)
@given(bags(), st.integers(2, 18).map(lambda k: k / 20))
def test_objects_taken_one_by_one_are_rarely_wrong_and_accepted(bag, alpha):
    n_faults = n_objects = 0
    for held_out, right, new, right_of_new in splits_of(bag):
        accepted = select_objects(held_out, right, new, alpha=alpha, batch=False).accepted
        n_faults += int((accepted & ~right_of_new.astype(bool)).sum())
        n_objects += len(new)
    assert n_faults <= Fraction(str(alpha)) * n_objects


def draw_data(rng, n, n_values):
    """Sureness on a few values, all the more often right the higher; one in ten is wrong where it is surest."""
    sureness = rng.integers(n_values, size=n) / n_values
    return sureness, rng.random(n) < 0.3 + 0.6 * sureness


def mean_false_share(select, *, n_trials, n, m, n_values, seed):
    """The mean false share, its standard error, and how often anything was accepted."""
    shares, n_accepting = [], 0
    for rng in np.random.default_rng(seed).spawn(n_trials):
        (held_out, right), (new, right_of_new) = (
            draw_data(rng, n, n_values),
            draw_data(rng, m, n_values),
        )
        accepted = select(held_out, right, new, rng)
        shares.append((accepted & ~right_of_new).sum() / max(accepted.sum(), 1))
        n_accepting += bool(accepted.any())
    return np.mean(shares), np.std(shares) / np.sqrt(n_trials), n_accepting


def plain(alpha):
    return lambda held_out, right, new, _: (
        select_objects(held_out, right, new, alpha=alpha).accepted
    )


def with_random_ties(alpha):
    return lambda held_out, right, new, rng: (
        select_objects(
            held_out,
            right,
            new,
            alpha=alpha,
            random_ties=True,
            random_state=int(rng.integers(2**31)),
        ).accepted
    )


RULES = {"plain": plain, "random ties": with_random_ties}


@pytest.mark.parametrize("name", RULES)
def test_mean_false_share_is_at_most_alpha(name):
    """400 data sets, 25 held-out examples, 20 objects, 8 values of sureness."""
    mean, error, n_accepting = mean_false_share(
        RULES[name](0.3), n_trials=400, n=25, m=20, n_values=8, seed=0
    )
    assert mean <= 0.3 + norm.isf(FALSE_ALARM) * error
    assert mean > 0.15
    assert n_accepting > 200  # else nothing was tested


def test_selection_without_the_object_itself_is_refused():
    """The tests here can fail: where the object does not count itself, those surer than all wrong ones have p = 0."""

    def trusting(held_out, right, new, rng):
        return new > held_out[~right].max(initial=-1)

    mean, error, _ = mean_false_share(trusting, n_trials=400, n=10, m=20, n_values=20, seed=0)
    assert mean > 0.1 + norm.isf(FALSE_ALARM) * error


X, Y = make_multilabel_classification(
    n_samples=3000, n_features=8, n_classes=3, length=60, random_state=0
)
LEARNER = MultiOutputClassifier(GaussianNB()).fit(X[:300], Y[:300])


def resplit(rng, n, m):
    rows = 300 + rng.choice(2700, size=n + m, replace=False)
    return rows[:n], rows[n:]


def mean_false_share_of_models(select, question, n_trials):
    """The mean false share, and its standard error, over draws of held-out and new examples for a fixed classifier."""
    shares = []
    for rng in np.random.default_rng(3).spawn(n_trials):
        held_out, new = resplit(rng, 80, 50)
        selection = select(held_out, new, question)
        wrong = selection.labelsets != Y[new]
        faults = (
            wrong[:, question["label"]]
            if "label" in question
            else wrong.sum(axis=1) > question.get("at_most", 0)
        )
        shares.append(faults[selection.accepted].sum() / max(selection.accepted.sum(), 1))
    return np.mean(shares), np.std(shares) / np.sqrt(n_trials)


def select_with_fresh_examples(held_out, new, question):
    return (
        ReviewSelector(LEARNER, **question)
        .calibrate(X[held_out], Y[held_out])
        .select(X[new], alpha=0.2)
    )


def select_with_own_examples(held_out, new, question):
    model = InductiveConformalClassifier(LEARNER, prefit=True).fit(X[held_out], Y[held_out])
    selector = ReviewSelector(model, **question).calibrate(X[held_out], Y[held_out], from_fit=True)
    return selector.select(X[new], alpha=0.2)


SELECTIONS = {"fresh": select_with_fresh_examples, "own": select_with_own_examples}


@pytest.mark.parametrize("name", SELECTIONS)
def test_accepted_predictions_of_a_model_are_rarely_wrong(name):
    """40 draws of 80 held-out and 50 new examples."""
    mean, error = mean_false_share_of_models(SELECTIONS[name], {}, 40)
    assert 0.05 < mean <= 0.2 + norm.isf(FALSE_ALARM) * error
