# SPDX-License-Identifier: MIT
"""Parts of an archive that are believed, and that are not."""

import functools
import http.server
import shutil
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from fake_archive import DATE, FakeArchive, Key
from world import Lab

from everycore.compile import debs
from everycore.compile.debs import Lock, Request
from everycore.compile.debs.mirror import find_mirrors
from everycore.environment.context import Completed, Context, SystemRunner
from everycore.environment.errors import EverycoreError, UnavailableError

REQUEST = Request(("test",), "amd64", ("tool",))


def take(context: Context, request: Request = REQUEST, update: bool = True) -> Lock:
    return debs.pinned(context, request, context.cwd / "test.lock", update)


def root_of(context: Context, lock: Lock) -> Path:
    return debs.unpacked(context, lock)


def test_a_signed_archive_gives_a_whole_folder(context: Context, archive: FakeArchive) -> None:
    archive.add("tool", depends="libtool (>= 2)", files={"./usr/bin/tool": "#!"})
    archive.add("libtool", "2.0", files={"./lib/x/libtool.so": "ELF"})
    archive.publish()
    root = root_of(context, take(context))
    assert (root / "usr/bin/tool").read_text() == "#!"
    assert (root / "usr/lib/x/libtool.so").read_text() == "ELF"  # /lib is /usr/lib
    assert (root / "lib/x/libtool.so").exists()


def test_a_release_signed_by_an_unknown_key_names_key_and_remedy(
    context: Context, archive: FakeArchive, make_key: Callable[[], Key]
) -> None:
    archive.key = make_key()
    archive.add("tool")
    archive.publish()
    with pytest.raises(
        EverycoreError, match=r"signed by keys that .* lacks: [0-9A-F]{16}"
    ) as error:
        take(context)
    assert "debian-archive-keyring" in error.value.hint


def test_a_release_changed_after_it_was_signed_is_refused(
    context: Context, archive: FakeArchive
) -> None:
    archive.add("tool")
    archive.publish()
    release = archive.folder / "dists/test/InRelease"
    release.write_bytes(release.read_bytes().replace(b"Suite: test", b"Suite: best"))
    with pytest.raises(EverycoreError, match=r"signature of test .* is wrong or missing"):
        take(context)


def test_a_release_without_a_signature_is_refused(context: Context, archive: FakeArchive) -> None:
    archive.add("tool")
    archive.publish()
    release = archive.folder / "dists/test/InRelease"
    text = release.read_text()
    release.write_text(text[text.index("Suite:") : text.index("-----BEGIN PGP SIG")])
    with pytest.raises(EverycoreError, match=r"signature of test .* is wrong or missing"):
        take(context)


def test_the_release_of_another_suite_is_refused(context: Context, archive: FakeArchive) -> None:
    archive.add("tool")
    archive.publish("old")
    shutil.move(archive.folder / "dists/old", archive.folder / "dists/test")
    with pytest.raises(EverycoreError, match="the mirror has old in the place of test"):
        take(context)


def test_text_outside_of_the_signature_is_not_read(context: Context, archive: FakeArchive) -> None:
    archive.add("tool")
    archive.publish()
    release = archive.folder / "dists/test/InRelease"
    forged = b"Date: forged\nSHA256:\n 00 1 main/binary-amd64/Packages.xz\n\n"
    release.write_bytes(forged + release.read_bytes())
    assert take(context).date == f"test {DATE}"


@pytest.mark.parametrize(
    "path", ["dists/test/main/binary-amd64/Packages.xz", "pool/main/tool_1.0_amd64.deb"]
)
def test_a_file_that_differs_from_its_sha256_is_refused(
    context: Context, archive: FakeArchive, path: str
) -> None:
    archive.add("tool")
    archive.publish()
    file = archive.folder / path
    file.write_bytes(file.read_bytes()[:-1] + b"X")
    with pytest.raises(EverycoreError, match=rf"{path} has a wrong sha256"):
        root_of(context, take(context))
    assert not list((context.cache_dir() / "debs").glob("roots*/*"))  # nothing half there
    assert not any("tool" in p.name for p in (context.cache_dir() / "debs/files").iterdir())


