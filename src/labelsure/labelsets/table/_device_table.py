"""Tables on another device: rows of numerators are made and reduced there, and only answers travel."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from labelsure._core.labelset_bits import encode
from labelsure._core.types import IntArray
from labelsure.labelsets.arrays import _fold_arrays as columns
from labelsure.labelsets.arrays._fold_arrays import ScoreTables
from labelsure.labelsets.arrays._weighing import Counts
from labelsure.labelsets.table._device import Device
from labelsure.labelsets.table._table import NumbaTable

SMALL_PARTS = 2**15
"""Bytes of fast memory for what is not a table; half of it has to be there."""

HIGH_LABELS = 4
"""A thread goes through the codes of this many labels, so that its sums over the low ones are made once for all."""


@dataclass(eq=False)
class DeviceTable(NumbaTable):
    """The back end on a device; the same numbers as on the processor.

    Attributes
    ----------
    device : Device
        Where rows are made.
    """

    device: Device = field(kw_only=True)

    def numerators(self, objects: IntArray) -> Counts:
        """Return the numerators of every code, one row per object."""
        rows: Counts = np.concatenate([self.device.to_host(rows) for _, rows in self._blocks(objects)])
        return rows

    def sizes(self, objects: IntArray, smallest: IntArray) -> IntArray:
        """Return how many numerators of each object are at least its smallest."""
        xp, sizes = self.device.arrays, [np.empty(0, dtype=np.int64)]
        for block, rows in self._blocks(objects):
            own = xp.empty(len(rows), dtype=np.int64)
            self._reduce("count_members", len(rows), *self._candidates, rows, xp.asarray(smallest[block]), own)
            sizes.append(self.device.to_host(own))
        return np.concatenate(sizes)

    def label_maxima(self, objects: IntArray) -> IntArray:
        """Return the highest numerators with each label off and on, (n, q, 2)."""
        maxima = [np.empty((0, self.n_labels, 2), dtype=np.int64)]
        for _, rows in self._blocks(objects):
            own = self.device.arrays.empty((len(rows), self.n_labels, 2), dtype=np.int64)
            self._reduce("label_maxima", len(rows), rows, own)
            maxima.append(self.device.to_host(own))
        return np.concatenate(maxima)

    def best(self, objects: IntArray, n_best: int) -> tuple[IntArray, Counts]:
        """Return the codes of each object's best labelsets, up to ``n_best`` of them, and their numerators."""
        if self.arrays.has_own_scores:  # of which totals are made of, where numerators tie
            return super(NumbaTable, self).best(objects, n_best)
        n_best = min(n_best, len(np.arange(2**self.n_labels)[self.codes]))
        best = [np.empty((2, 0, n_best), dtype=np.int64)]
        for block, rows in self._blocks(objects):
            own = self.device.arrays.empty((2, len(rows), n_best), dtype=np.int64)
            costs = (*self._costs(objects[block]), self._tables.layout)
            self._reduce("best_codes", len(rows), *costs, *self._candidates, rows, n_best, *own)
            best.append(self.device.to_host(own))
        codes, numerators = np.concatenate(best, axis=1)
        return codes, numerators

    def _blocks(self, objects: IntArray) -> Iterator[tuple[slice, Any]]:
        """Yield rows of numerators on the device, as many at a time as there is room for, and whose they are."""
        kind = np.dtype(np.int32 if self.weighing.is_plain else np.int64)
        n_some = max(1, self.device.free_bytes // 4 // (kind.itemsize << self.n_labels))
        for first in range(0, len(objects), n_some):
            block = slice(first, first + n_some)
            rows = self.device.arrays.empty((len(objects[block]), 2**self.n_labels), dtype=kind)
            self._count(objects[block], rows)
            yield block, rows

    def _count(self, objects: IntArray, rows: Any) -> None:
        """Write the numerators of some objects."""
        tables, weighing, to_device = self._tables, self.weighing, self.device.arrays.asarray
        per_object = (
            to_device(part[objects]) for part in (weighing.start, weighing.at_least, weighing.above, weighing.first)
        )
        n_folds, n_labels = self.arrays.n_folds, self.n_labels
        low, high, slots = self._parts
        n_bytes = 64 * n_folds + (8 * slots * n_folds << high) * (1 + low * self.arrays.own_pairs)
        if self._shared_buckets:
            n_bytes += self._table_bytes
        n_groups = -(-(len(objects) << (n_labels - low - high)) // slots)
        shape = (min(n_groups, self.device.n_processors), slots << low, n_bytes)
        self.device.launch(
            "count_rows",
            self._macros,
            shape,
            len(objects),
            *self._costs(objects),
            tables.buckets,
            len(tables.buckets),
            tables.values,
            tables.counts,
            len(tables.values),
            tables.layout,
            *per_object,
            to_device(weighing.weights),
            to_device(weighing.multipliers),
            weighing.weights.shape[1],
            *self._candidates,
            rows,
        )
        if self.arrays.has_own_scores:
            own, labelsets = self.arrays.overridden(objects)
            scores = self.arrays.scores(labelsets, objects[own])
            values, codes = weighing.of_scores(self.arrays.calibrations, scores, objects[own]), encode(labelsets)
            allowed = codes >= self.first_code
            if self.constraints is not None:
                allowed &= self.constraints.by_code[codes]
            rows[to_device(own), to_device(codes)] = to_device(np.where(allowed, values, 0).astype(rows.dtype))

    def _reduce(self, name: str, n_objects: int, *given: Any) -> None:
        """Run a kernel that looks at rows, a block of threads for each object."""
        n_threads = 1 << self.device.low_labels
        n_blocks = min(n_objects, 2 * self.device.n_processors)
        self.device.launch(name, self._macros, (n_blocks, n_threads, 24 * n_threads), n_objects, *given)

    @property
    def _spares_in_rows(self) -> bool:
        """Discounts are in rows of codes: the device has room for them."""
        return True

    @cached_property
    def _shared_rows(self) -> tuple[Any, Any]:
        """The costs of every code that all objects pay, on the device: pairs, and what comes after a link."""
        pairs, penalties = (self.device.arrays.asarray(rows) for rows in self._rows_of_codes)
        return pairs, penalties

    def _costs(self, objects: IntArray) -> tuple[Any, Any, Any, Any]:
        """Return what the scores of some objects are sums of, on the device."""
        xp, energies = self.device.arrays, self.arrays.general
        constant = xp.stack([xp.asarray(energy.constant)[objects] for energy in energies])
        unary = xp.stack([xp.asarray(energy.unary)[objects] for energy in energies])
        pairs, penalties = self._shared_rows
        if self.arrays.own_pairs:
            pairs = xp.asarray(self.arrays.pairs.of(objects, slice(None)))
        return constant, unary, pairs, penalties

    @cached_property
    def _candidates(self) -> tuple[int, Any]:
        """The lowest code of a candidate, and which codes constraints allow, if there are any."""
        allowed = np.empty(0, dtype=np.uint8) if self.constraints is None else self.constraints.by_code.astype(np.uint8)
        return self.first_code, self.device.arrays.asarray(allowed)

    @cached_property
    def _tables(self) -> ScoreTables:
        """The calibration scores on the device, with as many buckets as fast memory has room for."""
        arrays = self.arrays
        links = [-1 if energy.link is None else energy.link.shift for energy in arrays.general]
        short = max(map(len, arrays.calibrations)) < 2**15
        n_bytes = 2 if short else 4
        others = SMALL_PARTS + 16 * sum(map(len, arrays.calibrations))
        room = max((self.device.shared_bytes - others) // n_bytes // arrays.n_folds, 64)
        tables = ScoreTables.of(arrays.calibrations, links, bits=room.bit_length() - 1)
        kinds = (np.int16 if short else np.int32, np.int64, np.int64, np.int64, np.int64)
        return ScoreTables(
            *(self.device.arrays.asarray(part, dtype=kind) for part, kind in zip(tables, kinds, strict=True))
        )

    @property
    def _table_bytes(self) -> int:
        """What buckets, values and counts take."""
        tables = self._tables
        return int(tables.buckets.nbytes + tables.values.nbytes + tables.counts.nbytes)

    @property
    def _shared_buckets(self) -> bool:
        """Whether these fit beside a processor, with what else is there."""
        return self._table_bytes + SMALL_PARTS // 2 <= self.device.shared_bytes

    @cached_property
    def _fast(self) -> bool:
        """Whether scores are sums of less than 2^31 buckets, whatever the labels, and fractions of 2^-32 are enough."""
        arrays, xp = self.arrays, self.device.arrays
        if arrays.has_link or self._shared_rows[1].size or arrays.own_pairs:
            return False
        layout = self.device.to_host(self._tables.layout)
        pairs = self._shared_rows[0]
        for k, energy in enumerate(arrays.general):
            unary, constant = xp.abs(xp.asarray(energy.unary)), xp.abs(xp.asarray(energy.constant))
            largest = int((unary.sum(axis=1) + constant).max()) if len(constant) else 0
            largest += int(xp.abs(pairs[k]).max()) if pairs.size else 0
            shift = int(layout[k, columns.SHIFT])
            if shift > 32 or largest + abs(int(layout[k, columns.ORIGIN])) >= 1 << (30 + shift):
                return False
        return True

    @property
    def _parts(self) -> tuple[int, int, int]:
        """How many labels are low and high ones, and how many objects a block of threads works on."""
        low = min(self.n_labels, self.device.low_labels)
        return low, min(self.n_labels - low, HIGH_LABELS), 1 << (self.device.low_labels - low)

    @cached_property
    def _macros(self) -> tuple[tuple[str, str], ...]:
        """What the kernels are compiled with."""
        pairs, penalties = self._shared_rows
        low, high, slots = self._parts
        numbers = {
            "FOLDS": self.arrays.n_folds,
            "LABELS": self.n_labels,
            "LOW": low,
            "HIGH": high,
            "SLOTS": slots,
            "PAIRS": 2 if self.arrays.own_pairs else int(pairs.size > 0),
            "PENALTIES": int(penalties.size > 0),
            "LINKS": int(self.arrays.has_link),
            "LOOKS": 1 + self.weighing.looks_above,
            "WEIGHTS": int(self.weighing.weights.size > 0),
            "PREFIXES": int(self.weighing.multipliers.size > 0),
            "ALLOWED": int(self.constraints is not None),
            "SHARED_BUCKETS": int(self._shared_buckets),
            "PLAIN": int(self.weighing.is_plain),
            "FAST": int(self._fast),
        }
        kinds = {
            "ROW": "int" if self.weighing.is_plain else "i64",
            "BUCKET": "short" if self._tables.buckets.dtype == np.int16 else "int",
        }
        return (*((name, str(number)) for name, number in numbers.items()), *kinds.items())
