"""Contents that would make compiled code read astray are refused, with all checksums right."""

import json
import re
import warnings
from io import BytesIO

import numpy as np
import pytest
from model_cases import TRAIN, X, Y, inductive
from scipy import sparse
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from labelsure import (
    BPMLLClassifier,
    CrossConformalClassifier,
    FullConformalClassifier,
    InductiveConformalClassifier,
    LabelWiseConformalClassifier,
    MLkNNClassifier,
    PooledClassifier,
    RecallController,
    calibrate_labels,
    calibrate_outputs,
    load_model,
    save_model,
)
from labelsure.labelsets import AtMost, Implies
from labelsure.measures import LabelsetPrior, MahalanobisMeasure, PosteriorMeasure, PowerMeasure
from labelsure.models import ModelFileError
from labelsure.models._archive import read_archive, write_archive
from labelsure.models._arrays import ArrayReader, ArrayWriter
from labelsure.models._booster_texts import check_lightgbm, check_xgboost, cut_lightgbm
from labelsure.models._checks import Sizes, array, several, whole
from labelsure.models._codec import Decoder, Encoder
from labelsure.models._contents import check_content
from labelsure.models._forests import are_trees, depths_of, pack_boosting, pack_forest, unpack_boosting, unpack_forest
from labelsure.models._predictor_forms import FORMS


def refused(thing):
    with pytest.raises(ModelFileError, match="damaged"):
        check_content(thing)


def grown(**options):
    return DecisionTreeClassifier(random_state=0, **options).fit(X, Y)


def planted(**changes):
    """Return a fitted tree whose nodes were changed, as a file might have it."""
    model = grown(max_depth=3)
    state = model.tree_.__getstate__()
    nodes = state["nodes"].copy()
    for field, (place, value) in changes.items():
        if field in state:
            state[field] = value
        else:
            nodes[field][place] = value
    model.tree_.__setstate__({**state, "nodes": nodes})
    return model.tree_


@pytest.mark.parametrize(
    "changes",
    [
        {"left_child": (0, 0)},
        {"left_child": (0, 10**6)},
        {"right_child": (0, -5)},
        {"right_child": (0, 1)},
        {"feature": (0, 5)},
        {"feature": (0, -1)},
        {"feature": (0, 2**60)},
        {"node_count": (None, 10**6)},
        {"node_count": (None, 0)},
        {"node_count": (None, 3)},
        {"max_depth": (None, 1)},
    ],
    ids=str,
)
def test_trees_that_lead_astray_are_refused(changes):
    check_content(planted())
    refused(planted(**changes))


def test_trees_of_other_features_are_refused():
    model = grown()
    check_content(model)
    model.n_features_in_ = 9
    refused(model)
    forest = RandomForestClassifier(2, random_state=0).fit(X, Y)
    check_content(forest)
    forest.n_features_in_ = 9
    refused(forest)


def test_circles_and_shared_branches_are_no_trees():
    leaf = np.array([False, False, True, True, True])
    left, right, feature = np.array([1, 2, -1, -1, -1]), np.array([4, 3, -1, -1, -1]), np.zeros(5, dtype=int)
    sizes = np.array([5])
    assert are_trees(left, right, leaf, feature, sizes, 1)
    assert depths_of(left, right, leaf, sizes).tolist() == [2]
    assert not are_trees(left, np.array([3, 3, -1, -1, -1]), leaf, feature, sizes, 1)
    assert not are_trees(np.array([1, 0, -1, -1, -1]), right, leaf, feature, sizes, 1)
    both = [np.concatenate([part, part]) for part in (left, right, leaf, feature)]
    assert are_trees(*both, np.array([5, 5]), 1)
    assert depths_of(*both[:3], np.array([5, 5])).tolist() == [2, 2]
    for wrong in ([10], [4, 6], [5, 6], [5, 5, 0], [-5, 15]):
        assert not are_trees(*both, np.array(wrong), 1)


