"""Full conformal prediction: its cost, its warnings, and a random order of the examples."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin

from labelsure import FullConformalClassifier, MLkNNClassifier

pytestmark = pytest.mark.filterwarnings("ignore:.*examples have no label")


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    return rng.integers(0, 4, (14, 3)).astype(float), rng.integers(0, 2, (14, 3))


class Recorder(ClassifierMixin, BaseEstimator):
    """Keeps what it was trained on; its outputs follow the place of an example in training."""

    fits = []  # noqa: RUF012, shared by all copies on purpose

    def fit(self, X, Y):
        self.X_, self.Y_ = np.array(X), np.array(Y)
        Recorder.fits.append((self.X_, self.Y_))
        return self

    def predict_proba(self, X):
        n_labels = self.Y_.shape[1]
        return np.tile(np.arange(len(X))[:, None] / len(X), (1, n_labels))


def test_n_fits_is_objects_times_candidates(data):
    X, Y = data
    assert (
        FullConformalClassifier(MLkNNClassifier(3), empty_labelset="allow").fit(X, Y).n_fits(5)
        == 40
    )
    assert (
        FullConformalClassifier(MLkNNClassifier(3), empty_labelset="exclude").fit(X, Y).n_fits(5)
        == 35
    )
    many = np.tile(Y, 500)
    assert (
        FullConformalClassifier(MLkNNClassifier(3), empty_labelset="allow").fit(X, many).n_fits(1)
        == 2**1500
    )


def test_cost_beyond_max_fits_is_refused_with_fits_and_hours(data):
    X, Y = data
    model = FullConformalClassifier(MLkNNClassifier(3), max_fits=15, empty_labelset="allow").fit(
        X, Y
    )
    assert model.predict_labelsets(X[:1]).p_values().shape == (1, 8)
    message = (
        r"Full conformal prediction of 2 objects with 3 labels takes 16 fits, about [\d.e-]+"
        r" hours at [\d.e-]+ s each,"
        r" more than max_fits=15\. Pass max_fits=None to go on, predict fewer objects, or use"
        r" CrossConformalClassifier"
    )
    with pytest.raises(ValueError, match=message):
        model.predict(X[:2])
    assert model.set_params(max_fits=None).predict(X[:2]).shape == (2, 3)
    assert model.set_params(max_fits=16).predict(X[:2]).shape == (2, 3)


def test_more_labels_than_tables_hold_are_refused_even_if_told_to_go_on(data):
    X, Y = data
    model = FullConformalClassifier(MLkNNClassifier(3), max_fits=None).fit(X, np.tile(Y, 9)[:, :25])
    with pytest.raises(ValueError, match="possible for up to 24 labels, got 25"):
        model.predict(X[:1])


def test_examples_are_trained_on_in_an_order_of_their_own_for_each_object(data):
    """All n + 1 examples, in one order for all labelsets of an object, another for the next."""
    X, Y = data
    new = X[:3] + 100
    model = FullConformalClassifier(Recorder(), empty_labelset="allow", random_state=0).fit(X, Y)
    Recorder.fits.clear()
    model.predict_labelsets(new)
    places = []
    for i in range(3):
        fits = Recorder.fits[8 * i : 8 * i + 8]
        (place,) = {int(np.flatnonzero((trained == new[i]).all(axis=1))[0]) for trained, _ in fits}
        assert sorted(labels[place].tolist() for _, labels in fits) == sorted(
            [int(bit) for bit in f"{code:03b}"] for code in range(8)
        )
        for trained, labels in fits:
            together = np.delete(np.hstack([trained, labels]), place, axis=0)
            assert sorted(together.tolist()) == sorted(np.hstack([X, Y]).tolist())
        places.append(place)
    assert len(set(places)) > 1


def test_p_values_are_valid_for_a_classifier_that_only_looks_at_the_order():
    """Outputs are training positions, labels always on: p-values must be ranks, uniform on k/20.

    400 objects; each rank has an expected count of 20, and the seed is fixed. Without a drawn order
    the new object would always be the last, with the lowest score and the p-value 1.
    """
    X, Y = np.arange(19.0)[:, None], np.ones((19, 1), dtype=int)
    model = FullConformalClassifier(Recorder(), empty_labelset="allow", random_state=0).fit(X, Y)
    p_values = model.predict_labelsets(np.arange(400.0)[:, None]).p_value(np.ones((400, 1)))
    ranks = np.rint(20 * p_values).astype(int)
    counts = np.bincount(ranks, minlength=21)[1:]
    assert np.all(counts > 4)
    assert abs(p_values.mean() - 0.525) < 0.06


def test_containers_of_objects_may_differ_between_fit_and_predict(data):
    X, Y = data
    frame = pd.DataFrame(X, columns=list("abc"))
    expected = (
        FullConformalClassifier(MLkNNClassifier(3), random_state=0)
        .fit(X, Y)
        .predict_labelsets(X[:2])
        .p_values()
    )
    forms = [X, X.tolist(), list(X), sparse.csr_array(X), sparse.csr_matrix(X), frame]
    for fitted_on in forms:
        model = FullConformalClassifier(MLkNNClassifier(3), random_state=0).fit(fitted_on, Y)
        for form in forms:
            asked = form[:2]
            if isinstance(fitted_on, pd.DataFrame) != isinstance(form, pd.DataFrame):
                with pytest.warns(UserWarning, match="feature names"):
                    table = model.predict_labelsets(asked).p_values()
            else:
                table = model.predict_labelsets(asked).p_values()
            np.testing.assert_array_equal(table, expected)
