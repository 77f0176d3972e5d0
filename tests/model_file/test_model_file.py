"""Whole files: their manifest, failed saves, and what is refused in one line."""

import json
import os
import pickle
import re
import tracemalloc
import warnings
import zipfile

import numpy as np
import pytest
from model_cases import NEW, TRAIN, X, Y, pack, rewrite
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier

import labelsure
from labelsure import (
    ByObject,
    CrossConformalClassifier,
    InductiveConformalClassifier,
    MLkNNClassifier,
    ReviewSelector,
    control_recall,
    load_model,
    save_model,
)
from labelsure.measures import FunctionMeasure
from labelsure.model_file import ModelFileError, open_model, read_manifest


@pytest.fixture(scope="module")
def model():
    return InductiveConformalClassifier(MLkNNClassifier(4), random_state=0).fit(X[TRAIN], Y[TRAIN])


@pytest.fixture(scope="module")
def rule():
    """Return the smallest of all models."""
    return control_recall(np.random.default_rng(0).random((60, 3)), Y[TRAIN], target=0.6)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.labelsure"


@pytest.fixture
def refuse(path):
    """Return a function that asserts that a file is refused in one line that says why."""

    def assert_refused(why, **options):
        with pytest.raises(ModelFileError, match=why) as caught:
            load_model(path, **options)
        message = str(caught.value)
        assert message.startswith(f"{path} cannot be read: ")
        assert message.endswith(".")
        assert "\n" not in message

    return assert_refused


def test_manifest_says_what_is_in_the_file(model, path):
    named = CrossConformalClassifier(MLkNNClassifier(4), cv=3, random_state=0)
    named.fit(X[TRAIN], Y[TRAIN], label_names=["sea", "city", "sky"])
    save_model(named, path, table={"columns": {"a": "numeric"}})
    manifest = read_manifest(path)
    assert (manifest["format"], manifest["labelsure"]) == (1, labelsure.__version__)
    assert (manifest["model"], manifest["labels"], manifest["n_labels"]) == (
        "CrossConformalClassifier",
        ["sea", "city", "sky"],
        3,
    )
    assert manifest["features"] == {"number": 5, "names": None}
    assert manifest["versions"]["numpy"] == np.__version__
    assert manifest["learners"] == []
    with zipfile.ZipFile(path) as archive:
        assert archive.namelist()[0] == "manifest.json"
    opened = open_model(path)
    assert opened.table == manifest["table"] == {"columns": {"a": "numeric"}}
    assert opened.manifest == manifest
    assert opened.model.label_names_ == ("sea", "city", "sky")


def change_manifest(path, **changes):
    def change(members):
        members["manifest.json"] = json.dumps(
            {**json.loads(members["manifest.json"]), **changes}
        ).encode()

    rewrite(path, change)


def test_same_model_makes_the_same_bytes(model, path, tmp_path):
    save_model(model, path)
    save_model(load_model(path), tmp_path / "second.labelsure")
    assert (tmp_path / "second.labelsure").read_bytes() == path.read_bytes()


def test_file_that_cannot_be_written_is_named(model, tmp_path):
    with pytest.raises(
        ModelFileError, match=r"no/such/m\.labelsure was not written: No such file or directory\.$"
    ):
        save_model(model, tmp_path / "no" / "such" / "m.labelsure")


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"mondrian": lambda objects: objects[:, 0] > 20}, "<lambda>"),
        ({"mondrian": ByObject(lambda objects: objects[:, 0] > 20)}, "<lambda>"),
        ({"weight": lambda objects: objects[:, 0] + 1}, "<lambda>"),
        (
            {
                "measure": FunctionMeasure(
                    lambda outputs, labelset: (outputs - labelset).sum(axis=1)
                )
            },
            "<lambda>",
        ),
    ],
    ids=["mondrian", "ByObject", "weight", "measure"],
)
def test_functions_of_ones_own_are_refused_in_plain_words(path, options, name):
    model = InductiveConformalClassifier(MLkNNClassifier(4), random_state=0, **options).fit(
        X[TRAIN], Y[TRAIN]
    )
    with pytest.raises(
        ModelFileError, match=f"a function of your own, .*{name}, and files hold no code"
    ):
        save_model(model, path)
    assert not path.exists()


