"""The predictors whose answers are on record."""

from typing import NamedTuple


class Configuration(NamedTuple):
    """One predictor on one set of data; its name are the fields that are not as usual."""

    made: str
    measure: str = "default"
    learner: str = "steps"
    n_labels: int = 4
    n_rows: int = 48
    guarantee: str = "cross"
    mondrian: str = "none"
    smoothed: bool = False
    empty: str = "auto"
    empties: bool = True  # whether there are examples without labels
    constraints: str = "none"
    groups: str = "none"
    gaps: bool = False
    weighted: bool = False
    then: str = ""  # what is done after fit: "updated", "recalibrated", "saved"
    seed: int = 0

    @property
    def name(self):
        usual = Configuration(self.made)
        parts = [
            f"{field}={value}"
            for field, value in self._asdict().items()
            if value != getattr(usual, field)
        ]
        return " ".join([self.made, *parts])


MEASURES = (
    *("default", "power", "power:2+pairs", "log-loss", "log-loss:0.01", "posterior-given"),
    *(
        "mahalanobis",
        "mahalanobis-shrunk",
        "signed",
        "signed-oof",
        "mahalanobis-oof",
        "max-norm",
        "function",
        "label-wise",
        "label-wise-oof",
    ),
    *(
        "frequency",
        "power+hp",
        "power:2+cp",
        "power:3+unseen",
        "log-loss+unseen:3",
        "log-loss+prior",
    ),
    *(
        "log-loss+uniform-prior:0.5",
        "signed+hp",
        "power+pairs+cp+unseen:1",
        "max-norm+hp:1",
        "auto",
    ),
)
FORESTS = ("forest", "forest+unseen", "auto-words")
"""These, and the learners in TREES, follow scikit-learn's trees: compared where its version is that of the record."""
TREES = ("tree", "extra-trees")

SPARSE_MEASURES = ("default", "power", "log-loss", "power:2+pairs")
TAXONOMIES = ("cardinality", "at-most-2", "label", "function")
CONSTRAINTS = (
    "at-most",
    "at-least",
    "exactly",
    "implies",
    "exclude",
    "hierarchy",
    "allowed",
    "implies+at-most",
)
LABEL_WISE = (
    *(
        "label-wise",
        "label-wise-cv",
        "label-wise-conditional",
        "label-wise-cv-conditional",
        "label-wise-prefit",
    ),
    *("label-wise-outputs", "label-wise-folds"),
)

MAXIMUM = ("max-norm", "max-norm+hp:1", "function")
DISTANCES = (
    "mahalanobis",
    "mahalanobis-shrunk",
    "signed",
    "signed-oof",
    "mahalanobis-oof",
    "signed+hp",
)
PAIRS = ("power:2+pairs", "power+hp")
OUT_OF_FOLD = ("signed-oof", "mahalanobis-oof", "label-wise-oof", "auto", "auto-words")
WITHOUT_TRAINING = ("default", "power", "log-loss", "log-loss:0.01", "max-norm", "function")


def _allowed(one):  # noqa: PLR0911
    """Leave out what is refused, or takes seconds."""
    if one.measure in MAXIMUM and one.n_labels > 9:
        return (
            one.measure == "max-norm"
            and one.n_labels <= 24
            and one.mondrian == "none"
            and one.constraints == "none"
        )
    if one.n_labels > 18 and one.mondrian in ("cardinality", "at-most-2"):
        return False
    if one.made in ("cross", "sparse-folds") and one.measure in PAIRS and one.n_labels > 22:
        return False
    if one.measure in DISTANCES and (one.mondrian == "label" or one.n_labels > 22):
        return False
    if one.made in ("prefit", "outputs", "sparse"):
        return one.measure in WITHOUT_TRAINING
    if one.made in ("outputs-folds", "full"):
        return one.measure not in OUT_OF_FOLD
    return True


