#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Files with keys of RSA: of OpenSSL, against another parser, and as other parsers got them wrong.

rsa_key_files.py RSA_ANSWERS [--quick]

The program openssl, 3.0 or later, writes keys in all forms, and signs and verifies with the same
files. The Python package cryptography, whose parser is written in Rust, reads what we read: cut
short, and with bytes of headers changed. Without it that part is skipped.
"""

import argparse
import base64
import importlib.util
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator

from openssl_commands import Commands, der, der_number, der_oid, pem, pieces
from rsa_against_python import KERNEL, KEY_SIZE, NO_KEY, OK, Key, key_of, prime
from rsa_paddings import HashingProgram, digest

ENCODING, ALGORITHM, ENCRYPTED = (
    "the file is neither DER nor PEM of such a key",
    "the file has a key of another algorithm or version",
    "the private key of the file is encrypted",
)
RSA_OID, PSS_OID = "1.2.840.113549.1.1.1", "1.2.840.113549.1.1.10"
NULL = der(0x05)
ALGORITHM_OF_RSA = der(0x30, der_oid(RSA_OID), NULL)


def hexadecimal(*numbers: int) -> str:
    """As rsa_answers prints numbers of a file: without leading zeros."""
    return ",".join(n.to_bytes((n.bit_length() + 7) // 8 or 1, "big").hex() for n in numbers)


def question(verb: str, file: bytes) -> str:
    return f"{KERNEL} {verb} {file.hex() or '-'}"


def found(key: Key) -> str:
    return f"{hexadecimal(key.n, key.e, key.d, key.p, key.q, key.dp, key.dq, key.qinv)} {OK}"


def found_public(key: Key) -> str:
    return f"{hexadecimal(key.n, key.e)} {OK}"


# ---- Files in all forms --------------------------------------------------------------------------


def private_key(key: Key, version: int = 0) -> bytes:
    numbers = (version, key.n, key.e, key.d, key.p, key.q, key.dp, key.dq, key.qinv)
    return der(0x30, *map(der_number, numbers))


def private_key_info(content: bytes, algorithm: bytes = ALGORITHM_OF_RSA, *rest: bytes) -> bytes:
    return der(0x30, der_number(0), algorithm, der(0x04, content), *rest)


def public_key(key: Key, *rest: bytes) -> bytes:
    return der(0x30, der_number(key.n), der_number(key.e), *rest)


def public_key_info(content: bytes, algorithm: bytes = ALGORITHM_OF_RSA) -> bytes:
    return der(0x30, algorithm, der(0x03, b"\0" + content))


def bytes_of_pem(file: bytes) -> bytes:
    return base64.b64decode(b"".join(file.splitlines()[1:-1]))


def key_of_openssl(file: bytes) -> Key:
    """The key of RSAPrivateKey in PEM."""
    contents = pieces(pieces(bytes_of_pem(file))[0][1])
    numbers = [int.from_bytes(content, "big") for _, content in contents]
    n, e, d, p, q, dp, dq, qinv = numbers[1:]
    return Key(n, e, d, p, q, dp, dq, qinv)


def files_of_openssl(
    commands: Commands, program: HashingProgram, sizes: list[tuple[int, int]]
) -> None:
    for bits, e in sizes:
        made = commands.output(
            *("genpkey", "-algorithm", "RSA", "-pkeyopt", f"rsa_keygen_bits:{bits}"),
            *("-pkeyopt", f"rsa_keygen_pubexp:{e}"),
        )
        file = commands.file(made)
        plain = commands.output("rsa", "-in", file, "-traditional")
        key = key_of_openssl(plain)
        program.good(f"e of {bits} bits", key.e == e and key.n.bit_length() == bits)
        privates = [
            made,
            plain,
            commands.output("rsa", "-in", file, "-traditional", "-outform", "DER"),
            commands.output("pkey", "-in", file, "-outform", "DER"),
            commands.output("pkcs8", "-topk8", "-nocrypt", "-in", file, "-outform", "DER"),
            commands.output("rsa", "-in", file, "-text"),
            commands.output("pkey", "-in", file, "-text"),
            private_key(key),
        ]
        publics = [
            commands.output("rsa", "-in", file, "-pubout"),
            commands.output("rsa", "-in", file, "-pubout", "-outform", "DER"),
            commands.output("rsa", "-in", file, "-RSAPublicKey_out"),
            commands.output("rsa", "-in", file, "-RSAPublicKey_out", "-outform", "DER"),
            commands.output("rsa", "-in", file, "-pubout", "-text"),
        ]
        for each in privates:
            program.expect(question("read-private", each), found(key))
            program.expect(question("read-public", each), ENCODING)
        for each in publics:
            program.expect(question("read-public", each), found_public(key))
            program.expect(question("read-private", each), ENCODING)
        sign_both_ways(commands, program, privates, publics)
        refused_of_openssl(commands, program, file)


def sign_both_ways(
    commands: Commands, program: HashingProgram, privates: list[bytes], publics: list[bytes]
) -> None:
    message = b"a message"
    hashed = digest("sha256", message).hex()
    signed, private, public = (commands.file(each) for each in (message, privates[0], publics[0]))
    for each in (privates[0], privates[2]):
        program.expect(question("load-private", each), OK)
        signature = bytes.fromhex(program.ask(f"{KERNEL} sign-pkcs1 1 sha256 {hashed}"))
        code, text = commands.run(
            *("dgst", "-sha256", "-verify", public, "-signature", commands.file(signature), signed)
        )
        program.good(f"dgst -verify: {text!r}", code == 0 and b"Verified OK" in text)
    theirs = commands.output("dgst", "-sha256", "-sign", private, signed)
    for each in (publics[0], publics[3]):
        program.expect(question("load-public", each), OK)
        program.expect(f"{KERNEL} verify-pkcs1 sha256 {hashed} {theirs.hex()}", OK)
        wrong = bytes([theirs[0], theirs[1] ^ 1]) + theirs[2:]
        program.expect(
            f"{KERNEL} verify-pkcs1 sha256 {hashed} {wrong.hex()}", "the signature does not match"
        )


def refused_of_openssl(commands: Commands, program: HashingProgram, file: str) -> None:
    """The same key, encrypted."""
    password = ("-passout", "pass:password")
    encrypted = [
        commands.output("rsa", "-in", file, "-traditional", "-aes128", *password),
        commands.output("pkcs8", "-topk8", "-in", file, *password),
        commands.output("pkcs8", "-topk8", "-in", file, "-outform", "DER", *password),
    ]
    for each in encrypted:
        program.expect(question("read-private", each), ENCRYPTED)


def keys_of_other_algorithms(commands: Commands, program: HashingProgram, rsa: bytes) -> None:
    """rsa: a file with a key, which counts where others stand before it."""
    several = commands.output("genrsa", "-primes", "3", "-traditional", "1024")
    curve = commands.output("ecparam", "-name", "P-256", "-genkey")
    others = [
        several,
        bytes_of_pem(several),
        commands.output("genpkey", "-algorithm", "ED25519"),
        commands.output("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"),
        commands.output("genpkey", "-algorithm", "RSA-PSS", "-pkeyopt", "rsa_keygen_bits:1024"),
        curve,
    ]
    for each in others:
        program.expect(question("read-private", each), ALGORITHM)
        if each.startswith(b"-----BEGIN P"):
            file = commands.file(each)
            public = commands.output("pkey", "-in", file, "-pubout")
            program.expect(question("read-public", public), ALGORITHM)
            as_der = commands.output("pkey", "-in", file, "-pubout", "-outform", "DER")
            program.expect(question("read-public", as_der), ALGORITHM)
    program.good(
        "a key behind one of a curve",
        program.ask(question("read-private", curve + rsa))
        == program.ask(question("read-private", rsa)),
    )


# ---- Another parser ------------------------------------------------------------------------------


def headers(file: bytes, start: int = 0) -> Iterator[int]:
    """The places of tags and lengths, and of the first two bytes of each content."""
    at = 0
    while at < len(file):
        tag, length, head = file[at], file[at + 1], 2
        if length >= 128:
            head += length & 0x7F
            length = int.from_bytes(file[at + 2 : at + head], "big")
        yield from range(start + at, start + at + head + min(length, 2))
        content = file[at + head : at + head + length]
        if tag in (0x30, 0x04) and (tag == 0x30 or content[0] == 0x30):
            yield from headers(content, start + at + head)
        elif tag == 0x03:
            yield from headers(content[1:], start + at + head + 1)
        at += head + length


def changed(file: bytes) -> Iterator[bytes]:
    for n in range(len(file)):
        yield file[:n]
    for at in sorted(set(headers(file))):
        values = {file[at] ^ 1 << bit for bit in range(8)}
        values |= {0, 1, 2, 3, 0x7F, 0x80, 0x81, 0x82, 0x84, 0xFF, 0xFF & file[at] + 1}
        for value in sorted((values | {0xFF & file[at] - 1}) - {file[at]}):
            yield file[:at] + bytes([value]) + file[at + 1 :]


def private_by_cryptography(file: bytes) -> str:
    from cryptography.hazmat.primitives.asymmetric import rsa
    from cryptography.hazmat.primitives.serialization import load_der_private_key

    try:
        read = load_der_private_key(file, None, unsafe_skip_rsa_key_validation=True)
    except Exception:  # its reasons are many
        return "refused"
    if not isinstance(read, rsa.RSAPrivateKey):
        return "refused"
    k = read.private_numbers()
    public = k.public_numbers
    return found(Key(public.n, public.e, k.d, k.p, k.q, k.dmp1, k.dmq1, k.iqmp))


def public_by_cryptography(file: bytes) -> str:
    from cryptography.hazmat.primitives.asymmetric import rsa
    from cryptography.hazmat.primitives.serialization import load_der_public_key

    try:
        read = load_der_public_key(file)
    except Exception:  # its reasons are many
        return "refused"
    if not isinstance(read, rsa.RSAPublicKey):
        return "refused"
    return f"{hexadecimal(read.public_numbers().n, read.public_numbers().e)} {OK}"


def primes_differ_in_length(theirs: str) -> bool:
    p, q = theirs.split(",")[3:5]
    return len(p) != len(q)


def written_again(ours: str, write: Callable[[Key], bytes]) -> bytes:
    """The file with the numbers that we found."""
    numbers = [int(number, 16) for number in ours.partition(" ")[0].split(",")]
    return write(Key(*numbers, *(8 - len(numbers)) * [0]))


def as_cryptography(program: HashingProgram, key: Key) -> None:
    """Whether we read what it reads, but for primes of different lengths, whose status is another.
    It also refuses numbers that are no key, which we leave to the set-up: there we must have found
    all of the file.
    """
    forms: list[tuple[str, Callable[[Key], bytes], Callable[[bytes], str]]] = [
        ("read-private", private_key, private_by_cryptography),
        ("read-private", lambda k: private_key_info(private_key(k)), private_by_cryptography),
        ("read-public", public_key, public_by_cryptography),
        ("read-public", lambda k: public_key_info(public_key(k)), public_by_cryptography),
    ]
    for verb, write, by_cryptography in forms:
        file = write(key)
        program.expect(question(verb, file), by_cryptography(file))
        for each in changed(file):
            ours, theirs = program.ask(question(verb, each)), by_cryptography(each)
            good = ours == theirs
            if theirs == "refused":
                good = not ours.endswith(f" {OK}") or written_again(ours, write) == each
            elif ours == NO_KEY:
                good = primes_differ_in_length(theirs)
            program.good(f"{verb} {each.hex()}: {ours[-60:]}, cryptography {theirs[:60]}", good)


# ---- Reports of errors in other parsers ----------------------------------------------------------


def text_of(key: Key, *, newline: bytes = b"\n", width: int = 64) -> list[bytes]:
    """The lines of a key in PEM."""
    encoded = base64.b64encode(private_key_info(private_key(key)))
    body = [encoded[i : i + width] for i in range(0, len(encoded), width)]
    lines = [b"-----BEGIN PRIVATE KEY-----", *body, b"-----END PRIVATE KEY-----"]
    return [line + newline for line in lines]


def reports(key: Key) -> Iterator[tuple[str, str, bytes, str]]:
    """Names, questions, files and right answers."""
    plain, public = private_key(key), public_key(key)
    info, public_info = private_key_info(plain), public_key_info(public)
    lines = text_of(key)
    private, other = "read-private", "read-public"
    yield "Mbed TLS 8799: something behind RSAPrivateKey", private, plain + b"\0", ENCODING
    yield "Mbed TLS 8799: something behind RSAPublicKey", other, public + NULL, ENCODING
    yield "Botan 5560: a byte behind PKCS #8", private, info + b"\0", ENCODING
    yield "Botan 5560: a byte behind a public key", other, public_info + b"\0", ENCODING
    yield (
        "AWS-LC 3242: a value in PKCS #8 behind the key",
        private,
        private_key_info(plain, ALGORITHM_OF_RSA, NULL),
        ENCODING,
    )
    yield (
        "Go 79860: a third number of RSAPublicKey",
        other,
        public_key_info(public_key(key, der_number(3))),
        ENCODING,
    )
    yield (
        "Go 79860: a value behind the parameters",
        other,
        public_key_info(public, der(0x30, der_oid(RSA_OID), NULL, NULL)),
        ENCODING,
    )
    yield (
        "strongSwan 3020, openHiTLS 23, Forge 1143: version 17",
        private,
        private_key(key, 17),
        ALGORITHM,
    )
    yield (
        "RustCrypto formats 111: more primes, passed over",
        private,
        der(
            0x30,
            *map(der_number, (1, key.n, key.e, key.d, key.p, key.q, key.dp, key.dq, key.qinv)),
            der(0x30, der(0x30, *map(der_number, (5, 1, 1)))),
        ),
        ALGORITHM,
    )
    negative = key.n.to_bytes(key.n_bytes, "big")
    yield (
        "OpenSSL 29210, phpseclib 2041: n without its sign byte",
        other,
        public_key_info(der(0x30, der(0x02, negative), der_number(key.e))),
        ENCODING,
    )
    yield (
        "RustCrypto RSA 91, go-pkcs12 21: no NULL",
        private,
        private_key_info(plain, der(0x30, der_oid(RSA_OID))),
        ENCODING,
    )
    yield (
        "wolfSSL 5446: id-RSASSA-PSS, whose parameters are a sequence",
        private,
        private_key_info(plain, der(0x30, der_oid(PSS_OID), der(0x30))),
        ALGORITHM,
    )
    yield (
        "OpenSSL 16479: a key without p, q, dp, dq and qinv",
        private,
        der(0x30, *map(der_number, (0, key.n, key.e, key.d))),
        ENCODING,
    )
    yield (
        "wolfSSL 5035: a length of many bytes",
        private,
        b"\x30\x88" + 8 * b"\xff" + plain,
        ENCODING,
    )
    yield (
        "wolfSSL 4527: labels that differ",
        private,
        b"".join(lines).replace(b"END PRIVATE", b"END RSA PRIVATE"),
        ENCODING,
    )
    yield (
        "RustCrypto RSA 168: one long line",
        private,
        b"".join(text_of(key, width=10000)),
        found(key),
    )
    yield "OpenSSL 10529: no newline at the end", private, b"".join(lines).rstrip(), found(key)
    yield (
        "OpenSSL 10529: blanks behind the last line",
        private,
        b"".join(lines).rstrip() + b" \t",
        (found(key)),
    )
    yield (
        "OpenJDK 8377975: blanks behind the first line",
        private,
        (lines[0].rstrip() + b" \t\n" + b"".join(lines[1:])),
        found(key),
    )
    yield (
        "Mbed TLS 7097: no newline behind the first line",
        private,
        (lines[0].rstrip() + b"".join(lines[1:])),
        ENCODING,
    )
    yield (
        "Bouncy Castle 296: blanks in front of lines",
        private,
        (lines[0] + b"".join(b" " + line for line in lines[1:-1]) + lines[-1]),
        found(key),
    )
    yield "pem-rs 61: empty lines", private, b"\n".join(lines), found(key)
    yield "encrypt 36: CRLF", private, b"".join(text_of(key, newline=b"\r\n")), found(key)
    yield (
        "s2n-tls 566: text between",
        private,
        b"text\n- - \n" + b"".join(lines) + b"more",
        found(key),
    )
    yield (
        "encrypt 163, rage 18: Proc-Type",
        private,
        pem("RSA PRIVATE KEY", plain).replace(
            b"KEY-----\n", b"KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n", 1
        ),
        ENCRYPTED,
    )
    yield (
        "Mbed TLS 8804, CVE-2022-4450: nothing between the lines",
        private,
        (lines[0] + lines[-1]),
        ENCODING,
    )
    yield "gopcua 870: PKCS #8 where PKCS #1 is usual", private, info, found(key)
    swapped = key_of(key.q, key.p, key.e)
    yield "ring 220, 635, OpenSSL 20823: p below q", private, private_key(swapped), found(swapped)


def reported(program: HashingProgram, key: Key) -> None:
    for name, verb, file, expected in reports(key):
        program.judge(name, program.ask(question(verb, file)), expected)
    swapped = key_of(min(key.p, key.q), max(key.p, key.q), key.e)
    program.judge(
        "ring 220: p below q", program.ask(question("load-private", private_key(swapped))), OK
    )
    program.expect(
        f"{KERNEL} private 1 {swapped.hex(2)}", swapped.hex(pow(2, swapped.d, swapped.n))
    )
    wrong = private_key(Key(key.n, key.e, key.d, key.p, key.q, key.dp + 2, key.dq, key.qinv))
    program.expect(question("load-private", wrong), NO_KEY)
    program.expect(question("load-private", private_key(key_of(1009, 1013, 5))), KEY_SIZE)


def has_openssl() -> bool:
    """Whether there is its program, 3.0 or later."""
    if not shutil.which("openssl"):
        return False
    text = subprocess.run(["openssl", "version"], capture_output=True, text=True, check=True).stdout
    version = re.match(r"OpenSSL (\d+)", text)
    return version is not None and int(version[1]) >= 3


def main() -> int:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("rsa_answers")
    parser.add_argument("--quick", action="store_true", help="no keys beyond 2048 bits")
    arguments = parser.parse_args()
    rng = random.Random(1)
    program = HashingProgram(arguments.rsa_answers)
    skipped = 0
    key = key_of(prime(512, rng, 65537), prime(512, rng, 65537), 65537)
    reported(program, key)
    if importlib.util.find_spec("cryptography"):
        as_cryptography(program, key)
    else:
        print("skipped: no Python package cryptography: `make lab` installs it")
        skipped += 1
    if has_openssl():
        with tempfile.TemporaryDirectory() as folder:
            commands = Commands(pathlib.Path(folder))
            sizes = [(1024, 3), (1024, 65537), (2048, 65537)]
            longer = [] if arguments.quick else [(2048, 3), (3072, 65537), (4096, 3)]
            files_of_openssl(commands, program, sizes + longer)
            keys_of_other_algorithms(commands, program, pem("RSA PRIVATE KEY", private_key(key)))
    else:
        print("skipped: no program openssl, 3.0 or later: install it, or put it on the PATH")
        skipped += 1
    program.end()
    print(f"{program.passed} passed, {program.failed} failed, {skipped} skipped")
    return 1 if program.failed else 0


if __name__ == "__main__":
    sys.exit(main())
