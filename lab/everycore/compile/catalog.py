# SPDX-License-Identifier: MIT
"""The only parser of the C tree: where it is, what it lists, which files are compiled."""

import re
from collections.abc import Container
from pathlib import Path

from everycore.environment.context import Context
from everycore.environment.errors import EverycoreError
from everycore.model.domain import RegistryLine, Tree

REGISTRY = Path("src/kernels.def")
ISA_HEADER = Path("include/everycore/isa.h")
VERSION_HEADER = Path("include/everycore/everycore.h")
SOURCE_DIRS = ("src", "harness")
HEADER_DIRS = ("include", "src", "harness", "catalog/peers")
SOURCE_SUFFIXES = (".c", ".S")
HEADER_SUFFIXES = (".h", ".def", ".inc")
# Folders that a target of Linux without a C library stands on; empty units on others.
WITHOUT_LIBC = ("harness/bare", "harness/port/linux")

CIPHERS = ("aes", "ghash", "gcm")
_NO_CIPHERS = ("bn", "bn_words", "dh", "hmac", "pac", "prime", "qarma", "rsa", "sha2", "x25519")
# Files of the harness that a bench of AES and GCM does not call.
_OTHER_COMMANDS = re.compile(
    r"harness/((abi|bare|port/uefi)/.*"
    r"|(check|ct_(?!marks)|peer|residue|vector|bench_(bn|layers|pac|qarma|sha2))\w*\.[cS]"
    r"|(ct|generate|gcm_model|long_model|bn_lanes)\.c)"
)
_KERNEL_LINE = re.compile(
    r"^KERNEL\(\s*(\w+)\s*,\s*(\w+)\s*,\s*(\w+)\s*,\s*(\w+)\s*,\s*(\w+)\s*(?:,\s*\w+\s*)?\)"
)
# Lists of kernels, which the harness asks for other primitives, too; that of SHA-2 asks sha2.c.
_LISTS = ("select.c", "named.c", "sha2.c")
_PROPERTIES = re.compile(r"^static const struct property \w+\[\] = \{\n(.*?)^\};", re.M | re.S)
_PROPERTY = re.compile(r"(?:\bPROPERTY\(|\{\")(\w+)")
_ARCH = re.compile(r"""\bA\(\s*\w+\s*,\s*"([^"]+)"\s*\)""")
_FEATURE_LINE = re.compile(r"""\bF\(\s*\w+\s*,\s*(\w+)\s*,\s*\d+\s*,\s*"([^"]+)"\s*\)""")


def find_tree(package: Path, override: str = "") -> Tree:
    """The tree of EVERYCORE_TREE, else the checkout around the package, else its own copy."""
    if override:
        root = Path(override)
        if not (root / REGISTRY).is_file():
            raise EverycoreError(
                f"no {REGISTRY} in {root}", "EVERYCORE_TREE must name a checkout of everycore"
            )
        return Tree(root, is_checkout=True)
    checkout = package.resolve().parent.parent
    if (checkout / REGISTRY).is_file() and (checkout / "lab").is_dir():
        return Tree(checkout, is_checkout=True)
    packaged = package / "tree"
    if (packaged / REGISTRY).is_file():
        return Tree(packaged, is_checkout=False)
    raise EverycoreError(
        "the C sources are not where they should be", "reinstall everycore, or set EVERYCORE_TREE"
    )


def tree_of(context: Context) -> Tree:
    """Return the tree that a command works with."""
    return find_tree(context.package, context.env.get("EVERYCORE_TREE", ""))


def sources(tree: Tree) -> list[Path]:
    """Every file to compile, relative to the tree, in a fixed order."""
    return _files(tree, SOURCE_DIRS, SOURCE_SUFFIXES)


def resolver_sources(tree: Tree, *, without_libc: bool = False) -> list[Path]:
    """The files of a harness that has `list` and `resolve`, and no kernel."""
    names = [
        f"harness/{name}.c" for name in ("main", "list", "resolve", "names", "emit", "options")
    ]
    folders = ("src/cpu", *(WITHOUT_LIBC if without_libc else ()))
    return [*map(Path, names), Path("src/resolve.c"), *_files(tree, folders, SOURCE_SUFFIXES)]


def cipher_sources(tree: Tree, running: Container[tuple[str, str]]) -> list[Path]:
    """The files of a harness that measures AES and GCM: of their kernels those that are running.

    `running`: primitive and name.
    """
    left_out = [
        path
        for line in registry(tree)
        if line.primitive in CIPHERS and (line.primitive, line.name) not in running
        for path in (
            f"src/{line.primitive}/{line.name}.c",
            f"src/{line.primitive}/{line.name}_asm.S",
        )
    ]
    return [
        path
        for path in sources(tree)
        if path.as_posix() not in left_out
        and not (
            path.parts[0] == "src"
            and len(path.parts) > 2
            and path.parts[1] in _NO_CIPHERS
            and path.name not in _LISTS
        )
        and not _OTHER_COMMANDS.fullmatch(path.as_posix())
    ]


def headers(tree: Tree) -> list[Path]:
    """Every file that a source may include, relative to the tree, in a fixed order."""
    return _files(tree, HEADER_DIRS, HEADER_SUFFIXES)


def _files(tree: Tree, folders: tuple[str, ...], suffixes: tuple[str, ...]) -> list[Path]:
    return sorted(
        path.relative_to(tree.root)
        for folder in folders
        for path in (tree.root / folder).rglob("*")
        if path.suffix in suffixes and path.is_file()
    )


def version(tree: Tree) -> str:
    """Return the version of the library."""
    text = (tree.root / VERSION_HEADER).read_text(encoding="utf-8")
    match = re.search(r'#define EVC_VERSION "([^"]+)"', text)
    return match[1] if match else ""


def registry(tree: Tree) -> list[RegistryLine]:
    """The lines of src/kernels.def, best first."""
    text = (tree.root / REGISTRY).read_text(encoding="utf-8")
    return parse_registry(text)


def properties(tree: Tree) -> list[str]:
    """Return the names of the harness's properties, each once."""
    found: dict[str, None] = {}
    for path in sorted((tree.root / "harness").glob("check_*.c")):
        for table in _PROPERTIES.findall(path.read_text(encoding="utf-8")):
            lines = (line for line in table.splitlines() if not line.startswith("#"))
            found |= dict.fromkeys(_PROPERTY.findall("\n".join(lines)))
    return list(found)


def parse_registry(text: str) -> list[RegistryLine]:
    return [
        RegistryLine(*match.groups())
        for line in text.splitlines()
        if (match := _KERNEL_LINE.match(line.strip()))
    ]


def features(tree: Tree) -> dict[str, list[str]]:
    """Feature names by architecture as isa.h lists them; some architectures have none of their own.

    "other" holds those of every architecture.
    """
    text = (tree.root / ISA_HEADER).read_text(encoding="utf-8")
    return parse_features(text)


def parse_features(text: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {"other": []}
    for arch in _ARCH.findall(text):
        found.setdefault(arch, [])
    for arch, name in _FEATURE_LINE.findall(text):
        found.setdefault(arch.lower(), []).append(name)
    return found
