"""Things made of what a fit holds, made once and forgotten with it."""

from collections.abc import Callable, Hashable, Sequence
from typing import Any, TypeVar
from weakref import ref

Made = TypeVar("Made")


class Memory:
    """Keeps what was made of some objects as long as the first of them lives.

    Examples
    --------
    >>> import numpy as np
    >>> memory, part = Memory(), np.arange(3)
    >>> memory.recall([part], part.sum) is memory.recall([part], part.sum)
    True
    """

    def __init__(self) -> None:
        self._made: dict[Hashable, tuple[Any, list[Any], Any]] = {}

    def recall(self, parts: Sequence[Any], make: Callable[[], Made], *more: Hashable) -> Made:
        """Return what ``make`` returns, called once for the same objects, and whatever more it depends on.

        Parameters
        ----------
        parts : sequence of objects or None
            None of which changes; what is made must not hold the first that is not None.
        """
        first = next((part for part in parts if part is not None), None)
        if first is None:
            return make()
        key = (*map(id, parts), *more)
        if key not in self._made:
            others = [part for part in parts if part is not first]  # kept, so that no other object gets their number
            self._made[key] = ref(first, lambda _: self._made.pop(key, None)), others, make()
        made: Made = self._made[key][2]
        return made
