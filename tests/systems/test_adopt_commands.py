# SPDX-License-Identifier: MIT
"""The commands of docs/guides/adopt.md work, as they stand there, on a fresh Debian 12.

mmdebstrap makes a root with nginx and curl, which a web server has, and the last commit is cloned
there. The blocks of the page run in the shell, in order: those for a web server, for a distribution
and for a disk. What a root cannot do is done in another way: no systemd runs there, so nginx is
started with the line that the page gives its unit; and the kernel that runs is not Debian's, so
`uname -r` names that of the headers, and no module is loaded. What was seen to be so is one test.
Blocks for QEMU are not run: that is what the steps qemu-trees and pauth-series do.
"""

import os
import re

import pytest
from debian_roots import ARCHITECTURE_HEADERS, bundle, last, network, run_in_root
from processes import ROOT, FailedError

pytestmark = pytest.mark.long
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
    """Return the blocks of commands of the page, by section and the title above them."""
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
    """Return a block without lines that a root cannot run. Each of them has to be there."""
    lines = block.splitlines()
    for beginning in beginnings:
        if not any(line.startswith(beginning) for line in lines):
            raise FailedError(f"docs/guides/adopt.md has no line that begins with {beginning!r}")
    return "\n".join(line for line in lines if not line.startswith(beginnings)) + "\n"


def script(headers: str) -> str:
    """Return the page's commands in order, and what is looked at between them."""
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


WANTED = [
    what
    for part in (SYMPTOM, PROVIDER, MEASURED, DISABLED, STAGED, PACKAGED, MODULE)
    for what in re.findall(r'echo "held: (.*)"', part)
]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> tuple[int, str]:
    """The exit code and the output of the page's commands."""
    headers = ARCHITECTURE_HEADERS.get(os.uname().machine)
    if headers != "linux-headers-amd64":
        pytest.skip("the page's folders are those of x86-64")
    assignments, files = network()
    folder = tmp_path_factory.mktemp("adopt")
    commands = folder / "run.sh"
    commands.write_text("\n".join(assignments) + script(headers))
    uploads = [(bundle(folder), "/srv/checkout.bundle"), *files]
    return run_in_root(SUITE, PACKAGES, commands, uploads)


def test_all_commands_of_the_page_succeed(root: tuple[int, str]) -> None:
    code, text = root
    assert code == 0, last(text)


@pytest.mark.parametrize("what", WANTED)
def test_on_a_fresh_machine_it_holds_that(what: str, root: tuple[int, str]) -> None:
    assert what in HELD.findall(root[1])
