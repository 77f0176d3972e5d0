"""The posterior of sparse outputs: exactly the dense answers, with 14, 159 and 10 000 labels."""

import numpy as np
import pytest
from scipy import sparse

from labelsure import calibrate_outputs
from labelsure.measures import Need, PosteriorMeasure
from labelsure.measures._auto import default_measure

pytestmark = pytest.mark.filterwarnings("ignore:.*examples have no label")

USUAL = default_measure(Need.TRAINING_LABELS)


def draw_examples(n_examples, n_labels, seed=0):
    """Few labels each, repeated labelsets; outputs for most of these labels and a few others."""
    rng = np.random.default_rng(seed)
    popular = 1 / np.arange(1, n_labels + 1)
    popular /= popular.sum()
    Y, outputs = np.zeros((n_examples, n_labels), dtype=np.int8), np.zeros((n_examples, n_labels))
    usual = [
        rng.choice(n_labels, size=rng.integers(1, 5), p=popular, replace=False) for _ in range(20)
    ]
    for labels, own in zip(Y, outputs, strict=True):
        on = usual[rng.integers(20)]
        if rng.random() < 0.3:
            on = rng.choice(n_labels, size=rng.integers(1, 5), p=popular, replace=False)
        labels[on] = 1
        own[rng.choice(n_labels, size=5, p=popular, replace=False)] = (
            rng.integers(1, 40, size=5) / 100
        )
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
            form(part) if n_folds == 1 else [form(part)] * n_folds
            for part in (outputs[120:], outputs[121:122])
        )
        pred, one = predictor.predict_labelsets(new), predictor.predict_labelsets(alone)
        region, best = pred.region(0.2), pred.top(3)
        answers.append(
            [
                *(
                    pred.labelsets,
                    pred.confidence,
                    pred.credibility,
                    pred.certain,
                    best.labelsets,
                    best.p_values,
                ),
                *(
                    region.contains(Y[120:]),
                    region.log2_sizes,
                    region.inner,
                    region.outer,
                    pred.label_p_values,
                ),
                *(
                    one.labelsets,
                    one.credibility,
                    one.region(0.2).sizes.astype(float),
                    one.label_p_values,
                ),
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
