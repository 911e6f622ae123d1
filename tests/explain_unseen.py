#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Lists of programs for `everycore profile`: explain_unseen.py [--list NAME] [--json FILE] [NAME...]

A list is data: `list.toml` in a folder of tests/, with the sources of its programs. The expected answers were written
down before any of the programs was profiled, and are not changed. All but `eighth` are seen lists since the rules
were improved with their answers; docs/evidence/profile.md has the first share of each. The share of right answers is reported,
and no reason to fail.
Failures are: a profile that crashes, a control with more than 2 % of false cryptography, and a program that was harmed
(another output or exit code than without a profile). `--plain` builds and runs the programs without a profile.
"""

import argparse
import dataclasses
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
import traceback
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import explain_cases as base
from explain_cases import Case

from everycore.explain.recognise import recognise
from everycore.explain.regions import collect
from everycore.explain.sampling import SamplingOptions, sample_command

TESTS = pathlib.Path(__file__).resolve().parent
LISTS = ("unseen", "fresh", "fourth", "fifth", "sixth", "seventh", "eighth")  # folders of tests/


@dataclasses.dataclass(frozen=True)
class Listed:
    """One list: its cases, and what has to be fetched and built for them."""

    here: pathlib.Path
    cases: tuple[Case, ...]
    builds: tuple[dict[str, Any], ...]
    debian: tuple[str, ...]
    environment: dict[str, str]


def read_list(name: str) -> Listed:
    here = TESTS / name
    table = tomllib.loads((here / "list.toml").read_text())
    fields = ("name", "command", "expected", "allowed", "control")
    cases = tuple(Case(**{"expected": {}} | {key: one[key] for key in fields if key in one}) for one in table["case"])
    return Listed(here, cases, tuple(table["build"]), tuple(table.get("debian", ())), table.get("environment", {}))


def fill(text: str, folder: pathlib.Path, here: pathlib.Path) -> str:
    """Put folders in place of {bin}, {work}, {here}, {root}, {lib} and {python}."""
    root = folder / "root"
    words = {"bin": folder, "work": folder, "here": here, "root": root, "lib": root / "usr/lib/x86_64-linux-gnu",
             "python": sys.executable}
    for name, value in words.items():
        text = text.replace("{" + name + "}", str(value))
    return text


def fetch(packages: tuple[str, ...], folder: pathlib.Path) -> str:
    """Unpack Debian packages into a folder; return why not."""
    if not packages or (folder / "root").exists():
        return ""
    if not shutil.which("apt-get") or not shutil.which("dpkg"):
        return "no apt-get and dpkg"
    debs = folder / "debs"
    debs.mkdir(exist_ok=True)
    if problem := base.attempt(["apt-get", "download", "-q", *packages], debs):
        return f"packages of Debian cannot be fetched: {problem}"
    for one in sorted(debs.iterdir()):
        if problem := base.attempt(["dpkg", "-x", one, folder / "root.part"]):
            return problem
    (folder / "root.part").rename(folder / "root")
    return ""


def compile_all(wanted: Listed, folder: pathlib.Path) -> dict[str, str]:
    """Fetch and build the programs; those that cannot be had, with the reason."""
    absent = {}
    if problem := fetch(wanted.debian, folder):
        absent["root"] = problem
    for build in wanted.builds:
        if (folder / build["makes"]).exists():  # in a folder that was kept
            continue
        place = None
        if name := build.get("folder"):
            place = folder / name
            shutil.copytree(wanted.here / name, place, dirs_exist_ok=True)
        for line in build["run"]:
            if "root" in absent and ("{root}" in line or "{lib}" in line):
                absent[build["makes"]] = absent["root"]
                break
            if problem := base.attempt(shlex.split(fill(line, folder, wanted.here)), place):
                absent[build["makes"]] = problem
                break
    return absent


def lacking(case: Case, absent: dict[str, str]) -> str:
    """Say why a case cannot run here."""
    if "{root}" in case.command and "root" in absent:
        return absent["root"]
    for word in re.findall(r"\{bin\}/([^\s':]+)", case.command):
        for name in (word, word.split("/")[0]):
            if name in absent:
                return f"{name}: {absent[name]}"
    first = case.command.split()[0]
    if first == "java" and "java" in absent:
        return f"java: {absent['java']}"
    words = ["openssl", "argon2", "lz4", "bc"] if first == "sh" else [first]
    needed = [name for name in words if re.search(rf"(?<![/\w]){name}\b", case.command) and "{" not in name]
    missing = [name for name in needed if not shutil.which(name)]
    return f"no {', '.join(missing)}" if missing else ""


def ask(argv: list[str], environment: dict[str, str]) -> tuple[dict[str, float], dict[str, str], int, str]:
    """Profile a command: shares, kinds of primitives, the number of samples, and what harm was done."""
    plain = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                           env=environment)
    with tempfile.TemporaryFile() as printed:
        sampled = sample_command(argv, SamplingOptions(base.HZ), environment, printed.fileno())
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


def run_plainly(case: Case, argv: list[str], environment: dict[str, str]) -> bool:
    """Run a program without a profile, tell how long it took, and say whether it ended well."""
    before, start = os.times(), time.monotonic()
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env=environment)
    after, seconds = os.times(), time.monotonic() - start
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    print(f"{'FAIL' if done.returncode else 'ok  '} {case.name}: {seconds:.1f} s, {cpu:.2f} s of CPU time:"
          f" {done.stdout[-60:]!r}", flush=True)
    return done.returncode == 0


def judged(case: Case, argv: list[str], environment: dict[str, str]) -> tuple[dict[str, Any], list[str]]:
    """Profile one program: its answer and grade, and what makes the test fail."""
    row: dict[str, Any] = {"program": case.name, "expected": case.expected, "control": case.control}
    try:
        found, kinds, samples, harm = ask(argv, environment)
    except Exception:
        print(f"FAIL {case.name}: the profile crashed\n{traceback.format_exc()}", flush=True)
        return row | {"right": "crash", "answered": {}}, ["crash"]
    right, wrong = grade(case, found, kinds)
    bad = ([f"harmed: {harm}"] if harm else []) + (wrong if case.control else [])
    answered = {label: round(share, 1) for label, share in sorted(found.items(), key=lambda one: -one[1])}
    row |= {"right": right, "samples": samples, "answered": answered, "wrong": wrong}
    print(f"{'FAIL' if bad else 'ok  '} {case.name}: right: {right}; {samples} samples: {in_words(answered)}",
          *(f"     {line}" for line in wrong + bad), sep="\n", flush=True)
    return row, bad


def in_words(answered: dict[str, float]) -> str:
    shown = [f"{label} {share:.0f} %" for label, share in answered.items() if share >= 1]
    return ", ".join(shown[:4]) or "nothing"


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--list", choices=LISTS, default=LISTS[0])
    parser.add_argument("--keep", type=pathlib.Path, help="a folder for the programs, which is kept")
    parser.add_argument("--table", type=pathlib.Path, help="a file for the answers as a table in Markdown")
    parser.add_argument("--json", type=pathlib.Path, help="a file for the answers as JSON, a line each")
    parser.add_argument("--plain", action="store_true", help="run the programs without a profile")
    parser.add_argument("names", nargs="*")
    given = parser.parse_args()
    wanted = read_list(given.list)
    cases = [one for one in wanted.cases if not given.names or any(name in one.name for name in given.names)]
    rows: list[dict[str, Any]] = []
    table = ["| program | expected | answered | right |", "| --- | --- | --- | --- |"]
    failed = skipped = 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = (given.keep or pathlib.Path(scratch)).resolve()
        folder.mkdir(exist_ok=True)
        if not (folder / "text").exists():
            base.write_files(folder)
        absent = compile_all(wanted, folder)
        environment = dict(os.environ) | {name: fill(value, folder, wanted.here)
                                          for name, value in wanted.environment.items()}
        for case in cases:
            if reason := lacking(case, absent):
                skipped += 1
                print(f"skipped: {case.name}: {reason}", flush=True)
                continue
            argv = [fill(word, folder, wanted.here) for word in shlex.split(case.command)]
            if given.plain:
                failed += not run_plainly(case, argv, environment)
                rows.append({"control": case.control, "right": ""})
                continue
            row, bad = judged(case, argv, environment)
            failed += bool(bad)
            rows.append(row)
            table.append(f"| {case.name} | {told(case)} | {in_words(row['answered'])} | {row['right']} |")
    if given.table:
        given.table.write_text("\n".join(table) + "\n")
    if given.json:
        given.json.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    for is_control, title in ((False, "programs with cryptography"), (True, "controls")):
        grades = [row["right"] for row in rows if row["control"] == is_control]
        print(f"{title}: {grades.count('yes')} of {len(grades)} right,"
              f" {grades.count('primitive')} with the primitive alone")
    right = sum(row["right"] == "yes" for row in rows)
    print(f"share: {100 * right / max(1, len(rows)):.0f} %")
    print(f"{len(rows) - failed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


def told(case: Case) -> str:
    """Write what is expected without the pattern's signs."""
    if not case.expected:
        return "none" if not case.allowed else f"none but {case.allowed.replace('.*', ' ')}"
    return ", ".join(re.sub(r"[()]", "", re.sub(r"\.\*|\?", "", one)).replace("|", " or ") for one in case.expected)


if __name__ == "__main__":
    sys.exit(main())
