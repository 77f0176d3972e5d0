"""The learner's own share of the processor: its class's methods watched while everything runs."""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

METHODS = ("fit", "predict_proba", "decision_function", "predict")


class LearnerClock:
    """Adds up the CPU seconds of calls; a call within a call counts once."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._depth = 0

    def watched(self, method: Callable[..., Any]) -> Callable[..., Any]:
        """Return the method with its time added up."""

        def call(*arguments: Any, **keywords: Any) -> Any:
            start, self._depth = time.process_time(), self._depth + 1
            try:
                return method(*arguments, **keywords)
            finally:
                self._depth -= 1
                if self._depth == 0:
                    self.seconds += time.process_time() - start

        return call


@contextmanager
def watch(learner: Any) -> Iterator[LearnerClock]:
    """Watch all learners of the same class, in this process; of a pool, its members."""
    clock, watched = LearnerClock(), set()
    with ExitStack() as stack:
        for one in [member for _, member in getattr(learner, "estimators", [])] or [learner]:
            for name in METHODS:
                if hasattr(one, name) and (type(one), name) not in watched:
                    watched.add((type(one), name))
                    method = clock.watched(getattr(type(one), name))
                    stack.enter_context(mock.patch.object(type(one), name, method))
        yield clock


def seconds_of(learner: Any, work: Callable[[], Any]) -> tuple[float, float]:
    """Return the CPU seconds of some work: the learner's own, and all."""
    with watch(learner) as clock:
        start = time.process_time()
        work()
        return clock.seconds, time.process_time() - start
