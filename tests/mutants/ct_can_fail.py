#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A check of constant time that could not fail would prove nothing: break a kernel and see who notices.

Kernels made from the template are added to a copy of the tree: the template itself, which is constant-time, and
copies with a branch or an address made from secrets. `everycore ct` must pass the first and fail the others, by
each method that can look at them; it must also fail a comparison of tags that ends early, and leaks of RSA.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from few_kernels import keep_kernels, portable

ROOT = pathlib.Path(__file__).resolve().parents[2]
BRANCH = ("for (int i = 0; i < 8; i++) {\n        product", "for (int i = 0; b >> i; i++) {\n        product")
TABLE = ("    uint8_t b = inverse(a);\n", "    static volatile uint8_t table[256];\n    uint8_t b = inverse(a) ^ table[a];\n")
EQUAL = ("evc_mask_equal(computed, tag, tag_bytes)", "__builtin_memcmp(computed, tag, tag_bytes) == 0")

# Stem; ISA and timing class of its line; what is changed in the template.
KERNELS = (
    ("c_good", "ANY", "CT", ("", "")),
    ("c_branches", "ANY", "CT", BRANCH),
    ("c_looks_up", "ANY", "CT", TABLE),
    ("c_shy", "ANY", "VARTIME", ("", "")),
    ("x86_branches", "X86_VAES512", "CT", BRANCH),
)
# Above the kernels of bn: the operation, and a file with a leak that only it has: a branch for each byte of the result,
# for the first byte of a padding that is wrong, for each bit of a number that makes a key.
RSA = (
    ("rsa-private", "src/rsa/raw.c", "        evc_copy_secret(o->out, w->x, w->n_bytes);\n",
     "        for (size_t i = 0; i < w->n_bytes; i++)\n            if (w->x[i] & 1)\n                o->out[i] = w->x[i];\n"),
    ("rsa-refuse-oaep", "src/rsa/oaep.c", "        found |= is_first;\n", "        found |= is_first;\n        if (found)\n"
     "            break;\n"),
    ("rsa-complete", "src/rsa/words.c", "        evc_words_add_small(r + n_a, n_b, add_masked(r, a, n_a, evc_barrier32(mask)));\n",
     "        if (mask)\n            evc_words_add_small(r + n_a, n_b, add_masked(r, a, n_a, mask));\n"),
)
passed, skipped = 0, 0
failures: list[str] = []


def expect(condition: bool, what: str, detail: object = "") -> None:
    global passed
    if condition:
        passed += 1
    else:
        failures.append(what)
        print(f"FAILED: {what}\n{detail}")


def skip(why: str) -> None:
    global skipped
    skipped += 1
    print(f"skipped: {why}")


def copy_tree(to: pathlib.Path) -> None:
    for name in ("include", "src", "harness", "catalog/peers", "catalog/targets"):
        shutil.copytree(ROOT / name, to / name)


def add_kernels(tree: pathlib.Path) -> None:
    template = (ROOT / "tests/systems/template_kernel.c").read_text()
    lines = ""
    for stem, isa, timing, (old, new) in KERNELS:
        text = template.replace("c_template", stem).replace(f"({stem}, ANY, CT,", f"({stem}, {isa}, {timing},")
        assert old in text and f"({stem}, {isa}, {timing}," in text
        body = text.index('#include "common/bytes.h"')
        text = f"{text[:body]}#if EVC_BUILT({isa})\n{text[body:]}#else\nEVC_EMPTY_UNIT\n#endif\n"
        (tree / f"src/aes/{stem}.c").write_text(text.replace(old, new, 1))
        lines += f"KERNEL(aes, {stem}, {isa}, {timing}, SERIAL)\n"
    with (tree / "src/kernels.def").open("a") as registry:
        registry.write(lines)


