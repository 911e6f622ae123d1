# SPDX-License-Identifier: MIT
"""Fresh machines: roots of Debian that mmdebstrap makes, in which commands run.

Packages come from the mirror that everycore finds: that of apt, or EVERYCORE_MIRROR. This works as
root and with user namespaces; without either, the test is skipped.
"""

import os
import pathlib
import shlex
import shutil
import subprocess
from collections.abc import Sequence

import pytest
from processes import ROOT, FailedError

from everycore.compile import debs
from everycore.compile.debs.mirror import apt_settings
from everycore.environment.context import system_context
from everycore.environment.errors import EverycoreError, UnavailableError

ARCHITECTURE_HEADERS = {"x86_64": "linux-headers-amd64", "aarch64": "linux-headers-arm64"}
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
Files = Sequence[tuple[str, str]]  # from where, to where in the root


def mode() -> str:
    """Return how mmdebstrap makes a root here."""
    if not shutil.which("mmdebstrap"):
        pytest.skip("no mmdebstrap: apt-get install mmdebstrap")
    is_root = os.geteuid() == 0
    trial = (
        ["unshare", "--mount", "true"]
        if is_root
        else ["unshare", "--user", "--map-auto", "--map-root-user", "true"]
    )
    if subprocess.run(
        trial, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False
    ).returncode:
        pytest.skip(
            "this root may not mount"
            if is_root
            else "neither root nor user namespaces with subordinate ids"
        )
    return "root" if is_root else "unshare"


def archive(suite: str) -> tuple[str, list[str]]:
    """Return the mirror that has the suite, and what apt has to be told to reach it."""
    context = system_context()
    try:
        mirror = debs.open_archive(context, [suite], debs.architecture_of()).suites[0].mirror
    except UnavailableError as error:
        pytest.skip(error.message)
    except EverycoreError as error:
        raise FailedError(error.message) from error
    if mirror.url.startswith("file:"):
        pytest.skip(f"{mirror.url} is no mirror that apt reaches inside a root")
    options = [f'{name} "{value}"' for name, value in apt_settings(context, [CHECK_DATE]).items()]
    if mirror.proxy:
        options.append(f'Acquire::{mirror.url.partition(":")[0]}::Proxy "{mirror.proxy}"')
    return mirror.url, options


def network() -> tuple[list[str], list[tuple[str, str]]]:
    """Return assignments for the shell in the root, and the files to copy: from where, to where."""
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


def bundle(folder: pathlib.Path) -> str:
    """Write the last commit into a file that git clones."""
    path = str(folder / "checkout.bundle")
    bundled = subprocess.run(
        ["git", "-C", ROOT, "bundle", "create", "--quiet", path, "HEAD"],
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    if bundled.returncode:
        pytest.skip(f"no commit to clone: {bundled.stderr.strip()}")
    return path


def run_in_root(
    suite: str,
    packages: Sequence[str],
    script: pathlib.Path,
    uploads: Files,
    variant: str = "minbase",
) -> tuple[int, str]:
    """Run a script in a root with these packages, and nothing of this machine's environment.

    Return the exit code of mmdebstrap, and what it and the script printed.
    """
    how, (url, options) = mode(), archive(suite)
    hooks = [
        f'mkdir -p "$1{NETWORK_FOLDER}"',
        'grep -qs localhost "$1/etc/hosts" || echo "127.0.0.1 localhost" >>"$1/etc/hosts"',
        *(
            f"upload {shlex.quote(source)} {target}"
            for source, target in (*uploads, (str(script), "/srv/run.sh"))
        ),
        'chroot "$1" env -i sh /srv/run.sh',
    ]
    command = [
        "mmdebstrap",
        f"--mode={how}",
        f"--variant={variant}",
        "--format=null",
        f"--include={','.join(packages)}",
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
    return done.returncode, done.stdout


def last(text: str) -> str:
    return "\n".join(text.splitlines()[-SHOWN_LINES:])
