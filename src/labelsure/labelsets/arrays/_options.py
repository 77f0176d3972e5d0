"""What an engine may spend, and where it changes from one way of answering to another."""

from dataclasses import dataclass


@dataclass(frozen=True)
class EngineOptions:
    """Limits of time and memory, and where tables give way to searches; answers do not depend on them but for budgets.

    Attributes
    ----------
    table_labels : int
        Up to this many labels the whole table costs less than setting up a search.
    max_table_labels : int
        With more labels one object's row of counts no longer fits in 64 MiB.
    table_share : int
        A search that could be replaced by a table may spend one evaluation per this many entries before it is. An
        evaluation costs as much as four or five entries, so that adds at most a tenth to the cost.
    table_block_bytes : int
        Rows worked on at a time by one thread: small enough to stay in the processor's cache.
    block_bytes, block_objects : int
        Costs of the objects that one thread searches at a time, a problem takes about six times as much; and at most
        this many objects, so that an interrupt is heard soon.
    probed_objects : int
        This many regions are counted to see whether counting is worth while.
    count_budget, rough_budget : int
        Evaluations that counting one region may take before its size is estimated, about 0.1 s; and where a rough
        answer is enough.
    depth_first_call, ranked_call : int
        Evaluations of one call of a kernel, at most about 0.1 s, so that an interrupt is heard soon.
    best_budget, frontier_bytes : int
        Evaluations and memory of one object's best-first search. When either is spent, a depth-first search begins,
        which needs hardly any memory.
    ranked_budget : int
        Evaluations of one object's depth-first search for the best. When it is spent, the best found are the answer,
        with an upper bound of all that may have been missed.
    label_budget : int
        Evaluations of one object's searches for the highest numerators of all labels; then bounds are the answer.
    start_budget : int
        Evaluations in search of the labelset that draws start from, which need not be the best of all.
    frontier : int
        Entries that a best-first search has room for at first.
    chunk : int
        Members handed over at a time.
    few_members : int
        Up to this many members of a region are searched for best first; more are listed and sorted.
    list_bytes : int
        A list of a region's members may take this much memory; larger regions are iterated.
    override_bytes : int
        Answers about overrides are kept for further questions, as long as they take no more than this.
    exact_minima, estimate_minima, rough_minima : int
        For maxima: how many different minima are kept to count a region before its size is estimated, to estimate it,
        and for either where a rough answer is enough.

    Examples
    --------
    >>> EngineOptions(table_labels=0).table_labels  # searches only
    0
    """

    table_labels: int = 8
    max_table_labels: int = 24
    table_share: int = 48
    table_block_bytes: int = 2**20
    block_bytes: int = 2**22
    block_objects: int = 32
    probed_objects: int = 8
    count_budget: int = 2_000_000
    rough_budget: int = 5_000
    depth_first_call: int = 1_000_000
    ranked_call: int = 200_000
    best_budget: int = 4_000_000
    frontier_bytes: int = 2**28
    ranked_budget: int = 8_000_000
    label_budget: int = 8_000_000
    start_budget: int = 100_000
    frontier: int = 64
    chunk: int = 4096
    few_members: int = 4096
    list_bytes: int = 2**30
    override_bytes: int = 2**28
    exact_minima: int = 2**13
    estimate_minima: int = 2**9
    rough_minima: int = 2**6


def check_listable(n_labels: int, options: EngineOptions) -> None:
    """Raise ValueError where there are too many labelsets to list."""
    if n_labels > options.max_table_labels:
        raise ValueError(
            f"This lists the p-values of all 2^{n_labels} labelsets of {n_labels} labels, one by one;"
            f" that is possible for up to {options.max_table_labels} labels."
            " Predictions, top(k), regions and p_value(Y) work for any number of labels."
        )
