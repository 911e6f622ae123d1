# SPDX-License-Identifier: MIT
from dataclasses import replace
from pathlib import Path

import pytest
from world import PACKAGE, Lab, data_text

from everycore.compile import catalog
from everycore.environment.context import Completed
from everycore.model import cores, targets
from everycore.model.domain import Machine, Revision, Tree
from everycore.run import machine
from everycore.run.machine import CPU, Facts


def test_x86_facts_are_those_of_the_first_processor() -> None:
    facts = machine.parse_cpuinfo(data_text("cpuinfo_x86.txt"))
    assert facts["vendor_id"] == "AuthenticAMD"
    assert (facts["cpu family"], facts["model"], facts["stepping"]) == ("26", "2", "1")


def test_arm_cores_are_named_by_their_numbers() -> None:
    facts = machine.parse_cpuinfo(data_text("cpuinfo_arm.txt"))
    assert machine.arm_name(facts) == "Arm implementer 0x41 part 0xd03"
    unknown = data_text("cpuinfo_arm.txt").replace("0xd03", "0xfff")
    described = machine.describe(Facts("Linux", "", "aarch64", {"/proc/cpuinfo": unknown}))
    assert described.cpu == "Arm implementer 0x41 part 0xfff"
    assert (described.core, described.midr) == ("", "0x410ffff4")
    assert machine.arm_name({}) == ""


PI = Facts(
    "Linux",
    "6.6.31+rpt-rpi-v8",
    "aarch64",
    {
        "/proc/cpuinfo": data_text("cpuinfo_arm.txt") + "\nprocessor\t: 1\nCPU part\t: 0xd08\n",
        "/proc/device-tree/model": "Raspberry Pi 3 Model B Plus Rev 1.3\0",
        f"{CPU}0/regs/identification/midr_el1": "0x00000000410fd034\n",
        f"{CPU}1/cpufreq/cpuinfo_max_freq": "1400000\n",
        f"{CPU}1/cpufreq/scaling_cur_freq": "600000\n",
        f"{CPU}1/cpufreq/scaling_governor": "ondemand\n",
        "/sys/class/thermal/thermal_zone0/temp": "48312\n",
        "/sys/devices/platform/soc/soc:firmware/get_throttled": "0x50000\n",
    },
)


def test_a_board_is_described_with_the_core_that_measures() -> None:
    little, big = machine.describe(PI, 0), machine.describe(PI, 1)
    assert little.title() == "cortex-a53 r0p4 (Raspberry Pi 3 Model B Plus Rev 1.3)"
    assert (little.core, little.midr, little.cpu_index) == ("cortex-a53", "0x410fd034", 0)
    assert (big.core, big.midr, big.max_mhz) == ("cortex-a72", "0x410fd084", 1400)
    assert (little.cores, little.kernel) == (2, "6.6.31+rpt-rpi-v8")


def test_the_core_that_measures_is_one_of_the_fastest() -> None:
    assert machine.fastest_cpu(PI) == 1
    capacities = {f"{CPU}0/cpu_capacity": "1024\n", f"{CPU}1/cpu_capacity": "446\n"}
    assert machine.fastest_cpu(replace(PI, texts={**PI.texts, **capacities})) == 0
    assert machine.fastest_cpu(Facts("Linux", "", "riscv64")) == -1
    allowed = {"/proc/self/status": "Cpus_allowed:\t5\nCpus_allowed_list:\t0,2-3\n"}
    assert machine.fastest_cpu(replace(PI, texts={**PI.texts, **allowed})) == 0
    assert len(machine.kinds(PI)) == 2


def test_cores_of_one_kind_and_speed_are_alike() -> None:
    assert machine.like(PI, 1) == (1,)
    three = "".join(f"processor\t: {n}\nmodel\t\t: 143\n" for n in range(3))
    server = Facts("Linux", "", "x86_64", {"/proc/cpuinfo": three})
    assert machine.like(server, 1) == (1, 2, 0)
    slow = {f"{CPU}{n}/cpufreq/cpuinfo_max_freq": f"{5000 - n // 2 * 1000}\n" for n in range(3)}
    assert machine.like(replace(server, texts={**server.texts, **slow}), 0) == (0, 1)


