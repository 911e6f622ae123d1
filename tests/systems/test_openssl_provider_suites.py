# SPDX-License-Identifier: MIT
"""The provider with the OpenSSLs of Debian's suites, from 3.0 to 4.0.

Each library is started by the loader that comes with it.
"""

import pathlib

import pytest
from processes import need, run, skip_without
from provider_module import FORGERY_ROUNDS, HERE, ROUNDS, run_with

from everycore.compile import debs
from everycore.compile.debs.lock import Request
from everycore.environment.context import system_context

pytestmark = pytest.mark.long
# Suites of Debian, others that complete them, and the package with libcrypto.
SUITES = (
    ("bookworm-security", ("bookworm",), "libssl3"),
    ("trixie-security", ("trixie",), "libssl3t64"),
    ("sid", (), "libssl3t64"),
    ("experimental", ("sid",), "libssl4"),
)


@pytest.fixture(scope="module", params=SUITES, ids=[suite for suite, _, _ in SUITES])
def root(request: pytest.FixtureRequest) -> pathlib.Path:
    """A folder with the library of a suite, and what it needs."""
    suite, others, package = request.param
    context = system_context()
    wanted = Request((suite, *others), debs.architecture_of(), (package,))
    lock = context.state_dir() / f"locks/provider-{suite}-{wanted.architecture}.lock"
    with skip_without(f"{package} of {suite}"):
        return debs.unpacked(context, debs.pinned(context, wanted, lock, update=False))


@pytest.mark.parametrize(
    ("program", "rounds"), [("forgeries", FORGERY_ROUNDS), ("compare", ROUNDS // 3)]
)
def test_the_provider_is_right_with_the_library_of_a_suite(
    program: str,
    rounds: int,
    root: pathlib.Path,
    provider: pathlib.Path,
    tmp_path: pathlib.Path,
) -> None:
    need("cc")
    library = next(root.glob("usr/lib/*/libcrypto.so.*"))
    loader = next(iter(sorted(root.glob("lib*/ld-linux*.so*"))))
    path = tmp_path / program
    link = [str(library), "-Wl,--allow-shlib-undefined", "-pthread"]
    run(["cc", "-O1", HERE / f"{program}.c", "-o", path, *link])
    words = [str(path), str(provider.parent), str(rounds), "1"]
    print(run_with(None, loader, "--library-path", library.parent, *words))