def test_unfitted_and_other_objects_are_refused(path):
    with pytest.raises(
        ModelFileError, match="InductiveConformalClassifier is not fitted: call fit first"
    ):
        save_model(InductiveConformalClassifier(), path)
    with pytest.raises(
        ModelFileError,
        match=r"predictor, controller, selector or classifier of labelsure, got a dict",
    ):
        save_model({}, path)


def test_every_flipped_byte_is_noticed(rule, path, tmp_path):
    save_model(rule, path)
    raw = path.read_bytes()
    assert len(raw) < 2000
    changed = tmp_path / "changed.labelsure"
    for place in range(len(raw)):
        changed.write_bytes(
            raw[:place] + bytes([raw[place] ^ (1 + place % 255)]) + raw[place + 1 :]
        )
        with pytest.raises(ModelFileError):
            load_model(changed)


def test_every_shorter_and_longer_file_is_noticed(rule, path, tmp_path):
    save_model(rule, path)
    raw = path.read_bytes()
    changed = tmp_path / "changed.labelsure"
    for data in [
        *(raw[:length] for length in range(len(raw))),
        raw + b"\0",
        raw + raw,
        b"\0" + raw,
    ]:
        changed.write_bytes(data)
        with pytest.raises(ModelFileError):
            load_model(changed)


@pytest.mark.parametrize("data", [pickle.dumps({"a": 1}), pickle.dumps(os.system), b"\x80\x04x"])
def test_pickle_is_refused_by_its_first_byte(path, refuse, data):
    path.write_bytes(data)
    refuse("it is a pickle, which could run any code")


@pytest.mark.parametrize(
    "data", [b"", b"PK", b"hello", b"PK\x03\x04" + b"\0" * 50, b"PK\x05\x06" + b"\0" * 18]
)
def test_other_files_are_refused(path, refuse, data):
    path.write_bytes(data)
    refuse("it is no model file of labelsure|it is damaged, or cut short")


def test_folder_and_missing_file_are_refused(tmp_path):
    for place in (tmp_path, tmp_path / "none.labelsure"):
        with pytest.raises(
            ModelFileError, match=r"cannot be read: (Is a directory|No such file|Permission denied)"
        ):
            load_model(place)


