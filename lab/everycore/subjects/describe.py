# SPDX-License-Identifier: MIT
"""The only reader of catalog/subjects/*.toml."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from everycore.environment.errors import EverycoreError, unknown_name
from everycore.environment.toml_tables import expect, read_toml, required_of, shape_of

FOLDER = "catalog/subjects"
# Arm's, as chains or blocks that do not wait for each other: catalog/subjects/answers.h.
QARMA = ("qarma5", "qarma5-each", "qarma5-many", "qarma3", "qarma3-each")
IMPDEF = ("impdef", "impdef-each")  # QEMU's hash in its place
# Big numbers of one length each: catalog/subjects/numbers.h. Words are of this CPU.
NUMBERS = {
    "mont-mul1024": 128, "mont-mul2048": 256, "mont-sqr2048": 256, "exp1024": 128,
    "mul-add-words": 8, "mod-word": 8,
}  # fmt: skip
# States behind whole blocks: catalog/subjects/hashes.h.
HASHES = {"sha256-blocks": 64, "sha512-blocks": 128}
PAC = "pac-instructions"  # AddPAC, Auth, Strip at random: catalog/subjects/pac_record.h
# Modes that a function may compute; the driver compares each with c_ref.
MODES = (
    "ecb-enc", "ecb-dec", "cbc-enc", "cbc-dec", "ctr", "xts-enc", "xts-dec",
    "ghash", "gcm-seal", "gcm-open",
    *QARMA, *IMPDEF, PAC, *NUMBERS, *HASHES,
)  # fmt: skip
# Anything else: compared with check vectors, and with a build of the same files that is trusted.
OWN = "own"
OUTPUT = ":"  # between a program and the name of what it writes
BLOCK_BYTES = 16
QARMA_BLOCK_BYTES = 8
PAC_RECORD_BYTES = 32


@dataclass(frozen=True, slots=True)
class Vector:
    """Bytes in hex: what a function of its own kind answers to an input."""

    out: str
    input: str = ""  # "in" in TOML
    key: str = ""
    iv: str = ""


@dataclass(frozen=True, slots=True)
class Function:
    """One function of a subject's adapter."""

    name: str
    computes: str = OWN  # or one of MODES
    technique: str = ""  # what kind of code it is: table, tbl, vperm, bitslice, ce, pmull.p8, ...
    key: str = ""  # the function of the adapter that prepares its key
    multiple_of: int = 0  # bytes: what a length must be; 0: blocks of AES, or any length of OWN
    minimum: int = 0  # bytes: the shortest text that it takes; 0: of a mode one block
    key_bits: tuple[int, ...] = ()  # empty: all that the mode has
    constant_time: bool = False  # it claims that its time depends on no secret
    call: str = ""  # in C, where no adapter is: catalog/subjects/adapter.py writes one around it
    setup: str = ""  # in C: prepares the key, for `call`
    output: int = 0  # bytes that OWN writes; 0: as many as it reads
    vectors: tuple[Vector, ...] = ()  # of OWN

    @property
    def symbol(self) -> str:
        """Its name in C; a written adapter must leave the names of theirs alone."""
        return ("subject_" if self.call else "") + self.name.replace("-", "_")

    @property
    def fewest(self) -> int:
        """The shortest text: other people's modes need not take less than a block."""
        if self.computes == OWN or self.minimum:
            return self.minimum
        return max(self.multiple_of, _block_bytes(self.computes))

    def takes(self, n_bytes: int) -> bool:
        """Whether a text may have this length."""
        return n_bytes % self.multiple_of == 0 and n_bytes >= self.fewest

    def length_from(self, n_bytes: int) -> int:
        """The shortest length from `n_bytes` on that a text may have."""
        least = max(n_bytes, self.fewest)
        return -(-least // self.multiple_of) * self.multiple_of

    @property
    def key_symbol(self) -> str:
        return f"{self.symbol}_key" if self.setup else self.key


@dataclass(frozen=True, slots=True)
class Subject:
    """Code that is measured in place: one file in catalog/subjects/, or anywhere."""

    name: str
    # Theirs: what is compiled; .pl: what writes it; .pl:NAME: what writes NAME.S.
    files: tuple[str, ...]
    functions: tuple[Function, ...]
    description: str = ""
    adapter: str = ""  # beside the TOML file, like all that is ours; empty: written from `call`
    header: str = ""  # that declares what is called; of theirs
    declaration: str = ""  # instead of a header, in C
    target: str = "host"  # what it is compiled for and where it runs
    suite: str = ""  # of Debian
    package: str = ""  # its source package
    tarball: str = ""  # the package is none of sources, but has them in this file
    setting: str = ""  # instead of a package: the environment variable that names their folder
    folder: str = ""  # instead of both: where the sources are, beside the TOML file
    unpack: tuple[str, ...] = ()  # files and folders of the package; no others are unpacked
    includes: tuple[str, ...] = ()  # folders of theirs that have headers
    shims: tuple[str, ...] = ()  # folders of ours that have them
    defines: tuple[str, ...] = ()  # NAME or NAME=VALUE
    flags: tuple[str, ...] = ()  # for the compiler of `files`
    flavour: str = ""  # for the perl programs among `files`
    machines: tuple[str, ...] = ()  # as uname -m says: the only ones that the host may be
    matrix: tuple[str, ...] = ()  # functions that the matrix takes unasked; empty: all
    home: Path = Path()  # where the TOML file is
    adapter_defines: tuple[str, ...] = ()  # for the adapter's compiler

    def function(self, name: str) -> Function:
        found = {function.name: function for function in self.functions}
        if name not in found:
            raise unknown_name(f"function of {self.name}", name, found)
        return found[name]

    @property
    def paths(self) -> tuple[str, ...]:
        """The files, without the names of what is written."""
        return tuple(map(source_path, self.files))

    @property
    def measured(self) -> tuple[Function, ...]:
        """The functions that the matrix takes unasked."""
        return tuple(f for f in self.functions if not self.matrix or f.name in self.matrix)

    @property
    def is_assembly(self) -> bool:
        """Written by hand: no compiler and no flag makes it another program."""
        return not any(name.endswith(".c") for name in self.files)

    @property
    def lock(self) -> Path:
        """The lock file, which all subjects of one package and suite share."""
        return self.home / f"{self.package}-{self.suite}.lock"


def source_path(file: str) -> str:
    """Return the path of one of a subject's files, without the name of what it writes."""
    return file.partition(OUTPUT)[0]


def load_subject(path: Path) -> Subject:
    values = _values(path.name, read_toml(path), Subject, ("name", "home", "adapter_defines"))
    if sum(name in values for name in ("package", "setting", "folder")) > 1:
        raise EverycoreError(
            f"{path.name}: one of 'package', 'setting' and 'folder' says where the sources are"
        )
    if "package" in values and not (values.get("suite") and values.get("unpack")):
        raise EverycoreError(f"{path.name}: 'package' needs 'suite' and 'unpack'")
    if not values["functions"] or not values["files"]:
        raise EverycoreError(f"{path.name}: no functions, or no files")
    functions = tuple(_function(path.name, *item) for item in values.pop("functions").items())
    subject = Subject(name=path.stem, home=path.parent.absolute(), functions=functions, **values)
    _expect_calls(path.name, subject)
    for name in subject.matrix:
        subject.function(name)
    return subject


def _expect_calls(file: str, subject: Subject) -> None:
    """Expect an adapter that calls the functions, or all that is needed to write one."""
    calls = [function for function in subject.functions if function.call]
    if subject.adapter and calls:
        raise EverycoreError(
            f"{file}: [functions.{calls[0].name}] has a 'call', and there is an 'adapter'",
            "an adapter has the calls in it",
        )
    if not subject.adapter and len(calls) < len(subject.functions):
        absent = next(function.name for function in subject.functions if not function.call)
        raise EverycoreError(
            f"{file}: [functions.{absent}] lacks 'call'",
            'call = "my_function(out, in, n_bytes)"; docs/guides/adding-a-subject.md says more',
        )
    if calls and not (subject.header or subject.declaration):
        raise EverycoreError(
            f"{file} lacks 'header' or 'declaration'",
            "the header that declares what is called, or its declaration in C",
        )


def key_sizes(mode: str) -> tuple[int, ...]:
    """Bits: those that a mode has."""
    if mode in (*QARMA, *IMPDEF, PAC, *NUMBERS, *HASHES):  # hashes have none, and ignore them
        return (128,)
    return (128, 256) if mode.startswith("xts") else (128, 192, 256)


def _function(file: str, name: str, table: Any) -> Function:
    where = f"{file}: [functions.{name}]"
    if not isinstance(table, dict):
        raise EverycoreError(f"{where} is no table")
    vectors = table.get("vectors", [])
    plain = {key: value for key, value in table.items() if key != "vectors"}
    function = Function(name=name, **_values(where, plain, Function, ("name", "vectors")))
    if function.computes not in (*MODES, OWN):
        raise unknown_name(f"mode in {where}", function.computes, (*MODES, OWN))
    if not name.replace("-", "_").isidentifier():
        raise EverycoreError(f"{where}: a name has letters, digits and '-'")
    known = key_sizes(function.computes)
    if not {*function.key_bits} <= {*known}:
        raise EverycoreError(f"{where}: 'key_bits' are of {', '.join(map(str, known))}")
    if table.get("multiple_of", 1) < 1:
        raise EverycoreError(f"{where}: 'multiple_of' is at least 1")
    if function.minimum < 0:
        raise EverycoreError(f"{where}: 'minimum' is at least 0")
    is_own = function.computes == OWN
    if not is_own and (vectors or function.output):
        raise EverycoreError(
            f"{where}: 'vectors' and 'output' are of functions that compute \"own\"",
            f"what computes {function.computes} is compared with c_ref",
        )
    return replace(
        function,
        multiple_of=function.multiple_of or _block_bytes(function.computes),
        key_bits=function.key_bits or ((256,) if is_own else known),
        vectors=_vectors(where, vectors, function.output),
    )


def _block_bytes(mode: str) -> int:
    if mode == PAC:
        return PAC_RECORD_BYTES
    if mode in NUMBERS or mode in HASHES:
        return (NUMBERS | HASHES)[mode]
    if mode in (*QARMA, *IMPDEF):
        return QARMA_BLOCK_BYTES
    return 1 if mode == OWN else BLOCK_BYTES


def _vectors(where: str, tables: Any, output: int) -> tuple[Vector, ...]:
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise EverycoreError(
            f"{where}: 'vectors' is not a list of tables",
            'vectors = [{ in = "616263", out = "..." }]',
        )
    found = []
    for table in tables:
        renamed = {"input" if key == "in" else key: value for key, value in table.items()}
        vector = Vector(**_values(f"{where}: vectors", renamed, Vector, ()))
        for name, text, most in (
            ("in", vector.input, None),
            ("out", vector.out, None),
            ("key", vector.key, 32),
            ("iv", vector.iv, 16),
        ):
            try:
                length = len(bytes.fromhex(text))
            except ValueError as error:
                raise EverycoreError(f"{where}: '{name}' of a vector is not hex: {text}") from error
            if most is not None and length > most:
                raise EverycoreError(f"{where}: '{name}' of a vector has more than {most} bytes")
        n_out, n_in = (len(bytes.fromhex(text)) for text in (vector.out, vector.input))
        if n_out != (output or n_in):
            raise EverycoreError(
                f"{where}: 'out' of a vector has {n_out} bytes, not {output or n_in}",
                "output = N: bytes that the function writes, if not as many as it reads",
            )
        found.append(vector)
    return tuple(found)


def _values(
    where: str, table: Mapping[str, Any], kind: type, ours: Sequence[str]
) -> dict[str, Any]:
    """Read the members of a dataclass from a table; `ours`: members that no table has."""
    shape = shape_of(kind, ours)
    if "functions" in shape:
        shape["functions"] = dict
    return expect(where, table, shape, required_of(kind, ours))
