# SPDX-License-Identifier: MIT
"""Small programs for IBM Z on Hercules: system calls, memory, signals, files."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from library_reads import reads_all
from small_programs import (
    BEGINNING,
    MEMORY_SAYS,
    each_measuring_command,
    refuses_to_measure,
    run_on,
)
from world import Lab

from everycore.run.transport import cpu_model

pytestmark = [
    reads_all,
    pytest.mark.skipif(
        not shutil.which("hercules"), reason="no hercules: apt-get install hercules"
    ),
    pytest.mark.skipif(
        not shutil.which("s390x-linux-gnu-gcc"),
        reason="no s390x-linux-gnu-gcc: apt-get install gcc-s390x-linux-gnu libc6-dev-s390x-cross",
    ),
]
CPU = "2827"

SOURCE = (
    BEGINNING
    + r"""

int main(int count, char **words)
{
    const char *what = words[1];
    volatile int zero = 0;
    char line[80] = "";

    puts("begins");
    fflush(stdout);
    if (strcmp(what, "words") == 0)
        printf("%d %s\n", count, words[count - 1]);
    else if (strcmp(what, "memory") == 0)
        return memory();
    else if (strcmp(what, "file") == 0) {
        FILE *f = fopen(words[2], "r");
        printf("%s", f && fgets(line, sizeof line, f) ? line : "none\n");
    } else if (strcmp(what, "input") == 0)
        printf("%s", fgets(line, sizeof line, stdin) ? line : "none\n");
    else if (strcmp(what, "illegal") == 0)
        __asm__ volatile(".long 0");
    else if (strcmp(what, "null") == 0)
        printf("%d\n", *(volatile char *)(size_t)(8 + zero));
    else if (strcmp(what, "beyond") == 0)
        printf("%d\n", *(volatile char *)(((size_t)1 << 40) + zero));
    else if (strcmp(what, "abort") == 0)
        abort();
    else if (strcmp(what, "call") == 0)
        printf("%d\n", syscall(9999) == -1 && errno == ENOSYS);
    return 7;
}
"""
)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hercules")
    (folder / "small.c").write_text(SOURCE)
    words = ["s390x-linux-gnu-gcc", "-O1", "-static", "-no-pie", "small.c", "-o", "small"]
    subprocess.run(words, check=True, capture_output=True, cwd=folder)
    return folder / "small"


def on_z(*words: str | Path, given: str = "") -> subprocess.CompletedProcess[str]:
    return run_on("everycore.run.hercules.z_machine", CPU, *words, given=given)


def test_arguments_arrive_and_the_exit_code_returns(program: Path) -> None:
    done = on_z(program, "words", "last one")
    assert (done.returncode, done.stdout) == (7, "begins\n3 last one\n")


def test_memory_that_was_taken_away_faults(program: Path) -> None:
    done = on_z(program, "memory")
    assert (done.returncode, done.stdout) == (0, f"begins\n{MEMORY_SAYS}\n")


def test_a_file_that_an_argument_names_can_be_read(program: Path, tmp_path: Path) -> None:
    (tmp_path / "text").write_text("first line\nsecond\n")
    assert on_z(program, "file", tmp_path / "text").stdout == "begins\nfirst line\n"
    assert on_z(program, "file", tmp_path / "none").stdout == "begins\nnone\n"


def test_input_is_read_if_it_is_asked_for(program: Path) -> None:
    assert on_z(program, "input", given="one\ntwo\n").stdout == "begins\none\n"
    assert on_z(program, "input").stdout == "begins\nnone\n"


@pytest.mark.parametrize(
    ("what", "number"), [("illegal", 4), ("null", 11), ("beyond", 11), ("abort", 6)]
)
def test_a_fault_is_named_and_ends_the_program(program: Path, what: str, number: int) -> None:
    done = on_z(program, what)
    assert (done.returncode, done.stdout) == (128 + number, "begins\n")
    assert done.stderr.startswith(f"killed by signal {number} at 0x")


def test_a_call_that_is_not_served_says_so(program: Path) -> None:
    done = on_z(program, "call")
    assert (done.returncode, done.stdout) == (7, "begins\n1\n")
    assert done.stderr == "system call 9999 is not served\n"


def test_a_program_for_another_machine_is_refused() -> None:
    done = on_z(Path(sys.executable).resolve(), "words")
    assert done.returncode == 2
    assert "Hercules runs IBM Z" in done.stderr


def test_without_hercules_the_target_says_what_brings_it(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cpu_model, "which", lambda _: None)
    lab("check", "--target", "hercules-z").refuses(
        "hercules-z needs hercules, which is not installed", "hercules"
    )
    lab("ct", "--target", "hercules-z").refuses("has no clock and no tracer")


@each_measuring_command
def test_commands_that_measure_refuse_z(lab: Lab, words: tuple[str, ...], said: str) -> None:
    refuses_to_measure(lab, "hercules-z", words, said)
