# SPDX-License-Identifier: MIT
import os
import shutil
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from world import Lab

from everycore.compile.binaries import (
    IN_USE_SECONDS,
    LAUNCHER,
    UNUSED_SECONDS,
    PeerUnavailableError,
    build_harness,
    build_object,
    build_peer,
    build_tool,
    forget_unused,
)
from everycore.environment import progress
from everycore.environment.context import Completed
from everycore.environment.errors import EverycoreError
from everycore.model.domain import Build, Compiler, Installed, Peer, Target, Tree, Vendored

GCC = Compiler(("gcc",), "gcc 12.2.0", "fingerprint")
FILES = {"src/a.c": "int a;", "src/b.c": "int b;", "harness/main.c": "", "include/x.h": "#"}


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    for name, text in FILES.items():
        path = tmp_path / "tree" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return Tree(tmp_path / "tree", True)


def build(lab: Lab, tree: Tree, *flags: str, compiler: Compiler = GCC) -> tuple[Build, list[str]]:
    """The build, and what was compiled or linked for it."""
    lab.runner.calls.clear()
    result = build_harness(lab.context(), tree, Target("host", ""), compiler, flags)
    compiled = [c[c.index("-c") + 1] for c in lab.runner.calls if "-c" in c]
    return result, sorted(compiled)


def test_everything_is_compiled_once(lab: Lab, tree: Tree) -> None:
    first, compiled = build(lab, tree, "-O2")
    assert compiled == ["harness/main.c", "src/a.c", "src/b.c"]
    assert first.binary.is_file()
    second, compiled = build(lab, tree, "-O2")
    assert (second.binary, compiled, lab.runner.calls) == (first.binary, [], [])


def test_the_first_compilation_says_what_it_does(
    lab: Lab, tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "LINE_EVERY_SECONDS", 0.0)
    said = StringIO()
    context = replace(lab.context(), err=Console(file=said, force_terminal=False))
    build_harness(context, tree, Target("host", ""), GCC, ())
    assert "compiling, once for this compiler: 1 of 3 done" in said.getvalue()
    said.truncate(0)
    build_harness(context, tree, Target("host", ""), GCC, ())
    assert said.getvalue() == ""


@pytest.mark.parametrize("flag", ["-march=native", "-mcpu=native", "-mtune=native"])
def test_native_code_of_another_machine_is_not_taken(lab: Lab, tree: Tree, flag: str) -> None:
    """The same cache, the same compiler and flags; the driver knows another CPU."""

    def on(cpu: str) -> tuple[Path, Path, Path]:
        lab.runner.ends["link"] = Completed(0, "", f"cc1 -march={cpu}")  # of -###, too
        source = tree.root / "src/a.c"
        path = build_object(lab.context(), GCC, source, ["-O2", flag])
        tool = build_tool(lab.context(), GCC, [source], ["-O2", flag])
        return path, tool, build(lab, tree, "-O2", flag)[0].binary

    zen, rapids = on("znver4"), on("sapphirerapids")
    assert not set(zen) & set(rapids)
    assert on("znver4") == zen


def test_without_native_code_no_driver_is_asked(lab: Lab, tree: Tree) -> None:
    build(lab, tree, "-O2", "-march=x86-64-v3")
    assert not [call for call in lab.runner.calls if "-###" in call]


