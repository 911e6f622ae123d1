# SPDX-License-Identifier: MIT
"""The tables of `everycore subject`."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field

from rich.console import Group
from rich.table import Table

from everycore.report.table_style import plain_table, titled

LEGEND = (
    "Exact instructions per byte. Long: what more bytes cost. Of whole messages: one call, without"
    " the C code around it."
)
BESIDE = "Exact instructions per byte of what computes the same; ratios are of the best ones."
RIGHT = "All answers are those of c_ref."
RIGHT_OWN = (
    "All answers are those of a trusted build of the same files, and of the check vectors."
    " Without vectors, a bug that this build shares is not seen."
)
OWN = "own"


@dataclass(frozen=True, slots=True)
class FunctionResult:
    """A function of a subject with keys of one size."""

    subject: str
    title: str
    source: str
    function: str
    computes: str
    technique: str
    key_bits: int = 0  # not counted
    per_byte: float | None = None
    whole: Mapping[int, float] = field(
        default_factory=dict
    )  # bytes of a message -> instructions per byte
    is_ours: bool = False
    target: str = ""

    def as_json(self) -> dict[str, object]:
        return {"type": "subject", **asdict(self)}


@dataclass(frozen=True, slots=True)
class Listed:
    """A subject as `everycore subject list` shows it."""

    name: str
    description: str
    origin: str
    target: str
    functions: tuple[str, ...]
    measured: tuple[str, ...]  # by the matrix, unasked
    fetched_bytes: int  # of its package; 0: there is none
    is_here: bool

    def as_json(self) -> dict[str, object]:
        return {"type": "subject", **asdict(self)}


def list_table(rows: Sequence[Listed], functions: bool) -> Table:
    """`functions`: with their names, those that the matrix takes marked by a star."""
    table = plain_table("Subject", "Functions" if functions else "What", "From", "Here")
    for row in rows:
        here = "yes" if row.is_here else f"{row.fetched_bytes / 1e6:.1f} MB to fetch"
        names = (name + "*" * (name in row.measured) for name in row.functions)
        table.add_row(row.name, " ".join(names) if functions else row.description, row.origin, here)
    return table


def tables(rows: Sequence[FunctionResult], sizes: Sequence[int]) -> Iterator[Group]:
    """One of each subject."""
    for name in dict.fromkeys(row.subject for row in rows):
        own = [row for row in rows if row.subject == name]
        keyed = any(row.computes != OWN for row in own)
        heads = ("AES", "Long", *(f"{size} B" for size in sizes)) if sizes else ()
        table = plain_table("Function", "Computes", "Technique", figures=heads)
        for row in own:
            cells = [row.function, row.computes, row.technique]
            if sizes:
                is_hash = row.computes.startswith("sha")
                cells += ["-" if is_hash else str(row.key_bits), _figure(row.per_byte)]
                cells += [_figure(row.whole.get(size)) for size in sizes]
            table.add_row(*cells)
        rule = RIGHT if keyed else RIGHT_OWN
        legend = f"{LEGEND} {rule}" if sizes else rule
        yield titled(f"{name}: {own[0].title}", table, legend, own[0].source)


def beside(rows: Sequence[FunctionResult], sizes: Sequence[int]) -> Iterator[Group]:
    """Compare our kernels with other people's that compute the same, if there are both."""
    table = plain_table("Computes", "Subject", figures=("Long", *(f"{size} B" for size in sizes)))
    counted = [row for row in rows if row.computes != OWN and row.per_byte is not None]
    groups = dict.fromkeys((row.target, row.computes, row.key_bits) for row in counted)
    for group in groups:
        alike = [row for row in counted if (row.target, row.computes, row.key_bits) == group]
        ours = [_figures(row, sizes) for row in alike if row.is_ours]
        theirs = [_figures(row, sizes) for row in alike if not row.is_ours]
        if not ours or not theirs:
            continue
        for row in alike:
            name = row.subject if row.function == row.computes else f"{row.subject} {row.function}"
            table.add_row(row.computes, name, *map(_figure, _figures(row, sizes)))
        ratios = map(_ratio, zip(*ours, strict=True), zip(*theirs, strict=True))
        table.add_row(group[1], "ours / theirs", *map(_figure, ratios), end_section=True)
    if table.rows:
        yield titled("Beside each other", table, BESIDE, "")


def _figures(row: FunctionResult, sizes: Sequence[int]) -> list[float | None]:
    return [row.per_byte, *(row.whole.get(size) for size in sizes)]


def _ratio(ours: Sequence[float | None], theirs: Sequence[float | None]) -> float | None:
    """Divide the best figure of ours by the best one of theirs."""
    best = [min((f for f in figures if f is not None), default=None) for figures in (ours, theirs)]
    return best[0] / best[1] if best[0] is not None and best[1] else None


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
