# SPDX-License-Identifier: MIT
"""Rules name what ran, and can fail: a rule that loses its evidence names nothing."""

import json
import os
import shutil
import struct
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from everycore.environment.errors import EverycoreError
from everycore.explain import constants, recognition_rules, recording, regions
from everycore.explain.evidence import gather
from everycore.explain.explanation import Remedy, explain, facts_of, shares
from everycore.explain.image import Function, load
from everycore.explain.recognise import recognise
from everycore.explain.recognition_rules import load_rules
from everycore.explain.regions import Caller, Module, Profile, Reference, Region, collect
from everycore.explain.samples import Mapping, Sample, Sampled
from everycore.explain.sampling import SamplingOptions, sample_command
from everycore.report.explained import sentences

LOOPS = r"""
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#define TURN(x, n) ((x) << (n) | (x) >> (32 - (n)))
static uint32_t s[16];
static int more(void) { return clock() < CLOCKS_PER_SEC / 3; }
__attribute__((noinline)) static void rounds(void) /* ChaCha's quarter rounds */
{
    uint32_t a = s[0], b = s[1], c = s[2], d = s[3];
    for (int i = 0; i < 100000; i++) {
        a += b; d = TURN(d ^ a, 16); c += d; b = TURN(b ^ c, 12);
        a += b; d = TURN(d ^ a, 8); c += d; b = TURN(b ^ c, 7);
    }
    s[0] = a; s[1] = b; s[2] = c; s[3] = d;
}
int main(void)
{
    while (more())
        rounds();
    printf("%u\n", s[0]);
    return 0;
}
"""


def profile_of(*regions: Region) -> Profile:
    total = sum(code_region.samples for code_region in regions)
    return Profile("x86_64", "perf", "", 1.0, 0, total, 0, 0, 0, ("x",), list(regions))


def region(
    code: bytes,
    *,
    references: tuple[Reference, ...] = (),
    name: str = "",
    path: str = "/usr/bin/x",
    callers: tuple[str, ...] = (),
    machine: str = "x86-64",
) -> Region:
    """A function of some code, each byte's place sampled where an instruction begins or not."""
    chain = tuple(Caller(path, 0x9000 + number, word) for number, word in enumerate(callers))
    votes = {0x1000 + at: 5 for at in range(0, len(code), 4)}
    return Region(
        Module(path),
        "x",
        Function(0x1000, len(code), name, "symbol" if name else ".eh_frame"),
        machine,
        votes,
        0x1000,
        code,
        list(references),
        [(100, chain)],
    )


ROUND = bytes.fromhex("660f38dcc1")  # aesenc xmm0, xmm1
LAST = bytes.fromhex("660f38ddc1")  # aesenclast xmm0, xmm1
AESENC = ROUND + LAST
CLMUL = bytes.fromhex("660f3a44c100")  # pclmulqdq xmm0, xmm1, 0
VAESENC = bytes.fromhex("c4e27ddcc1c4e27dddc1")  # vaesenc, vaesenclast ymm0, ymm0, ymm1
NOTHING = bytes.fromhex("4801d8")  # add rax, rbx
LOOKUP = bytes.fromhex("330c82")  # xor ecx, [rdx + rax*4]
BYTE = bytes.fromhex("0fb6c3")  # movzx eax, bl
MUL = bytes.fromhex("49f7e0")  # mul r8
ADC = bytes.fromhex("4811d1")  # adc rcx, rdx
DIV = bytes.fromhex("49f7f0")  # div r8


def names(found: Region) -> list[str]:
    return [
        recognition.label for named in recognise(profile_of(found)) for recognition in named.found
    ]


def table(name: str, numbers: list[int], size: int, *, live: bool = True) -> Reference:
    data = b"".join(number.to_bytes(size, "little") for number in numbers)
    del name
    return Reference(0x5000, 0x5000, data[:512], -1 if live else 0x1000)


@pytest.mark.parametrize(
    ("code", "wanted"),
    [
        (AESENC * 10 + NOTHING * 30, ["AES: AES-NI"]),
        (VAESENC * 10 + NOTHING * 30, ["AES: VAES-256"]),
        ((AESENC + CLMUL) * 10 + NOTHING * 30, ["AES: AES-NI", "GHASH: CLMUL"]),
        (CLMUL * 10 + NOTHING * 30, ["checksum (no cryptography): carry-less multiplication,"]),
        (ROUND * 10 + NOTHING * 30, ["rounds of AES (no cipher): AES-NI"]),
        (LAST * 10 + NOTHING * 30, ["rounds of AES (no cipher): AES-NI"]),
        (NOTHING * 60, []),
        ((MUL + ADC) * 12 + NOTHING * 30, ["big numbers (RSA, DH): mul of 64 bits"]),
        ((DIV + NOTHING) * 12, []),
    ],
)
def test_instructions_decide(code: bytes, wanted: list[str]) -> None:
    found = names(region(code))
    assert len(found) == len(wanted)
    assert all(have.startswith(want) for have, want in zip(found, wanted, strict=True))


def test_the_hash_of_keys_of_tables_in_go_is_no_cipher() -> None:
    code = ROUND * 20 + NOTHING * 30
    assert names(region(code)) == ["AES: AES-NI"]
    for name in ("aeshashbody", "runtime.memhash64", "internal/runtime/maps.strhash"):
        assert names(region(code, name=name)) == ["rounds of AES (no cipher): AES-NI"]


def test_a_division_counts_only_in_cryptographic_code() -> None:
    code = (DIV + NOTHING) * 12
    assert names(region(code, callers=("BN_mod_word",))) == [
        "big numbers (RSA, DH): word division (div)"
    ]
    assert names(region(code, callers=("format_number",))) == []


@pytest.mark.parametrize(
    ("make", "size", "label"),
    [
        ("aes_te0", 4, "AES: T-tables"),
        ("aes_sbox", 1, "AES: S-box bytes"),
        ("ghash_four_bits_high64", 8, "GHASH: table"),
        ("crc32", 4, "checksum (no cryptography): CRC, table"),
    ],
)
def test_tables_are_found_by_content_where_code_looks_them_up(
    make: str, size: int, label: str
) -> None:
    code = (LOOKUP + BYTE + NOTHING + bytes.fromhex("c1e908")) * 12  # shr ecx, 8
    reference = table(make, constants.MAKERS[make](), size)
    assert names(region(code, references=(reference,))) == [label]
    changed = [number ^ 1 for number in constants.MAKERS[make]()]
    assert names(region(code, references=(table(make, changed, size),))) == []


