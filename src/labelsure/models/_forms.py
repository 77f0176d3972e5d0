"""What a class of ours is kept as: the arguments it is made with and what it has learned, field by field, checked."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from labelsure.models._archive import ModelFileError
from labelsure.models._checks import Check, anything, run_checks

NOT_KEPT = ("memory", "n_jobs")
"""Arguments that are about the machine that a model was fitted on: a folder there, how many cores it has."""


def no_more(made: Any) -> None:
    """Ask nothing more of an object than of its fields."""


@dataclass(frozen=True)
class Form:
    """How objects of one class are taken apart and put together.

    Attributes
    ----------
    cls : type
        The class.
    arguments : mapping of str to Check
        What the arguments of its constructor must be; those not named may be anything that can be kept.
    learned : mapping of str to Check
        The attributes that a fit leaves: all of them are there, or none.
    may_have : mapping of str to Check
        Attributes that some fits leave.
    worked_out : mapping of str to callable
        Attributes that are made anew, where something was learned.
    check : callable
        Gets the object when it is put together; raises an error where its parts do not go together.
    """

    cls: type
    arguments: Mapping[str, Check] = field(default_factory=dict)
    learned: Mapping[str, Check] = field(default_factory=dict)
    may_have: Mapping[str, Check] = field(default_factory=dict)
    worked_out: Mapping[str, Callable[[], Any]] = field(default_factory=dict)
    check: Callable[[Any], None] = no_more

    @property
    def name(self) -> str:
        """What the class is called in files."""
        return self.cls.__name__

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """The names of the constructor's arguments that files keep."""
        return tuple(name for name in inspect.signature(self.cls).parameters if name not in NOT_KEPT)

    def take_apart(self, made: Any) -> dict[str, Any]:
        """Return the fields of an object, or refuse to lose something of it."""
        fields = {name: getattr(made, name) for name in self.parameters}
        if not self.learned:
            return fields
        known = {*fields, *self.worked_out, *NOT_KEPT}
        rest = {name: value for name, value in vars(made).items() if name not in known}
        unknown = set(rest) - set(self.learned) - set(self.may_have)
        if unknown:
            raise ModelFileError(
                f"{self.name} has an attribute {min(unknown)!r} that files do not keep: delete it before saving"
            )
        return fields | rest

    def put_together(self, fields: dict[str, Any]) -> Any:
        """Return the object with these fields, having checked each of them and all together."""
        arguments = {name: fields[name] for name in self.parameters if name in fields}
        learned = {name: value for name, value in fields.items() if name not in arguments}
        fitted = set(self.learned) <= set(learned)
        unknown = set(learned) - (set(self.learned) if fitted else set()) - set(self.may_have)
        if unknown or len(arguments) < len(self.parameters):
            raise ModelFileError(f"the fields of {self.name} are not those of this version of labelsure")
        run_checks(fields, [{**self.arguments}, {**self.learned}, {**self.may_have}], self.name)
        made = self.cls(**arguments)
        if learned:
            vars(made).update(learned)
        if fitted and self.learned:
            vars(made).update({name: make() for name, make in self.worked_out.items()})
        if fitted:
            try:
                self.check(made)
            except (ValueError, TypeError) as error:
                raise ModelFileError(f"{self.name}: {error}") from error
        return made


def estimator(
    cls: type,
    learned: Mapping[str, Check],
    *,
    arguments: Mapping[str, Check] | None = None,
    may_have: Mapping[str, Check] | None = None,
    worked_out: Mapping[str, Callable[[], Any]] | None = None,
    check: Callable[[Any], None] = no_more,
) -> Form:
    """Return the form of an estimator, which may keep what scikit-learn lets users ask of it."""
    more = {"_metadata_request": anything, **(may_have or {})}
    return Form(cls, arguments or {}, learned, more, worked_out or {}, check)
