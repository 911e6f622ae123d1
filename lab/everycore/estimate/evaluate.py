# SPDX-License-Identifier: MIT
"""From calls that were executed to rows: exact counts, and what is said of each core."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace

from everycore.estimate.asm import ForeignError, classes
from everycore.estimate.core_estimates import (
    BULK,
    SERIAL_MODES,
    Core,
    Figure,
    Fit,
    Hidden,
    OperationEstimate,
    Point,
    figure,
    rms,
)
from everycore.estimate.fitting import Refit
from everycore.estimate.measured import function
from everycore.estimate.models import Executed, Models
from everycore.estimate.steady import Turn, steady_turn

BLOCK_BYTES = 16
# Their difference is whole turns of loops over 1, 2, 3, 4, 5, 6, 8, 10, 12, 15 or 16 blocks.
SHORT, LONG = 4096, 4096 + 3840

Call = Callable[[int], Executed]  # of a message of so many bytes


@dataclass(frozen=True, slots=True)
class Subject:
    """The owner and the name of an operation."""

    owner: str
    kernel: str
    mode: str
    key_bits: int
    techniques: tuple[str, ...]

    @property
    def serial(self) -> bool:
        return self.mode in SERIAL_MODES


@dataclass(frozen=True, slots=True)
class Steady:
    """The bulk of a long message."""

    per_byte: float  # instructions, exact
    short: Executed
    long: Executed
    turn: Turn | None  # of the long one; None: no loop does it all
    bytes: int = 0  # of a turn

    @property
    def pcs(self) -> tuple[int, ...]:
        """Return the addresses of one turn, or of the whole long call if it has no turns."""
        pcs = self.long.pcs
        return pcs[self.turn.start : self.turn.start + self.turn.length] if self.turn else pcs

    def cycles_per_byte(self, models: Models, core: Core, *, serial: bool) -> float:
        if self.turn:
            return models.turn(core, self.long, self.turn, serial=serial) / self.bytes
        both = [models.call(core, executed, serial=serial) for executed in (self.short, self.long)]
        return (both[1] - both[0]) / (LONG - SHORT)


def steady(call: Call) -> Steady:
    short, long = call(SHORT), call(LONG)
    per_byte = (len(long.pcs) - len(short.pcs)) / (LONG - SHORT)
    turn = steady_turn(long.pcs)
    if turn and per_byte:
        of_turn = turn.length / per_byte
        blocks = round(of_turn / BLOCK_BYTES)
        if blocks and abs(of_turn / BLOCK_BYTES / blocks - 1) < 0.002:
            return Steady(per_byte, short, long, turn, blocks * BLOCK_BYTES)
    return Steady(per_byte, short, long, None)


@dataclass(slots=True)
class Evaluator:
    """Makes rows. Without models, with exact counts alone."""

    cores: Sequence[Core]
    fits: Sequence[Fit]
    points: Sequence[Point]
    models: Models | None
    refits: Mapping[str, Sequence[Refit]]
    turns: list[tuple[Subject, Steady]] = field(default_factory=list)  # of rows in bulk

    def row(self, subject: Subject, call: Call, n_bytes: int) -> OperationEstimate:
        if n_bytes == BULK:
            found = steady(call)
            self.turns.append((subject, found))

            def in_bulk(core: Core, models: Models) -> float:
                return found.cycles_per_byte(models, core, serial=subject.serial)

            return self._row(subject, BULK, found.per_byte, found.pcs, found.long, in_bulk)
        executed = call(n_bytes)
        pcs = executed.pcs

        def of_message(core: Core, models: Models) -> float:
            return models.call(core, executed, serial=subject.serial) / n_bytes

        return self._row(subject, n_bytes, len(pcs) / n_bytes, pcs, executed, of_message)

    def _figure(
        self,
        core: Core,
        subject: Subject,
        models: Models,
        cost: Callable[[Core, Models], float],
    ) -> Figure | Hidden:
        def say(core: Core, fits: Sequence[Fit], unsure: float = 0.0) -> Figure | Hidden:
            model = cost(core, models)
            return figure(core, model, subject.techniques, subject.serial, fits, unsure)

        try:
            first = say(core, self.fits)
            others = [
                say(replace(core, parameters=refit.parameters), _as_in(refit, self.fits))
                for refit in self.refits.get(core.name, ())
            ]
        except ForeignError as error:
            return Hidden(error.message)
        if isinstance(first, Hidden):
            return first
        centers = [other.center for other in others if isinstance(other, Figure)]
        return say(core, self.fits, rms([center / first.center - 1 for center in centers]))

    def _row(
        self,
        subject: Subject,
        n_bytes: int,
        per_byte: float,
        pcs: Sequence[int],
        executed: Executed,
        cost: Callable[[Core, Models], float],
    ) -> OperationEstimate:
        figures: dict[str, Figure | Hidden] = {}
        kinds: dict[str, float] = {}
        if self.models is not None:
            if executed.arch == "a64":
                count = classes(executed.instructions(pcs))
                kinds = {name: n / len(pcs) * per_byte for name, n in count.items()}
            for core in self.cores:
                if core.model == "hidden":
                    figures[core.name] = Hidden(core.why)
                    continue
                figures[core.name] = self._figure(core, subject, self.models, cost)
        published = {
            p.core: p
            for p in self.points
            if p.subject == subject.owner
            and p.function in (subject.kernel, function(subject.kernel, subject.mode))
            and n_bytes == BULK
            and subject.key_bits == 128
        }
        return OperationEstimate(
            **asdict(subject),
            bytes=n_bytes,
            instructions_per_byte=per_byte,
            classes=kinds,
            figures=figures,
            published=published,
        )


def _as_in(refit: Refit, fits: Sequence[Fit]) -> list[Fit]:
    """The points as another fit says them."""
    return [replace(fit, model=refit.models.get(fit.point.key, fit.model)) for fit in fits]
