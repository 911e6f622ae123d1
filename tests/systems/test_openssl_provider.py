# SPDX-License-Identifier: MIT
"""The provider for OpenSSL beside this system's OpenSSL; --module FILE names another everycore.so.

Every call beside the default provider's, what is not authentic in any order of calls, records and
connections of TLS, the installed files, a configuration that prefers another provider, and calls in
any order under sanitizers. tests/mutants/run --group provider plants faults in the provider, which
the comparison and the forgeries notice.
"""

import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import time

import pytest
from processes import ROOT, need, run
from provider_module import (
    FOLDER,
    FORGERY_ROUNDS,
    HERE,
    ROUNDS,
    WARNINGS,
    library_of,
    make_certificate,
    objects_of_module,
    run_with,
    write_configuration,
)
from reads import LIBRARY

pytestmark = pytest.mark.reads(
    *LIBRARY,
    "contrib/openssl/",
    "lab/everycore/commands/provider.py",
    "lab/everycore/openssl/",
    "tests/systems/provider",
)
NO_ENCRYPT_THEN_MAC = 0x80000  # SSL_OP_NO_ENCRYPT_THEN_MAC
CONNECTIONS = (
    ("TLSv1_3", "", 0),
    *(
        ("TLSv1_2", cipher, 0)
        for cipher in (
            "ECDHE-RSA-AES128-GCM-SHA256",
            "AES256-GCM-SHA384",
            "AES128-CCM",
            "AES256-CCM8",
        )
    ),
    *(
        ("TLSv1_2", cipher, options)
        for options in (0, NO_ENCRYPT_THEN_MAC)
        for cipher in ("AES128-SHA", "AES256-SHA256", "ECDHE-RSA-AES256-SHA384")
    ),
    ("TLSv1", "AES128-SHA", 0),
    ("TLSv1", "AES256-SHA", NO_ENCRYPT_THEN_MAC),
)


@pytest.fixture(scope="module")
def module(provider: pathlib.Path) -> pathlib.Path:
    need("cc", "openssl", "nm", "readelf")
    if not pathlib.Path("/etc/ssl/openssl.cnf").is_file():
        pytest.skip("no /etc/ssl/openssl.cnf: apt-get install openssl")
    return provider


@pytest.fixture
def seed() -> str:
    seed = str(int(time.time()))
    print(f"seed {seed}")
    return seed


def test_the_module_shows_one_function_and_needs_libc_alone(module: pathlib.Path) -> None:
    assert run(["nm", "-D", "--defined-only", module]).split()[2::3] == ["OSSL_provider_init"]
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", run(["readelf", "-d", module]))
    assert all(name.startswith("libc.so") for name in needed), needed


def test_every_call_is_answered_as_by_openssls_own(
    module: pathlib.Path, seed: str, tmp_path: pathlib.Path
) -> None:
    program = tmp_path / "compare"
    run(["cc", "-g", *WARNINGS, HERE / "compare.c", "-o", program, "-lcrypto", "-pthread"])
    print(run_with(None, program, module.parent, str(ROUNDS), seed))


def test_nothing_is_accepted_that_is_not_authentic(
    module: pathlib.Path, seed: str, tmp_path: pathlib.Path
) -> None:
    """Whatever libcrypto itself does with the same calls."""
    program = tmp_path / "forgeries"
    run(["cc", "-g", *WARNINGS, HERE / "forgeries.c", "-o", program, "-lcrypto"])
    print(run_with(None, program, module.parent, str(FORGERY_ROUNDS), seed))


