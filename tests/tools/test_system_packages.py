# SPDX-License-Identifier: MIT
"""tools/system-packages waits for another apt, and tells what could not be installed."""

import pathlib
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
NOT_INSTALLED = "apt-get failed"  # fresh_machines.py looks for it, too

LISTS = "E: Could not get lock /var/lib/apt/lists/lock. It is held by process 7 (unattended-upgr)"
ARCHIVES = (
    "E: Could not get lock /var/cache/apt/archives/lock - open (11: Resource temporarily "
    "unavailable)"
)
FRONTEND = (
    "E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 7 (unattended-upgr)"
)
DPKG = "dpkg: error: dpkg frontend lock was locked by another process with pid 7"
NOT_OURS = "E: Could not open lock file /var/lib/dpkg/lock-frontend - open (13: Permission denied)"
NO_PACKAGE = (
    "Waiting for cache lock: Could not get lock /var/lib/dpkg/lock. It is held by "
    "process 7\nE: Unable to locate package x"
)


class TestSystemPackages:
    """tools/system-packages with no program but those of a folder, so that packages are missing."""

    @pytest.fixture(autouse=True)
    def path(self, tmp_path: pathlib.Path) -> None:
        self.folder = tmp_path
        (self.folder / "bin").mkdir()
        for name in ("sh", "cat", "sed", "env", "date", "id", "mkdir", "head", "tail"):
            (self.folder / "bin" / name).symlink_to(str(shutil.which(name)))
        self.program("sudo", 'exec "$@"')
        self.program("apt-cache", "exit 0")
        self.program("sleep", 'echo "$@" >>slept')

    def program(self, name: str, text: str) -> None:
        path = self.folder / "bin" / name
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)

    def stand_in(self, action: str, said: str, times: int) -> None:
        """An apt-get that fails so many times to do something."""
        self.program(
            "apt-get",
            f"""echo "$LC_ALL $@" >>calls
for word; do [ "$word" = {action} ] && mine=1; done
[ "$mine" ] && [ "$(cat failed 2>/dev/null | sed -n '$=')" != {times} ] || exit 0
echo x >>failed
cat <<'SAID' >&2
{said}
SAID
exit 100""",
        )

    def install(self, seconds: int = 600) -> tuple[str, list[str]]:
        settings = {
            "PATH": str(self.folder / "bin"),
            "YES": "1",
            "EVERYCORE_APT_SECONDS": str(seconds),
            "LC_ALL": "de_DE.UTF-8",
        }
        done = subprocess.run(
            ["sh", ROOT / "tools/system-packages", "install", "u-boot"],
            cwd=self.folder,
            env=settings,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        calls = (
            (self.folder / "calls").read_text().splitlines()
            if (self.folder / "calls").exists()
            else []
        )
        return done.stdout + done.stderr, calls

    def test_a_lock_that_another_program_holds_is_waited_for(self) -> None:
        for action, said in (
            ("update", LISTS),
            ("install", ARCHIVES),
            ("install", FRONTEND),
            ("install", DPKG),
        ):
            for name in ("calls", "failed", "slept"):
                (self.folder / name).unlink(missing_ok=True)
            self.stand_in(action, f"Reading package lists...\n{said}\nE: Unable to lock it", 3)
            told, calls = self.install()
            assert sum(action in call for call in calls) == 4, calls
            assert sum("install" in call for call in calls) == (4 if action == "install" else 1)
            assert told.count(said) == 1  # who holds it, once
            assert NOT_INSTALLED not in told
            assert all(
                "DPkg::Lock::Timeout=" in call and call.startswith("C ") for call in calls
            ), calls

    def test_a_lock_that_stays_is_told_with_who_holds_it(self) -> None:
        self.stand_in("install", FRONTEND, 1000)
        told, calls = self.install(seconds=0)
        assert f"{NOT_INSTALLED} ({FRONTEND})" in told
        assert len(calls) == 2
        self.stand_in("update", LISTS, 1000)
        assert f"everycore: apt-get update gave up: {LISTS}" in self.install(seconds=0)[0]

    def test_other_errors_are_not_tried_again(self) -> None:
        for said in (NOT_OURS, NO_PACKAGE, "E: Unable to fetch some archives"):
            for name in ("calls", "failed"):
                (self.folder / name).unlink(missing_ok=True)
            self.stand_in("install", said, 1000)
            told, calls = self.install()
            assert len(calls) == 2, calls
            assert f"{NOT_INSTALLED} (build/system-packages.log)" in told
            assert said in (self.folder / "build/system-packages.log").read_text()

    def test_the_system_s_own_apt_waits_for_a_lock_on_its_lists(self) -> None:
        """A lock of fcntl, as apt and dpkg take them, is held while `sleep` has not been called."""
        apt = shutil.which("apt-get")
        if not apt:
            pytest.skip("no apt-get")
        for name in (
            "lists/partial",
            "cache/archives/partial",
            "state",
            "etc/apt.conf.d",
            "etc/preferences.d",
        ):
            (self.folder / name).mkdir(parents=True)
        for name in ("status", "etc/sources.list", "lists/lock"):
            (self.folder / name).touch()
        places = {
            "Dir::State": "state",
            "Dir::State::lists": "lists",
            "Dir::State::status": "status",
            "Dir::Cache": "cache",
            "Dir::Etc": "etc",
            "Dir::Etc::sourcelist": "etc/sources.list",
        }
        text = "".join(f'{name} "{self.folder / place}";\n' for name, place in places.items())
        (self.folder / "apt.conf").write_text(text + 'Dir::Etc::sourceparts "/dev/null";\n')
        self.program(
            "apt-get",
            f"""case "$*" in *install*) exit 0 ;; esac
APT_CONFIG={self.folder}/apt.conf {apt} "$@"; code=$?; echo "$code" >>calls; exit $code""",
        )
        holder = subprocess.Popen(
            [
                sys.executable,
                "-c",
                "import fcntl, sys; f = open(sys.argv[1], 'a'); fcntl.lockf(f, 2);"
                " print('held', flush=True); sys.stdin.read()",
                self.folder / "lists/lock",
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        with holder:
            assert holder.stdout
            assert holder.stdout.readline() == b"held\n"
            self.program("sleep", f"kill {holder.pid}")
            told, codes = self.install()
            assert (codes[0], codes[-1]) == ("100", "0"), told
            assert f"E: Could not get lock {self.folder}/lists/lock" in told
