"""The files that lie beside this module: the page, its style and script, the figures, the library that draws them."""

import json
from importlib.resources import files
from typing import Any


def read_asset(name: str) -> str:
    """Return the text of a file.

    Examples
    --------
    >>> read_asset("page.html").splitlines()[0]
    '<!DOCTYPE html>'
    """
    return (
        files("labelsure.report").joinpath("assets", *name.split("/")).read_text(encoding="utf-8")
    )


def read_json(name: str) -> Any:
    """Return what a file of JSON holds.

    Examples
    --------
    >>> read_json("sizes.vl.json")["data"]
    {'name': 'sizes'}
    """
    return json.loads(read_asset(name))
