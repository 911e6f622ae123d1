# SPDX-License-Identifier: MIT
"""Describes the machine that measures, without naming it."""

import hashlib
import platform
import re
import secrets
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from everycore.environment.context import Context
from everycore.environment.errors import EverycoreError
from everycore.model import cores
from everycore.model.domain import Machine, Revision, Tree

COMPILED = ("include", "src", "harness", "catalog/peers")
PARANOID = "/proc/sys/kernel/perf_event_paranoid"  # Documentation/admin-guide/sysctl/kernel.rst
CPU = "/sys/devices/system/cpu/cpu"
# Files that describe a Linux machine without any program, as patterns of paths.
FILES = (
    "/proc/cpuinfo",
    "/proc/self/status",
    "/proc/device-tree/model",
    "/proc/device-tree/hypervisor/compatible",
    PARANOID,
    f"{CPU}[0-9]*/regs/identification/midr_el1",
    f"{CPU}[0-9]*/cpu_capacity",
    f"{CPU}[0-9]*/cpufreq/cpuinfo_max_freq",
    f"{CPU}[0-9]*/cpufreq/scaling_cur_freq",
    f"{CPU}[0-9]*/cpufreq/scaling_governor",
    "/sys/class/thermal/thermal_zone0/temp",
    "/sys/devices/platform/soc/soc:firmware/get_throttled",  # Raspberry Pi
)
# Those that tell two boards of one model apart. A copied memory card has the id of its original.
BOARD_IDS = ("/etc/machine-id", "/proc/device-tree/serial-number")
MOST_SHOWN = 16  # numbers of cores in a message
INSTALLATION_BYTES = 4
BRAND = "machdep.cpu.brand_string"  # macOS


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts that a machine states about itself."""

    system: str
    kernel: str
    architecture: str
    texts: Mapping[str, str] = field(default_factory=dict)  # by path

    def of_cpu(self, cpu: int, name: str) -> str:
        return self.texts.get(f"{CPU}{cpu}/{name}", "").strip()

    def number(self, cpu: int, name: str) -> int:
        text = self.of_cpu(cpu, name)
        return int(text, 0) if re.fullmatch(r"0x[0-9a-fA-F]+|\d+", text) else 0


def gather(context: Context) -> Facts:
    """Read the facts of this machine."""
    found = [path for pattern in FILES for path in Path("/").glob(pattern[1:])]
    texts = {str(path): _read(path) for path in found}
    if sys.platform == "darwin":
        texts[BRAND] = context.runner.run(["sysctl", "-n", BRAND]).stdout.strip()
    return Facts(platform.system(), platform.release(), platform.machine(), texts)


def describe(facts: Facts, cpu: int = -1) -> Machine:
    """The machine, and of its cores the one that measures, if that is known."""
    cpuinfo = facts.texts.get("/proc/cpuinfo", "")
    own = processor(cpuinfo, max(0, cpu))
    midr = midr_of(facts, max(0, cpu))
    core = cores.name(midr)
    name = own.get("model name") or own.get("cpu") or own.get("Processor") or ""
    name = f"{core} {cores.revision(midr)}" if core else name or facts.texts.get(BRAND, "")
    return Machine(
        cpu=name or arm_name(own) or facts.architecture,
        vendor=own.get("vendor_id", own.get("CPU implementer", "")),
        family=own.get("cpu family", ""),
        model=own.get("model", own.get("CPU part", "")),
        stepping=own.get("stepping", own.get("CPU revision", "")),
        microcode=own.get("microcode", ""),
        cores=len(re.findall(r"^processor\s*:", cpuinfo, re.MULTILINE)),
        governor=facts.of_cpu(max(0, cpu), "cpufreq/scaling_governor"),
        system=facts.system,
        kernel=facts.kernel,
        architecture=facts.architecture,
        virtualised="hypervisor" in own.get("flags", "").split()
        or "/proc/device-tree/hypervisor/compatible" in facts.texts,
        board=facts.texts.get("/proc/device-tree/model", "").strip("\0\n "),
        core=core,
        midr=f"{midr:#010x}" if midr else "",
        cpu_index=cpu,
        max_mhz=facts.number(max(0, cpu), "cpufreq/cpuinfo_max_freq") // 1000,
    )


def describe_board(facts: Facts, cpu: int) -> Machine:
    """A machine on which everycore is not installed: a digest of its ids tells it apart."""
    ids = [facts.texts.get(path, "").strip("\0\n ") for path in BOARD_IDS]
    digest = hashlib.sha256(f"everycore board {ids}".encode()).hexdigest()
    known = digest[: 2 * INSTALLATION_BYTES] if any(ids) else ""
    return describe(facts, cpu).replace(installation=known)


def conditions(facts: Facts, cpu: int) -> dict[str, Any]:
    """Return the conditions that may change during a measurement; unreadable ones are left out."""
    found: dict[str, Any] = {}
    if governor := facts.of_cpu(max(0, cpu), "cpufreq/scaling_governor"):
        found["governor"] = governor
    if khz := facts.number(max(0, cpu), "cpufreq/scaling_cur_freq"):
        found["mhz"] = khz // 1000
    if (text := facts.texts.get("/sys/class/thermal/thermal_zone0/temp", "").strip()).isdecimal():
        found["temperature_c"] = int(text) / 1000
    if text := facts.texts.get(FILES[-1], "").strip():
        found["throttled"] = text  # bits, as `vcgencmd get_throttled` gives them
    return found


def may_not_count(facts: Facts, counter: str) -> bool:
    """Whether Linux keeps the core's counter from users, and so another had to be taken."""
    level = facts.texts.get(PARANOID, "").strip()
    return level.isdecimal() and int(level) > 2 and counter not in ("none", "perf:cycles")


