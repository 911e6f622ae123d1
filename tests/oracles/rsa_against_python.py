#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""RSA against the integers of Python and OpenSSL.

rsa_against_python.py [--seed N] [--kernel K] [EMULATOR...] RSA_ANSWERS

The program, built from rsa_answers.c, is asked for the results of private and public operations and
for verdicts on keys. Keys of 1024 bits and more are made by OpenSSL through the Python package
cryptography; without it they are skipped. With --kernel, that kernel alone is asked, which has to
run here, and about keys of at most 2048 bits.
"""

import argparse
import importlib.util
import math
import random
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass, replace

from dh_against_python import groups_by_formula

# The kernel for what is long; the rest is done by all.
KERNEL = "c_limb64" if sys.maxsize > 2**32 else "c_limb32"
KERNELS = (
    "c_limb64",
    "c_limb32",
    "c_limb16",
    "c_digit27",
    "x86_adx",
    "x86_adx_intel",
    "x86_avxifma",
    "x86_ifma",
    "x86_avx2",
    "x86_sse2",
    "hppa_fmpyadd",
    "hppa_xmpyu",
    "a64_umulh",
    "a64_neon",
    "ppc64_mulhdu",
    "s390x_mlg",
    "a32_umaal",
    "c_ref",
)
NO_KEY, COMPOSITE, RANGE = (
    "the numbers are no key of RSA",
    "the number is no prime",
    "an operand is not below the modulus",
)
KEY_SIZE, MODULUS = (
    "key size not allowed (it is in bits)",
    "the modulus is even, or its first byte is zero",
)
NOT_SET = "kernel is NULL, memory is too small for its key, or the key is not set up"
NO_VARIANT = (
    "no such variant or flag, parameters are NULL (unknown name), or a buffer with a length is NULL"
)
OK = "ok"


class Program:
    """The program, which answers one line at a time."""

    def __init__(self, words: str | list[str], *, may_be_absent: bool = True) -> None:
        self.right = ("not here",) if may_be_absent else ()  # besides the answer that is expected
        self.process = subprocess.Popen(
            [words] if isinstance(words, str) else words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.passed, self.failed = 0, 0

    def ask(self, question: str) -> str:
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(f"{question}\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().rstrip("\n")

    def expect(self, question: str, expected: str) -> None:
        self.judge(question, self.ask(question), expected)

    def judge(self, question: str, answer: str, expected: str) -> None:
        if answer in (expected, *self.right):
            self.passed += 1
            return
        self.failed += 1
        if self.failed <= 5:
            print(
                f"FAILED: {question[:60]} ... {question[-40:]}: {answer[:60]}, not {expected[:60]}",
                file=sys.stderr,
            )

    def end(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()
        assert self.process.wait() == 0, "the program stopped"


@dataclass(frozen=True)
class Key:
    """The numbers of a private key."""

    n: int
    e: int
    d: int
    p: int
    q: int
    dp: int
    dq: int
    qinv: int

    @property
    def n_bytes(self) -> int:
        return (self.n.bit_length() + 7) // 8

    def text(self, n_bytes: int | None = None, p_bytes: int | None = None) -> str:
        """As the program reads it."""
        n_bytes = n_bytes or self.n_bytes
        p_bytes = p_bytes or (n_bytes + 1) // 2
        lengths = (n_bytes, (self.e.bit_length() + 7) // 8 or 1, n_bytes, *5 * [p_bytes])
        values = (self.n, self.e, self.d, self.p, self.q, self.dp, self.dq, self.qinv)
        return ",".join(
            v.to_bytes(length, "big").hex() for v, length in zip(values, lengths, strict=True)
        )

    def hex(self, number: int) -> str:
        return number.to_bytes(self.n_bytes, "big").hex()


def key_of(p: int, q: int, e: int, *, by_phi: bool = False) -> Key:
    """By the formulas of PKCS #1."""
    order = (p - 1) * (q - 1) if by_phi else math.lcm(p - 1, q - 1)
    d = pow(e, -1, order)
    return Key(p * q, e, d, p, q, d % (p - 1), d % (q - 1), pow(q, -1, p))


