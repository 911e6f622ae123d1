# SPDX-License-Identifier: MIT
"""Stored estimates of messages of GCM, beside published figures, in docs/ESTIMATES.md. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from everycore.estimates import BULK, EXTENSIONS, Core, Gain, Message, spoken
from everycore.report.kernels import markdown_table

TYPE = "estimate"
MODE = "gcm-seal"
BULK_WORD = "bulk"
Line = Mapping[str, Any]


def page(
    lines: Iterable[Line],
    cores: Mapping[str, Core],
    messages: Sequence[Message],
    gains: Sequence[Gain],
) -> str:
    """Estimates with and without AES instructions, and then what is published."""
    own = [line for line in lines if line["type"] == TYPE and line["mode"] == MODE]
    names = [name for name in cores if any(name in line["estimates"] for line in own)]
    with_aes = [line for line in own if EXTENSIONS & {*line["techniques"]}]
    without = [line for line in own if line not in with_aes]
    text = ""
    for title, some in (("With AES instructions", with_aes), ("Without AES instructions", without)):
        shown = [line for line in some if any(_is_shown(line, name) for name in names)]
        columns = [name for name in names if any(_is_shown(line, name) for line in shown)]
        if shown:
            text += f"### {title}\n\n{_estimates(shown, columns, cores)}\n"
            text += _hidden(shown, columns, cores)
    text += "### Published\n\n" + _published(own, cores, messages)
    return text + "\n" + _gains(own, cores, gains)


def _is_shown(line: Line, core: str) -> bool:
    return "low" in line["estimates"].get(core, {})


def _estimates(lines: Sequence[Line], names: Sequence[str], cores: Mapping[str, Core]) -> str:
    head = ["code", "key bits", "bytes", "i/B", *(f"{cores[name].title}, est." for name in names)]
    rows = [
        [_code(line), *(str(line[member]) for member in ("key_bits", "bytes")), _count(line)]
        + [_range(line, name) for name in names]
        for line in lines
    ]
    return markdown_table(head, rows, right=range(1, len(head)))


def _count(line: Line) -> str:
    return f"{line['instructions_per_byte']:.2f}"


def _range(line: Line, core: str) -> str:
    found = line["estimates"].get(core, {})
    if "low" not in found:
        return "hidden" if "hidden" in found else ""
    return spoken(found["low"], found["high"])


def _hidden(lines: Sequence[Line], names: Sequence[str], cores: Mapping[str, Core]) -> str:
    """Why figures of the table are hidden, each reason once."""
    reasons = dict.fromkeys(
        f"* {cores[name].title}, hidden: {line['estimates'][name]['hidden']}.\n"
        for line in lines
        for name in names
        if "hidden" in line["estimates"].get(name, {})
    )
    return "".join(reasons) + "\n" if reasons else ""


def _code(line: Line) -> str:
    owner, kernel = line["owner"], line["kernel"]
    return kernel if owner == "everycore" else f"{owner} {kernel}"


def _published(
    lines: Sequence[Line], cores: Mapping[str, Core], messages: Sequence[Message]
) -> str:
    """Each published figure with the estimate of that very code, where it is stored."""
    stored = {(_code(line), line["key_bits"], line["bytes"]): line for line in lines}
    rows: list[list[str]] = []
    for one in messages:
        size = BULK_WORD if one.bytes == BULK else one.bytes
        line = stored.get((one.function, one.key_bits, size))
        cost = f"{one.cycles_per_byte:g}" + (" (derived)" if one.derived else "")
        source = one.source + (f"; {one.note}" if one.note else "")
        length = "long" if size == BULK_WORD else str(size)
        estimate = _range(line, one.core) if line else ""
        title = cores[one.core].title
        rows.append([title, one.code, str(one.key_bits), length, cost, estimate, source])
    head = ["core", "code", "key bits", "bytes", "published", "est. of that code", "source"]
    return markdown_table(head, rows, right=(2, 3, 4, 5))


def _gains(lines: Sequence[Line], cores: Mapping[str, Core], gains: Sequence[Gain]) -> str:
    """Published gains; and in another table our kernel beside the same code, by the models."""
    text = ""
    for sizes in dict.fromkeys(gain.bytes for gain in gains):
        chosen = [gain for gain in gains if gain.bytes == sizes]
        head = ["core", "code", "key bits", *(f"{size} bytes" for size in sizes), "source"]
        rows = [
            [cores[gain.core].title, gain.function, str(bits)]
            + [f"{percent:+d} %" for percent in percents]
            + [gain.source]
            for gain in chosen
            for bits, percents in gain.rows
        ]
        text += "Published gains in speed over the code that it replaced:\n\n"
        text += markdown_table(head, rows, right=range(2, len(head) - 1))
        text += "\n" + _ratios(lines, cores, chosen, sizes)
    return text


def _ratios(
    lines: Sequence[Line], cores: Mapping[str, Core], gains: Sequence[Gain], sizes: Sequence[int]
) -> str:
    """Time of our kernels as a part of the time of the code of these gains."""
    functions = dict.fromkeys(gain.function.replace("-arm64", "") for gain in gains)
    names = [name for name in cores if any(name in line["estimates"] for line in lines)]
    rows: list[list[str]] = []
    for function in functions:
        own: dict[tuple[str, int], dict[int, Line]] = {}
        for line in lines:
            if line["owner"] == "everycore":
                own.setdefault((line["kernel"], line["key_bits"]), {})[line["bytes"]] = line
        for (kernel, bits), by_size in own.items():
            for name in names:
                ratios = [by_size.get(size, {}).get("ratios", {}).get(name, {}) for size in sizes]
                if all(function in found for found in ratios):
                    said = [f"{found[function]:.2f}x" for found in ratios]
                    rows.append([cores[name].title, kernel, function, str(bits), *said])
    if not rows:
        return ""
    head = ["core", "kernel", "beside", "key bits", *(f"{size} bytes" for size in sizes)]
    return "Time of our kernel beside that code, by the models:\n\n" + markdown_table(
        head, rows, right=range(3, len(head))
    )