def test_a_table_that_nothing_looks_up_is_no_evidence() -> None:
    reference = table("", constants.aes_te(0), 4)
    assert names(region(NOTHING * 40, references=(reference,))) == []


def test_a_caller_lends_its_name_only_to_as_much_code_as_it_has() -> None:
    hot = region(AESENC * 20 + NOTHING * 5)
    glue = region(NOTHING * 20)
    glue.function = Function(0x8000, 60, "", ".eh_frame")
    glue.chains = [(9, (Caller("/usr/bin/x", 0x1000),))]
    found = recognise(profile_of(hot, glue))
    assert [named_region.found[0].implementation for named_region in found] == [
        "AES-NI",
        "AES-NI, code around it",
    ]
    glue.votes = dict.fromkeys(range(0x1000, 0x1100), 50)
    assert not recognise(profile_of(hot, glue))[1].found


def test_arm_code_is_recognised_from_stored_samples() -> None:
    aese = bytes.fromhex("20482e4e") * 0 + bytes.fromhex("2048284e")  # aese v0.16b, v1.16b
    pmull = bytes.fromhex("20e0e20e")  # pmull v0.1q, v1.1d, v2.1d
    nothing = bytes.fromhex("0000018b")  # add x0, x0, x1
    found = names(region((aese + pmull) * 10 + nothing * 20, machine="a64"))
    assert found[:1] == ["AES: Armv8 AES instructions"]


SHUFFLES = bytes.fromhex("f20f70c0b1f30f70c0b1")  # pshuflw and pshufhw xmm0, xmm0, 0xb1
ADDS = bytes.fromhex("660ffec1660fefd0")  # paddd xmm0, xmm1; pxor xmm2, xmm0


def turn(distance: int) -> bytes:
    """Rotate lanes of 32 bits by two shifts and an `or`."""
    left, right = bytes([distance]), bytes([32 - distance])
    return (
        bytes.fromhex("660f72f0") + left + bytes.fromhex("660f72d1") + right + b"\x66\x0f\xeb\xc1"
    )


def test_shuffles_that_rotate_count_as_rotations() -> None:
    code = (ADDS + SHUFFLES + ADDS + turn(12) + ADDS + turn(8) + ADDS + turn(7)) * 3
    assert names(region(code)) == ["ChaCha20: SSE"]
    other = code.replace(b"\xb1", b"\x1b").replace(turn(8), turn(9))
    assert names(region(other)) == []


