# SPDX-License-Identifier: MIT
"""everycore peers: how does it compare with other libraries, and with what this CPU can do?"""

import json as jsonlib
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer

from everycore.commands.completion import complete_words
from everycore.commands.option_sets import with_option_sets
from everycore.commands.options import (
    AAD_MODES,
    MODE_OF_KEYS,
    MOST_AAD_BYTES,
    MOST_KEYS,
    CompilerCommand,
    CompilerFlags,
    Json,
    Out,
    context_of,
    numbers_within,
    print_output_path,
    split_commas,
)
from everycore.commands.sample_output import SampleOutput
from everycore.compile import catalog
from everycore.compile.own_libraries import OwnLibrary, own_libraries
from everycore.environment.context import Context
from everycore.environment.decoding import Record, encode_line
from everycore.environment.errors import EverycoreError, unknown_name
from everycore.environment.progress import Progress
from everycore.measure import quiet
from everycore.measure.processes import merged
from everycore.model import protocol
from everycore.model.domain import BEST, Newest, Tree
from everycore.model.protocol import (
    AAD_BYTES,
    Arithmetic,
    Bench,
    Failure,
    Hello,
    PeerLine,
)
from everycore.model.run_lines import Run
from everycore.model.targets import HARDWARE, find_peer, load_peers
from everycore.report import bench_notes, peer_comparison
from everycore.report import peers_terminal as report
from everycore.report.peer_comparison import PeerTable
from everycore.run import peer_runs
from everycore.run.peer_runs import Broken, Contestant, Skip
from everycore.run.session import Session, known_widths, open_session, run_of

MODES = (
    "gcm-seal", "gcm-open", "ccm-seal", "ccm-open", "ctr", "cbc-enc", "cbc-dec",
    "xts-enc", "xts-dec", "cmac", "ecb-enc", "ecb-dec", "gcm-siv-seal", "gcm-siv-open",
)  # fmt: skip
SIZES_BYTES = (16, 64, 256, 512, 1500, 4096, 16384)
NUMBERS_BYTES = (64, 128, 256, 384, 512)
GRID_BYTES = (
    1, 7, 15, 16, 17, 20, 24, 31, 32, 33, 40, 48, 63, 64, 65, 80, 96, 100, 112, 128, 129, 144,
    160, 192, 200, 224, 255, 256, 300, 320, 384, 500, 512, 576, 700, 900, 1024, 1350, 1420, 1500,
    2048, 3000, 4096, 8192, 9000, 16384,
)  # fmt: skip
NUMBERS_GRID_BYTES = (32, 48, 64, 96, 128, 160, 192, 224, 256, 320, 384, 448, 512)
KEY_BITS = ("128", "192", "256")
KEY_BITS_OF = {"sha2": ("128",)}  # as bench has them, where no other size takes another time
LAYERS_BYTES = (256, 384, 512)
MODES_OF = {
    "aes": MODES,
    "sha2": peer_runs.HASH_MODES,
    "bn": tuple(peer_runs.NUMBER_MODES),
    **peer_runs.LAYER_MODES,
}
USUAL_MODES = {**MODES_OF, "aes": ("gcm-seal",)}
SIZES_OF = {
    "aes": SIZES_BYTES,
    "sha2": SIZES_BYTES,
    "bn": NUMBERS_BYTES,
    **dict.fromkeys(peer_runs.LAYER_MODES, LAYERS_BYTES),
}
GRID_OF = {**SIZES_OF, "aes": GRID_BYTES, "sha2": GRID_BYTES, "bn": NUMBERS_GRID_BYTES}
RANGE_OF = {  # bytes: peer_answers.h; bn.h and peer_numbers.h; peer_layers.c
    "aes": (1, 65536),
    "sha2": (1, 65536),
    "bn": (16, 1024),
    "rsa": (128, 1024),
    "dh": (256, 1024),
    "prime": (128, 1024),
}
STYLES = ("streamed", "fenced")
SAMPLES = 11  # of some 50 microseconds, in each round
BUDGET_MS = 20  # for a point in a round, if samples are disturbed
LAYER_BUDGET_MS = 200  # where a call takes milliseconds


