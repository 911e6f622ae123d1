# SPDX-License-Identifier: MIT
"""everycore peers, in a world of saved lines."""

import re

import pytest
from library_reads import reads_all
from world import PACKAGE, Lab, objects

from everycore.commands import peers as command
from everycore.commands.peers import RANGE_OF
from everycore.compile.binaries import PeerUnavailableError
from everycore.environment.context import Completed
from everycore.run import peer_runs

ONLY = ("--peer", "openssl", "--mode", "ctr", "--bytes", "16384")


def test_peers_stand_beside_the_kernels_and_the_limit(lab: Lab) -> None:
    outcome = lab("peers", *ONLY)
    assert outcome.code == 0, outcome.err
    assert "! openssl-3.0.22" in outcome.out
    assert "everycore / best peer" in outcome.out
    assert "limit of this CPU" in outcome.out
    (stored,) = (lab.folder / "state" / "everycore" / "results").iterdir()
    assert stored.name.endswith("-peers.jsonl")


def test_every_round_is_a_process_of_each(lab: Lab) -> None:
    lab("peers", *ONLY, "--rounds", "2", "--cpu", "0")
    calls = [call for call in lab.runner.calls if call[1:2] in (["bench"], ["peers"])]
    assert [call[1] for call in calls] == ["bench", "peers", "peers", "bench"]
    assert all(call[call.index("--cpu") + 1] == "0" for call in calls)
    assert all(call[call.index("--bytes") + 1] == "16384" for call in calls)


def test_our_kernel_is_the_selected_one(lab: Lab) -> None:
    lab("peers", *ONLY, "--rounds", "1")
    (call,) = lab.runner.harness_calls("bench")
    assert call[call.index("--primitive") + 1] == "aes"
    assert call[call.index("--kernel") + 1] == "x86_aesni"


def test_big_numbers_take_every_kernel_that_runs_here(lab: Lab) -> None:
    lab.runner.outputs["list"] = "list_numbers"
    outcome = lab("peers", "--primitive", "bn", "--peer", "openssl", "--rounds", "1")
    assert outcome.code == 0, outcome.err
    calls = lab.runner.harness_calls("bench")
    assert [call[call.index("--mode") + 1] for call in calls] == list(peer_runs.NUMBER_MODES)
    kernels = {call[call.index("--mode") + 1]: call[call.index("--kernel") + 1] for call in calls}
    assert kernels["exp"] == "x86_adx,c_limb64"  # neither c_ref nor one of another CPU
    assert kernels["mod-word16"] == "c_words64"
    assert calls[0][calls[0].index("--bytes") + 1] == "64,128,256,384,512"
    (stored,) = (lab.folder / "state" / "everycore" / "results").iterdir()
    assert stored.name.endswith("-peers-bn.jsonl")


def test_hmac_takes_the_kernels_of_its_hash_and_one_size_of_key(lab: Lab) -> None:
    lab.runner.outputs["list"] = "list_numbers"
    words = ("peers", "--primitive", "sha2", "--peer", "openssl", "--rounds", "1")
    outcome = lab(*words)
    assert outcome.code == 0, outcome.err
    calls = lab.runner.harness_calls("bench")
    assert [call[call.index("--mode") + 1] for call in calls] == list(peer_runs.HASH_MODES)
    for call in calls:
        assert call[call.index("--primitive") + 1] == "sha2"
        assert call[call.index("--kernel") + 1] == "x86_shani"
        assert call[call.index("--key-bits") + 1] == "128"
    assert lab(*words, "--key-bits", "256").code == 2


@pytest.mark.parametrize("primitive", ["rsa", "dh", "prime"])
def test_layers_take_the_kernels_of_big_numbers(lab: Lab, primitive: str) -> None:
    lab.runner.outputs["list"] = "list_numbers"
    outcome = lab("peers", "--primitive", primitive, "--peer", "openssl", "--rounds", "1")
    assert outcome.code == 0, outcome.err
    calls = lab.runner.harness_calls("bench")
    modes = [call[call.index("--mode") + 1] for call in calls]
    assert modes == list(peer_runs.LAYER_MODES[primitive])
    for call in calls:
        assert call[call.index("--primitive") + 1] == "bn"
        assert call[call.index("--kernel") + 1] == "x86_adx,c_limb64"
        assert call[call.index("--bytes") + 1] == "256,384,512"
        assert call[call.index("--budget-ms") + 1] == "200"
    (stored,) = (lab.folder / "state" / "everycore" / "results").iterdir()
    assert stored.name.endswith(f"-peers-{primitive}.jsonl")


