# SPDX-License-Identifier: MIT
"""LLVM's tools: which serve, what is asked of them, and what they say."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from world import Lab

from everycore.environment.context import Completed
from everycore.environment.errors import CannotRunError, EverycoreError
from everycore.estimate.asm import ForeignError, decode
from everycore.estimate.core_estimates import Core
from everycore.estimate.executed import emulator_version
from everycore.estimate.mca import Cpu, Llvm, cycles, disassemble, find_llvm, without_fused
from everycore.estimate.models import Executed, Models
from everycore.model.domain import Target

CPU = Cpu("neoverse-n1")
LLVM = Llvm("llvm-objdump-19", "llvm-mca-19", "19.1.7")
LISTING = """
x:     file format elf64-littleaarch64

Disassembly of section .text:

0000000000400520 <f>:
  400520:      \tb.ne\t0x400530 <f+0x10>
  400524:      \tldr\tx0, 0x400600 <f+0xe0>
  400528:      \tadrp\tx1, 0x4a0000 <g+0x10>
  40052c:      \tadd\tx0, x1, #0x10  // a comment
"""


@dataclass
class Tools:
    """LLVM's tools that are installed, by version; a turn costs 7 cycles, and a run 3 more."""

    versions: tuple[str, ...] = ("19.1.7",)
    calls: list[list[str]] = field(default_factory=list)
    stdin: str = ""
    refuses: str = ""

    def run(self, argv: Sequence[str], *, stdin: str = "", cwd: Path | None = None) -> Completed:
        del cwd
        self.calls.append(list(argv))
        _, _, suffix = argv[0].rpartition("-")
        version = next((v for v in self.versions if v.split(".")[0] == suffix), "")
        version = version or (self.versions[0] if suffix in ("mca", "objdump") else "")
        if not version:
            raise CannotRunError(f"cannot run {argv[0]}: No such file or directory")
        if "--version" in argv:
            return Completed(0, f"Debian LLVM version {version}\n")
        if "-d" in argv:
            return Completed(0, LISTING)
        self.stdin = stdin
        if self.refuses:
            return Completed(1, "", f"<stdin>:1:1: error: {self.refuses}\n")
        turns = int(next(a for a in argv if a.startswith("-iterations=")).split("=")[1])
        lines = len(stdin.splitlines())
        return Completed(0, f"Iterations: {turns}\nTotal Cycles:      {turns * lines * 7 + 3}\n")


@pytest.fixture
def tools() -> Tools:
    return Tools()


@pytest.fixture
def lab(tools: Tools, tmp_path: Path) -> Lab:
    return Lab(tools, tmp_path, {})


def test_the_newest_version_that_serves_is_taken(lab: Lab, tools: Tools) -> None:
    tools.versions = ("14.0.6", "19.1.7", "21.1.0")
    assert find_llvm(lab.context()) == Llvm("llvm-objdump-21", "llvm-mca-21", "21.1.0")


def test_without_a_version_that_serves_the_error_names_one(lab: Lab, tools: Tools) -> None:
    tools.versions = ("14.0.6",)
    with pytest.raises(EverycoreError, match="no llvm-mca with a version from 19 to 22") as error:
        find_llvm(lab.context())
    assert "llvm-mca is version 14.0.6" in error.value.message
    assert "apt-get install llvm-19" in error.value.hint


def test_places_in_the_code_become_labels_and_comments_go(lab: Lab) -> None:
    assert disassemble(lab.context(), LLVM, Path("x")) == {
        0x400520: "b.ne target",
        0x400524: "ldr x0, [x1]",
        0x400528: "adrp x1, target",
        0x40052C: "add x0, x1, #0x10",
    }


def test_a_turn_is_the_slope_between_few_and_many(lab: Lab, tools: Tools) -> None:
    trace = [decode("add x0, x1, x2"), decode("ret"), decode("b target"), decode("b.ne target")]
    assert cycles(lab.context(), LLVM, CPU, trace, steady=True) == 14.0
    assert tools.stdin == "add x0, x1, x2\nb.ne target\n"  # neither return nor jump
    assert "-call-latency=1" in tools.calls[-1]
    assert cycles(lab.context(), LLVM, CPU, trace, steady=False) == 17.0


def test_what_llvm_refuses_is_said(lab: Lab, tools: Tools) -> None:
    tools.refuses = "instruction requires: sve"
    with pytest.raises(EverycoreError, match=r"cannot look at the trace.*requires: sve"):
        cycles(lab.context(), LLVM, CPU, [decode("nop")], steady=True)


AES = "aese v0.16b, v9.16b;aesmc v0.16b, v0.16b;aese v1.16b, v9.16b;eor v2.16b, v2.16b, v1.16b"


def test_only_pairs_side_by_side_are_fused() -> None:
    trace = [decode(text) for text in AES.split(";")]
    assert [instruction.mnemonic for instruction in without_fused(trace)] == ["aese", "aese", "eor"]
    apart = [trace[0], trace[2], trace[1]]
    assert without_fused(apart) == apart


@pytest.mark.parametrize(
    ("pair", "serial", "pair_cycles", "expected"),
    [
        ("apart", False, 3, 28.0),
        ("fused", False, 3, 21.0),
        ("half", False, 3, 24.5),
        ("half", True, 3, 21.0),
        ("half", True, 2, 20.0),  # one pair, and one cycle less than LLVM has
    ],
)
def test_cores_count_pairs_differently(
    lab: Lab, pair: str, serial: bool, pair_cycles: int, expected: float
) -> None:
    core = Core("c", "C", "llvm-mca", "", mcpu="c", pair=pair, pair_cycles=pair_cycles)
    code = dict(enumerate(AES.split(";")))
    executed = Executed(tuple(code) * 2, code)
    models = Models(lab.context(), LLVM)
    from everycore.estimate.steady import Turn

    assert models.turn(core, executed, Turn(0, 4), serial=serial) == expected


def test_a_core_without_an_instruction_gets_no_estimate(lab: Lab) -> None:
    core = Core("c", "C", "llvm-mca", "", mcpu="c", lacks=("eor3",))
    executed = Executed((4,), {4: "eor3 v0.16b, v1.16b, v2.16b, v3.16b"})
    with pytest.raises(ForeignError, match="C has no EOR3"):
        Models(lab.context(), LLVM).call(core, executed, serial=False)


def test_an_address_without_code_is_an_error(lab: Lab) -> None:
    with pytest.raises(EverycoreError, match="no instruction at 0x8"):
        Executed((4, 8), {4: "nop"}).texts((4, 8))
    core = Core("c", "C", "llvm-mca", "", mcpu="c")
    with pytest.raises(EverycoreError, match="C needs llvm-mca"):
        Models(lab.context(), None).call(core, Executed((4,), {4: "nop"}), serial=False)


def test_the_emulator_tells_its_version_or_how_to_get_it(lab: Lab, tools: Tools) -> None:
    target = Target("t", "", emulator=("qemu-19",), packages=("qemu-user",))
    assert emulator_version(lab.context(), target) == "19.1.7"
    tools.versions = ()
    with pytest.raises(EverycoreError, match="cannot run qemu-19") as error:
        emulator_version(lab.context(), target)
    assert "apt-get install qemu-user" in error.value.hint
