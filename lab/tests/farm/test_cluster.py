# SPDX-License-Identifier: MIT
"""A whole run on a cluster of this machine: a scheduler and a worker, with real compilers."""

import shutil
from pathlib import Path

import pytest
from world import Lab

from everycore.environment.context import Context
from everycore.farm import worker
from everycore.farm.work import Answer, Job
from everycore.store import matrix_files


def test_a_worker_counts_a_cell_and_looks_for_its_leaks(
    real_lab: Lab, real_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    distributed = pytest.importorskip("distributed", reason="make lab")
    for program in ("qemu-aarch64", "aarch64-linux-gnu-gcc"):
        if not shutil.which(program):
            pytest.skip(f"no {program}: apt-get install qemu-user gcc-aarch64-linux-gnu")
    monkeypatch.setenv("XDG_CACHE_HOME", str(real_cache))  # of the worker, which is a thread here
    asked: list[str] = []
    do = worker.do

    def noted(context: Context, job: Job) -> Answer:
        asked.append(job.work.value)
        return do(context, job)

    monkeypatch.setattr(worker, "do", noted)
    path = real_lab.folder / "cells.jsonl"
    with distributed.LocalCluster(
        n_workers=1,
        threads_per_worker=1,
        processes=False,
        protocol="tcp://",
        host="127.0.0.1",
        dashboard_address=None,
    ) as cluster:
        words = ("matrix", "--subject", "c_ttable4", "--function", "ctr", "--key-bits", "128")
        words += ("--target", "qemu-aarch64", "--flags=-O2", "--ct", "--regressions", "--json")
        more = ("--scheduler", cluster.scheduler_address, "--out", str(path))
        toolchain = "gcc-" + version(real_lab)
        found = real_lab(*words, *more, "--toolchain", toolchain)
    assert asked == ["count", "ct"], found.err
    (result,) = matrix_files.read(path).results.values()
    assert result.executed
    assert result.constant_time is False
    assert next(one.method for one in result.verdicts) == "trace"


def version(lab: Lab) -> str:
    """Return the major version of the cross compiler, by which the lab names it."""
    done = lab.runner.run(["aarch64-linux-gnu-gcc", "-dumpversion"])
    return done.stdout.strip().split(".", maxsplit=1)[0]
