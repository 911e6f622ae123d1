# SPDX-License-Identifier: MIT
"""Natively traced programs: every count and address here is known beforehand."""

import platform
import shlex
import shutil
import sys
from collections.abc import Callable
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from world import DATA, Lab

from everycore.compile.binaries import build_tool
from everycore.compile.toolchains import find_compiler
from everycore.ct.taint import open_watched
from everycore.environment.context import SystemRunner
from everycore.environment.errors import EverycoreError
from everycore.model.domain import Target
from everycore.trace.native import STEPPER, _failure, native
from everycore.trace.record import (
    Access,
    Mode,
    Run,
    Trace,
    UntraceableError,
    first_difference,
)

SECRETS = 4
Traced = Callable[..., Run]


def cpu_flags() -> set[str]:
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.is_file() else []
    return set(next((line for line in lines if line.startswith("flags")), "").split())


def needs(*flags: str) -> pytest.MarkDecorator:
    absent = set(flags) - cpu_flags()
    return pytest.mark.skipif(bool(absent), reason=f"this CPU has no {' '.join(sorted(absent))}")


def compiled(folder: Path, *flags: str) -> Path:
    """The traced program; the tests of this file are skipped where it cannot be traced."""
    if platform.machine() != "x86_64":
        pytest.skip("native tracing knows x86-64 alone")
    if not shutil.which("cc"):
        pytest.skip("no C compiler: apt-get install gcc libc6-dev")
    binary = folder / "traced"
    sources = [str(DATA / name) for name in ("traced.c", "traced_x86.S")]
    done = SystemRunner().run(["cc", "-g", "-O2", *flags, "-o", str(binary), *sources])
    assert done.code == 0, done.stderr
    return binary


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(tmp_path_factory.mktemp("traced"))


@pytest.fixture
def traced(real_lab: Lab, program: Path) -> Traced:
    def trace(case: str, begin: str | None = None, end: str | None = None, **options: Any) -> Run:
        argv = [str(program), case]
        options = {"keep": True, "env": {"PATH": "/usr/bin:/bin"}, **options}
        try:
            return native(real_lab.context(), argv, begin or case, end, **options)
        except UntraceableError as error:
            pytest.skip(str(error))

    return trace


def data(trace: Trace) -> list[Access]:
    """Its accesses but the last, which is the return's."""
    return list(trace.data_accesses())[:-1]


def parts(run: Run) -> str:
    found = first_difference(run.traces[0], run.traces[1])
    return str(found)


# ---- What is counted


def test_instructions_between_accesses_are_counted(traced: Traced) -> None:
    run = traced("counts")
    assert [(t.instructions, t.accesses) for t in run.traces] == [(701, 1)] * SECRETS
    pcs = list(run.traces[0].pcs())
    assert pcs == list(range(pcs[0], pcs[0] + 700 * 5 + 1, 5))


@pytest.mark.parametrize("copies", [False, True])
def test_a_region_may_end_between_two_instructions(traced: Traced, copies: bool) -> None:
    run = traced("counts", "counts", "counts_middle", copies=copies)
    assert [(t.instructions, t.accesses) for t in run.traces] == [(350, 0)] * SECRETS
    run = traced("copies", "copies", "copies_bytes", copies=copies)
    assert [(t.instructions, t.accesses) for t in run.traces] == [(3, 0)] * SECRETS
    run = traced("counts", "counts_middle", "region_end", copies=copies)
    assert {t.instructions for t in run.traces} == {run.traces[0].instructions}
    assert run.traces[0].instructions > 351


def test_calls_and_returns_are_accesses_to_the_stack(traced: Traced) -> None:
    first = traced("calls").traces[0]
    assert (first.instructions, first.accesses) == (8, 7)
    accesses = list(first.data_accesses())
    entry = accesses[-1].address
    assert [entry - a.address for a in accesses] == [8, 16, 16, 16, 16, 8, 0]
    assert all(a.size == 8 for a in accesses)


@pytest.mark.parametrize("copies", [False, True])
def test_a_return_may_drop_arguments(traced: Traced, copies: bool) -> None:
    run = traced("calls_with_arguments", copies=copies)
    assert [(t.instructions, t.accesses) for t in run.traces] == [(5, 5)] * SECRETS


def test_a_loop_without_accesses_is_counted(traced: Traced) -> None:
    run = traced("loops")
    assert [t.instructions for t in run.traces] == [3, 5, 7, 9]
    assert parts(run).startswith("branch at loops+0x4")


