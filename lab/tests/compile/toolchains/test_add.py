# SPDX-License-Identifier: MIT
"""Compilers of a tiny archive: scripts that call this machine's own, fetched like the real ones."""

import errno
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from fake_archive import FakeArchive
from world import Lab, Outcome

from everycore.compile import debs
from everycore.compile.catalog import REGISTRY, find_tree
from everycore.compile.toolchains.installed import installed
from everycore.compile.toolchains.parts import all_added
from everycore.environment.context import SystemRunner
from everycore.model.domain import Toolchain

COMPILER = """\
#!/bin/sh
# A compiler of version {major}: "$0" lies in its root.
cat "${{0%/bin/*}}/share-{major}" >/dev/null || exit 1
case " $* " in *" -dM "*)
    echo "#define __GNUC__ {major}"; echo "#define __GNUC_MINOR__ 1"
    echo "#define __GNUC_PATCHLEVEL__ 0"; exit ;;
esac
{action}
"""
WORKS = 'exec cc "$@"'
WRONG = """\
while [ $# -gt 1 ]; do [ "$1" = -o ] && out=$2; shift; done
[ "$1" = - ] || out=$1
echo 'unsigned evc_probe(void) { return 7; }' | exec cc -fno-pie -c -x c - -o "$out" """
FAILS = 'echo "gcc: error: on purpose" >&2; exit 1'


def add_compiler(archive: FakeArchive, major: int, action: str = WORKS, version: str = "1") -> Path:
    name = f"gcc-{major}"
    script = COMPILER.format(major=major, action=action)
    files = {f"./usr/bin/{name}": script, f"./usr/share-{major}": "own", "./usr/share/doc/x": "-"}
    return archive.add(name, version, files, depends="libshared, libstdc++-14-dev")


@pytest.fixture
def lab(tmp_path: Path, archive: FakeArchive) -> Lab:
    """A lab with gcc-98 and gcc-99 in its archive, locked; a checkout whose lock may be written."""
    if not shutil.which("cc"):
        pytest.skip("no C compiler: apt-get install gcc libc6-dev")
    archive.add("libshared", "1", {"./lib/libshared": "shared" * 20000})
    add_compiler(archive, 98)
    add_compiler(archive, 99)
    archive.publish()
    (tmp_path / "path").mkdir()
    (tmp_path / "path/cc").symlink_to(shutil.which("cc") or "")
    env = {
        "PATH": str(tmp_path / "path"),  # of which compilers are asked what they are
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "EVERYCORE_MIRROR": str(archive.folder),
        "EVERYCORE_KEYRING": str(archive.key.keyring),
        "EVERYCORE_TREE": str(tmp_path / "tree"),
    }
    lab = Lab(SystemRunner(), tmp_path, env, width=200)
    tree = find_tree(lab.context().package)
    for name in ("catalog/targets", "catalog/toolchains"):
        shutil.copytree(tree.root / name, tmp_path / "tree" / name)
    (tmp_path / "tree/src").mkdir()
    shutil.copy(tree.root / REGISTRY, tmp_path / "tree" / REGISTRY)
    (tmp_path / "tree/catalog/toolchains/compilers.toml").write_text(
        'suites = ["test"]\ntargets = []\n[oldest]\n[wheels]\n'
    )
    return lab


@pytest.fixture
def locked(lab: Lab) -> Lab:
    assert lab("toolchain", "lock").code == 0
    return lab


def add(lab: Lab, *names: str) -> Outcome:
    return lab("toolchain", "add", *names)


def cache(lab: Lab, name: str) -> list[str]:
    folder = Path(lab.env["XDG_CACHE_HOME"], "everycore", name)
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []


def names(lab: Lab) -> set[str]:
    context = lab.context()
    tree = find_tree(context.package, lab.env["EVERYCORE_TREE"])
    return {toolchain.name for toolchain in installed(context, tree)} & {"gcc-98", "gcc-99"}


def test_a_compiler_of_the_archive_is_locked_added_and_proven(locked: Lab) -> None:
    done = add(locked, "gcc-99")
    assert done.code == 0, done.err
    assert "1 added" in done.out
    context = locked.context()
    added = toolchain(locked, "gcc-99")
    assert (added.provider, added.version) == ("debian", (99, 1, 0))
    assert added.origin == "Debian test, gcc-99 1"
    assert all_added(context)[0].proofs == {"host": "ran"}
    compiler = added.compiler("host")
    assert compiler is not None
    source = locked.folder / "a.c"
    source.write_text("#include <string.h>\nint f(const char *s) { return (int)strlen(s); }\n")
    argv = [*compiler.command, "-c", str(source), "-o", str(locked.folder / "a.o")]
    assert locked.runner.run(argv).code == 0