def test_a_release_that_ran_out_is_refused_unless_apt_allows_it(
    context: Context, archive: FakeArchive
) -> None:
    archive.valid_until = "Thu, 01 Jan 2026 12:00:00 UTC"
    archive.add("tool")
    archive.publish()

    class Apt(SystemRunner):
        check = "true"

        def run(self, argv, **words):  # type: ignore[no-untyped-def]
            if argv[0] == "apt-config":
                return Completed(0, f"V0='{self.check}'\n")
            return super().run(argv, **words)

    runner = Apt()
    with pytest.raises(EverycoreError, match="was valid until Thu, 01 Jan 2026 12:00:00 UTC"):
        take(replace(context, runner=runner))
    runner.check = "false"
    assert take(replace(context, runner=runner)).packages


def test_an_unknown_suite_is_named_with_the_mirrors_asked(
    context: Context, archive: FakeArchive
) -> None:
    archive.publish()
    with pytest.raises(EverycoreError, match="no suite 'nosuch' on file://"):
        take(context, replace(REQUEST, suites=("nosuch",)))


def test_a_mirror_is_read_over_http(context: Context, archive: FakeArchive) -> None:
    archive.add(
        "tool", "1:2.0~rc1+b1", files={"./usr/bin/tool": "#!"}
    )  # characters that URLs quote
    archive.publish()
    with serve(archive.folder) as url:
        lock = take(replace(context, env={**context.env, "EVERYCORE_MIRROR": url}))
        assert [p.version for p in lock.packages] == ["1:2.0~rc1+b1"]


def test_without_a_network_the_mirror_is_named(context: Context) -> None:
    with serve(context.cwd) as url:
        pass  # now nothing listens there
    offline = replace(context, env={**context.env, "EVERYCORE_MIRROR": url})
    with pytest.raises(
        UnavailableError, match=r"cannot read the mirror http://127\.0\.0\.1"
    ) as error:
        take(offline)
    assert error.value.code == 2


@pytest.mark.parametrize(
    "answer",
    [b"HTTP/1.0 200 OK\r\nContent-Length: 100\r\n\r\ncut short", b"SSH-2.0-OpenSSH_9.2\r\n\r\n"],
)
def test_a_mirror_that_answers_badly_is_named(context: Context, answer: bytes) -> None:
    class Bad(Quiet):
        def do_GET(self) -> None:
            self.wfile.write(answer)

    with serve(context.cwd, Bad) as url:
        odd = replace(context, env={**context.env, "EVERYCORE_MIRROR": url})
        with pytest.raises(UnavailableError, match=r"cannot read the mirror http://127\.0\.0\.1"):
            take(odd)


@pytest.mark.parametrize(
    "how", [b"Transfer-Encoding: chunked\r\n\r\nff", b"Content-Length: 100\r\n"]
)
def test_a_transfer_that_was_cut_is_no_wrong_file(
    context: Context, archive: FakeArchive, how: bytes
) -> None:
    archive.add("tool")
    archive.publish()
    lock = take(context)

    class Cut(Quiet):
        def do_GET(self) -> None:
            self.wfile.write(b"HTTP/1.0 200 OK\r\n" + how + b"\r\ncut")

    with serve(context.cwd, Cut) as url:
        odd = replace(context, env={**context.env, "EVERYCORE_MIRROR": url})
        with pytest.raises(UnavailableError, match=r"cannot fetch http://127\.0\.0\.1"):
            root_of(odd, lock)


def test_without_apt_and_setting_the_setting_is_named(lab: Lab, tmp_path: Path) -> None:
    lab.runner.absent = ("apt-get", "apt-config")
    (example := tmp_path / "sources.list").write_text("# deb http://example.org/debian test main\n")
    for absent in (tmp_path / "none", example):
        with pytest.raises(EverycoreError, match="no mirror") as error:
            find_mirrors(lab.context(), absent)
        assert "EVERYCORE_MIRROR" in error.value.hint


def test_where_apt_has_no_sources_its_default_archive_is_used(lab: Lab, tmp_path: Path) -> None:
    lab.runner.absent = ("apt-get", "apt-config")
    (example := tmp_path / "sources.list").write_text(
        "# See sources.list(5)\n#deb-src http://a.example.org/x test main\n"
        "deb [arch=amd64] http://b.example.org/debian/ test main\n"
        "deb http://c.example.org/debian test main\n"
    )
    context = lab.context()
    assert [mirror.url for mirror in find_mirrors(context, example)] == [
        "http://b.example.org/debian"
    ]
    assert "default archive, http://b.example.org/debian" in context.err.file.getvalue()  # type: ignore[attr-defined]


