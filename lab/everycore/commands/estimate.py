# SPDX-License-Identifier: MIT
"""everycore estimate: what does it cost on a core that is not here?"""

import json as jsonlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from everycore.commands.completion import complete_subjects
from everycore.commands.option_sets import with_option_sets
from everycore.commands.options import (
    CompilerCommand,
    CompilerFlags,
    Json,
    KernelNames,
    context_of,
    message_sizes,
    print_output_path,
    split_commas,
)
from everycore.commands.sample_output import SampleOutput
from everycore.compile import catalog
from everycore.environment.context import Context
from everycore.environment.decoding import encode_line
from everycore.environment.errors import EverycoreError, unknown_name
from everycore.environment.progress import Progress
from everycore.estimate import data, inorder, measured
from everycore.estimate.core_estimates import BULK, Core, OperationEstimate, Point, techniques
from everycore.estimate.evaluate import Call, Evaluator, Steady, Subject
from everycore.estimate.executed import CPU, TARGETS, Harness, Operation, emulator_version
from everycore.estimate.inorder import InOrder
from everycore.estimate.mca import Llvm, find_llvm
from everycore.estimate.models import Executed, Models
from everycore.estimate.others import Others, subject_names, target_of
from everycore.estimate.others import calibrate as others_calibrate
from everycore.estimate.stored import run_of
from everycore.model.domain import RegistryLine, Tree
from everycore.model.run_lines import Run
from everycore.model.targets import load_target
from everycore.report import estimate_tables as report
from everycore.run import machine
from everycore.run.bench_calls import MODES_OF
from everycore.run.session import Session, open_session
from everycore.store import run_files
from everycore.subjects import find_subject
from everycore.subjects.describe import HASHES

MODES = (
    "ecb-enc", "ecb-dec", "cbc-enc", "cbc-dec", "ctr", "xts-enc", "xts-dec", "cbcmac", "cmac",
    "ccm-seal", "ccm-open", "ghash", "gcm-seal", "gcm-open",
)  # fmt: skip
DEFAULT_MODES = ("ctr", "cbc-enc", "cbc-dec", "xts-enc", "xts-dec", "ghash", "gcm-seal")
KEY_SIZES = (128, 192, 256)


@dataclass(frozen=True, slots=True)
class EstimateRequest:
    """The rows that were asked for."""

    kernels: tuple[str, ...]  # empty: those of the architecture
    modes: tuple[str, ...]
    key_bits: tuple[int, ...]
    sizes: tuple[int, ...]
    subjects: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EstimateOptions:
    """The options of the command line."""

    kernel: KernelNames = None
    mode: Annotated[
        list[str] | None,
        typer.Option("--mode", metavar="NAME", help="Only this mode; repeatable."),
    ] = None
    size: Annotated[
        list[str] | None,
        typer.Option(
            "--bytes", metavar="N", help="Whole messages of N bytes, or bulk; repeatable."
        ),
    ] = None
    key_bits: Annotated[
        list[str] | None,
        typer.Option("--key-bits", metavar="BITS", help="128, 192 or 256; repeatable."),
    ] = None
    core: Annotated[
        list[str] | None,
        typer.Option("--core", metavar="NAME", help="Only this core; none: counts alone."),
    ] = None
    subject: Annotated[
        list[str] | None,
        typer.Option(
            "--subject",
            metavar="NAME",
            help="Beside other people's code: of catalog/subjects/, or all.",
            autocompletion=complete_subjects,
        ),
    ] = None
    turn: Annotated[
        bool,
        typer.Option(
            "--turn", help="One turn of each loop, with the cycles of the first in-order core."
        ),
    ] = False
    calibrate: Annotated[
        bool,
        typer.Option("--calibrate", help="Trace the published points again, and fit the models."),
    ] = False
    calibrate_from: Annotated[
        Path | None,
        typer.Option(
            "--calibrate-from",
            metavar="FILE",
            help="Take a board's stored results as points of the calibration; --core if unknown.",
        ),
    ] = None
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="FILE",
            help="Store the results in a new file; `-`: standard output.",
        ),
    ] = None
    cc: CompilerCommand = None
    flags: CompilerFlags = None
    json: Json = False

    def request(self, tree: Tree) -> EstimateRequest:
        """Return the rows that are asked for; raise an error where a name is not known."""
        kernels, lines = tuple(split_commas(self.kernel)), catalog.registry(tree)
        request = EstimateRequest(
            kernels,
            _modes(split_commas(self.mode)),
            _key_sizes(split_commas(self.key_bits)),
            _sizes(split_commas(self.size)),
            tuple(_subjects(tree, split_commas(self.subject))),
        )
        for name in kernels:
            _primitives(lines, name)
        return request


