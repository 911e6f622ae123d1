# SPDX-License-Identifier: MIT
"""everycore profile: why is cryptography slow in this program?"""

import io
import json as jsonlib
import re
import resource
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from everycore.commands.option_sets import with_option_sets
from everycore.commands.options import Json, PageFile, context_of, text_of, write_answer_page
from everycore.commands.provider import MODULE, below_local
from everycore.compile import catalog
from everycore.compile.binaries import build_tool
from everycore.compile.toolchains import DEFAULT_FLAGS, find_compiler
from everycore.environment.context import Context
from everycore.environment.errors import EverycoreError
from everycore.environment.outputs import atomic_output, is_standard_output, refuse_existing
from everycore.explain import libraries, recording, stacks
from everycore.explain.emulated_guest import profile_guest
from everycore.explain.explanation import Explanation, explain
from everycore.explain.recognise import Named, recognise
from everycore.explain.regions import Profile, collect
from everycore.explain.sampling import SamplingOptions, sample_command, sample_process
from everycore.explain.trial import Trial, change_of, not_tried, try_remedy
from everycore.model.domain import Target
from everycore.openssl import configuration, installations
from everycore.report import explained, potential
from everycore.report.page.answer import AnswerPage, AnswerTable
from everycore.report.page.flame_graph import flame_graph
from everycore.report.potential import Potential
from everycore.run import machine

_MEANS = ("auto", "perf", "ptrace")
_LARGEST_HZ = 10000
_BYTES = re.compile(r"(\d+(?:\.\d+)?)([kKMGT]?)")
_UNITS = {"": 1, "k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
GUEST_HINT = "everycore profile --guest -- qemu-aarch64 ./program"
_NO_SAMPLES = "no samples: the program ended at once, slept, or was not to be sampled (setuid?)"


@dataclass(frozen=True, slots=True)
class ProfileOptions:
    """The options of the command line."""

    pid: Annotated[
        str | None, typer.Option("--pid", metavar="N", help="Sample this process instead.")
    ] = None
    seconds: Annotated[
        float | None,
        typer.Option(
            "--seconds",
            metavar="S",
            min=0.1,
            help="Sample no longer than this. Default: to the end of CMD, 10 of a process.",
        ),
    ] = None
    hz: Annotated[
        int, typer.Option("--hz", metavar="N", min=1, max=_LARGEST_HZ, help="Samples per second.")
    ] = 499
    means: Annotated[str, typer.Option("--means", metavar="NAME", help="auto, perf or ptrace.")] = (
        "auto"
    )
    store: Annotated[
        Path | None,
        typer.Option("--store", metavar="FILE", help="Keep the samples in a file."),
    ] = None
    load: Annotated[
        Path | None, typer.Option("--load", metavar="FILE", help="Explain stored samples.")
    ] = None
    guest: Annotated[
        bool,
        typer.Option(
            "--guest", help="CMD is qemu-aarch64 or qemu-x86_64: count what its guest executes."
        ),
    ] = False
    try_: Annotated[
        bool,
        typer.Option("--try", help="Try the remedies: run CMD with and without each, three times."),
    ] = False
    n_bytes: Annotated[
        str | None,
        typer.Option(
            "--bytes", metavar="N", help="CMD works on so many bytes (1.5G): cycles per byte."
        ),
    ] = None
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="FILE",
            help="The answer in a file of its own, such as /dev/fd/3, not on standard error.",
        ),
    ] = None
    page: PageFile = None
    folded: Annotated[
        Path | None,
        typer.Option("--folded", metavar="FILE", help="Folded stacks, for other tools."),
    ] = None
    json: Json = False

    def files(self) -> dict[str, Path | None]:
        """Return the files to write, by option."""
        own = {"--store": self.store, "--out": self.out}
        return {**own, "--page": self.page, "--folded": self.folded}

    def refuse_contradictions(self, argv: Sequence[str]) -> None:
        """Refuse options that do not go together, or not with a command."""
        if (given := sum((bool(argv), self.pid is not None, self.load is not None))) != 1:
            raise EverycoreError(
                f"{'give only one of' if given else 'name one of'}: a command behind --,"
                " a process with --pid, or a file with --load",
                "everycore profile -- openssl speed -evp aes-256-gcm",
            )
        if self.means not in _MEANS:
            raise EverycoreError(f"unknown means '{self.means}'", f"valid: {', '.join(_MEANS)}")
        if self.guest and not argv:
            raise EverycoreError("--guest needs a command behind --", GUEST_HINT)
        if self.guest and (self.seconds or self.means != "auto"):
            raise EverycoreError("--guest counts all that the guest executes", "leave the rest out")
        if self.try_ and not argv:
            raise EverycoreError("--try needs a command behind --", "it runs the command again")