@dataclass(frozen=True, slots=True)
class PeersOptions:
    """The options of the command line."""

    suite: Annotated[
        list[str] | None,
        typer.Option(
            "--suite",
            metavar="SUITE",
            help="Take the libraries of a Debian suite (sid,experimental). Default: installed.",
        ),
    ] = None
    update: Annotated[
        bool,
        typer.Option("--update", help="Take what the suite has now; write its lock."),
    ] = False
    peer: Annotated[
        list[str] | None, typer.Option("--peer", metavar="NAME", help="Only this peer; repeatable.")
    ] = None
    library: Annotated[
        list[str] | None,
        typer.Option(
            "--library",
            metavar="NAME=FOLDER",
            help="Your own build of a peer, in place of the packaged one; with --peer NAME, beside"
            " it; repeatable.",
        ),
    ] = None
    mode: Annotated[
        list[str] | None,
        typer.Option("--mode", metavar="MODE", help="Default: gcm-seal; `all`; repeatable."),
    ] = None
    key_bits: Annotated[
        list[str] | None,
        typer.Option("--key-bits", metavar="N", help="128, 192, 256; repeatable. Default: 256."),
    ] = None
    primitive: Annotated[
        str,
        typer.Option(
            "--primitive",
            metavar="NAME",
            help="aes; sha2; bn: big numbers; rsa, dh, prime. --bytes: of a number, n or p.",
            autocompletion=complete_words(*MODES_OF),
        ),
    ] = "aes"
    bytes_: Annotated[
        list[str] | None,
        typer.Option("--bytes", metavar="N", help="Message size in bytes; repeatable."),
    ] = None
    grid: Annotated[
        bool,
        typer.Option(
            "--grid",
            help="Many sizes, 1 byte to 16 KiB (bn: 32 to 512 bytes); where a peer is faster.",
        ),
    ] = False
    keys: Annotated[
        list[str] | None,
        typer.Option(
            "--keys",
            metavar="N",
            help="Each message under one of N keys, in random order; repeatable. gcm-seal alone.",
        ),
    ] = None
    aad_bytes: Annotated[
        list[str] | None,
        typer.Option(
            "--aad-bytes",
            metavar="N",
            help=f"Bytes of associated data, of GCM and CCM; repeatable. Default: {AAD_BYTES}.",
        ),
    ] = None
    style: Annotated[
        str, typer.Option("--style", metavar="STYLE", help="streamed, or fenced: one at a time.")
    ] = "streamed"
    hardware: Annotated[
        str,
        typer.Option(
            "--hardware",
            metavar="PATHS",
            help="best, vaes256 (no AVX-512), sse (128 bits), ssse3 (no AES), c.",
        ),
    ] = "best"
    rounds: Annotated[
        int, typer.Option("--rounds", metavar="N", min=1, max=99, help="Turns of each.")
    ] = 5
    cpu: Annotated[
        int | None, typer.Option("--cpu", metavar="N", help="The core. Default: the last allowed.")
    ] = None
    cc: CompilerCommand = None
    flags: CompilerFlags = None
    out: Out = None
    json: Json = False

    def request(self) -> "PeersRequest":
        """Return what is measured; raise an error where a name is not known."""
        primitive = _known("primitive", [self.primitive], tuple(MODES_OF))[0]
        suites = tuple(split_commas(self.suite))
        if self.update and not suites:
            raise EverycoreError("--update needs --suite", "installed libraries have no lock")
        modes = split_commas(self.mode) or USUAL_MODES[primitive]
        aad_bytes = split_commas(self.aad_bytes)
        return PeersRequest(
            suites=suites,
            primitive=primitive,
            modes=_known("mode", modes, MODES_OF[primitive]),
            key_bits=_key_bits(split_commas(self.key_bits), primitive),
            sizes_bytes=_sizes(split_commas(self.bytes_), self.grid, primitive),
            libraries=tuple(self.library or ()),
            keys=numbers_within("--keys", split_commas(self.keys), 1, MOST_KEYS),
            aad_bytes=numbers_within("--aad-bytes", aad_bytes, 0, MOST_AAD_BYTES),
            style=_known("style", [self.style], STYLES)[0],
            hardware=_known("case of --hardware", [self.hardware], (BEST.name, *HARDWARE))[0],
            rounds=self.rounds,
            cpu=_last_core() if self.cpu is None else self.cpu,
        )


