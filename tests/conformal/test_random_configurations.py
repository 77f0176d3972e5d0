"""Random configurations of everything that can be combined, against the formulas in rules_by_hand.

Measures and sums of them, predictors with and without folds, guarantees, categories, smoothing, weights, sparse
outputs, treatments of the empty labelset. A draw that the package makes is not looked up but recovered: smoothed
p-values give u back, and regions of randomised rules must be the level sets of one number that is the same at all
levels.
"""

import warnings
from collections import Counter
from functools import partial
from typing import NamedTuple

import numpy as np
import pytest
import rules_by_hand as by_hand
from rules_by_hand import CLOSE, HandFold, Training, all_labelsets
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone

from labelsure import CrossConformalClassifier, InductiveConformalClassifier, calibrate_outputs, measures

N_QUICK, N_MANY, N_GROUPS = 300, 10_000, 20
N_NEW = 3
LEVELS = (0.05, 0.1, 0.2, 0.25, 0.4)
KINDS = ("outputs", "outputs-folds", "sparse", "sparse-folds", "cross", "inductive")
GUARANTEES = ("exact", "exact-prefix", "exact-deterministic", "twice-mean", "e-mod", "eu-mod")
EQUAL_FOLDS = {"exact-prefix", "e-mod", "eu-mod"}


pytestmark = pytest.mark.filterwarnings("ignore:.*cannot be reached")


class Shifted(ClassifierMixin, BaseEstimator):
    """A learner whose outputs are the features, moved a little by a count of its training labels."""

    def fit(self, X, Y):  # noqa: ARG002
        self.power_ = 1 + (np.asarray(Y).sum() % 3) / 8
        self.classes_ = [np.array([0, 1])] * np.asarray(Y).shape[1]
        return self

    def predict_proba(self, X):
        return np.asarray(X, dtype=np.float64) ** self.power_


def worst_and_sum(outputs, labelset):
    """For FunctionMeasure: exact on eighths."""
    differences = np.abs(outputs - labelset)
    return 4 * differences.max(axis=1) + differences.sum(axis=1)


def own_scores(measure):
    """The measure's own scores, where its formula (a matrix to invert) is tested elsewhere, in tests/measures."""

    def formula(outputs, labelsets, training):
        fitted = clone(measure).fit(training.labels, outputs=training.outputs)
        rows = [np.tile(labelset, (len(outputs), 1)) for labelset in labelsets]
        if hasattr(fitted, "scores"):
            return by_hand.rounded(np.stack([fitted.scores(outputs, row) for row in rows], axis=1))
        energy = fitted.energy(outputs)
        return by_hand.rounded(
            np.stack([np.ldexp(1.0 * energy.scores(row), -fitted.exponent_) for row in rows], axis=1)
        )

    return formula


class Term(NamedTuple):
    """A measure, its formula, and what it goes with."""

    measure: object
    formula: object
    exact: bool = False  # on outputs that are eighths
    additive: bool = True
    penalty: bool = False
    needs_training: bool = False
    root: bool = False  # a square root is added to penalties alone


def terms_of(rng, n_labels):
    """Return the measures to choose from, by name, with random parameters."""
    weight = float(rng.choice([0.5, 1.0, 3.0]))
    d = int(rng.choice([1, 2, 4]))

    def bind(function, **parameters):
        return lambda outputs, labelsets, training: function(outputs, labelsets, training, **parameters)

    def function_scores(outputs, labelsets, training):
        return np.stack([by_hand.rounded(worst_and_sum(outputs, row)) for row in labelsets], axis=1)

    m = measures
    return {
        "power": Term(m.PowerMeasure(d), bind(by_hand.power, d=d), exact=True),
        "pairs": Term(
            m.PowerMeasure(d, pair_penalty=weight),
            bind(by_hand.power, d=d, pair_penalty=weight),
            True,
            needs_training=True,
        ),
        "log-loss": Term(m.LogLossMeasure(floor=0.01), bind(by_hand.log_loss, floor=0.01)),
        "max-norm": Term(m.MaxNormMeasure(), by_hand.max_norm, exact=True, additive=False),
        "function": Term(m.FunctionMeasure(worst_and_sum), function_scores, exact=True, additive=False),
        "mahalanobis": Term(
            m.MahalanobisMeasure(shrinkage=0.3),
            own_scores(m.MahalanobisMeasure(shrinkage=0.3)),
            root=True,
            needs_training=True,
        ),
        "label-wise": Term(m.LabelWiseCombination(), own_scores(m.LabelWiseCombination()), needs_training=True),
        "unseen": Term(m.UnseenPenalty(weight), bind(by_hand.unseen, weight=weight), True, True, True, True),
        "cardinality": Term(
            m.CardinalityPenalty(weight), bind(by_hand.cardinality, weight=weight), True, True, True, True
        ),
        "hamming": Term(
            m.HammingPenalty(n_labels / 4), bind(by_hand.hamming, weight=n_labels / 4), True, True, True, True
        ),
        "prior": Term(m.LabelsetPrior(weight), bind(by_hand.prior, weight=weight), False, True, True, True),
    }