def _measures():
    C = Configuration
    for measure in MEASURES:
        for made in ("cross", "inductive"):
            for n_labels in (1, 4, 9):
                yield C(made, measure, n_labels=n_labels)
        yield C("cross", measure, "neighbours", n_labels=6, seed=1)
        yield C("cross-lists", measure, n_labels=2, empty="exclude", empties=False, seed=2)
        yield C("cross-lists", measure, "votes", n_labels=7, empty="allow", seed=2)
        yield C("inductive", measure, "neighbours", n_labels=14, seed=3)
        yield C("outputs-folds", measure, n_labels=5, seed=4)
        yield C("prefit", measure, n_labels=6, seed=5)
        yield C("outputs", measure, n_labels=3, empty="exclude", empties=False, seed=6)
        yield C("full", measure, n_labels=2, n_rows=14, seed=7)
    for measure in FORESTS:
        for made in ("cross", "inductive"):
            yield C(made, measure, n_labels=4, n_rows=40, seed=8)


def _sizes():
    C = Configuration
    for measure in (
        "default",
        "power",
        "log-loss+unseen:3",
        "power:2+pairs",
        "power+hp",
        "max-norm",
        "signed",
    ):
        for n_labels in (22, 40):
            yield C("cross", measure, n_labels=n_labels, seed=10)
            yield C("inductive", measure, "neighbours", n_labels=n_labels, seed=11)
    for n_labels in (80, 160):
        for measure in ("default", "power", "log-loss"):
            yield C("cross", measure, n_labels=n_labels, seed=12)
            yield C("inductive", measure, n_labels=n_labels, n_rows=120, seed=13)
    for made in ("sparse", "sparse-folds"):
        for measure in SPARSE_MEASURES:
            for n_labels in (4, 14, 40):
                yield C(made, measure, n_labels=n_labels, seed=14)
        yield C(made, "power", n_labels=160, n_rows=80, seed=14)
        yield C(made, "power", n_labels=9, empty="exclude", empties=False, seed=15)
        yield C(made, "power", n_labels=9, smoothed=True, seed=15)


def _learners():
    C = Configuration
    for learner in ("neighbours", "votes", "ml-knn", "recalibrated", "pool", "tree", "extra-trees"):
        for measure in ("default", "power", "log-loss"):
            for made in ("cross", "inductive"):
                yield C(made, measure, learner, seed=16)
        yield C("cross", "default", learner, guarantee="exact", n_rows=80, n_labels=6, seed=17)


def _guarantees():
    C = Configuration
    for measure in ("default", "power", "mahalanobis", "max-norm", "log-loss+unseen:3"):
        for n_labels in (2, 6, 12):
            yield C("cross", measure, guarantee="exact", n_labels=n_labels, n_rows=80, seed=20)
        yield C("cross-lists", measure, guarantee="exact", n_labels=5, n_rows=80, seed=21)
        yield C("outputs-folds", measure, guarantee="exact", n_labels=9, n_rows=80, seed=22)
        yield C("cross-stratified", measure, n_labels=4, n_rows=60, seed=23)
    for n_labels in (22, 40):
        yield C("cross", "power", guarantee="exact", n_labels=n_labels, n_rows=80, seed=24)
    for made in ("cross", "inductive", "prefit", "outputs", "outputs-folds", "cross-lists"):
        for measure in ("default", "power"):
            for n_labels in (2, 6, 14):
                yield C(made, measure, smoothed=True, n_labels=n_labels, seed=25)
    yield C("full", "power", smoothed=True, n_labels=2, n_rows=14, seed=25)


