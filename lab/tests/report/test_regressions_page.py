# SPDX-License-Identifier: MIT
"""Findings of stored cells, as docs/REGRESSIONS.md shows them."""

from everycore.model.cells import Anomaly, Cell, Kind, Outcome, Result
from everycore.report import regressions_page

GATHERS = ("-O2", "-march=x86-64-v4")


def cell(toolchain: str, *flags: str) -> Cell:
    return Cell("linux-6.1", "generic-cbc-enc", toolchain, flags or GATHERS)


def measured(one: Cell, cycles: float = 12.0) -> Result:
    version = one.toolchain.replace("-", " ") + ".1.0"
    runs = tuple((cycles,) * 5 for _ in range(5))
    return Result(one, Outcome.MEASURED, compiler=version, runs=runs)


def odd(one: Cell, **more: object) -> Anomaly:
    repaired = {"repair": ("-fno-slp-vectorize",), "causes": ("64 vpgatherdd",)}
    words = {**repaired, **more}
    return Anomaly(one, Kind.SLOW, 28.0, cell("clang-21"), 12.0, 2.3, "toolchain", **words)  # type: ignore[arg-type]


def results(*toolchains: str) -> dict[Cell, Result]:
    return {cell(name): measured(cell(name)) for name in toolchains}


def rows(text: str) -> list[str]:
    return [row for row in text.splitlines() if row.startswith("| 1") or row.startswith("| 2")]


def test_a_finding_has_cause_repair_and_the_command_that_measures_it_again() -> None:
    known = results("clang-21", "clang-22", "clang-23")
    text = regressions_page.page(known, [odd(cell("clang-22"), passes=("SLPVectorizerPass",))])
    (row,) = rows(text)
    assert "| clang 22 | `-O2 -march=x86-64-v4` | linux-6.1 generic-cbc-enc | 2.3x |" in row
    assert "| `-fno-slp-vectorize` | pass SLPVectorizerPass; 64 vpgatherdd |" in row
    assert "1. `everycore matrix --subject linux-6.1 --function generic-cbc-enc" in text
    assert "3 cells: 3 measured." in text
    assert "No wrong answers." in text


def test_newer_compilers_have_it_or_not() -> None:
    known = results("clang-21", "clang-22", "clang-23")
    assert rows(regressions_page.page(known, [odd(cell("clang-22"))]))[0].endswith(
        "| not since 23 |"
    )
    assert rows(regressions_page.page(known, [odd(cell("clang-23"))]))[0].endswith("| have it |")


def test_without_a_repair_the_reason_stands_there() -> None:
    one = odd(cell("clang-21"), repair=(), causes=(), why_not="no flag repairs it")
    (row,) = rows(regressions_page.page(results("clang-21"), [one]))
    assert "| none: no flag repairs it | ? |" in row


def test_wrong_answers_come_before_all_else() -> None:
    known = results("clang-21")
    bad = Result(cell("gcc-9", "-O3"), Outcome.WRONG, "byte 3 differs", compiler="gcc 9.3.0")
    text = regressions_page.page({**known, bad.cell: bad}, [odd(cell("clang-21"))])
    assert "Wrong answers: 1 cells." in text
    assert text.index("byte 3 differs") < text.index("| 1 |")


def test_what_was_not_looked_into_stands_apart() -> None:
    slow, known = cell("clang-22"), results("clang-21", "clang-23")
    known[slow] = measured(slow, 28.0)
    text = regressions_page.page(known, [])
    assert "* clang 22 `-O2 -march=x86-64-v4` on linux-6.1 generic-cbc-enc: 2.3x" in text
    assert not rows(text)
    text = regressions_page.page(known, [odd(slow)])
    assert len(rows(text)) == 1
    assert "not looked into" not in text


def test_nothing_odd_is_said() -> None:
    assert "Nothing is odd." in regressions_page.page(results("clang-21"), [])