class Case(NamedTuple):
    """A configuration with its data."""

    name: str
    kind: str
    measure: object
    formulas: list
    guarantee: str
    mondrian: object
    smoothed: bool
    weighted: bool
    empty: str
    X: np.ndarray
    Y: np.ndarray
    X_new: np.ndarray
    fold_of: np.ndarray
    seed: int
    default: float


def draw_case(number):
    """Draw a configuration; the same for the same number."""
    rng = np.random.default_rng([10, number])
    kind = str(rng.choice(KINDS))
    n_labels = int(rng.choice([1, 2, 3, 4, 5, 7, 9, 10], p=[0.08, 0.12, 0.15, 0.2, 0.15, 0.1, 0.12, 0.08]))
    folds = kind in ("outputs-folds", "sparse-folds", "cross")
    training = kind in ("outputs-folds", "cross", "inductive")
    terms = terms_of(rng, n_labels)
    usable = [name for name, term in terms.items() if (training or not term.needs_training) and not term.penalty]
    chosen = [
        str(rng.choice([name for name in usable if terms[name].additive] if kind.startswith("sparse") else usable))
    ]
    if training:
        others = [
            name for name, term in terms.items() if term.penalty and not (name == "prior" and terms[chosen[0]].root)
        ]
        chosen += [str(one) for one in rng.choice(others, size=int(rng.integers(0, 3)), replace=False)]
    guarantee, mondrian, smoothed, weighted = "cross", None, False, False
    extra = rng.random()
    if folds and extra < 0.5:
        guarantee = str(rng.choice(GUARANTEES))
    elif extra < 0.65:
        smoothed = True
    elif extra < 0.85 and kind in ("cross", "inductive"):
        mondrian = ["cardinality", int(rng.integers(n_labels)), first_is_high][int(rng.integers(3))]
        if kind == "cross" and rng.random() < 0.5:
            guarantee = str(rng.choice(["exact", "exact-deterministic", "twice-mean"]))
    elif kind == "inductive":
        weighted = True
    n_folds = int(rng.integers(2, 6)) if folds else 1
    n = n_folds * int(rng.integers(2, 12)) if folds else int(rng.integers(4, 50))
    fold_of = rng.permutation(np.arange(n) % n_folds)
    if folds and guarantee not in EQUAL_FOLDS and rng.random() < 0.5:
        fold_of = np.unique(np.where(rng.random(n) < 0.3, 0, fold_of), return_inverse=True)[1]  # unequal
    if chosen[0] == "label-wise":  # rounded once more in a sum: what ties on paper would not tie by hand
        chosen = chosen[:1]
    exact = all(terms[name].exact for name in chosen) and kind not in ("cross", "inductive")
    values = np.arange(9) / 8 if exact and rng.random() < 0.7 else np.sort(0.02 + 0.96 * rng.random(6))
    X, X_new = rng.choice(values, size=(n, n_labels)), rng.choice(values, size=(N_NEW, n_labels))
    Y = (rng.random(X.shape) < X).astype(np.int64)
    if rng.random() < 0.5:
        Y[rng.random(n) < 0.2] = 0
    else:
        Y[~Y.any(axis=1), 0] = 1
    if not Y.any():
        Y[0, 0] = 1
    measure = terms[chosen[0]].measure
    for name in chosen[1:]:
        measure = measure + terms[name].measure
    parts = [kind, "+".join(chosen), guarantee, f"mondrian={mondrian}", "smoothed" if smoothed else "plain",
             "weighted" if weighted else "", f"{n_labels} labels"]  # fmt: skip
    return Case(
        f"{number}: " + ", ".join(part for part in parts if part), kind, measure,
        [terms[name].formula for name in chosen], guarantee, mondrian, smoothed, weighted,
        str(rng.choice(["auto", "allow", "exclude"], p=[0.4, 0.4, 0.2])), X, Y, X_new, fold_of,
        int(rng.integers(1000)), float(values[0]) if values[0] < 0.5 else 0.0,
    )  # fmt: skip


def first_is_high(X):
    """A category by object, for mondrian=."""
    return np.asarray(X)[:, 0] > 0.5


