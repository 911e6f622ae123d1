#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A proof that could not fail would be none: kernels whose masked accesses reach into other pages must be caught.

In copies of the tree, the guard of masked accesses is broken. Their results stay right, so that no
other test notices; `everycore check placement` must fail the operations that use them, and pass the others.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from few_kernels import keep_kernels

ROOT = pathlib.Path(__file__).resolve().parents[2]
KERNELS = ("x86_vaes512",)
MASK = "src/common/x86_mask512.h"
TEXT = {"ctr32", "ctr", "cbc-dec", "xts-enc", "xts-dec", "gcm-seal"}
FIRST = "return _mm512_maskz_loadu_epi8(evc_x86_first_bytes(n_bytes), p);"

# Each break: files, words and what they become; operations that must fail, and such that must pass.
BREAKS = (
    (
        "masks at the end of a page",
        ((MASK, "return (~at &", "return 0 && (~at &"),),
        TEXT,
        {"ecb-enc", "setkey"},
    ),
    (
        "a load that begins 16 bytes before the text",
        ((MASK, FIRST,
          "return n_bytes > 48 ? _mm512_maskz_loadu_epi8(evc_x86_first_bytes(n_bytes), p)\n"
          "                        : _mm512_alignr_epi64(_mm512_setzero_si512(), _mm512_maskz_loadu_epi8(\n"
          "                              evc_x86_first_bytes(n_bytes) << 16, p - 16), 2);"),),
        {"ctr32", "cbc-dec"},
        {"ecb-enc"},
    ),
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


def check_placement(tree: pathlib.Path) -> tuple[int, list[dict[str, object]]]:
    """Exit code and results of `everycore check placement`, which compiles into the temporary tree."""
    environment = {**os.environ, "EVERYCORE_TREE": str(tree), "XDG_CACHE_HOME": str(tree / "cache")}
    done = subprocess.run([sys.executable, "-m", "everycore", "check", "placement", "--quick", "--flags", "-O1", "--json",
                           "--kernel", ",".join(KERNELS)],
                          env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode not in (0, 1):
        sys.exit(f"everycore check placement: exit code {done.returncode}\n{done.stdout}\n{done.stderr}")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return done.returncode, [line for line in lines if line["type"] == "check"]


def why_not_here(results: list[dict[str, object]]) -> str:
    """The first kernel of KERNELS that was not traced, and why; empty: all were."""
    return next((f"{r['kernel']}: {r['detail']}" for r in results if r["result"] == "skip"), "")


def try_break(tree: pathlib.Path, what: str, changes: tuple[tuple[str, str, str], ...], fail: set[str],
              good: set[str]) -> None:
    before = {file: (tree / file).read_text() for file, *_ in changes}
    for file, old, new in changes:
        assert before[file].count(old) == 1, f"{what}: {file} has {before[file].count(old)} times {old}"
        (tree / file).write_text(before[file].replace(old, new))
    code, results = check_placement(tree)
    for file, text in before.items():
        (tree / file).write_text(text)
    caught = {str(r["property"]) for r in results if r["result"] == "fail"}
    let_pass = {str(r["property"]) for r in results} - caught
    expect(code == 1, f"{what}: exit code 1", code)
    expect(fail <= caught, f"{what}: caught", f"not caught: {sorted(fail - caught)}")
    expect(good <= let_pass, f"{what}: other operations pass", f"failed: {sorted(good - let_pass)}")
    told = [str(r["detail"]) for r in results if r["result"] == "fail"]
    expect(bool(told) and all("without a byte of its buffer" in d and (".c:" in d or ".h:" in d) for d in told),
           f"{what}: the place is told", told)


def main() -> int:
    global skipped
    with tempfile.TemporaryDirectory() as folder:
        tree = pathlib.Path(folder)
        for name in ("include", "src", "harness", "catalog/peers", "catalog/targets"):
            shutil.copytree(ROOT / name, tree / name)
        keep_kernels(tree, lambda stem: stem.startswith("c_") or stem in (*KERNELS, "x86_aesni", "x86_vclmul512"))
        code, results = check_placement(tree)
        if why := why_not_here(results):
            skipped += 1
            print(f"skipped: {why}")
        else:
            expect(code == 0 and all(r["result"] == "pass" for r in results), "the tree passes", results)
            masked = {str(r["property"]) for r in results if r["cases"]}
            expect(TEXT <= masked, "operations on text have accesses under a mask", sorted(TEXT - masked))
            for one in BREAKS:
                try_break(tree, *one)
    print(f"{passed} passed, {len(failures)} failed, {skipped} skipped")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
