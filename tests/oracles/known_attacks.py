#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Published faults of other libraries: known_attacks.py HARNESS BN_ANSWERS RSA_ANSWERS [--seed N]

Each has its name and a test of its kind. Wrong results: the same computation, by every kernel,
against Python. Side channels: `everycore ct`, which looks at each operation below in the binary,
must know it for every kernel of bn; where a leak has an input of its own, that input is tried too.
"""

import argparse
import json
import math
import random
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass

from rsa_against_python import KERNELS, OK, Key, made
from rsa_paddings import HashingProgram, rejected

FAST = tuple(kernel for kernel in KERNELS if kernel != "c_ref")


@dataclass(frozen=True)
class Here:
    """The programs under test, and one key of 2048 bits and one of 1024."""

    bn_answers: str
    rsa: HashingProgram
    key: Key
    short: Key
    rng: random.Random
    asked: list[tuple[str, str]]  # questions of bn, and the answers that are expected
    quick: bool

    def bn_is(self, kernel: str, operation: str, n: int, a: int, b: int, expected: int) -> None:
        n_bytes = (n.bit_length() + 7) // 8
        numbers = " ".join(value.to_bytes(n_bytes, "big").hex() for value in (n, a, b))
        self.asked.append(
            (f"{kernel} {operation} {numbers}", expected.to_bytes(n_bytes, "big").hex())
        )

    def judge_bn(self) -> None:
        """All that was asked since the last time."""
        done = subprocess.run(
            [self.bn_answers],
            input="".join(f"{question}\n" for question, _ in self.asked),
            text=True,
            stdout=subprocess.PIPE,
            check=True,
        )
        for (question, expected), answer in zip(self.asked, done.stdout.splitlines(), strict=True):
            self.rsa.judge(question, answer, expected)
        self.asked.clear()


def carries(here: Here) -> None:
    """Products and squares whose limbs are all ones or nearly so, where carries run through all
    limbs.
    """
    for bits in (512, 1024, 1536, 2048) if here.quick else (512, 1024, 1536, 2048, 8191, 8192):
        for n in (
            2**bits - 1,
            2**bits - 2**64 + 1,
            2**bits - 2 ** (bits // 2) - 1,
            2 ** (bits - 1) + 1,
            (2**bits - 1) // 3 * 2 + 1,
            2**bits - 2 ** (bits - 52) - 1,
        ):
            values = [
                n - 1,
                n - 2,
                n >> 1,
                (2**bits - 1) // (2**64 - 1) % n,
                2 ** (bits - 1) % n,
                2 ** (bits - 64) - 1,
                *(
                    sum(
                        here.rng.choice((0, 2**64 - 1, 2**64 - 2, 1)) << at
                        for at in range(0, bits, 64)
                    )
                    % n
                    for _ in range(4)
                ),
            ]
            for kernel in FAST:
                for a in values:
                    here.bn_is(kernel, "sqr", n, a, 0, a * a % n)
                    b = here.rng.choice(values)
                    here.bn_is(kernel, "mul", n, a, b, a * b % n)
            a = here.rng.choice(values)
            for kernel in FAST[:1] + FAST[3:]:
                here.bn_is(kernel, "exp", n, a, 2**64 - 1, pow(a, 2**64 - 1, n))


def carries_of_forms(here: Here) -> None:
    """The same where the limbs of a kernel are all ones or nearly so: kernels with limbs compute
    with numbers times R = 2^bits, so bases are such limbs divided by R. The first step of a power
    is the kernel's square, which `sqr` of one number does not use.
    """
    for bits in (512, 1024, 2048):

        def limbs(bits: int = bits) -> int:
            return sum(
                here.rng.choice((0, 1, 2**63, 2**64 - 2, 2**64 - 1)) << at
                for at in range(0, bits, 64)
            )

        for n in (2**bits - 1, 2**bits - 2**64 + 1, limbs() | 2 ** (bits - 1) | 1):
            to_form = pow(2**bits, -1, n)
            for a, b in ((limbs() * to_form % n, limbs() * to_form % n) for _ in range(3)):
                for kernel in FAST:
                    here.bn_is(kernel, "exp_public", n, a, 2, a * a % n)
                    here.bn_is(kernel, "exp_public", n, b, 3, b * b * b % n)


def patterns(here: Here) -> None:
    """Powers of numbers whose words are alike, or end in words of 1 and zeros; exponents of one bit
    more than a word or two.
    """

    def words(word: int, word_bits: int, n_words: int) -> int:
        return sum(word << (word_bits * i) for i in range(n_words))

    for n, a, exponents in (
        (words(2, 32, 128) + 1, words(1, 32, 64), (words(1, 32, 3), 2**64 + 1)),
        ((2**1023 + 2**512) | 1, 2**1023, (65537, 2**64)),
        (words(2**64 - 2**32 + 1, 64, 16), words(0xAAAAAAAA << 32, 64, 16), (2**33 - 1, 2**128)),
        ((2**1024 - 2**64 + 1), 2**1024 - 2**64, (2**64, 2**65 - 1)),
    ):
        for kernel in FAST[:1] + FAST[3:]:
            for exponent in exponents:
                here.bn_is(kernel, "exp", n, a, exponent, pow(a, exponent, n))


def short_exponents(here: Here) -> None:
    """Exponents and bases with many zero limbs in front have results like others."""
    n = here.short.n
    for exponent in (1, 2, 2**63, 2**64, 2**521, n - 1):
        for base in (0, 1, 2, 2**64, n - 1):
            for kernel in FAST:
                here.bn_is(kernel, "exp", n, base, exponent, pow(base, exponent, n))


def lengths_of_keys(here: Here) -> None:
    """Private operations under keys of 1024 and 2048 bits and of lengths beside them, by every
    kernel.
    """
    others = [made(bits, here.rng, 65537) for bits in (1008, 1016, 1040)]
    for key in (here.key, here.short, *others):
        for kernel in FAST:
            here.rsa.expect(f"{kernel} key {key.text()}", OK)
            m = here.rng.randrange(2, key.n - 1)
            here.rsa.expect(
                f"{kernel} private {here.rng.getrandbits(40)} {key.hex(m)}",
                key.hex(pow(m, key.d, key.n)),
            )
            here.rsa.expect(
                f"{kernel} many 1 {','.join(5 * [key.hex(m)])}", 5 * key.hex(pow(m, key.d, key.n))
            )


def small_messages(here: Here) -> None:
    """Messages with zero limbs in front, before and behind unblinding; wrong paddings get a message
    and no error.
    """
    key = here.short
    here.rsa.expect(f"{FAST[0]} key {key.text()}", OK)
    for limbs in range(1, 17):
        m = here.rng.getrandbits(64 * limbs - 17) | 2
        c = pow(m, key.e, key.n)
        here.rsa.expect(f"{FAST[0]} private {limbs} {key.hex(c)}", key.hex(m))
        answer = rejected(key, bytes.fromhex(key.hex(c))).hex() or "empty"
        here.rsa.expect(f"{FAST[0]} decrypt-pkcs1 {limbs} sha256 {key.hex(c)}", answer)


def blinding(here: Here) -> None:
    """Every private operation draws fresh randomness; other randomness gives the same result."""
    key = here.short
    here.rsa.expect(f"{FAST[0]} key {key.text()}", OK)
    for value in (2, 2**512, key.n - 2):
        for seed in range(6):
            here.rsa.expect(
                f"{FAST[0]} private {seed} {key.hex(value)}", key.hex(pow(value, key.d, key.n))
            )


def inverses(here: Here) -> None:
    """Inverses modulo p, modulo half of p - 1, modulo q: of 1, of n - 1, of powers of 2."""
    for n in (here.short.p, here.short.p >> 1, here.key.q):
        for a in (1, 2, n - 1, n - 2, 2 ** (n.bit_length() - 1), n >> 64, n ^ (2**64 - 2)):
            if math.gcd(a, n) == 1:
                here.bn_is(FAST[0], "inverse", n, a % n, 0, pow(a % n, -1, n))


@dataclass(frozen=True)
class Attack:
    names: str
    what: str
    operations: tuple[str, ...] = ()  # of `everycore ct`
    test: Callable[[Here], None] | None = None


ATTACKS = (
    Attack(
        "CVE-2015-3193, CVE-2017-3736, CVE-2017-3738",
        "lost carries of Montgomery squares and products on x86-64",
        test=carries,
    ),
    Attack(
        "CVE-2016-0702 (CacheBleed)",
        "banks of a cache tell which entry of a table a power reads",
        (
            "power",
            "long-power",
            "powers",
            "long-powers",
            "rsa-private",
            "rsa-private-many",
            "dh-public-by-table",
        ),
    ),
    Attack(
        "CVE-2017-7526",
        "a sliding window shows the exponent of a private operation",
        ("power", "long-power", "rsa-private", "rsa-private-many", "dh-public", "dh-shared"),
        short_exponents,
    ),
    Attack(
        "CVE-2018-0737",
        "the generation of keys shows primes by its branches, in the divisor and the inverse",
        (
            "divisor",
            "inverse",
            "prime-sieve",
            "random-bases",
            "strong-test",
            "strong-test-by-bits",
            "rsa-complete",
        ),
    ),
    Attack(
        "CVE-2022-2274",
        "memory beyond a buffer is written by products of 52 bits, for keys of 2048 bits",
        test=lengths_of_keys,
    ),
    Attack(
        "CVE-2022-4304 (Marvin)",
        "zero limbs are cut off in unblinding, and paddings are told apart",
        ("product", "rsa-private", "rsa-decrypt-pkcs1", "rsa-refuse-oaep", "rsa-accept-oaep"),
        small_messages,
    ),
    Attack(
        "CVE-2022-23823, CVE-2022-24436 (Hertzbleed)",
        "the clock of a CPU depends on data: bases are blinded",
        ("rsa-private", "rsa-private-many"),
        blinding,
    ),
    Attack(
        "CVE-2024-23170",
        "private operations of RSA take a time that depends on the plaintext",
        ("rsa-private", "rsa-public", "rsa-decrypt-pkcs1", "rsa-refuse-oaep"),
    ),
    Attack(
        "CVE-2025-54764 (SSBleed, M-Step)",
        "the divisor and the inverse in generation branch on secrets",
        ("divisor", "inverse", "rsa-complete", "rsa-set-private"),
        inverses,
    ),
    Attack(
        "Minerva, on POWER",
        "the time of a power or an inverse shows how many bits of a secret are zero",
        ("power", "inverse", "dh-secret"),
        short_exponents,
    ),
    Attack(
        "OpenSSL issue 29865",
        "a carry of adcx or adox is lost where a limb in Montgomery form is all ones",
        test=carries_of_forms,
    ),
    Attack(
        "Intel cryptography-primitives issues 39 and 65, Go issue 13515",
        "wrong powers for exponents of 65 bits, and modulo numbers of equal or of empty words",
        test=patterns,
    ),
)


def operations_of_ct(harness: str) -> dict[str, set[str]]:
    """The operations of bn that ct looks at, by kernel."""
    done = subprocess.run(
        [harness, "ct", "--list", "--primitive", "bn"],
        text=True,
        stdout=subprocess.PIPE,
        check=True,
    )
    found: dict[str, set[str]] = {}
    for line in map(json.loads, done.stdout.splitlines()):
        if line["type"] == "ct-operation":
            found.setdefault(line["kernel"], set()).add(line["operation"])
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("harness", "bn_answers", "rsa_answers"):
        parser.add_argument(name)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--quick", action="store_true", help="no numbers of 8191 and 8192 bits, for slow builds"
    )
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    here = Here(
        arguments.bn_answers,
        HashingProgram(arguments.rsa_answers),
        made(2048, rng, 65537),
        made(1024, rng, 65537),
        rng,
        [],
        arguments.quick,
    )
    looked_at = operations_of_ct(arguments.harness)
    here.rsa.good("kernels that ct looks at", set(looked_at) >= {"c_limb32", "c_limb16", "c_ref"})
    for attack in ATTACKS:
        before = here.rsa.failed
        for kernel, operations in looked_at.items():
            wanted = {
                name
                for name in attack.operations
                if kernel != "c_ref" or not name.startswith("rsa-")
            }
            here.rsa.good(
                f"{attack.names}: ct looks at {wanted - operations} by {kernel}",
                wanted <= operations,
            )
        if attack.test:
            attack.test(here)
            here.judge_bn()
        good = here.rsa.failed == before
        print(f"{attack.names}: {attack.what}: {'not here' if good else 'FAILED'}")
    here.rsa.end()
    print(f"{here.rsa.passed} passed, {here.rsa.failed} failed, 0 skipped")
    return 1 if here.rsa.failed else 0


if __name__ == "__main__":
    sys.exit(main())
