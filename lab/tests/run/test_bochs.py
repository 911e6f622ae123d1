# SPDX-License-Identifier: MIT
"""Small programs on CPU models of Bochs: system calls, memory, signals, and faults by name."""

import os
import platform
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
from world import PACKAGE, Lab

from everycore.compile import catalog
from everycore.model.targets import load_target
from everycore.run.bochs.bochs_core import MODELS

ON_X86_64_LINUX = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() != "x86_64",
    reason="bochscpu-python has wheels for Linux on x86-64 alone",
)
pytestmark = reads_all
TREE = catalog.find_tree(PACKAGE)

SOURCE = (
    BEGINNING
    + r"""
#include <math.h>

static void come_back(int number)
{
    (void)number;
}

__attribute__((noinline)) static int deep(int n)
{
    volatile char some[4000];

    some[n % 4000] = 1;
    return n < 1000000 ? deep(n + 1) + some[0] : 0;
}

int main(int count, char **words)
{
    const char *what = words[1];
    volatile int zero = 0;
    char line[80];

    puts("begins");
    fflush(stdout);
    if (strcmp(what, "words") == 0)
        printf("%d %s\n", count, words[count - 1]);
    else if (strcmp(what, "input") == 0)
        printf("%s", fgets(line, sizeof line, stdin));
    else if (strcmp(what, "memory") == 0)
        return memory();
    else if (strcmp(what, "float") == 0)
        printf("%.3f\n", sqrt(count) * 1.5);
    else if (strcmp(what, "errno") == 0)
        printf("%d\n", close(99) == -1 && errno == EBADF);
    else if (strcmp(what, "avx512") == 0)
        __asm__ volatile("vpaddd %zmm16, %zmm16, %zmm16");
    else if (strcmp(what, "null") == 0)
        printf("%d\n", *(volatile char *)(intptr_t)(zero + 8));
    else if (strcmp(what, "text") == 0)
        *(volatile char *)main = 1;
    else if (strcmp(what, "stack") == 0)
        return deep(0);
    else if (strcmp(what, "divide") == 0)
        return count / zero;
    else if (strcmp(what, "halt") == 0)
        __asm__ volatile("hlt");
    else if (strcmp(what, "trap") == 0)
        __asm__ volatile("int3");
    else if (strcmp(what, "abort") == 0)
        abort();
    else if (strcmp(what, "call") == 0)
        printf("%d\n", syscall(9999) == -1 && errno == ENOSYS);
    else if (strcmp(what, "return") == 0) {
        signal(SIGSEGV, come_back);
        *(volatile char *)(intptr_t)zero = 1;
    }
    return 7;
}
"""
)


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The program in three forms."""
    cc = shutil.which("gcc") or shutil.which("cc")
    if not cc:
        pytest.skip("no C compiler: apt-get install gcc libc6-dev")
    folder = tmp_path_factory.mktemp("bochs")
    (folder / "small.c").write_text(SOURCE)
    forms = {"static": ("-static", "-no-pie"), "fixed": ("-no-pie",), "anywhere": ("-fPIE", "-pie")}
    for form, flags in forms.items():
        words = [cc, "-O1", *flags, str(folder / "small.c"), "-o", str(folder / form), "-lm"]
        subprocess.run(words, check=True, capture_output=True)
    return {form: folder / form for form in forms}


def on(
    model: str, *words: str | Path, given: str = "", **settings: str
) -> subprocess.CompletedProcess[str]:
    return run_on("everycore.run.bochs.execute", model, *words, given=given, **settings)


@ON_X86_64_LINUX
@pytest.mark.parametrize("form", ["static", "fixed", "anywhere"])
@pytest.mark.parametrize("model", ["core2_penryn_t9600", "sapphire_rapids"])
def test_a_program_of_any_form_runs(programs: dict[str, Path], form: str, model: str) -> None:
    done = on(model, programs[form], "words", "last")
    assert (done.returncode, done.stdout, done.stderr) == (7, "begins\n3 last\n", "")


@ON_X86_64_LINUX
@pytest.mark.parametrize(
    ("what", "shown"),
    [
        ("float", "2.121"),
        ("errno", "1"),
        ("memory", MEMORY_SAYS),
        ("input", "a line"),
    ],
)
def test_system_calls_do_what_linux_does(programs: dict[str, Path], what: str, shown: str) -> None:
    done = on("arrow_lake", programs["static"], what, given="a line\n")
    assert (done.stdout, done.stderr) == (f"begins\n{shown}\n", "")


@ON_X86_64_LINUX
@pytest.mark.parametrize(
    ("what", "code", "said"),
    [
        ("avx512", 132, "an instruction that this CPU does not have (62 a1 7d 40 fe c0"),
        ("null", 139, "reads 0x8, which it may not"),
        ("text", 139, "writes 0x"),
        ("stack", 139, "writes 0x7ffff"),
        ("divide", 136, "division error"),
        ("halt", 139, "protection fault"),
        ("trap", 133, "breakpoint"),
        ("abort", 134, "ended itself by SIGABRT"),
        ("return", 1, "returns from a handler of a signal"),
    ],
)
def test_a_fault_is_named_with_its_place(
    programs: dict[str, Path], what: str, code: int, said: str
) -> None:
    done = on("arrow_lake", programs["static"], what)
    assert (done.returncode, done.stdout) == (code, "begins\n")
    assert said in done.stderr
    assert str(programs["static"]) in done.stderr
    assert len(done.stderr.splitlines()) == 1, done.stderr


@ON_X86_64_LINUX
def test_a_model_has_its_own_instructions(programs: dict[str, Path]) -> None:
    assert on("sapphire_rapids", programs["static"], "avx512").returncode == 7


@ON_X86_64_LINUX
def test_an_unknown_system_call_is_told_and_refused(programs: dict[str, Path]) -> None:
    done = on("ryzen", programs["static"], "call")
    assert (done.returncode, done.stdout) == (7, "begins\n1\n")
    assert "makes system call 9999, which is not served here" in done.stderr


@ON_X86_64_LINUX
def test_what_is_no_program_for_it_is_named(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_bytes(b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x02\x00\xb7\x00" + bytes(60))
    text = tmp_path / "text"
    text.write_text("no program\n" * 10)
    for path, said in (
        (tmp_path / "absent", "No such file or directory"),
        (other, "is for 64-bit Arm"),
        (text, "the ELF file is damaged"),
    ):
        done = on("ryzen", path)
        assert (done.returncode, done.stdout) == (2, "")
        assert f"{path}" in done.stderr
        assert said in done.stderr
        assert "Traceback" not in done.stderr


@ON_X86_64_LINUX
def test_an_unknown_model_is_named_with_those_that_there_are(programs: dict[str, Path]) -> None:
    done = on("pentium9", programs["static"])
    assert done.returncode == 2
    assert "Bochs has no CPU model 'pentium9'" in done.stderr
    assert "arrow_lake" in done.stderr


@ON_X86_64_LINUX
def test_a_library_that_cannot_be_loaded_is_named(programs: dict[str, Path]) -> None:
    """The C library of Debian 12 lacks two functions that the library names and never calls."""
    done = on("ryzen", programs["static"], "words", LD_BIND_NOW="1")
    assert done.returncode in (2, 7)
    assert "Traceback" not in done.stderr
    if done.returncode == 2:
        assert "LD_BIND_NOW must not be set" in done.stderr


@pytest.mark.parametrize("words", [(), ("--cpu",), ("--cpu", "ryzen"), ("ryzen", "a", "b")])
def test_usage_is_shown(words: tuple[str, ...]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "everycore.run.bochs.execute", *words],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(PACKAGE.parent)},
    )
    assert done.returncode == 2
    assert done.stderr.startswith("usage: python -m everycore.run.bochs.execute --cpu MODEL")


@pytest.mark.parametrize("name", ["penryn", "zen1", "arrow-lake", "sapphire-rapids"])
def test_each_target_names_a_model(name: str) -> None:
    target = load_target(TREE, f"bochs-{name}")
    assert target.cpu_model in MODELS
    assert target.emulator[1:] == ("-m", "everycore.run.bochs.execute", "--cpu", target.cpu_model)


def test_a_target_without_the_package_names_the_remedy(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "bochscpu", None)
    lab("check", "--target", "bochs-arrow-lake").refuses(
        "needs Python packages that are not installed (extra 'bochs')", "install"
    )


@ON_X86_64_LINUX
@each_measuring_command
def test_commands_that_measure_refuse_a_model(lab: Lab, words: tuple[str, ...], said: str) -> None:
    refuses_to_measure(lab, "bochs-arrow-lake", words, said)
