# SPDX-License-Identifier: MIT
"""The values of the lab's domain: kernels, compilers, machines, figures."""

from dataclasses import dataclass
from pathlib import Path

from everycore.environment.decoding import Record


@dataclass(frozen=True, slots=True)
class Tree:
    """The C tree: a checkout, or the copy that the wheel carries."""

    root: Path
    is_checkout: bool


@dataclass(frozen=True, slots=True)
class RegistryLine:
    """One line of src/kernels.def."""

    primitive: str
    name: str
    isa: str
    timing: str
    use: str


@dataclass(frozen=True, slots=True)
class Compiler:
    """A C compiler that answered."""

    command: tuple[str, ...]
    name: str  # "gcc 12.2.0"
    fingerprint: str  # changes with the compiler, its target and its flags


@dataclass(frozen=True, slots=True)
class Toolchain:
    """A compiler by name, of one provider, for one or more targets."""

    name: str  # "gcc-12", "clang-22"
    provider: str  # "host", "debian", "wheel" or "path"
    family: str  # "gcc" or "clang"
    version: tuple[int, ...]  # (12, 2, 0)
    compilers: tuple[tuple[str, Compiler], ...]  # by the name of a target: "host", "qemu-aarch64"
    origin: str = ""  # where it is from: "Debian trixie, gcc-14 14.2.0-19", "ziglang 0.13.0"

    def compiler(self, target: str) -> Compiler | None:
        """Return the compiler for a target, or None."""
        return dict(self.compilers).get(target)

    @property
    def title(self) -> str:
        return f"{self.family} {'.'.join(map(str, self.version))}"

    def title_for(self, target: str) -> str:
        """Return the title of the compiler for a target, which may be of another version than the
        host's."""
        compiler = self.compiler(target)
        return compiler.name if compiler else self.title


@dataclass(frozen=True, slots=True)
class Board:
    """A machine reached over SSH: the table [board] of its target."""

    host: str  # a name, an address, or an alias of ssh's own configuration
    user: str = ""  # empty, as of all that follows: what ssh takes by itself
    port: int = 0
    identity: str = ""  # the file of a private key
    options: tuple[str, ...] = ()  # more words for ssh
    python: str = "python3"  # what execnet starts there; empty: none is needed, plain ssh
    build: str = "here"  # or "there": by the board's own compiler
    folder: str = ".cache/everycore"  # where the harness goes, below the home directory
    keep: bool = True  # whether it stays, so that it need not be copied again
    cpu: int = -1  # the core that measures; -1: one of the fastest
    timeout_seconds: int = 300  # without a word from the harness


@dataclass(frozen=True, slots=True)
class Target:
    """A place where a harness runs: one file in catalog/targets/."""

    name: str
    description: str
    transport: str = "local"
    compiler: str = ""  # empty: the host's
    compile_flags: tuple[str, ...] = ()
    link_flags: tuple[str, ...] = ()
    emulator: tuple[str, ...] = ()
    emulator_version: str = ""  # the oldest that knows all that `emulator` asks for
    packages: tuple[str, ...] = ()  # Debian packages that provide compiler and emulator
    host_machines: tuple[str, ...] = ()  # machines (uname -m) whose own compiler serves; empty: all
    cpu_model: str = ""  # of the transports bochs and hercules: what these call it
    board: Board | None = None  # of the transport ssh

    @property
    def is_emulated(self) -> bool:
        """Whether its times tell nothing of a CPU."""
        return self.transport == "qemu" or self.has_cpu_model

    @property
    def has_cpu_model(self) -> bool:
        """Whether an emulator runs it that neither counts nor traces."""
        return self.transport in ("bochs", "hercules")


@dataclass(frozen=True, slots=True)
class CpuModel:
    """A CPU by name: what `everycore resolve --cpu` knows of it."""

    name: str
    arch: str
    features: tuple[str, ...]
    source: str
    multiplies_early: bool = False  # it is known that products of small numbers take less time


@dataclass(frozen=True, slots=True)
class Hardware:
    """A set of code paths of a peer, and the environment in which it uses no others."""

    name: str  # best, ssse3, c
    environment: tuple[tuple[str, str], ...] = ()


