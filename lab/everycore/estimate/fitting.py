# SPDX-License-Identifier: MIT
"""Fits the parameters of the in-order model to published points, and says how far to trust that.

A parameter is changed alone, as long as that makes the sum of squared logarithms of model to
published smaller. Each refit without one point begins where the fit did, so that it knows nothing
of the point.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

from everycore.estimate import inorder
from everycore.estimate.asm import Instruction, Kind
from everycore.estimate.inorder import InOrder

START: Mapping[str, float] = asdict(InOrder())
# The values that each parameter may take. Those of crossings stay: too few of the points have any.
SPACE: Mapping[str, tuple[float, ...]] = {
    "logic": (1, 2, 3),
    "arith": (1, 2, 3),
    "shift": (1, 2, 3),
    "permute": (1, 2, 3),
    "table": (1, 2, 3),
    "table4_busy": (3, 4, 5),
    "table4": (4, 5, 6, 7),
    "pmull8": (2, 3, 4),
    "pmull64": (1, 2, 3),
    "vector_load": (2, 3, 4, 5),
    "load": (2, 3, 4),
    "vector_load_busy": (1, 2),
    "aes": (1, 2),
}
ROUNDS = 4
TURNS, WARM = 2, 1


@dataclass(frozen=True, slots=True)
class Sample:
    """A point with its steady state."""

    key: str
    turn: tuple[Instruction, ...]
    bytes: float  # of one turn
    published: float  # cycles per byte

    @property
    def used(self) -> frozenset[str]:
        """The parameters that the turn depends on."""
        return frozenset(name for instruction in self.turn for name in _parameters_of(instruction))


@dataclass(frozen=True, slots=True)
class Refit:
    """Without one of the points: parameters, and what they say of all points."""

    parameters: dict[str, float]
    models: dict[str, float]


@dataclass(frozen=True, slots=True)
class Fitted:
    parameters: dict[str, float]
    models: dict[str, float]  # by Sample.key, cycles per byte
    left_out: dict[str, float]
    refits: tuple["Refit", ...]


class _Predictions:
    def __init__(self, samples: Iterable[Sample]) -> None:
        self._used = {sample.key: sorted(sample.used) for sample in samples}
        self._known: dict[tuple[object, ...], float] = {}

    def __call__(self, sample: Sample, parameters: Mapping[str, float]) -> float:
        key = (sample.key, *(parameters[name] for name in self._used[sample.key]))
        if key not in self._known:
            core = InOrder(**parameters)
            self._known[key] = inorder.cycles(core, sample.turn, TURNS, WARM) / sample.bytes
        return self._known[key]


def fit(samples: Sequence[Sample], step: Callable[[str], None] = lambda _: None) -> Fitted:
    """The fit, and one without each of the points."""
    predict = _Predictions(samples)
    best = _descend(samples, predict)
    step("all points")
    left_out: dict[str, float] = {}
    refits: list[Refit] = []
    for sample in samples:
        others = [other for other in samples if other is not sample]
        refit = _descend(others, predict)
        refits.append(Refit(refit, {s.key: predict(s, refit) for s in samples}))
        left_out[sample.key] = predict(sample, refit)
        step(f"without {sample.key}")
    models = {sample.key: predict(sample, best) for sample in samples}
    return Fitted(best, models, left_out, tuple(refits))


def _descend(samples: Sequence[Sample], predict: _Predictions) -> dict[str, float]:
    def loss(parameters: Mapping[str, float]) -> float:
        return sum(math.log(predict(s, parameters) / s.published) ** 2 for s in samples)

    best = dict(START)
    least = loss(best)
    for _ in range(ROUNDS):
        before = least
        for name, values in SPACE.items():
            for value in values:
                trial = {**best, name: value}
                if value != best[name] and (found := loss(trial)) < least - 1e-9:
                    best, least = trial, found
        if before - least < 1e-9:
            break
    return best


def _parameters_of(instruction: Instruction) -> Iterable[str]:
    if instruction.kind is Kind.VECTOR:
        if instruction.crosses_out:
            yield "to_general"
        if instruction.crosses_in:
            yield "to_vector"
        if instruction.group != "table":
            yield instruction.group
        else:
            yield "table4" if instruction.registers == 4 else "table"
            if instruction.registers > 1:
                yield "table4_busy"
    elif instruction.kind in (Kind.LOAD, Kind.STORE):
        if instruction.wide:
            yield "vector_load_busy"
        if instruction.kind is Kind.LOAD:
            yield "vector_load" if instruction.vectors else "load"
