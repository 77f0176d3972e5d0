import os
from pathlib import Path

import pytest

from labelsure.datasets import Dataset, _load, _sources, read_mulan


@pytest.fixture(scope="session")
def mulan_folder():
    """The folder with the seven benchmark sets."""
    folder = os.environ.get("LABELSURE_DATA", "")
    if not folder or not Path(folder, "scene.xml").is_file():
        pytest.skip("LABELSURE_DATA does not name a folder with the Mulan data sets")
    return Path(folder)


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """A cache of one's own, no data anywhere else, no river, and a server that does not answer."""
    folder = tmp_path / "cache"
    for module in (_sources, _load):
        monkeypatch.setattr(module, "cache_folder", lambda: folder)
    monkeypatch.setattr(_load, "yeast_from_river", lambda: None)
    monkeypatch.delenv("LABELSURE_DATA", raising=False)
    monkeypatch.setenv("LABELSURE_MIRROR", "http://127.0.0.1:9")
    return folder


@pytest.fixture
def read_text(tmp_path):
    """Read an ARFF file with this content."""

    def read(content: str | bytes, labels=("a", "b"), name="toy.arff") -> Dataset:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return read_mulan(path, labels)

    return read
