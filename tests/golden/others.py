"""Answers of decisions, metrics, batches and the command line, by public names only."""

import csv
import io
import tempfile
from contextlib import redirect_stdout
from functools import partial
from pathlib import Path

import numpy as np
from sklearn.multioutput import MultiOutputClassifier
from tests.golden.answers import of_label_errors
from tests.golden.cells import bits, certain, near
from tests.golden.learners import Neighbours, Steps, Votes, make_data

import labelsure
from labelsure import metrics, paper
from labelsure.cli import main

N_NEW = 40


def make_examples(n_rows=120, n_labels=5, seed=0):
    """Return training data and N_NEW new objects with their labels."""
    X, Y = make_data(n_rows + N_NEW, n_labels, seed=100 + seed)
    return X[:-N_NEW], Y[:-N_NEW], X[-N_NEW:], Y[-N_NEW:]


def thresholded(predictor, outputs):
    """Return the answers of a controlled threshold or cover."""
    found = {"reached": certain([predictor.reached]), "statement": certain([predictor.statement])}
    number = "limit" if hasattr(predictor, "limit") else "threshold"
    found[number] = near([min(getattr(predictor, number), 1e300)])
    return found | {"predict": certain(bits(predictor.predict(outputs)))}


def control(function, settings):
    X, Y, X_new, _ = make_examples()
    model = Steps().fit(X[:20], Y[:20])
    return thresholded(
        function(model.predict_proba(X[20:]), Y[20:], **settings), model.predict_proba(X_new)
    )


def controller(make, learner, settings):
    X, Y, X_new, _ = make_examples()
    learner = learner.fit(X[:20], Y[:20]) if settings.get("prefit") else learner
    model = make(learner, random_state=0, **settings).fit(X[20:], Y[20:])
    found = {
        "predict": certain(bits(model.predict(X_new))),
        "statement": certain([model.statement_]),
    }
    return found | {"reached": certain([model.reached_])}


def selection_cells(selection):
    found = {
        "accepted": certain(selection.accepted),
        "p_values": certain(selection.p_values),
        "sureness": near(selection.sureness),
        "threshold": near([min(selection.threshold, 1e300)]),
        "counts": certain([selection.n_held_out, selection.n_wrong]),
        "statement": certain([selection.statement]),
    }
    return (
        found
        if selection.labelsets is None
        else found | {"labelsets": certain(bits(selection.labelsets))}
    )


def review(model, selector, select, from_fit=False):
    X, Y, X_new, _ = make_examples()
    model = {
        "learner": Neighbours,
        "inductive": lambda: labelsure.InductiveConformalClassifier(Steps(), random_state=0),
    }[model]()
    held = slice(None) if from_fit else slice(60, None)
    model.fit(X if from_fit else X[:60], Y if from_fit else Y[:60])
    chosen = labelsure.ReviewSelector(model, **selector).calibrate(
        X[held], Y[held], from_fit=from_fit
    )
    return selection_cells(chosen.select(X_new, **select))


def select(settings):
    draw = np.random.RandomState(3)
    sureness, new = draw.randint(0, 64, 150) / 64, draw.randint(0, 64, 50) / 64
    right = sureness * 64 > draw.randint(0, 40, 150)
    return selection_cells(labelsure.select_objects(sureness, right, new, **settings))


def pac(n_calibration, epsilon, delta):
    X, Y, X_new, Y_new = make_examples(n_calibration + 20)
    model = labelsure.InductiveConformalClassifier(
        Steps().fit(X[:20], Y[:20]), prefit=True, measure=labelsure.PowerMeasure()
    ).fit(X[20:], Y[20:])
    answer = labelsure.pac_region(model.predict_labelsets(X_new), epsilon, delta=delta)
    return {
        "sizes": certain(answer.region.sizes),
        "contains": certain(bits(answer.region.contains(Y_new)[None])),
        "significance": near(
            [answer.significance, labelsure.pac_significance(n_calibration, epsilon, delta=delta)]
        ),
        "statement": certain([answer.statement]),
    }


def label_errors(trusted):
    X, Y, X_new, Y_new = make_examples()
    Y_new = Y_new.copy()
    Y_new[::7, 1] ^= 1
    if trusted:
        model = labelsure.InductiveConformalClassifier(
            MultiOutputClassifier(Votes()), random_state=0
        ).fit(X[:60], Y[:60])
        errors = labelsure.find_label_errors(
            model, X_new, Y_new, trusted=(X[60:], Y[60:]), level=0.4
        )
    else:
        model = labelsure.CrossConformalClassifier(Neighbours(), cv=4, random_state=0).fit(X, Y)
        errors = labelsure.find_label_errors(model, X, Y)
    return of_label_errors(errors)


def predictions_for_metrics(n_labels=4, smoothed=False):
    X, Y, X_new, Y_new = make_examples(90, n_labels)
    model = labelsure.CrossConformalClassifier(
        Steps(), cv=4, measure=labelsure.PowerMeasure(), smoothed=smoothed, random_state=0
    )
    model.fit(X, Y)
    return model, model.predict_labelsets(X_new), X_new, Y_new


