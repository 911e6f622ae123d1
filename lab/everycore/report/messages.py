# SPDX-License-Identifier: MIT
"""Stored estimates of messages of GCM, beside published figures, in docs/evidence/estimates.md."""

import math
from collections.abc import Iterable, Mapping, Sequence

from everycore.estimate.core_estimates import BULK, EXTENSIONS, Core, Gain, Message, spoken
from everycore.model.run_lines import EstimateLine
from everycore.report.kernels import markdown_table

MODE = "gcm-seal"
BULK_WORD = "bulk"
MANY = 10  # cycles per byte, from which on one decimal is shown
RATIO_LEGEND = (
    "Time of our kernel divided by that of other people's code, both by the models;"
    " below 1.00x ours is faster:\n\n"
)


def page(
    lines: Iterable[EstimateLine],
    cores: Mapping[str, Core],
    messages: Sequence[Message],
    gains: Sequence[Gain],
) -> str:
    """Estimates with and without AES instructions, and then what is published."""
    own = [line for line in lines if line.mode == MODE]
    names = [name for name in cores if any(name in line.estimates for line in own)]
    with_aes = [line for line in own if EXTENSIONS & {*line.techniques}]
    without = [line for line in own if line not in with_aes]
    text = ""
    for title, some in (("With AES instructions", with_aes), ("Without AES instructions", without)):
        shown = [line for line in some if any(_is_shown(line, name) for name in names)]
        columns = [name for name in names if any(_is_shown(line, name) for line in shown)]
        if shown:
            text += f"### {title}\n\n{_estimates(shown, columns, cores)}\n"
            text += _hidden(shown, columns, cores) + _ratios(shown, cores)
    text += "### Published\n\n" + _published(own, cores, messages)
    return text + "\n" + _gains(cores, gains)


def estimate_cells(lines: Sequence[EstimateLine]) -> tuple[list[str], list[list[str]]]:
    """Head and rows of all stored estimates, of any mode, for the report page."""
    names = list(dict.fromkeys(name for line in lines for name in line.estimates))
    rows = [
        [_code(line), line.mode, str(line.key_bits), str(line.bytes), _count(line)]
        + [_range(line, name) for name in names]
        for line in lines
    ]
    return ["code", "mode", "key bits", "bytes", "i/B", *(f"{name}, est." for name in names)], rows


def _is_shown(line: EstimateLine, core: str) -> bool:
    found = line.estimates.get(core)
    return found is not None and found.low is not None


def _estimates(
    lines: Sequence[EstimateLine], names: Sequence[str], cores: Mapping[str, Core]
) -> str:
    head = ["code", "key bits", "bytes", "i/B", *(f"{cores[name].title}, est." for name in names)]
    rows = [
        [_code(line), *(str(size) for size in (line.key_bits, line.bytes)), _count(line)]
        + [_range(line, name) for name in names]
        for line in lines
    ]
    return markdown_table(head, rows, right=range(1, len(head)))


def _count(line: EstimateLine) -> str:
    return f"{line.instructions_per_byte:.2f}"


def _range(line: EstimateLine, core: str) -> str:
    found = line.estimates.get(core)
    if found is None or found.low is None or found.high is None:
        return "hidden" if found and found.hidden else ""
    return spoken(found.low, found.high)


def _hidden(lines: Sequence[EstimateLine], names: Sequence[str], cores: Mapping[str, Core]) -> str:
    """Why figures of the table are hidden, each reason once."""
    reasons = dict.fromkeys(
        f"* {cores[name].title}, hidden: {line.estimates[name].hidden}.\n"
        for line in lines
        for name in names
        if name in line.estimates and line.estimates[name].hidden
    )
    return "".join(reasons) + "\n" if reasons else ""


def _code(line: EstimateLine) -> str:
    owner, kernel = line.owner, line.kernel
    return kernel if owner == "everycore" else f"{owner} {kernel}"


def _ratios(lines: Sequence[EstimateLine], cores: Mapping[str, Core]) -> str:
    """Time of our kernels beside that of other people's code; known of hidden estimates, too."""
    own = [(line, line.ratios) for line in lines if line.ratios]
    names = [name for name in cores if any(ratios.get(name) for _, ratios in own)]
    rows: list[list[str]] = []
    for line, by_core in own:
        for rival in dict.fromkeys(
            rival_name for name in names for rival_name in by_core.get(name, {})
        ):
            ratios = [by_core.get(name, {}).get(rival) for name in names]
            cells = [f"{ratio:.2f}x" if ratio else "" for ratio in ratios]
            rows.append([line.kernel, rival, str(line.key_bits), str(line.bytes), *cells])
    if not rows:
        return ""
    rows.sort(key=lambda row: row[1])
    head = ["kernel", "beside", "key bits", "bytes", *(cores[name].title for name in names)]
    return RATIO_LEGEND + markdown_table(head, rows, right=range(2, len(head))) + "\n"


def _published(
    lines: Sequence[EstimateLine], cores: Mapping[str, Core], messages: Sequence[Message]
) -> str:
    """Each published figure with the estimate of that very code, where one is stored."""
    order = list(cores)
    rows: list[list[str]] = []
    for published in sorted(messages, key=lambda message: order.index(message.core)):
        cost = published.cycles_per_byte
        source = published.source + (f"; {published.note}" if published.note else "")
        rows.append(
            [
                cores[published.core].title,
                published.code,
                str(published.key_bits),
                "long" if published.bytes == BULK else str(published.bytes),
                (f"{cost:.2f}" if cost < MANY else f"{cost:.1f}")
                + " (derived)" * published.derived,
                _of_that_code(lines, published),
                source,
            ]
        )
    head = ["core", "code", "key bits", "bytes", "published", "est. of that code", "source"]
    return markdown_table(head, rows, right=(2, 3, 4, 5))


def _of_that_code(lines: Sequence[EstimateLine], message: Message) -> str:
    """The estimate at that size; of long messages that of the longest that is stored."""
    like = [
        line
        for line in lines
        if _code(line) == message.function and line.key_bits == message.key_bits
        if message.bytes in (BULK, line.bytes)
    ]
    if not like:
        return ""
    line = max(like, key=lambda each: each.bytes if isinstance(each.bytes, int) else math.inf)
    size = f" ({line.bytes} B)" if message.bytes == BULK and line.bytes != BULK_WORD else ""
    return _range(line, message.core) + size


def _gains(cores: Mapping[str, Core], gains: Sequence[Gain]) -> str:
    """A table for each set of sizes."""
    text = ""
    for sizes in dict.fromkeys(gain.bytes for gain in gains):
        head = ["core", "code", "key bits", *(f"{size} bytes" for size in sizes), "source"]
        rows = [
            [cores[gain.core].title, gain.function, str(bits)]
            + [f"{percent:+d} %" for percent in percents]
            + [gain.source]
            for gain in gains
            if gain.bytes == sizes
            for bits, percents in gain.rows
        ]
        text += "Published gains in speed over the code that it replaced, which is not here:\n\n"
        text += markdown_table(head, rows, right=range(2, len(head) - 1))
    return text
