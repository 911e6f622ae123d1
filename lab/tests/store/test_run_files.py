# SPDX-License-Identifier: MIT
import json
import lzma
import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest
from world import data_text

from everycore.environment.decoding import encode_line
from everycore.environment.errors import EverycoreError, LostError, SignalError
from everycore.model.domain import Machine, Revision
from everycore.model.protocol import parse
from everycore.model.run_lines import Run
from everycore.store import run_files
from everycore.store.run_files import Writer

RUN = Run(
    command="bench",
    date="2026-01-02T03:04:05+00:00",
    everycore="0.1.0",
    revision=Revision("0123456789ab", True),
    machine=Machine("AMD EPYC", family="26", model="2"),
    target="host",
    compiler="gcc 12.2.0",
    flags=("-O2",),
    counter="tsc+addchain",
    options={"key_bits": 256},
)
LINES = [parse(line) for line in data_text("bench.jsonl").splitlines()[1:]]


def write(path: Path, run: Run = RUN) -> Path:
    with Writer(path, run) as writer:
        for line in LINES:
            writer.write(line)
    return path


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    results = run_files.read(write(tmp_path / "a.jsonl"))
    assert results.run == RUN
    assert len(list(results.benches())) == len(LINES)
    assert [p.name for p in tmp_path.iterdir()] == ["a.jsonl"]


