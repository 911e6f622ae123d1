# SPDX-License-Identifier: MIT
"""The cost of messages at the edges of pages, beside the same messages inside pages."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from everycore.environment.errors import EverycoreError
from everycore.measure.placement_costs import costs
from everycore.model.protocol import Failure, Placement
from everycore.run.session import Session

TRIES = 5  # a point beyond the bound is measured again: what is not noise is there every time
MOST_SIZES = 200  # of one call of the harness
MODES = (
    "ecb-enc", "ecb-dec", "cbc-enc", "cbc-dec", "ctr", "xts-enc", "xts-dec", "cbcmac", "cmac",
    "ccm-seal", "ccm-open", "cbc-enc-many", "cmac-many",
    "gcm-seal", "gcm-open", "gcm-seal-many", "gcm-open-many", "gcm-siv-seal", "gcm-siv-open",
)  # fmt: skip
LARGEST, LARGER_SIZES = 16384, 40
SIZES_BYTES = (
    *range(1, 301),
    *(round(300 * (LARGEST / 300) ** (i / LARGER_SIZES)) for i in range(1, LARGER_SIZES + 1)),
)
QUICK_SIZES_BYTES = (
    1, 15, 16, 20, 31, 32, 48, 63, 64, 65, 80, 100, 112, 144, 200, 255, 257, 300, 512, 900,
    1500, 4095, 4097, 16384,
)  # fmt: skip

Key = tuple[str, str, str, int, bool]


@dataclass(frozen=True, slots=True)
class PlacementRequest:
    """The options of the command line."""

    modes: Sequence[str]
    sizes_bytes: Sequence[int]
    kernels: Sequence[str]  # empty: all
    key_bits: int


def usual_sizes(*, quick: bool) -> tuple[int, ...]:
    return QUICK_SIZES_BYTES if quick else SIZES_BYTES


def measure_mode(session: Session, mode: str, asked: PlacementRequest) -> list[Placement]:
    """All points of a mode: apart and in place, each the best of up to TRIES measurements."""
    points: dict[Key, Placement] = {}
    for in_place in (False, True):
        _add(points, _measure(session, mode, asked, in_place))
    for _ in range(TRIES - 1):
        beyond = [p for p in points.values() if any(c.share > 1 for c in costs(p)) or _lacks(p)]
        for kernel, in_place in dict.fromkeys((p.kernel, p.in_place) for p in beyond):
            own = [p.bytes for p in beyond if (p.kernel, p.in_place) == (kernel, in_place)]
            again = replace(asked, kernels=[kernel], sizes_bytes=own)
            _add(points, _measure(session, mode, again, in_place))
    return list(points.values())


def _lacks(point: Placement) -> bool:
    return not all((point.start, point.inside_start, point.end, point.inside_end))


def _badness(point: Placement) -> tuple[bool, float]:
    return _lacks(point), max((cost.share for cost in costs(point)), default=0.0)


def _add(points: dict[Key, Placement], more: Iterable[Placement]) -> None:
    """Keep the better one of two measurements of a point."""
    for point in more:
        key = (point.primitive, point.kernel, point.mode, point.bytes, point.in_place)
        points[key] = min(points.get(key, point), point, key=_badness)


def _measure(
    session: Session, mode: str, asked: PlacementRequest, in_place: bool
) -> Iterator[Placement]:
    words = ["bench", "--placement", "--mode", mode, "--key-bits", str(asked.key_bits)]
    words += ["--kernel", ",".join(asked.kernels)] * bool(asked.kernels)
    words += ["--in-place"] * in_place
    for i in range(0, len(asked.sizes_bytes), MOST_SIZES):
        sizes = ",".join(map(str, asked.sizes_bytes[i : i + MOST_SIZES]))
        for record in session.records(*words, "--bytes", sizes, *session.pinned):
            match record:
                case Placement() as line:
                    yield line
                case Failure() as line:
                    raise EverycoreError(f"{line.kernel} {line.mode}: {line.detail}", code=1)
