# SPDX-License-Identifier: MIT
"""A harness for Arm on the CPU models of qemu-user; -k a64 or -k a32 chooses the architecture.

Each model must be seen as what it is, features and tuning bits; the kernels for its architecture
must keep the properties that call each of their slots on the smallest model that runs them, with
nothing executed that it lacks (`make test-all`: every property); and with features taken away, what
needs them is skipped by name. No model lacks AES alone: tools/check-instructions has the rest. The
harness is that of the cross build.
"""

import functools
import json
import subprocess
from typing import Any

import pytest
from processes import need
from reads import LIBRARY
from running import OF_A_MODEL, harness_of

pytestmark = pytest.mark.reads(*LIBRARY, isa="a64 a32")
Facts = list[dict[str, Any]]
BUILDS = {"a64": "aarch64", "a32": "armhf"}
BASE = {"a64": {"tune-word64", "ct-mul"}, "a32": set()}
CE = {"neon", "aes", "pmull", "sha2"}
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
            "max": CE | {"sha512", "sha3", "+"},
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
# A property for the runs without some features.
SHORT = ("--property", "every_length_equals_reference")
SLOTS = ("--property", OF_A_MODEL)


@functools.cache
def harness(arch: str) -> str:
    return harness_of(BUILDS[arch])[-1]


def run(arch: str, model: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the harness on an emulated CPU; standard error is among its output."""
    emulator = MODELS[arch][0]
    need(emulator)
    return subprocess.run(
        [emulator, "-cpu", model, harness(arch), *arguments],
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )


@functools.cache
def facts(arch: str, model: str, *arguments: str) -> Facts:
    """Return the lines of a harness command, which must not end by a signal."""
    done = run(arch, model, *arguments)
    # QEMU 10 says so; version 7.2 does not know the property.
    if "must have both VFP-D32 and Neon" in done.stdout:
        done = run(arch, f"{model},vfp-d32=off", *arguments)
    assert done.returncode in (0, 1), f"code {done.returncode}: {done.stdout[-200:]}"
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


each_model = pytest.mark.parametrize(
    ("arch", "model"), [(arch, model) for arch, (_, models) in MODELS.items() for model in models]
)


@each_model
def test_a_model_is_seen_as_what_it_is(arch: str, model: str) -> None:
    features = MODELS[arch][1][model]
    more = MORE_ALLOWED[arch] if "+" in features else set()
    wanted = BASE[arch] | (features - {"+"})
    hello = facts(arch, model, "list")[0]
    found = set(map(str, hello["features"]))
    assert hello["arch"] == arch
    assert wanted <= found <= wanted | more


@each_model
def test_a_kernel_runs_if_nothing_is_missing(arch: str, model: str) -> None:
    assert not [
        line
        for line in facts(arch, model, "list")[1:]
        if line["built"]
        and line["runs"] != (not set(line["missing"]) - set(line["missing_tuning"]))
    ]


@pytest.mark.parametrize(
    ("arch", "model", "without", "properties"),
    [
        ("a64", "cortex-a53", "", SLOTS),
        ("a64", "max", "aes,pmull,sha2,sha512,sha3", SHORT),
        ("a32", "cortex-a15", "", SLOTS),
        ("a32", "cortex-a15,neon=off", "", SLOTS),
        # The cross builds' tests have every property on the model `max`.
        pytest.param("a64", "cortex-a53", "", (), marks=pytest.mark.long),
        pytest.param("a64", "max", "aes,pmull,sha2,sha512,sha3", (), marks=pytest.mark.long),
        pytest.param("a32", "cortex-a15", "", (), marks=pytest.mark.long),
        pytest.param("a32", "cortex-a15,neon=off", "", (), marks=pytest.mark.long),
        pytest.param("a32", "max", "", (), marks=pytest.mark.long),
    ],
)
def test_the_kernels_have_every_property_or_say_what_they_need(
    arch: str, model: str, without: str, properties: tuple[str, ...]
) -> None:
    listed = facts(arch, "max", "list")[1:]
    own = [str(line["name"]) for line in listed if line["arch"] == arch]
    assert own
    taken = ["--without", without] if without else []
    words = ("check", "--quick", "--kernel", ",".join(own), *properties, *taken)
    said = facts(arch, model, *words)
    results = [line for line in said if line["type"] == "check"]
    assert results
    assert not [line for line in results if line["result"] == "fail"][:3]
    reasons = {
        str(line["kernel"]): str(line["detail"])
        for line in results
        if line["result"] == "skip" and line["property"] == "all"
    }
    assert not {name: why for name, why in reasons.items() if not why.startswith("needs ")}
    if without:
        assert set(reasons) == {
            line["name"]
            for line in listed
            if line["arch"] == arch and set(without.split(",")) & set(line["needs"])
        }
