# SPDX-License-Identifier: MIT
import lzma
import os
import signal
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from everycore.environment.decoding import encode_line
from everycore.environment.errors import EverycoreError, SignalError
from everycore.model.cells import Anomaly, Cell, Head, Kind, Line, Outcome, Result
from everycore.model.domain import Machine, Revision
from everycore.store import matrix_files

HEAD = Head(
    date="2026-01-02T03:04:05+00:00",
    everycore="1",
    revision=Revision("0123456789ab", False),
    machine=Machine("a cpu"),
    counter="tsc",
    options={},
)


def result(number: int, outcome: Outcome = Outcome.MEASURED) -> Result:
    cell = Cell("s", "f", f"gcc-{number}", ("-O2",))
    return Result(cell, outcome, runs=((1.0, 2.0),), counter="tsc")


def write(path: Path, *lines: Line, head: Head = HEAD, resume: bool = False) -> matrix_files.Stored:
    with matrix_files.Writer(path, head, resume) as writer:
        for line in lines:
            writer.write(line)
    return matrix_files.read(path)


def test_lines_come_back_and_more_are_added(tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    assert write(path, result(1)).lines == (HEAD, result(1))
    assert write(path, result(2), resume=True).lines == (HEAD, result(1), result(2))


def test_a_file_is_not_added_to_unasked(tmp_path: Path) -> None:
    write(tmp_path / "m.jsonl", result(1))
    with pytest.raises(EverycoreError, match="exists") as error:
        write(tmp_path / "m.jsonl", result(2))
    assert "--resume" in error.value.hint


def test_half_a_line_of_a_killed_run_is_dropped_and_told(tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    write(path, result(1))
    half = encode_line(result(2))[:40]
    with path.open("a") as file:
        file.write(half)
    assert matrix_files.read(path).dropped == half
    with matrix_files.Writer(path, HEAD, resume=True) as writer:
        assert writer.stored.dropped == half
        assert [*writer.stored.done()] == [result(1).cell]
        writer.write(result(2))
    assert matrix_files.read(path) == matrix_files.Stored(path, (HEAD, result(1), result(2)))


def test_what_a_killed_process_wrote_is_there(tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    script = (
        "import sys; sys.path[:0] = [sys.argv[2]]\n"
        "import os, signal\n"
        "from pathlib import Path\n"
        "from test_matrix_files import HEAD, matrix_files, result\n"
        "writer = matrix_files.Writer(Path(sys.argv[1]), HEAD).__enter__()\n"
        "writer.write(result(1)); writer.write(result(2))\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, path, Path(__file__).parent], check=False)
    assert done.returncode == -signal.SIGKILL
    assert len(matrix_files.read(path).done()) == 2
    assert len(write(path, result(3), resume=True).done()) == 3


def test_two_runs_on_one_file_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    with (
        matrix_files.Writer(path, HEAD),
        pytest.raises(EverycoreError, match="another run writes"),
        matrix_files.Writer(path, HEAD, resume=True),
    ):
        pass
    assert write(path, result(1), resume=True).done()  # the lock went with its run


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full: Linux has one")
def test_a_full_disk_is_said(tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    path.symlink_to("/dev/full")
    with (
        pytest.raises(EverycoreError, match="No space left") as error,
        matrix_files.Writer(path, HEAD),
    ):
        pass
    assert "--resume" in error.value.hint


def test_an_interrupted_run_says_what_is_stored_and_how_to_go_on(tmp_path: Path) -> None:
    path = tmp_path / "my results.jsonl"

    def interrupt() -> None:
        with matrix_files.Writer(path, HEAD, resume=True) as writer:
            writer.write(result(2))
            raise SignalError(signal.SIGTERM)

    write(path, result(1))
    with pytest.raises(SignalError) as error:
        interrupt()
    (note,) = error.value.__notes__
    assert note.startswith(f"2 cells are in {path};")
    assert f"--resume --out '{path}'" in note
    assert len(matrix_files.read(path).results) == 2


def test_cells_of_another_machine_or_counter_are_not_mixed_in(tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    write(path, result(1))
    with pytest.raises(EverycoreError, match="on a cpu, this would be on another"):
        write(path, head=HEAD.replace(machine=Machine("another")), resume=True)
    with pytest.raises(EverycoreError, match="with the counter"):
        write(path, head=HEAD.replace(counter="perf:cycles"), resume=True)


def test_a_board_that_is_another_one_by_now_is_named_and_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    boards = [HEAD.replace(machine=HEAD.machine.replace(installation=letter)) for letter in "ab"]
    write(path, result(1), head=boards[0])
    before = path.read_bytes()
    with pytest.raises(EverycoreError, match="another host of this model, a cpu: a, and this is b"):
        write(path, result(2), head=boards[1], resume=True)
    assert path.read_bytes() == before
    assert len(write(path, result(2), head=boards[0], resume=True).results) == 2


def test_another_revision_gets_a_head_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    write(path, result(1))
    newer = HEAD.replace(revision=Revision("ba9876543210", False))
    assert write(path, result(2), head=newer, resume=True).heads == (HEAD, newer)


COUNTED = result(1, Outcome.COUNTED).replace(runs=())


@pytest.mark.parametrize(
    ("lines", "asked", "done"),
    [
        ((result(1, Outcome.SKIPPED), result(2, Outcome.CRASHED)), {}, (2,)),
        # Answers that were compared by fewer inputs; of one there are none.
        ((result(1), result(2, Outcome.WRONG)), {}, (1, 2)),
        ((result(1), result(2, Outcome.WRONG)), {"sweep": 1}, ()),
        ((result(3, Outcome.NOT_COMPILED), result(4).replace(sweep=1)), {"sweep": 1}, (3, 4)),
        # Cells without counts, once packages can read them; of the second nothing can be read.
        ((result(1).replace(packages_missing=True), result(2)), {}, (1, 2)),
        ((result(1).replace(packages_missing=True), result(2)), {"can_count": True}, (2,)),
        # Estimates are wanted; a cell with none of any core was asked for them.
        ((COUNTED, result(2)), {}, (1, 2)),
        ((COUNTED, result(2)), {"estimate": True}, (2,)),
        ((COUNTED.replace(estimates={}), result(2)), {"estimate": True}, (1, 2)),
    ],
)
def test_cells_are_looked_at_again_for_what_they_lack(
    tmp_path: Path, lines: tuple[Line, ...], asked: dict[str, Any], done: tuple[int, ...]
) -> None:
    stored = write(tmp_path / "m.jsonl", *lines)
    assert [cell.toolchain for cell in stored.done(**asked)] == [
        f"gcc-{version}" for version in done
    ]


def test_a_newer_format_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    path.write_text(encode_line(HEAD.replace(format=2)) + "\n" + encode_line(result(1)) + "\n")
    with pytest.raises(EverycoreError, match=r"m\.jsonl: it has format 2, .* reads format 1"):
        matrix_files.read(path)


@pytest.mark.parametrize(
    "first", ['{"type":"run","format":1,"command":"bench"}', '{"type":"run"}', "[1]", "text"]
)
def test_nobody_is_told_to_remove_other_files(tmp_path: Path, first: str) -> None:
    path = tmp_path / "bench.jsonl"
    path.write_text(first + "\n")
    with pytest.raises(EverycoreError, match="is no file of the matrix") as error:
        write(path, resume=True)
    assert ("`everycore bench`" in error.value.message) == ("bench" in first)
    assert "remove" not in error.value.hint
    assert path.read_text() == first + "\n"


@pytest.mark.parametrize("text", ["notes of mine", "{", '{"type":"run","format":1', "\xff"])
def test_a_line_of_another_file_is_not_dropped_as_half_of_one(tmp_path: Path, text: str) -> None:
    path = tmp_path / "notes.jsonl"
    path.write_text(text)
    if text == "{":  # it may be the beginning of a first line that a killed run wrote
        assert matrix_files.read(path).dropped == text
        return
    with pytest.raises(EverycoreError, match="is no file of the matrix"):
        write(path, resume=True)
    assert path.read_text() == text


def test_files_that_are_no_matrix_are_named(tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    path.write_text('{"type":"run"}\n')
    with pytest.raises(EverycoreError, match="no file of the matrix"):
        matrix_files.read(path)
    path.write_text(encode_line(HEAD) + "\nhello\n")
    with pytest.raises(EverycoreError, match="line 2"):
        matrix_files.read(path)
    with pytest.raises(EverycoreError, match="cannot read"):
        matrix_files.read(tmp_path / "none")


def test_new_files_have_names_of_their_own_and_the_newest_is_found(tmp_path: Path) -> None:
    when = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    with pytest.raises(EverycoreError, match="no run to go on with"):
        matrix_files.newest(tmp_path)
    first = matrix_files.new_path(tmp_path, when)
    write(first)
    second = matrix_files.new_path(tmp_path, when)
    write(second)
    assert first != second
    os.utime(first, (1, 1))
    assert matrix_files.newest(tmp_path) == second


def test_a_packed_file_is_read_and_not_added_to(tmp_path: Path) -> None:
    plain = tmp_path / "m.jsonl"
    write(plain, result(1))
    packed = tmp_path / "m.jsonl.xz"
    packed.write_bytes(lzma.compress(plain.read_bytes()))
    assert matrix_files.read(packed).lines == matrix_files.read(plain).lines
    with pytest.raises(EverycoreError, match="packed"):
        write(packed, result(2), resume=True)
    packed.write_bytes(packed.read_bytes()[:-20])
    with pytest.raises(EverycoreError, match=r"cannot unpack .*m\.jsonl\.xz"):
        matrix_files.read(packed)


def test_what_is_odd_of_a_compiler_whose_name_is_another_s_by_now_is_no_longer(
    tmp_path: Path,
) -> None:
    def by(compiler: str, outcome: Outcome = Outcome.MEASURED) -> Result:
        return result(1, outcome).replace(compiler=compiler)

    odd = Anomaly(result(1).cell, Kind.SLOW, 2.0, None, None, 2.0)
    for number, (lines, stands) in enumerate(
        [
            ((by("gcc 1.1"), odd), True),
            ((by("gcc 1.1"), odd, by("gcc 1.1"), by("")), True),
            ((by("gcc 1.1"), odd, by("gcc 1.2")), False),
            ((by("gcc 1.1"), odd, by("", Outcome.SKIPPED), by("gcc 1.2")), False),
            ((by("gcc 1.1"), odd, by("gcc 1.2"), odd), True),
            ((by("").replace(contents="a"), odd, by("").replace(contents="a")), True),
            ((by("").replace(contents="a"), odd, by("").replace(contents="b")), False),
        ]
    ):
        stored = write(tmp_path / f"{number}.jsonl", *lines)
        assert stored.anomalies == [odd] * stands


def test_a_file_that_cannot_be_opened_has_nothing_to_go_on_with(tmp_path: Path) -> None:
    write(tmp_path / "deep" / "m.jsonl", result(1))  # its folder is made
    with pytest.raises(EverycoreError, match=r"cannot make .*m\.jsonl"):
        write(tmp_path / "deep" / "m.jsonl" / "n.jsonl", result(1))
    with pytest.raises(EverycoreError, match="Is a directory") as error:
        write(tmp_path, result(1), resume=True)
    assert error.value.hint == "name another file with --out"
