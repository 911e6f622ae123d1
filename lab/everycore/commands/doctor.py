# SPDX-License-Identifier: MIT
"""everycore doctor: which cryptography of this machine is slow, and why?"""

import json as jsonlib
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from everycore.commands.options import Json, context_of
from everycore.environment.context import Context
from everycore.environment.errors import EverycoreError
from everycore.explain import health, libraries
from everycore.explain.health import Cpu, Installed, KernelAlgorithm
from everycore.explain.probing import Probed, best_rates, probe_library, too_slow
from everycore.report import explained


def doctor(
    command: typer.Context,
    files: Annotated[
        list[Path] | None, typer.Argument(metavar="[FILE]...", help="Programs to look at, too.")
    ] = None,
    kernel: Annotated[bool, typer.Option("--kernel", help="The kernel's part alone.")] = False,
    probe: Annotated[
        bool, typer.Option("--probe/--no-probe", help="Time the libraries: half a minute.")
    ] = True,
    json: Json = False,
) -> None:
    """Say which cryptography of this machine is slow.

    Exit code 1: a running process uses a library that is more than twice as slow as another one.
    """
    context = context_of(command)
    for path in files or ():
        if not path.is_file():
            raise EverycoreError(f"there is no file {path}", "name programs or libraries")
    text = _read("/proc/crypto")
    algorithms = health.kernel_algorithms(text)
    if kernel:
        _show_kernel(context, algorithms, json=json)
        return
    flags = libraries.cpu_flags(_read("/proc/cpuinfo"))
    cpu = health.cpu(_read("/proc/cpuinfo"))
    found = health.installed(path.resolve() for path in files or ())
    health.add_processes(found)
    probed: list[Probed] = []
    if probe:
        for one in found:
            probed += probe_library(one, context.env)
    slow = [(item, times) for item, times in too_slow(probed) if _is_used(item, found)]
    if json:
        _print_json(context, cpu, algorithms, found, probed, flags)
    else:
        _show_machine(context, cpu, algorithms)
        _show_libraries(context, found, flags)
        if probed:
            _show_probes(context, probed)
        for item, times in slow:
            context.out.print(
                f"Slow: {item.library} {item.operation} is {times:.1f} times slower here than"
                f" {best_rates(probed)[item.operation].library}, and running processes use it.",
                markup=False,
                soft_wrap=True,
            )
    if slow:
        raise typer.Exit(1)


def _is_used(item: Probed, found: Sequence[Installed]) -> bool:
    return any(one.path == item.path and one.processes for one in found)


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _show_kernel(context: Context, algorithms: Sequence[KernelAlgorithm], *, json: bool) -> None:
    access = health.af_alg()
    if json:
        for one in algorithms:
            line = {"type": "kernel", "algorithm": one.name, "resolved": one.driver}
            context.print_raw(jsonlib.dumps({**line, "is_slow": one.is_slow}))
        context.print_raw(jsonlib.dumps({"type": "af_alg", "state": access}))
        return
    rows = [(one.name, one.resolved, "portable C" if one.is_slow else "") for one in algorithms]
    columns = ("Algorithm", "Resolved as", "")
    context.out.print(explained.plain_rows("The kernel's cryptography", columns, rows))
    context.out.print(f"AF_ALG: {access}", markup=False, soft_wrap=True)


def _show_machine(context: Context, cpu: Cpu, algorithms: Sequence[KernelAlgorithm]) -> None:
    lines = [f"CPU: {cpu.name}{', in a virtual machine' if cpu.is_virtual else ''}"]
    lines.append(f"It has: {', '.join(cpu.features) or 'nothing for cryptography'}")
    if cpu.hidden:
        lines.append(
            f"Hidden, although its family has it: {', '.join(cpu.hidden)}."
            " Remedy: let the hypervisor or the firmware show it (QEMU: -cpu host)"
        )
    slow = [f"{one.name} by {one.driver}" for one in algorithms if one.is_slow]
    if slow:
        lines.append(f"Kernel, portable C: {', '.join(slow)}. --kernel shows all")
    for line in lines:
        context.out.print(line, markup=False, soft_wrap=True)


def _show_libraries(context: Context, found: Sequence[Installed], flags: Sequence[str]) -> None:
    rows = []
    for one in found:
        says, remedy = health.verdict(one, flags, context.env)
        title = f"{one.name} {one.version}".strip()
        used = health.group_processes(one.processes)
        rows.append((title, Path(one.path).name, used, f"{says}; {remedy}" if remedy else says))
    columns = ("Library", "File", "Used by", "Verdict")
    context.out.print(explained.plain_rows("Libraries", columns, rows))


def _show_probes(context: Context, probed: Sequence[Probed]) -> None:
    best = best_rates(probed)
    rows = []
    for one in probed:
        if one.error == "not available":
            continue
        share = "" if one.error else f"{one.rate / best[one.operation].rate:.0%}"
        rows.append((one.operation, one.library, one.shown, share, one.code))
    columns = ("Operation", "Library", "Speed", "Of the best", "By")
    rows.sort(key=lambda row: row[0])
    context.out.print(explained.plain_rows("Speed, messages of 16 KiB", columns, rows))


def _print_json(
    context: Context,
    cpu: Cpu,
    algorithms: Sequence[KernelAlgorithm],
    found: Sequence[Installed],
    probed: Sequence[Probed],
    flags: Sequence[str],
) -> None:
    context.print_raw(jsonlib.dumps({"type": "cpu", **asdict(cpu)}))
    for algorithm in algorithms:
        context.print_raw(jsonlib.dumps({"type": "kernel", **asdict(algorithm)}))
    for one in found:
        says, remedy = health.verdict(one, flags, context.env)
        line = {"type": "library", **asdict(one), "verdict": says, "remedy": remedy}
        context.print_raw(jsonlib.dumps(line))
    for item in probed:
        context.print_raw(jsonlib.dumps({"type": "probe", **asdict(item)}))
