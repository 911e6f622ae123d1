# SPDX-License-Identifier: MIT
"""everycore profile: why is cryptography slow in this program?"""

import json as jsonlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from everycore.commands.options import Json, context_of
from everycore.environment.context import Context
from everycore.environment.errors import EverycoreError
from everycore.environment.outputs import atomic_output, is_standard_output, refuse_existing
from everycore.explain import libraries, recording
from everycore.explain.explanation import Explanation, Row, explain
from everycore.explain.recognise import recognise
from everycore.explain.regions import Profile, collect
from everycore.explain.sampling import Asked, sample_command, sample_process
from everycore.explain.trial import NOT_TRIED, Trial, environment_of, try_remedy
from everycore.report import explained

_MEANS = ("auto", "perf", "ptrace")
_MASKS = ("GODEBUG", "OPENSSL_CONF", "LD_PRELOAD", "LD_LIBRARY_PATH", "QEMU_CPU")
_LARGEST_HZ = 10000
_LEAST_CRYPTO = 1.0  # per cent of user code


def profile(
    command: typer.Context,
    words: Annotated[
        list[str] | None, typer.Argument(metavar="-- CMD...", help="The program and its arguments.")
    ] = None,
    pid: Annotated[
        int | None, typer.Option("--pid", metavar="N", min=1, help="Sample this process instead.")
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(
            "--seconds",
            metavar="S",
            min=0.1,
            help="Sample no longer than this. Default: to the end of CMD, 10 of a process.",
        ),
    ] = None,
    hz: Annotated[
        int, typer.Option("--hz", metavar="N", min=1, max=_LARGEST_HZ, help="Samples per second.")
    ] = 499,
    means: Annotated[
        str, typer.Option("--means", metavar="NAME", help="auto, perf or ptrace.")
    ] = "auto",
    store: Annotated[
        Path | None,
        typer.Option("--store", metavar="FILE", help="Keep the samples in a file."),
    ] = None,
    load: Annotated[
        Path | None, typer.Option("--load", metavar="FILE", help="Explain stored samples.")
    ] = None,
    try_: Annotated[
        bool,
        typer.Option("--try", help="Try the remedies: run CMD with and without each, three times."),
    ] = False,
    json: Json = False,
) -> None:
    """Say why cryptography is slow in a program.

    CMD runs to its end and keeps its output and its exit code; the answer goes to standard error.
    """
    context = context_of(command)
    argv = list(words or ())
    if sum((bool(argv), pid is not None, load is not None)) != 1:
        raise EverycoreError(
            "name one of: a command behind --, a process with --pid, or a file with --load",
            "everycore profile -- openssl speed -evp aes-256-gcm",
        )
    if means not in _MEANS:
        raise EverycoreError(f"unknown means '{means}'", f"valid: {', '.join(_MEANS)}")
    if try_ and not argv:
        raise EverycoreError("--try needs a command behind --", "it runs the command again")
    if store and is_standard_output(store) and argv:
        raise EverycoreError("--store - would mix samples with the program's output", "name a file")
    if store:
        refuse_existing(store)
    asked = Asked(hz, seconds, means)
    found, flags = _profile(context, argv, pid, load, asked)
    if store:
        with atomic_output(store, context.out.file) as scratch:
            text = "".join(f"{line}\n" for line in recording.lines(found, flags))
            scratch.write_text(text, encoding="utf-8")
    answer = explain(found, recognise(found), flags)
    trials = _trials(argv, context.env, answer) if try_ else []
    _show(context, found, answer, trials, json=json, beside=bool(argv))
    if found.code is not None and argv:
        raise typer.Exit(found.code)


def _profile(
    context: Context, argv: Sequence[str], pid: int | None, load: Path | None, asked: Asked
) -> tuple[Profile, list[str]]:
    if load:
        return recording.read(load)
    flags = libraries.cpu_flags(_read("/proc/cpuinfo"))
    if argv:
        sampled = sample_command(argv, asked, context.env)
        return collect(sampled, argv, _masks(context.env)), flags
    assert pid is not None
    environment = environment_of(pid)
    limited = Asked(asked.hz, asked.seconds or 10.0, asked.means)
    sampled = sample_process(pid, limited)
    return collect(sampled, (), _masks(environment)), flags


def _masks(env: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that decide which code runs; the others are nobody's business."""
    wanted = {*_MASKS, *(name for one in libraries.known() for name in one.masks)}
    return {name: value for name, value in env.items() if name in wanted}


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _trials(argv: Sequence[str], env: Mapping[str, str], answer: Explanation) -> list[Trial]:
    remedies = {row.remedy.remedy: row.remedy for row in answer.rows if row.remedy}
    return [try_remedy(argv, env, one) for one in remedies.values()]


def _show(
    context: Context,
    found: Profile,
    answer: Explanation,
    trials: Sequence[Trial],
    *,
    json: bool,
    beside: bool,
) -> None:
    """Print the answer; beside the output of a program on standard error."""
    console = context.err if beside else context.out
    if json:
        line = {
            **{"type": "profile", "method": found.method, "why": found.why},
            **{"command": list(found.command), "code": found.code, "lost": found.lost},
            **{"seconds": found.seconds, **asdict(answer)},
            "trials": [asdict(one) for one in trials],
        }
        console.print(jsonlib.dumps(line), markup=False, soft_wrap=True)
        return
    if not answer.samples:
        console.print(
            "no samples: the program ended at once, slept, or was not to be sampled (setuid?)",
            markup=False,
            soft_wrap=True,
        )
        return
    caption = (
        f"{answer.samples} samples in {found.seconds:.1f} s by {found.method};"
        f" shares are of user code, {answer.kernel:.0f} % of all samples were in the kernel"
    )
    rows = [(r.share, r.computes, r.implementation, r.library, r.called) for r in answer.rows]
    title = f"Cryptography: {answer.crypto:.0f} % of the time of user code"
    console.print(explained.profile_table(rows, title, caption))
    for text in _sentences(answer, trials):
        console.print(text, markup=False, soft_wrap=True)


def _sentences(answer: Explanation, trials: Sequence[Trial]) -> list[str]:
    said: dict[str, Row] = {}
    for row in answer.rows:
        if row.remedy:
            said.setdefault(row.remedy.says, row)
    measured = {one.remedy: one for one in trials}
    lines = []
    for says, row in said.items():
        assert row.remedy is not None
        lines.append(f"Why: {says} ({row.share:.0f} % of the time).")
        lines.append(f"Remedy: {row.remedy.remedy}.{_gain(measured.get(row.remedy.remedy))}")
    if not said and answer.crypto >= _LEAST_CRYPTO:
        lines.append("Why: none of the causes of slowness that everycore knows fits here.")
    lines += [f"Note: {note}." for note in answer.notes]
    return lines


def _gain(one: Trial | None) -> str:
    if one is None:
        return " Not tried (--try does it)."
    if one.by == NOT_TRIED:
        return f" Not tried: {one.by}."
    tried = f" Tried{f' {one.change}' if one.change else ''}:"
    if one.gain is None:
        return f"{tried} {one.by}."
    if one.gain < 1.0:
        return f"{tried} it is slower with it, {one.gain:.2f} times as fast ({one.by})."
    return f"{tried} {one.gain:.2f} times as fast ({one.by})."