def weights_of(X):
    """Weights 1, 2, 3, for weight=."""
    return 1.0 + np.round(np.asarray(X)[:, 0] * 2)


def predict(case):
    """Return the package's predictions, and the folds written out by hand."""
    shared = {"measure": case.measure, "empty": case.empty, "smoothed": case.smoothed, "random_state": case.seed}
    guarantee = {} if case.guarantee == "cross" else {"guarantee": case.guarantee}
    splits = [
        (np.flatnonzero(case.fold_of != k), np.flatnonzero(case.fold_of == k)) for k in range(case.fold_of.max() + 1)
    ]
    if case.kind == "cross":
        model = CrossConformalClassifier(Shifted(), cv=splits, mondrian=case.mondrian, **shared, **guarantee)
        model.fit(case.X, case.Y)
        models = [Shifted().fit(case.X[train], case.Y[train]) for train, _ in splits]
        return (
            model.predict_labelsets(case.X_new),
            hand_folds(case, splits, models),
            [case.Y[train] for train, _ in splits],
        )
    if case.kind == "inductive":
        weight = {"weight": weights_of} if case.weighted else {}
        model = InductiveConformalClassifier(Shifted(), mondrian=case.mondrian, **weight, **shared).fit(case.X, case.Y)
        calibration = np.asarray(model.fold_indices_[0])
        split = (np.setdiff1d(np.arange(len(case.Y)), calibration), calibration)
        models = [Shifted().fit(case.X[split[0]], case.Y[split[0]])]
        return model.predict_labelsets(case.X_new), hand_folds(case, [split], models), [case.Y[split[0]]]
    return predict_outputs(case, splits, shared | guarantee)


def predict_outputs(case, splits, settings):
    """The same for ready-made outputs, of models that were trained on nothing that is known."""
    n_folds = len(splits)
    models = [Shifted().fit(case.X[:k], case.Y[:k]) for k in range(n_folds)]
    of_models = np.stack([model.predict_proba(case.X) for model in models])
    outputs = of_models[case.fold_of, np.arange(len(case.Y))]
    new = [model.predict_proba(case.X_new) for model in models]
    with_folds = case.kind.endswith("-folds")
    if with_folds:
        settings["folds"] = case.fold_of
    if case.kind == "outputs-folds":
        settings["training_outputs"] = of_models
    if case.kind.startswith("sparse"):
        make = fill if case.seed % 3 == 0 else thin  # sparse calibration goes with dense new outputs too
        outputs, new = thin(outputs, case), [make(part, case) for part in new]
        settings["default_output"] = case.default
    predictor = calibrate_outputs(outputs, case.Y, **settings)
    training = [case.Y[train] for train, _ in splits] if with_folds else [case.Y[:0]]
    thinned = [(lambda part, own=own: fill(own.predict_proba(part), case)) for own in models]
    return predictor.predict_labelsets(new if with_folds else new[0]), hand_folds(case, splits, thinned), training


def thin(outputs, case):
    """A sparse matrix that holds the outputs above the default."""
    return sparse.csr_matrix(np.where(outputs > case.default, outputs, 0.0))


def fill(outputs, case):
    """What a sparse matrix stands for."""
    return np.where(outputs > case.default, outputs, case.default) if case.kind.startswith("sparse") else outputs


def hand_folds(case, splits, models):
    """Score all labelsets by the formulas."""
    labelsets = all_labelsets(case.Y.shape[1])
    folds = []
    for (train, calibration), model in zip(splits, models, strict=True):
        outputs_of = model.predict_proba if isinstance(model, Shifted) else model
        training = Training(case.Y[train], outputs_of(case.X[train]) if len(train) else case.X[:0])
        old, new = (
            sum(formula(outputs_of(part), labelsets, training) for formula in case.formulas)
            for part in (case.X[calibration], case.X_new)
        )
        codes = case.Y[calibration] @ (1 << np.arange(case.Y.shape[1]))
        rows = case.X[calibration]
        folds.append(
            HandFold(old[np.arange(len(codes)), codes], case.Y[calibration], first_is_high(rows), weights_of(rows), new)
        )
    return folds


def treat_empty(case, folds, training):
    """Return the folds with the empty labelset as ``empty`` says, and which candidates there are."""
    candidates = np.ones(2 ** case.Y.shape[1], dtype=bool)
    if case.empty == "exclude":
        candidates[0] = False
    if case.empty == "auto" and case.measure.form != "maximum":  # a maximum has no room for a score of its own
        # where nothing is known of the training part, the empty labelset is one like any other
        seen = [len(labels) == 0 or not labels.any(axis=1).all() for labels in training]
        folds = [fold if known else fold.strangest_empty() for fold, known in zip(folds, seen, strict=True)]
    return folds, candidates


