# SPDX-License-Identifier: MIT
"""genrsa and dhparam: files, bad input, and what OpenSSL says of the results."""

import os
import re
import shutil
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import IO

import pytest
from world import Lab, Outcome

from everycore.environment.errors import EverycoreError
from everycore.run import new_keys

KEY = b"-----BEGIN PRIVATE KEY-----\n"


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> None:
    """No search: dhparam finds 23."""
    monkeypatch.setattr(new_keys, "_find", lambda *_: {"p": 23})


def test_a_key_is_one_that_openssl_takes(real_lab: Callable[..., Outcome], tmp_path: Path) -> None:
    rsa = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.rsa")
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    path = tmp_path / "key.pem"
    outcome = real_lab("genrsa", "1024", "--out", str(path))
    assert outcome.code == 0, outcome.err
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [path]
    key = load_pem_private_key(path.read_bytes(), None)  # checks it
    assert isinstance(key, rsa.RSAPrivateKey)
    assert (key.key_size, key.public_key().public_numbers().e) == (1024, 65537)
    outcome = real_lab("genrsa", "1024")
    assert outcome.out.startswith(KEY.decode())
    assert outcome.out != path.read_text()


@pytest.mark.skipif(not shutil.which("openssl"), reason="no program openssl")
def test_parameters_are_those_that_openssl_takes(real_lab: Callable[..., Outcome]) -> None:
    outcome = real_lab("dhparam", "1024")
    assert outcome.code == 0, outcome.err
    done = subprocess.run(
        ["openssl", "dhparam", "-check", "-text", "-noout"],
        input=outcome.out,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "DH parameters appear to be ok" in done.stdout + done.stderr
    assert "(1024 bit)" in done.stdout
    assert re.search(r"[Gg](enerator)?: *2 ", done.stdout)


@pytest.mark.parametrize("bits", ["0", "1023", "1000", "1025", "8208", "-16", "99999999999"])
@pytest.mark.parametrize("name", ["genrsa", "dhparam"])
def test_impossible_bits_are_refused(lab: Lab, name: str, bits: str) -> None:
    outcome = lab(name, "--", bits)
    outcome.refuses(bits)
    assert outcome.out == ""


@pytest.mark.usefixtures("found")
def test_a_file_that_is_there_is_not_replaced(lab: Lab, tmp_path: Path) -> None:
    path = tmp_path / "dh.pem"
    path.write_text("precious")
    for target in (path, tmp_path):
        lab("dhparam", "2048", "--out", str(target)).refuses("exists and is not replaced")
    link = tmp_path / "link.pem"
    link.symlink_to(tmp_path / "nowhere")
    assert lab("dhparam", "2048", "--out", str(link)).code == 2
    assert path.read_text() == "precious"
    assert sorted(tmp_path.iterdir()) == [path, link]


def test_a_file_that_came_in_between_is_not_replaced(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "dh.pem"

    def find(*_: object) -> dict[str, int]:
        path.write_text("precious")
        return {"p": 23}

    monkeypatch.setattr(new_keys, "_find", find)
    for _ in range(2):  # with links, and without
        lab("dhparam", "2048", "--out", str(path)).refuses()
        assert path.read_text() == "precious"
        path.unlink()
        monkeypatch.setattr(os, "link", _fail)
    assert list(tmp_path.iterdir()) == []


def _fail(*_: object) -> None:
    raise OSError("no hard links here")


@pytest.mark.usefixtures("found")
def test_a_file_system_without_links_gets_the_file_too(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "link", _fail)
    path = tmp_path / "dh.pem"
    assert lab("dhparam", "2048", "--out", str(path)).code == 0
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("error", [KeyboardInterrupt(), EverycoreError("the harness ended")])
def test_a_search_that_ends_early_leaves_nothing(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    def find(*_: object) -> dict[str, int]:
        raise error

    monkeypatch.setattr(new_keys, "_find", find)
    outcome = lab("dhparam", "2048", "--out", str(tmp_path / "dh.pem"))
    assert outcome.code == (130 if isinstance(error, KeyboardInterrupt) else 2)
    assert list(tmp_path.iterdir()) == []


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.usefixtures("found")
@pytest.mark.parametrize("place", ["made", "synced", "named", "copied"])
def test_ctrl_c_behind_a_search_leaves_no_half_of_a_file(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    path = tmp_path / "dh.pem"
    open_file, n_opened = os.fdopen, 0

    def open_second(handle: int, mode: str) -> IO[bytes]:
        """The second file is the one that a file system without links needs."""
        nonlocal n_opened
        n_opened += 1
        file: IO[bytes] = open_file(handle, mode)
        if n_opened == 2:
            file.write(b"-----BEGIN")
            file.close()
            raise KeyboardInterrupt
        return file

    if place == "made":
        monkeypatch.setattr(new_keys, "_der", _interrupt)
    elif place == "synced":
        monkeypatch.setattr(os, "fsync", _interrupt)
    elif place == "named":
        monkeypatch.setattr(os, "link", _interrupt)
    else:
        monkeypatch.setattr(os, "link", _fail)
        monkeypatch.setattr(os, "fdopen", open_second)
    outcome = lab("dhparam", "2048", "--out", str(path))
    assert outcome.code == 130
    assert "Traceback" not in outcome.err
    assert outcome.out == ""
    assert list(tmp_path.iterdir()) == []
    assert n_opened == (2 if place == "copied" else 0)


@pytest.mark.usefixtures("found")
def test_ctrl_c_behind_the_last_step_leaves_the_whole_file(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, close = tmp_path / "dh.pem", os.close

    def close_and_interrupt(handle: int) -> None:
        close(handle)
        if path.exists():
            raise KeyboardInterrupt

    monkeypatch.setattr(os, "close", close_and_interrupt)
    outcome = lab("dhparam", "2048", "--out", str(path))
    assert outcome.code == 130
    assert path.read_bytes() == new_keys.parameters_pem({"p": 23})
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.usefixtures("found")
def test_a_folder_that_is_not_there_is_named(lab: Lab, tmp_path: Path) -> None:
    lab("dhparam", "2048", "--out", str(tmp_path / "none/dh.pem")).refuses("none")
    assert list(tmp_path.iterdir()) == []


def test_genrsa_names_the_package_that_it_lacks(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(new_keys, "find_spec", lambda _: None)
    lab("genrsa", "2048").refuses("extra 'keys'")


def test_the_line_of_a_search_tells_what_is_left() -> None:
    text = new_keys.search_text("dhparam 2048", 100, 2500.0, 4.0)
    assert text == (
        "dhparam 2048: 100 candidates tested, 2500 on average; about 100 s more on average"
    )
    assert "about 50 min more" in new_keys.search_text("dhparam 4096", 10, 10000.0, 3.0)


def test_parameters_are_der() -> None:
    pem = new_keys.parameters_pem({"p": 0x80 << 1016})
    assert pem.startswith(b"-----BEGIN DH PARAMETERS-----\nMIGHAoGBAIAA")
    assert new_keys.parameters_pem({"p": 23}).splitlines()[1] == b"MAYCARcCAQI="