@with_option_sets
def peers_command(
    command: typer.Context,
    options: PeersOptions,
) -> None:
    """Compare with OpenSSL, libgcrypt and others, on this machine."""
    context = context_of(command)
    plan = options.request()
    _refuse_modes(plan)
    output = SampleOutput.of(context, options.out, options.json)
    context = output.context
    tree = catalog.tree_of(context)
    owns = own_libraries(plan.libraries, load_peers(tree), tree, context.cwd)
    peers, update = split_commas(options.peer), options.update
    for name in peers:
        find_peer(tree, name)  # before anything is compiled
    session = open_session(context, "host", options.cc, options.flags)
    contestants, skips = _contestants(context, session, plan, peers, owns, update)
    for skip in skips:
        context.warn(f"skipped: {skip.peer}: {skip.why}")
    result = RoundResults()
    session.widths.extend(known_widths(context, session))
    records = _records(context, session, plan, contestants, result)
    run, path = _store(output, session, plan, records, result)
    benches, loops = result.good_benches(), result.loops()
    found = peer_comparison.peer_tables(benches, loops, _since(session.tree))
    newer = peer_comparison.newer_versions(benches, load_peers(session.tree))
    if output.json:
        _print_derived(context, skips, result.broken, newer, found)
    else:
        _show(context, plan, run, found, benches, newer, skips)
    print_output_path(context, "samples", path)
    for text in result.complaints():
        context.err.print(text, style="bold red", markup=False, soft_wrap=True)
    raise typer.Exit(1 if result.failures or result.broken else 0)


@dataclass(frozen=True, slots=True)
class PeersRequest:
    """The options of the command line."""

    suites: tuple[str, ...]
    primitive: str
    modes: tuple[str, ...]
    key_bits: tuple[str, ...]
    sizes_bytes: tuple[int, ...]
    libraries: tuple[str, ...]  # NAME=FOLDER
    keys: tuple[int, ...]  # empty: one
    aad_bytes: tuple[int, ...]  # empty: the usual number
    style: str
    hardware: str
    rounds: int
    cpu: int | None  # None: wherever the system puts it

    @property
    def command(self) -> str:
        name = "peers" if self.primitive == "aes" else f"peers-{self.primitive}"
        return name if self.hardware == BEST.name else f"{name}-{self.hardware}"

    @property
    def has_long_calls(self) -> bool:
        return self.primitive in peer_runs.LAYER_MODES

    def arguments(self) -> list[str]:
        """For a harness, but the mode."""
        return [
            "--key-bits", ",".join(self.key_bits),
            "--bytes", ",".join(str(size) for size in self.sizes_bytes),
            "--style", self.style,
            *(("--keys", ",".join(map(str, self.keys))) if self.keys else ()),
            *(("--aad-bytes", ",".join(map(str, self.aad_bytes))) if self.aad_bytes else ()),
            "--samples", str(SAMPLES),
            "--budget-ms", str(LAYER_BUDGET_MS if self.has_long_calls else BUDGET_MS),
            *(() if self.cpu is None else ("--cpu", str(self.cpu))),
        ]  # fmt: skip

    def options(self) -> dict[str, Any]:
        return {
            "suites": list(self.suites),
            "primitive": self.primitive,
            "modes": list(self.modes),
            "libraries": [word.partition("=")[0] for word in self.libraries],
            "keys": list(self.keys),
            "aad_bytes": list(self.aad_bytes),
            "style": self.style,
            "hardware": self.hardware,
            "rounds": self.rounds,
        }


@dataclass(slots=True)
class RoundResults:
    """The lines that the rounds gave."""

    measured: list[Record] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    broken: list[Broken] = field(default_factory=list)

    def take(self, event: Record | Broken) -> None:
        match event:
            case Bench() | Arithmetic():
                self.measured.append(event)
            case Failure():
                self.failures.append(event)
            case Broken():
                self.broken.append(event)

    def good_benches(self) -> list[Bench]:
        """Without who was wrong in a mode, and without who died."""
        dead = {broken.kernel for broken in self.broken}
        living = [record for record in self._marked() if isinstance(record, Bench)]
        living = [bench for bench in living if bench.kernel not in dead]
        return peer_comparison.without_wrong(living, self.failures)

    def loops(self) -> list[Arithmetic]:
        return [record for record in merged(self._marked()) if isinstance(record, Arithmetic)]

    def _marked(self) -> list[Record]:
        return quiet.marked(self.measured)

    def complaints(self) -> Iterator[str]:
        for failure in self.failures:
            shown = f" ({failure.got}, not {failure.expected})" if failure.expected else ""
            yield f"WRONG {failure.kernel} {failure.mode}: {failure.detail}{shown}; left out"
        for broken in self.broken:
            why = " ".join([broken.error.message, *broken.error.hint.splitlines()])
            yield f"BROKEN {broken.name} {broken.mode}: {why}; left out"


