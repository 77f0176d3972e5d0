"""Inductive conformal prediction: one model, and calibration examples that it has not seen."""

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np

from labelsure._checks import LabelMatrix, LabelMatrixLike, MatrixLike
from labelsure._random import draw_seeds
from labelsure.conformal._base import LabelsetClassifier
from labelsure.conformal._outputs import check_training_part, known_of
from labelsure.conformal._splits import Split, hold_out, split_complete
from labelsure.engine import Constraint
from labelsure.measures import Measure, Need


@dataclass(eq=False, repr=False)
class InductiveConformalClassifier(LabelsetClassifier):
    """Inductive (split) conformal predictor for multi-label classification.

    A part of the training set is held out for calibration. The p-value of a labelset psi for a new
    object is::

        p(psi) = (#{calibration examples i : alpha_i >= alpha(psi)} + 1) / (m + 1)

    with m the number of calibration examples.

    Parameters
    ----------
    estimator : classifier or None, default=None
        As in :class:`CrossConformalClassifier`; already fitted where ``prefit`` is set.
    measure : Measure, "auto" or None, default=None
        The nonconformity measure; None as in :class:`CrossConformalClassifier` or, with ``prefit``
        and no ``training_labels``, the paper's ``PowerMeasure(d=4)``. "auto" chooses one by inner
        cross-validation, see :class:`AutoMeasure`; with ``prefit`` that takes ``training_labels``
        and ``training_outputs``.
    calibration_size : float or int, default=0.3
        The share, or the number, of training examples held out for calibration.
    prefit : bool, default=False
        Whether the estimator is fitted already: then ``fit`` only calibrates, with all the data it
        gets, which must not have been used to fit the estimator.
    mondrian : "cardinality", int, str, callable, Taxonomy or None, default=None
        P-values within categories, as in :class:`CrossConformalClassifier`; here they are valid
        within each.
    weight : callable or None, default=None
        For new objects from another distribution than the training objects, with the same labels
        given the object (covariate shift): a function from X to the ratio of the two densities, up
        to a factor. Not with ``mondrian`` or ``smoothed``, whose exact numbers do not go with
        weights.
    empty_labelset, smoothed, constraints, on_violation, predict_for, random_state, n_jobs, memory
        As in :class:`CrossConformalClassifier`.

    Attributes
    ----------
    models_ : list of one FittedBase, or of the prefitted estimator
        The fitted classifier.
    fold_indices_ : list of one int array
        The rows of X that calibrate.
    calibrator_, n_labels_, label_names_, n_examples_, n_incomplete_, train_indices_
        As in :class:`CrossConformalClassifier`.

    Notes
    -----
    For exchangeable data a region at significance eps misses the true labelset with probability at
    most eps [1]_. With weights the p-value is ``(sum of w_i over {i : alpha_i >= alpha(psi)} + w) /
    (sum of w_i + w)``, w being the new object's weight, and the same holds for independent examples
    under covariate shift [3]_.

    References
    ----------
    .. [1] Vovk, V., Gammerman, A., Shafer, G. (2005). Algorithmic Learning in a Random World.
       Springer.
    .. [2] Papadopoulos, H., Proedrou, K., Vovk, V., Gammerman, A. (2002). Inductive confidence
       machines for regression. ECML, 345-356.
    .. [3] Tibshirani, R. J., Barber, R. F., Candes, E. J., Ramdas, A. (2019). Conformal prediction
       under covariate shift. NeurIPS.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from labelsure import InductiveConformalClassifier
    >>> X, Y = make_multilabel_classification(n_samples=150, n_classes=3, random_state=0)
    >>> forest = RandomForestClassifier(n_estimators=20, random_state=0).fit(X[:60], Y[:60])
    >>> model = InductiveConformalClassifier(forest, prefit=True).fit(X[60:140], Y[60:140])
    >>> model.predict_labelsets(X[140:]).region(significance=0.1)
    LabelsetRegion(significance=0.1, 10 objects)
    """

    estimator: Any = None
    _: KW_ONLY
    measure: Measure | str | None = None
    calibration_size: float | int = 0.3
    prefit: bool = False
    mondrian: Any = None
    weight: Callable[[MatrixLike], Any] | None = None
    empty_labelset: str = "auto"
    smoothed: bool = False
    constraints: Constraint | Sequence[Constraint] | None = None
    on_violation: str = "refuse"
    predict_for: str = "auto"
    random_state: Any = None
    n_jobs: int | None = None
    memory: Any = None

    def fit(
        self,
        X: MatrixLike,
        y: LabelMatrixLike,
        *,
        label_names: Sequence[str] | None = None,
        training_labels: LabelMatrixLike | None = None,
        training_outputs: MatrixLike | None = None,
        groups: Any = None,
        **fit_params: Any,
    ) -> Self:
        """Fit the classifier on one part of the data and calibrate with the other.

        Parameters
        ----------
        X : array-like of shape (n_objects, n_features)
            The training objects; with ``prefit`` the calibration objects.
        y : array-like, sparse matrix or DataFrame of shape (n_objects, n_labels)
            Their labels, zeros and ones; NaN where a label is unknown, see
            :meth:`CrossConformalClassifier.fit`.
        label_names : sequence of str or None, default=None
            What the labels are called; None: as the columns of ``y``, where it is a DataFrame.
        training_labels, training_outputs : array-like of shape (n, n_labels) or None, default=None
            With ``prefit`` only: the labels that the estimator was fitted on, and its outputs for
            those examples, for measures that need them.
        groups : array-like of shape (n_objects,) or None, default=None
            Which examples belong together: whole groups train or calibrate. ``calibration_size`` is
            a share, or a number, of groups then. A new object is one drawn at random from a new
            group. In groups of different sizes every calibration example counts 1 / (size of its
            group), the new one 1, and what is proven stays the significance; in groups of one size
            all count alike, and it is slightly more. With ``mondrian``, ``weight`` or ``smoothed``
            nothing is proven; see the statement of a region.
        **fit_params
            ``sample_weight`` for the classifier inside, in all its fits; with scikit-learn's
            metadata routing, whatever it and the splitter ask for. It never changes how calibration
            examples count.
        """
        prefit = self.prefit
        data, _ = self._read_training(X, y, label_names, groups, fit_params, prefit=prefit)
        complete = self._check_complete(data)
        names = {"n_labels": self.n_labels_, "label_names": self.label_names_}
        labels, outputs = check_training_part(training_labels, training_outputs, **names)
        if labels is not None and not prefit:
            raise ValueError(
                "training_labels goes with prefit=True; without it they are made from X and y."
            )
        known = Need.TRAINING_LABELS | Need.OUT_OF_FOLD_OUTPUTS
        choices, measure = self._check_choices(
            *([complete] if labels is None else [complete, labels]),
            one_fold=True,
            known=known_of(labels, outputs) if prefit else known,
        )
        split_seed, *seeds = draw_seeds(self.random_state, 3)
        if prefit:
            split = Split(np.empty(0, dtype=np.int64), np.flatnonzero(data.complete))
            training = {
                "training_labels": labels,
                "training_outputs": outputs,
                "training_objects": None,
            }
            fitted = [self.estimator]
            return self._learn(
                data, [split], seeds, choices, measure, fitted=fitted, training=training
            )

        def cut(Y: LabelMatrix) -> list[Split]:
            return [hold_out(self.calibration_size, len(Y), split_seed, groups=data.groups)]

        splits = split_complete(data, self.estimator, cut, by_cut=data.groups is None)
        return self._learn(data, splits, seeds, choices, measure)
