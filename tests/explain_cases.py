#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs whose cryptography is known, held against what `everycore profile` says: explain_cases.py [NAME...]

The cases are those that the rules were made with, and programs without cryptography. A case is right if each
expected primitive and implementation has its share, and if no other primitive has more than 2 % of the samples.
`--short`: a few cases that need no package but a C compiler and OpenSSL.
"""

import argparse
import dataclasses
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

from everycore.explain.explanation import shares
from everycore.explain.recognise import recognise
from everycore.explain.regions import collect
from everycore.explain.sampling import SamplingOptions, sample_command

HERE = pathlib.Path(__file__).resolve().parent / "explain"
LARGEST_FALSE = 2.0  # per cent
HZ = 1999  # a busy machine leaves few samples of the CPU clock at 499
WORK = pathlib.Path(tempfile.gettempdir())


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    command: str
    expected: dict[str, float]  # pattern of "primitive: implementation" -> smallest share in per cent
    environment: str = ""
    allowed: str = ""  # other primitives that the program also computes
    control: bool = False
    short: bool = False


SPEED = "openssl speed -seconds 1 -bytes 16384 -evp "
GCM, CBC, RSA = SPEED + "aes-256-gcm", SPEED + "aes-256-cbc", "openssl speed -seconds 1 rsa2048"
# Bits of OPENSSL_ia32cap: 57 AES-NI, 33 PCLMULQDQ, 41 SSSE3; behind the colon 5 AVX2, 8 BMI2, 19 ADX, 21 IFMA.
NO_AES, NO_CLMUL, NO_SSSE3 = (f"OPENSSL_ia32cap=~{mask:#x}" for mask in (1 << 57, 1 << 57 | 1 << 33,
                                                                        1 << 57 | 1 << 33 | 1 << 41))
CASES = (
    # From version 3.1 on, OpenSSL has vectors of 512 bits for it, where the CPU has.
    Case("openssl gcm", GCM, {"AES: (AES-NI|VAES-512)": 70, "GHASH: (CLMUL|VPCLMUL-512)": 70}, short=True),
    Case("openssl gcm without AES-NI", GCM, {"AES: bit-sliced": 70, "GHASH: CLMUL": 2}, NO_AES, short=True),
    Case("openssl gcm without CLMUL", GCM, {"AES: bit-sliced": 40, "GHASH: table": 25}, NO_CLMUL),
    Case("openssl gcm without SSSE3", GCM, {"AES: S-box": 50, "GHASH: table": 12}, NO_SSSE3),
    Case("openssl cbc without AES-NI", CBC, {"AES: vector permute": 80}, NO_AES, short=True),
    Case("openssl cbc without SSSE3", CBC, {"AES: T-tables": 80}, f"OPENSSL_ia32cap=~{1 << 57 | 1 << 41:#x}",
         short=True),
    Case("openssl rsa", RSA, {"big numbers.*IFMA": 30}),
    Case("openssl rsa without IFMA", RSA, {r"big numbers.*mulx\+adcx": 75}, f"OPENSSL_ia32cap=:~{1 << 21:#x}"),
    Case("openssl rsa without ADX", RSA, {"big numbers.*vpmuludq-256": 30},
         f"OPENSSL_ia32cap=:~{1 << 21 | 1 << 19:#x}"),
    Case("openssl rsa without BMI2", RSA, {"big numbers.*: mul of 64": 80},
         f"OPENSSL_ia32cap=:~{1 << 21 | 1 << 19 | 1 << 8 | 1 << 5:#x}"),
    Case("openssl dhparam", "openssl dhparam 1024", {r"big numbers.*mulx\+adcx": 50, "big numbers.*division": 2}),
    Case("nettle gcm", "{bin}/nettle", {"AES: AES-NI": 15, "GHASH: CLMUL": 40}),
    Case("nettle gcm without fat", "{bin}/nettle", {"AES: T-tables": 30, "GHASH: table": 20},
         "NETTLE_FAT_OVERRIDE=vendor:intel"),
    Case("libgcrypt gcm", "{bin}/gcrypt gcm", {"AES: VAES-256": 20, "GHASH: CLMUL": 40}),
    Case("libgcrypt gcm without AES-NI", "{bin}/gcrypt gcm intel-aesni", {"AES: vector permute": 80}, allowed="GHASH"),
    Case("libgcrypt gcm without CLMUL", "{bin}/gcrypt gcm intel-pclmul", {"GHASH: table": 80}, allowed="AES"),
    Case("libgcrypt rsa", "{bin}/gcrypt rsa", {"big numbers.*mul of 64": 20}),
    Case("mbed TLS gcm", "{bin}/mbed gcm", {"AES: AES-NI": 15, "GHASH: CLMUL": 30}),
    Case("mbed TLS sha256", "{bin}/mbed sha256", {"SHA-256: scalar": 90}),
    Case("wolfSSL gcm", "{bin}/wolf gcm", {"AES: T-tables": 40, "GHASH: table": 30}),
    Case("wolfSSL sha256", "{bin}/wolf sha256", {"SHA-256: scalar": 90}),
    Case("libsodium chacha20-poly1305", "{bin}/sodium", {"ChaCha20: AVX2": 40, "Poly1305: SSE|Poly1305: AVX2": 20}),
    Case("go gcm", "{bin}/gocases gcm", {"AES: AES-NI": 80, "GHASH: CLMUL": 80}),
    Case("go gcm without AES-NI", "{bin}/gocases gcm", {"AES: T-tables": 35, "GHASH: table": 20},
         "GODEBUG=cpu.aes=off"),
    Case("go sha256", "{bin}/gocases sha", {"SHA-256: SHA-NI": 90}),
    Case("go rsa", "{bin}/gocases rsa", {r"big numbers.*mulx\+adcx": 45}, allowed="SHA-256|random"),
    Case("ring gcm", "{bin}/rustcases ring-gcm", {"AES: VAES-256": 80, "GHASH: VPCLMUL-256": 80}),
    Case("ring chacha20-poly1305", "{bin}/rustcases ring-chacha", {"ChaCha20: AVX2": 80, "Poly1305: scalar": 80}),
    Case("RustCrypto gcm", "{bin}/rustcases crates-gcm", {"AES: AES-NI": 12, "GHASH: CLMUL": 50}),
    Case("RustCrypto sha256", "{bin}/rustcases crates-sha", {"SHA-256: SHA-NI": 90}),
    Case("qemu pointer authentication", "qemu-aarch64 -cpu max {bin}/pac", {"QARMA": 80}),
    Case("ssh gcm", "{bin}/ssh-bulk aes256-gcm@openssh.com", {"AES: AES-NI": 8, "GHASH: CLMUL": 8}, allowed="."),
    Case("ssh chacha20", "{bin}/ssh-bulk chacha20-poly1305@openssh.com", {"ChaCha20: AVX-512": 8, "Poly1305: scalar": 15},
         allowed="."),
    Case("ssh login", "{bin}/ssh-login", {"sntrup761": 30}, allowed="."),
    Case("python pow", "python3 -c 'for e in range(60): pow(3, (1 << 2048) - 5 - e, (1 << 2048) - 1942289)'",
         {"big numbers.*Python": 80}),
    # Debian's from version 13 on computes it by OpenSSL.
    Case("sha256sum", "sha256sum {work}/large", {"SHA-256: (scalar|SHA-NI|AVX|SSE)": 70}, short=True),
    Case("b2sum", "b2sum {work}/large", {"BLAKE2b: scalar": 50}, short=True),
    Case("gzip", "gzip -kfc {work}/small", {}, control=True),
    Case("xz", "xz -T1 -0 -kc {work}/small", {}, control=True),
    Case("zstd", "zstd -fqc {work}/large", {}, control=True),
    Case("bzip2", "bzip2 -kc {work}/small", {}, control=True, short=True),
    Case("cksum", "cksum {work}/large", {}, control=True),
    Case("python loop", "python3 -c 'x = 0\nfor i in range(6000000): x += i * i % 7'", {}, control=True, short=True),
    Case("node loop", "node -e 'let s=0;for(let i=0;i<3e8;i++)s=(s+i*i)%1000003'", {}, control=True),
    Case("gcc", "gcc -O2 -w -I{here} -c -o /dev/null {here}/nettle.c", {}, control=True),
    Case("sort", "sort -o /dev/null {work}/text", {}, control=True, short=True),
    Case("objdump", "objdump -d /usr/bin/openssl", {}, control=True),
    Case("perl", "perl -e 'my %h; $h{$_ % 9973} += $_ * 3 for 1..4000000'", {}, control=True),
    Case("awk", "awk '{n += length($0) * NR % 7} END {print n}' {work}/text", {}, control=True),
)


PROGRAMS = ("nettle", "gcrypt", "mbed", "wolf", "sodium", "pac", "gocases", "rustcases")


def compile_all(folder: pathlib.Path) -> dict[str, str]:
    """Build the programs; those that cannot be built, with the reason."""
    absent: dict[str, str] = {}
    jobs = {
        "nettle": ["cc", "-O2", HERE / "nettle.c", "-lnettle"], "gcrypt": ["cc", "-O2", HERE / "gcrypt.c", "-lgcrypt"],
        "mbed": ["cc", "-O2", HERE / "mbed.c", "-lmbedcrypto"], "wolf": ["cc", "-O2", HERE / "wolf.c", "-lwolfssl"],
        "sodium": ["cc", "-O2", "-s", HERE / "sodium.c", "-l:libsodium.a", "-lpthread"],
        "pac": ["aarch64-linux-gnu-gcc", "-O2", "-static", HERE / "pac.c"],
    }
    for name, argv in jobs.items():
        problem = attempt([*argv, "-o", folder / name])
        if problem:
            absent[name] = problem
    problem = attempt(["go", "build", "-ldflags", "-s -w", "-o", folder / "gocases", "."], HERE / "go")
    if problem:
        absent["gocases"] = problem
    tree = folder / "rust"
    shutil.copytree(HERE / "rust", tree, dirs_exist_ok=True)
    problem = attempt(["cargo", "build", "--release", "-q", "-j1"], tree)
    if problem:
        absent["rustcases"] = problem
    else:
        shutil.copy(tree / "target/release/cases", folder / "rustcases")
    return absent


def attempt(argv: list[object], folder: pathlib.Path | None = None) -> str:
    """Run a build; the first line of what went wrong."""
    try:
        done = subprocess.run([str(word) for word in argv], cwd=folder, capture_output=True, text=True)
    except OSError as error:
        return f"{argv[0]}: {error.strerror}"
    lines = done.stderr.strip().splitlines() or ["failed"]
    return "" if done.returncode == 0 else next((line for line in lines if "error" in line), lines[0])


def write_files(folder: pathlib.Path) -> None:
    """Make input: bytes that do not compress well, and lines that are not sorted."""
    (folder / "large").write_bytes(os.urandom(1 << 20) * 160)
    (folder / "small").write_bytes(os.urandom(1 << 20) * 8)
    lines = "".join(f"{number * 7919 % 1000003:07d} a line of text\n" for number in range(800000))
    (folder / "text").write_text(lines)


def ssh_bulk(folder: pathlib.Path) -> str:
    """Write a script that sends zeros through ssh to a server on loopback; the reason if there can be none."""
    server = shutil.which("sshd") or "/usr/sbin/sshd"
    if not pathlib.Path(server).exists() or not shutil.which("ssh"):
        return "apt-get install openssh-server openssh-client"
    keys = folder / "ssh"
    keys.mkdir()
    for name in ("host", "user"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", keys / name], check=True)
    (keys / "authorized").write_text((keys / "user.pub").read_text())
    (keys / "sshd_config").write_text(
        f"HostKey {keys}/host\nAuthorizedKeysFile {keys}/authorized\nStrictModes no\nUsePAM no\nPidFile none\n")
    proxy = f"{server} -i -f {keys}/sshd_config"  # the server's standard streams are the connection
    script = folder / "ssh-bulk"
    script.write_text(
        f"#!/bin/sh\nhead -c 700000000 /dev/zero | ssh -o ProxyCommand='{proxy} 2>/dev/null' -o UserKnownHostsFile=/dev/null"
        f" -o StrictHostKeyChecking=no -o LogLevel=ERROR -i {keys}/user -o Ciphers=$1 $(id -un)@loopback 'cat >/dev/null'\n")
    script.chmod(0o755)
    login = folder / "ssh-login"
    login.write_text("#!/bin/sh\nfor n in 1 2 3 4 5 6 7 8; do\n" +
                     script.read_text().partition(" | ")[2].replace("-o Ciphers=$1", "").replace("cat >/dev/null", "true")
                     + "done\n")
    login.chmod(0o755)
    pathlib.Path("/run/sshd").mkdir(exist_ok=True) if os.geteuid() == 0 else None
    return ""


def judge(case: Case, found: dict[str, float], kinds: dict[str, str]) -> list[str]:
    """Say what is wrong with an answer."""
    wrong = []
    for pattern, least in case.expected.items():
        share = sum(value for label, value in found.items() if re.search(pattern, label))
        if share < least:
            wrong.append(f"{pattern}: {share:.0f} % of at least {least:.0f} %")
    for label, share in found.items():
        primitive = label.split(":")[0]
        wanted = any(re.match(r"[\w -]+", pattern)[0].rstrip() in primitive for pattern in case.expected)
        is_allowed = case.allowed and re.search(case.allowed, label)
        if share > LARGEST_FALSE and kinds.get(primitive) not in ("checksum", "overhead") and not wanted and not is_allowed:
            wrong.append(f"{label}: {share:.0f} % is false")
    return wrong


def run(case: Case, places: dict[str, object]) -> tuple[list[str], str]:
    argv = shlex.split(case.command)
    for name, value in places.items():
        argv = [word.replace("{" + name + "}", str(value)) for word in argv]
    environment = dict(os.environ)
    if case.environment:
        name, _, value = case.environment.partition("=")
        environment[name] = value
    silent = os.open(os.devnull, os.O_WRONLY)
    try:
        sampled = sample_command(argv, SamplingOptions(HZ), environment, silent)
    finally:
        os.close(silent)
    named = recognise(collect(sampled, argv))
    found = shares(named)
    kinds = {one.primitive: one.kind for region in named for one in region.found}
    shown = ", ".join(f"{label} {share:.0f} %" for label, share in sorted(found.items(), key=lambda x: -x[1])[:5])
    return judge(case, found, kinds), f"{len(sampled.samples)} samples: {shown}"


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--keep", type=pathlib.Path, help="a folder for the programs, which is kept")
    parser.add_argument("names", nargs="*")
    given = parser.parse_args()
    cases = [one for one in CASES if not given.names or any(name in one.name for name in given.names)]
    cases = [one for one in cases if one.short or not given.short]
    passed = failed = skipped = 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = given.keep or pathlib.Path(scratch)
        folder.mkdir(exist_ok=True)
        if not (folder / "text").exists():
            write_files(folder)
        absent: dict[str, str] = {}
        if not given.short and not all((folder / name).exists() for name in PROGRAMS):
            absent = compile_all(folder)
        if any("ssh-" in one.command for one in cases) and not (folder / "ssh-bulk").exists():
            if problem := ssh_bulk(folder):
                absent |= {"ssh-bulk": problem, "ssh-login": problem}
        places = {"bin": folder, "work": folder, "here": HERE}
        for case in cases:
            program = case.command.split()[0].replace("{bin}/", "")
            reason = absent.get(program) or ("" if shutil.which(program) or "{" in case.command.split()[0] else "not installed")
            if "{bin}/pac" in case.command:
                reason = reason or absent.get("pac", "")
            if reason:
                skipped += 1
                print(f"skipped: {case.name}: {program}: {reason}", flush=True)
                continue
            wrong, told = run(case, places)
            passed, failed = passed + (not wrong), failed + bool(wrong)
            print(f"{'FAIL' if wrong else 'ok  '} {case.name}: {told}", *(f"     {line}" for line in wrong), sep="\n",
                  flush=True)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