def test_failed_save_leaves_the_old_file_and_nothing_else(model, path, tmp_path, monkeypatch):
    save_model(model, path)
    before = path.read_bytes()
    with pytest.raises(
        ModelFileError, match=r"was not written: it holds a function of your own, test_failed"
    ):
        save_model(
            ReviewSelector(model, sureness=lambda objects: objects[:, 0]).calibrate(X[NEW], Y[NEW]),
            path,
        )
    with pytest.raises(ModelFileError, match="table must be what JSON can hold"):
        save_model(model, path, table={"a": object()})

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("labelsure.model_file._write_arrays", interrupt)
    with pytest.raises(KeyboardInterrupt):
        save_model(model, path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == [path.name]  # noqa: PTH208 - hidden files too


def test_saving_takes_less_memory_than_the_model_once_more(path):
    rows = np.random.default_rng(0).random((8000, 500))
    labels = np.random.default_rng(0).integers(0, 2, (8000, 2))
    model = InductiveConformalClassifier(
        KNeighborsClassifier(), random_state=0, calibration_size=0.2
    )
    model.fit(rows, labels)
    tracemalloc.start()
    save_model(model, path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 0.5 * model.models_[0].estimator._fit_X.nbytes


def test_forests_and_linear_learners_take_few_members(path):
    """However many trees, labels and folds there are: skops alone writes one for each array."""
    labels = np.random.default_rng(0).integers(0, 2, (72, 12))
    for learner in (RandomForestClassifier(30), OneVsRestClassifier(LogisticRegression())):
        model = CrossConformalClassifier(learner, cv=4, random_state=0).fit(X, labels)
        save_model(model, path)
        with zipfile.ZipFile(path) as archive:
            assert len(archive.namelist()) < 15


def test_other_versions_of_learners_are_refused_and_of_others_said(model, path, refuse):
    save_model(model, path)
    assert {"numpy", "scipy", "skops", "python"} == set(read_manifest(path)["versions"])
    with warnings.catch_warnings(record=True) as caught:
        load_model(path)
    assert not caught
    change_manifest(
        path, labelsure="99.0", versions={"numpy": "1.16.4", "scipy": "0.9", "python": "2.7"}
    )
    with pytest.warns(UserWarning, match="saved with") as caught:
        load_model(path)
    (line,) = [str(warning.message) for warning in caught]
    assert re.search(
        r"labelsure 99\.0 \(here .*\), numpy 1\.16\.4 \(here .*\), scipy 0\.9 \(here [\d.]+\): sh",
        line,
    )
    change_manifest(path, versions={"scikit-learn": "0.24.2", "xgboost": "0.9"})
    refuse(
        r"fitted with scikit-learn 0\.24\.2 \(here .*\), xgboost 0\.9 \(here .*\), .*: install"
        r" those versions"
    )


def test_manifests_of_other_formats_and_with_other_keys_are_refused(rule, path, refuse):
    save_model(rule, path)
    change_manifest(path, format=2, labelsure="9.0")
    refuse(
        r"it has format 2, written by labelsure 9\.0, and this labelsure reads format 1: install"
        r" that version"
    )
    with pytest.raises(ModelFileError, match="it has format 2"):
        read_manifest(path)
    change_manifest(path, format=1, more=None)
    refuse("its manifest has other keys than those of this format")
    for manifest in (b"[]", b'{"format": "1"}', b"{}"):
        rewrite(
            path, lambda members, manifest=manifest: members.update({"manifest.json": manifest})
        )
        refuse("its manifest does not say what format it has")
    rewrite(path, lambda members: members.update({"manifest.json": b"[" * 100_000}))
    refuse("it holds something that refers to itself, or is nested too deep")


def test_long_manifests_and_many_members_are_refused_unread(path, refuse, monkeypatch):
    pack(path, [("manifest.json", b" " * (2**24 + 1))])
    refuse("its manifest has more than 16777216 bytes")
    monkeypatch.setattr("labelsure.model_file.MOST_MEMBERS", 20)
    pack(path, [("manifest.json", b"{}"), *((f"skops/{number}.npy", b"") for number in range(20))])
    refuse("it has more than 20 members")


@pytest.mark.parametrize(
    "name",
    ["../evil.json", "/etc/passwd", "arrays/../../x.npy", "schema.json/", "skops/0.npy ", "a.py"],
)
def test_strange_names_are_refused(path, refuse, name):
    pack(path, [("manifest.json", b"{}"), (name, b"x")])
    refuse("which model files do not have")


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_other_zip_files_are_refused(path, refuse):
    pack(path, [("a.txt", b"x"), ("manifest.json", b"{}")])
    refuse("it is a zip file, but no model file")
    pack(path, [("manifest.json", b"{}"), ("schema.json", b"1"), ("schema.json", b"2")])
    refuse("a member is there twice")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("manifest.json", b"{}")
    refuse("it is a zip file, but no model file")


def test_contents_that_do_not_go_together_are_refused_in_one_line(model, path, refuse, tmp_path):
    """With the right digest: somebody made them."""
    saved = tmp_path / "objects.npy"
    np.save(saved, np.array([os.system], dtype=object), allow_pickle=True)
    for changes in (
        {"arrays/f8.npy": saved.read_bytes()},
        {"arrays.json": b"[]"},
        {"arrays.json": b'[["f8", [1099511627776], "C"]]'},
        {"schema.json": b"{}"},
        {"schema.json": b"null"},
    ):
        save_model(model, path)
        rewrite(path, lambda members, changes=changes: members.update(changes))
        refuse("it is damaged|it has other arrays than it says")


def test_a_part_is_no_model(model, path, refuse, monkeypatch):
    monkeypatch.setattr("labelsure.model_file._check_model", lambda _: None)
    save_model(model.calibrator_, path)
    refuse("it holds no model, but a Calibrator")
