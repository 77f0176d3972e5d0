"""Files as a whole: what they say about themselves, what happens where saving fails, what is refused in one line."""

import json
import os
import pickle
import re
import stat
import warnings
import zipfile

import numpy as np
import pytest
from model_cases import NEW, TRAIN, X, Y

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
from labelsure.models import ModelFileError, open_model, read_manifest
from labelsure.models._archive import SEAL, read_archive, write_archive
from labelsure.models._files import MODEL


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


def signed(path, change):
    """Change the manifest or members of a file, and sign it again."""
    manifest, members = read_archive(path)
    manifest.pop("members")
    change(manifest, members)
    path.unlink()
    write_archive(path, manifest, members)


def packed(path, entries, seal=True):
    """Write a zip file of (name or ZipInfo, data)."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in entries:
            archive.writestr(name, data)
        if seal:
            archive.comment = SEAL + b"0" * 64


def manifest_bytes(**more):
    return json.dumps({"format": 1, "members": {}, "versions": {}, "table": None, **more}).encode()


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
    assert set(manifest["members"]) >= {MODEL, "arrays/0.npy"}
    with zipfile.ZipFile(path) as archive:
        assert archive.namelist()[0] == "manifest.json"
    opened = open_model(path)
    assert opened.table == manifest["table"] == {"columns": {"a": "numeric"}}
    assert opened.manifest == manifest
    assert opened.model.label_names_ == ("sea", "city", "sky")


def test_same_model_makes_the_same_bytes(model, path, tmp_path):
    save_model(model, path)
    save_model(load_model(path), tmp_path / "second.labelsure")
    assert (tmp_path / "second.labelsure").read_bytes() == path.read_bytes()


def test_shared_arrays_are_stored_once(path):
    """Every fold's selector has the same model: twelve mentions take hardly more than one."""
    model = InductiveConformalClassifier(MLkNNClassifier(4), random_state=0).fit(
        np.repeat(X, 20, 0), np.repeat(Y, 20, 0)
    )
    save_model(model, path)
    alone = path.stat().st_size
    model.models_ = model.models_ * 1
    save_model(ReviewSelector(model).calibrate(X[NEW], Y[NEW]), path)
    assert path.stat().st_size < 1.2 * alone
    manifest = read_manifest(path)
    total = sum(member["size"] for name, member in manifest["members"].items() if name.startswith("arrays/"))
    fitted = model.models_[0].estimator
    assert total < 1.3 * (fitted.X_.nbytes + fitted.Y_.nbytes + model.calibrator_.folds[0].scores.nbytes * 3)


def test_failed_save_leaves_the_old_file_and_nothing_else(model, path, tmp_path):
    save_model(model, path)
    before = path.read_bytes()
    with pytest.raises(ModelFileError, match=r"was not written: it holds a function of your own, test_failed"):
        save_model(ReviewSelector(model, sureness=lambda objects: objects[:, 0]).calibrate(X[NEW], Y[NEW]), path)
    with pytest.raises(ModelFileError, match="table must be what JSON can hold"):
        save_model(model, path, table={"a": object()})
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == [path.name]  # noqa: PTH208 - hidden files too


def test_file_that_cannot_be_written_is_named(model, tmp_path):
    with pytest.raises(ModelFileError, match=r"no/such/m\.labelsure was not written: No such file or directory\.$"):
        save_model(model, tmp_path / "no" / "such" / "m.labelsure")


def test_interrupted_save_leaves_nothing_behind(model, path, tmp_path, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("labelsure.models._files._read", interrupt)
    with pytest.raises(KeyboardInterrupt):
        save_model(model, path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"mondrian": lambda objects: objects[:, 0] > 20}, "<lambda>"),
        ({"mondrian": ByObject(lambda objects: objects[:, 0] > 20)}, "<lambda>"),
        ({"weight": lambda objects: objects[:, 0] + 1}, "<lambda>"),
        ({"measure": FunctionMeasure(lambda outputs, labelset: (outputs - labelset).sum(axis=1))}, "<lambda>"),
    ],
    ids=["mondrian", "ByObject", "weight", "measure"],
)
def test_functions_of_ones_own_are_refused_in_plain_words(path, options, name):
    model = InductiveConformalClassifier(MLkNNClassifier(4), random_state=0, **options).fit(X[TRAIN], Y[TRAIN])
    with pytest.raises(ModelFileError, match=f"a function of your own, .*{name}, and files hold no code"):
        save_model(model, path)
    assert not path.exists()


def test_unfitted_and_other_objects_are_refused(path):
    with pytest.raises(ModelFileError, match="InductiveConformalClassifier is not fitted: call fit first"):
        save_model(InductiveConformalClassifier(), path)
    with pytest.raises(ModelFileError, match=r"predictor, controller, selector or classifier of labelsure, got a dict"):
        save_model({}, path)


