# SPDX-License-Identifier: MIT
"""Peers with known faults, in real processes: what a wrong library is told apart by."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from world import DATA, PACKAGE, Lab

from everycore.compile import catalog
from everycore.compile.binaries import PeerUnavailableError, build_peer
from everycore.compile.toolchains import find_compiler
from everycore.compile.toolchains.find import DEFAULT_FLAGS
from everycore.environment.errors import EverycoreError
from everycore.model.domain import BEST, Hardware, Installed, Peer, PeerBuild, Target
from everycore.model.protocol import Bench, Failure, PeerLine
from everycore.run.session import peer_records

TREE = catalog.find_tree(PACKAGE)
ON_PURPOSE = Peer("on-purpose", (), (), adapter=str(DATA / "peer_on_purpose"))
EVERYCORE = Installed(("-Iinclude",))  # the library behind this peer
QUICK = ("--samples", "1", "--budget-ms", "1", "--counter", "none")
Lines = list[Bench | Failure | PeerLine]


def build(lab: Lab, peer: Peer, installed: Installed | None = None) -> PeerBuild:
    compiler = find_compiler(lab.context(), Target("host", ""), None, DEFAULT_FLAGS, "")
    return build_peer(lab.context(), TREE, compiler, DEFAULT_FLAGS, peer, installed or EVERYCORE)


@pytest.fixture
def lines(real_lab: Lab) -> Callable[..., Lines]:
    def run(*arguments: str, wrong: str = "", case: str = "best") -> Lines:
        environment = (("WRONG", wrong), ("PEER_ON_PURPOSE", "best"))
        records = peer_records(
            real_lab.context(),
            TREE,
            build(real_lab, ON_PURPOSE),
            Hardware(case, environment),
            *QUICK,
            *arguments,
        )
        return [r for r in records if isinstance(r, Bench | Failure | PeerLine)]

    return run


def test_a_peer_that_is_right_describes_itself_and_is_measured(
    lines: Callable[..., Lines],
) -> None:
    first, *rest = lines("--bytes", "64,16384")
    hashes = ("sha256", "pbkdf2-sha512", "sha256-many")
    modes = ("ctr", "gcm-seal", "gcm-open", "mont-mul", *hashes, "prime-check")
    assert first == PeerLine("on-purpose", "1.0", modes, "best", "best")
    assert [(line.mode, line.bytes) for line in rest if isinstance(line, Bench)] == [
        *((mode, size) for mode in modes[:3] for size in (64, 16384)),
        ("mont-mul", 64),  # no modulus has 16384 bytes
        ("sha256", 64),
        ("sha256", 16384),
        ("pbkdf2-sha512", 128),  # iterations
        ("sha256-many", 64),
        ("sha256-many", 16384),
    ]
    counts = {line.mode: line.messages for line in rest if isinstance(line, Bench)}
    assert (counts["sha256"], counts["sha256-many"]) == (1, 16)
    assert {line.kernel for line in rest if isinstance(line, Bench)} == {"on-purpose-1.0"}


@pytest.mark.parametrize(
    ("wrong", "mode", "detail"),
    [
        ("output", "ctr", "published vector SP800-38A-F.5.1: wrong output from byte 63 of 64"),
        ("long messages", "ctr", "message 0 of 1500 bytes, against c_ref: wrong output"),
        ("tag", "gcm-seal", "published vector GCM-2: wrong tag from byte 3 of 16"),
        ("refusal", "gcm-seal", "published vector GCM-2: refused"),
        ("any tag", "gcm-open", "published vector GCM-2: a damaged tag is accepted"),
        ("output", "mont-mul", "mont-mul: wrong result from byte 255 of 256"),
        ("factor", "mont-mul", "mont-mul: wrong result from byte 0 of 256"),
        ("output", "prime-check", "prime-check: wrong result from byte 255 of 256"),
        ("any prime", "prime-check", "prime-check: wrong result from byte 255 of 256"),
        ("refusal", "mont-mul", "mont-mul: refused"),
        ("output", "sha256", "published vector SHA-"),
        ("output", "sha256-many", "published vector SHA-"),
        ("last message", "sha256-many", "published vector SHA-"),
        ("iterations", "pbkdf2-sha512", "published vector RFC-6070-inputs-1-sha512: wrong output"),
    ],
)
def test_a_wrong_peer_is_shown_and_not_measured(
    lines: Callable[..., Lines], wrong: str, mode: str, detail: str
) -> None:
    size = "256" if mode in ("mont-mul", "prime-check") else "1500"
    _, failure = lines("--mode", mode, "--key-bits", "128", "--bytes", size, wrong=wrong)
    assert isinstance(failure, Failure)
    assert (failure.kernel, failure.mode) == ("on-purpose-1.0", mode)
    assert failure.detail.startswith(detail)
    if "byte" in failure.detail.split(":")[1]:
        assert re.fullmatch(r"([0-9a-f]{2})+", failure.expected)
        assert failure.got != failure.expected


KEYS = ("--mode", "gcm-seal", "--bytes", "64", "--keys", "1,100", "--aad-bytes", "0,13,1024")


def test_a_peer_has_a_context_for_each_key(lines: Callable[..., Lines]) -> None:
    _, *rest = lines(*KEYS)
    points = [(b.keys, b.aad_bytes, b.why) for b in rest if isinstance(b, Bench)]
    why = "no calibrated counter"
    assert points == [(keys, aad, why) for keys in (1, 100) for aad in (0, 13, 1024)]


def test_a_peer_with_one_key_for_all_is_wrong(lines: Callable[..., Lines]) -> None:
    _, *rest = lines(*KEYS, wrong="one key")
    assert {line.detail.split(":")[0] for line in rest if isinstance(line, Failure)} == {
        "message 0 of 64 bytes, against c_ref"
    }


def test_a_peer_without_room_for_all_keys_says_so(lines: Callable[..., Lines]) -> None:
    _, *rest = lines(*KEYS, wrong="few keys")
    assert [line for line in rest if isinstance(line, Failure)] == []
    without = [line.keys for line in rest if isinstance(line, Bench) and "no room" in line.why]
    assert without == [100, 100, 100]


def test_a_mode_without_a_published_vector_is_not_trusted(real_lab: Lab, tmp_path: Path) -> None:
    empty = tmp_path / "empty.txt"
    empty.touch()
    made = build(real_lab, ON_PURPOSE)
    done = real_lab.runner.run(
        [str(made.binary), "peers", "--mode", "ctr", "--vectors", str(empty)]
    )
    assert done.code == 1
    assert "ctr: no published vector to check it with" in done.stdout


def test_code_paths_that_did_not_switch_are_an_error(lines: Callable[..., Lines]) -> None:
    first, failure = lines("--mode", "ctr", case="c")
    assert isinstance(first, PeerLine)
    assert first.asked == "c"
    assert isinstance(failure, Failure)
    assert (failure.expected, failure.got) == ("c", "best")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--mode", "ctr"], "peers wants --vectors"),
        (["--vectors", "nowhere.txt"], "cannot read the vectors 'nowhere.txt'"),
        (["--vectors", "/dev/null", "--mode", "crt"], "unknown mode 'crt'; nearest: ctr"),
        (["--vectors", "/dev/null", "--hardware", "d"], "unknown case of hardware 'd'"),
        (["--vectors", "/dev/null", "--bytes", "65537"], "--bytes wants 1 to 65536"),
        (["--vectors", "/dev/null", "--keys", "65537"], "--keys wants 1 to 65536, not 65537"),
        (["--vectors", "/dev/null", "--keys", "2", "--mode", "ctr"], "--keys 2: mode ctr is"),
        (["--vectors", "/dev/null", "--aad-bytes", "1025"], "--aad-bytes wants 0 to 1024"),
    ],
)
def test_bad_usage_of_peers_is_refused(real_lab: Lab, arguments: list[str], complaint: str) -> None:
    done = real_lab.runner.run([str(build(real_lab, ON_PURPOSE).binary), "peers", *arguments])
    assert (done.code, done.stdout) == (2, "")
    assert complaint in done.stderr


def test_a_harness_without_a_peer_says_so(real_lab: Lab) -> None:
    with pytest.raises(EverycoreError, match="not linked with a peer"):
        list(
            peer_records(
                real_lab.context(),
                TREE,
                PeerBuild(ON_PURPOSE, _plain_harness(real_lab)),
                BEST,
            )
        )


def _plain_harness(lab: Lab) -> Path:
    from everycore.compile.binaries import build_harness

    host = Target("host", "")
    compiler = find_compiler(lab.context(), host, None, DEFAULT_FLAGS, "")
    return build_harness(lab.context(), TREE, host, compiler, DEFAULT_FLAGS).binary


@pytest.mark.parametrize(
    ("text", "libraries", "what"),
    [
        ("#include <no_such_header.h>\n", (), "no_such_header.h"),
        ("int x;\n", ("-lno_such_library",), "-lno_such_library"),
    ],
)
def test_a_library_that_is_not_installed_is_named_with_its_package(
    real_lab: Lab, tmp_path: Path, text: str, libraries: tuple[str, ...], what: str
) -> None:
    (tmp_path / "odd.c").write_text(text)
    peer = Peer("odd", ("libodd-dev",), libraries, adapter=str(tmp_path / "odd"))
    with pytest.raises(PeerUnavailableError) as error:
        build(real_lab, peer)
    assert error.value.message == f"odd is not installed for this compiler: no {what}"
    assert error.value.hint == "apt-get install libodd-dev"


def test_an_adapter_that_does_not_compile_shows_why(real_lab: Lab, tmp_path: Path) -> None:
    (tmp_path / "odd.c").write_text("this is no C\n")
    with pytest.raises(PeerUnavailableError) as error:
        build(real_lab, Peer("odd", ("libodd-dev",), (), adapter=str(tmp_path / "odd")))
    assert error.value.message == "odd cannot be built"
    assert "odd.c:1:1: error" in error.value.hint
    assert len(error.value.hint.splitlines()) == 1


def test_a_library_elsewhere_is_found_by_the_words_given(real_lab: Lab, tmp_path: Path) -> None:
    (tmp_path / "elsewhere.h").write_text("#define NAME 1\n")
    text = (DATA / "peer_on_purpose.c").read_text(encoding="utf-8")
    text = text.replace(
        "../../../catalog/peers/peer.h", str(TREE.root / "catalog/peers" / "peer.h")
    )
    (tmp_path / "odd.c").write_text("#include <elsewhere.h>\n" + text)
    peer = Peer("odd", (), (), adapter=str(tmp_path / "odd"))
    with pytest.raises(PeerUnavailableError, match=r"no elsewhere\.h"):
        build(real_lab, peer)
    found = Installed(("-Iinclude", f"-I{tmp_path}"), (f"-Wl,-rpath,{tmp_path}",))
    assert build(real_lab, peer, found).binary.is_file()
