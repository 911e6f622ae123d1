# SPDX-License-Identifier: MIT
from world import data_text

from everycore.model import protocol
from everycore.model.protocol import Mode
from everycore.model.selection import algorithm, selected_kernel, unit_of

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


def test_each_hash_has_a_kernel_for_all_of_its_modes() -> None:
    modes = [Mode("sha256", ("sha256",), ("x86_shani",)), Mode("sha512", ("sha512",), (None,))]
    for mode in ("sha256", "hmac-sha256", "sha256-many", "pbkdf2-sha256-many"):
        assert selected_kernel(mode, "sha2", modes) == "x86_shani"
    assert selected_kernel("pbkdf2-sha512", "sha2", modes) == ""
    assert selected_kernel("ctr", "sha2", [*modes, *MODES]) == ""
    assert selected_kernel("sha256", "aes", modes) == ""


def test_hashes_have_no_size_of_a_key_and_pbkdf2_has_iterations() -> None:
    assert algorithm("hmac-sha256", "sha2", 128) == "hmac-sha256"
    assert algorithm("gcm-seal", "gcm", 256) == "gcm-seal aes-256"
    assert [unit_of(mode) for mode in ("pbkdf2-sha256-many", "sha256")] == ["iteration", "byte"]
