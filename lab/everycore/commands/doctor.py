# SPDX-License-Identifier: MIT
"""everycore doctor: which cryptography of this machine is slow, and why?"""

import json as jsonlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import typer

from everycore.binary.elf import DamagedError
from everycore.commands.options import Json, PageFile, context_of, text_of, write_answer_page
from everycore.environment.context import Context
from everycore.environment.errors import EverycoreError
from everycore.explain import health, libraries
from everycore.explain.health import Cpu, Installed, KernelAlgorithm
from everycore.explain.image import load
from everycore.explain.probing import Probed, probe_library, too_slow
from everycore.report import explained
from everycore.report.page.answer import AnswerPage, AnswerTable
from everycore.run.own_speeds import OwnSpeeds, measure_own

_KERNEL = ("The kernel's cryptography", ("Algorithm", "Resolved as", ""))
_LIBRARIES = ("Libraries", ("Library", "File", "Used by", "Verdict"))


def doctor(
    command: typer.Context,
    files: Annotated[
        list[Path] | None, typer.Argument(metavar="[FILE]...", help="Programs to look at, too.")
    ] = None,
    kernel: Annotated[bool, typer.Option("--kernel", help="The kernel's part alone.")] = False,
    probe: Annotated[
        bool, typer.Option("--probe/--no-probe", help="Time the libraries: half a minute.")
    ] = True,
    page: PageFile = None,
    json: Json = False,
) -> None:
    """Say which cryptography of this machine is slow.

    Exit code 1: a running process uses a library that takes more than twice as long as another
    library, or as the kernels of this project.
    """
    context = context_of(command)
    if kernel and files:
        raise EverycoreError(f"--kernel looks into no file: {files[0]}", "leave one of them out")
    for path in files or ():
        _refuse_no_program(path)
    if page and page.is_dir():
        raise EverycoreError(f"--page {page} is a folder", "name a file")
    algorithms = health.kernel_algorithms(text_of("/proc/crypto"))
    if kernel:
        _show_kernel(context, algorithms, json=json)
        if page:
            rows = tuple(_kernel_rows(algorithms))
            write_answer_page(
                context,
                page,
                AnswerPage("doctor", _KERNEL[0], (), (_af_alg(),), (AnswerTable(*_KERNEL, rows),)),
            )
        return
    text = text_of("/proc/cpuinfo")
    flags, cpu = libraries.cpu_flags(text), health.cpu(text)
    found = health.installed(path.resolve() for path in files or ())
    health.add_processes(found)
    probed: list[Probed] = []
    own = OwnSpeeds()
    if probe:
        own = measure_own(context)
        for library in found:
            probed += probe_library(library, context.env)
    slow = [
        explained.slow_sentence(item, times, probed, own)
        for item, times in too_slow(probed, own.rates)
        if _is_used(item, found)
    ]
    examined = _Examined(cpu, algorithms, found, probed, own, slow, flags)
    if json:
        _print_json(context, examined)
    else:
        _show(context, examined)
    if page:
        write_answer_page(context, page, _page(context, examined))
    if slow:
        raise typer.Exit(1)


@dataclass(frozen=True, slots=True)
class _Examined:
    """All that was found out about a machine."""

    cpu: Cpu
    algorithms: Sequence[KernelAlgorithm]
    libraries: Sequence[Installed]
    probed: Sequence[Probed]
    own: OwnSpeeds
    slow: Sequence[str]  # a sentence on each operation that is too slow, and in use
    flags: Sequence[str]


def _refuse_no_program(path: Path) -> None:
    hint = "name programs or libraries"
    if path.is_dir():
        raise EverycoreError(f"{path} is a folder", hint)
    if not path.is_file():
        raise EverycoreError(f"there is no file {path}", hint)
    try:
        load(path)
    except DamagedError as error:
        raise EverycoreError(
            f"{path} is no ELF file that can be read: {error.why}", hint
        ) from error
    except EverycoreError as error:
        raise EverycoreError(error.message, error.hint or hint) from error


def _is_used(item: Probed, found: Sequence[Installed]) -> bool:
    return any(library.path == item.path and library.processes for library in found)


