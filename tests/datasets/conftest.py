import pytest

from labelsure.datasets import Dataset, _load, read_mulan


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """A cache of one's own, no data anywhere else, no river, and a server that does not answer."""
    folder = tmp_path / "cache"
    monkeypatch.setattr(_load, "cache_folder", lambda: folder)
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
