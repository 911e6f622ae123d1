# SPDX-License-Identifier: MIT
"""The test that decides whether a smaller source still shows an anomaly. cvise runs it as a script.

    python interesting.py PLAN.json            exit code 0: the source in this folder shows it
    python interesting.py PLAN.json made       the same; both programs are in this folder already
    python interesting.py PLAN.json measure    exit code 0, and what was seen as JSON

It needs the standard library alone, for it runs thousands of times. All that it starts stays in its
process group, which ends with cvise.
"""

import hashlib
import json
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

SOURCE = "case.c"
COMPILES_AND_RUNS = "compiles and runs"  # beside the reason why a source is not interesting
ROUNDS = 9  # of a slow program and its repaired one, in turns; the fastest of each counts
GOOD, BAD = "quick-good", "quick-bad"  # programs that a script has made; GOOD.txt: the warnings
# A pair of objects that is known has a file with one of these endings, by its digest. Most
# attempts change the source alone, and not what is made of it.
NOT_INTERESTING, SHOWN = "not_interesting", "shown"
CLEARLY = 0.85  # the share of the least ratio below which a first round is enough
# Warnings of -Wall and -Wextra about code that has no meaning, or whose meaning nobody intended.
_SERIOUS = """
    aggressive-loop-optimizations array-bounds array-parameter bounds-attribute-redirection
    builtin-declaration-mismatch conditional-uninitialized dangling-pointer
    deprecated-non-prototype div-by-zero format format-extra-args format-insufficient-args
    free-nonheap-object implicit-function-declaration implicit-int incompatible-pointer-types
    infinite-recursion int-conversion int-to-pointer-cast maybe-uninitialized nonnull overflow
    overread return-local-addr return-mismatch return-type return-stack-address
    sequence-point shift-count-negative shift-count-overflow shift-negative-value
    sometimes-uninitialized stringop-overflow stringop-overread uninitialized
    uninitialized-const-pointer uninitialized-const-reference unsequenced zero-length-bounds
    """
SERIOUS = frozenset(_SERIOUS.split())
WARNINGS = ("-Wall", "-Wextra")

Plan = Mapping[str, Any]


class DullError(Exception):
    """The source does not show the anomaly, or may have undefined behaviour."""


class EqualError(DullError):
    """Both programs run, and do not differ enough."""


def run(argv: Sequence[str], seconds: float) -> tuple[str, str, float]:
    """Standard output, standard error and CPU seconds of a program that has to end with 0."""
    before = _cpu_seconds()
    try:
        done = subprocess.run(
            argv, capture_output=True, text=True, errors="replace", timeout=seconds, check=False
        )
    except (subprocess.TimeoutExpired, OSError) as error:
        late = isinstance(error, subprocess.TimeoutExpired)
        why = f"was not done after {seconds:.0f} s" if late else f"cannot run: {error}"
        raise DullError(f"{Path(argv[0]).name} {why}") from None
    if done.returncode:
        output = next((line for line in done.stderr.splitlines() if "error" in line), "")
        raise DullError(f"{Path(argv[0]).name} ended with {done.returncode}: {output}"[:300])
    return done.stdout, done.stderr, _cpu_seconds() - before


def _cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def build(plan: Plan, compile_words: Sequence[str], name: str, folder: Path) -> tuple[str, str]:
    """A program, and what the compiler said about the source."""
    made, program = str(folder / f"{name}.o"), str(folder / name)
    seconds = plan["compile_seconds"]
    _, output, _ = run([*compile_words, "-c", SOURCE, "-o", made], seconds)
    run([*plan["link"], made, "-o", program], seconds)
    return program, output


def warnings(output: str) -> set[str]:
    """The names of the serious warnings in what a compiler said."""
    names = re.findall(r"\[-W(?:error=)?([a-z0-9-]+)", output)
    return set(names) & SERIOUS


def programs(plan: Plan, folder: Path) -> tuple[str, str, str]:
    """The good and the bad program, and what the good compiler said about the source."""
    good, output = build(plan, [*plan["good"], *WARNINGS], "good", folder)
    bad, _ = build(plan, plan["bad"], "bad", folder)
    return good, bad, output