def regions_and_coverage():
    _, pred, X_new, Y_new = predictions_for_metrics()
    region = pred.region(0.2)
    contains = region.contains(Y_new)
    tables = {
        "cardinality": metrics.coverage_by_cardinality(contains, Y_new),
        "group": metrics.coverage_by_group(contains, X_new[:, 0] % 3),
        "label": metrics.coverage_by_label(contains, Y_new),
        "size": metrics.coverage_by_size(contains, region.sizes),
        "worst slab": metrics.coverage_in_worst_slab(
            contains, X_new, n_directions=50, random_state=0
        ),
    }
    found = {}
    for name, table in tables.items():
        found[f"{name} counts"] = certain(np.concatenate([table.n_objects, table.n_covered]))
        found[f"{name} bounds"] = near(np.concatenate([table.low, table.high]))
    sizes = region.sizes
    histogram = metrics.size_histogram(sizes)
    return found | {
        "error_rate": near([metrics.error_rate(contains)]),
        "sizes": near([metrics.mean_region_size(sizes), metrics.median_region_size(sizes)]),
        "histogram": certain([histogram.n_empty, *histogram.counts]),
    }


def calibration_and_efficiency():
    _, pred, _, Y_new = predictions_for_metrics()
    curve = metrics.calibration_curve(Y_new, pred)
    efficiency = metrics.efficiency_criteria(Y_new, pred)
    return {
        "curve": near(np.concatenate([curve.significance[::10], curve.error_rate[::10]])),
        "curve bounds": near(np.concatenate([curve.low[::10], curve.high[::10]])),
        "S U F OU OF": near([getattr(efficiency, name) for name in ("S", "U", "F", "OU", "OF")]),
        "N M E OM OE": near(
            [*efficiency.N, *efficiency.M, *efficiency.E, *efficiency.OM, *efficiency.OE]
        ),
    }


def monitoring(method):
    model, pred, X_new, Y_new = predictions_for_metrics(smoothed=True)
    uniform = metrics.p_value_uniformity(pred.p_value(Y_new))
    scores = np.concatenate([model.nonconformity(X_new, Y_new).ravel(), 2.0 + np.arange(30) / 64])
    online = metrics.online_p_values(scores, random_state=0)
    martingale = metrics.ExchangeabilityMartingale(method, alarm_at=20)
    martingale.update_many(online)
    return {
        "online p_values": near(online),
        "path": near(martingale.log10_path[::5]),
        "alarm": certain([martingale.alarm]),
        "statement": certain([martingale.statement]),
        "uniformity": near(
            [uniform.excess, uniform.p_value_valid, uniform.distance, uniform.p_value_uniform]
        ),
    }


def rankings():
    _, pred, _, Y_new = predictions_for_metrics()
    names = ("average_precision", "coverage_error", "one_error", "ranking_loss")
    return {name: near([getattr(paper, name)(Y_new, pred.rank_labels())]) for name in names}


def batches():
    import pandas as pd

    X, Y, X_new, _ = make_examples(60, 3)
    names = [f"x{j}" for j in range(X.shape[1])]
    model = labelsure.CrossConformalClassifier(Steps(), cv=4, random_state=0)
    model.fit(pd.DataFrame(X, columns=names), Y, label_names=["sea", "city", "dog"])
    tables = (
        pd.DataFrame(X_new[start : start + 16], columns=names) for start in range(0, N_NEW, 16)
    )
    answers = pd.concat(labelsure.predict_batches(model, tables, significance=0.2, top=2))
    numbers = {name for name in answers.columns if answers[name].dtype.kind in "if"}
    return {
        name: certain(
            answers[name] if name in numbers else [_joined(value) for value in answers[name]]
        )
        for name in answers.columns
    }


def _joined(value):
    return ",".join(value) if isinstance(value, (list, tuple, np.ndarray)) else str(value)


def frames():
    X, Y, X_new, _ = make_examples(60, 3)
    model = labelsure.CrossConformalClassifier(Steps(), cv=4, random_state=0)
    model.fit(X, Y, label_names=["sea", "city", "dog"])
    pred = model.predict_labelsets(X_new[:6])
    region = pred.region(confidence=0.8)
    tables = {
        "predictions": pred.to_frame(),
        "predictions long": pred.to_frame(layout="long"),
        "top": pred.top(2).to_frame(),
        "top wide": pred.top(2).to_frame(layout="wide"),
        "region": region.to_frame(),
        "region long": region.to_frame(layout="long"),
        "summary": pred.summary(0.2, top=2).to_frame(),
    }
    found = {name: certain([table.to_csv()]) for name, table in tables.items()}
    return found | {"words": certain([str(one) for one in pred.summary(0.2, top=2)])}


