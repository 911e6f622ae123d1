# SPDX-License-Identifier: MIT
"""Findings of stored cells, as docs/evidence/regressions.md shows them."""

from everycore.model.cells import Anomaly, Cell, Code, Kind, Outcome, Result
from everycore.report.regressions_page import MOST_ROWS, SUMMARY, Machine, page, summary

GATHERS = ("-O2", "-march=x86-64-v4")


def cell(toolchain: str, *flags: str) -> Cell:
    return Cell("linux-6.1", "generic-cbc-enc", toolchain, flags or GATHERS)


def measured(where: Cell, cycles: float = 12.0) -> Result:
    version = where.toolchain.replace("-", " ") + ".1.0"
    runs = tuple((cycles,) * 5 for _ in range(5))
    return Result(where, Outcome.MEASURED, compiler=version, runs=runs)


def odd(where: Cell, **more: object) -> Anomaly:
    repaired = {"repair": ("-fno-slp-vectorize",), "causes": ("64 vpgatherdd",)}
    words = {**repaired, **more}
    return Anomaly(where, Kind.SLOW, 28.0, cell("clang-21"), 12.0, 2.3, "toolchain", **words)  # type: ignore[arg-type]


def results(*toolchains: str) -> dict[Cell, Result]:
    return {cell(name): measured(cell(name)) for name in toolchains}


def rows(text: str) -> list[str]:
    return [row for row in text.splitlines() if row.startswith("| 1") or row.startswith("| 2")]


def test_a_finding_has_its_cause_and_its_repair() -> None:
    known = results("clang-21", "clang-22", "clang-23")
    text = page(Machine("here", known, [odd(cell("clang-22"), passes=("SLPVectorizerPass",))]))
    (row,) = rows(text)
    assert "| clang 22 | `-O2 -march=x86-64-v4` | linux-6.1 generic-cbc-enc | 2.3x |" in row
    assert "| `-fno-slp-vectorize` | pass SLPVectorizerPass; 64 vpgatherdd |" in row
    assert "3 cells: 3 measured." in text
    assert "No wrong answers." in text


def test_newer_compilers_have_it_or_not() -> None:
    known = results("clang-21", "clang-22", "clang-23")
    assert rows(page(Machine("here", known, [odd(cell("clang-22"))])))[0].endswith(
        "| not since 23 | here |"
    )
    assert rows(page(Machine("here", known, [odd(cell("clang-23"))])))[0].endswith(
        "| have it | here |"
    )


def test_a_newer_compiler_counts_with_the_same_flags_alone() -> None:
    known = results("clang-21", "clang-22", "clang-24")
    other = cell("clang-23", "-O1")
    known[other] = measured(other)
    assert (
        "| not since 24 | here |" in rows(page(Machine("here", known, [odd(cell("clang-22"))])))[0]
    )


def test_without_a_repair_the_reason_stands_there() -> None:
    unrepaired = odd(cell("clang-21"), repair=(), causes=(), why_not="no flag repairs it")
    (row,) = rows(page(Machine("here", results("clang-21"), [unrepaired])))
    assert "| none: no flag repairs it | ? |" in row


def test_wrong_answers_come_before_all_else() -> None:
    known = results("clang-21")
    bad = Result(cell("gcc-9", "-O3"), Outcome.WRONG, "byte 3 differs", compiler="gcc 9.3.0")
    text = page(Machine("here", {**known, bad.cell: bad}, [odd(cell("clang-21"))]))
    assert "Wrong answers: 1 cells." in text
    assert text.index("byte 3 differs") < text.index("| 1 |")


def test_what_was_not_looked_into_stands_apart() -> None:
    slow, known = cell("clang-22"), results("clang-21", "clang-23")
    known[slow] = measured(slow, 28.0)
    text = page(Machine("here", known, []))
    assert "* clang 22 `-O2 -march=x86-64-v4` on linux-6.1 generic-cbc-enc: 2.3x" in text
    assert not rows(text)
    text = page(Machine("here", known, [odd(slow)]))
    assert len(rows(text)) == 1
    assert "not looked into" not in text


def test_nothing_odd_is_said() -> None:
    assert "Nothing is odd." in page(Machine("here", results("clang-21"), []))


