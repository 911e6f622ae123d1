#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The provider for OpenSSL beside OpenSSL's own: test_openssl_provider.py [--module FILE] PART...

`native`: with this system's OpenSSL: every call beside the default provider's, what is not
authentic in any order of calls, records and connections of TLS, the installed files, a
configuration that prefers another provider, and calls in any order under sanitizers. `suites`: the
first two with the OpenSSLs of Debian's suites, from 3.0 to 4.0. `evp-3.0`: OpenSSL's own evp_test
with this system's library; `evp-3.5`, `evp-3.6`, `evp-4.0`: with libraries built from Debian's
sources, also OpenSSL's tests of TLS. `wycheproof`: its vectors through Python's package
cryptography, which has an OpenSSL inside. `programs`: nginx, curl, ssh and sshd on the loopback
address. `transfer`: CPU time of nginx and curl with the provider and without. tests/mutants/run
--group provider plants faults in the provider, which the first two of `native` notice.

--module: an everycore.so that is there; else that of build/gcc, or one is built in build/provider.
"""

import argparse
import contextlib
import hashlib
import json
import os
import pathlib
import pwd
import re
import resource
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator

from test_patched_openssl import FailedError, LackingError, need, run, sources

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = ROOT / "tests/systems/provider"
Words = list[str | pathlib.Path]  # a command
BUILD = ROOT / "build/provider"
FOLDER = pathlib.Path("contrib/openssl/provider")
ROUNDS = 60000
FORGERY_ROUNDS = 1000
# Suites of Debian, others that complete them, and the package with libcrypto.
SUITES = (
    ("bookworm-security", ("bookworm",), "libssl3"),
    ("trixie-security", ("trixie",), "libssl3t64"),
    ("sid", (), "libssl3t64"),
    ("experimental", ("sid",), "libssl4"),
)
TRANSFER_BYTES, TRANSFER_ROUNDS = 2 << 30, 3
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


# ---- The module and configurations ---------------------------------------------------------------


def module_of(given: pathlib.Path | None) -> pathlib.Path:
    if given:
        return given.resolve()
    made = ROOT / "build/gcc" / FOLDER / "everycore.so"
    if made.is_file():
        return made
    need("meson", "ninja", "pkg-config")
    if subprocess.run(["pkg-config", "--atleast-version=3.0", "openssl"], check=False).returncode:
        raise LackingError("no headers of OpenSSL 3.0 or newer (libssl-dev)")
    if not (BUILD / "build.ninja").is_file():
        run(["meson", "setup", BUILD, "-Dprovider=enabled", "-Dtests=disabled", "-Ddebug=false"])
    run(["ninja", "-C", BUILD])
    return BUILD / FOLDER / "everycore.so"


def write_configuration(folder: pathlib.Path, module: pathlib.Path) -> pathlib.Path:
    """The configuration that Meson makes of our snippet, for a module at another place."""
    text = (ROOT / FOLDER / "everycore.cnf.in").read_text()
    path = folder / "everycore.cnf"
    for name, value in (
        ("CONFIGURATION", path),
        ("MODULE", module),
        ("SYSTEM", "/etc/ssl/openssl.cnf"),
    ):
        text = text.replace(f"@{name}@", str(value))
    path.write_text(text)
    return path


def run_with(
    configuration: pathlib.Path | None, *words: str | pathlib.Path, stdin: bytes = b""
) -> str:
    """Return what a program prints under a configuration; none: the system's."""
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("OPENSSL_")
    }
    if configuration:
        environment["OPENSSL_CONF"] = str(configuration)
    done = subprocess.run(
        words, env=environment, input=stdin, capture_output=True, timeout=1800, check=False
    )
    if done.returncode:
        raise FailedError(
            f"{' '.join(map(str, words))} ended with {done.returncode}: "
            f"{(done.stdout + done.stderr)[-1500:].decode(errors='replace')}"
        )
    return done.stdout.decode(errors="replace")


# ---- With this system's OpenSSL ------------------------------------------------------------------


