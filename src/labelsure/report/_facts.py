"""All that a page shows, as numbers and sentences: gathered once, for the tables and for the script alike."""

from dataclasses import asdict, dataclass
from functools import cached_property
from math import isclose
from typing import Any

import numpy as np

from labelsure._checks import BoolArray, FloatArray, IntArray
from labelsure.metrics._point import point_measures
from labelsure.predictions import NoGuarantee
from labelsure.report._acceptance import Acceptance, accept
from labelsure.report._assets import read_json
from labelsure.report._comparison import brier_score, count_answers, say_what_wrapping_did
from labelsure.report._counts import Counts, limits_of
from labelsure.report._levels import Levels, take_snapshots
from labelsure.report._objects import SHADES, Objects, in_shades
from labelsure.report._subject import Subject
from labelsure.report._words import Words, describe

N_BARS = 20
"""Of the histograms of confidence and credibility."""

WIDE = 0.02
"""The significance of regions that certain labels are asked from: benchmarks/questions.py compares it with others."""


@dataclass(frozen=True, eq=False)
class Facts:
    """All that a page shows.

    Attributes
    ----------
    subject : Subject
        What the report is about.
    levels : Levels
        The confidence levels on offer.
    counts : Counts
        What is counted at each of them over all objects.
    objects : Objects
        What is known of each object.
    words : tuple of Words
        What is said at each level.
    acceptance : Acceptance or None
        Which objects of one half could be accepted without review; None where the truth is not
        known.
    """

    subject: Subject
    levels: Levels
    counts: Counts
    objects: Objects
    words: tuple[Words, ...]
    acceptance: Acceptance | None

    @classmethod
    def gather(cls, subject: Subject) -> "Facts":
        """Look at the regions at every level, count, and put into words."""
        levels = Levels.offered(subject.predictions)
        objects, counts = Objects.of(subject, levels), Counts.of(subject, levels)
        for place, snapshot in enumerate(take_snapshots(subject, levels, objects.best)):
            objects.add(place, snapshot)
            counts.add(place, snapshot, subject)
        guarantee, labelled = subject.predictions.guarantee, subject.labels is not None
        words = tuple(
            describe(counts, place, per_mille, guarantee, labelled)
            for place, per_mille in enumerate(levels.per_mille)
        )
        right = _right(subject)
        acceptance = None if right is None else accept(subject.predictions.confidence, right)
        return cls(subject, levels, counts, objects, words, acceptance)

    @property
    def start(self) -> int:
        """The place of the level that the page opens at."""
        return self.levels.start(self.subject.predictions.guarantee)

    @cached_property
    def calibration(self) -> list[dict[str, Any]]:
        """The coverage at each level with its interval, beside what was asked for and what is proven."""
        n_objects = np.full(len(self.levels), len(self.subject))
        shares = self.counts.covered / n_objects
        low, high = limits_of(self.counts.covered, n_objects)
        asked = 1 - self.levels.significances
        return [
            {
                "asked": round(a, 4),
                "covered": c,
                "low": round(lo, 5),
                "high": round(hi, 5),
                "proven": self._proven(s),
            }
            for a, c, lo, hi, s in zip(
                asked.tolist(),
                shares.tolist(),
                low.tolist(),
                high.tolist(),
                self.levels.significances.tolist(),
                strict=True,
            )
        ]

    def _proven(self, significance: float) -> float | None:
        """Return the coverage that is proven, where that is another than what is asked for."""
        guarantee = self.subject.predictions.guarantee
        if isinstance(guarantee, NoGuarantee):
            return None
        proven = max(1 - guarantee.error_bound(significance), 0.0)
        return None if isclose(proven, 1 - significance) else round(proven, 5)

    @cached_property
    def bars(self) -> dict[str, list[dict[str, Any]]]:
        """The histograms of confidence and credibility; right and wrong labelsets apart where that is known."""
        predictions, right = self.subject.predictions, _right(self.subject)
        kinds = (
            {"objects": np.ones(len(self.subject), dtype=bool)}
            if right is None
            else {"right": right, "wrong": ~right}
        )
        return {
            name: _bars(getattr(predictions, name), kinds) for name in ("confidence", "credibility")
        }

    @cached_property
    def n_true(self) -> IntArray | None:
        """How many objects have each label, where that is known."""
        labels = self.subject.labels
        return None if labels is None else labels.sum(axis=0, dtype=np.int64)

    @cached_property
    def truth_p_values(self) -> FloatArray | None:
        """The p-values of the true labelsets, where these are known."""
        labels = self.subject.labels
        return None if labels is None else self.subject.predictions.p_value(labels)

    @cached_property
    def n_predicted(self) -> IntArray:
        """For how many objects each label is predicted."""
        predicted: IntArray = self.subject.answers.sum(axis=0, dtype=np.int64)
        return predicted

    @cached_property
    def single(self) -> dict[str, list[float]]:
        """The share of exact matches, Hamming loss, micro and macro F1 of single answers, where the truth is known."""
        subject, truth = self.subject, self.subject.labels
        if truth is None:
            return {}
        answers = {
            "learner alone": None
            if subject.alone is None
            else (subject.alone > 0.5).astype(np.int8),
            "predicted labels": subject.predicted,
            "most plausible labelset": subject.predictions.labelsets,
        }
        return {
            name: list(point_measures(truth, labels).values())
            for name, labels in answers.items()
            if labels is not None
        }

    @cached_property
    def comparison(self) -> list[str]:
        """What wrapping did, where the learner's own outputs are known, and what a person has to answer."""
        subject, said = self.subject, list[str]()
        truth, outputs = subject.labels, subject.alone
        if truth is None:
            return said
        if outputs is not None and ((outputs > 0) & (outputs < 1)).any():  # else they are labels
            briers = [brier_score(truth, p) for p in (subject.predictions.probabilities, outputs)]
            both = (subject.answers, (outputs > 0.5).astype(np.int8))
            macros = [point_measures(truth, labels)["f1_macro"] for labels in both]
            said.append(say_what_wrapping_did(*briers, *macros))
        significance = float(self.levels.significances[self.start])
        answers = count_answers(subject.predictions, truth, significance, min(significance, WIDE))
        return [*said, *([] if answers is None else [str(answers)])]

    def for_script(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return facts and arrays that travel to the page's script."""
        subject = self.subject
        counts = self.counts
        objects = self.objects
        facts = {
            "nObjects": len(subject),
            "labels": subject.label_names,
            "names": [subject.names[i] for i in objects.chosen.tolist()],
            "labelled": subject.labels is not None,
            "perMille": self.levels.per_mille,
            "nested": self.levels.nested,
            "sizeKind": counts.size_kind,
            "sizesInBytes": self.levels.sizes == "table",
            "start": self.start,
            "shades": SHADES,
            "words": [asdict(words) for words in self.words],
            "bins": counts.bins,
            "shownBins": counts.shown_bins,
            "sizeCounts": counts.sizes.tolist(),
            "labelCounts": counts.labels.tolist(),
            "labelTrue": None if self.n_true is None else self.n_true.tolist(),
            "labelPredicted": self.n_predicted.tolist(),
            "groups": [_group_facts(group) for group in counts.groups],
            "calibration": self.calibration if subject.labels is not None else [],
            "bars": self.bars,
            "specs": {
                name: read_json(f"{name}.vl.json")
                for name in ("calibration", "sizes", "histogram", "groups")
            },
            "theme": read_json("theme.vl.json"),
            "alphas": [] if self.acceptance is None else self.acceptance.alphas,
        }
        arrays = objects.arrays(subject.labels, subject.answers)
        if self.truth_p_values is not None:
            arrays["truthPValues"] = in_shades(self.truth_p_values[objects.chosen])
        if self.acceptance is not None:
            arrays["accepted"] = self.acceptance.codes[objects.chosen].astype(np.uint8)
        return facts, arrays


def _right(subject: Subject) -> BoolArray | None:
    """Tell which most plausible labelsets are the truth, where that is known."""
    if subject.labels is None:
        return None
    right: BoolArray = (subject.predictions.labelsets == subject.labels).all(axis=1)
    return right


def _bars(values: FloatArray, kinds: dict[str, BoolArray]) -> list[dict[str, Any]]:
    places = np.minimum((values * N_BARS).astype(np.int64), N_BARS - 1)
    counts = {
        kind: np.bincount(places[members], minlength=N_BARS).tolist()
        for kind, members in kinds.items()
    }
    return [
        {"low": bar / N_BARS, "high": (bar + 1) / N_BARS, "kind": kind, "count": counts[kind][bar]}
        for bar in range(N_BARS)
        for kind in kinds
    ]


def _group_facts(group: Any) -> dict[str, Any]:
    low, high = group.limits
    return {
        "by": group.by,
        "names": group.names,
        "objects": group.n_objects.tolist(),
        "covered": group.n_covered.tolist(),
        "low": low.tolist(),
        "high": high.tolist(),
    }