def test_a_shuffle_of_bytes_rotates_if_its_mask_does() -> None:
    shuffle = bytes.fromhex("660f3800c4")  # pshufb xmm0, xmm4
    code = (ADDS + shuffle + ADDS + turn(12) + ADDS + shuffle + ADDS + turn(7)) * 3
    masks = [
        Reference(0x7000, 0x7000, bytes((at - n) % 4 + at // 4 * 4 for at in range(16)), 0x1000)
        for n in (1, 2)
    ]
    gathered = gather(region(code, references=tuple(masks)), load_rules())
    assert gathered.samples.turned(32) >= {7, 8, 12, 16}
    plain = [Reference(0x7000, 0x7000, bytes(16), 0x1000)]
    gathered = gather(region(code, references=tuple(plain)), load_rules())
    assert not {8, 16} & gathered.samples.turned(32)


def test_two_shifts_of_general_registers_are_a_rotation() -> None:
    both = bytes.fromhex("c1e005c1e91b")  # shl eax, 5; shr ecx, 27
    assert 5 in gather(region(both * 9), load_rules()).samples.turned(32)
    other = bytes.fromhex("c1e005c1e91a")  # shr ecx, 26
    assert not gather(region(other * 9), load_rules()).samples.turned(32)


def test_constants_beside_a_table_are_not_the_table() -> None:
    mask = bytes(range(16))
    beside = mask + b"".join(number.to_bytes(4, "little") for number in constants.sha256_k())
    known = load_rules()
    assert "SHA-256 K" in known.tables_at(0x5010, 0x5000, beside)
    assert "SHA-256 K" not in known.tables_at(0x5000 - 16, 0x5000 - 16, bytes(16) + beside)


LOOKUPS = (  # Blowfish's F: four bytes of eax; mov, add, xor, add of words of tables at rdi
    "0fb6d88b0c9f0fb6d8038c9f000400000fb6d8338c9f000800000fb6d8038c9f000c000001c8c1e808"
)


def test_tables_of_a_key_are_recognised_by_their_distances() -> None:
    assert names(region(bytes.fromhex(LOOKUPS) * 6)) == ["Blowfish: tables"]
    more = LOOKUPS.replace("01c8", "338c9f00100000338c9f0014000001c8")
    assert names(region(bytes.fromhex(more) * 6)) == []


def test_tables_of_other_standards_begin_as_published() -> None:
    assert constants.des_sbox1_values()[:4] == [14, 0, 4, 15]
    assert constants.des_sbox1_reversed()[:3] == [7, 2, 12]
    assert constants.sm3_t()[:2] == [0x79CC4519, 0xF3988A32]
    assert constants.sm3_t()[16] == 0x9D8A7A87
    assert constants.magma_pairs()[:2] == [0x6C, 0x64]
    assert sorted(constants.magma_pairs()) == list(range(256))
    assert constants.sm4_t(0)[0] == 0x8ED55B5B


def test_functions_that_call_each_other_are_recognised_together() -> None:
    """BLAKE2b's rotations by 32 and 24 in one function, by 16 and 63 in another."""
    turns = {n: bytes.fromhex("48c1c0") + bytes([n]) for n in (32, 40, 48, 1)}
    outer = region((turns[40] + NOTHING * 2) * 8)
    inner = region((turns[48] + NOTHING * 2) * 8)
    assert names(outer) == names(inner) == []
    inner.function = Function(0x8000, len(inner.code), "", ".eh_frame")
    inner.chains = [(9, (Caller("/usr/bin/x", 0x1000),))]
    found = recognise(profile_of(outer, inner))
    assert {f.label for named_region in found for f in named_region.found} == {"BLAKE2b: scalar"}
    inner.chains = [(9, (Caller("/usr/bin/x", 0x7000),))]
    assert not any(named_region.found for named_region in recognise(profile_of(outer, inner)))


def test_a_name_of_a_caller_counts_where_the_function_has_none() -> None:
    assert names(region(NOTHING * 40, callers=("", "br_ec_p256_m31"))) == [
        "P-256: compiled code (scalar)"
    ]
    assert names(region(NOTHING * 40, callers=("", "br_ec_p256_m31"), name="copy")) == []


def test_a_small_number_in_data_is_no_constant() -> None:
    near = Reference(0x7000, 0x7000, (38).to_bytes(8, "little") * 4, 0x1000)
    code = (MUL + ADC) * 12
    assert names(region(code, references=(near,)))[0].startswith("big numbers")
    fold = bytes.fromhex("ba26000000")  # mov edx, 38
    assert names(region(fold + code))[0].startswith("X25519")


def test_counts_of_a_vector_are_rotations() -> None:
    rotates = bytes.fromhex("62f2fd0815c1")  # vprolvq xmm0, xmm0, xmm1
    counts = Reference(0x7000, 0x7000, (40).to_bytes(8, "little") * 2 + bytes(16), 0x1000)
    gathered = gather(region(rotates * 9, references=(counts,)), load_rules())
    assert gathered.samples.turned(64) == {40}
    assert not gather(region(rotates * 9), load_rules()).samples.turned(64)


def test_pages_of_zeros_are_no_instructions() -> None:
    assert not gather(region(bytes(64)), load_rules()).samples.total


def test_straight_code_of_the_s_box_circuit_is_aes() -> None:
    xor, both = bytes.fromhex("4831d8"), bytes.fromhex("4821d8")  # xor, and rax, rbx
    assert names(region((xor * 5 + both * 2) * 16)) == ["AES: bit-sliced (scalar)"]
    assert names(region((xor * 2 + both * 2) * 20)) == []


def test_a_name_of_scrypt_does_not_turn_its_remainder_into_big_numbers() -> None:
    code = (DIV + NOTHING) * 12
    assert names(region(code, callers=("EVP_PBE_scrypt",))) == ["Salsa20: compiled code (scalar)"]


def test_every_rule_has_sources_and_conditions() -> None:
    known = load_rules()
    assert len(known.kinds) >= 25
    assert all(known.sources.values())
    assert all(rule.needs for rule in known.implementations)


HEAD = "primitive = 'x'\nkind = 'hash'\nsource = 'z'\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kind = 'cipher'\nsource = 'x'\n", "lacks 'primitive'"),
        ("primitive = 'x'\nkind = 'y'\nsource = 'z'\n", "unknown kind 'y'"),
        (
            "primitive='x'\nkind='hash'\nsource='z'\n[[implementation]]\nname='n'\nrank=1\nneeds=[{}]",
            "one of op",
        ),
        (
            "primitive='x'\nkind='hash'\nsource='z'\n[[table]]\nname='n'\nbytes=4\nmake='nobody'",
            "nothing makes",
        ),
    ],
)
def test_a_wrong_rule_is_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "x.toml").write_text(text)
    recognition_rules.load_rules.cache_clear()
    with pytest.raises(EverycoreError, match=message):
        recognition_rules.load_rules(tmp_path)
    recognition_rules.load_rules.cache_clear()


def test_tables_are_those_of_the_standards() -> None:
    assert constants.aes_sbox()[:4] == [0x63, 0x7C, 0x77, 0x7B]
    assert constants.aes_te(0)[0] == 0xC66363A5
    assert constants.sha256_k()[0] == 0x428A2F98
    assert constants.sha512_k()[79] == 0x6C44198C4A475817
    assert constants.md5_t()[0] == 0xD76AA478
    assert constants.keccak_rc()[:4] == [1, 0x8082, 0x800000000000808A, 0x8000000080008000]
    assert constants.pi_words()[:2] == [0x243F6A88, 0x85A308D3]
    assert constants.crc32()[1] == 0x77073096
    assert constants.des_sbox1_turned()[:2] == [0x01010400, 0]
    assert constants.kyber_zetas()[1] == 1729


def store(path: Path, profile: Profile) -> None:
    path.write_text("".join(f"{line}\n" for line in recording.lines(profile, ["aes"])))


def test_stored_samples_give_the_same_names(tmp_path: Path) -> None:
    path = tmp_path / "samples.jsonl"
    profile = profile_of(region((AESENC + CLMUL) * 10, callers=("EVP_EncryptUpdate",)))
    store(path, profile)
    again, flags = recording.read(path)
    assert flags == ["aes"]
    assert again == replace(profile, files=facts_of(profile))
    assert list(again.files) == ["/usr/bin/x"]
    assert shares(recognise(again)) == shares(recognise(profile))


def test_a_truncated_file_of_samples_is_refused_wherever_it_ends(tmp_path: Path) -> None:
    path = tmp_path / "samples.jsonl"
    store(path, profile_of(region(AESENC * 10)))
    whole = path.read_bytes()
    for length in range(0, len(whole) - 1, 97):
        path.write_bytes(whole[:length])
        with pytest.raises(EverycoreError):
            recording.read(path)
    path.write_text(json.dumps({"type": "run"}) + "\n")
    with pytest.raises(EverycoreError, match="no file of samples"):
        recording.read(path)


def test_a_cause_and_a_remedy_are_named() -> None:
    lookups = region((LOOKUP + BYTE) * 20, references=(table("", constants.aes_te(0), 4),))
    lookups.module = Module("/usr/lib/libnettle.so.8")
    lookups.environment = {"NETTLE_FAT_OVERRIDE": "vendor:intel"}
    profile = profile_of(lookups)
    answer = explain(profile, recognise(profile), ["aes"])
    assert answer.rows[0].remedy is not None
    assert answer.rows[0].remedy.unset == ("NETTLE_FAT_OVERRIDE",)
    assert len(answer.rows) <= 6


