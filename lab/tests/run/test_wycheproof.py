# SPDX-License-Identifier: MIT
import json

from everycore.run import wycheproof

AEAD = {"tcId": 7, "key": "0A", "iv": "01", "aad": "02", "msg": "03", "ct": "04", "tag": "05"}
MAC = {"tcId": 8, "key": "0a", "msg": "03", "tag": "05"}
CIPHER = {"tcId": 9, "key": 16 * "0a" + 16 * "0b", "iv": "c0de", "msg": "03", "ct": "04"}


def lines(name: str, test: dict[str, object], result: str) -> list[str]:
    text = json.dumps({"testGroups": [{"tests": [{**test, "result": result}]}]})
    return list(wycheproof.each(wycheproof.FORMATS[name])(text))


def test_valid_messages_are_sealed_and_opened_by_every_kernel_and_every_pair() -> None:
    assert lines("aes_gcm_test.json", AEAD, "valid") == [
        "gcm gcm-seal * key=0a nonce=01 aad=02 tag=05 in=03 out=04 id=7",
        "gcm gcm-open * key=0a nonce=01 aad=02 tag=05 in=04 out=03 id=7",
        "gcm gcm-seal *+* key=0a nonce=01 aad=02 tag=05 in=03 out=04 id=7",
        "gcm gcm-open *+* key=0a nonce=01 aad=02 tag=05 in=04 out=03 id=7",
    ]
    assert lines("aes_ccm_test.json", AEAD, "valid") == [
        "aes ccm-seal * key=0a nonce=01 aad=02 tag=05 in=03 out=04 id=7",
        "aes ccm-open * key=0a nonce=01 aad=02 tag=05 in=04 out=03 id=7",
    ]


def test_invalid_messages_must_be_refused() -> None:
    assert lines("aes_gcm_test.json", AEAD, "invalid") == [
        f"gcm gcm-open {kernel} key=0a nonce=01 aad=02 tag=05 in=04 out=fail id=7"
        for kernel in ("*", "*+*")
    ]
    assert lines("aes_cmac_test.json", MAC, "invalid") == [
        "aes cmac-verify * key=0a in=03 tag=05 out=fail id=8"
    ]


def test_a_wrapped_key_is_wrapped_and_unwrapped_or_refused() -> None:
    assert lines("aes_kwp_test.json", CIPHER, "valid") == [
        f"aes kwp-wrap * key={CIPHER['key']} in=03 out=04 id=9",
        f"aes kwp-unwrap * key={CIPHER['key']} in=04 out=03 id=9",
    ]
    for result in ("invalid", "acceptable"):
        assert lines("aes_wrap_test.json", CIPHER, result) == [
            f"aes kw-unwrap * key={CIPHER['key']} in=04 out=fail id=9"
        ]


def test_gcm_siv_is_of_kernels_of_aes() -> None:
    first, second = lines("aes_gcm_siv_test.json", AEAD, "valid")
    assert first == "aes gcm-siv-seal * key=0a nonce=01 aad=02 tag=05 in=03 out=04 id=7"
    assert second == "aes gcm-siv-open * key=0a nonce=01 aad=02 tag=05 in=04 out=03 id=7"


def test_gmac_is_gcm_without_text() -> None:
    first, *_ = lines("aes_gmac_test.json", {**MAC, "iv": "01"}, "valid")
    assert first == "gcm gcm-seal * key=0a nonce=01 aad=03 tag=05 in= out= id=8"


def test_a_mac_is_computed_and_verified() -> None:
    assert lines("aes_cmac_test.json", MAC, "valid") == [
        "aes cmac * key=0a in=03 out=05 id=8",
        "aes cmac-verify * key=0a in=03 tag=05 out= id=8",
    ]


def test_cbc_is_padded_here_and_bad_padding_left_out() -> None:
    first, second = lines("aes_cbc_pkcs5_test.json", CIPHER, "valid")
    assert first.endswith(f" iv=c0de in=03{15 * '0f'} out=04 id=9")
    assert second.endswith(f" iv=c0de in=04 out=03{15 * '0f'} id=9")
    assert lines("aes_cbc_pkcs5_test.json", CIPHER, "invalid") == []


def test_tags_of_hmac_are_computed_and_verified_or_refused() -> None:
    assert lines("hmac_sha512_256_test.json", MAC, "valid") == [
        "sha2 hmac-sha512-256 * key=0a in=03 out=05 id=8",
        "sha2 hmac-sha512-256-verify * key=0a in=03 tag=05 out= id=8",
    ]
    assert lines("hmac_sha256_test.json", MAC, "invalid") == [
        "sha2 hmac-sha256-verify * key=0a in=03 tag=05 out=fail id=8"
    ]


def test_hkdf_is_asked_for_too_many_bytes_where_it_has_to_refuse() -> None:
    test = {"tcId": 9, "ikm": "0a", "salt": "0b", "info": "", "size": 8161, "okm": "0c"}
    assert lines("hkdf_sha256_test.json", test, "valid") == [
        "sha2 hkdf-sha256 * key=0a salt=0b in= out=0c id=9"
    ]
    assert lines("hkdf_sha256_test.json", test, "invalid") == [
        "sha2 hkdf-sha256 * key=0a salt=0b in= bytes=1fe1 out=fail id=9"
    ]


def test_iterations_of_pbkdf2_are_four_bytes() -> None:
    test = {"tcId": 9, "password": "0a", "salt": "0b", "iterationCount": 4096, "dk": "0c"}
    assert lines("pbkdf2_hmacsha512_test.json", test, "valid") == [
        "sha2 pbkdf2-sha512 * key=0a salt=0b iterations=00001000 out=0c id=9"
    ]


def test_a_key_of_xts_is_two_and_its_tweak_a_block() -> None:
    first, _ = lines("aes_xts_test.json", CIPHER, "valid")
    assert first == (
        f"aes xts-enc * key={16 * '0a'} key2={16 * '0b'} iv=c0de{28 * '0'} in=03 out=04 id=9"
    )
    assert lines("aes_xts_test.json", {**CIPHER, "key": 96 * "0"}, "valid") == []


def test_a_shared_secret_of_0_is_refused() -> None:
    test: dict[str, object] = {"tcId": 10, "private": "0a", "public": "0b", "shared": "0c"}
    (taken,) = lines("x25519_test.json", test, "acceptable")
    assert taken == "x25519 x25519 * key=0a in=0b out=0c id=10"
    (refused,) = lines("x25519_test.json", {**test, "shared": 64 * "0"}, "acceptable")
    assert refused == "x25519 x25519 * key=0a in=0b out=fail id=10"