def computed(case, folds, compute, *, without):
    """Apply a rule to the folds or, with a taxonomy, to those of each category."""
    if case.mondrian is None:
        return compute(folds)
    category = None
    if case.mondrian == "cardinality":
        category = np.sum
    elif isinstance(case.mondrian, int):
        category = partial(np.take, indices=case.mondrian)
    labelsets = all_labelsets(case.Y.shape[1])
    return by_hand.within_categories(folds, category, labelsets, first_is_high(case.X_new), compute, without=without)


def expected_p_values(case, folds, shown):
    """Return the table of p-values; ``shown`` is the package's, of which a draw is recovered."""
    if case.weighted:
        return by_hand.weighted_p_values(folds[0], weights_of(case.X_new))
    if case.smoothed:
        denominator = by_hand.cross_p_values(folds)[1]
        above, ties = by_hand.smoothed_parts(folds)
        u = (shown[:, -1] * denominator - above[:, -1]) / ties[:, -1]
        assert ((u > 0) & (u <= 1 + 1e-9)).all()
        return (above + np.round(u * 2**31)[:, None] / 2**31 * ties) / denominator
    if case.guarantee in ("twice-mean", "e-mod") and case.mondrian is None:
        return computed(case, folds, partial(by_hand.merged_p_values, case.guarantee), without=1.0)
    if case.guarantee == "eu-mod":  # its p-values depend on a draw, as its regions do, which are compared
        assert (shown <= by_hand.merged_p_values("e-mod", folds)[:, -shown.shape[1] :] + 1e-6).all()
        return None
    return computed(case, folds, lambda parts: np.divide(*by_hand.cross_p_values(parts)), without=1.0)


def check_case(number):
    """Compare every answer; return what was compared, or None where the package refused, with a reason."""
    case = draw_case(number)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        try:
            pred, folds, training = predict(case)
        except ValueError as error:
            if "zip()" in str(error):
                raise
            return None, f"{case.kind}: {error}"
    folds, candidates = treat_empty(case, folds, training)
    labelsets = all_labelsets(case.Y.shape[1])
    assert pred.candidates().tolist() == labelsets[candidates].tolist()
    shown = pred.p_values()
    expected = expected_p_values(case, folds, shown)
    if expected is None:
        expected = np.zeros((N_NEW, len(labelsets)))
        expected[:, candidates] = shown
    tolerance = 1e-6 if case.weighted or case.guarantee in ("twice-mean", "e-mod") else 1e-13
    np.testing.assert_allclose(shown, expected[:, candidates], rtol=0, atol=tolerance)
    check_batch_answers(case, pred, expected, labelsets, candidates, tolerance)
    check_regions(case, pred, folds, expected, labelsets, candidates)
    return case, ""


def check_batch_answers(case, pred, expected, labelsets, candidates, tolerance):
    """p_value, top, the best, label p-values."""
    rng = np.random.default_rng(case.seed)
    table = np.where(candidates, expected, 0.0)
    asked = rng.integers(len(labelsets), size=N_NEW)
    np.testing.assert_allclose(pred.p_value(labelsets[asked]), table[np.arange(N_NEW), asked], rtol=0, atol=tolerance)
    k = int(rng.integers(1, 9))
    best = -np.sort(-np.pad(expected[:, candidates], ((0, 0), (0, k))), axis=1)[:, :k]
    top = pred.top(k)
    np.testing.assert_allclose(top.p_values, best, rtol=0, atol=tolerance)
    listed = min(k, int(candidates.sum()))
    codes = top.labelsets[:, :listed].astype(np.int64) @ (1 << np.arange(labelsets.shape[1]))
    np.testing.assert_allclose(np.take_along_axis(table, codes, axis=1), best[:, :listed], rtol=0, atol=tolerance)
    assert all(len(set(row)) == listed for row in codes.tolist())
    np.testing.assert_allclose(pred.credibility, best[:, 0], rtol=0, atol=tolerance)
    highest = [
        [
            [table[i, candidates & (labelsets[:, j] == c)].max(initial=0.0) for c in (0, 1)]
            for j in range(labelsets.shape[1])
        ]
        for i in range(N_NEW)
    ]
    np.testing.assert_allclose(pred.label_p_values, highest, rtol=0, atol=tolerance)


