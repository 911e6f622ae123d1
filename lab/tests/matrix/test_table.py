# SPDX-License-Identifier: MIT
import io
from collections.abc import Sequence

from rich.console import Console

from everycore.matrix.records import Cell, Code, Outcome, Result
from everycore.matrix.table import tables


def result(toolchain: str, flags: str, cycles: float = 0.0, **more: object) -> Result:
    cell = Cell("linux", "cbc-enc", toolchain, tuple(flags.split()))
    runs = ((cycles,) * 5,) if cycles else ()
    values: dict[str, object] = {"outcome": Outcome.MEASURED, "runs": runs, **more}
    return Result(cell, **values)  # type: ignore[arg-type]


def shown(results: Sequence[Result], width: int = 100) -> str:
    console = Console(file=io.StringIO(), width=width)
    for one in tables(results, width, "a machine"):
        console.print(one)
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


def test_what_is_skipped_has_its_reason_once_and_no_column_of_its_own() -> None:
    skipped = [
        result(f"clang-{n}", "-O2 -fno-x", outcome=Outcome.SKIPPED, reason="flags of gcc alone")
        for n in (15, 16)
    ]
    text = shown([result("gcc-12", "-O2", 12.5), *skipped])
    assert "2 flags of gcc alone" in text
    assert "-fno-x" not in text
    assert not any(line.startswith("clang") for line in text.splitlines())


def test_wide_frames_and_crowded_cores_are_marked() -> None:
    code = Code(10, 10, 0, 0, 0, frame_bytes=4000)
    assert "12.50!" in shown([result("gcc-12", "-O2", 12.5, code=code)])
    assert "~12.50" in shown([result("gcc-12", "-O2", 12.5, crowded=1)])


def test_more_columns_than_fit_are_further_tables() -> None:
    text = shown([result("gcc-12", f"-O2 -DN={n}", 12.5) for n in range(20)], width=60)
    assert text.count("Compiler") > 2
    assert max(map(len, text.splitlines())) <= 60
