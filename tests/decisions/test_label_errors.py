"""Doubtful labels: the order by gains, the level with trusted rows, and what is refused."""

import numpy as np
import pytest
from sklearn.datasets import make_multilabel_classification
from sklearn.multioutput import MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from labelsure import (
    CrossConformalClassifier,
    InductiveConformalClassifier,
    MLkNNClassifier,
    find_label_errors,
)
from labelsure.decisions import fewest_flagged
from labelsure.engine import Implies
from labelsure.learners import outputs_of
from three_errors import assert_at_most

X, Y_TRUE = make_multilabel_classification(n_samples=300, n_classes=4, length=300, random_state=0)
WRONG = np.arange(0, 300, 20)
Y = Y_TRUE.copy()
Y[WRONG, WRONG % 4] ^= 1
TRUSTED, SUSPECTS = slice(0, 150), slice(150, 300)


def folds(**options):
    return CrossConformalClassifier(MLkNNClassifier(), cv=5, random_state=0, **options)


def half():
    return InductiveConformalClassifier(MLkNNClassifier(), calibration_size=0.5, random_state=0)


def test_gains_are_differences_of_log_posteriors_out_of_fold():
    model = folds().fit(X, Y)
    errors = find_label_errors(model, X, Y)
    for k, rows in enumerate(model.fold_indices_):
        measure = model.calibrator_.folds[k].measure
        outputs = outputs_of(model.models_[k], X[rows], 4)
        for j in range(4):
            flipped = Y[rows].copy()
            flipped[:, j] ^= 1
            gains = measure.scores(outputs, Y[rows]) - measure.scores(outputs, flipped)
            np.testing.assert_allclose(errors.gains[rows, j], gains, atol=1e-9)


def test_flipped_labels_come_first_and_better_labelsets_are_flipped_back():
    errors = find_label_errors(folds().fit(X, Y), X, Y)
    first = errors.pairs[: len(WRONG)]
    found = [j == row % 4 and row in WRONG for row, j in first]
    assert np.mean(found) > 0.6
    gains = errors.gains[tuple(errors.pairs.T)]
    assert (np.diff(gains) <= 0).all() and (gains > 0).all()
    assert ((errors.better != Y[errors.pairs[:, 0]]).sum(axis=1) == 1).all()
    assert errors.p_values is None and "without a level" in errors.statement


def test_p_values_of_rows_are_ranks_among_trusted_rows_held_out():
    model = half().fit(X[TRUSTED], Y_TRUE[TRUSTED])
    given = Y_TRUE[SUSPECTS].copy()
    given[::3, 0] ^= 1
    errors = find_label_errors(
        model, X[SUSPECTS], given, trusted=(X[TRUSTED], Y_TRUE[TRUSTED]), level=0.4
    )
    (rows,) = model.fold_indices_
    fresh = find_label_errors(model, X[SUSPECTS], given, trusted=(X[rows], Y_TRUE[rows]), level=0.4)
    # other data are all used, own ones as held out
    np.testing.assert_array_equal(fresh.p_values, errors.p_values)
    measure = model.calibrator_.folds[0].measure

    def largest_gains(objects, labels):
        outputs, flips = outputs_of(model.models_[0], objects, 4), np.eye(4, dtype=int)
        given = measure.scores(outputs, labels)
        return np.max([given - measure.scores(outputs, labels ^ flip) for flip in flips], axis=0)

    known, doubt = largest_gains(X[rows], Y_TRUE[rows]), errors.gains.max(axis=1)
    expected = [(1 + (known >= gain).sum()) / (len(rows) + 1) for gain in doubt]
    np.testing.assert_array_equal(errors.p_values, expected)
    largest = max(
        (r for r in range(1, 151) if np.sort(errors.p_values)[r - 1] <= 0.4 * r / 150), default=0
    )
    assert errors.flagged.sum() == largest > 0


def test_rows_with_unknown_labels_are_not_examined():
    gaps = Y.astype(float)
    gaps[[3, 40], 1] = np.nan
    errors = find_label_errors(folds().fit(X, gaps), X, gaps)
    assert np.isnan(errors.gains).any(axis=1).nonzero()[0].tolist() == [3, 40]
    model = half().fit(X[TRUSTED], Y_TRUE[TRUSTED])
    of_trusted = (X[TRUSTED], Y_TRUE[TRUSTED])
    flagged = find_label_errors(model, X[SUSPECTS], gaps[SUSPECTS], trusted=of_trusted, level=0.4)
    assert not np.isnan(flagged.p_values).any()
    gaps[160, 0] = np.nan
    flagged = find_label_errors(model, X[SUSPECTS], gaps[SUSPECTS], trusted=of_trusted, level=0.4)
    assert np.isnan(flagged.p_values).nonzero()[0].tolist() == [10] and not flagged.flagged[10]


@pytest.mark.parametrize(
    ("n", "m", "level"), [(100, 1000, 0.1), (9, 50, 0.1), (19, 7, 0.3), (1, 1, 0.5), (8, 50, 0.1)]
)
def test_fewest_flagged_is_the_first_number_that_benjamini_hochberg_could_flag(n, m, level):
    possible = [k for k in range(1, 10 * m) if round(level * k * (n + 1) - m, 9) >= 0]
    assert fewest_flagged(n, m, level) == possible[0]


def test_too_few_trusted_rows_are_refused_before_any_suspect_is_looked_at():
    model = half().fit(X[:16], Y_TRUE[:16])
    with pytest.raises(ValueError, match=r"With 8 trusted rows .* nothing can be flagged at"):
        find_label_errors(model, X[SUSPECTS], Y[SUSPECTS], trusted=(X[:16], Y_TRUE[:16]))


