# SPDX-License-Identifier: MIT
"""Emulators of Arm at hand: their versions, and what of pointer authentication they have."""

import hashlib
import re
import struct
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from everycore.compile import debs
from everycore.compile.debs.lock import Lock, Request
from everycore.environment.atomic import atomic_write
from everycore.environment.context import Completed, Context
from everycore.environment.errors import EverycoreError
from everycore.model.run_lines import PauthEmulator

PROGRAM = "qemu-aarch64"
PACKAGE = "qemu-user"
SERIES = "pauth-aes128"  # a property that only QEMU with the series of contrib/qemu has
PROPERTIES = ("pauth", "pauth-impdef", "pauth-qarma3", "pauth-qarma5", SERIES)
SECONDS = 60  # more than any answer here takes
MODE = "EVERYCORE_PAUTH"  # what a patched emulator reads: contrib/qemu
COUNTS = "EVERYCORE_PAUTH_COUNTS"
COUNTS_FORMAT = struct.Struct("=8s5Q16s16s")
COUNTS_MAGIC = b"evcpac1\0"
SUITE = re.compile(r"[a-z][a-z0-9.+-]*")
_USER = re.compile(r"qemu-aarch64(?:-static)? version (\d+)\.(\d+)(\S*)")
LACKING = re.compile(r"property .* not found", re.I)  # of this version
_OTHER = re.compile(r"qemu-(\w+) version|(QEMU emulator) version")

# Sixteen codes of one pointer by PACIA1716, a no-operation where there is no pointer
# authentication; ends with SIGNS if one differs from the pointer, else with SIGNS_NOT: what ends
# with an error does so with another number. Arm ARM DDI 0487.
SIGNS_NOT, SIGNS = 64, 65
PROBE = (
    0xD2800009,  # mov x9, #0
    0xD280020A,  # mov x10, #16
    0xD2820011,  # again: mov x17, #0x1000
    0xAA0A03F0,  # mov x16, x10
    0xD503211F,  # pacia1716
    0xD274022B,  # eor x11, x17, #0x1000
    0xAA0B0129,  # orr x9, x9, x11
    0xF100054A,  # subs x10, x10, #1
    0x54FFFF41,  # b.ne again
    0xF100013F,  # cmp x9, #0
    0x9A9F07E0,  # cset x0, ne
    0x91010000,  # add x0, x0, #64
    0xD2800BA8,  # mov x8, #93: exit
    0xD4000001,  # svc #0
)


@dataclass(frozen=True, slots=True)
class Emulator:
    """A QEMU for AArch64."""

    name: str  # "qemu 10.0.13"
    argv: tuple[str, ...]  # what starts it
    properties: frozenset[str] = frozenset()  # of its CPU `max`
    signs_by_default: bool | None = None  # what programs get that ask for no CPU; None: unknown
    has_plugins: bool = False
    is_patched: bool = False  # by contrib/qemu

    @property
    def counts(self) -> bool:
        return self.is_patched or self.has_plugins

    def line(self) -> PauthEmulator:
        """Return the line that is stored."""
        return PauthEmulator(self.name, tuple(sorted(self.properties)), self.signs_by_default)


def identify(context: Context, argv: Sequence[str]) -> Emulator:
    """Ask an emulator what it is; one without pointer authentication is an error."""
    name = named(context, argv, _USER, PROGRAM)
    probe = _probe(context)
    done = {p: _signs(context, argv, probe, ("-cpu", f"max,{p}=on")) for p in PROPERTIES}
    found = frozenset(p for p, signs in done.items() if signs is not None)
    if "pauth" not in found:
        raise EverycoreError(
            f"{argv[-1]} has no property 'pauth' of the CPU 'max'", "it came with QEMU 6.0"
        )
    patched = counts_itself(context, [*argv, "-cpu", "max,pauth=on", str(probe)])
    return Emulator(
        name=name + suffix_of(patched, found),
        argv=tuple(argv),
        properties=found,
        signs_by_default=bool(_signs(context, argv, probe, ())),
        has_plugins=has_plugins(context, argv),
        is_patched=patched,
    )


def suffix_of(patched: bool, properties: frozenset[str]) -> str:
    """Return the end of the name of an emulator that contrib/qemu changed: in which way it did."""
    if patched:
        return " patched"
    return " series" if SERIES in properties else ""


def named(context: Context, argv: Sequence[str], pattern: re.Pattern[str], wanted: str) -> str:
    """Its name in tables: QEMU with its version, which `pattern` finds."""
    done = asked(context, [*argv, "--version"])
    said = done.stdout
    if match := pattern.match(said):
        return f"qemu {match[1]}.{match[2]}{match[3]}"
    hint = f"wanted is a {wanted}"
    if other := _OTHER.match(said):
        what = f"programs of {other[1]}, not a system"
        if wanted == PROGRAM:
            what = "a whole system" if other[2] else f"{other[1]}, not aarch64"
        raise EverycoreError(f"{argv[-1]} emulates {what}", hint)
    why = (done.stderr.strip().splitlines() or ["it does not say its version"])[-1]
    raise EverycoreError(f"{argv[-1]} is no QEMU: {why}", hint)


