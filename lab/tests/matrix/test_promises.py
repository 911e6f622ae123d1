# SPDX-License-Identifier: MIT
"""tools/compiler-promises: what it says of cells, and how it ends."""

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from library_reads import reads_all
from matrix.cells import cell, measured

from everycore.environment.decoding import encode_line
from everycore.matrix import promises
from everycore.matrix.promises import AS_FAST, PROMISED
from everycore.model import protocol
from everycore.model.cells import Head, Outcome, Result
from everycore.model.domain import Machine, Revision
from everycore.model.protocol import Bench
from everycore.model.run_lines import Run
from everycore.store import run_files

pytestmark = reads_all

TOOL = Path(__file__).parents[3] / "tools" / "compiler-promises"
HERE = Machine("Some CPU", family="6", model="1")
BYTES = 4096


def of(kernel: str, cycles: float, toolchain: str = "gcc-12", flags: str = "-O2") -> Result:
    return measured(cell(toolchain, flags, subject=kernel), cycles)


def level() -> list[Result]:
    """Every kernel with a promise, by two compilers with two sets of flags, all as fast."""
    return [
        of(kernel, 10.0, toolchain, flags)
        for kernel in PROMISED
        for toolchain in ("gcc-12", "clang-16")
        for flags in ("-O2", "-O3")
    ]


def tool(
    folder: Path,
    results: list[Result],
    docs: Mapping[str, float],
    machine: Machine = HERE,
    more: Sequence[Result] = (),
    crowded: bool = False,
) -> tuple[int, str]:
    """`docs`: cycles per byte of kernels, as a result file of this machine has them.

    `more`: results that are in files of their own. `crowded`: something used the core beside them.
    """
    head = Head("2026-01-02", "0.1", Revision("abc", False), HERE, "tsc", {})
    (folder / "m.jsonl").write_text("\n".join(map(encode_line, [head, *results])) + "\n")
    (folder / "results/here").mkdir(parents=True)
    run = Run(
        *(
            "bench",
            "2026-01-01",
            "0.1",
            Revision("abc", False),
            machine,
            "host",
            "gcc 12",
            ("-O2",),
        ),
        *("tsc", {}),
    )
    with run_files.Writer(folder / "results/here/bench.jsonl", run) as writer:
        for kernel, cycles in docs.items():
            samples = (cycles * BYTES,)
            line = Bench(
                "aes", kernel, "ctr", 256, BYTES, 1, "streamed", "tsc", samples, crowded=crowded
            )
            writer.write(line)
    argv = [sys.executable, str(TOOL), str(folder / "m.jsonl")]
    for number, result in enumerate(more):
        argv.append(str(folder / f"{number}.jsonl"))
        Path(argv[-1]).write_text("\n".join(map(encode_line, [head, result])) + "\n")
    argv += ["--results", str(folder / "results")]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def line_of(said: str, kernel: str) -> str:
    return next(line for line in said.splitlines() if line.startswith(f"| {kernel} "))


def test_kernels_that_are_as_fast_everywhere_keep_their_promises(tmp_path: Path) -> None:
    code, said = tool(tmp_path, level(), dict.fromkeys(PROMISED, 10.0))
    assert (code, "not kept" in said, "not judged" in said) == (0, False, False)
    assert "2 compilers: clang-16, gcc-12." in said


@pytest.mark.parametrize(("kernel", "factor"), [("c_ttable4", 1.16), ("c_bitslice64", 1.26)])
def test_a_compiler_whose_cells_are_too_far_apart_is_told(
    tmp_path: Path, kernel: str, factor: float
) -> None:
    slow = of(kernel, 10 * factor, "gcc-12", "-O3")
    code, said = tool(tmp_path, [*level(), slow], dict.fromkeys(PROMISED, 10.0))
    assert (code, said.count("not kept")) == (1, 1)
    assert "**not kept**" in line_of(said, kernel)


def disturbed(kernel: str, cycles: float) -> Result:
    runs = tuple((share * cycles,) * 5 for share in (0.75, 1.0, 1.25))
    return of(kernel, cycles, "gcc-12", "-Os").replace(runs=runs)


def test_a_disturbed_cell_that_is_within_the_promise_all_the_same_keeps_it(tmp_path: Path) -> None:
    code, said = tool(tmp_path, [*level(), disturbed("c_ttable4", 11.4)], {})
    assert (code, "not kept" in said) == (0, False)
    assert "Of 1 of 37 cells the figure is uncertain" in said
    assert "1.14" in line_of(said, "c_ttable4")


