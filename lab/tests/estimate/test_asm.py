# SPDX-License-Identifier: MIT
"""Reading the text of A64 instructions."""

import pytest

from everycore.estimate.asm import Kind, classes, decode, registers


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("v0.16b, { v1.16b, v2.16b }, v3.16b", "v0 v1 v2 v3"),
        ("{v30.16b-v1.16b}", "v30 v31 v0 v1"),  # wraps around
        ("x0, wzr, xzr, sp", "x0 sp"),  # zero is no register
        ("q5, [x2, w3, uxtw #2]", "v5 x2 x3"),
    ],
)
def test_registers_are_those_of_the_architecture(text: str, names: str) -> None:
    assert registers(text) == tuple(names.split())


@pytest.mark.parametrize(
    ("text", "kind", "writes", "updates", "reads"),
    [
        ("add x0, x1, x2", Kind.ALU, "x0", "", "x1 x2"),
        ("subs x0, x0, #1", Kind.ALU, "x0 nzcv", "", "x0"),
        ("cmp w1, w2", Kind.ALU, "nzcv", "", "x1 x2"),
        ("csel x0, x1, x2, ne", Kind.ALU, "x0", "", "x1 x2 nzcv"),
        ("eor v0.16b, v1.16b, v2.16b", Kind.VECTOR, "v0", "", "v1 v2"),
        ("aese v0.16b, v9.16b", Kind.VECTOR, "v0", "", "v9 v0"),
        ("tbx v0.16b, { v1.16b, v2.16b }, v3.16b", Kind.VECTOR, "v0", "", "v1 v2 v3 v0"),
        ("mov v3.d[1], x4", Kind.VECTOR, "v3", "", "x4 v3"),
        ("ldp q0, q1, [x2], #0x20", Kind.LOAD, "v0 v1", "x2", "x2"),
        ("ldr x3, [x4, #0x8]!", Kind.LOAD, "x3", "x4", "x4"),
        ("ld1 { v0.16b, v1.16b }, [x1], x2", Kind.LOAD, "v0 v1", "x1", "x1 x2"),
        ("ld1 { v0.s }[1], [x1]", Kind.LOAD, "v0", "", "v0 x1"),
        ("stp x29, x30, [sp, #-0x10]!", Kind.STORE, "", "sp", "x29 x30 sp"),
        ("b.ne target", Kind.BRANCH, "", "", "nzcv"),
        ("cbnz w3, target", Kind.BRANCH, "", "", "x3"),
        ("bic w0, w1, w2", Kind.ALU, "x0", "", "x1 x2"),  # begins like a branch
        ("prfm pldl1keep, [x3]", Kind.LOAD, "", "", "x3"),
    ],
)
def test_what_an_instruction_reads_and_writes(
    text: str, kind: Kind, writes: str, updates: str, reads: str
) -> None:
    instruction = decode(text)
    assert instruction.kind is kind
    assert instruction.writes == tuple(writes.split())
    assert instruction.updates == tuple(updates.split())
    assert instruction.reads == tuple(reads.split())


def test_groups_tell_the_two_widths_of_carry_less_multiplication_apart() -> None:
    assert decode("pmull v0.8h, v1.8b, v2.8b").group == "pmull8"
    assert decode("pmull2 v0.1q, v1.2d, v2.2d").group == "pmull64"
    assert decode("tbl v0.16b, { v1.16b, v2.16b, v3.16b, v4.16b }, v5.16b").registers == 4


def test_only_aesmc_on_the_register_of_its_aese_is_a_pair() -> None:
    aese = decode("aese v1.16b, v9.16b")
    assert decode("aesmc v1.16b, v1.16b").is_pair_of(aese)
    assert not decode("aesmc v2.16b, v1.16b").is_pair_of(aese)
    assert not decode("aesimc v1.16b, v1.16b").is_pair_of(aese)


def test_classes_count_moves_besides_their_kind() -> None:
    texts = ("mov v0.16b, v1.16b", "mov x0, x1", "mov x0, #0x1", "ldr q0, [x1]", "ret")
    count = classes([decode(text) for text in texts])
    assert count == {"scalar": 2, "vector": 1, "load": 1, "store": 0, "branch": 1, "move": 2}
