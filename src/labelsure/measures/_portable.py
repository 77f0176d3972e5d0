"""Costs of labels that are worked out where outputs are: on a GPU."""

from dataclasses import replace
from typing import Any

import numpy as np

from labelsure._core.card import CardArray, CardOutputs
from labelsure._core.energy import Energy
from labelsure.measures._base import Measure


def card_energy(measure: Measure, outputs: CardOutputs, exponent: int) -> Energy:
    """Return the energy of outputs on a card, where the costs of labels stay; all else is of any one object.

    Parameters
    ----------
    measure : Measure
        Fitted; each part is portable, or the same for all objects.
    exponent : int
        Scores are whole numbers of 2^-exponent.
    """
    card, anything = outputs.card, np.zeros((1, measure.n_labels_))
    constant, unary = 0, 0
    for part in measure.parts():
        if part.objects_alike:
            alike = part.energy(anything, exponent=exponent)
            terms: tuple[Any, Any] = int(alike.constant[0]), card.arrays.asarray(alike.unary[0])
        else:
            costs = part._costs(outputs.there, None)
            terms = costs.terms_on_card(outputs.shape, exponent, form=part.form, bound=part.bound_)
        constant, unary = constant + terms[0], unary + terms[1]
    there: dict[str, Any] = {"constant": CardArray(card, constant), "unary": CardArray(card, unary)}
    return replace(measure.energy(anything, exponent=exponent), **there)
