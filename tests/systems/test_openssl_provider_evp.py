# SPDX-License-Identifier: MIT
"""OpenSSL's own tests and Wycheproof's vectors, with the provider and without it.

evp_test of OpenSSL 3.0 runs with this system's library, those of 3.5, 3.6 and 4.0 with libraries
built from Debian's sources, also OpenSSL's tests of TLS. Wycheproof's vectors go through Python's
package cryptography, which has an OpenSSL inside.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest
from openssl_builds import sources
from processes import FailedError, need, run, skip_without
from provider_module import (
    BUILD,
    FORGERY_ROUNDS,
    HERE,
    ROUNDS,
    Words,
    evp_configuration,
    run_with,
)

from everycore.compile import crates
from everycore.environment.context import system_context
from everycore.run import wycheproof

pytestmark = pytest.mark.long
# Files of evp_test that name our algorithms, or use them below others: CTR in random generators,
# CBC and ECB in key wrap.
DATA = (
    "evpciph_aes_common",
    "evpciph_aes_ccm_cavs",
    "evpmac_common",
    "evpmac_cmac_des",
    "evprand",
    "evpciph_aes_cts",
    "evpciph_aes_siv",
    "evpciph_aes_wrap",
    "evpciph_aes_ocb",
    "evpciph_aes_stitched",
    "evpkdf_krb5",
    "evpkdf_ss",
    "evpciph_aes_gcm_siv",
    "evpkdf_hkdf",
    "evpkdf_pbkdf2",
    "evpkdf_tls13_kdf",
    "evppkey_kdf_hkdf",
)
VERSIONS = ("3.0", "3.5", "3.6", "4.0")


def system_evp_test(folder: pathlib.Path) -> pathlib.Path:
    """Build evp_test of the sources for the system's shared library of the same version."""
    tree = sources("3.0")
    if not re.match(r"OpenSSL 3\.0\.", run(["openssl", "version"])):
        pytest.skip("this system's OpenSSL is not 3.0")
    flags = ["-O1", "-w", f"-I{tree / 'include'}", f"-I{tree}", f"-I{tree / 'apps/include'}", "-c"]
    util = []
    for source in (*sorted((tree / "test/testutil").glob("*.c")), tree / "apps/lib/opt.c"):
        util.append(folder / f"{source.stem}.o")
        run(["cc", *flags, source, "-o", util[-1]])
    run(["ar", "rc", folder / "util.a", *util])
    run(["cc", *flags, tree / "test/evp_test.c", "-o", folder / "evp_test.o"])
    run(
        [
            "cc",
            "-o",
            folder / "evp_test",
            folder / "evp_test.o",
            folder / "util.a",
            "-lssl",
            "-lcrypto",
        ]
    )
    return folder / "evp_test"


def built_tests(version: str) -> pathlib.Path:
    """Return a folder in which OpenSSL was built from Debian's sources, with the tests."""
    need("perl", "make", "cc")
    folder = BUILD.with_name("openssl") / f"{version}-provider"
    if (folder / "complete").is_file():
        return folder
    tree = sources(version)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    run(["perl", tree / "Configure", "linux-x86_64", "no-shared", "no-docs", "-O1"], folder)
    run(["make", "build_generated"], folder)
    tests = [f"test/{name}" for name in ("libtestutil.a", "evp_test", "ssl_test", "sslapitest")]
    run(["make", "-j2", "libcrypto.a", "libssl.a", *tests], folder)
    (folder / "complete").touch()
    return folder


def run_evp_test(
    program: pathlib.Path, data: pathlib.Path, configuration: pathlib.Path
) -> tuple[int, int]:
    """Return how many tests were run, and how many were skipped."""
    said = run([program, "-config", configuration, data])
    found = re.search(r"Completed (\d+) tests with 0 errors and (\d+) skipped", said)
    if not found or re.search(r"^\s*not ok", said, re.M):
        raise FailedError(f"{data.name}: {said[-1500:]}")
    return int(found[1]), int(found[2])


