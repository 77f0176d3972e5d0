"""Packages that only some users need, imported when first used."""

import importlib
from types import ModuleType


def import_optional(module: str, *, extra: str, purpose: str) -> ModuleType:
    """Import ``module`` or say which extra of labelsure brings it.

    Parameters
    ----------
    module : str
        The module's full name.
    extra : str
        The extra of labelsure that installs it, or several, "one or another".
    purpose : str
        What needs it, to start the error message with.

    Examples
    --------
    >>> import_optional("json", extra="none", purpose="This example").__name__
    'json'
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        raise ImportError(
            f"{purpose} needs the package {package!r}, which is not installed."
            f' Install it with: pip install "labelsure[{extra}]"'.replace(" or ", ']" or "labelsure[')
        ) from error
