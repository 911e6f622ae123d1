# SPDX-License-Identifier: MIT
"""The only reader of subjects/*.toml."""

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, replace
from pathlib import Path
from typing import Any

from everycore.errors import EverycoreError, unknown_name
from everycore.model import Tree
from everycore.tables import read_toml

FOLDER = "subjects"
# What a function may compute; the driver compares each with c_ref.
MODES = (
    *("ecb-enc", "ecb-dec", "cbc-enc", "cbc-dec", "ctr", "xts-enc", "xts-dec"),
    *("ghash", "gcm-seal", "gcm-open"),
)
BLOCK_BYTES = 16


@dataclass(frozen=True, slots=True)
class Function:
    """One function of a subject's adapter."""

    name: str
    computes: str  # one of MODES
    technique: str  # what kind of code it is: table, tbl, vperm, bitslice, ce, pmull.p8, ...
    key: str = ""  # the function of the adapter that prepares its key
    multiple_of: int = BLOCK_BYTES  # bytes: what a length must be
    key_bits: tuple[int, ...] = ()  # empty: all that the mode has
    constant_time: bool = False  # it claims that its time depends on no secret

    @property
    def symbol(self) -> str:
        """Its name in C."""
        return self.name.replace("-", "_")


@dataclass(frozen=True, slots=True)
class Subject:
    """Other people's code: one file in subjects/."""

    name: str
    description: str
    adapter: str  # beside the TOML file, like all that is ours
    files: tuple[str, ...]  # of theirs: what is compiled; .pl: what writes it
    functions: tuple[Function, ...]
    target: str = "host"  # what it is compiled for and where it runs
    suite: str = ""  # of Debian
    package: str = ""  # its source package
    tarball: str = ""  # the package is none of sources, but has them in this file
    folder: str = ""  # instead of a package: where the sources are, beside the TOML file
    unpack: tuple[str, ...] = ()  # files and folders of the package; no others are unpacked
    includes: tuple[str, ...] = ()  # folders of theirs that have headers
    shims: tuple[str, ...] = ()  # folders of ours that have them
    defines: tuple[str, ...] = ()  # NAME or NAME=VALUE
    flags: tuple[str, ...] = ()  # for the compiler of `files`
    flavour: str = ""  # for the perl programs among `files`
    matrix: tuple[str, ...] = ()  # functions that the matrix takes unasked; empty: all
    home: Path = Path()  # where the TOML file is
    adapter_defines: tuple[str, ...] = ()  # for the adapter's compiler

    def function(self, name: str) -> Function:
        found = {function.name: function for function in self.functions}
        if name not in found:
            raise unknown_name(f"function of {self.name}", name, found)
        return found[name]

    @property
    def measured(self) -> tuple[Function, ...]:
        """What the matrix takes unasked."""
        return tuple(f for f in self.functions if not self.matrix or f.name in self.matrix)

    @property
    def lock(self) -> Path:
        """That of all subjects of one package and suite."""
        return self.home / f"{self.package}-{self.suite}.lock"


def described(tree: Tree) -> list[Subject]:
    """Those of subjects/*.toml."""
    return [load_subject(path) for path in sorted((tree.root / FOLDER).glob("*.toml"))]


def load_subject(path: Path) -> Subject:
    values = _values(path.name, read_toml(path), Subject, ("name", "home", "adapter_defines"))
    if ("package" in values) == ("folder" in values):
        raise EverycoreError(
            f"{path.name}: either 'package' or 'folder' says where the sources are"
        )
    if "package" in values and not (values.get("suite") and values.get("unpack")):
        raise EverycoreError(f"{path.name}: 'package' needs 'suite' and 'unpack'")
    if not values["functions"] or not values["files"]:
        raise EverycoreError(f"{path.name}: no functions, or no files")
    functions = tuple(_function(path.name, *item) for item in values.pop("functions").items())
    names = [function.name for function in functions]
    for name in values.get("matrix", ()):
        if name not in names:
            raise unknown_name(f"function in 'matrix' of {path.name}", name, names)
    return Subject(name=path.stem, home=path.parent, functions=functions, **values)


def key_sizes(mode: str) -> tuple[int, ...]:
    """Bits: those that a mode has."""
    return (128, 256) if mode.startswith("xts") else (128, 192, 256)


def _function(file: str, name: str, table: Any) -> Function:
    where = f"{file}: [functions.{name}]"
    if not isinstance(table, dict):
        raise EverycoreError(f"{where} is no table")
    function = Function(name=name, **_values(where, table, Function, ("name",)))
    known = key_sizes(function.computes)
    function = replace(function, key_bits=function.key_bits or known)
    if not function.symbol.isidentifier():
        raise EverycoreError(f"{where}: a name has letters, digits and '-'")
    if function.computes not in MODES:
        raise unknown_name(f"mode in {where}", function.computes, MODES)
    if not {*function.key_bits} <= {*known}:
        raise EverycoreError(f"{where}: 'key_bits' are of {', '.join(map(str, known))}")
    if function.multiple_of < 1:
        raise EverycoreError(f"{where}: 'multiple_of' is at least 1")
    return function


KINDS: Mapping[Any, tuple[type, str]] = {
    str: (str, "a text"),
    int: (int, "a number"),
    bool: (bool, "true or false"),
    tuple[str, ...]: (str, "a list of texts"),
    tuple[int, ...]: (int, "a list of numbers"),
    tuple[Function, ...]: (dict, "a table"),
}


def _values(
    where: str, table: Mapping[str, Any], kind: type, ours: Sequence[str]
) -> dict[str, Any]:
    """What a table says of a dataclass: its members alone, each of its type."""
    shape = {field.name: field for field in fields(kind) if field.name not in ours}
    for key in table:
        if key not in shape:
            raise EverycoreError(f"{where}: unknown key '{key}'", f"valid: {', '.join(shape)}")
    values: dict[str, Any] = {}
    for name, field in shape.items():
        if name not in table:
            if field.default is MISSING:
                raise EverycoreError(f"{where} lacks '{name}'")
            continue
        item, words = KINDS[field.type]
        value = table[name]
        is_list = words.startswith("a list")
        parts = value if is_list and isinstance(value, list) else [value]
        wrong = is_list != isinstance(value, list) or any(
            not isinstance(part, item) or isinstance(part, bool) != (item is bool) for part in parts
        )
        if wrong:
            raise EverycoreError(f"{where}: '{name}' is not {words}")
        values[name] = tuple(value) if is_list else value
    return values