def check_regions(case, pred, folds, expected, labelsets, candidates):
    """Members, sizes, contains, inner and outer at several levels."""
    low, high = np.zeros(N_NEW), np.ones(N_NEW)  # between which each object's draw must lie
    for level in LEVELS:
        region = pred.region(level)
        members = np.zeros((N_NEW, len(labelsets)), dtype=bool)
        for i in range(N_NEW):
            listed = region[i].members().labelsets
            members[i, listed.astype(np.int64) @ (1 << np.arange(labelsets.shape[1]))] = True
        assert not members[:, ~candidates].any()
        if case.guarantee == "cross":
            fraction = by_hand.as_level(level)
            close = np.abs(expected - float(fraction)) < 1e-9
            assert not ((members != (candidates & (expected > float(fraction)))) & ~close).any()
            assert not (members & close & (not case_is_inexact(case))).any()
        else:
            check_rule(case, folds, members, candidates, level, low, high)
        assert region.sizes.tolist() == members.sum(axis=1).tolist()
        for code in np.random.default_rng(case.seed).integers(len(labelsets), size=4):
            row = np.tile(labelsets[code], (N_NEW, 1))
            assert region.contains(row).tolist() == members[:, code].tolist()
        assert region.outer.tolist() == [labelsets[one].any(axis=0).tolist() for one in members]
        inner = [(labelsets[one].all(axis=0) & one.any()).tolist() for one in members]
        assert region.inner.tolist() == inner


def case_is_inexact(case):
    """Whether p-values are rounded: then one that equals the level on paper may be a member."""
    return case.weighted or case.smoothed


def check_rule(case, folds, members, candidates, level, low, high):
    """Compare with the rule; one U per object must explain the regions of all levels."""
    statistic = by_hand.e_value_statistic
    level = by_hand.as_level(level)
    drawn = None if statistic(case.guarantee, folds, level)[1] is None else 0.0
    fixed = computed(case, folds, lambda parts: statistic(case.guarantee, parts, level)[0], without=0.0)
    if drawn is not None:
        drawn = computed(case, folds, lambda parts: statistic(case.guarantee, parts, level)[1], without=0.0)
    clear = np.abs(fixed - 1) > CLOSE
    allowed = candidates & (fixed < 1)
    assert not (members & ~allowed & clear).any()
    if drawn is None:
        assert not (~members & allowed & clear).any()
        return
    for i in range(len(members)):
        low[i] = max(low[i], drawn[i][members[i]].max(initial=0.0) - CLOSE)
        high[i] = min(high[i], drawn[i][allowed[i] & clear[i] & ~members[i]].min(initial=1.0) + CLOSE)
    assert (low <= high).all()


@pytest.mark.parametrize("group", range(N_GROUPS))
def test_random_configurations_equal_their_formulas(group):
    compare(range(group, N_QUICK, N_GROUPS))


@pytest.mark.validity
@pytest.mark.parametrize("group", range(N_GROUPS))
def test_ten_thousand_random_configurations_equal_their_formulas(group):
    compare(range(N_QUICK + group, N_QUICK + N_MANY, N_GROUPS))


@pytest.mark.parametrize("guarantee", ["cross", *GUARANTEES])
def test_bounds_of_estimated_sizes_do_not_contradict_each_other(guarantee):
    """Thirty labels, ten folds: with "eu-mod" a certified lower bound once was sixty times the upper one."""
    rng = np.random.default_rng(0)
    n, n_labels, n_folds = 200, 30, 10
    outputs = rng.beta(0.4, 0.8, size=(n, n_labels))
    Y = (rng.random(outputs.shape) < outputs).astype(int)
    new = np.clip(rng.beta(0.4, 0.8, size=(2, n_labels)) + 0.05 * rng.normal(size=(n_folds, 2, n_labels)), 0, 1)
    predictor = calibrate_outputs(
        outputs, Y, folds=np.arange(n) % n_folds, measure=measures.PowerMeasure(), guarantee=guarantee, random_state=0
    )
    for significance in (0.05, 0.2):
        region = predictor.predict_labelsets(new).region(significance)
        for size in getattr(region, "size_estimates", region.sizes.tolist()):
            if not isinstance(size, int):
                assert size.at_least <= size.low <= size.value <= size.high <= size.at_most


def compare(numbers):
    wrong, refused = [], Counter()
    for number in numbers:
        try:
            case, reason = check_case(number)
        except Exception as error:
            wrong.append(f"{draw_case(number).name}: {type(error).__name__}: {str(error).strip()[:300]}")
        else:
            refused[reason] += case is None
    assert not wrong, "\n".join(wrong)
    assert sum(refused.values()) < len(numbers) / 2, refused
