"""The folder beside a model: there as long as something is kept in it."""

import pytest
from sklearn.utils.parallel import delayed

from labelsure.cli._kept import keep_fits
from labelsure.conformal._memory import run_kept


@pytest.mark.parametrize("error", [ZeroDivisionError, MemoryError])
def test_an_error_that_nobody_expected_leaves_finished_fits_but_no_empty_folder(
    error, tmp_path, capsys
):
    output = tmp_path / "m.labelsure"
    with pytest.raises(error), keep_fits(output, "logistic"):
        raise error
    assert not list(tmp_path.iterdir())
    with pytest.raises(error), keep_fits(output, "logistic") as kept:
        run_kept([delayed(abs)(-42)], kept, n_jobs=1, description="fitting")
        raise error
    with keep_fits(output, "logistic") as kept:
        assert run_kept([delayed(abs)(-42)], kept, n_jobs=1, description="fitting") == [42]
    assert (
        capsys.readouterr().err
        == "labelsure: note: 1 of 1 fits were finished already, by a run that was interrupted.\n"
    )
    assert not list(tmp_path.iterdir())
