"""Mahalanobis distances, against a transcription of their formula."""

import numpy as np
import pytest
from sklearn.covariance import ledoit_wolf
from sklearn.tree import DecisionTreeClassifier

from labelsure import InductiveConformalClassifier
from labelsure.measures import MahalanobisMeasure
from labelsure.measures._labelset_bits import decode

KINDS = ("signed", "absolute")


def line(t, o, rescale):
    """Slope and intercept of the least squares line through one label's points."""
    if not rescale:
        return 1.0, t.mean() - o.mean()
    slope = np.cov(o, t)[0, 1] / np.var(o, ddof=1) if o.max() - o.min() > 1e-6 else 0.0
    return slope, t.mean() - slope * o.mean()


def residuals_of(measure, Y, outputs, Y_training, training):
    if measure.residuals == "absolute":
        return np.abs(Y - outputs)
    r = np.empty(outputs.shape)
    for j in range(outputs.shape[1]):
        slope, intercept = line(Y_training[:, j].astype(float), training[:, j], measure.rescale)
        r[:, j] = Y[:, j] - np.minimum(np.maximum(intercept + slope * outputs[:, j], -1), 2)
    return r


def covariance_of(measure, r):
    share = measure.shrinkage
    if share == "ledoit-wolf":
        share = max(ledoit_wolf(r)[1], 1 / len(r))
    S = (r - r.mean(axis=0)).T @ (r - r.mean(axis=0)) / len(r)
    if np.diag(S).max() <= 1e-12:
        return np.eye(r.shape[1])
    return (1 - share) * S + share * np.mean(np.diag(S)) * np.eye(len(S))


def transcription(measure, Y, outputs, Y_training, training):
    """sqrt(r' S^-1 r) of each row, divided by sqrt(1' |S^-1| 1) if normalised."""
    r_training = residuals_of(measure, Y_training, training, Y_training, training)
    inverse = np.linalg.inv(covariance_of(measure, r_training))
    if measure.normalised:
        inverse = inverse / np.abs(inverse).sum()
    r = residuals_of(measure, Y, outputs, Y_training, training)
    return np.sqrt([max(0.0, row @ inverse @ row) for row in r])


def random_data(seed, *, n_training=200, n_new=7, n_labels=5):
    """Correlated labels, and outputs that know something about them."""
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=(n_training + n_new, n_labels)) @ rng.normal(size=(n_labels, n_labels))
    Y = (hidden + rng.normal(size=hidden.shape) > 0.5).astype(np.int8)
    outputs = 1 / (1 + np.exp(-hidden))
    return Y[:n_training], outputs[:n_training], Y[n_training:], outputs[n_training:]


def assert_scores_equal_formula(measure, exponent, Y, training, outputs, *, digits):
    """Equal up to rounding: half a unit per cost under the root, floats, one unit after it."""
    n_labels = measure.n_labels_
    n_costs = 2 * n_labels + n_labels * (n_labels - 1) / 2
    unit = 2.0 ** -(2 * exponent - measure.energy(outputs, exponent=exponent).link.shift)
    under_root = n_costs / 2 * unit + 10.0**-digits * np.abs(measure.precision_).sum()
    energy = measure.energy(outputs, exponent=exponent)
    for labelset in decode(np.arange(2**n_labels), n_labels):
        tiled = np.tile(labelset, (len(outputs), 1))
        expected = transcription(measure, tiled, outputs, Y, training)
        scores = energy.scores(tiled) * 2.0**-exponent
        assert (scores <= np.sqrt(expected**2 + under_root)).all()
        assert (scores >= np.sqrt(np.maximum(expected**2 - under_root, 0)) - 2.0**-exponent).all()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("normalised", [True, False])
@pytest.mark.parametrize("shrinkage", ["ledoit-wolf", 0, 0.3])
@pytest.mark.parametrize("rescale", [True, False])
def test_distances_equal_formula(kind, normalised, shrinkage, rescale):
    measure = MahalanobisMeasure(kind, rescale=rescale, shrinkage=shrinkage, normalised=normalised)
    Y, training, _, outputs = random_data(0)
    measure.fit(Y, outputs=training)
    for exponent in (measure.exponent_, measure.exponent_ - 1, 24, 20):
        assert_scores_equal_formula(measure, exponent, Y, training, outputs, digits=13)


@pytest.mark.parametrize(
    ("kind", "sure"), [("signed", True), ("signed", False), ("absolute", True)]
)
@pytest.mark.parametrize("value", [0, 1])
def test_a_label_that_never_varies_is_strange_with_the_other_value(kind, sure, value):
    Y, training, Y_new, outputs = random_data(7)
    Y[:, 2] = Y_new[:, 2] = value
    training[:, 2] = outputs[:, 2] = value if sure else 0.5
    energy = MahalanobisMeasure(kind).fit(Y, outputs=training).energy(outputs)
    flipped = Y_new.copy()
    flipped[:, 2] = 1 - value
    for j in range(5):  # stranger than any other label flipped
        other = Y_new.copy()
        other[:, j] = 1 - other[:, j]
        assert (energy.scores(flipped) >= energy.scores(other)).all()
    assert (energy.scores(flipped) > energy.scores(Y_new)).all()


