"""What users say about labelsets means what it says, and what makes no sense is refused."""

import re

import numpy as np
import pandas as pd
import pytest

from brute_force import allowed_codes, labelsets_of
from constraint_cases import random_constraints
from labelsure.engine import (
    Allowed,
    AtLeast,
    AtMost,
    Exactly,
    Exclude,
    Hierarchy,
    Implies,
    _constraints,
    _rules,
    broken_by,
    compile_constraints,
)
from labelsure.measures._labelset_bits import encode

NAMES = ["animal", "dog", "spaniel", "plant"]


@pytest.mark.parametrize("seed", range(200))
def test_constraints_allow_what_their_definitions_do(seed):
    rng = np.random.default_rng(seed)
    n_labels = int(rng.integers(1, 8))
    constraints = random_constraints(rng, n_labels)
    expected = allowed_codes(constraints, n_labels)
    everyone = labelsets_of(np.arange(2**n_labels), n_labels).astype(np.int8)
    if not expected:
        with pytest.raises(ValueError, match="No labelset obeys all constraints"):
            compile_constraints(constraints, n_labels)
        return
    rules = compile_constraints(constraints, n_labels)
    assert (
        encode(everyone[rules.allow(everyone)]).tolist()
        == encode(rules.labelsets()).tolist()
        == expected
    )
    assert rules.n_allowed == len(expected)
    for one in constraints:
        obedient = allowed_codes([one], n_labels)
        assert (
            sorted({*range(2**n_labels)} - {*obedient})
            == broken_by(one, everyone, rules_names(n_labels)).tolist()
        )


def rules_names(n_labels):
    return [f"label_{j}" for j in range(n_labels)]


@pytest.mark.parametrize(
    ("by_name", "by_number"),
    [
        (Implies("dog", "animal"), Implies(1, 0)),
        (Implies("spaniel", ["dog", "animal"]), Implies(2, [1, 0])),
        (Exclude(["dog", "plant"]), Exclude([1, 3])),
        (AtMost(1, ["dog", "plant"]), Exclude([1, 3])),
        (AtLeast(1, ["animal", "plant"]), AtLeast(1, [0, np.int64(3)])),
        (Exactly(1, ["animal", "plant"]), Exactly(1, (0, "plant"))),
        (Hierarchy({"spaniel": "dog", "dog": "animal"}), Hierarchy({2: 1, "dog": 0})),
        (Allowed([{"animal", "dog"}, set()]), Allowed([[0, 0, 0, 0], [1, 1, 0, 0]])),
        (Allowed([{"plant"}]), Allowed(pd.DataFrame([[1, 0, 0, 0]], columns=NAMES[::-1]))),
    ],
)
def test_labels_are_named_or_numbered(by_name, by_number):
    allowed = [compile_constraints(one, NAMES).labelsets().tolist() for one in (by_name, by_number)]
    assert allowed[0] == allowed[1]


@pytest.mark.parametrize(
    ("constraint", "words"),
    [
        (
            Implies("cat", "animal"),
            "got 'cat'. The labels are 'animal', 'dog', 'spaniel', 'plant'.",
        ),
        (Implies("dog", 4), "number them from 0 to 3, got 4"),
        (Implies("dog", -1), "got -1"),
        (Implies("dog", True), "got True"),
        (Exclude(["dog"]), "at least two labels"),
        (AtMost(1, []), "at least one label, and none twice, got []"),
        (AtMost(1, ["dog", 1]), "none twice, got ['dog', 1]"),
        (AtMost(3, ["dog", "plant"]), "0 to 2 labels of 2, got 3"),
        (AtLeast(-1, ["dog", "plant"]), "got -1"),
        (Exactly(1.5, ["dog", "plant"]), "got 1.5"),
        (Hierarchy(["dog"]), "must map labels to their parents"),
        (Hierarchy({"dog": "animal", "animal": "dog"}), "no circles"),
        (Hierarchy({"dog": "dog"}), "no circles"),
        (Hierarchy({"dog": "cat"}), "got 'cat'"),
        (Allowed([]), "at least one labelset"),
        (Allowed([{"cat"}]), "got 'cat'"),
        (Allowed([[0, 1, 2, 0]]), "Allowed(labelsets)"),
        (Allowed([[0, 1]]), "Allowed(labelsets)"),
        ("dog", "must be constraints such as"),
        (7, "must be constraints such as"),
        ([Implies("dog", "animal"), "dog"], "must be constraints such as"),
    ],
)
def test_what_makes_no_sense_is_refused(constraint, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        compile_constraints(constraint, NAMES)


def test_contradictions_are_named():
    constraints = [
        AtLeast(1, ["dog"]),
        Implies("dog", "animal"),
        AtMost(0, ["animal"]),
        AtMost(1, NAMES),
    ]
    with pytest.raises(
        ValueError, match=re.escape(f"{constraints[2]!r} contradicts those before it")
    ):
        compile_constraints(constraints, NAMES)
    with pytest.raises(
        ValueError, match=r"Allowed\(labelsets=\[\{'plant'\}\]\) contradicts those before it"
    ):
        compile_constraints([Allowed([{"dog"}]), Allowed([{"plant"}])], NAMES)


def test_entangled_constraints_are_refused(monkeypatch):
    rng = np.random.default_rng(0)
    groups = [AtMost(4, rng.permutation(60)[:9].tolist()) for _ in range(60)]
    monkeypatch.setattr(_rules, "MAX_CASES", 100)
    with pytest.raises(ValueError, match="overlap so much"):
        _constraints.compile_constraints(groups, 60)


def test_a_label_that_implies_itself_says_nothing():
    assert compile_constraints(Implies("dog", "dog"), NAMES).n_allowed == 16
