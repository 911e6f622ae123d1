#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A harness for Arm on the CPU models of qemu-user: test_arm_models.py a64|a32 HARNESS

Each model must be seen as what it is, features and tuning bits; the kernels for its architecture
must keep their properties on the smallest model that runs them, with nothing executed that it
lacks; and with features taken away, what needs them is skipped by name. No model lacks AES alone:
tools/check-instructions has the rest.
"""

import json
import shutil
import subprocess
import sys
from typing import Any

BASE = {"a64": {"tune-word64", "ct-mul"}, "a32": set()}
CE = {"neon", "aes", "pmull"}
# Emulator, and of its models the features that they must have, some of which may be more than are
# named ("+").
MODELS: dict[str, tuple[str, dict[str, set[str]]]] = {
    "a64": (
        "qemu-aarch64",
        {
            "cortex-a53": CE | {"tune-inorder"},
            "cortex-a72": CE | {"tune-tbl8", "tune-mul32"},
            "neoverse-n1": CE | {"tune-mul32"},
            "a64fx": CE | {"sve"},
            "max": CE | {"sha3", "+"},
        },
    ),
    "a32": (
        "qemu-arm",
        {
            "cortex-a7": {"neon", "+"},
            "cortex-a15": {"neon", "+"},
            "cortex-a15,neon=off": {"+"},
            "max": CE | {"+"},
        },
    ),
}
MORE_ALLOWED = {"a64": {"sve", "sve2", "dit"}, "a32": {"thumb2", "ct-mul", "umaal"}}
# Checked whole: on these, and with these features taken away.
WHOLE = {
    "a64": (("cortex-a53", ""), ("max", "aes,pmull,sha3")),
    "a32": (("max", ""), ("cortex-a15", ""), ("cortex-a15,neon=off", "")),
}
failures: list[str] = []
passed: list[str] = []


def expect(condition: bool, what: str, detail: object = "") -> None:
    if condition:
        passed.append(what)
    else:
        failures.append(what)
        print(f"FAILED: {what}\n{detail}")


def run(
    emulator: str, model: str, harness: str, *arguments: str
) -> subprocess.CompletedProcess[str]:
    """Run the harness on an emulated CPU; standard error is among its output."""
    return subprocess.run(
        [emulator, "-cpu", model, harness, *arguments],
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )


def facts(emulator: str, model: str, harness: str, *arguments: str) -> list[dict[str, Any]]:
    """The lines of a harness command; nothing but an end by a signal is added."""
    done = run(emulator, model, harness, *arguments)
    # QEMU 10 says so; version 7.2 does not know the property.
    if "must have both VFP-D32 and Neon" in done.stdout:
        done = run(emulator, f"{model},vfp-d32=off", harness, *arguments)
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode not in (0, 1):
        lines.append(
            {
                "type": "check",
                "result": "fail",
                "detail": f"code {done.returncode}: {done.stdout[-200:]}",
            }
        )
    return lines


def main() -> int:
    arch, harness = sys.argv[1:]
    emulator, models = MODELS[arch]
    absent = [name for name in (emulator, harness) if not shutil.which(name)]
    if absent:
        print(f"skipped: no {', '.join(absent)}\n0 passed, 0 failed, 1 skipped")
        return 0
    for model, features in models.items():
        more = MORE_ALLOWED[arch] if "+" in features else set()
        wanted = BASE[arch] | (features - {"+"})
        hello, *lines = facts(emulator, model, harness, "list")
        found = set(map(str, hello.get("features", [])))
        expect(
            hello.get("arch") == arch and wanted <= found <= wanted | more,
            f"{model} has {' '.join(sorted(wanted))}",
            hello,
        )
        for line in lines:
            if line["built"] and line["runs"] != (
                not set(line["missing"]) - set(line["missing_tuning"])
            ):
                expect(False, f"{model}: {line['name']} runs if nothing is missing", line)
    kernels = [
        f"{line['name']}"
        for line in lines
        if line["arch"] in (arch, "other") and line["timing"] == "ct"
    ]
    own = [f"{line['name']}" for line in lines if line["arch"] == arch]
    for model, without in WHOLE[arch]:
        said = facts(
            emulator,
            model,
            harness,
            "check",
            "--quick",
            "--kernel",
            ",".join(own or kernels),
            *(["--without", without] if without else []),
        )
        results = [line for line in said if line["type"] == "check"]
        failed = [line for line in results if line["result"] == "fail"]
        expect(
            bool(results) and not failed,
            f"{model} without {without or 'nothing'}: every property",
            failed[:3],
        )
        skipped = {
            line["kernel"]: line["detail"]
            for line in results
            if line["result"] == "skip" and line["property"] == "all"
        }
        for name, why in sorted(skipped.items()):
            expect(
                str(why).startswith("needs "), f"{model}: {name} is skipped with its reason", why
            )
        if without:
            taken = set(without.split(","))
            named = {
                line["name"]
                for line in lines
                if line["arch"] == arch and taken & set(line["needs"])
            }
            expect(
                named == set(skipped),
                f"{model} without {without}: what needs it is skipped",
                (named, skipped),
            )
    print(f"{len(passed)} passed, {len(failures)} failed, 0 skipped")
    return 1 if failures or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
