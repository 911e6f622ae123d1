# SPDX-License-Identifier: MIT
"""everycore tune: is the kernel that selection takes the fastest one on this machine?"""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from everycore.commands.options import (
    CompilerCommand,
    CompilerFlags,
    CpuNumber,
    Json,
    Out,
    TargetName,
    context_of,
    print_output_path,
)
from everycore.commands.sample_output import SampleOutput
from everycore.compile import catalog
from everycore.environment.context import Context
from everycore.environment.decoding import Record, encode_line
from everycore.environment.errors import EverycoreError
from everycore.environment.outputs import is_stream
from everycore.model.protocol import Failure
from everycore.model.run_lines import Run
from everycore.model.tuning import TUNING, Choice
from everycore.report import tuning_tables
from everycore.run import bench_run, stored_tuning, tuning_run
from everycore.run.machine import Facts, processor
from everycore.run.session import (
    Session,
    described,
    digest_of,
    facts_of,
    known_widths,
    open_session,
    pin,
    run_of,
)
from everycore.store import machine_sets, run_files
from everycore.store.run_files import Results

CONSTANT_CLOCK = "constant_tsc"  # a flag of /proc/cpuinfo
EMULATED = "QEMU"  # how the names of CPUs begin that QEMU emulates
MOST_REASONS = 5  # shown
MOST_UNDECIDED = 0.1  # of all choices, of a run that is stored


def tune(
    command: typer.Context,
    file: Annotated[
        Path | None,
        typer.Argument(metavar="[FILE]", help="Judge this stored run; measure nothing."),
    ] = None,
    store: Annotated[
        str,
        typer.Option(
            "--store", metavar="MACHINE", help="Store the run in results/MACHINE/ of a clone."
        ),
    ] = "",
    all_: Annotated[bool, typer.Option("--all", help="Show every choice.")] = False,
    target: TargetName = "host",
    cpu: CpuNumber = None,
    cc: CompilerCommand = None,
    flags: CompilerFlags = None,
    out: Out = None,
    json: Json = False,
) -> None:
    """Judge whether selection takes the fastest kernels here.

    Every constant-time kernel that this CPU can run is timed, in all modes and at five lengths;
    SHA-2 at three, RSA and Diffie-Hellman at four. That takes some minutes. The loss is the time of
    the selected kernel over that of the fastest, for this CPU and for older ones, which lack some
    of its features. GCM by pairs of kernels is not judged. Exit code 1: a loss of more than 5 %, or
    a run that --store refuses.
    """
    context = context_of(command)
    _refuse_contradictions(file, store, out)
    if store and not catalog.tree_of(context).is_checkout:
        raise EverycoreError(
            "--store: the results of machines belong to a checkout",
            "clone the repository; or leave out --store: the samples are kept all the same",
        )
    if file:
        session = open_session(context, target, cc, flags, without_kernels=True)
        results, doubts = _stored(file), list[str]()
    else:
        output = SampleOutput.of(context, out, json)
        context, json = output.context, output.json
        session = _session(context, target, cc, flags, cpu)
        if store:
            folder = session.tree.root / "results"
            machine_sets.refuse_other_host(folder, store, described(context, session))
        doubts = doubts_of(facts_of(context, session))
        results = _measure(context, session, output)
    arch, features = stored_tuning.features_of(results)
    choices = stored_tuning.judge(session, results, arch, features)
    if not choices:
        raise EverycoreError(
            "nothing was measured that selection decides", "`everycore tune` measures it"
        )
    if json:
        for line in (results.run, *choices):
            context.print_raw(encode_line(line))
    else:
        _show(context, results.run, choices, all_)
        best = stored_tuning.best_bits(session, results, arch, features)
        context.out.print(bits_sentence(features, best), markup=False, soft_wrap=True)
    if not file:
        print_output_path(context, "samples", results.path)
        undecided = reasons(choices)
        if sum(bool(one.undecided) for one in choices) > MOST_UNDECIDED * len(choices):
            doubts, undecided = doubts + undecided, []
        _say_doubts(context, doubts, "nothing was stored" if store else "not decided")
        _say_doubts(context, undecided, "not decided")
        if store and not doubts:
            folder = session.tree.root / "results"
            found = machine_sets.store(folder, store, [results.path], add=False)
            print_output_path(context, "stored", found)
    bad = any(one.is_bad for one in choices)
    raise typer.Exit(1 if bad or (store and doubts) else 0)