@pytest.mark.parametrize(
    ("callers", "others", "says"),
    [
        (("CRYPTO_gcm128_init", "EVP_CipherInit_ex"), 0, True),
        (("EVP_EncryptInit_ex",), 0, True),
        (("gcry_cipher_setkey",), 0, True),
        (("EVP_EncryptUpdate", "send"), 0, False),
        (("SSL_CTX_init_settings",), 0, False),
        (("CRYPTO_gcm128_init", "EVP_CipherInit_ex"), 20, False),  # less than a tenth of the time
    ],
)
def test_setting_keys_for_few_bytes_is_a_cause(
    callers: tuple[str, ...], others: int, says: bool
) -> None:
    setting = region((AESENC + CLMUL) * 10, callers=callers)
    profile = profile_of(setting, *(region(NOTHING * 60, name=f"f{i}") for i in range(others)))
    answer = explain(profile, recognise(profile), ["aes"])
    (row,) = (line for line in answer.rows if line.is_crypto)
    assert ("keys are set" in (row.remedy.says if row.remedy else "")) is says


@pytest.mark.parametrize(
    ("wide", "caller", "says"),
    [
        (True, "EVP_EncryptUpdate", True),
        (True, "EVP_CipherInit_ex", False),
        (False, "EVP_EncryptUpdate", False),
    ],
)
def test_narrow_gcm_on_a_wide_cpu_has_a_remedy(wide: bool, caller: str, says: bool) -> None:
    loop = region((AESENC + CLMUL) * 10, callers=(caller,))
    loop.module = Module("/usr/lib/libcrypto.so.3")
    profile = profile_of(loop)
    flags = ["aes", "pclmulqdq", *(["vaes", "vpclmulqdq", "avx512vl"] if wide else [])]
    remedy = explain(profile, recognise(profile), flags).rows[0].remedy
    assert ("docs/guides/adopt.md" in (remedy.remedy if remedy else "")) == says


def test_a_cure_of_a_small_share_is_not_worth_a_sentence() -> None:
    lookups = region((LOOKUP + BYTE) * 20, references=(table("", constants.aes_te(0), 4),))
    profile = profile_of(lookups, region(NOTHING * 40, path="/usr/bin/y"))
    answer = explain(profile, recognise(profile), [])
    row = next(line for line in answer.rows if line.is_crypto)
    for share, says in ((4.0, False), (6.0, True)):
        told = replace(row, share=share, remedy=Remedy("no cure is too small", "a cure"))
        lines = sentences(replace(answer, rows=(told,)), (), ())
        assert any("no cure is too small" in line for line in lines) == says


def test_a_search_for_primes_is_told_by_its_gcd() -> None:
    steps = region((MUL + ADC) * 12, callers=("BN_gcd",), path="/usr/lib/libcrypto.so.3")
    profile = profile_of(steps)
    remedy = explain(profile, recognise(profile), []).rows[0].remedy
    assert remedy is not None
    assert "search for primes" in remedy.says


def test_a_small_program_is_recognised_from_its_samples(tmp_path: Path) -> None:
    if not shutil.which("cc"):
        pytest.skip("no C compiler: apt-get install gcc libc6-dev")
    source, binary = tmp_path / "loop.c", tmp_path / "loop"
    source.write_text(LOOPS)
    subprocess.run(["cc", "-O2", "-s", "-o", binary, source], check=True)
    silent = os.open(os.devnull, os.O_WRONLY)
    try:
        sampled = sample_command([str(binary)], SamplingOptions(hz=499), dict(os.environ), silent)
    finally:
        os.close(silent)
    profile = collect(sampled, [str(binary)])
    assert shares(recognise(profile)).get("ChaCha20: scalar", 0) > 80


METHODS = r"""
static int turn(int x) { return x * 3; }
static int both(int x) { return x * 5; }
const struct { long size; int (*turn)(int), (*both)(int); } br_ec_p256_x = {8, turn, both};
const struct { long size; int (*both)(int); } other = {8, both};
"""


def test_a_named_table_of_pointers_names_static_functions(tmp_path: Path) -> None:
    if not shutil.which("cc"):
        pytest.skip("no C compiler: apt-get install gcc libc6-dev")
    source, library = tmp_path / "methods.c", tmp_path / "libmethods.so"
    source.write_text(METHODS)
    subprocess.run(["cc", "-O2", "-s", "-shared", "-fPIC", "-o", library, source], check=True)
    image = load(library)
    pointed = [image.function(start).name for start, _ in image.file.unwind_table]
    assert [name for name in pointed if name] == ["br_ec_p256_x"]  # two tables point to `both`


def constant(number: int) -> bytes:
    return b"\x48\xb8" + number.to_bytes(8, "little")  # mov rax, number


@pytest.mark.parametrize(
    ("words", "primitive"),
    [
        ((0xFFFFFFFF00000001, 0xFFFFFFFF), "P-256"),
        ((0xFFFFFFFF00000001, 0xFFFFFFFF, 0x100000001), "P-384"),
        ((0xFFFFFFFF00000000, 0xFFFFFFFFFFFFFFFE, 0xFFFFFFFF), "P-384"),
        ((0xFFFFFFFF00000000, 0xFFFFFFFEFFFFFFFF), "SM2"),
        ((0x2013481D1F6E5377,), "brainpool curves"),
        ((0xFFFFFFFF00000002,), "big numbers (RSA, DH)"),
    ],
)
def test_words_of_primes_that_look_alike_are_told_apart(
    words: tuple[int, ...], primitive: str
) -> None:
    code = b"".join(constant(word) for word in words) + (MUL + ADC) * 12
    assert [name.split(":")[0] for name in names(region(code))] == [primitive]


