# SPDX-License-Identifier: MIT
"""The packages of contrib/debian please lintian, and leave nothing when they are purged.

The package for DKMS alone is built, and lintian asked about it. Tests in a root (-k root) build
both packages; then mmdebstrap makes a root of Debian 12 with OpenSSL and the kernel's headers, both
are installed and used in it, and purged again. What is committed or staged is packaged.
"""

import os
import pathlib
import re
import shutil

import pytest
from debian_roots import ARCHITECTURE_HEADERS, mode, network, run_in_root
from processes import ROOT, need, run

pytestmark = pytest.mark.reads("src/", "include/", "contrib/", "tests/systems/debian_roots.py")
PROGRAMS = ("dpkg-buildpackage", "dh", "dh_dkms", "lintian")
HELD = re.compile(r"^held: (.*)$", re.M)

# Runs inside the root. `held:` is said of what was seen to be so.
IN_ROOT = r"""
set -e
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root
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


def sources(folder: pathlib.Path) -> pathlib.Path:
    """Copy the checkout, with debian/ where dpkg wants it; without stored results, which no package
    needs.
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
    """Build packages (-A: those for every architecture; -b: all), and ask lintian about them."""
    need(*PROGRAMS)
    # Meson may be that of a virtual environment: what debian/control asks for is not looked at.
    run(["dpkg-buildpackage", kind, "-d", "-us", "-uc"], cwd=sources(folder))
    changes = next(folder.glob("*.changes"))
    run(["lintian", "--allow-root", "--fail-on", "error,warning", changes])
    return sorted(folder.glob("*.deb"))


@pytest.fixture(scope="module")
def packages_for_every_architecture(tmp_path_factory: pytest.TempPathFactory) -> list[pathlib.Path]:
    return build(tmp_path_factory.mktemp("debian"), "-A")


def test_lintian_has_nothing_to_say_of_the_package_for_dkms(
    packages_for_every_architecture: list[pathlib.Path],
) -> None:
    names = [path.name.split("_")[0] for path in packages_for_every_architecture]
    assert names == ["everycore-dkms"]


def test_the_package_for_dkms_has_the_sources_of_this_version(
    packages_for_every_architecture: list[pathlib.Path],
) -> None:
    said = run(["dpkg-deb", "--contents", packages_for_every_architecture[0]])
    names = {line.split()[5] for line in said.splitlines()}
    version = re.search(r"^  version: '([^']+)'", (ROOT / "meson.build").read_text(), re.M)
    assert version
    place = f"./usr/src/everycore-{version[1]}/"
    files = ("dkms.conf", "Kbuild", "module.c", "library/src/kernels.def")
    assert {place + name for name in files} <= names


# ---- In a root -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> tuple[int, str]:
    """The exit code and the output of what runs in a root."""
    headers = ARCHITECTURE_HEADERS.get(os.uname().machine)
    if headers is None:
        pytest.skip(f"Debian has no kernel for {os.uname().machine} that the module is for")
    mode()  # skips before the packages are built
    folder = tmp_path_factory.mktemp("debian-root")
    packages = build(folder, "-b")
    script = folder / "run.sh"
    assignments, files = network()
    script.write_text("\n".join(assignments) + IN_ROOT)
    uploads = [*((str(path), f"/srv/{path.name}") for path in packages), *files]
    return run_in_root("bookworm", ("openssl", "kmod", headers), script, uploads, "apt")


@pytest.mark.long
def test_in_a_root_all_commands_succeed(root: tuple[int, str]) -> None:
    code, text = root
    assert code == 0, text[-2000:]


@pytest.mark.long
@pytest.mark.parametrize("what", re.findall(r'echo "held: (.*)"', IN_ROOT))
def test_in_a_root_it_holds_that(what: str, root: tuple[int, str]) -> None:
    assert what in HELD.findall(root[1])