def test_models_that_would_promise_nothing_are_refused():
    cross, inductive = folds().fit(X[TRUSTED], Y[TRUSTED]), half().fit(X[TRUSTED], Y[TRUSTED])
    trusted = (X[TRUSTED], Y[TRUSTED])
    with pytest.raises(ValueError, match="InductiveConformalClassifier with trusted rows, got"):
        find_label_errors(cross, X, Y, trusted=trusted)
    with pytest.raises(ValueError, match="CrossConformalClassifier without trusted rows, got"):
        find_label_errors(inductive, X, Y)
    with pytest.raises(ValueError, match="fitted on the rows to examine, X and Y, in this order"):
        find_label_errors(cross, X[SUSPECTS], Y[SUSPECTS])
    with pytest.raises(ValueError, match="fitted on the rows to examine, X and Y, in this order"):
        find_label_errors(cross, X, Y)  # more rows than it was fitted on
    with pytest.raises(ValueError, match="must not have seen the rows to examine"):
        find_label_errors(inductive, *trusted, trusted=(X[SUSPECTS], Y[SUSPECTS]))
    with pytest.raises(ValueError, match="level must be a number strictly between 0 and 1, got 1"):
        find_label_errors(inductive, X, Y, trusted=trusted, level=1)
    with pytest.raises(ValueError, match="Y must have 4 columns"):
        find_label_errors(cross, X[TRUSTED], Y[TRUSTED, :3])


def test_trusted_rows_that_trained_the_model_are_left_out_or_refused():
    model = InductiveConformalClassifier(
        MultiOutputClassifier(GaussianNB()), calibration_size=0.5, random_state=0
    )
    model.fit(X[TRUSTED], Y_TRUE[TRUSTED])
    (rows,) = model.fold_indices_
    suspects = {"X": X[SUSPECTS], "Y": Y[SUSPECTS], "level": 0.4}
    held_out = find_label_errors(model, **suspects, trusted=(X[rows], Y_TRUE[rows]))
    more = find_label_errors(model, **suspects, trusted=(X[:150], Y_TRUE[:150]))
    np.testing.assert_array_equal(more.p_values, held_out.p_values)
    # the first rows of the fit
    head = find_label_errors(model, **suspects, trusted=(X[:120], Y_TRUE[:120]))
    some = find_label_errors(
        model, **suspects, trusted=(X[rows[rows < 120]], Y_TRUE[rows[rows < 120]])
    )
    np.testing.assert_array_equal(head.p_values, some.p_values)
    shuffled = np.random.default_rng(0).permutation(150)
    with pytest.raises(ValueError, match="trusted must hold the rows that the model was fitted"):
        find_label_errors(model, **suspects, trusted=(X[shuffled], Y_TRUE[shuffled]))
    with pytest.raises(ValueError, match="must not have seen the rows to examine"):
        find_label_errors(
            model, X[shuffled], Y_TRUE[shuffled], trusted=(X[SUSPECTS], Y_TRUE[SUSPECTS])
        )
    model.update(X[200:], Y_TRUE[200:])
    updated = find_label_errors(model, **suspects, trusted=(X[:150], Y_TRUE[:150]))
    np.testing.assert_array_equal(updated.p_values, held_out.p_values)


@pytest.mark.validity
@pytest.mark.parametrize("tied", [False, True], ids=["continuous", "ties"])
@pytest.mark.parametrize("n_trusted", [40, 120])
def test_false_discoveries_are_at_most_the_level_over_2000_tables(n_trusted, tied):
    """Three dependent labels; a third of 40 suspects has a wrong label; level 0.2."""
    found = []

    def false_share(rng):
        n = n_trusted + 40
        latent = rng.normal(size=(n, 1)) + rng.normal(size=(n, 3)) * 0.5
        labels, objects = (latent > 0).astype(int), latent + rng.normal(size=(n, 3)) * 0.4
        objects = objects.round() if tied else objects
        given, wrong = labels.copy(), np.arange(n) >= n - 13
        given[wrong, rng.integers(3, size=13)] ^= 1
        own, rest = slice(0, n_trusted), slice(n_trusted, n)
        model = InductiveConformalClassifier(
            KNeighborsClassifier(9), calibration_size=0.5, random_state=0
        )
        model.fit(objects[own], labels[own])
        errors = find_label_errors(
            model, objects[rest], given[rest], trusted=(objects[own], labels[own]), level=0.2
        )
        found.append((errors.flagged & wrong[rest]).sum())
        return (errors.flagged & ~wrong[rest]).sum() / max(errors.flagged.sum(), 1)

    assert_at_most(0.2, false_share, 2000, seed=n_trusted)
    assert np.mean(found) > 0  # the level is not kept by flagging nothing


def test_labelsets_that_constraints_forbid_are_never_the_better_ones():
    always = Y.copy()
    always[:, 1] |= always[:, 0]
    model = folds(constraints=[Implies("a", "b")]).fit(X, always, label_names=list("abcd"))
    errors = find_label_errors(model, X, always)
    assert (errors.better[:, 0] <= errors.better[:, 1]).all()
    free = find_label_errors(folds().fit(X, always), X, always)
    allowed = np.isfinite(errors.gains)
    assert (free.better[:, 0] > free.better[:, 1]).any()
    np.testing.assert_array_equal(errors.gains[allowed], free.gains[allowed])
