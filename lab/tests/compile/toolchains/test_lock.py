# SPDX-License-Identifier: MIT
import pytest
from world import PACKAGE

from everycore.compile import catalog
from everycore.compile.debs.lock import File, Pinned
from everycore.compile.toolchains.compiler_lock import Lock, Part, from_text, to_text
from everycore.compile.toolchains.compilers_file import read_compilers_file
from everycore.compile.toolchains.parts import HEADERS
from everycore.environment.errors import EverycoreError
from everycore.model.targets import target_names

TREE = catalog.find_tree(PACKAGE)
COMMITTED = TREE.root / "catalog/toolchains" / "amd64.lock"


def pin(name: str) -> Pinned:
    return Pinned(name, "1.0", (File(f"pool/{name}.deb", name * 8, 10),))


def part(name: str, *needs: str) -> Part:
    return Part(name, "host", "debian", "Debian test", name, "1.0", tuple(map(pin, needs)))


def test_a_lock_file_round_trips_and_holds_each_package_once() -> None:
    lock = Lock("amd64", "test Thu", (part("gcc-9", "gcc-9", "libc6"), part("gcc-8", "libc6")))
    text = to_text(lock)
    assert from_text(text, "it") == lock
    assert text.count("libc6.deb") == 1
    assert lock.part("gcc-9", "host") is not None
    assert lock.part("gcc-9", "qemu-s390x") is None
    assert lock.parts[0].n_bytes == 20


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": 1}', '{"format": 1, "parts": [1]}'])
def test_what_is_no_lock_file_says_so(text: str) -> None:
    with pytest.raises(EverycoreError, match=r"x\.lock is no lock file") as error:
        from_text(text, "x.lock")
    assert "toolchain lock" in error.value.hint


def test_a_package_that_a_part_needs_and_the_file_lacks_is_noticed() -> None:
    text = to_text(Lock("amd64", "", (part("gcc-9", "libc6"),))).replace('"libc6_1.0"', '"other"')
    with pytest.raises(EverycoreError, match="KeyError 'other'"):
        from_text(text, "x.lock")


def test_a_lock_of_another_format_says_who_can_read_it() -> None:
    with pytest.raises(EverycoreError, match="has format 99"):
        from_text('{"format": 99}', "x.lock")


def test_the_committed_lock_has_every_version_from_gcc_7_and_clang_11_on() -> None:
    lock = from_text(COMMITTED.read_text(encoding="utf-8"), COMMITTED.name)
    names = set(lock.names())
    assert {f"gcc-{n}" for n in (7, *range(9, 17))} <= names
    assert {f"clang-{n}" for n in range(11, 24)} <= names
    wanted = read_compilers_file(TREE)
    assert set(wanted.wheels) <= names
    for target in wanted.targets:
        assert target in target_names(TREE)
        assert lock.part(HEADERS, target)
        assert all(lock.part(f"gcc-{n}", target) for n in range(9, 17)), target


def test_every_file_of_the_committed_lock_has_its_sha256() -> None:
    lock = from_text(COMMITTED.read_text(encoding="utf-8"), COMMITTED.name)
    for part in lock.parts:
        files = [file for pinned in part.files for file in pinned.files]
        assert files
        assert all(len(bytes.fromhex(file.sha256)) == 32 for file in files), part.name
        assert not any("://" in file.path for file in files), part.name