def toolchain(lab: Lab, name: str) -> Toolchain:
    context = lab.context()
    tree = find_tree(context.package, lab.env.get("EVERYCORE_TREE", ""))
    return {
        installed_toolchain.name: installed_toolchain
        for installed_toolchain in installed(context, tree)
    }[name]


def fingerprint(lab: Lab, name: str) -> str:
    compiler = toolchain(lab, name).compiler("host")
    assert compiler is not None
    return compiler.fingerprint


def test_what_was_fetched_is_not_fetched_again(locked: Lab, archive: FakeArchive) -> None:
    add(locked, "gcc-99")
    before = fingerprint(locked, "gcc-99")
    shutil.rmtree(archive.folder / "pool")
    assert add(locked, "gcc-99").code == 0
    assert fingerprint(locked, "gcc-99") == before
    assert cache(locked, "debs/files") == [f for f in cache(locked, "debs/files") if ".xz" in f]


def test_list_shows_the_disk_use_and_what_can_be_added(locked: Lab) -> None:
    add(locked, "gcc-99")
    done = locked("toolchain", "list")
    assert "Debian test, gcc-99 1" in done.out
    assert "can be added: gcc-98" in done.out
    rows = [json.loads(line) for line in locked("toolchain", "list", "--json").out.splitlines()]
    row = next(row for row in rows if row["name"] == "gcc-99")
    assert row["bytes"] > 120000
    assert row["proofs"] == {"host": "ran"}


def test_what_is_complete_is_left_alone(locked: Lab, archive: FakeArchive, tmp_path: Path) -> None:
    own = tmp_path / "path" / "gcc-98"  # of the machine itself
    own.write_text(COMPILER.format(major=98, action=WORKS).replace("cat ", "true "))
    own.chmod(0o755)
    assert "1 added" in add(locked, "--all").out
    shutil.rmtree(archive.folder)
    for more in ((), ("--target", "host")):
        done = add(locked, "--all", *more)
        assert done.code == 0, done.err
        assert "all compilers of the lock file are here: nothing to add" in done.out
        assert [toolchain.name for toolchain in all_added(locked.context())] == ["gcc-99"]


def test_packages_are_shared_and_removal_frees_what_no_other_needs(locked: Lab) -> None:
    add(locked, "--all")
    assert names(locked) == {"gcc-98", "gcc-99"}
    assert len(cache(locked, "toolchains/store")) == 3
    done = locked("toolchain", "remove", "gcc-99")
    assert done.code == 0
    assert len(cache(locked, "toolchains/store")) == 2
    assert names(locked) == {"gcc-98"}
    locked("toolchain", "remove", "--all")
    assert cache(locked, "toolchains/store") == cache(locked, "toolchains/roots") == []
    assert cache(locked, "toolchains/bin") == cache(locked, "toolchains/parts") == []


def test_another_version_under_the_name_of_this_machine_s_own_is_told_apart(
    locked: Lab, tmp_path: Path
) -> None:
    own = tmp_path / "path" / "gcc-99"
    script = COMPILER.format(major=99, action=WORKS).replace("MINOR__ 1", "MINOR__ 2")
    own.write_text(script.replace("cat ", "true "))
    own.chmod(0o755)
    assert "gcc-99" not in locked("toolchain", "list").out.partition("can be added")[2]
    add(locked, "gcc-99")
    context = locked.context()
    found = {
        toolchain.name: toolchain for toolchain in installed(context, find_tree(context.package))
    }
    assert (found["gcc-99"].provider, found["gcc-99"].version) == ("host", (99, 2, 0))
    assert (found["gcc-99@debian"].provider, found["gcc-99@debian"].version[1]) == ("debian", 1)
    own.write_text(own.read_text().replace("MINOR__ 2", "MINOR__ 1"))
    found = {
        toolchain.name: toolchain for toolchain in installed(context, find_tree(context.package))
    }
    assert found["gcc-99"].provider == "host"
    assert "gcc-99@debian" not in found  # the same compiler


def test_removing_what_is_not_there_says_what_is(locked: Lab) -> None:
    done = locked("toolchain", "remove", "gcc-99")
    assert done.code == 2
    assert "unknown added toolchain 'gcc-99'" in done.err


