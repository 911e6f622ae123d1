# SPDX-License-Identifier: MIT
"""Write the main of a test case: it calls one function with made inputs, and prints its answers."""

import re
from collections.abc import Collection, Mapping, Sequence

from everycore.model.cells import Anomaly, Kind
from everycore.subjects import Function
from everycore.subjects.count import ODD_SIZES, SIZES

SLOW_CYCLES = 1e8  # of one run of a slow program, about

_MAIN = """
int printf(const char *, ...);
static _Alignas(64) unsigned char memory[10][{row}];
static void (*volatile call)(struct subject_job *) = {symbol};
int main(void)
{{
    unsigned sum = 0, state = 1;
    for (unsigned row = 0; row < 10; row++)
        for (unsigned i = 0; i < {row}; i++) {{
            state = state * 1103515245u + 12345u;
            memory[row][i] = row < 8 ? (unsigned char)(state >> 16) : 0;
        }}
    struct subject_job job = {{0}};
{settings}
    for (unsigned i = 0; i < {repeats}; i++)
        call(&job);
    for (unsigned i = 0; i < {n_out}; i++)
        sum = sum * 31 + memory[1][64 + i];
{tag}
    printf("%x\\n", sum);
    return 0;
}}
"""
# For a subject that describes its calls: they stand in main, without a job.
_DIRECT_MAIN = """
int printf(const char *, ...);
{arrays}
int main(void)
{{
    unsigned sum = 0;
{numbers}
{fills}
{calls}
    for (int i = 0; i < {n_out}; i++)
        sum = sum * 31 + out[i];
    printf("%x\\n", sum);
    return 0;
}}
"""
_FILLED = ("in", "key", "iv")
# The members of a job that the source of a subject may read, and what they are set to.
_SETTINGS = {
    "key_bits": "job.key_bits = {key_bits};",
    "rounds": "job.rounds = {rounds};",
    "in": "job.in = memory[0] + 64;",
    "out": "job.out = memory[1] + 64;",
    "user_key": "job.user_key = memory[2];",
    "tweak_key": "job.tweak_key = memory[3];",
    "enc": "job.enc = memory[4];",
    "dec": "job.dec = memory[5];",
    "tweak_enc": "job.tweak_enc = memory[6];",
    "iv": "job.iv = memory[7];",
    "tag": "job.tag = memory[7] + 64;",
    "given_tag": "job.given_tag = memory[7] + 128;",
    "h": "for (unsigned i = 0; i < 8; i++)\n        job.h[i] = memory[2] + 64 + 16 * i;",
    "own": "job.own = memory[8];",
    "own2": "job.own2 = memory[9];",
    "n_bytes": "job.n_bytes = {n_bytes};",
    "n_blocks": "job.n_blocks = {n_bytes} / 16;",
}
# The places of what a sweep gives (sweep.c), and members that have other names there.
_PLACES = {
    "in": "(memory[0] + 64)",
    "user_key": "memory[2]",
    "tweak_key": "memory[3]",
    "enc": "memory[4]",
    "dec": "memory[5]",
    "tweak_enc": "memory[6]",
    "iv": "memory[7]",
    "given_tag": "(memory[7] + 128)",
    "h": "(memory[2] + 64)",
}
_MEMBERS = {"key": "user_key", "key_bits": ""}
_TAG = "    for (unsigned i = 0; i < 16; i++)\n        sum = sum * 31 + memory[7][64 + i];"


def lengths(anomaly: Anomaly, function: Function) -> list[int]:
    """Return lengths of messages with which a whole source is tried: a slow cell has one, a wrong
    one may need one at which its answers were compared."""
    of_cell = anomaly.cell.n_bytes
    others = (*SIZES, *ODD_SIZES) if anomaly.kind is Kind.WRONG else ()
    return [of_cell, *(n for n in others if n != of_cell and function.takes(n))]


