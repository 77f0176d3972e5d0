"""Made-up tables of support tickets: numbers, categories, gaps, three labels."""

import csv

import numpy as np

LABELS = ("bug", "billing", "urgent")


def make_tickets(n_rows, *, seed=0):
    """Return columns by name; labels depend on the features, cells are missing here and there."""
    rng = np.random.default_rng(seed)
    age, size = rng.normal(40, 10, n_rows).round(1), rng.exponential(3, n_rows).round(2)
    plan = rng.choice(["free", "team", "firm"], n_rows)
    noise = rng.normal(size=(n_rows, 3))
    scores = np.column_stack([size - 3, (plan == "firm") * 2 - 1, (age - 40) / 10]) + noise
    gaps = rng.random((n_rows, 2)) < 0.1
    columns = {
        "age": ["" if gap else str(value) for value, gap in zip(age, gaps[:, 0], strict=True)],
        "plan": [
            "" if gap else value for value, gap in zip(plan.tolist(), gaps[:, 1], strict=True)
        ],
        "size": [str(value) for value in size],
    }
    return columns | {
        name: [str(int(on)) for on in scores[:, j] > 0] for j, name in enumerate(LABELS)
    }


def write_csv(path, columns, delimiter=","):
    """Write columns to a CSV file and return its path."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path


def read_csv(path):
    """Return the rows of a CSV file as dicts."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))
