# SPDX-License-Identifier: MIT
"""Kernels, detection and selection on CPU models of Bochs, whatever the CPU of this machine is."""

import json
import platform
import sys

import pytest
from reads import LIBRARY, of_isa
from running import OF_A_MODEL, ROOT, everycore, harness_of, kernels, must, passed, run

from everycore.compile.catalog import tree_of
from everycore.environment.context import system_context
from everycore.model.targets import find_cpu, load_target

# The test extra has the package there, so a set-up without it fails.
pytestmark = [
    pytest.mark.reads(
        *LIBRARY,
        "lab/everycore/run/",
        "lab/everycore/model/targets.py",
        "lab/everycore/commands/resolve.py",
        **of_isa("x86_64"),
    ),
    pytest.mark.skipif(
        sys.platform != "linux" or platform.machine() != "x86_64",
        reason="bochscpu-python has wheels for Linux on x86-64 alone",
    ),
]

TREE = tree_of(system_context())
# Targets, and what catalog/targets/cpus.toml calls their CPUs.
CPUS = {
    "bochs-penryn": "penryn",
    "bochs-zen1": "zen1",
    "bochs-arrow-lake": "arrowlake",
    "bochs-sapphire-rapids": "sapphirerapids",
}
MOST = "bochs-sapphire-rapids"  # the model with most features
# They call every slot of a kernel, and take seconds for all kernels of a model.
SHORT = "descriptor_agrees_with_its_line,known_answers,calls_keep_the_abi"


def on_model(target: str) -> list[str]:
    """Return the harness of this host's build, on a model."""
    return [*load_target(TREE, target).emulator, *harness_of("gcc")]


def facts(text: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def lines_of_avx512() -> list[dict[str, object]]:
    """Return the kernels that need AVX-512, by the harness."""
    lines = facts(must("bochs-list", [*harness_of("gcc"), "list"]))
    found = [line for line in lines if "avx512" in str(line.get("needs", ""))]
    assert {line["primitive"] for line in found} >= {"aes", "ghash", "gcm", "qarma", "bn"}
    return found


def kernels_of_avx512() -> str:
    return ",".join(sorted({str(line["name"]) for line in lines_of_avx512()}))


def test_there_is_a_test_of_each_target() -> None:
    files = (ROOT / "catalog/targets").glob("bochs-*.toml")
    assert {path.stem for path in files} == set(CPUS)


@pytest.mark.parametrize("target", CPUS)
def test_detection_finds_the_features_of_a_model(target: str) -> None:
    first, *_ = facts(must("bochs-list", [*on_model(target), "list"]))
    assert set(first["features"]) == set(find_cpu(TREE, CPUS[target]).features)  # type: ignore[call-overload]


@pytest.mark.parametrize("target", CPUS)
def test_a_model_resolves_as_its_cpu_does_by_name(target: str) -> None:
    def chosen(*words: str) -> list[dict[str, object]]:
        code, text = everycore("bochs-resolve", "resolve", "--json", *words)
        assert code == 0, text
        members = ("primitive", "mode", "use", "kernel", "parallel", "serial")
        found = [
            {member: line[member] for member in members if member in line}
            for line in facts(text)
            if line["type"] == "resolve"
        ]
        assert found
        return found

    assert chosen("--target", target) == chosen("--cpu", CPUS[target])


@pytest.mark.parametrize("target", CPUS)
def test_kernels_of_x86_give_known_answers_on_a_model(target: str, notes: list[str]) -> None:
    words = ["check", "--quick", "--kernel", kernels(r"x86_\w+"), "--property", SHORT]
    passed(run(f"bochs-{target}", [*on_model(target), *words]), notes)


def test_kernels_of_avx512_pass_on_every_machine(notes: list[str]) -> None:
    if all(line["runs"] for line in lines_of_avx512()):
        pytest.skip("this CPU runs them all: the native build has every property of them")
    words = ["check", "--quick", "--kernel", kernels_of_avx512(), "--property", OF_A_MODEL]
    text = passed(run("bochs-avx512", [*on_model(MOST), *words]), notes)
    ran = {line["kernel"] for line in facts(text) if line.get("result") == "pass"}
    assert ran == set(kernels_of_avx512().split(","))


@pytest.mark.long
def test_kernels_of_avx512_have_every_property(notes: list[str]) -> None:
    words = ["check", "--quick", "--kernel", kernels_of_avx512()]
    passed(run("bochs-avx512-every-property", [*on_model(MOST), *words]), notes)


@pytest.mark.long
@pytest.mark.parametrize("target", CPUS)
def test_kernels_of_x86_pass_on_a_model(target: str, notes: list[str]) -> None:
    words = ["check", "--quick", "--kernel", kernels(r"x86_\w+"), "--property", OF_A_MODEL]
    passed(run(f"bochs-{target}-long", [*on_model(target), *words]), notes)