def test_a_packed_file_reads_as_the_one_it_was_made_of(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl")
    packed = tmp_path / "a.jsonl.xz"
    packed.write_bytes(lzma.compress(path.read_bytes()))
    assert run_files.read(packed).records == run_files.read(path).records
    assert [results.run for results in run_files.read_each(packed)] == [RUN]
    packed.write_bytes(packed.read_bytes()[:-20])
    with pytest.raises(EverycoreError, match=r"cannot unpack .*a\.jsonl\.xz"):
        run_files.read(packed)


def test_only_raw_samples_are_stored(tmp_path: Path) -> None:
    lines = write(tmp_path / "a.jsonl").read_text().splitlines()
    assert [parse(line) for line in lines[1:-1]] == LINES


def test_results_are_never_overwritten(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl")
    before = path.read_text()
    with pytest.raises(EverycoreError, match="exists"):
        write(path)
    assert path.read_text() == before


def test_the_folder_of_a_named_file_is_made(tmp_path: Path) -> None:
    assert write(tmp_path / "deep" / "results" / "a.jsonl").exists()
    with pytest.raises(
        EverycoreError, match=r"cannot make .*a\.jsonl: (File exists|Not a directory)"
    ):
        write(tmp_path / "deep" / "results" / "a.jsonl" / "b.jsonl")


def test_the_folder_of_results_is_made(tmp_path: Path) -> None:
    when = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    path = run_files.new_path(tmp_path / "deep" / "results", when, RUN.revision, "bench")
    assert run_files.read(write(path)).run == RUN
    with pytest.raises(EverycoreError, match="cannot make"):
        run_files.new_path(path / "results", when, RUN.revision, "bench")


def test_a_file_that_appears_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    with pytest.raises(EverycoreError, match="appeared"), Writer(path, RUN):
        path.write_text("precious")
    assert path.read_text() == "precious"


def test_a_run_whose_place_is_lost_leaves_a_partial_result(tmp_path: Path) -> None:
    def lose(path: Path) -> None:
        with Writer(path, RUN) as writer:
            writer.write(LINES[0])
            raise LostError("the board is gone")

    path = tmp_path / "a.jsonl"
    with pytest.raises(LostError):
        lose(path)
    (kept,) = tmp_path.iterdir()
    assert kept == run_files.partial_path(path)
    with pytest.raises(EverycoreError, match="is a partial result: the board is gone"):
        run_files.read(kept)
    results = run_files.read(kept, partial=True)
    assert (results.cut_off, len(results.records)) == ("the board is gone", 1)
    assert run_files.latest(tmp_path, 2) == ([], [])
    assert run_files.partial_of(path, RUN) == results
    assert run_files.latest_partial(tmp_path, RUN.replace(date="2027")) == results
    for other in (RUN.replace(flags=("-O3",)), RUN.replace(options={"key_bits": 128})):
        assert run_files.latest_partial(tmp_path, other) is None
        with pytest.raises(EverycoreError, match="the beginning of another run"):
            run_files.partial_of(path, other)


def test_a_run_does_not_go_on_with_that_of_another_board(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    first, second = (
        RUN.replace(machine=RUN.machine.replace(installation=name)) for name in ("aa", "bb")
    )
    write(path, first).rename(run_files.partial_path(path))
    with pytest.raises(EverycoreError, match="model 2: aa, and this is bb") as error:
        run_files.partial_of(path, second)
    assert (error.value.code, "stays as it is" in error.value.hint) == (2, True)
    assert run_files.latest_partial(tmp_path, second) is None
    assert run_files.partial_path(path).exists()


def interrupt(path: Path) -> None:
    with Writer(path, RUN) as writer:
        writer.write(LINES[0])
        raise SignalError(signal.SIGTERM)


def test_a_run_that_is_interrupted_leaves_a_partial_result(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    with pytest.raises(SignalError) as error:
        interrupt(path)
    assert error.value.__notes__ == [f"what was measured is in {run_files.partial_path(path)}"]
    assert list(tmp_path.iterdir()) == [run_files.partial_path(path)]
    found = run_files.partial_of(path, RUN)
    assert found
    assert (found.cut_off, len(found.records)) == ("it was interrupted", 1)


def test_a_run_that_goes_on_and_is_interrupted_at_once_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    longer = run_files.partial_path(
        write(tmp_path / "b.jsonl").rename(run_files.partial_path(path))
    )
    text = run_files.partial_path(path).read_text()
    with pytest.raises(SignalError):
        interrupt(path)
    assert not longer.exists()
    assert run_files.partial_path(path).read_text() == text


def test_a_run_that_was_killed_leaves_a_partial_result_and_blocks_no_name(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    measured = [encode_line(line) for line in LINES[:2]]
    part = tmp_path / "a.jsonl.part"
    part.write_text("\n".join([encode_line(RUN), *measured, measured[0][:40]]))
    found = run_files.partial_of(path, RUN)
    assert found
    assert (found.cut_off, [encode_line(r) for r in found.records]) == ("it was killed", measured)
    part.write_text(encode_line(RUN) + "\n" + measured[0] + "\n")
    assert run_files.latest_partial(tmp_path, RUN) == found  # the earlier one has more
    part.write_text("half a li")
    assert run_files.read(write(path)).run == RUN
    assert not part.exists()


@pytest.mark.parametrize("error", [LostError("the board is gone"), RuntimeError()])
def test_a_run_that_ends_before_its_first_line_leaves_nothing(
    tmp_path: Path, error: Exception
) -> None:
    with pytest.raises(type(error)), Writer(tmp_path / "a.jsonl", RUN):
        raise error
    assert not list(tmp_path.iterdir())


@contextmanager
def full_disk(room_bytes: int) -> Iterator[None]:
    """Files cannot become larger in this block."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_full_disk_is_named_and_leaves_no_file(tmp_path: Path) -> None:
    message = r"cannot write .*a\.jsonl: File too large"
    with full_disk(100), pytest.raises(EverycoreError, match=message):
        write(tmp_path / "a.jsonl")
    assert not list(tmp_path.iterdir())


def test_a_disk_that_fills_up_costs_no_line_that_was_written(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    measured = [encode_line(line) for line in LINES]
    room = len(encode_line(RUN)) + len(measured[0]) + 20
    with full_disk(room), pytest.raises(EverycoreError, match="File too large") as error:
        write(path)
    (note,) = error.value.__notes__
    assert note == f"what was measured is in {tmp_path / 'a.jsonl.part'}"
    found = run_files.partial_of(path, RUN)
    assert found
    assert [encode_line(record) for record in found.records] == measured[:1]


def test_two_runs_in_a_second_have_two_names(tmp_path: Path) -> None:
    when = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    first = write(run_files.new_path(tmp_path, when, RUN.revision, "bench"))
    second = run_files.new_path(tmp_path, when, RUN.revision, "bench")
    assert first.name == "20260102-030405-0123456789ab-bench.jsonl"
    assert second.name == "20260102-030405-0123456789ab-bench-2.jsonl"


@pytest.mark.parametrize("kept", [0, 1, 3, None])
def test_a_file_cut_short_is_named(tmp_path: Path, kept: int | None) -> None:
    path = write(tmp_path / "a.jsonl")
    text = path.read_text()
    path.write_text(text[:-10] if kept is None else "\n".join(text.splitlines()[:kept]))
    with pytest.raises(EverycoreError, match=r"a\.jsonl is cut short"):
        run_files.read(path)


def test_a_file_of_another_format_is_named(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl")
    head, *rest = path.read_text().splitlines()
    path.write_text("\n".join([json.dumps(json.loads(head) | {"format": 2}), *rest]))
    with pytest.raises(EverycoreError, match=r"a\.jsonl has format 2"):
        run_files.read(path)


@pytest.mark.parametrize(
    ("member", "value"),
    [("machine", 5), ("machine", {"cpu": 5}), ("options", []), ("flags", "-O2"), ("date", None)],
)
def test_a_first_line_with_other_types_is_named(tmp_path: Path, member: str, value: object) -> None:
    path = write(tmp_path / "a.jsonl")
    head, *rest = path.read_text().splitlines()
    path.write_text("\n".join([json.dumps(json.loads(head) | {member: value}), *rest]))
    with pytest.raises(EverycoreError, match=r"a\.jsonl, line 1: "):
        run_files.read(path)


def test_other_files_are_not_taken_for_results(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"type":"other"}\n')
    with pytest.raises(EverycoreError, match="no result file"):
        run_files.read(path)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(EverycoreError, match="not UTF-8"):
        run_files.read(path)
    with pytest.raises(EverycoreError, match="cannot read"):
        run_files.read(tmp_path / "none")


def test_latest_passes_over_what_cannot_be_read(tmp_path: Path) -> None:
    for name in ("1.jsonl", "2.jsonl", "3.jsonl"):
        write(tmp_path / name)
    (tmp_path / "4.jsonl").write_text("")
    found, unreadable = run_files.latest(tmp_path, 2)
    assert [r.path.name for r in found] == ["2.jsonl", "3.jsonl"]
    assert "4.jsonl" in unreadable[0].message


def test_two_runs_at_once_do_not_write_one_file(tmp_path: Path) -> None:
    when = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    path = run_files.new_path(tmp_path, when, RUN.revision, "bench")
    with Writer(path, RUN):
        assert run_files.new_path(tmp_path, when, RUN.revision, "bench") != path
        with pytest.raises(EverycoreError, match="another run"):
            write(path)
    assert run_files.read(path).run == RUN


def test_the_source_of_numbers_says_that_the_tree_had_changes() -> None:
    assert RUN.source() == (
        "AMD EPYC family 26 model 2, tsc+addchain, gcc 12.2.0 -O2, commit 0123456789ab+changes,"
        " 2026-01-02"
    )


def joined(path: Path, *runs: Run) -> Path:
    """A file that joins runs, the oldest first, each with lines of its own."""
    text = ""
    for number, run in enumerate(runs):
        run_path = path.with_name(f"{path.stem}-{number}.jsonl")
        text += write(run_path, run).read_text(encoding="utf-8")
    path.write_text(text, encoding="utf-8")
    return path


def test_runs_of_one_host_that_are_joined_are_read_as_one(tmp_path: Path) -> None:
    older = RUN.replace(date="2025-12-01T00:00:00+00:00", revision=Revision("fedcba9876", False))
    found = run_files.read(joined(tmp_path / "a.jsonl", older, RUN))
    assert found.run == RUN
    assert found.earlier == (older,)
    assert len(found.records) == 2 * len(run_files.read(tmp_path / "a-0.jsonl").records)
    assert found.source() == f"{RUN.source()}; other rows of commit fedcba9876 (2025-12-01)"


def test_runs_of_two_hosts_or_commands_are_no_one_run(tmp_path: Path) -> None:
    others = RUN.replace(command="peers"), RUN.replace(machine=Machine("Another CPU"))
    for number, other in enumerate(others):
        path = joined(tmp_path / f"{number}.jsonl", other, RUN)
        with pytest.raises(EverycoreError, match="joins runs of several commands"):
            run_files.read(path)
        assert len(run_files.read_each(path)) == 2
