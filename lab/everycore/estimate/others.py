# SPDX-License-Identifier: MIT
"""Other people's code through the same models: rows, and the calibration."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from everycore.environment.context import Context
from everycore.estimate import fitting
from everycore.estimate.core_estimates import BULK, Core, OperationEstimate, Point
from everycore.estimate.data import Evaluated
from everycore.estimate.evaluate import Call, Evaluator, Steady, Subject, steady
from everycore.estimate.executed import TARGETS, arch_of
from everycore.estimate.fitting import Fitted, Refit, Sample
from everycore.estimate.mca import Llvm, disassemble
from everycore.estimate.measured import OURS
from everycore.estimate.models import Executed, Models
from everycore.model.domain import Tree
from everycore.subjects import Function, Program, build, find_subject, load_subjects, trace
from everycore.subjects import Subject as Described

ARM = TARGETS["a64"]
_SHORT_NAMES = {"pmull": "pmull.p64"}


def techniques(function: Function) -> tuple[str, ...]:
    return tuple(_SHORT_NAMES.get(name, name) for name in function.technique.split("+"))


@dataclass(slots=True)
class Others:
    """Subjects, each built and disassembled when first asked for."""

    context: Context
    tree: Tree
    llvm: Llvm | None
    built: dict[str, tuple[Program, dict[int, str]]]

    def program(self, name: str) -> Program:
        return self._program(name)[0]

    def _program(self, name: str) -> tuple[Program, dict[int, str]]:
        if name not in self.built:
            subject = find_subject(self.tree, name)
            target = target_of(subject)
            program = build(self.context, self.tree, subject, target_name=target)
            code = disassemble(self.context, self.llvm, program.binary) if self.llvm else {}
            self.built[name] = program, code
        return self.built[name]

    def call(self, subject: str, function: Function, key_bits: int, n_bytes: int) -> Executed:
        program, code = self._program(subject)
        (call,) = trace(self.context, program, function, key_bits, (n_bytes,))
        return Executed(tuple(call.pcs), code, arch_of(program.target.name))

    def rows(
        self,
        evaluator: Evaluator,
        name: str,
        modes: Sequence[str],
        key_bits: Sequence[int],
        sizes: Sequence[int],
    ) -> Iterator[OperationEstimate]:
        """Yield the rows of the functions that compute one of the modes; lengths that they cannot
        are left out."""
        for function in find_subject(self.tree, name).functions:
            if function.computes not in modes:
                continue
            for bits in key_bits if function.computes != "ghash" else (128,):
                if bits not in function.key_bits:
                    continue
                subject = Subject(
                    name, function.name, function.computes, bits, techniques(function)
                )
                call = partial(self.call, name, function, bits)
                for size in sizes:
                    if size == BULK or size % function.multiple_of == 0:
                        yield evaluator.row(subject, call, size)


def subject_names(tree: Tree) -> list[str]:
    """Return the subjects that a core of Arm executes, or may, and that anyone can have."""
    return [s.name for s in load_subjects(tree) if arch_of(target_of(s)) and not s.setting]


def target_of(subject: Described) -> str:
    """Return the target of a subject: a portable one is counted on the targets that have models."""
    portable = subject.target == "host" and all(name.endswith(".c") for name in subject.files)
    return ARM if portable else subject.target


@dataclass(frozen=True, slots=True)
class Calibration:
    """The points, each with the steady state of its function."""

    points: Sequence[Point]
    bulk: Mapping[tuple[str, str], Steady]
    versions: dict[str, str]


def trace_points(
    others: Others,
    own: Callable[[Point], Call],
    points: Sequence[Point],
    step: Callable[[str], None],
) -> Calibration:
    """Each point's function once; `own` gives calls of our kernels, which boards have measured."""
    bulk: dict[tuple[str, str], Steady] = {}
    versions: dict[str, str] = {}
    for point in points:
        at = point.subject, point.function
        if at not in bulk and point.subject == OURS:
            bulk[at] = steady(own(point))
            step(" ".join(at))
        elif at not in bulk:
            function = find_subject(others.tree, point.subject).function(point.function)
            bulk[at] = steady(partial(others.call, point.subject, function, 128))
            versions[point.subject] = others.program(point.subject).version
            step(" ".join(at))
    return Calibration(points, bulk, versions)


def fit_in_order(found: Calibration, core: str, step: Callable[[str], None]) -> Fitted:
    """The parameters of an in-order core."""
    samples: list[Sample] = []
    for point in found.points:
        bulk = found.bulk[point.subject, point.function]
        if point.core == core and point.use == "calibrate" and bulk.turn:
            turn = tuple(bulk.long.instructions(bulk.pcs))
            samples.append(Sample(point.key, turn, bulk.bytes, point.cycles_per_byte))
    return fitting.fit(samples, step)


def calibrate(
    others: Others,
    own: Callable[[Point], Call],
    models: Models,
    cores: Mapping[str, Core],
    points: Sequence[Point],
    tools: Mapping[str, str],
    step: Callable[[str], None],
) -> Evaluated:
    """Fits of the in-order models to the points, and what all models say of them."""
    found = trace_points(others, own, points, step)
    fits = {
        name: fit_in_order(found, name, step)
        for name, core in cores.items()
        if core.model == "in-order"
    }
    figures: dict[str, float] = {}
    for point in points:
        core = cores[point.core]
        if core.name in fits:
            core = replace(core, parameters=fits[core.name].parameters)
        bulk = found.bulk[point.subject, point.function]
        cost = bulk.cycles_per_byte(models, core, serial=point.serial)
        figures[point.key] = round(cost, 4)
        step(point.key)
    return Evaluated(
        tools={**tools, **found.versions},
        models=figures,
        left_out={k: round(v, 4) for fit in fits.values() for k, v in fit.left_out.items()},
        instructions={" ".join(at): round(b.per_byte, 5) for at, b in found.bulk.items()},
        parameters={name: fit.parameters for name, fit in fits.items()},
        refits={name: [_rounded(refit) for refit in fit.refits] for name, fit in fits.items()},
    )


def _rounded(refit: Refit) -> Refit:
    return Refit(refit.parameters, {key: round(value, 4) for key, value in refit.models.items()})