def test_errors_that_go_together_are_less_strange_together():
    """Labels 0 and 1 are equal, 1 and 2 opposite, and the outputs know nothing about it."""
    first = np.random.default_rng(0).integers(0, 2, size=300)
    Y = np.column_stack([first, first, 1 - first])
    Y[::10] = 1 - Y[::10, ::-1]
    measure = MahalanobisMeasure().fit(Y, outputs=np.full(Y.shape, 0.5))
    energy = measure.energy(np.full((8, 3), 0.5))
    scores = dict(enumerate(energy.scores(decode(np.arange(8), 3)).tolist()))
    assert set(sorted(scores, key=scores.get)[:2]) == {0b011, 0b100}


def test_ledoit_wolf_shrinks_as_scikit_learn_does_and_never_to_nothing():
    Y, training, _, _ = random_data(8)
    measure = MahalanobisMeasure("absolute", normalised=False).fit(Y, outputs=training)
    covariance, share = ledoit_wolf(np.abs(Y - training))
    assert measure.shrinkage_ == share > 1 / 200
    assert np.allclose(np.linalg.inv(measure.precision_), covariance)
    two = MahalanobisMeasure().fit([[1, 0, 0], [0, 1, 0]], outputs=np.full((2, 3), 0.5))
    assert ledoit_wolf(np.array([[1.0, 0, 0], [0, 1, 0]]))[1] == 0
    assert two.shrinkage_ == 0.5
    assert np.isfinite(two.precision_).all()


def test_out_of_fold_residuals_are_those_of_models_that_had_not_seen_the_example():
    """A deep tree makes no in-sample errors, so there is nothing to learn from them."""
    Y, _, _, _ = random_data(14)
    X = np.random.default_rng(14).normal(size=(200, 3)) + Y[:, :3]
    precisions = []
    for out_of_fold in (False, True):
        model = InductiveConformalClassifier(
            DecisionTreeClassifier(),
            measure=MahalanobisMeasure(out_of_fold=out_of_fold),
            random_state=0,
        ).fit(X, Y)
        precisions.append(model.calibrator_.folds[0].measure.precision_)
    assert np.allclose(precisions[0], np.eye(5) / 5)
    assert np.abs(precisions[1] - np.diag(np.diag(precisions[1]))).max() > 0.001


@pytest.mark.parametrize(
    ("shrinkage", "message"),
    [
        ("oas", "shrinkage, unless a number, must be one of 'ledoit-wolf', got 'oas'"),
        (-0.1, r"shrinkage must be a finite number of at least 0, got -0\.1"),
        (np.nan, "shrinkage must be a finite number of at least 0, got nan"),
        (None, "shrinkage must be a finite number of at least 0, got None"),
        (True, "shrinkage must be a finite number of at least 0, got True"),
        (1.5, r"shrinkage must lie between 0 and 1, got 1\.5"),
    ],
)
def test_bad_shrinkages_are_refused(shrinkage, message):
    with pytest.raises(ValueError, match=message):
        MahalanobisMeasure(shrinkage=shrinkage).fit([[1], [0]], outputs=[[0.5], [0.5]])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("normalised", [True, False])
def test_singular_covariances_are_refused_unless_shrunk(kind, normalised):
    Y, training, _, _ = random_data(15)
    constant, twice, exact = (
        (Y.copy(), training.copy()),
        (Y.copy(), training.copy()),
        (Y, Y.astype(float)),
    )
    constant[0][:, 2], constant[1][:, 2] = 1, 0.25
    for part in twice:
        part[:, 3] = part[:, 0]
    nearly_exact = Y, np.abs(Y - 1e-7 * training)
    for labels, outputs in (constant, twice, exact, nearly_exact, (Y[:4], training[:4])):
        with pytest.raises(
            ValueError, match=r"covariance of the training errors is singular.*Pass shrinkage="
        ):
            MahalanobisMeasure(kind, shrinkage=0, normalised=normalised).fit(
                labels, outputs=outputs
            )
        for shrinkage in ("ledoit-wolf", 0.01):
            measure = MahalanobisMeasure(kind, shrinkage=shrinkage, normalised=normalised).fit(
                labels, outputs=outputs
            )
            assert np.isfinite(measure.precision_).all()
            assert (np.linalg.eigvalsh(measure.precision_) > 0).all()


def test_distances_without_enough_digits_are_refused_unless_normalised():
    Y, training, _, _ = random_data(16)
    near = Y + 1e-5 * (0.5 - Y) * training  # errors of about 1e-5: distances up to 1e6
    with pytest.raises(
        ValueError, match=r"large as .*below 2.04e.03; .*pass normalised=True or a larger shrinkage"
    ):
        MahalanobisMeasure(normalised=False).fit(Y, outputs=near)
    assert MahalanobisMeasure().fit(Y, outputs=near).exponent_ > 25
