# SPDX-License-Identifier: MIT
from everycore.matrix.entries import entered


def test_what_others_call_is_an_entry_and_what_it_calls_is_none() -> None:
    places = ["main+0x4", "encrypt+0x0", "encrypt+0x4", "round+0x0", "encrypt+0x8", "main+0x8"]
    assert entered(places, {"encrypt", "round"}) == ("encrypt",)


def test_a_return_into_a_function_is_no_entry() -> None:
    places = ["glue+0x0", "outer+0x0", "memcpy+0x0", "outer+0x8", "glue+0x4", "other+0x0"]
    assert entered(places, {"outer", "other"}) == ("outer", "other")


def test_clones_have_the_name_of_their_source() -> None:
    assert entered(["encrypt.constprop.0+0x0 (a.c:3)"], {"encrypt.constprop.0"}) == ("encrypt",)