def test_attributes_that_no_file_keeps_are_not_lost_silently(model, path):
    changed = InductiveConformalClassifier(MLkNNClassifier(4), random_state=0).fit(X[TRAIN], Y[TRAIN])
    changed.remark_ = "mine"
    with pytest.raises(ModelFileError, match="has an attribute 'remark_' that files do not keep"):
        save_model(changed, path)


def test_every_flipped_byte_is_noticed(rule, path, tmp_path):
    save_model(rule, path)
    raw = path.read_bytes()
    assert len(raw) < 2000
    changed = tmp_path / "changed.labelsure"
    for place in range(len(raw)):
        changed.write_bytes(raw[:place] + bytes([raw[place] ^ (1 + place % 255)]) + raw[place + 1 :])
        with pytest.raises(ModelFileError):
            load_model(changed)


def test_every_shorter_and_longer_file_is_noticed(rule, path, tmp_path):
    save_model(rule, path)
    raw = path.read_bytes()
    changed = tmp_path / "changed.labelsure"
    for data in [*(raw[:length] for length in range(len(raw))), raw + b"\0", raw + raw, b"\0" + raw]:
        changed.write_bytes(data)
        with pytest.raises(ModelFileError):
            load_model(changed)


def test_newer_format_is_refused(rule, path, refuse):
    save_model(rule, path)
    signed(path, lambda manifest, _: manifest.update(format=2, labelsure="9.0"))
    refuse(r"it has format 2, written by labelsure 9\.0, and this labelsure reads format 1: install that version")
    with pytest.raises(ModelFileError, match="it has format 2"):
        read_manifest(path)


def test_other_scikit_learn_is_refused_where_learners_come_from_it(path, refuse):
    pytest.importorskip("skops")
    from sklearn.linear_model import LogisticRegression
    from sklearn.multiclass import OneVsRestClassifier

    learner = OneVsRestClassifier(LogisticRegression())
    save_model(InductiveConformalClassifier(learner, random_state=0).fit(X[TRAIN], Y[TRAIN]), path)
    assert "sklearn.linear_model._logistic.LogisticRegression" in read_manifest(path)["learners"]
    signed(
        path, lambda manifest, _: manifest.update(learners=[], versions={"scikit-learn": "0.24.2", "xgboost": "0.9"})
    )
    refuse(
        r"fitted with scikit-learn 0\.24\.2 \(here .*\), xgboost 0\.9 \(here .*\), .*: install those versions, or fit"
    )
    signed(path, lambda manifest, _: manifest.update(versions={}))
    refuse(r"fitted with scikit-learn of an unknown version \(here")


def test_other_versions_beneath_are_said_in_one_line(model, path):
    """Of labelsure as well: files of a later one are read as long as the format is the same."""
    save_model(model, path)
    assert {"numpy", "scipy", "python"} == set(read_manifest(path)["versions"])
    with warnings.catch_warnings(record=True) as caught:
        load_model(path)
    assert not caught
    signed(path, lambda manifest, _: manifest.update(labelsure="99.0", versions={"numpy": "1.16.4", "scipy": "0.9"}))
    with pytest.warns(UserWarning, match="saved with") as caught:
        load_model(path)
    (line,) = [str(warning.message) for warning in caught]
    assert re.search(
        r"labelsure 99\.0 \(here .*\), numpy 1\.16\.4 \(here .*\), scipy 0\.9 \(here [\d.]+\): should", line
    )


def test_other_scikit_learn_does_not_matter_without_learners_of_it(model, path):
    save_model(model, path)
    signed(path, lambda manifest, _: manifest["versions"].update({"scikit-learn": "0.24.2"}))
    np.testing.assert_array_equal(load_model(path).predict(X[NEW]), model.predict(X[NEW]))


@pytest.mark.parametrize("data", [pickle.dumps({"a": 1}), pickle.dumps(os.system), b"\x80\x04x"])
def test_pickle_is_refused_by_its_first_byte(path, refuse, data):
    path.write_bytes(data)
    refuse("it is a pickle, which could run any code")


def test_pickle_within_an_array_is_refused(rule, model, path, refuse, tmp_path):
    save_model(model, path)
    saved = tmp_path / "objects.npy"
    np.save(saved, np.array([os.system], dtype=object), allow_pickle=True)
    signed(path, lambda _, members: members.update({"arrays/0.npy": saved.read_bytes()}))
    refuse("arrays of object cannot be kept")


