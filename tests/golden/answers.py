"""From a configuration to answers, through the public interface: the one place that knows how it is called."""

import hashlib
import warnings
from fractions import Fraction
from unittest.mock import patch

import numpy as np
from configurations import Arithmetic, make_data, make_folds
from scipy import sparse

import labelsure
from labelsure import measures
from labelsure.measures import _choice

LEVELS = (0.05, 0.1, 0.2)
TABLE_LABELS, MANY_LABELS, MOST_LISTED = 6, 14, 200


def AutoMeasure(*args, **kwargs):  # noqa: N802
    """Make the chooser, wherever it lives."""
    home = measures if hasattr(measures, "AutoMeasure") else labelsure.conformal
    return home.AutoMeasure(*args, **kwargs)


def largest_difference(outputs, Y):
    """Score a labelset by its worst label and a little of the sum: for FunctionMeasure."""
    differences = np.abs(outputs - Y)
    return differences.max(axis=-1) * 4 + differences.sum(axis=-1)


def make_measure(name, *, training, n_labels):
    """Return a measure by the name that configurations use; without a training part, none that needs one."""
    m = measures
    plain = {
        "power": m.PowerMeasure,
        "power2-pairs": lambda: m.PowerMeasure(2, pair_penalty=0.25 if training else 0.0),
        "log-loss": m.LogLossMeasure,
        "max-norm": m.MaxNormMeasure,
        "function": lambda: m.FunctionMeasure(largest_difference),
    }
    if name in plain:
        return plain[name]()
    if not training:
        return m.PowerMeasure(3)
    learned = {
        "mahalanobis": m.MahalanobisMeasure,
        "mahalanobis-unsigned": lambda: m.MahalanobisMeasure("absolute", shrinkage=0.25),
        "label-wise": m.LabelWiseCombination,
        "prior": m.LabelsetPrior,
        "default": lambda: m.LogLossMeasure() + (m.LabelsetPrior() if n_labels <= 20 else m.UnseenPenalty()),  # of old
        "log-loss+unseen": lambda: m.LogLossMeasure(floor=0.01) + m.UnseenPenalty(),
        "power+hamming": lambda: m.PowerMeasure() + m.HammingPenalty(),
        "power+cardinality": lambda: m.PowerMeasure(2) + m.CardinalityPenalty(),
        "mahalanobis+hamming": lambda: m.MahalanobisMeasure() + m.HammingPenalty(),
        "power-pairs+cardinality+unseen": lambda: (
            m.PowerMeasure(4, pair_penalty=1.0) + m.CardinalityPenalty() + m.UnseenPenalty(1.0)
        ),
        "max-norm+hamming": lambda: m.MaxNormMeasure() + m.HammingPenalty(1.0),
        "log-loss+prior-uniform": lambda: m.LogLossMeasure() + m.LabelsetPrior(0.5, base="uniform"),
        "auto": lambda: AutoMeasure(
            [m.PowerMeasure(), m.LogLossMeasure() + m.UnseenPenalty(), m.LogLossMeasure() + m.LabelsetPrior()],
            n_folds=3,
            n_objects=12,
        ),
        "auto-default": lambda: AutoMeasure(list(map(m.make_measure, CANDIDATES)), n_folds=10, n_objects=200),
        "forest": small_forest,
        "forest+unseen": lambda: small_forest() + m.UnseenPenalty(),
    }
    return learned[name]()


CANDIDATES = (
    *("power+unseen:0.3", "power+prior:0.1", "power+pairs+prior:0.1", "log-loss+unseen:1", "log-loss+prior:0.5"),
    *("log-loss:0.01+unseen:1", "log-loss:0.01+unseen:5", "log-loss:0.01+prior:0.25", "log-loss:0.01+prior:0.5"),
    *("log-loss:0.01+prior:1", "log-loss:0.01+prior:2", "signed-oof+hp:2", "signed-oof+uniform-prior:0.03"),
    *("small-forest+unseen:5", "small-forest+prior:0.5", "power", "power+pairs", "log-loss", "log-loss:0.01"),
)
"""What "auto" chose from when the record was made."""


def small_forest():
    """Return the forest that the record was made with: ten trees, mixed with log loss."""
    return measures.ForestMeasure(measures.LogLossMeasure(), n_estimators=10, min_samples_leaf=5, mix=0.5)