def test_forests_are_packed_and_unpacked_unchanged_or_refused():
    forest = RandomForestClassifier(4, random_state=0).fit(X, Y)
    template, columns = pack_forest(forest.estimators_)
    for one, other in zip(unpack_forest(template, columns), forest.estimators_, strict=True):
        assert one.get_params() == other.get_params()
        np.testing.assert_array_equal(one.tree_.predict(X.astype("f4")), other.tree_.predict(X.astype("f4")))
    for name, changed in {
        "sizes": columns["sizes"] + 1,
        "depths": columns["depths"] - 1,
        "seeds": columns["seeds"][:1],
        "values": columns["values"][:, :1],
        "nodes": {**columns["nodes"], "feature": columns["nodes"]["feature"] + 100},
    }.items():
        with pytest.raises(ModelFileError, match="trees of a forest are damaged"):
            unpack_forest(template, {**columns, name: changed})
    with pytest.raises(ModelFileError, match="other types"):
        unpack_forest(template, {**columns, "nodes": {**columns["nodes"], "feature": columns["nodes"]["threshold"]}})
    with pytest.raises(ModelFileError, match="other fields"):
        unpack_forest(template, {**columns, "nodes": {"feature": columns["nodes"]["feature"]}})


def test_boosted_trees_are_packed_and_unpacked_unchanged_or_refused():
    kinds = (X[:, 0] % 4).astype(int)
    objects = np.column_stack([kinds, X[:, 1:]])
    model = HistGradientBoostingClassifier(max_iter=3, min_samples_leaf=3, categorical_features=[0]).fit(
        objects, Y[:, 0]
    )
    columns = pack_boosting(model._predictors)
    assert columns["raw"].size  # some split by categories
    kept, model._predictors = model.predict_proba(objects), unpack_boosting(columns)
    check_content(model)
    np.testing.assert_array_equal(model.predict_proba(objects), kept)
    nodes = columns["nodes"]
    for name, changed in {
        "iterations": columns["iterations"] + 1,
        "n_bitsets": columns["n_bitsets"] * 0,
        "raw": columns["raw"][:, :3],
        "nodes": {**nodes, "left": nodes["left"] + 1},
    }.items():
        with pytest.raises(ModelFileError, match="trees of histogram boosting are damaged"):
            unpack_boosting({**columns, name: changed})
    everywhere = np.ones_like(nodes["is_categorical"])
    more = {
        **columns,
        "n_bitsets": columns["n_bitsets"] * 0 + 1,
        "raw": np.zeros((3, 8), "u4"),
        "binned": np.zeros((3, 8), "u4"),
    }
    model._predictors = unpack_boosting(
        {**more, "nodes": {**nodes, "is_categorical": everywhere, "bitset_idx": nodes["bitset_idx"] * 0}}
    )
    refused(model)  # numbers are no categories
    model._predictors = unpack_boosting({**columns, "nodes": {**nodes, "feature_idx": nodes["feature_idx"] + 3}})
    refused(model)
    model._predictors = unpack_boosting(columns)
    model._bin_mapper.bin_thresholds_[0] = np.array([1.0, 300.0])
    refused(model)


@pytest.mark.parametrize(
    "change",
    [
        lambda model: setattr(model, "_y", model._y + 5),
        lambda model: setattr(model, "_fit_X", model._fit_X[:, :2]),
        lambda model: setattr(model, "n_samples_fit_", 10**6),
        lambda model: setattr(model, "n_neighbors", 10**9),
        lambda model: setattr(model, "effective_metric_", "mahalanobis"),
        lambda model: setattr(model, "effective_metric_", len),
        lambda model: setattr(model, "effective_metric_params_", {"w": np.ones(1)}),
        lambda model: setattr(model, "_fit_X", None),
    ],
)
def test_neighbours_that_are_not_there_are_refused(change):
    model = KNeighborsClassifier(3, algorithm="brute").fit(X, Y)
    check_content(model)
    change(model)
    refused(model)


