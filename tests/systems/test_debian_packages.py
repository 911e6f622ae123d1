#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""contrib/debian built, looked at by lintian, installed and removed:
test_debian_packages.py short|full

`short` builds the package for DKMS alone, and asks lintian about it. `full` builds both packages;
then mmdebstrap makes a root of this Debian with OpenSSL and the kernel's headers, both are
installed and used in it, and purged again: nothing of them may be left. What is committed or staged
is packaged.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator

from test_fresh_machines import FailedError, LackingError, archive, count_passed, mode

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = ("dpkg-buildpackage", "dh", "dh_dkms", "lintian")
NAMED = "Debian: apt-get install dpkg-dev debhelper dh-dkms lintian"
ARCHITECTURE_HEADERS = {"x86_64": "linux-headers-amd64", "aarch64": "linux-headers-arm64"}
HELD = re.compile(r"^held: (.*)$", re.M)
SHOWN_LINES = 30

# Runs inside the root. `held:` is said of what was seen to be so.
IN_ROOT = r"""
set -e
export DEBIAN_FRONTEND=noninteractive OWN=/usr/share/everycore/everycore.cnf
cd /srv
apt-get install -y --no-install-recommends /srv/*.deb >install.log 2>&1 ||
    { tail -n 20 install.log; exit 1; }
ls /usr/lib/*/ossl-modules/everycore.so >/dev/null
OPENSSL_CONF=$OWN openssl list -providers | grep -q 'name: everycore'
echo "held: OpenSSL loads the provider of the package"
head -c 100000 /dev/zero >text
key=00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff
enc() { openssl enc -aes-256-ctr -K $key -iv 00 -in text; }
enc 2>/dev/null | sha256sum >before
OPENSSL_CONF=$OWN enc 2>/dev/null | sha256sum | cmp - before
echo "held: it encrypts as OpenSSL does"
dkms status everycore | grep -q 'installed'
modinfo -F version $(find /lib/modules -name 'everycore.ko*') >/dev/null
echo "held: DKMS has built the module for the kernel whose headers are there"
apt-get purge -y openssl-provider-everycore everycore-dkms >purge.log 2>&1 ||
    { tail -n 20 purge.log; exit 1; }
left=$(find / -xdev \( -path /proc -o -path /sys -o -path /srv -o -path /var/cache \) -prune \
    -o -name '*everycore*' -print)
test -z "$left" || { echo "left behind: $left"; exit 1; }
openssl list -providers | grep -q 'name: OpenSSL Default Provider'
echo "held: nothing is left when both are purged"
"""


def run(words: list[str | pathlib.Path], cwd: pathlib.Path | None = None) -> str:
    done = subprocess.run(
        words,
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode:
        last = "\n".join(done.stdout.strip().splitlines()[-SHOWN_LINES:])
        raise FailedError(f"{words[0]} ended with {done.returncode}:\n{last}")
    return done.stdout


def sources(folder: pathlib.Path) -> pathlib.Path:
    """A copy of the checkout with debian/ where dpkg wants it; without stored results, which no
    package needs.
    """
    tree = folder / "everycore"
    listed = run(["git", "-C", ROOT, "ls-files", "-z"]).split("\0")
    for name in filter(None, listed):
        if not name.startswith("results/"):
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, tree / name)
    shutil.copytree(tree / "contrib/debian/debian", tree / "debian")
    return tree


def build(folder: pathlib.Path, kind: str) -> list[pathlib.Path]:
    """Build packages (-A: those for every architecture; -b: all), and hold them against lintian."""
    if missing := [name for name in PROGRAMS if not shutil.which(name)]:
        raise LackingError(f"no {', '.join(missing)} ({NAMED})")
    # Meson may be that of a virtual environment: what debian/control asks for is not looked at.
    run(["dpkg-buildpackage", kind, "-d", "-us", "-uc"], cwd=sources(folder))
    changes = next(folder.glob("*.changes"))
    run(["lintian", "--allow-root", "--fail-on", "error,warning", changes])
    return sorted(folder.glob("*.deb"))


def short(folder: pathlib.Path) -> Iterator[str]:
    found = [path.name.split("_")[0] for path in build(folder, "-A")]
    if found != ["everycore-dkms"]:
        raise FailedError(f"-A has built {found}")
    yield "the package for DKMS is built, and lintian has nothing to say"
    said = run(["dpkg-deb", "--contents", next(folder.glob("*.deb"))])
    names = {line.split()[5] for line in said.splitlines()}
    version = re.search(r"^  version: '([^']+)'", (ROOT / "meson.build").read_text(), re.M)
    if not version:
        raise FailedError("meson.build states no version")
    place = f"./usr/src/everycore-{version[1]}/"
    wanted = {
        place + name for name in ("dkms.conf", "Kbuild", "module.c", "library/src/kernels.def")
    }
    if not wanted <= names:
        raise FailedError(f"the package lacks {', '.join(sorted(wanted - names))}")
    yield f"its sources are those of {version[1]}"


def full(folder: pathlib.Path) -> Iterator[str]:
    headers = ARCHITECTURE_HEADERS.get(os.uname().machine)
    if headers is None:
        raise LackingError(f"Debian has no kernel for {os.uname().machine} that the module is for")
    how, (url, options) = mode(), archive("bookworm")
    packages = build(folder, "-b")
    yield "both packages are built, and lintian has nothing to say"
    script = folder / "run.sh"
    script.write_text(IN_ROOT)
    uploads = [f"upload {path} /srv/{path.name}" for path in [*packages, script]]
    hooks = [*uploads, 'chroot "$1" sh /srv/run.sh']
    settings = [word for option in options for word in ("--aptopt", option)]
    said = run(
        [
            "mmdebstrap",
            f"--mode={how}",
            "--variant=apt",
            f"--include=openssl,kmod,{headers}",
            *settings,
            *[f"--customize-hook={hook}" for hook in hooks],
            "bookworm",
            "/dev/null",
            url,
        ]
    )
    held = HELD.findall(said)
    if len(held) != IN_ROOT.count('echo "held: '):
        raise FailedError(f"in the root only this held: {held}\n{said[-2000:]}")
    yield from held


KINDS = {"short": short, "full": full}


def main(words: list[str]) -> int:
    if len(words) != 1 or words[0] not in KINDS:
        print(f"usage: test_debian_packages.py {'|'.join(KINDS)}", file=sys.stderr)
        return 2
    return count_passed(KINDS[words[0]], "debian-")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