@with_option_sets
def estimate(
    command: typer.Context,
    options: EstimateOptions,
) -> None:
    """Estimate what a kernel costs on an Arm core that is not here.

    Exact instructions per byte of emulated runs; cycles per byte estimated by models of cores, as
    ranges; and what others have published. docs/guides/estimates.md says how far to trust an
    estimate.
    """
    context = context_of(command)
    calibrate, calibrate_from, out = options.calibrate, options.calibrate_from, options.out
    if out and (options.turn or calibrate or calibrate_from):
        raise EverycoreError(
            "--out stores estimates; --turn, --calibrate and --calibrate-from make none",
            "leave one of them out",
        )
    if calibrate_from:
        _take_points(context, calibrate_from, split_commas(options.core))
    if calibrate:
        _calibrate(context)
    if not calibrate and not calibrate_from:
        _estimate(SampleOutput.of(context, out, options.json), options)


def _estimate(output: SampleOutput, options: EstimateOptions) -> None:
    """Evaluate the rows that were asked for; store and print them."""
    context, out, turn = output.context, output.file, options.turn
    tree = catalog.tree_of(context)
    _refuse_hashes(tree, split_commas(options.mode), split_commas(options.kernel))
    cores = _cores(split_commas(options.core))
    request = options.request(tree)
    llvm = find_llvm(context) if cores or turn else None
    found = _evaluate(context, tree, llvm, cores, request, options.cc, options.flags)
    caption = _caption(context, found.sessions[-1], llvm)
    if out:
        run = _run(context, found, cores, request, llvm)
        with output.writer(run, out) as writer:
            for row in (*found.rows, *found.others):
                writer.write(report.line_of(row, found.others))
        print_output_path(context, "estimates", out)
    if turn:
        _print_turns(context, cores, found.turns)
    elif output.json:
        _print_json(context, found.rows, found.others, caption)
    else:
        _print(context, cores, found.rows, found.others, caption)


@dataclass(frozen=True, slots=True)
class Estimates:
    """The evaluated rows, and the sessions that made them."""

    rows: list[OperationEstimate]
    others: list[OperationEstimate]  # of other people's code
    sessions: list[Session]  # one for each architecture
    turns: list[tuple[Subject, Steady]]


def _evaluate(
    context: Context,
    tree: Tree,
    llvm: Llvm | None,
    cores: Sequence[Core],
    request: EstimateRequest,
    cc: str | None,
    flags: str | None,
) -> Estimates:
    found = Estimates([], [], [], [])
    with Progress(context.err, "estimating", None) as progress:
        for arch in _architectures(tree, cores, request):
            session = open_session(context, TARGETS[arch], cc, flags)
            found.sessions.append(session)
            evaluator = _evaluator(context, llvm, [c for c in cores if c.arch == arch])
            for row in _own_rows(context, session, llvm, evaluator, arch, request):
                found.rows.append(row)
                progress.step(f"{row.kernel} {row.mode}")
            found.turns.extend(evaluator.turns)
            modes = list(dict.fromkeys(row.mode for row in found.rows))
            theirs = Others(context, tree, llvm, {})
            for name in request.subjects:
                if target_of(find_subject(tree, name)) != TARGETS[arch]:
                    continue
                for row in theirs.rows(evaluator, name, modes, request.key_bits, request.sizes):
                    found.others.append(row)
                    progress.step(f"{row.owner} {row.kernel}")
    if not found.rows:
        raise EverycoreError("no kernel has such a mode", "everycore estimate --help")
    return found


def _run(
    context: Context,
    found: Estimates,
    cores: Sequence[Core],
    request: EstimateRequest,
    llvm: Llvm | None,
) -> Run:
    """With the options that make these estimates again, and the versions that they depend on."""
    chosen = {
        "kernel": request.kernels,
        "mode": request.modes,
        "key-bits": request.key_bits,
        "bytes": [report.length(size) for size in request.sizes],
        "core": [core.name for core in cores] or ["none"],
        "subject": request.subjects,
    }
    pinned = data.load_evaluated(_folder()).tools
    tools = {name: pinned[name] for name in request.subjects if name in pinned}
    tools["llvm"] = llvm.version if llvm else "none"
    emulators = dict.fromkeys(
        emulator_version(context, session.target) for session in found.sessions
    )
    tools["qemu"] = ", ".join(emulators)
    options = {name: ",".join(map(str, values)) for name, values in chosen.items() if values}
    return run_of(context, "estimate", found.sessions, {**options, "tools": tools})


