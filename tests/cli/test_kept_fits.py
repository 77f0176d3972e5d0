"""The folder beside a model: there as long as something is kept in it."""

import pytest

from labelsure.cli._kept_fits import keep_fits

KEY = "0" * 64


@pytest.mark.parametrize("error", [ZeroDivisionError, MemoryError])
def test_an_error_that_nobody_expected_leaves_finished_fits_but_no_empty_folder(error, tmp_path):
    output = tmp_path / "m.labelsure"
    with pytest.raises(error), keep_fits(output, "logistic"):
        raise error
    assert not list(tmp_path.iterdir())
    with pytest.raises(error), keep_fits(output, "logistic") as kept:
        kept.write(KEY, 42)
        raise error
    with keep_fits(output, "logistic") as kept:
        assert kept.read(KEY) == (42,)
    assert not list(tmp_path.iterdir())