def parse_cpuinfo(text: str) -> dict[str, str]:
    """The facts of the first processor in /proc/cpuinfo."""
    facts: dict[str, str] = {}
    for line in text.splitlines():
        name, colon, value = line.partition(":")
        if colon:
            facts.setdefault(name.strip(), value.strip())
    return facts


def processor(cpuinfo: str, cpu: int) -> dict[str, str]:
    """The facts of one processor, and those that /proc/cpuinfo says of all."""
    blocks = [parse_cpuinfo(block) for block in cpuinfo.split("\n\n")]
    own = next((block for block in blocks if block.get("processor") == str(cpu)), {})
    return parse_cpuinfo(cpuinfo) | own


def midr_of(facts: Facts, cpu: int) -> int:
    """The Main ID Register of an Arm core; 0 if there is none."""
    own = facts.number(cpu, "regs/identification/midr_el1") & 0xFFFFFFFF
    return own or cores.midr_of(processor(facts.texts.get("/proc/cpuinfo", ""), cpu))


def fastest_cpu(facts: Facts) -> int:
    """The last of the fastest kind, as the first has the interrupts; -1 if nothing is known."""
    return max(_numbers(facts), key=lambda cpu: (*_speed(facts, cpu), cpu), default=-1)


def refuse_absent_cpu(facts: Facts, cpu: int | None) -> None:
    """Raise an error if this program may not run on that core, as far as cores are known."""
    numbers = _numbers(facts)
    if cpu is not None and numbers and cpu not in numbers:
        shown = ", ".join(map(str, numbers[:MOST_SHOWN])) + ", ..." * (len(numbers) > MOST_SHOWN)
        raise EverycoreError(f"--cpu {cpu}: there is no such core here", f"valid: {shown}")


def like(facts: Facts, cpu: int) -> tuple[int, ...]:
    """Return that core, then the others of its kind and speed, from the last down."""

    def kind(number: int) -> tuple[int, int, int]:
        return midr_of(facts, number), *_speed(facts, number)

    numbers = sorted(_numbers(facts), reverse=True)
    return (cpu, *(number for number in numbers if number != cpu and kind(number) == kind(cpu)))


def _speed(facts: Facts, cpu: int) -> tuple[int, int]:
    frequency = facts.number(cpu, "cpufreq/cpuinfo_max_freq")
    return facts.number(cpu, "cpu_capacity"), frequency


def kinds(facts: Facts) -> set[int]:
    """The Main ID Registers of all cores; several where cores differ."""
    return {midr_of(facts, cpu) for cpu in _numbers(facts)} - {0}


def _numbers(facts: Facts) -> list[int]:
    """Return the numbers of the cores that are there and may be used."""
    cpuinfo = facts.texts.get("/proc/cpuinfo", "")
    numbers = [int(n) for n in re.findall(r"^processor\s*:\s*(\d+)$", cpuinfo, re.MULTILINE)]
    status = facts.texts.get("/proc/self/status", "")
    if not (allowed := re.search(r"^Cpus_allowed_list:\s*([\d,-]+)$", status, re.MULTILINE)):
        return numbers
    ranges = [part.split("-") for part in allowed[1].split(",")]
    return [n for n in numbers if any(int(r[0]) <= n <= int(r[-1]) for r in ranges)]


def arm_name(facts: dict[str, str]) -> str:
    """Arm cores have numbers only: MIDR implementer and part."""
    if "CPU part" not in facts:
        return ""
    return f"Arm implementer {facts.get('CPU implementer', '?')} part {facts['CPU part']}"


def installation(context: Context) -> str:
    """The random id of this user's installation, made when it is first asked for.

    "": it cannot be kept here, and two hosts of one model are not told apart.
    """
    path = context.state_dir() / "installation"
    try:
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            with suppress(FileExistsError), path.open("x", encoding="ascii") as file:
                file.write(secrets.token_hex(INSTALLATION_BYTES) + "\n")
        return path.read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return ""


def revision(context: Context, tree: Tree) -> Revision:
    """The commit of the tree, and whether what is compiled differs from it."""
    if not tree.is_checkout:
        return recorded_revision(tree)
    if not (tree.root / ".git").exists():
        return Revision("", False)
    git = ["git", "-C", str(tree.root)]
    try:
        head = context.runner.run([*git, "rev-parse", "--short=12", "HEAD"])
        changes = context.runner.run([*git, "status", "--porcelain", "--", *COMPILED])
    except EverycoreError:
        return Revision("", False)
    if head.code != 0:
        return Revision("", False)
    return Revision(head.stdout.strip(), bool(changes.stdout.strip()))


def recorded_revision(tree: Tree) -> Revision:
    """The commit that a wheel was built from, which tools/record_revision.py wrote into it."""
    commit, changes, _ = _read(tree.root / "REVISION").strip().partition("+changes")
    return Revision(commit, bool(changes))


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
