"""Small fitted models of all kinds, for files."""

import warnings
from importlib.util import find_spec

import numpy as np
from sklearn.datasets import make_multilabel_classification
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from labelsure import (
    BPMLLClassifier,
    CoverController,
    CrossConformalClassifier,
    FullConformalClassifier,
    InductiveConformalClassifier,
    LabelWiseConformalClassifier,
    MLkNNClassifier,
    MLNBClassifier,
    MLRBFClassifier,
    RecallController,
    ReviewSelector,
    calibrate_outputs,
    table_pool,
)
from labelsure.labelsets import AtMost, Implies
from labelsure.measures import make_measure

X, Y = make_multilabel_classification(n_samples=72, n_features=5, n_classes=3, random_state=0)
TRAIN, NEW = slice(0, 60), slice(60, 72)
POWER = make_measure("power:2+pairs")


def inductive(learner, measure=POWER, **options):
    return InductiveConformalClassifier(learner, measure=measure, random_state=0, **options).fit(X[TRAIN], Y[TRAIN])


def cross(learner, measure=POWER, **options):
    return CrossConformalClassifier(learner, measure=measure, cv=3, random_state=0, **options).fit(X[TRAIN], Y[TRAIN])


def boosters():
    """LightGBM and XGBoost, where they are installed."""
    found = {}
    if find_spec("lightgbm"):
        from lightgbm import LGBMClassifier

        found["lightgbm"] = LGBMClassifier(n_estimators=3, min_child_samples=3, verbose=-1)
    if find_spec("xgboost"):
        from xgboost import XGBClassifier

        found["xgboost"] = XGBClassifier(n_estimators=3)
    return found


def attacked():
    """Models that between them hold every kind of thing that a file may hold."""
    knn = MLkNNClassifier(4)
    constraints = [Implies(0, 0), AtMost(3, [0, 1, 2])]
    outputs = np.random.default_rng(0).random((60, 3))
    models = {
        "posterior": cross(knn, None),
        "forest-measure": inductive(knn, make_measure("small-forest").set_params(n_estimators=3)),
        "sums": cross(knn, make_measure("log-loss+prior+unseen+hp+cp"), guarantee="exact"),
        "distance": cross(MLRBFClassifier(), make_measure("mahalanobis"), mondrian="cardinality"),
        "label-wise": inductive(BPMLLClassifier(n_epochs=2), make_measure("label-wise"), constraints=constraints),
        "bayes": inductive(MLNBClassifier(n_generations=2), mondrian=1),
        "labels": LabelWiseConformalClassifier(knn, cv=3, random_state=0).fit(X[TRAIN], Y[TRAIN]),
        "full": FullConformalClassifier(MLkNNClassifier(2), random_state=0).fit(X[:12], Y[:12]),
        "recall": RecallController(knn, random_state=0, cv=3).fit(X[TRAIN], Y[TRAIN]),
        "cover": CoverController(knn, target=0.6, random_state=0).fit(X[TRAIN], Y[TRAIN]),
        "outputs": calibrate_outputs(outputs, Y[TRAIN], random_state=0, smoothed=True),
        "selector": ReviewSelector(inductive(knn)).calibrate(X[NEW], Y[NEW]),
        "random-forest": inductive(RandomForestClassifier(4, random_state=0)),
        "tree": inductive(DecisionTreeClassifier(random_state=0)),
        "boosting": inductive(MultiOutputClassifier(HistGradientBoostingClassifier(max_iter=3, min_samples_leaf=5))),
        "logistic": inductive(make_pipeline(StandardScaler(), OneVsRestClassifier(LogisticRegression()))),
        "neighbours": inductive(KNeighborsClassifier(3, algorithm="kd_tree")),
        "brute": inductive(KNeighborsClassifier(3, algorithm="brute")),
        "machine": inductive(OneVsRestClassifier(SVC())),
        "encoder": inductive(
            make_pipeline(
                OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=5),
                OneVsRestClassifier(LogisticRegression()),
            )
        ),
        "pool": inductive(
            table_pool(random_state=0).set_params(
                cv=2, trees__n_estimators=3, boosting__labels__estimator__max_iter=2, kernel__features__n_components=9
            )
        ),
        "extra-trees": cross(ExtraTreesClassifier(3, random_state=0)),
    }
    for name, learner in boosters().items():
        models[name] = inductive(MultiOutputClassifier(learner))
    objects = {name: X[NEW][: 2 if name == "full" else 12] for name in models}
    objects["outputs"] = outputs[:8]
    return models, objects


def write_attacked(folder):
    """Save all of them into a folder, each with objects to predict."""
    from labelsure import save_model

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        models, objects = attacked()
    for name, model in models.items():
        save_model(model, folder / f"{name}.labelsure")
        np.save(folder / f"{name}.npy", objects[name])
