# SPDX-License-Identifier: MIT
"""Other libraries beside this one: who takes part, from which suite, and turn by turn in one run.

Every contestant computes a mode in a process of its own, by the same loops. The rounds are
interleaved, so that what disturbs the machine for a while hits all of them.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from everycore.compile import catalog, debs
from everycore.compile.binaries import PeerUnavailableError, build_peer
from everycore.compile.debs.lock import Lock, Request
from everycore.compile.own_libraries import OwnLibrary
from everycore.environment.context import Context
from everycore.environment.decoding import Record
from everycore.environment.errors import EverycoreError
from everycore.model.domain import BEST, Compiler, Hardware, Installed, Peer, PeerBuild, Tree
from everycore.model.protocol import Bench, Failure, Hello, Kernel, Mode, PeerLine
from everycore.model.selection import selected_kernel
from everycore.run.bench_calls import TOO_SLOW
from everycore.run.session import Session, peer_records

# Features whose absence makes "no AES": instructions for AES and for multiplication without carry.
WIDE_AES_FEATURES = ("vaes", "vpclmulqdq", "gfni")
AES_FEATURES = ("aes", "pclmul", "pmull", *WIDE_AES_FEATURES)
ALWAYS_THERE = ("sse2",)  # each x86-64 has it, and portable code of peers uses it
SUITE = re.compile(r"[a-z0-9][a-z0-9.-]*")
NOT_MASKED = "not masked: no switch"
WIDEST_PREFIX = "avx512"
WIDE_PREFIX = "avx"  # features of vectors wider than 128 bits
# Modes of big numbers, each with the primitive of ours that has it: catalog/peers/peer.h.
NUMBER_MODES = {
    "mont-mul": "bn",
    "mont-sqr": "bn",
    "exp": "bn",
    "exp-public": "bn",
    "mul-add-words": "bn_words",
    "mod-word16": "bn_words",
    "mod-word16-once": "bn_words",
}
# Modes of hashes, and of layers on them; each has a kernel that computes the hash.
HASH_MODES = (
    "sha256", "sha512", "hmac-sha256", "hmac-sha512", "pbkdf2-sha256", "pbkdf2-sha512",
    "sha256-many", "sha512-many",
)  # fmt: skip
# Those of layers on big numbers, which bench measures with bn.
LAYER_MODES = {
    "rsa": ("rsa-private", "rsa-public"),
    "dh": ("dh-public",),
    "prime": ("prime-check",),
}


@dataclass(frozen=True, slots=True)
class Skip:
    """A peer that does not take part, and what would change that."""

    peer: str
    why: str


@dataclass(frozen=True, slots=True)
class Contestant:
    """Who computes a mode; `start` gives the lines of a harness, None without that mode."""

    name: str
    start: Callable[[str, Sequence[str]], Iterator[Record] | None]
    is_ours: bool = False


@dataclass(frozen=True, slots=True)
class Broken:
    """A contestant that died."""

    name: str
    mode: str
    kernel: str  # of its earlier lines, if there are any
    error: EverycoreError


# ---- Where the libraries are ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Libraries:
    """The place of headers and libraries: the system, or a suite that is unpacked."""

    flags: tuple[str, ...] = ()  # for everything that is compiled or linked
    installed: Installed = field(default_factory=Installed)
    lock: Lock | None = None

    def absent(self, peer: Peer) -> str:
        """Why a peer cannot be there; "" if nothing is known against it."""
        missing = dict(self.lock.absent) if self.lock else {}
        return next((missing[name] for name in peer.packages if name in missing), "")


def lock_path(context: Context, tree: Tree, suites: Sequence[str], architecture: str) -> Path:
    """In a checkout the lock is committed; elsewhere it is the user's own."""
    for suite in suites:
        if not SUITE.fullmatch(suite):
            raise EverycoreError(f"'{suite}' is no name of a suite", "such as sid, trixie")
    folder = tree.root / "catalog/peers" if tree.is_checkout else context.state_dir() / "locks"
    return folder / f"{'+'.join(suites)}-{architecture}.lock"


def libraries_of(
    context: Context,
    tree: Tree,
    compiler: Compiler,
    peers: Sequence[Peer],
    suites: Sequence[str],
    update: bool,
) -> Libraries:
    """The packages of all peers, as new as the suites have them; without a suite, the system's."""
    if not suites:
        return Libraries()
    architecture = debs.architecture_of()
    packages = tuple(sorted({name for peer in peers for name in peer.packages}))
    request = Request(tuple(suites), architecture, ("libc6-dev",), packages)
    path = lock_path(context, tree, suites, architecture)
    lock = debs.pinned(context, request, path, update)
    return in_root(debs.unpacked(context, lock), compiler, lock)


