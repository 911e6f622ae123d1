# SPDX-License-Identifier: MIT
"""Who takes part beside our kernels, and in which turn."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from library_reads import reads_all
from world import PACKAGE, Lab

from everycore.compile import catalog
from everycore.compile.debs import Lock, Request
from everycore.environment.decoding import Record
from everycore.environment.errors import EverycoreError
from everycore.model.domain import Compiler, Hardware, Peer, Tree
from everycore.model.protocol import Failure, Hello
from everycore.run import peer_runs
from everycore.run.peer_runs import Broken, Contestant, Libraries

TREE = catalog.find_tree(PACKAGE)
GCC = Compiler(("gcc",), "gcc 12.2.0", "fingerprint")
CLANG = Compiler(("clang",), "clang 16.0.6", "fingerprint")


Says = Failure | EverycoreError | None


def contestant(name: str, log: list[str], says: Says = None) -> Contestant:
    def start(mode: str, _arguments: Sequence[str]) -> Iterator[Record]:
        log.append(f"{name} {mode}")
        if isinstance(says, Failure) and says.mode in ("", mode):
            yield says
        if isinstance(says, EverycoreError):
            raise says

    return Contestant(name, start, is_ours=name == "ours")


def run(contestants: Sequence[Contestant], modes: Sequence[str], rounds: int) -> list[Broken]:
    broken: list[Broken] = []
    for turn in peer_runs.run_rounds(contestants, modes, rounds):
        for _ in turn.records([], broken.append):
            pass
    return broken


def test_every_other_round_goes_backwards() -> None:
    log: list[str] = []
    run([contestant("a", log), contestant("b", log)], ["ctr", "cmac"], 2)
    assert log == [f"{who} {mode}" for mode in ("ctr", "cmac") for who in "abba"]


@pytest.mark.parametrize(
    ("mode", "left"), [("ctr", ["a ctr", "a cmac", "a cmac"]), ("", ["a ctr"])]
)
def test_a_wrong_answer_leaves_its_mode_and_a_failure_of_none_leaves_all(
    mode: str, left: list[str]
) -> None:
    log: list[str] = []
    run([contestant("a", log, Failure("a-1.0", mode))], ["ctr", "cmac"], 2)
    assert log == left


def test_a_peer_that_dies_is_out_and_the_rest_goes_on() -> None:
    log: list[str] = []
    (broken,) = run(
        [contestant("dies", log, EverycoreError("died of SIGILL")), contestant("b", log)],
        ["ctr", "cmac"],
        1,
    )
    assert (broken.name, broken.mode, broken.kernel) == ("dies", "ctr", "")
    assert log == ["dies ctr", "b ctr", "b cmac"]


def test_our_own_death_ends_everything() -> None:
    with pytest.raises(EverycoreError, match="SIGILL"):
        run([contestant("ours", [], EverycoreError("died of SIGILL"))], ["ctr"], 1)


def hello(*features: str) -> Hello:
    return Hello(1, "resolve", "x86", features, "gcc 12.2.0", 64, False, "none", "0.1.0")


def test_each_case_of_hardware_takes_away_what_peers_do_without() -> None:
    here = hello("sse2", "ssse3", "aes", "pclmul", "avx2", "vaes", "tune-word64")
    assert peer_runs.features_taken_away(TREE, here, "best") == [()]
    assert peer_runs.features_taken_away(TREE, here, "sse") == [("avx2", "vaes")]
    aes = ("aes", "pclmul", "vaes")
    assert peer_runs.features_taken_away(TREE, here, "ssse3") == [aes, (*aes, "avx2")]
    (all_but_sse2,) = peer_runs.features_taken_away(TREE, here, "c")
    assert {*here.features} - {*all_but_sse2} == {"sse2", "tune-word64"}
    assert peer_runs.features_taken_away(TREE, hello("ssse3", "aes"), "ssse3") == [("aes",)]


# ---- Where libraries are


def root(folder: Path) -> Path:
    for name in ("usr/lib/x86_64-linux-gnu/libc.so.6", "usr/lib64/ld-linux-x86-64.so.2"):
        (folder / name).parent.mkdir(parents=True)
        (folder / name).touch()
    (folder / "lib64").symlink_to("usr/lib64")
    return folder


def test_a_suite_is_run_by_its_own_loader_with_its_own_libraries(tmp_path: Path) -> None:
    libraries = peer_runs.in_root(root(tmp_path), GCC)
    assert f"--sysroot={tmp_path}" in libraries.flags
    link = libraries.installed.link_flags
    assert f"-Wl,--dynamic-linker={tmp_path}/lib64/ld-linux-x86-64.so.2" in link
    assert f"-Wl,-rpath,{tmp_path}/usr/lib/x86_64-linux-gnu" in link
    assert not any("gcc-toolchain" in flag for flag in libraries.flags)
    assert "--gcc-toolchain=/usr" in peer_runs.in_root(tmp_path, CLANG).flags


def test_a_folder_without_a_c_library_is_named(tmp_path: Path) -> None:
    with pytest.raises(EverycoreError, match=f"no C library in {tmp_path}"):
        peer_runs.in_root(tmp_path, GCC)


@reads_all
def test_peers_that_cannot_take_part_are_skipped_with_the_reason(lab: Lab) -> None:
    lock = Lock(Request(("sid",), "amd64"), "", (), absent=(("libb-dev", "no package libb-dev"),))
    peers = [
        Peer("a", ("liba-dev",), (), ("openssl",)),
        Peer("b", ("libb-dev",), (), ("openssl",), hardware=(Hardware("c"),)),
    ]
    libraries = Libraries(lock=lock)
    built, skips = peer_runs.build_all(lab.context(), TREE, GCC, (), peers, libraries, "best")
    assert [(built_peer.peer.name, paths.name) for built_peer, paths in built] == [("a", "best")]
    assert [(skip.peer, skip.why) for skip in skips] == [("b", "no package libb-dev")]
    _, skips = peer_runs.build_all(lab.context(), TREE, GCC, (), peers, Libraries(), "c")
    assert [(s.peer, s.why) for s in skips] == [
        ("a", "not masked: no switch for its code paths 'c'")
    ]


def test_a_lock_is_the_checkouts_or_the_users(lab: Lab, tmp_path: Path) -> None:
    name = "sid+experimental-amd64.lock"
    suites = ("sid", "experimental")
    there = peer_runs.lock_path(lab.context(), Tree(tmp_path, True), suites, "amd64")
    assert there == tmp_path / "catalog/peers" / name
    own = peer_runs.lock_path(lab.context(), Tree(tmp_path, False), suites, "amd64")
    assert own == lab.context().state_dir() / "locks" / name
