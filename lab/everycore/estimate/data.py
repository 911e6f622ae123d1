# SPDX-License-Identifier: MIT
"""The only reader of cores.toml, published.toml and evaluated.json."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from everycore.environment.decoding import decode_line
from everycore.environment.errors import EverycoreError, unknown_name
from everycore.environment.toml_tables import expect, read_toml, required_of, shape_of
from everycore.estimate.core_estimates import Core, Fit, Gain, Message, Point
from everycore.estimate.fitting import START, Refit
from everycore.estimate.inorder import InOrder

CORES, PUBLISHED = "cores.toml", "published.toml"
EVALUATED, ADDED = "evaluated.json", "measured.toml"
MODELS = ("in-order", "llvm-mca", "cortex-m", "hidden")
PAIRS = ("fused", "apart", "half")
USES = ("calibrate", "orientation")
MOST_CYCLES = 10000  # per byte: above it stands a slip of the pen


@dataclass(frozen=True, slots=True)
class Evaluated:
    """The models' answers for the published points, and the tools that gave them."""

    tools: dict[str, str]
    models: dict[str, float]  # by Point.key
    left_out: dict[str, float]
    instructions: dict[str, float]  # per byte
    parameters: dict[str, dict[str, float]]  # of the in-order models, by core
    refits: dict[str, list[Refit]]  # by core, each without one of the points


def load_cores(folder: Path, fitted: Mapping[str, Mapping[str, float]]) -> dict[str, Core]:
    """With the parameters of in-order cores; those that have none get what a fit begins with."""
    cores: dict[str, Core] = {}
    for name, table in read_toml(folder / CORES).items():
        core = _core(name, table)
        if core.model == "in-order":
            parameters = dict(fitted.get(name, START))
            InOrder.read(parameters, f"{EVALUATED}: {name}")
            core = replace(core, parameters=parameters)
        cores[name] = core
    return cores


def find_core(cores: Mapping[str, Core], name: str) -> Core:
    if name not in cores:
        raise unknown_name("core", name, cores)
    return cores[name]


def _core(name: str, table: dict[str, Any]) -> Core:
    where = f"{CORES}: [{name}]"
    without = ("name", "parameters")
    shape = shape_of(Core, without) | {"margins": dict}
    core = Core(name=name, **expect(where, table, shape, required_of(Core, without)))
    for value, valid in ((core.model, MODELS), (core.pair, PAIRS)):
        if value not in valid:
            raise EverycoreError(f"{where}: '{value}' is none of {', '.join(valid)}")
    if core.model == "llvm-mca" and not core.mcpu:
        raise EverycoreError(f"{where} lacks 'mcpu'")
    margins = [core.margin, *core.margins.values()] if core.model != "hidden" else []
    if not all(isinstance(margin, float) and 0 < margin < 1 for margin in margins):
        raise EverycoreError(f"{where}: 'margin' is not between 0 and 1")
    return core


def load_points(folder: Path, cores: Mapping[str, Core]) -> list[Point]:
    """The published points, and those that boards have added."""
    table, sources = _published(folder)
    points = _points(PUBLISHED, table["point"], cores, sources)
    added = folder / ADDED
    if added.is_file():
        points += _points(ADDED, read_toml(added).get("point", []), cores, {})
    keys = [point.key for point in points]
    for key in keys:
        if keys.count(key) > 1:
            raise EverycoreError(f"{PUBLISHED}: two points of {key}")
    return points


def load_messages(folder: Path, cores: Mapping[str, Core]) -> tuple[list[Message], list[Gain]]:
    """Read the published costs of messages of GCM, in cycles per byte and as gains."""
    table, sources = _published(folder)
    messages = [
        Message(**_measurement(f"{PUBLISHED}: message {i}", row, Message, cores, sources))
        for i, row in enumerate(table.get("message", []), 1)
    ]
    gains: list[Gain] = []
    for i, row in enumerate(table.get("gain", []), 1):
        where = f"{PUBLISHED}: gain {i}"
        gain = Gain(**_measurement(where, row, Gain, cores, sources))
        if len(gain.percent) != len(gain.key_bits) * len(gain.bytes):
            raise EverycoreError(f"{where}: 'percent' has not one number for each size and key")
        gains.append(gain)
    return messages, gains


def _published(folder: Path) -> tuple[dict[str, Any], dict[str, str]]:
    """The tables of published.toml, and the texts of its sources."""
    table = read_toml(folder / PUBLISHED)
    lists = ("point", "message", "gain")
    expect(
        PUBLISHED, table, {"sources": dict, **dict.fromkeys(lists, object)}, ("sources", "point")
    )
    for name in lists:
        if not isinstance(table.get(name, []), list):
            raise EverycoreError(f"{PUBLISHED}: {name}s are [[{name}]]")
    return table, {name: str(source.get("text", "")) for name, source in table["sources"].items()}


def _measurement(
    where: str, table: Any, kind: type, cores: Mapping[str, Core], sources: Mapping[str, str]
) -> dict[str, Any]:
    """The members of a published measurement, its source as a text."""
    values = expect(where, table, shape_of(kind), required_of(kind))
    find_core(cores, str(values["core"]))
    cost = values.get("cycles_per_byte", 1)
    if not 0 < cost < MOST_CYCLES:
        raise EverycoreError(f"{where}: cycles_per_byte is {cost!r}")
    if sources and values["source"] not in sources:
        raise unknown_name("source", str(values["source"]), sources)
    values["source"] = sources.get(str(values["source"]), str(values["source"]))
    return values


def _points(
    file: str, tables: Any, cores: Mapping[str, Core], sources: Mapping[str, str]
) -> list[Point]:
    if not isinstance(tables, list):
        raise EverycoreError(f"{file}: points are [[point]]")
    points = []
    for number, table in enumerate(tables, 1):
        where = f"{file}: point {number}"
        points.append(Point(**_measurement(where, table, Point, cores, sources)))
        if points[-1].use not in USES:
            raise EverycoreError(f"{where}: use is none of {', '.join(USES)}")
    return points


def load_evaluated(folder: Path) -> Evaluated:
    path = folder / EVALUATED
    try:
        found: Evaluated = decode_line(Evaluated, path.read_text(encoding="utf-8"))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise EverycoreError(
            f"cannot read {path.name}: {error!r}", "everycore estimate --calibrate writes it"
        ) from error
    return found


def save_evaluated(folder: Path, evaluated: Evaluated) -> None:
    table = asdict(evaluated)
    text = json.dumps(table, indent=1, sort_keys=True)
    (folder / EVALUATED).write_text(text + "\n", encoding="utf-8")


def fits(points: Sequence[Point], evaluated: Evaluated, every: bool = False) -> list[Fit]:
    """The points of the calibration that were evaluated; with `every`, all that were."""
    return [
        Fit(point, evaluated.models[point.key], evaluated.left_out.get(point.key))
        for point in points
        if point.key in evaluated.models and (every or point.use == "calibrate")
    ]