def check_symbols(module: pathlib.Path) -> str:
    """The module shows one function, and needs the C library alone."""
    shown = run(["nm", "-D", "--defined-only", module]).split()
    if shown[2::3] != ["OSSL_provider_init"]:
        raise FailedError(f"{module} shows {shown[2::3]}")
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", run(["readelf", "-d", module]))
    if any(not name.startswith("libc.so") for name in needed):
        raise FailedError(f"{module} needs {needed}")
    return "the module shows one function and needs libc alone"


def compare(module: pathlib.Path) -> str:
    with tempfile.TemporaryDirectory() as name:
        program = pathlib.Path(name) / "compare"
        run(
            [
                "cc",
                "-O1",
                "-g",
                "-Wall",
                "-Wextra",
                "-Werror",
                HERE / "compare.c",
                "-o",
                program,
                "-lcrypto",
                "-pthread",
            ]
        )
        seed = str(int(time.time()))
        return run_with(None, program, module.parent, str(ROUNDS), seed).strip() + f" (seed {seed})"


def refuse_forgeries(module: pathlib.Path) -> str:
    """Nothing that is not authentic is accepted, whatever libcrypto itself does with the same
    calls.
    """
    with tempfile.TemporaryDirectory() as name:
        program = pathlib.Path(name) / "forgeries"
        run(
            [
                "cc",
                "-O1",
                "-g",
                "-Wall",
                "-Wextra",
                "-Werror",
                HERE / "forgeries.c",
                "-o",
                program,
                "-lcrypto",
            ]
        )
        seed = str(int(time.time()))
        return (
            run_with(None, program, module.parent, str(FORGERY_ROUNDS), seed).strip()
            + f" (seed {seed})"
        )


