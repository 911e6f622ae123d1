# SPDX-License-Identifier: MIT
"""How much compilers matter to our kernels, as docs/evidence/compilers.md shows it."""

from matrix.cells import cell, measured

from everycore.model.cells import Cell, Outcome, Result
from everycore.report import compilers_page

KERNEL = "c_ctmul64"


def results(*ones: Result) -> dict[Cell, Result]:
    return {result.cell: result for result in ones}


def of(toolchain: str, cycles: float, *flags: str, kernel: str = KERNEL) -> Result:
    result = measured(cell(toolchain, *(flags or ("-O2",)), subject=kernel), cycles)
    return result.replace(digest=f"{toolchain} {flags} {kernel}")


def rows(text: str, title: str) -> list[str]:
    """The rows of the table below a title."""
    part = text.partition(f"#### {title}")[2].partition("####")[0]
    return [line for line in part.splitlines() if line.startswith("| ")][2:]


def test_compilers_are_compared_with_the_best_one_at_the_same_flags() -> None:
    text = compilers_page.page(results(of("gcc-12", 12.0), of("clang-16", 10.0)))
    clang, gcc = rows(text, "Each compiler")
    assert clang.startswith("| clang 16 | 1 | 1.000 |")
    assert gcc.startswith("| gcc 12 | 1 | 1.200 | c_ctmul64 ")
    assert gcc.endswith("| 1.20 | 1 |")


def test_flags_are_compared_within_a_compiler() -> None:
    ones = [of("gcc-12", 12.0), of("gcc-12", 9.0, "-O3"), of("clang-16", 10.0)]
    (row,) = rows(compilers_page.page(results(*ones, of("clang-16", 11.0, "-O3"))), "Each set")
    assert row.startswith("| `-O3` | 2 | 0.908 | gcc-12, c_ctmul64")
    assert row.endswith("| 1.10 |")
    assert "| 0.75 | clang-16" in row


def test_the_fastest_process_counts_and_lone_ones_are_counted() -> None:
    disturbed = of("gcc-12", 12.0).replace(runs=((20.0,) * 5, (12.0,) * 5, (30.0,) * 5))
    level = of("clang-16", 12.0).replace(runs=((12.0,) * 5,) * 5)
    text = compilers_page.page(results(disturbed, level))
    assert all("| 1.000 |" in row for row in rows(text, "Each compiler"))
    assert "Cells where no second process came within 5% of the fastest one: 1." in text


def test_a_broken_promise_and_failures_are_told() -> None:
    ones = [of("gcc-12", 20.0), of("clang-16", 10.0)]
    wrong = of("gcc-13", 1.0).replace(outcome=Outcome.WRONG, runs=())
    text = compilers_page.page(results(*ones, wrong))
    assert "1 of them failed" in text
    assert "**not kept**" in rows(text, "The best and the worst")[0]


def test_code_of_others_has_no_place_there() -> None:
    assert not compilers_page.has_kernels(results(of("gcc-12", 1.0, kernel="linux-6.1")))
    assert compilers_page.has_kernels(results(of("gcc-12", 1.0)))
