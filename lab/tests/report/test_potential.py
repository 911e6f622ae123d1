# SPDX-License-Identifier: MIT
"""Results of the same CPU stand beside the cycles per byte of a program."""

import json
import lzma
from pathlib import Path

import pytest
from explain.test_recognition import AESENC, CLMUL, NOTHING, profile_of, region

from everycore.explain.recognise import Named, recognise
from everycore.report.potential import Cost, costs_of, modes_of, potentials

TREE = Path(__file__).resolve().parents[3]
ZEN5 = ("AuthenticAMD", "26", "2")
TIMING = {"x86_vaes512": "CT", "x86_aesni": "CT", "c_ttable4": "VARTIME"}


def named(code: bytes, *callers: str) -> list[Named]:
    return recognise(profile_of(region(code + NOTHING * 30, callers=callers)))


@pytest.mark.parametrize(
    ("code", "callers", "modes"),
    [
        ((AESENC + CLMUL) * 10, (), ["gcm-seal"]),
        (AESENC * 10, ("EVP_aes_256_cbc", "EVP_EncryptUpdate"), ["cbc-enc"]),
        (AESENC * 10, ("aesni_cbc_decrypt",), ["cbc-dec"]),
        (AESENC * 10, ("CRYPTO_xts128_encrypt",), ["xts-enc"]),
        (AESENC * 10, ("main",), []),
        (NOTHING * 10, ("cbc",), []),
    ],
)
def test_the_mode_of_aes_is_told_by_ghash_or_by_names(
    code: bytes, callers: tuple[str, ...], modes: list[str]
) -> None:
    assert list(modes_of(named(code, *callers))) == modes


def test_results_of_this_repository_tell_what_their_cpu_can_do() -> None:
    found = costs_of([TREE / "results"], ZEN5, TIMING)["gcm-seal"]
    assert found.limit == pytest.approx(0.109, abs=0.002)
    assert found.everycore == pytest.approx(0.15, abs=0.02)
    assert 3.5 < found.gigahertz < 5.5


def test_another_cpu_has_none_of_these_results() -> None:
    assert costs_of([TREE / "results"], ("AuthenticAMD", "26", "3"), TIMING) == {}
    assert costs_of([TREE / "results"], ("", "", ""), TIMING) == {}


def test_kernels_whose_time_varies_with_secrets_are_no_comparison(tmp_path: Path) -> None:
    source = TREE / "results" / "amd-zen5-epyc" / "bench.jsonl.xz"
    lines = lzma.decompress(source.read_bytes()).decode().splitlines()
    kept = [
        line
        for line in lines[:-1]
        if not line.startswith('{"type":"bench"') or json.loads(line)["kernel"] == "c_ttable4"
    ]
    (tmp_path / "one.jsonl").write_text(
        "\n".join([*kept, json.dumps({"type": "end", "lines": len(kept) - 1})]) + "\n"
    )
    found = costs_of([tmp_path], ZEN5, TIMING)["cbc-enc"]
    assert found.limit
    assert found.everycore is None


def test_a_file_that_is_no_result_is_passed_over(tmp_path: Path) -> None:
    for number, text in enumerate(("", "no JSON\n", "[]\n", '{"type":"run"}\n', '{"machine":3}')):
        (tmp_path / f"{number}.jsonl").write_text(text)
    assert costs_of([tmp_path], ZEN5, TIMING) == {}


def test_cycles_per_byte_need_the_bytes() -> None:
    cost = Cost("gcm-seal", 0.11, 0.15, 4.0, "stored results of 2026-01-02")
    own = named((AESENC + CLMUL) * 10)
    (unknown,) = potentials(own, {"gcm-seal": cost}, 2.0, 0)
    assert unknown.taken is None
    (found,) = potentials(own, {"gcm-seal": cost}, 2.0, 8 * 10**9)  # 2 s of 4 GHz for 8 GB
    assert found.taken == pytest.approx(1.0 * found.share / 100)
    assert potentials(own, {}, 2.0, 1) == []