def shown(plan: Plan, folder: Path, made: bool = False) -> dict[str, Any]:
    """Return the answers of both programs; DullError: the anomaly is not there any more.

    `made`: programs of which it is known that they differ are not timed again.
    """
    known = _known_pair(plan) if made else None
    if made:
        text = Path(f"{GOOD}.txt").read_text(encoding="utf-8", errors="replace")
        good, bad, output = f"./{GOOD}", f"./{BAD}", text
    else:
        good, bad, output = programs(plan, folder)
    if new := warnings(output) - set(plan["allowed_warnings"]):
        raise DullError(f"a warning that the whole source has not: {', '.join(sorted(new))}")
    seconds = plan["run_seconds"]
    right, _, _ = run([good], seconds)
    answer, _, _ = run([bad], seconds)
    if not right:
        raise DullError("it prints nothing")
    if (answer == right) == (plan["kind"] == "wrong"):
        raise EqualError(f"with the bad flags it prints {answer!r}, with the good ones {right!r}")
    found: dict[str, Any] = {"bad": answer, "good": right}
    if plan["kind"] == "slow" and not (known and known.with_suffix(f".{SHOWN}").exists()):
        try:
            found |= times(plan, bad, good)
        except EqualError:
            if known:
                known.with_suffix(f".{NOT_INTERESTING}").touch()
            raise
        if known:
            known.with_suffix(f".{SHOWN}").touch()
    for check in plan["checks"]:  # without optimisation, with sanitizers
        program, _ = build({**plan, **check}, check["compile"], "check", folder)
        same, complaint, _ = run([program], plan["check_seconds"])
        if same != right or "runtime error" in complaint:
            output = next(iter(complaint.splitlines()), f"it prints {same!r}, not {right!r}")
            raise DullError(f"{check['name']}: {output}"[:300])
    return found


def _known_pair(plan: Plan) -> Path | None:
    """Return the path, without its ending, of what is known of the objects in this folder."""
    if not plan.get("known"):
        return None
    objects = (Path(f"{name}.o").read_bytes() for name in (GOOD, BAD))
    return Path(plan["known"]) / hashlib.sha256(b"".join(objects)).hexdigest()


def _keep(plan: Plan) -> None:
    """Keep a source that shows it: a later one may have passed by chance."""
    if plan.get("accepted"):
        folder = Path(plan["accepted"])
        part = folder / f"part-{time.time_ns()}"
        shutil.copyfile(SOURCE, part)
        part.rename(folder / f"{time.time_ns():020d}.c")


def times(plan: Plan, bad: str, good: str) -> dict[str, float]:
    """CPU seconds of both programs; DullError: too little of the difference is left.

    Of thousands of attempts some look slow by chance, on a busy machine in all rounds of a few.
    So most rounds have to show it, and the fastest runs, too.
    """
    slow, fast, shown_in = [], [], 0
    for _ in range(ROUNDS):
        slow.append(run([bad], plan["run_seconds"])[2])
        fast.append(run([good], plan["run_seconds"])[2])
        shown_in += slow[-1] >= plan["least_ratio"] * fast[-1]
        if 2 * shown_in > ROUNDS:
            break
        if not shown_in and slow[-1] < CLEARLY * plan["least_ratio"] * fast[-1]:
            break
    mine, other = min(slow), max(min(fast), 1e-6)
    if mine < plan["least_seconds"] or mine < plan["least_ratio"] * other:
        raise EqualError(f"{mine:.4f} s instead of {other:.4f} s")
    if 2 * shown_in <= ROUNDS:
        raise EqualError(f"slow in {shown_in} of {len(slow)} runs")
    return {"bad_seconds": mine, "good_seconds": other}


def main(words: Sequence[str]) -> int:
    """The exit code that cvise wants; with `measure` what was seen, or why nothing was."""
    plan = json.loads(Path(words[0]).read_text(encoding="utf-8"))
    found: dict[str, Any]
    with tempfile.TemporaryDirectory(dir=".") as folder:
        try:
            found = shown(plan, Path(folder), made=words[1:] == ["made"])
        except DullError as error:
            found = {"not_interesting": str(error)}
            if isinstance(error, EqualError):
                found[COMPILES_AND_RUNS] = True
    if "not_interesting" not in found and words[1:] == ["made"]:
        _keep(plan)
    if words[1:] == ["measure"]:
        print(json.dumps(found))
        return 0
    return int("not_interesting" in found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
