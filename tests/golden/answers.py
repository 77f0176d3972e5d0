"""From a configuration to answers, by public names only."""

import tempfile
from math import log2
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.tree import DecisionTreeClassifier
from tests.golden.cells import Cell, bits, certain, near
from tests.golden.learners import Neighbours, Steps, Votes, make_data

import labelsure
from labelsure import decisions, engine, measures, metrics

LEVELS = (0.05, 0.15, 0.4)
N_NEW, N_FOLDS = 4, 4
COUNTED = 20
"""Up to so many labels every labelset is looked at: all answers are certain."""
FEW = 6
"""Up to so many labels all p-values are asked for."""


def largest_difference(outputs, Y):
    """Score a labelset by its worst label and a little of the sum."""
    differences = np.abs(outputs - Y)
    return differences.max(axis=-1) * 4 + differences.sum(axis=-1)


def make_measure(name):
    """Return a measure by the name that configurations use, mostly that of the command line."""
    m = measures
    makers = {
        "default": lambda: None,
        "function": lambda: m.FunctionMeasure(largest_difference),
        "mahalanobis-shrunk": lambda: m.MahalanobisMeasure("absolute", shrinkage=0.25),
        "posterior-given": lambda: m.PosteriorMeasure(
            prior_exponent=0.5, marginals_share=0.75, temperature=1.5, intercepts=0.0
        ),
        "auto": lambda: choose_among("power", "log-loss+unseen", "log-loss+prior"),
        "auto-words": lambda: choose_among(
            "power+pairs", "signed-oof+hp:2", "small-forest+prior:0.5", "posterior"
        ),
        "forest": small_forest,
        "forest+unseen": lambda: small_forest() + m.UnseenPenalty(),
    }
    return makers[name]() if name in makers else m.make_measure(name)


def choose_among(*names):
    """Return a measure chosen on the training part."""
    return labelsure.AutoMeasure(
        [measures.make_measure(name) for name in names], n_folds=3, n_objects=12
    )


def small_forest():
    """Return a forest of ten trees, mixed with log loss."""
    return measures.ForestMeasure(
        measures.LogLossMeasure(), n_estimators=10, min_samples_leaf=5, mix=0.5
    )


def make_learner(name):
    """Return an unfitted classifier."""
    makers = {
        "steps": Steps,
        "neighbours": Neighbours,
        "votes": lambda: MultiOutputClassifier(Votes()),
        "ml-knn": lambda: labelsure.MLkNNClassifier(5),
        "recalibrated": lambda: labelsure.RecalibratedClassifier(Votes(), cv=3, random_state=0),
        "pool": lambda: labelsure.PooledClassifier(
            [("middle", Votes()), ("low", Votes(2))], cv=3, random_state=0
        ),
        "tree": lambda: DecisionTreeClassifier(max_leaf_nodes=8, random_state=0),
        "extra-trees": lambda: ExtraTreesClassifier(8, max_leaf_nodes=8, random_state=0),
    }
    return makers[name]()


def group_of(X):
    """Return a category per object, for mondrian=."""
    return np.asarray(X)[:, 0] % 2


def weight_of(X):
    """Return the weight of each object, for weight=."""
    return 1.0 + np.asarray(X)[:, 1] % 3


TAXONOMIES = {
    "cardinality": "cardinality",
    "at-most-2": labelsure.ByCardinality(at_most=2),
    "label": 1,
    "function": group_of,
}


def make_constraints(name, Y):
    """Return constraints by name, and the labels changed so that they obey."""
    Y = Y.copy()
    if name in ("at-most", "implies+at-most", "exactly"):
        Y &= Y.cumsum(axis=1) <= 2
    if name in ("at-least", "exactly"):
        Y[:, 0] |= ~Y[:, 1:].any(axis=1)
    if name in ("implies", "implies+at-most", "hierarchy"):
        Y[:, 1] &= Y[:, 0]
    if name == "hierarchy":
        Y[:, 2] &= Y[:, 1]
    if name == "exclude":
        Y[:, 3] &= 1 - Y[:, 2]
    if name == "exactly":
        Y = np.eye(Y.shape[1], dtype=Y.dtype)[Y.argmax(axis=1)]
    at_most, implies = engine.AtMost(2, range(Y.shape[1])), engine.Implies(1, 0)
    constraints = {
        "at-most": at_most,
        "at-least": engine.AtLeast(1, range(Y.shape[1])),
        "exactly": engine.Exactly(1, range(Y.shape[1])),
        "implies": implies,
        "exclude": engine.Exclude([2, 3]),
        "hierarchy": engine.Hierarchy({1: 0, 2: 1}),
        "allowed": engine.Allowed(np.unique(Y, axis=0)),
        "implies+at-most": [implies, at_most],
    }
    return constraints[name], Y