def _architectures(tree: Tree, cores: Sequence[Core], request: EstimateRequest) -> list[str]:
    """Architectures of the cores; without cores, those of the kernels."""
    if cores:
        return list(dict.fromkeys(core.arch for core in cores))
    isas = {line.name: line.isa.lower() for line in catalog.registry(tree)}
    kernel_isas = [isas.get(name.split("+")[0], "") for name in request.kernels]
    return ["a32"] if kernel_isas and all(isa.startswith("a32") for isa in kernel_isas) else ["a64"]


def _print_turns(
    context: Context, cores: Sequence[Core], turns: Sequence[tuple[Subject, Steady]]
) -> None:
    """As assemblers read it, each line with the cycle in which it begins."""
    core = next((core for core in cores if core.model == "in-order"), None)
    for subject, found in turns:
        what = f"{found.bytes} bytes in one turn" if found.turn else "no loop does it all"
        context.print_raw(f"// {subject.kernel} {subject.mode} {subject.key_bits}: {what}")
        if core is None:
            for text in found.long.texts(found.pcs):
                context.print_raw(f"        {text}")
            continue
        trace = found.long.instructions(found.pcs)
        parameters = InOrder.read(core.parameters, core.name)
        for at, instruction in zip(inorder.schedule(parameters, trace), trace, strict=True):
            context.print_raw(f"/* {at:6g} */ {instruction.text}")


def _checkout(context: Context) -> Tree:
    tree = catalog.tree_of(context)
    if not tree.is_checkout:
        raise EverycoreError("a calibration belongs to a checkout", "clone the repository")
    return tree


def _take_points(context: Context, path: Path, names: Sequence[str]) -> None:
    """Write measured.toml of this tree."""
    _checkout(context)
    cores = data.load_cores(_folder(), {})
    results = run_files.read(path)
    if results.run.command != "bench":
        raise EverycoreError(
            f"{path} has results of `everycore {results.run.command}`, not of `everycore bench`",
            "--calibrate-from wants a file that `everycore bench --target BOARD --out FILE` wrote",
        )
    core = data.find_core(cores, _core_of(results, names))
    new = measured.points_of(results, core, MODES)
    measured.add(_folder(), data.load_points(_folder(), cores), new)
    for point in new:
        summary = f"{point.key}: {point.cycles_per_byte:g} cycles/B"
        context.out.print(summary, markup=False, soft_wrap=True)
    hint = "everycore estimate --calibrate fits and evaluates with them"
    context.out.print(f"written: {data.ADDED}; {hint}", soft_wrap=True)


def _core_of(results: run_files.Results, names: Sequence[str]) -> str:
    """As the results say, by its MIDR; --core is for those that do not."""
    stored_core = results.run.machine.core
    named = list(names) or [stored_core]
    if len(named) != 1 or not named[0]:
        raise EverycoreError("results are of one core", "name it with --core")
    if stored_core and named[0] != stored_core:
        raise EverycoreError(f"{results.path} is of a {stored_core}, not of a {named[0]}")
    return named[0]


def _calibrate(context: Context) -> None:
    """Write evaluated.json of this tree."""
    tree = _checkout(context)
    cores = data.load_cores(_folder(), {})
    points = data.load_points(_folder(), cores)
    llvm = find_llvm(context)
    qemu = emulator_version(context, load_target(tree, TARGETS["a64"]))
    tools = {"llvm": llvm.version, "qemu": qemu}
    harness: list[Harness] = []

    def own(point: Point) -> Call:
        if not harness:
            harness.append(Harness(context, open_session(context, TARGETS["a64"]), CPU["a64"]))
        kernel = point.function.split("/")[0]
        operation = Operation(_primitive(point.mode), kernel, point.mode, measured.KEY_BITS, 0)
        return partial(_call, harness[0], llvm, operation)

    with Progress(context.err, "calibrating", None) as progress:
        others = Others(context, tree, llvm, {})
        models = Models(context, llvm)
        found = others_calibrate(others, own, models, cores, points, tools, progress.step)
    data.save_evaluated(_folder(), found)
    page = "docs/evidence/estimates.md"
    context.out.print(f"written: {data.EVALUATED}; tools/gen-docs makes {page} of it")


def _subjects(tree: Tree, names: Sequence[str]) -> list[str]:
    known = subject_names(tree)
    if list(names) == ["all"]:
        return known
    for name in names:
        if name not in known:
            raise unknown_name("subject", name, known)
    return list(dict.fromkeys(names))


def _cores(names: Sequence[str]) -> list[Core]:
    known = data.load_cores(_folder(), data.load_evaluated(_folder()).parameters)
    if list(names) == ["none"]:
        return []
    if names:
        return [data.find_core(known, name) for name in dict.fromkeys(names)]
    return [core for core in known.values() if core.arch == "a64"]


def _folder() -> Path:
    return Path(data.__file__).parent


