#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The commands of docs/guides/adopt.md, as they stand there, on a fresh Debian 12.

test_adopt_commands.py

mmdebstrap makes a root with nginx and curl, which a web server has, and the last commit is cloned
there. The blocks of the page run in the shell, in order: those for a web server, for a distribution
and for a disk. What a root cannot do is done in another way: no systemd runs there, so nginx is
started with the line that the page gives its unit; and the kernel that runs is not Debian's, so
`uname -r` names that of the headers, and no module is loaded. What was seen to be so is one test.
Blocks for QEMU are not run: that is what the steps qemu-trees and pauth-series do.
"""

import pathlib
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator

from test_debian_packages import ARCHITECTURE_HEADERS
from test_fresh_machines import (
    NETWORK_FOLDER,
    FailedError,
    LackingError,
    archive,
    count_passed,
    last,
    mode,
    network,
)

ROOT = pathlib.Path(__file__).resolve().parents[2]
SUITE = "bookworm"
PACKAGES = ("ca-certificates", "curl", "git", "nginx-light", "openssl")
HELD = re.compile(r"^held: (.*)$", re.M)

BEGIN = r"""
set -e
export HOME=/root DEBIAN_FRONTEND=noninteractive
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
echo 'APT::Get::Assume-Yes "true";' >/etc/apt/apt.conf.d/yes
apt-get update >/dev/null
mkdir /srv/work && cd /srv/work && git clone --quiet ../checkout.bundle everycore && cd everycore
"""
SYMPTOM = r"""
test -s /srv/speed.log && echo "held: the command of the symptom prints a speed"
"""
PROVIDER = r"""
test "$(head -n 1 /etc/everycore/openssl.cnf | cut -c 1)" = "#"
echo "held: a web server's commands build, install and enable the provider"
openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=localhost -keyout /srv/key.pem \
    -out /srv/cert.pem 2>/dev/null
cat >/srv/nginx.conf <<END
pid /run/nginx.pid; error_log /srv/error.log; events {}
http { access_log off; server { listen 127.0.0.1:4433 ssl; ssl_certificate /srv/cert.pem;
 ssl_certificate_key /srv/key.pem; root /srv; } }
END
trap 'nginx -c /srv/nginx.conf -s stop 2>/dev/null || true' EXIT
OPENSSL_CONF=/etc/everycore/openssl.cnf nginx -c /srv/nginx.conf
everycore provider status --pid $(cat /run/nginx.pid) >/srv/status.log
grep -q 'has loaded .*everycore.so' /srv/status.log || { cat /srv/status.log; exit 1; }
curl -sS --cacert /srv/cert.pem https://localhost:4433/cert.pem --resolve localhost:4433:127.0.0.1 |
    cmp - /srv/cert.pem
echo "held: nginx with the page's line serves by the provider, and status shows it"
"""
MEASURED = r"""
grep -q 'AES-256-GCM *16384' /srv/speed.log
echo "held: the program that measures runs"
rm speed
"""
DISABLED = r"""
nginx -c /srv/nginx.conf -s stop
trap - EXIT
test -z "$(find /usr/local /etc/everycore -name '*everycore*' ! -path '*/dist-packages/*' \
    ! -type d)"
