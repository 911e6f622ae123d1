# SPDX-License-Identifier: MIT
"""Fixtures of all tests, and which of these a change of the library concerns."""

import os
import shutil
from collections.abc import Callable, Generator, Iterator
from pathlib import Path

import pytest
from fake_archive import FakeArchive, Key
from library_reads import TREE, Watch, reads_no_kernel
from running import launcher
from world import FakeRunner, Lab

from everycore.compile.binaries import LAUNCHER
from everycore.compile.catalog import REGISTRY, SOURCE_DIRS, resolver_sources
from everycore.environment.context import SystemRunner

READ = pytest.StashKey[set[str]]()
REAL = {"real_lab", "real_cache", "system"}  # fixtures of tests that compile the library
WATCH = Watch(TREE.root)


# ---- Which tests a change of the library concerns ------------------------------------------------


def reads_of(item: pytest.Item) -> tuple[str, ...]:
    return tuple(path for mark in item.iter_markers("reads") for path in mark.args)


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark a test that does not say what it reads, and has no real processes: of the library it
    has `small_tree` alone. One that has real processes stays unmarked, and runs always.
    """
    if not reads_of(item) and not REAL.intersection(getattr(item, "fixturenames", ())):
        item.add_marker(reads_no_kernel)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    with WATCH.beyond(reads_of(item) or ("",)) as item.stash[READ]:
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, object, object]:
    """Fail where a test reads more of the library than its marks say."""
    result = yield
    if read := item.stash[READ]:
        names = ", ".join(sorted(read)[:5])
        pytest.fail(f"it reads {names}: @reads_all, of library_reads.py", pytrace=False)
    return result


# ---- Fixtures ------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def small_tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The checkout, with few of the files that a harness is compiled from: a runner that plays the
    compiler would play it 267 times.
    """
    tree = tmp_path_factory.mktemp("tree")
    for path in TREE.root.iterdir():
        if path.name not in SOURCE_DIRS:
            (tree / path.name).symlink_to(path)
    for file in (REGISTRY, *resolver_sources(TREE)):
        (tree / file).parent.mkdir(parents=True, exist_ok=True)
        (tree / file).symlink_to(TREE.root / file)
    WATCH.copies.append(tree)
    return tree


@pytest.fixture
def lab(tmp_path: Path, small_tree: Path) -> Lab:
    env = {"XDG_CACHE_HOME": str(tmp_path / "cache"), "XDG_STATE_HOME": str(tmp_path / "state")}
    return Lab(FakeRunner(), tmp_path, env | {"EVERYCORE_TREE": str(small_tree)})


@pytest.fixture
def system(tmp_path: Path) -> Lab:
    """The command line with real processes, and a cache of its own."""
    return Lab(SystemRunner(), tmp_path, {"XDG_CACHE_HOME": str(tmp_path / "cache")})


@pytest.fixture(scope="session")
def real_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    cache = tmp_path_factory.mktemp("cache")
    if shared := os.environ.get("EVERYCORE_TEST_OBJECTS"):  # by the conftest.py above
        (cache / "everycore").mkdir()
        for name, place in (
            ("objects", Path(shared)),
            ("locks", Path(shared).with_name("locks")),  # no two workers compile the same
            ("toolchains", Path(shared).with_name("asked")),  # the answers of compilers
        ):
            place.mkdir(parents=True, exist_ok=True)
            (cache / "everycore" / name).symlink_to(place)
    return cache


@pytest.fixture
def real_lab(tmp_path: Path, real_cache: Path) -> Lab:
    """The same with real processes; skipped without a C compiler."""
    if not any(map(shutil.which, ("cc", "gcc", "clang"))):
        pytest.skip("no C compiler: apt-get install gcc libc6-dev")
    env = {"XDG_CACHE_HOME": str(real_cache), "XDG_STATE_HOME": str(tmp_path / "state")}
    env[LAUNCHER] = launcher()
    return Lab(SystemRunner(), tmp_path, env)


@pytest.fixture(scope="session")
def make_key(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], Key]]:
    """Makes a key pair, which takes gpg a moment."""
    if not all(map(shutil.which, ("gpg", "gpg-agent", "gpgv"))):
        pytest.skip("no gpg, or no gpgv: apt-get install gpg gpg-agent gpgv")
    keys: list[Key] = []

    def make() -> Key:
        keys.append(Key(tmp_path_factory.mktemp("key") / "home").make())
        return keys[-1]

    yield make
    for key in keys:
        key.close()


@pytest.fixture(scope="session")
def key(make_key: Callable[[], Key]) -> Key:
    return make_key()


@pytest.fixture
def archive(tmp_path: Path, key: Key) -> FakeArchive:
    return FakeArchive(tmp_path / "mirror", key)