@pytest.mark.parametrize("kind", ["tool", "object", "harness"])
def test_threads_that_want_the_same_get_one_that_stays(
    lab: Lab, tree: Tree, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """A program that was replaced while it is traced has maps that say "(deleted)"."""
    together = threading.Barrier(2, timeout=60)
    run: Callable[..., Completed] = lab.runner.run
    both_start = threading.Event()

    def slow(argv: Sequence[str], **options: Any) -> Completed:
        both_start.wait(0.2)  # long enough for the other to begin the same
        return run(argv, **options)

    monkeypatch.setattr(lab.runner, "run", slow)

    def make() -> tuple[Path, int]:
        together.wait()
        source = tree.root / "src/a.c"
        if kind == "harness":
            path = build_harness(lab.context(), tree, Target("host", ""), GCC, ()).binary
        elif kind == "tool":
            path = build_tool(lab.context(), GCC, [source], ())
        else:
            path = build_object(lab.context(), GCC, source, ())
        return path, path.stat().st_ino

    with ThreadPoolExecutor(max_workers=2) as pool:
        first, second = (job.result(60) for job in [pool.submit(make), pool.submit(make)])
    assert first == second
    names = [call[call.index("-c") + 1] if "-c" in call else "link" for call in lab.runner.calls]
    assert kind == "object" or names.count("link") == 1
    assert kind != "harness" or len(names) == len(set(names))


def test_a_changed_source_alone_is_compiled_again(lab: Lab, tree: Tree) -> None:
    first, _ = build(lab, tree)
    (tree.root / "src/a.c").write_text("int a = 1;")
    second, compiled = build(lab, tree)
    assert compiled == ["src/a.c"]
    assert second.binary != first.binary
    (tree.root / "src/a.c").write_text(FILES["src/a.c"])
    assert build(lab, tree) == (first, [])


@pytest.mark.parametrize("name", ["include/x.h", "include/new.h", "src/kernels.def"])
def test_a_changed_header_compiles_all_again(lab: Lab, tree: Tree, name: str) -> None:
    build(lab, tree)
    (tree.root / name).write_text("#define NEW")
    assert len(build(lab, tree)[1]) == 3


def test_flags_and_compiler_are_part_of_what_is_cached(lab: Lab, tree: Tree) -> None:
    binaries = {
        build(lab, tree, "-O2")[0].binary,
        build(lab, tree, "-O3")[0].binary,
        build(lab, tree, "-O2", compiler=Compiler(("gcc",), "gcc 12.3.0", "other"))[0].binary,
    }
    assert len(binaries) == 3


def test_words_of_the_environment_stand_before_the_compiler_and_change_no_name(
    lab: Lab, tree: Tree
) -> None:
    first, _ = build(lab, tree)
    shutil.rmtree(lab.context().cache_dir())
    lab.env[LAUNCHER] = "env 'A=b c' ccache"
    assert build(lab, tree)[0] == first
    *objects, linking = lab.runner.calls
    assert len(objects) == 3
    assert all(words[:4] == ["env", "A=b c", "ccache", "gcc"] for words in objects)
    assert linking[0] == "gcc"


def test_a_peer_compiles_its_adapter_alone_and_each_time(lab: Lab, tree: Tree) -> None:
    harness, _ = build(lab, tree, "-O2")
    peer = Peer("other", (), ("-lother",))
    elsewhere = Installed(("-I/there",), ("-L/there",))
    for installed in (Installed(), elsewhere, elsewhere):
        lab.runner.calls.clear()
        made = build_peer(lab.context(), tree, GCC, ("-O2",), peer, installed)
        adapter, link = lab.runner.calls
        assert adapter[adapter.index("-c") + 1] == "catalog/peers/other.c"
        assert made.binary != harness.binary
    assert "-I/there" in adapter
    assert link.index("-lother") > link.index("-L/there") > 3  # after the objects


def test_a_peer_that_is_a_crate_is_built_by_cargo(lab: Lab, tree: Tree) -> None:
    (tree.root / "catalog/peers" / "rust").mkdir(parents=True)
    peer = Peer("other", (), ("-lm",), crate="other-lc", build=(("RUSTFLAGS", "-g"),))
    made = build_peer(lab.context(), tree, GCC, (), peer, Installed())
    cargo, link = (c for c in lab.runner.calls if "-c" not in c)
    assert cargo[:4] == ["env", "RUSTFLAGS=-g", "cargo", "build"]
    assert cargo[cargo.index("--features") + 1] == "other-lc"
    archive = next(word for word in link if word.endswith("cargo/other/target/release/libpeer.a"))
    assert link.index("-Wl,--undefined=evc_peer") < link.index(archive) < link.index("-lm")
    assert made.binary.is_file()


def carried(lab: Lab) -> Peer:
    """A peer whose source is in the cache, as if cargo had fetched its crate."""
    (lab.context().cache_dir() / "crates/odd-sys-1.2.0-source/deps/odd").mkdir(parents=True)
    source = Vendored("odd-sys", "1.2.0", 64 * "0", "deps/odd", ("odd",), ("-DODD=1",))
    return Peer("other", (), ("-lodd", "-lm"), vendored=source)


def test_a_peer_whose_source_a_crate_carries_is_built_once_by_cmake(lab: Lab, tree: Tree) -> None:
    peer = carried(lab)
    made = lab.context().cache_dir() / "cmake/other-1.2.0"
    (made / "crypto").mkdir(parents=True)
    (made / "crypto/libodd.a").touch()
    for _ in range(2):
        build_peer(lab.context(), tree, GCC, ("-O2",), peer, Installed())
    configure, build = (c for c in lab.runner.calls if c[0] == "cmake")
    assert configure[configure.index("-B") + 1] == str(made)
    assert {"-DODD=1", "-DCMAKE_BUILD_TYPE=Release"} <= {*configure}
    assert build[build.index("--target") + 1 :] == ["odd"]
    adapter = next(c for c in lab.runner.calls if "catalog/peers/other.c" in c)
    assert any(w.endswith("odd-sys-1.2.0-source/deps/odd/include") for w in adapter)
    link = lab.runner.calls[-1]
    assert link.index(str(made / "crypto/libodd.a")) < link.index("-lm")
    assert "-lodd" not in link


def test_a_peer_that_cmake_does_not_build_is_unavailable(lab: Lab, tree: Tree) -> None:
    peer = carried(lab)
    lab.runner.ends["link"] = Completed(1, "", "note\nodd.c:1: error: no\n")
    with pytest.raises(PeerUnavailableError, match="other cannot be built by CMake") as error:
        build_peer(lab.context(), tree, GCC, (), peer, Installed())
    assert error.value.hint == "odd.c:1: error: no"
    lab.runner.absent = ("cmake",)
    with pytest.raises(PeerUnavailableError, match="cannot run cmake") as error:
        build_peer(lab.context(), tree, GCC, (), peer, Installed())
    assert "apt-get install cmake g++" in error.value.hint


def test_a_peer_that_is_a_module_is_built_by_go(lab: Lab, tree: Tree) -> None:
    made = build_peer(
        lab.context(), tree, GCC, (), Peer("other", (), (), module="other"), Installed()
    )
    go, link = (c for c in lab.runner.calls if "-c" not in c)
    assert go[:4] == ["go", "build", "-C", str(tree.root / "catalog/peers/other")]
    assert next(word for word in link if word.endswith("go/other/libpeer.a")) in go
    assert made.binary.is_file()


@pytest.mark.parametrize(
    ("peer", "tool", "package"),
    [
        (Peer("other", (), (), crate="o"), "cargo", "cargo"),
        (Peer("other", (), (), module="o"), "go", "golang"),
    ],
)
def test_a_peer_whose_builder_is_absent_is_unavailable(
    lab: Lab, tree: Tree, peer: Peer, tool: str, package: str
) -> None:
    (tree.root / "catalog/peers" / "rust").mkdir(parents=True)
    lab.runner.absent = (tool,)
    with pytest.raises(PeerUnavailableError, match=f"cannot run {tool}") as error:
        build_peer(lab.context(), tree, GCC, (), peer, Installed())
    assert error.value.hint.endswith((f"apt-get install {package}", "rustup"))


def test_a_source_that_does_not_compile_leaves_nothing_behind(lab: Lab, tree: Tree) -> None:
    lab.runner.ends["compile"] = Completed(1, "", "src/a.c:1: error: no\n")
    with pytest.raises(EverycoreError, match="cannot compile") as error:
        build(lab, tree)
    assert "error: no" in error.value.hint
    files = [p for p in (lab.folder / "cache").rglob("*") if p.is_file()]
    assert not [p for p in files if p.parent.name != "locks"]
    lab.runner.ends.clear()
    assert len(build(lab, tree)[1]) == 3


def test_a_harness_that_does_not_link_is_an_error(lab: Lab, tree: Tree) -> None:
    lab.runner.ends["link"] = Completed(1, "", "undefined reference to `x'\n")
    with pytest.raises(EverycoreError, match="cannot link"):
        build(lab, tree)
    assert not list((lab.folder / "cache" / "everycore" / "bin").rglob("harness"))


@pytest.mark.parametrize("call", ["pathlib.Path.mkdir", "tempfile.mkstemp"])
def test_a_cache_that_cannot_be_written_is_named(
    lab: Lab, tree: Tree, call: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(call, refuse)
    with pytest.raises(EverycoreError, match="cannot write the cache") as error:
        build(lab, tree)
    assert "XDG_CACHE_HOME" in error.value.hint


def test_what_was_not_used_for_long_is_forgotten(lab: Lab, tree: Tree) -> None:
    old, _ = build(lab, tree, "-O1")
    used, _ = build(lab, tree, "-O2")
    for path in (lab.folder / "cache").rglob("*"):
        os.utime(path, (0, 0))
    build(lab, tree, "-O2")
    build(lab, tree, "-O3")
    assert not old.binary.parent.exists()
    assert used.binary.is_file()
    assert len(list((lab.folder / "cache" / "everycore" / "objects").iterdir())) == 3
    os.utime(used.binary, (0, 0))
    build(lab, tree, "-Os")
    assert used.binary.is_file()  # nothing is looked for again at once


def test_of_many_programs_those_used_last_are_kept(lab: Lab) -> None:
    context = lab.context()
    ages = {"new": 0, "recent": IN_USE_SECONDS - 60, "old": IN_USE_SECONDS + 60, "older": 86400}
    for name, age in {**ages, "unused": UNUSED_SECONDS + 60}.items():
        for path in (
            context.cache_dir() / f"bin/{name}/x",
            context.cache_dir() / f"objects/{name}",
        ):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(bytes(100))
            os.utime(path, (time.time() - age, time.time() - age))

    def there(folder: str) -> set[str]:
        return {path.name for path in (context.cache_dir() / folder).iterdir()}

    forget_unused(context, 400)
    assert there("bin") == there("objects") == {*ages}
    forget_unused(context, 300)
    assert there("bin") == {"new", "recent", "old"}
    forget_unused(context, 0)
    assert there("bin") == {"new", "recent"}
    assert there("objects") == {*ages}
