# SPDX-License-Identifier: MIT
"""Our own kernels as subjects, straight from the registry: kernel.c is their adapter."""

import platform
from pathlib import Path

from everycore.compile import catalog
from everycore.model.domain import RegistryLine, Tree
from everycore.subjects.describe import FOLDER, Function, Subject, key_sizes

# Function: its name (and what it computes), its key function, what its length is a multiple of.
FUNCTIONS = {
    "aes": (
        ("ecb-enc", "aes_key", 16), ("ecb-dec", "aes_key", 16),
        ("cbc-enc", "aes_key", 16), ("cbc-dec", "aes_key", 16), ("ctr", "aes_key", 1),
        ("xts-enc", "xts_key", 1), ("xts-dec", "xts_key", 1),
    ),
    "ghash": (("ghash", "ghash_key", 16),),
    "gcm": (("gcm-seal", "gcm_key", 1), ("gcm-open", "gcm_key", 1)),
    "qarma": (
        ("qarma5", "qarma5_key", 8), ("qarma5-each", "qarma5_key", 8),
        ("qarma5-many", "qarma5_key", 8), ("qarma3", "qarma3_key", 8),
        ("qarma3-each", "qarma3_key", 8),
    ),
    "bn": (
        ("mont-mul1024", "modulus1024_key", 128), ("mont-mul2048", "modulus2048_key", 256),
        ("mont-sqr2048", "modulus2048_key", 256), ("exp1024", "modulus1024_key", 128),
    ),
    "bn_words": (("mul-add-words", "divisor_key", 8), ("mod-word", "divisor_key", 8)),
    "sha2": (("sha256-blocks", "sha2_key", 64), ("sha512-blocks", "sha2_key", 128)),
}  # fmt: skip
ANY_LENGTH = ("ctr", "gcm-seal", "gcm-open")  # a part of a block, too
TITLES = {
    "aes": "AES", "ghash": "GHASH", "gcm": "GCM", "qarma": "QARMA-64",
    "bn": "big numbers", "bn_words": "words of big numbers", "sha2": "SHA-2",
}  # fmt: skip
# Modes that the matrix measures: for AES by the use of the kernel.
MEASURED = {
    ("aes", "PARALLEL"): ("ctr",),
    ("aes", "SERIAL"): ("cbc-enc",),
    ("aes", "ANY"): ("cbc-enc", "ctr"),
    ("ghash", "ANY"): ("ghash",),
    ("gcm", "ANY"): ("gcm-seal",),
    ("qarma", "PARALLEL"): ("qarma5-many",),
    ("qarma", "SERIAL"): ("qarma5",),
    ("qarma", "ANY"): ("qarma5", "qarma5-many"),
    ("bn", "ANY"): ("mont-mul1024", "mont-mul2048", "mont-sqr2048"),
    ("bn_words", "ANY"): ("mul-add-words", "mod-word"),
    ("sha2", "ANY"): ("sha256-blocks", "sha512-blocks"),
    ("sha2", "SHA256"): ("sha256-blocks",),
    ("sha2", "SHA512"): ("sha512-blocks",),
}
# By the beginning of a kernel's name: machines that run it as it is, and the target for others.
HOMES = {
    "x86": (("x86_64", "AMD64", "i686"), "qemu-haswell"),
    "a64": (("aarch64", "arm64"), "qemu-aarch64"),
    "a32": (("armv7l",), "qemu-armhf"),
    "hppa": (("parisc", "parisc64"), "qemu-hppa"),
    "hppa20": (("parisc64",), "qemu-hppa"),
    "ppc": (("ppc64", "ppc64le"), "qemu-ppc64"),
    "ppc64": (("ppc64", "ppc64le"), "qemu-ppc64"),
    "s390x": (("s390x",), "qemu-s390x"),
    "rv64": (("riscv64",), "qemu-riscv64-zkn"),
    "rv32": (("riscv32",), "qemu-riscv32-zkn"),
    "rv": (("riscv64",), "qemu-riscv64-zvk"),
}


def kernel_subjects(tree: Tree) -> list[Subject]:
    """One for each name of the registry; kernels of several primitives share theirs.

    Primitives that the adapter does not call have none.
    """
    lines: dict[str, list[RegistryLine]] = {}
    for line in catalog.registry(tree):
        if line.primitive in FUNCTIONS:
            lines.setdefault(line.name, []).append(line)
    return [_subject(tree, name, of_it) for name, of_it in sorted(lines.items())]


def _subject(tree: Tree, name: str, lines: list[RegistryLine]) -> Subject:
    machines, elsewhere = HOMES.get(name.partition("_")[0], ((), "host"))
    functions = [
        Function(
            name=mode,
            computes=mode,
            technique=name,
            key=key,
            multiple_of=multiple,
            minimum=1 if mode in ANY_LENGTH else 0,
            key_bits=key_sizes(mode),
            constant_time=line.timing == "CT",
        )
        for line in lines
        for mode, key, multiple in FUNCTIONS[line.primitive]
        if line.primitive != "sha2" or mode in MEASURED[line.primitive, line.use]
    ]
    files = [f"src/{line.primitive}/{name}{end}" for line in lines for end in (".c", "_asm.S")]
    return Subject(
        name=name,
        description=f"{' and '.join(TITLES[line.primitive] for line in lines)} of everycore",
        target="host" if platform.machine() in machines else elsewhere,
        adapter=(Path(FOLDER) / "kernel.c").as_posix(),
        files=tuple(file for file in files if (tree.root / file).is_file()),
        functions=tuple(functions),
        folder=".",
        includes=("include", "src"),
        flags=("-std=gnu11",),
        matrix=tuple(m for line in lines for m in MEASURED[line.primitive, line.use]),
        home=tree.root,
        adapter_defines=tuple(
            f"SUBJECT_{line.primitive.upper()}=evc_{line.primitive}_{name}" for line in lines
        ),
    )


def is_ours(subject: Subject) -> bool:
    """A kernel of this tree, not code of a package or of a user."""
    return bool(subject.adapter_defines)
