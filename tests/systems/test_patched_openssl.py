# SPDX-License-Identifier: MIT
"""OpenSSL's own tests pass with our arithmetic, and signatures take no more instructions.

pytest tests/systems/test_patched_openssl.py [-k debian | -k PAIR] [--store] [--sign-only]

A pair is a version of OpenSSL and a target (openssl_builds.py). OpenSSL's tests of numbers,
exponentiations, RSA and Diffie-Hellman run with the patched library, under QEMU where the target is
another. Executed instructions of RSA signatures are counted with the library as it was and with the
patched one, and compared with tests/systems/openssl/results.json; --store writes them there.
--sign-only counts and runs no tests, which take long under QEMU.

Debian's own finished library for armhf is tried, too: for it only the tests are compiled.
"""

import json
import os
import pathlib
import re
import shutil
from typing import Any

import pytest
from openssl_builds import (
    HERE,
    NATIVE,
    PAIRS,
    TESTS,
    Pair,
    built,
    counts,
    link,
    linked_tests,
    need_pair,
    ours,
    patched,
    plugin,
    sources,
    store,
    stored,
    try_tests,
)
from processes import need, run, skip_without
from reads import LIBRARY

from everycore.compile import debs
from everycore.compile.debs.lock import Request
from everycore.environment.context import system_context

STORED = HERE / "results.json"
KEY_BITS = (1024, 2048)
SIGNATURES = 4  # more in the second run than in the first
ALLOWED = 1.02


def instructions(
    command: list[str | os.PathLike[str]],
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


def assert_no_worse(now: dict[str, Any], before: dict[str, Any]) -> None:
    """Compare counts with stored ones of the same compiler."""
    if before.get("compiler") != now["compiler"]:
        return
    for bits, figures in now["sign"].items():
        assert figures["patched"] <= ALLOWED * before["sign"][bits]["patched"], f"RSA-{bits}"
    if now["ok"] is not None:
        assert now["ok"] >= (before["ok"] or 0), "fewer of OpenSSL's tests say ok"


def version_of(tree: pathlib.Path) -> str:
    values = dict(
        re.findall(r"^(MAJOR|MINOR|PATCH)=(\d+)$", (tree / "VERSION.dat").read_text(), re.M)
    )
    return f"{values['MAJOR']}.{values['MINOR']}.{values['PATCH']}"


@pytest.mark.long
@pytest.mark.parametrize("name", PAIRS)
def test_openssls_tests_pass_and_signatures_take_no_more_instructions(
    name: str, pytestconfig: pytest.Config
) -> None:
    pair = PAIRS[name]
    need_pair(pair)
    folder = built(name, pair)
    tree = sources(pair.version)
    library = folder / "libcrypto.a"
    if pair.patches_tree:
        copies = {"patched": library}
        assert "bn_mul_add_words" in run(["nm", "--defined-only", library])
    else:
        copies = ours(library, pair)
    before = stored(STORED).get(name, {})
    ok = before.get("ok")
    if not pytestconfig.getoption("sign_only"):
        starter = [] if pair.compiler in NATIVE else [pair.emulator, *pair.model]
        ok = min(
            try_tests(linked_tests(folder, copy, pair.compiler), tree, starter)
            for copy in copies.values()
        )
    now: dict[str, Any] = {
        "compiler": run([pair.compiler, "--version"]).splitlines()[0],
        "ok": ok,
        "sign": {},
    }
    if not pair.patches_tree:
        now["version"] = version_of(tree)
        now["sign"] = signatures(folder, tree, pair, {"openssl": library, **copies})
    print(f"{name}: {json.dumps(now)}")
    if pytestconfig.getoption("store"):
        store(STORED, name, now, tuple(PAIRS))
    else:
        assert_no_worse(now, before)


@pytest.mark.reads(*LIBRARY, "contrib/openssl/", "tests/systems/openssl")
@pytest.mark.parametrize(
    "without",
    [
        # Its searches for primes take two thirds of the time.
        pytest.param("test_gcd_prime", id="quick", marks=pytest.mark.slow),
        pytest.param("", id="all", marks=pytest.mark.long),
    ],
)
def test_openssls_tests_pass_with_the_finished_library_of_debian(
    without: str, tmp_path: pathlib.Path
) -> None:
    """The library is that of the package for armhf; its tests are compiled from source."""
    compiler, emulator = "arm-linux-gnueabihf-gcc", "qemu-arm"
    need(compiler, emulator)
    context = system_context()
    request = Request(("bookworm",), "armhf", ("libssl-dev",), exclude=("libssl3",))
    with skip_without("libssl-dev of Debian"):
        lock = debs.pinned(context, request, HERE / "libssl-dev-bookworm-armhf.lock", update=False)
        package = debs.unpacked(context, lock)
    tree = sources("3.0")
    (tmp_path / "test").mkdir()
    library = tmp_path / "libcrypto.a"
    shutil.copyfile(package / "usr/lib/arm-linux-gnueabihf/libcrypto.a", library)
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
        util.append(tmp_path / f"util-{source.stem}.o")
        run([compiler, *flags, source, "-o", util[-1]])
    run(["arm-linux-gnueabihf-ar", "rc", tmp_path / "test/libtestutil.a", *util])
    for test in TESTS:
        to = tmp_path / f"test/{test}-bin-{test}.o"
        run([compiler, *flags, tree / f"test/{test}.c", "-o", to])
    copy = patched(library, compiler)
    ok = try_tests(linked_tests(tmp_path, copy, compiler), tree, [emulator], without)
    print(f"{ok} tests and parts of tests say ok")