def calls_of(every: Sequence[int], given: Mapping[str, str]) -> list[tuple[int, Mapping[str, str]]]:
    """Return lengths of texts with the inputs of calls; no input: one that a loop makes.

    One call of a made input comes first: where that is answered wrongly too, no constants are in
    the test case.
    """
    calls: list[tuple[int, Mapping[str, str]]] = [(n_bytes, {}) for n_bytes in every]
    return [*calls[:1], (len(given["in"]) // 2, given), *calls[1:]] if given else calls


def main_text(
    anomaly: Anomaly,
    function: Function,
    n_bytes: int,
    given: Mapping[str, str] | None = None,
    fields: Collection[str] = tuple(_SETTINGS),
) -> str:
    """A main that calls the function as the driver does, and prints a sum of the answers.

    It sets those members of the job that are in `fields`. `given`: hex of some of them.
    """
    members = {
        name: member for name in given or () if (member := _MEMBERS.get(name, name)) in fields
    }
    bytes_of = {member: (given or {})[name] for name, member in members.items()}
    key_bits = int((given or {}).get("key_bits", anomaly.cell.key_bits))
    lines = [line for name, line in _SETTINGS.items() if name in fields]
    lines += [
        f"for (unsigned i = 0; i < sizeof given_{member}; i++)\n"
        f"        {_PLACES[member]}[i] = given_{member}[i];"
        for member, text in bytes_of.items()
        if text
    ]
    lines += [f"{function.key_symbol}(&job);"] if function.key_symbol else []
    settings = "\n".join(f"    {line}" for line in lines)
    arrays = "".join(
        f"const unsigned char given_{member}[] = {{{_numbers(text)}}};\n"
        for member, text in bytes_of.items()
        if text
    )
    return arrays + _MAIN.format(
        settings=settings.format(n_bytes=n_bytes, key_bits=key_bits, rounds=key_bits // 32 + 6),
        tag=_TAG if "tag" in fields else "",
        row=max(16384, n_bytes, function.output) + 128,
        symbol=function.symbol,
        n_out=function.output or n_bytes,
        repeats=_repeats(anomaly, n_bytes),
    )


def _numbers(text: str) -> str:
    """Return bytes in hex as numbers of C."""
    return ", ".join(map(str, bytes.fromhex(text)))


def direct_main_text(
    anomaly: Anomaly,
    function: Function,
    n_bytes: int,
    given: Mapping[str, str] | None = None,
) -> str:
    """A main with the calls of a subject's description, and with the arguments that they name.
    `given`: hex of some of these."""
    given = given or {}
    key_bits = int(given.get("key_bits", anomaly.cell.key_bits))
    n_out, repeats = function.output or n_bytes, _repeats(anomaly, n_bytes)
    sizes = {
        "in": n_bytes,
        "out": n_out,
        "key": 64,
        "iv": 16,
        "tag": 16,
        "own": 16384,
        "own2": 16384,
    }
    values = {"n_bytes": n_bytes, "n_blocks": n_bytes // 16, "key_bits": key_bits}
    code = f"{function.setup}; {function.call}"
    named = {name for name in (*sizes, *values) if re.search(rf"\b{name}\b", code)} | {"out"}
    calls = [f"{function.setup};"] if function.setup else []
    if repeats > 1:
        calls.append(f"for (unsigned long i = 0; i < {repeats}; i++)\n        {function.call};")
    else:
        calls.append(f"{function.call};")
    fills = [
        f"for (int i = 0; i < {sizes[name]}; i++)\n        {name}[i] = i * 31 + 7;"
        for name in _FILLED
        if name in named and not given
    ]
    numbers = [f"unsigned long {name} = {n};" for name, n in values.items() if name in named]
    arrays = [
        f"static _Alignas(64) unsigned char {name}[{max(1, size)}];"
        if not given.get(name)
        else f"_Alignas(64) unsigned char {name}[{size}] = {{{_numbers(given[name])}}};"
        for name, size in sizes.items()
        if name in named
    ]
    return _DIRECT_MAIN.format(
        arrays="\n".join(arrays),
        numbers=_indented(numbers),
        fills=_indented(fills),
        calls=_indented(calls),
        n_out=n_out,
    )


def _indented(lines: Sequence[str]) -> str:
    return "\n".join(f"    {line}" for line in lines)


def _repeats(anomaly: Anomaly, n_bytes: int) -> int:
    """Return how often a program calls the function, so that the time of a slow one shows."""
    if anomaly.kind is not Kind.SLOW:
        return 1
    return max(1, round(SLOW_CYCLES / max(1.0, anomaly.value * n_bytes)))
