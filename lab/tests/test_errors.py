# SPDX-License-Identifier: MIT
from everycore.errors import unknown_name


def test_near_names_are_offered() -> None:
    error = unknown_name("kernel", "x86_aesnl", ["x86_vaes512", "x86_aesni", "c_ref"])
    assert error.message == "unknown kernel 'x86_aesnl'"
    assert error.hint.startswith("nearest: x86_aesni")
    assert error.code == 2


def test_without_near_names_all_are_offered() -> None:
    assert unknown_name("mode", "zzz", ["ctr", "cmac"]).hint == "valid: ctr, cmac"
