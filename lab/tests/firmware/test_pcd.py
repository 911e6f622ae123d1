# SPDX-License-Identifier: MIT
"""everycore pcd: settings of images that real linkers made, and input that is wrong."""

import importlib.util
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from library_reads import reads_no_kernel
from world import Lab

pytestmark = [reads_no_kernel, pytest.mark.reads("tests/systems/firmware")]

SOURCE = Path(__file__).parents[3] / "tests/systems/firmware/settings.c"
GUID = "8b7d2a8e-52b8-4b5f-9d2c-6f4a0e1c3d57"
VALUES = {
    "PcdRounds": "0x11223344",
    "PcdEnable": "0x01",
    "PcdBase": "0x1122334455667788",
    "PcdLabel": "{0x64, 0x65, 0x66, 0x61, 0x75, 0x6C, 0x74, 0x00, 0x00, 0x00, 0x00, 0x00}",
}


def lld(folder: Path, machine: str, source: Path = SOURCE) -> Path:
    """An image and its map, by clang and lld-link."""
    for tool in ("clang", "lld-link"):
        if not shutil.which(tool):
            pytest.skip(f"no {tool}")
    unit, image = folder / "unit.obj", folder / "module.efi"
    flags = ("-ffreestanding", "-fno-stack-protector", "-fshort-wchar", "-O2", "-I", SOURCE.parent)
    target = ("-target", f"{machine}-unknown-windows")
    subprocess.run(["clang", *target, *flags, "-c", source, "-o", unit], check=True)
    link = ("/nologo", "/subsystem:efi_application", "/entry:efi_main", "/nodefaultlib", "/dll")
    files = (f"/out:{image}", f"/map:{folder}/module.map", unit)
    subprocess.run(["lld-link", *link, *files], check=True, cwd=folder)
    return image


def gnu(folder: Path) -> Path:
    """The same by GCC and GNU ld for Windows."""
    for tool in ("x86_64-w64-mingw32-gcc", "x86_64-w64-mingw32-ld"):
        if not shutil.which(tool):
            pytest.skip(f"no {tool}")
    unit, image = folder / "unit.o", folder / "module.efi"
    flags = ("-ffreestanding", "-O2", "-fdata-sections", "-c", SOURCE, "-o", unit)
    subprocess.run(["x86_64-w64-mingw32-gcc", *flags], check=True)
    link = ("-shared", "--subsystem", "10", "-e", "efi_main", "-Map", folder / "module.map")
    subprocess.run(["x86_64-w64-mingw32-ld", *link, unit, "-o", image], check=True)
    return image


@pytest.fixture
def module(tmp_path: Path) -> Path:
    return lld(tmp_path, "x86_64")


def listed(system: Lab, *words: str) -> dict[str, dict[str, object]]:
    done = system("pcd", "list", "module.efi", *words, "--json")
    assert done.code == 0, done.err
    found = [json.loads(line) for line in done.out.splitlines()]
    return {str(setting["name"]): setting for setting in found}


def write_inf(system: Lab) -> None:
    words = ("--guid", GUID, "--token-space", "gEvcTokenSpaceGuid", "--out", "module.inf")
    done = system("pcd", "inf", "module.efi", "--map", "module.map", *words)
    assert done.code == 0, done.err