def _refuse_contradictions(file: Path | None, store: str, out: Path | None) -> None:
    if file and (store or out):
        raise EverycoreError(
            "FILE is a run that is there already", "leave out --store and --out, or FILE"
        )
    if store and out and is_stream(out):
        raise EverycoreError(
            "--store wants the samples in a file", "leave out --out, or name a file"
        )
    if store and not machine_sets.is_name(store):
        raise EverycoreError(
            f"--store {store}: a folder of results/ has small letters, digits and -",
            "for example intel-granite-rapids",
        )


def _stored(file: Path) -> Results:
    if file.name.endswith(run_files.PARTIAL):
        raise EverycoreError(
            f"{file} is the beginning of a run that was cut off",
            "`everycore tune` measures all anew",
        )
    return run_files.read(file)


def _session(
    context: Context, target: str, cc: str | None, flags: str | None, cpu: int | None
) -> Session:
    session = open_session(context, target, cc, flags)
    if session.target.is_emulated:
        raise EverycoreError(
            f"{target} is an emulator: its times tell nothing of a CPU",
            "--target of a board that runs programs itself: docs/guides/adding-a-target.md",
        )
    session = pin(context, session, cpu)
    session.widths.extend(known_widths(context, session))
    return session


def doubts_of(facts: Facts) -> list[str]:
    """Return why times of a machine decide nothing, before any is measured."""
    cpuinfo = facts.texts.get("/proc/cpuinfo", "")
    own = processor(cpuinfo, 0)
    found = []
    if own.get("model name", "").startswith(EMULATED):
        found.append("QEMU made this CPU up: its times tell nothing of a core's features")
    if cpuinfo.count("processor\t") == 1:
        found.append("this machine has one core, which other programs use, too")
    if "flags" in own and CONSTANT_CLOCK not in own["flags"].split():
        found.append(f"the time-stamp counter changes with the clock (no {CONSTANT_CLOCK})")
    return found


def reasons(choices: Sequence[Choice]) -> list[str]:
    """Return why choices are undecided, the most frequent reason first."""
    counted = Counter(one.undecided for one in choices if one.undecided)
    return [
        f"{reason} ({number} choice{'s' * (number > 1)})"
        for reason, number in counted.most_common()
    ]


def _measure(context: Context, session: Session, output: SampleOutput) -> Results:
    """Measure all that selection decides; return the stored run."""
    here = bench_run.ask(session, tuning_run.first_request())
    options = {
        "arch": here.hello.arch,
        "features": list(here.hello.features),
        "harness": digest_of(session),
    }
    run = run_of(context, session, here.hello, "tune", options)
    path = output.path_of(run)
    records: list[Record] = []
    with output.writer(run, path) as writer:
        for record in tuning_run.measure(context, session, here):
            writer.write(record)
            records.append(record)
            if isinstance(record, Failure):
                raise EverycoreError(
                    f"{record.kernel} {record.mode}: {record.detail}", "everycore check", 1
                )
    return Results(path, run, tuple(records))


def _show(context: Context, run: Run, choices: Sequence[Choice], every: bool) -> None:
    context.out.print(tuning_tables.summary(choices, run.source()))
    bad = [one for one in choices if one.is_bad]
    if every:
        decided = [one for one in choices if not one.undecided]
        context.out.print(tuning_tables.choices_table(decided, "All choices"))
        context.out.print(tuning_tables.undecided_table(choices))
    elif bad:
        context.out.print(tuning_tables.choices_table(bad, "Bad choices"))


def bits_sentence(features: Sequence[str], best: tuple[Sequence[str], float] | None) -> str:
    """Say whether other bits of tuning would select better kernels."""
    own = [name for name in features if name.startswith(TUNING)]
    if best is None:
        return "Bits of tuning: not looked, for nothing is decided with those of this CPU."
    bits, loss = best
    if set(bits) == set(own):
        names = " ".join(own) or "none"
        return f"No other bits of tuning would be better than those of this CPU: {names}."
    return (
        f"Better bits of tuning: {' '.join(bits) or 'none'} instead of {' '.join(own) or 'none'};"
        f" the worst loss would be {loss:.1%}."
    )


def _say_doubts(context: Context, doubts: Sequence[str], begin: str) -> None:
    for text in doubts[:MOST_REASONS]:
        context.warn(f"{begin}: {text}")
    if len(doubts) > MOST_REASONS:
        context.warn(f"{begin}: {len(doubts) - MOST_REASONS} more reasons; --all shows them")
