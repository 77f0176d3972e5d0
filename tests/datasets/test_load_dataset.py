import gzip
import importlib.util
import sys
from functools import partial
from hashlib import sha256
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from labelsure.datasets import DatasetError, _load, load_dataset
from labelsure.datasets._load import KNOWN_NAMES, SHA256, files_of, yeast_from_river

HEAD = "@relation toy\n@attribute x numeric\n@attribute a {0,1}\n@data\n"
XML = '<labels><label name="a"/></labels>'


def put(folder, name, value, *, split=True):
    """Write a tiny data set whose first feature is ``value``."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.xml").write_text(XML)
    if split:
        (folder / f"{name}-train.arff").write_text(f"{HEAD}{value},1\n")
        (folder / f"{name}-test.arff").write_text(f"{HEAD}{value},0\n")
    else:
        (folder / f"{name}.arff").write_text(f"{HEAD}{value},1\n")


def files_below(folder):
    return sorted(path.name for path in Path(folder).rglob("*") if path.is_file())


@pytest.fixture
def tiny_scene(tmp_path, monkeypatch):
    """A folder whose files pass for the published files of scene."""
    folder = tmp_path / "server" / "scene"
    put(folder, "scene", 3)
    for file in files_of("scene"):
        monkeypatch.setitem(SHA256, file, sha256((folder / file).read_bytes()).hexdigest())
    return folder


class Handler(SimpleHTTPRequestHandler):
    def log_message(self, *args):  # noqa: ARG002
        self.server.requests.append(self.path)


@pytest.fixture
def serve(monkeypatch):
    """Serve a folder on this machine, and make it the mirror; the handler may be replaced."""
    servers = []

    def start(folder, handler=Handler):
        server = ThreadingHTTPServer(("127.0.0.1", 0), partial(handler, directory=str(folder)))
        server.requests = []
        servers.append(server)
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        monkeypatch.setenv("LABELSURE_MIRROR", f"http://127.0.0.1:{server.server_port}")
        return server

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def test_load_dataset_looks_in_data_home_then_environment_then_cache_then_server(
    cache, tiny_scene, serve, tmp_path, monkeypatch
):
    home, environment = tmp_path / "home", tmp_path / "environment"
    put(home, "scene", 1)
    put(environment, "scene", 2)
    server = serve(tiny_scene.parent)
    monkeypatch.setenv("LABELSURE_DATA", str(environment))
    assert load_dataset("scene", data_home=home).X.tolist() == [[1], [1]]
    assert load_dataset("scene").X.tolist() == [[2], [2]]
    assert server.requests == []
    monkeypatch.delenv("LABELSURE_DATA")
    assert load_dataset("scene").X.tolist() == [[3], [3]]
    assert len(server.requests) == 3
    assert load_dataset("scene").X.tolist() == [[3], [3]]
    assert len(server.requests) == 3  # from the cache
    assert files_below(cache) == sorted(files_of("scene"))
    assert files_below(home) == sorted(files_of("scene"))


def test_load_dataset_reads_the_users_own_data_with_and_without_split(cache, tmp_path):
    put(tmp_path, "mine", 5)
    put(tmp_path / "whole", "whole", 6, split=False)
    mine = load_dataset("mine", data_home=str(tmp_path))
    assert (mine.name, mine.X.tolist(), mine.Y.tolist(), mine.n_train) == (
        "mine",
        [[5], [5]],
        [[1], [0]],
        1,
    )
    whole = load_dataset("whole", data_home=tmp_path)  # in a folder of its own name
    assert (whole.name, whole.X.tolist(), whole.n_train) == ("whole", [[6]], 1)


def test_half_a_dataset_in_the_users_folder_is_an_error(cache, tmp_path):
    put(tmp_path, "scene", 5)
    (tmp_path / "scene.xml").unlink()
    with pytest.raises(
        DatasetError, match=r"holds scene-train.arff and scene-test.arff, but not all .*scene\.xml"
    ):
        load_dataset("scene", data_home=tmp_path)


SAME_ORDER = "values of attribute 'x' in the same order"
PARTS = [  # what the training file declares, the test file, a row of this, and what is wrong
    ("x numeric", "z numeric", "?,0", "feature 1 is 'x' in the first and 'z' in the second"),
    (
        "x real",
        "x real\n@attribute y real",
        "?,?,0",
        "feature 2 is no more in the first and 'y' in the second",
    ),
    ("x {a,b}", "x {b,a}", "?,0", SAME_ORDER),
    ("x {a,b}", "x {a,c}", "?,0", SAME_ORDER),
    ("x numeric", "x {a,b}", "?,0", SAME_ORDER),
    ("x {1,2}", "x {1,y}", "?,0", SAME_ORDER),
    ("x {a,b}", "x {a,b,c}", "?,0", None),
]


@pytest.mark.parametrize(("ours", "theirs", "row", "problem"), PARTS)
def test_train_and_test_file_must_declare_the_same(cache, tmp_path, ours, theirs, row, problem):
    put(tmp_path, "mine", "?")
    for part, declared, rows in (("train", ours, "?,0"), ("test", theirs, row)):
        (tmp_path / f"mine-{part}.arff").write_text(HEAD.replace("x numeric", declared) + rows)
    if problem is None:
        assert load_dataset("mine", data_home=tmp_path).categories == {
            "x": {"a": 0.0, "b": 1.0, "c": 2.0}
        }
        return
    with pytest.raises(DatasetError, match=f"mine-train.arff and .*mine-test.arff .*{problem}"):
        load_dataset("mine", data_home=tmp_path)


def test_unknown_name_lists_what_is_known_and_suggests_the_nearest(cache, tmp_path):
    with pytest.raises(DatasetError, match=r"'Yeasts' is not .* Did you mean 'yeast'\?") as caught:
        load_dataset("Yeasts", data_home=tmp_path)
    for word in (*KNOWN_NAMES, str(tmp_path), "Yeasts-train.arff", "data_home="):
        assert word in str(caught.value)


@pytest.mark.parametrize("name", ["", "../scene", "a/b", None, 3, "scene/"])
def test_name_that_is_no_name_is_refused(cache, name):
    with pytest.raises(DatasetError, match="name must be the name of a data set"):
        load_dataset(name)


def test_data_home_must_exist(cache, tmp_path):
    with pytest.raises(DatasetError, match="data_home must be an existing folder"):
        load_dataset("scene", data_home=tmp_path / "nowhere")


def test_download_false_says_where_it_looked_and_what_to_do(cache, tmp_path):
    with pytest.raises(
        DatasetError, match=r"'scene' was not found.*download=True.*scene-train\.arff"
    ) as caught:
        load_dataset("scene", data_home=tmp_path, download=False)
    assert str(tmp_path) in str(caught.value)
    assert str(cache) in str(caught.value)
    with pytest.raises(DatasetError, match=r"labelsure\[yeast\]"):
        load_dataset("yeast", download=False)
    assert not cache.exists()


def test_wrong_checksum_is_named_and_leaves_nothing_behind(cache, tiny_scene, serve, monkeypatch):
    monkeypatch.setitem(SHA256, "scene-test.arff", "0" * 64)
    serve(tiny_scene.parent)
    with pytest.raises(
        DatasetError,
        match=r"scene-test\.arff is not the file we know: .*0{64}.*Nothing was kept.*data_home=",
    ):
        load_dataset("scene")
    # whole and verified; the next attempt starts from there
    assert files_below(cache) == ["scene-train.arff"]


def test_missing_file_on_the_server_leaves_nothing_behind(cache, serve, tmp_path):
    serve(tmp_path)
    with pytest.raises(
        DatasetError, match=r"scene-train\.arff could not be fetched.*404.*LABELSURE_MIRROR"
    ):
        load_dataset("scene")
    assert files_below(cache) == []


@pytest.mark.parametrize(
    "mirror", ["http://127.0.0.1:9", "nonsense", "ftp://127.0.0.1/x", "http://["]
)
def test_mirror_that_is_no_address_is_a_dataset_error(cache, monkeypatch, mirror):
    monkeypatch.setenv("LABELSURE_MIRROR", mirror)
    with pytest.raises(DatasetError, match="could not be fetched"):
        load_dataset("scene")
    assert files_below(cache) == []


class CutOff(Handler):
    """Promises the whole file and closes the connection half way."""

    def copyfile(self, source, outputfile):
        content = source.read()
        outputfile.write(content[: len(content) // 2])


def test_interrupted_download_leaves_nothing_behind(cache, tiny_scene, serve):
    serve(tiny_scene.parent, CutOff)
    with pytest.raises(DatasetError, match=r"scene-train\.arff"):
        load_dataset("scene")
    assert files_below(cache) == []


def test_damaged_cache_is_replaced(cache, tiny_scene, serve):
    server = serve(tiny_scene.parent)
    load_dataset("scene")
    (cache / "scene-test.arff").write_text("@relation cut")
    with pytest.raises(DatasetError, match="not found, or not whole"):
        load_dataset("scene", download=False)
    assert load_dataset("scene").X.tolist() == [[3], [3]]
    assert server.requests.count("/scene/scene-test.arff") == 2
    assert server.requests.count("/scene/scene-train.arff") == 1


def test_cache_that_cannot_be_written_is_a_dataset_error(cache, tiny_scene, serve):
    serve(tiny_scene.parent)
    cache.write_text("a file stands where the folder should be")
    with pytest.raises(DatasetError, match=r"could not be fetched to .*data_home="):
        load_dataset("scene")


def test_a_user_without_a_home_gets_no_folder_called_tilde(monkeypatch, tmp_path):
    monkeypatch.setattr(_load, "cache_folder", lambda: Path("~/.cache/labelsure"))
    monkeypatch.delenv("LABELSURE_DATA", raising=False)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DatasetError, match="no home folder to keep a download in"):
        load_dataset("scene")
    assert list(tmp_path.iterdir()) == []


def test_download_shows_a_bar_on_a_terminal(cache, tiny_scene, serve, capsys, monkeypatch):
    from labelsure import _parallel

    monkeypatch.setattr(_parallel, "SECONDS_BEFORE_SHOWN", 0.0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    serve(tiny_scene.parent)
    load_dataset("scene")
    assert "scene-train.arff:   0%|" in capsys.readouterr().err


def test_published_files_download_with_their_checksums(cache, mulan_folder, serve, tmp_path):
    (tmp_path / "emotions").symlink_to(mulan_folder)
    serve(tmp_path)
    data = load_dataset("emotions")
    assert (data.X_train.shape, data.Y_test.shape) == ((391, 72), (202, 6))


def test_yeast_comes_from_river_without_importing_it(cache, monkeypatch):
    if importlib.util.find_spec("river") is None:
        pytest.skip("river is not installed")
    monkeypatch.setattr(_load, "yeast_from_river", yeast_from_river)
    was_imported = "river" in sys.modules
    data = load_dataset("yeast", download=False)
    assert ("river" in sys.modules) == was_imported
    assert (data.X_train.shape, data.X_test.shape, data.Y.shape) == (
        (1500, 103),
        (917, 103),
        (2417, 14),
    )
    assert data.source.endswith("yeast.csv.gz")


def test_river_without_the_right_file_is_ignored(tmp_path, monkeypatch):
    (tmp_path / "river" / "datasets").mkdir(parents=True)
    (tmp_path / "river" / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    assert yeast_from_river() is None
    file = tmp_path / "river" / "datasets" / "yeast.csv.gz"
    right = gzip.compress(b"Att1,Class1\n1,0\n")
    for content in (
        b"",
        b"not gzip",
        right[:-9],
        gzip.compress(b"Att1\nabc\n"),
        gzip.compress(b"Att1\n\xff\n"),
        right,
    ):
        file.write_bytes(content)
        assert yeast_from_river() is None
