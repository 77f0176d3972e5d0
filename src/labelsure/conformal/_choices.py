"""The parameters of a predictor beside its learner, checked before anything is fitted."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from labelsure._checks import (
    BoolArray,
    FloatArray,
    LabelMatrix,
    MatrixLike,
    as_numbers,
    check_choice,
    check_flag,
    made_up_names,
    n_rows,
)
from labelsure.conformal._guarantees import GUARANTEES
from labelsure.conformal._taxonomy import (
    ByLabel,
    Categories,
    Taxonomy,
    check_objects,
    check_taxonomy,
)
from labelsure.engine import Constraint, broken_by, compile_constraints
from labelsure.engine._constraints import list_constraints
from labelsure.engine._results import EngineOptions
from labelsure.engine._rules import LabelsetRules
from labelsure.measures import AutoMeasure, Measure, Need
from labelsure.measures._auto import default_measure

WITHOUT_WEIGHT = {
    "mondrian": "categories of weighed examples have no common denominator, so p-values would be"
    " rounded",
    "smoothed": "exact weights and exact draws together do not fit whole numbers of 64 bits",
    "folds": "nothing is proven about weighed p-values of several folds",
}
"""What does not go with weights, and why."""

CHOICES = (
    "guarantee",
    "smoothed",
    "empty_labelset",
    "mondrian",
    "weight",
    "constraints",
    "on_violation",
)
"""Parameters that say how calibration examples count; not every classifier has all of them."""

SHOWN_ROWS = 5


@dataclass(frozen=True)
class Choices:
    """How calibration examples are counted.

    Attributes
    ----------
    guarantee : str
        How folds are merged.
    smoothed : bool
        Whether ties are counted with a random weight.
    empty_labelset : str
        What the empty labelset is: "auto", "allow" or "exclude".
    taxonomy : Taxonomy or None
        Within which categories examples are counted.
    weight : callable or None
        From objects to what they count.
    constraints : LabelsetRules or None
        What labelsets obey.
    on_violation : str
        What to do with constraints that examples break: "refuse" or "drop".
    known_rules : LabelsetRules or None
        The constraints that measures may be chosen by: none that calibration examples might have
        dropped, for then these would choose.
    """

    guarantee: str = "cross"
    smoothed: bool = False
    empty_labelset: str = "auto"
    taxonomy: Taxonomy | None = None
    weight: Callable[[MatrixLike], Any] | None = None
    constraints: Any = None
    on_violation: str = "refuse"
    known_rules: LabelsetRules | None = None

    @classmethod
    def of(cls, model: Any) -> "Choices":
        """Return the parameters of a predictor, unchecked; the default where it lacks one."""
        given = {name: getattr(model, name) for name in CHOICES if hasattr(model, name)}
        return cls(taxonomy=given.pop("mondrian", None), **given)

    def describe(
        self, X: MatrixLike, Y: LabelMatrix, calibration: Any = None
    ) -> tuple[Categories | None, FloatArray | None]:
        """Return the categories and the weights of examples, None where there are none.

        Raise ValueError where the weights of all rows that calibrate, if these are given, are 0.
        """
        categories = None if self.taxonomy is None else self.taxonomy.of_examples(X, Y)
        weights = None if self.weight is None else self.weights_of(X)
        if weights is not None and calibration is not None and not weights[calibration].any():
            raise ValueError(
                "weight is 0 for all calibration objects: none of them says anything about new"
                " objects."
            )
        return categories, weights

    def weights_of(self, X: MatrixLike) -> FloatArray:
        """Return the weights of objects, or say what is wrong with them."""
        assert self.weight is not None
        given = as_numbers(
            self.weight(check_objects(X)), name="what weight returns", shape="(n_objects,)"
        )
        weights = given.astype(np.float64)
        if weights.shape != (n_rows(X),):
            raise ValueError(
                f"weight must return one number per object, {n_rows(X)} in all, got an array of"
                f" shape {weights.shape}."
            )
        wrong = weights[~(np.isfinite(weights) & (weights >= 0))]
        if len(wrong):
            raise ValueError(
                "weight must return numbers of at least 0, the density of new objects over that of"
                f" training objects, got {wrong[0]}."
            )
        return weights


def check_choices(
    asked: Choices,
    measure: Any,
    *labels: LabelMatrix,
    label_names: Sequence[str] | None,
    one_fold: bool,
    known: Need = Need.TRAINING_LABELS | Need.OUT_OF_FOLD_OUTPUTS,
) -> tuple[Choices, Measure]:
    """Return the checked choices and the measure, or raise ValueError where they are invalid.

    Parameters
    ----------
    asked : Choices
        As the user passed them, ``mondrian`` in the place of the taxonomy, constraints as they were
        given.
    measure : object
        As the user passed it; None is the default.
    *labels : arrays of shape (n, q)
        All labelsets that are known.
    label_names : sequence of str or None
        What the labels are called.
    one_fold : bool
        Whether there is one model only.
    known : Need
        What the default measure can know of training parts.
    """
    mondrian = asked.taxonomy
    weight = asked.weight
    smoothed = check_flag(asked.smoothed, name="smoothed")
    check_choice(asked.empty_labelset, ("auto", "allow", "exclude"), name="empty_labelset")
    check_guarantee(asked.guarantee, smoothed=smoothed, one_fold=one_fold)
    if weight is not None and not callable(weight):
        raise ValueError(
            f"weight must be a function from objects to numbers, or None, got {weight!r}."
        )
    others = {"mondrian": mondrian is not None, "smoothed": smoothed, "folds": not one_fold}
    clashes = [name for name, also in others.items() if also and weight is not None]
    if clashes:
        raise ValueError(
            f"weight does not go with {clashes[0]}: {WITHOUT_WEIGHT[clashes[0]]}. Choose one of the"
            " two."
        )
    n_labels = labels[0].shape[1]
    taxonomy = None if mondrian is None else check_taxonomy(mondrian, label_names, n_labels)
    if measure is None:
        measure = default_measure(known)
    elif isinstance(measure, str) and measure == "auto":
        measure = AutoMeasure()
    elif isinstance(measure, Measure):
        measure.check_parameters(n_labels)
    else:
        raise ValueError(
            "measure must be a nonconformity measure such as labelsure.measures.PowerMeasure(), got"
            f" {measure!r}. Pass measure='auto' to have one chosen."
        )
    if isinstance(taxonomy, ByLabel):
        _check_no_root(measure, n_labels)
    if asked.empty_labelset == "exclude":
        check_some_labels(labels, stacklevel=5)
    check_choice(asked.on_violation, ("refuse", "drop"), name="on_violation")
    rules = None
    if asked.constraints is not None:
        rules = check_constraints(
            asked.constraints,
            asked.on_violation,
            *labels,
            label_names=label_names,
            empty_labelset=asked.empty_labelset,
        )
    if n_labels > EngineOptions().max_table_labels and (rules is None or rules.listed is None):
        _check_no_maximum(measure, n_labels)
    known_rules = rules if asked.on_violation == "refuse" else None
    return replace(
        asked, smoothed=smoothed, taxonomy=taxonomy, constraints=rules, known_rules=known_rules
    ), measure


def _check_no_root(measure: Measure, n_labels: int) -> None:
    """Raise ValueError where the scores of a measure cannot be told apart by one label."""
    roots = _parts_of_form(measure, "root", n_labels)
    if roots:
        raise ValueError(
            f"mondrian by one label goes with measures without a square root, got {roots[0]!r} in"
            f" measure={measure!r}. Choose ByCardinality(), a measure such as LogLossMeasure(), or"
            " AutoMeasure() with such candidates."
        )


def _check_no_maximum(measure: Measure, n_labels: int) -> None:
    """Raise ValueError where a measure is a maximum over more labels than a table can hold."""
    maxima = _parts_of_form(measure, "maximum", n_labels)
    if maxima:
        most = EngineOptions().max_table_labels
        raise ValueError(
            f"{maxima[0]!r} is a maximum over labels, so all labelsets are scored one by one, which"
            f" is possible for up to {most} labels, got {n_labels} labels. Choose a measure that is"
            " searched at any number of labels, such as PowerMeasure(d=8), or list the candidates"
            " with constraints=Allowed(...)."
        )


def _parts_of_form(measure: Measure, form: str, n_labels: int) -> list[Measure]:
    """Return the parts of a measure, or of the candidates for one, that have this form."""
    alternatives = measure.alternatives(n_labels)
    return [part for each in alternatives for part in each.parts() if part.form == form]


def check_some_labels(labels: Sequence[LabelMatrix | BoolArray], *, stacklevel: int) -> None:
    """Warn, or raise ValueError, where ``empty_labelset="exclude"`` excludes true labelsets."""
    n_known = sum(len(part) for part in labels)
    n_empty = sum(int((~part.any(axis=1)).sum()) for part in labels)
    if n_empty == n_known:
        raise ValueError(
            'empty_labelset="exclude" leaves out the empty labelset, and no example has another:'
            " every region would miss."
            ' Use empty_labelset="auto", or check that Y holds the labels.'
        )
    if n_empty:
        warnings.warn(
            f"{n_empty} of {n_known} examples have no label, and with"
            ' empty_labelset="exclude" no region holds the empty labelset: objects without labels'
            ' are always missed. Use empty_labelset="auto" unless there will be none.',
            UserWarning,
            stacklevel=stacklevel,
        )


def check_guarantee(guarantee: str, *, smoothed: bool, one_fold: bool) -> None:
    """Raise ValueError where a guarantee cannot be combined with the other choices."""
    if check_choice(guarantee, GUARANTEES, name="guarantee") == "cross":
        return
    if smoothed:
        raise ValueError(
            "smoothed=True can be combined with guarantee='cross' only, got guarantee='exact',"
            " which is proven for whole counts."
        )
    if one_fold:
        raise ValueError(
            "guarantee='exact' merges the p-values of at least two folds, got one fold. An"
            " inductive predictor is exact already: leave guarantee out."
        )


def check_constraints(
    constraints: Any,
    on_violation: str,
    *labels: LabelMatrix,
    label_names: Sequence[str] | None,
    empty_labelset: str,
) -> LabelsetRules | None:
    """Return constraints as engines take them, None for an empty list, or raise ValueError.

    Parameters
    ----------
    constraints : Constraint or sequence of Constraint
        As the user passed them.
    on_violation : {"refuse", "drop"}
        What to do where examples break a constraint: raise ValueError, or warn and leave the
        constraint out.
    *labels : arrays of shape (n, q)
        All labelsets that are known.
    label_names : sequence of str or None
        What the labels are called.
    empty_labelset : str
        What the empty labelset is.
    """
    everyone = np.concatenate(labels)
    names = label_names or made_up_names(everyone.shape[1])
    given = list_constraints(constraints)
    if not given:
        return None
    rules = compile_constraints(given, names)
    if rules.n_allowed == 1 and rules.allows_empty and empty_labelset == "exclude":
        raise ValueError(
            'constraints allow the empty labelset only, and empty_labelset="exclude" leaves that'
            ' out: every region would be empty. Use empty_labelset="auto", or leave a constraint'
            " out."
        )
    kept = _obeyed(given, everyone, names, on_violation)
    if not kept:
        return None
    return rules if len(kept) == len(given) else compile_constraints(kept, names)


def _obeyed(
    constraints: list[Constraint], Y: LabelMatrix, names: Sequence[str], on_violation: str
) -> list[Constraint]:
    """Return the constraints that all examples obey, and report the others."""
    broken = {i: rows for i, one in enumerate(constraints) if len(rows := broken_by(one, Y, names))}
    if not broken:
        return constraints
    reports = []
    for i, rows in broken.items():
        shown = ", ".join(map(str, rows[:SHOWN_ROWS].tolist())) + (
            ", ..." if len(rows) > SHOWN_ROWS else ""
        )
        reports.append(f"{len(rows)} of {len(Y)} examples (rows {shown}) break {constraints[i]!r}")
    report = "; ".join(reports)
    if on_violation == "refuse":
        raise ValueError(
            f"constraints must hold for all examples, but {report}."
            ' Correct the labels or the constraint, or pass on_violation="drop" to go on without'
            " it."
        )
    warnings.warn(f"{report}. Going on without what they break.", UserWarning, stacklevel=6)
    return [one for i, one in enumerate(constraints) if i not in broken]
