# SPDX-License-Identifier: MIT
import io
from collections.abc import Sequence

from rich.console import Console

from everycore.model.cells import Anomaly, Cell, Code, Kind, Outcome, Result
from everycore.report.matrix_tables import tables


def result(toolchain: str, flags: str, cycles: float = 0.0, **more: object) -> Result:
    cell = Cell("linux", "cbc-enc", toolchain, tuple(flags.split()))
    runs = ((cycles,) * 5,) * 3 if cycles else ()
    values: dict[str, object] = {"outcome": Outcome.MEASURED, "runs": runs, **more}
    return Result(cell, **values)  # type: ignore[arg-type]


def shown(results: Sequence[Result], width: int = 100) -> str:
    console = Console(file=io.StringIO(), width=width)
    for table in tables(results, width, "a machine"):
        console.print(table)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_compilers_are_rows_by_version_and_flags_are_columns() -> None:
    text = shown(
        [result("gcc-12", "-O2", 12.5), result("gcc-9", "-O2", 13.0), result("gcc-9", "-O1", 14.0)]
    )
    rows = [line.split() for line in text.splitlines() if line.startswith("gcc")]
    assert rows == [["gcc-9", "13.00", "14.00"], ["gcc-12", "12.50"]]


def test_wrong_answers_come_first_and_have_no_figure() -> None:
    wrong = result("gcc-12", "-O3", outcome=Outcome.WRONG, reason="the output is wrong")
    crash = result("gcc-12", "-O1", outcome=Outcome.CRASHED, reason="SIGSEGV")
    text = shown([crash, result("gcc-12", "-O2", 12.5), wrong])
    assert text.startswith("WRONG: gcc-12 -O3 on linux cbc-enc: the output is wrong")
    assert text.index("WRONG:") < text.index("CRASHED:") < text.index("12.50")


def test_below_a_wrong_answer_is_the_figure_of_the_repaired_cell() -> None:
    wrong = result("gcc-12", "-O3", outcome=Outcome.WRONG, reason="the output is wrong")
    repaired = result("gcc-12", "-O3 -fwrapv", 13.25)
    known = Anomaly(
        wrong.cell, Kind.WRONG, 0.0, None, None, 1.0, repair=("-fwrapv",), repaired=repaired
    )
    results = [result("gcc-12", "-O2", 12.5), wrong]
    assert "matrix regressions --resume" in shown(results)
    console = Console(file=io.StringIO(), width=100)
    for table in tables(results, 100, "a machine", {wrong.cell: known}):
        console.print(table)
    assert isinstance(console.file, io.StringIO)
    lines = console.file.getvalue().splitlines()
    row = next(i for i, line in enumerate(lines) if line.startswith("gcc-12"))
    assert lines[row].split() == ["gcc-12", "12.50", "WRONG"]
    assert lines[row + 1].split() == ["(13.25)"]
    assert any("makes its answers right, -fwrapv" in line for line in lines)
    assert not any("matrix regressions --resume" in line for line in lines)


def test_what_is_skipped_has_its_reason_once_and_no_column_of_its_own() -> None:
    skipped = [
        result(f"clang-{n}", "-O2 -fno-x", outcome=Outcome.SKIPPED, reason="flags of gcc alone")
        for n in (15, 16)
    ]
    text = shown([result("gcc-12", "-O2", 12.5), *skipped])
    assert "2 flags of gcc alone" in text
    assert "-fno-x" not in text
    assert not any(line.startswith("clang") for line in text.splitlines())


def test_wide_frames_and_uncertain_cells_are_marked() -> None:
    code = Code(10, 10, 0, 0, 0, frame_bytes=4000)
    assert "12.50!" in shown([result("gcc-12", "-O2", 12.5, code=code)])
    wide = result("gcc-12", "-O2", runs=((12.0,), (12.5,), (13.0,)))
    assert "~12.50" in shown([wide])
    sure = wide.replace(runs=((12.4,), (12.5,), (12.6,)))
    assert "~12.50" not in shown([sure])
    assert "~12.50" in shown([sure.replace(runs=((12.5,) * 100,))]), "one process says nothing"
    assert "~12.50" in shown([sure.replace(shared=(0, 1, 2))])
    assert "~12.50" not in shown([sure.replace(shared=(0, 1))])


def test_equal_code_has_one_figure_and_is_shown_as_equal() -> None:
    """Each program's processes are of all its cells; emulated ones and others' stay apart."""
    flags = {"-O2": (10.0, "a"), "-O3": (11.0, "a"), "-Os": (14.0, "b"), "-Ofast": (10.6, "a")}
    own = [
        result("gcc-12", name, cycles, digest=digest, flag_set=name.removeprefix("-"))
        for name, (cycles, digest) in flags.items()
    ]
    elsewhere = result("gcc-13", "-O2", 99.0, digest="a", flag_set="O2")
    other = elsewhere.replace(cell=elsewhere.cell.replace(function="ctr"))
    text = shown([*own, other])
    (row,) = (line for line in text.splitlines() if line.startswith("gcc-12"))
    assert row.split() == ["gcc-12", "~10.60", "14.00", "=", "O2", "=", "O2"]
    assert "99.00" in text


def test_more_columns_than_fit_are_further_tables() -> None:
    text = shown([result("gcc-12", f"-O2 -DN={n}", 12.5) for n in range(20)], width=60)
    assert text.count("Compiler") > 2
    assert max(map(len, text.splitlines())) <= 60


def by_hand(function: str, cycles: float, computes: str = "cbc-enc", **more: str) -> Result:
    cell = Cell("openssl-x86", function, "gcc-12", ("-O2",), **more)  # type: ignore[arg-type]
    runs = ((cycles,) * 5,) * 3
    return Result(cell, Outcome.MEASURED, runs=runs, computes=computes, is_assembly=True)


def test_hand_written_assembly_is_a_row_beside_the_c_that_computes_the_same() -> None:
    own = [result(f"gcc-{n}", "-O2", 12.5, computes="cbc-enc") for n in (11, 12)]
    text = shown([*own, by_hand("table", 9.5), by_hand("aesni", 0.63), by_hand("c", 7.7, "ctr")])
    table, other = text.split("openssl-x86 c,")
    rows = [line.split() for line in table.splitlines()]
    at = rows.index(["assembly,", "0.63"])
    assert rows[at : at + 4] == [
        ["assembly,", "0.63"],
        ["openssl-x86"],
        ["aesni"],
        ["assembly,", "9.50"],
    ]
    assert "Hand-written assembly" in table
    assert "7.70" in other  # nothing here computes the same: a table of its own
    assert text.count("9.50") == 1


def test_assembly_of_another_target_is_no_reference() -> None:
    own = result("gcc-12", "-O2", 12.5, computes="cbc-enc")
    assert "assembly," not in shown([own, by_hand("table", 9.5, target="qemu-haswell")])


def test_the_key_of_a_known_mode_is_told_and_none_of_a_function_that_may_have_none() -> None:
    assert "256-bit key, " in shown([result("gcc-12", "-O2", 12.5, computes="cbc-enc")])
    assert "key" not in shown([result("gcc-12", "-O2", 12.5)])
