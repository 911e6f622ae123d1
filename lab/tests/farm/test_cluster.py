# SPDX-License-Identifier: MIT
"""A whole run on a cluster of this machine: a scheduler and a worker, with real compilers."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from world import Lab

from everycore.environment.context import Context
from everycore.farm import worker
from everycore.farm.work import Answer, Job, Work
from everycore.model.cells import Anomaly
from everycore.store import matrix_files

pytestmark = pytest.mark.slow

# An object of one type is accessed through a pointer of another: wrong with -O2.
ALIAS = """
#include <stddef.h>
__attribute__((noinline)) static int both(int *a, short *b) { *a = 1; *b = 2; return *a; }
void alias(unsigned char *out, const unsigned char *in, size_t n)
{
    static int memory;
    int got = both(&memory, (short *)&memory);
    for (size_t i = 0; i < n; i++)
        out[i] = (unsigned char)(in[i] ^ got);
}
"""
TOML = """
files = ["alias.c"]
declaration = "void alias(unsigned char *, const unsigned char *, size_t)"
[functions.alias]
call = "alias(out, in, n_bytes)"
"""


@pytest.fixture
def asked(real_cache: Path, monkeypatch: pytest.MonkeyPatch) -> list[Job]:
    """The jobs that the worker was asked to do."""
    pytest.importorskip("distributed", reason="make lab")
    for program in ("qemu-aarch64", "aarch64-linux-gnu-gcc"):
        if not shutil.which(program):
            pytest.skip(f"no {program}: apt-get install qemu-user gcc-aarch64-linux-gnu")
    monkeypatch.setenv("XDG_CACHE_HOME", str(real_cache))  # of the worker, which is a thread here
    jobs: list[Job] = []
    do = worker.do

    def noted(context: Context, job: Job) -> Answer:
        jobs.append(job)
        return do(context, job)

    monkeypatch.setattr(worker, "do", noted)
    return jobs


@contextmanager
def scheduler_with_worker() -> Iterator[str]:
    import distributed

    with distributed.LocalCluster(
        n_workers=1,
        threads_per_worker=1,
        processes=False,
        protocol="tcp://",
        host="127.0.0.1",
        dashboard_address=None,
    ) as cluster:
        yield cluster.scheduler_address


def test_a_worker_finds_what_makes_wrong_answers_right(real_lab: Lab, asked: list[Job]) -> None:
    (real_lab.folder / "alias.toml").write_text(TOML)
    (real_lab.folder / "alias.c").write_text(ALIAS)
    path = real_lab.folder / "cells.jsonl"
    words = [
        "matrix",
        "regressions",
        "--subject",
        str(real_lab.folder / "alias.toml"),
        "--bytes",
        "256",
    ]
    words += ["--target", "qemu-aarch64", "--flags=-O2", "--flags=-O3", "--flags=-O0"]
    words += ["--toolchain", "gcc-" + version(real_lab), "--out", str(path)]
    with scheduler_with_worker() as address:
        done = real_lab(*words, "--scheduler", address)
    assert done.code == 1, done.err
    bisected = [job for job in asked if job.work is Work.BISECT]
    first, second = ({"-O2"}, {"-O3"}) if "-O2" in bisected[0].cell.flags else ({"-O3"}, {"-O2"})
    assert [set(job.cell.flags) for job in bisected] == [first, second], done.err
    assert [job.repairs for job in bisected] == [(), (("-fno-strict-aliasing",),)]
    found = [line for line in matrix_files.read(path).lines if isinstance(line, Anomaly)]
    assert [anomaly.repair for anomaly in found] == [("-fno-strict-aliasing",)] * 2
    assert found[0].tried + found[1].tried > 0  # the first was searched for
    assert "-fno-strict-aliasing repairs it" in done.out


def test_a_worker_counts_a_cell_and_looks_for_its_leaks(real_lab: Lab, asked: list[Job]) -> None:
    path = real_lab.folder / "cells.jsonl"
    with scheduler_with_worker() as address:
        words = ["--subject", "c_ttable4", "--function", "ctr", "--key-bits", "128"]
        words += ["--target", "qemu-aarch64", "--flags=-O2", "--json"]
        more = ("--scheduler", address, "--out", str(path))
        toolchain = "gcc-" + version(real_lab)
        named = (*words, *more, "--toolchain", toolchain)
        found = real_lab("matrix", "leaks", *named)
        real_lab("matrix", "regressions", "--resume", *named)
    assert [job.work for job in asked] == [Work.COUNT, Work.CT], found.err
    (result,) = matrix_files.read(path).results.values()
    assert result.executed
    assert result.constant_time is False
    assert next(verdict.method for verdict in result.verdicts) == "trace"


def version(lab: Lab) -> str:
    """Return the major version of the cross compiler, by which the lab names it."""
    done = lab.runner.run(["aarch64-linux-gnu-gcc", "-dumpversion"])
    return str(done.stdout).strip().split(".", maxsplit=1)[0]
