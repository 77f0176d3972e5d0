"""Data, and files with other contents."""

import hashlib
import zipfile

from sklearn.datasets import make_multilabel_classification

X, Y = make_multilabel_classification(n_samples=72, n_features=5, n_classes=3, random_state=0)
TRAIN, NEW = slice(0, 60), slice(60, 72)
SEAL = b"labelsure model file, sha256 "


def rewrite(path, change):
    """Change the members of a file, a dict, and give it the digest that belongs to them."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    pack(path, members.items())


def pack(path, members):
    """Write a zip file of (name, bytes) with its digest."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members:
            archive.writestr(name, data)
        archive.comment = SEAL + b"0" * 64
    written = path.read_bytes()
    path.write_bytes(written[:-64] + hashlib.sha256(written).hexdigest().encode())