def test_more_is_counted_than_the_ring_of_the_copies_holds(traced: Traced) -> None:
    run = traced("spins", keep=[3])
    assert [(t.instructions, t.accesses) for t in run.traces] == [(300_002, 100_001)] * SECRETS
    assert all(t.same(run.traces[0]) for t in run.traces)
    assert len({a.address for a in data(run.traces[3])}) == 1


def test_a_recursion_ends_with_its_outermost_call(traced: Traced) -> None:
    run = traced("recurses")
    counts = [t.instructions for t in run.traces]
    assert len(run.traces) == SECRETS
    assert counts[3] - counts[2] == counts[2] - counts[1] > 0


def test_an_indirect_jump_is_followed(traced: Traced) -> None:
    run = traced("switches")
    assert [t.instructions for t in run.traces] == [10, 8, 6, 4]
    assert parts(run).startswith("branch at switches+0xb")


# ---- Where data is


def test_a_repeated_copy_is_one_instruction_with_all_its_bytes(traced: Traced) -> None:
    run = traced("copies")
    for secret, trace in enumerate(run.traces):
        to, source = data(trace)
        assert trace.instructions == 5
        assert (to.mode, source.mode) == (Mode.WRITE, Mode.READ)
        assert (to.size, source.size, to.address - source.address) == (100 + secret,) * 2 + (1024,)


def test_a_copy_downwards_begins_at_its_lowest_byte(traced: Traced) -> None:
    run = traced("copies_down")
    (_, upward), (to, source) = data(traced("copies").traces[0]), data(run.traces[1])
    assert (to.size, source.size) == (40, 40)
    # The word at 1024 is the first of five.
    assert source.address == upward.address + 1024 - 4 * 8
    assert to.address == source.address + 1024


def test_a_search_reads_as_far_as_it_went(traced: Traced) -> None:
    run = traced("searches")
    assert [[a.size for a in data(t)] for t in run.traces] == [[1], [2], [3], [4]]
    assert {t.instructions for t in run.traces} == {5}


def test_a_prefetch_shows_its_address(traced: Traced) -> None:
    found = [data(t)[0].address for t in traced("prefetches").traces]
    assert [a - found[0] for a in found] == [0, 64, 128, 192]


def test_segments_have_their_base(traced: Traced) -> None:
    first, second = data(traced("reads_fs").traces[0])
    assert first.address > 0xFFFF
    assert second.address - first.address == 0x28


@needs("avx2")
def test_a_gather_reads_the_elements_its_mask_names(traced: Traced) -> None:
    run = traced("gathers")
    for secret, trace in enumerate(run.traces):
        table = data(run.traces[0])[0].address - 8
        assert [a.address - table for a in data(trace)] == [8 + 4 * secret] * 6
    assert parts(run).startswith("address at gathers+")


@needs("avx2")
def test_a_gather_has_no_more_elements_than_its_smaller_register(traced: Traced) -> None:
    assert [a.size for a in data(traced("gathers_two").traces[0])] == [4, 4, 8, 8]


@needs("avx2")
def test_masks_may_be_signs(traced: Traced) -> None:
    for secret, trace in enumerate(traced("stores_by_sign").traces):
        odd = secret & 1
        assert [(a.size, a.mask) for a in data(trace)] == [
            (16, odd << 1),
            (16, odd),
            (16, odd << 1),
        ]


@needs("avx512bw")
def test_a_scatter_writes_the_elements_its_mask_names(traced: Traced) -> None:
    run = traced("scatters")
    for secret, trace in enumerate(run.traces):
        start = data(run.traces[0])[0].address
        assert [a.address - start for a in data(trace)] == [-8 * secret] * 2
        assert {(a.size, a.mode) for a in data(trace)} == {(8, Mode.WRITE)}


@needs("avx512bw")
def test_a_masked_store_shows_its_mask(traced: Traced) -> None:
    run = traced("stores_masked")
    assert [[(a.size, a.mask) for a in data(t)] for t in run.traces] == [
        [(64, secret)] for secret in range(SECRETS)
    ]
    assert "by the mask 0x1" in parts(run)


@needs("avx512bw")
def test_bits_of_a_mask_beyond_its_elements_do_not_matter(traced: Traced) -> None:
    for trace in traced("masks_with_more").traces:
        assert [(a.size, a.mask) for a in data(trace)] == [(32, 7), (4, 7), (16, 7)]