def _refuse_hashes(tree: Tree, modes: Sequence[str], kernels: Sequence[str]) -> None:
    """Refuse modes of SHA-2, and kernels that compute nothing else."""
    lines = catalog.registry(tree)
    others = {line.name for line in lines if line.primitive != "sha2"}
    alone = {line.name for line in lines if line.primitive == "sha2"} - others
    known = {*MODES_OF["sha2"], *HASHES, *alone}
    for name in (*modes, *kernels):
        if name in known:
            raise EverycoreError(
                f"no estimate of {name}: published cycles of AES and GHASH check the models of"
                " cores, and none of SHA-2 do",
                "everycore subject count a64_sha2 counts instructions; everycore bench --primitive"
                " sha2 measures cycles",
            )


def _modes(names: Sequence[str]) -> tuple[str, ...]:
    for name in names:
        if name not in MODES:
            raise unknown_name("mode", name, MODES)
    return tuple(names) or DEFAULT_MODES


def _key_sizes(names: Sequence[str]) -> tuple[int, ...]:
    for name in names:
        if name not in map(str, KEY_SIZES):
            raise unknown_name("key size", name, map(str, KEY_SIZES))
    return tuple(map(int, names)) or (128,)


def _sizes(names: Sequence[str]) -> tuple[int, ...]:
    return tuple(BULK if n == "bulk" else message_sizes([n])[0] for n in names) or (BULK,)


def _evaluator(context: Context, llvm: Llvm | None, cores: Sequence[Core]) -> Evaluator:
    folder = _folder()
    evaluated = data.load_evaluated(folder)
    points = data.load_points(folder, data.load_cores(folder, evaluated.parameters))
    models = Models(context, llvm) if cores else None
    return Evaluator(cores, data.fits(points, evaluated), points, models, evaluated.refits)


def _own_rows(
    context: Context,
    session: Session,
    llvm: Llvm | None,
    evaluator: Evaluator,
    arch: str,
    request: EstimateRequest,
) -> Iterator[OperationEstimate]:
    harness = Harness(context, session, CPU[arch])
    for primitive, name, mode in _operations(session.tree, arch, request):
        for bits in request.key_bits if primitive != "ghash" else (128,):
            if mode.startswith("xts") and bits == 192:
                continue
            subject = Subject(measured.OURS, name, mode, bits, techniques(primitive, name))
            call = partial(_call, harness, llvm, Operation(primitive, name, mode, bits, 0))
            for size in request.sizes:
                yield evaluator.row(subject, call, size)


def _call(harness: Harness, llvm: Llvm | None, operation: Operation, n_bytes: int) -> Executed:
    return harness.call(replace(operation, bytes=n_bytes), llvm)


def _operations(tree: Tree, arch: str, request: EstimateRequest) -> Iterator[tuple[str, str, str]]:
    """Primitive, kernel and mode of all that was asked for."""
    lines = catalog.registry(tree)
    chosen = request.kernels or [x.name for x in lines if x.isa.lower().startswith(arch)]
    for name in dict.fromkeys(chosen):
        primitives = _primitives(lines, name)
        for mode in request.modes:
            if (primitive := _primitive(mode)) in primitives:
                yield primitive, name, mode


def _primitive(mode: str) -> str:
    return "ghash" if mode == "ghash" else "gcm" if mode.startswith("gcm") else "aes"


def _primitives(lines: Sequence[RegistryLine], name: str) -> set[str]:
    names = {line.name for line in lines}
    if "+" in name:
        aes, _, ghash = name.partition("+")
        for half, of in ((aes, "aes"), (ghash, "ghash")):
            if not any(x.name == half and x.primitive == of for x in lines):
                valid = [x.name for x in lines if x.primitive == of]
                raise unknown_name(f"kernel of {of}", half, valid)
        return {"gcm"}
    if name not in names:
        raise unknown_name("kernel", name, sorted(names))
    return {line.primitive for line in lines if line.name == name}


def _caption(context: Context, session: Session, llvm: Llvm | None) -> str:
    tools = session.build.title + (f", LLVM {llvm.version}" if llvm else "")
    return f"{tools}, commit {machine.revision(context, session.tree)}"


def _print(
    context: Context,
    cores: Sequence[Core],
    rows: list[OperationEstimate],
    others: list[OperationEstimate],
    caption: str,
) -> None:
    if len(cores) < 2:
        context.out.print(report.counts_table([*rows, *others], caption))
    for core in cores:
        context.out.print(report.core_table(core, rows, others, caption))


def _print_json(
    context: Context, rows: list[OperationEstimate], others: list[OperationEstimate], caption: str
) -> None:
    context.print_raw(jsonlib.dumps({"type": "estimates", "source": caption}))
    for row in (*rows, *others):
        context.print_raw(encode_line(report.line_of(row, others)))