def _signs(
    context: Context, argv: Sequence[str], probe: Path, options: Sequence[str]
) -> bool | None:
    """Whether signing changes a pointer; None if the emulator refuses the options."""
    done = asked(context, [*argv, *options, str(probe)])
    if done.code in (SIGNS_NOT, SIGNS):
        return done.code == SIGNS
    if LACKING.search(done.stderr):
        return None
    raise EverycoreError(
        f"{argv[-1]} {' '.join(options)} does not run a program of fourteen instructions:"
        f" {done.stderr.strip() or f'it ended with {done.code}'}"
    )


def has_plugins(context: Context, argv: Sequence[str]) -> bool:
    said = asked(context, [*argv, "--help"]).stdout
    return re.search(r"^-plugin\b", said, re.M) is not None


def counts_itself(context: Context, argv: Sequence[str]) -> bool:
    """Whether an emulator counts when it is asked to; only a patched one knows the setting."""
    with tempfile.TemporaryDirectory() as folder:
        to = Path(folder, "counts")
        asked(context, argv, {COUNTS: str(to)})
        return to.is_file() and to.read_bytes().startswith(COUNTS_MAGIC)


def asked(
    context: Context, argv: Sequence[str], settings: Mapping[str, str] = MappingProxyType({})
) -> Completed:
    """Run an emulator for an answer, which takes it a moment."""
    try:
        return context.runner.run(clean(argv, settings), seconds=SECONDS)
    except TimeoutError:
        raise EverycoreError(f"{' '.join(argv)} does not end") from None


def clean(argv: Sequence[str], settings: Mapping[str, str] = MappingProxyType({})) -> list[str]:
    """Run with no environment but these: QEMU_CPU, PYTHONPATH and the like would disturb."""
    given = [f"{key}={value}" for key, value in settings.items()]
    # env would take a path with = for another setting; nice takes none, and adds nothing here.
    starter = ["nice", "-n", "0"] if "=" in argv[0] else []
    return ["env", "-i", *given, *starter, *argv]


def _probe(context: Context) -> Path:
    return stored(context, "probe", program_of(PROBE))


def stored(context: Context, name: str, program: bytes) -> Path:
    """A program as a file of the cache."""
    path = context.cache_dir() / "pauth" / hashlib.sha256(program).hexdigest()[:32] / name
    if not path.is_file():
        with atomic_write(path) as scratch:
            scratch.write_bytes(program)
            scratch.chmod(0o755)
    return path


def program_of(words: Sequence[int]) -> bytes:
    """A static ELF program of AArch64: one segment, its code behind the headers."""
    base, headers = 0x400000, 64 + 56  # of the file, of a segment: System V ABI, chapters 4 and 5
    code = struct.pack(f"<{len(words)}I", *words)
    ident = b"\x7fELF\x02\x01\x01".ljust(16, b"\0")
    file = struct.pack("<HHIQQQIHHHHHH", 2, 183, 1, base + headers, 64, 0, 0, 64, 56, 1, 0, 0, 0)
    size = headers + len(code)
    segment = struct.pack("<IIQQQQQQ", 1, 5, 0, base, base, size, size, 0x1000)
    return ident + file + segment + code


# ---- From a suite of Debian ----------------------------------------------------------------------


def packaged(context: Context, suite: str, update: bool, package: str) -> Path:
    """The folder with Debian's package of an emulator and all that it needs."""
    request = Request((suite,), debs.architecture_of(), (package,), exclude=("qemu-system-data",))
    return debs.unpacked(context, locked(context, request, f"{package}-{suite}", update))


def locked(context: Context, request: Request, name: str, update: bool) -> Lock:
    """Return the lock of a request: that of the first time, or a new one with `update`."""
    for suite in request.suites:
        if not SUITE.fullmatch(suite):
            raise EverycoreError(f"'{suite}' is no name of a suite", "such as trixie, sid")
    path = context.state_dir() / "locks" / f"pauth-{name}-{request.architecture}.lock"
    return debs.pinned(context, request, path, update)


def started_in(root: Path, program: str) -> tuple[str, ...]:
    """The words that start a program of a folder of packages, by the loader in it if it has one."""
    path = str(root / "usr/bin" / program)
    loader = next(iter(sorted(root.glob("lib*/ld-linux*.so*"))), None)
    library = next(root.glob("usr/lib/*/libc.so.6"), None)
    if loader is None or library is None:  # the program is static
        return (path,)
    return (str(loader), "--library-path", str(library.parent), path)


def numbered(emulators: Sequence[Emulator]) -> list[Emulator]:
    """Those of one version get a number, for their names are headings."""
    found: list[Emulator] = []
    for emulator in emulators:
        same = sum(emulator.name == other.name for other in emulators[: len(found)])
        found.append(replace(emulator, name=f"{emulator.name} #{same + 1}") if same else emulator)
    return found