def is_prime(n: int, rng: random.Random) -> bool:
    """By 32 rounds of Miller and Rabin."""
    if n < 4 or n % 2 == 0:
        return n in (2, 3)
    odd, twos = n - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    for _ in range(32):
        x = pow(rng.randrange(2, n - 1), odd, n)
        if x not in (1, n - 1) and not any((x := x * x % n) == n - 1 for _ in range(twos - 1)):
            return False
    return True


def prime(bits: int, rng: random.Random, e: int) -> int:
    while True:
        p = rng.getrandbits(bits) | 3 << bits - 2 | 1
        if math.gcd(p - 1, e) == 1 and is_prime(p, rng):
            return p


def made(bits: int, rng: random.Random, e: int, *, by_phi: bool = False) -> Key:
    """A key whose primes have half of the bits, rounded up and down."""
    while (p := prime(bits - bits // 2, rng, e)) == (q := prime(bits // 2, rng, e)):
        pass
    return key_of(p, q, e, by_phi=by_phi)


def operations(program: Program, kernel: str, key: Key, rng: random.Random, n_runs: int) -> None:
    program.expect(f"{kernel} key {key.text()}", OK)
    for value in (0, 1, key.n - 1, key.n, key.n + 1, 256**key.n_bytes - 1):
        if value < 256**key.n_bytes:
            program.expect(f"{kernel} public {key.hex(value)}", RANGE)
            program.expect(f"{kernel} private 1 {key.hex(value)}", RANGE)
    values = [
        2,
        key.n - 2,
        key.p,
        key.q,
        key.p * 2,
        key.n - key.q,
        *(rng.randrange(2, key.n - 1) for _ in range(n_runs)),
    ]
    for value in values:
        program.expect(f"{kernel} public {key.hex(value)}", key.hex(pow(value, key.e, key.n)))
        program.expect(
            f"{kernel} private {rng.getrandbits(60)} {key.hex(value)}",
            key.hex(pow(value, key.d, key.n)),
        )
    batch = values[-9:] * 2
    program.expect(
        f"{kernel} many 5 {','.join(map(key.hex, batch))}",
        "".join(key.hex(pow(v, key.d, key.n)) for v in batch),
    )
    program.expect(f"{kernel} many 5 {key.hex(1)},{key.hex(2)}", RANGE)


def bad_keys(program: Program, kernel: str, key: Key, rng: random.Random) -> None:
    """Each number of a key changed, alone."""

    def refuse(wrong: Key, expected: str = NO_KEY) -> None:
        program.expect(f"{kernel} key {wrong.text(key.n_bytes)}", expected)
        program.expect(f"{kernel} private 1 02", NOT_SET)

    for name in ("d", "dp", "dq", "qinv", "p", "q"):
        for change in (1, 2, -1, -2, 256):
            refuse(replace(key, **{name: getattr(key, name) + change}))
        refuse(replace(key, **{name: 0}))
    refuse(replace(key, n=key.n + 2))
    refuse(replace(key, n=key.n - 1), MODULUS)
    if (key.dp + key.p - 1).bit_length() <= key.p.bit_length():
        refuse(replace(key, dp=key.dp + key.p - 1))
    refuse(replace(key, p=key.q, q=key.p))  # then q is no inverse of qinv
    order = math.lcm(key.p - 1, key.q - 1)
    program.expect(
        f"{kernel} key {replace(key, d=key.d + order).text()}",
        OK if key.d + order < key.n else NO_KEY,
    )
    beyond = key.d + -(-(key.n - key.d) // order) * order  # not below n, but right otherwise
    if beyond < 256**key.n_bytes:
        refuse(replace(key, d=beyond))
    for e in (0, 1, 2, key.e + 1, key.e + 2, key.n, key.n + 2, 2**256 + 1):
        refuse(replace(key, e=e))
    square = key_of(key.p, key.q, key.e)
    refuse(
        replace(square, n=key.p * key.p, q=key.p, dq=key.dp, qinv=1)
        if (key.p**2).bit_length() == key.n.bit_length()
        else replace(key, q=key.p)
    )
    # p of the wrong length: p_bytes too large
    program.expect(f"{kernel} key {key.text(key.n_bytes, key.n_bytes // 2 + 1)}", NO_KEY)
    program.expect(f"{kernel} key {key.text(key.n_bytes + 2)}", NO_KEY)
    # Composite primes of which all equations hold.
    bits = key.p.bit_length()
    composite = 0
    while (
        math.gcd(composite - 1, key.e) != 1 or composite.bit_length() != bits or composite == key.q
    ):
        composite = prime(bits // 2, rng, 3) * prime(bits - bits // 2, rng, 3)
    false_key = replace(key_of(composite, key.q, key.e))
    for wrong in (false_key, key_of(key.q, composite, key.e)):
        if wrong.n_bytes == key.n_bytes:
            program.expect(f"{kernel} key {wrong.text()}", OK)
            program.expect(f"{kernel} check 3", COMPOSITE)
    program.expect(f"{kernel} key {key.text()}", OK)
    program.expect(f"{kernel} check 3", OK)


def primes_of_two_lengths(program: Program, kernel: str, rng: random.Random) -> None:
    """Primes of 33 and 32 bytes are refused; those of 263 and 258 bits, in any order, are a key."""
    for bits_p, bits_q in ((257, 256), (258, 255)):
        key = key_of(prime(bits_p, rng, 65537), prime(bits_q, rng, 65537), 65537)
        program.expect(f"{kernel} key {key.text(None, 33)}", NO_KEY)
        program.expect(f"{kernel} private 1 {key.hex(2)}", NOT_SET)
    for bits_p, bits_q in ((263, 258), (258, 263)):
        operations(program, kernel, key_of(prime(bits_p, rng, 3), prime(bits_q, rng, 3), 3), rng, 2)


def primes_at_ends_of_limbs(program: Program, rng: random.Random) -> None:
    """Primes whose highest limb is 1, and primes of ones alone but for the lowest limb."""
    for bits in (257, 513, 521, 529):  # 1 above limbs of 64 bits and above digits of 52
        p, q = (
            next(
                n
                for n in range(2 ** (bits - 1) + start, 2**bits, 2)
                if n % 3 == 2 and is_prime(n, rng)
            )
            for start in (1, 10**6 + 1)
        )
        for kernel in KERNELS[:5]:
            operations(program, kernel, key_of(p, q, 3), rng, 2)
    for bits in (256, 512, 520):
        p, q = (
            next(n for n in range(2**bits - start, 0, -2) if n % 3 == 2 and is_prime(n, rng))
            for start in (1, 10**6 + 1)
        )
        for kernel in KERNELS[:5]:
            operations(program, kernel, key_of(p, q, 3), rng, 2)


def largest_keys(program: Program, rng: random.Random, quick: bool) -> None:
    """Keys of 8191 and 8192 bits, the most, and one of 8193. Their primes are those of two named
    groups, and halves.
    """
    groups = groups_by_formula()
    p, q = groups["modp4096"], groups["ffdhe4096"]
    for first, second, bits in ((p, q, 8192), (q, p >> 1, 8191), (p >> 1, q, 8191)):
        key = key_of(first, second, 65537 if bits == 8192 else 3)
        program.judge("bits of n", str(key.n.bit_length()), str(bits))
        values = [
            2,
            key.n - 2,
            key.p,
            key.n - key.q,
            rng.randrange(2, key.n - 1),
            rng.getrandbits(64) | 2,
        ]
        pairs = [(key.hex(value), key.hex(pow(value, key.e, key.n))) for value in values]
        # c_limb16 is slow.
        for kernel in (kernel for kernel in KERNELS[:-1] if first == p or kernel != "c_limb16"):
            program.expect(f"{kernel} key {key.text()}", OK)
            for value in (0, 1, key.n - 1, key.n):
                program.expect(f"{kernel} private 1 {key.hex(value)}", RANGE)
            for result, given in pairs[: 1 if quick else 2 if kernel == "c_limb16" else None]:
                program.expect(f"{kernel} public {result}", given)
                program.expect(f"{kernel} private {rng.getrandbits(60)} {given}", result)
            if kernel != "c_limb16":
                results, many = zip(*pairs[: 2 if quick else 3], strict=True)
                program.expect(f"{kernel} many 5 {','.join(many)}", "".join(results))
    if not quick:  # as of shorter keys
        program.expect(f"{KERNEL} check 3", OK)
    longer = replace(key_of(p, q, 65537), p=p << 1, n=2 * p * q | 1)
    program.expect(f"{KERNEL} key {longer.text()}", KEY_SIZE)
    program.expect(f"{KERNEL} private 1 02", NOT_SET)


def public_keys(program: Program, kernel: str, key: Key) -> None:
    n, e = key.hex(key.n), f"{key.e:08x}"
    program.expect(f"{kernel} public-key {n},{e}", OK)
    program.expect(f"{kernel} public 02", key.hex(pow(2, key.e, key.n)))
    program.expect(f"{kernel} public-key 0000{n},{'00' * 40}{e}", OK)  # zeros in front
    program.expect(f"{kernel} public 02", key.hex(pow(2, key.e, key.n)))
    for number, exponent, answer in (
        (key.hex(key.n - 1), e, MODULUS),
        ("01" * 31, e, KEY_SIZE),
        ("-", e, KEY_SIZE),
        ("00", e, KEY_SIZE),
        ("01" * 1025, e, KEY_SIZE),
        (n, "-", NO_KEY),
        (n, "00", NO_KEY),
        (n, "01", NO_KEY),
        (n, "02", NO_KEY),
        (n, "04", NO_KEY),
        (n, n, NO_KEY),
        (n, "01" * 33, NO_KEY),
        (n, key.hex(key.n - 1), NO_KEY),
    ):
        program.expect(f"{kernel} public-key {number},{exponent}", answer)
        program.expect(f"{kernel} public 02", NOT_SET)


def small_keys(program: Program, rng: random.Random) -> None:
    for kernel in KERNELS:
        runs = 2 if kernel == "c_ref" else 12
        for bits, e in ((256, 65537), (320, 3), (296, 5), (512, 2**64 + 13)):
            if kernel != "c_ref" or bits == 256:
                operations(program, kernel, made(bits, rng, e, by_phi=bits == 320), rng, runs)
    primes_of_two_lengths(program, KERNEL, rng)
    primes_at_ends_of_limbs(program, rng)
    for bits in (256, 384):
        bad_keys(program, KERNEL, made(bits, rng, 65537), rng)
        public_keys(program, KERNEL, made(bits, rng, 65537))


def openssl_key(bits: int, e: int) -> Key:
    from cryptography.hazmat.primitives.asymmetric import rsa

    numbers = rsa.generate_private_key(e, bits).private_numbers()
    return Key(
        numbers.public_numbers.n,
        e,
        numbers.d,
        numbers.p,
        numbers.q,
        numbers.dmp1,
        numbers.dmq1,
        numbers.iqmp,
    )


def openssl_keys(program: Program, rng: random.Random, sizes: Iterable[tuple[int, int]]) -> None:
    for bits, e in sizes:
        key = openssl_key(bits, e)
        operations(program, KERNEL, key, rng, 2)
        program.expect(f"{KERNEL} check 1", OK)


def generated(program: Program, rng: random.Random, bits: int, e: int, n_runs: int) -> list[Key]:
    """Keys hold the equations of PKCS #1 and the bounds of FIPS 186-5."""
    keys = []
    for _ in range(n_runs):
        question = f"{KERNEL} generate {rng.getrandbits(60)} {bits} {encode(e)}"
        numbers, _, status = program.ask(question).partition(" ")
        program.judge(question, status, OK)
        key = Key(*(int(number, 16) for number in numbers.split(",")))
        right = key == key_of(key.p, key.q, e) and key.n.bit_length() == bits
        right &= (
            key.p > key.q and key.p - key.q > 2 ** (bits // 2 - 100) and key.d > 2 ** (bits // 2)
        )
        right &= all(
            prime**2 > 2 ** (bits - 1) and is_prime(prime, rng) for prime in (key.p, key.q)
        )
        program.judge(f"{question} {key}", "right" if right else "wrong", "right")
        keys.append(key)
    return keys


def encode(number: int) -> str:
    return number.to_bytes(max(1, (number.bit_length() + 7) // 8), "big").hex()


def generation(program: Program, rng: random.Random) -> None:
    keys = generated(program, rng, 1024, 65537, 8) + generated(program, rng, 1040, 2**256 - 189, 2)
    keys += generated(program, rng, 1056, 3 * 5 * 7 * 11 * 65537, 2) + generated(
        program, rng, 2048, 65537, 1
    )
    primes = [prime for key in keys for prime in (key.p, key.q)]
    program.judge("generate", f"{len(set(primes))} primes", f"{len(primes)} primes")
    for bits, e, answer in (
        (1008, 65537, KEY_SIZE),
        (1030, 65537, KEY_SIZE),
        (8208, 65537, KEY_SIZE),
        (1024, 65536, NO_VARIANT),
        (1024, 65535, NO_VARIANT),
        (1024, 3, NO_VARIANT),
        (1024, 0, NO_VARIANT),
        (1024, 2**256 + 1, NO_VARIANT),
    ):
        program.expect(f"{KERNEL} generate 1 {bits} {encode(e)}", answer)


def one_kernel(program: Program, kernel: str, rng: random.Random) -> None:
    for bits, e in ((256, 65537), (320, 3), (296, 5), (512, 2**64 + 13)):
        operations(program, kernel, made(bits, rng, e, by_phi=bits == 320), rng, 12)
    for bits in (1024, 1536, 2048):
        key, value = made(bits, rng, 65537), rng.getrandbits(bits - 1)
        result = key.hex(pow(value, key.d, key.n))
        program.expect(f"{kernel} key {key.text()}", OK)
        program.expect(f"{kernel} private 1 {key.hex(value)}", result)
        program.expect(f"{kernel} public {result}", key.hex(value))
        program.expect(
            f"{kernel} many 5 {key.hex(value)},{result}",
            result + key.hex(pow(int(result, 16), key.d, key.n)),
        )
    primes_of_two_lengths(program, kernel, rng)
    bad_keys(program, kernel, made(256, rng, 65537), rng)
    public_keys(program, kernel, made(256, rng, 65537))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", nargs="+", help="rsa_answers, after the emulator that it needs")
    parser.add_argument("--kernel", choices=KERNELS, help="this one alone")
    parser.add_argument(
        "--may-be-absent", action="store_true", help="exit code 77 if the kernel does not run here"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--quick",
        action="store_true",
        help="fewer values under the largest keys, and no check of their primes: for builds "
        "that are slow",
    )
    arguments = parser.parse_args()
    program, rng, skipped = (
        Program(arguments.program, may_be_absent=not arguments.kernel),
        random.Random(arguments.seed),
        0,
    )
    if arguments.kernel:
        if arguments.may_be_absent and program.ask(f"{arguments.kernel} public 02") == "not here":
            print("skipped: the kernel does not run here")
            return 77
        one_kernel(program, arguments.kernel, rng)
        program.end()
        print(f"{program.passed} passed, {program.failed} failed, 0 skipped")
        return 1 if program.failed else 0
    small_keys(program, rng)
    largest_keys(program, rng, arguments.quick)
    generation(program, rng)
    if importlib.util.find_spec("cryptography"):
        openssl_keys(program, rng, ((1024, 65537), (2048, 65537), (3072, 3), (2050, 65537)))
    else:
        skipped = 1
        print("skipped: no Python package cryptography")
    program.end()
    print(f"{program.passed} passed, {program.failed} failed, {skipped} skipped")
    return 1 if program.failed else 0


if __name__ == "__main__":
    sys.exit(main())