def _last_core() -> int | None:
    """Interrupts prefer the first one. Only Linux says which are allowed."""
    return max(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None


def _known(what: str, given: Sequence[str], valid: Sequence[str]) -> tuple[str, ...]:
    if what == "mode" and "all" in given:
        return tuple(valid)
    for word in given:
        if word not in valid:
            raise unknown_name(what, word, valid)
    return tuple(dict.fromkeys(given))


def _refuse_modes(plan: PeersRequest) -> None:
    """Options that a mode does not take."""
    if plan.primitive != "aes" and plan.hardware != BEST.name:
        raise EverycoreError(
            f"--hardware: there are no such cases of {plan.primitive}",
            "they say which AES instructions a library does without",
        )
    for mode in plan.modes:
        if max(plan.keys, default=1) > 1 and mode != MODE_OF_KEYS:
            raise EverycoreError(
                f"--keys: mode {mode} is measured with one key",
                f"{MODE_OF_KEYS} takes several: give --mode {MODE_OF_KEYS}, or no --mode",
            )
        if plan.aad_bytes and mode not in AAD_MODES:
            raise EverycoreError(
                f"--aad-bytes: mode {mode} has no associated data",
                f"these have: {', '.join(AAD_MODES)}",
            )


def _key_bits(given: Sequence[str], primitive: str) -> tuple[str, ...]:
    only = KEY_BITS_OF.get(primitive, ())
    return _known("key size", given or only or ["256"], only or KEY_BITS)


def _sizes(given: Sequence[str], grid: bool, primitive: str) -> tuple[int, ...]:
    if given and grid:
        raise EverycoreError("--grid has its own sizes", "give either --grid or --bytes")
    sizes = numbers_within("--bytes", given, *RANGE_OF[primitive])
    return GRID_OF[primitive] if grid else sizes or SIZES_OF[primitive]


def _since(tree: Tree) -> dict[str, str]:
    """By what a library calls itself: its name, or that of an adapter which has several tables."""
    peers = load_peers(tree)
    return {p.source.stem: p.since for p in peers} | {p.name: p.since for p in peers}


def _contestants(
    context: Context,
    session: Session,
    plan: PeersRequest,
    names: Sequence[str],
    owns: Sequence[OwnLibrary],
    update: bool,
) -> tuple[list[Contestant], list[Skip]]:
    """Our selected kernels, all peers that are there, and the user's libraries."""
    tree, compiler = session.tree, session.build.compiler
    every = load_peers(tree)
    named = [find_peer(tree, name) for name in names]
    replaced = {own.peer.name for own in owns}
    chosen = named or [peer for peer in every if peer.name not in replaced]
    wanted = [*((peer.name, peer) for peer in named), *((own.name, own.peer) for own in owns)]
    without = [name for name, peer in wanted if plan.primitive not in peer.primitives]
    chosen = [peer for peer in chosen if plan.primitive in peer.primitives]
    owns = [own for own in owns if plan.primitive in own.peer.primitives]
    libraries = peer_runs.libraries_of(context, tree, compiler, every, plan.suites, update)
    how = (context, tree, compiler, session.build.flags)
    theirs, skips = peer_runs.build_own(*how, owns, libraries, plan.hardware)
    built, others = peer_runs.build_all(*how, chosen, libraries, plan.hardware)
    skips += others
    skips += [Skip(name, f"it has no mode of {plan.primitive}") for name in without]
    return [
        *_our_contestants(session, plan),
        *(peer_runs.peer_contestant(context, tree, *built_peer) for built_peer in built),
        *theirs,
    ], skips


def _our_contestants(session: Session, plan: PeersRequest) -> list[Contestant]:
    if plan.primitive != "aes":
        return [peer_runs.own_contestant_of_others(session)]
    greeting = next(r for r in session.records("resolve") if isinstance(r, Hello))
    cases = peer_runs.features_taken_away(session.tree, greeting, plan.hardware)
    return [peer_runs.own_contestant(session, without) for without in cases]


def _records(
    context: Context,
    session: Session,
    plan: PeersRequest,
    contestants: Sequence[Contestant],
    result: RoundResults,
) -> Iterator[Record]:
    """The lines of all rounds, then what the CPU can do."""
    total = len(contestants) * len(plan.modes) * plan.rounds
    with Progress(context.err, "measuring", total) as progress:
        for turn in peer_runs.run_rounds(contestants, plan.modes, plan.rounds):
            progress.step(f"{turn.contestant.name} {turn.mode}")
            arguments = [*plan.arguments(), *session.expecting]
            for record in turn.records(arguments, result.broken.append):
                if not turn.contestant.is_ours:  # of ours the session knows
                    session.widths.extend(quiet.widths([record]))
                yield record
    if plan.hardware == BEST.name:  # the loops use the instructions that others do without
        for number in range(plan.rounds):
            for record in session.records("limits", "--only", "arithmetic", *session.expecting):
                yield protocol.numbered(record, number)


def _store(
    output: SampleOutput,
    session: Session,
    plan: PeersRequest,
    records: Iterator[Record],
    result: RoundResults,
) -> tuple[Run, Path]:
    """Every line that says something, in a file and in the result."""
    context = output.context
    greeting = next((record for record in records), None)
    if not isinstance(greeting, Hello):
        raise EverycoreError("no harness said anything", "does a kernel serve the mode?")
    run = run_of(context, session, greeting, plan.command, plan.options())
    path = output.path_of(run)
    if output.json:
        context.print_raw(encode_line(run))
    with output.writer(run, path) as writer:
        for record in records:
            if isinstance(record, Hello):
                continue
            if isinstance(record, Arithmetic) and not record.cycles_per_byte:
                continue
            if isinstance(record, PeerLine) and record.absent:
                context.warn(f"skipped: {record.name}: {record.absent}")
            writer.write(record)
            result.take(record)
            if output.json:
                context.print_raw(encode_line(record))
        if not result.good_benches() and not result.failures:
            raise EverycoreError("nothing was measured", "are the messages too short?")
    return run, path


def _show(
    context: Context,
    plan: PeersRequest,
    run: Run,
    found: Sequence[PeerTable],
    benches: Sequence[Bench],
    newer: Sequence[tuple[str, Newest]],
    skips: Sequence[Skip],
) -> None:
    where = " and ".join(plan.suites) or "this system"
    caption = f"{run.source()}; libraries of {where}"
    if plan.cpu is not None:
        caption += f"; core {plan.cpu}"
    if plan.hardware != BEST.name:
        caption += f"; code paths: {plan.hardware}"
    for table in found:
        context.out.print(report.rich_table(table, caption))
    for note in (report.LEGEND, bench_notes.dropped_note(benches)):
        if note:
            context.out.print(note, style="dim", markup=False)
    for skip in skips:
        if skip.why.startswith(peer_runs.NOT_MASKED):
            context.out.print(f"{skip.peer}: {skip.why}", markup=False)
    for name, newest in newer:
        context.out.print(
            f"{name} is not the newest: {newest.version} of {newest.date}, which no suite and no"
            f" registry of the lab has, brings {newest.brings}. Measure your own build of it:"
            f" --library {re.split(r'-[0-9]', name)[0]}=FOLDER",
            markup=False,
        )


def _print_derived(
    context: Context,
    skips: Sequence[Skip],
    broken: Sequence[Broken],
    newer: Sequence[tuple[str, Newest]],
    found: Sequence[PeerTable],
) -> None:
    """Print the parts that are no lines of a harness, and are not stored: missing peers, newer
    versions, and our rank."""
    lines: list[dict[str, object]] = [{"type": "skip", **asdict(skip)} for skip in skips]
    lines += [
        {
            "type": "broken",
            "peer": broken_peer.name,
            "mode": broken_peer.mode,
            "why": broken_peer.error.message,
        }
        for broken_peer in broken
    ]
    lines += [{"type": "newer", "measured": name, **asdict(newest)} for name, newest in newer]
    lines += [_our_rank(table, column) for table in found for column in range(len(table.sizes))]
    for line in lines:
        context.print_raw(jsonlib.dumps(line))


def _our_rank(table: PeerTable, column: int) -> dict[str, object]:
    best = table.best(column, of_ours=False)
    timed = table.of_time()
    first = timed.best(column, of_ours=False) if timed else None
    return {
        "type": "rank",
        "mode": table.mode,
        "key_bits": table.key_bits,
        "style": table.style,
        "keys": table.keys,
        "aad_bytes": table.aad_bytes,
        "bytes": table.sizes[column],
        "best_peer": best.name if best else None,
        "ratio_to_best_peer": table.ratio(column),
        "best_peer_by_time": first.name if first else None,
        "ratio_to_best_peer_by_time": timed.ratio(column) if timed else None,
        "ratio_to_limit": table.above_bound(column),
    }