def in_root(root: Path, compiler: Compiler, lock: Lock | None = None) -> Libraries:
    """Compile with this system's compiler, but see and load only what is below `root`.

    The suite's C library may be newer than the system's, so its own loader starts the program.
    """
    folder = next(root.glob("usr/lib/*/libc.so.6"), None)
    loader = next((path for path in sorted(root.glob("lib*/ld-linux*.so*"))), None)
    if folder is None or loader is None:
        raise EverycoreError(f"no C library in {root}", "remove that folder, and try again")
    own = folder.parent
    flags = [f"--sysroot={root}", f"-isystem{root}/usr/include/{own.name}", f"-B{own}"]
    if compiler.name.startswith("clang"):
        flags.append("--gcc-toolchain=/usr")  # crtbegin.o and libgcc come from this system
    link = ("-Wl,--disable-new-dtags", f"-Wl,-rpath,{own}", f"-Wl,--dynamic-linker={loader}")
    return Libraries(tuple(flags), Installed((), (f"-L{own}", *link), root), lock)


def code_paths(peer: Peer, hardware: str) -> Hardware | None:
    """How the library is switched to these code paths; None: it has no switch for them."""
    return next((h for h in (BEST, *peer.hardware) if h.name == hardware), None)


def not_masked(hardware: str) -> str:
    """Say of a peer that it has no switch for the code paths asked for."""
    return f"{NOT_MASKED} for its code paths '{hardware}'"


def build_all(
    context: Context,
    tree: Tree,
    compiler: Compiler,
    flags: Sequence[str],
    peers: Sequence[Peer],
    libraries: Libraries,
    hardware: str,
) -> tuple[list[tuple[PeerBuild, Hardware]], list[Skip]]:
    """Each peer with the code paths asked for, or why it is left out."""
    built: list[tuple[PeerBuild, Hardware]] = []
    skips: list[Skip] = []
    for peer in peers:
        paths = code_paths(peer, hardware)
        if paths is None:
            skips.append(Skip(peer.name, not_masked(hardware)))
        elif absent := libraries.absent(peer):
            skips.append(Skip(peer.name, absent))
        else:
            try:
                made = build_peer(
                    context, tree, compiler, (*flags, *libraries.flags), peer, libraries.installed
                )
                built.append((made, paths))
            except PeerUnavailableError as error:
                hint = f" ({error.hint})" if error.hint else ""
                skips.append(Skip(peer.name, error.message + hint))
    return built, skips


def build_own(
    context: Context,
    tree: Tree,
    compiler: Compiler,
    flags: Sequence[str],
    owns: Sequence[OwnLibrary],
    libraries: Libraries,
    hardware: str,
) -> tuple[list[Contestant], list[Skip]]:
    """The user's libraries, each of which has said that it runs and fits its headers."""
    contestants: list[Contestant] = []
    skips: list[Skip] = []
    for own in owns:
        paths = code_paths(own.peer, hardware)
        if paths is None:
            skips.append(Skip(own.name, not_masked(hardware)))
            continue
        link = (*libraries.installed.link_flags, *own.installed.link_flags)
        installed = replace(own.installed, link_flags=link, root=libraries.installed.root)
        words = (*flags, *libraries.flags)
        try:
            made = build_peer(context, tree, compiler, words, own.peer, installed)
        except PeerUnavailableError as error:
            raise EverycoreError(f"{own.title}: {error.message}", error.hint) from error
        _refuse_other_headers(context, tree, own, made)
        contestants.append(peer_contestant(context, tree, made, paths, own.suffix))
    return contestants, skips


def _refuse_other_headers(context: Context, tree: Tree, own: OwnLibrary, made: PeerBuild) -> None:
    """Ask the library what it is. One that does not start, or has other headers, is an error."""
    asked = ("--mode", "ctr", "--bytes", "16", "--samples", "1", "--counter", "none")
    try:
        lines = peer_records(context, tree, made, BEST, *asked)
        line = next((line for line in lines if isinstance(line, PeerLine)), None)
    except EverycoreError as error:
        message = f"{own.title}: a program with the library of {own.folder} does not run"
        raise EverycoreError(message, f"{error.message}\n{error.hint}".strip()) from error
    if line and line.headers and line.headers != line.version:
        raise EverycoreError(
            f"{own.title}: in {own.folder} the headers are of {line.headers}, and the library is"
            f" {line.version}",
            "name a folder that has both of one build",
        )


# ---- Who takes part ------------------------------------------------------------------------------