openssl list -providers | grep -q 'name: OpenSSL Default Provider'
echo "held: undoing it leaves nothing"
"""
STAGED = r"""
# lib64 without dpkg-dev
ls root/usr/lib*/ossl-modules/everycore.so root/usr/share/everycore/everycore.cnf >/dev/null
echo "held: a distribution's commands stage the files that the page lists"
rm -rf build root
"""
PACKAGED = r"""
OPENSSL_CONF=/usr/share/everycore/everycore.cnf openssl list -providers | grep -q 'name: everycore'
apt-get purge openssl-provider-everycore everycore-dkms >/dev/null
echo "held: packages are built, installed and purged"
"""
HEADERS = r"""
apt-get install @HEADERS@ >/dev/null
release=$(basename $(ls -d /lib/modules/*/build | tail -n 1 | xargs dirname))
printf '#!/bin/sh\n[ "$*" = -r ] && echo %s || exec /usr/bin/uname "$@"\n' "$release" \
    >/usr/local/bin/uname
chmod +x /usr/local/bin/uname
"""
MODULE = r"""
dkms status everycore/0.1.0 -k "$release" | grep -q installed
echo "held: a disk's commands build the module by DKMS"
dkms remove everycore/0.1.0 --all >/dev/null && rm -r /usr/src/everycore-0.1.0
test -z "$(find /lib/modules /var/lib/dkms -name 'everycore*')"
echo "held: undoing it leaves no module"
"""


def blocks(text: str) -> dict[str, list[str]]:
    """The blocks of commands of the page, by section and the title above them."""
    found: dict[str, list[str]] = {}
    section = title = ""
    for part in re.split(r"^(?=#{2,3} |```)", text, flags=re.M):
        if part.startswith("## "):
            section, title = part[3:].split("\n", 1)[0], ""
        elif part.startswith("### "):
            title = part[4:].split("\n", 1)[0]
        elif part.startswith("```\n"):
            found.setdefault(f"{section}: {title}", []).append(part[4:])
    return found


def without(block: str, *beginnings: str) -> str:
    """A block without lines that a root cannot run. Each of them has to be there."""
    lines = block.splitlines()
    for beginning in beginnings:
        if not any(line.startswith(beginning) for line in lines):
            raise FailedError(f"docs/guides/adopt.md has no line that begins with {beginning!r}")
    return "\n".join(line for line in lines if not line.startswith(beginnings)) + "\n"


def script(headers: str) -> str:
    """The page's commands in order, and what is looked at between them."""
    page = blocks((ROOT / "docs/guides/adopt.md").read_text())
    try:
        server = "I run a web server"
        packages = "I maintain a distribution: The packages of Debian"
        disk = page["My Pi's disk is slow: The commands"][0]
        return "".join(
            [
                BEGIN,
                f"{{ {page[f'{server}: The symptom'][0]}}} >/srv/speed.log 2>&1\n",
                SYMPTOM,
                page[f"{server}: The commands"][0],
                PROVIDER,
                page[f"{server}: The result"][0].rstrip() + " 3 >/srv/speed.log\n",
                MEASURED,
                without(page[f"{server}: Undoing it"][0], "systemctl"),
                DISABLED,
                "rm -rf build\n",
                page["I maintain a distribution: The provider as a package"][0],
                STAGED,
                page[packages][0].split(" #")[0] + "\n",
                PACKAGED,
                HEADERS.replace("@HEADERS@", headers),
                without(disk, "modprobe", "grep"),
                MODULE,
            ]
        )
    except (KeyError, IndexError) as error:
        raise FailedError(f"docs/guides/adopt.md lacks a block of commands: {error}") from error


def try_root(folder: pathlib.Path) -> str:
    headers = ARCHITECTURE_HEADERS.get(
        subprocess.run(["uname", "-m"], capture_output=True, text=True, check=False).stdout.strip()
    )
    if headers != "linux-headers-amd64":
        raise LackingError("the page's folders are those of x86-64")
    how, (url, options) = mode(), archive(SUITE)
    assignments, files = network()
    bundle, commands = folder / "checkout.bundle", folder / "run.sh"
    bundled = subprocess.run(
        ["git", "-C", ROOT, "bundle", "create", "--quiet", bundle, "HEAD"],
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    if bundled.returncode:
        raise LackingError(f"no commit to clone: {bundled.stderr.strip()}")
    commands.write_text("\n".join(assignments) + script(headers))
    uploads = [(bundle, "/srv/checkout.bundle"), (commands, "/srv/run.sh"), *files]
    hooks = [
        f'mkdir -p "$1{NETWORK_FOLDER}"',
        *(f"upload {shlex.quote(str(source))} {target}" for source, target in uploads),
        'chroot "$1" env -i sh /srv/run.sh',
    ]
    done = subprocess.run(
        [
            "mmdebstrap",
            f"--mode={how}",
            "--variant=minbase",
            "--format=null",
            f"--include={','.join(PACKAGES)}",
            *(f"--aptopt={option}" for option in options),
            *(f"--customize-hook={hook}" for hook in hooks),
            SUITE,
            "/dev/null",
            url,
        ],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode:
        raise FailedError(
            f"a command failed behind these: {HELD.findall(done.stdout)}\n{last(done.stdout)}"
        )
    return done.stdout


def held(folder: pathlib.Path) -> Iterator[str]:
    wanted = sum(
        part.count('echo "held: ')
        for part in (SYMPTOM, PROVIDER, MEASURED, DISABLED, STAGED, PACKAGED, MODULE)
    )
    found = HELD.findall(try_root(folder))
    yield from found
    if len(found) != wanted:
        raise FailedError(f"{len(found)} of {wanted} tests were reached")


def main() -> int:
    return count_passed(held, "adopt-", "/var/tmp")


if __name__ == "__main__":
    sys.exit(main())