@pytest.mark.parametrize(
    "change",
    [
        lambda model: setattr(model, "_n_support", model._n_support * 100),
        lambda model: setattr(model, "_dual_coef_", model._dual_coef_[:, :1]),
        lambda model: setattr(model, "support_vectors_", model.support_vectors_[:, :1]),
        lambda model: setattr(model, "_intercept_", np.empty(0)),
        lambda model: setattr(model, "kernel", "precomputed"),
        lambda model: setattr(model, "_sparse", True),
    ],
)
def test_kernel_machines_whose_parts_do_not_fit_are_refused(change):
    model = SVC().fit(X, Y[:, 0])
    check_content(model)
    change(model)
    refused(model)


def test_words_and_categories_outside_of_their_matrix_are_refused():
    words = CountVectorizer().fit(["a bb cc", "dd ee"])
    check_content(words)
    words.vocabulary_["bb"] = 10**6
    refused(words)
    for options in ({}, {"drop": "first"}, {"min_frequency": 5}, {"min_frequency": 5, "drop": "if_binary"}):
        encoder = OneHotEncoder(**options).fit(X.astype(int))
        check_content(encoder)
        encoder._n_features_outs = [1] * 5
        refused(encoder)
    encoder = OneHotEncoder(min_frequency=5).fit(X.astype(int))
    encoder._default_to_infrequent_mappings[0] = encoder._default_to_infrequent_mappings[0] + 10**6
    refused(encoder)
    encoder = OneHotEncoder(handle_unknown="ignore").fit([[1.0], [2.0], [np.nan]])
    check_content(encoder)
    encoder.categories_ = [np.array([3.0, 1.0, 2.0])]  # 3 would be looked for behind the last place
    refused(encoder)


def test_vectorizers_that_read_files_are_refused():
    check_content(HashingVectorizer())
    for kind in (HashingVectorizer, CountVectorizer):
        refused(kind(input="filename"))


def test_caches_of_pickles_are_refused():
    pipeline = make_pipeline(OneHotEncoder(), LogisticRegression())
    check_content(pipeline)
    refused(pipeline.set_params(memory="/tmp/cache"))


def booster_text():
    lightgbm = pytest.importorskip("lightgbm")
    model = lightgbm.LGBMClassifier(n_estimators=2, min_child_samples=3, verbose=-1).fit(X, Y[:, 0])
    return cut_lightgbm(model.booster_.model_to_string(num_iteration=-1))


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        (r"left_child=(-?\d+)", "left_child=99"),
        (r"split_feature=\d+", "split_feature=99"),
        (r"tree_sizes=\d+", "tree_sizes=9"),
        (r"num_leaves=\d+", "num_leaves=2"),
        (r"num_class=1", "num_class=3"),
        (r"max_feature_idx=\d+", "max_feature_idx=1"),
        (r"is_linear=0", "is_linear=1"),
        (r"end of trees", "end of tree"),
        (r"Tree=1", "Tree=7"),
        (r"threshold=\S+", "threshold=x"),
        (r"version=v4", "version=v4\nlinear_tree=1"),
    ],
)
def test_texts_that_lightgbm_would_not_write_are_refused(pattern, words):
    text = booster_text()
    check_lightgbm(text)
    changed = re.sub(pattern, words, text, count=1)
    assert changed != text
    with pytest.raises(ModelFileError, match="LightGBM"):
        check_lightgbm(changed)


