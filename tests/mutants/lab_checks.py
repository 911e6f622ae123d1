# SPDX-License-Identifier: MIT
"""Leaks that `everycore ct` must notice, and accesses that `everycore check placement` must."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from objects import BuildError

from catalog import ROOT, Mutant

Fact = dict[str, Any]
Results = Iterator[
    tuple[Mutant, str, str]
]  # a mutant; what noticed it, or nothing; why it was not tried
CONTROL = ("c_good", "ANY", "CT")
MASKED_KERNEL = "x86_vaes512"
BESIDE_MASKED = (MASKED_KERNEL, "x86_aesni", "x86_vclmul512")


def copy_tree(to: pathlib.Path, kernel: Callable[[str], bool]) -> None:
    """Copy what the lab compiles, with these kernels alone."""
    for name in ("include", "src", "harness", "catalog/peers", "catalog/targets"):
        shutil.copytree(ROOT / name, to / name)
    registry = to / "src/kernels.def"
    kept = []
    for line in registry.read_text().splitlines(keepends=True):
        found = re.match(r"KERNEL\((\w+), *(\w+)", line)
        if not found or kernel(found[2]):
            kept.append(line)
            continue
        for file in (f"{found[2]}.c", f"{found[2]}_asm.S"):
            (to / "src" / found[1] / file).unlink(missing_ok=True)
    registry.write_text("".join(kept))


def everycore(tree: pathlib.Path, *words: str) -> tuple[int, list[Fact]]:
    """Return the exit code and the facts of a command of the lab, which compiles into the tree."""
    environment = {
        **os.environ,
        "EVERYCORE_TREE": str(tree),
        "XDG_CACHE_HOME": str(tree / "cache"),
        "PYTHONPATH": f"{ROOT / 'lab'}:{os.environ.get('PYTHONPATH', '')}",
    }
    command = [sys.executable, "-m", "everycore", *words, "--flags", "-O1", "--json"]
    done = subprocess.run(command, env=environment, text=True, capture_output=True, check=False)
    if done.returncode not in (0, 1):
        raise BuildError(f"everycore {words[0]} ends with {done.returncode}: {done.stderr[-800:]}")
    return done.returncode, [
        json.loads(line) for line in done.stdout.splitlines() if line[:1] == "{"
    ]


def plant(tree: pathlib.Path, mutants: Sequence[Mutant]) -> None:
    for mutant in mutants:
        path = tree / mutant.file
        path.write_text(mutant.changed(path.read_text()))


# ---- Masked accesses ---------------------------------------------------------------------


def placement(mutants: Sequence[Mutant]) -> Results:
    """Break the guard of masked accesses, and look at the operations that use it and at others."""
    words = ("check", "placement", "--quick", "--kernel", MASKED_KERNEL)
    with tempfile.TemporaryDirectory() as folder:
        tree = pathlib.Path(folder)
        copy_tree(tree, lambda stem: stem.startswith("c_") or stem in BESIDE_MASKED)
        code, facts = everycore(tree, *words)
        checks = [fact for fact in facts if fact["type"] == "check"]
        if lacking := [fact["detail"] for fact in checks if fact["result"] == "skip"]:
            yield from ((mutant, "", str(lacking[0])) for mutant in mutants)
            return
        masked = {fact["property"] for fact in checks if fact["cases"]}
        wanted = {name for mutant in mutants for name in mutant.notice.split(",")}
        if code or not wanted <= masked:
            raise BuildError(f"placement: unbroken, it fails, or has no masks in {wanted - masked}")
        for mutant in mutants:
            good = (tree / mutant.file).read_text()
            plant(tree, [mutant])
            _, facts = everycore(tree, *words)
            (tree / mutant.file).write_text(good)
            yield mutant, placement_noticed(mutant, [f for f in facts if f["type"] == "check"]), ""


def placement_noticed(mutant: Mutant, checks: list[Fact]) -> str:
    """All operations named fail, those beside them pass, and every failure tells its place."""
    failed = {fact["property"] for fact in checks if fact["result"] == "fail"}
    passed = {fact["property"] for fact in checks} - failed
    places = [str(fact["detail"]) for fact in checks if fact["result"] == "fail"]
    are_told = all("without a byte of its buffer" in p and re.search(r"\.[ch]:", p) for p in places)
    is_noticed = failed >= set(mutant.notice.split(","))
    beside = set(mutant.more.get("passes", "").split(",")) - {""}
    return "check placement" if is_noticed and are_told and beside <= passed else ""


# ---- Constant time -----------------------------------------------------------------------


def constant_time(mutants: Sequence[Mutant]) -> Results:
    """Break copies of the template, code above all kernels of AES, and RSA."""
    with tempfile.TemporaryDirectory() as folder:
        tree = pathlib.Path(folder)
        copy_tree(tree, lambda stem: stem.startswith("c_"))
        if kernels := [mutant for mutant in mutants if "stem" in mutant.more]:
            add_kernels(tree, kernels)
            yield from broken_kernels(tree, kernels)
        for primitive, kernel, options in (
            ("ghash", "c_ctmul64", ("--key-bits", "256")),
            ("bn", "c_limb64", ()),
        ):
            name = {"ghash": "gcm-", "bn": "rsa-"}[primitive]
            chosen = [
                mutant for mutant in mutants if mutant.more.get("operation", "").startswith(name)
            ]
            if chosen:
                plant(tree, chosen)
                yield from broken_operations(tree, chosen, primitive, kernel, options)


def add_kernels(tree: pathlib.Path, mutants: Sequence[Mutant]) -> None:
    """Make the template a kernel of each mutant, and one without a fault."""
    template = (ROOT / "tests/systems/template_kernel.c").read_text()
    copies = [(*CONTROL, template)] + [
        (
            mutant.more["stem"],
            mutant.more.get("isa", "ANY"),
            mutant.more.get("timing", "CT"),
            mutant.changed(template),
        )
        for mutant in mutants
    ]
    with (tree / "src/kernels.def").open("a") as registry:
        for stem, isa, timing, broken in copies:
            text = re.sub(r"\(c_template, ANY, (\w+),", rf"({stem}, {isa}, \1,", broken)
            body = text.index('#include "common/bytes.h"')
            text = (
                f"{text[:body]}#if EVC_BUILT({isa})\n{text[body:]}#else\nEVC_EMPTY_UNIT\n#endif\n"
            )
            (tree / f"src/aes/{stem}.c").write_text(text.replace("c_template", stem))
            registry.write(f"KERNEL(aes, {stem}, {isa}, {timing}, SERIAL)\n")


def of(facts: list[Fact], kind: str, **members: str) -> list[Fact]:
    return [
        fact
        for fact in facts
        if fact["type"] == kind and all(fact[name] == value for name, value in members.items())
    ]


def broken_kernels(tree: pathlib.Path, mutants: Sequence[Mutant]) -> Results:
    stems = ",".join([CONTROL[0], *(mutant.more["stem"] for mutant in mutants)])
    aes = ("ct", "--jobs", "1", "--primitive", "aes", "--key-bits", "256", "--kernel")
    quick = ("--method", "taint,trace", "--quick", "--operation", "setkey,ecb-enc")
    _, facts = everycore(tree, *aes, stems, *quick)
    good = of(facts, "conclusion", kernel=CONTROL[0])
    if len(good) != 2 or any(fact["result"] != "pass" for fact in good):
        raise BuildError(f"ct: the template does not pass: {good}")
    for mutant in mutants:
        stem, methods = mutant.more["stem"], mutant.notice.split(",")
        failed = of(facts, "conclusion", kernel=stem, result="fail")
        if mutant.notice == "claim":
            noticed = {fact["operation"] for fact in failed} == {"ecb-enc"}
            yield mutant, "conclusion" if noticed else "", ""
            continue
        seen = facts
        if "timing" in methods:
            operation = ("--method", "timing", "--operation", "ecb-enc", "--samples", "4000")
            seen = facts + everycore(tree, *aes, stem, *operation)[1]
        verdicts = [
            fact for fact in of(seen, "verdict", kernel=stem) if fact["operation"] != "setkey"
        ]
        yield mutant, *judged(verdicts, methods, mutant.more["place"])


def judged(verdicts: list[Fact], methods: list[str], place: str = "") -> tuple[str, str]:
    """Return the methods, if all that can look notice and name the place; why none can look."""
    can_look = []
    for method in methods:
        own = of(verdicts, "verdict", method=method)
        if own and all(fact["result"] == "impossible" for fact in own):
            continue
        is_placed = method == "timing" or any(place in str(fact["detail"]) for fact in own)
        if not own or any(fact["result"] != "fail" for fact in own) or not is_placed:
            return "", ""
        can_look.append(method)
    return ",".join(can_look), "" if can_look else str(verdicts[0]["detail"])


def broken_operations(
    tree: pathlib.Path,
    mutants: Sequence[Mutant],
    primitive: str,
    kernel: str,
    options: tuple[str, ...],
) -> Results:
    """Each operation has a leak of its own; those in `passes` have none."""
    named = [mutant.more[key] for mutant in mutants for key in ("operation", "passes")]
    operations = ("--operation", ",".join(dict.fromkeys(named)), "--method", "taint,trace")
    chosen = ("ct", "--jobs", "1", "--primitive", primitive, "--kernel", kernel)
    _, facts = everycore(tree, *chosen, *operations, *options)
    for mutant in mutants:
        verdicts = of(facts, "verdict", kernel=kernel, operation=mutant.more["operation"])
        beside = of(
            facts, "conclusion", kernel=kernel, operation=mutant.more["passes"], result="pass"
        )
        noticed, why = judged(verdicts, mutant.notice.split(","))
        yield mutant, noticed if len(beside) == 1 else "", why
