# SPDX-License-Identifier: MIT
"""Variables by which libraries are kept from instructions of the CPU: what a value hides.

Features have the names of /proc/cpuinfo. A variable that hides nothing is no cause of anything.

Sources: OPENSSL_ia32cap(3), and OpenSSL 3.0 and 3.5, crypto/cpuid.c: a part that is missing clears
its words of CPUID, but for the first. OpenSSL 3.5, include/crypto/arm_arch.h, and crypto/armcap.c:
the value stands in place of what is detected. Go 1.24, internal/cpu. GnuTLS 3.8 manual, Debugging
and auditing; nettle 3.10, fat-x86_64.c and fat-arm64.c: only what is named is used. NSS, reference
of environment variables. Botan 2 and 3, CPUID::bit_from_string.
"""

import platform
import re
from collections.abc import Callable, Mapping

X86, ARM = "x86", "arm"
_MACHINES = {"x86_64": X86, "i386": X86, "i686": X86, "x86-64": X86, "aarch64": ARM, "a64": ARM}
# Bits of CPUID leaf 1 (EDX, and ECX above it) and of leaf 7 (EBX, and ECX above it).
_LEAF_1 = {
    25: "sse", 26: "sse2", 33: "pclmulqdq", 41: "ssse3", 51: "sse4_1", 52: "sse4_2",
    57: "aes", 60: "avx",
}  # fmt: skip
_FXSR = 24  # OpenSSL takes with it what works on vectors alone
_WITH_FXSR = {"pclmulqdq", "aes", "avx"}
_LEAF_7 = {
    3: "bmi1", 5: "avx2", 8: "bmi2", 16: "avx512f", 17: "avx512dq", 19: "adx",
    21: "avx512ifma", 29: "sha_ni", 30: "avx512bw", 31: "avx512vl", 33: "avx512vbmi",
    38: "avx512_vbmi2", 40: "gfni", 41: "vaes", 42: "vpclmulqdq",
}  # fmt: skip
_ARM_BITS = {
    0: "asimd", 2: "aes", 3: "sha1", 4: "sha2", 5: "pmull", 6: "sha512", 11: "sha3",
    13: "sve", 14: "sve2",
}  # fmt: skip
_GNUTLS_BITS = {1: "aes", 2: "ssse3", 3: "pclmulqdq", 4: "avx", 5: "sha_ni"}
_NETTLE = {X86: ("aesni", "sha_ni", "pclmul"), ARM: ("aes", "pmull", "sha1", "sha2")}
_NSS = {
    "NSS_DISABLE_HW_AES": ("aes",),
    "NSS_DISABLE_HW_SHA": ("sha_ni",),
    "NSS_DISABLE_HW_SHA1": ("sha1",),
    "NSS_DISABLE_HW_SHA2": ("sha2",),
    "NSS_DISABLE_PCLMUL": ("pclmulqdq",),
    "NSS_DISABLE_PMULL": ("pmull",),
    "NSS_DISABLE_AVX": ("avx", "avx2"),
    "NSS_DISABLE_AVX2": ("avx2",),
    "NSS_DISABLE_SSSE3": ("ssse3",),
    "NSS_DISABLE_ARM_NEON": ("asimd",),
}
# Names that libraries have for features, where they are others than those of /proc/cpuinfo.
_NAMES = {
    "aesni": "aes", "aes_ni": "aes", "pclmul": "pclmulqdq", "clmul": "pclmulqdq",
    "sha": "sha_ni", "intel_sha": "sha_ni", "vpclmul": "vpclmulqdq", "sse41": "sse4_1",
    "sse42": "sse4_2", "simd": "sse2", "armv8aes": "aes", "armv8pmull": "pmull",
    "armv8sha1": "sha1", "armv8sha2": "sha2", "neon": "asimd",
}  # fmt: skip
_ALL = {
    X86: {*_LEAF_1.values(), *_LEAF_7.values()},
    ARM: set(_ARM_BITS.values()),
}
# The machine whose libraries read a variable, by its end; the others are read on all.
_OF_MACHINES = {"ia32cap": X86, "armcap": ARM, "ppccap": "ppc", "s390xcap": "s390x"}


