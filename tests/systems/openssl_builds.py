# SPDX-License-Identifier: MIT
"""OpenSSL of Debian's sources, built once in build/openssl, and its library with our arithmetic.

A pair is a version of OpenSSL and a target, as in PAIRS. contrib/openssl/patch-openssl patches a
copy of the library; of pairs that end in -tree: the sources. A plugin for QEMU counts executed
instructions.
"""

import dataclasses
import json
import os
import pathlib
import re
import shutil
import struct
import sys
from typing import Any

import pytest
from processes import ROOT, FailedError, need, run, skip_without

from everycore.compile import debs
from everycore.compile.debs.lock import Request
from everycore.environment.context import system_context

HERE = ROOT / "tests/systems/openssl"
BUILD = ROOT / "build/openssl"
SCRIPT = ROOT / "contrib/openssl/patch-openssl"
TESTS = ("bntest", "exptest", "rsa_test", "dhtest")
LOCKS = {
    "3.0": ("bookworm", HERE / "openssl-bookworm.lock"),
    "3.5": ("trixie", ROOT / "catalog/subjects/openssl-trixie.lock"),
    "3.6": ("sid", HERE / "openssl-sid.lock"),
    "4.0": ("experimental", HERE / "openssl-experimental.lock"),
}
# Parts that the four tests do not need, and that would take most of the time to build.
WITHOUT = (
    "ec",
    "cms",
    "ts",
    "srp",
    "ct",
    "ocsp",
    "aria",
    "camellia",
    "idea",
    "seed",
    "rc2",
    "bf",
    "cast",
    "md4",
    "mdc2",
    "whirlpool",
    "siphash",
    "scrypt",
    "sm2",
    "sm3",
    "sm4",
    "ktls",
    "cmp",
    "shared",
    "module",
    "dso",
)
SWAPPED = "-DEVC_HPPA_FMPYADD_SWAPPED"  # src/common/hppa_fmpyadd.h


@dataclasses.dataclass(frozen=True)
class Pair:
    version: str
    target: str  # as OpenSSL's Configure calls it
    compiler: str
    emulator: str = ""
    options: tuple[str, ...] = ()
    patches_tree: bool = False
    model: tuple[str, ...] = ()  # words for the emulator


def no_asm(version: str, target: str, compiler: str, emulator: str = "") -> Pair:
    return Pair(version, target, compiler, emulator, ("no-asm",))


def generic(version: str, architecture: str, triplet: str, patches_tree: bool = False) -> Pair:
    return Pair(
        version, "linux-generic32", f"{triplet}-gcc", f"qemu-{architecture}", (), patches_tree
    )


PAIRS = {
    "3.0-hppa": generic("3.0", "hppa", "hppa-linux-gnu"),
    "3.0-hppa-tree": generic("3.0", "hppa", "hppa-linux-gnu", patches_tree=True),
    "3.0-armel": generic("3.0", "arm", "arm-linux-gnueabi"),
    "3.0-armel-asm": Pair(
        "3.0", "linux-armv4", "arm-linux-gnueabi-gcc", "qemu-arm", model=("-cpu", "arm926")
    ),
    "3.0-mips": generic("3.0", "mips", "mips-linux-gnu"),
    "3.0-m68k": generic("3.0", "m68k", "m68k-linux-gnu"),
    "3.0-i386": no_asm("3.0", "linux-x86", "i686-linux-gnu-gcc", "qemu-i386"),
    "3.0-x86_64": no_asm("3.0", "linux-x86_64", "gcc", "qemu-x86_64"),
    "3.5-hppa": generic("3.5", "hppa", "hppa-linux-gnu"),
    "3.5-x86_64": no_asm("3.5", "linux-x86_64", "gcc", "qemu-x86_64"),
    "4.0-hppa": generic("4.0", "hppa", "hppa-linux-gnu"),
    "4.0-x86_64": no_asm("4.0", "linux-x86_64", "gcc", "qemu-x86_64"),
}
NATIVE = ("gcc", "i686-linux-gnu-gcc")  # run without an emulator


def sources(version: str) -> pathlib.Path:
    """Return the folder with OpenSSL's sources; skip if they cannot be fetched."""
    suite, lock = LOCKS[version]
    context = system_context()
    request = Request((suite,), "source", sources=("openssl",))
    with skip_without(f"sources of OpenSSL {version}"):
        pinned = debs.pinned(context, request, lock, update=False)
        return debs.unpacked_source(context, pinned, "openssl")


def need_pair(pair: Pair) -> None:
    """Skip if the compiler or the emulator of a pair is absent."""
    need(pair.compiler, *([] if pair.compiler in NATIVE else [pair.emulator]), "perl", "make")


# ---- Building ------------------------------------------------------------------------------------


def built(name: str, pair: Pair) -> pathlib.Path:
    """Return a folder with libcrypto.a as OpenSSL makes it, and the objects of its tests."""
    folder = BUILD / name
    mark = folder / "complete"
    if pair.patches_tree:
        shutil.rmtree(folder, ignore_errors=True)  # of ours, any file may have changed
    if mark.is_file():
        return folder
    tree = sources(pair.version)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    if pair.patches_tree:
        tree = patched_copy(tree, folder)
    prefix = pair.compiler.removesuffix("gcc")
    words: list[str | os.PathLike[str]] = ["perl", tree / "Configure", pair.target, *pair.options]
    words += [f"no-{feature}" for feature in WITHOUT] + (
        ["no-engine"] if pair.version < "4" else []
    )
    words += [f"--cross-compile-prefix={prefix}"] if prefix else []
    words += [SWAPPED] if pair.patches_tree and has_fmpyadd_swapped(pair) else []
    run([*words, "-static"], folder)
    run(["make", "build_generated"], folder)
    run(["make", "-j2", "libcrypto.a", *(f"test/{test}" for test in TESTS)], folder)
    mark.touch()
    return folder