@pytest.mark.parametrize("word", [0xFFFFFFFFFFFFFFFE, 0xFFFFFFFEFFFFFFFF])
def test_masks_beside_products_of_one_word_are_no_prime(word: int) -> None:
    masks = b"".join(constant(mask) for mask in (0xFFFFFFFF00000000, word, 0xFFFFFFFF))
    product = bytes.fromhex("480fafc3")  # imul rax, rbx
    assert names(region(masks + (product + NOTHING) * 12)) == []
    assert names(region(masks + (MUL + ADC) * 12)) != []


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("gosthash_update", "Gost: compiled code (scalar)"),
        ("gost_encrypt_block", "Magma (GOST 28147-89): compiled code (scalar)"),
        ("streebog_g", "Streebog: compiled code (scalar)"),
        ("kuznyechik_encrypt", "Kuznyechik or Streebog: compiled code (scalar)"),
        ("ghost_in_a_row", ""),
    ],
)
def test_a_name_with_gost_is_that_of_its_own_standard(name: str, label: str) -> None:
    assert names(region(NOTHING * 40, name=name)) == [label] * bool(label)


@pytest.mark.parametrize(
    ("name", "is_curve"),
    [
        ("ge_p3_to_cached", True),
        ("fe_tobytes", True),
        ("PyMapping_GetOptionalItem", False),
    ],
)
def test_short_names_of_curve25519_are_not_found_inside_words(name: str, is_curve: bool) -> None:
    found = names(region(NOTHING * 40, name=name))
    assert any(label.startswith("X25519 or Ed25519") for label in found) == is_curve


def test_a_name_tells_the_curve_and_the_code_how_it_multiplies() -> None:
    code = (MUL + ADC) * 12
    assert names(region(code, name="x448_ladder")) == ["X448 or Ed448: scalar, mul of 64 bits"]
    assert names(region(NOTHING * 40, name="x448_ladder")) == [
        "X448 or Ed448: compiled code (scalar)"
    ]


@pytest.mark.parametrize(
    ("numbers", "label"),
    [
        ([41, 46, 67, 201, 162, 216, 124, 1, 61, 54, 84, 161, 236, 240, 6, 19], "MD2: tables"),
        (
            [0xD9, 0x78, 0xF9, 0xC4, 0x19, 0xDD, 0xB5, 0xED, 0x28, 0xE9, 0xFD, 0x79],
            "RC2: tables",
        ),
        (
            [0xA3, 0xD7, 0x09, 0x83, 0xF8, 0x48, 0xF6, 0xF4, 0xB3, 0x21, 0x15, 0x78],
            "Skipjack: tables",
        ),
        ([0x3E, 0x72, 0x5B, 0x47, 0xCA, 0xE0, 0x00, 0x33, 0x04, 0xD1, 0x54, 0x98], "ZUC: tables"),
        ([0xA8, 0x43, 0x5F, 0x06, 0x6B, 0x75, 0x6C, 0x59, 0x71, 0xDF], "Kalyna or Kupyna: tables"),
    ],
)
def test_tables_of_bytes_are_found(numbers: list[int], label: str) -> None:
    code = (LOOKUP + BYTE + NOTHING) * 12
    assert names(region(code, references=(table("", numbers, 1),))) == [label]
    changed = [number ^ 1 for number in numbers]
    assert names(region(code, references=(table("", changed, 1),))) == []


@pytest.mark.parametrize("place", range(4))
def test_s_boxes_of_gost_for_tests_are_found(place: int) -> None:
    code = (LOOKUP + BYTE + NOTHING) * 12
    words = constants.MAKERS[f"gost_test_words{place}"]()
    assert names(region(code, references=(table("", words, 4),))) == [
        "Magma (GOST 28147-89): tables"
    ]
    assert words[0] == {0: 0x4 | 0xE << 4, 1: 0x5 | 7 << 4, 2: 6 | 4 << 4, 3: 0xD | 1 << 4}[
        place
    ] << 8 * place + 11 & 0xFFFFFFFF | (
        {3: 0xD | 1 << 4, 2: 6 | 4 << 4}.get(place, 0) << 8 * place >> 21
    )


def test_a_few_small_numbers_are_no_s_box() -> None:
    code = (LOOKUP + BYTE + NOTHING) * 12
    numbers = constants.des_sbox1_values()
    assert names(region(code, references=(table("", numbers, 4, live=False),))) == [
        "DES: S-boxes of four bits (scalar)"
    ]
    few = numbers[:6] + [9] * 58
    assert names(region(code, references=(table("", few, 4, live=False),))) == []


def test_eight_tables_of_64_words_are_des() -> None:
    lookups = b"".join(
        bytes.fromhex("89d983e13f") + b"\x33\x84\x8f" + (256 * number).to_bytes(4, "little")
        for number in range(8)
    )  # mov ecx, ebx; and ecx, 63; xor eax, [rdi + rcx*4 + ...]
    assert names(region(lookups * 3)) == ["DES: tables"]
    assert names(region(lookups.replace(b"\x83\xe1\x3f", b"\x83\xe1\x1f") * 3)) == []


def test_tables_of_a_key_may_be_two_and_two() -> None:
    apart = LOOKUPS.replace("338c9f00080000", "338c9f50080000")
    apart = apart.replace("038c9f000c0000", "038c9f500c0000")
    assert apart != LOOKUPS
    assert names(region(bytes.fromhex(apart) * 6)) == ["Blowfish: tables"]


def left64(*distances: int) -> bytes:
    return b"".join(b"\x48\xc1\xc0" + bytes([distance]) + b"\x48\x31\xd8" for distance in distances)


def test_ascon_may_rotate_inside_of_a_rotation() -> None:
    assert names(region(left64(55, 45, 42, 25, 59, 63, 57, 54) * 4)) == ["Ascon: scalar"]
    assert names(region(left64(55, 44, 41, 24, 59, 62, 56, 53) * 4)) == []


def test_haval_rotates_by_seven_and_eleven() -> None:
    step = bytes.fromhex("c1c819" + "31d8" + "01d8" + "21d8")  # ror, xor, add, and
    both = step.replace(b"\x19", b"\x07") + step.replace(b"\x19", b"\x0b")
    assert names(region(both * 6)) == ["HAVAL: scalar"]
    assert names(region(both.replace(b"\x0b", b"\x0d") * 6)) == []