def features_taken_away(tree: Tree, greeting: Hello, hardware: str) -> list[tuple[str, ...]]:
    """Return the features that our kernels do without, so that they compare with peers under
    `hardware`.

    Without AES there are two cases: wide vectors or not.
    """
    aes = tuple(f for f in greeting.features if f in AES_FEATURES)
    wide = tuple(f for f in greeting.features if f.startswith(WIDE_PREFIX))
    own = catalog.features(tree).get(greeting.arch, [])
    match hardware:
        case "vaes256":
            return [tuple(f for f in greeting.features if f.startswith(WIDEST_PREFIX))]
        case "sse":
            return [tuple(f for f in greeting.features if f in WIDE_AES_FEATURES or f in wide)]
        case "ssse3":
            return [aes, (*aes, *(f for f in wide if f not in aes))] if wide else [aes]
        case "c":
            return [tuple(f for f in greeting.features if f in own and f not in ALWAYS_THERE)]
        case _:
            return [()]


def own_contestant(session: Session, without: Sequence[str]) -> Contestant:
    """The kernels that are selected on a CPU without some features."""
    words = ["--without", ",".join(without)] if without else []
    lines = list(session.records("resolve", *words))
    modes = [line for line in lines if isinstance(line, Mode)]

    def start(mode: str, arguments: Sequence[str]) -> Iterator[Record] | None:
        primitive = "gcm" if mode.startswith("gcm-") else "aes"
        kernel = selected_kernel(mode, primitive, modes)
        if not kernel:
            return None
        chosen = ["--primitive", primitive, "--kernel", kernel]
        return session.records("bench", "--mode", mode, *arguments, *chosen, *words)

    return Contestant("everycore", start, is_ours=True)


def own_contestant_of_others(session: Session) -> Contestant:
    """Every kernel of big numbers or hashes that runs here, for another one is selected for another
    length; none that is there to be compared with, or for CPUs without products of 32 bits."""
    lines = list(session.records("list"))
    kernels = [o for o in lines if isinstance(o, Kernel) and o.runs and o.name not in TOO_SLOW]

    def start(mode: str, arguments: Sequence[str]) -> Iterator[Record] | None:
        primitive = "sha2" if mode in HASH_MODES else NUMBER_MODES.get(mode, "bn")
        names = ",".join(o.name for o in kernels if o.primitive == primitive)
        chosen = ["--primitive", primitive, "--kernel", names]
        return session.records("bench", "--mode", mode, *arguments, *chosen)

    return Contestant("everycore", start, is_ours=True)


def peer_contestant(
    context: Context, tree: Tree, build: PeerBuild, paths: Hardware, suffix: str = ""
) -> Contestant:
    """`suffix`: of its name and version in all lines, for a library of the user."""

    def start(mode: str, arguments: Sequence[str]) -> Iterator[Record]:
        for line in peer_records(context, tree, build, paths, "--mode", mode, *arguments):
            yield _renamed(line, suffix) if suffix else line

    return Contestant(build.peer.name + suffix, start)


def _renamed(line: Record, suffix: str) -> Record:
    if isinstance(line, PeerLine):
        return line.replace(version=line.version + suffix)
    if isinstance(line, Bench | Failure):
        return line.replace(kernel=line.kernel + suffix)
    return line


# ---- The run -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Memory:
    """Results of earlier turns for later ones."""

    out: set[tuple[str, str]] = field(default_factory=set)  # who, in which mode; "": in all
    kernels: dict[str, str] = field(default_factory=dict)  # what a contestant's lines call it


@dataclass(frozen=True, slots=True)
class Turn:
    """One process: a contestant, a mode."""

    contestant: Contestant
    mode: str
    memory: Memory

    def records(
        self, arguments: Sequence[str], when_broken: Callable[[Broken], None]
    ) -> Iterator[Record]:
        """Every line of the process; of a peer that dies, those until then."""
        name, memory = self.contestant.name, self.memory
        if {(name, self.mode), (name, "")} & memory.out:
            return
        try:
            for record in self.contestant.start(self.mode, arguments) or ():
                match record:
                    case Failure(mode=mode):
                        memory.out.add((name, mode))
                    case PeerLine(absent="") as peer:
                        memory.kernels[name] = peer.kernel
                    case PeerLine():
                        memory.out.add((name, ""))
                yield record
        except EverycoreError as error:
            if self.contestant.is_ours:
                raise
            memory.out.add((name, ""))
            when_broken(Broken(name, self.mode, memory.kernels.get(name, ""), error))


def run_rounds(
    contestants: Sequence[Contestant], modes: Sequence[str], rounds: int
) -> Iterator[Turn]:
    """Mode by mode, all contestants in turn; every other round goes backwards.

    Who gave a wrong answer in a mode is out of that mode; who died or cannot run here, out of all.
    """
    memory = Memory()
    for mode in modes:
        for number in range(rounds):
            for contestant in contestants if number % 2 == 0 else contestants[::-1]:
                yield Turn(contestant, mode, memory)