def test_calls_in_any_order_are_clean_under_sanitizers(
    module: pathlib.Path, seed: str, tmp_path: pathlib.Path
) -> None:
    sanitizers = ("-g1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
    objects = objects_of_module(tmp_path, sorted((ROOT / FOLDER).glob("*.c")), *sanitizers)
    library = tmp_path / "everycore.so"
    run(["cc", "-shared", *sanitizers, "-o", library, *objects, library_of(module)])
    for name, rounds in (("orders", ROUNDS), ("compare", ROUNDS // 20)):
        program = tmp_path / name
        source = HERE / f"{name}.c"
        run(["cc", *WARNINGS, *sanitizers, source, "-o", program, "-lcrypto", "-pthread"])
        # OpenSSL keeps what it has loaded: no leaks.
        words = ("env", "ASAN_OPTIONS=detect_leaks=0", program, tmp_path, str(rounds), seed)
        print(run_with(None, *words))


# ---- Configurations ------------------------------------------------------------------------------


def test_the_configuration_activates_both_providers(
    module: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    configuration = write_configuration(tmp_path, module)
    active = run_with(configuration, "openssl", "list", "-providers")
    assert "everycore" in active
    assert "default" in active
    run_with(configuration, "openssl", "rand", "16")


KINDS = {"-cipher-algorithms": 23, "-mac-algorithms": 1, "-kdf-algorithms": 0}


@pytest.mark.parametrize(("kind", "least"), KINDS.items())
def test_our_algorithms_have_the_names_of_openssls_own(
    kind: str, least: int, module: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    configuration = write_configuration(tmp_path, module)
    names = run_with(configuration, "openssl", "list", kind)
    ours = re.findall(r"^ *(.*) @ everycore$", names, re.M)
    assert len(ours) >= least
    assert not [algorithm for algorithm in ours if f"{algorithm} @ default\n" not in names]


def test_status_names_all_of_our_algorithms(module: pathlib.Path, tmp_path: pathlib.Path) -> None:
    configuration = write_configuration(tmp_path, module)
    served = {name.lower(): whose for name, whose in served_under(configuration).items()}
    for kind in KINDS:
        listed = run_with(configuration, "openssl", "list", kind)
        for ours in re.findall(r"^ *(.*) @ everycore$", listed, re.M):
            names = ours.strip("{ }").lower().split(", ")
            assert [name for name in names if served.get(name) == "everycore"], ours


def test_what_is_encrypted_with_us_is_decrypted_without_us(
    module: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    configuration = write_configuration(tmp_path, module)
    text = os.urandom(100000)
    sealed = run_openssl_enc(configuration, text, "-e")
    assert run_openssl_enc(None, sealed, "-d") == text


@pytest.mark.usefixtures("module")
def test_openssl_works_without_the_module_that_its_configuration_names(
    tmp_path: pathlib.Path,
) -> None:
    gone = write_configuration(tmp_path, tmp_path / "not-there.so")
    run_with(gone, "openssl", "rand", "16")
    assert "everycore" not in run_with(gone, "openssl", "list", "-providers")


# A query that a configuration has, whether the other provider has AES-256-GCM, and who serves
# AES-256-GCM and AES-128-GCM then; or what `enable` says when it refuses.
PREFERENCES = (
    ("", True, ("everycore", "everycore")),
    ("?provider=other", False, ("everycore", "everycore")),
    ("?provider=other", True, ("other", "everycore")),
    ("? provider = other , ?x.y=1", True, ("other", "everycore")),
    ("provider!=other", True, ("everycore", "everycore")),
    ("fips=no", True, ("everycore", "everycore")),
    ("?provider=everycore", True, ("everycore", "everycore")),
    ("?fips=yes", False, ("everycore", "everycore")),
    ("?provider=default", False, "remove ?provider=default"),
    ("provider=default", False, "remove provider=default"),
    ("provider=other", False, "write ?provider=other"),
    ("fips=yes", False, "demands fips=yes"),
    ("?provider=other,?provider=default", False, "more than once"),
)


@pytest.mark.parametrize(("query", "has_aes", "expected"), PREFERENCES)
def test_enable_keeps_the_preference_of_another_provider_or_names_its_line(
    query: str,
    has_aes: bool,
    expected: str | tuple[str, str],
    module: pathlib.Path,
    tmp_path: pathlib.Path,
) -> None:
    other = tmp_path / "other.so"
    has = ["-DHAS_AES"] if has_aes else []
    run(["cc", "-shared", "-fPIC", *WARNINGS, *has, HERE / "other.c", "-o", other])
    base = tmp_path / "base.cnf"
    base.write_text(f"""openssl_conf = init
[init]
providers = providers
alg_section = algorithms
[providers]
other = other_module
default = activated
[activated]
activate = 1
[other_module]
module = {other}
activate = 1
[algorithms]
default_properties = {query}
""")
    said, served = enabled(base, module, tmp_path / "everycore.cnf")
    if not query:  # the other provider is activated first
        assert "everycore takes AES-256-GCM from 'other'" in said
    if isinstance(expected, str):
        assert f"{base}:14: default_properties = {query}" in said
        assert expected in said
        assert not served
    else:
        assert served == expected, said


def enabled(
    base: pathlib.Path, module: pathlib.Path, out: pathlib.Path
) -> tuple[str, tuple[str, str] | None]:
    """Return what `everycore provider enable` says, and who serves AES-256-GCM and AES-128-GCM
    then; None: refused.
    """
    command = [sys.executable, "-m", "everycore", "provider"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "lab"), "OPENSSL_CONF": str(base)}
    words = [*command, "enable", "--module", str(module), "--out", str(out)]
    done = subprocess.run(
        words, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    if done.returncode != 0:
        return " ".join(done.stderr.split()), None
    served = served_under(out)
    return done.stdout, (served["AES-256-GCM"], served["AES-128-GCM"])


def served_under(configuration: pathlib.Path) -> dict[str, str]:
    """Return what `everycore provider status` says: who serves each algorithm."""
    said = run_with(
        configuration,
        *("env", f"PYTHONPATH={ROOT / 'lab'}", sys.executable, "-m", "everycore"),
        *("provider", "status", "--json"),
    )
    return dict(json.loads(said)["providers"])


def run_openssl_enc(configuration: pathlib.Path | None, text: bytes, direction: str) -> bytes:
    environment = {**os.environ, "OPENSSL_CONF": str(configuration or "/etc/ssl/openssl.cnf")}
    return subprocess.run(
        ["openssl", "enc", "-aes-256-cbc", direction, "-K", "11" * 32, "-iv", "22" * 16],
        input=text,
        env=environment,
        capture_output=True,
        check=True,
    ).stdout


# ---- TLS -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def certificate(module: pathlib.Path, tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A folder with a certificate and its key."""
    del module
    folder = tmp_path_factory.mktemp("certificate")
    make_certificate(folder)
    return folder


@pytest.mark.parametrize(("number", "connection"), list(enumerate(CONNECTIONS)))
def test_one_side_of_a_tls_connection_has_the_provider_and_the_other_has_not(
    number: int, connection: tuple[str, str, int], certificate: pathlib.Path, module: pathlib.Path
) -> None:
    configurations: dict[str, pathlib.Path | None] = {"server": None, "client": None}
    configurations["server" if number % 2 else "client"] = write_configuration(certificate, module)
    connect(certificate, configurations, connection)


def connect(
    folder: pathlib.Path,
    configurations: dict[str, pathlib.Path | None],
    connection: tuple[str, str, int],
) -> None:
    """Make a connection of two processes, which use the providers of their configurations."""
    version, cipher, options = connection
    sockets = socket.socketpair()
    peers = []
    for side, end in zip(("server", "client"), sockets, strict=True):
        configuration = configurations[side]
        environment = {**os.environ, "OPENSSL_CONF": str(configuration or "/etc/ssl/openssl.cnf")}
        words = [
            sys.executable,
            str(HERE / "tls_peer.py"),
            str(end.fileno()),
            side,
            version,
            cipher,
            hex(options),
            str(folder),
        ]
        peers.append(
            subprocess.Popen(
                words,
                env=environment,
                pass_fds=[end.fileno()],
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
        )
        end.close()
    said = [peer.communicate(timeout=120)[0] for peer in peers]
    for side, peer, text in zip(("server", "client"), peers, said, strict=True):
        whose = "everycore" if configurations[side] else "default"
        if peer.returncode or text.split()[-1:] != [whose]:
            pytest.fail(f"{version} {cipher} {options:#x}: {side} ({whose}): {text[-1000:]}")