@with_option_sets
def profile(
    command: typer.Context,
    options: ProfileOptions,
    words: Annotated[
        list[str] | None, typer.Argument(metavar="-- CMD...", help="The program and its arguments.")
    ] = None,
) -> None:
    """Say why cryptography is slow in a program.

    CMD runs to its end and keeps its output and its exit code; the answer goes to standard error,
    or to the file of --out.
    """
    context, argv = context_of(command), list(words or ())
    options.refuse_contradictions(argv)
    worked = _number_of_bytes(options.n_bytes)
    _refuse_unusable(options.files(), bool(argv))
    if options.guest:
        found, flags = _guest(context, argv), list[str]()
    else:
        found, flags = _profile(context, argv, options)
    if options.store:
        _write_lines(context, options.store, recording.lines(found, flags))
    named = recognise(found)
    answer = explain(found, named, flags)
    trials = _trials(context, argv, answer, is_asked=options.try_) if argv else []
    could = _potentials(context, found, named, worked)
    whole = _Answer(found, named, answer, tuple(trials), tuple(could))
    _show(context, whole, options.out, json=options.json, beside=bool(argv))
    if options.page:
        write_answer_page(context, options.page, _page(whole))
    if options.folded:
        _write_lines(context, options.folded, stacks.folded(stacks.stacks(named)))
    if found.code is not None and argv:
        raise typer.Exit(found.code)


def _write_lines(context: Context, path: Path, lines: Iterable[str]) -> None:
    with atomic_output(path, context.out.file) as scratch:
        scratch.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


@dataclass(frozen=True, slots=True)
class _Answer:
    """All that is known of a profile."""

    found: Profile
    named: Sequence[Named]
    explanation: Explanation
    trials: tuple[Trial, ...]
    could: tuple[Potential, ...]


def _number_of_bytes(text: str | None) -> int:
    if text is None:
        return 0
    match = _BYTES.fullmatch(text)
    if not match or not float(match[1]):
        raise EverycoreError(
            f"'{text}' is no number of bytes", "--bytes 1500000, 1.5M, or k, G, T: powers of 1000"
        )
    return int(float(match[1]) * _UNITS[match[2]])


def _process(text: str | None) -> int | None:
    if text is None:
        return None
    if not text.isdecimal() or not int(text):
        raise EverycoreError(
            f"'{text}' is no number of a process", "`ps -e` lists the processes that run"
        )
    return int(text)


def _refuse_unusable(files: Mapping[str, Path | None], is_command: bool) -> None:
    """Refuse files before the program starts."""
    for option, path in files.items():
        if path is None:
            continue
        if is_command and is_standard_output(path):
            raise EverycoreError(
                f"{option} {path} would mix with the program's output", "name a file"
            )
        if option == "--store":
            refuse_existing(path)
        elif path.is_dir():
            raise EverycoreError(f"{option} {path} is a folder", "name a file")


def _profile(
    context: Context, argv: Sequence[str], options: ProfileOptions
) -> tuple[Profile, list[str]]:
    pid = _process(options.pid)
    if options.load:
        return recording.read(options.load)
    asked = SamplingOptions(options.hz, options.seconds, options.means)
    flags = libraries.cpu_flags(text_of("/proc/cpuinfo"))
    if argv:
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        sampled = sample_command(argv, asked, context.env)
        spent = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
        found = collect(sampled, argv)
        # The CPU time is that of the whole command, and samples may be of its beginning.
        spent = spent if asked.seconds is None else 0.0
        return replace(found, core=_core(context), user_seconds=spent), flags
    assert pid is not None
    limited = SamplingOptions(asked.hz, asked.seconds or 10.0, asked.means)
    sampled = sample_process(pid, limited)
    return replace(collect(sampled), core=_core(context)), flags


def _guest(context: Context, argv: Sequence[str]) -> Profile:
    """Count instructions; the flags of the CPU and its results are not those of the guest's."""

    def build_library(source: Path) -> Path:
        compiler = find_compiler(context, Target("host", ""), None, DEFAULT_FLAGS, "")
        return build_tool(context, compiler, [source], (*DEFAULT_FLAGS, "-shared", "-fPIC"))

    return profile_guest(context, argv, build_library)


