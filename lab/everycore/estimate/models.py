# SPDX-License-Identifier: MIT
"""From executed instructions to what the model of a core says."""

from collections.abc import Sequence
from dataclasses import dataclass

from everycore.environment.context import Context
from everycore.environment.errors import EverycoreError
from everycore.estimate import cortex_m, inorder, mca
from everycore.estimate.asm import ForeignError, Instruction, decode
from everycore.estimate.core_estimates import Core
from everycore.estimate.inorder import InOrder
from everycore.estimate.mca import Llvm
from everycore.estimate.steady import Turn, long_loop

SHORT = 12000  # instructions that a model may see whole
KEPT_TURNS = 6  # of a loop in a whole call, half of them on either side of the cut
IN_ORDER_TURNS, IN_ORDER_WARM = 3, 2


@dataclass(frozen=True, slots=True)
class Executed:
    """The instructions of one call, in order."""

    pcs: tuple[int, ...]
    code: dict[int, str]  # their text, by address
    arch: str = "a64"

    def texts(self, pcs: Sequence[int]) -> list[str]:
        try:
            return [self.code[pc] for pc in pcs]
        except KeyError as error:
            raise EverycoreError(
                f"no instruction at {error.args[0]:#x} in the disassembly", code=1
            ) from None

    def instructions(self, pcs: Sequence[int]) -> list[Instruction]:
        return [decode(text) for text in self.texts(pcs)]


@dataclass(frozen=True, slots=True)
class Cut:
    """A call with all but a few turns of its loops taken out, and what was taken out."""

    pcs: tuple[int, ...]
    loops: tuple[tuple[tuple[int, ...], int], ...]  # one turn, and how many


def cut(pcs: Sequence[int]) -> Cut:
    """Take out of each loop that is a good part of what is left all but a few turns."""
    rest = list(pcs)
    loops: list[tuple[tuple[int, ...], int]] = []
    while len(rest) > SHORT and (found := long_loop(rest, KEPT_TURNS + 2)):
        turn, turns = found
        removed = turns.count - KEPT_TURNS
        at = turns.start + KEPT_TURNS // 2 * turn.length
        loops.append((tuple(rest[at : at + turn.length]), removed))
        del rest[at : at + removed * turn.length]
    return Cut(tuple(rest), tuple(loops))


class Models:
    """Runs the models; what was once computed is kept."""

    def __init__(self, context: Context, llvm: Llvm | None) -> None:
        self._context = context
        self._llvm = llvm
        self._known: dict[tuple[object, ...], float] = {}

    def turn(self, core: Core, executed: Executed, turn: Turn, *, serial: bool) -> float:
        """Cycles of one turn of a loop in its steady state."""
        pcs = executed.pcs[turn.start : turn.start + turn.length]
        return self._steady(core, executed, pcs, serial)

    def call(self, core: Core, executed: Executed, *, serial: bool) -> float:
        """Cycles of a whole call, alone and with all it reads in the first cache."""
        parts = cut(executed.pcs)
        total = self._cycles(core, executed, parts.pcs, serial, steady=False)
        for pcs, count in parts.loops:
            total += count * self._steady(core, executed, pcs, serial)
        return total

    def _steady(self, core: Core, executed: Executed, pcs: Sequence[int], serial: bool) -> float:
        return self._cycles(core, executed, pcs, serial, steady=True)

    def _cycles(
        self, core: Core, executed: Executed, pcs: Sequence[int], serial: bool, *, steady: bool
    ) -> float:
        if core.model == "cortex-m":
            return _cortex_m(executed, pcs)
        trace = executed.instructions(pcs)
        for name in core.lacks:
            if any(instruction.mnemonic == name for instruction in trace):
                raise ForeignError(f"{core.title} has no {name.upper()}")
        if core.model == "in-order" and executed.arch != "a64":
            raise ForeignError(f"the model of {core.title} reads 64-bit code alone")
        fitted = tuple(core.parameters.values())
        key = (
            core.name,
            fitted,
            executed.arch,
            serial,
            steady,
            tuple(instruction.text for instruction in trace),
        )
        if key not in self._known:
            self._known[key] = (
                in_order(core, trace, steady=steady)
                if core.model == "in-order"
                else self._out_of_order(core, trace, executed.arch, serial, steady)
            )
        return self._known[key]

    def _out_of_order(
        self, core: Core, trace: Sequence[Instruction], arch: str, serial: bool, steady: bool
    ) -> float:
        if self._llvm is None:
            raise EverycoreError(f"{core.title} needs llvm-mca", mca.HINT)

        def run(instructions: Sequence[Instruction]) -> float:
            assert self._llvm is not None
            cpu = mca.Cpu(core.mcpu, arch)
            return mca.cycles(self._context, self._llvm, cpu, instructions, steady=steady)

        fused = mca.without_fused(trace)
        pairs = len(trace) - len(fused)
        if core.pair == "apart" or not pairs:
            return run(trace)
        if core.pair == "fused":
            return run(fused)
        if serial:  # the chain decides, and the pair is a link of it
            return run(fused) - pairs * (LLVM_PAIR_CYCLES - core.pair_cycles)
        return (run(fused) + run(trace)) / 2


LLVM_PAIR_CYCLES = 3  # an AESE alone in LLVM's model of Cortex-A57


def in_order(core: Core, trace: Sequence[Instruction], *, steady: bool) -> float:
    parameters = InOrder.read(core.parameters, core.name)
    if steady:
        return inorder.cycles(parameters, trace, IN_ORDER_TURNS, IN_ORDER_WARM)
    return inorder.cycles(parameters, trace)


def _cortex_m(executed: Executed, pcs: Sequence[int]) -> float:
    following = (*pcs[1:], pcs[0])
    taken = [not 0 < after - pc <= 4 for pc, after in zip(pcs, following, strict=True)]
    return cortex_m.cycles(executed.texts(pcs), taken)
