"""Tables on another device: rows of numerators are made and reduced there, and only answers travel."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from labelsure._checks import IntArray
from labelsure.engine._backends import NumbaTable
from labelsure.engine._device import CudaDevice
from labelsure.engine._discounted import Memory
from labelsure.engine._fold_arrays import ScoreTables
from labelsure.engine._numpy_rows import scores_of_codes
from labelsure.engine._weighing import Counts
from labelsure.measures._labelset_bits import encode

HIGH_LABELS = 4
"""A thread goes through the codes of this many labels, so that its sums over the low ones are made once for all."""

NEAR_LABELS = 5
"""The threads of a warp differ in these."""

FOLDS_AT_A_TIME = 16
SLOTS = 4
"""At most this many objects share a block of threads, where they have few labels."""

BLOCK_BYTES = 2**29
"""Rows that are on the device at a time; where all of them are asked for, also in memory."""

FEWEST_BITS = 9
"""Fewer buckets of a fold than two to the power of this are not worth fast memory."""

LARGEST = np.iinfo(np.int64).max

# Columns of DeviceScores.layout
ORIGIN, SHIFT = 4, 5

_scores = Memory()


class Terms(NamedTuple):
    """What scores are sums of, on a device, as ``Costs`` in the source, but for pairs of single objects."""

    labels: Any
    rows: Any
    penalties: Any


class DeviceScores(NamedTuple):
    """The calibration scores on a device, as ``Tables`` in the source, and where those of each fold lie there.

    Values with their counts, and buckets, are in fast memory where they are shared.
    """

    buckets: Any
    counts: Any
    values: Any
    layout: Any
    shared_values: bool
    shared_buckets: bool

    @classmethod
    def of(
        cls, calibrations: Sequence[IntArray], links: Sequence[int], device: CudaDevice, taken: int
    ) -> "DeviceScores":
        """Return those of some folds, with as many buckets as fast memory has room for beside what is taken."""
        n_folds, n_values = len(calibrations), sum(map(len, calibrations)) + len(calibrations)
        kind = np.dtype(np.int16 if max(map(len, calibrations)) < 2**15 else np.int32)
        room, n_bytes = device.shared_bytes - taken, (8 + kind.itemsize) * n_values
        shared_values = 2 * n_bytes <= room
        room = (room - n_bytes * shared_values) // kind.itemsize
        bits = (room // n_folds).bit_length()
        tables = ScoreTables.of(calibrations, links, bits=bits if bits >= FEWEST_BITS else None)
        if tables.buckets.size > room and bits > FEWEST_BITS:
            tables = ScoreTables.of(calibrations, links, bits=bits - 1)
        bucket_begin, bucket_last, begin, end, _, origin, shift, link = tables.layout.T
        distances = tables.values - np.repeat(origin, end - begin)
        more = np.arange(n_folds)  # after the values of each fold one that is never reached
        layout = (bucket_begin, bucket_last - bucket_begin, begin + more, end + more, origin, shift, link)
        return cls(
            device.arrays.asarray(tables.buckets, dtype=kind),
            device.arrays.asarray(tables.counts, dtype=kind),
            device.arrays.asarray(np.insert(distances, end, LARGEST)),
            device.arrays.asarray(np.ascontiguousarray(np.stack(layout, axis=1))),
            shared_values,
            tables.buckets.size <= room,
        )

    @property
    def n_bytes(self) -> int:
        """The fast memory that these take."""
        values = int(self.values.nbytes + self.counts.nbytes) * self.shared_values
        return values + int(self.buckets.nbytes) * self.shared_buckets


@dataclass(eq=False)
class DeviceTable(NumbaTable):
    """The back end on a device; the same numbers as on the processor.

    Attributes
    ----------
    device : CudaDevice
        Where rows are made.
    """

    device: CudaDevice = field(kw_only=True)

    def n_at_once(self, block_bytes: int) -> int:  # noqa: ARG002 - this device has room of its own
        """Return how many objects are asked about at a time."""
        return max(1, BLOCK_BYTES // (self._kind.itemsize << self.n_labels))

    def numerators(self, objects: IntArray) -> Counts:
        """Return the numerators of every code, one row per object."""
        none = np.empty((0, 2**self.n_labels), dtype=self._kind)
        return np.concatenate([none, *(self.device.to_host(rows) for _, rows in self._blocks(objects))])

    def sizes(self, objects: IntArray, smallest: IntArray) -> IntArray:
        """Return how many numerators of each object are at least its smallest."""
        xp, sizes = self.device.arrays, [np.empty(0, dtype=np.int64)]
        for block, rows in self._blocks(objects):
            own = xp.empty((len(rows), self._n_pieces), dtype=np.int64)
            self._reduce("count_members", len(rows), *self._candidates, rows, xp.asarray(smallest[block]), own)
            sizes.append(self.device.to_host(own.sum(axis=1)))
        return np.concatenate(sizes)

    def label_maxima(self, objects: IntArray) -> IntArray:
        """Return the highest numerators with each label off and on, (n, q, 2)."""
        maxima = [np.empty((0, self.n_labels, 2), dtype=np.int64)]
        for _, rows in self._blocks(objects):
            own = self.device.arrays.empty((len(rows), self._n_pieces, self.n_labels, 2), dtype=np.int64)
            self._reduce("label_maxima", len(rows), rows, own)
            maxima.append(self.device.to_host(own.max(axis=1)))
        return np.concatenate(maxima)

    def best(self, objects: IntArray, n_best: int) -> tuple[IntArray, Counts]:
        """Return the codes of each object's best labelsets, up to ``n_best`` of them, and their numerators."""
        if self.arrays.has_own_scores:  # of which totals are made of, where numerators tie
            return super(NumbaTable, self).best(objects, n_best)
        n_candidates = 2**self.n_labels - self.first_code if isinstance(self.codes, slice) else len(self.codes)
        n_best, terms = min(n_best, n_candidates), self._totals
        found = [np.empty((3, 0, n_best), dtype=np.int64)]
        for block, rows in self._blocks(objects):
            own = self.device.arrays.empty((3, len(rows), self._n_pieces * n_best), dtype=np.int64)
            pairs = self._own_pairs(objects[block])
            given = (
                self._take(terms.labels, objects[block]),
                pairs if self.arrays.has_link else pairs.sum(axis=1),
                terms.rows,
                terms.penalties,
                self._links,
                terms.labels.shape[1],
            )
            self._reduce("best_codes", len(rows), *given, *self._candidates, rows, n_best, *own)
            numerators, totals, codes = self.device.to_host(own)
            order = np.lexsort((codes, totals, -numerators))[:, :n_best]  # of all pieces
            found.append(np.take_along_axis(np.stack([numerators, totals, codes]), order[None], axis=2))
        numerators, _, codes = np.concatenate(found, axis=1)
        return codes, numerators

    def _blocks(self, objects: IntArray) -> Iterator[tuple[slice, Any]]:
        """Yield rows of numerators on the device, as many at a time as there is room for, and whose they are."""
        n_bytes = self._kind.itemsize << self.n_labels
        if self.arrays.own_pairs:
            n_bytes += 16 * self.arrays.n_folds * self.n_labels**2
        n_some = max(1, min(self.device.free_bytes // 4 // n_bytes, len(objects)))
        rows = self.device.arrays.empty((n_some, 2**self.n_labels), dtype=self._kind)
        for first in range(0, len(objects), n_some):
            block = slice(first, first + n_some)
            own = rows[: len(objects[block])]
            self._count(objects[block], own)
            yield block, own

    @property
    def _kind(self) -> np.dtype[Any]:
        """The type of numerators, ``ROW`` in the source."""
        return np.dtype(np.int32 if self.weighing.is_plain else np.int64)

    def _count(self, objects: IntArray, rows: Any) -> None:
        """Write the numerators of some objects."""
        scores, weighing, to_device = self._scores, self.weighing, self.device.arrays.asarray
        labels, code_rows, penalties = self._costs
        low, high, slots = self._parts
        n_bytes = self._small_bytes + scores.n_bytes
        n_groups = -(-(len(objects) << (self.n_labels - low - high)) // slots)
        per_object = (weighing.start, weighing.at_least, weighing.above)
        self.device.launch(
            "count_rows",
            self._macros,
            (min(n_groups, self.device.n_processors), slots << low, n_bytes),
            len(objects),
            self._take(labels, objects),
            self._own_pairs(objects),
            code_rows,
            penalties,
            scores.buckets,
            len(scores.buckets),
            scores.counts,
            scores.values,
            len(scores.values),
            scores.layout,
            *(to_device(part[objects]) for part in per_object),
            to_device(weighing.weights),
            weighing.weights.shape[1],
            *self._candidates,
            rows,
        )
        if self.arrays.has_own_scores:
            own, labelsets = self.arrays.overridden(objects)
            listed = self.arrays.scores(labelsets, objects[own])
            values, codes = weighing.of_scores(self.arrays.calibrations, listed, objects[own]), encode(labelsets)
            allowed = codes >= self.first_code
            if self.constraints is not None:
                allowed &= self.constraints.by_code[codes]
            rows[to_device(own), to_device(codes)] = to_device(np.where(allowed, values, 0).astype(rows.dtype))

    def _reduce(self, name: str, n_objects: int, *given: Any) -> None:
        """Run a kernel that looks at rows, a block of threads for each object."""
        low, _, slots = self._parts
        n_blocks, n_threads = min(n_objects * self._n_pieces, 2 * self.device.n_processors), slots << low
        self.device.launch(name, self._macros, (n_blocks, n_threads, 24 * n_threads), n_objects, *given)

    def _take(self, parts: Any, objects: IntArray) -> Any:
        """Return the parts of some objects, without a copy where these follow one another."""
        if len(objects) and np.array_equal(objects, np.arange(objects[0], objects[0] + len(objects))):
            return parts[int(objects[0]) : int(objects[0]) + len(objects)]
        return parts[self.device.arrays.asarray(objects)]

    def _own_pairs(self, objects: IntArray) -> Any:
        """Return the pairwise costs of single objects, (n, K, q, q), where they have any."""
        pairs = self.arrays.pairs.of(objects) if self.arrays.own_pairs else np.empty((0, 1), dtype=np.int64)
        return self.device.arrays.asarray(pairs)

    def _rows_before_and_after_link(self) -> tuple[IntArray, IntArray]:
        """Return what all objects pay for every code, (K, 2^q) or (K, 0) each."""
        arrays = self.arrays
        shared, nothing = arrays.has_pairs and not arrays.own_pairs, np.empty((arrays.n_folds, 0), dtype=np.int64)
        zero, zeros = np.zeros(1, dtype=np.int64), np.zeros((1, self.n_labels), dtype=np.int64)
        energies = [replace(energy, constant=zero, unary=zeros, link=None) for energy in arrays.general]
        before = [replace(energy, penalty=None) for energy in energies]
        discounts = [fold.energy.discounts for fold in arrays.folds]
        after = [
            replace(energy, pairwise=None, discounts=spared) for energy, spared in zip(energies, discounts, strict=True)
        ]
        first, second = (
            np.concatenate([scores_of_codes(energy, zero) for energy in summed]) if there else nothing
            for summed, there in ((before, shared), (after, arrays.penalties.present or arrays.has_discounts))
        )
        return first, second

    @cached_property
    def _uploaded(self) -> Terms:
        """What scores in each fold are sums of: without a link there is nothing that costs come after."""
        xp, energies = self.device.arrays, self.arrays.general
        labels = xp.empty((self.n_objects, len(energies), 1 + self.n_labels), dtype=np.int64)
        labels[:, :, 0] = xp.asarray(np.stack([energy.constant for energy in energies], axis=1))
        labels[:, :, 1:] = xp.asarray(np.stack([energy.unary for energy in energies], axis=1))
        rows, penalties = (xp.asarray(part) for part in self._rows_before_and_after_link())
        if penalties.size and not self.arrays.has_link:
            rows, penalties = penalties + rows if rows.size else penalties, rows[:, :0]
        return Terms(labels, rows, penalties)

    @cached_property
    def _totals(self) -> Terms:
        """What total scores are sums of: without links one term for all folds."""
        labels, rows, penalties = self._uploaded
        if self.arrays.has_link:
            return self._uploaded
        return Terms(labels.sum(axis=1, keepdims=True), rows.sum(axis=0, keepdims=True), penalties)

    @cached_property
    def _costs(self) -> Terms:
        """What is looked up: without links, sums are counted from the origin of the fold's buckets."""
        labels, rows, penalties = self._uploaded
        if not self.arrays.has_link:
            labels = labels.copy()
            labels[:, :, 0] -= self._scores.layout[:, ORIGIN]
        return Terms(labels, rows, penalties)

    @cached_property
    def _links(self) -> Any:
        """The shifts of the terms' square roots, -1 where there is none."""
        links = [-1 if energy.link is None else energy.link.shift for energy in self.arrays.general]
        return self.device.arrays.asarray(np.array(links if self.arrays.has_link else [-1], dtype=np.int64))

    @cached_property
    def _candidates(self) -> tuple[int, Any]:
        """The lowest code of a candidate, and which codes constraints allow, if there are any."""
        allowed = np.empty(0, dtype=np.uint8) if self.constraints is None else self.constraints.by_code.astype(np.uint8)
        return self.first_code, self.device.arrays.asarray(allowed)

    @cached_property
    def _scores(self) -> DeviceScores:
        """The calibration scores on the device."""
        links = tuple(-1 if energy.link is None else energy.link.shift for energy in self.arrays.general)
        given: tuple[Any, ...] = (links, self.device, self._small_bytes)
        calibrations = self.arrays.calibrations
        return _scores.recall(calibrations, partial(DeviceScores.of, calibrations, *given), *given)

    @property
    def _n_pieces(self) -> int:
        """How many pieces of the codes of an object are reduced apart."""
        return 1 << max(self.n_labels - self.device.piece_labels, 0)

    @property
    def _small_bytes(self) -> int:
        """The fast memory that sums over labels take."""
        low, high, slots = self._parts
        near = min(low, NEAR_LABELS)
        sums = (1 << near) + (1 << (low - near)) + (1 << high)
        return 8 * slots * self._chunk * (sums + (low << high) * self.arrays.own_pairs)

    @property
    def _chunk(self) -> int:
        """How many folds' sums are at hand at a time."""
        n_folds = self.arrays.n_folds
        return -(-n_folds // -(-n_folds // FOLDS_AT_A_TIME))

    @cached_property
    def _fast(self) -> bool:
        """Whether scores are sums of less than 2^31 buckets, whatever the labels."""
        if self.arrays.has_link or self.arrays.own_pairs or not self.n_objects:
            return False
        labels, rows, _ = self._costs
        largest = abs(labels).sum(axis=2).max(axis=0)
        if rows.size:
            largest = largest + abs(rows).max(axis=1)
        return bool(self.device.to_host((largest >> self._scores.layout[:, SHIFT]).max()) < 2**31 - 1)

    @property
    def _parts(self) -> tuple[int, int, int]:
        """How many labels are low and high ones, and how many objects a block of threads works on."""
        low = min(self.n_labels, self.device.low_labels)
        return low, min(self.n_labels - low, HIGH_LABELS), min(1 << (self.device.low_labels - low), SLOTS)

    @cached_property
    def _macros(self) -> tuple[tuple[str, str], ...]:
        """What the kernels are compiled with."""
        low, high, slots = self._parts
        numbers = {
            "FOLDS": self.arrays.n_folds,
            "LABELS": self.n_labels,
            "CHUNK": self._chunk,
            "LOW": low,
            "HIGH": high,
            "SLOTS": slots,
            "PIECES": self._n_pieces,
            "CODE_ROWS": int(self._costs.rows.size > 0),
            "OWN_PAIRS": int(self.arrays.own_pairs),
            "LINKS": int(self.arrays.has_link),
            "PENALTIES": int(self._costs.penalties.size > 0),
            "LOOKS": 1 + self.weighing.looks_above,
            "WEIGHTS": int(self.weighing.weights.size > 0),
            "ALLOWED": int(self.constraints is not None),
            "SHARED_VALUES": int(self._scores.shared_values),
            "SHARED_BUCKETS": int(self._scores.shared_buckets),
            "PLAIN": int(self.weighing.is_plain),
            "FAST": int(self._fast),
        }
        kinds = {
            "ROW": "int" if self._kind == np.int32 else "i64",
            "BUCKET": "short" if self._scores.buckets.dtype == np.int16 else "int",
        }
        return (*((name, str(number)) for name, number in numbers.items()), *kinds.items())