BEST = Hardware("best")


@dataclass(frozen=True, slots=True)
class Vendored:
    """A library in C that a crate carries, which CMake builds."""

    crate: str
    version: str
    sha256: str  # of the crate's archive
    folder: str  # of its CMakeLists.txt in the crate; its headers are in include below
    targets: tuple[str, ...]  # what CMake has to make
    options: tuple[str, ...] = ()  # words for CMake


@dataclass(frozen=True, slots=True)
class Newest:
    """A version of a library that no suite and no registry has."""

    version: str
    date: str  # year and month
    brings: str


@dataclass(frozen=True, slots=True)
class Peer:
    """Another library, by its table in catalog/peers/peers.toml."""

    name: str
    packages: tuple[str, ...]  # Debian packages that provide it
    libraries: tuple[str, ...]  # words for the linker
    includes: tuple[str, ...] = ()  # where below usr/include its headers are, beside usr/include
    adapter: str = ""  # the stem of its source; empty: the name
    crate: str = (
        ""  # it is no package: the feature of catalog/peers/rust that fetches and builds it
    )
    build: tuple[tuple[str, str], ...] = ()  # the environment in which cargo builds it
    module: str = ""  # nor a crate: the Go module below peers, and its only file
    vendored: Vendored | None = None  # nor a module: its source is in a crate
    since: str = ""  # the version that goals count against
    newest: Newest | None = None  # a later one that is not served
    hardware: tuple[Hardware, ...] = ()  # beside BEST
    primitives: tuple[str, ...] = ("aes",)  # that it has modes of

    @property
    def source(self) -> Path:
        if self.crate:
            return Path("catalog/peers/rust/src") / f"{self.crate.replace('-', '_')}.rs"
        if self.module:
            return Path("catalog/peers") / self.module / f"{self.module}.go"
        return Path("catalog/peers") / f"{self.adapter or self.name}.c"


@dataclass(frozen=True, slots=True)
class Installed:
    """Folders of a peer's headers and libraries, if not among the system's."""

    compile_flags: tuple[str, ...] = ()
    link_flags: tuple[str, ...] = ()
    root: Path = Path("/")  # what its package was unpacked to; usr/include is below


@dataclass(frozen=True, slots=True)
class PeerBuild:
    """The harness linked with a peer."""

    peer: Peer
    binary: Path


@dataclass(frozen=True, slots=True)
class Build:
    """A harness binary and how it came to be."""

    binary: Path
    compiler: Compiler
    flags: tuple[str, ...]

    @property
    def title(self) -> str:
        return f"{self.compiler.name} {' '.join(self.flags)}"


class Revision(Record, frozen=True):
    """The state of the C tree that was built."""

    commit: str  # 12 hexadecimal digits; "": it is not known
    dirty: bool

    def __str__(self) -> str:
        return (self.commit or "no-commit") + ("+changes" if self.dirty else "")


class Machine(Record, frozen=True):
    """The machine of a measurement. Nothing in it names the host or its owner."""

    cpu: str
    vendor: str = ""
    family: str = ""
    model: str = ""
    stepping: str = ""
    microcode: str = ""
    cores: int = 0
    governor: str = ""
    system: str = ""
    kernel: str = ""
    architecture: str = ""
    virtualised: bool = False
    board: str = ""  # "Raspberry Pi 3 Model B Plus Rev 1.3"
    core: str = ""  # an Arm core that measured, as catalog/targets/cpus.toml calls it: "cortex-a53"
    midr: str = ""  # its Main ID Register: "0x410fd034"
    cpu_index: int = -1  # its number; -1: not pinned
    max_mhz: int = 0
    # Tells two hosts of one model apart: random, made once for each user and host, or a digest of a
    # board's ids. "": not known.
    installation: str = ""

    def is_same_host(self, other: "Machine") -> bool:
        """The same model, and no other installation as far as that is known of both."""
        known = bool(self.installation and other.installation)
        return self.title() == other.title() and (
            not known or self.installation == other.installation
        )

    def title(self) -> str:
        numbers = f" family {self.family} model {self.model}" if self.family else ""
        return f"{self.cpu}{numbers}{f' ({self.board})' if self.board else ''}"
