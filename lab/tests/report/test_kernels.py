# SPDX-License-Identifier: MIT
from harness_lines import BENCHES, KERNELS, ORDER, in_processes, lines

from everycore.model.protocol import Bench
from everycore.report import kernels as pages


def test_markdown_names_every_kernel_in_order() -> None:
    text = pages.registry_markdown(KERNELS)
    assert [row.split("`")[1] for row in text.splitlines()[2:]] == ORDER
    assert (
        "| `x86_aesni` | constant time | any | sse2 ssse3 sse4.1 aes | 8 | 496 | fips197 |" in text
    )
    assert len({row.count("|") for row in text.splitlines()}) == 1


def test_markdown_speeds_have_peers_below_the_kernels() -> None:
    peers = in_processes(lines("peers"))
    rows = pages.speed_markdown(KERNELS, [*peers, *BENCHES], "here").splitlines()
    assert rows[5] == "| openssl-3.0.22 | **0.250** |  |  |"


def test_markdown_speeds_have_their_source_and_the_best_in_bold() -> None:
    text = pages.speed_markdown(KERNELS, BENCHES, "AMD, tsc, gcc, commit abc")
    assert "| kernel | ctr | cbc-enc | cbc-enc-many x 32 |" in text
    assert "| `x86_aesni` | **0.250** | **3.50** | **0.250** |" in text
    assert text.endswith("AMD, tsc, gcc, commit abc\n")


def test_a_page_of_speeds_has_a_table_for_each_mode() -> None:
    order, five = [("aes", "b"), ("aes", "a"), ("ghash", "peer")], (1,) * 5
    helped = Bench("aes", "b", "ctr", 256, 100, 1, "streamed", "c", (50.0,) * 5, parts=five)
    benches = [
        Bench("aes", "a", "ctr", 256, 100, 1, "streamed", "c", (100.0,) * 5, parts=five),
        helped.replace(partner="a"),
        Bench("aes", "peer", "ctr", 256, 100, 1, "fenced", "c", (300.0,) * 5, parts=five),
        Bench("aes", "a", "setkey", 256, 0, 1, "streamed", "c", (70.0,) * 5, parts=five),
        Bench("aes", "a", "xts-enc", 256, 100, 1, "streamed", "c", ()),
    ]
    assert pages.speed_by_mode(order, benches).splitlines() == [
        "ctr, aes-256:",
        "",
        "| kernel | 100 B | 100 B alone, cycles |",
        "| --- | ---: | ---: |",
        "| b | 0.500+ |  |",
        "| a | 1.00 |  |",
        "| peer |  | 300 |",
        "",
        "+ one of the mode's two keys belongs to a.",
        "",
        "setkey, aes-256:",
        "",
        "| kernel | cycles |",
        "| --- | ---: |",
        "| a | 70.0 |",
    ]
