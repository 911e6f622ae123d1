# SPDX-License-Identifier: MIT
"""Tarballs that try to leave their folder."""

import io
import os
import tarfile
from pathlib import Path

import pytest

from everycore.compile.debs.tarball import unpack

FILE, LINK, HARD, PIPE = tarfile.REGTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE
Member = tuple[bytes, str, str]  # type, name, and content or target


def take(root: Path, *members: Member) -> Path:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for kind, name, text in members:
            member = tarfile.TarInfo(name)
            member.type, member.mode, member.uid = kind, 0o6755, 12345
            data = text.encode() if kind == FILE else b""
            member.size, member.linkname = len(data), "" if kind == FILE else text
            tar.addfile(member, io.BytesIO(data))
    out.seek(0)
    with tarfile.open(fileobj=out) as tar:
        unpack(tar, root, ("doc/",))
    return root


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "outside").write_text("untouched")
    (tmp_path / "root").mkdir()
    return tmp_path / "root"


@pytest.mark.parametrize(
    "members",
    [
        [(FILE, "../new", "x")],
        [(FILE, "/new", "x")],
        [(FILE, "a/../../new", "x")],
        [(FILE, "..", "x")],
        [(LINK, "out", "..")],
        [(LINK, "a/out", "../../outside")],
        [(LINK, "out", "/../outside")],
        [(HARD, "in", "../outside")],
        [(LINK, "a", "b/c"), (LINK, "out", "a/../../..")],
        # inside while `deep` leads deep, outside when it no longer does
        [
            (FILE, "1/2/file", ""),
            (LINK, "deep", "1/2"),
            (LINK, "out", "deep/../.."),
            (LINK, "deep", "1"),
            (FILE, "out/new", "x"),
        ],
        [(PIPE, "pipe", "")],
    ],
)
def test_what_leads_outside_is_refused(root: Path, members: list[Member]) -> None:
    with pytest.raises(tarfile.TarError, match=r"outside|no file"):
        take(root, *members)
    assert {path.name for path in root.parent.iterdir()} == {"outside", "root"}
    assert (root.parent / "outside").read_text() == "untouched"


def test_a_link_in_the_place_of_a_file_is_replaced_not_written_through(root: Path) -> None:
    (root / "file").symlink_to("../outside")
    take(root, (FILE, "file", "new"))
    assert (root / "file").read_text() == "new"
    assert (root.parent / "outside").read_text() == "untouched"


def test_links_inside_are_followed_and_kept(root: Path) -> None:
    (root / "usr/lib").mkdir(parents=True)
    (root / "lib").symlink_to("usr/lib")  # a merged /usr
    take(
        root,
        (FILE, "./lib/x/real", "content"),
        (LINK, "./lib/absolute", "/lib/x/real"),
        (LINK, "./usr/lib/x/relative", "../../../lib/x/real"),
        (HARD, "./lib/hard", "./lib/x/real"),
    )
    for name in ("absolute", "x/relative", "hard", "x/real"):
        assert (root / "usr/lib" / name).read_text() == "content"


def test_neither_owner_nor_special_bits_are_kept(root: Path) -> None:
    take(root, (FILE, "tool", "x"), (FILE, "doc/tool", "x"))
    found = (root / "tool").stat()
    assert (found.st_mode & 0o7777, found.st_uid) == (0o755, os.getuid())
    assert [path.name for path in root.iterdir()] == ["tool"]
