# SPDX-License-Identifier: MIT
"""Roots of Debian: what is absent is a skip; a command that did not end has failed."""

import os
import pathlib
import shutil
import subprocess

import debian_roots
import pytest
import test_fresh_machines as fresh
from processes import ROOT

BENCH = "fresh machine: make bench: exit code 0\n"
TEST = "9 passed, 0 failed, 0 skipped\nfresh machine: make test: exit code "


@pytest.mark.parametrize(
    ("text", "failed"),
    [
        pytest.param(f"{BENCH}{TEST}0\n", [], id="both-end"),
        pytest.param(f"{BENCH}{TEST}2\n", ["make test"], id="one-fails"),
        pytest.param(BENCH, ["make test"], id="one-does-not-end"),
        pytest.param("the clone failed\n", ["make bench", "make test"], id="none-ends"),
        pytest.param(
            f"{BENCH}{TEST}0\n".replace("9 passed", "0 passed"), ["make test"], id="none-is-tested"
        ),
        pytest.param(
            f"everycore: apt-get failed (build/system-packages.log); what needs clang is skipped\n"
            f"{BENCH}{TEST}0\n",
            ["make test"],
            id="packages-are-not-installed",
        ),
    ],
)
def test_a_command_has_failed_unless_it_ended_and_tested(text: str, failed: list[str]) -> None:
    assert [command for command, why in fresh.verdicts(text).items() if why] == failed


def test_the_phrases_that_are_looked_for_are_printed() -> None:
    assert fresh.NOT_INSTALLED in (ROOT / "tools/system-packages").read_text()
    assert "remedy: apt-get install -y python3-venv" in (ROOT / "tools/setup").read_text()
    for command in ("make bench", "make test"):
        assert f"fresh machine: {command}: exit code $code" in fresh.IN_ROOT


def test_without_mmdebstrap_it_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(pytest.skip.Exception, match="no mmdebstrap"):
        debian_roots.mode()


@pytest.mark.parametrize("user", [0, 1000])
def test_a_user_who_can_make_no_root_is_skipped(user: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: "mmdebstrap")
    monkeypatch.setattr(os, "geteuid", lambda: user)
    refused = subprocess.CompletedProcess[str]([], 1)
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: refused)
    with pytest.raises(pytest.skip.Exception):
        debian_roots.mode()


def test_certificates_are_copied_and_other_settings_are_not_passed_on(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificates = tmp_path / "certificates.pem"
    certificates.touch()
    for name in debian_roots.NETWORK:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CERT", str(certificates))
    monkeypatch.setenv("https_proxy", "http://a proxy")
    assignments, files = debian_roots.network()
    inside = f"{debian_roots.NETWORK_FOLDER}/PIP_CERT"
    assert assignments == ["export https_proxy='http://a proxy'", f"export PIP_CERT={inside}"]
    assert files == [(str(certificates), inside)]
