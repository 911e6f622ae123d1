#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""OpenSSL's own tests with our arithmetic:
test_patched_openssl.py [--store] [--sign] debian|PAIR...

A pair is a version of OpenSSL and a target, as in PAIRS. Its sources are Debian's. They are built
once, in build/openssl; contrib/openssl/patch-openssl then patches a copy of the library (of pairs
that end in -tree: the sources), and OpenSSL's tests of numbers, exponentiations, RSA and
Diffie-Hellman run with it, under QEMU where the target is another. Executed instructions of RSA
signatures are counted with the library as it was and with the patched one, and compared with
tests/systems/openssl/results.json; --store writes them there. --sign counts and runs no tests,
which take long under QEMU.

`debian`: Debian's own finished library for armhf, for which only the tests are compiled.
"""

import argparse
import dataclasses
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = ROOT / "tests/systems/openssl"
BUILD = ROOT / "build/openssl"
STORED = HERE / "results.json"
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
KEY_BITS = (1024, 2048)
SIGNATURES = 4  # more in the second run than in the first
ALLOWED = 1.02
SWAPPED = "-DEVC_HPPA_FMPYADD_SWAPPED"  # src/common/hppa_fmpyadd.h
SECONDS = 3000


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


class FailedError(Exception):
    """A program that failed, and what it said."""


class LackingError(Exception):
    """The reason why something cannot be tried here."""


def run(words: list[str | pathlib.Path], cwd: pathlib.Path = ROOT, expected: int = 0) -> str:
    try:
        done = subprocess.run(
            words,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise FailedError(f"{' '.join(map(str, words))} does not end") from None
    if done.returncode != expected:
        raise FailedError(
            f"{' '.join(map(str, words))} ended with {done.returncode}: {done.stdout[-1500:]}"
        )
    return done.stdout


def need(*programs: str) -> None:
    absent = [program for program in programs if program and not shutil.which(program)]
    if absent:
        raise LackingError(f"no {', '.join(absent)}")


def sources(version: str) -> pathlib.Path:
    """The folder with OpenSSL's sources; a failure to fetch them is no failure of ours."""
    from everycore.compile import debs
    from everycore.compile.debs.lock import Request
    from everycore.environment.context import system_context
    from everycore.environment.errors import EverycoreError

    suite, lock = LOCKS[version]
    context = system_context()
    try:
        request = Request((suite,), "source", sources=("openssl",))
        return debs.unpacked_source(
            context, debs.pinned(context, request, lock, update=False), "openssl"
        )
    except EverycoreError as error:
        raise LackingError(f"no sources of OpenSSL {version}: {error.message}") from error


# ---- Building ------------------------------------------------------------------------------------


def built(name: str, pair: Pair) -> pathlib.Path:
    """A folder with libcrypto.a as OpenSSL makes it, and the objects of its tests."""
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
    words: list[str | pathlib.Path] = ["perl", tree / "Configure", pair.target, *pair.options]
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
    """A patched copy of the sources, after the patch was removed once and left nothing."""
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
    """Patched copies of a library. For an emulator that has fmpyadd wrong, the first has it wrong,
    too: what it executes is what a CPU executes of the library as it should be. That one, `words`,
    finds under the emulator that it is to take words.
    """
    if has_fmpyadd_swapped(pair):
        return {
            "patched": patched(library, f"{pair.compiler} {SWAPPED}"),
            "words": patched(library, pair.compiler, "words"),
        }
    return {"patched": patched(library, pair.compiler)}


def patched(library: pathlib.Path, compiler: str, name: str = "patched") -> pathlib.Path:
    """A patched copy of a library, after the patch was removed once and left it as before."""
    copy = library.with_name(f"libcrypto-{name}.a")
    for old in copy.parent.glob(f"{copy.name}*"):
        old.unlink()
    shutil.copyfile(library, copy)
    run([sys.executable, SCRIPT, "--cc", compiler, copy])
    run([sys.executable, SCRIPT, "--cc", compiler, copy], expected=2)
    run([sys.executable, SCRIPT, "--remove", copy])
    if copy.read_bytes() != library.read_bytes():
        raise FailedError(f"{copy} is not as it was")
    print(run([sys.executable, SCRIPT, "--cc", compiler, copy]).strip(), flush=True)
    return copy


# ---- OpenSSL's tests -----------------------------------------------------------------------------