class Data:
    """The examples of a configuration, and what it asks about."""

    def __init__(self, one):
        X, Y = make_data(one.n_rows + N_NEW, one.n_labels, seed=one.seed, empties=one.empties)
        self.constraints = {}
        if one.constraints != "none":
            constraints, Y = make_constraints(one.constraints, Y)
            self.constraints = {"constraints": constraints}
        self.X, self.Y, self.X_new, self.Y_new = X[:-N_NEW], Y[:-N_NEW], X[-N_NEW:], Y[-N_NEW:]
        rows = np.arange(one.n_rows)
        self.fold_of = rows * 7 % one.n_rows % N_FOLDS
        sizes = {"none": 1, "pairs": 2, "unequal": 1 + rows % 5 // 2}[one.groups]
        self.groups = (
            {} if one.groups == "none" else {"groups": np.cumsum(np.ones(one.n_rows, int)) // sizes}
        )
        self.given = self.Y
        if one.gaps:
            self.given = self.Y.astype(float)
            self.given[rows % 7 == 3, rows[rows % 7 == 3] % one.n_labels] = np.nan

    def splits(self):
        return [
            (np.flatnonzero(self.fold_of != k), np.flatnonzero(self.fold_of == k))
            for k in range(N_FOLDS)
        ]


def counting(one, data):
    """Return the parameters that all predictors of labelsets have."""
    given = {
        "measure": make_measure(one.measure),
        "empty_labelset": one.empty,
        "smoothed": one.smoothed,
    }
    return {**given, "random_state": one.seed, **data.constraints}


def fold_choices(one):
    """Return the parameters that not all of them have, where they are set."""
    given = {}
    if one.mondrian != "none":
        given["mondrian"] = TAXONOMIES[one.mondrian]
    if one.weighted:
        given["weight"] = weight_of
    return given


def make_model(one, data):
    """Return a fitted classifier of labelsets."""
    learner, given = make_learner(one.learner), counting(one, data) | fold_choices(one)
    if one.then == "recalibrated":
        asked = {**given, "guarantee": one.guarantee} if one.made == "cross" else given
        asked = {name: value for name, value in asked.items() if name != "random_state"}
        given = {"measure": measures.PowerMeasure(2), "random_state": one.seed}
    guarantee = (
        {}
        if one.guarantee == "cross" or one.then == "recalibrated"
        else {"guarantee": one.guarantee}
    )
    if one.made.startswith("cross"):
        stratified = labelsure.MultiLabelStratifiedKFold(N_FOLDS, random_state=0)
        cv = {"cross": N_FOLDS, "cross-lists": data.splits(), "cross-stratified": stratified}[
            one.made
        ]
        model = labelsure.CrossConformalClassifier(learner, cv=cv, **given, **guarantee)
    elif one.made == "full":
        model = labelsure.FullConformalClassifier(learner, **given)
    else:
        prefit = one.made == "prefit"
        learner = learner.fit(data.X[:9], data.Y[:9]) if prefit else learner
        model = labelsure.InductiveConformalClassifier(learner, prefit=prefit, **given)
    n_first = len(data.X) // 2 if one.then == "updated" else len(data.X)
    model.fit(data.X[:n_first], data.given[:n_first], **data.groups)
    if one.then == "updated":
        model.update(data.X[n_first:], data.given[n_first:])
    return model.recalibrate(data.X, data.given, **asked) if one.then == "recalibrated" else model


def outputs_by_fold(one, data):
    """Return the outputs of each fold's model for all examples, and those for new objects."""
    folds = np.unique(data.fold_of) if one.made.endswith("-folds") else [None]
    models = []
    for k in folds:
        part = slice(0, 9) if k is None else data.fold_of != k
        models.append(clone(make_learner(one.learner)).fit(data.X[part], data.Y[part]))
    return np.stack([model.predict_proba(data.X) for model in models]), [
        model.predict_proba(data.X_new) for model in models
    ]


def make_outputs_predictor(one, data):
    """Return a predictor of ready-made outputs, and the new outputs."""
    by_fold, new = outputs_by_fold(one, data)
    given, folds = {}, one.made.endswith("-folds")
    fold_of = data.fold_of if folds else np.zeros(len(data.X), dtype=int)
    outputs = by_fold[fold_of, np.arange(len(fold_of))]
    if folds:
        given["folds"] = fold_of
    if one.made.startswith("label-wise"):
        given |= {"smoothed": one.smoothed, "random_state": one.seed}
        calibrate = labelsure.calibrate_labels
    else:
        given |= counting(one, data) | fold_choices(one)
        if one.guarantee != "cross":
            given["guarantee"] = one.guarantee
        if one.made == "outputs-folds":
            given["training_outputs"] = by_fold
        if one.made.startswith("sparse"):
            given["default_output"] = 5 / 64
            outputs, new = thin(outputs), [thin(part) for part in new]
        calibrate = labelsure.calibrate_outputs
    objects = {"X": data.X} if one.weighted or one.mondrian == "function" else {}
    n_first = len(data.X) // 2 if one.then == "updated" else len(data.X)
    first = {name: value[:n_first] for name, value in objects.items()}
    predictor = calibrate(outputs[:n_first], data.Y[:n_first], **given, **first)
    if one.then == "updated":
        later = {name: value[n_first:] for name, value in objects.items()}
        predictor = predictor.update(outputs[n_first:], data.Y[n_first:], **later)
    return predictor, new if folds else new[0], {"X": data.X_new} if objects else {}


def thin(outputs):
    """Return a sparse matrix of the outputs that differ from the default."""
    return sparse.csr_matrix(np.where(outputs > 5 / 64, outputs, 0.0))


def make_label_wise(one, data):
    """Return a fitted classifier of labels one by one."""
    words = one.made.split("-")
    learner, prefit = make_learner(one.learner), "prefit" in words
    learner = learner.fit(data.X[:9], data.Y[:9]) if prefit else learner
    model = labelsure.LabelWiseConformalClassifier(
        learner,
        cv=N_FOLDS if "cv" in words else None,
        conditional="conditional" in words,
        prefit=prefit,
        smoothed=one.smoothed,
        random_state=one.seed,
    )
    n_first = len(data.X) // 2 if one.then == "updated" else len(data.X)
    model.fit(data.X[:n_first], data.given[:n_first], **data.groups)
    return model.update(data.X[n_first:], data.given[n_first:]) if one.then == "updated" else model


def saved_and_loaded(predictor):
    """Return what a file says that a predictor is."""
    own = [Steps, Neighbours, Votes]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.labelsure"
        labelsure.save_model(predictor, path, trusted=own)
        return labelsure.load_model(path, trusted=own)


def answer(one):
    """Return all answers of a configuration: cells by question."""
    data = Data(one)
    label_wise = one.made.startswith("label-wise")
    if one.made.split("-")[-1] in ("outputs", "folds", "sparse"):
        predictor, asked, objects = make_outputs_predictor(one, data)
    else:
        predictor, asked, objects = (
            (make_label_wise if label_wise else make_model)(one, data),
            data.X_new,
            {},
        )
    if one.then == "saved":
        predictor = saved_and_loaded(predictor)
    cells = {}
    if hasattr(predictor, "predict"):
        cells["predict"] = certain(bits(predictor.predict(asked, **objects)))
    if label_wise:
        return cells | of_labels(predictor.predict_labels(asked), data.Y_new)
    predictions = predictor.predict_labelsets(asked, **objects)
    cells |= of_labelsets(predictions, data.Y_new)
    if not all(predictions.certain):
        cells["predict"] = Cell("bound", cells["predict"].values)
    # whose weights differ by 1e-11 between processors
    by_optimiser = one.learner in ("pool", "recalibrated")
    if hasattr(predictor, "nonconformity") and not objects and not by_optimiser:
        cells["nonconformity"] = near(predictor.nonconformity(asked, data.Y_new))
    return cells


def answer_single(one):
    """Return answers for metrics, probabilities, questions and doubtful labels."""
    data = Data(one)
    model = make_model(one, data)
    if one.then == "saved":
        model = saved_and_loaded(model)
    cells = {"predict_proba": near(model.predict_proba(data.X_new))}
    for metric in ("exact match", "hamming", "f1"):
        model.predict_for = metric
        cells[f"predict for {metric}"] = certain(bits(model.predict(data.X_new)))
    # p-values of one fold are tied, and weigh labelsets equally
    if one.measure == "default" or one.made == "cross":
        cells |= of_questions(model.predict_labelsets(data.X_new).region(LEVELS[0]), data.Y_new)
    if len(model.models_) > 1:
        errors = labelsure.find_label_errors(model, data.X, data.Y)
    else:
        errors = labelsure.find_label_errors(
            model, data.X_new, data.Y_new, trusted=(data.X, data.Y), level=0.5
        )
    return cells | {
        f"label errors {question}": cell for question, cell in of_label_errors(errors).items()
    }


def of_questions(region, Y):
    """Ask about labels and labelsets, and let a truthful reviewer answer."""
    session, asked = decisions.plan(region, budget=5), []
    while session.question is not None:
        asked.append(f"{session.object}: {session.question.text}")
        session.answer(session.question.answer_for(Y[session.object]))
    cells = {
        "plan": certain(asked),
        "plan labelsets": certain(bits(session.labelsets)),
        "plan statement": certain([session.statement]),
        "first question": certain([one.questions(labelset_cost=3).question.text for one in region]),
    }
    for name, options in (
        ("certain", {}),
        ("settled", {"certain": False, "labelset_cost": float("inf")}),
    ):
        needed = metrics.answers_needed(region, Y, **options)
        for field in ("labels", "labelsets", "settled", "wrong"):
            cells[f"until {name} {field}"] = certain(getattr(needed, field))
    return cells


def of_label_errors(errors):
    """Return which labels are doubted."""
    found = {
        "pairs": certain(errors.pairs[:30]),
        "better": certain(bits(errors.better[:30])),
        "gains": near(errors.gains[:8]),
        "statement": certain([errors.statement]),
    }
    if errors.flagged is not None:
        found |= {"p_values": certain(errors.p_values), "flagged": certain(errors.flagged)}
    return found


def of_labelsets(pred, Y):
    """Ask predictions of labelsets about everything."""
    n_labels, known = Y.shape[1], pred.certain
    top = pred.top(5)
    flipped, none = Y.copy(), np.zeros_like(Y)
    flipped[:, 0] ^= 1
    values, witnesses = pred.label_p_values, Witnesses(pred)
    attained = witnesses.attain(values)
    cells = {
        "labelsets": certain(bits(pred.labelsets), known),
        "confidence": certain(pred.confidence, known),
        "credibility": certain(pred.credibility, known),
        "p_value": certain([pred.p_value(one) for one in (Y, flipped, none)]),
        "top": certain(bits(top.labelsets), np.repeat(top.certain, 5)),
        "top p_values": certain(top.p_values, np.repeat(top.certain, 5)),
        "label_p_values": certain(values, attained),
        "rank_labels": certain(pred.rank_labels(), attained.all(axis=2)),
    }
    if n_labels <= FEW:
        cells["p_values"] = certain(pred.p_values())
        cells["candidates"] = certain(bits(pred.candidates()))
        cells["rank_labels mass"] = near(pred.rank_labels(method="mass")[0])
    for level in LEVELS:
        cells |= {
            f"{question} {level}": cell
            for question, cell in of_region(pred, level, Y, witnesses).items()
        }
    return cells


def of_region(pred, level, Y, witnesses):
    """Ask a region about everything."""
    region = pred.region(level)
    estimates = region.size_estimates
    counted = [size.exact for size in estimates]
    possible = region.possible_values
    held = witnesses.held(region)
    known = ~possible | held
    cells = {
        "sizes": certain([size.value for size in estimates], counted),
        "contains": certain(bits(region.contains(Y)[None])),
        "possible_values": certain(bits(possible.reshape(len(Y), -1)), known.all(axis=(1, 2))),
        "statement": certain([region.statement]),
    }
    if not all(counted):
        cells["log2 sizes"] = Cell("estimate", [_log2_of(size) for size in estimates])
    if max(size.value for size in estimates[:2]) <= 64:
        members = [region[i].members() for i in range(2)]
        cells["members"] = certain([text for part in members for text in bits(part.labelsets)])
        if level == LEVELS[-1]:
            cells["members p_values"] = certain(np.concatenate([part.p_values for part in members]))
    if level == LEVELS[1]:
        cells["inner"] = certain(bits(region.inner), known.all(axis=(1, 2)))
        cells["outer"] = certain(bits(region.outer), known.all(axis=(1, 2)))
        if known[0].all():
            words = [
                ",".join(names)
                for names in (region[0].sure, region[0].possible, region[0].ruled_out)
            ]
            cells["sure, possible, ruled out"] = certain(["; ".join(words)])
        if known.all() and all(pred.certain):
            cells["forced"] = certain(bits(pred.region(level, force_nonempty=True).outer))
    return cells


def _log2_of(size):
    return [
        round(log2(max(number, 0.5)), 3) for number in (size.at_least, size.value, size.at_most)
    ]


class Witnesses:
    """Labelsets that prove the highest p-value of a label off or on, where not all are counted."""

    def __init__(self, pred):
        n_labels = len(pred.label_names)
        self.counted = n_labels <= COUNTED
        if self.counted:
            return
        flips = pred.labelsets[:, None] ^ np.eye(n_labels, dtype=np.int8)
        self.labelsets = np.concatenate([pred.top(5).labelsets, flips], axis=1)
        self.objects = np.repeat(np.arange(len(pred)), self.labelsets.shape[1])
        self.pred = pred[self.objects]
        self.p_values = self.pred.p_value(self.labelsets.reshape(-1, n_labels)).reshape(
            self.labelsets.shape[:2]
        )

    def attain(self, values):
        """Tell which of the values, (n, q, 2), a labelset has."""
        if self.counted:
            return np.ones(values.shape, dtype=bool)
        p_values = self.p_values[:, :, None]
        return self._any(p_values == values[:, None, :, 0], p_values == values[:, None, :, 1])

    def held(self, region):
        """Tell with which values of labels, (n, q, 2), a labelset in the region is known."""
        n_labels = len(region.label_names)
        if self.counted:
            return np.ones((len(region), n_labels, 2), dtype=bool)
        inside = self.pred.region(region.significance).contains(
            self.labelsets.reshape(-1, n_labels)
        )
        inside = inside.reshape(self.labelsets.shape[:2])[:, :, None]
        return self._any(inside, inside)

    def _any(self, off, on):
        labelsets = self.labelsets.astype(bool)
        return np.stack([(off & ~labelsets).any(axis=1), (on & labelsets).any(axis=1)], axis=2)


def of_labels(pred, Y):
    """Ask predictions of labels about everything."""
    cells = {
        "labels": certain(bits(pred.labels)),
        "p_values": certain(pred.p_values),
        "labelset_p_value": certain(pred.labelset_p_value(Y)),
    }
    if not pred.conditional:
        cells["rank_labels"] = certain(pred.rank_labels())
    for level in LEVELS:
        regions = {
            f"{level} wrong {h}": pred.region(level, at_most_wrong=h)
            for h in (0, 1)
            if h < Y.shape[1]
        }
        regions[f"{level} per label"] = pred.region(level, per_label=True)
        for name, region in regions.items():
            cells[f"possible_values {name}"] = certain(
                bits(region.possible_values.reshape(len(Y), -1))
            )
            cells[f"contains {name}"] = certain(bits(region.contains(Y)[None]))
            cells[f"statement {name}"] = certain([region.statement])
            if level == LEVELS[1]:
                cells[f"inner {name}"] = certain(bits(region.inner))
                cells[f"outer {name}"] = certain(bits(region.outer))
                cells[f"sizes {name}"] = certain(region.sizes)
    return cells