def test_without_hardware_both_sides_do_without(lab: Lab) -> None:
    outcome = lab("peers", *ONLY, "--rounds", "1", "--hardware", "c")
    assert outcome.code == 0, outcome.err
    (call,) = lab.runner.harness_calls("bench")
    without = call[call.index("--without") + 1].split(",")
    assert {"aes", "ssse3"} <= {*without}
    (peer,) = [call for call in lab.runner.calls if "env" in call]
    assert any(word.startswith("OPENSSL_ia32cap=") for word in peer)
    assert "limit of this CPU" not in outcome.out
    (stored,) = (lab.folder / "state" / "everycore" / "results").iterdir()
    assert stored.name.endswith("-peers-c.jsonl")


def test_a_peer_without_a_switch_has_a_line_below_the_tables(lab: Lab) -> None:
    words = ("peers", "--peer", "openssl,ring", *ONLY[2:], "--rounds", "1")
    outcome = lab(*words, "--hardware", "sse")
    assert outcome.code == 0, outcome.err
    assert "ring: not masked: no switch for its code paths 'sse'" in outcome.out


def test_a_grid_has_its_own_sizes(lab: Lab) -> None:
    words = ("peers", "--peer", "openssl", "--mode", "ctr", "--rounds", "1", "--grid")
    lab(*words)
    (call,) = lab.runner.harness_calls("bench")
    sizes = [int(word) for word in call[call.index("--bytes") + 1].split(",")]
    assert sizes == sorted(sizes)
    assert len(sizes) > 40
    assert (sizes[0], sizes[-1]) == (1, 16384)
    outcome = lab(*words, "--bytes", "64")
    assert outcome.code == 2
    assert "--grid has its own sizes" in outcome.err


def test_the_grid_of_big_numbers_has_their_lengths() -> None:
    for primitive, most in (("aes", 16384), ("bn", 512)):
        sizes = command.GRID_OF[primitive]
        least, largest = RANGE_OF[primitive]
        assert least <= sizes[0] < sizes[-1] <= min(most, largest)
        assert list(sizes) == sorted(set(sizes))
    assert command._sizes((), True, "bn") == command.NUMBERS_GRID_BYTES


def test_keys_and_associated_data_go_to_the_harness(lab: Lab) -> None:
    words = ("--peer", "openssl", "--mode", "gcm-seal", "--rounds", "1")
    lab("peers", *words, "--keys", "1,1024", "--aad-bytes", "0,20", "--aad-bytes", "20")
    (call,) = lab.runner.harness_calls("peers")
    assert call[call.index("--keys") + 1] == "1,1024"
    assert call[call.index("--aad-bytes") + 1] == "0,20"


def test_peers_as_json_ends_with_how_we_stand(lab: Lab) -> None:
    lines = objects(lab("peers", *ONLY, "--json").out)
    assert lines[0]["type"] == "run"
    assert {str(line["type"]) for line in lines} == {
        "run", "peer", "bench", "limit", "arithmetic", "newer", "rank",
    }  # fmt: skip
    (stands,) = [line for line in lines if line.get("best_peer")]
    assert (stands["mode"], stands["bytes"]) == ("ctr", 16384)
    assert stands["best_peer"] == "openssl-3.0.22"
    assert isinstance(stands["ratio_to_limit"], float)
    assert stands["best_peer_by_time"] == "openssl-3.0.22"
    assert isinstance(stands["ratio_to_best_peer_by_time"], float)


def test_a_newer_version_that_is_not_served_is_named_below_the_tables(lab: Lab) -> None:
    shown = " ".join(lab("peers", *ONLY).out.split())
    assert "openssl-3.0.22 is not the newest: 4.1 of 2026-10, which no suite and no" in shown
    assert "brings AVX-512 for CTR and CBC decryption" in shown
    assert "--library openssl=FOLDER" in shown
    (line,) = [x for x in objects(lab("peers", *ONLY, "--json").out) if x["type"] == "newer"]
    assert (line["measured"], line["version"]) == ("openssl-3.0.22", "4.1")


def test_a_wrong_peer_is_named_with_its_answer_and_left_out(lab: Lab) -> None:
    lab.runner.outputs["peers"] = "peers_wrong"
    lab.runner.ends["peers"] = Completed(1)
    outcome = lab("peers", *ONLY)
    assert outcome.code == 1
    assert "WRONG openssl-3.0.22 ctr: message 0 differs (00, not 5d); left out" in outcome.err
    assert "openssl" not in outcome.out
    assert "everycore x86_aesni" in outcome.out


def test_a_peer_that_dies_is_named_and_left_out(lab: Lab) -> None:
    lab.runner.ends["peers"] = Completed(-4)
    outcome = lab("peers", *ONLY)
    assert outcome.code == 1
    assert "BROKEN openssl ctr:" in outcome.err
    assert "SIGILL" in outcome.err
    assert "openssl" not in outcome.out