def hidden(variable: str, value: str, machine: str = "") -> frozenset[str] | None:
    """Return the features that a variable hides from its library; None where that is not known.

    `machine`: as `uname -m` has it, or a unit of a file; without it, this one.
    """
    name = machine or platform.machine()
    kind = _MACHINES.get(name, name)
    of = next(
        (family for end, family in _OF_MACHINES.items() if variable == f"OPENSSL_{end}"), None
    )
    if of is not None and not kind.startswith(of):
        return frozenset()
    if kind not in _ALL:
        return None
    if variable.startswith("NSS_"):  # whatever the value, an empty one too
        return frozenset(_NSS.get(variable, ()))
    decode = _DECODERS.get(variable)
    return None if decode is None else frozenset(decode(value, kind))


def _number(text: str) -> int:
    """Read a number as C does: hexadecimal, octal or decimal, up to the first other character."""
    digits = re.match(r"(0[xX])([0-9a-fA-F]*)|(0[0-7]*)|(\d*)", text)
    assert digits is not None
    if digits[1]:
        return int(digits[2] or "0", 16)
    return int(digits[3], 8) if digits[3] else int(digits[4] or "0")


def _missing(bits: Mapping[int, str], value: int) -> set[str]:
    return {name for bit, name in bits.items() if not value >> bit & 1}


def _ia32cap(value: str, _: str) -> set[str]:
    first, *rest = value.split(":")
    found: set[str] = set()
    if first.startswith("~"):
        mask = _number(first[1:])
        found |= _missing(_LEAF_1, ~mask)
        found |= _WITH_FXSR if mask >> _FXSR & 1 else set()
    elif first or not rest:
        found |= _missing(_LEAF_1, _number(first))
    second = rest[0] if rest else ""
    if second.startswith("~"):
        return found | _missing(_LEAF_7, ~_number(second[1:]))
    # An empty part in front of another one leaves its words alone; at the end, it clears them.
    if not second and len(rest) > 1:
        return found
    return found | _missing(_LEAF_7, _number(second))


def _armcap(value: str, _: str) -> set[str]:
    return _missing(_ARM_BITS, _number(value))


def _gnutls(value: str, kind: str) -> set[str]:
    number = _number(value)
    if number & 1:
        return set(_ALL[kind])
    bits = _GNUTLS_BITS if kind == X86 else _ARM_BITS
    return _missing(bits, number) if number else set()


def _nettle(value: str, kind: str) -> set[str]:
    named = set(value.split(","))
    return {_feature(name) for name in _NETTLE[kind] if name not in named}


def _botan(value: str, _: str) -> set[str]:
    return {_feature(name.strip()) for name in value.split(",")}


def _go(value: str, kind: str) -> set[str]:
    """Go reads the options in their order; the last one of a name counts, and `all` is all."""
    is_on: dict[str, bool] = {}
    for option in value.split(","):
        name, _, state = option.partition("=")
        if not name.startswith("cpu.") or state not in ("on", "off"):
            continue
        name = name.removeprefix("cpu.")
        names = _ALL[kind] if name == "all" else {_feature(name)}
        is_on |= dict.fromkeys(names, state == "on")
    return {name for name, on in is_on.items() if not on}


def _feature(name: str) -> str:
    return _NAMES.get(name, name)


_DECODERS: Mapping[str, Callable[[str, str], set[str]]] = {
    "OPENSSL_ia32cap": _ia32cap,
    "OPENSSL_armcap": _armcap,
    "GNUTLS_CPUID_OVERRIDE": _gnutls,
    "NETTLE_FAT_OVERRIDE": _nettle,
    "BOTAN_CLEAR_CPUID": _botan,
    "GODEBUG": _go,
}