def test_limbs_may_be_floating_point_numbers() -> None:
    product = bytes.fromhex("f20f59c1f20f58d0")  # mulsd xmm0, xmm1; addsd xmm2, xmm0
    carry = constant(0x40EFFFE000000000)
    found = names(region(carry + constant(0x4043000000000000) + product * 20))
    assert found == ["X25519 or Ed25519: scalar, limbs of 16 bits (floating point)"]
    assert names(region(carry + constant(0x4043000000000001) + product * 20)) == []


def test_code_without_bounds_is_read_in_step() -> None:
    number = bytes.fromhex("b878563412")  # mov eax, a number
    code = (LOOKUP + number + BYTE + MUL) * 6
    starts = {0x1000 + 14 * n + at for n in range(6) for at in (0, 3, 8, 11)}
    place = 0x1000 + len(code)
    steps = regions._in_step("x86-64", code[5:], NOTHING, place)
    assert steps > len(code) / 2
    assert place - steps in starts
    assert regions._in_step("x86-64", bytes([0x06]) * 20, NOTHING, place) == 0  # no instruction


GONE = "#include <unistd.h>\n" + LOOPS.replace(
    "    while (more())", "    unlink(FILE_NAME);\n    while (more())"
)


def test_a_file_that_was_deleted_while_it_ran_is_explained(tmp_path: Path) -> None:
    source, program = tmp_path / "gone.c", tmp_path / "gone"
    source.write_text(GONE)
    flags = ["-O1", "-s", f'-DFILE_NAME="{program}"']
    subprocess.run(["cc", *flags, source, "-o", program], check=True)
    sampled = sample_command([str(program)], SamplingOptions(1999), dict(os.environ))
    assert not program.exists()
    assert list(sampled.files) == [str(program)]
    sampled.memory.clear()  # pages that were read while the program ran
    found = shares(recognise(collect(sampled, [str(program)])))
    assert max(found, key=lambda label: found[label]).startswith("ChaCha20")
    sampled.files.clear()
    assert not shares(recognise(collect(sampled, [str(program)])))


def test_generated_code_is_read_where_a_snapshot_has_it() -> None:
    code = (AESENC * 10 + NOTHING * 30)[:120]
    sampled = Sampled("x86_64", "perf")
    sampled.memory[1, 0x2000] = code.ljust(4096, b"\x90")
    sampled.samples = [
        Sample(1, 1, 0x1FF0, True),
        *(Sample(1, 1, 0x2000 + n, True) for n in (0, 5)),
    ]
    sampled.samples *= 9
    (found,) = [code_region for code_region in collect(sampled).regions if code_region.is_generated]
    assert (found.code_start, found.code[:120]) == (0x2000, code[: len(found.code)])
    assert found.samples == 27
    assert names(found) == ["AES: AES-NI"]


def test_generated_code_may_lie_in_a_file_in_memory() -> None:
    name = "/memfd:vmem (deleted)"
    sampled = Sampled("x86_64", "perf")
    sampled.mappings[1] = [Mapping(0x2000, 0x3000, 0, name)]
    sampled.files[name] = bytes(4096)  # no ELF file
    sampled.memory[1, 0x2000] = (AESENC * 10 + NOTHING * 30)[:120].ljust(4096, b"\x90")
    sampled.samples = [Sample(1, 1, 0x2000 + n, True) for n in (0, 5)] * 9
    (found,) = collect(sampled).regions
    assert found.is_generated
    assert names(found) == ["AES: AES-NI"]


def prime_in_memory(prime: int, words: int) -> Reference:
    """The modulus that code for any modulus gets a pointer to, among other numbers."""
    data = bytes(64) + prime.to_bytes(8 * words, "little") + bytes(range(64))
    return Reference(0x5040, 0x5000, data)


P521_ORDER = (
    2**521
    - 2**260
    + int(  # SP 800-186, 3.2.1.5
        "A51868783BF2F966B7FCC0148F709A5D03BB5C9B8899C47AEBB6FB71E91386409", 16
    )
)


@pytest.mark.parametrize(
    ("prime", "words", "primitive"),
    [
        (2**256 - 2**224 + 2**192 + 2**96 - 1, 4, "P-256"),
        (2**384 - 2**128 - 2**96 + 2**32 - 1, 6, "P-384"),
        (P521_ORDER, 9, "P-521"),
        (2**521 - 1, 9, "P-521"),
        (2**448 - 2**224 - 1, 7, "X448 or Ed448"),
        (2**256 - 2**32 - 977, 4, "secp256k1"),
        (2**255 - 19, 4, "X25519 or Ed25519"),
        (2**256 - 2**224 - 2**96 + 2**64 - 1, 4, "SM2"),
    ],
)
def test_a_prime_that_code_is_handed_names_the_curve(
    prime: int, words: int, primitive: str
) -> None:
    code = (MUL + ADC) * 12 + NOTHING * 30
    found = names(region(code, references=(prime_in_memory(prime, words),)))
    assert found == [f"{primitive}: scalar, mul of 64 bits"]
    other = prime_in_memory(prime ^ 1 << 64 * words - 10, words)
    assert names(region(code, references=(other,))) == ["big numbers (RSA, DH): mul of 64 bits"]


def test_what_lies_behind_a_word_that_is_loaded_alone_is_not_its_constant() -> None:
    load = bytes.fromhex("488b05") + (0x5000 - 0x1007).to_bytes(4, "little")  # mov rax, [rip + n]
    data = b"".join(value.to_bytes(8, "little") for value in (0x1234567887654321, 0x1000003D1))
    code = load + (MUL + ADC) * 12
    found = region(code, references=(Reference(0x5000, 0x5000, data, 0x1000),))
    assert gather(found, load_rules()).function.constants >= {0x1234567887654321}
    assert names(found) == ["big numbers (RSA, DH): mul of 64 bits"]
    swapped = data[8:] + data[:8]
    found = region(code, references=(Reference(0x5000, 0x5000, swapped, 0x1000),))
    assert names(found) == ["secp256k1: scalar, mul of 64 bits"]


