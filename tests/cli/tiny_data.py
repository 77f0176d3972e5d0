"""Small made-up data sets in Mulan's format, for commands that read files."""

import numpy as np


def write_tiny(folder, name="tiny", *, n_objects=80, n_labels=3, n_features=4, split=None, seed=0):
    """Write ``name.arff``, or the two files of a split after ``split`` objects, and ``name.xml``; return X and Y."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_objects, n_features)).round(3)
    Y = (X @ rng.normal(size=(n_features, n_labels)) + rng.normal(size=(n_objects, n_labels)) > 0).astype(int)
    Y[Y.sum(axis=1) == 0, 0] = 1
    files = {"": (0, n_objects)} if split is None else {"-train": (0, split), "-test": (split, n_objects)}
    attributes = [f"@attribute f{j} numeric" for j in range(n_features)]
    attributes += [f"@attribute l{j} {{0,1}}" for j in range(n_labels)]
    for ending, rows in files.items():
        lines = [",".join(map(str, [*X[i], *Y[i]])) for i in range(*rows)]
        (folder / f"{name}{ending}.arff").write_text("\n".join([f"@relation {name}", *attributes, "@data", *lines]))
    labels = "".join(f'<label name="l{j}"/>' for j in range(n_labels))
    (folder / f"{name}.xml").write_text(f'<labels xmlns="http://mulan.sourceforge.net/labels">{labels}</labels>')
    return X, Y
