#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The commands of OpenSSL beside ours.

openssl_commands.py RSA_ANSWERS PRIME_ANSWERS DH_ANSWERS [--seed N]

Both ways: `openssl prime` judges our primes, and we judge its primes; `openssl dhparam -check` and
`pkeyparam -check` judge our parameters, and we judge theirs; `openssl rsa -check` and `pkey -check`
judge our keys, and we judge theirs; `openssl pkeyutl` verifies, decrypts and derives what we made,
and we what it made. Where both have to refuse, both are asked. It needs the program openssl, 3.0 or
later, and no Python package.
"""

import argparse
import base64
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence

from prime_against_python import ARNAULT
from rsa_against_python import COMPOSITE, KERNEL, OK, Key, key_of, prime
from rsa_paddings import WRONG_CIPHERTEXT, WRONG_SIGNATURE, HashingProgram, digest

GROUPS = ("ffdhe2048", "ffdhe3072", "ffdhe4096", "modp1536", "modp2048", "modp3072", "modp4096")
LANES = "x86_ifma"
DH_OID = "1.2.840.113549.1.3.1"


class Commands:
    """OpenSSL's program, in a folder of its own."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder, self.n_files = folder, 0

    def file(self, content: bytes) -> str:
        self.n_files += 1
        path = self.folder / str(self.n_files)
        path.write_bytes(content)
        return str(path)

    def run(self, *arguments: str, given: bytes = b"") -> tuple[int, bytes]:
        """The exit code, and what it printed; its opinion of a key may be on stderr."""
        done = subprocess.run(
            ["openssl", *arguments], input=given, capture_output=True, check=False
        )
        return done.returncode, done.stdout + (done.stderr if not done.stdout else b"")

    def output(self, *arguments: str) -> bytes:
        done = subprocess.run(["openssl", *arguments], capture_output=True, check=False)
        assert done.returncode == 0, (
            f"openssl {' '.join(arguments)}: {done.stderr.decode(errors='replace')}"
        )
        return done.stdout


# ---- DER, as far as keys and parameters need it --------------------------------------------------


