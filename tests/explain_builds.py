#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Libraries built without assembly, explained unaided by `everycore profile`: explain_builds.py [--keep FOLDER]

Debian's sources of OpenSSL 3.0 are built with `no-asm`, those of nettle 3.8 with `--disable-fat`. `openssl dhparam`,
logins by TLS with an RSA key, and AES-GCM of nettle run with them. The answer must name what is computed, by which
implementation, and the cause; the same programs with the system's libraries must not be told that cause.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "systems"))

from patched_openssl import Failed, Lacking, need, run, sources

from everycore.compile import debs
from everycore.compile.debs.lock import Request
from everycore.environment.context import system_context
from everycore.environment.errors import EverycoreError

ROOT = pathlib.Path(__file__).resolve().parent.parent
HERE = ROOT / "tests/explain"
# Parts that neither program needs, and that take long to compile.
WITHOUT = ("cms", "ts", "ct", "ocsp", "cmp", "aria", "camellia", "idea", "seed", "rc2", "bf", "cast", "md4", "mdc2",
           "whirlpool", "siphash", "sm2", "sm3", "sm4", "ktls", "engine", "legacy", "srp", "gost", "tests")
LOGIN = """\
"$1" req -x509 -newkey rsa:2048 -nodes -subj /CN=x -days 2 -keyout "$2/key" -out "$2/cert" 2>/dev/null
"$1" s_server -accept "$3" -cert "$2/cert" -key "$2/key" -quiet -www >/dev/null 2>&1 & server=$!
sleep 1; "$1" s_time -connect "127.0.0.1:$3" -new -time 3 -cipher ECDHE-RSA-AES128-GCM-SHA256 -tls1_2 >/dev/null 2>&1
kill $server
"""
PORT = "34433"


def openssl(folder: pathlib.Path) -> pathlib.Path:
    """Build OpenSSL without assembly; its folder has the program and the libraries."""
    place = folder / "openssl"
    if not (place / "complete").exists():
        tree = sources("3.0")
        place.mkdir(exist_ok=True)
        run(["perl", tree / "Configure", "linux-x86_64", "no-asm", *(f"no-{one}" for one in WITHOUT)], place)
        run(["make", "build_generated"], place)
        run(["make", "-j2", "libcrypto.so", "libssl.so", "apps/openssl"], place)
        (place / "complete").touch()
    return place


def nettle(folder: pathlib.Path) -> pathlib.Path:
    """Build nettle without fat binaries, and the program of AES-GCM with it."""
    place = folder / "nettle"
    if not (place / "complete").exists():
        context = system_context()
        try:
            request = Request(("bookworm",), "source", sources=("nettle",))
            lock = debs.pinned(context, request, HERE / "nettle-bookworm.lock", update=False)
            tree = debs.unpacked_source(context, lock, "nettle")
        except EverycoreError as error:
            raise Lacking(f"no sources of nettle: {error.message}") from error
        shutil.copytree(tree, place, dirs_exist_ok=True)
        options = ["--disable-fat", "--disable-public-key", "--disable-documentation", "--disable-static"]
        run(["./configure", "-q", *options], place)
        run(["make", "-j2", "libnettle.so"], place)
        run(["cc", "-O2", HERE / "nettle.c", "-L", place, "-lnettle", "-o", place / "gcm"], place)
        shutil.copy(place / "libnettle.so", place / "libnettle.so.8")
        (place / "complete").touch()
    return place


def answer(words: list[str | pathlib.Path], library: pathlib.Path | None) -> tuple[dict[str, float], str]:
    """Profile a program: shares by name, and the answer in words."""
    environment = dict(os.environ)
    if library:
        environment["LD_LIBRARY_PATH"] = str(library)
    with tempfile.TemporaryDirectory() as scratch:
        stored = pathlib.Path(scratch) / "samples.jsonl"
        profile = [sys.executable, "-m", "everycore", "profile"]
        subprocess.run([*profile, "--hz", "1999", "--store", stored, "--", *words], check=True, env=environment,
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        text = run([*profile, "--load", stored])
        rows = json.loads(run([*profile, "--load", stored, "--json"]))["rows"]
    found: dict[str, float] = {}
    for row in rows:
        name = f"{row['computes']}: {row['implementation']}"
        found[name] = found.get(name, 0.0) + row["share"]
    return found, " ".join(text.split())


def judge(name: str, found: dict[str, float], text: str, wanted: dict[str, float], says: str, says_not: str = "") -> bool:
    """Hold an answer against what is known of the build, and print both."""
    wrong = [f"{pattern}: {share:.0f} % of at least {least:.0f} %" for pattern, least in wanted.items()
             if (share := sum(value for label, value in found.items() if re.search(pattern, label))) < least]
    wrong += [f"it does not say '{says}'"] if says not in text else []
    wrong += [f"it says '{says_not}'"] if says_not and says_not in text else []
    shown = ", ".join(f"{label} {share:.1f} %" for label, share in sorted(found.items(), key=lambda one: -one[1])[:5])
    print(f"{'FAIL' if wrong else 'ok  '} {name}: {shown}", *(f"     {line}" for line in wrong), sep="\n", flush=True)
    return not wrong


NO_ASM, NO_FAT = "built without assembly (no-asm)", "built without fat binaries"


def try_openssl(folder: pathlib.Path) -> list[bool]:
    place = openssl(folder)
    program = place / "apps/openssl"
    login: list[str | pathlib.Path] = ["sh", "-c", LOGIN, "login"]
    done = []
    generic = "big numbers.*generic C"
    found, text = answer([program, "dhparam", "-out", "/dev/null", "1024"], place)
    done.append(judge("dhparam, no-asm", found, text, {generic: 50, "word division": 0.1}, NO_ASM))
    found, text = answer([*login, program, folder, PORT], place)
    done.append(judge("RSA login, no-asm", found, text, {generic: 40}, NO_ASM))
    if system := shutil.which("openssl"):
        found, text = answer([*login, system, folder, PORT], None)
        done.append(judge("RSA login, the system's OpenSSL", found, text, {"big numbers.*(mul|IFMA)": 10}, "OpenSSL", NO_ASM))
    return done


def try_nettle(folder: pathlib.Path) -> list[bool]:
    place = nettle(folder)
    found, text = answer([place / "gcm"], place)
    done = [judge("nettle, not fat", found, text, {"AES: T-tables": 40, "GHASH: table": 15}, NO_FAT)]
    wide = {"AES: (AES-NI|VAES)": 5, "GHASH: (CLMUL|VPCLMUL)": 20}
    if " aes " in pathlib.Path("/proc/cpuinfo").read_text():
        found, text = answer([place / "gcm"], None)
        done.append(judge("nettle, the system's", found, text, wide, "nettle", NO_FAT))
    return done


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--keep", type=pathlib.Path, help="a folder for the builds, which is kept")
    given = parser.parse_args()
    done: list[bool] = []
    skipped = 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = (given.keep or pathlib.Path(scratch)).resolve()
        folder.mkdir(exist_ok=True)
        for part in (try_nettle, try_openssl):
            try:
                need("cc", "make", "perl", "m4")
                done += part(folder)
            except Lacking as lacking:
                skipped += 1
                print(f"skipped: {part.__name__[4:]}: {lacking}", flush=True)
            except Failed as failed:
                done.append(False)
                print(f"FAIL {part.__name__[4:]}: {failed}", flush=True)
    print(f"{sum(done)} passed, {len(done) - sum(done)} failed, {skipped} skipped")
    return 0 if all(done) else 1


if __name__ == "__main__":
    sys.exit(main())
