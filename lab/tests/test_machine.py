# SPDX-License-Identifier: MIT
from pathlib import Path

import pytest
from world import Lab, data_text

from everycore import catalog, machine
from everycore.context import Completed
from everycore.model import Machine, Revision, Tree


def test_x86_facts_are_those_of_the_first_processor() -> None:
    facts = machine.parse_cpuinfo(data_text("cpuinfo_x86.txt"))
    assert facts["vendor_id"] == "AuthenticAMD"
    assert (facts["cpu family"], facts["model"], facts["stepping"]) == ("26", "2", "1")


def test_arm_cores_are_named_by_their_numbers() -> None:
    facts = machine.parse_cpuinfo(data_text("cpuinfo_arm.txt"))
    assert machine.arm_name(facts) == "Arm implementer 0x41 part 0xd03"
    assert machine.arm_name({}) == ""


def test_a_machine_has_a_title() -> None:
    assert Machine("AMD EPYC", family="26", model="2").title() == "AMD EPYC family 26 model 2"
    assert Machine("m68k").title() == "m68k"


def test_this_machine_has_a_cpu_and_a_kernel(lab: Lab) -> None:
    here = machine.describe(lab.context())
    assert here.cpu
    assert here.kernel


def test_the_revision_is_that_of_the_tree(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".git").touch()
    tree = Tree(tmp_path, True)
    assert machine.revision(lab.context(), tree) == Revision("0123456789ab", False)
    said = {"rev-parse": "0123456789ab\n", "status": " M src/a.c\n"}
    monkeypatch.setattr(lab.runner, "run", lambda argv, **_: Completed(0, said[argv[3]]))
    assert str(machine.revision(lab.context(), tree)) == "0123456789ab+changes"


def test_changes_of_all_that_is_compiled_count(lab: Lab, tmp_path: Path) -> None:
    (tmp_path / ".git").touch()
    machine.revision(lab.context(), Tree(tmp_path, True))
    asked = next(call for call in lab.runner.calls if "status" in call)
    assert {*catalog.SOURCE_DIRS, *catalog.HEADER_DIRS} <= {*asked}


def test_without_git_there_is_no_revision(lab: Lab, tmp_path: Path) -> None:
    assert str(machine.revision(lab.context(), Tree(tmp_path, True))) == "no-commit"
    (tmp_path / ".git").touch()
    assert machine.revision(lab.context(), Tree(tmp_path, False)) == Revision("", False)
    lab.runner.absent = ("git",)
    assert machine.revision(lab.context(), Tree(tmp_path, True)) == Revision("", False)
