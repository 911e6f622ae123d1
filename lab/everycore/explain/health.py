# SPDX-License-Identifier: MIT
"""Facts for `everycore doctor`: the machine, the kernel, libraries and their processes."""

import re
import socket
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from everycore.explain import masks
from everycore.explain.contained import instructions_in
from everycore.explain.environments import ENDED, read_environment
from everycore.explain.libraries import cpu_flags, identify, known
from everycore.explain.samples import read_mappings

FEATURES = (
    "aes", "pclmulqdq", "vaes", "vpclmulqdq", "sha_ni", "ssse3", "avx2", "bmi2", "adx",
    "avx512f", "avx512ifma", "gfni", "pmull", "sha1", "sha2", "sha512", "sha3", "neon", "asimd",
)  # fmt: skip
# Flags that every CPU of a kind has. AMD: Software Optimization Guides for family 17h, 19h, 1Ah.
_AMD = {
    23: ("aes", "pclmulqdq", "sha_ni", "avx2", "bmi2", "adx"),
    25: ("aes", "pclmulqdq", "sha_ni", "avx2", "bmi2", "adx", "vaes", "vpclmulqdq"),
    26: ("aes", "pclmulqdq", "sha_ni", "avx2", "adx", "vaes", "vpclmulqdq", "avx512ifma"),
}
# Intel: server models of family 6, by SDM volume 4, 2 (models 55h, 6Ah and 6Ch, 8Fh, CFh, ADh and
# AEh), and the ISA Extensions Programming Reference, table 1-1. Of client models some lack AVX2.
_SKYLAKE = ("aes", "pclmulqdq", "avx2", "bmi2", "adx", "avx512f")
_ICE_LAKE = (*_SKYLAKE, "sha_ni", "vaes", "vpclmulqdq", "avx512ifma", "gfni")
_INTEL = {85: _SKYLAKE, **dict.fromkeys((106, 108, 143, 173, 174, 207), _ICE_LAKE)}
KERNEL_ALGORITHMS = (
    "aes", "xts(aes)", "cbc(aes)", "ctr(aes)", "gcm(aes)", "sha256", "sha1", "crc32c",
    "chacha20", "rfc7539(chacha20,poly1305)",
)  # fmt: skip
# `-lib` is the kernel's own library, which takes what the CPU has since Linux 6.16.
_SLOW_DRIVER = re.compile(r"generic|fixed-time")
# Files without primitives of their own.
_WITHOUT = re.compile(r"lib(ssl|nss3|softokn3|mbedtls|freebl3)\b")
_FLAGS = {"aes": "aes", "clmul": "pclmulqdq", "sha": "sha_ni", "mulx": "bmi2"}
_FOLDERS = ("/usr/lib", "/lib", "/usr/local/lib", "/usr/lib64")


@dataclass(frozen=True, slots=True)
class Cpu:
    name: str
    family: int
    features: tuple[str, ...]
    hidden: tuple[str, ...]  # that all CPUs of this family, or Intel's model, have
    is_virtual: bool


@dataclass(frozen=True, slots=True)
class KernelAlgorithm:
    name: str
    driver: str  # empty: not registered now
    priority: int = 0

    @property
    def resolved(self) -> str:
        return self.driver or "not registered (templates appear with their first use)"

    @property
    def is_slow(self) -> bool:
        """Whether the driver is portable C, by the names that the kernel gives these."""
        return bool(self.driver) and bool(_SLOW_DRIVER.search(self.driver))


@dataclass
class Installed:
    """A file with cryptography in it."""

    path: str
    name: str
    version: str
    instructions: dict[str, bool]
    processes: dict[int, str] = field(default_factory=dict)  # that have it mapped
    deleted: dict[int, str] = field(default_factory=dict)  # that still run an older file
    masks: dict[int, list[str]] = field(default_factory=dict)  # by process: variables
    unread: dict[int, str] = field(default_factory=dict)  # whose variables cannot be read


