# SPDX-License-Identifier: MIT
"""Small programs in C for machines that the lab emulates: what the tests of all of these share."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from world import PACKAGE, Lab

SECONDS = 60

# The beginning of a program: memory() maps pages, takes some away and reads all of them.
BEGINNING = r"""
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static sigjmp_buf back;

static void jump(int number)
{
    siglongjmp(back, number);
}

/* The signal by which a read ends, or 0. */
static int survives(volatile char *at)
{
    int number = sigsetjmp(back, 1);

    if (!number)
        (void)*at;
    return number;
}

static int memory(void)
{
    char *pages = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *heap = malloc(100000);

    signal(SIGSEGV, jump);
    memset(pages, 1, 3 * 4096);
    memset(heap, 2, 100000);
    mprotect(pages, 4096, PROT_NONE);
    printf("%d %d", survives(pages), survives(pages + 4096));
    munmap(pages + 4096, 4096);
    printf(" %d %d", survives(pages + 4096), survives(pages + 8192));
    mprotect(pages, 4096, PROT_READ);
    printf(" %d %d %d\n", survives(pages), pages[4095], heap[99999]);
    return 0;
}
"""
MEMORY_SAYS = "11 0 11 0 0 1 2"  # what memory() prints where these calls work


def run_on(
    module: str, cpu: str, *words: str | Path, given: str = "", **settings: str
) -> subprocess.CompletedProcess[str]:
    """Run a program on a CPU of an emulator, by the emulator's module. What hangs fails."""
    paths = os.pathsep.join([str(PACKAGE.parent), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, "-m", module, "--cpu", cpu, *words],
        input=given,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
        env={**os.environ, "PYTHONPATH": paths, **settings},
    )


# Commands that measure, and why they refuse a target without a clock and without a tracer.
each_measuring_command = pytest.mark.parametrize(
    ("words", "said"),
    [
        (("bench",), "has no clock and no tracer"),
        (("ct",), "has no clock and no tracer"),
        (("tune",), "is an emulator"),
        (("matrix", "--subject", "c_ttable4"), "has no clock and counts no instructions"),
    ],
)


def refuses_to_measure(lab: Lab, target: str, words: tuple[str, ...], said: str) -> None:
    """Hold such a command to its refusal, before it compiles anything."""
    lab(*words, "--target", target).refuses(said)
    if words[0] in ("bench", "ct"):
        assert not [call for call in lab.runner.calls if "-c" in call], "something was compiled"