@pytest.mark.parametrize("linker", ["lld x86-64", "lld aarch64", "gnu"])
def test_settings_are_listed_changed_and_verified(system: Lab, tmp_path: Path, linker: str) -> None:
    image = gnu(tmp_path) if linker == "gnu" else lld(tmp_path, linker[4:].replace("-", "_"))
    found = listed(system, "--map", "module.map")
    assert {name: setting["value"] for name, setting in found.items()} == VALUES
    data = image.read_bytes()
    for setting in found.values():
        size, offset = setting["size"], setting["offset"]
        assert isinstance(size, int)
        assert isinstance(offset, int)
        if setting["pcd_type"] != "VOID*":
            assert int.from_bytes(data[offset : offset + size], "little") == int(
                str(setting["value"]), 16
            )
    write_inf(system)
    assert {
        name: setting["value"] for name, setting in listed(system, "--inf", "module.inf").items()
    } == VALUES
    verify = ("pcd", "verify", "module.efi", "--inf", "module.inf", "--map", "module.map")
    assert system(*verify).code == 0
    values = ("PcdRounds=20", "PcdEnable=false", "PcdBase=0xFFFFFFFFFFFFFFFF", 'PcdLabel="new"')
    done = system("pcd", "set", "module.efi", *values, "--inf", "module.inf", "--out", "new.efi")
    assert done.code == 0, done.err
    assert image.read_bytes() == data
    changed = (tmp_path / "new.efi").read_bytes()
    places = {
        offset + at
        for setting in found.values()
        for offset, size in [(int(str(setting["offset"])), int(str(setting["size"])))]
        for at in range(size)
    }
    differing = {at for at, (a, b) in enumerate(zip(data, changed, strict=True)) if a != b}
    assert differing
    assert differing <= places
    image.write_bytes(changed)
    new = {
        name: setting["value"] for name, setting in listed(system, "--map", "module.map").items()
    }
    assert new["PcdRounds"] == "0x00000014"
    assert new["PcdBase"] == "0xFFFFFFFFFFFFFFFF"
    assert new["PcdLabel"] == "{0x6E, 0x65, 0x77" + ", 0x00" * 9 + "}"
    done = system(*verify)
    assert done.code == 1
    assert "PcdRounds: the image has 0x00000014, the INF 0x11223344" in done.out


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_offsets_are_those_of_edk2s_own_tool(system: Lab, tmp_path: Path, machine: str) -> None:
    if importlib.util.find_spec("edk2basetools") is None:
        pytest.skip("no edk2-basetools: extra 'test'")
    lld(tmp_path, machine)
    tool = "edk2basetools.GenPatchPcdTable.GenPatchPcdTable"
    words = ["-m", "module.map", "-e", "module.efi", "-o", "table.txt"]
    subprocess.run([sys.executable, "-m", tool, *words], check=True, cwd=tmp_path)
    lines = (tmp_path / "table.txt").read_text().splitlines()[1:]
    theirs = {line.split()[0]: int(line.split()[1], 16) for line in lines}
    ours = {
        name: setting["offset"] for name, setting in listed(system, "--map", "module.map").items()
    }
    assert ours == {name: at for name, at in theirs.items() if not name.startswith("Size_")}


@pytest.mark.usefixtures("module")
def test_the_inf_has_what_edk2_reads(system: Lab, tmp_path: Path) -> None:
    write_inf(system)
    text = (tmp_path / "module.inf").read_text()
    assert "MODULE_TYPE    = UEFI_APPLICATION" in text
    assert "[Binaries.X64]\n  PE32|module.efi|*\n" in text
    assert re.search(r"^  gEvcTokenSpaceGuid\.PcdRounds\|0x11223344\|0x[0-9A-F]+$", text, re.M)


@pytest.mark.usefixtures("module")
@pytest.mark.parametrize(
    ("values", "words"),
    [
        (("PcdRounds=0x100000000",), "0x100000000 does not fit into UINT32"),
        (("PcdRounds=-1",), "-1 does not fit"),
        (("PcdRounds=many",), "'many' is no value of type UINT32"),
        (("PcdEnable=256",), "256 does not fit into UINT8"),
        (('PcdLabel="thirteen chars"',), "15 bytes do not fit; it has 12"),
        (("PcdLabel=7",), "no value of type VOID*"),
        (("PcdLabel={256}",), "no value of type VOID*"),
        (("PcdNothing=1",), "no setting 'PcdNothing'"),
        (("PcdRounds",), "is not NAME=VALUE"),
        (("PcdRounds=1", "PcdRounds=2"), "named twice"),
    ],
)
def test_wrong_values_are_refused_and_nothing_is_written(
    system: Lab, tmp_path: Path, values: tuple[str, ...], words: str
) -> None:
    done = system("pcd", "set", "module.efi", *values, "--map", "module.map", "--out", "new.efi")
    assert (done.code, done.out) == (2, "")
    assert words in done.err
    assert not (tmp_path / "new.efi").exists()


