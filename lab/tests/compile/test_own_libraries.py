# SPDX-License-Identifier: MIT
"""Libraries that the user has built: what is found in a folder, and what is said of others."""

import struct
from pathlib import Path

import pytest

from everycore.binary import elf
from everycore.compile.own_libraries import OwnLibrary, own_libraries
from everycore.environment.errors import EverycoreError
from everycore.model.domain import Peer, Tree, Vendored

PEERS = (
    Peer("odd", ("libodd-dev",), ("-lodd", "-lodder", "-lm"), ("odd-2",), primitives=("bn",)),
    Peer("carried", (), ("-lodd",), adapter="odd", vendored=Vendored("c", "1", "0", "d", ())),
    Peer("rusty", (), ("-lm",), crate="rusty"),
    Peer("kernel", (), ()),
)


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    (tmp_path / "tree/catalog/peers").mkdir(parents=True)
    adapter = tmp_path / "tree/catalog/peers/odd.c"
    adapter.write_text("#include <stdio.h>\n#include <odd/odd.h>\n#include <odder.h>\n")
    return Tree(tmp_path / "tree", True)


def touch(*paths: Path) -> None:
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder that a library was installed to."""
    place = tmp_path / "own"
    touch(place / "lib/libodd.so", place / "lib/libodd.a", place / "lib/64/libodder.a")
    touch(place / "include/odd/odd.h", place / "include/more/odder.h")
    return place


def own(tree: Tree, *words: str) -> list[OwnLibrary]:
    return own_libraries(words, PEERS, tree, tree.root.parent)


def machine(number: int) -> bytes:
    return elf.MAGIC + b"\2\1\1" + bytes(9) + struct.pack("<HH", elf.SHARED, number) + bytes(44)


def archive(*members: bytes) -> bytes:
    found = b"!<arch>\n"
    for data in members:
        head = b"name/".ljust(48) + str(len(data)).encode().ljust(10) + b"`\n"
        found += head + data + b"\n" * (len(data) % 2)
    return found


def test_files_of_an_installed_library_are_found(tree: Tree, folder: Path) -> None:
    (found,) = own(tree, "odd=own")
    assert found.peer.libraries == (
        str(folder / "lib/libodd.so"), str(folder / "lib/64/libodder.a"), "-lm",
    )  # fmt: skip
    assert found.installed.compile_flags == (
        f"-I{folder / 'include'}", f"-I{folder / 'include/more'}",
    )  # fmt: skip
    assert f"-Wl,-rpath,{folder / 'lib'}" in found.installed.link_flags
    assert (found.name, found.peer.packages, found.peer.includes) == ("odd-own", (), ())


def test_a_library_that_a_crate_carries_can_be_the_users_own(tree: Tree, folder: Path) -> None:
    one, two = own(tree, f"carried={folder}", f"carried={folder}")
    assert one.peer.vendored is None
    assert (one.name, two.name) == ("carried-own", "carried-own2")


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("CMakeCache.txt", "CMAKE_HOME_DIRECTORY:INTERNAL={}"),
        ("Makefile", "SRCDIR={}"),
        ("Makefile", "top_srcdir = ../sources"),
    ],
)
def test_a_build_elsewhere_names_its_sources(
    tree: Tree, tmp_path: Path, file: str, line: str
) -> None:
    build, sources = tmp_path / "build", tmp_path / "sources"
    touch(build / "src/.libs/libodd.so.1", build / "libodder.a", build / "include/odd/made.h")
    touch(sources / "include/odd/odd.h", sources / "src/odder.h")
    (build / file).write_text(f"# made\n{line.format(sources)}\n")
    (found,) = own(tree, f"odd={build}")
    assert found.peer.libraries[0].endswith("src/.libs/libodd.so.1")
    places = [Path(flag.removeprefix("-I")).resolve() for flag in found.installed.compile_flags]
    assert places == [sources / "include", sources / "src", build / "include"]


@pytest.mark.parametrize(
    ("word", "message", "hint"),
    [
        ("odd", "'odd' is not NAME=FOLDER", "such as openssl=/opt"),
        ("=own", "'=own' is not NAME=FOLDER", "such as"),
        ("odd=", "'odd=' is not NAME=FOLDER", "such as"),
        ("od=own", "unknown peer 'od'", "nearest: odd"),
        ("rusty=own", "rusty is not linked from a folder", "these are: odd, carried"),
        ("kernel=own", "kernel is not linked from a folder", "these are: odd, carried"),
        ("odd=nowhere", "odd: there is no folder", ""),
        (
            "odd=tree",
            "odd: there is no libodd.so and no libodd.a in",
            "libodd and libodder; 4 levels",
        ),
    ],
)
def test_words_that_name_no_library_are_refused(
    tree: Tree, folder: Path, word: str, message: str, hint: str
) -> None:
    assert folder.is_dir()
    with pytest.raises(EverycoreError) as error:
        own(tree, word)
    assert message in error.value.message
    assert hint in error.value.hint
    assert error.value.code == 2


def test_a_missing_header_is_named(tree: Tree, folder: Path) -> None:
    (folder / "include/more/odder.h").unlink()
    with pytest.raises(EverycoreError, match=r"odd: there is no header odder\.h in"):
        own(tree, "odd=own")


@pytest.mark.parametrize("name", ["libodd.so", "libodd.a"])
def test_a_library_for_another_machine_is_refused(
    tree: Tree, folder: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    interpreter = folder / "python"
    interpreter.write_bytes(machine(elf.X86_64))
    monkeypatch.setattr("sys.executable", str(interpreter))
    (folder / "lib/libodd.so").unlink()
    for number in (elf.X86_64, elf.AARCH64):
        data = machine(number)
        whole = archive(b"list of symbols", data, b"", data) if name.endswith(".a") else data
        (folder / "lib" / name).write_bytes(whole)
        if number == elf.X86_64:
            assert own(tree, "odd=own")
            continue
        with pytest.raises(EverycoreError, match="is for 64-bit Arm, and this machine is x86-64"):
            own(tree, "odd=own")


def test_a_damaged_archive_is_left_to_the_linker(tree: Tree, folder: Path) -> None:
    (folder / "lib/libodd.so").unlink()
    for data in (b"", b"!<arch>\n", b"!<arch>\n" + b"x" * 60, archive(b"text")):
        (folder / "lib/libodd.a").write_bytes(data)
        assert own(tree, "odd=own")
