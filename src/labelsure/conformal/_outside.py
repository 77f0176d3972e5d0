"""What classifiers show of themselves: predictions as tables where asked for, and a diagram with what is promised."""

from typing import Any, Self

from labelsure._checks import (
    LIBRARIES,
    IntArray,
    MatrixLike,
    check_choice,
    made_up_names,
    row_index_of,
)
from labelsure._errors import import_optional
from labelsure.predictions._frames import make_frame
from labelsure.predictions._show import html_note, html_page, shorten

USUAL_LEVEL = 0.05
"""The significance at which a diagram says what is proven."""


class OutsideMixin:
    """Mixin of classifiers whose ``predict`` may return DataFrames, and whose diagram says what is promised."""

    n_labels_: Any
    label_names_: Any

    def set_output(self, *, predict: str | None = None) -> Self:
        """Set what ``predict`` returns, as ``set_output`` of scikit-learn does for ``transform``.

        Copies by :func:`sklearn.base.clone` keep it. What ``predict_labelsets`` and
        ``predict_labels`` return needs no setting: its ``to_frame`` makes a table of the library
        that X came in.

        Parameters
        ----------
        predict : {"default", "pandas", "polars"} or None, default=None
            "default": an array. "pandas", "polars": a DataFrame with the labels as columns and, of
            pandas, the index of X. None: as before.

        Returns
        -------
        self

        Examples
        --------
        >>> from sklearn.datasets import make_multilabel_classification
        >>> from labelsure import InductiveConformalClassifier, MLkNNClassifier
        >>> X, y = make_multilabel_classification(n_samples=100, n_classes=3, random_state=0)
        >>> model = InductiveConformalClassifier(MLkNNClassifier(), random_state=0).set_output(predict="pandas")
        >>> print(model.fit(X, y, label_names=["sea", "city", "night"]).predict(X[:2]))
           sea  city  night
        0    0     1      0
        1    0     1      0
        """
        if predict is not None:
            library = check_choice(predict, ("default", *LIBRARIES), name="predict")
            if library in LIBRARIES:
                import_optional(library, extra=library, purpose=f"set_output(predict={library!r})")
            # scikit-learn's own name for it, so that clone copies it
            self._sklearn_output_config = {
                **getattr(self, "_sklearn_output_config", {}),
                "predict": library,
            }
        return self

    def _put_out(self, labels: IntArray, X: MatrixLike) -> Any:
        """Return predicted labels as :meth:`set_output` asks."""
        library = getattr(self, "_sklearn_output_config", {}).get("predict", "default")
        if library == "default":
            return labels
        names = self.label_names_ or made_up_names(self.n_labels_)
        index = row_index_of(X) if library == "pandas" else None
        return make_frame(dict(zip(names, labels.T, strict=True)), index=index, library=library)

    def _promise(self) -> str:
        """Return what is proven, or where to find it; of a fitted classifier."""
        return "predict_labelsets(X).region(0.05).statement says what is proven."

    def _html_repr(self) -> str:
        diagram: str = super()._html_repr()  # type: ignore[misc]
        if not self.__sklearn_is_fitted__():  # type: ignore[attr-defined]
            return diagram
        names = shorten(self.label_names_ or made_up_names(self.n_labels_))
        return diagram + html_page(
            f"Fitted on {self.n_labels_} labels: {names}", html_note(self._promise())
        )