@pytest.mark.parametrize(
    ("case", "size", "operands", "too_far"),
    [
        pytest.param("stays_near", 64, 2, [2, 2, 2, 0], marks=needs("avx512bw")),
        pytest.param("stays_near_by_sign", 32, 2, [2, 0, 0, 0], marks=needs("avx2")),
    ],
)
def test_bytes_masked_off_on_a_page_without_access_are_told(
    traced: Traced, case: str, size: int, operands: int, too_far: list[int]
) -> None:
    run = traced(case)
    assert run.code == 7
    assert [t.masked for t in run.traces] == [operands] * SECRETS
    assert [t.far.count if t.far else 0 for t in run.traces] == too_far
    first = run.traces[0].far
    assert first
    assert first.size == size
    assert first.address % 4096 == 4096 - 16
    assert run.traces[0].program.image.place(first.pc).startswith(f"{case}+")


@needs("avx512bw")
def test_a_masked_operand_on_its_own_page_is_counted_and_not_far(traced: Traced) -> None:
    for trace in traced("stores_masked").traces:
        assert (trace.masked, trace.far) == (1, None)
    assert all(t.masked == 0 for t in traced("counts").traces)


@pytest.mark.parametrize(
    "case",
    [
        "faults",
        pytest.param("faults_avx2", marks=needs("avx2")),
        pytest.param(
            "faults_avx512",
            marks=needs("avx512_vbmi2", "avx512ifma", "vaes", "vpclmulqdq", "gfni"),
        ),
    ],
)
def test_every_form_of_operand_is_where_the_cpu_says(traced: Traced, case: str) -> None:
    run = traced(case, keep=[0], copies=False)
    base, *said = (int(word, 0) for word in run.stdout.split())
    seen = [a for a in run.traces[0].data_accesses() if base <= a.address < base + 8192]
    first_of_each = [next(group) for _, group in groupby(seen, lambda a: a.pc)]
    # For MASKMOVDQU, Intel's CPUs name the second half of the operand whatever the mask.
    by_mask = [a.size == 16 and a.mask == 0xFF for a in first_of_each]
    halves = [
        8 if b and s - a.address + base == 8 else 0
        for a, b, s in zip(first_of_each, by_mask, said, strict=True)
    ]
    assert [a.address - base + half for a, half in zip(first_of_each, halves, strict=True)] == said
    assert said


# ---- Regions and verdicts


def test_markers_cut_as_many_regions_as_were_run(traced: Traced) -> None:
    run = traced("scans", "region_begin", "region_end")
    assert (len(run.traces), run.code) == (SECRETS, 7)
    assert all(t.same(run.traces[0]) for t in run.traces)
    assert first_difference(run.traces[0], run.traces[3]) is None
    assert run.traces[0].accesses > 256 / 16  # vectors have 16 bytes


def test_secret_branches_and_indices_are_told_with_their_place(traced: Traced) -> None:
    branches = traced("branches", "region_begin", "region_end")
    assert [t.same(branches.traces[0]) for t in branches.traces] == [True, False, True, False]
    assert "branches+" in parts(branches)
    assert "(traced.c:" in parts(branches)
    looks_up = traced("looks_up", "region_begin", "region_end")
    assert [t.same(looks_up.traces[0]) for t in looks_up.traces] == [True, False, False, False]
    assert parts(looks_up).startswith("address at looks_up+")


def test_runs_of_the_same_arguments_are_the_same(traced: Traced) -> None:
    first, second = traced("scans").traces, traced("scans").traces
    assert all(a.same(b) for a, b in zip(first, second, strict=True))


CASES = (
    "counts", "calls", "loops", "copies", "copies_down", "searches", "switches", "prefetches",
    "reads_fs", "scans", "recurses", "values", "stack_values",
)  # fmt: skip


@pytest.mark.parametrize(
    "case",
    [
        *CASES,
        pytest.param("gathers", marks=needs("avx2")),
        pytest.param("stores_masked", marks=needs("avx512bw")),
    ],
)
def test_copies_of_code_do_what_the_code_does(traced: Traced, case: str) -> None:
    slow, fast = traced(case, copies=False), traced(case)
    assert slow.code == fast.code
    assert [t.instructions for t in slow.traces] == [t.instructions for t in fast.traces]
    for a, b in zip(slow.traces, fast.traces, strict=True):
        assert first_difference(a, b) is None
        assert a.same(b)


