# SPDX-License-Identifier: MIT
"""machine_sets: what is kept of measurements that are stored for good."""

import lzma
from collections.abc import Sequence
from pathlib import Path

import pytest
from matrix.cells import cell, measured
from store.test_packs import HEAD, matrix_file
from store.test_run_files import RUN

from everycore.environment.errors import EverycoreError
from everycore.model.protocol import parse
from everycore.model.run_lines import Run
from everycore.store import machine_sets, matrix_files, run_files

OLD, NEW = (RUN.replace(command="peers", date=f"2026-01-0{day}T00:00:00") for day in (1, 2))


def store(tmp_path: Path, files: Sequence[Path], add: bool) -> Path:
    return machine_sets.store(tmp_path / "results", "here", files, add)


def bench(kernel: str, cycles: Sequence[float], size: int = 64, more: str = "") -> str:
    return (
        f'{{"type":"bench","primitive":"aes","kernel":"{kernel}",{more}"mode":"ctr","key_bits":256,'
        f'"bytes":{size},"messages":1,"style":"streamed","counter":"tsc","cycles":{list(cycles)}}}'
    )


def run_of(path: Path, run: Run, *lines: str) -> Path:
    with run_files.Writer(path, run) as writer:
        for line in lines:
            writer.write(parse(line))
    return path


def test_a_process_keeps_its_median_and_the_figure_stays(tmp_path: Path) -> None:
    lines = [bench("c_ref", (90.0 + n, 100.0 + n, 170.0)) for n in range(3)]
    path = run_of(tmp_path / "a.jsonl", NEW, *lines, bench("alone", (4.0, 5.0, 6.0)))
    stored = run_files.read(store(tmp_path, [path], add=False))
    assert stored.path == tmp_path / "results" / "here" / "peers.jsonl.xz"
    assert [line.cycles for line in stored.benches()] == [(100,), (101,), (102,), (4, 5, 6)]
    assert stored.run == NEW


def test_rows_that_no_later_run_has_stay_with_their_run(tmp_path: Path) -> None:
    peer = '"peer":"openssl",'
    old = run_of(
        tmp_path / "old.jsonl",
        OLD,
        bench("c_ref", (9.0,)),
        bench("c_ref", (8.0,), size=128),
        bench("openssl-3.0", (7.0,), more=peer),
    )
    new = run_of(
        tmp_path / "new.jsonl", NEW, bench("c_ref", (5.0,)), bench("openssl-3.6", (4.0,), more=peer)
    )
    store(tmp_path, [old], add=False)
    path = store(tmp_path, [new], add=True)
    older, newer = run_files.read_each(path)
    assert (older.run, newer.run) == (OLD, NEW)
    assert [(line.bytes, line.cycles) for line in older.benches()] == [(128, (8.0,))]
    assert [line.kernel for line in newer.benches()] == ["c_ref", "openssl-3.6"]
    (results,) = run_files.read_each(store(tmp_path, [new], add=False))
    assert results.run == NEW


def test_a_matrix_keeps_its_figures(tmp_path: Path) -> None:
    result = measured(cell(), 5.0).replace(runs=((5.0, 6.0, 7.0), (4.0, 4.5)))
    path = matrix_file(tmp_path / "m.jsonl", HEAD, result)
    stored = matrix_files.read(store(tmp_path, [path], add=False))
    assert stored.heads == (HEAD,)
    assert stored.results == {result.cell: result.replace(runs=((6.0,), (4.25,)))}


def test_files_that_are_no_one_set_are_refused(tmp_path: Path) -> None:
    peers = run_of(tmp_path / "p.jsonl", NEW, bench("c_ref", (5.0,)))
    kernels = run_of(tmp_path / "b.jsonl", RUN, bench("c_ref", (5.0,)))
    with pytest.raises(EverycoreError, match="several kinds: bench, peers"):
        store(tmp_path, [peers, kernels], add=False)
    with pytest.raises(EverycoreError, match="--add is for everycore peers"):
        store(tmp_path, [kernels], add=True)
    other = NEW.replace(machine=NEW.machine.replace(model="3"))
    elsewhere = run_of(tmp_path / "o.jsonl", other, bench("c_limb", (5.0,)))
    store(tmp_path, [peers], add=False)
    before = (tmp_path / "results/here/peers.jsonl.xz").read_bytes()
    with pytest.raises(EverycoreError, match="several commands, counters or machines"):
        store(tmp_path, [elsewhere], add=True)
    assert lzma.decompress((tmp_path / "results/here/peers.jsonl.xz").read_bytes())
    assert (tmp_path / "results/here/peers.jsonl.xz").read_bytes() == before
