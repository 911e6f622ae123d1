# SPDX-License-Identifier: MIT
"""tests/systems/fresh_machines.py counts a command that did not end as failed."""

import os
import pathlib
import shutil
import subprocess
import sys
from unittest import mock

import fresh_machines as fresh
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


class TestFreshMachines:
    @pytest.fixture(autouse=True)
    def arguments(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setattr(sys, "argv", ["fresh_machines.py", "trixie"])
        self.capsys = capsys

    def run_with(self, text: str) -> tuple[int, str]:
        with mock.patch.object(fresh, "try_suite", side_effect=[text]):
            return fresh.main(), self.capsys.readouterr().out.splitlines()[-1]

    def test_each_command_is_a_test_and_one_that_does_not_end_has_failed(self) -> None:
        bench, test = (
            "fresh machine: make bench: exit code 0\n",
            "9 passed, 0 failed, 0 skipped\nfresh machine: make test: exit code ",
        )
        assert self.run_with(bench + test + "0\n") == (0, "2 passed, 0 failed, 0 skipped")
        assert self.run_with(bench + test + "2\n") == (1, "1 passed, 1 failed, 0 skipped")
        assert self.run_with(bench) == (1, "1 passed, 1 failed, 0 skipped")
        assert self.run_with("the clone failed\n") == (1, "0 passed, 2 failed, 0 skipped")
        silent = (bench + test + "0\n").replace("9 passed", "0 passed")
        assert self.run_with(silent) == (1, "1 passed, 1 failed, 0 skipped")

    def test_packages_that_are_not_installed_are_a_failure(self) -> None:
        ended = (
            "fresh machine: make bench: exit code 0\n9 passed, 0 failed, 90 skipped\n"
            "fresh machine: make test: exit code 0\n"
        )
        text = (
            f"everycore: apt-get failed (build/system-packages.log); what needs clang is "
            f"skipped\n{ended}"
        )
        assert self.run_with(text) == (1, "1 passed, 1 failed, 0 skipped")

    def test_the_phrases_that_it_looks_for_are_printed(self) -> None:
        assert fresh.NOT_INSTALLED in (ROOT / "tools/system-packages").read_text()
        assert "remedy: apt-get install -y python3-venv" in (ROOT / "tools/setup").read_text()
        for command in ("make bench", "make test"):
            assert f"fresh machine: {command}: exit code $code" in fresh.IN_ROOT

    def test_a_machine_that_cannot_make_a_root_skips(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(shutil, "which", lambda _name: None)
        with pytest.raises(fresh.LackingError, match="no mmdebstrap"):
            fresh.mode()
        monkeypatch.setattr(shutil, "which", lambda _name: "mmdebstrap")
        refused = subprocess.CompletedProcess[str]([], 1)
        for user in (0, 1000):
            with (
                mock.patch.object(os, "geteuid", return_value=user),
                mock.patch.object(subprocess, "run", return_value=refused),
                pytest.raises(fresh.LackingError),
            ):
                fresh.mode()

    def test_certificates_are_copied_and_other_settings_are_not_passed_on(
        self, tmp_path: pathlib.Path
    ) -> None:
        folder = tmp_path
        (folder / "certificates.pem").touch()
        settings = {
            "PIP_CERT": str(folder / "certificates.pem"),
            "https_proxy": "http://a proxy",
            "HOME": str(folder),
        }
        with mock.patch.dict(os.environ, settings, clear=True):
            assignments, files = fresh.network()
        inside = f"{fresh.NETWORK_FOLDER}/PIP_CERT"
        assert assignments == ["export https_proxy='http://a proxy'", f"export PIP_CERT={inside}"]
        assert files == [(settings["PIP_CERT"], inside)]
