"""The posterior measure: probabilities sum to one, maximum likelihood, nothing counted twice."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import approx_fprime
from scipy.special import expit, logit, logsumexp

from labelsure.measures import LabelsetPrior, LogLossMeasure, Need, PosteriorMeasure
from labelsure.measures._labelset_bits import decode
from labelsure.measures._log_partition import CountedPrior

BY_HAND = {"prior_exponent": 0.8, "marginals_share": 0.6, "temperature": 1.5, "intercepts": -0.2}


def draw_training(seed, n=40, q=4):
    rng = np.random.RandomState(seed)
    labels = (rng.rand(n, q) < rng.rand(q)).astype(np.int8)
    outputs = np.where(rng.rand(n, q) < 0.3, rng.choice([0.0, 1.0], (n, q)), rng.rand(n, q))
    return labels, outputs


def log_total(measure, outputs):
    """The log of the sum over all labelsets of their posterior probabilities, by listing them."""
    every = decode(np.arange(2**measure.n_labels_), measure.n_labels_)
    return [
        logsumexp(-measure.scores(np.repeat(row[None], len(every), axis=0), every))
        for row in outputs
    ]


@given(
    st.integers(0, 10**6), st.integers(1, 7), st.floats(0, 2), st.floats(0, 2), st.floats(0.1, 10)
)
def test_probabilities_of_all_labelsets_sum_to_one(seed, q, exponent, share, temperature):
    labels, outputs = draw_training(seed, q=q)
    measure = PosteriorMeasure(
        prior_exponent=exponent, marginals_share=share, temperature=temperature, intercepts=0.3
    ).fit(labels)
    np.testing.assert_allclose(log_total(measure, outputs[:3]), 0, atol=1e-10 + q * 2.0**-38)


def test_probabilities_of_all_labelsets_sum_to_one_with_16_labels_and_what_is_learned():
    labels, outputs = draw_training(3, n=60, q=16)
    measure = PosteriorMeasure().fit(labels, outputs=outputs)
    np.testing.assert_allclose(log_total(measure, outputs[:2]), 0, atol=1e-10)


@given(st.integers(0, 10**6), st.integers(1, 6), st.floats(0.05, 2))
def test_log_sum_is_that_of_its_definition(seed, q, beta):
    labels, _ = draw_training(seed, q=q)
    labelsets, counts = np.unique(labels, axis=0, return_counts=True)
    rng = np.random.RandomState(seed)
    prior = CountedPrior(
        labelsets, counts, rng.uniform(0.01, 0.99, q), smoothing=float(rng.uniform(0.1, 9))
    )
    values = rng.normal(0, 5, (3, q))
    every = decode(np.arange(2**q), q)
    product = np.where(every, prior.marginals, 1 - prior.marginals).prod(axis=1)
    times = np.array([counts[(labelsets == one).all(axis=1)].sum() for one in every])
    probability = (times + prior.smoothing * product) / (counts.sum() + prior.smoothing)
    expected = logsumexp(values @ every.T + beta * np.log(probability), axis=1)
    np.testing.assert_allclose(prior.log_sums(values, beta), expected, rtol=1e-10, atol=1e-10)


@given(st.integers(0, 10**6), st.integers(1, 5), st.floats(0.1, 2))
def test_moments_are_derivatives(seed, q, beta):
    labels, _ = draw_training(seed, n=12, q=q)
    labelsets, own, counts = np.unique(labels, axis=0, return_inverse=True, return_counts=True)
    prior = CountedPrior(labelsets, counts, (labels.sum(axis=0) + 0.5) / 13, smoothing=1.0)
    values, left_out = np.random.RandomState(seed).normal(size=(1, q)), own.ravel()[:1]
    moments = prior.moments(values, beta, left_out)

    def log_sum(parameters):
        return prior.moments(parameters[None, 1:], parameters[0], left_out).log_sums[0]

    slopes = approx_fprime(np.append(beta, values[0]), log_sum, 1e-6)
    np.testing.assert_allclose(np.append(moments.log_priors, moments.marginals), slopes, atol=1e-4)


def test_an_examples_own_labelset_counts_once_less():
    """With every labelset seen once, the prior of the others knows none of them."""
    labelsets = decode(np.arange(8), 3)
    prior = CountedPrior(labelsets, np.ones(8, dtype=np.int64), np.full(3, 0.5), smoothing=1.0)
    without = CountedPrior(
        labelsets[1:], np.ones(7, dtype=np.int64), np.full(3, 0.5), smoothing=1.0
    )
    assert prior.log_seen_without_one[0] == pytest.approx(np.log(0.125 / 8))
    values = np.array([[0.3, -1.0, 2.0]])
    left_out = prior.moments(values, 0.7, np.array([0])).log_sums
    # the product's share and the others' are those of eight examples still: one in n
    assert left_out == pytest.approx(without.log_sums(values, 0.7), abs=0.2)
    assert left_out < prior.log_sums(values, 0.7)


@given(st.integers(0, 10**6), st.integers(1, 40), st.integers(1, 9))
def test_log_sum_of_an_object_is_the_same_to_the_last_bit_whatever_others_there_are(
    seed, q, n_objects
):
    labels, outputs = draw_training(seed, q=q)
    measure = PosteriorMeasure(**BY_HAND).fit(labels)
    together = measure.log_sums(outputs[:n_objects])
    assert together.tolist() == [measure.log_sums(row[None])[0] for row in outputs[:n_objects]]


@pytest.mark.parametrize("outputs", [0.0, 1.0, 0.5])
def test_log_sum_is_stable_with_10_000_labels(outputs):
    labels = np.zeros((50, 10_000), dtype=np.int8)
    labels[np.arange(50), np.arange(50)] = 1
    measure = PosteriorMeasure(**BY_HAND).fit(labels)
    row = np.full((1, 10_000), outputs)
    assert np.isfinite(measure.log_sums(row)).all()
    flat = PosteriorMeasure(**{**BY_HAND, "prior_exponent": 0, "marginals_share": 0}).fit(labels)
    level = np.log((50 * outputs + 0.5) / (50 * (1 - outputs) + 0.5)) / 1.5 - 0.2
    assert flat.log_sums(row)[0] == pytest.approx(10_000 * np.logaddexp(0, level), rel=1e-12)
    assert np.isfinite(measure.scores(row, labels[:1])).all()


def test_without_prior_the_measure_is_log_loss_of_smoothed_outputs():
    labels, outputs = draw_training(0)
    measure = PosteriorMeasure(
        prior_exponent=0, marginals_share=0, temperature=1, intercepts=0
    ).fit(labels)
    expected = LogLossMeasure().fit(labels).scores((40 * outputs + 0.5) / 41, labels)
    np.testing.assert_allclose(measure.scores(outputs, labels), expected, atol=1e-10)


def test_scores_differ_from_unnormalised_ones_by_a_constant_of_the_object():
    labels, _ = draw_training(1)
    measure = PosteriorMeasure(
        prior_exponent=1, marginals_share=0, temperature=1, intercepts=0
    ).fit(labels)
    plain = (LogLossMeasure() + LabelsetPrior()).fit(labels)
    every = decode(np.arange(16), 4)
    for outputs in ([0.5, 0.2, 0.9, 0.7], [0.1, 0.1, 0.6, 0.3]):
        smoothed = (40 * np.array(outputs) + 0.5) / 41
        difference = measure.scores([outputs] * 16, every) - plain.scores([smoothed] * 16, every)
        assert np.ptp(difference) < 1e-9


def test_overconfident_outputs_raise_the_temperature():
    rng = np.random.RandomState(0)
    truth = rng.normal(0, 1.5, (800, 5))
    labels = (rng.rand(800, 5) < expit(truth)).astype(np.int8)
    honest = PosteriorMeasure().fit(labels, outputs=expit(truth)).parameters_
    boastful = PosteriorMeasure().fit(labels, outputs=expit(3 * truth)).parameters_
    assert 0.7 < honest.temperature < 1.4
    assert 2.1 < boastful.temperature < 4.2


def test_without_a_prior_the_rest_is_learned_all_the_same():
    rng = np.random.RandomState(0)
    truth = rng.normal(0, 1.5, (800, 5))
    labels = (rng.rand(800, 5) < expit(truth)).astype(np.int8)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = (
            PosteriorMeasure(prior_exponent=0)
            .fit(labels, outputs=expit(3 * truth + [0, 0, 0, 0, 3]))
            .parameters_
        )
    assert 2.1 < found.temperature < 4.2
    assert found.intercepts[4] < -0.6
    assert np.abs(found.intercepts[:4]).max() < 0.4


def test_learned_temperature_of_outputs_that_are_wrong_is_100():
    """The highest allowed: at infinity outputs would be ignored, below 0 they would be reversed."""
    labels, _ = draw_training(0, n=200, q=3)
    known = {"prior_exponent": 0, "marginals_share": 0, "intercepts": 0}
    found = PosteriorMeasure(**known).fit(labels, outputs=np.where(labels, 0.1, 0.9)).parameters_
    assert found.temperature == pytest.approx(100)


def test_learned_share_of_marginals_may_be_above_one():
    """Outputs that are far too low for the label frequencies; corrections are limited to 2."""
    labels = np.repeat(
        [[1, 0, 0], [0, 0, 0], [0, 1, 0], [0, 0, 0], [0, 0, 1], *[[0, 0, 0]] * 5], 30, axis=0
    )
    low, lower = (
        PosteriorMeasure(prior_exponent=0, temperature=t, intercepts=0).fit(
            labels, outputs=np.full((300, 3), 0.003)
        )
        for t in (1, 0.5)
    )
    assert 1.4 < low.parameters_.marginals_share < 1.7
    assert lower.parameters_.marginals_share == pytest.approx(2)


def test_outputs_that_are_off_for_one_label_get_an_intercept():
    rng = np.random.RandomState(1)
    truth = rng.normal(0, 1.5, (800, 3))
    labels = (rng.rand(800, 3) < expit(truth)).astype(np.int8)
    shifted = (
        PosteriorMeasure(marginals_share=0)
        .fit(labels, outputs=expit(truth + np.array([2, 0, 0])))
        .parameters_
    )
    assert shifted.intercepts[0] < -1.2
    assert np.abs(shifted.intercepts[1:]).max() < 0.6


def test_what_is_learned_is_likelier_than_what_is_given():
    """At the maximum no parameter is likelier: learned values beat hand-set ones in sample."""
    rng = np.random.RandomState(2)
    truth = rng.normal(0, 2, (500, 4)) - 1
    labels = (rng.rand(500, 4) < expit(truth)).astype(np.int8)
    outputs = expit(truth / 2)
    learned = PosteriorMeasure().fit(labels, outputs=outputs)
    for by_hand in (
        BY_HAND,
        {"prior_exponent": 0.7, "marginals_share": 0.7, "temperature": 1, "intercepts": 0},
    ):
        assert (
            learned.scores(outputs, labels).mean()
            < PosteriorMeasure(**by_hand).fit(labels).scores(outputs, labels).mean()
        )


@pytest.mark.parametrize("name", BY_HAND)
def test_what_is_given_is_kept(name):
    labels, outputs = draw_training(4)
    parameters = PosteriorMeasure(**{name: BY_HAND[name]}).fit(labels, outputs=outputs).parameters_
    np.testing.assert_allclose(getattr(parameters, name), BY_HAND[name])


def test_out_of_fold_outputs_are_needed_only_to_learn():
    assert Need.OUT_OF_FOLD_OUTPUTS in PosteriorMeasure().needs
    assert Need.OUT_OF_FOLD_OUTPUTS not in PosteriorMeasure(**BY_HAND).needs
    assert Need.TRAINING_LABELS in PosteriorMeasure(**BY_HAND).needs


def test_labels_that_are_never_or_always_on_are_no_obstacle():
    labels, outputs = draw_training(5)
    labels[:, 0], labels[:, 1] = 0, 1
    measure = PosteriorMeasure().fit(labels, outputs=outputs)
    assert np.isfinite(measure.scores(outputs, labels)).all()
    np.testing.assert_allclose(log_total(measure, outputs[:2]), 0, atol=1e-10)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"prior_exponent": -1}, "prior_exponent"),
        ({"marginals_share": -0.1}, "marginals_share"),
        ({"temperature": 0}, "temperature"),
        ({"intercepts": float("nan")}, "intercepts"),
        ({"smoothing": 0}, "smoothing"),
    ],
)
def test_parameters_out_of_range_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        PosteriorMeasure(**parameters).fit([[1, 0], [0, 1]], outputs=[[0.5, 0.5]] * 2)


def test_logits_of_certain_outputs_are_those_of_half_an_example():
    measure = PosteriorMeasure(
        prior_exponent=0, marginals_share=0, temperature=1, intercepts=0
    ).fit([[1], [0], [1]])
    assert np.exp(-measure.scores([[1.0]], [[0]])) == pytest.approx([0.5 / 4])
    assert logit(3.5 / 4) == pytest.approx(np.log(7))


def test_loss_is_that_of_its_definition_and_its_gradient_the_derivative():
    """Minus the log posterior density of the parameters by example, every labelset listed."""
    rng = np.random.default_rng(3)
    labels, outputs = rng.integers(0, 2, (12, 3)).astype(np.int8), rng.uniform(0.05, 0.95, (12, 3))
    measure = PosteriorMeasure(smoothing=2.0).fit(labels, outputs=outputs)
    counted, logits = measure._counted, measure._logits(outputs)
    centre = np.array([0.7, 0.7, 1.0, 0.0, 0.0, 0.0])
    parameters = np.array([0.9, 0.4, 1.3, 0.2, -0.5, 0.1])
    loss = measure._make_loss(labels, logits, centre)

    every = np.array(list(np.ndindex(2, 2, 2)))
    log_on, log_off = np.log(counted.marginals), np.log1p(-counted.marginals)
    log_prior = counted.log_share + every @ log_on + (1 - every) @ log_off
    seen = [int(np.flatnonzero((every == one).all(axis=1))[0]) for one in counted.labelsets]
    log_prior[seen] = counted.log_seen
    total = 0.0
    for own, row, of_row in zip(counted.numbers_of(labels), labels, logits, strict=True):
        of_others = log_prior.copy()
        of_others[seen[own]] = counted.log_seen_without_one[own]
        values = 1.3 * of_row + parameters[3:] - 0.4 * (log_on - log_off)
        total += (
            row @ values
            + 0.9 * counted.log_seen_without_one[own]
            - logsumexp(every @ values + 0.9 * of_others)
        )
    value, gradient = loss(parameters)
    assert value == pytest.approx((((parameters - centre) ** 2).sum() / 2 - total) / 12, rel=1e-10)
    np.testing.assert_allclose(
        gradient, approx_fprime(parameters, lambda x: loss(x)[0], 1e-7), rtol=1e-4, atol=1e-6
    )