def suites(module: pathlib.Path) -> Iterator[str]:
    """Both tests above with libraries of other suites, which are started by the loader that comes
    with them.
    """
    from everycore.compile import debs
    from everycore.compile.debs.lock import Request
    from everycore.environment.context import system_context
    from everycore.environment.errors import EverycoreError

    need("cc")
    context = system_context()
    for suite, others, package in SUITES:
        request = Request((suite, *others), debs.architecture_of(), (package,))
        lock = context.state_dir() / f"locks/provider-{suite}-{request.architecture}.lock"
        try:
            pinned = debs.pinned(context, request, lock, update=False)
            root = debs.unpacked(context, pinned)
        except EverycoreError as error:
            raise LackingError(f"no {package} of {suite}: {error.message}") from error
        version = next(one.version for one in pinned.packages if one.name == package)
        library = next(root.glob("usr/lib/*/libcrypto.so.*"))
        loader = next(iter(sorted(root.glob("lib*/ld-linux*.so*"))))
        with tempfile.TemporaryDirectory() as name:
            for title, rounds in (("forgeries", FORGERY_ROUNDS), ("compare", ROUNDS // 3)):
                program = pathlib.Path(name) / title
                run(
                    [
                        "cc",
                        "-O1",
                        HERE / f"{title}.c",
                        "-o",
                        program,
                        library,
                        "-Wl,--allow-shlib-undefined",
                        "-pthread",
                    ]
                )
                words: Words = [
                    loader,
                    "--library-path",
                    library.parent,
                    program,
                    module.parent,
                    str(rounds),
                    "1",
                ]
                yield f"OpenSSL {version} of {suite}: {run_with(None, *words).strip()}"


def objects_of_module(
    folder: pathlib.Path, sources: list[pathlib.Path], *flags: str
) -> list[str | pathlib.Path]:
    """Compile sources of the provider to objects in a folder."""
    words = [
        "cc",
        "-std=gnu11",
        "-O1",
        "-fPIC",
        "-w",
        f"-I{ROOT / 'include'}",
        f"-I{ROOT / 'src'}",
        *flags,
        "-c",
    ]
    objects: list[str | pathlib.Path] = []
    for source in sources:
        objects.append(folder / f"{source.stem}.o")
        run([*words, source, "-o", objects[-1]])
    return objects


def library_of(module: pathlib.Path) -> pathlib.Path:
    """The static library of the build that made the module."""
    library = module.parents[3] / "libeverycore.a"
    if not library.is_file():
        raise LackingError(f"no {library}")
    return library


def check_orders(module: pathlib.Path) -> str:
    """Calls in any order and of any length, with a provider that is built with sanitizers."""
    sanitizers = ("-g1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        objects = objects_of_module(folder, sorted((ROOT / FOLDER).glob("*.c")), *sanitizers)
        run(
            [
                "cc",
                "-shared",
                *sanitizers,
                "-o",
                folder / "everycore.so",
                *objects,
                library_of(module),
            ]
        )
        program = folder / "orders"
        run(
            [
                "cc",
                "-O1",
                "-Wall",
                "-Wextra",
                "-Werror",
                *sanitizers,
                HERE / "orders.c",
                "-o",
                program,
                "-lcrypto",
            ]
        )
        seed = str(int(time.time()))
        # OpenSSL keeps what it has loaded: no leaks.
        words = ("env", "ASAN_OPTIONS=detect_leaks=0", program, folder, str(ROUNDS), seed)
        return run_with(None, *words).strip() + f" (seed {seed})"


def check_configuration(module: pathlib.Path) -> str:
    """The snippet keeps the default provider, and OpenSSL works with it; without the module it
    works too.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        configuration = write_configuration(folder, module)
        active = run_with(configuration, "openssl", "list", "-providers")
        if "everycore" not in active or "default" not in active:
            raise FailedError(f"not both providers are active: {active}")
        for kind, least in (("-cipher-algorithms", 17), ("-mac-algorithms", 1)):
            names = run_with(configuration, "openssl", "list", kind)
            ours = re.findall(r"^ *(.*) @ everycore$", names, re.M)
            others = [one for one in ours if f"{one} @ default\n" not in names]
            if others or len(ours) < least:
                raise FailedError(
                    f"openssl list {kind}: {len(ours)} of ours; OpenSSL's own do not have the "
                    f"names {others}"
                )
        text = os.urandom(100000)
        sealed = run_openssl_enc(configuration, text, "-e")
        if run_openssl_enc(None, sealed, "-d") != text:
            raise FailedError("openssl enc with us is not decrypted without us")
        run_with(configuration, "openssl", "rand", "16")
        gone = write_configuration(folder, folder / "not-there.so")
        run_with(gone, "openssl", "rand", "16")
        if "everycore" in run_with(gone, "openssl", "list", "-providers"):
            raise FailedError("a module that is not there is said to be active")
    return "the configuration activates both providers, and a missing module leaves the default one"


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


def check_preferences(module: pathlib.Path) -> str:
    """`everycore provider enable` beside a configuration that prefers another provider: that stays,
    or a line is named.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for query, has_aes, expected in PREFERENCES:
            other = folder / f"other{int(has_aes)}.so"
            if not other.exists():
                run(
                    [
                        "cc",
                        "-shared",
                        "-fPIC",
                        "-Wall",
                        "-Wextra",
                        "-Werror",
                        *(["-DHAS_AES"] if has_aes else []),
                        HERE / "other.c",
                        "-o",
                        other,
                    ]
                )
            base = folder / "base.cnf"
            base.write_text(
                "openssl_conf = init\n[init]\nproviders = providers\nalg_section = "
                "algorithms\n[providers]\n"
                f"other = other_module\ndefault = activated\n[activated]\nactivate = "
                f"1\n[other_module]\nmodule = {other}\n"
                f"activate = 1\n[algorithms]\ndefault_properties = {query}\n"
            )
            said, served = enabled(base, module, folder / "everycore.cnf")
            if not query and "everycore takes AES-256-GCM from 'other'" not in said:
                raise FailedError(
                    f"enable takes AES from a provider that is activated first, and says: {said}"
                )
            if isinstance(expected, str):
                if (
                    f"{base}:14: default_properties = {query}" not in said
                    or expected not in said
                    or served
                ):
                    raise FailedError(
                        f"enable beside {query} does not name the line and '{expected}': {said}"
                    )
            elif served != expected:
                raise FailedError(
                    f"enabled beside {query}, AES is from {served}, and not from {expected}: {said}"
                )
    return (
        f"{len(PREFERENCES)} preferences of other providers are kept, or named where they "
        f"leave us nothing"
    )


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
    environment["OPENSSL_CONF"] = str(out)
    asked = subprocess.run(
        [*command, "status", "--json"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    providers = json.loads(asked.stdout)["providers"]
    return done.stdout, (providers["AES-256-GCM"], providers["AES-128-GCM"])


def run_openssl_enc(configuration: pathlib.Path | None, text: bytes, direction: str) -> bytes:
    environment = {**os.environ, "OPENSSL_CONF": str(configuration or "/etc/ssl/openssl.cnf")}
    return subprocess.run(
        ["openssl", "enc", "-aes-256-cbc", direction, "-K", "11" * 32, "-iv", "22" * 16],
        input=text,
        env=environment,
        capture_output=True,
        check=True,
    ).stdout


def make_certificate(folder: pathlib.Path) -> None:
    run_with(
        None,
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-keyout",
        folder / "key.pem",
        "-out",
        folder / "certificate.pem",
        "-days",
        "2",
        "-subj",
        "/CN=localhost",
        "-addext",
        "subjectAltName=IP:127.0.0.1,DNS:localhost",
    )


def connect(
    folder: pathlib.Path,
    configurations: dict[str, pathlib.Path | None],
    connection: tuple[str, str, int],
) -> str:
    """A connection of two processes. Returns what it used."""
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
            raise FailedError(f"{version} {cipher} {options:#x}: {side} ({whose}): {text[-1000:]}")
    return " ".join(said[0].split()[-3:-1])


def check_tls(module: pathlib.Path) -> str:
    """Connections of which one side has the provider, and the other has not."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        make_certificate(folder)
        ours = write_configuration(folder, module)
        for number, connection in enumerate(CONNECTIONS):
            with_us = "server" if number % 2 else "client"
            connect(folder, {"server": None, "client": None, with_us: ours}, connection)
    return f"{len(CONNECTIONS)} kinds of TLS connections between the provider and OpenSSL's own"


def native(module: pathlib.Path) -> Iterator[str]:
    need("cc", "openssl", "nm", "readelf")
    if not pathlib.Path("/etc/ssl/openssl.cnf").is_file():
        raise LackingError("no /etc/ssl/openssl.cnf")
    for check in (
        check_symbols,
        compare,
        refuse_forgeries,
        check_configuration,
        check_preferences,
        check_tls,
        check_orders,
    ):
        yield check(module)


# ---- OpenSSL's own tests -------------------------------------------------------------------------


def evp_configuration(folder: pathlib.Path, module: pathlib.Path) -> pathlib.Path:
    """As our snippet, without the system's file: OpenSSL's tests shall run alike on any machine."""
    path = write_configuration(folder, module)
    lines = [line for line in path.read_text().splitlines() if not line.startswith(".include")]
    path.write_text("\n".join(["openssl_conf = openssl_init", *lines]) + "\n")
    return path


def system_evp_test(folder: pathlib.Path) -> pathlib.Path:
    """evp_test of the sources, compiled for the system's shared library of the same version."""
    tree = sources("3.0")
    if not re.match(r"OpenSSL 3\.0\.", run(["openssl", "version"])):
        raise LackingError("this system's OpenSSL is not 3.0")
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
    """A folder in which OpenSSL was built from Debian's sources, with the tests."""
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


def evp(version: str, module: pathlib.Path) -> Iterator[str]:
    if not module.is_file() or os.uname().machine != "x86_64":
        raise LackingError("OpenSSL's tests are built for x86-64")
    tree = sources(version)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        program = (
            system_evp_test(folder) if version == "3.0" else built_tests(version) / "test/evp_test"
        )
        ours = evp_configuration(folder, module)
        theirs = folder / "default.cnf"
        theirs.write_text("")
        for title in DATA:
            data = tree / f"test/recipes/30-test_evp_data/{title}.txt"
            if not data.is_file():
                continue
            with_us, without_us = (
                run_evp_test(program, data, configuration) for configuration in (ours, theirs)
            )
            if with_us != without_us or not with_us[0]:
                raise FailedError(
                    f"{title}: {with_us} tests and skips, without the provider {without_us}"
                )
            yield (
                f"{version} {title}: {with_us[0]} tests, {with_us[1]} skipped as without the "
                f"provider"
            )
        if version != "3.0":
            yield from tls_tests(version, tree, folder, ours)


def tls_tests(
    version: str, tree: pathlib.Path, folder: pathlib.Path, configuration: pathlib.Path
) -> Iterator[str]:
    """OpenSSL's tests of TLS, as their recipes call them."""
    programs = built_tests(version) / "test"
    environment = {
        **os.environ,
        "TEST_CERTS_DIR": str(tree / "test/certs"),
        "CTLOG_FILE": str(tree / "test/ct/log_list.cnf"),
        # The configuration is an argument, for a context of its own.
        "OPENSSL_CONF": os.devnull,
    }
    data = tree / "test/recipes/90-test_sslapi_data"
    words: Words = [
        programs / "sslapitest",
        tree / "test/certs",
        data / "passwd.txt",
        folder / "session",
        "default",
        configuration,
        data / "dhparams.pem",
    ]
    count = tap([*words], environment, folder)
    yield f"{version} sslapitest: {count} tests and parts of tests"
    count = 0
    differ = []  # files that need what this build leaves out fail by themselves
    for conf in sorted((tree / "test/ssl-tests").glob("*.cnf")):
        try:
            count += tap(
                [programs / "ssl_test", conf, "default", configuration], environment, folder
            )
        except FailedError as failure:
            try:
                tap(
                    [programs / "ssl_test", conf, "default", tree / "test/default.cnf"],
                    environment,
                    folder,
                )
            except FailedError:
                differ.append(conf.name)
                continue
            raise failure from None
    if not count:
        raise FailedError(f"no file of ssl_test succeeds: {' '.join(differ)}")
    yield (
        f"{version} ssl_test: {count} tests and parts of tests; fail without the provider "
        f"too: {' '.join(differ) or 'none'}"
    )


def tap(words: list[str | pathlib.Path], environment: dict[str, str], folder: pathlib.Path) -> int:
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


def wycheproof(module: pathlib.Path) -> Iterator[str]:
    from everycore.compile import crates
    from everycore.environment.context import system_context
    from everycore.environment.errors import EverycoreError
    from everycore.run import wycheproof as vectors

    if subprocess.run(
        [sys.executable, "-c", "import cryptography"], capture_output=True, check=False
    ).returncode:
        raise LackingError("no Python package cryptography")
    try:
        names = [f"src/data/{name}" for name in vectors.FORMATS]
        files = crates.files(system_context(), vectors.CRATE, names)
    except EverycoreError as error:
        raise LackingError(f"no vectors of Wycheproof: {error.message}") from error
    with tempfile.TemporaryDirectory() as name:
        configuration = evp_configuration(pathlib.Path(name), module)
        words: Words = [sys.executable, HERE / "wycheproof.py", *files]
        with_us = json.loads(run_with(configuration, *words))
        without_us = json.loads(run_with(None, *words))
    if with_us.pop("provider") != "everycore" or without_us.pop("provider") != "default":
        raise FailedError("the package does not have the provider that its configuration names")
    if with_us != without_us:
        raise FailedError(f"with the provider {with_us}, without it {without_us}")
    yield f"Wycheproof: {json.dumps(with_us)}"


# ---- Programs ------------------------------------------------------------------------------------


@contextlib.contextmanager
def server(
    words: list[str | pathlib.Path], port: int, configuration: pathlib.Path | None
) -> Iterator[int]:
    """A server that answers at a port of the loopback address, while the block runs; its process
    id.
    """
    environment = {**os.environ, "OPENSSL_CONF": str(configuration or "/etc/ssl/openssl.cnf")}
    process = subprocess.Popen(
        words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    try:
        for _ in range(100):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            if process.poll() is not None:
                raise FailedError(
                    f"{words[0]} ended: {process.communicate()[0][-800:].decode(errors='replace')}"
                )
            time.sleep(0.1)
        yield process.pid
    finally:
        process.terminate()
        process.wait(20)


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def nginx_command(folder: pathlib.Path, port: int) -> list[str | pathlib.Path]:
    """Write a configuration for files of folder/www, and return the command of the server."""
    (folder / "www").mkdir()
    (folder / "nginx.conf").write_text(f"""
daemon off; master_process off; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{}}
http {{ access_log off; client_body_temp_path {folder}/b; proxy_temp_path {folder}/p;
 fastcgi_temp_path {folder}/f;
 uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
 server {{ listen 127.0.0.1:{port} ssl;
  ssl_certificate {folder}/certificate.pem; ssl_certificate_key {folder}/key.pem;
  ssl_protocols TLSv1.2 TLSv1.3; root {folder}/www; }} }}
""")
    return [shutil.which("nginx") or "/usr/sbin/nginx", "-p", folder, "-c", folder / "nginx.conf"]


def nginx(folder: pathlib.Path, configuration: pathlib.Path, text: bytes) -> str:
    port = free_port()
    command = nginx_command(folder, port)
    (folder / "www/file").write_bytes(text)
    fetch = [
        "curl",
        "-sS",
        "--cacert",
        str(folder / "certificate.pem"),
        f"https://127.0.0.1:{port}/file",
    ]
    for of_server, of_client in (
        (configuration, None),
        (None, configuration),
        (configuration, configuration),
    ):
        with server(command, port, of_server) as process:
            maps = pathlib.Path(f"/proc/{process}/maps").read_text()
            if ("everycore.so" in maps) != bool(of_server):
                raise FailedError("nginx does not have the provider that its configuration names")
            for option in (
                ["--tlsv1.3"],
                ["--tls-max", "1.2"],
                ["--tls-max", "1.2", "--ciphers", "AES128-SHA"],
            ):
                target = folder / "fetched"
                run_with(of_client, *fetch, *option, "-o", target)
                if target.read_bytes() != text:
                    raise FailedError(f"curl {option} fetched something else")
    return (
        "nginx and curl: TLS 1.3, TLS 1.2 with GCM and CBC, the provider at either side and at both"
    )


def seconds_of(process: int) -> float:
    """CPU time of a process so far, user and system."""
    fields = pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def transfer_seconds(
    folder: pathlib.Path,
    command: list[str | pathlib.Path],
    port: int,
    configuration: pathlib.Path | None,
) -> float:
    """CPU time of nginx and curl for one file over TLS 1.3."""
    fetch: Words = [
        "curl",
        "-sS",
        "--tlsv1.3",
        "--cacert",
        folder / "certificate.pem",
        f"https://127.0.0.1:{port}/file",
    ]
    with server(command, port, configuration) as process:
        before, children = seconds_of(process), resource.getrusage(resource.RUSAGE_CHILDREN)
        run_with(configuration, *fetch, "-o", "/dev/null")
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return (
            seconds_of(process)
            - before
            + used.ru_utime
            - children.ru_utime
            + used.ru_stime
            - children.ru_stime
        )


def transfer(module: pathlib.Path) -> Iterator[str]:
    """All CPU time of nginx and curl, with the provider at both sides and at none, in turns."""
    if missing := [
        name
        for name in ("nginx", "curl")
        if not shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin")
    ]:
        raise LackingError(f"no {', '.join(missing)}")
    with tempfile.TemporaryDirectory() as name:
        folder, port = pathlib.Path(name), free_port()
        make_certificate(folder)
        command = nginx_command(folder, port)
        with (folder / "www/file").open("wb") as file:
            file.truncate(TRANSFER_BYTES)
        configuration = write_configuration(folder, module)
        pairs = [
            (
                transfer_seconds(folder, command, port, None),
                transfer_seconds(folder, command, port, configuration),
            )
            for _ in range(TRANSFER_ROUNDS)
        ]
    own, ours = (statistics.median(side) for side in zip(*pairs, strict=True))
    said = (
        f"{own:.2f} s of CPU with OpenSSL's own, {ours:.2f} with the provider "
        f"({ours / own - 1:+.0%})"
    )
    if ours >= own:
        raise FailedError(f"{TRANSFER_BYTES >> 30} GiB from nginx to curl: {said}")
    yield f"{TRANSFER_BYTES >> 30} GiB from nginx to curl over TLS 1.3: {said}"


def ssh(folder: pathlib.Path, configuration: pathlib.Path, text: bytes) -> str:
    port = free_port()
    for key in ("host", "user"):
        run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / key])
    (folder / "authorized").write_text((folder / "user.pub").read_text())
    folder.chmod(0o755)
    options = [
        f"ListenAddress=127.0.0.1:{port}",
        f"HostKey={folder / 'host'}",
        f"AuthorizedKeysFile={folder / 'authorized'}",
        "StrictModes=no",
        f"PidFile={folder / 'sshd.pid'}",
        "UsePAM=no",
        "PasswordAuthentication=no",
    ]
    daemon = [
        "/usr/sbin/sshd",
        "-D",
        "-e",
        "-f",
        "/dev/null",
        *(word for option in options for word in ("-o", option)),
    ]
    user = pwd.getpwuid(os.getuid()).pw_name
    client = [
        "ssh",
        "-F",
        "none",
        "-p",
        str(port),
        "-i",
        str(folder / "user"),
        "-o",
        "StrictHostKeyChecking=no",
        "-o",
        "UserKnownHostsFile=/dev/null",
        "-o",
        "LogLevel=ERROR",
        "-o",
        "BatchMode=yes",
        f"{user}@127.0.0.1",
    ]
    ciphers = (
        "aes256-gcm@openssh.com",
        "aes128-ctr",
        "aes256-ctr",
        "aes128-cbc",
        "chacha20-poly1305@openssh.com",
    )
    for of_server, of_client in ((configuration, None), (None, configuration)):
        with server([*daemon, "-o", f"Ciphers={','.join(ciphers)}"], port, of_server):
            for cipher in ciphers:
                got = subprocess.run(
                    [*client, "-c", cipher, "cat"],
                    input=text,
                    capture_output=True,
                    timeout=120,
                    env={**os.environ, "OPENSSL_CONF": str(of_client or "/etc/ssl/openssl.cnf")},
                    check=False,
                )
                if got.stdout != text:
                    raise FailedError(
                        f"ssh with {cipher}: {got.stderr[-800:].decode(errors='replace')}"
                    )
    return f"ssh and sshd: {len(ciphers)} ciphers, the provider at either side"


def programs(module: pathlib.Path) -> Iterator[str]:
    text = b"".join(hashlib.sha512(bytes([i % 256, i // 256])).digest() for i in range(1 << 14))
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        make_certificate(folder)
        configuration = write_configuration(folder, module)
        for tools, part in ((("nginx", "curl"), nginx), (("sshd", "ssh", "ssh-keygen"), ssh)):
            missing = [
                tool
                for tool in tools
                if not shutil.which(tool) and not pathlib.Path(f"/usr/sbin/{tool}").is_file()
            ]
            if missing:
                raise LackingError(f"no {', '.join(missing)}")
            if part is ssh and (os.getuid() == 0 and not pathlib.Path("/run/sshd").is_dir()):
                pathlib.Path("/run/sshd").mkdir()
            yield part(folder, configuration, text)


PARTS: dict[str, Callable[[pathlib.Path], Iterator[str]]] = {
    "native": native,
    "evp-3.0": lambda module: evp("3.0", module),
    "evp-3.5": lambda module: evp("3.5", module),
    "evp-3.6": lambda module: evp("3.6", module),
    "evp-4.0": lambda module: evp("4.0", module),
    "suites": suites,
    "wycheproof": wycheproof,
    "programs": programs,
    "transfer": transfer,
}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--module", type=pathlib.Path, metavar="FILE", help="everycore.so")
    parser.add_argument("parts", nargs="+", choices=PARTS, metavar="PART", help=", ".join(PARTS))
    words = parser.parse_args()
    os.environ.setdefault("LC_ALL", "C.UTF-8")
    passed = failed = skipped = 0
    for part in words.parts:
        try:
            for line in PARTS[part](module_of(words.module)):
                print(f"passed: {part}: {line}", flush=True)
                passed += 1
        except LackingError as lacking:
            print(f"skipped: {part}: {lacking}")
            skipped += 1
        except (FailedError, subprocess.SubprocessError) as failure:
            print(f"FAILED: {part}: {failure}")
            failed += 1
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