def test_a_function_whose_name_tells_another_primitive_is_not_renamed() -> None:
    mask = bytes.fromhex("4825") + 0x55555555.to_bytes(4, "little")  # and rax, a mask
    code = (mask + bytes.fromhex("4831d8")) * 20  # xor rax, rbx
    assert names(region(code)) == ["AES: bit-sliced (scalar)"]
    assert names(region(code, name="crypto/des.permuteInitialBlock")) == [
        "DES: compiled code (scalar)"
    ]
    assert names(region(code, name="aes_des_driver")) == ["AES: bit-sliced (scalar)"]


def called(function: Region, start: int, chain: tuple[int, ...]) -> Region:
    function.function = Function(start, len(function.code), function.function.name, "symbol")
    function.chains = [(100, tuple(Caller("/usr/bin/x", place) for place in chain))]
    return function


def test_arithmetic_is_named_by_the_one_curve_whose_functions_call_it() -> None:
    code = (MUL + ADC) * 12 + NOTHING * 30
    curve = called(region(constant(0x1000003D1) + code), 0x1000, (0x7000, 0x9000))
    beside = called(region(code), 0x2000, (0x6000, 0x7000))
    far = called(region(code), 0x3000, (0x6000, 0x8000))
    labels = [
        named_region.found[0].label for named_region in recognise(profile_of(curve, beside, far))
    ]
    wanted = "secp256k1: scalar, mul of 64 bits"
    assert labels == [wanted, wanted, "big numbers (RSA, DH): mul of 64 bits"]
    other = called(region(constant(0x2013481D1F6E5377) + code), 0x4000, (0x7000,))
    labels = [
        named_region.found[0].label for named_region in recognise(profile_of(curve, beside, other))
    ]
    assert labels[1] == "big numbers (RSA, DH): mul of 64 bits"


def test_the_s_box_of_aes_between_affine_maps_is_not_aes() -> None:
    shuffle = bytes.fromhex("660f3800c4")  # pshufb xmm0, xmm4
    maps = (shuffle + bytes.fromhex("660fefd0" + "660fdbc1")) * 3  # pxor, pand
    assert names(region((maps + LAST) * 6)) == ["Camellia: AES-NI S-box (SSE)"]
    assert names(region((maps + LAST + ROUND) * 6)) == ["AES: AES-NI"]
    # Groestl's products: a mask of 0x1b
    assert not names(region((maps + LAST) * 6 + constant(0x1B1B1B1B1B1B1B1B)))[0].startswith("Cam")


def test_serpent_with_s_boxes_that_are_looked_up() -> None:
    turns = b"".join(
        b"\xc1\xc0" + bytes([rotation]) + b"\x31\xd8" for rotation in (13, 3, 1, 7, 5, 22)
    )
    code = (turns + bytes.fromhex("21d8c1e808" + "89c1" * 9)) * 6  # and, shr, mov
    assert names(region(code)) == ["Serpent: S-boxes of four bits (scalar)"]
    assert names(region(code.replace(b"\xc1\xc0\x16", b"\xc1\xc0\x17"))) == []


def test_limbs_of_26_bits_may_be_of_secp256k1() -> None:
    product = bytes.fromhex("480fafc1" + "4801d8")  # imul, add
    code = constant(0x3FFFFFF) + product * 20
    assert names(region(code)) == ["Poly1305: scalar multiplication, limbs of 26 bits"]
    code += constant(0x3FFFFF) + constant(15632)
    assert names(region(code)) == ["secp256k1: scalar, limbs of 26 bits"]


def test_limbs_of_26_bits_with_the_terms_of_another_prime_are_of_p_256() -> None:
    product = bytes.fromhex("480fafc1" + "4801d8")  # imul, add
    turns = b"".join(b"\x48\xc1\xe9" + bytes([rotation]) for rotation in (6, 12, 22))  # shr rcx
    turns += b"".join(b"\x48\xc1\xe1" + bytes([rotation]) for rotation in (14, 20, 22))  # shl rcx
    code = constant(0x3FFFFFF) + (product * 4 + turns) * 4
    assert names(region(code)) == ["P-256: scalar, limbs of 26 bits"]
    fewer = constant(0x3FFFFFF) + (product * 4 + turns[:4]) * 4
    assert names(region(fewer)) == ["Poly1305: scalar multiplication, limbs of 26 bits"]


def test_limbs_of_13_bits_of_poly1305_are_cut_by_shifts_and_masks() -> None:
    row = bytes.fromhex("0fafc1" + "01d8") * 4  # imul, add
    cut = constant(0x1FFF) + constant(5) + bytes.fromhex("c1e90d")  # shr ecx, 13
    mask = bytes.fromhex("81e1ff1f0000")  # and ecx, 0x1fff
    assert names(region(cut + (row + mask * 2 + bytes.fromhex("c1e90d")) * 4)) == [
        "Poly1305: scalar, limbs of 13 bits"
    ]
    assert names(region(cut + row * 12)) == []  # products alone: a hash of table keys


def test_words_of_64_bits_with_two_chains_of_carries_are_not_poly1305() -> None:
    folded = constant(0xFFFFFFFFFFFFFFFC) + bytes.fromhex("4883e003" + "48c1e902")  # and 3, shr 2
    chains = bytes.fromhex("c4e2fbf6c1" + "66480f38f6c1" + "f3480f38f6d1")  # mulx, adcx, adox
    caller = ("EVP_PKEY_derive",)
    plain = names(region(folded + (MUL + ADC) * 12, callers=caller))
    assert plain == ["Poly1305: scalar, limbs of 64 bits"]
    wanted = "big numbers (RSA, DH): mulx+adcx/adox"
    assert names(region(folded + chains * 12, callers=caller)) == [wanted]


def test_loads_and_stores_of_each_variable_do_not_hide_arithmetic() -> None:
    move = bytes.fromhex("488945f8")  # mov [rbp - 8], rax
    assert names(region((MUL + ADC + move * 50) * 4)) == ["big numbers (RSA, DH): mul of 64 bits"]
    assert names(region((MUL + ADC + NOTHING * 50) * 4)) == []


