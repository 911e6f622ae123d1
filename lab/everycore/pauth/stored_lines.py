# SPDX-License-Identifier: MIT
"""Show the figures of interleaved runs: a table for each program."""

from collections.abc import Sequence
from dataclasses import dataclass

from everycore.model.run_lines import PauthLine, PauthProgram, PauthTime
from everycore.model.stats import Figure, figure
from everycore.pauth.counting import Count
from everycore.pauth.interleaved_runs import Samples
from everycore.pauth.programs import Program
from everycore.pauth.variants import IMPDEF, MODES, OFF

LEAST_SECONDS = 0.1  # ten ticks of a slow clock of user time: below, nothing is derived


@dataclass(frozen=True, slots=True)
class ProgramTable:
    program: Program
    scale: float
    count: Count | None
    rows: tuple[PauthTime, ...]
    is_sampled: bool = False  # shares were looked for

    def lines(self) -> list[PauthLine]:
        """Return the lines as they are stored."""
        head = PauthProgram(
            program=self.program.name,
            says=self.program.says,
            scale=self.program.scale_of(self.scale),
            work=self.program.work_of(self.scale),
            computed=self.count.computed if self.count else None,
            counted_by=self.count.by if self.count else None,
            sampled=self.is_sampled,
        )
        return [head, *self.rows]


def table_of(
    program: Program, scale: float, every: Sequence[Samples], count: Count | None
) -> ProgramTable:
    found = {
        (s.variant.emulator.name, s.variant.label): summary
        for s in every
        if not s.wrong and (summary := figure_of_runs(s.seconds))
    }
    rows = tuple(_row(program.name, samples, found, count) for samples in every)
    return ProgramTable(program, scale, count, rows)


def _row(
    program: str, samples: Samples, found: dict[tuple[str, str], Figure], count: Count | None
) -> PauthTime:
    emulator, algorithm = samples.variant.emulator.name, samples.variant.label
    summary = figure_of_runs(samples.seconds)
    off = found.get((emulator, OFF))
    impdef = found.get((emulator, IMPDEF), found.get((emulator, f"{IMPDEF} {MODES['qemu']}")))
    own = found.get((emulator, algorithm))
    ratio, cost = _ratio(own, off), None
    if ratio is not None and own and off and count and count.computed and algorithm != OFF:
        cost = (own.median - off.median) * 1e9 / count.computed
    return PauthTime(
        program,
        emulator,
        algorithm,
        summary.median if summary else None,
        summary.width if summary and len(samples.seconds) > 1 else None,
        tuple(samples.seconds),
        cost,
        ratio,
        _ratio(own, impdef),
        samples.wrong,
        is_noisy=_is_noisy(own),
        is_noisy_to_off=_is_noisy(own, off),
        is_noisy_to_impdef=_is_noisy(own, impdef),
    )


def figure_of_runs(seconds: Sequence[float]) -> Figure | None:
    """A run is a process with one sample."""
    return figure((second,) for second in seconds)


def _ratio(own: Figure | None, other: Figure | None) -> float | None:
    if own is None or other is None or min(own.median, other.median) < LEAST_SECONDS:
        return None
    return own.median / other.median


def _is_noisy(*summaries: Figure | None) -> bool:
    return any(summary is not None and summary.is_uncertain for summary in summaries)
