#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Both commands of the README on fresh machines:
test_fresh_machines.py [--steps "STEP..."] [SUITE...]

For each suite of Debian (bookworm and trixie), mmdebstrap makes a root with the packages that the
README asks for and no others. The last commit is cloned there; `make bench` and `YES=1 make test`
run in the clone. Each command is one test. What is not committed is not tested. `--steps` runs only
these steps of `make test`.

Packages come from the mirror that everycore finds: that of apt, or EVERYCORE_MIRROR. The script
works as root and with user namespaces; without either it skips.
"""

import argparse
import importlib.util
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable

ROOT = pathlib.Path(__file__).resolve().parents[2]
SUITES = ("bookworm", "trixie")  # Debian 12 and 13
PACKAGES = ("python3", "gcc", "libc6-dev", "make", "git")
# How this machine reaches the archives of packages. A variable that names a file is passed on with
# a copy of the file.
NETWORK = (
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "SSL_CERT_FILE",
    "CURL_CA_BUNDLE",
    "REQUESTS_CA_BUNDLE",
    "GIT_SSL_CAINFO",
    "CARGO_HTTP_CAINFO",
    "PIP_CERT",
    "PIP_INDEX_URL",
    "PIP_EXTRA_INDEX_URL",
    "PIP_TRUSTED_HOST",
    "PIP_DEFAULT_TIMEOUT",
)
NETWORK_FOLDER = "/etc/network-settings"  # inside the root; belongs to no package
CHECK_DATE = "Acquire::Check-Valid-Until"
SHOWN_LINES = 60
NOT_INSTALLED = "everycore: apt-get failed"  # tools/system-packages
RESULT = re.compile(r"^fresh machine: (.*): exit code (\d+)$", re.M)

# Runs inside the root, and writes nothing of its own into the clone, which check-tree looks at.
# `make bench` may fail once, if the remedy that it names is a command that makes it work.
IN_ROOT = r"""
export HOME=/srv DEBIAN_FRONTEND=noninteractive
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
cd /srv && git clone --quiet checkout.bundle everycore && cd everycore || exit 0
system=$(. /etc/os-release; echo "$PRETTY_NAME")
echo "fresh machine: $system, $(python3 --version), $(gcc --version | head -n 1)"
code=0
make bench >../bench.log 2>&1 </dev/null || code=$?
remedy=$(sed -n 's/.*remedy: \(apt-get install .*\)/\1/p' ../bench.log | head -n 1)
if [ $code -ne 0 ] && [ -n "$remedy" ]; then
    cat ../bench.log
    echo "fresh machine: following the remedy: $remedy"
    apt-get update >../remedy.log 2>&1 && $remedy >>../remedy.log 2>&1 </dev/null ||
        tail -n 20 ../remedy.log
    code=0
    make bench >../bench.log 2>&1 </dev/null || code=$?