def _kernel_rows(algorithms: Sequence[KernelAlgorithm]) -> list[tuple[str, ...]]:
    return [
        (algorithm.name, algorithm.resolved, "portable C" if algorithm.is_slow else "")
        for algorithm in algorithms
    ]


def _af_alg() -> str:
    return f"AF_ALG: {health.af_alg()}"


def _show_kernel(context: Context, algorithms: Sequence[KernelAlgorithm], *, json: bool) -> None:
    if json:
        for algorithm in algorithms:
            line = {"type": "kernel", "algorithm": algorithm.name, "resolved": algorithm.driver}
            context.print_raw(jsonlib.dumps({**line, "is_slow": algorithm.is_slow}))
        context.print_raw(jsonlib.dumps({"type": "af_alg", "state": health.af_alg()}))
        return
    context.out.print(explained.plain_rows(*_KERNEL, _kernel_rows(algorithms)))
    context.out.print(_af_alg(), markup=False)


def _machine_lines(examined: _Examined) -> list[str]:
    cpu = examined.cpu
    lines = [f"CPU: {cpu.name}{', in a virtual machine' if cpu.is_virtual else ''}"]
    lines.append(f"It has: {', '.join(cpu.features) or 'nothing for cryptography'}")
    if cpu.hidden:
        lines.append(
            f"Hidden, although all CPUs of its kind have it: {', '.join(cpu.hidden)}."
            " Remedy: let the hypervisor or the firmware show it (QEMU: -cpu host)"
        )
    slow = [
        f"{algorithm.name} by {algorithm.driver}"
        for algorithm in examined.algorithms
        if algorithm.is_slow
    ]
    if slow:
        lines.append(f"Kernel, portable C: {', '.join(slow)}. --kernel shows all")
    return lines


def _library_rows(context: Context, examined: _Examined) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for library in examined.libraries:
        says, remedy = health.verdict(library, examined.flags, context.env)
        title = f"{library.name} {library.version}".strip()
        used = health.group_processes(library.processes)
        rows.append((title, Path(library.path).name, used, f"{says}; {remedy}" if remedy else says))
    return rows


def _last_lines(examined: _Examined) -> list[str]:
    lines = list(examined.slow)
    if examined.own.error:
        lines.append(
            f"Not measured: the kernels of everycore and the CPU's limit ({examined.own.error})."
        )
    return lines


def _show(context: Context, examined: _Examined) -> None:
    for line in _machine_lines(examined):
        context.out.print(line, markup=False)
    context.out.print(explained.plain_rows(*_LIBRARIES, _library_rows(context, examined)))
    if examined.probed:
        rows = explained.speed_rows(examined.probed, examined.own)
        context.out.print(explained.plain_rows(*explained.SPEEDS, rows))
    for line in _last_lines(examined):
        context.out.print(line, markup=False)


def _page(context: Context, examined: _Examined) -> AnswerPage:
    first, *others = _machine_lines(examined)
    tables = [AnswerTable(*_LIBRARIES, tuple(_library_rows(context, examined)))]
    if examined.probed:
        rows = explained.speed_rows(examined.probed, examined.own)
        tables.insert(0, AnswerTable(*explained.SPEEDS, tuple(rows)))
    tables.append(AnswerTable(*_KERNEL, tuple(_kernel_rows(examined.algorithms))))
    last = (*_last_lines(examined), _af_alg())
    return AnswerPage("doctor", first, tuple(others), last, tuple(tables))


def _print_json(context: Context, examined: _Examined) -> None:
    context.print_raw(jsonlib.dumps({"type": "cpu", **asdict(examined.cpu)}))
    for algorithm in examined.algorithms:
        context.print_raw(jsonlib.dumps({"type": "kernel", **asdict(algorithm)}))
    for library in examined.libraries:
        says, remedy = health.verdict(library, examined.flags, context.env)
        line = {"type": "library", **asdict(library), "verdict": says, "remedy": remedy}
        context.print_raw(jsonlib.dumps(line))
    if examined.probed:
        context.print_raw(jsonlib.dumps({"type": "everycore", **asdict(examined.own)}))
    for item in examined.probed:
        context.print_raw(jsonlib.dumps({"type": "probe", **asdict(item)}))
    for text in examined.slow:
        context.print_raw(jsonlib.dumps({"type": "slow", "says": text}))