def everycore_ct(tree: pathlib.Path, *arguments: str) -> tuple[int, list[dict[str, object]]]:
    """Exit code and facts of `everycore ct`, which keeps what it compiles in the temporary tree."""
    environment = {**os.environ, "EVERYCORE_TREE": str(tree), "XDG_CACHE_HOME": str(tree / "cache")}
    done = subprocess.run([sys.executable, "-m", "everycore", "ct", "--flags", "-O1", "--json", "--jobs", "1", *arguments],
                          env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode not in (0, 1):
        sys.exit(f"everycore ct: exit code {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def of(facts: list[dict[str, object]], kind: str, kernel: str, **members: str) -> list[dict[str, object]]:
    return [f for f in facts if f["type"] == kind and f["kernel"] == kernel
            and all(f[name] == value for name, value in members.items())]


def expect_caught(facts: list[dict[str, object]], kernel: str, method: str, place: str) -> None:
    """Every verdict of the method on messages is a failure, and one names the function."""
    verdicts = [v for v in of(facts, "verdict", kernel, method=method) if v["operation"] != "setkey"]
    if all(v["result"] == "impossible" for v in verdicts):
        skip(f"{kernel} by {method}: {verdicts[0]['detail'] if verdicts else 'cannot run here'}")
        return
    expect(all(v["result"] == "fail" for v in verdicts), f"{method} catches {kernel}", verdicts)
    expect(any(place in str(v["detail"]) for v in verdicts), f"{method} says where {kernel} breaks", verdicts)


def check_kernels(tree: pathlib.Path) -> None:
    stems = ",".join(stem for stem, *_ in KERNELS)
    code, facts = everycore_ct(tree, "--primitive", "aes", "--kernel", stems, "--operation", "setkey,ecb-enc",
                               "--key-bits", "256", "--method", "taint,trace", "--quick")
    expect(code == 1, "a tree with broken kernels fails")
    good = of(facts, "conclusion", "c_good")
    expect(len(good) == 2 and all(c["result"] == "pass" for c in good), "the template passes", good)
    for method in ("taint", "trace"):
        expect_caught(facts, "c_branches", method, "times")
        expect_caught(facts, "c_looks_up", method, "sub")
        expect_caught(facts, "x86_branches", method, "times")
    for kernel in ("c_branches", "c_looks_up"):
        failed = of(facts, "conclusion", kernel, result="fail")
        expect(len(failed) == 2, f"every operation of {kernel} is concluded to fail", failed)
    shy = of(facts, "conclusion", "c_shy", result="fail")
    expect({c["operation"] for c in shy} == {"ecb-enc"},
           "a constant-time kernel that claims not to be is no proof that the methods work", shy)


def check_tags(tree: pathlib.Path) -> None:
    """The comparison of GCM's tags is code above the kernels."""
    path = tree / "src/gcm/gcm.c"
    text = path.read_text()
    assert EQUAL[0] in text
    path.write_text(text.replace(*EQUAL))
    code, facts = everycore_ct(tree, "--primitive", "ghash", "--kernel", "c_ctmul64", "--operation", "gcm-seal,gcm-open",
                               "--key-bits", "256", "--method", "taint,trace")
    expect(code == 1, "a comparison of tags that ends early fails")
    for method in ("taint", "trace"):
        opened = of(facts, "verdict", "c_ctmul64", method=method, operation="gcm-open")
        if opened[0]["result"] == "impossible":
            skip(f"tags by {method}: {opened[0]['detail']}")
        else:
            expect(opened[0]["result"] == "fail", f"{method} catches it", opened)
    expect(len(of(facts, "conclusion", "c_ctmul64", operation="gcm-seal", result="pass")) == 1, "sealing still passes")


def check_rsa(tree: pathlib.Path) -> None:
    """RSA is code above the kernels, too: each operation has a leak of its own, and the public one has none."""
    names = [operation for operation, *_ in RSA]
    for _, name, old, new in RSA:
        text = (tree / name).read_text()
        assert text.count(old) == 1, name
        (tree / name).write_text(text.replace(old, new))
    code, facts = everycore_ct(tree, "--primitive", "bn", "--kernel", "c_limb64", "--operation", ",".join([*names, "rsa-public"]),
                               "--method", "taint,trace")
    expect(code == 1, "a library whose RSA leaks fails")
    for operation, method in ((o, m) for o in names for m in ("taint", "trace")):
        verdict, = of(facts, "verdict", "c_limb64", method=method, operation=operation)
        if verdict["result"] == "impossible":
            skip(f"{operation} by {method}: {verdict['detail']}")
        else:
            expect(verdict["result"] == "fail", f"{method} catches the leak of {operation}", verdict)
    expect(len(of(facts, "conclusion", "c_limb64", operation="rsa-public", result="pass")) == 1, "rsa-public still passes")


def check_timing(tree: pathlib.Path) -> None:
    """Its verdict gates nothing; a branch in every multiplication it must see."""
    _, facts = everycore_ct(tree, "--primitive", "aes", "--kernel", "c_branches", "--operation", "ecb-enc", "--key-bits",
                            "256", "--method", "timing", "--samples", "4000")
    verdict, = of(facts, "verdict", "c_branches", method="timing")
    if verdict["result"] == "impossible":
        skip(f"timing: {verdict['detail']}")
    else:
        expect(verdict["result"] == "fail", "timing catches c_branches", verdict)


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        tree = pathlib.Path(folder)
        copy_tree(tree)
        keep_kernels(tree, portable)
        add_kernels(tree)
        check_kernels(tree)
        check_timing(tree)
        check_tags(tree)
        check_rsa(tree)
    print(f"{passed} passed, {len(failures)} failed, {skipped} skipped")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
