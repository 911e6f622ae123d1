# SPDX-License-Identifier: MIT
"""Estimates of emulated cells, for cores whose models published measurements have calibrated."""

from dataclasses import dataclass, field, replace
from pathlib import Path

from everycore.environment.context import Context
from everycore.estimate import core_estimates, data
from everycore.estimate.core_estimates import Core, Figure, figure
from everycore.estimate.evaluate import Evaluator, Subject
from everycore.estimate.executed import arch_of
from everycore.estimate.mca import Llvm, disassemble, find_llvm
from everycore.estimate.models import Executed, Models
from everycore.estimate.others import techniques
from everycore.matrix.traced_call import count
from everycore.subjects import Function
from everycore.subjects.assemble import Program
from everycore.subjects.count import Call


@dataclass(frozen=True)
class Estimator:
    """Models of cores; needs LLVM's tools."""

    llvm: Llvm
    evaluator: Evaluator
    context: Context = field(repr=False)

    def of(
        self, program: Program, function: Function, call: Call
    ) -> dict[str, tuple[float, float]]:
        """Cycles per byte of a traced call by core, as ranges; empty: nothing is calibrated."""
        arch = arch_of(program.target.name)
        kind = Subject(
            program.subject.name,
            function.name,
            function.computes,
            call.key_bits,
            kinds_of(program.subject.name, function),
        )
        cores = [core for core in self.evaluator.cores if self._is_calibrated(core, arch, kind)]
        if not cores:
            return {}
        names = sorted(count(call).functions)
        code = disassemble(self.context, self.llvm, program.binary, names)
        executed = Executed(tuple(call.pcs), code, arch)
        row = replace(self.evaluator, cores=cores).row(kind, lambda _: executed, call.n_bytes)
        return {
            name: (said.low, said.high)
            for name, said in row.figures.items()
            if isinstance(said, Figure)
        }

    def _is_calibrated(self, core: Core, arch: str, kind: Subject) -> bool:
        """As far as can be told before anything is modelled."""
        if core.arch != arch or core.model == "hidden":
            return False
        said = figure(core, 1.0, kind.techniques, kind.serial, self.evaluator.fits)
        return isinstance(said, Figure) and said.calibrated


def kinds_of(owner: str, function: Function) -> tuple[str, ...]:
    """Return the kinds of code that a function is, in the words of the published points."""
    if function.technique != owner:
        return techniques(function)
    primitive = "ghash" if function.computes == "ghash" else "aes"
    primitive = "gcm" if function.computes.startswith("gcm") else primitive
    return core_estimates.techniques(primitive, owner)


def open_estimator(context: Context) -> Estimator:
    folder = Path(data.__file__).parent
    evaluated = data.load_evaluated(folder)
    cores = data.load_cores(folder, evaluated.parameters)
    points = data.load_points(folder, cores)
    llvm = find_llvm(context)
    fits = data.fits(points, evaluated)
    models = Models(context, llvm)
    evaluator = Evaluator(tuple(cores.values()), fits, points, models, evaluated.refits)
    return Estimator(llvm, evaluator, context)