def cpu(text: str) -> Cpu:
    """Describe the CPU of a /proc/cpuinfo."""
    fields: dict[str, str] = {}
    for line in text.splitlines():
        name, _, value = line.partition(":")
        fields.setdefault(name.strip(), value.strip())
    flags = cpu_flags(text)
    family = int(fields.get("cpu family", "0") or 0)
    vendor, model = fields.get("vendor_id"), int(fields.get("model", "0") or 0)
    expected = _AMD.get(family, ()) if vendor == "AuthenticAMD" else ()
    if vendor == "GenuineIntel" and family == 6:
        expected = _INTEL.get(model, ())
    return Cpu(
        fields.get("model name", fields.get("CPU part", "unknown")),
        family,
        tuple(feature for feature in FEATURES if feature in flags),
        tuple(feature for feature in expected if feature not in flags),
        "hypervisor" in flags,
    )


def kernel_algorithms(
    text: str, wanted: Sequence[str] = KERNEL_ALGORITHMS
) -> list[KernelAlgorithm]:
    """Return the driver of the highest priority of each algorithm in a /proc/crypto."""
    best: dict[str, KernelAlgorithm] = {}
    for block in text.split("\n\n"):
        pairs = (line.partition(":") for line in block.splitlines())
        fields = {name.strip(): value.strip() for name, _, value in pairs}
        if "name" not in fields or fields.get("internal") == "yes":
            continue
        algorithm = KernelAlgorithm(
            fields["name"], fields["driver"], int(fields.get("priority", 0))
        )
        if algorithm.name not in best or algorithm.priority > best[algorithm.name].priority:
            best[algorithm.name] = algorithm
    return [best.get(name, KernelAlgorithm(name, "")) for name in wanted]


def af_alg() -> str:
    """Say whether programs can use the kernel's algorithms."""
    try:
        with socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET) as crypto_socket:
            crypto_socket.bind(("hash", "sha256"))
    except (OSError, AttributeError) as error:
        return f"not available ({getattr(error, 'strerror', None) or error})"
    return "available"


def installed(extra: Iterable[Path] = (), root: Path = Path("/")) -> list[Installed]:
    """Return the libraries of cryptography of this machine, and the files that are named."""
    paths: dict[str, None] = {}
    for folder in _FOLDERS:
        base = root / folder.lstrip("/")
        for place in (base, *(path for path in base.glob("*-linux-gnu*") if path.is_dir())):
            for path in sorted(place.glob("lib*.so*")):
                is_known = any(re.match(library.file, path.name) for library in known())
                if is_known and not _WITHOUT.match(path.name):
                    with suppress(OSError):
                        paths[str(path.resolve(strict=True))] = None
    found = []
    for name in (*paths, *map(str, extra)):
        identity = identify(name)
        title = identity.name or Path(name).name
        found.append(Installed(name, title, identity.version, instructions_in(name)))
    return [library for library in found if library.instructions]


def add_processes(found: list[Installed], proc: Path = Path("/proc")) -> None:
    """Note which processes have which library mapped, and with which masks in their environment."""
    by_path = {library.path: library for library in found}
    for folder in proc.glob("[0-9]*"):
        try:
            pid = int(folder.name)
            maps = (folder / "maps").read_text(errors="replace")
            name = (folder / "comm").read_text(errors="replace").strip()
        except (OSError, ValueError):  # it has ended, or is another user's
            continue
        paths = {
            mapping.path for mapping in read_mappings(maps, executable_only=True) if mapping.path
        }
        for path in paths:
            plain = path.removesuffix(" (deleted)")
            library = by_path.get(plain)
            if library is None:
                continue
            (library.deleted if path.endswith(" (deleted)") else library.processes)[pid] = name
            environment, why = read_environment(folder)
            if environment is None:
                if why != ENDED:
                    library.unread[pid] = name
                continue
            # A library reads its own variables alone.
            own = [f"{mask}={value}" for mask, value in environment if mask in _masks_of(library)]
            if own:
                library.masks[pid] = own


