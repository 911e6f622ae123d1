# SPDX-License-Identifier: MIT
"""Operations a second: of eight in one call, of primes with half of the bits, of no samples."""

import io

from rich.console import Console

from everycore.model.protocol import Bench
from everycore.report import speed


def line(mode: str, n_bytes: int, ns: tuple[float, ...], kernel: str = "x86_ifma") -> Bench:
    return Bench("bn", kernel, mode, 128, n_bytes, 1, "streamed", "tsc", (), ns)


def printed(*lines: Bench) -> list[list[str]]:
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(speed.speed_table(lines, "a machine"))
    return [row.split() for row in console.export_text().splitlines()]


def test_rates_are_those_of_single_operations() -> None:
    rows = printed(
        line("rsa-private", 384, (500e3,)),
        line("rsa-private", 256, (140e3, 160e3, 150e3)),
        line("rsa-private-batch", 256, (640e3,)),
        line("rsa-public", 256, ()),
        line("rsa-public", 256, (5e3,), kernel="c_limb64"),
    )
    two, eight, one = "150.0 us 80.0 us - 6666.7 12500.0 -", "- - 5.00 us - - 200000.0", "500.0 us"
    assert ["rsa", "2048", "x86_ifma", *two.split()] in rows
    assert ["rsa", "2048", "c_limb64", *eight.split()] in rows
    assert ["rsa", "3072", "x86_ifma", *one.split(), "-", "-", "2000.0", "-", "-"] in rows


def test_products_of_big_numbers_are_operations_too() -> None:
    rows = printed(line("mont-mul", 128, (110.0,)), line("exp", 128, (81.7e3,)))
    found = "0.11 us 81.7 us 9090909.1 12239.9"
    assert ["bn", "1024", "x86_ifma", *found.split()] in rows


def test_a_tested_prime_has_half_of_the_bits() -> None:
    assert ["prime", "1024", "x86_ifma", "100.0", "us", "10000.0"] in printed(
        line("prime-test", 256, (100e3,))
    )
