# SPDX-License-Identifier: MIT
"""Write the current set of a machine: results/MACHINE/KIND.jsonl.xz, where KIND is a command.

Of the samples of a process the median is kept: figures and intervals depend on nothing else. An
operation that one process alone has measured keeps all samples, for each of them counts.
results/README.md has the rules.
"""

import json
import lzma
import re
import shutil
import statistics
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from everycore.environment.decoding import Record, encode_line
from everycore.environment.errors import EverycoreError
from everycore.measure.processes import Measured, operation
from everycore.model.domain import Machine
from everycore.model.protocol import Bench
from everycore.model.run_lines import End
from everycore.store import matrix_files, run_files
from everycore.store.journal import PACKED
from everycore.store.run_files import Results

SAMPLES = ("cycles", "ns", "latency_cycles", "per_cycle", "cycles_per_byte")
XZ = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "dict_size": 1 << 23}]

NAME = re.compile(r"[a-z0-9-]+")  # of a machine


def is_name(text: str) -> bool:
    """Return whether a folder of results may have this name."""
    return NAME.fullmatch(text) is not None


def middle(samples: Sequence[float]) -> tuple[float, ...]:
    """Their median; nothing of none."""
    return (statistics.median(samples),) if samples else ()


def as_line(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


# ---- The matrix ----------------------------------------------------------------------------------


def matrix_text(files: Iterable[Path]) -> str:
    """The lines of files of the matrix, in the order of the files; medians of processes."""
    lines = []
    for path in files:
        matrix_files.read(path)  # refuses what is no such file
        for text in run_files.lines_of(path):
            line = json.loads(text)
            for cell in (line, line.get("repaired") or {}):
                if "runs" in cell:
                    cell["runs"] = [middle(samples) for samples in cell["runs"]]
            lines.append(as_line(line))
    return "".join(f"{line}\n" for line in lines)


# ---- Runs ----------------------------------------------------------------------------------------


def same_operation(line: Measured) -> tuple[object, ...]:
    """All that an operation is, but for the version of a peer: the newest one counts."""
    peer = line.peer if isinstance(line, Bench) else ""
    return operation(line.replace(kernel=peer) if isinstance(line, Bench) and peer else line)


def current(runs: Iterable[Results]) -> list[tuple[Results, list[Record]]]:
    """The records of each run, the oldest first, without operations that a later one has too."""
    measured: set[object] = set()
    kept = []
    for run in sorted(runs, key=lambda one: one.run.date, reverse=True):
        own = {same_operation(r) for r in run.records if isinstance(r, Measured)}
        records = [
            r
            for r in run.records
            if not isinstance(r, Measured) or same_operation(r) not in measured
        ]
        if any(isinstance(r, Bench) for r in records) or not own:
            kept.append((run, records))
        measured |= own
    return kept[::-1]


def with_medians(records: Sequence[Record]) -> list[Record]:
    """The records with medians; a process that alone makes a figure keeps all its samples."""
    having: dict[object, list[Measured]] = defaultdict(list)
    for record in records:
        if isinstance(record, Measured) and any(getattr(record, name, ()) for name in SAMPLES):
            having[operation(record)].append(record)
    alone: set[int] = set()
    for lines in having.values():
        used = [line for line in lines if not line.crowded] or lines
        alone |= {id(used[0])} if len(used) == 1 else set()
    return [
        with_median(record) if isinstance(record, Measured) and id(record) not in alone else record
        for record in records
    ]


def with_median(line: Measured) -> Measured:
    names = [name for name in SAMPLES if hasattr(line, name)]
    return line.replace(**{name: middle(getattr(line, name)) for name in names})


def runs_text(runs: Iterable[Results]) -> str:
    lines: list[Record] = []
    for run, records in current(runs):
        lines += [run.run, *with_medians(records), End(len(records))]
    return "".join(f"{encode_line(line)}\n" for line in lines)


def kind_of(path: Path) -> str:
    """The command that measured: "matrix", or what the first line of a run says."""
    head = run_files.head(path)
    if head.get("type") == "matrix":
        return "matrix"
    if head.get("type") != "run":
        raise EverycoreError(f"{path} is no result file of everycore", run_files.RESULTS_HINT)
    return str(head["command"])


def refuse_other_host(results: Path, machine: str, here: Machine) -> None:
    """Raise an error if the folder of a machine has sets of another host."""
    for path in sorted((results / machine).glob(f"*{run_files.SUFFIX}{PACKED}")):
        if run_files.head(path).get("type") != "run":
            continue
        there = run_files.read(path).run.machine
        if not there.is_same_host(here):
            raise EverycoreError(
                f"{path} is of another host: {there.title()}",
                f"each host has a folder of its own, for example {machine}-b",
            )


def store(results: Path, machine: str, files: Sequence[Path], add: bool) -> Path:
    """Write the set of one machine and kind into the folder `results`; return its path."""
    kinds = {kind_of(path) for path in files}
    if len(kinds) > 1:
        raise EverycoreError(
            f"files of several kinds: {', '.join(sorted(kinds))}", "store one kind at a time"
        )
    (kind,) = kinds
    target = results / machine / f"{kind}.jsonl{PACKED}"
    if add and not kind.startswith("peers"):
        raise EverycoreError(
            f"--add is for everycore peers, and these are of {kind}",
            "leave --add out: they replace the set",
        )
    every = [target, *files] if add and target.exists() else files
    text = (
        matrix_text(every)
        if kind == "matrix"
        else runs_text(one for path in every for one in run_files.read_each(path))
    )
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=target.parent, suffix=target.name) as scratch:
        path = Path(scratch.name)
        path.write_bytes(lzma.compress(text.encode(), format=lzma.FORMAT_XZ, filters=XZ))
        try:
            (matrix_files if kind == "matrix" else run_files).read(path)  # whole, of one host
        except EverycoreError as error:
            raise EverycoreError(
                error.message.replace(str(path), str(target)), error.hint
            ) from error
        shutil.copyfile(path, target)
    return target
