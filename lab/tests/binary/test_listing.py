# SPDX-License-Identifier: MIT
"""The hot loop as text, two of them side by side, and differences as words."""

from pathlib import Path

import pytest
from compiled import COMPILERS, made

from everycore.binary.code import examine
from everycore.binary.listing import MOST_LINES, hot_loop, side_by_side
from everycore.matrix.code_differences import differences
from everycore.model.cells import Code, Listing

LOOP = """
extern const unsigned table[256];
extern unsigned seldom(unsigned);
unsigned hash(unsigned x, const unsigned *k, int n)
{
    for (int i = 0; i < n; i++) {
        x = table[x & 255] ^ x >> 8 ^ k[i];
        if (x == 77)
            x = seldom(x);
    }
    return x * 3;
}
"""


@pytest.mark.parametrize(("machine", "command"), COMPILERS)
def test_the_hot_loop_names_what_it_uses_and_where_it_goes(
    tmp_path: Path, machine: str, command: tuple[str, ...]
) -> None:
    listing = hot_loop(examine([made(tmp_path, command, source=LOOP)], ["hash"]))
    assert listing.symbol == "hash"
    labels = {line.rstrip(":") for line in listing.lines if line.endswith(":")}
    jumps = [line.split()[-1] for line in listing.lines if ".L" in line and not line.endswith(":")]
    assert labels & set(jumps), "a loop goes back to a label of its own"
    assert any("seldom" in line for line in listing.lines)
    assert 8 <= len(listing.lines) <= 60
    assert not any(line.split()[0].startswith("ret") for line in listing.lines)
    assert machine


def test_addresses_of_x86_are_written_with_their_symbols(tmp_path: Path) -> None:
    lines = hot_loop(examine([made(tmp_path, ("gcc",), "-fno-pie", source=LOOP)], ["hash"])).lines
    assert any("table(,%r" in line for line in lines)
    text = "int a[4]; void f(int i) { a[i] = 5; g(a, &a[1]); }"
    source = f"void g(int *, int *); {text}"
    lines = hot_loop(examine([made(tmp_path, ("gcc",), "-fno-pie", source=source)], ["f"])).lines
    assert any("$a" in line for line in lines)
    assert any("$a+0x4" in line for line in lines)
    assert any("$5, a(,%r" in line for line in lines)
    assert any(line.split() == ["jmp", "g"] for line in lines)


def test_without_loops_all_of_the_function_is_listed(tmp_path: Path) -> None:
    source = "int f(int *p) { p[0] += 1; p[1] ^= 2; return p[2]; }"
    examined = examine([made(tmp_path, ("gcc",), source=source)], ["f"])
    listing = hot_loop(examined)
    assert len(listing.lines) == examined.code.instructions


def test_a_listing_has_a_bound(tmp_path: Path) -> None:
    body = "".join(f"p[{i}] = p[{i + 7}] * {i + 3} + i;" for i in range(400))
    path = made(
        tmp_path,
        ("gcc",),
        source=f"void f(int *p, int n) {{ for (int i = 0; i < n; i++) {{ {body} }} }}",
    )
    lines = hot_loop(examine([path], ["f"])).lines
    assert len(lines) == MOST_LINES + 1
    assert lines[-1].endswith("more instructions")


def test_counts_of_a_trace_choose_the_loop_and_say_its_share(tmp_path: Path) -> None:
    source = """
    void f(int *p, int n, int m)
    {
        for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) p[i] += p[j] * 3;
        while (p[n] > 5) p[n] = p[n] / 7 ^ p[0];
    }
    """
    examined = examine([made(tmp_path, ("gcc",), source=source)], ["f"])
    (function,) = examined.functions
    divides = [
        instruction
        for instruction in function.code
        if instruction.mnemonic.startswith(("imul", "div", "idiv"))
    ]
    guessed = hot_loop(examined)
    loop = next(
        loop
        for loop in function.graph.loops
        if divides[-1] in [function.code[i] for i in function.graph.numbers(loop.blocks)]
        and len(loop.blocks) < 3
    )
    counts = {function.code[i].place: 100 for i in function.graph.numbers(loop.blocks)}
    counted = hot_loop(examined, counts, 2 * sum(counts.values()))  # as much elsewhere
    assert counted.lines != guessed.lines
    assert (counted.share, counted.executed) == (0.5, 2 * sum(counts.values()))
    assert (guessed.share, guessed.executed) == (None, None)


def test_side_by_side_aligns_equal_parts() -> None:
    first = Listing(
        "f", (".L1:", "    movdqa a, b", "    vpgatherdd c", "    add x, y", "    jne .L1")
    )
    second = Listing(
        "f", (".L1:", "    movdqa a, b", "    mov t, u", "    mov v, w", "    add z, y"), 0.5, 1234
    )
    assert side_by_side(first, second, width=63).splitlines() == [
        "f                                f: 50% of 1,234 executed in...",
        "-" * 63,
        ".L1:                             .L1:",
        "    movdqa a, b                      movdqa a, b",
        "    vpgatherdd c               |     mov t, u",
        "                               >     mov v, w",
        "    add x, y                   ~     add z, y",
        "    jne .L1                    <",
    ]


def test_side_by_side_leaves_out_what_is_equal_and_what_is_too_much() -> None:
    same = tuple(f"    op{i}" for i in range(100))
    first = Listing("f", (*same, "    mul", *same))
    second = Listing("f", (*same, *same))
    lines = side_by_side(first, second).splitlines()
    assert len(lines) == 2 + 7 + 2
    assert lines[2] == lines[-1] == "..."
    assert sum("<" in line for line in lines) == 1
    other = Listing("f", tuple(f"    other{i}" for i in range(200)))
    lines = side_by_side(first, other, most=20).splitlines()
    assert len(lines) == 2 + 20 + 1
    assert lines[-1] == "... 181 more lines"


def code(**changes: object) -> Code:
    values: dict[str, object] = {
        "code_bytes": 3000,
        "instructions": 800,
        "vector": 0,
        "gathers": 0,
        "calls": 0,
        "frame_bytes": 88,
        "mnemonics": {"mov": 400, "xor": 300, "movzbl": 100},
    }
    return Code(**{**values, **changes})  # type: ignore[arg-type]


def test_gathers_are_named_first() -> None:
    gathers = {"mov": 300, "xor": 100, "vpgatherdd": 64, "vmovd": 32}
    worse = code(gathers=64, vector=300, mnemonics=gathers)
    words = differences(worse, code())
    assert words[0] == "64 vpgatherdd appear"
    assert "32 vmovd appear" in words
    assert "300 vector instructions appear" in words


def test_a_frame_that_grew_is_told_with_the_instructions() -> None:
    worse = code(frame_bytes=4040, instructions=9000)
    assert differences(worse, code()) == (
        "frame 88 -> 4040 bytes",
        "9000 instructions instead of 800",
    )


def test_calls_that_appear_are_told() -> None:
    assert differences(code(calls=456), code()) == ("456 calls appear",)
    assert differences(code(calls=1), code()) == ("1 call appears",)
    assert differences(code(sanitizer_calls=12), code()) == (
        "12 calls of the sanitizer's handlers appear",
    )


def test_what_is_better_and_what_is_noise_is_not_told() -> None:
    assert differences(code(), code()) == ()
    assert differences(code(), code(frame_bytes=900, gathers=3, calls=9)) == ()
    noise = {"mov": 404, "xor": 300, "movzbl": 100, "lea": 3}
    assert differences(code(instructions=807, frame_bytes=104, mnemonics=noise), code()) == ()
    assert differences(code(frame_bytes=None), code()) == ()
