# SPDX-License-Identifier: MIT
"""everycore estimate: what is refused before anything is built; and real runs."""

import json
import os
import shutil
from pathlib import Path

import pytest
from world import Lab

from everycore.environment.context import SystemRunner
from everycore.environment.decoding import encode_line
from everycore.environment.errors import EverycoreError
from everycore.estimate.mca import find_llvm
from everycore.estimate.stored import NO_MACHINE
from everycore.model.domain import Machine, Revision
from everycore.model.run_lines import Run
from everycore.store import run_files
from everycore.store.run_files import Writer

NEEDED = ("aarch64-linux-gnu-gcc", "qemu-aarch64")


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        ("--core cortex-a5", "unknown core 'cortex-a5'", "cortex-a53"),
        ("--mode crt", "unknown mode 'crt'", "ctr"),
        ("--kernel a64_bitslize", "unknown kernel 'a64_bitslize'", "a64_bitslice"),
        ("--kernel a64_bitslice+a64_p", "unknown kernel of ghash 'a64_p'", "nearest"),
        ("--key-bits 129", "unknown key size '129'", "128"),
        ("--bytes lots", "'lots' is no message size", "--bytes wants"),
        ("--subject linus-arm64", "unknown subject 'linus-arm64'", "linux-arm64"),
        ("--mode sha256", "no estimate of sha256: published", "bench --primitive sha2"),
        ("--core none --kernel a64_sha2", "no estimate of a64_sha2: published", "subject count"),
    ],
)
def test_what_is_unknown_is_named_with_the_choices(
    lab: Lab, words: str, message: str, hint: str
) -> None:
    done = lab("estimate", *words.split())
    assert done.code == 2
    assert message in done.err
    assert hint in done.err
    assert not lab.runner.calls


@pytest.mark.parametrize("option", ["--turn", "--calibrate"])
def test_what_makes_no_estimates_stores_none(lab: Lab, option: str) -> None:
    done = lab("estimate", option, "--out", str(lab.folder / "estimates.jsonl"))
    assert done.code == 2
    assert "--out stores estimates" in done.err
    assert not lab.runner.calls


def test_a_file_of_results_is_never_replaced_by_estimates(lab: Lab) -> None:
    path = results_of(lab, "cortex-a53")
    before = path.read_bytes()
    done = lab("estimate", "--mode", "ctr", "--out", str(path))
    assert done.code == 2
    assert str(path) in done.err.replace("\n", "")
    assert path.read_bytes() == before


def results_of(lab: Lab, core: str, command: str = "bench") -> Path:
    path = lab.folder / f"{core or 'unknown'}.jsonl"
    machine = Machine(cpu="a board", core=core)
    run = Run(
        command, "2026-01-02", "0.1.0", Revision("", False), machine, "pi", "gcc", (), "perf", {}
    )
    with Writer(path, run):
        pass
    return path


@pytest.mark.parametrize(
    ("of", "words", "message"),
    [
        ("", "", "results are of one core"),
        ("cortex-a53", "--core cortex-a72", "is of a cortex-a53, not of a cortex-a72"),
        ("cortex-a53", "--core cortex-a53,cortex-a72", "results are of one core"),
        ("cortex-a35", "", "unknown core 'cortex-a35'"),
        ("cortex-a53", "", "measures no long message"),  # the core is known then
    ],
)
def test_results_are_of_the_core_that_they_say(lab: Lab, of: str, words: str, message: str) -> None:
    path = results_of(lab, of)
    done = lab("estimate", "--calibrate-from", str(path), *words.split())
    assert done.code == 2
    assert message in done.err


@pytest.mark.parametrize("command", ["compare", "peers", "limits"])
def test_points_of_a_calibration_are_taken_from_bench_only(lab: Lab, command: str) -> None:
    path = results_of(lab, "cortex-a53", command)
    done = lab("estimate", "--calibrate-from", str(path))
    assert done.code == 2
    assert f"{path} has results of `everycore {command}`, not of `everycore bench`" in done.err
    assert "--target BOARD" in done.err


@pytest.fixture
def real(tmp_path: Path, real_cache: Path) -> Lab:
    """With the harness that other tests, and tools/budgets of the same run, build."""
    for program in NEEDED:
        if not shutil.which(program):
            pytest.skip(f"no {program}")
    return Lab(SystemRunner(), tmp_path, {**os.environ, "XDG_CACHE_HOME": str(real_cache)})


@pytest.mark.slow
def test_counts_are_exact_and_repeat_and_are_stored(real: Lab, tmp_path: Path) -> None:
    words = ("--kernel", "a64_ce", "--mode", "ctr", "--bytes", "64,bulk", "--json")
    done = real("estimate", "--core", "none", *words)
    assert done.code == 0, done.err
    rows = [json.loads(line) for line in done.out.splitlines()][1:]
    assert [row["bytes"] for row in rows] == [64, "bulk"]
    assert all(not row["estimates"] for row in rows)
    bulk = rows[1]["instructions_per_byte"]
    assert 1.3 < bulk < 2.5  # ten AESE, nine AESMC and an exclusive-or for 16 bytes: 1.25
    assert rows[0]["instructions_per_byte"] > bulk
    path = tmp_path / "estimates.jsonl"
    again = real("estimate", "--core", "none", *words, "--out", str(path))
    assert again.out == done.out
    stored = run_files.read(path)
    assert (stored.run.command, stored.run.machine.cpu) == ("estimate", NO_MACHINE)
    assert stored.run.options["bytes"] == "64,bulk"
    assert [json.loads(encode_line(record)) for record in stored.records] == rows


def test_an_estimate_is_a_range_beside_its_count(real: Lab) -> None:
    try:
        find_llvm(real.context())
    except EverycoreError as error:
        pytest.skip(error.message)
    words = ("--kernel", "a64_ce", "--mode", "ctr", "--core", "cortex-a53,neoverse-n1", "--json")
    done = real("estimate", *words)
    assert done.code == 0, done.err
    row = json.loads(done.out.splitlines()[-1])
    for core, least, most in (("cortex-a53", 1.0, 2.5), ("neoverse-n1", 0.5, 0.9)):
        found = row["estimates"][core]
        assert found["calibrated"]
        assert least < found["low"] < found["high"] < most
    assert row["classes"]["vector"] > 1.2
