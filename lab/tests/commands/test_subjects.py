# SPDX-License-Identifier: MIT
"""everycore subjects, with a subject of the tests in a tree of its own."""

import json
import shutil
from pathlib import Path

import pytest
from world import DATA, Lab

from everycore.catalog import find_tree
from everycore.subjects.assemble import DRIVER
from everycore.targets import load_target

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
def tree(real_lab: Lab, tmp_path: Path) -> Path:
    """The C tree as it is, with other subjects."""
    original = find_tree(real_lab.context().package)
    target = load_target(original, "qemu-aarch64")
    for name in (target.compiler, target.emulator[0]):
        if not shutil.which(name):
            pytest.skip(f"no {name}: apt-get install {' '.join(target.packages)}")
    root = tmp_path / "tree"
    shutil.copytree(DATA / "subject", root / "subjects")
    for name in ("include", "src", "harness", "targets"):
        (root / name).symlink_to(original.root / name)
    for name in (*DRIVER, "answers.h", "job.h", "subject.h", "verbs.h"):
        shutil.copy(original.root / "subjects" / name, root / "subjects")
    (root / "subjects/fake.toml").write_text(DESCRIPTION, encoding="utf-8")
    real_lab.env["EVERYCORE_TREE"] = str(root)
    return root


def test_counts_are_shown_and_given_as_json(tree: Path, real_lab: Lab) -> None:
    del tree
    done = real_lab("subjects")
    assert done.code == 0, done.err
    assert "fake: a subject of the tests" in done.out
    assert "adds" in done.out
    assert "-O2" in done.out
    done = real_lab("subjects", "fake", "--json", "--key-bits", "128", "--key-bits", "256")
    rows = [json.loads(line) for line in done.out.splitlines()]
    assert [row["key_bits"] for row in rows] == [128, 256]
    assert rows[0]["per_byte"] == rows[1]["per_byte"] > 5
    assert set(rows[0]["whole"]) == {"512", "4096"}  # 1500 bytes are not whole blocks


def test_a_wrong_answer_is_told_and_the_others_are_counted(tree: Path, real_lab: Lab) -> None:
    (tree / "subjects/fake.toml").write_text(DESCRIPTION + WRONG, encoding="utf-8")
    done = real_lab("subjects", "--check")
    assert done.code == 1
    assert "fake wrong does not compute ctr" in done.err
    assert "adds" in done.out
    assert "wrong" not in done.out


def test_one_function_is_chosen_by_name(tree: Path, real_lab: Lab) -> None:
    (tree / "subjects/fake.toml").write_text(DESCRIPTION + WRONG, encoding="utf-8")
    assert real_lab("subjects", "--function", "adds", "--check").code == 0
    done = real_lab("subjects", "--function", "ads")
    assert (done.code, "unknown function of fake 'ads'" in done.err) == (2, True)


def test_what_cannot_be_had_is_skipped_and_told(tree: Path, real_lab: Lab) -> None:
    text = DESCRIPTION.replace('folder = "theirs"', "").replace("xor.c", "xor.pl")
    text = 'suite = "test"\npackage = "tool"\nunpack = ["lib"]\n' + text
    (tree / "subjects/fake.toml").write_text(text, encoding="utf-8")
    real_lab.env["EVERYCORE_MIRROR"] = str(tree)
    (tree / "subjects/other.toml").write_text(DESCRIPTION, encoding="utf-8")
    done = real_lab("subjects", "--check")
    assert done.code == 0
    assert "skipped: fake:" in done.err
    assert "adds" in done.out
    done = real_lab("subjects", "fake")
    assert done.code == 2
    assert "skipped: fake:" in done.err
    assert "no subject could be looked at" in done.err


def test_an_adapter_that_is_not_there_is_named(tree: Path, real_lab: Lab) -> None:
    (tree / "subjects/adapter.c").unlink()
    done = real_lab("subjects", "--check")
    assert (done.code, "fake.toml: no adapter adapter.c is beside it" in done.err) == (2, True)


def test_bad_words_are_named(lab: Lab) -> None:
    for arguments, why in (
        (["linux-vax"], "unknown subject 'linux-vax'"),
        (["--flags", "'"], "--flags"),
        (["--key-bits", "100"], "no keys of 100 bits"),
        (["--target", "qemu-vax"], "unknown target 'qemu-vax'"),
    ):
        done = lab("subjects", *arguments)
        assert (done.code, why in done.err) == (2, True), done.err