def test_mirrors_and_proxies_are_those_of_apt() -> None:
    class Apt(SystemRunner):
        def run(self, argv, **_words):  # type: ignore[no-untyped-def]
            if argv[0] == "apt-config":
                return Completed(0, "V1='http://proxy.example.org:3142'\n")
            lines = (
                "http://one.example.org/debian/",
                "cdrom://disc/",
                "http://one.example.org/debian/",
            )
            return Completed(0, "\n".join(lines))

    context = replace(Lab(Apt(), Path(), {}).context(), runner=Apt())
    (mirror,) = find_mirrors(context)
    assert mirror.url == "http://one.example.org/debian"
    assert mirror.proxy == "http://proxy.example.org:3142"


# ---- Locks -------------------------------------------------------------------------------------


def test_a_lock_is_read_back_as_it_was_written(context: Context, archive: FakeArchive) -> None:
    archive.add("tool")
    archive.publish()
    request = replace(REQUEST, optional=("absent",), exclude=("perl",))
    lock = take(context, request)
    assert take(context, request, update=False) == lock
    assert lock.absent == (("absent", "the archive has no package absent"),)


def test_what_a_lock_names_is_fetched_without_asking_for_an_index(
    context: Context, archive: FakeArchive
) -> None:
    archive.add("tool", files={"./usr/bin/tool": "#!"})
    archive.publish()
    lock = take(context)
    (archive.folder / "dists/test/InRelease").unlink()
    assert (root_of(context, take(context, update=False)) / "usr/bin/tool").exists()
    assert lock.packages[0].version == "1.0"


def test_a_lock_that_the_archive_has_left_behind_says_so_and_update_refreshes_it(
    context: Context, archive: FakeArchive
) -> None:
    old = archive.add("tool", "1.0")
    archive.publish()
    lock = take(context)
    archive.remove(old)
    archive.add("tool", "1.1")
    archive.publish()
    with pytest.raises(UnavailableError, match=r"moved on .* has no pool/main/tool_1.0") as error:
        root_of(context, lock)
    assert "--update" in error.value.hint
    assert root_of(context, take(context, update=True)).is_dir()
    assert take(context, update=False).packages[0].version == "1.1"


def test_what_is_unpacked_stays_when_the_archive_moves_on(
    context: Context, archive: FakeArchive
) -> None:
    old = archive.add("tool", "1.0")
    archive.publish()
    root = root_of(context, take(context))
    archive.remove(old)
    assert root_of(context, take(context, update=False)) == root


def test_a_lock_of_another_request_is_not_used(context: Context, archive: FakeArchive) -> None:
    archive.add("tool")
    archive.publish()
    take(context)
    with pytest.raises(EverycoreError, match=r"its packages are tool, not tool, more"):
        take(context, replace(REQUEST, packages=("tool", "more")), update=False)


def test_an_optional_package_that_a_lock_was_not_asked_for_is_absent(
    context: Context, archive: FakeArchive
) -> None:
    archive.add("tool")
    archive.add("later")
    archive.publish()
    take(context)
    later = replace(REQUEST, optional=("later",))
    assert take(context, later, update=False).absent[0][0] == "later"
    assert take(context, later, update=True).absent == ()


@pytest.mark.parametrize("text", ["", "[]", '{"format": 1}', '{"format": 99}'])
def test_a_file_that_is_no_lock_is_named(context: Context, text: str) -> None:
    path = context.cwd / "test.lock"
    path.write_text(text)
    with pytest.raises(EverycoreError, match=r"test\.lock") as error:
        take(context, update=False)
    assert "--update" in error.value.hint


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Nothing on the terminal."""


class serve:  # noqa: N801 - reads as a verb
    """A folder over HTTP on the loopback, as long as the block lasts."""

    def __init__(self, folder: Path, kind: type[Quiet] = Quiet) -> None:
        handler = functools.partial(kind, directory=str(folder))
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)

    def __enter__(self) -> str:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{self._server.server_port}"

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
