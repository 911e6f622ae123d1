# SPDX-License-Identifier: MIT
from harness_lines import KERNELS, render

from everycore.report import kernels_table


def test_the_list_says_what_is_missing() -> None:
    text = render(kernels_table.kernels_table(KERNELS, "x86", 120), 120)
    assert "no gfni" in text
    assert "only on a64" in text
    assert max(map(len, render(kernels_table.kernels_table(KERNELS, "x86", 80)).splitlines())) <= 80


def test_both_directions_of_an_operation_are_one_word() -> None:
    assert (
        kernels_table.fused(["ctr32", "cbc_encrypt", "xts_encrypt", "xts_decrypt"])
        == "ctr32 cbc-enc xts"
    )
    every = [
        "ctr32",
        "cbc_encrypt",
        "cbc_decrypt",
        "xts_encrypt",
        "xts_decrypt",
        "cbc_encrypt_many",
    ]
    assert kernels_table.fused(every) == "ctr32 cbc xts many"
    assert kernels_table.fused(["cbc_encrypt", "cbcmac"]) == "cbc-enc cbcmac"
    assert kernels_table.fused(["cbc_decrypt"]) == "cbc-dec"
    assert kernels_table.fused([]) == ""