@pytest.mark.parametrize(
    "change",
    [
        lambda learner: learner["gradient_booster"]["model"]["trees"][0]["left_children"].__setitem__(0, 0),
        lambda learner: learner["gradient_booster"]["model"]["trees"][0]["split_indices"].__setitem__(0, 10**6),
        lambda learner: learner["gradient_booster"]["model"]["trees"][1].update(id=0),
        lambda learner: learner["gradient_booster"]["model"]["iteration_indptr"].__setitem__(0, -1),
        lambda learner: learner["gradient_booster"]["model"]["tree_info"].__setitem__(0, 5),
        lambda learner: learner["gradient_booster"]["model"]["trees"].pop(),
        lambda learner: learner["gradient_booster"].update(name="dart"),
        lambda learner: learner["learner_model_param"].update(num_feature="1"),
        lambda learner: learner["learner_model_param"].update(num_target="many"),
    ],
)
def test_descriptions_that_xgboost_would_not_write_are_refused(change):
    xgboost = pytest.importorskip("xgboost")
    booster = xgboost.XGBClassifier(n_estimators=2).fit(X, Y[:, 0]).get_booster()
    content = json.loads(bytes(booster.save_raw("json")))
    check_xgboost(content)
    change(content["learner"])
    with pytest.raises(ModelFileError, match="XGBoost"):
        check_xgboost(content)


def decoded(data, *arrays):
    """Return what a decoder makes of a value, given arrays."""
    writer = ArrayWriter()
    for one in arrays:
        writer.add(one)
    return Decoder({}, ArrayReader(writer.table(), writer.members()), lambda _: None).value(data)


def test_sparse_matrices_that_point_outside_are_refused():
    matrix = sparse.csr_matrix(np.eye(3))
    parts = [{"array": 0}, {"array": 1}, {"array": 2}]
    good = {"sparse": "csr_matrix", "shape": [3, 3], "parts": parts}
    assert (decoded(good, matrix.data, matrix.indices, matrix.indptr) != matrix).nnz == 0
    for indices, indptr in [
        ([0, 1, 9], [0, 1, 2, 3]),
        ([0, 1, 2], [0, 3, 1, 3]),
        ([0, -1, 2], [0, 1, 2, 3]),
        ([0, 1, 2], [0, 9, 9, 9]),
    ]:
        with pytest.raises(ValueError):
            decoded(good, matrix.data, np.array(indices, dtype="i4"), np.array(indptr, dtype="i4"))


def test_random_states_are_kept_and_checked():
    state = np.random.RandomState(3)
    state.normal(size=3)
    encoder = Encoder(FORMS, lambda _: None)
    data = json.loads(json.dumps(encoder.value(state)))
    read = Decoder({}, ArrayReader(encoder.arrays.table(), encoder.arrays.members()), lambda _: None)
    assert read.value(data).normal() == state.normal()
    for place, value in [(0, "PCG64"), (2, 10**6), (2, -1), (3, 7)]:
        changed = [*data["random_state"]]
        changed[place] = value
        with pytest.raises(ModelFileError, match="a random state is none"):
            read.value({"random_state": changed})


def pairs_of_pairs(kind):
    """Return entries, each of which names the one before it twice: the last one has 2**60 parts, if one counts."""
    return [{"value": {kind: []}}, *({"value": {kind: [{"object": k}, {"object": k}]}} for k in range(60))]


def test_parts_of_parts_do_not_keep_the_reader_busy():
    for last in ({"set": [{"object": 60}]}, {"dict": [[{"tuple": [{"object": 60}]}, 1]]}, {"list": []}):
        with pytest.raises(ModelFileError, match="an entry is none"):
            Decoder({}, ArrayReader([], {}), lambda _: None).read([*pairs_of_pairs("tuple"), {"value": last}])
        if "list" not in last:
            with pytest.raises(ModelFileError, match="an object is looked up by its value"):
                decoded(last)
    assert decoded({"dict": [[{"tuple": [1, {"tuple": ["a"]}]}, 2]]}) == {(1, ("a",)): 2}


def test_messages_do_not_spell_out_parts_of_parts():
    nested = []
    for _ in range(60):
        nested = [nested, nested]
    with pytest.raises(ModelFileError, match=r"must be a whole number from 0 to .*, got list$"):
        whole()(nested, Sizes())


@pytest.mark.parametrize("name", ["predict_proba", "_validate_X_predict"])
def test_attributes_do_not_take_the_place_of_methods(tmp_path, name):
    pytest.importorskip("skops")
    model = inductive(RandomForestClassifier(2, random_state=0)).fit(X[TRAIN], Y[TRAIN])
    setattr(getattr(model.models_[0], "estimator", model.models_[0]), name, np.float32)
    with pytest.raises(ModelFileError, match=f"has '{name}' for an attribute, which is a method"):
        save_model(model, tmp_path / "model.labelsure")


