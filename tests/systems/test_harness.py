# SPDX-License-Identifier: MIT
"""The harness's properties on emulated CPUs, under Windows, and in builds made for nothing else."""

import json
import pathlib
import re
import shutil

import pytest
from processes import need
from reads import LIBRARY, of_isa, reads_library_here
from running import (
    BUILD,
    OF_A_MODEL,
    PLAIN,
    Build,
    everycore,
    harness_of,
    kernels,
    meson_tests,
    must,
    pairs_of,
    passed,
    run,
)

pytestmark = reads_library_here

# ---- CPUs that QEMU models -----------------------------------------------------------------------


def cpu_models() -> list[object]:
    """Models of CPUs, and the kernels that are tried on them. `make test-all` tries every property
    there.
    """
    models = (
        ("core2duo", "core2duo", "", ()),
        ("Haswell", "Haswell", r"x86_\w+", (pytest.mark.slow,)),
        # QEMU 7.2 shows VAES there, and computes its second lane wrongly.
        ("the-emulator's-own", None, r"x86_\w*(?:aes|clmul|ifma)\w*", (pytest.mark.slow,)),
    )
    whole = (*models, ("Westmere", "Westmere", "", ()))
    return [
        *(
            pytest.param(model, names, OF_A_MODEL, id=name, marks=marks)
            for name, model, names, marks in models
        ),
        *(
            pytest.param(model, names, "", id=f"{name}-every-property", marks=pytest.mark.long)
            for name, model, names, _ in whole
        ),
    ]


@pytest.mark.parametrize(("model", "names", "properties"), cpu_models())
def test_no_instruction_is_used_that_a_cpu_lacks(
    model: str | None, names: str, properties: str, notes: list[str]
) -> None:
    """`names`: kernels of these names alone; portable ones run on a smaller CPU, elsewhere.
    Kernels of the model that this host cannot run have all properties in any case.
    """
    need("qemu-x86_64")
    native = harness_of("gcc")
    command = ["qemu-x86_64", *(["-cpu", model] if model else []), *native]
    check = [*command, "check", "--quick"]
    chosen = ["--kernel", kernels(names)] if names else []
    some = ["--property", properties] if properties else []
    passed(run(f"cpu-{model}", [*check, *chosen, *some]), notes)
    only_there = listed(command, "runs") - listed(native, "runs")
    if some and only_there:
        passed(run(f"cpu-{model}", [*check, "--kernel", ",".join(sorted(only_there))]), notes)
    counter = ["--counter", "clock+addchain", "--samples", "1", "--budget-ms", "1"]
    must(f"cpu-{model}", [*command, "limits", *counter])


@pytest.mark.reads(*LIBRARY, **of_isa("ppc64"))
def test_power_without_instructions_for_aes_selects_vector_permutes(notes: list[str]) -> None:
    """Other tests run on newer ones. QEMU's PowerPC 970 is no place for them: its dcbz clears 32
    bytes, and glibc's memset counts on 128.
    """
    emulator, *program = harness_of("ppc64")
    power7 = [emulator, "-cpu", "power7", *program]
    features, selected = detected(power7)
    assert features == ["altivec", "tune-word64"]
    assert {selected[primitive] for primitive in ("aes", "ghash", "qarma")} == {"ppc_vperm"}
    words = ["check", "--quick", "--kernel", "ppc_vperm", "--property", OF_A_MODEL]
    passed(run("cpu-power7", [*power7, *words]), notes)


def detected(harness: list[str]) -> tuple[list[str], dict[str, str]]:
    """Return the features that a harness finds, and the kernel of each primitive for one chain."""
    lines = [json.loads(line) for line in must("resolve", [*harness, "resolve"]).splitlines()]
    serial = [line for line in lines if line.get("use") == "serial"]
    return lines[0]["features"], {line["primitive"]: line["kernel"] for line in serial}


@pytest.mark.slow
def test_kernels_work_with_32_bits(notes: list[str]) -> None:
    """And portable ones, little-endian: hppa has them big-endian."""
    harness, native = harness_of("i386"), harness_of("gcc")
    some = "(?:x86|c)"
    names = ",".join([kernels(rf"{some}_\w+"), *pairs_of(some)])
    passed(run("i386-check", [*harness, "check", "--quick", "--kernel", names]), notes)
    assert listed(harness, "runs") >= listed(harness, "built") & listed(native, "runs")


def listed(harness: list[str], member: str) -> set[str]:
    """The kernels of which a harness says that they are built, or run."""
    lines = must("list", [*harness, "list"]).splitlines()  # and an emulator's warnings
    facts = [json.loads(line) for line in lines if line.startswith("{")]
    return {fact["name"] for fact in facts if fact["type"] == "kernel" and fact[member]}


@pytest.mark.long
@pytest.mark.parametrize("name", ["aarch64", "i386", "ppc64", "hppa"])
def test_qarma_of_a_million_inputs(name: str, notes: list[str]) -> None:
    """a64_tbl; x86_ssse3 with 32 bits; big-endian with 64 and with 32: every S-box, too."""
    passed(run(f"qarma-{name}", [*harness_of(name), "check", "--primitive", "qarma"]), notes)


