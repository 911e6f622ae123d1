# SPDX-License-Identifier: MIT
from world import data_text

from everycore.model import protocol
from everycore.model.protocol import Mode
from everycore.model.selection import selected_kernel

LINES = [protocol.parse(text) for text in data_text("resolve.jsonl").splitlines()]
MODES = [line for line in LINES if isinstance(line, Mode)]


def test_the_kernel_of_the_data_serves_both_halves_of_an_algorithm() -> None:
    assert selected_kernel("xts-dec", "aes", MODES) == "c_bitslice64"
    assert selected_kernel("cbc-enc", "aes", MODES) == "x86_aesni"
    assert selected_kernel("ocb", "aes", MODES) == ""


def test_gcm_is_served_by_its_own_kernel_or_by_a_pair_with_the_names_of_both() -> None:
    fused = Mode("gcm(aes)", ("any",), ("x86_vaes512",))
    pair = Mode("gcm(aes)", ("parallel", "any"), ("c_bitslice64", "c_ctmul64"))
    for mode in ("gcm-seal", "gcm-open", "gcm-seal-many"):
        assert selected_kernel(mode, "gcm", [fused]) == "x86_vaes512"
        assert selected_kernel(mode, "gcm", [pair]) == "c_bitslice64+c_ctmul64"


def test_gcm_siv_is_not_served_by_the_kernel_of_gcm() -> None:
    gcm = Mode("gcm(aes)", ("any",), ("x86_vaes512",))
    siv = Mode("gcm-siv(aes)", ("parallel", "any"), ("x86_aesni", "x86_clmul"))
    assert selected_kernel("gcm-siv-seal", "aes", [gcm, siv]) == "x86_aesni"
