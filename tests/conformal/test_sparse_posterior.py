"""The posterior of sparse outputs: the answers of dense ones to the last bit, with 14, 159 and 10 000 labels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from labelsure import calibrate_outputs
from labelsure.measures import Need, PosteriorMeasure, UnseenPenalty, default_measure

pytestmark = pytest.mark.filterwarnings("ignore:.*examples have no label")

USUAL = default_measure(Need.TRAINING_LABELS)


def draw_outputs(rng, n_objects, n_labels, default=0.0):
    values = rng.integers(0, 9, size=(n_objects, n_labels)) / 8  # few values: ties
    stored = rng.random((n_objects, n_labels)) < 0.4
    matrix = sparse.csr_matrix((values[stored], np.nonzero(stored)), shape=values.shape)
    return matrix, np.where(stored, values, default)


def draw_measure(rng, kind):
    if kind == "learned":
        return PosteriorMeasure()
    if kind == "in a sum":
        return PosteriorMeasure(intercepts=0.0, temperature=2.0) + UnseenPenalty(1.0)
    # a share far above the exponent makes labels that are off by default cost less when they are on
    exponent, share, temperature, intercept = rng.uniform([0, 0, 0.3, -2], [2, 3, 3, 2])
    return PosteriorMeasure(
        prior_exponent=exponent, marginals_share=share, temperature=temperature, intercepts=intercept
    )


def both_predictions(seed, measure, *, empty, smoothed, default, n_folds):
    rng = np.random.default_rng(seed)
    n_labels = int(rng.integers(1, 11))
    outputs = draw_outputs(rng, 24, n_labels, default)
    Y = (rng.random(outputs[1].shape) < np.clip(outputs[1] + 0.1, 0, 1)).astype(int)
    Y[0, 0] = 1  # not all empty
    trained = [draw_outputs(rng, 24, n_labels, default) for _ in range(n_folds)]
    new = [draw_outputs(rng, 3, n_labels, default) for _ in range(n_folds)]
    settings = {"empty": empty, "smoothed": smoothed, "default_output": default, "random_state": 0}
    settings["measure"] = draw_measure(rng, measure)
    predictions = []
    for form in (0, 1):
        parts, asked = ([pair[form] for pair in pairs] for pairs in (trained, new))
        known = {"training_labels": Y, "training_outputs": parts[0]}
        if n_folds > 1:
            known = {"folds": np.arange(24) % n_folds, "training_outputs": parts}
        predictor = calibrate_outputs(outputs[form], Y, **known, **settings)
        predictions.append(predictor.predict_labelsets(asked[0] if n_folds == 1 else asked))
    return *predictions, rng.integers(0, 2, size=(3, n_labels))


@given(
    seed=st.integers(0, 10**6),
    measure=st.sampled_from(["learned", "in a sum", "by hand"]),
    empty=st.sampled_from(["allow", "exclude"]),
    smoothed=st.booleans(),
    default=st.sampled_from([0.0, 0.125, 0.375]),
    n_folds=st.integers(1, 3),
)
def test_sparse_outputs_answer_like_dense_ones_under_the_posterior(seed, measure, empty, smoothed, default, n_folds):
    thin, dense, Y = both_predictions(seed, measure, empty=empty, smoothed=smoothed, default=default, n_folds=n_folds)
    assert np.array_equal(thin.p_values(), dense.p_values())
    assert np.array_equal(thin.label_p_values, dense.label_p_values)
    assert np.array_equal(thin.p_value(Y), dense.p_value(Y))
    top, expected = thin.top(3), dense.top(3)
    assert np.array_equal(top.p_values, expected.p_values)
    real = expected.p_values > 0  # there may be fewer than three candidates
    assert np.array_equal(top.labelsets[real], expected.labelsets[real])
    for significance in (0.05, 0.3, 0.6):
        region, wanted = thin.region(significance), dense.region(significance)
        assert region.sizes.tolist() == wanted.sizes.tolist()
        assert np.array_equal(region.inner, wanted.inner)
        assert np.array_equal(region.outer, wanted.outer)
        for i in range(3):
            assert np.array_equal(region[i].members().labelsets, wanted[i].members().labelsets)
            assert sorted(map(tuple, region[i])) == sorted(map(tuple, wanted[i]))


def draw_examples(n_examples, n_labels, seed=0):
    """Few labels each, some labelsets again and again; a learner that has outputs for most of them and a few others."""
    rng = np.random.default_rng(seed)
    popular = 1 / np.arange(1, n_labels + 1)
    popular /= popular.sum()
    Y, outputs = np.zeros((n_examples, n_labels), dtype=np.int8), np.zeros((n_examples, n_labels))
    usual = [rng.choice(n_labels, size=rng.integers(1, 5), p=popular, replace=False) for _ in range(20)]
    for labels, own in zip(Y, outputs, strict=True):
        on = usual[rng.integers(20)]
        if rng.random() < 0.3:
            on = rng.choice(n_labels, size=rng.integers(1, 5), p=popular, replace=False)
        labels[on] = 1
        own[rng.choice(n_labels, size=5, p=popular, replace=False)] = rng.integers(1, 40, size=5) / 100
        known = on[rng.random(len(on)) < 0.9]
        own[known] = rng.integers(30, 100, size=len(known)) / 100
    return outputs, Y


@pytest.mark.parametrize("n_labels", [14, 159, 10_000])
@pytest.mark.parametrize("n_folds", [1, 3])
def test_few_and_many_labels_are_answered_alike_dense_and_sparse(n_labels, n_folds):
    outputs, Y = draw_examples(126, n_labels)
    known = {"training_labels": Y[60:120]} if n_folds == 1 else {"folds": np.arange(60) % n_folds}
    answers = []
    for form in (np.asarray, sparse.csr_array):
        predictor = calibrate_outputs(form(outputs[:60]), Y[:60], **known)
        assert repr(predictor.calibrator.folds[0].measure) == repr(USUAL)
        new, alone = (
            form(part) if n_folds == 1 else [form(part)] * n_folds for part in (outputs[120:], outputs[121:122])
        )
        pred, one = predictor.predict_labelsets(new), predictor.predict_labelsets(alone)
        region, best = pred.region(0.2), pred.top(3)
        answers.append(
            [
                *(pred.labelsets, pred.confidence, pred.credibility, pred.certain, best.labelsets, best.p_values),
                *(region.contains(Y[120:]), region.log2_sizes, region.inner, region.outer, pred.label_p_values),
                *(one.labelsets, one.credibility, one.region(0.2).sizes.astype(float), one.label_p_values),
            ]
        )
        assert np.array_equal(one.top(3).labelsets[0], best.labelsets[1])
        assert np.array_equal(one.label_p_values[0], pred.label_p_values[1])
        assert [sum(1 for _ in region[i]) for i in range(6)] == region.sizes.tolist()
        assert np.array_equal(region.outer, pred.label_p_values[:, :, 1] > 0.2)
    for dense, thin in zip(*answers, strict=True):
        assert np.array_equal(dense, thin)
    assert answers[0][3].all()  # searches were not cut short
    assert answers[0][6].any()


def test_a_labelset_seen_in_training_is_found_though_no_label_of_it_has_an_output():
    Y = np.zeros((60, 50), dtype=int)
    Y[:50, [3, 4, 5]] = 1
    Y[np.arange(50, 60), np.arange(10, 20)] = 1
    outputs = sparse.csr_array((60, 50))
    measure = PosteriorMeasure(prior_exponent=1, marginals_share=0, temperature=10, intercepts=0)
    predictor = calibrate_outputs(outputs[:30], Y[:30], training_labels=Y, measure=measure)
    pred = predictor.predict_labelsets(outputs[:1])
    assert np.flatnonzero(pred.labelsets[0]).tolist() == [3, 4, 5]
    assert pred.region(0.1).contains(Y[:1]).all()
    assert np.flatnonzero(pred.region(0.1).outer[0]).tolist() == [3, 4, 5]


def test_default_measure_of_sparse_outputs_is_that_of_dense_ones():
    outputs, Y = draw_examples(40, 14)
    matrix = sparse.csr_array(outputs)
    predictor = calibrate_outputs(matrix, Y, folds=np.arange(40) % 2, training_outputs=[matrix, matrix])
    assert repr(predictor.calibrator.folds[0].measure) == "PosteriorMeasure()"
    plain = calibrate_outputs(matrix, Y)
    assert repr(plain.calibrator.folds[0].measure) == "PowerMeasure()"


def test_training_outputs_that_are_sparse_are_checked():
    outputs, Y = draw_examples(40, 14)
    for wrong, message in (
        (sparse.csr_array(2 * outputs), r"training_outputs must lie between 0 and 1, got"),
        (sparse.csr_array(outputs[:, :9]), r"training_outputs must have shape \(n_objects, 14\), got \(40, 9\)"),
        (sparse.csr_array(outputs[:9]), r"training_outputs and training_labels"),
    ):
        with pytest.raises(ValueError, match=message):
            calibrate_outputs(outputs, Y, training_labels=Y, training_outputs=wrong)