def _core(context: Context) -> tuple[str, str, str]:
    here = machine.describe(machine.gather(context))
    return here.vendor, here.family, here.model


def _trials(
    context: Context, argv: Sequence[str], answer: Explanation, *, is_asked: bool
) -> list[Trial]:
    """Try the remedies if asked to; else tell those that cannot be tried here."""
    remedies = {row.remedy.remedy: row.remedy for row in answer.rows if row.remedy}
    with tempfile.TemporaryDirectory() as folder:
        provider = None
        if any(remedy.provider for remedy in remedies.values()):
            provider = _provider(context, Path(folder))
        if is_asked:
            return [try_remedy(argv, context.env, remedy, provider) for remedy in remedies.values()]
        return [
            not_tried(remedy)
            for remedy in remedies.values()
            if change_of(argv, context.env, remedy, provider=provider) is None
        ]


def _provider(context: Context, folder: Path) -> Path | None:
    """Write a configuration with our provider of OpenSSL; None if it is not installed here."""
    try:
        program = installations.executable("openssl", context.env)
        library = installations.libcrypto_of(context, program)
        if library is None:
            return None
        modules = Path(installations.ask(context, library, context.env).modules)
        places = [modules / MODULE, *below_local(modules)]
        found = next((path for path in places if path.is_file()), None)
        if found is None:
            return None
        text = configuration.added_text(configuration.NO_BASE, str(found))
    except EverycoreError:  # no openssl here, or one that is older than providers
        return None
    path = folder / "openssl.cnf"
    path.write_text(text, encoding="utf-8")
    return path


def _potentials(
    context: Context, found: Profile, named: Sequence[Named], n_bytes: int
) -> list[Potential]:
    """Look up what the CPU of a profile could do, where it has a mode of AES in it."""
    if not all(found.core) or not potential.modes_of(named):
        return []
    tree = catalog.tree_of(context)
    timing: dict[str, str] = {}
    for line in catalog.registry(tree):  # some primitives have kernels of one name
        is_constant = line.timing == timing.get(line.name, line.timing) == potential.CONSTANT
        timing[line.name] = line.timing if is_constant else "VARTIME"
    folders = [tree.root / "results", context.state_dir() / "results"]
    costs = potential.costs_of(folders, found.core, timing)
    return potential.potentials(named, costs, found.user_seconds, n_bytes)


def _show(context: Context, whole: _Answer, out: Path | None, *, json: bool, beside: bool) -> None:
    """Print the answer; beside the output of a program on standard error, or into a file."""
    if out is None:
        _print(context.err if beside else context.out, whole, json=json)
        return
    text = io.StringIO()
    _print(Console(file=text, width=80, highlight=False), whole, json=json)
    with atomic_output(out, context.out.file) as scratch:
        scratch.write_text(text.getvalue(), encoding="utf-8")


def _print(console: Console, whole: _Answer, *, json: bool) -> None:
    found, answer = whole.found, whole.explanation
    if json:
        line = {
            "type": "profile",
            "method": found.method,
            "why": found.why,
            "command": list(found.command),
            "code": found.code,
            "lost": found.lost,
            "seconds": found.seconds,
            "executed": found.executed,
            **asdict(answer),
            "trials": [asdict(trial) for trial in whole.trials],
            "potential": [asdict(speedup) for speedup in whole.could],
        }
        console.print(jsonlib.dumps(line), markup=False, soft_wrap=True)
        return
    if not answer.samples:
        console.print(_NO_SAMPLES, markup=False)
        return
    rows, caption = explained.profile_lines(answer), explained.profile_caption(found, answer)
    console.print(explained.profile_table(rows, explained.profile_title(found, answer), caption))
    for text in explained.sentences(answer, whole.trials, whole.could):
        console.print(text, markup=False)


def _page(whole: _Answer) -> AnswerPage:
    found, answer = whole.found, whole.explanation
    rows = tuple((f"{share:.0f} %", *texts) for share, *texts in explained.profile_lines(answer))
    subtitles = [" ".join(found.command)] if found.command else []
    subtitles.append(explained.profile_caption(found, answer) if answer.samples else _NO_SAMPLES)
    return AnswerPage(
        "profile",
        explained.profile_title(found, answer),
        tuple(subtitles),
        tuple(explained.sentences(answer, whole.trials, whole.could)),
        (AnswerTable("Where the time goes", explained.PROFILE_COLUMNS, rows),),
        flame_graph(stacks.stacks(whole.named)),
    )
