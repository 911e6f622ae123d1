# SPDX-License-Identifier: MIT
"""The programs to run: they sign their return addresses, and are built here or taken from a
package."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from everycore.compile import debs
from everycore.compile.debs.lock import Request
from everycore.compile.toolchains.find import ask
from everycore.environment.atomic import atomic_write
from everycore.environment.context import Context
from everycore.environment.errors import EverycoreError, unknown_name
from everycore.pauth.emulators import locked

GUEST = Path(__file__).parent / "guest"
COMPILER = "aarch64-linux-gnu-gcc"
COMPILER_HINT = "Debian: apt-get install gcc-aarch64-linux-gnu libc6-dev-arm64-cross"
FLAGS = ("-O2", "-static", "-mbranch-protection=pac-ret")
# As its makefile has them; and a fixed seed of hashes, which else comes from addresses.
LUA_FLAGS = ("-DLUA_COMPAT_5_3", "-DLUA_USE_POSIX", "-Dluai_makeseed(L)=1u", "-lm")
SUITE = "trixie"  # its arm64 packages are built with pac-ret, those of earlier ones are not
PYTHON = "python3.13"
SOLELY_SCRIPTS = ("media-types", "netbase", "openssl-provider-legacy", "tzdata")


@dataclass(frozen=True, slots=True)
class Program:
    """One table: a command line of the guest."""

    name: str
    says: str  # what it is
    options: tuple[str, ...]  # of the emulator
    settings: Mapping[str, str]  # its environment, and the program's
    argv: tuple[str, ...]  # the program, and its arguments but the last
    work: int  # the number in the last argument where nothing scales it
    before: str = ""  # what stands before that number
    marker: str = ""  # what it prints if it works at all

    def words(self, scale: float) -> list[str]:
        return [*self.options, *self.argv, f"{self.before}{self.work_of(scale)}"]

    def work_of(self, scale: float) -> int:
        """In whole units, one at least; a boot alone has none."""
        return max(1, round(self.work * scale)) if self.work else 0

    def scale_of(self, scale: float) -> float:
        """Return the ratio of the work to the usual one."""
        return self.work_of(scale) / self.work if self.work else 1.0


@dataclass(frozen=True, slots=True)
class Making:
    """The tools that make a program."""

    context: Context
    compiler: str
    update: bool


def make(context: Context, name: str, compiler: str, update: bool) -> Program:
    if name not in PROGRAMS:
        raise unknown_name("program", name, PROGRAMS)
    return PROGRAMS[name](Making(context, compiler, update))


def _recursion(making: Making) -> Program:
    path = built(making, "recursion", [GUEST / "recursion.c"])
    return Program("recursion", "Fibonacci numbers, compiled here", (), {}, (str(path),), 180)


def _quicksort(making: Making) -> Program:
    path = built(making, "quicksort", [GUEST / "quicksort.c"])
    return Program("quicksort", "of integers, compiled here", (), {}, (str(path),), 10)


def _lua(making: Making) -> Program:
    """The interpreter of Debian's source package, compiled as its makefile does."""
    request = Request((SUITE,), "source", sources=("lua5.4",))
    lock = locked(making.context, request, f"lua-{SUITE}", making.update)
    folder = debs.unpacked_source(making.context, lock, "lua5.4", ("src",)) / "src"
    sources = [path for path in sorted(folder.glob("*.c")) if path.name != "luac.c"]
    path = built(making, "lua", sources, LUA_FLAGS)
    script = str(GUEST / "interpreted.lua")
    says = f"Lua {lock.sources[0].version} compiled here, all of it signing"
    return Program("lua", says, (), {}, (str(path), script), 24)


def _python(making: Making) -> Program:
    """As it is in the package."""
    request = Request((SUITE,), "arm64", (PYTHON,), exclude=SOLELY_SCRIPTS)
    lock = locked(making.context, request, f"python-{SUITE}", making.update)
    root = debs.unpacked(making.context, lock)
    version = next(pin.version for pin in lock.packages if pin.name == PYTHON)
    settings = {
        "PYTHONHOME": "/usr",
        "PYTHONHASHSEED": "0",  # decides the order of sets, and with it what is executed
        # Else the whole library is compiled in every run, which an installed one is not.
        "PYTHONPYCACHEPREFIX": str(making.context.cache_dir() / "pauth" / f"pycache-{root.name}"),
    }
    argv = (str(root / "usr/bin" / PYTHON), "-s", "-S", str(GUEST / "interpreted.py"))
    says = f"python3.13 {version} of {SUITE}, unmodified"
    return Program("python", says, ("-L", str(root)), settings, argv, 100)


PROGRAMS: dict[str, Callable[[Making], Program]] = {
    "recursion": _recursion,
    "quicksort": _quicksort,
    "lua": _lua,
    "python": _python,
}


def compiler_name(context: Context, compiler: str) -> str:
    """Family and version of what compiles programs; none is needed for those of packages."""
    try:
        return ask(context.runner.run, (compiler,), FLAGS, COMPILER_HINT).name
    except EverycoreError:
        return "no compiler"


def built(making: Making, name: str, sources: Sequence[Path], flags: Sequence[str] = ()) -> Path:
    """A static program for AArch64 that signs its return addresses, compiled once."""
    context = making.context
    try:
        said = context.runner.run([making.compiler, "--version"]).stdout
    except EverycoreError as error:
        raise EverycoreError(error.message, COMPILER_HINT) from error
    digest = hashlib.sha256("\0".join([making.compiler, said, *FLAGS, *flags]).encode())
    for source in sources:
        digest.update(source.name.encode() + b"\0" + source.read_bytes())
    path = context.cache_dir() / "pauth" / digest.hexdigest()[:32] / name
    if not path.is_file():
        with atomic_write(path) as scratch:
            argv = [making.compiler, *FLAGS, *map(str, sources), *flags, "-o", str(scratch)]
            done = context.runner.run(argv)
            if done.code:
                lines = done.stderr.strip().splitlines()[:8]
                raise EverycoreError(f"{making.compiler} cannot build {name}", "\n".join(lines))
            scratch.chmod(0o755)
    return path
