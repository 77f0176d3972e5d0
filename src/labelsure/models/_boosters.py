"""LightGBM and XGBoost: what they have learned, in their own formats, which are texts."""

import json
from typing import Any

from labelsure.models._archive import ModelFileError
from labelsure.models._booster_texts import check_lightgbm, check_xgboost, cut_lightgbm

PACKAGES = {"lightgbm.basic": "lightgbm", "xgboost.core": "xgboost"}


def is_booster(thing: Any) -> bool:
    """Tell whether something is what LightGBM or XGBoost has learned."""
    return type(thing).__name__ == "Booster" and type(thing).__module__ in PACKAGES


def write_booster(booster: Any, number: int) -> tuple[dict[str, Any], str, bytes]:
    """Return the entry of a booster, and the name and contents of the member that holds it."""
    package, name = PACKAGES[type(booster).__module__], f"boosters/{number}.json"
    if package == "xgboost":
        return {"booster": package, "member": name, "best_iteration": None}, name, bytes(booster.save_raw("json"))
    text = json.dumps(cut_lightgbm(booster.model_to_string(num_iteration=-1)))
    return {"booster": package, "member": name, "best_iteration": int(booster.best_iteration)}, name, text.encode()


def read_booster(entry: dict[str, Any], data: bytes) -> Any:
    """Return a booster, its trees having been checked."""
    try:
        content = json.loads(data)
        if entry["booster"] == "xgboost":
            check_xgboost(content)
            return _read_xgboost(data)
        if entry["booster"] == "lightgbm" and type(entry["best_iteration"]) is int:
            check_lightgbm(content)
            return _read_lightgbm(content, entry["best_iteration"])
    except ModelFileError:
        raise
    except Exception as error:  # the packages have errors of their own
        raise ModelFileError(f"a booster is damaged: {error}") from error
    raise ModelFileError("a booster is of no package that is known")


def _read_xgboost(data: bytes) -> Any:
    import xgboost

    booster = xgboost.Booster()
    booster.load_model(bytearray(data))
    return booster


def _read_lightgbm(text: str, best_iteration: int) -> Any:
    import lightgbm

    booster = lightgbm.Booster(model_str=text)
    booster.best_iteration = best_iteration
    return booster
