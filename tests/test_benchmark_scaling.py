"""The simulation of many workers: right where it can be worked out by hand."""

import pytest
from benchmarks.scaling import Costs, makespan

FREE = Costs(per_task=0.0, per_byte=0.0, data_bytes=0.0, model_bytes=0.0)


@pytest.mark.parametrize(("n_folds", "n_workers", "rounds"), [(10, 1, 10), (10, 5, 2), (10, 4, 3), (10, 100, 1)])
def test_simulated_rounds_without_costs(n_folds, n_workers, rounds):
    assert makespan(FREE, n_folds, 5.0, n_workers) == 5.0 * rounds


def test_simulated_tasks_are_handed_out_one_after_another():
    assert makespan(Costs(1.0, 0.0, 0.0, 0.0), 3, 5.0, 100) == 3 * 1.0 + 5.0


def test_simulated_data_spread_in_steps_that_double_and_models_come_back_in_turn():
    assert makespan(Costs(0.0, 0.5, data_bytes=4.0, model_bytes=2.0), 3, 5.0, 3) == 2 * 2.0 + 5.0 + 3 * 1.0