@pytest.mark.parametrize("data", [b"", b"PK", b"hello", b"PK\x03\x04" + b"\0" * 50, b"PK\x05\x06" + b"\0" * 18])
def test_other_files_are_refused(path, refuse, data):
    path.write_bytes(data)
    refuse("it is no model file of labelsure|it is damaged, or cut short")


def test_folder_and_missing_file_are_refused(tmp_path):
    for place in (tmp_path, tmp_path / "none.labelsure"):
        with pytest.raises(ModelFileError, match=r"cannot be read: (Is a directory|No such file|Permission denied)"):
            load_model(place)


def test_members_that_overlap_are_refused(rule, path, refuse):
    save_model(rule, path)
    data = bytearray(path.read_bytes())
    place = data.rindex(b"PK\x01\x02") + 20  # where the list of members says how many bytes the last one takes
    data[place : place + 4] = len(data).to_bytes(4, "little")
    path.write_bytes(data)
    refuse("its members overlap")


def test_other_zip_files_are_refused(path, refuse):
    packed(path, [("a.txt", b"x")])
    refuse("it is a zip file, but no model file")
    packed(path, [("a.txt", b"x"), ("manifest.json", manifest_bytes())])
    refuse("it is a zip file, but no model file")
    packed(path, [("manifest.json", manifest_bytes())], seal=False)
    refuse("it is a zip file, but no model file")


@pytest.mark.parametrize(
    "name",
    ["../evil.json", "/etc/passwd", "arrays/../../x.npy", "arrays\\0.npy", "C:x", "model.json/",
     "learners/0.json ", "MODEL.JSON", "arrays/1e9.npy", "code.py"],
)  # fmt: skip
def test_strange_names_are_refused(path, refuse, name):
    packed(path, [("manifest.json", manifest_bytes()), (name, b"x")])
    refuse("there is no such thing|it is a zip file|damaged")


def test_links_are_refused(path, refuse):
    info = zipfile.ZipInfo("model.json")
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    packed(path, [("manifest.json", manifest_bytes()), (info, b"/etc/passwd")])
    refuse("has a member 'model.json', and there is no such thing")


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_members_that_are_there_twice_are_refused(path, refuse):
    packed(path, [("manifest.json", manifest_bytes()), ("model.json", b"1"), ("model.json", b"2")])
    refuse("a member is there twice")


def test_bombs_are_refused_before_they_are_unpacked(path, refuse, monkeypatch):
    packed(path, [("manifest.json", manifest_bytes()), ("arrays/0.npy", b"\0" * 2**24)])

    def explode(*_):
        raise AssertionError("unpacked")

    monkeypatch.setattr("labelsure.models._archive._read", explode)
    refuse("grows to more than 250 times its size")


def test_sizes_that_lie_are_refused(path, refuse):
    packed(path, [("manifest.json", manifest_bytes()), ("model.json", b"x" * 3000)])
    raw = path.read_bytes()
    assert raw.count((3000).to_bytes(4, "little")) >= 2
    path.write_bytes(raw.replace((3000).to_bytes(4, "little"), (10).to_bytes(4, "little")))
    refuse("checksum differs|damaged|another size")


def test_manifest_that_lies_is_refused(rule, path, refuse):
    save_model(rule, path)
    manifest, members = read_archive(path)
    manifest["members"][MODEL]["size"] += 1
    packed(path, [("manifest.json", json.dumps(manifest)), *members.items()])
    import hashlib

    raw = path.read_bytes()[:-64]
    path.write_bytes(raw + hashlib.sha256(raw).hexdigest().encode())
    refuse("model.json is not what its manifest says")
    del manifest["members"][MODEL]
    packed(path, [("manifest.json", json.dumps(manifest)), *members.items()])
    raw = path.read_bytes()[:-64]
    path.write_bytes(raw + hashlib.sha256(raw).hexdigest().encode())
    refuse("its members are not those that its manifest lists")


def test_content_is_checked_where_checksums_are_right(rule, path, refuse):
    save_model(rule, path)

    def change(_, members):
        content = json.loads(members[MODEL])
        content["entries"][-1]["fields"]["n_labels"] = "many"
        members[MODEL] = json.dumps(content).encode()

    signed(path, change)
    refuse("n_labels of ThresholdPredictor must be a whole number")


def test_a_part_is_no_model(model, path, refuse):
    save_model(model, path)

    def change(_, members):
        content = json.loads(members[MODEL])
        del content["entries"][-1]
        members[MODEL] = json.dumps(content).encode()

    signed(path, change)
    refuse("it holds no model, but a Calibrator")


def test_messages_are_one_line_even_for_long_errors(path):
    packed(path, [("manifest.json", b"[" * 100_000)])
    with pytest.raises(ModelFileError) as caught:
        load_model(path)
    assert re.fullmatch(r"[^\n]{1,700}", str(caught.value))
