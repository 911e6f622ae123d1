# SPDX-License-Identifier: MIT
"""An in-order core with two issue slots, after Arm's Cortex-A53.

Published: two instructions a cycle in order, one load or store among them, vectors of 64 bits in
two pipes, so that one operation of 128 bits or two of 64 bits begin in a cycle (Arm Cortex-A53
MPCore Technical Reference Manual, DDI 0500, section 2.1). Not published: how long each takes. These
are the parameters. They are fitted to published measurements, and they are effective: what fits,
not what the hardware does.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields

from everycore.environment.errors import EverycoreError
from everycore.estimate.asm import Instruction, Kind

SLOTS = 2


@dataclass(frozen=True, slots=True)
class InOrder:
    """Cycles until a result may be used, unless a line says otherwise.

    The defaults are those that a fit begins with.
    """

    logic: float = 2
    arith: float = 2
    shift: float = 2
    permute: float = 2
    aes: float = 2
    pmull8: float = 4
    pmull64: float = 2
    table: float = 2  # tbl, tbx with one register; one more for each further one
    table4: float = 5  # with four
    table4_busy: float = 4  # cycles for which four keep the vector pipes busy; fewer in proportion
    load: float = 3
    vector_load: float = 3  # the first register
    vector_load_busy: float = 1  # cycles of the load pipe for each register of 16 bytes
    to_general: float = 4  # from a vector register
    to_vector: float = 4  # from a general one

    @classmethod
    def read(cls, table: Mapping[str, object], where: str) -> "InOrder":
        names = [f.name for f in fields(cls)]
        if sorted(table) != sorted(names):
            odd = sorted({*table} ^ {*names})
            raise EverycoreError(f"{where}: wrong parameters: {', '.join(odd)}")
        values: dict[str, float] = {}
        for name in names:
            value = table[name]
            if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
                raise EverycoreError(f"{where}: '{name}' is no number of cycles: {value!r}")
            values[name] = float(value)
        return cls(**values)

    def vector(self, instruction: Instruction) -> tuple[float, float]:
        """Latency of a vector operation, and for how long the pipes are busy."""
        busy = 1.0
        if instruction.group == "table":
            n = instruction.registers
            latency = self.table4 if n == 4 else self.table + n - 1
            busy = self.table4_busy * n / 4 if n > 1 else 1.0
        else:
            latency = float(getattr(self, instruction.group))
        if instruction.crosses_in:
            latency = self.to_vector
        if instruction.crosses_out:
            latency = self.to_general
        return max(latency, busy), busy


@dataclass(slots=True)
class _Core:
    """The state between two instructions."""

    now: float = 0.0
    issued: int = 0  # in this cycle
    memory: bool = False  # a load or store is among them
    vector: float = 0.0  # of the vector pipes
    vector_free: float = 0.0
    memory_free: float = 0.0
    ready: dict[str, float] = field(default_factory=dict)

    def to_cycle(self, cycle: float) -> None:
        if cycle > self.now:
            self.now, self.issued, self.memory, self.vector = cycle, 0, False, 0.0


def cycles(core: InOrder, trace: Sequence[Instruction], turns: int = 1, warm: int = 0) -> float:
    """Return the cycles of one pass through the trace: the mean of `turns` after `warm`."""
    state = _Core()
    begin = 0.0
    for turn in range(warm + turns):
        if turn == warm:
            begin = state.now
        for instruction in trace:
            _issue(core, state, instruction)
    return (state.now - begin) / turns


def schedule(core: InOrder, trace: Sequence[Instruction], warm: int = 2) -> list[float]:
    """The cycle in which each instruction of a turn begins, the turn in its steady state."""
    state = _Core()
    for _ in range(warm):
        for instruction in trace:
            _issue(core, state, instruction)
    cycles_at: list[float] = []
    for instruction in trace:
        _issue(core, state, instruction)
        cycles_at.append(state.now)
    return [at - cycles_at[0] for at in cycles_at]


def _issue(core: InOrder, state: _Core, instruction: Instruction) -> None:
    ready = state.ready
    start = state.now
    for register in instruction.reads:
        start = max(start, ready.get(register, 0.0))
    state.to_cycle(start)
    is_memory = instruction.kind in (Kind.LOAD, Kind.STORE)
    width = 0.5 if instruction.half else 1.0
    while True:
        wait = state.now + 1
        if is_memory and (state.memory or state.memory_free > state.now):
            wait = max(wait, state.memory_free)
        elif instruction.kind is Kind.VECTOR and (
            state.vector + width > 1 or state.vector_free > state.now
        ):
            wait = max(wait, state.vector_free)
        elif state.issued < SLOTS:
            break
        state.to_cycle(wait)
    state.issued += 1
    if is_memory:
        state.memory = True
        _access(core, state, instruction)
    elif instruction.kind is Kind.VECTOR:
        state.vector += width
        latency, busy = core.vector(instruction)
        if busy > 1:
            state.vector_free = state.now + busy
        for register in instruction.writes:
            ready[register] = state.now + latency
    elif instruction.kind is Kind.ALU:
        for register in instruction.writes:
            ready[register] = state.now + (2 if instruction.shifted else 1)


def _access(core: InOrder, state: _Core, instruction: Instruction) -> None:
    n = instruction.registers
    latency = 0.0
    if instruction.kind is Kind.STORE:
        busy = core.vector_load_busy * n if instruction.wide else 1.0
    elif instruction.vectors:
        busy = core.vector_load_busy * n if instruction.wide else float(n)
        latency = core.vector_load + busy - 1
    else:
        busy = float(max(1, n - 1))
        latency = core.load
    state.memory_free = state.now + busy
    for register in instruction.writes:
        state.ready[register] = state.now + latency
    for register in instruction.updates:
        state.ready[register] = state.now + 1
