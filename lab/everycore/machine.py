# SPDX-License-Identifier: MIT
"""Describes the machine that measures, without naming it."""

import platform
import re
import sys
from pathlib import Path

from everycore.context import Context
from everycore.errors import EverycoreError
from everycore.model import Machine, Revision, Tree

COMPILED = ("include", "src", "harness", "peers")
GOVERNOR = Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")


def describe(context: Context) -> Machine:
    """This machine."""
    cpuinfo = _read(Path("/proc/cpuinfo"))
    facts = parse_cpuinfo(cpuinfo)
    cpu = facts.get("model name") or facts.get("cpu") or facts.get("Processor") or ""
    if not cpu and sys.platform == "darwin":
        cpu = context.runner.run(["sysctl", "-n", "machdep.cpu.brand_string"]).stdout.strip()
    return Machine(
        cpu=cpu or arm_name(facts) or platform.processor() or platform.machine(),
        vendor=facts.get("vendor_id", facts.get("CPU implementer", "")),
        family=facts.get("cpu family", ""),
        model=facts.get("model", facts.get("CPU part", "")),
        stepping=facts.get("stepping", facts.get("CPU revision", "")),
        microcode=facts.get("microcode", ""),
        cores=len(re.findall(r"^processor\s*:", cpuinfo, re.MULTILINE)),
        governor=_read(GOVERNOR).strip(),
        system=platform.system(),
        kernel=platform.release(),
        architecture=platform.machine(),
        virtualised="hypervisor" in facts.get("flags", "").split()
        or Path("/proc/device-tree/hypervisor").exists(),
    )


def parse_cpuinfo(text: str) -> dict[str, str]:
    """The facts of the first processor in /proc/cpuinfo."""
    facts: dict[str, str] = {}
    for line in text.splitlines():
        name, colon, value = line.partition(":")
        if colon:
            facts.setdefault(name.strip(), value.strip())
    return facts


def arm_name(facts: dict[str, str]) -> str:
    """Arm cores have numbers only: MIDR implementer and part."""
    if "CPU part" not in facts:
        return ""
    return f"Arm implementer {facts.get('CPU implementer', '?')} part {facts['CPU part']}"


def revision(context: Context, tree: Tree) -> Revision:
    """The commit of the tree, and whether what is compiled differs from it."""
    if not tree.is_checkout or not (tree.root / ".git").exists():
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


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