def test_of_a_disturbed_cell_above_the_promise_nobody_knows(tmp_path: Path) -> None:
    code, said = tool(tmp_path, [*level(), disturbed("c_ttable4", 20.0)], {})
    assert (code, "not kept" in said) == (1, False)
    assert "gcc-12 -Os on c_ttable4 ctr: uncertain, and above the promise" in said
    assert "| 4 |" in line_of(said, "c_ttable4")


def test_of_a_cell_in_several_files_the_lowest_figure_of_the_last_kernel_counts(
    tmp_path: Path,
) -> None:
    odd, new = disturbed("c_ttable4", 20.0), of("c_ttable4", 11.0, "gcc-12", "-Os")
    before, after = odd.replace(contents="01"), new.replace(contents="02")
    cases = (("a", (odd, new, odd), 0), ("b", (before, after), 0), ("c", (after, before), 1))
    for name, cells, code in cases:
        (tmp_path / name).mkdir()
        assert tool(tmp_path / name, level(), {}, more=cells)[0] == code


def test_slices_may_differ_more_between_compilers_than_within_one(tmp_path: Path) -> None:
    slow = [of("c_bitslice64", 14.0, "gcc-12", flags) for flags in ("-O2", "-O3")]
    assert tool(tmp_path, [*level(), *slow], {})[0] == 0


@pytest.mark.parametrize(("docs", "code"), [(10 / AS_FAST + 0.01, 0), (10 / AS_FAST - 0.01, 1)])
def test_the_best_cell_must_be_as_fast_as_the_docs_say(
    tmp_path: Path, docs: float, code: int
) -> None:
    ended, said = tool(tmp_path, level(), {**dict.fromkeys(PROMISED, 10.0), "c_ttable1": docs})
    assert ended == code
    assert ("**slower than the docs**" in line_of(said, "c_ttable1")) == bool(code)


@pytest.mark.parametrize(
    ("mode", "key_bits", "function", "of"),
    [("ghash", 128, "ghash", 256), ("qarma5-blocks", 128, "qarma5-many", 128)],
)
def test_a_mode_of_bench_is_a_function_of_the_matrix(
    mode: str, key_bits: int, function: str, of: int
) -> None:
    line = {"type": "bench", "primitive": "p", "kernel": "c_table8", "mode": mode, "bytes": BYTES}
    line |= {"key_bits": key_bits, "messages": 1, "style": "streamed", "counter": "tsc"}
    record = protocol.parse(json.dumps(line | {"cycles": [2 * BYTES], "ns": [], "dropped": 0}))
    code = Revision("abc", False)
    run = Run("bench", "", "", code, HERE, "host", "gcc 12", (), "tsc", {})
    head = Head("2026-01-02", "0.1", code, HERE, "tsc", {})
    found = promises.figures([run_files.Results(Path("x"), run, (record,))], head)
    assert found["c_table8", function, of, BYTES] == 2.0


def test_figures_of_another_machine_judge_nothing_and_that_is_said(tmp_path: Path) -> None:
    other = Machine("Other CPU")
    code, said = tool(tmp_path, level(), dict.fromkeys(PROMISED, 1.0), other)
    assert code == 0
    assert "speed not judged: c_bitslice64 ctr" in said


def test_a_kernel_that_was_not_measured_is_no_success(tmp_path: Path) -> None:
    code, said = tool(tmp_path, [r for r in level() if r.cell.subject != "c_table8"], {})
    assert (code, "c_table8 was not measured" in said) == (1, True)


def test_a_cell_that_failed_is_no_success(tmp_path: Path) -> None:
    failed = Result(cell("gcc-12", "-O2", subject="c_ttable4"), Outcome.WRONG, reason="a wrong one")
    code, said = tool(tmp_path, [*level(), failed], {})
    assert (code, "wrong: a wrong one" in said) == (1, True)


def test_cells_with_sanitizers_and_emulated_ones_promise_nothing(tmp_path: Path) -> None:
    slow = [
        of("c_ttable4", 99.0, "gcc-12", "-O2 -fsanitize=undefined"),
        measured(cell(subject="c_ttable4", target="qemu-aarch64"), 99.0),
    ]
    assert tool(tmp_path, [*level(), *slow], {})[0] == 0


@pytest.mark.parametrize("text", ["", '{"type": "mat'])
def test_a_file_without_a_line_is_named_and_is_no_broken_promise(tmp_path: Path, text: str) -> None:
    file = tmp_path / "none.jsonl"
    file.write_text(text)
    done = subprocess.run([sys.executable, TOOL, file], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"compiler-promises: {file} is no file of the matrix")


def test_a_figure_of_a_core_that_something_else_used_is_none_of_the_docs(tmp_path: Path) -> None:
    docs = {**dict.fromkeys(PROMISED, 10.0), "c_ttable1": 5.0}
    assert tool(tmp_path, level(), docs, crowded=True)[0] == 0
