# SPDX-License-Identifier: MIT
"""everycore subject, with a subject of the tests in a tree of its own."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console
from world import DATA, Lab

from everycore.compile.catalog import find_tree
from everycore.model.targets import load_target
from everycore.report.subject_tables import FunctionResult, beside
from everycore.subjects.assemble import DRIVER

DESCRIPTION = """
description = "a subject of the tests"
target = "qemu-aarch64"
folder = "theirs"
files = ["xor.c"]
adapter = "adapter.c"
[functions.adds]
computes = "ghash"
technique = "sum"
key = "adds_key"
"""
WRONG = '[functions.wrong]\ncomputes = "ctr"\ntechnique = "none"\n'


@pytest.fixture
def tree(real_lab: Lab, real_cache: Path) -> Path:
    """The C tree as it is, with other subjects."""
    original = find_tree(real_lab.context().package)
    target = load_target(original, "qemu-aarch64")
    for name in (target.compiler, target.emulator[0]):
        if not shutil.which(name):
            pytest.skip(f"no {name}: apt-get install {' '.join(target.packages)}")
    root = real_cache / "subjects-tree"
    shutil.rmtree(root, ignore_errors=True)
    shutil.copytree(DATA / "subject", root / "catalog/subjects")
    for name in ("include", "src", "harness", "catalog/targets"):
        (root / name).symlink_to(original.root / name)
    for source in (
        *(original.root / "catalog/subjects" / name for name in DRIVER),
        *(original.root / "catalog/subjects").glob("*.h"),
    ):
        shutil.copy(source, root / "catalog/subjects")
    (root / "catalog/subjects/fake.toml").write_text(DESCRIPTION, encoding="utf-8")
    real_lab.env["EVERYCORE_TREE"] = str(root)
    return root


def test_counts_are_shown_and_given_as_json(tree: Path, real_lab: Lab) -> None:
    del tree
    done = real_lab("subject", "count")
    assert done.code == 0, done.err
    assert "fake: a subject of the tests" in done.out
    assert "adds" in done.out
    assert "-O2" in done.out
    done = real_lab("subject", "count", "fake", "--json", "--key-bits", "128", "--key-bits", "256")
    rows = [json.loads(line) for line in done.out.splitlines()]
    assert [row["key_bits"] for row in rows] == [128, 256]
    assert rows[0]["per_byte"] == rows[1]["per_byte"] > 5
    assert set(rows[0]["whole"]) == {"512", "4096"}  # 1500 bytes are not whole blocks


@pytest.mark.usefixtures("tree")
def test_messages_of_any_length_are_counted(real_lab: Lab) -> None:
    done = real_lab("subject", "count", "--bytes", "16,100", "--bytes", "160", "--json")
    whole = json.loads(done.out)["whole"]
    assert set(whole) == {"16", "160"}  # 100 bytes are not whole blocks
    assert whole["16"] > whole["160"]
    assert "no message size" in real_lab("subject", "count", "--bytes", "0").err


def test_a_wrong_answer_is_told_and_the_others_are_counted(tree: Path, real_lab: Lab) -> None:
    (tree / "catalog/subjects/fake.toml").write_text(DESCRIPTION + WRONG, encoding="utf-8")
    done = real_lab("subject", "check")
    assert done.code == 1
    assert "fake wrong does not compute ctr" in done.err
    assert "adds" in done.out
    assert "wrong" not in done.out


def test_one_function_is_chosen_by_name(tree: Path, real_lab: Lab) -> None:
    (tree / "catalog/subjects/fake.toml").write_text(DESCRIPTION + WRONG, encoding="utf-8")
    assert real_lab("subject", "check", "--function", "adds").code == 0
    done = real_lab("subject", "count", "--function", "ads")
    assert (done.code, "unknown function of fake 'ads'" in done.err) == (2, True)


def test_what_cannot_be_had_is_skipped_and_told(tree: Path, real_lab: Lab) -> None:
    text = DESCRIPTION.replace('folder = "theirs"', "").replace("xor.c", "xor.pl")
    text = 'suite = "test"\npackage = "tool"\nunpack = ["lib"]\n' + text
    (tree / "catalog/subjects/fake.toml").write_text(text, encoding="utf-8")
    real_lab.env["EVERYCORE_MIRROR"] = str(tree)
    (tree / "catalog/subjects/other.toml").write_text(DESCRIPTION, encoding="utf-8")
    done = real_lab("subject", "check")
    assert done.code == 0
    assert "skipped: fake:" in done.err
    assert "adds" in done.out
    done = real_lab("subject", "count", "fake")
    assert done.code == 2
    assert "skipped: fake:" in done.err
    assert "no subject could be looked at" in done.err


def test_an_adapter_that_is_not_there_is_named(tree: Path, real_lab: Lab) -> None:
    (tree / "catalog/subjects/adapter.c").unlink()
    done = real_lab("subject", "check")
    assert (done.code, "fake.toml: no adapter adapter.c is beside it" in done.err) == (2, True)


def test_bad_words_are_named(lab: Lab) -> None:
    for arguments, why in (
        (["linux-vax"], "unknown subject 'linux-vax'"),
        (["--flags", "'"], "--flags"),
        (["--key-bits", "100"], "no keys of 100 bits"),
        (["--target", "qemu-vax"], "unknown target 'qemu-vax'"),
    ):
        done = lab("subject", "count", *arguments)
        assert (done.code, why in done.err) == (2, True), done.err


def test_what_there_is_is_listed(lab: Lab) -> None:
    done = lab("subject", "list", "--json")
    rows = {row["name"]: row for row in map(json.loads, done.out.splitlines())}
    assert rows["c_bitslice64"]["origin"] == "everycore"
    assert rows["c_bitslice64"]["is_here"]
    assert rows["linux-6.1"]["origin"] == "bookworm linux"
    assert rows["linux-6.1"]["measured"] == ["library-cbc-enc", "generic-cbc-enc"]
    assert 100e6 < rows["linux-6.1"]["fetched_bytes"] < 200e6
    assert not rows["linux-6.1"]["is_here"]
    done = lab("subject", "list", "linux-6.1")
    assert "MB to fetch" in done.out
    assert "generic-ecb-dec" in " ".join(done.out.split())


def test_get_wants_names_and_says_where_the_sources_are(lab: Lab) -> None:
    assert lab("subject", "get").code == 2
    done = lab("subject", "get", "c_ref")
    assert (done.code, "c_ref: no package, in /" in done.out) == (0, True)
    lab.env["EVERYCORE_MIRROR"] = str(lab.folder)
    done = lab("subject", "get", "bearssl")
    assert (done.code, "bearssl_0.6" in done.err) == (2, True)


def test_a_file_that_does_not_compile_is_told_and_the_others_are_checked(
    tree: Path, real_lab: Lab
) -> None:
    shutil.copytree(tree / "catalog/subjects/theirs", tree / "catalog/subjects/broken")
    (tree / "catalog/subjects/broken/xor.c").write_text("#error broken on purpose\n")
    text = DESCRIPTION.replace("theirs", "broken")
    (tree / "catalog/subjects/early.toml").write_text(text, encoding="utf-8")
    done = real_lab("subject", "check")
    assert done.code == 1
    assert "early: gcc" in done.err
    assert "broken on purpose" in " ".join(done.err.split())
    assert "adds" in done.out


def counted(subject: str, per_byte: float, whole: float, *, is_ours: bool) -> FunctionResult:
    return FunctionResult(
        subject, "", "", "sha256-blocks", "sha256-blocks", "", 128, per_byte, {64: whole}, is_ours
    )


def test_our_counts_stand_beside_the_best_of_others() -> None:
    theirs = [counted("one", 2.0, 4.0, is_ours=False), counted("two", 1.0, 5.0, is_ours=False)]
    ours = counted("kernel", 1.5, 3.0, is_ours=True)
    console = Console(width=80)
    with console.capture() as shown:
        for group in beside([*theirs, ours], (64, 128)):
            console.print(group)
    rows = [line.split() for line in shown.get().splitlines() if "sha256-blocks" in line]
    assert rows == [
        ["sha256-blocks", "one", "2.00", "4.00", "-"],
        ["sha256-blocks", "two", "1.00", "5.00", "-"],
        ["sha256-blocks", "kernel", "1.50", "3.00", "-"],
        ["sha256-blocks", "ours", "/", "theirs", "1.50", "0.75", "-"],
    ]
    assert not list(beside(theirs, (64,)))
    assert not list(beside([ours], (64,)))
    elsewhere = [replace(theirs[0], target="qemu-ppc64le"), replace(ours, target="qemu-aarch64")]
    assert not list(beside(elsewhere, (64,)))
    assert not list(beside([replace(theirs[0], per_byte=None), ours], ()))