@pytest.mark.usefixtures("module")
def test_types_that_the_user_names_are_checked(system: Lab) -> None:
    words = ("pcd", "set", "module.efi", "--map", "module.map", "--out", "new.efi")
    assert system(*words, "--type", "PcdEnable=BOOLEAN", "PcdEnable=TRUE").code == 0
    assert "does not fit" in system(*words, "--type", "PcdEnable=BOOLEAN", "PcdEnable=2").err
    done = system(*words, "--type", "PcdRounds=UINT64", "PcdRounds=1")
    assert (done.code, "PcdRounds has 4 bytes, UINT64 has 8" in done.err) == (2, True)
    assert "unknown type" in system(*words, "--type", "PcdRounds=INT", "PcdRounds=1").err
    assert "no setting 'Other'" in system(*words, "--type", "Other=UINT8", "PcdRounds=1").err


@pytest.mark.usefixtures("module")
@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("|0x1122334455667788|0xA20", "|0x1122334455667788|0xA21", "offset 0xa21 in the INF"),
        ("|0x11223344|", "|0x11223345|", "the image has 0x11223344"),
        ("|0xA10", "|0x400", "is in the code"),
        ("|0xA10", "|0x10", "is in no section"),
        ("PcdEnable|", "PcdOther|", "in the INF, and not in the map"),
        ("  # UINT8 1\n  gEvcTokenSpaceGuid.PcdEnable|0x01|0xA10\n", "", "not in the INF"),
    ],
)
def test_verify_finds_what_differs(
    system: Lab, tmp_path: Path, before: str, after: str, words: str
) -> None:
    write_inf(system)
    text = (tmp_path / "module.inf").read_text()
    assert before in text
    (tmp_path / "module.inf").write_text(text.replace(before, after))
    done = system("pcd", "verify", "module.efi", "--inf", "module.inf", "--map", "module.map")
    assert done.code == 1, done.err
    assert words in done.out


def test_a_setting_in_zeroed_memory_is_refused(system: Lab, tmp_path: Path) -> None:
    source = tmp_path / "zero.c"
    source.write_text(
        '#include "efi.h"\nvolatile uint8_t _gPcd_BinaryPatch_PcdZero[8192];\n'
        "uint64_t _gPcd_BinaryPatch_Size_PcdZero = 8192;\n"
        "efi_status EFIAPI efi_main(efi_handle i, struct efi_system_table *t)\n"
        "{ (void)i; (void)t; return _gPcd_BinaryPatch_PcdZero[9]; }\n"
    )
    lld(tmp_path, "x86_64", source)
    done = system("pcd", "list", "module.efi", "--map", "module.map")
    assert done.code == 2
    assert "PcdZero is in memory that is filled with zeros" in done.err


@pytest.mark.usefixtures("module")
@pytest.mark.parametrize(
    ("name", "text", "option", "words"),
    [
        ("module.map", "nothing", "--map", "no symbols"),
        ("module.map", " 0001:00000000  main 0000000180001000", "--map", "no settings"),
        ("module.inf", "[Defines]\n", "--inf", "no [PatchPcd.X64]"),
        ("module.inf", "[PatchPcd.X64]\n  broken\n", "--inf", "module.inf:2: no line"),
        ("module.inf", "[PatchPcd]\n  a.B|1|0x10\n", "--inf", "the size of B is not known"),
        ("module.inf", "[PatchPcd]\n  a.B|0x01|0x10000000\n", "--inf", "behind the end"),
    ],
)
def test_wrong_files_are_refused(
    system: Lab, tmp_path: Path, name: str, text: str, option: str, words: str
) -> None:
    (tmp_path / name).write_text(text)
    done = system("pcd", "list", "module.efi", option, name)
    assert (done.code, done.out) == (2, "")
    assert words in done.err


@pytest.mark.usefixtures("module")
def test_wrong_options_are_refused(system: Lab) -> None:
    assert "--map or --inf" in system("pcd", "list", "module.efi").err
    assert (
        "nothing.efi: no such file"
        in system("pcd", "list", "nothing.efi", "--map", "module.map").err
    )
    words = ("pcd", "inf", "module.efi", "--map", "module.map", "--out", "module.inf")
    assert "no GUID" in system(*words, "--guid", "1", "--token-space", "gSpace").err
    assert "no name of EDK2" in system(*words, "--guid", GUID, "--token-space", "g.S").err
    done = system("pcd", "set", "module.efi", "PcdEnable=0", "--map", "module.map",
               "--out", "module.efi")  # fmt: skip
    assert "would replace a file that is read" in done.err