def command_line(*options):
    """Fit and predict through files; features reach from 0 to 8 in every fold: scaling is exact."""
    X, Y, X_new, _ = make_examples(90, 3)
    X[::9], X[1::9], X[2::9] = 0, 8, 4
    with tempfile.TemporaryDirectory() as folder, redirect_stdout(io.StringIO()):
        train, new, model, out = (
            str(Path(folder) / name) for name in ("a.csv", "b.csv", "m.labelsure", "out.csv")
        )
        write_table(train, X, Y)
        write_table(new, X_new)
        common = ["--learner", "ml-knn", "--folds", "4", "--jobs", "1", "--model", model]
        fitted = main(["fit", train, "--labels", "sea,city,dog", *common, *options])
        answered = main(["predict", model, new, "-o", out])
        with Path(out).open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
    found = {name: certain([row[name] for row in rows]) for name in rows[0]}
    return found | {"exit codes": certain([fitted, answered]), "columns": certain(list(rows[0]))}


def write_table(path, X, Y=None):
    colours = np.array(["red", "green", "blue"])[X[:, 0] % 3]
    rows = [[*row.tolist(), colour] for row, colour in zip(X, colours, strict=True)]
    header = [f"x{j}" for j in range(X.shape[1])] + ["colour"]
    if Y is not None:
        header += ["sea", "city", "dog"]
        rows = [row + labels for row, labels in zip(rows, Y.tolist(), strict=True)]
    with Path(path).open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *rows])


def words(settings):
    return " ".join(f"{key}={value}" for key, value in settings.items())


def _controls():
    recall, precision = labelsure.control_recall, labelsure.control_precision
    for target in (0.7, 0.9):
        yield f"control_recall crc {target}", control, recall, {"target": target}
        for bound in ("betting", "hoeffding-bentkus"):
            given = {"target": target, "delta": 0.2, "bound": bound}
            name = f"control_recall rcps {bound} {target}"
            yield name, control, recall, {**given, "method": "rcps"}
            name = f"control_precision {bound} {target - 0.2:.1f}"
            yield name, control, precision, {**given, "target": target - 0.2}
        for form in ("count", "chance", "threshold"):
            given = {"target": target, "form": form}
            yield f"control_cover {form} {target}", control, labelsure.control_cover, given
    for learner in (Steps, Neighbours):
        for make in (labelsure.RecallController, labelsure.CoverController):
            for given in ({}, {"prefit": True}, {"cv": 4}, {"cv": 4, "merge": "any"}):
                name = f"{make.__name__} {learner.__name__} {words(given)}".strip()
                yield name, controller, make, learner(), {"target": 0.7, **given}
        make, given = labelsure.PrecisionController, {"target": 0.6, "delta": 0.2}
        yield f"PrecisionController {learner.__name__}", controller, make, learner(), given
    for form in ("chance", "threshold"):
        make = labelsure.CoverController
        yield f"CoverController {form}", controller, make, Steps(), {"form": form}


def _reviews():
    for model in ("learner", "inductive"):
        yield f"review {model}", review, model, {}, {"alpha": 0.3}
        yield f"review {model} label", review, model, {"label": 1}, {"alpha": 0.3}
        yield f"review {model} at_most", review, model, {"at_most": 1}, {"alpha": 0.2}
        yield f"review {model} alone", review, model, {}, {"alpha": 0.3, "batch": False}
    for sureness in ("gap", "outputs", "p-values"):
        yield f"review {sureness}", review, "inductive", {"sureness": sureness}, {"alpha": 0.3}
    yield "review from_fit", review, "inductive", {"sureness": "gap"}, {"alpha": 0.3}, True
    alone, tied = {"alpha": 0.2, "batch": False}, {"alpha": 0.3, "random_ties": True}
    for given in ({}, {"alpha": 0.2}, alone):
        yield f"select_objects {words(given)}".strip(), select, given
    yield f"select_objects {words(tied)}", select, {**tied, "random_state": 0}
    for n_calibration, epsilon, delta in ((60, 0.2, 0.1), (100, 0.1, 0.1), (200, 0.2, 0.05)):
        name = f"pac_region {n_calibration} {epsilon} {delta}"
        yield name, pac, n_calibration, epsilon, delta


def _all():
    yield from _controls()
    yield from _reviews()
    yield "find_label_errors", label_errors, False
    yield "find_label_errors trusted", label_errors, True
    yield "metrics of regions", regions_and_coverage
    yield "metrics of calibration and efficiency", calibration_and_efficiency
    yield "metrics of monitoring simple_jumper", monitoring, "simple_jumper"
    yield "metrics of monitoring power_mixture", monitoring, "power_mixture"
    yield "metrics of points and rankings", rankings
    yield "batches of tables", batches
    yield "frames", frames
    for guarantee in ("cross", "exact", "inductive"):
        yield f"command line {guarantee}", command_line, "--guarantee", guarantee
    yield "command line log-loss", command_line, "--measure", "log-loss"


OTHERS = {name: partial(function, *given) for name, function, *given in _all()}
