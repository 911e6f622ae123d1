# SPDX-License-Identifier: MIT
"""Workers that Slurm starts, with a stand-in for sbatch that runs the script at once."""

import os
import signal
import stat
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from library_reads import reads_all
from world import PACKAGE, Lab

from everycore.compile import catalog
from everycore.farm import scheduler, worker
from everycore.farm.scheduler import Undone
from everycore.farm.work import Job, Work
from everycore.model.cells import Cell

SBATCH = """#!/bin/sh
# Slurm runs a copy of the script, says its number, and keeps what it prints.
cp "$1" "$FAKE_SLURM/script"
setsid sh "$FAKE_SLURM/script" >"$FAKE_SLURM/log" 2>&1 &
echo $! >"$FAKE_SLURM/pid"
echo "Submitted batch job 7"
"""
SCANCEL = '#!/bin/sh\nkill -- -$(cat "$FAKE_SLURM/pid")\necho "$@" >"$FAKE_SLURM/cancelled"\n'


@pytest.fixture
def slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of a stand-in for Slurm; what it started is killed at the end."""
    for name, text in (("sbatch", SBATCH), ("scancel", SCANCEL)):
        path = tmp_path / name
        path.write_text(text)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("FAKE_SLURM", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(PACKAGE.parent))
    yield tmp_path
    group = tmp_path / "pid"
    if group.exists():  # a worker that is busy when it is cancelled may outlive that
        with suppress(ProcessLookupError):
            os.killpg(int(group.read_text()), signal.SIGKILL)


@reads_all
def test_workers_of_slurm_do_jobs(lab: Lab, slurm: Path) -> None:
    jobqueue = pytest.importorskip("dask_jobqueue", reason="make lab")
    tree = catalog.find_tree(PACKAGE, "")
    job = Job(
        Work.COMPILE,
        Cell("c_ref", "ctr", "gcc-none", ("-O2",)),
        everycore=worker.own_version(),
        tree=worker.tree_digest(tree),
    )
    with jobqueue.SLURMCluster(
        queue="normal",
        cores=1,
        processes=1,
        memory="1GB",
        python=sys.executable,
        nanny=False,
        log_directory=str(slurm),
        local_directory=str(slurm),
        scheduler_options={"host": "127.0.0.1", "dashboard_address": None},
        worker_extra_args=["--no-dashboard", "--host", "127.0.0.1"],
    ) as cluster:
        cluster.scale(1)
        with scheduler.connected(lab.context(), cluster.scheduler_address, job) as farm:
            assert farm.shares_host()  # the stand-in is no other host
            (found,) = farm.answers([job])
    assert isinstance(found, Undone)
    assert "unknown toolchain 'gcc-none'" in found.why
    assert "#SBATCH -p normal" in (slurm / "script").read_text()
    assert (slurm / "cancelled").read_text().split() == ["7"]