def test_a_name_that_the_lock_lacks_is_refused_before_anything_is_fetched(locked: Lab) -> None:
    done = add(locked, "gcc-99", "gcc-4")
    assert done.code == 2
    assert "unknown compiler 'gcc-4'" in done.err
    assert not names(locked)


def test_a_moved_archive_says_of_when_the_lock_is_and_what_to_do(
    locked: Lab, archive: FakeArchive
) -> None:
    for path in (archive.folder / "pool/main").glob("gcc-99*"):
        path.unlink()
    done = add(locked, "gcc-99")
    assert done.code == 2
    assert "the archive has moved on since this lock was made (test Thu, 01 Jan 2026" in done.err
    assert "everycore toolchain lock" in done.err
    assert "EVERYCORE_MIRROR" in done.err


def test_a_moved_archive_is_locked_anew(lab: Lab, locked: Lab, archive: FakeArchive) -> None:
    archive.remove(next((archive.folder / "pool/main").glob("gcc-99*")))
    add_compiler(archive, 99, version="2")
    archive.publish()
    assert add(locked, "gcc-99").code == 2
    assert lab("toolchain", "lock").code == 0
    assert add(lab, "gcc-99").code == 0
    assert "gcc-99 2" in lab("toolchain", "list").out


def test_a_damaged_download_is_noticed_and_leaves_nothing(
    locked: Lab, archive: FakeArchive
) -> None:
    path = next((archive.folder / "pool/main").glob("gcc-99*"))
    good = path.read_bytes()
    path.write_bytes(good[:-1] + b"x")
    done = add(locked, "gcc-99")
    assert done.code == 2
    assert "wrong sha256" in done.err
    assert not names(locked)
    assert not cache(locked, "toolchains/roots")
    path.write_bytes(good)
    assert add(locked, "gcc-99").code == 0


def test_no_network_says_so(locked: Lab) -> None:
    locked.env["EVERYCORE_MIRROR"] = "http://127.0.0.1:9/debian"
    done = add(locked, "gcc-99")
    assert done.code == 2
    assert "cannot read the mirror http://127.0.0.1:9/debian" in done.err
    assert "is there a network?" in done.err
    done = locked("toolchain", "lock")
    assert done.code == 2
    assert "no compilers of test: cannot read the mirror" in done.err


def test_a_suite_that_cannot_be_read_costs_the_lock_no_compilers(
    locked: Lab, archive: FakeArchive
) -> None:
    tree = Path(locked.env["EVERYCORE_TREE"])
    lock = tree / "catalog/toolchains/amd64.lock"
    before = lock.read_text()
    wanted = tree / "catalog/toolchains/compilers.toml"
    shutil.copytree(archive.folder / "dists/test", archive.folder / "dists/other")
    for absent, code in (("nosuch", 0), ("other", 2)):  # the other is signed as "test"
        wanted.write_text(f'suites = ["test", "{absent}"]\ntargets = []\n[oldest]\n[wheels]\n')
        done = locked("toolchain", "lock")
        assert done.code == code
        assert f"no compilers of {absent}: " in done.err
        assert lock.read_text() == before
    assert "the lock file stays as it was" in done.err


