# SPDX-License-Identifier: MIT
"""Features of a CPU by the names that others give them: makers, compilers and /proc/cpuinfo."""

from collections.abc import Iterable, Mapping

from everycore.environment.errors import EverycoreError, unknown_name

# A feature needs one extension of each group. Other spellings of our own names, such as
# avx512_vbmi, need no line.
_RISCV: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "aes": (("zkne",), ("zknd",)),
    "clmul": (("zbc", "zbkc"),),
    "rev8": (("zbb", "zbkb"),),
    "sha2": (("zknh",),),
    "xperm": (("zbkx",),),
    "zvkb": (("zvbb",),),
    "ct-mul": (("zkt",),),
}
_ARM: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "neon": (("asimd", "advsimd"),),
    "sha2": (("sha256",),),
}
_PARTS: Mapping[str, Mapping[str, tuple[tuple[str, ...], ...]]] = {
    "x86": {
        "aes": (("aesni",),),
        "pclmul": (("pclmulqdq", "clmul"),),
        "sha": (("shani",),),
        "x86-64": (("lm", "amd64"),),
    },
    "a64": _ARM,
    "a32": _ARM,
    "ppc64": {"altivec": (("vmx",),), "vcrypto": (("isa207", "arch207", "veccrypto"),)},
    "s390x": {"msa8": (("kma",),), "vx": (("vector",),)},
    "rv64": _RISCV,
    "rv32": _RISCV,
}
_SCALAR = ("zkne", "zknd", "zknh", "zbkb", "zbkc", "zbkx")
_VECTOR = ("zvkned", "zvknhb", "zvkb", "zvkt")
# Names that stand for several extensions.
_BUNDLES: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "a64": {"crypto": ("aes", "pmull", "sha2")},
    "a32": {"crypto": ("aes", "pmull", "sha2")},
    "rv64": {
        "zkn": _SCALAR,
        "zk": (*_SCALAR, "zkt"),
        "zvkn": _VECTOR,
        "zvkng": (*_VECTOR, "zvkg"),
    },
    "rv32": {"zkn": _SCALAR, "zk": (*_SCALAR, "zkt")},
}
# Extensions that change no selection: no kernel needs them.
_UNUSED: Mapping[str, tuple[str, ...]] = {
    "x86": ("mmx", "sse", "sse3", "sse42", "bmi1", "avx512cd", "avxvnni", "fma"),
    "a64": ("fp", "sha1", "crc32", "atomics"),
    "a32": ("sha1", "crc32", "edsp", "vfpv3", "vfpv4"),
    "ppc64": ("vsx",),
    "rv64": ("zba", "zbs", "zkr", "zksed", "zksh", "zvbc", "zvknha", "zvksed", "zvksh"),
    "rv32": ("zba", "zbs", "zkr", "zknh", "zksed", "zksh", "zbkx"),
}


def features_named(arch: str, names: Iterable[str], known: Iterable[str]) -> list[str]:
    """Return our names of the features that a CPU has: `known` are all of its architecture.

    An extension that is not enough for a feature is refused, as is an unknown name.
    """
    features, parts, given = list(known), _parts(arch, known), set[str]()
    for name in names:
        given |= set(_extensions(arch, name, features))
    found = []
    for feature in features:
        groups = parts.get(feature, ())
        missing = [group for group in groups if not given & set(group)]
        if feature in given or (groups and not missing):
            found.append(feature)
        elif len(missing) < len(groups):
            wanted = " and ".join(" or ".join(group) for group in groups)
            lone = ", ".join(sorted(given & {word for group in groups for word in group}))
            raise EverycoreError(
                f"{lone} alone is no feature of {arch}",
                f"'{feature}' needs {wanted}: add the other, or leave it out",
            )
    return found


def features_without(arch: str, name: str, known: Iterable[str]) -> set[str]:
    """Return our names of the features that a CPU lacks if it lacks what this name says."""
    features, parts = list(known), _parts(arch, known)
    words = set(_extensions(arch, name, features))
    return {
        feature
        for feature in features
        if feature in words or any(words & set(group) for group in parts.get(feature, ()))
    }


def _parts(arch: str, known: Iterable[str]) -> dict[str, tuple[tuple[str, ...], ...]]:
    features = set(known)
    return {name: groups for name, groups in _PARTS.get(arch, {}).items() if name in features}


def _extensions(arch: str, name: str, features: list[str]) -> tuple[str, ...]:
    """Return what a name stands for: one of our own names, an extension, or several of them."""
    own = {_spelled(feature): feature for feature in features}
    bundles = _BUNDLES.get(arch, {})
    groups = _parts(arch, features).values()
    extensions = {word for parts in groups for group in parts for word in group}
    extensions |= set(_UNUSED.get(arch, ()))
    word = _spelled(name)
    if word in own:
        return (own[word],)
    if word in bundles:
        return bundles[word]
    if word in extensions:
        return (word,)
    raise unknown_name(f"feature of {arch}", name, [*features, *sorted(extensions), *bundles])


def _spelled(name: str) -> str:
    """Return a name without what its spellings differ in: FEAT_SHA512, sha-512."""
    return "".join(c for c in name.lower().removeprefix("feat_") if c.isalnum())