def test_arrays_that_are_too_large_for_their_bytes_are_refused():
    writer = ArrayWriter()
    writer.add(np.arange(4))
    members = writer.members()
    for table in (
        [[0, [5], "C"]],
        [[0, [3], "C"]],
        [[1, [4], "C"]],
        [[0, [4, 2**62], "C"]],
        [[0, [-4], "C"]],
        [[0, 4, "C"]],
    ):
        with pytest.raises(ModelFileError):
            ArrayReader(table, members)
    huge = BytesIO()
    np.lib.format.write_array_header_1_0(huge, {"descr": "<i8", "fortran_order": False, "shape": (2**50,)})
    with pytest.raises(ModelFileError, match="another size than it says"):
        ArrayReader([[0, [2**39], "C"]], {"arrays/0.npy": huge.getvalue()})


def test_arrays_keep_type_shape_and_order_in_memory():
    arrays = [
        np.eye(3, 4, order="F"),
        np.float32(3)[None],
        np.array(["ab", "c"]),
        np.array(5),
        np.empty((0, 2)),
        np.array([True]),
    ]
    writer = ArrayWriter()
    numbers = [writer.add(one) for one in arrays]
    reader = ArrayReader(json.loads(json.dumps(writer.table())), writer.members())
    for number, one in zip(numbers, arrays, strict=True):
        read = reader.get(number)
        np.testing.assert_array_equal(read, one, strict=True)
        assert read.flags.f_contiguous == one.flags.f_contiguous
        assert read.flags.writeable


def changed_fields(tmp_path, model, name, change):
    """Load a model after the fields of its last entry of one type were changed, checksums made anew."""
    path = tmp_path / "model.labelsure"
    save_model(model, path)
    manifest, members = read_archive(path)
    manifest.pop("members")
    content = json.loads(members["model.json"])
    change([entry["fields"] for entry in content["entries"] if entry.get("type") == name][-1])
    members["model.json"] = json.dumps(content).encode()
    path.unlink()
    write_archive(path, manifest, members)
    return load_model(path)


def drop(field):
    return lambda fields: fields.pop(field)


def put(field, value):
    return lambda fields: fields.update({field: value})


def same_as(field, other):
    return lambda fields: fields.update({field: fields[other]})


@pytest.mark.parametrize(
    ("learner", "measure", "name", "change"),
    [
        (MLkNNClassifier(4), PowerMeasure(), "MLkNNClassifier", drop("n_neighbors")),
        (MLkNNClassifier(4), PowerMeasure(pair_penalty=1), "PowerMeasure", put("d", -1.0)),
        (MLkNNClassifier(4), PowerMeasure(pair_penalty=1), "PowerMeasure", put("bound_", 2.0**29)),
        (MLkNNClassifier(4), PowerMeasure(pair_penalty=1), "PowerMeasure", put("exponent_", 60)),
        (MLkNNClassifier(4), PowerMeasure(pair_penalty=1), "PowerMeasure", put("more_", 1)),
        (MLkNNClassifier(4), MahalanobisMeasure(), "MahalanobisMeasure", put("bound_", 1e-3)),
        (MLkNNClassifier(4), MahalanobisMeasure(), "MahalanobisMeasure", same_as("precision_", "slope_")),
        (MLkNNClassifier(4), LabelsetPrior(), "LabelsetPrior", same_as("counts_", "labelsets_")),
        (MLkNNClassifier(4), PosteriorMeasure(), "CountedPrior", put("smoothing", {"float": "nan"})),
        (MLkNNClassifier(4), PosteriorMeasure(), "PosteriorMeasure", put("prior_", None)),
        (BPMLLClassifier(n_epochs=1), PowerMeasure(), "FittedBase", same_as("learned", "fixed")),
        (MLkNNClassifier(4), PowerMeasure(), "CalibratedFold", same_as("without_labels", "scores")),
        (MLkNNClassifier(4), PowerMeasure(), "Choices", put("guarantee", "best")),
        (MLkNNClassifier(4), PowerMeasure(), "Choices", put("smoothed", True)),
        (MLkNNClassifier(4), PowerMeasure(), "Choices", put("taxonomy", {"object": 0})),
        (MLkNNClassifier(4), PowerMeasure(), "Calibrator", put("folds", {"tuple": []})),
        (MLkNNClassifier(4), PowerMeasure(), "Calibrator", put("seed", -1)),
        (MLkNNClassifier(4), PowerMeasure(), "CrossConformalClassifier", put("models_", {"list": []})),
        (MLkNNClassifier(4), PowerMeasure(), "CrossConformalClassifier", put("n_labels_", 4)),
        (MLkNNClassifier(4), PowerMeasure(), "CrossConformalClassifier", put("n_examples_", 1)),
    ],
)  # fmt: skip
def test_fields_that_do_not_go_together_are_refused(tmp_path, learner, measure, name, change):
    model = CrossConformalClassifier(learner, measure=measure, cv=3, guarantee="exact", random_state=0)
    model.fit(X[TRAIN], Y[TRAIN])
    changed_fields(tmp_path, model, name, lambda _: None)
    with pytest.raises(ModelFileError, match="cannot be read"):
        changed_fields(tmp_path, model, name, change)


