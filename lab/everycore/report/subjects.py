# SPDX-License-Identifier: MIT
"""The tables of `everycore subjects`. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field

from rich.console import Group

from everycore.report.tables import plain_table, titled

LEGEND = (
    "Exact instructions per byte; answers compared with c_ref. Long: what more bytes cost. Of whole"
    " messages: one call, without the C code around it."
)


@dataclass(frozen=True, slots=True)
class Row:
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

    def as_json(self) -> dict[str, object]:
        return {"type": "subject", **asdict(self)}


def tables(rows: Sequence[Row], sizes: Sequence[int]) -> Iterator[Group]:
    """One of each subject."""
    for name in dict.fromkeys(row.subject for row in rows):
        own = [row for row in rows if row.subject == name]
        table = plain_table("Function", "Computes", "Technique")
        for column in ("AES", "Long", *(f"{size} B" for size in sizes)) if sizes else ():
            table.add_column(column, justify="right", no_wrap=True)
        for row in own:
            cells = [row.function, row.computes, row.technique]
            if sizes:
                cells += [str(row.key_bits), _figure(row.per_byte)]
                cells += [_figure(row.whole.get(size)) for size in sizes]
            table.add_row(*cells)
        said = LEGEND if sizes else "All answers are those of c_ref."
        yield titled(f"{name}: {own[0].title}", table, said, own[0].source)


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