def test_the_main_program_is_the_same_with_and_without_copies(traced: Traced) -> None:
    """All of main: calls into the C library, its string functions, system calls."""
    slow, fast = (traced("searches", "main", copies=copies) for copies in (False, True))
    assert slow.traces[0].same(fast.traces[0])
    assert slow.stdout == fast.stdout


def test_a_program_of_a_fixed_place_without_libraries_is_traced(
    real_lab: Lab, traced: Traced, tmp_path: Path
) -> None:
    traced("loops")  # or skipped
    argv = [str(compiled(tmp_path, "-static", "-no-pie")), "loops"]
    slow, fast = (native(real_lab.context(), argv, "loops", copies=c) for c in (False, True))
    assert [t.instructions for t in fast.traces] == [3, 5, 7, 9]
    assert [t.same(u) for t, u in zip(slow.traces, fast.traces, strict=True)] == [True] * SECRETS


def test_a_kernel_is_the_same_with_and_without_copies(real_lab: Lab, traced: Traced) -> None:
    traced("loops")  # or skipped
    context = real_lab.context()
    binary = open_watched(context, "host", None, None).build.binary
    argv = [str(binary), "ct", "--kernel", "c_ttable4", "--operation", "ccm-open", "--bytes", "40"]
    slow, fast = (native(context, argv, "ct_begin", "ct_end", copies=c) for c in (False, True))
    assert slow.code == fast.code == 0
    assert [t.same(u) for t, u in zip(slow.traces, fast.traces, strict=True)] == [True] * 3


def test_only_regions_asked_for_are_kept(traced: Traced) -> None:
    digested, kept = traced("scans", keep=[1]).traces[:2]
    assert digested.same(kept)
    assert sum(1 for _ in kept.pcs()) == kept.instructions
    assert sum(1 for _ in kept.data_accesses()) == kept.accesses
    with pytest.raises(EverycoreError, match="not kept"):
        list(digested.pcs())


def test_the_end_of_the_program_is_told(traced: Traced) -> None:
    run = traced("crashes", "region_begin", "region_end")
    assert (len(run.traces), run.code) == (2, -4)  # SIGILL in the third region


# ---- Errors


def test_an_unknown_function_is_named_with_those_near_to_it(traced: Traced) -> None:
    with pytest.raises(EverycoreError, match="region_begun") as error:
        traced("scans", "region_begun")
    assert "region_begin" in error.value.hint


def test_an_endless_region_is_an_error(traced: Traced) -> None:
    with pytest.raises(EverycoreError, match="more than 100 instructions"):
        traced("counts", limit=100)


def test_what_is_no_program_is_an_error(real_lab: Lab, program: Path) -> None:
    with pytest.raises(EverycoreError, match="cannot start"):
        native(real_lab.context(), [str(program.parent / "absent")], "main")
    with pytest.raises(EverycoreError, match="cannot start"):
        native(real_lab.context(), [str(DATA / "traced.c")], "main")


def test_a_refusal_is_told_from_a_failure() -> None:
    assert isinstance(_failure("ptrace: Operation not permitted"), UntraceableError)
    assert not isinstance(_failure("ptrace: No such process"), UntraceableError)


def test_the_stepper_has_no_warnings(real_lab: Lab) -> None:
    context = real_lab.context()
    compiler = find_compiler(context, Target("host", ""), None, (), "")
    flags = (
        "-O1",
        "-Wall",
        "-Wextra",
        "-Wconversion",
        "-Wshadow",
        "-Wvla",
        "-Wundef",
        "-Wcast-align",
        "-Werror",
    )
    if platform.machine() != "x86_64":
        pytest.skip("the stepper knows x86-64 alone")
    sources = [context.package / "trace" / name for name in STEPPER]
    assert build_tool(context, compiler, sources, flags).is_file()


def test_a_program_is_traced_where_proc_cannot_be_written() -> None:
    own_proc = "mount -t proc -o ro proc /proc && "
    within = ["unshare", "--mount", "--pid", "--fork", "sh", "-c"]
    if SystemRunner().run([*within, f"{own_proc}true"]).code != 0:
        pytest.skip("this user may not mount /proc")
    asked = "copies_of_code_do_what or runs_of_the_same"
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", __file__, "-k", asked]
    done = SystemRunner().run(
        [*within, f"{own_proc}! touch /proc/self/comm && {shlex.join(words)}"]
    )
    assert done.code == 0, done.stdout[-2000:]
    assert done.stdout.startswith(".....")
