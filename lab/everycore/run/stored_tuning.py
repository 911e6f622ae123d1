# SPDX-License-Identifier: MIT
"""Judge selection by the sets of results/: what it would select today, by times that are stored."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from everycore.compile import catalog
from everycore.environment.errors import EverycoreError
from everycore.environment.toml_tables import expect, read_toml, required_of, shape_of
from everycore.measure import quiet
from everycore.model.domain import Tree
from everycore.model.protocol import Bench
from everycore.model.tuning import Choice, Operation, Times
from everycore.run import tuning_run
from everycore.run.session import Session
from everycore.store import run_files
from everycore.store.run_files import Results

FILE = "catalog/selection.toml"
SET = "tune.jsonl.xz"  # of a machine
NAME = re.compile(r"[a-z0-9.-]+")  # of a feature
GATED_BYTES = (64, 1488, 1500, 16384)  # of messages; 1488: of CBC, for 1500


@dataclass(frozen=True, slots=True)
class Accepted:
    """Bad choices on a stored machine that stay, and why."""

    machine: str
    hardware: str
    operations: tuple[str, ...]  # patterns
    selected: str
    fastest: str
    most: float  # the loss that is accepted
    reason: str

    def covers(self, machine: str, choice: Choice) -> bool:
        return (
            (self.machine, self.selected, self.fastest)
            == (machine, choice.selected, choice.fastest)
            and self.hardware == choice.hardware
            and choice.loss <= self.most
            and any(fnmatchcase(choice.operation, one) for one in self.operations)
        )


def accepted(tree: Tree) -> list[Accepted]:
    entries: list[dict[str, Any]] = read_toml(tree.root / FILE).get("accepted", [])
    shape, required = shape_of(Accepted), required_of(Accepted)
    return [Accepted(**expect(f"{FILE}: accepted", one, shape, required)) for one in entries]


def sets(results: Path) -> dict[str, Path]:
    """Return the set of each machine that has one."""
    return {path.parent.name: path for path in sorted(results.glob(f"*/{SET}"))}


def features_of(results: Results) -> tuple[str, tuple[str, ...]]:
    """Return the architecture of the CPU of a run, and its features."""
    arch, features = (results.run.options.get(name) for name in ("arch", "features"))
    if not (
        isinstance(arch, str)
        and isinstance(features, list)
        and all(isinstance(name, str) and NAME.fullmatch(name) for name in features)
    ):
        raise EverycoreError(
            f"{results.path} does not tell the features of its CPU",
            "name a file that `everycore tune` wrote",
        )
    return arch, tuple(features)


def judge(session: Session, results: Results, arch: str, features: Sequence[str]) -> list[Choice]:
    """Return the choices of each class of CPUs, by the times of a run."""
    bits = tuning_run.bits_of_tuning(catalog.features(session.tree), arch)
    return tuning_run.judge(session, arch, features, bits, _times(results))


def best_bits(
    session: Session, results: Results, arch: str, features: Sequence[str]
) -> tuple[list[str], float] | None:
    """Return the best bits of tuning and their worst loss: tuning_run.best_bits()."""
    bits = tuning_run.bits_of_tuning(catalog.features(session.tree), arch)
    return tuning_run.best_bits(session, arch, features, bits, _times(results))


def _times(results: Results) -> Mapping[Operation, Mapping[str, Times]]:
    lines = quiet.marked(list(results.records))
    return tuning_run.times_of(line for line in lines if isinstance(line, Bench))


def of_machines(session: Session, results: Path) -> dict[str, list[Choice]]:
    """Return the choices on each machine of a folder of results."""
    found = {}
    for machine, path in sets(results).items():
        run = run_files.read(path)
        found[machine] = judge(session, run, *features_of(run))
    return found


def beyond(
    choices: Mapping[str, Sequence[Choice]], known: Sequence[Accepted]
) -> list[tuple[str, Choice]]:
    """Return the bad choices at gated lengths that no entry covers, with their machines."""
    return [
        (machine, one)
        for machine, own in choices.items()
        for one in own
        if one.is_bad and _is_gated(one) and not any(entry.covers(machine, one) for entry in known)
    ]


def _is_gated(choice: Choice) -> bool:
    """Whether the length is one of those that count; of SHA-2 these are all that are measured."""
    if choice.primitive == "bn":
        return choice.bytes in tuning_run.LAYER_BYTES
    return choice.primitive == "sha2" or choice.bytes in GATED_BYTES
