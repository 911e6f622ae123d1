# SPDX-License-Identifier: MIT
import pytest
from players import Compilers
from world import Lab

from everycore.compile.toolchains import find_compiler, find_linker, linker_of
from everycore.compile.toolchains.link import header_folders
from everycore.compile.toolchains.parts import HEADERS, Added, write_added
from everycore.environment.errors import EverycoreError
from everycore.model.domain import Target

CROSS = Target("qemu-x", "", compiler="x-linux-gnu-gcc", packages=("gcc-x-linux-gnu",))


def add(lab: Lab, name: str, *command: str) -> None:
    commands = {CROSS.name: command} if command else {}
    write_added(lab.context(), Added(name, CROSS.name, "debian", "", "root", (), commands))


def test_a_target_without_a_compiler_here_is_linked_by_the_newest_that_was_added(
    lab: Lab, compilers: Compilers
) -> None:
    add(lab, "gcc-9", str(compilers.add("x-linux-gnu-gcc-9", "gcc", 9, 3, 0)))
    add(lab, "gcc-13", str(compilers.add("x-linux-gnu-gcc-13", "gcc", 13, 3, 0)))
    assert find_linker(lab.context(), CROSS) is None  # without a C library
    add(lab, HEADERS)
    library = lab.context().cache_dir() / "toolchains/roots/root/usr/x-linux-gnu"
    linker = find_linker(lab.context(), CROSS)
    assert linker is not None
    assert linker.name == "gcc 13.3.0"
    assert linker.command[1:] == (f"-B{library}/lib/", f"-L{library}/lib")
    assert find_compiler(lab.context(), CROSS, None, ("-O2",), "x86_64").command == linker.command
    assert header_folders(lab.context(), CROSS) == [library / "include"]


def test_the_machine_s_own_cross_compiler_comes_first(lab: Lab, compilers: Compilers) -> None:
    add(lab, "gcc-13", str(compilers.add("x-linux-gnu-gcc-13", "gcc", 13, 3, 0)))
    add(lab, HEADERS)
    compilers.add("x-linux-gnu-gcc", "gcc", 12, 2, 0)
    assert find_compiler(lab.context(), CROSS, None, (), "x86_64").name == "gcc 12.2.0"


def test_without_any_the_packages_are_named(lab: Lab, compilers: Compilers) -> None:
    assert not compilers.macros
    with pytest.raises(EverycoreError, match="cannot run the C compiler") as error:
        find_compiler(lab.context(), CROSS, None, (), "x86_64")
    assert "gcc-x-linux-gnu" in error.value.hint


def test_a_compiler_that_was_added_is_found_by_its_name(lab: Lab, compilers: Compilers) -> None:
    """And this machine's own links what it makes, if it was fetched."""
    host = Target("host", "")
    compilers.add("cc", "gcc", 12, 2, 0)
    fetched = lab.context().cache_dir() / "toolchains" / "bin" / "wrapper-13"
    fetched.parent.mkdir(parents=True)
    compilers.add("wrapper-13", "gcc", 13, 3, 0).rename(fetched)
    commands = {"host": (str(fetched),)}
    write_added(lab.context(), Added("gcc-13", "host", "debian", "", "root", (), commands))
    found = find_compiler(lab.context(), host, "gcc-13", (), "x86_64")
    assert (found.name, found.command) == ("gcc 13.3.0", (str(fetched),))
    assert linker_of(lab.context(), host, found).name == "gcc 12.2.0"
    own = find_compiler(lab.context(), host, None, (), "x86_64")
    assert linker_of(lab.context(), host, own) == own


def test_a_fetched_compiler_on_the_path_does_not_link(lab: Lab, compilers: Compilers) -> None:
    host = Target("host", "")
    compilers.add("cc", "gcc", 12, 2, 0)
    wrappers = lab.context().cache_dir() / "toolchains" / "bin"
    wrappers.mkdir(parents=True)
    compilers.add("clang-19", "clang", 19, 1, 7).rename(wrappers / "clang-19")
    lab.env["PATH"] += f":{wrappers}"
    found = find_compiler(lab.context(), host, "clang-19", (), "x86_64")
    assert (found.name, found.command) == ("clang 19.1.7", ("clang-19",))
    assert linker_of(lab.context(), host, found).name == "gcc 12.2.0"
    lab.env["CC"] = "clang-19"
    found = find_compiler(lab.context(), host, None, (), "x86_64")
    assert linker_of(lab.context(), host, found).name == "gcc 12.2.0"


def test_a_compiler_that_was_asked_for_by_name_is_not_replaced(
    lab: Lab, compilers: Compilers
) -> None:
    add(lab, "gcc-13", str(compilers.add("x-linux-gnu-gcc-13", "gcc", 13, 3, 0)))
    add(lab, HEADERS)
    with pytest.raises(EverycoreError, match="cannot run the C compiler 'other'"):
        find_compiler(lab.context(), CROSS, "other", (), "x86_64")