def test_network_of_another_shape_is_refused(tmp_path):
    model = inductive(BPMLLClassifier(n_epochs=1, hidden_fraction=0.4))
    with pytest.raises(ModelFileError, match="hidden_bias_ of BPMLLClassifier has 3 entries where 2 are expected"):
        changed_fields(tmp_path, model, "BPMLLClassifier", same_as("hidden_bias_", "output_bias_"))


def test_sizes_agree_within_a_record():
    sizes = Sizes()
    whole(size="q")(3, sizes)
    array("f", "q", "n+1")(np.zeros((3, 5)), sizes)
    assert sizes == {"q": 3, "n": 4}
    several(whole(), "n")([1, 2, 3, 4], sizes)
    for check, value in [
        (array("f", "q"), np.zeros(4)),
        (array("i", "q"), np.zeros(3)),
        (several(whole(), "n"), [1, -2, 3, 4]),
    ]:
        with pytest.raises(ModelFileError):
            check(value, sizes)


def test_learners_of_all_kinds_are_refused_when_asked_without_skops(tmp_path, monkeypatch):
    model = inductive(OneVsRestClassifier(LogisticRegression()))

    def missing(module, **_):
        raise ModuleNotFoundError(f"No module named {module!r}")

    monkeypatch.setattr("importlib.import_module", missing)
    with pytest.raises(ImportError, match=r'pip install "labelsure\[models\]"'):
        save_model(model, tmp_path / "model.labelsure")
    assert list(tmp_path.iterdir()) == []


def twice(field):
    """Put the first part of a list there once more."""

    def change(fields):
        ((kind, parts),) = fields[field].items()
        fields[field] = {kind: [parts[0], *parts]}

    return change


OUTPUTS = np.random.default_rng(0).random((60, 3))
FOLDS = np.arange(60) % 3
RULES = {"constraints": [AtMost(3, [0, 1, 2]), Implies(0, 0)]}
KNN = MLkNNClassifier(4)