def _masks_of(library: Installed) -> tuple[str, ...]:
    return next((entry.masks for entry in known() if entry.name == library.name), ())


def _takes_away(library: Installed, variable: str, value: str, flags: Sequence[str]) -> bool:
    """Whether a variable hides from a library what the CPU has; so, too, if that is not known.

    Of kinds of instructions that are looked for in files, the file has them.
    """
    hidden = masks.hidden(variable, value)
    if hidden is None:
        return True
    without = {flag for kind, flag in _FLAGS.items() if library.instructions.get(kind) is False}
    return bool(hidden & (set(flags) - without if flags else hidden))


def verdict(
    library: Installed, flags: Sequence[str], environment: Mapping[str, str]
) -> tuple[str, str]:
    """Return a line on a library, and the remedy; both without running it."""
    if library.deleted:
        names = ", ".join(sorted(set(library.deleted.values())))
        return f"{names} still runs a file that was replaced", "restart it"
    if found := _masked(library, flags, environment):
        return found
    wanted = dict(_FLAGS)
    if "avx512vl" in flags:  # OpenSSL has VAES in code for AVX-512 alone
        wanted["vaes"] = "vaes"
    lacking = [
        flag
        for name, flag in wanted.items()
        if flag in flags and library.instructions.get(name) is False and _computes(library, name)
    ]
    if lacking:
        text = f"has no code for {', '.join(lacking)}, which this CPU has"
        if lacking == ["vaes"]:
            return f"{text}: AES by 128 bits at a time", "a newer OpenSSL (3.6 and 4.0 have it)"
        return text, "a build with assembly, or a newer version"
    text = "uses the CPU's instructions, as far as its file shows"
    if library.unread:
        who = group_processes(library.unread)
        text += f"; the variables of {who} cannot be read, so they may hide some"
    return text, ""


def _masked(
    library: Installed, flags: Sequence[str], environment: Mapping[str, str]
) -> tuple[str, str] | None:
    """Return the verdict on a library that a variable keeps from instructions of the CPU."""
    for pid, words in library.masks.items():
        for word in words:
            name, _, value = word.partition("=")
            if _takes_away(library, name, value, flags):
                who = library.processes.get(pid, str(pid))
                return f"{who} runs it with {word}", "unset that variable and restart it"
    for own in _masks_of(library):
        if own in environment and _takes_away(library, own, environment[own], flags):
            return f"{own} is set here", f"unset {own}"
    return None


_COMPUTES: Mapping[str, Mapping[str, Sequence[str]]] = {
    "nettle": {"hogweed": ("mulx",), "": ("aes", "clmul", "sha")},
    "GMP": {"": ("mulx",)},
    "GnuTLS": {"": ("aes", "clmul", "sha")},
    "libsodium": {"": ("aes",)},
    # The linker takes what a program asks for.
    "everycore": {"libeverycore.so": ("aes", "clmul", "sha", "mulx"), "": ()},
}


def _computes(library: Installed, name: str) -> bool:
    """Whether a library has that part of cryptography in it at all."""
    parts = _COMPUTES.get(library.name)
    if parts is None:
        return name not in ("mulx", "vaes") or library.name == "OpenSSL"
    for word, names in parts.items():
        if word in library.path:
            return name in names
    return False


def group_processes(found: Mapping[int, str]) -> str:
    """Return names of processes, each once, with how many there are."""
    counted: dict[str, int] = defaultdict(int)
    for name in found.values():
        counted[name] += 1
    words = [f"{name} ({count})" if count > 1 else name for name, count in sorted(counted.items())]
    shown = ", ".join(words[:4])
    return f"{shown}, and {len(words) - 4} more" if len(words) > 4 else shown