def _taxonomies():
    C = Configuration
    for mondrian in TAXONOMIES:
        for measure in ("default", "power", "max-norm", "signed"):
            for made in ("cross", "inductive"):
                for n_labels in (2, 6, 12):
                    yield C(made, measure, mondrian=mondrian, n_labels=n_labels, n_rows=60, seed=30)
        yield C("inductive", "power", mondrian=mondrian, n_labels=18, n_rows=60, seed=31)
        yield C("inductive", "power", mondrian=mondrian, n_labels=40, n_rows=60, seed=31)
        yield C("outputs", "power", mondrian=mondrian, n_labels=5, n_rows=60, seed=31)
        yield C(
            "cross", "default", mondrian=mondrian, smoothed=True, empties=False, n_rows=60, seed=32
        )
    for measure in ("default", "power", "signed", "max-norm"):
        for made in ("inductive", "prefit", "outputs"):
            for n_labels in (2, 6, 12):
                yield C(made, measure, weighted=True, n_labels=n_labels, seed=33)


def _empty_and_constraints():
    C = Configuration
    for made in ("cross", "inductive", "prefit", "outputs", "outputs-folds", "cross-lists"):
        for measure in ("default", "power", "log-loss"):
            yield C(made, measure, empties=False, seed=40)
            yield C(made, measure, n_labels=9, empty="exclude", empties=False, seed=41)
            yield C(made, measure, empty="allow", empties=False, seed=42)
    for constraints in CONSTRAINTS:
        for measure in ("default", "power", "max-norm"):
            yield C("cross", measure, n_labels=5, constraints=constraints, seed=43)
            yield C("inductive", measure, n_labels=9, constraints=constraints, seed=44)
        yield C("outputs", "power", n_labels=14, constraints=constraints, seed=45)
        yield C("cross", "power", n_labels=40, constraints=constraints, seed=46)
        yield C("cross", "default", guarantee="exact", n_rows=80, constraints=constraints, seed=47)
        yield C(
            "inductive",
            "default",
            mondrian="function",
            smoothed=True,
            constraints=constraints,
            seed=48,
        )
    yield C("full", "power", n_labels=3, n_rows=14, constraints="hierarchy", seed=49)


def _rows():
    C = Configuration
    for groups in ("pairs", "unequal"):
        for measure in ("default", "power"):
            for learner in ("steps", "neighbours"):
                yield C("cross", measure, learner, groups=groups, seed=50)
                yield C("inductive", measure, learner, groups=groups, seed=51)
            yield C(
                "cross", measure, groups=groups, guarantee="exact", n_rows=80, n_labels=6, seed=52
            )
            yield C(
                "inductive", measure, groups=groups, smoothed=True, n_labels=12, n_rows=80, seed=52
            )
        yield C("label-wise", groups=groups, seed=53)
        yield C("label-wise-cv", groups=groups, seed=53)
    for made in ("cross", "inductive", "prefit"):
        for measure in ("default", "power", "mahalanobis"):
            for learner in ("steps", "votes"):
                yield C(made, measure, learner, gaps=True, n_rows=60, seed=54)
    yield C(
        "cross", "default", "votes", gaps=True, guarantee="exact", n_rows=90, n_labels=6, seed=55
    )
    yield C("inductive", "power", "votes", gaps=True, groups="pairs", n_rows=60, seed=55)
    for made in ("label-wise", "label-wise-cv", "label-wise-conditional"):
        for learner in ("steps", "votes"):
            yield C(made, learner=learner, gaps=True, n_rows=60, seed=56)
    for measure in ("default", "power", "log-loss", "label-wise", "max-norm"):
        yield C("inductive", measure, then="updated", n_rows=60, seed=57)
        yield C("prefit", measure, then="updated", n_rows=60, seed=57)
        yield C("outputs", measure, then="updated", n_rows=60, seed=57)
    yield C(
        "inductive", "power", then="updated", mondrian="cardinality", n_rows=60, n_labels=6, seed=58
    )
    yield C("inductive", "power", then="updated", weighted=True, n_rows=60, n_labels=6, seed=58)
    yield C("label-wise", then="updated", n_rows=60, seed=58)
    yield C("label-wise-outputs", then="updated", n_rows=60, seed=58)