def try_tests(linked: dict[str, pathlib.Path], tree: pathlib.Path, starter: list[str]) -> int:
    """Run the tests; how many of them and of their parts say ok."""
    count = 0
    for name, program in linked.items():
        data = (
            sorted((tree / "test/recipes/10-test_bn_data").glob("*.txt"))
            if name == "bntest"
            else []
        )
        for arguments in ([], *([path] for path in data)):
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


# ---- Instructions of signatures ------------------------------------------------------------------


def plugin(folder: pathlib.Path, emulator: str) -> pathlib.Path:
    """Counts what an emulator executes: one whose plugins have the interface of version 1."""
    need(emulator, "cc")
    version = re.search(r"version (\d+)\.(\d+)", run([emulator, "--version"]))
    if not version or not (6, 0) <= (int(version[1]), int(version[2])) < (9, 0):
        raise LackingError(
            f"{emulator} is none of QEMU 6.0 to 8.2, for which the plugin that counts is written"
        )
    path = folder / "count_processes.so"
    run(["cc", "-O2", "-shared", "-fPIC", HERE / "count_processes.c", "-o", path])
    return path


def counts(path: pathlib.Path) -> list[int]:
    """The count of each process, in the order in which they appeared."""
    data = path.read_bytes()
    (n,) = struct.unpack_from("=Q", data)
    return [struct.unpack_from("=QQ", data, 8 + 16 * i)[1] for i in range(min(n, 255))]


def instructions(
    command: list[str | pathlib.Path],
    emulator: list[str],
    counter: pathlib.Path,
    folder: pathlib.Path,
) -> int:
    to = folder / "counts"
    run([*emulator, "-plugin", f"{counter},to={to}", *command])
    return sum(counts(to))


def signatures(
    folder: pathlib.Path, tree: pathlib.Path, pair: Pair, libraries: dict[str, pathlib.Path]
) -> dict[str, dict[str, int]]:
    """Instructions of an RSA signature by library and length of key."""
    need("openssl")
    counter = plugin(folder, pair.emulator)
    found: dict[str, dict[str, int]] = {}
    for bits in KEY_BITS:
        key = folder / f"rsa{bits}.pem"
        run(["openssl", "genrsa", "-traditional", "-out", key, str(bits)])
        for name, library in libraries.items():
            program = folder / f"sign-{name}"
            include = [f"-I{folder / 'include'}", f"-I{tree / 'include'}"]
            link(pair.compiler, program, "-O2", *include, HERE / "sign.c", library)
            first, second = (
                instructions([program, key, str(n)], [pair.emulator, *pair.model], counter, folder)
                for n in (1, 1 + SIGNATURES)
            )
            found.setdefault(str(bits), {})[name] = (second - first) // SIGNATURES
    return found


def worse(name: str, now: dict[str, Any], stored: dict[str, Any]) -> str:
    """The counts that are worse than the stored ones of the same compiler; empty: none."""
    if not stored or stored.get("compiler") != now["compiler"]:
        return ""
    for bits, figures in now["sign"].items():
        if figures["patched"] > ALLOWED * stored["sign"][bits]["patched"]:
            return (
                f"{name}: RSA-{bits}: {figures['patched']} instructions, stored "
                f"{stored['sign'][bits]['patched']}"
            )
    if now["ok"] is not None and now["ok"] < (stored["ok"] or 0):
        return f"{name}: {now['ok']} tests say ok, stored {stored['ok']}"
    return ""


# ---- Pairs ---------------------------------------------------------------------------------------


