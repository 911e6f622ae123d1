# SPDX-License-Identifier: MIT
"""Kernels and their speeds as Markdown: `everycore list --markdown`, and docs/reference/kernels.md.

A table of speeds comes from one stored run, whose machine, counter, compiler, flags and commit
stand beside it.
"""

from collections.abc import Iterable, Sequence

from everycore.model.protocol import TIMING_WORDS, Bench, Kernel
from everycore.model.selection import key_name, unit_of
from everycore.report.figures import NOISY, number, operation_figure

# Mode and number of messages, in the order of the columns.
SPEED_COLUMNS = (
    ("ctr", 1),
    ("cbc-enc", 1),
    ("cbc-dec", 1),
    ("xts-enc", 1),
    ("cmac", 1),
    ("ccm-seal", 1),
    ("gcm-seal", 1),
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
    noisy: set[tuple[str, str, int]] = set()
    partners: dict[tuple[str, str], str] = {}
    key_bits = 0
    for bench in benches:
        value, key = (
            operation_figure(bench).cycles_per_byte,
            (bench.kernel, bench.mode, bench.messages),
        )
        usual = bench.style == "streamed" and not bench.conditions
        if usual and bench.bytes == SPEED_BYTES and value is not None:
            found[key] = value
            (noisy.add if operation_figure(bench).is_noisy else noisy.discard)(key)
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
        cells = [
            NOISY * ((name, *c) in noisy) + text for c, text in zip(columns, cells, strict=True)
        ]
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


def speed_by_mode(order: Sequence[tuple[str, str]], benches: Iterable[Bench]) -> str:
    """A table for each mode of one run: kernels, in the order given, and then peers; sizes across.

    Streamed figures are cycles per byte, those alone cycles per message.
    """
    groups: dict[tuple[str, str, int, int], list[Bench]] = {}
    for bench in benches:
        if bench.cycles:
            mode = bench.mode + bench.conditions
            key = (bench.primitive, mode, bench.key_bits, bench.messages)
            groups.setdefault(key, []).append(bench)
    text = []
    for (primitive, mode, key_bits, messages), group in groups.items():
        many = f", {messages} messages side by side" if messages > 1 else ""
        names = [name for owner, name in order if owner == primitive]
        text.append(f"{_title(mode, primitive, key_bits)}{many}:\n\n{_mode_table(names, group)}")
    return "\n".join(text)


def _title(mode: str, primitive: str, key_bits: int) -> str:
    """Return words for a mode, its key and its unit, if that is not the byte."""
    unit = "" if unit_of(mode) == "byte" else f"cycles per {unit_of(mode)}"
    return ", ".join(filter(None, (mode, key_name(primitive, key_bits), unit)))


def _mode_table(order: Sequence[str], group: Sequence[Bench]) -> str:
    found = {(b.kernel, b.style == "fenced", b.bytes): b for b in group}
    measured = {name for name, *_ in found}
    columns = sorted({(fenced, size) for _, fenced, size in found})
    head = ["kernel"]
    for fenced, size in columns:
        head.append(f"{size} B alone, cycles" if fenced else f"{size} B" if size else "cycles")
    rows = []
    for name in [*(n for n in order if n in measured), *sorted(measured.difference(order))]:
        cells = [_figure(found.get((name, *column)), column[0]) for column in columns]
        rows.append([name, *cells])
    table = markdown_table(head, rows, right=range(1, len(head)))
    partners = dict.fromkeys(b.partner for b in group if b.partner)
    note = f"\n{HELPED} one of the mode's two keys belongs to {' or '.join(partners)}.\n"
    return table + (note if partners else "")


def _figure(bench: Bench | None, per_message: bool) -> str:
    found = operation_figure(bench) if bench else None
    if bench is None or found is None or found.cycles is None:
        return ""
    value = found.cycles.median if per_message or not found.bytes else found.cycles_per_byte or 0
    noisy = NOISY if found.is_noisy else ""
    return noisy + number(value) + (HELPED if bench.partner else "")


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
