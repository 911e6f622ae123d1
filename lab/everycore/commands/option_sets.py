# SPDX-License-Identifier: MIT
"""Options as the fields of dataclasses: commands share them, and pass them on as one value."""

import inspect
from collections.abc import Callable
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import wraps
from inspect import Parameter
from typing import Any, get_type_hints

from typer.models import ArgumentInfo

KEYWORD = Parameter.KEYWORD_ONLY


def with_option_sets(command: Callable[..., None]) -> Callable[..., None]:
    """Replace each parameter that is a dataclass by one option for each of its fields.

    Typer sees the options; the command gets values of the dataclasses.
    """
    given = inspect.signature(command, eval_str=True).parameters
    sets: dict[str, Any] = {
        name: parameter.annotation
        for name, parameter in given.items()
        if is_dataclass(parameter.annotation)
    }
    shown: list[Parameter] = []
    for name, parameter in given.items():
        if name not in sets:
            shown.append(parameter.replace(kind=KEYWORD))
            continue
        hints = get_type_hints(sets[name], include_extras=True)
        for field in fields(sets[name]):
            shown.append(
                Parameter(
                    field.name, KEYWORD, default=_default(field), annotation=hints[field.name]
                )
            )

    shown.sort(key=lambda parameter: not _is_argument(parameter))  # as help has them

    @wraps(command)
    def called(**values: Any) -> None:
        for name, kind in sets.items():
            own = {field.name: values.pop(field.name) for field in fields(kind)}
            values[name] = kind(**own)
        command(**values)

    called.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined]
    called.__annotations__ = {parameter.name: parameter.annotation for parameter in shown}
    return called


def _is_argument(parameter: Parameter) -> bool:
    metadata = getattr(parameter.annotation, "__metadata__", ())
    return any(isinstance(item, ArgumentInfo) for item in metadata)


def _default(field: Field[Any]) -> Any:
    return Parameter.empty if field.default is MISSING else field.default
