"""Learners in files: the same answers, only known types, and no code is run."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
import skops.io
from model_cases import NEW, TRAIN, X, Y, rewrite
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.feature_extraction.text import HashingVectorizer, TfidfVectorizer
from sklearn.feature_selection import SelectKBest, VarianceThreshold
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.impute import SimpleImputer
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    QuantileTransformer,
    StandardScaler,
)
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from labelsure import (
    CrossConformalClassifier,
    InductiveConformalClassifier,
    MLkNNClassifier,
    PooledClassifier,
    RecalibratedClassifier,
    ReviewSelector,
    _compact_trees,
    load_model,
    save_model,
    table_pool,
)
from labelsure.learners import FittedBase
from labelsure.measures import PowerMeasure
from labelsure.model_file import ModelFileError, read_manifest


class OwnClassifier(ClassifierMixin, BaseEstimator):
    """Says the same of every object: a class that no list knows."""

    def fit(self, X, y):  # noqa: ARG002
        self.shares_ = y.mean(axis=0)
        return self

    def predict_proba(self, X):
        return np.tile(self.shares_, (len(X), 1))


class OwnMeasure(PowerMeasure):
    """A measure that no list knows."""


def each(learner):
    return OneVsRestClassifier(learner)


SMALL_POOL = table_pool(random_state=0).set_params(
    cv=2,
    trees__n_estimators=3,
    boosting__labels__estimator__max_iter=2,
    kernel__features__n_components=9,
)
LEARNERS = [
    RandomForestClassifier(4),
    RandomForestClassifier(
        4, random_state=np.random.RandomState(0), bootstrap=True, oob_score=False
    ),
    ExtraTreesClassifier(4, max_depth=3),
    DecisionTreeClassifier(),
    MultiOutputClassifier(HistGradientBoostingClassifier(max_iter=3, min_samples_leaf=5)),
    MultiOutputClassifier(AdaBoostClassifier(n_estimators=2)),
    MultiOutputClassifier(BaggingClassifier(n_estimators=2)),
    MultiOutputClassifier(
        VotingClassifier([("a", GaussianNB()), ("b", LogisticRegression())], voting="soft")
    ),
    MultiOutputClassifier(
        BaggingClassifier(KNeighborsClassifier(3, algorithm="kd_tree"), n_estimators=9)
    ),
    each(LogisticRegression()),
    each(SGDClassifier(loss="log_loss")),
    each(LinearSVC()),
    each(SVC()),
    each(RidgeClassifier()),
    each(GaussianNB()),
    each(LinearDiscriminantAnalysis()),
    each(CalibratedClassifierCV(LinearSVC(), cv=2)),
    ClassifierChain(LogisticRegression()),
    KNeighborsClassifier(3),
    KNeighborsClassifier(3, algorithm="kd_tree", weights="distance", p=1),
    KNeighborsClassifier(3, algorithm="ball_tree", leaf_size=5),
    KNeighborsClassifier(3, algorithm="brute", metric="cosine"),
    MLPClassifier(5, max_iter=3),
    make_pipeline(StandardScaler(), Nystroem(n_components=5), each(RidgeClassifier())),
    make_pipeline(RBFSampler(n_components=5), each(LogisticRegression())),
    make_pipeline(SimpleImputer(add_indicator=True), MinMaxScaler(), MLkNNClassifier(3)),
    make_pipeline(VarianceThreshold(), PCA(3), ExtraTreesClassifier(3)),
    make_pipeline(
        QuantileTransformer(n_quantiles=9), KBinsDiscretizer(3), each(LogisticRegression())
    ),
    make_pipeline(FunctionTransformer(np.log1p), each(LogisticRegression())),
    MultiOutputClassifier(make_pipeline(SelectKBest(k=2), LogisticRegression())),
    GridSearchCV(each(LogisticRegression()), {"estimator__C": [0.1, 1.0]}, cv=2),
    GridSearchCV(
        each(LogisticRegression()), {"estimator__C": [0.1, 1.0]}, cv=KFold(2), scoring="f1_macro"
    ),
    PooledClassifier(
        [
            ("a", each(LogisticRegression())),
            ("b", make_pipeline(MinMaxScaler(), MLkNNClassifier(3))),
        ],
        cv=2,
    ),
    RecalibratedClassifier(RandomForestClassifier(25, random_state=1), cv="out-of-bag"),
    SMALL_POOL,
]


def fitted(learner, objects=X[TRAIN]):
    model = InductiveConformalClassifier(learner, measure=PowerMeasure(), random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(objects, Y[TRAIN])


def assert_answers_stay(model, path, new=X[NEW], **options):
    save_model(model, path, **options)
    loaded = load_model(path, **options)
    for one, other in zip(loaded.models_, model.models_, strict=True):
        assert type(one.estimator) is type(other.estimator)
    predictions, expected = loaded.predict_labelsets(new), model.predict_labelsets(new)
    np.testing.assert_array_equal(predictions.p_values(), expected.p_values())
    np.testing.assert_array_equal(loaded.predict(new), model.predict(new))
    return loaded


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.labelsure"


@pytest.mark.parametrize(
    "learner", LEARNERS, ids=lambda learner: " ".join(repr(learner).split())[:60]
)
def test_learners_answer_the_same(path, learner):
    assert_answers_stay(fitted(learner), path)


@pytest.mark.parametrize("package", ["lightgbm", "xgboost"])
def test_boosters_answer_the_same(path, package):
    module = pytest.importorskip(package)
    if package == "lightgbm":
        learner = module.LGBMClassifier(n_estimators=4, min_child_samples=3, verbose=-1)
    else:
        learner = module.XGBClassifier(n_estimators=4)
    assert_answers_stay(
        fitted(make_pipeline(StandardScaler(), MultiOutputClassifier(learner))), path
    )


def test_tables_with_categories_and_gaps_answer_the_same(path):
    table = pd.DataFrame(X, columns=list("abcde")).astype({"a": float})
    table.loc[::7, "a"] = np.nan
    table["kind"] = np.where(X[:, 1] > 10, "big", np.where(X[:, 2] > 12, "odd", "small"))
    encode = OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=3)
    columns = ColumnTransformer(
        [
            (
                "numbers",
                make_pipeline(
                    SimpleImputer(strategy="median", add_indicator=True), StandardScaler()
                ),
                list("abc"),
            ),
            ("kinds", encode, ["kind"]),
            (
                "order",
                OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1),
                ["kind"],
            ),
        ],
        remainder="passthrough",
    )
    model = fitted(make_pipeline(columns, each(LogisticRegression(max_iter=500))), table[TRAIN])
    loaded = assert_answers_stay(model, path, table[NEW].assign(kind="new"))
    assert list(loaded.feature_names_in_) == [*"abcde", "kind"]


@pytest.mark.parametrize(
    "vectorizer",
    [TfidfVectorizer(), HashingVectorizer(n_features=32, alternate_sign=False)],
    ids=str,
)
def test_texts_answer_the_same(path, vectorizer):
    texts = [" ".join(f"w{int(value) % 9}" for value in row) for row in X]
    for learner in (
        each(MultinomialNB()),
        make_pipeline(TruncatedSVD(2), each(LogisticRegression())),
    ):
        assert_answers_stay(
            fitted(make_pipeline(vectorizer, learner), texts[TRAIN]), path, texts[NEW]
        )


def test_files_do_not_choose_how_many_processes_start(path):
    """Wherever a learner says so: the number is that of the machine that it was fitted on."""
    scaled = ColumnTransformer([("all", StandardScaler(), [0, 1, 2, 3, 4])], n_jobs=2)
    forest = MultiOutputClassifier(RandomForestClassifier(2, n_jobs=2), n_jobs=2)
    pool = PooledClassifier(
        [("trees", make_pipeline(scaled, forest)), ("knn", MLkNNClassifier(3))], cv=2, n_jobs=2
    )
    model = CrossConformalClassifier(pool, measure=PowerMeasure(), cv=2, random_state=0, n_jobs=2)
    loaded = assert_answers_stay(model.fit(X[TRAIN], Y[TRAIN]), path)
    asked = [loaded.get_params(), *(part.estimator.get_params() for part in loaded.models_)]
    asked += [part.estimator.members_[0].estimator.get_params() for part in loaded.models_]
    numbers = [
        value for params in asked for name, value in params.items() if name.endswith("n_jobs")
    ]
    assert numbers == [None] * len(numbers)
    assert len(numbers) > 10
    inner = loaded.models_[0].estimator.members_[0].estimator
    assert {
        one.n_jobs for one in [inner[0], inner[1], *inner[1].estimators_, loaded.calibrator_]
    } == {None}


def test_xgboost_starts_as_many_threads_as_it_may_here(path):
    xgboost = pytest.importorskip("xgboost")
    model = fitted(MultiOutputClassifier(xgboost.XGBClassifier(n_estimators=2, n_jobs=1)))
    (learner, *_) = assert_answers_stay(model, path).models_[0].estimator.estimators_
    config = json.loads(learner.get_booster().save_config())
    assert (learner.n_jobs, config["learner"]["generic_param"]["nthread"]) == (None, "0")


def test_sparse_rows_answer_the_same(path):
    rows = sparse.csr_matrix(np.where(X > 8, X, 0))
    for learner in (KNeighborsClassifier(3), RandomForestClassifier(3), MLkNNClassifier(3)):
        assert_answers_stay(fitted(learner, rows[TRAIN]), path, rows[NEW])


def test_prefitted_models_and_selectors_around_them_answer_the_same(path):
    forest = RandomForestClassifier(4, random_state=0).fit(X[:30], Y[:30])
    selector = ReviewSelector(forest).calibrate(X[30:60], Y[30:60])
    save_model(selector, path)
    one, other = (
        selection.select(X[NEW], alpha=0.5).accepted for selection in (load_model(path), selector)
    )
    np.testing.assert_array_equal(one, other)


def test_unknown_types_are_refused_and_named_on_both_sides(path):
    model = fitted(each(GaussianProcessClassifier(max_iter_predict=5)))
    with pytest.raises(
        ModelFileError, match=r"it holds sklearn\.gaussian_process.*: pass trusted=\["
    ) as caught:
        save_model(model, path)
    names = json.loads(str(caught.value).rpartition("trusted=")[2].rstrip(".").replace("'", '"'))
    assert len(names) > 1  # all at once, not one after the other
    save_model(model, path, trusted=names)
    assert set(names) <= set(read_manifest(path)["trusted"])
    with pytest.raises(ModelFileError, match="which files hold only for those who trust that"):
        load_model(path)
    assert_answers_stay(model, path, trusted=names)


def test_own_classes_are_kept_for_those_who_name_them(path):
    model = fitted(OwnClassifier())
    with pytest.raises(
        ModelFileError, match=r"pass trusted=\['test_saved_learners.OwnClassifier'\]"
    ):
        save_model(model, path)
    assert_answers_stay(model, path, trusted=[OwnClassifier])
    assert_answers_stay(model, path, trusted="test_saved_learners.OwnClassifier")


def test_own_measures_and_functions_are_kept_for_those_who_name_them(path):
    options = {"mondrian": first_is_large, "measure": OwnMeasure(), "random_state": 0}
    model = InductiveConformalClassifier(MLkNNClassifier(4), **options).fit(X[TRAIN], Y[TRAIN])
    with pytest.raises(ModelFileError, match=r"pass trusted=.*OwnMeasure', '.*first_is_large'\]"):
        save_model(model, path)
    assert_answers_stay(model, path, trusted=[OwnMeasure, "test_saved_learners.first_is_large"])


def first_is_large(objects):
    return objects[:, 0] > 15


RAN = []


def run_me(*arguments):
    RAN.append(arguments)


NODES = [
    ("FunctionNode", "test_saved_learners", "run_me", {}),
    ("ObjectNode", "test_saved_learners", "OwnClassifier", {}),
    ("ConstructorFromReduceNode", "test_saved_learners", "run_me", {}),
    ("ListNode", "test_saved_learners", "run_me", {"content": []}),
    ("ListNode", "labelsure.cli", "main", {"content": []}),
    ("NdArrayNode", "numpy", "load", {"type": "numpy", "file": "0.npy"}),
    ("MethodNode", "builtins", "list", {}),
    ("OperatorFuncNode", "operator", "attrgetter", {}),
    ("TypeNode", "os", "system", {}),
    ("DictNode", "os", "system", {}),
    ("TreeNode", "sklearn.tree._tree", "Tree", {}),
    (None, "os", "system", {}),
]


@pytest.mark.parametrize(("loader", "module", "name", "more"), NODES)
def test_what_is_not_on_the_list_is_never_built(path, loader, module, name, more):
    """Whatever the file says, in the manifest too: what is trusted comes from the caller."""
    save_model(fitted(each(LogisticRegression())), path)
    node = {"__module__": module, "__class__": name, **more}
    if loader is not None:
        node["__loader__"] = loader

    def change(members):
        schema = json.loads(members["schema.json"])
        attributes = schema["content"]["content"]
        attributes["estimator"] = {"content": attributes["estimator"]["content"], **node}
        members["schema.json"] = json.dumps(schema).encode()
        manifest = json.loads(members["manifest.json"])
        members["manifest.json"] = json.dumps(
            {**manifest, "trusted": ["test_saved_learners.run_me", "os.system"]}
        ).encode()

    rewrite(path, change)
    with pytest.raises(ModelFileError):
        load_model(path)
    assert not RAN


def test_things_without_a_place_in_files_are_named(path):
    model = fitted(MLkNNClassifier(4))
    model.estimator = (number for number in range(3))
    with pytest.raises(
        ModelFileError, match="a part of it cannot be kept: cannot pickle 'generator' object"
    ):
        save_model(model, path)


def test_objects_that_refer_to_themselves_are_refused(path):
    model = fitted(MLkNNClassifier(4))
    model.estimator.me = model
    with pytest.raises(ModelFileError, match="it holds something that refers to itself"):
        save_model(model, path)


def test_requests_for_metadata_are_kept_although_skops_alone_has_no_end(path):
    with sklearn.config_context(enable_metadata_routing=True):
        learner = LogisticRegression().set_fit_request(sample_weight=True)
    with pytest.raises(RecursionError):  # once this passes, they need no care
        skops.io.dumps(learner)
    loaded = assert_answers_stay(fitted(each(learner)), path)
    inner = loaded.models_[0].estimator.estimator
    assert inner.get_metadata_routing().fit.requests == {"sample_weight": True}
    assert inner._metadata_request.owner is inner
    assert learner._metadata_request.owner is learner  # and what was saved is as it was


@pytest.mark.parametrize(
    "learner",
    [
        RandomForestClassifier(20, random_state=0),
        RandomForestClassifier(20, random_state=0, class_weight="balanced"),
        MultiOutputClassifier(
            HistGradientBoostingClassifier(max_iter=9, categorical_features=[0], min_samples_leaf=3)
        ),
        MultiOutputClassifier(GradientBoostingClassifier(n_estimators=9)),
    ],
    ids=["counted", "weighted", "by category", "numbers"],
)
def test_trees_are_the_same_to_the_last_bit(path, learner):
    objects = np.column_stack([X[:, 0] // 4, X[:, 1:]])
    model = FittedBase(learner.fit(objects, Y), learned=np.ones(3, bool), fixed=np.full(3, np.nan))
    predictor = fitted(MLkNNClassifier(4))
    predictor.models_ = [model]
    save_model(predictor, path)
    one, other = (trees_in(kept.models_[0].estimator) for kept in (predictor, load_model(path)))
    assert one == other


def trees_in(learner):
    """Return what the trees of a learner hold, number by number."""
    if hasattr(learner, "_predictors"):
        trees = [tree for iteration in learner._predictors for tree in iteration]
        return [[numbers_in(tree.nodes), tree.raw_left_cat_bitsets.tolist()] for tree in trees]
    if hasattr(learner, "tree_"):
        state = learner.tree_.__getstate__()
        return numbers_in(state["nodes"]), state["values"].tobytes(), learner.tree_.max_depth
    return [trees_in(part) for part in np.ravel(getattr(learner, "estimators_", learner))]


def numbers_in(records):
    return [records[name].tobytes() for name in records.dtype.names]


@pytest.mark.parametrize(
    ("learner", "name", "change"),
    [
        (RandomForestClassifier(9, random_state=0), "left_child", lambda numbers: numbers + 1),
        (RandomForestClassifier(9, random_state=0), "feature", lambda numbers: numbers + 90),
        (DecisionTreeClassifier(random_state=0), "right_child", lambda numbers: numbers * 0),
        (
            each(HistGradientBoostingClassifier(max_iter=3, min_samples_leaf=5)),
            "feature_idx",
            lambda numbers: numbers + 5,
        ),
    ],
    ids=["child", "feature", "right child", "boosting"],
)
def test_trees_that_lead_astray_are_refused(path, learner, name, change, monkeypatch):
    def damaged(records, keep):
        changed = [own.copy() for own in records]
        for own in changed:
            if name in own.dtype.names:
                own[name] = change(own[name])
        return pack_records(changed, keep)

    pack_records = _compact_trees._pack_records
    monkeypatch.setattr(_compact_trees, "_pack_records", damaged)
    save_model(fitted(learner), path)
    with pytest.raises(ModelFileError, match=r"the trees of .* are damaged"):
        load_model(path)


def test_indices_outside_of_sparse_rows_are_refused(path):
    rows = sparse.csr_matrix(np.where(X > 8, X, 0))
    model = fitted(KNeighborsClassifier(3), rows[TRAIN])
    model.models_[0].estimator._fit_X.indices[3] = 77
    save_model(model, path)
    with pytest.raises(ModelFileError, match="indices"):
        load_model(path)


def test_folders_and_names_of_files_are_not_kept(path, tmp_path):
    steps = [("scale", StandardScaler()), ("knn", MLkNNClassifier(3))]
    save_model(fitted(Pipeline(steps, memory=str(tmp_path))), path)
    assert load_model(path).models_[0].estimator.memory is None
    vectorizer = TfidfVectorizer(input="filename")
    model = fitted(MLkNNClassifier(3))
    model.estimator = vectorizer
    save_model(model, path)
    with pytest.raises(ModelFileError, match="models read no files"):
        load_model(path)
