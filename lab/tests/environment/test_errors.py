# SPDX-License-Identifier: MIT
from everycore.environment.errors import unknown_name


def test_near_names_are_offered() -> None:
    error = unknown_name("kernel", "x86_aesnl", ["x86_vaes512", "x86_aesni", "c_ref"])
    assert error.message == "unknown kernel 'x86_aesnl'"
    assert error.hint == "nearest: x86_aesni, x86_vaes512; valid: x86_vaes512, x86_aesni, c_ref"
    assert error.code == 2


def test_without_near_names_a_few_are_offered_all_and_of_many_some() -> None:
    many = [f"cpu{n}" for n in range(99)]
    assert unknown_name("CPU", "zzz", many).hint.count("cpu") == 4
    assert unknown_name("mode", "zzz", ["ctr", "cmac"]).hint == "valid: ctr, cmac"
