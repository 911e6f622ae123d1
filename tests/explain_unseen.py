#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A second list of programs for `everycore profile`: explain_unseen.py [--table FILE] [NAME...]

The expected answers were written down from the libraries' documentation and source, for a CPU with the instructions of
AMD Zen 4 (AES-NI, VAES, SHA-NI, AVX-512), before any of the programs was profiled, and are not changed. The rules were
improved with the answers since then, so that the list is a seen one now (docs/PROFILE.md). The share of right answers
is reported, and no reason to fail. Failures are: a profile that crashes, a control with more than 2 % of false
cryptography, and a program that was harmed (another output or exit code than without a profile).
"""

import argparse
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import explain_cases as base
from explain_cases import Case

from everycore.explain.recognise import recognise
from everycore.explain.regions import collect
from everycore.explain.sampling import Asked, sample_command

HERE = pathlib.Path(__file__).resolve().parent / "unseen"
PACKAGES = ("pycryptodome", "pynacl", "blake3", "ecdsa", "pyaes")
RUST, GO, PYTHON = "{bin}/rustunseen ", "{bin}/gounseen ", "{bin}/venv/bin/python {here}/unseen.py "
JAVA = "java -XX:+UseSerialGC -cp {bin} Unseen "
KEY, IV = "01" * 32, "02" * 16
LARGE = " {work}/large"
SIGN = "k=c.createPrivateKey({key:Buffer.concat([Buffer.from('302e020100300506032b657004220420','hex')," \
       "Buffer.alloc(32,7)]),format:'der',type:'pkcs8'})"


def enc(cipher: str, times: int, key: str = KEY, iv: str = IV) -> str:
    return (f"sh -c 'for n in $(seq {times}); do openssl enc -{cipher} -K {key} -iv {iv} -in {{work}}/large"
            f" | tail -c 64 | od -An -tx1; done'")


def node(operation: str) -> str:
    return (f'node -e "const c=require(\'crypto\');let t=Buffer.alloc(16384);{operation};'
            'console.log(t.toString(\'hex\'))"')


CASES = (
    # Python packages with code in C and Rust
    Case("pycryptodome AES-GCM", PYTHON + "pycryptodome-gcm 5600", {"AES: AES-NI": 15, "GHASH: CLMUL": 20}),
    Case("pycryptodome ChaCha20", PYTHON + "pycryptodome-chacha20 4800", {"ChaCha20: scalar": 60}),
    Case("pycryptodome SHA3-256", PYTHON + "pycryptodome-sha3 2000", {"SHA-3: scalar|Keccak.*: scalar": 70},
         allowed="Keccak"),
    Case("PyNaCl secretbox", PYTHON + "pynacl 16000", {"Salsa20: AVX2": 40, "Poly1305: SSE": 20}),
    Case("blake3 for Python", PYTHON + "blake3 48000", {"BLAKE3: AVX-512": 60}),
    Case("hashlib scrypt", PYTHON + "hashlib-scrypt 16", {"Salsa20: scalar|scrypt: scalar": 60},
         allowed="scrypt|PBKDF2|SHA-256"),
    Case("hashlib BLAKE2s", PYTHON + "hashlib-blake2s 4800", {"BLAKE2s: (scalar|SSE)": 70}),
    # Rust crates
    Case("RustCrypto aes", RUST + "aes 280000", {"AES: AES-NI": 80}),
    Case("aes-soft", RUST + "aes-soft 880000", {"AES: (bit-?sliced|fix-?sliced)": 70}),
    Case("RustCrypto chacha20poly1305", RUST + "chacha20poly1305 64000", {"ChaCha20: AVX2": 30, "Poly1305: AVX2": 20}),
    Case("curve25519-dalek X25519", RUST + "x25519 14000", {"25519.*: .*(scalar|mul of 64|mulx)": 60},
         allowed="big numbers"),
    Case("curve25519-dalek Ed25519", RUST + "ed25519 26000", {"25519.*: .*(AVX2|vpmuludq)": 60}, allowed="big numbers"),
    Case("p256 ECDSA", RUST + "p256 4800", {"P-256.*: .*(scalar|mul of 64|mulx)": 50}, allowed="big numbers|SHA-256"),
    Case("RustCrypto sha3", RUST + "sha3 17000", {"SHA-3: scalar|Keccak.*: scalar": 80}, allowed="Keccak"),
    # Go modules
    Case("x/crypto chacha20poly1305", GO + "chacha20poly1305 140000",
         {"ChaCha20: AVX2": 30, "Poly1305: .*(scalar|mulx)": 10}),
    Case("x/crypto blake2b", GO + "blake2b 48000", {"BLAKE2b: AVX2": 80}),
    Case("go SHA-512", GO + "sha512 36000", {"SHA-512: AVX2": 80}),
    Case("go Ed25519", GO + "ed25519 30000", {"25519.*: .*(scalar|mul of 64|mulx)": 50}, allowed="big numbers|SHA-512"),
    Case("circl X25519", GO + "x25519 24000", {"25519.*: .*(mulx|adcx)": 60}, allowed="big numbers"),
    Case("circl ML-KEM-768", GO + "mlkem 36000",
         {"ML-KEM.*: .*AVX2|Kyber.*: .*AVX2": 15}, allowed="SHA-?3|Keccak|Kyber"),
    # OpenSSL's primitives beside AES and RSA
    Case("openssl camellia", enc("camellia-256-ctr", 1), {"Camellia: .*(table|S-box)": 60}),
    Case("openssl aria", enc("aria-256-ctr", 1), {"ARIA: .*(table|S-box)": 60}),
    Case("openssl sm4", enc("sm4-ctr", 1, KEY[:32]), {"SM4: .*(table|S-box)": 60}),
    Case("openssl chacha20", enc("chacha20", 14), {"ChaCha20: AVX-512": 20}),
    Case("openssl blowfish", enc("bf-cbc -provider legacy -provider default", 1, IV, IV[:16]),
         {"Blowfish: .*(table|S-box)": 60}),
    Case("openssl 3des", enc("des-ede3-cbc", 1, KEY[:48], IV[:16]), {"DES: .*(table|S-box)": 60}),
    Case("openssl sha512", "openssl dgst -sha512" + LARGE * 4, {"SHA-512: AVX2": 70}),
    Case("openssl sha3", "openssl dgst -sha3-256" + LARGE * 2,
         {"SHA-3: scalar|Keccak.*: scalar": 70}, allowed="Keccak"),
    Case("openssl md5", "openssl dgst -md5" + LARGE * 4, {"MD5: scalar": 70}),
    Case("openssl sm3", "openssl dgst -sm3" + LARGE * 2, {"SM3: scalar": 70}),
    # C and C++ libraries
    Case("Crypto++ AES", "{bin}/cryptopp aes 320000", {"AES: AES-NI": 50}),
    Case("Crypto++ Serpent", "{bin}/cryptopp serpent 6000", {"Serpent: (scalar|bit-?sliced)": 60}),
    Case("Crypto++ ChaCha20", "{bin}/cryptopp chacha20 120000", {"ChaCha20: AVX2": 60}),
    Case("Crypto++ SHA-256", "{bin}/cryptopp sha256 100000", {"SHA-256: SHA-NI": 80}),
    Case("libtomcrypt AES-GCM", "{bin}/tomcrypt gcm 5600", {"AES: T-tables": 25, "GHASH: table": 20}),
    Case("libtomcrypt Twofish", "{bin}/tomcrypt twofish 9200", {"Twofish: .*(table|S-box)": 60}),
    Case("libtomcrypt SHA-1", "{bin}/tomcrypt sha1 28000", {"SHA-1: scalar": 80}),
    Case("libsodium Argon2id", "{bin}/sodium argon2id 12", {"Argon2.*: AVX-512": 50}, allowed="BLAKE2b"),
    Case("libsodium X25519", "{bin}/sodium x25519 24000", {"25519.*: .*(AVX|vpmuludq)": 60}, allowed="big numbers"),
    Case("libsodium BLAKE2b", "{bin}/sodium blake2b 52000", {"BLAKE2b: AVX2": 80}),
    # Programs
    Case("rhash whirlpool", "rhash --whirlpool" + LARGE, {"Whirlpool: .*(table|S-box)": 70}),
    Case("rhash streebog", "rhash --gost12-256" + LARGE, {"Streebog: .*(table|S-box)": 70}),
    Case("b3sum", "b3sum --num-threads 1" + LARGE * 15, {"BLAKE3: AVX-512": 50}),
    Case("sha1sum", "sha1sum" + LARGE * 4, {"SHA-1: scalar": 70}),
    Case("sha512sum", "sha512sum" + LARGE * 3, {"SHA-512: scalar": 70}),
    Case("git hash-object", "git hash-object" + LARGE * 2, {"SHA-1: scalar": 60}),
    Case("gpg print-md", "gpg --homedir {bin}/gpg --print-md SHA512" + LARGE * 4, {"SHA-512: AVX2": 70}),
    Case("perl crypt with SHA-512", "perl -e 'print crypt(q(word), q($6$rounds=4000000$salt))'",
         {"SHA-512: scalar": 80}),
    Case("perl crypt with bcrypt", "perl -e 'print crypt(q(word), q($2b$14$abcdefghijklmnopqrstuu))'",
         {"Blowfish: .*(scalar|table|S-box)": 80}),
    Case("perl crypt with yescrypt", "perl -e 'print crypt(q(word), q($y$jDT$abcdefgh)) for 1..4'",
         {"yescrypt: SSE|yescrypt: AVX": 60}, allowed="SHA-256|PBKDF2|Salsa20|scrypt"),
    Case("argon2", "sh -c 'echo word | argon2 saltsalt -t 10 -m 16 -r'",
         {"Argon2.*: (scalar|SSE)": 70}, allowed="BLAKE2b"),
    # Code that is generated, and OpenSSL inside of Node
    Case("java AES-GCM", JAVA + "gcm 60000", {"AES: VAES-512": 8, "GHASH: CLMUL": 20}),
    Case("java SHA-256", JAVA + "SHA-256 64000", {"SHA-256: SHA-NI": 70}),
    Case("java SHA3-256", JAVA + "SHA3-256 8800", {"SHA-3: .*|Keccak.*": 60}, allowed="Keccak"),
    Case("node AES-GCM", node("for(let n=0;n<50000;n++){const g=c.createCipheriv('aes-256-gcm',Buffer.alloc(32),"
                              "Buffer.alloc(12,n));t=g.update(t);g.final()};t=t.subarray(0,64)"),
         {"AES: AES-NI": 30, "GHASH: CLMUL": 30}),
    Case("node Ed25519", node(SIGN + ";for(let n=0;n<18000;n++)t=c.sign(null,t,k)"), {"25519": 50},
         allowed="big numbers|SHA-512"),
    # Programs without cryptography of their own, and such whose cryptography is none in machine code
    Case("python ecdsa", PYTHON + "ecdsa 1200", {}, allowed="big numbers.*Python", control=True),
    Case("pyaes", PYTHON + "pyaes 80", {}, control=True),
    Case("python factorial", "python3 -c 'import math; print(math.factorial(250000) % 1000003)'", {}, control=True),
    Case("xoshiro and murmur", "{bin}/control random 240000", {}, control=True),
    Case("codes of Reed and Solomon", "{bin}/control codes 1600000", {}, control=True),
    Case("quotes by CLMUL", "{bin}/control quotes 140000", {}, control=True),
    Case("tables of words", "{bin}/control table 20000", {}, control=True),
    Case("lz4", "sh -c 'for n in 1 2; do lz4 -9 -c {work}/text; done | cksum'", {}, control=True),
    Case("sqlite3", "sqlite3 :memory: 'with recursive n(x) as (select 1 union all select x+1 from n where x<4000000)"
                    " select sum(x*7919%1000003) from n'", {}, control=True),
    Case("bc", "sh -c 'echo \"scale=1500; 4*a(1)\" | bc -l'", {}, control=True),
    Case("java loop", JAVA + "loop 400", {}, control=True),
    Case("rustc", "rustc --edition 2021 -O --crate-type lib --emit=obj -o {bin}/control.o {here}/control.rs", {},
         control=True),
    Case("tclsh", "tclsh {here}/control.tcl", {}, control=True),
)


def compile_all(folder: pathlib.Path) -> dict[str, str]:
    """Build the programs; those that cannot be built, with the reason."""
    jobs: dict[str, tuple[list[object], pathlib.Path | None]] = {
        "cryptopp": (["c++", "-O2", "-s", HERE / "cryptopp.cpp", "-lcryptopp"], None),
        "tomcrypt": (["cc", "-O2", "-w", "-s", HERE / "tomcrypt.c", "-ltomcrypt"], None),
        "sodium": (["cc", "-O2", "-s", HERE / "sodium.c", "-lsodium"], None),
        "control": (["cc", "-O2", "-s", HERE / "control.c"], None),
        "gounseen": (["go", "build", "-mod=mod", "-ldflags", "-s -w"], folder / "go"),
    }
    for name in ("go", "rust"):
        shutil.copytree(HERE / name, folder / name, dirs_exist_ok=True)
    absent = {}
    for name, (argv, place) in jobs.items():
        if problem := base.attempt([*argv, "-o", folder / name, *(["."] if place else [])], place):
            absent[name] = problem
    if problem := base.attempt(["cargo", "build", "--release", "-q", "-j1"], folder / "rust"):
        absent["rustunseen"] = problem
    else:
        shutil.copy(folder / "rust/target/release/unseen", folder / "rustunseen")
    if problem := base.attempt(["javac", "-d", folder, HERE / "Unseen.java"]):
        absent["java"] = problem
    problem = base.attempt([sys.executable, "-m", "venv", folder / "venv"])
    if problem := problem or base.attempt([folder / "venv/bin/pip", "install", "-q", *PACKAGES]):
        absent["venv/bin/python"] = problem
    (folder / "gpg").mkdir(mode=0o700, exist_ok=True)  # where the first run would tell of the files that it makes
    base.attempt(["gpg", "--homedir", folder / "gpg", "--list-keys"])
    return absent


def lacking(case: Case, absent: dict[str, str]) -> str:
    """Say why a case cannot run here."""
    for word in case.command.replace("'", " ").split():
        name = word.replace("{bin}/", "")
        if name in absent:
            return f"{name}: {absent[name]}"
    words = ["openssl", "argon2", "lz4", "bc"] if case.command.startswith("sh ") else [case.command.split()[0]]
    wanted = [name for name in words if re.search(rf"\b{name}\b", case.command) and "{" not in name]
    missing = [name for name in wanted if not shutil.which(name)]
    return f"no {', '.join(missing)}" if missing else ""


def ask(argv: list[str]) -> tuple[dict[str, float], dict[str, str], int, str]:
    """Profile a command: shares, kinds of primitives, the number of samples, and what harm was done."""
    plain = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    with tempfile.TemporaryFile() as printed:
        sampled = sample_command(argv, Asked(base.HZ), dict(os.environ), printed.fileno())
        printed.seek(0)
        text = printed.read()
    harm = f"exit code {sampled.code} in place of {plain.returncode}" if sampled.code != plain.returncode else ""
    if text != plain.stdout:
        harm = harm or f"printed {text[-200:]!r} in place of {plain.stdout[-200:]!r}"
    if plain.returncode:
        raise RuntimeError(f"does not run: {plain.stdout[-300:]!r}")
    named = recognise(collect(sampled, argv))
    kinds = {one.primitive: one.kind for region in named for one in region.found}
    return base.shares(named), kinds, len(sampled.samples), harm


def grade(case: Case, found: dict[str, float], kinds: dict[str, str]) -> tuple[str, list[str]]:
    """Say whether an answer is right: "yes", "primitive" if only the implementation is wrong, or "no"."""
    wrong = base.judge(case, found, kinds)
    if not wrong:
        return "yes", []
    loose = {"|".join(part.split(":")[0] for part in pattern.split("|")) if "(" not in pattern
             else pattern.split(":")[0]: least for pattern, least in case.expected.items()}
    other = Case(case.name, case.command, loose, allowed=case.allowed, control=case.control)
    return ("no" if base.judge(other, found, kinds) else "primitive"), wrong


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--keep", type=pathlib.Path, help="a folder for the programs, which is kept")
    parser.add_argument("--table", type=pathlib.Path, help="a file for the answers as a table in Markdown")
    parser.add_argument("names", nargs="*")
    given = parser.parse_args()
    cases = [one for one in CASES if not given.names or any(name in one.name for name in given.names)]
    rows = ["| program | expected | answered | right |", "| --- | --- | --- | --- |"]
    grades: dict[bool, list[str]] = {False: [], True: []}
    failed = skipped = 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = (given.keep or pathlib.Path(scratch)).resolve()
        folder.mkdir(exist_ok=True)
        if not (folder / "text").exists():
            base.write_files(folder)
        absent = compile_all(folder)
        for case in cases:
            if reason := lacking(case, absent):
                skipped += 1
                print(f"skipped: {case.name}: {reason}", flush=True)
                continue
            argv = shlex.split(case.command)
            for name, value in {"bin": folder, "work": folder, "here": HERE}.items():
                argv = [word.replace("{" + name + "}", str(value)) for word in argv]
            try:
                found, kinds, samples, harm = ask(argv)
            except Exception:
                failed += 1
                grades[case.control].append("crash")
                rows.append(f"| {case.name} | {told(case)} | crash | no |")
                print(f"FAIL {case.name}: the profile crashed\n{traceback.format_exc()}", flush=True)
                continue
            right, wrong = grade(case, found, kinds)
            grades[case.control].append(right)
            bad = ([f"harmed: {harm}"] if harm else []) + (wrong if case.control else [])
            failed += bool(bad)
            answered = ", ".join(f"{label} {share:.0f} %" for label, share in
                                 sorted(found.items(), key=lambda x: -x[1])[:4] if share >= 1)
            rows.append(f"| {case.name} | {told(case)} | {answered or 'nothing'} | {right} |")
            print(f"{'FAIL' if bad else 'ok  '} {case.name}: right: {right}; {samples} samples: {answered}",
                  *(f"     {line}" for line in wrong + bad), sep="\n", flush=True)
    if given.table:
        given.table.write_text("\n".join(rows) + "\n")
    for is_control, many in grades.items():
        print(f"{'controls' if is_control else 'programs with cryptography'}: {many.count('yes')} of {len(many)} right,"
              f" {many.count('primitive')} with the primitive alone")
    every = grades[False] + grades[True]
    print(f"share: {100 * every.count('yes') / max(1, len(every)):.0f} %")
    print(f"{len(every) - failed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


def told(case: Case) -> str:
    """Write what is expected without the pattern's signs."""
    if not case.expected:
        return "none" if not case.allowed else f"none but {case.allowed.replace('.*', ' ')}"
    return ", ".join(re.sub(r"[()]", "", re.sub(r"\.\*|\?", "", one)).replace("|", " or ") for one in case.expected)


if __name__ == "__main__":
    sys.exit(main())
