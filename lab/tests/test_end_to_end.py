# SPDX-License-Identifier: MIT
"""The real harness, where there is a C compiler."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from library_reads import reads_all
from world import PACKAGE, Lab, Outcome

from everycore.compile import catalog
from everycore.environment.errors import EverycoreError
from everycore.model.protocol import Bench, Kernel
from everycore.run import vectors, wycheproof
from everycore.run.session import open_session

Run = Callable[..., Outcome]


def test_list_shows_the_registry_in_its_order(real_lab: Run) -> None:
    outcome = real_lab("list", "--json")
    assert outcome.code == 0, outcome.err
    names = [o["name"] for o in map(json.loads, outcome.out.splitlines()) if o["type"] == "kernel"]
    assert names == [line.name for line in catalog.registry(catalog.find_tree(PACKAGE))]


def test_resolve_answers_for_a_cpu_that_nobody_has_here(real_lab: Run) -> None:
    outcome = real_lab("resolve", "--cpu", "m68k", "--policy", "vartime", "--why")
    assert outcome.code == 0, outcome.err
    assert "ctr(aes)" in outcome.out


def test_resolve_says_that_a_slow_fallback_is_chosen_and_what_to_do(real_lab: Run) -> None:
    outcome = real_lab("resolve", "--cpu", "riscv64")
    assert outcome.out.count("Slow: ") == 4, outcome.out
    for name, faster in (
        ("ghash", "c_ctmul64"),
        ("bn", "c_limb64"),
        ("bn_words", "c_words64"),
        ("x25519", "c_limb51"),
    ):
        assert f"Slow: {name} falls back to c_ref, many times slower than {faster}" in outcome.out
    for word in ("ct-mul", "EVC_CPU(CT_MUL)"):
        assert word in outcome.out
    zkt = real_lab("resolve", "--cpu", "riscv64-zkt").out
    assert "Slow: " not in zkt
    rows = dict(line.split(maxsplit=1) for line in zkt.splitlines() if "  " in line)
    served = {name: kernel.strip() for name, kernel in rows.items()}
    assert (served["x25519"], served["rsa"], served["dh"]) == ("c_limb51", "c_limb64", "c_limb64")
    lines = map(json.loads, real_lab("resolve", "--cpu", "s390x", "--json").out.splitlines())
    warned = {o.get("algorithm", o.get("primitive")) for o in lines if "warning" in o}
    assert warned == {"ghash", "gcm(aes)", "gcm-siv(aes)", "bn", "bn_words", "x25519"}


def test_a_bench_of_ciphers_has_a_harness_of_its_own(real_lab: Lab) -> None:
    """Not the whole one, which is built where the small one does not link."""
    session = open_session(real_lab.context(), ciphers_alone=True)
    listed = list(session.records("list"))
    known = catalog.registry(session.tree)
    assert [kernel.name for kernel in listed if isinstance(kernel, Kernel)] == [
        line.name for line in known
    ]
    with pytest.raises(
        EverycoreError, match="measures AES and GCM alone, and has no command check"
    ):
        list(session.records("check"))
    few = ("--key-bits", "256", "--bytes", "64", "--samples", "1", "--budget-ms", "1")
    lines = list(session.records("bench", "--mode", "ctr,gcm-seal", *few))
    assert {line.mode for line in lines if isinstance(line, Bench)} == {"ctr", "gcm-seal"}


def test_every_kernel_is_chosen_or_has_a_reason(real_lab: Run) -> None:
    registry = catalog.registry(catalog.find_tree(PACKAGE))
    outcome = real_lab("resolve", "--cpu", "haswell", "--json")
    lines = [o for o in map(json.loads, outcome.out.splitlines()) if o["type"] == "resolve"]
    assert {line["use"] for line in lines} == {"parallel", "serial", "sha256", "sha512"}
    for line in lines:
        names = {entry.name for entry in registry if entry.primitive == line["primitive"]}
        chosen = {line["kernel"]} - {None}
        assert chosen | {s["kernel"] for s in line["skipped"]} == names


def test_check_of_the_reference_passes(real_lab: Run) -> None:
    outcome = real_lab("check", "--kernel", "c_ref", "--quick")
    assert outcome.code == 0, outcome.out + outcome.err


def test_peers_are_measured_or_named_as_missing(real_lab: Run) -> None:
    names = {"openssl", "libgcrypt"}
    outcome = real_lab(
        "peers", "--mode", "ctr", "--bytes", "64", "--rounds", "1", "--json",
        "--peer", ",".join(names),
    )  # fmt: skip
    assert outcome.code == 0, outcome.err
    lines = [json.loads(line) for line in outcome.out.splitlines()]
    measured = {o.get("peer", "") for o in lines if o["type"] == "bench"}
    skipped = {o["peer"] for o in lines if o["type"] == "skip"}
    assert measured | skipped == names | {""}


def test_bench_measures_stores_and_compares(real_lab: Run, tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("a.jsonl", "b.jsonl")]
    for path in paths:
        outcome = real_lab(
            "bench", "--quick", "--mode", "ctr", "--bytes", "64", "--kernel", "c_ref",
            "--out", str(path),
        )  # fmt: skip
        assert outcome.code == 0, outcome.err
    assert "c_ref" in outcome.out
    if '"cycles": []' not in paths[0].read_text():
        assert real_lab("compare", *map(str, paths), "--no-fail").code in (0, 2)


def test_limits_measures_what_this_cpu_has(real_lab: Run) -> None:
    outcome = real_lab("limits", "--json")
    assert outcome.code == 0, outcome.err
    lines = list(map(json.loads, outcome.out.splitlines()))
    measured = [o for o in lines if o["type"] == "arithmetic" and o["cycles_per_byte"]]
    bounded = {(o["mode"], o["key_bits"]) for o in lines if o["type"] == "bound"}
    assert bounded == {(mode, o["key_bits"]) for o in measured for mode in o["modes"]}


def test_bursts_are_of_every_kernel_of_gcm_and_of_none(real_lab: Run) -> None:
    outcome = real_lab("bench", "clock", "--bytes", "64", "--pause", "10", "--json")
    if "want a CPU whose additions tell its clock" in outcome.err:
        pytest.skip(outcome.err)
    assert outcome.code == 0, outcome.err
    greeting, *bursts = map(json.loads, outcome.out.splitlines())
    assert greeting["command"] == "bursts"
    assert bursts[0]["kernel"] == "none"
    assert all(len(burst["ns"]) == len(burst["mhz"]) > 0 for burst in bursts)


@pytest.fixture
def few_vectors(monkeypatch: pytest.MonkeyPatch) -> list[vectors.VectorFile]:
    files = vectors.find_files()
    if files is None:
        pytest.skip("pip install cryptography-vectors")
    wanted = ("MMT128", "aes-256-ctr", "XTSGenAES128", "DVPT128", "VTT256", "CMAC/")
    few = [file for file in files if any(word in file.name for word in wanted)]
    monkeypatch.setattr(vectors, "find_files", lambda: few)
    monkeypatch.setattr(wycheproof, "find_files", lambda _: [])
    return few


@pytest.mark.usefixtures("few_vectors")
def test_published_vectors_pass_on_every_kernel(real_lab: Run) -> None:
    outcome = real_lab("check", "vectors", "--json")
    assert outcome.code == 0, outcome.out
    for count in map(json.loads, outcome.out.splitlines()):
        assert count["passed"] >= count["vectors"] > 0, count
        assert count["failed"] == 0


def test_a_wrong_vector_is_found_in_every_file(
    real_lab: Run, few_vectors: list[vectors.VectorFile], tmp_path: Path
) -> None:
    results = re.compile(r"^((?:CIPHERTEXT|OUTPUT|CT) = )(\w)", re.MULTILINE | re.IGNORECASE)
    for i, file in enumerate(few_vectors):
        path = tmp_path / str(i)
        text = file.path.read_text(encoding="utf-8")
        path.write_text(results.sub(lambda m: m[1] + ("1" if m[2] == "0" else "0"), text))
        few_vectors[i] = replace(file, path=path)
    outcome = real_lab("check", "vectors", "--json")
    assert outcome.code == 1
    for count in map(json.loads, outcome.out.splitlines()):
        assert count["failed"] > 0, count


def test_a_size_that_no_mode_can_do_is_an_error_and_leaves_no_file(
    real_lab: Run, tmp_path: Path
) -> None:
    path = tmp_path / "a.jsonl"
    outcome = real_lab("bench", "--mode", "xts-enc", "--bytes", "15", "--out", str(path))
    assert outcome.code == 2
    assert "nothing was measured" in outcome.err
    assert not list(tmp_path.glob("a.jsonl*"))


@pytest.mark.parametrize(
    ("arguments", "nearest"),
    [
        (["bench", "--kernel", "c_reff"], "c_ref"),
        (["bench", "--mode", "crt"], "ctr"),
        (["check", "--kernel", "c_reff"], "c_ref"),
        (["resolve", "--policy", "cte"], "ct"),
        (["bench", "--key-bits", "257"], "256"),
    ],
)
def test_unknown_names_are_answered_with_the_nearest(
    real_lab: Run, arguments: list[str], nearest: str
) -> None:
    outcome = real_lab(*arguments)
    assert outcome.code == 2
    assert "unknown" in outcome.err
    assert nearest in outcome.err.splitlines()[1]


def test_an_unknown_mode_is_refused_before_anything_is_measured(
    real_lab: Run, tmp_path: Path
) -> None:
    path = tmp_path / "a.jsonl"
    outcome = real_lab("bench", "--quick", "--mode", "ctr,crt", "--out", str(path))
    assert outcome.code == 2
    assert "unknown mode 'crt'" in outcome.err
    assert outcome.out == ""
    assert not list(tmp_path.glob("a.jsonl*"))


def test_a_length_of_no_whole_blocks_is_refused_before_anything_is_measured(
    real_lab: Run, tmp_path: Path
) -> None:
    path = tmp_path / "a.jsonl"
    outcome = real_lab("bench", "--mode", "ctr,qarma5", "--bytes", "64,45", "--out", str(path))
    assert outcome.code == 2
    assert "--bytes 45: mode qarma5 wants a multiple of 8" in outcome.err
    assert outcome.out == ""
    assert not list(tmp_path.glob("a.jsonl*"))


@pytest.mark.slow
@pytest.mark.skipif(
    not (shutil.which("qemu-s390x") and shutil.which("s390x-linux-gnu-gcc")),
    reason="apt-get install gcc-s390x-linux-gnu libc6-dev-s390x-cross qemu-user",
)
def test_a_big_endian_machine_is_emulated(real_lab: Run) -> None:
    outcome = real_lab("list", "--target", "qemu-s390x", "--flags=-O0", "--json")
    assert outcome.code == 0, outcome.err
    assert json.loads(outcome.out.splitlines()[0])["big_endian"] is True


@reads_all
def test_the_module_runs_as_a_program() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "everycore", "--version"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(PACKAGE.parent)},
    )
    assert done.returncode == 0
    assert done.stdout.startswith("everycore")


def test_a_kernel_without_the_mode_is_named(real_lab: Run) -> None:
    done = real_lab("bench", "--quick", "--kernel", "c_ctmul64", "--mode", "ctr")
    assert done.code == 2
    assert "c_ctmul64 (ghash) has none of the modes ctr" in done.err


def test_a_name_that_several_primitives_have_is_proposed_once(real_lab: Run) -> None:
    done = real_lab("bench", "--kernel", "c_rf")
    assert done.code == 2
    assert done.err.count("c_ref") == 1