def test_boards_of_one_model_are_told_apart_without_being_named() -> None:
    def board(*ids: str) -> str:
        texts = {path: f"{text}\n" for path, text in zip(machine.BOARD_IDS, ids, strict=False)}
        return machine.describe_board(replace(PI, texts={**PI.texts, **texts}), 0).installation

    name = "0123456789abcdef0123456789abcdef"
    assert board(name) == board(name)
    assert len({board(name), board(name[::-1]), board(name, "10000000a"), board(name, "b")}) == 4
    assert board() == ""
    assert board(name) not in name
    assert "machine-id" not in "".join(machine.FILES)  # of this machine nobody asks it


def test_conditions_are_what_can_be_read() -> None:
    assert machine.conditions(PI, 1) == {
        "governor": "ondemand", "mhz": 600, "temperature_c": 48.312, "throttled": "0x50000",
    }  # fmt: skip
    assert machine.conditions(Facts("Linux", "", "riscv64"), 0) == {}


def test_a_counter_that_is_closed_to_users_is_noticed() -> None:
    def said(level: str, counter: str) -> bool:
        return machine.may_not_count(Facts("Linux", "", "", {machine.PARANOID: level}), counter)

    assert said("3\n", "cntvct+addchain")
    assert not said("2\n", "cntvct+addchain")
    assert not said("-1\n", "clock+addchain")
    assert not said("3\n", "perf:cycles")
    assert not said("", "cntvct+addchain")


def test_cores_are_known_by_their_register() -> None:
    known = set(targets.load_cpus(catalog.find_tree(PACKAGE)))
    assert {"cortex-a53", "cortex-a72", "thunderx2", "neoverse-n1"} <= known & {
        *cores.NAMES.values()
    }
    assert cores.name(0x413FD0C1) == "neoverse-n1"
    assert cores.revision(0x413FD0C1) == "r3p1"
    assert cores.name(0) == ""


def test_a_machine_has_a_title() -> None:
    assert Machine("AMD EPYC", family="26", model="2").title() == "AMD EPYC family 26 model 2"
    assert Machine("m68k").title() == "m68k"


def test_this_machine_has_a_cpu_and_a_kernel(lab: Lab) -> None:
    here = machine.describe(machine.gather(lab.context()))
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


@pytest.mark.parametrize("known", ["0123456789ab", "0123456789ab+changes"])
def test_a_wheel_knows_the_commit_that_it_was_built_from(
    lab: Lab, tmp_path: Path, known: str
) -> None:
    wheel = Tree(tmp_path, is_checkout=False)
    assert str(machine.revision(lab.context(), wheel)) == "no-commit"
    (tmp_path / "REVISION").write_text(known + "\n")
    assert str(machine.revision(lab.context(), wheel)) == known


def test_two_hosts_of_one_model_have_ids_of_their_own(lab: Lab, tmp_path: Path) -> None:
    context = lab.context()
    first = machine.installation(context)
    assert len(first) == 8
    assert machine.installation(context) == first
    other = replace(context, env={**context.env, "XDG_STATE_HOME": str(tmp_path / "other")})
    assert machine.installation(other) != first
    first_host, second_host = (
        Machine("A CPU", installation=first),
        Machine("A CPU", installation="other"),
    )
    assert first_host.is_same_host(first_host)
    assert not first_host.is_same_host(second_host)
    assert first_host.is_same_host(Machine("A CPU"))  # stored before there were ids
    assert not first_host.is_same_host(first_host.replace(cpu="another"))
    (tmp_path / "file").write_text("")
    unwritable = replace(context, env={**context.env, "XDG_STATE_HOME": str(tmp_path / "file")})
    assert machine.installation(unwritable) == ""
