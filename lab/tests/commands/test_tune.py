# SPDX-License-Identifier: MIT
"""`everycore tune`: its answers for stored runs, and what it refuses and does not store."""

from dataclasses import replace
from pathlib import Path

import pytest
from library_reads import TREE, reads_all
from world import Lab, objects

from everycore.commands import tune
from everycore.compile import catalog
from everycore.environment.errors import EverycoreError
from everycore.model.domain import Tree
from everycore.model.tuning import Choice
from everycore.run import stored_tuning
from everycore.run.machine import Facts
from everycore.store import machine_sets, run_files

STORED = TREE.root / "results/intel-granite-rapids/tune.jsonl.xz"
CHOICE = Choice("all features", "aes", "ctr", 64, 1, "wide", "narrow", 0.2)


@reads_all
def test_a_stored_run_is_judged_by_todays_rule(real_lab: Lab) -> None:
    done = real_lab("tune", str(STORED))
    assert "Selection, judged by time" in done.out
    assert "No other bits of tuning would be better" in done.out, done.out
    run, *choices = objects(real_lab("tune", str(STORED), "--json").out)
    assert (run["type"], run["command"]) == ("run", "tune")
    assert {one["type"] for one in choices} == {"choice"}
    signs = {(one["hardware"], one["selected"]) for one in choices if one["mode"] == "rsa-private"}
    newest = {one for one in signs if one[0] in ("all features", "no AVX-512")}
    assert newest == {("all features", "x86_ifma"), ("no AVX-512", "x86_adx_intel")}


@pytest.mark.parametrize("is_busy", [True, False])
def test_nothing_is_stored_of_a_run_that_decides_nothing(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, is_busy: bool
) -> None:
    def store(*_: object, **__: object) -> None:
        pytest.fail("the run was stored")

    reason = "the core was busy" if is_busy else "there is one core"
    busy = CHOICE.replace(undecided=reason)
    monkeypatch.setattr(stored_tuning, "judge", lambda *_: [busy if is_busy else CHOICE])
    monkeypatch.setattr(tune, "doubts_of", lambda _: [] if is_busy else [reason])
    monkeypatch.setattr(machine_sets, "store", store)
    done = lab("tune", "--store", "somewhere", "--out", str(lab.folder / "a.jsonl"))
    assert done.code == 1
    assert f"nothing was stored: {reason}" in done.err
    assert (lab.folder / "a.jsonl").exists(), "the samples are kept"


@pytest.mark.parametrize(
    ("arguments", "messages"),
    [
        (("nowhere.jsonl",), ("nowhere.jsonl",)),
        (("a.jsonl", "--store", "x"), ("FILE is a run that is there already",)),
        (("--store", "My Machine"), ("small letters, digits and -", "intel-granite-rapids")),
        (("--store", "../x"), ("small letters, digits and -",)),
        (("--store", "x", "--out", "-"), ("--store wants the samples in a file",)),
        (("a.jsonl.partial",), ("cut off", "measures all anew")),
        (("--target", "qemu-aarch64"), ("qemu-aarch64 is an emulator",)),
        (("--target", "nowhere"), ("unknown target",)),
    ],
)
def test_bad_input_is_refused(
    lab: Lab, arguments: tuple[str, ...], messages: tuple[str, ...]
) -> None:
    lab(*("tune", *arguments)).refuses(*messages)


def test_a_run_of_another_command_is_refused(lab: Lab) -> None:
    file = TREE.root / "results/amd-zen5-epyc/bench.jsonl.xz"
    lab("tune", str(file)).refuses("does not tell the features", "everycore tune")


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"arch": ["x86"], "features": []},
        *(
            {"arch": "x86", "features": bad}
            for bad in (None, "sse2", [1], ["sse2,aes"], ["sse2 aes"], [""])
        ),
    ],
)
def test_features_that_are_no_list_of_names_are_refused(options: dict[str, object]) -> None:
    results = run_files.read(STORED)
    with pytest.raises(EverycoreError, match="does not tell the features"):
        stored_tuning.features_of(replace(results, run=results.run.replace(options=options)))


def test_store_is_refused_before_anything_is_measured(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    there = tmp_path / "results/there/tune.jsonl.xz"
    there.parent.mkdir(parents=True)
    there.write_bytes(STORED.read_bytes())
    here = run_files.read(STORED).run.machine
    machine_sets.refuse_other_host(tmp_path / "results", "there", here)
    machine_sets.refuse_other_host(tmp_path / "results", "elsewhere", here.replace(model="1"))
    for other in (here.replace(model="1"), here.replace(installation="0123")):
        with pytest.raises(EverycoreError, match="is of another host"):
            machine_sets.refuse_other_host(tmp_path / "results", "there", other)
    monkeypatch.setattr(catalog, "tree_of", lambda _: Tree(TREE.root, is_checkout=False))
    lab("tune", "--store", "there").refuses("belong to a checkout", "clone the repository")


def test_a_few_undecided_choices_do_not_keep_a_run_from_results(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored: list[str] = []

    def store(folder: Path, machine: str, *_: object, **__: object) -> Path:
        stored.append(machine)
        return folder / machine

    busy = CHOICE.replace(undecided="busy", loss=0.0)
    good = CHOICE.replace(loss=0.0)
    monkeypatch.setattr(stored_tuning, "judge", lambda *_: [busy, *[good] * 9])
    monkeypatch.setattr(tune, "doubts_of", lambda _: [])
    monkeypatch.setattr(machine_sets, "store", store)
    done = lab("tune", "--store", "somewhere-new", "--out", str(lab.folder / "a.jsonl"))
    assert (done.code, stored) == (0, ["somewhere-new"]), done.err
    assert "not decided: busy" in done.err


CORE = "processor\t: {}\nvendor_id\t: x\nmodel name\t: {}\nflags\t\t: fpu {}\n"


def facts(*blocks: str) -> Facts:
    return Facts("Linux", "6", "x86_64", {"/proc/cpuinfo": "\n".join(blocks)})


def test_machines_whose_times_decide_nothing_are_named() -> None:
    good = [CORE.format(n, "EPYC", "constant_tsc") for n in range(2)]
    assert tune.doubts_of(facts(*good)) == []
    assert "one core" in tune.doubts_of(facts(good[0]))[0]
    old = [CORE.format(n, "Athlon", "tsc") for n in range(2)]
    assert "no constant_tsc" in tune.doubts_of(facts(*old))[0]
    emulated = [CORE.format(n, "QEMU Virtual CPU", "constant_tsc") for n in range(2)]
    assert "QEMU made this CPU up" in tune.doubts_of(facts(*emulated))[0]
    assert tune.doubts_of(facts("processor\t: 0\nBogoMIPS\t: 2\n", "processor\t: 1\n")) == []


def test_reasons_are_counted() -> None:
    busy = [CHOICE.replace(undecided="busy")] * 3
    assert tune.reasons([CHOICE, *busy, CHOICE.replace(undecided="odd")]) == [
        "busy (3 choices)",
        "odd (1 choice)",
    ]


def test_better_bits_are_named() -> None:
    features = ["avx2", "tune-zmm"]
    assert "No other bits" in tune.bits_sentence(features, (["tune-zmm"], 0.0))
    better = tune.bits_sentence(features, ([], 0.03))
    assert better.startswith("Better bits of tuning: none instead of tune-zmm; the worst loss")
    assert "not looked" in tune.bits_sentence(features, None)