def test_a_cause_that_another_machine_found_counts_for_the_same_code() -> None:
    slow = cell("clang-22")
    known = results("clang-21", "clang-23")
    known[slow] = measured(slow, 24.0).replace(digest="gathers")
    there = {slow: measured(slow, 28.0).replace(digest="gathers")}
    repaired = measured(cell("clang-22", *GATHERS, "-fno-slp-vectorize"))
    other = Machine("zen9", there, [odd(slow, repaired=repaired)])
    text = page(Machine("here", known, []), [other])
    (row,) = rows(text)
    assert row.endswith("| on zen9 |")
    assert "| 2.0x | `-fno-slp-vectorize` |" in row  # the ratio is that of this machine
    assert "not looked into" not in text
    there[slow] = there[slow].replace(digest="another")
    (row,) = rows(page(Machine("here", known, []), [other]))
    assert row.endswith("| on zen9, by the same flags |")


def test_of_other_code_a_cause_counts_for_the_same_flags_and_versions_in_between() -> None:
    slow = cell("clang-22")
    known = results("clang-18")
    known[slow] = measured(slow, 24.0)

    def explained(*toolchains: str, flags: tuple[str, ...] = GATHERS) -> bool:
        cells = [cell(name, *flags) for name in toolchains]
        there = {where: measured(where, 28.0) for where in cells}
        other = Machine("zen9", there, [odd(where) for where in cells])
        text = page(Machine("here", known, []), [other])
        assert bool(rows(text)) is ("not looked into" not in text)
        return bool(rows(text))

    assert explained("clang-22")
    assert explained("clang-21", "clang-23")
    assert not explained("clang-20", "clang-21")
    assert not explained("clang-23")
    assert not explained("gcc-22")
    assert not explained("clang-22", flags=("-O1",))


def test_what_one_flag_repairs_in_several_functions_is_one_row() -> None:
    first_cell, second_cell = cell("clang-22"), cell("clang-23").replace(subject="linux-7.2")
    inserts = cell("clang-23").replace(function="library-cbc-enc")
    known = results("clang-21") | {c: measured(c) for c in (first_cell, second_cell, inserts)}
    found = [odd(c, causes=("64 vpgatherdd appear",)) for c in (first_cell, second_cell)]
    text = page(Machine("here", known, [*found, odd(inserts, causes=("8 vpinsrd appear",))]))
    first, second = rows(text)
    assert "| clang 22-23 |" in first
    assert "linux-7.2 generic-cbc-enc (23: 2.3x)" in first
    assert "linux-6.1 generic-cbc-enc (22: 2.3x)" in first
    assert "| up to 2.3x |" in first
    assert "| linux-6.1 library-cbc-enc | 2.3x |" in second
    assert summary(Machine("here", known, found))[4] == "1"


def test_a_frame_that_the_repair_of_its_cycles_shrinks_has_that_cause() -> None:
    big, code = cell("gcc-7"), Code(1, 1, 0, 0, 0, 4000)
    known = results("gcc-9")
    known[big] = measured(big, 50.0).replace(digest="big", code=code)
    for frame, explained in ((88, True), (3000, False)):
        repaired = measured(cell("gcc-7", "-O2", "-fx")).replace(
            code=code.replace(frame_bytes=frame)
        )
        slow = odd(big, repaired=repaired, repair=("-fx",)).replace(neighbour=cell("gcc-9"))
        text = page(Machine("here", known, [slow]))
        assert ("frame of 4000 bytes" in "".join(rows(text))) is explained
        assert ("not looked into" in text) is not explained


def test_the_summary_counts_what_the_page_lists() -> None:
    slow, skipped = cell("clang-22"), cell("gcc-9")
    known = results("clang-21", "clang-23")
    known[slow] = measured(slow, 28.0)
    known[skipped] = Result(skipped, Outcome.SKIPPED, compiler="gcc 9.3.0")
    open_, done = Machine("here", known, []), Machine("here", known, [odd(slow)])
    assert summary(open_) == ("here", "3", "3", "0", "0", "0", "1")
    assert summary(done) == ("here", "3", "3", "0", "1", "0", "0")
    assert len(SUMMARY) == len(summary(done))


def test_the_page_lists_the_heaviest_causes_and_counts_the_rest() -> None:
    cells = [cell(f"clang-{n}", f"-O{n}") for n in range(1, MOST_ROWS + 3)]
    known = {where: measured(where) for where in cells}
    found = [odd(where).replace(repair=(f"-f{i}",)) for i, where in enumerate(cells)]
    text = page(Machine("here", known, found))
    assert "\n2 lighter causes are left out.\n" in text
    assert f"| {MOST_ROWS} | clang" in text
    assert f"| {MOST_ROWS + 1} | clang" not in text
    assert summary(Machine("here", known, found))[4] == str(MOST_ROWS + 2)
