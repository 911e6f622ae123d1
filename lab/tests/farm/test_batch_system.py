# SPDX-License-Identifier: MIT
"""Workers that Slurm starts, with a stand-in for sbatch that runs the script at once."""

import os
import stat
import sys
from pathlib import Path

import pytest
from world import PACKAGE, Lab

from everycore.build import catalog
from everycore.environment.version import package_version
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


def test_workers_of_slurm_do_jobs(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobqueue = pytest.importorskip("dask_jobqueue", reason="make lab")
    for name, text in (("sbatch", SBATCH), ("scancel", SCANCEL)):
        path = tmp_path / name
        path.write_text(text)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("FAKE_SLURM", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(PACKAGE.parent))
    tree = catalog.find_tree(PACKAGE, "")
    own = {"everycore": package_version(), "tree": worker.tree_digest(tree)}
    job = Job(Work.COMPILE, Cell("c_ref", "ctr", "gcc-none", ("-O2",)), **own)
    with jobqueue.SLURMCluster(
        queue="normal",
        cores=1,
        processes=1,
        memory="1GB",
        python=sys.executable,
        nanny=False,
        log_directory=str(tmp_path),
        local_directory=str(tmp_path),
        scheduler_options={"host": "127.0.0.1", "dashboard_address": None},
        worker_extra_args=["--no-dashboard", "--host", "127.0.0.1"],
    ) as cluster:
        cluster.scale(1)
        with scheduler.connected(lab.context(), cluster.scheduler_address, job) as farm:
            assert farm.shares_host()  # the stand-in is no other host
            (found,) = farm.answers([job])
    assert isinstance(found, Undone)
    assert "unknown toolchain 'gcc-none'" in found.why
    assert "#SBATCH -p normal" in (tmp_path / "script").read_text()
    assert (tmp_path / "cancelled").read_text().split() == ["7"]