def group_of(X):
    """Return a category per object, for mondrian=."""
    return np.asarray(X)[:, 0] % 2


def weight_of(X):
    """Return the weight of each object, for weight=."""
    return 1.0 + np.asarray(X)[:, 1] % 3


def make_taxonomy(name):
    """Return what mondrian= takes."""
    return {
        "none": None,
        "cardinality": "cardinality",
        "at-most-2": labelsure.ByCardinality(at_most=2),
        "label": 1,
        "function": group_of,
    }[name]


def predict(configuration):
    """Return the predictions of a configuration, and the fitted classifier or None."""
    closeness = patch.object(_choice, "CLOSE_BITS", 0.1)  # as it was when the record was made
    with warnings.catch_warnings(), closeness:
        warnings.simplefilter("ignore", UserWarning)
        return _predict(configuration)


def _predict(one):
    X, Y, X_new, _ = make_data(one)
    training = one.kind not in ("prefit", "outputs", "sparse")
    measure = make_measure(one.measure, training=training, n_labels=one.n_labels)
    shared = {"measure": measure, "empty": one.empty, "smoothed": one.smoothed, "random_state": one.seed}
    merging = {} if one.guarantee == "cross" else {"guarantee": one.guarantee}
    taxonomy = {} if one.mondrian == "none" else {"mondrian": make_taxonomy(one.mondrian)}
    if one.kind.startswith("label-wise"):
        return _predict_labels(one, X, Y, X_new), None
    if one.kind.startswith("cross"):
        fold_of = make_folds(one)
        lists = [(np.flatnonzero(fold_of != k), np.flatnonzero(fold_of == k)) for k in range(fold_of.max() + 1)]
        cv = lists if one.kind == "cross-lists" else 4
        model = labelsure.CrossConformalClassifier(Arithmetic(), cv=cv, **shared, **merging, **taxonomy).fit(X, Y)
        return model.predict_labelsets(X_new), model
    if one.kind in ("inductive", "prefit"):
        base = Arithmetic().fit(X[:7], Y[:7]) if one.kind == "prefit" else Arithmetic()
        weight = {"weight": weight_of} if one.weighted else {}
        model = labelsure.InductiveConformalClassifier(
            base, prefit=one.kind == "prefit", **shared, **taxonomy, **weight
        ).fit(X, Y)
        return model.predict_labelsets(X_new), model
    if one.kind == "full":
        model = labelsure.FullConformalClassifier(Arithmetic(), **shared).fit(X, Y)
        return model.predict_labelsets(X_new), None
    return _predict_outputs(one, X, Y, X_new, {**shared, **merging}), None


def _predict_outputs(one, X, Y, X_new, shared):
    fold_of = make_folds(one) if one.kind.endswith("-folds") else np.zeros(len(Y), dtype=int)
    models = [Arithmetic().fit(X[fold_of == k], Y[fold_of == k]) for k in range(fold_of.max() + 1)]
    in_rows = np.stack([model.predict_proba(X) for model in models])
    outputs, new = in_rows[fold_of, np.arange(len(Y))], [model.predict_proba(X_new) for model in models]
    if one.kind.endswith("-folds"):
        shared["folds"] = fold_of
        if one.kind == "outputs-folds":
            shared["training_outputs"] = in_rows
    if one.kind.startswith("sparse"):
        shared["default_output"] = 1 / 16
        outputs, new = _thin(outputs), [_thin(part) for part in new]
    predictor = labelsure.calibrate_outputs(outputs, Y, **shared)
    return predictor.predict_labelsets(new if one.kind.endswith("-folds") else new[0])


def _thin(outputs):
    """Return a sparse matrix of the outputs that differ from the default."""
    return sparse.csr_matrix(np.where(outputs > 1 / 16, outputs, 0.0))


def _predict_labels(one, X, Y, X_new):
    shared = {"smoothed": one.smoothed, "random_state": one.seed, "conditional": one.kind.endswith("-conditional")}
    if one.kind in ("label-wise-outputs", "label-wise-folds"):
        fold_of = make_folds(one) if one.kind == "label-wise-folds" else np.zeros(len(Y), dtype=int)
        models = [Arithmetic().fit(X[fold_of == k], Y[fold_of == k]) for k in range(fold_of.max() + 1)]
        outputs = np.stack([model.predict_proba(X) for model in models])[fold_of, np.arange(len(Y))]
        new = [model.predict_proba(X_new) for model in models]
        many = one.kind == "label-wise-folds"
        predictor = labelsure.calibrate_labels(outputs, Y, folds=fold_of if many else None, **shared)
        return predictor.predict_labels(new if many else new[0])
    cv = {"cv": 4} if one.kind == "label-wise-cv" else {}
    return labelsure.LabelWiseConformalClassifier(Arithmetic(), **cv, **shared).fit(X, Y).predict_labels(X_new)


