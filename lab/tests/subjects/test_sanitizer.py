# SPDX-License-Identifier: MIT
"""The handlers that stand for a sanitizer's run time."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import everycore
from everycore.compile.catalog import find_tree

FILE = find_tree(Path(everycore.__file__).parent).root / "catalog/subjects" / "sanitizer.c"
# Checks for C++, Objective-C and -fsanitize=cfi, which no subject is compiled with.
NOT_OF_C = re.compile(r"dynamic_type|objc|cfi")
RUN_TIMES = (
    "/usr/lib/gcc/*/*/libubsan.a",
    "/usr/lib/llvm-*/lib/clang/*/lib/linux/libclang_rt.ubsan_*-x86_64.a",
)
PROGRAM = """
#include <stdio.h>
#include <stdlib.h>
extern unsigned long sanitizer_hits;
static volatile int zero, one = 1, large = 0x7fffffff, far = 40;
static int table[4];
static volatile unsigned char two = 2;
int main(void)
{
    _Bool b;
    volatile int r;
    r = large + one;          /* add */
    r = -large - 1 - one;     /* sub */
    r = large * (one + one);  /* mul */
    r = one << far;           /* shift */
    r = table[(far & 7) + 4]; /* bounds */
    *(volatile unsigned char *)&b = two;
    r = b;                    /* not a value of its type */
    char room[far];
    room[zero] = 0;
    r = *(volatile int *)(room + 1); /* alignment */
    printf("%lu\\n", sanitizer_hits);
    return 0;
}
"""


@pytest.mark.parametrize(
    ("compiler", "more"),
    [
        ("gcc", ()),
        ("gcc", ("-O2",)),
        ("clang", ()),
        ("clang", ("-O2",)),
        ("clang", ("-fsanitize-minimal-runtime",)),
    ],
)
def test_what_a_sanitizer_finds_is_counted_and_the_program_goes_on(
    tmp_path: Path, compiler: str, more: tuple[str, ...]
) -> None:
    if not shutil.which(compiler):
        pytest.skip(f"no {compiler}")
    source, checked, ours = (tmp_path / name for name in ("a.c", "a.o", "sanitizer.o"))
    source.write_text(PROGRAM)
    flags = ["-w", "-fsanitize=undefined", *more]
    subprocess.run([compiler, *flags, "-c", str(source), "-o", str(checked)], check=True)
    subprocess.run([compiler, "-c", str(FILE), "-o", str(ours)], check=True)
    program = tmp_path / "program"
    subprocess.run([compiler, str(checked), str(ours), "-o", str(program)], check=True)
    done = subprocess.run([str(program)], check=True, capture_output=True, text=True)
    assert int(done.stdout) >= 5


def test_every_handler_of_the_installed_run_times_is_there(tmp_path: Path) -> None:
    libraries = [str(p) for pattern in RUN_TIMES for p in Path("/").glob(pattern[1:])]
    if not libraries or not shutil.which("nm"):
        pytest.skip("no run time of a sanitizer: apt-get install libclang-rt-14-dev")
    ours = tmp_path / "sanitizer.o"
    subprocess.run(["cc", "-c", str(FILE), "-o", str(ours)], check=True)
    known = handlers([str(ours)])
    absent = {name for name in handlers(libraries) if not NOT_OF_C.search(name)} - known
    assert not absent
    assert len(known) > 80


def handlers(files: list[str]) -> set[str]:
    argv = ["nm", "-g", "--defined-only", *files]
    done = subprocess.run(argv, check=False, capture_output=True, text=True)
    return set(re.findall(r"\b__ubsan_handle_\w+", done.stdout))