@pytest.mark.long
def test_every_property_at_every_length(notes: list[str]) -> None:
    passed(everycore("check-full", "check", "--json"), notes)


@pytest.mark.long
def test_figures_of_limits_agree_with_each_other() -> None:
    """No gate, since a busy machine bends figures."""
    import sys

    need("objdump")
    must(
        "figures",
        [sys.executable, "tests/unit/limit_loops.py", *harness_of("gcc"), "objdump", "Figures"],
    )


# ---- What public calls leave behind --------------------------------------------------------------

LEFT_BEHIND = ",".join(
    f"{what}leave{s}_nothing_behind"
    for what, s in (
        ("set_key_", "s"),
        ("operations_", ""),
        ("modes_", ""),
        ("", "s"),
        ("messages_", ""),
        ("pieces_", ""),
        ("dh_", "s"),
        ("primes_", ""),
        ("rsa_", "s"),
    )
)


def residue_builds() -> list[object]:
    """Levels of optimisation that no other build has."""
    return [
        pytest.param(name, level, emulator, id=f"{name}-O{level}", marks=marks)
        for name, levels, emulator, marks in (
            ("gcc", "s", (), pytest.mark.slow),
            ("clang", "1s3", (), pytest.mark.long),
            ("gcc", "13", (), pytest.mark.long),
            ("aarch64", "1s", ("qemu-aarch64",), pytest.mark.long),
            ("armhf", "1s", ("qemu-arm",), pytest.mark.long),
            ("aarch64-clang", "2", ("qemu-aarch64",), pytest.mark.long),
            ("armhf-clang", "2", ("qemu-arm",), pytest.mark.long),
            ("i386", "1s", ("qemu-i386", "-cpu", "max"), pytest.mark.long),
        )
        for level in levels
    ]


@pytest.mark.long
def test_nothing_is_left_behind_if_flags_allow_avx512(notes: list[str]) -> None:
    """Compilers then use registers 16 to 31 in every kernel, as with -march=native."""
    cpuinfo = pathlib.Path("/proc/cpuinfo")
    if not cpuinfo.exists() or "avx512vl" not in cpuinfo.read_text():
        pytest.skip("this CPU has no AVX-512")
    build = Build("residue-avx512", (*PLAIN, "-Doptimization=2", "-Dc_args=-mavx512vl"))
    check = [*harness_of(build), "check", "--quick", "--property", LEFT_BEHIND]
    passed(run(build.name, check), notes)


@pytest.mark.parametrize(("name", "level", "emulator"), residue_builds())
def test_nothing_is_left_behind(
    name: str, level: str, emulator: tuple[str, ...], notes: list[str]
) -> None:
    """For GCM, each kernel of AES is tried with each of GHASH."""
    need(*emulator[:1])
    where = {"cross": name} if emulator else {"compiler": name}
    build = Build(f"residue-{name}-O{level}", (*PLAIN, f"-Doptimization={level}"), **where)
    harness = harness_of(build)[-1]
    check = [*emulator, harness, "check", "--quick", "--property", LEFT_BEHIND]
    text = passed(run(build.name, check), notes)
    pairs = ",".join(pairs_beside(text))
    passed(run(build.name, [*check, "--primitive", "gcm", "--kernel", pairs]), notes)


def pairs_beside(text: str) -> list[str]:
    """Return the pairs AES+GHASH that `harness check` has not tested, of the kernels that it has
    tested in pairs.
    """
    tested = set(re.findall(r'"kernel":"(\w+)\+(\w+)"', text))
    return sorted(
        f"{aes}+{ghash}"
        for aes in {aes for aes, _ in tested}
        for ghash in {ghash for _, ghash in tested}
        if (aes, ghash) not in tested
    )


def test_each_kernel_of_aes_is_paired_with_each_of_ghash_once() -> None:
    def said(*names: str) -> str:
        return "\n".join(
            f'{{"type":"check","primitive":"gcm","kernel":"{name}"}}' for name in names
        )

    assert pairs_beside(said("a+x", "b+y", "b+x", "b+y", "c")) == ["a+y"]
    assert pairs_beside(said("a+x", "b+y", "a+y", "c")) == ["b+x"]


@pytest.mark.long
@pytest.mark.parametrize("level", ["2", "1", "s"])
def test_windows(level: str, notes: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The calling convention is another there, and so is the port. What public calls leave behind
    is looked at with three levels of optimisation; all tests of the build run with one.
    """
    build = Build(f"windows-O{level}", (*PLAIN, f"-Doptimization={level}"), cross="windows")
    shutil.rmtree(build.directory, ignore_errors=True)
    monkeypatch.setenv("WINEPREFIX", str(BUILD / f"wine-O{level}"))
    monkeypatch.setenv("WINEDEBUG", "-all")
    if level == "2":
        meson_tests(build, notes, "--no-suite", "long")
        return
    command = [*harness_of(build), "check", "--quick", "--property", LEFT_BEHIND]
    passed(run(build.name, command), notes)