def test_a_missing_peer_is_a_visible_skip(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PeerUnavailableError("openssl is not installed", "apt-get install libssl-dev")

    monkeypatch.setattr(peer_runs, "build_peer", refuse)
    outcome = lab("peers", *ONLY)
    assert outcome.code == 0
    assert "skipped: openssl: openssl is not installed (apt-get install libssl-dev)" in outcome.err


def test_peers_without_a_mode_of_the_primitive_are_not_built(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def refuse(*given: object) -> None:
        asked.append(given[4].name)  # type: ignore[attr-defined]
        raise PeerUnavailableError("none is installed")

    monkeypatch.setattr(peer_runs, "build_peer", refuse)
    lab.runner.outputs["list"] = "list_numbers"
    words = ("peers", "--primitive", "bn", "--mode", "exp", "--rounds", "1")
    assert lab(*words).code == 0
    assert {"openssl", "gmp"} <= set(asked)
    assert not {"ring", "rustcrypto", "rustcrypto-soft"} & set(asked)
    before = len(asked)
    outcome = lab(*words, "--peer", "ring")
    assert len(asked) == before
    assert "skipped: ring: it has no mode of bn" in outcome.err


def test_a_peer_that_cannot_run_here_is_skipped_once(lab: Lab) -> None:
    lab.runner.outputs["peers"] = "peers_absent"
    outcome = lab("peers", *ONLY, "--mode", "cbc-enc")
    assert outcome.code == 0
    assert outcome.err.count("skipped: openssl: no such CPU") == 1
    assert len(lab.runner.harness_calls("peers")) == 1


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--mode", "gcm"], "unknown mode 'gcm'"),
        (["--peer", "opensl"], "unknown peer 'opensl'"),
        (["--key-bits", "512"], "unknown key size '512'"),
        (["--hardware", "aes"], "unknown case of --hardware 'aes'"),
        (["--hardware", "fast"], "valid: best, vaes256, sse, ssse3, c\n"),
        (["--style", "fence"], "unknown style 'fence'"),
        (["--bytes", "0"], "--bytes: '0' is not within 1 to 65536"),
        (["--bytes", "100000"], "--bytes: '100000' is not within 1 to 65536\ngive a whole number"),
        (["--primitive", "bn", "--bytes", "100000"], "--bytes: '100000' is not within 16 to 1024"),
        (["--primitive", "bn", "--bytes", "7"], "--bytes: '7' is not within 16 to 1024\ngive a"),
        (["--keys", "0"], "--keys: '0' is not within 1 to 65536"),
        (["--keys", "2", "--mode", "ctr"], "--keys: mode ctr is measured with one key"),
        (["--aad-bytes", "1025"], "--aad-bytes: '1025' is not within 0 to 1024"),
        (["--aad-bytes", "20", "--mode", "ctr"], "--aad-bytes: mode ctr has no associated data"),
        (["--primitive", "rs"], "unknown primitive 'rs'"),
        (["--primitive", "rsa", "--bytes", "127"], "--bytes: '127' is not within 128 to 1024"),
        (["--primitive", "dh", "--bytes", "128"], "--bytes: '128' is not within 256 to 1024"),
        (["--primitive", "prime", "--mode", "prime-test"], "unknown mode 'prime-test'"),
        (["--primitive", "bn", "--mode", "ctr"], "unknown mode 'ctr'"),
        (["--mode", "exp"], "unknown mode 'exp'"),
        (["--primitive", "bn", "--hardware", "c"], "--hardware: there are no such cases of bn"),
        (["--update"], "--update needs --suite"),
        (["--suite", "../sid"], "'../sid' is no name of a suite"),
    ],
)
def test_what_peers_does_not_know_is_named(lab: Lab, arguments: list[str], complaint: str) -> None:
    outcome = lab("peers", *arguments)
    assert outcome.code == 2
    assert complaint in outcome.err
    assert not lab.runner.harness_calls("bench")


@reads_all
def test_the_ranges_of_lengths_are_those_of_the_headers() -> None:
    root = PACKAGE.parent.parent

    def number(file: str, name: str) -> int:
        found = re.search(rf"#define {name} (\d+)", (root / file).read_text(encoding="utf-8"))
        assert found
        return int(found[1])

    least = number("include/everycore/bn.h", "EVC_BN_MIN_BITS") // 8
    most = number("harness/peer_numbers.h", "PEER_MOST_NUMBER_BYTES")
    assert RANGE_OF["bn"] == (least, most)
    assert (
        RANGE_OF["aes"]
        == RANGE_OF["sha2"]
        == (1, number("harness/peer_answers.h", "PEER_MOST_BYTES"))
    )


