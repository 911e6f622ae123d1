#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""NIST's CAVP vectors of RSA, and the primes of its DSA: rsa_cavp.py RSA_ANSWERS PRIME_ANSWERS

The vectors come with the Python package cryptography-vectors; without it they are skipped.
Signatures: every one of SigVer is judged as its file says, every one of SigGen verifies, and some
by PKCS#1 v1.5 whose key is known are made anew. Keys of KeyGenRSA are set up. Primes p and q of DSA
pass, and composite ones of PQGVer do not.
"""

import importlib.util
import pathlib
import re
import subprocess
import sys
from collections.abc import Iterator

from rsa_against_python import COMPOSITE, KERNEL, NO_KEY, OK, Key, key_of
from rsa_paddings import WRONG_SIGNATURE, HashingProgram, digest, even

SALT = {"SigVerPSS_186-3": "any", "SigGenPSS_186-2": "20", "SigGenPSS_186-3": "any"}


def cases(text: str) -> Iterator[dict[str, str]]:
    """Values by name, at each name that may end a case; those of the lines before hold on."""
    values: dict[str, str] = {}
    for line in text.splitlines():
        match = re.match(r"(\w+) *= *(.*?) *$", line)
        if line.startswith("["):
            values = {"section": line}
        elif match:
            values[match[1]] = match[2]
            if match[1] in ("Result", "S", "d"):
                yield {**values, "last": match[1]}


def number(text: str) -> str:
    return even(text.lower().lstrip("0") or "0")


def signatures(program: HashingProgram, folder: pathlib.Path, name: str) -> int:
    """The signatures of a file; a case ends with Result where there is one, else with S."""
    text, set_key, n = (folder / f"{name}.rsp").read_text(), "", 0
    last = "Result" if "SigVer" in name else "S"
    for case in cases(text):
        if case["last"] != last:
            continue
        public = f"{number(case['n'])},{number(case['e'])}"
        if public != set_key:
            program.expect(f"{KERNEL} public-key {public}", OK)
            set_key = public
        hash_name = case["SHAAlg"].lower()
        how = (
            f"verify-pss {hash_name} {hash_name} {SALT[name]}"
            if "PSS" in name
            else f"verify-pkcs1 {hash_name}"
        )
        signature = case["S"].lower().zfill(len(number(case["n"])))
        expected = OK if case.get("Result", "P").startswith("P") else WRONG_SIGNATURE
        data = digest(hash_name, bytes.fromhex(case["Msg"])).hex()
        program.expect(f"{KERNEL} {how} {data} {signature}", expected)
        n += 1
    return n


def made_anew(program: HashingProgram, folder: pathlib.Path) -> int:
    """A third of the signatures of SigVer that are right, by the private key beside them."""
    n = 0
    for case in cases((folder / "SigVer15_186-3.rsp").read_text()):
        if case["last"] != "Result" or not case["Result"].startswith("P"):
            continue
        n += 1
        if n % 3:
            continue
        key = key_of(*(int(case[name], 16) for name in "pqe"))
        program.expect(f"{KERNEL} key {key.text()}", OK)
        data = digest(case["SHAAlg"].lower(), bytes.fromhex(case["Msg"])).hex()
        program.expect(
            f"{KERNEL} sign-pkcs1 {n} {case['SHAAlg'].lower()} {data}", key.hex(int(case["S"], 16))
        )
    return n // 3


def keys(program: HashingProgram, folder: pathlib.Path) -> int:
    """Keys by FIPS 186-3: set up as they are, and refused with another d."""
    n = 0
    for case in cases((folder / "KeyGenRSA.rsp").read_text()):
        if case["last"] != "d":
            continue
        p, q, e, d = (int(case[name], 16) for name in "pqed")
        key = Key(p * q, e, d, p, q, d % (p - 1), d % (q - 1), pow(q, -1, p))
        program.good(f"n of key {n}", key.n == int(case["n"], 16))
        program.expect(f"{KERNEL} key {key.text()}", OK)
        if n % 5 == 0:
            program.expect(f"{KERNEL} check {n}", OK)
        wrong = Key(key.n, e, d ^ 2, p, q, (d ^ 2) % (p - 1), (d ^ 2) % (q - 1), key.qinv)
        program.expect(f"{KERNEL} key {wrong.text()}", NO_KEY)
        n += 1
    return n


def primes_of_dsa(program: HashingProgram, answers: str, folder: pathlib.Path) -> int:
    """Numbers p and q, up to 30 of each file."""
    asked: dict[int, str] = {}
    for name in ("KeyPair", "PQGGen", "PQGVer", "SigGen", "SigVer"):
        found: list[int] = []
        for line in (folder / f"{name}.rsp").read_text().splitlines():
            match = re.match(r"([PQ]) *= *([0-9a-fA-F]+) *$", line)
            if match:
                found.append(int(match[2], 16))
        for value in found[:30]:
            # Some values of PQGVer are composite.
            is_good = name != "PQGVer" or pow(2, value - 1, value) == 1
            asked[value] = "prime" if is_good else COMPOSITE
    lines = [f"{KERNEL} public {even(f'{value:x}')}" for value in asked]
    done = subprocess.run(
        [answers],
        input="".join(f"{line}\n" for line in lines),
        text=True,
        stdout=subprocess.PIPE,
        check=True,
    )
    for value, answer in zip(asked, done.stdout.splitlines(), strict=True):
        program.judge(f"{value:x} of DSA", answer, asked[value])
    return len(asked)


def main() -> int:
    package = importlib.util.find_spec("cryptography_vectors")
    if not (package and package.submodule_search_locations):
        print("skipped: no Python package cryptography-vectors")
        print("0 passed, 0 failed, 1 skipped")
        return 0
    folder = pathlib.Path(package.submodule_search_locations[0]) / "asymmetric"
    program = HashingProgram(sys.argv[1])
    for name, least in (
        ("SigVer15_186-3", 450),
        ("SigVerPSS_186-3", 450),
        ("SigGen15_186-2", 250),
        ("SigGen15_186-3", 250),
        ("SigGenPSS_186-2", 250),
        ("SigGenPSS_186-3", 250),
    ):
        n = signatures(program, folder / "RSA/FIPS_186-2", name)
        print(f"{name}: {n} signatures")
        program.good(f"all of {name}", n >= least)
    n = made_anew(program, folder / "RSA/FIPS_186-2")
    print(f"SigVer15_186-3: {n} signatures made anew")
    program.good("signatures made anew", n >= 25)
    n = keys(program, folder / "RSA/FIPS_186-2")
    print(f"KeyGenRSA: {n} keys")
    program.good("keys of KeyGenRSA", n >= 20)
    n = primes_of_dsa(program, sys.argv[2], folder / "DSA/FIPS_186-3")
    print(f"DSA: {n} numbers")
    program.good("numbers of DSA", n >= 100)
    program.end()
    print(f"{program.passed} passed, {program.failed} failed, 0 skipped")
    return 1 if program.failed else 0


if __name__ == "__main__":
    sys.exit(main())