def sizes_of(region):
    """Return (value, low, high, at_least, at_most) for each object; nothing where that was not counted.

    Estimates may become other, better ones. What the record has of sizes with 40 labels was made anew like this, by
    code that still reproduced the estimates of the first record.
    """
    parts = region.size_estimates if hasattr(region, "size_estimates") else region.sizes.tolist()
    return [_size(part) for part in parts]


def _size(size):
    if isinstance(size, int):
        return (size,) * 5
    if not size.exact:
        return ()
    return tuple(int(part) for part in (size.value, size.low, size.high, size.at_least, size.at_most))


def answer(configuration):
    """Return all answers of a configuration, question by question: arrays, or lists of whole numbers."""
    pred, model = predict(configuration)
    _, _, X_new, asked = make_data(configuration)
    if configuration.kind.startswith("label-wise"):
        return _answer_labels(pred, asked, ranked=configuration.kind != "label-wise-conditional")
    many = configuration.n_labels > MANY_LABELS
    flipped = asked.copy()
    flipped[:, 0] ^= 1
    top = pred.top(5)
    answers = {
        "p_value": np.array([_keep_nonempty(pred.p_value(Y), Y) for Y in (asked, flipped)]),
        "best": np.concatenate([pred.labelsets, np.array([pred.confidence, pred.credibility]).T], axis=1),
        "top": np.concatenate([top.labelsets, top.p_values[:, :, None]], axis=2),
        "label_p_values": np.asarray(pred.label_p_values),
        "rank_labels": np.asarray(pred.rank_labels()),
    }
    if configuration.n_labels <= TABLE_LABELS:
        answers["p_values"] = pred.p_values()
        answers["masses"] = pred.rank_labels(method="mass")
    regions = [pred.region(level) for level in LEVELS]
    answers["sizes"] = [sizes_of(region) for region in regions]
    answers["contains"] = np.array([region.contains(asked) for region in regions])
    answers["inner"] = np.array([region.inner for region in regions])
    answers["outer"] = np.array([region.outer for region in regions])
    if not many:
        answers["members"] = [_members(region[i]) for region in regions for i in range(2)]
    if configuration.kind in ("inductive", "prefit"):
        answers["nonconformity"] = np.round(model.nonconformity(X_new, asked), 9)
    return answers


def _keep_nonempty(p_values, Y):
    """Whether the empty labelset is a candidate is the business of other questions."""
    return np.where(Y.any(axis=1), p_values, -1.0)


def _members(region):
    listed = region.members if hasattr(region, "members") else region.labelsets
    listed = listed(limit=MOST_LISTED)
    codes = getattr(listed, "labelsets", listed).astype(np.int64)
    return (codes @ (1 << np.arange(codes.shape[1]))).tolist()


def _answer_labels(pred, asked, *, ranked):
    regions = [pred.region(level, at_most_wrong=h) for level in LEVELS for h in (0, 1) if h < asked.shape[1]]
    p_values = pred.p_values() if callable(pred.p_values) else pred.p_values
    labels = pred.labels() if callable(pred.labels) else pred.labels
    ranks = {"rank_labels": np.asarray(pred.rank_labels())} if ranked else {}
    return ranks | {
        "p_value": np.asarray(pred.labelset_p_value(asked)),
        "best": np.asarray(labels),
        "label_p_values": np.asarray(p_values),
        "inner": np.array([region.inner for region in regions]),
        "outer": np.array([region.outer for region in regions]),
    }


def digest(value):
    """Return a short fingerprint of an array or of nested lists of whole numbers."""
    if isinstance(value, np.ndarray):
        value = [list(value.shape), [_exact(number) for number in value.ravel().tolist()]]
    return hashlib.sha256(repr(value).encode()).hexdigest()[:12]


def _exact(number):
    return str(Fraction(number))
