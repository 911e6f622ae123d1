# SPDX-License-Identifier: MIT
"""The driver's verb sweep: more than a thousand inputs of one function, each compared."""

from collections.abc import Mapping

from everycore.environment.errors import EverycoreError
from everycore.subjects.describe import Function

VERSION = 1  # of the inputs that patterns.c makes: results say which they were compared by
N_INPUTS = 1343  # catalog/subjects/patterns.h
OF_OTHER_KEYS = 131  # inputs for key sizes that the cell does not have
BUDGET_MS = 1500  # of one sweep; after it the inputs that are left are not compared
ENDLESS = 4  # exit code: a call never ended


def words(function: Function, key_bits: int, seconds: float, most: int = N_INPUTS) -> list[str]:
    """Return the arguments of the verb. It names a call that lasts till
    shortly before `seconds`."""
    limit = max(1, int(seconds) - 1)
    numbers = (key_bits, function.multiple_of, function.fewest, most, BUDGET_MS, limit)
    return [str(number) for number in numbers]


def n_compared(text: str) -> int:
    """Return the number of inputs that were compared, all of them right."""
    for line in text.splitlines():
        if line.startswith("inputs "):
            return int(line.split()[1])
    raise EverycoreError(f"a sweep did not say what it compared: {text.strip()[:80]}")


def given(text: str) -> Mapping[str, str]:
    """Return what a function was given that answered wrongly: hex by name, and `key_bits`."""
    parts = [line.split(" ") for line in text.splitlines() if line.startswith("given ")]
    return {name: value for _, name, value in parts}


def shown(inputs: Mapping[str, str]) -> str:
    """As "in = 80000000, key = 00.., iv = 00.."; of a call that the user wrote."""
    return ", ".join(f"{name} = {inputs[name] or 'nothing'}" for name in ("in", "key", "iv"))