SHIFT_32 = bytes.fromhex("48c1e920")  # shr rcx, 32
PRODUCT = bytes.fromhex("480fafc3")  # imul rax, rbx


def test_rows_of_products_of_32_bits_with_carries_are_big_numbers() -> None:
    row = (PRODUCT + NOTHING * 2 + SHIFT_32) * 12
    assert names(region(row)) == ["big numbers (RSA, DH): generic C, limbs of 32 bits"]
    other = SHIFT_32[:-1] + bytes([15])  # a filter in fixed point
    assert names(region((PRODUCT + NOTHING * 2 + other) * 12)) == []


@pytest.mark.parametrize(("bits", "is_found"), [(62, True), (61, False)])
def test_poly1305_is_told_by_its_fold_of_two_bits(bits: int, is_found: bool) -> None:
    fold = constant(0xFFFFFFFFFFFFFFFC) + bytes.fromhex("4883e003" + "48c1e902" + "48c1e1")
    found = names(region(fold + bytes([bits]) + (MUL + ADC) * 12))
    assert (found == ["Poly1305: scalar, limbs of 64 bits"]) is is_found
    both = bytes.fromhex("480facc8") + bytes([64 - bits])  # shrd rax, rcx
    found = names(region(fold[:-3] + both + (MUL + ADC) * 12))
    assert (found == ["Poly1305: scalar, limbs of 64 bits"]) is is_found


def test_a_carry_less_product_is_a_crc_by_its_constants() -> None:
    code = constant(0x154442BD4) + CLMUL * 20
    assert names(region(code)) == ["checksum (no cryptography): CRC, CLMUL"]


def test_code_far_from_all_samples_says_nothing_of_them() -> None:
    hot = (MUL + ADC) * 12
    for gap, curve in ((1000, "secp256k1"), (9000, "big numbers (RSA, DH)")):
        code_region = region(hot + b"\x90" * gap + constant(0x1000003D1))
        code_region.votes = {0x1000 + at: 5 for at in range(0, len(hot), 3)}
        assert [label.split(":")[0] for label in names(code_region)] == [curve]


def test_a_neighbour_s_rotations_are_not_those_of_code_that_has_none() -> None:
    turns = b"".join(
        b"\x48\xc1\xc8" + bytes([64 - rotation]) for rotation in (50, 46, 23, 36, 30, 25)
    )
    code_region = region((NOTHING + turns) * 6)
    assert names(code_region) == ["SHA-512: scalar"]
    beside = region(NOTHING * 40 + turns)
    beside.votes = {0x1000 + at: 5 for at in range(0, 90, 3)}
    assert names(beside) == []


def test_a_divisor_that_varies_is_sntrup761() -> None:
    loop = PRODUCT + bytes.fromhex("48c1e81f")  # shr rax, 31
    code = bytes.fromhex("b800000080" + "48f7fb") + loop * 40  # mov eax, 1 << 31; idiv rbx
    found = region(code)
    assert names(found) == ["sntrup761: division by a variable (idiv)"]
    assert names(region(loop * 40)) == []


def test_the_table_of_one_of_two_added_registers_is_found() -> None:
    sampled = Sampled("x86_64", "perf")
    load_byte = bytes.fromhex("428a043e")  # mov al, [rsi + r15]
    code = (load_byte + bytes.fromhex("31c8")) * 30  # xor eax, ecx
    sampled.memory[1, 0x2000] = code.ljust(4096, b"\x90")
    sampled.memory[1, 0x9000] = bytes(constants.aes_sbox()).ljust(4096, b"\0")
    held = {"rip": 0x2000, "rsp": 0x70000, "rsi": 0x44, "r15": 0x9000}
    places = range(0x2000, 0x2000 + len(code), 6)
    sampled.samples = [Sample(1, 1, place, True, registers=held) for place in places]
    (found,) = collect(sampled).regions
    assert names(found) == ["AES: S-box bytes"]


@pytest.mark.parametrize("lay_out", ["doubles", "upper halves"])
def test_tables_in_arrays_of_javascript_are_found(lay_out: str) -> None:
    numbers = constants.sha256_k() if lay_out == "doubles" else constants.aes_sbox()
    form = "<d" if lay_out == "doubles" else "<Q"
    words = [number if lay_out == "doubles" else number << 32 for number in numbers]
    data = b"".join(struct.pack(form, word) for word in words)
    known = load_rules()
    name = "SHA-256 K" if lay_out == "doubles" else "AES S-box"
    assert any(
        table_name.startswith(name) for table_name in known.tables_at(0x5000, 0x5000, data[:384])
    )
    counted = b"".join((number << 32).to_bytes(8, "little") for number in range(64))
    assert not known.tables_at(0x5000, 0x5000, counted)


def test_large_integers_of_generated_code_may_be_doubles() -> None:
    held = int.from_bytes(struct.pack("<d", 0xFFFFFFFF), "little")
    code_region = region(constant(held) * 9)
    assert 0xFFFFFFFF not in gather(code_region, load_rules()).function.constants
    code_region.is_generated = True
    assert 0xFFFFFFFF in gather(code_region, load_rules()).function.constants
    fraction = int.from_bytes(struct.pack("<d", 300.5), "little")
    other = replace(region(constant(fraction) * 9), is_generated=True)
    assert 300 not in gather(other, load_rules()).function.constants


def test_places_on_the_stack_are_no_constants() -> None:
    on_stack = bytes.fromhex(
        "4881ec40010000" + "488d842440010000"
    )  # sub rsp, 320; lea rax, [rsp + 320]
    assert 320 not in gather(region(on_stack * 9), load_rules()).function.constants
    other = bytes.fromhex("488d8340010000")  # lea rax, [rbx + 320]
    assert 320 in gather(region(other * 9), load_rules()).function.constants


def test_tweaks_of_xts_are_no_ghash() -> None:
    rounds = bytes.fromhex("660f38dcc1") * 9 + CLMUL  # aesenc xmm0, xmm1
    assert any(name.startswith("GHASH") for name in names(region(rounds * 4)))
    tweaks = bytes.fromhex("b887000000") + rounds * 4  # mov eax, 0x87
    assert names(region(tweaks)) == ["AES: AES-NI"]