def der(tag: int, *contents: bytes) -> bytes:
    content = b"".join(contents)
    if len(content) < 128:
        return bytes([tag, len(content)]) + content
    length = len(content).to_bytes((len(content).bit_length() + 7) // 8, "big")
    return bytes([tag, 0x80 | len(length)]) + length + content


def der_number(number: int) -> bytes:
    return der(0x02, number.to_bytes(number.bit_length() // 8 + 1, "big"))


def der_oid(text: str) -> bytes:
    first, second, *rest = (int(part) for part in text.split("."))
    content = bytes([40 * first + second])
    for part in rest:
        group = [part & 0x7F]
        while part := part >> 7:
            group.insert(0, 0x80 | part & 0x7F)
        content += bytes(group)
    return der(0x06, content)


def pieces(content: bytes) -> list[tuple[int, bytes]]:
    """Tags and contents, one behind the other."""
    found, at = [], 0
    while at < len(content):
        tag, length, at = content[at], content[at + 1], at + 2
        if length >= 128:
            n = length & 0x7F
            length, at = int.from_bytes(content[at : at + n], "big"), at + n
        found.append((tag, content[at : at + length]))
        at += length
    return found


def der_numbers(sequence: bytes) -> list[int]:
    """The numbers of a sequence of numbers."""
    return [
        int.from_bytes(content, "big")
        for tag, content in pieces(pieces(sequence)[0][1])
        if tag == 0x02
    ]


def pem(name: str, content: bytes) -> bytes:
    return b"-----BEGIN %s-----\n%s-----END %s-----\n" % (
        name.encode(),
        base64.encodebytes(content),
        name.encode(),
    )


def dh_parameters(p: int, g: int = 2) -> bytes:
    return der(0x30, der_number(p), der_number(g))  # PKCS #3


def dh_public_key(p: int, g: int, y: int) -> bytes:
    algorithm = der(0x30, der_oid(DH_OID), dh_parameters(p, g))
    return pem("PUBLIC KEY", der(0x30, algorithm, der(0x03, b"\0" + der_number(y))))


def rsa_private_key(key: Key) -> bytes:
    numbers = (0, key.n, key.e, key.d, key.p, key.q, key.dp, key.dq, key.qinv)
    return pem("RSA PRIVATE KEY", der(0x30, *map(der_number, numbers)))


# ---- Primes --------------------------------------------------------------------------------------


def hexadecimal(number: int) -> str:
    return number.to_bytes((number.bit_length() + 7) // 8, "big").hex()


def primes_by_openssl(commands: Commands, numbers: Sequence[int]) -> list[bool]:
    lines = commands.output("prime", *map(str, numbers)).decode().splitlines()
    assert len(lines) == len(numbers), lines
    return [line.endswith(" is prime") for line in lines]


def primes(
    commands: Commands, program: HashingProgram, rng: random.Random, kernels: Sequence[str]
) -> int:
    """Returns a safe prime of ours, of 512 bits."""
    found = []
    for kernel in kernels:
        for bits, e in (
            (128, "-"),
            (256, "010001"),
            (512, "03"),
            (1024, "010001"),
            (2048, "010001"),
        ):
            for _ in range(1 if bits > 1024 else 3):
                answer = program.ask(f"{kernel} find {bits} {e} {rng.getrandbits(60)}")
                found += [int(answer.split(" ")[0], 16)]
    for prime_of_ours, is_prime in zip(found, primes_by_openssl(commands, found), strict=True):
        program.good(f"openssl prime {prime_of_ours}", is_prime)
    safe = [
        int(program.ask(f"{kernel} safe 512 {rng.getrandbits(60)}").split(" ")[0], 16)
        for kernel in kernels
    ]
    for p in safe:
        program.good(f"openssl prime {p}", all(primes_by_openssl(commands, (p, p // 2))))
    theirs = [
        int(commands.output("prime", "-generate", "-bits", bits, *safely))
        for bits, *safely in (("128",), ("512",), ("1024",), ("256", "-safe"))
    ]
    halves = [theirs[-1] // 2]
    for p in theirs + halves:
        program.expect(f"{KERNEL} public {hexadecimal(p)}", "prime")
    composites = [ARNAULT, found[0] * found[1], found[-1] * found[0], theirs[0] ** 2]
    numbers = composites + [
        rng.getrandbits(bits) | 1 for bits in (16, 24, 32, 48, 64, 96, 128, 256) for _ in range(12)
    ]
    for n, is_prime in zip(numbers, primes_by_openssl(commands, numbers), strict=True):
        program.expect(f"{KERNEL} public {hexadecimal(n)}", "prime" if is_prime else COMPOSITE)
    return safe[0]


# ---- Diffie-Hellman ------------------------------------------------------------------------------


def parameters(commands: Commands, program: HashingProgram, rng: random.Random, safe: int) -> None:
    """Ours by OpenSSL, OpenSSL's by us, and parameters that are none by both."""
    for name in GROUPS:
        p = int(program.ask(f"{KERNEL} {name} params").split(" ")[0], 16)
        code, text = commands.run(
            "pkeyparam",
            "-check",
            "-noout",
            "-in",
            commands.file(pem("DH PARAMETERS", dh_parameters(p))),
        )
        program.good(
            f"pkeyparam -check of {name}: {text!r}", code == 0 and b"Parameters are valid" in text
        )
    file = commands.file(pem("DH PARAMETERS", dh_parameters(safe)))
    code, text = commands.run("dhparam", "-check", "-noout", "-in", file)
    program.good(
        f"dhparam -check of {safe}: {text!r}",
        code == 0 and b"DH parameters appear to be ok" in text,
    )
    theirs = der_numbers(commands.output("dhparam", "-outform", "DER", "512"))
    program.expect(f"{KERNEL} {hexadecimal(theirs[0])},-,{hexadecimal(theirs[1])} check", OK)
    composite = safe - 24 * rng.getrandbits(40)
    while any(primes_by_openssl(commands, (composite, composite // 2))):
        composite -= 24
    file = commands.file(pem("DH PARAMETERS", dh_parameters(composite)))
    code, text = commands.run("dhparam", "-check", "-noout", "-in", file)
    program.good(f"dhparam -check of a composite number: {text!r}", b"appear to be ok" not in text)
    program.expect(f"{KERNEL} {hexadecimal(composite)},-,02 check", COMPOSITE)


def exchanges(commands: Commands, program: HashingProgram, rng: random.Random) -> None:
    """Our value and theirs: both ends have the same secret."""
    for name in ("ffdhe2048", "ffdhe3072", "modp1536", "modp4096"):
        p = int(program.ask(f"{KERNEL} {name} params").split(" ")[0], 16)
        group = name.replace("modp", "modp_")
        key = commands.file(
            commands.output("genpkey", "-algorithm", "DH", "-pkeyopt", f"group:{group}")
        )
        theirs = commands.output("pkey", "-in", key, "-pubout", "-outform", "DER")
        y = int.from_bytes(pieces(pieces(pieces(theirs)[0][1])[1][1][1:])[0][1], "big")
        secret = program.ask(f"{KERNEL} {name} secret {rng.getrandbits(60)}")
        mine = int(program.ask(f"{KERNEL} {name} public {secret}"), 16)
        program.good(f"public value of {name}", 1 < mine < p - 1)
        peer = commands.file(dh_public_key(p, 2, mine))
        shared = commands.output("pkeyutl", "-derive", "-inkey", key, "-peerkey", peer)
        n_bytes = (p.bit_length() + 7) // 8
        for question in ("shared", "ordered"):
            program.expect(
                f"{KERNEL} {name} {question} {secret} {y.to_bytes(n_bytes, 'big').hex()}",
                int.from_bytes(shared, "big").to_bytes(n_bytes, "big").hex(),
            )


# ---- RSA -----------------------------------------------------------------------------------------


def keys(
    commands: Commands, program: HashingProgram, rng: random.Random, has_lanes: bool
) -> list[tuple[Key, str]]:
    """Keys of both, each taken by the other; with the file of each. The longest are made where that
    takes seconds.
    """
    both = []
    longest = ((LANES, 4096, "010001"), (LANES, 8192, "010001"))
    for kernel, bits, e in (
        (KERNEL, 1024, "010001"),
        (KERNEL, 2048, "010001"),
        (KERNEL, 3072, "0100000001"),
        *(longest if has_lanes else ()),
    ):
        numbers, _, status = program.ask(
            f"{kernel} generate {rng.getrandbits(60)} {bits} {e}"
        ).partition(" ")
        program.judge(f"generate {bits}", status, OK)
        key = Key(*(int(number, 16) for number in numbers.split(",")))
        file = commands.file(rsa_private_key(key))
        for command in ("rsa", "pkey"):
            code, text = commands.run(command, "-check", "-noout", "-in", file)
            program.good(
                f"{command} -check: {text!r}",
                code == 0 and text.strip() in (b"RSA key ok", b"Key is valid"),
            )
        both.append((key, file))
    for bits, e in (
        (1024, "65537"),
        (2048, "3"),
        (2048, "65537"),
        (3072, "65537"),
        (4096, "65537"),
    ):
        theirs = commands.file(
            commands.output(
                "genpkey",
                "-algorithm",
                "RSA",
                "-pkeyopt",
                f"rsa_keygen_bits:{bits}",
                "-pkeyopt",
                f"rsa_keygen_pubexp:{e}",
            )
        )
        der = commands.output("rsa", "-in", theirs, "-traditional", "-outform", "DER")
        key = Key(*der_numbers(der)[1:])
        program.expect(f"{KERNEL} key {key.text()}", OK)
        program.expect(f"{KERNEL} check 1", OK)
        both.append((key, theirs))
    key = both[0][0]  # p is not prime
    composite = key_of(prime(256, rng, key.e) * prime(256, rng, key.e), key.q, key.e, by_phi=True)
    code, text = commands.run(
        "rsa", "-check", "-noout", "-in", commands.file(rsa_private_key(composite))
    )
    program.good(f"rsa -check of a composite p: {text!r}", b"RSA key ok" not in text)
    return both


def changed(data: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(1, len(data))
    return data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]


def signatures(
    commands: Commands, program: HashingProgram, rng: random.Random, key: Key, file: str
) -> None:
    """Verified by the other; changed ones refused by both."""
    for name in ("sha256", "sha512"):
        data = digest(name, rng.randbytes(40))
        salt = min(len(data), key.n_bytes - len(data) - 2)
        for padding, sign, verify in (
            (
                ("rsa_padding_mode:pkcs1",),
                f"sign-pkcs1 {rng.getrandbits(40)} {name}",
                f"verify-pkcs1 {name}",
            ),
            (
                ("rsa_padding_mode:pss", f"rsa_pss_saltlen:{salt}", f"rsa_mgf1_md:{name}"),
                f"sign-pss {rng.getrandbits(40)} {name} {name} {salt}",
                f"verify-pss {name} {name} {salt}",
            ),
        ):
            options = [
                word for option in (f"digest:{name}", *padding) for word in ("-pkeyopt", option)
            ]
            given = ["-inkey", file, "-in", commands.file(data), *options]
            mine = bytes.fromhex(program.ask(f"{KERNEL} {sign} {data.hex()}"))
            for signature, good in ((mine, True), (changed(mine, rng), False)):
                code, text = commands.run(
                    "pkeyutl", "-verify", *given, "-sigfile", commands.file(signature)
                )
                program.good(
                    f"pkeyutl -verify {padding}: {text!r}",
                    (code == 0) == good and (b"Signature Verified Successfully" in text) == good,
                )
            theirs = commands.output("pkeyutl", "-sign", *given)
            program.expect(f"{KERNEL} {verify} {data.hex()} {theirs.hex()}", OK)
            program.expect(
                f"{KERNEL} {verify} {data.hex()} {changed(theirs, rng).hex()}", WRONG_SIGNATURE
            )


def ciphertexts(
    commands: Commands, program: HashingProgram, rng: random.Random, key: Key, file: str
) -> None:
    """Decrypted by the other; changed ones refused by both."""
    for message in (rng.randbytes(1), rng.randbytes(32), rng.randbytes(key.n_bytes - 66)):
        oaep = [
            "-inkey",
            file,
            "-pkeyopt",
            "rsa_padding_mode:oaep",
            "-pkeyopt",
            "rsa_oaep_md:sha256",
            "-pkeyopt",
            "rsa_mgf1_md:sha256",
        ]
        seed = rng.getrandbits(40)
        mine = bytes.fromhex(
            program.ask(f"{KERNEL} encrypt-oaep {seed} sha256 sha256 - {message.hex()}")
        )
        program.good(
            "pkeyutl -decrypt of OAEP",
            commands.output("pkeyutl", "-decrypt", *oaep, "-in", commands.file(mine)) == message,
        )
        code, text = commands.run(
            "pkeyutl", "-decrypt", *oaep, "-in", commands.file(changed(mine, rng))
        )
        program.good(f"pkeyutl -decrypt of a changed ciphertext: {text!r}", code != 0)
        theirs = commands.output("pkeyutl", "-encrypt", *oaep, "-in", commands.file(message))
        program.expect(
            f"{KERNEL} decrypt-oaep {seed} sha256 sha256 - {theirs.hex()}", message.hex()
        )
        program.expect(
            f"{KERNEL} decrypt-oaep {seed} sha256 sha256 - {changed(theirs, rng).hex()}",
            WRONG_CIPHERTEXT,
        )
        pkcs1 = ["-inkey", file, "-pkeyopt", "rsa_padding_mode:pkcs1"]
        mine = bytes.fromhex(program.ask(f"{KERNEL} encrypt-pkcs1 {seed} {message.hex()}"))
        program.good(
            "pkeyutl -decrypt of PKCS #1",
            commands.output("pkeyutl", "-decrypt", *pkcs1, "-in", commands.file(mine)) == message,
        )
        theirs = commands.output("pkeyutl", "-encrypt", *pkcs1, "-in", commands.file(message))
        program.expect(f"{KERNEL} decrypt-pkcs1 {seed} sha256 {theirs.hex()}", message.hex())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rsa_answers")
    parser.add_argument("prime_answers")
    parser.add_argument("dh_answers")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="no keys of 4096 and 8192 bits")
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    if not shutil.which("openssl"):
        print("skipped: no program openssl: install it, or put it on the PATH")
        return 77  # a skip to Meson
    version = subprocess.run(
        ["openssl", "version"], capture_output=True, text=True, check=True
    ).stdout
    if not version.startswith("OpenSSL ") or int(version.split(" ")[1].split(".")[0]) < 3:
        print(f"skipped: the program openssl is {version.strip()}, and 3.0 or later is wanted")
        return 77
    print(version.strip())
    programs = [
        HashingProgram(path)
        for path in (arguments.rsa_answers, arguments.prime_answers, arguments.dh_answers)
    ]
    rsa, prime_program, dh = programs
    has_lanes = prime_program.ask(f"{LANES} find 128 - 1") != "not here"
    if not has_lanes:
        print(f"skipped: {LANES} does not run here, so that no keys of 4096 and 8192 bits are made")
    with tempfile.TemporaryDirectory() as folder:
        commands = Commands(pathlib.Path(folder))
        safe = primes(commands, prime_program, rng, [KERNEL, *[LANES] * has_lanes])
        parameters(commands, dh, rng, safe)
        exchanges(commands, dh, rng)
        for key, file in keys(commands, rsa, rng, has_lanes and not arguments.quick):
            rsa.expect(f"{KERNEL} key {key.text()}", OK)
            signatures(commands, rsa, rng, key, file)
            ciphertexts(commands, rsa, rng, key, file)
    for program in programs:
        program.end()
    failed = sum(program.failed for program in programs)
    print(
        f"{sum(program.passed for program in programs)} passed, {failed} failed, "
        f"{int(not has_lanes)} skipped"
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