@pytest.fixture(scope="module")
def folder(provider: pathlib.Path, tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A folder with two configurations for OpenSSL's tests, with the provider and without it."""
    if os.uname().machine != "x86_64":
        pytest.skip("OpenSSL's tests are built for x86-64 only")
    folder = tmp_path_factory.mktemp("evp")
    evp_configuration(folder, provider)
    (folder / "default.cnf").write_text("")
    return folder


@pytest.fixture(scope="module")
def evp_tests(folder: pathlib.Path) -> dict[str, pathlib.Path]:
    """The programs evp_test that are built, by version."""
    del folder
    return {}


@pytest.mark.parametrize(
    ("version", "title"), [(version, title) for version in VERSIONS for title in DATA]
)
def test_evp_test_passes_and_skips_as_without_the_provider(
    version: str, title: str, folder: pathlib.Path, evp_tests: dict[str, pathlib.Path]
) -> None:
    data = sources(version) / f"test/recipes/30-test_evp_data/{title}.txt"
    if not data.is_file():
        pytest.skip(f"OpenSSL {version} has no {data.name}")
    if version not in evp_tests:
        evp_tests[version] = (
            system_evp_test(folder) if version == "3.0" else built_tests(version) / "test/evp_test"
        )
    with_us, without_us = (
        run_evp_test(evp_tests[version], data, folder / name)
        for name in ("everycore.cnf", "default.cnf")
    )
    assert with_us == without_us
    assert with_us[0]


@pytest.mark.parametrize("version", VERSIONS[1:])
@pytest.mark.parametrize(("name", "rounds"), [("compare", ROUNDS), ("forgeries", FORGERY_ROUNDS)])
def test_a_program_of_ours_finds_no_difference_to_openssl_of_a_version(
    name: str, rounds: int, version: str, folder: pathlib.Path, provider: pathlib.Path
) -> None:
    built, tree, program = built_tests(version), sources(version), folder / f"{name}-{version}"
    includes = [f"-I{built / 'include'}", f"-I{tree / 'include'}"]
    libraries: Words = [built / "libcrypto.a", "-ldl", "-pthread"]
    run(["cc", "-g", "-O1", "-w", *includes, HERE / f"{name}.c", "-o", program, *libraries])
    print(run_with(None, program, provider.parent, str(rounds), "1"))


# ---- TLS -----------------------------------------------------------------------------------------


def tls_environment(tree: pathlib.Path) -> dict[str, str]:
    """Return the environment of OpenSSL's tests of TLS, as their recipes have it."""
    return {
        **os.environ,
        "TEST_CERTS_DIR": str(tree / "test/certs"),
        "CTLOG_FILE": str(tree / "test/ct/log_list.cnf"),
        # The configuration is an argument, for a context of its own.
        "OPENSSL_CONF": os.devnull,
    }


@pytest.mark.parametrize("version", VERSIONS[1:])
def test_sslapitest_passes(version: str, folder: pathlib.Path) -> None:
    tree = sources(version)
    data = tree / "test/recipes/90-test_sslapi_data"
    words: Words = [
        built_tests(version) / "test/sslapitest",
        tree / "test/certs",
        data / "passwd.txt",
        folder / "session",
        "default",
        folder / "everycore.cnf",
        data / "dhparams.pem",
    ]
    assert tap(words, tls_environment(tree), folder)


@pytest.mark.parametrize("version", VERSIONS[1:])
def test_ssl_test_passes_where_it_does_without_the_provider(
    version: str, folder: pathlib.Path
) -> None:
    """Files that need what this build leaves out fail by themselves."""
    tree = sources(version)
    program = built_tests(version) / "test/ssl_test"
    environment = tls_environment(tree)
    count = 0
    for conf in sorted((tree / "test/ssl-tests").glob("*.cnf")):
        words: Words = [program, conf, "default"]
        try:
            count += tap([*words, folder / "everycore.cnf"], environment, folder)
        except FailedError as failure:
            try:
                tap([*words, tree / "test/default.cnf"], environment, folder)
            except FailedError:
                continue
            raise failure from None
    assert count


def tap(words: Words, environment: dict[str, str], folder: pathlib.Path) -> int:
    """Count the tests and parts of tests that say ok."""
    done = subprocess.run(
        words,
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=1800,
        check=False,
    )
    if done.returncode or re.search(r"^\s*not ok", done.stdout, re.M):
        lines = [line for line in done.stdout.splitlines() if "not ok" in line]
        raise FailedError(
            f"{' '.join(map(str, words))}: {' | '.join(lines[:5])} {done.stderr[-800:]}"
        )
    return len(re.findall(r"^\s*ok ", done.stdout, re.M))


# ---- Wycheproof ----------------------------------------------------------------------------------


def test_the_package_cryptography_answers_wycheproof_as_without_the_provider(
    provider: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    pytest.importorskip("cryptography", reason="no Python package cryptography: make lab")
    with skip_without("vectors of Wycheproof"):
        names = [f"src/data/{name}" for name in wycheproof.FORMATS]
        files = crates.files(system_context(), wycheproof.CRATE, names)
    configuration = evp_configuration(tmp_path, provider)
    words: Words = [sys.executable, HERE / "wycheproof.py", *files]
    with_us = json.loads(run_with(configuration, *words))
    without_us = json.loads(run_with(None, *words))
    # The package has the provider that its configuration names.
    assert with_us.pop("provider") == "everycore"
    assert without_us.pop("provider") == "default"
    assert with_us == without_us
