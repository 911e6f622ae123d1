#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Big numbers against the integers of Python: bn_against_python.py [OPTIONS] [EMULATOR] BN_ANSWERS

Every kernel of bn that runs here is asked about random and structured numbers; the program is built from bn_answers.c.
"""

import argparse
import math
import pathlib
import random
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass

ROOT = pathlib.Path(__file__).resolve().parent.parent
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
        return " ".join([self.operation, *(number.hex() or "-" for number in (self.n, self.a, self.b))])

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
                return b"".join(pow(base, b ^ i, n).to_bytes(len(self.n), "big") for i in range(MANY)).hex()
            case _:
                result = pow(a, b, n)
        return result.to_bytes(len(self.n), "big").hex()


def pieces(rng: random.Random, n_bytes: int) -> bytes:
    """Runs of ones, of zeros and of random bytes."""
    size = rng.choice([1, 2, 4, 8])
    made = b"".join(rng.choice([b"\xff" * size, bytes(size), rng.randbytes(size)]) for _ in range(n_bytes // size + 1))
    return made[:n_bytes]


def modulus(rng: random.Random, n_bytes: int) -> bytes:
    bits = 8 * n_bytes - rng.randrange(8)
    value = rng.choice([
        2**bits - 1 - rng.randrange(50),  # below a power of two
        2**(bits - 1) + rng.randrange(50),  # above one
        int.from_bytes(pieces(rng, n_bytes), "big") % 2**bits,
        rng.getrandbits(bits),
    ])
    return (value | 1 | 2**(bits - 1)).to_bytes(n_bytes, "big")


def operand(rng: random.Random, n: bytes) -> bytes:
    value = int.from_bytes(n, "big")
    chosen = rng.choice([0, 1, value - 1, value // 2, rng.randrange(value), rng.randrange(value),
                         int.from_bytes(pieces(rng, len(n)), "big") % value])
    return chosen.to_bytes(len(n), "big")


def questions(rng: random.Random, rounds: int) -> Iterator[Question]:
    small = random.Random(rounds)  # of its own: the other questions stay as they were, and what these notice
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
            exponent = small.choice([pieces(small, small.choice([1, 2, 3, 5, 29, 41, 64])), bytes(2), b"\xff" * 35])
            yield Question("exp_small", n, base.to_bytes(4, "big"), exponent)
        yield Question(rng.choice(["powers", "powers_of_two"]), n, a, pieces(rng, rng.choice([1, 2, 5])))
        short = n[:rng.randrange(1, 4)][:-1] + bytes([n[-1]])  # of fewer bits than a step of divsteps counts by
        yield Question("gcd", n, rng.choice([a, pieces(rng, rng.randrange(1, 2 * n_bytes)), n + bytes(1)])[:1024], b"")
        yield Question("gcd", short, a, b"")
        yield Question("inverse", n, a, b"")
        if int.from_bytes(short, "big") > 1:
            yield Question("inverse", short, operand(rng, short), b"")


def kernels() -> list[str]:
    return re.findall(r"^KERNEL\(bn, *(\w+)", (ROOT / "src/kernels.def").read_text(), re.M)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", nargs="+", help="bn_answers, after the emulator that it needs")
    parser.add_argument("--kernel", choices=kernels(), help="this one alone; it has to run here")
    parser.add_argument("--may-be-absent", action="store_true", help="exit code 77 if the kernel does not run here")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=150)
    arguments = parser.parse_args()
    asked = list(questions(random.Random(arguments.seed), arguments.rounds))
    failed = 0
    for kernel in [arguments.kernel] if arguments.kernel else kernels():
        own = [q for q in asked
               if kernel != "c_ref" or (len(q.n) <= 128 and (q.operation[:3] not in ("exp", "pow") or 8 * len(q.n) <= SLOW_BITS))]
        lines = "".join(f"{kernel} {question.words()}\n" for question in own)
        done = subprocess.run(arguments.program, input=lines, text=True, stdout=subprocess.PIPE, check=True)
        answers = done.stdout.splitlines()
        if set(answers) == {"not here"} and (arguments.may_be_absent or not arguments.kernel):
            print(f"{kernel}: skipped, it does not run here")
            if arguments.kernel:
                return 77
            continue
        wrong = [(q, got) for q, got in zip(own, answers, strict=True) if got != q.answer()]
        for question, got in wrong[:3]:
            print(f"{kernel}: {question.words()}: {got}, not {question.answer()}", file=sys.stderr)
        print(f"{kernel}: {len(own) - len(wrong)} of {len(own)} answers are right")
        failed += bool(wrong)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