def _later():
    C = Configuration
    for measure in ("power", "power:2+cp", "log-loss+prior", "mahalanobis", "max-norm"):
        for made in ("cross", "inductive"):
            yield C(made, measure, then="recalibrated", seed=60)
    yield C(
        "cross", "power", then="recalibrated", guarantee="exact", n_rows=80, n_labels=6, seed=61
    )
    yield C(
        "cross",
        "power",
        then="recalibrated",
        mondrian="cardinality",
        smoothed=True,
        n_rows=60,
        seed=61,
    )
    yield C(
        "inductive",
        "power",
        then="recalibrated",
        constraints="at-most",
        weighted=True,
        n_rows=60,
        seed=61,
    )
    for measure in (
        "default",
        "power",
        "mahalanobis",
        "label-wise",
        "power:3+unseen",
        "log-loss+prior",
        "auto",
    ):
        yield C("cross", measure, then="saved", seed=62)
        yield C("inductive", measure, "neighbours", then="saved", n_labels=6, seed=62)
    yield C("inductive", "forest", then="saved", n_rows=40, seed=63)
    yield C("cross", "default", "votes", then="saved", guarantee="exact", n_rows=80, seed=63)
    yield C("cross", "default", "tree", then="saved", seed=63)
    yield C(
        "cross", "power", then="saved", mondrian="cardinality", smoothed=True, n_rows=60, seed=63
    )
    yield C("inductive", "power", then="saved", constraints="hierarchy", n_labels=6, seed=63)
    yield C("cross", "default", then="saved", groups="unequal", seed=63)
    yield C("outputs", "power", then="saved", seed=64)
    yield C("outputs-folds", "log-loss", then="saved", seed=64)
    yield C("label-wise-cv", then="saved", seed=64)
    yield C("label-wise-outputs", then="saved", seed=64)
    for made in LABEL_WISE:
        for n_labels in (1, 4, 14, 160):
            yield C(made, n_labels=n_labels, n_rows=60, seed=65)
        yield C(made, smoothed=True, seed=66)
        yield C(made, learner="neighbours", n_labels=6, seed=66)


def _single():
    C = Configuration
    for made in ("cross", "inductive"):
        for measure in ("default", "power", "log-loss", "label-wise"):
            for learner in ("steps", "votes"):
                yield C(made, measure, learner, n_labels=5, n_rows=60, seed=70)
        yield C(made, "mahalanobis", n_labels=5, n_rows=60, seed=70)
        yield C(made, "log-loss+unseen:3", "votes", n_labels=5, n_rows=60, seed=70)
        yield C(made, "power+hp", "votes", n_labels=5, n_rows=60, seed=70)
        yield C(made, "default", "neighbours", n_labels=6, n_rows=60, seed=71)
        yield C(made, "default", n_labels=1, n_rows=60, seed=71)
        yield C(made, "default", n_labels=9, n_rows=80, empty="exclude", empties=False, seed=71)
        yield C(made, "default", n_labels=6, n_rows=60, smoothed=True, seed=72)
        yield C(made, "default", n_labels=6, n_rows=60, mondrian="cardinality", seed=73)
        yield C(made, "default", n_labels=5, n_rows=60, constraints="hierarchy", seed=74)
        yield C(made, "default", n_labels=5, n_rows=60, groups="pairs", seed=75)
        yield C(made, "default", n_labels=5, n_rows=60, then="saved", seed=76)
    yield C("cross", "default", n_labels=4, n_rows=80, guarantee="exact", seed=77)


SECTIONS = (
    _measures,
    _sizes,
    _learners,
    _guarantees,
    _taxonomies,
    _empty_and_constraints,
    _rows,
    _later,
)
CONFIGURATIONS = {one.name: one for section in SECTIONS for one in section() if _allowed(one)}
SINGLE = tuple(_single())
"""Of these, answers for metrics, questions and doubtful labels are on record. Where they are asked questions, no two
gains are nearly tied: weights and probabilities changed by 1e-12 gave the same answers."""


def follows_trees(one):
    """Tell whether answers may change with the version of scikit-learn."""
    return one.measure in FORESTS or one.learner in TREES
