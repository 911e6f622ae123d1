# SPDX-License-Identifier: MIT
"""The table of kernels as Markdown: what README and docs/KERNELS.md hold. Pure.

The first table says what the registry and the descriptors say; the speed table comes from one
stored result file, whose machine, counter, compiler, flags and commit stand under it.
"""

from collections.abc import Iterable, Sequence

from everycore.protocol import Bench, Kernel
from everycore.report.tables import TIMING_WORDS, cell, number

# Mode and number of messages, in the order of the columns.
SPEED_COLUMNS = (
    ("ctr", 1),
    ("cbc-enc", 1),
    ("cbc-dec", 1),
    ("xts-enc", 1),
    ("cmac", 1),
    ("ccm-seal", 1),
    ("cbc-enc-many", 16),
    ("cbc-enc-many", 32),
)
SPEED_BYTES = 16384
HELPED = "+"


def registry_markdown(kernels: Sequence[Kernel]) -> str:
    """Needs and traits of every kernel, best first."""
    head = ["kernel", "timing", "use", "needs", "blocks", "key bytes", "key form", "own operations"]
    rows = [
        [
            f"`{k.name}`",
            TIMING_WORDS.get(k.timing, k.timing),
            k.use,
            " ".join(k.needs) or "nothing",
            str(k.batch or ""),
            str(k.key_bytes or ""),
            " ".join(k.traits) or ("private" if k.built else ""),
            " ".join(k.slots),
        ]
        for k in kernels
    ]
    return markdown_table(head, rows, right=(4, 5))


def speed_markdown(kernels: Sequence[Kernel], benches: Iterable[Bench], source: str) -> str:
    """Core cycles per byte of long messages, kernels and then peers down, modes across."""
    found: dict[tuple[str, str, int], float] = {}
    partners: dict[tuple[str, str], str] = {}
    key_bits = 0
    for bench in benches:
        value = cell(bench).cycles_per_byte
        if bench.style == "streamed" and bench.bytes == SPEED_BYTES and value is not None:
            found[bench.kernel, bench.mode, bench.messages] = value
            key_bits = bench.key_bits
            if bench.partner:
                partners[bench.mode, bench.kernel] = bench.partner
    columns = [c for c in SPEED_COLUMNS if any(key[1:] == c for key in found)]
    best = {c: min(v for key, v in found.items() if key[1:] == c) for c in columns}
    head = ["kernel", *(mode if n == 1 else f"{mode} x {n}" for mode, n in columns)]
    rows = []
    measured = {name for name, *_ in found}
    names = [k.name for k in kernels if k.name in measured]
    for name in [*names, *sorted(measured.difference(names))]:
        cells = [_speed(found.get((name, *c)), best[c], (c[0], name) in partners) for c in columns]
        rows.append([f"`{name}`" if name in names else name, *cells])
    table = markdown_table(head, rows, right=range(1, len(head)))
    help_note = ""
    if partners:
        helpers = " or ".join(dict.fromkeys(partners.values()))
        help_note = f"{HELPED} one of the mode's two keys belongs to {helpers}.\n"
    legend = (
        f"Core cycles per byte, AES-{key_bits}, {SPEED_BYTES} bytes a message; lower is better,"
        " the best of each column in bold."
    )
    return f"{table}\n{help_note}{legend}\n{source}\n"


def markdown_table(
    head: Sequence[str], rows: Iterable[Sequence[str]], right: Iterable[int] = ()
) -> str:
    at_right = set(right)
    rule = ["---:" if i in at_right else "---" for i in range(len(head))]
    return "".join(f"| {' | '.join(row)} |\n" for row in (head, rule, *rows))


def _speed(value: float | None, best: float, helped: bool) -> str:
    if value is None:
        return ""
    shown = f"**{number(value)}**" if number(value) == number(best) else number(value)
    return shown + HELPED if helped else shown
