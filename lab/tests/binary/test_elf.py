# SPDX-License-Identifier: MIT
"""The one reader of ELF files, on files of many machines, whole and damaged."""

import ast
import random
import subprocess
from pathlib import Path

import pytest

import everycore
from everycore.binary import elf
from everycore.binary.elf import DamagedError, Elf
from everycore.environment.context import SystemRunner

SOURCE = """
static int hidden(int x) { return x + 1; }
int (*pointer)(int) = hidden;
_Thread_local int kept;
int shown(int x) { return pointer(x) + kept; }
static int (*choose(void))(int) { return hidden; }
int chosen(int) __attribute__((ifunc("choose")));
int main(int n, char **v) { (void)v; return shown(n) + chosen(n); }
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("elf")
    (folder / "p.c").write_text(SOURCE)
    out = folder / "program"
    SystemRunner().run(["gcc", "-g", "-O0", str(folder / "p.c"), "-o", str(out)])
    return out


def test_symbols_and_sections_are_those_of_readelf(program: Path) -> None:
    file = Elf.open(program)
    table = file.section(".symtab")
    assert table is not None
    words = ["readelf", "-W", "--syms", str(program)]
    lines = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    rows = [line.split() for line in lines.split("'.symtab'")[1].splitlines() if ": 0" in line]
    theirs = [(int(row[1], 16), row[7] if len(row) > 7 else "") for row in rows]
    ours = [(symbol.value, symbol.name) for symbol in file.symbols(table)]
    plain = [(value, name) for value, name in theirs if name]
    assert len(ours) == len(theirs)
    assert {name: value for value, name in plain if name in ("main", "shown", "hidden")} == {
        name: value for value, name in ours if name in ("main", "shown", "hidden")
    }


def test_a_function_that_is_resolved_at_the_start_is_a_function(program: Path) -> None:
    file = Elf.open(program)
    kinds = {symbol.name: symbol.kind for symbol in file.symbols_of(".symtab", elf.FUNCTION_KINDS)}
    assert kinds["chosen"] == elf.INDIRECT_FUNCTION
    assert kinds["shown"] == elf.FUNCTION
    assert "pointer" not in kinds


def test_the_unwind_table_has_every_function(program: Path) -> None:
    file = Elf.open(program)
    starts = {start for start, _ in file.unwind_table}
    named = {symbol.name: symbol.value for symbol in file.symbols_of(".symtab", elf.FUNCTION_KINDS)}
    assert {named["main"], named["shown"], named["hidden"]} <= starts


def _read_all(data: bytes) -> None:
    """Ask a file for everything that the reader can tell."""
    file = Elf(data, "damaged")
    assert len(file.segments) < 1 << 16
    for section in file.sections:
        file.contents(section)
        if section.kind in (elf.SYMBOLS, elf.DYNAMIC_SYMBOLS):
            file.symbols(section)
        if section.kind in (elf.REL, elf.RELA):
            list(file.relocations(section))
    file.dynamic(elf.FLAGS_1)
    assert file.unwind_table is not None
    with file.debug_information() as dwarf:
        for unit in dwarf.iter_CUs() if dwarf else ():
            unit.get_top_DIE()


def test_damaged_files_are_read_or_refused_with_one_error(program: Path) -> None:
    whole = program.read_bytes()
    chance = random.Random(1)
    refused: list[str] = []
    tables = int.from_bytes(whole[40:48], "little")  # where the section table begins
    for number in range(400):
        data = bytearray(whole)
        first, last = (0, 700) if number % 2 else (tables, len(data))
        for _ in range(chance.choice((1, 4, 30))):
            data[chance.randrange(first, last)] = chance.choice((0, 1, 0x7F, 0xFF))
        if number % 5 == 0:
            del data[chance.randrange(len(data)) :]
        try:
            _read_all(bytes(data))
        except DamagedError as error:
            refused.append(error.message)
    assert 50 < len(refused) < 400
    assert all(message.startswith("damaged: the ELF file is damaged: ") for message in refused)


@pytest.mark.parametrize("data", [b"", b"\x7fELF", b"\x7fELF" + bytes(60), b"MZ" * 64])
def test_other_files_are_no_elf_files(data: bytes, tmp_path: Path) -> None:
    assert elf.read_header(data) is None
    (path := tmp_path / "x").write_bytes(data)
    assert elf.machine_of_file(path) == 0
    with pytest.raises(DamagedError, match="does not begin"):
        Elf.open(path)


def test_no_other_module_opens_elf_files() -> None:
    """pyelftools reads files in one module; its parts for DWARF and names of types may be used."""
    root = Path(everycore.__file__).parent
    users = {
        path.relative_to(root).as_posix()
        for path in root.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module == "elftools.elf.elffile"
    }
    assert users == {"binary/elf.py"}