fi
cat ../bench.log
[ $code -eq 0 ] || cat .venv/setup.log
echo "fresh machine: make bench: exit code $code"
code=0
YES=1 make test STEPS="$STEPS" >../test.log 2>&1 </dev/null || code=$?
cat ../test.log
[ $code -eq 0 ] || cat .venv/setup.log
echo "fresh machine: make test: exit code $code"
"""


class LackingError(Exception):
    """This machine lacks something that is needed to make a root."""


class FailedError(Exception):
    """Something went wrong before a command could be tested."""


def mode() -> str:
    """How mmdebstrap makes a root here."""
    if not shutil.which("mmdebstrap"):
        raise LackingError("no mmdebstrap (Debian: apt-get install mmdebstrap)")
    is_root = os.geteuid() == 0
    trial = (
        ["unshare", "--mount", "true"]
        if is_root
        else ["unshare", "--user", "--map-auto", "--map-root-user", "true"]
    )
    if subprocess.run(
        trial, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False
    ).returncode:
        raise LackingError(
            "this root may not mount"
            if is_root
            else "neither root nor user namespaces with subordinate ids"
        )
    return "root" if is_root else "unshare"


def archive(suite: str) -> tuple[str, list[str]]:
    """The mirror that has the suite, and what apt has to be told to reach it."""
    if not importlib.util.find_spec("everycore"):
        raise FailedError("this Python has no lab: `make lab`, then use .venv/bin/python")
    from everycore.compile import debs
    from everycore.compile.debs.mirror import apt_settings
    from everycore.environment.context import system_context
    from everycore.environment.errors import EverycoreError, UnavailableError

    context = system_context()
    try:
        mirror = debs.open_archive(context, [suite], debs.architecture_of()).suites[0].mirror
    except UnavailableError as error:
        raise LackingError(error.message) from error
    except EverycoreError as error:
        raise FailedError(error.message) from error
    if mirror.url.startswith("file:"):
        raise LackingError(f"{mirror.url} is no mirror that apt reaches inside a root")
    options = [f'{name} "{value}"' for name, value in apt_settings(context, [CHECK_DATE]).items()]
    if mirror.proxy:
        options.append(f'Acquire::{mirror.url.partition(":")[0]}::Proxy "{mirror.proxy}"')
    return mirror.url, options


def network() -> tuple[list[str], list[tuple[str, str]]]:
    """Assignments for the shell in the root, and the files to copy: from where, to where."""
    assignments, files = [], []
    for name in NETWORK:
        value = os.environ.get(name, "")
        if value and pathlib.Path(value).is_file():
            inside = f"{NETWORK_FOLDER}/{name}"
            files.append((value, inside))
            value = inside
        if value:
            assignments.append(f"export {name}={shlex.quote(value)}")
    return assignments, files


def try_suite(suite: str, steps: str, folder: pathlib.Path) -> str:
    """Run both commands on a fresh machine; return their output."""
    how = mode()
    url, options = archive(suite)
    bundle, script = folder / "checkout.bundle", folder / "run.sh"
    bundled = subprocess.run(
        ["git", "-C", ROOT, "bundle", "create", "--quiet", bundle, "HEAD"],
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    if bundled.returncode:
        raise LackingError(f"no commit to clone: {bundled.stderr.strip()}")
    assignments, files = network()
    script.write_text("\n".join([*assignments, f"STEPS={shlex.quote(steps)}"]) + IN_ROOT)
    uploads = [(bundle, "/srv/checkout.bundle"), (script, "/srv/run.sh"), *files]
    hooks = [
        f'mkdir -p "$1{NETWORK_FOLDER}"',
        'grep -qs localhost "$1/etc/hosts" || echo "127.0.0.1 localhost" >>"$1/etc/hosts"',
        *(f"upload {shlex.quote(str(source))} {target}" for source, target in uploads),
        'chroot "$1" env -i sh /srv/run.sh',
    ]
    command = [
        "mmdebstrap",
        f"--mode={how}",
        "--variant=minbase",
        "--format=null",
        f"--include={','.join(PACKAGES)}",
        *(f"--aptopt={option}" for option in options),
        *(f"--customize-hook={hook}" for hook in hooks),
        suite,
        "/dev/null",
        url,
    ]
    # A root with all packages of the tests has gigabytes, which a /tmp in memory may lack.
    settings = {**os.environ, "TMPDIR": os.environ.get("TMPDIR", "/var/tmp")}
    done = subprocess.run(
        command,
        env=settings,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode:
        raise FailedError("mmdebstrap failed:\n" + last(done.stdout))
    return done.stdout


def last(text: str) -> str:
    return "\n".join(text.splitlines()[-SHOWN_LINES:])


def verdicts(text: str) -> dict[str, str]:
    """Why each command failed, by command; an empty text for those that passed. One that did not
    end has failed.

    Packages that apt-get did not install would only make `make test` skip steps: that is a failure
    here, and so is a `make test` that counts nothing.
    """
    codes = dict(RESULT.findall(text))
    found = {
        command: "" if codes.get(command) == "0" else f"exit code {codes.get(command, 'unknown')}"
        for command in ("make bench", "make test")
    }
    if not found["make test"] and NOT_INSTALLED in text:
        found["make test"] = NOT_INSTALLED
    if not found["make test"] and not counts(text):
        found["make test"] = "it counted no test"
    return found


def counts(text: str) -> list[str]:
    """Return the counts of `make test`; its last line."""
    return re.findall(r"^[1-9]\d* passed, \d+ failed, \d+ skipped$", text, re.M)[-1:]


def count_passed(
    tests: Callable[[pathlib.Path], Iterable[str]], prefix: str, parent: str | None = None
) -> int:
    """Print what tests say passed, in a new folder, and the counts; return the exit code."""
    passed = failed = skipped = 0
    try:
        with tempfile.TemporaryDirectory(prefix=prefix, dir=parent) as name:
            for what in tests(pathlib.Path(name)):
                print(f"passed: {what}", flush=True)
                passed += 1
    except LackingError as lacking:
        print(f"skipped: {lacking}")
        skipped = 1
    except FailedError as failure:
        print(f"FAILED: {failure}")
        failed = 1
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


def main() -> int:
    parser = argparse.ArgumentParser(
        description="make bench and YES=1 make test on fresh Debian machines"
    )
    parser.add_argument("--steps", default="", help="run only these steps of make test")
    parser.add_argument(
        "suites", nargs="*", metavar="SUITE", help=f"suites of Debian; default: {' '.join(SUITES)}"
    )
    arguments = parser.parse_args()
    passed = failed = skipped = 0
    for suite in arguments.suites or SUITES:
        try:
            with tempfile.TemporaryDirectory() as folder:
                text = try_suite(suite, arguments.steps, pathlib.Path(folder))
            print(text)
            for command, why in verdicts(text).items():
                passed, failed = (passed, failed + 1) if why else (passed + 1, failed)
                print(
                    f"FAILED: {suite}: {command}: {why}" if why else f"passed: {suite}: {command}"
                )
            print(*(f"{suite}: make test: {line}" for line in counts(text)), sep="\n")
        except LackingError as lacking:
            skipped += 1
            print(f"skipped: {suite}: {lacking}")
        except FailedError as failure:
            failed += 1
            print(f"FAILED: {suite}: {failure}")
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
