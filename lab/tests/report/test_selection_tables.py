# SPDX-License-Identifier: MIT
from harness_lines import MODES, ORDER, RESOLVED, render

from everycore.model import protocol
from everycore.model.protocol import Kernel, Resolved
from everycore.report import check_tables, kernels_table, selection_tables


def test_every_kernel_stands_somewhere_in_the_selection() -> None:
    standing = {name: selection_tables.selection_status(name, RESOLVED[0]) for name in ORDER}
    assert standing == {
        "x86_vaes512": "no tune-zmm",
        "x86_gfni": "no gfni",
        "a64_ce": "only for a64",
        "x86_aesni": "selected",
        "c_bitslice64": "after x86_aesni",
        "c_ttable4": "variable time",
        "c_ref": "variable time",
    }


def test_reasons_are_words() -> None:
    assert selection_tables.why_not("timing", "vartime") == "variable time"
    assert selection_tables.why_not("use", "serial") == "made for serial use"


def test_two_kernels_of_an_algorithm_are_named_with_their_uses() -> None:
    text = [selection_tables.resolved_as(mode) for mode in MODES]
    assert text[0] == "x86_aesni"
    assert text[2] == "c_bitslice64 (parallel), x86_aesni (serial)"
    assert text[3] == "x86_aesni (parallel), nothing (serial)"


def test_kernels_of_one_name_and_two_primitives_are_told_apart() -> None:
    both = [
        Kernel(primitive, "c_ref", 0, "other", "ANY", (), timing, "any", True, True)
        for primitive, timing in (("aes", "vartime"), ("ghash", "ct"))
    ]
    uses = [
        Resolved(
            "x86", (), "ct", "aes", "any", "", (protocol.Skipped("c_ref", "timing", "vartime"),)
        ),
        Resolved("x86", (), "ct", "ghash", "any", "c_ref"),
    ]
    aes, ghash = render(selection_tables.selection_table(both, uses, "Why")).split("Why: ghash")
    assert "variable time" in aes
    assert "selected" not in aes
    assert "selected" in ghash
    assert "variable time" not in ghash
    checks = [protocol.Check(k.primitive, "c_ref", "p", "pass", 7) for k in both]
    rows = [row for row in render(check_tables.checks_table(checks)).splitlines() if "c_ref" in row]
    assert [row.split()[-1] for row in rows] == ["7", "7"]
    assert render(kernels_table.kernels_table(both, "x86", 80)).count("Kernels of ") == 2
