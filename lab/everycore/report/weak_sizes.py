# SPDX-License-Identifier: MIT
"""Find lengths of numbers at which a kernel of bn is slower than its other lengths promise."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from everycore.model.protocol import Bench

NOISE = 1.03  # of one figure to another on a machine that nothing else uses
ABOVE_THE_LINE = (
    1.15  # times the mean of both neighbours, of kernels whose digits are general registers
)
MANY_PROCESSES = 5  # of which one may have misjudged its clock
SCALAR = (
    "x86_adx",
    "x86_adx_intel",
    "a32_umaal",
    "hppa20",
    "hppa_xmpyu",
    "a64_umulh",
    "ppc64_mulhdu",
    "s390x_mlg",
    "c_limb64",
    "c_limb32",
    "c_limb16",
    "c_digit27",
)


@dataclass(frozen=True, slots=True)
class Sweep:
    """The worst lengths of one kernel in one mode; ratios of times, lengths in bits."""

    kernel: str
    mode: str
    lengths: int
    to_longer: float  # the time of a length to that of the fastest longer one
    longer_at: int
    to_line: float  # to the mean of its neighbours
    line_at: int

    @property
    def is_even(self) -> bool:
        """Whether no length is weak. Vectors fill up at few lengths: the line is none for them."""
        follows_line = self.kernel not in SCALAR or self.to_line <= ABOVE_THE_LINE
        return follows_line and self.to_longer <= NOISE


def sweeps(benches: Iterable[Bench]) -> list[Sweep]:
    """Return one for each kernel and mode with three lengths or more."""
    fastest: dict[tuple[str, str], dict[int, list[float]]] = {}
    for bench in benches:
        if bench.primitive == "bn" and bench.cycles:
            times = fastest.setdefault((bench.kernel, bench.mode), {})
            times.setdefault(bench.bytes, []).append(min(bench.cycles))
    return [
        _sweep(*key, {n_bytes: _time(found) for n_bytes, found in times.items()})
        for key, times in fastest.items()
        if len(times) > 2
    ]


def _time(fastest: Sequence[float]) -> float:
    """Return the time of one length, out of the fastest sample of each process.

    It is the fastest of all, for what disturbs a sample adds to it. Of many processes it is the
    second fastest: one whose clock sped up after it was judged counts too few cycles.
    """
    return sorted(fastest)[1 if len(fastest) >= MANY_PROCESSES else 0]


def _sweep(kernel: str, mode: str, times: Mapping[int, float]) -> Sweep:
    lengths = sorted(times)
    longer = max(
        (times[n] / min(times[m] for m in lengths[i + 1 :]), n) for i, n in enumerate(lengths[:-1])
    )
    inner = zip(lengths, lengths[1:], lengths[2:], strict=False)
    line = max((times[n] / ((times[a] + times[b]) / 2), n) for a, n, b in inner)
    return Sweep(kernel, mode, len(lengths), longer[0], 8 * longer[1], line[0], 8 * line[1])