def test_a_full_disk_says_so_and_leaves_nothing(
    locked: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(debs, "unpack_package", full)
        done = add(locked, "gcc-99")
    assert done.code == 2
    assert "No space left on device" in done.err
    assert "toolchain remove" in done.err
    assert len([name for name in cache(locked, "debs/files") if ".deb" in name]) == 2
    assert locked("toolchain", "remove", "--all").code == 0  # frees what was fetched for nothing
    assert not [name for name in cache(locked, "debs/files") if ".deb" in name]
    with monkeypatch.context() as patch:
        patch.setattr(os, "link", full)
        assert "No space left on device" in add(locked, "gcc-99").err
    assert cache(locked, "toolchains/store") == cache(locked, "toolchains/roots") == []
    assert add(locked, "gcc-99").code == 0


def test_two_runs_at_once_both_succeed(locked: Lab) -> None:
    argv = [sys.executable, "-m", "everycore", "toolchain", "add", "gcc-98", "gcc-99"]
    env = os.environ | locked.env | {"PATH": os.environ["PATH"]}
    runs = [subprocess.Popen(argv, env=env, stderr=subprocess.PIPE) for _ in range(2)]
    assert [(run.communicate()[1], run.returncode)[1] for run in runs] == [0, 0]
    assert names(locked) == {"gcc-98", "gcc-99"}


def test_what_a_killed_run_has_left_goes_with_the_next_one(locked: Lab) -> None:
    for name in ("roots", "store"):
        left = Path(locked.env["XDG_CACHE_HOME"], "everycore/toolchains", name, ".tmpx")
        left.mkdir(parents=True)
        (left / "file").write_text("half")
    assert add(locked, "gcc-99").code == 0
    for name in ("roots", "store"):
        assert ".tmpx" not in cache(locked, f"toolchains/{name}")


def test_a_compiler_that_makes_wrong_programs_is_not_added(lab: Lab, archive: FakeArchive) -> None:
    add_compiler(archive, 97, WRONG)
    add_compiler(archive, 96, FAILS)
    archive.publish()
    lab("toolchain", "lock")
    done = add(lab, "gcc-96", "gcc-97", "gcc-98")
    assert done.code == 2
    assert "makes wrong programs for host: 00000007" in done.err
    assert "compiles nothing for host: gcc: error: on purpose" in done.err
    assert "1 added" in done.out  # one that fails stops no other
    assert [toolchain.name for toolchain in all_added(lab.context())] == ["gcc-98"]


def test_compilers_of_a_folder_are_used_as_they_are(lab: Lab, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    (folder / "bin").mkdir(parents=True)
    script = folder / "bin" / "gcc"
    script.write_text(COMPILER.format(major=77, action=WORKS).replace("cat", "true"))
    script.chmod(0o755)
    done = add(lab, "--path", str(folder))
    assert done.code == 0, done.err
    context = lab.context()
    added = toolchain(lab, "gcc-77")
    assert (added.provider, added.origin) == ("path", "a folder of the user's")
    shutil.rmtree(Path(lab.env["XDG_CACHE_HOME"]))  # a cache may go at any time
    assert toolchain(lab, "gcc-77").version == (77, 1, 0)
    assert lab("toolchain", "remove", "gcc-77").code == 0
    assert script.is_file()
    assert not all_added(context)


def test_what_fails_in_a_folder_stops_no_other_and_a_cross_compiler_is_run(
    lab: Lab, tmp_path: Path
) -> None:
    cross = "aarch64-linux-gnu-gcc"
    for name in (cross, "qemu-aarch64"):
        if not (place := shutil.which(name)):
            pytest.skip(f"no {name}")
        (tmp_path / "path" / name).symlink_to(place)
    (folder := tmp_path / "mine").mkdir()
    scripts = {
        "gcc-76": (76, WRONG),
        "gcc-77": (77, WORKS),
        f"{cross}-77": (77, f'exec {cross} "$@"'),
        f"{cross}-75": (75, WRONG.replace("exec cc", f"exec {cross}")),
    }
    for name, (major, action) in scripts.items():
        text = COMPILER.format(major=major, action=action).replace("cat ", "true ")
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    done = add(lab, "--path", str(folder))
    assert done.code == 2
    assert "gcc-76: " in done.err
    assert "makes wrong programs for host" in done.err
    assert "gcc-75 for qemu-aarch64: " in done.err
    (added,) = all_added(lab.context())
    assert (added.name, added.proofs) == ("gcc-77", {"host": "ran", "qemu-aarch64": "ran"})


def test_a_folder_without_a_working_compiler_says_what_it_has(lab: Lab, tmp_path: Path) -> None:
    done = add(lab, "--path", str(tmp_path / "nowhere"))
    assert done.code == 2
    assert "is no folder" in done.err
    script = tmp_path / "gcc"
    script.write_text("#!/bin/sh\nexit 1\n")
    script.chmod(0o755)
    done = add(lab, "--path", str(tmp_path))
    assert done.code == 2
    assert "there is gcc" in done.err


@pytest.mark.parametrize("words", [("add",), ("add", "gcc-99", "--all"), ("remove",)])
def test_a_command_that_says_nothing_or_two_things_is_refused(
    lab: Lab, words: tuple[str, ...]
) -> None:
    done = lab("toolchain", *words)
    assert done.code == 2
    assert "wants names, or --all" in done.err


def test_a_part_without_a_lock_says_how_to_get_one(lab: Lab) -> None:
    (Path(lab.env["EVERYCORE_TREE"]) / "catalog/toolchains/amd64.lock").unlink(missing_ok=True)
    done = add(lab, "gcc-99")
    assert done.code == 2
    assert "everycore toolchain lock" in done.err