def test_a_suite_without_a_mirror_says_what_to_set(lab: Lab) -> None:
    lab.runner.absent = ("apt-get", "apt-config")
    outcome = lab("peers", "--suite", "nosuch")
    assert outcome.code == 2
    assert "EVERYCORE_MIRROR" in outcome.err


@pytest.fixture
def built(lab: Lab) -> str:
    """The words for an OpenSSL that the user has built, as far as files go."""
    for name in ("libcrypto.so", *(f"include/openssl/{h}.h" for h in HEADERS)):
        path = lab.folder / "own" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return "openssl=own"


HEADERS = ("bn", "core_names", "crypto", "evp", "param_build", "params", "rsa")


def peers_measured(lab: Lab) -> list[str]:
    """The names in stored lines, of all peers."""
    (stored,) = (lab.folder / "state" / "everycore" / "results").iterdir()
    lines = objects(stored.read_text(encoding="utf-8"))
    return sorted({str(line["kernel"]) for line in lines if line.get("peer")})


@reads_all
def test_a_library_of_the_user_takes_the_place_of_the_packaged_one(lab: Lab, built: str) -> None:
    outcome = lab("peers", *ONLY[2:], "--library", built, "--rounds", "1", "--peer", "gmp")
    assert outcome.code == 0, outcome.err
    assert "! openssl-3.0.22-own" in outcome.out
    assert peers_measured(lab) == ["openssl-3.0.22-own"]
    adapter = next(call for call in lab.runner.calls if "catalog/peers/openssl.c" in call)
    assert f"-I{lab.folder / 'own/include'}" in adapter
    assert any(str(lab.folder / "own/libcrypto.so") in call for call in lab.runner.calls)


@reads_all
def test_a_library_of_the_user_is_measured_beside_the_one_that_is_named(
    lab: Lab, built: str
) -> None:
    outcome = lab("peers", *ONLY, "--library", built, "--rounds", "1")
    assert outcome.code == 0, outcome.err
    assert peers_measured(lab) == ["openssl-3.0.22", "openssl-3.0.22-own"]


@reads_all
def test_a_library_without_modes_of_the_primitive_or_switches_is_skipped(
    lab: Lab, built: str
) -> None:
    lab.runner.outputs["list"] = "list_numbers"
    outcome = lab("peers", "--primitive", "prime", "--peer", "gmp", "--library", built)
    assert outcome.code == 0, outcome.err
    for name in ("include/gnutls/gnutls.h", "include/gnutls/crypto.h", "libgnutls.so"):
        path = lab.folder / "own" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    words = ("--library", "gnutls=own", "--rounds", "1")
    outcome = lab("peers", *ONLY, *words, "--hardware", "sse")
    assert "skipped: gnutls-own: not masked: no switch for its code paths 'sse'" in outcome.err
    outcome = lab("peers", "--primitive", "rsa", "--peer", "openssl", *words)
    assert "skipped: gnutls-own: it has no mode of rsa" in outcome.err


@reads_all
def test_headers_of_another_version_are_refused(lab: Lab, built: str) -> None:
    lab.runner.outputs["peers"] = "peers_other_headers"
    outcome = lab("peers", *ONLY, "--library", built)
    outcome.refuses("the headers are of 3.0.9, and the library is 3.0.22", "both of one build")


@reads_all
def test_a_library_that_does_not_link_is_an_error(
    lab: Lab, built: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PeerUnavailableError("openssl cannot be built", "undefined reference to `EVP_x'")

    monkeypatch.setattr(peer_runs, "build_peer", refuse)
    outcome = lab("peers", *ONLY, "--library", built)
    outcome.refuses("--library openssl: openssl cannot be built", "undefined reference")


@reads_all
def test_a_library_that_does_not_start_is_an_error(lab: Lab, built: str) -> None:
    lab.runner.ends["peers"] = Completed(2, "", "no libodd.so.3")
    outcome = lab("peers", *ONLY, "--library", built)
    outcome.refuses("--library openssl: a program with the library of", "no libodd.so.3")


def test_words_that_name_no_library_are_refused_before_anything_is_built(lab: Lab) -> None:
    for word, complaint in (
        ("opnssl=own", "unknown peer 'opnssl'\nnearest: openssl"),
        ("openssl=nowhere", "--library openssl: there is no folder"),
        ("ring=own", "--library: ring is not linked from a folder"),
    ):
        lab("peers", *ONLY, "--library", word).refuses(complaint)
    assert not lab.runner.calls