def patched_copy(tree: pathlib.Path, folder: pathlib.Path) -> pathlib.Path:
    """Return a patched copy of the sources, after the patch was removed once and left nothing."""
    copy = folder / "tree"
    shutil.copytree(tree, copy, symlinks=True)
    run([sys.executable, SCRIPT, copy])
    run([sys.executable, SCRIPT, copy], expected=2)  # refuses a tree that is patched
    run([sys.executable, SCRIPT, "--remove", copy])
    run(["diff", "-r", tree, copy])
    run([sys.executable, SCRIPT, copy])
    return copy


def has_fmpyadd_swapped(pair: Pair) -> bool:
    """Whether the emulator takes fmpyadd for that of the other precision, as QEMU 7.2 does."""
    return pair.emulator == "qemu-hppa" and " version 7." in run([pair.emulator, "--version"])


def ours(library: pathlib.Path, pair: Pair) -> dict[str, pathlib.Path]:
    """Return patched copies of a library.

    For an emulator that has fmpyadd wrong, the first has it wrong, too: what it executes is what a
    CPU executes of the library as it should be. That one, `words`, finds under the emulator that it
    is to take words.
    """
    if has_fmpyadd_swapped(pair):
        return {
            "patched": patched(library, f"{pair.compiler} {SWAPPED}"),
            "words": patched(library, pair.compiler, "words"),
        }
    return {"patched": patched(library, pair.compiler)}


def patched(library: pathlib.Path, compiler: str, name: str = "patched") -> pathlib.Path:
    """Return a patched copy of a library, after removing the patch once left it as before."""
    copy = library.with_name(f"libcrypto-{name}.a")
    for old in copy.parent.glob(f"{copy.name}*"):
        old.unlink()
    shutil.copyfile(library, copy)
    run([sys.executable, SCRIPT, "--cc", compiler, copy])
    run([sys.executable, SCRIPT, "--cc", compiler, copy], expected=2)
    run([sys.executable, SCRIPT, "--remove", copy])
    if copy.read_bytes() != library.read_bytes():
        raise FailedError(f"{copy} is not as it was")
    print(run([sys.executable, SCRIPT, "--cc", compiler, copy]).strip())
    return copy


# ---- Tests and counts ----------------------------------------------------------------------------


def try_tests(
    linked: dict[str, pathlib.Path], tree: pathlib.Path, starter: list[str], without: str = ""
) -> int:
    """Run OpenSSL's tests; return how many of them and of their parts say ok.

    `without`: a test of bntest that is left out, the others being run one by one.
    """
    count = 0
    for name, program in linked.items():
        data = (
            sorted((tree / "test/recipes/10-test_bn_data").glob("*.txt"))
            if name == "bntest"
            else []
        )
        parts: list[list[str | pathlib.Path]] = [[]]
        if without and name == "bntest":
            tests = re.findall(r"^\d+ - (\w+)", run([*starter, program, "-list"]), re.M)
            assert without in tests
            parts = [["-test", test] for test in tests if test != without]
        parts += ([path] for path in data)
        for arguments in parts:
            said = run([*starter, program, *arguments])
            if re.search(r"^\s*not ok", said, re.M) or not re.search(r"^\s*ok ", said, re.M):
                raise FailedError(f"{name} {arguments}: {said[-1500:]}")
            count += len(re.findall(r"^\s*ok ", said, re.M))
    return count


def link(compiler: str, program: pathlib.Path, *parts: str | pathlib.Path) -> pathlib.Path:
    run([compiler, "-static", "-pthread", "-o", program, *parts, "-pthread", "-ldl"])
    return program


def linked_tests(
    folder: pathlib.Path, library: pathlib.Path, compiler: str
) -> dict[str, pathlib.Path]:
    util = folder / "test/libtestutil.a"
    return {
        test: link(
            compiler,
            folder / f"{test}-patched",
            folder / f"test/{test}-bin-{test}.o",
            util,
            library,
        )
        for test in TESTS
    }


def plugin(folder: pathlib.Path, emulator: str) -> pathlib.Path:
    """Build what counts what an emulator executes; its plugins have the interface of version 1."""
    need(emulator, "cc")
    version = re.search(r"version (\d+)\.(\d+)", run([emulator, "--version"]))
    if not version or not (6, 0) <= (int(version[1]), int(version[2])) < (9, 0):
        pytest.skip(
            f"{emulator} is none of QEMU 6.0 to 8.2, for which the plugin that counts is written"
        )
    path = folder / "count_processes.so"
    run(["cc", "-O2", "-shared", "-fPIC", HERE / "count_processes.c", "-o", path])
    return path


def counts(path: pathlib.Path) -> list[int]:
    """Return the count of each process, in the order in which they appeared."""
    data = path.read_bytes()
    (n,) = struct.unpack_from("=Q", data)
    return [struct.unpack_from("=QQ", data, 8 + 16 * i)[1] for i in range(min(n, 255))]


def store(path: pathlib.Path, name: str, now: Any, order: tuple[str, ...]) -> None:
    """Write a result into a file of results by name, in this order; another run may have written
    meanwhile.
    """
    every = stored(path) | {name: now}
    kept = {key: every[key] for key in (*order, *sorted(every.keys() - set(order))) if key in every}
    path.write_text(json.dumps(kept, indent=1) + "\n")


def stored(path: pathlib.Path) -> dict[str, Any]:
    return dict(json.loads(path.read_text())) if path.is_file() else {}
