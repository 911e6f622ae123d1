#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Hold word primitives against the integers of Python.

bn_words_answers.py [EMULATOR...] PROGRAM [KERNEL...]

PROGRAM, of bn_words_answers.c, prints operands and results of the kernels named, or of all that the
CPU runs.
"""

import collections
import pathlib
import subprocess
import sys


def expected(  # noqa: PLR0911  # one for each operation
    operation: str, n: int, base: int, a: int, b: int, before: int, w: int
) -> tuple[int, int]:
    """The number that is written, and the word that is returned."""
    match operation:
        case "add":
            return (a + b) % base**n, (a + b) // base**n
        case "sub":
            return (a - b) % base**n, int(a < b)
        case "mul":
            return a * w % base**n, a * w // base**n
        case "mul_add":
            return (before + a * w) % base**n, (before + a * w) // base**n
        case "sqr":
            words = [a // base**i % base for i in range(n)]
            return sum(word**2 * base ** (2 * i) for i, word in enumerate(words)), 0
        case "product":
            return a * b, 0
        case "square":
            return a * a, 0
        case "div":
            return 0, a // w % base if w else base - 1
        case "mod" | "mod_word":
            return 0, a % w if w else base - 1
    raise ValueError(operation)


def main() -> int:
    words = sys.argv[1:]
    at = next(i for i, word in enumerate(words) if "bn_words_answers" in pathlib.Path(word).name)
    done = subprocess.run(words, text=True, capture_output=True, check=False)
    if done.returncode != 0:
        print(f"{words[at]} ends with {done.returncode}: {done.stderr}")
        return 1
    right: collections.Counter[str] = collections.Counter()
    wrong = 0
    for line in done.stdout.splitlines():
        kernel, operation, bits, n, *numbers = line.split()
        a, b, before, w, number, word = (int(text, 16) for text in numbers)
        if (number, word) == expected(operation, int(n), 1 << int(bits), a, b, before, w):
            right[kernel] += 1
        else:
            wrong += 1
            print(f"wrong: {line}")
    for kernel, cases in right.items():
        print(f"{kernel}: {cases} right")
    print(f"{sum(right.values())} passed, {wrong} failed")
    return 1 if wrong or not right else 0


if __name__ == "__main__":
    sys.exit(main())
