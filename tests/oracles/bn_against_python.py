#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Big numbers against the integers of Python: bn_against_python.py [OPTIONS] [EMULATOR] BN_ANSWERS

Every kernel of bn that runs here is asked about random and structured numbers; the program is built
from bn_answers.c. Where the library GMP is at hand, it has to give the same answers as Python.
"""

import argparse
import contextlib
import functools
import math
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass

import gmp

ROOT = pathlib.Path(__file__).resolve().parents[2]
NO_INVERSE = "no inverse: the number and the modulus have a common divisor"
MANY = 11  # powers at once: more than a kernel has lanes
SLOW_BITS = 320  # of moduli whose powers are asked of c_ref


@dataclass(frozen=True)
class Question:
    operation: str
    n: bytes
    a: bytes
    b: bytes

    def words(self) -> str:
        return " ".join(
            [self.operation, *(number.hex() or "-" for number in (self.n, self.a, self.b))]
        )

    @functools.cached_property
    def answer(self) -> str:
        n, a, b = (int.from_bytes(number, "big") for number in (self.n, self.a, self.b))
        match self.operation:
            case "add":
                result = (a + b) % n
            case "sub":
                result = (a - b) % n
            case "mul":
                result = a * b % n
            case "sqr":
                result = a * a % n
            case "reduce":
                result = b % n
            case "gcd":
                result = math.gcd(n, a)
            case "inverse":
                if math.gcd(a, n) != 1:
                    return NO_INVERSE
                result = pow(a, -1, n)
            case "powers" | "powers_of_two":
                base = a if self.operation == "powers" else 2
                return b"".join(
                    pow(base, b ^ i, n).to_bytes(len(self.n), "big") for i in range(MANY)
                ).hex()
            case _:
                result = pow(a, b, n)
        return result.to_bytes(len(self.n), "big").hex()

    def answer_by(self, judge: gmp.Gmp) -> str:
        n, a, b = (int.from_bytes(number, "big") for number in (self.n, self.a, self.b))
        match self.operation:
            case "add" | "mul":
                results = [judge.computes("mod", judge.computes(self.operation, a, b), n)]
            case "sub":
                results = [judge.computes("mod", judge.computes("sub", a + n, b), n)]
            case "sqr":
                results = [judge.computes("mod", judge.computes("mul", a, a), n)]
            case "reduce":
                results = [judge.computes("mod", b, n)]
            case "gcd":
                results = [judge.computes("gcd", n, a)]
            case "inverse":
                if judge.computes("gcd", n, a) != 1:
                    return NO_INVERSE
                results = [judge.computes("invert", a, n)]
            case "powers" | "powers_of_two":
                base = a if self.operation == "powers" else 2
                results = [judge.computes("powm", base, b ^ i, n) for i in range(MANY)]
            case _:
                results = [judge.computes("powm", a, b, n)]
        return b"".join(result.to_bytes(len(self.n), "big") for result in results).hex()


def pieces(rng: random.Random, n_bytes: int) -> bytes:
    """Runs of ones, of zeros and of random bytes."""
    size = rng.choice([1, 2, 4, 8])
    made = b"".join(
        rng.choice([b"\xff" * size, bytes(size), rng.randbytes(size)])
        for _ in range(n_bytes // size + 1)
    )
    return made[:n_bytes]


def modulus(rng: random.Random, n_bytes: int) -> bytes:
    bits = 8 * n_bytes - rng.randrange(8)
    value: int = rng.choice(
        [
            2**bits - 1 - rng.randrange(50),  # below a power of two
            2 ** (bits - 1) + rng.randrange(50),  # above one
            int.from_bytes(pieces(rng, n_bytes), "big") % 2**bits,
            rng.getrandbits(bits),
        ]
    )
    return (value | 1 | 1 << (bits - 1)).to_bytes(n_bytes, "big")


def operand(rng: random.Random, n: bytes) -> bytes:
    value = int.from_bytes(n, "big")
    chosen = rng.choice(
        [
            0,
            1,
            value - 1,
            value // 2,
            rng.randrange(value),
            rng.randrange(value),
            int.from_bytes(pieces(rng, len(n)), "big") % value,
        ]
    )
    return chosen.to_bytes(len(n), "big")


def questions(rng: random.Random, rounds: int) -> Iterator[Question]:
    # It is of its own: the other questions stay as they were, and what these notice
    small = random.Random(rounds)
    lengths = [*range(16, 73), 80, 95, 96, 97, 127, 128, 129, 192, 256, 257, 384, 512, 1023, 1024]
    for turn in range(rounds):
        n_bytes = lengths[turn % len(lengths)] if turn % 2 else rng.choice(lengths[:57])
        n = modulus(rng, n_bytes)
        a, b = operand(rng, n), operand(rng, n)
        for operation in ("add", "sub", "mul", "sqr"):
            yield Question(operation, n, a, b)
        yield Question("reduce", n, a, pieces(rng, rng.randrange(1, min(3 * n_bytes, 1024) + 1)))
        for operation in ("exp", "exp_public"):
            yield Question(operation, n, a, pieces(rng, rng.choice([1, 2, 3, 4, 9, 11, 33, 41])))
        for base in (2, small.choice([0, 1, 3, 4, 5, 6, 7, 10, 65537, 2**32 - 1])):
            exponent = small.choice(
                [pieces(small, small.choice([1, 2, 3, 5, 29, 41, 64])), bytes(2), b"\xff" * 35]
            )
            yield Question("exp_small", n, base.to_bytes(4, "big"), exponent)
        yield Question(
            rng.choice(["powers", "powers_of_two"]), n, a, pieces(rng, rng.choice([1, 2, 5]))
        )
        # It has fewer bits than a step of divsteps counts by.
        short = n[: rng.randrange(1, 4)][:-1] + bytes([n[-1]])
        yield Question(
            "gcd",
            n,
            rng.choice([a, pieces(rng, rng.randrange(1, 2 * n_bytes)), n + bytes(1)])[:1024],
            b"",
        )
        yield Question("gcd", short, a, b"")
        yield Question("inverse", n, a, b"")
        if int.from_bytes(short, "big") > 1:
            yield Question("inverse", short, operand(rng, short), b"")


def fullest(
    rng: random.Random,
    n_bytes: int,
    digit_bits: int,
    block: int,
    is_square: bool,
    from_zero: bool = False,
) -> Question:
    """A product whose sums are as large as they can be where digits are from -B/2 to B/2, as those
    of hppa_fmpyadd and x86_avx2 are. block: a number has a multiple of so many digits.

    Digits of the modulus, of both factors and of the multiple of the modulus that a reduction adds
    are near -B/2. Those of one factor are found from the lowest on: each so that the multiple's
    digit is near -B/2, too.

    `from_zero`: digits of the modulus and of the other factor are near B, as they would be if bytes
    became digits from 0 on. Sums are twice as large then, which doubles do not hold.
    """
    base = 1 << digit_bits
    places = (8 * n_bytes - 8) // digit_bits
    digits = -(-(8 * n_bytes + 2) // (block * digit_bits)) * block
    spread = digit_bits - 8

    def digit() -> int:
        return rng.getrandbits(spread) - base // 2

    def loaded() -> int:
        return base - 1 - rng.getrandbits(spread) if from_zero else digit()

    def value(of: list[int]) -> int:
        return sum(d << (digit_bits * i) for i, d in enumerate(of))

    n = [
        loaded() | 1,
        *(loaded() for _ in range(places - 1)),
        3 << (8 * n_bytes - digit_bits * places - 2),
    ]
    b = [] if is_square else [loaded() | 1, *(loaded() for _ in range(places - 1)), 1]
    a: list[int] = []
    multiple: list[int] = []
    to_multiple = -pow(n[0], -1, base)
    carry = 0
    for k in range(places):
        other = a if is_square else b
        known = carry + sum(a[i] * other[k - i] for i in range(is_square and k > 0, k))
        known += sum(multiple[i] * n[k - i] for i in range(k))
        m = base
        while m >= (1 << spread) - base // 2:
            d = digit() | (k == 0)
            total = known + d * (d if k == 0 else 2 * a[0]) if is_square else known + d * b[0]
            m = (total * to_multiple + base // 2) % base - base // 2
        a.append(d)
        multiple.append(m)
        carry = (total + m * n[0]) // base
    modulus = value(n)
    # The kernel's own factor: a number times R, from -n/4 to n/4, which it has in no other digits.
    factor = value(a) * pow(1 << (digit_bits * digits), -1, modulus) % modulus
    second = bytes([2]) if is_square else value(b).to_bytes(n_bytes, "big")
    return Question(
        "exp" if is_square else "mul",
        modulus.to_bytes(n_bytes, "big"),
        factor.to_bytes(n_bytes, "big"),
        second,
    )


def fullest_questions(rng: random.Random) -> Iterator[Question]:
    """For the longest numbers with digits of 23 bits, for longer ones, whose sums would be above
    2^53, and for short ones. For digits of 29 bits: the longest numbers whose columns carry at the
    end only, longer ones whose sums would be above 2^63, and the longest of all.
    """
    for n_bytes in (712, 758, 17):
        for is_square in (False, True):
            yield fullest(rng, n_bytes, 23, 8, is_square)
    yield fullest(rng, 712, 23, 8, is_square=False, from_zero=True)
    for n_bytes in (217, 256, 1024):
        for is_square in (False, True):
            yield fullest(rng, n_bytes, 29, 4, is_square)


@functools.cache
def all_questions(seed: int, rounds: int) -> list[Question]:
    return [*questions(random.Random(seed), rounds), *fullest_questions(random.Random(seed))]


def all_answers_are_right(program: list[str], kernel: str, rounds: int, seconds: float) -> bool:
    """Ask the same questions of one kernel until an answer is wrong or is not there in time."""
    asked = all_questions(1, rounds)
    with tempfile.TemporaryFile("w+") as lines:
        lines.writelines(f"{kernel} {question.words()}\n" for question in asked)
        lines.seek(0)
        with (
            subprocess.Popen(
                program,
                stdin=lines,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                errors="replace",
            ) as answers,
            contextlib.ExitStack() as at_end,
        ):
            at_end.callback(answers.kill)
            (timer := threading.Timer(seconds, answers.kill)).start()
            at_end.callback(timer.cancel)
            assert answers.stdout
            right = all(answers.stdout.readline() == question.answer + "\n" for question in asked)
            return right and not answers.stdout.read() and answers.wait() == 0


def kernels() -> list[str]:
    return re.findall(r"^KERNEL\(bn, *(\w+)", (ROOT / "src/kernels.def").read_text(), re.M)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", nargs="+", help="bn_answers, after the emulator that it needs")
    parser.add_argument("--kernel", choices=kernels(), help="this one alone; it has to run here")
    parser.add_argument(
        "--may-be-absent", action="store_true", help="exit code 77 if the kernel does not run here"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=150)
    arguments = parser.parse_args()
    asked = all_questions(arguments.seed, arguments.rounds)
    failed = 0
    if judge := gmp.load():
        for question in asked:
            if (by_gmp := question.answer_by(judge)) != question.answer:
                print(
                    f"{question.words()}: {question.answer} by Python, {by_gmp} by GMP",
                    file=sys.stderr,
                )
                failed += 1
        print(f"GMP and Python agree on {len(asked) - failed} of {len(asked)} answers")
    else:
        print("skipped: no library GMP to hold answers against")
    for kernel in [arguments.kernel] if arguments.kernel else kernels():
        own = [
            q
            for q in asked
            if kernel != "c_ref"
            or (
                len(q.n) <= 128
                and (q.operation[:3] not in ("exp", "pow") or 8 * len(q.n) <= SLOW_BITS)
            )
        ]
        lines = "".join(f"{kernel} {question.words()}\n" for question in own)
        done = subprocess.run(
            arguments.program, input=lines, text=True, stdout=subprocess.PIPE, check=True
        )
        answers = done.stdout.splitlines()
        if set(answers) == {"not here"} and (arguments.may_be_absent or not arguments.kernel):
            print(f"{kernel}: skipped, it does not run here")
            if arguments.kernel:
                return 77
            continue
        wrong = [(q, got) for q, got in zip(own, answers, strict=True) if got != q.answer]
        for question, got in wrong[:3]:
            print(f"{kernel}: {question.words()}: {got}, not {question.answer}", file=sys.stderr)
        print(f"{kernel}: {len(own) - len(wrong)} of {len(own)} answers are right")
        failed += bool(wrong)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
