#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Diffie-Hellman against Python and published vectors: dh_against_python.py DH_ANSWERS [--seed N]

The program is built from dh_answers.c. The vectors, of NIST's CAVP for static keys and of RFC 5114,
come with the Python package cryptography-vectors; without it they are skipped.
"""

import argparse
import importlib.util
import pathlib
import random
import re
import subprocess
import sys

PEER, GROUP, COMPOSITE = (
    "the value of the peer is not in the group",
    "the parameters are no group",
    "the number is no prime",
)
ZERO_SECRET = "an operand is not below the modulus"
KERNEL = "c_limb64" if sys.maxsize > 2**32 else "c_limb32"
# q of 128 bits, p = k q + 1 of 256 bits, g = 2^k; then a safe prime of 128 bits.
SUBGROUP_P = 0x87C0296365C7E798E439313DB52B13ECFA55E0C68C1DD9D9D87A99336093FBFD
SUBGROUP_Q = 0xD6FE09F7DE26C45BFAD9D3A90ADD12E3
SUBGROUP_G = 0x2F774F9DA6B081EF2F64BEDB97DB5A06CBE133ACAC6C80E43C781A14ACFBB9F3
SAFE_P = 0xDB1E03B7C828163B135302F714DF4157


class Lines:
    """Questions, and the answers that are expected."""

    def __init__(self) -> None:
        self.questions: list[str] = []
        self.expected: list[str] = []

    def add(self, question: str, expected: str) -> None:
        self.questions.append(question)
        self.expected.append(expected)


def encode(n: int) -> str:
    return n.to_bytes(max(1, (n.bit_length() + 7) // 8), "big").hex()


def padded(n: int, n_bytes: int) -> str:
    return n.to_bytes(n_bytes, "big").hex()


def exchanges(
    lines: Lines,
    rng: random.Random,
    kernel: str,
    group: str,
    p: int,
    g: int,
    q: int,
    secret_bytes: int,
    has_q: bool,
) -> None:
    """Values and what is shared; values that are no element, of order 2, of the wrong order."""
    n_bytes = (p.bit_length() + 7) // 8
    for _ in range(3):
        x, z = (rng.randrange(1, min(q, 256**secret_bytes)) for _ in range(2))
        text, peer = padded(x, secret_bytes), pow(g, z, p)
        lines.add(f"{kernel} {group} public {text}", padded(pow(g, x, p), n_bytes))
        for n_blocks in (1, rng.randrange(2, 16), 16):
            lines.add(f"{kernel} {group} table {text} {n_blocks}", padded(pow(g, x, p), n_bytes))
        for question in ("shared", "ordered"):
            lines.add(
                f"{kernel} {group} {question} {text} {padded(peer, n_bytes)}",
                padded(pow(peer, x, p), n_bytes),
            )
            for bad in (0, 1, p - 1, p, p + 1, 256**n_bytes - 1):
                if bad < 256**n_bytes:
                    lines.add(f"{kernel} {group} {question} {text} {padded(bad, n_bytes)}", PEER)
        wrong = next(v for v in range(2, 1000) if pow(v, q, p) != 1)
        lines.add(f"{kernel} {group} ordered {text} {encode(wrong)}", PEER)
        lines.add(
            f"{kernel} {group} shared {text} {encode(wrong)}",
            PEER if has_q else padded(pow(wrong, x, p), n_bytes),
        )
    for x in (1, 2, min(q, 256**secret_bytes) - 1):
        lines.add(
            f"{kernel} {group} table {padded(x, secret_bytes)} 4", padded(pow(g, x, p), n_bytes)
        )
    lines.add(f"{kernel} {group} public {padded(0, secret_bytes)}", ZERO_SECRET)
    lines.add(f"{kernel} {group} table {padded(0, secret_bytes)} 4", ZERO_SECRET)
    lines.add(
        f"{kernel} {group} shared {padded(0, secret_bytes)} {padded(g, n_bytes)}", ZERO_SECRET
    )


def named(lines: Lines, rng: random.Random, groups: dict[str, int]) -> None:
    sizes = {1536: 29, 2048: 29, 3072: 35, 4096: 41, 6144: 47, 8192: 50}
    for name, p in groups.items():
        lines.add(f"{KERNEL} {name} params", padded(p, p.bit_length() // 8))
        if p.bit_length() <= 3072:
            exchanges(lines, rng, KERNEL, name, p, 2, p >> 1, sizes[p.bit_length()], False)
        else:
            x, y, n_bytes = (
                rng.getrandbits(200) | 1,
                pow(2, rng.getrandbits(200) | 1, p),
                p.bit_length() // 8,
            )
            secret = padded(x, sizes[p.bit_length()])
            lines.add(f"{KERNEL} {name} public {secret}", padded(pow(2, x, p), n_bytes))
            lines.add(
                f"{KERNEL} {name} shared {secret} {padded(y, n_bytes)}",
                padded(pow(y, x, p), n_bytes),
            )
            for value in (0, 1, p - 1, p):
                lines.add(f"{KERNEL} {name} shared {secret} {padded(value, n_bytes)}", PEER)
    for name in ("ffdhe2048", "modp1536", "modp8192"):
        lines.add(f"{KERNEL} {name} check", "ok")


def given(lines: Lines, rng: random.Random, kernel: str) -> None:
    subgroup = f"{encode(SUBGROUP_P)},{encode(SUBGROUP_Q)},{encode(SUBGROUP_G)}"
    exchanges(lines, rng, kernel, subgroup, SUBGROUP_P, SUBGROUP_G, SUBGROUP_Q, 16, True)
    # g of one byte, and one that is not, whose first byte is 0
    long_g = next(g for k in range(64, 10**6) if 2**64 < (g := pow(4, k, SAFE_P)) < SAFE_P >> 8)
    for g in (2, long_g):
        exchanges(
            lines, rng, kernel, f"{encode(SAFE_P)},-,{encode(g)}", SAFE_P, g, SAFE_P >> 1, 16, False
        )
    for p, q, g, answer in (
        (SUBGROUP_P, SUBGROUP_Q, SUBGROUP_G, "ok"),
        (SAFE_P, None, 2, "ok"),
        (SUBGROUP_P + 2, SUBGROUP_Q, SUBGROUP_G, COMPOSITE),
        (SUBGROUP_P, SUBGROUP_Q + 2, SUBGROUP_G, COMPOSITE),
        (SUBGROUP_P, 2**127 - 1, SUBGROUP_G, GROUP),
        (SUBGROUP_P, SUBGROUP_Q, 2, GROUP),
        (2**128 - 159, None, 3, COMPOSITE),
        (SAFE_P, None, next(v for v in range(3, 99) if pow(v, SAFE_P >> 1, SAFE_P) != 1), GROUP),
        (SUBGROUP_P, SUBGROUP_P, SUBGROUP_G, GROUP),
        (SUBGROUP_P, SUBGROUP_Q, 1, GROUP),
        (SUBGROUP_P, 0, 2, GROUP),
        (SUBGROUP_P, SUBGROUP_Q, SUBGROUP_P - 1, GROUP),
        (SUBGROUP_P, SUBGROUP_Q, SUBGROUP_P, GROUP),
        (SUBGROUP_P - 1, SUBGROUP_Q, SUBGROUP_G, GROUP),
        (SUBGROUP_P, 65537, SUBGROUP_G, GROUP),
        (SUBGROUP_P, SUBGROUP_P + 2, SUBGROUP_G, GROUP),
    ):
        lines.add(
            f"{kernel} {encode(p)},{'-' if q is None else encode(q)},{encode(g)} check", answer
        )


def read_cases(text: str) -> list[dict[str, str]]:
    """Values by name; P, Q and G of a section hold for its cases."""
    cases: list[dict[str, str]] = []
    common: dict[str, str] = {}
    for line in text.splitlines():
        match = re.match(r"(\w+) *= *(.*?) *$", line)
        if line.startswith("["):
            common = {}
        elif match and match[1] == "COUNT":
            cases.append(dict(common))
        elif match and match[1] in "PQG" and not (cases and "XstatCAVS" not in cases[-1]):
            common[match[1]] = match[2]
        elif match and cases:
            cases[-1][match[1]] = match[2]
    return cases


def even(text: str) -> str:
    """Whole bytes: some lines of the files lack a leading zero."""
    return "0" * (len(text) % 2) + text.lower()


def published(lines: Lines, text: str) -> int:
    """The CAVS is the peer. A case that fails (F) has a value, a secret or a result that was
    changed.
    """
    n = 0
    for case in read_cases(text):
        p = int(case["P"], 16)
        p_bytes, q_bytes = (p.bit_length() + 7) // 8, len(even(case["Q"])) // 2
        group = f"{KERNEL} {','.join(even(case[name]) for name in 'PQG')}"
        x, x_peer = int(case["XstatIUT"], 16), int(case["XstatCAVS"], 16)
        if case["Result"].startswith("F (1"):
            peer = padded(int(case["YstatCAVS"], 16), p_bytes)
            lines.add(f"{group} shared {padded(x, q_bytes)} {peer}", PEER)
        elif case["Result"].startswith("P"):
            for mine, theirs in ((x, case["YstatCAVS"]), (x_peer, case["YstatIUT"])):
                shared = padded(int(case["Z"], 16), p_bytes)
                lines.add(
                    f"{group} shared {padded(mine, q_bytes)} {padded(int(theirs, 16), p_bytes)}",
                    shared,
                )
            for secret, value in ((x, case["YstatIUT"]), (x_peer, case["YstatCAVS"])):
                lines.add(
                    f"{group} public {padded(secret, q_bytes)}", padded(int(value, 16), p_bytes)
                )
        elif case["Result"].startswith("F (3"):
            value = padded(int(case["YstatIUT"], 16), p_bytes)
            lines.add(f"{group} shared {padded(x_peer, q_bytes)} {value}", PEER)
        else:
            continue
        n += 1
    return n


def secrets(program: str) -> tuple[int, int]:
    """1,000 secrets below q: their lengths, and that they are spread."""
    passed = failed = 0
    for group, below, n_bytes in (
        (f"{encode(SUBGROUP_P)},{encode(SUBGROUP_Q)},{encode(SUBGROUP_G)}", SUBGROUP_Q, 16),
        ("ffdhe2048", 2**232, 29),
        (f"{encode(SAFE_P)},-,02", SAFE_P >> 1, 16),
    ):
        answers = ask(program, [f"{KERNEL} {group} secret {seed}" for seed in range(1000)])
        values = [int(answer, 16) for answer in answers]
        tops = [sum(i * below // 8 <= v < (i + 1) * below // 8 for v in values) for i in range(8)]
        good = (
            all(0 < v < below for v in values)
            and len(set(values)) == 1000
            and {len(a) for a in answers} == {2 * n_bytes}
            # 125 are expected, the deviation is 10.5.
            and all(60 < top < 200 for top in tops)
        )
        passed, failed = passed + good, failed + (not good)
        if not good:
            print(f"FAILED: secrets of {group[:20]}: {tops}", file=sys.stderr)
    return passed, failed


def ask(program: str, questions: list[str]) -> list[str]:
    done = subprocess.run(
        [program],
        input="".join(f"{line}\n" for line in questions),
        text=True,
        stdout=subprocess.PIPE,
        check=True,
    )
    return done.stdout.splitlines()


def groups_by_formula() -> dict[str, int]:
    """As tools/gen-dh-groups makes them."""
    text = subprocess.run(
        [pathlib.Path(__file__).resolve().parents[2] / "tools/gen-dh-groups"],
        text=True,
        stdout=subprocess.PIPE,
        check=True,
    ).stdout
    found = {}
    for name, body in re.findall(r"uint8_t (\w+\d)\[\] = \{(.*?)\}", text, re.S):
        found[name] = int("".join(re.findall(r"0x(\w\w)", body)), 16)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    lines, rng, skipped = Lines(), random.Random(arguments.seed), 0
    named(lines, rng, groups_by_formula())
    for kernel in (KERNEL, "c_limb32", "c_limb16"):
        given(lines, rng, kernel)
    package = importlib.util.find_spec("cryptography_vectors")
    if package and package.submodule_search_locations:
        folder = pathlib.Path(package.submodule_search_locations[0]) / "asymmetric/DH"
        for name, least in (
            ("RFC5114.txt", 3),
            ("KASValidityTest_FFCStatic_NOKC_ZZOnly_resp.fax", 60),
        ):
            n = published(lines, (folder / name).read_text())
            assert n >= least, f"{name}: {n} cases"
    else:
        skipped = 1
        print("skipped: no Python package cryptography-vectors")
    answers = ask(arguments.program, lines.questions)
    wrong = [
        (q, answer, expected)
        for q, answer, expected in zip(lines.questions, answers, lines.expected, strict=True)
        if answer not in (expected, "not here")
    ]
    for question, answer, expected in wrong[:5]:
        print(
            f"FAILED: {question[:60]} ... {question[-60:]}: {answer[:60]}, not {expected[:60]}",
            file=sys.stderr,
        )
    passed, failed = secrets(arguments.program)
    failed += len(wrong)
    print(f"{passed + len(answers) - len(wrong)} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
