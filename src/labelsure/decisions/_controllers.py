"""Recall, precision and cover under control around any classifier: the estimators."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from labelsure.decisions._controller_base import Controller, check_target
from labelsure.decisions._cover import LabelCover, control_cover
from labelsure.decisions._precision import control_precision
from labelsure.decisions._recall import control_recall
from labelsure.decisions._risk_control import ThresholdPredictor


@dataclass(eq=False, repr=False, kw_only=True)
class RecallController(Controller):
    r"""Predicts labels with an expected recall of at least ``target``, around any classifier.

    A part of the training set is held out, and :func:`control_recall` finds the highest threshold
    of the outputs that misses few enough true labels there. Or, with ``cv``, every fold finds a
    threshold for the model that has not seen it, and votes of the folds decide.

    Parameters
    ----------
    estimator : classifier or None, default=None
        As in :class:`CrossConformalClassifier`; already fitted where ``prefit`` is set.
    target : float, default=0.9
        The recall to be reached, strictly between 0 and 1. An object without labels counts as
        recall 1.
    calibration_size : float or int, default=0.3
        The share, or the number, of training examples held out for calibration.
    prefit : bool, default=False
        Whether the estimator is fitted already: then ``fit`` only calibrates, with all the data it
        gets, which must not have been used to fit the estimator.
    random_state : int, RandomState or None, default=None
        For the split, for every ``random_state`` inside the estimator that is None, and for the
        draws of "random", which belong to the object: see :class:`CrossConformalClassifier`.
    n_jobs : int or None, default=None
        Folds fitted in parallel; results do not depend on it.
    memory : str, path, joblib.Memory or None, default=None
        A folder that keeps fitted folds, as in :class:`~labelsure.CrossConformalClassifier`.
    method : {"crc", "rcps"}, default="crc"
        In expectation, or, for a part held out, with probability 1 - ``delta`` over calibration
        sets.
    delta, bound : default=None
        For "rcps", as in :func:`control_recall`.
    cv : int, splitter, iterable of (train, calibration) index pairs or None, default=None
        None holds out ``calibration_size``. Else folds as in :class:`CrossConformalClassifier`,
        which must not be chosen by the labels: stratified folds are not covered by the proofs.
    merge : {"random", "any"}, default="random"
        How many folds have to predict a label, and so what is proven; see Notes.

    Attributes
    ----------
    models_ : list
        The fitted classifiers, one per fold; one without ``cv``.
    predictors_ : list of ThresholdPredictor
        What turns the outputs of each into labels.
    statement_ : str
        What is proven about new objects, under which conditions, and by whom.
    reached_ : bool
        Whether the calibration examples show that the target is reached, in all folds.
    n_labels_, label_names_, fold_indices_
        As in :class:`LabelWiseConformalClassifier`.

    Notes
    -----
    A part held out: what :func:`control_recall` proves, as it is. With K folds, for exchangeable
    examples and any learner, the expected recall of a new object is proven to be at least the
    target:

    - "random": a label is predicted where at least a share U of the folds predict it, U one uniform
      draw per object, the same for equal objects. The promise is an average over U, over which the
      loss is the mean of the folds'.
    - "any": where one fold predicts it. No draw, and larger sets.

    Unknown labels, NaN in ``y``: the classifier inside learns from the examples without any, and
    all calibrate. Chance must decide which labels of an object are known, treating them all alike,
    whatever their values. Sets are larger than the target takes where labels are few: with 30 %
    unknown, 2 to 3 times fewer true labels are missed than allowed with three labels, hardly fewer
    with twelve.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from labelsure import MLkNNClassifier, RecallController
    >>> X, y = make_multilabel_classification(n_samples=600, n_classes=4, random_state=0)
    >>> model = RecallController(MLkNNClassifier(), target=0.9, random_state=0).fit(X[:400], y[:400])
    >>> predicted = model.predict(X[400:])
    >>> found = (predicted * y[400:]).sum() / y[400:].sum()
    >>> print(f"{predicted.sum(axis=1).mean():.1f} labels an object, {found:.2f} of the true ones among them")
    2.9 labels an object, 0.91 of the true ones among them
    >>> print(model.statement_)
    The expected recall of a new object is at least 0.9, an object without labels counting as recall 1, for exchangeable
    examples (conformal risk control: Angelopoulos, Bates, Fisch, Lei, Schuster 2024).
    """

    method: str = "crc"
    delta: float | None = None
    bound: str | None = None
    cv: Any = None
    merge: str = "random"

    _claim = "The expected recall of a new object is at least {target:g}, an object without labels counting as recall 1"

    def _check_parameters(self) -> Fraction:
        target = check_target(self.target)
        self._calibrate(*DRY_RUN)
        if self.cv is not None and self.method != "crc":
            raise ValueError(
                f"method={self.method!r} goes with a part held out, cv=None: what holds with high"
                f" probability for each"
                " fold does not for all of them together. Use method='crc', or no cv."
            )
        return target

    def _calibrate(self, outputs: Any, Y: Any) -> ThresholdPredictor:
        asked: dict[str, Any] = {"method": self.method, "delta": self.delta, "bound": self.bound}
        return control_recall(outputs, Y, target=self.target, **asked)


@dataclass(eq=False, repr=False, kw_only=True)
class PrecisionController(Controller):
    """Predicts labels with a mean precision of at least ``target``, with high probability, around any classifier.

    A part of the training set is held out, and :func:`control_precision` finds the lowest threshold
    of the outputs that is tested to let in few enough false labels there. There are no folds here:
    precision is not monotone in the threshold, so what the folds promise does not carry over to the
    labels that several of them predict.

    Parameters
    ----------
    estimator : classifier or None, default=None
        As in :class:`CrossConformalClassifier`; already fitted where ``prefit`` is set.
    target : float, default=0.9
        The precision to be reached, strictly between 0 and 1. An empty set counts as precise.
    calibration_size : float or int, default=0.3
        The share, or the number, of training examples held out for calibration.
    prefit : bool, default=False
        Whether the estimator is fitted already: then ``fit`` only calibrates, with all the data it
        gets, which must not have been used to fit the estimator.
    random_state : int, RandomState or None, default=None
        For the split, and for every ``random_state`` inside the estimator that is None.
    n_jobs : int or None, default=None
        Handed on; there is one model.
    memory : str, path, joblib.Memory or None, default=None
        A folder that keeps fitted folds, as in :class:`~labelsure.CrossConformalClassifier`.
    delta, thresholds, correction, bound
        As in :func:`control_precision`.

    Attributes
    ----------
    models_, predictors_, statement_, reached_, n_labels_, label_names_, fold_indices_
        As in :class:`RecallController`; one model and one predictor. Where no threshold passes its
        test ``reached_`` is False, and no label is predicted.

    Notes
    -----
    What :func:`control_precision` proves, as it is. Unknown labels, NaN in ``y``, as in
    :class:`RecallController`.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from labelsure import MLkNNClassifier, PrecisionController
    >>> X, y = make_multilabel_classification(n_samples=1200, n_classes=4, random_state=0)
    >>> model = PrecisionController(MLkNNClassifier(), target=0.8, random_state=0).fit(X[:1000], y[:1000])
    >>> predicted = model.predict(X[1000:])
    >>> n_predicted, n_false = predicted.sum(axis=1), (predicted > y[1000:]).sum(axis=1)
    >>> precision = 1 - n_false / n_predicted.clip(min=1)
    >>> print(f"{n_predicted.mean():.1f} labels an object, mean precision {precision.mean():.2f}")
    1.8 labels an object, mean precision 0.84
    """

    delta: float = 0.1
    thresholds: Any = 101
    correction: str = "fixed-sequence"
    bound: str = "betting"

    _fallback = "no label is predicted"

    def _check_parameters(self) -> Fraction:
        self._calibrate(*DRY_RUN)
        return check_target(self.target)

    def _calibrate(self, outputs: Any, Y: Any) -> ThresholdPredictor:
        names = ("target", "delta", "thresholds", "correction", "bound")
        return control_precision(outputs, Y, **{name: getattr(self, name) for name in names})


@dataclass(eq=False, repr=False, kw_only=True)
class CoverController(Controller):
    """Predicts few labels that hold all true ones with probability ``target``, around any classifier.

    Parameters
    ----------
    estimator : classifier or None, default=None
        As in :class:`CrossConformalClassifier`; already fitted where ``prefit`` is set.
    target : float, default=0.9
        The probability that no true label is left out, strictly between 0 and 1.
    calibration_size, prefit, random_state, n_jobs, memory, cv, merge
        As in :class:`RecallController`.
    form : {"count", "chance", "threshold"}, default="count"
        Where labels are cut off, see :func:`control_cover`: after the same number k for every
        object, after as many as the object needs, or at an output.

    Attributes
    ----------
    models_, statement_, reached_, n_labels_, label_names_, fold_indices_
        As in :class:`RecallController`.
    predictors_ : list of LabelCover
        What turns the outputs of each model into labels; ``predictors_[0].limit`` is k for a part
        held out.

    Notes
    -----
    A part held out: what :func:`control_cover` proves, as it is. With K folds what
    :class:`RecallController` says of the expected recall holds for the probability that no true
    label is left out. With folds "count" is the number of labels that each fold names, and more or
    fewer may be predicted.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from labelsure import CoverController, MLkNNClassifier
    >>> X, y = make_multilabel_classification(n_samples=600, n_classes=8, n_labels=2, random_state=0)
    >>> model = CoverController(MLkNNClassifier(), target=0.8, random_state=0).fit(X[:400], y[:400])
    >>> predicted = model.predict(X[400:])
    >>> covered = (predicted >= y[400:]).all(axis=1).mean()
    >>> print(f"{predicted.sum(axis=1).mean():.0f} labels hold all true ones of {covered:.2f} of the objects")
    7 labels hold all true ones of 0.89 of the objects
    """

    form: str = "count"
    cv: Any = None
    merge: str = "random"

    _claim = "All true labels of a new object are among the labels predicted with probability at least {target:g}"
    _uses_unknown = False

    def _check_parameters(self) -> Fraction:
        self._calibrate(*DRY_RUN)
        return check_target(self.target)

    def _calibrate(self, outputs: Any, Y: Any) -> LabelCover:
        return control_cover(outputs, Y, target=self.target, form=self.form)


DRY_RUN = (np.array([[0.5]]), np.array([[1]]))
"""An example to check parameters with, in the one place where they are checked, before anything is fitted."""