def try_pair(name: str, store: bool, tests: bool) -> None:
    pair = PAIRS[name]
    need(pair.compiler, "" if pair.compiler in NATIVE else pair.emulator, "perl", "make")
    folder = built(name, pair)
    tree = sources(pair.version)
    library = folder / "libcrypto.a"
    if pair.patches_tree:
        copies = {"patched": library}
        if "bn_mul_add_words" not in run(["nm", "--defined-only", library]):
            raise FailedError(f"{library} does not have our functions")
    else:
        copies = ours(library, pair)
    every = json.loads(STORED.read_text()) if STORED.is_file() else {}
    ok = every.get(name, {}).get("ok")
    if tests:
        starter = [] if pair.compiler in NATIVE else [pair.emulator, *pair.model]
        counts_of_ok = [
            try_tests(linked_tests(folder, copy, pair.compiler), tree, starter)
            for copy in copies.values()
        ]
        ok = min(counts_of_ok)
    now: dict[str, Any] = {
        "compiler": run([pair.compiler, "--version"]).splitlines()[0],
        "ok": ok,
        "sign": {},
    }
    if not pair.patches_tree:
        now["version"] = version_of(tree)
        now["sign"] = signatures(folder, tree, pair, {"openssl": library, **copies})
    print(f"{name}: {json.dumps(now)}", flush=True)
    if store:
        # Another run may have stored meanwhile.
        every = json.loads(STORED.read_text()) if STORED.is_file() else {}
        every[name] = now
        kept = {
            key: every[key]
            for key in (*PAIRS, *sorted(every.keys() - PAIRS.keys()))
            if key in every
        }
        STORED.write_text(json.dumps(kept, indent=1) + "\n")
    elif why := worse(name, now, every.get(name, {})):
        raise FailedError(why)


def version_of(tree: pathlib.Path) -> str:
    values = dict(
        re.findall(r"^(MAJOR|MINOR|PATCH)=(\d+)$", (tree / "VERSION.dat").read_text(), re.M)
    )
    return f"{values['MAJOR']}.{values['MINOR']}.{values['PATCH']}"


def try_debian() -> None:
    """The finished library of Debian's package for armhf; its tests are compiled from source."""
    from everycore.compile import debs
    from everycore.compile.debs.lock import Request
    from everycore.environment.context import system_context
    from everycore.environment.errors import EverycoreError

    compiler, emulator = "arm-linux-gnueabihf-gcc", "qemu-arm"
    need(compiler, emulator)
    context = system_context()
    request = Request(("bookworm",), "armhf", ("libssl-dev",), exclude=("libssl3",))
    try:
        lock = debs.pinned(context, request, HERE / "libssl-dev-bookworm-armhf.lock", update=False)
        package = debs.unpacked(context, lock)
    except EverycoreError as error:
        raise LackingError(f"no libssl-dev of Debian: {error.message}") from error
    tree = sources("3.0")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "test").mkdir()
        shutil.copyfile(package / "usr/lib/arm-linux-gnueabihf/libcrypto.a", folder / "libcrypto.a")
        include = [
            package / "usr/include",
            package / "usr/include/arm-linux-gnueabihf",
            tree / "include",
            tree,
            tree / "apps/include",
        ]
        flags = ["-O1", "-w", *(f"-I{path}" for path in include), "-c"]
        util = []
        for source in (*sorted((tree / "test/testutil").glob("*.c")), tree / "apps/lib/opt.c"):
            util.append(folder / f"util-{source.stem}.o")
            run([compiler, *flags, source, "-o", util[-1]])
        run(["arm-linux-gnueabihf-ar", "rc", folder / "test/libtestutil.a", *util])
        for test in TESTS:
            run(
                [
                    compiler,
                    *flags,
                    tree / f"test/{test}.c",
                    "-o",
                    folder / f"test/{test}-bin-{test}.o",
                ]
            )
        copy = patched(folder / "libcrypto.a", compiler)
        ok = try_tests(linked_tests(folder, copy, compiler), tree, [emulator])
        print(f"debian: {ok} tests and parts of tests say ok", flush=True)


def try_each(names: Iterable[str], try_one: Callable[[str], None]) -> int:
    """The exit code; each name's result is printed, and their number."""
    passed = failed = skipped = 0
    for name in names:
        try:
            try_one(name)
            print(f"passed: {name}", flush=True)
            passed += 1
        except LackingError as lacking:
            print(f"skipped: {name}: {lacking}")
            skipped += 1
        except FailedError as failure:
            print(f"FAILED: {name}: {failure}")
            failed += 1
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--store", action="store_true", help="write tests/systems/openssl/results.json"
    )
    parser.add_argument("--sign", action="store_true", help="count signatures alone")
    choices = ["debian", *PAIRS]
    parser.add_argument(
        "pairs", nargs="+", choices=choices, metavar="PAIR", help=", ".join(choices)
    )
    words = parser.parse_args()
    os.environ.setdefault("LC_ALL", "C")
    return try_each(
        words.pairs,
        lambda name: (
            try_debian() if name == "debian" else try_pair(name, words.store, not words.sign)
        ),
    )


if __name__ == "__main__":
    sys.exit(main())