@pytest.mark.parametrize(
    ("make", "name", "change", "why"),
    [
        (
            lambda: calibrate_outputs(OUTPUTS, Y[TRAIN], folds=FOLDS),
            "OutputsPredictor",
            put("n_labels", 4),
            "its folds",
        ),
        (
            lambda: calibrate_outputs(OUTPUTS, Y[TRAIN], folds=FOLDS),
            "OutputsPredictor",
            put("fold_numbers", None),
            "its",
        ),
        (lambda: calibrate_outputs(OUTPUTS, Y[TRAIN], folds=FOLDS), "Calibrator", twice("folds"), "its folds"),
        (lambda: calibrate_labels(OUTPUTS, Y[TRAIN]), "LabelWiseOutputsPredictor", put("n_labels", 4), "other labels"),
        (lambda: calibrate_labels(OUTPUTS, Y[TRAIN]), "LabelWiseOutputsPredictor", twice("calibrated"), "its folds"),
        (
            lambda: calibrate_labels(OUTPUTS, Y[TRAIN]),
            "LabelCalibration",
            twice("groups"),
            "groups of LabelCalibration",
        ),
        (lambda: LabelWiseConformalClassifier(KNN), "LabelWiseConformalClassifier", twice("calibrated_"), "one model"),
        (lambda: LabelWiseConformalClassifier(KNN), "LabelWiseConformalClassifier", put("n_labels_", 4), "classes_ of"),
        (lambda: RecallController(KNN), "RecallController", twice("predictors_"), "one model for each fold"),
        (lambda: RecallController(KNN), "ThresholdPredictor", put("n_labels", 7), "other labels"),
        (lambda: RecallController(KNN), "RecallController", put("models_", {"list": [3]}), "gives no outputs"),
        (lambda: FullConformalClassifier(KNN), "FullConformalClassifier", put("measure_", None), "must be Measure"),
        (lambda: InductiveConformalClassifier(KNN, **RULES), "LabelsetRules", put("n_labels", 2), "speaks of labels"),
        (
            lambda: InductiveConformalClassifier(KNN, **RULES),
            "Inequality",
            put("plus", {"frozenset": [9]}),
            "speaks of",
        ),
        (lambda: InductiveConformalClassifier(KNN), "Choices", put("guarantee", "exact"), "does not go with its folds"),
        (lambda: InductiveConformalClassifier(KNN, mondrian=1), "Choices", put("taxonomy", None), "no categories"),
        (lambda: InductiveConformalClassifier(KNN, mondrian=1), "ByLabel", put("label", 8), "label must be the number"),
        (lambda: InductiveConformalClassifier(KNN), "MLkNNClassifier", put("n_neighbors_", 5), "likelihoods_ of"),
        (lambda: InductiveConformalClassifier(KNN), "FittedBase", put("estimator", 3), "gives no outputs"),
        (lambda: InductiveConformalClassifier(KNN), "FittedBase", put("estimator", None), "learned by no classifier"),
        (
            lambda: InductiveConformalClassifier(PooledClassifier([("a", KNN), ("b", KNN)], weights="equal")),
            "PooledClassifier",
            twice("members_"),
            "shared_weights_ of PooledClassifier has 2 entries where 3 are expected",
        ),
    ],
)
def test_parts_that_do_not_go_together_are_refused(tmp_path, make, name, change, why):
    model = make()
    if hasattr(model, "fit"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X[TRAIN], Y[TRAIN])
    with pytest.raises(ModelFileError, match=why):
        changed_fields(tmp_path, model, name, change)


@pytest.mark.parametrize(
    "data",
    [[1], {}, {"code": "x"}, {"value": 1}, {"float": "x"}, {"array": 9}, {"array": "0"}, {"scalar": 0}, {"object": 0},
     {"object": -1}, {"list": 3}, {"dict": [1]}, {"array": 0, "list": []},
     {"sparse": "coo_matrix", "shape": [1, 1], "parts": []},
     {"sparse": "csr_matrix", "shape": [-1, 1], "parts": [{"array": 0}] * 3}, {"requests": [["run", "x", True]]},
     {"requests": [["owner", "x", True]]}, {"generator": {"dict": []}}, {"frame": [["a", "complex128", {"array": 0}]]},
     {"objects": [1, 2], "shape": [3]}],
    ids=str,
)  # fmt: skip
def test_values_of_unknown_kinds_are_refused(data):
    with pytest.raises((ModelFileError, ValueError, KeyError, TypeError)):
        decoded(data, np.arange(3))
