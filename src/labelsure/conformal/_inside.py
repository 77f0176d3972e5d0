"""The classifier inside a conformal classifier: checked at the door, copied, seeded, fitted."""

from typing import Any

from sklearn.base import clone
from sklearn.utils import get_tags

from labelsure._core.randomness import set_missing_seeds
from labelsure._core.types import LabelMatrix, MatrixLike
from labelsure.estimators import FittedBase, MLRBFClassifier, fit_base

EXPECTED = (
    "estimator must be a classifier for several labels with predict_proba or decision_function,"
    " such as RandomForestClassifier() or OneVsRestClassifier(LogisticRegression())"
)


def check_inside(estimator: Any, *, prefit: bool = False) -> None:
    """Raise ValueError where the estimator cannot be a classifier, so that nothing is fitted in vain.

    Parameters
    ----------
    estimator : object
        What the user passed; None stands for the default.
    prefit : bool
        Whether it is fitted already: then it need not be a scikit-learn estimator as long as it has outputs.
    """
    if estimator is None and not prefit:
        return
    if isinstance(estimator, type):
        name = estimator.__name__
        raise ValueError(f"{EXPECTED}, got the class {name}. Pass an instance of it: {name}().")
    kind = getattr(tags_inside(estimator), "estimator_type", None)
    if kind not in (None, "classifier"):
        raise ValueError(f"{EXPECTED}, got {estimator!r} (estimator_type: {kind}).")
    if prefit and not (hasattr(estimator, "predict_proba") or hasattr(estimator, "decision_function")):
        raise ValueError(f"{EXPECTED}, fitted already because of prefit=True, got {estimator!r}.")
    if not prefit and not (hasattr(estimator, "fit") and hasattr(estimator, "get_params")):
        raise ValueError(f"{EXPECTED}, got {estimator!r}.")


def copy_inside(estimator: Any, seed: int) -> Any:
    """Return an unfitted copy, the default for None, with ``seed`` wherever the user left a random_state at None."""
    copy = clone(MLRBFClassifier() if estimator is None else estimator)
    set_missing_seeds(copy, seed)  # in place: set_params of a FrozenEstimator returns nothing
    return copy


def fit_inside(estimator: Any, X: MatrixLike, Y: LabelMatrix) -> FittedBase:
    """Fit a copy as fit_base does; say what to do where it fails and seems to be for one label at a time."""
    try:
        return fit_base(estimator, X, Y)
    except ValueError as error:
        if Y.shape[1] == 1 or _knows_several_labels(estimator):
            raise
        raise ValueError(
            f"estimator could not be fitted on {Y.shape[1]} labels: {error}"
            f" If it learns one label at a time, wrap it: OneVsRestClassifier({type(estimator).__name__}())."
        ) from error


def _knows_several_labels(estimator: Any) -> bool:
    tags = tags_inside(estimator)
    if tags is None or tags.classifier_tags is None:
        return False
    return bool(tags.classifier_tags.multi_label or tags.target_tags.multi_output)


def tags_inside(estimator: Any) -> Any:
    """Return the scikit-learn tags of the classifier inside, None where it has none."""
    estimator = MLRBFClassifier() if estimator is None else estimator
    return get_tags(estimator) if hasattr(estimator, "__sklearn_tags__") and not isinstance(estimator, type) else None
