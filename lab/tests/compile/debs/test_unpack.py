# SPDX-License-Identifier: MIT
"""Packages and sources as folders."""

from pathlib import Path

import pytest
from fake_archive import FakeArchive, tarball

from everycore.compile import debs
from everycore.compile.debs import Lock, Request
from everycore.environment.context import Context
from everycore.environment.errors import EverycoreError

REQUEST = Request(("test",), "amd64", ("tool",))


def take(context: Context, request: Request = REQUEST) -> Lock:
    return debs.pinned(context, request, context.cwd / "test.lock", update=True)


def test_absolute_links_stay_inside(context: Context, archive: FakeArchive) -> None:
    links = {"./usr/lib/x/libtool.so": "/lib/x/libtool.so.1"}
    archive.add("tool", files={"./lib/x/libtool.so.1": "ELF"}, links=links)
    archive.publish()
    root = debs.unpacked(context, take(context))
    link = root / "usr/lib/x/libtool.so"
    assert link.read_text() == "ELF"
    assert link.resolve().is_relative_to(root.resolve())


@pytest.mark.parametrize("name", ["../outside", "./usr/../../outside"])
def test_a_package_that_reaches_outside_is_refused(
    context: Context, archive: FakeArchive, name: str
) -> None:
    archive.add("tool", files={name: "x"})
    archive.publish()
    with pytest.raises(EverycoreError, match="cannot unpack"):
        debs.unpacked(context, take(context))
    assert not list((context.cache_dir() / "debs").rglob("outside"))


def test_a_broken_package_leaves_nothing_behind(context: Context, archive: FakeArchive) -> None:
    archive.add("tool", files={"./usr/bin/tool": "x"})
    archive.add("broken").write_bytes(b"")
    archive.packages[-1] = archive.packages[-1].replace("Size", "Old-Size")
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    lines = [f"SHA256: {empty}" if "SHA256" in x else x for x in archive.packages[-1].split("\n")]
    archive.packages[-1] = "\n".join([*lines, "Size: 0"])
    archive.publish()
    with pytest.raises(EverycoreError, match=r"cannot unpack .*broken"):
        debs.unpacked(context, take(context, Request(("test",), "amd64", ("tool", "broken"))))
    assert not list((context.cache_dir() / "debs").glob("roots*/*"))


def test_the_same_packages_are_unpacked_once(context: Context, archive: FakeArchive) -> None:
    archive.add("tool", depends="more")
    archive.add("more", files={"./usr/share/doc/more/README": "x", "./usr/share/more": "y"})
    archive.publish()
    root = debs.unpacked(context, take(context))
    (root / "mark").touch()
    other = take(context, Request(("test",), "amd64", ("tool", "more")))
    assert (debs.unpacked(context, other) / "mark").exists()
    assert (root / "usr/share/more").exists()
    assert not (root / "usr/share/doc").exists()


def test_sources_are_unpacked_as_upstream_and_debian_wrote_them(
    context: Context, archive: FakeArchive
) -> None:
    files = {
        "tool_1.0-1.dsc": b"Format: 3.0 (quilt)\n",
        "tool_1.0.orig.tar.xz": tarball({"tool-1.0/main.c": "upstream"}),
        "tool_1.0.orig.tar.xz.asc": b"a signature",
        "tool_1.0.orig-extra.tar.xz": tarball({"extra-7/part.c": "part"}),
        "tool_1.0-1.debian.tar.xz": tarball({"debian/rules": "rules"}),
    }
    archive.add_source("tool", "0.9-1", {"tool_0.9-1.dsc": b"old"})
    archive.add_source("tool", "1.0-1", files)
    archive.publish()
    lock = take(context, Request(("test",), "amd64", sources=("tool",)))
    root = debs.unpacked_source(context, lock, "tool")
    found = {str(p.relative_to(root)): p.read_text() for p in root.rglob("*") if p.is_file()}
    (old,) = take(context, Request(("test",), "amd64", sources=("tool (<< 1)",))).sources
    assert old.version == "0.9-1"
    assert found == {"main.c": "upstream", "extra/part.c": "part", "debian/rules": "rules"}


def test_of_sources_only_what_is_wanted_is_unpacked(context: Context, archive: FakeArchive) -> None:
    upstream = {"tool-1.0/lib/a.c": "a", "tool-1.0/lib/b/c.c": "c", "tool-1.0/library.c": "x"}
    files = {
        "tool_1.0-1.dsc": b"Format: 3.0 (quilt)\n",
        "tool_1.0.orig.tar.xz": tarball(upstream | {"tool-1.0/COPYING": "no"}),
        "tool_1.0-1.debian.tar.xz": tarball({"debian/rules": "rules"}),
    }
    archive.add_source("tool", "1.0-1", files)
    archive.publish()
    lock = take(context, Request(("test",), "amd64", sources=("tool",)))
    Path(archive.folder, "pool/main/tool/tool_1.0-1.debian.tar.xz").unlink()  # nobody asks for it
    root = debs.unpacked_source(context, lock, "tool", ("lib", "COPYING"))
    found = {str(p.relative_to(root)) for p in root.rglob("*") if p.is_file()}
    assert found == {"lib/a.c", "lib/b/c.c", "COPYING"}
    assert debs.unpacked_source(context, lock, "tool", ("lib",)) != root
    with pytest.raises(EverycoreError, match=r"tool 1\.0-1 has no library"):
        debs.unpacked_source(context, lock, "tool", ("library",))


def test_of_a_tarball_in_a_package_only_what_is_wanted_is_unpacked(
    context: Context, archive: FakeArchive
) -> None:
    inner = tarball({"tool-1.0/lib/a.c": "a", "tool-1.0/lib/b.c": "b", "tool-1.0/COPYING": "no"})
    files: dict[str, str | bytes] = {"usr/src/tool.tar.xz": inner, "usr/src/other": "x"}
    archive.add("tool-source", files=files, depends="missing")
    archive.publish()
    request = Request(("test",), "amd64", ("tool-source",), exclude=("missing",))
    lock = take(context, request)
    root = debs.unpacked_tarball(context, lock, "usr/src/tool.tar.xz", ("lib/a.c",))
    assert [str(p.relative_to(root)) for p in root.rglob("*") if p.is_file()] == ["lib/a.c"]
    for name, only, why in (
        ("usr/src/tool.tar.xz", ("lib/c.c",), r"tool-source 1\.0 has no lib/c\.c"),
        ("usr/src/none.tar.xz", ("lib/a.c",), r"usr/src/none\.tar\.xz of tool-source .* has no"),
        ("usr/src/other", ("lib/a.c",), "cannot unpack"),
    ):
        with pytest.raises(EverycoreError, match=why):
            debs.unpacked_tarball(context, lock, name, only)


def test_a_changed_source_is_refused(context: Context, archive: FakeArchive) -> None:
    archive.add_source("tool", "1.0-1", {"tool_1.0-1.dsc": b"new"})
    archive.publish()
    Path(archive.folder, "pool/main/tool/tool_1.0-1.dsc").write_bytes(b"changed")
    lock = take(context, Request(("test",), "amd64", sources=("tool",)))
    with pytest.raises(EverycoreError, match="wrong sha256"):
        debs.unpacked_source(context, lock, "tool")


def test_machines_have_their_names_in_debian() -> None:
    assert debs.architecture_of("x86_64") == "amd64"
    with pytest.raises(EverycoreError, match="vax"):
        debs.architecture_of("vax")
