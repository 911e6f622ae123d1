# SPDX-License-Identifier: MIT
from dataclasses import replace

import pytest

from everycore.environment.errors import EverycoreError
from everycore.matrix.flagsets import FLAG_SETS, FlagSet, chosen, named
from everycore.matrix.plan import Axes, plan, widest_spread_first
from everycore.matrix.resolved_cell import LEVELS, HostCpu, why_not
from everycore.model.domain import Compiler, Target, Toolchain
from everycore.subjects import Function, Subject

PLACE = HostCpu("x86_64", LEVELS["-march=x86-64-v4"])


def toolchain(family: str, major: int, provider: str = "debian") -> Toolchain:
    compiler = Compiler((f"{family}-{major}",), f"{family} {major}.1.0", f"{family}{major}")
    compilers = (("host", compiler),)
    return Toolchain(f"{family}-{major}", provider, family, (major, 1, 0), compilers)


def function(
    subject: str, name: str, key_bits: tuple[int, ...] = (128, 192, 256), multiple_of: int = 1
) -> tuple[Subject, Function]:
    """A function of a subject in C; of "asm" in assembly."""
    found = Function(name, key_bits=key_bits, multiple_of=multiple_of)
    return Subject(subject, ("x.S" if subject == "asm" else "x.c",), (found,)), found


TOOLCHAINS = tuple(toolchain("gcc", n) for n in (9, 10, 11, 12)) + tuple(
    toolchain("clang", n) for n in (14, 15, 16)
)
HOST = (Target("host", ""),)
AXES = Axes((function("linux", "cbc-enc"), function("other", "ctr")), TOOLCHAINS, FLAG_SETS, HOST)


def reasons(axes: Axes, place: HostCpu = PLACE) -> dict[str, str]:
    return {resolved.cell.title: resolved.why_not for resolved in plan(axes, place)}


def test_every_combination_is_a_cell_and_none_twice() -> None:
    cells = [resolved.cell for resolved in plan(AXES, PLACE)]
    assert len(cells) == len(set(cells)) == 2 * 7 * len(FLAG_SETS)
    twice = replace(AXES, flag_sets=(*FLAG_SETS, named(("-O2",))))
    assert len(plan(twice, PLACE)) == len(cells)


def test_without_a_size_of_keys_each_function_has_its_usual_one() -> None:
    functions = (function("linux", "ctr"), function("qarma", "qarma5", (128,), 8))
    axes = replace(AXES, functions=functions, flag_sets=(named(("-O2",)),))
    assert {(c.cell.subject, c.cell.key_bits) for c in plan(axes, PLACE) if not c.why_not} == {
        ("linux", 256),
        ("qarma", 128),
    }
    given = reasons(replace(axes, key_bits=(256,)))
    assert "no keys of 256 bits" in given["gcc-12 -O2 on qarma qarma5"]


def test_the_first_cells_are_the_newest_and_the_oldest_compilers_at_the_first_flags() -> None:
    first = [(resolved.cell.toolchain, resolved.flag_set) for resolved in plan(AXES, PLACE)[:8]]
    newest = [(name, "O2") for name in ("clang-16", "gcc-12", "clang-14")]
    assert first == [pair for pair in newest for _ in range(2)] + [("clang-16", "O2+v4")] * 2


def test_a_part_of_the_plan_has_all_compilers_before_it_has_all_flags() -> None:
    part = plan(AXES, PLACE)[: len(plan(AXES, PLACE)) // 2]
    assert {resolved.cell.toolchain for resolved in part} == {
        known_toolchain.name for known_toolchain in TOOLCHAINS
    }
    assert 3 < len({resolved.flag_set for resolved in part}) < len(FLAG_SETS)


def test_versions_are_halved_between_the_newest_and_the_oldest() -> None:
    many = [toolchain("gcc", n) for n in range(9, 17)]
    versions = [ordered.version[0] for ordered in widest_spread_first(many)]
    assert versions == [16, 9, 13, 15, 11, 14, 12, 10]


def test_flags_of_one_family_are_no_cells_of_the_other() -> None:
    said = reasons(AXES)
    assert said["clang-16 -O2 -fno-code-hoisting on linux cbc-enc"] == "flags of gcc alone"
    assert not said["gcc-12 -O2 -fno-code-hoisting on linux cbc-enc"]


def test_a_cpu_that_lacks_a_level_skips_its_cells_and_says_what_it_lacks() -> None:
    old = HostCpu("x86_64", LEVELS["-march=x86-64-v3"])
    said = reasons(AXES, old)
    assert said["gcc-12 -O2 -march=x86-64-v4 on linux cbc-enc"] == (
        "this CPU is not x86-64-v4: no avx512bw"
    )
    assert not said["gcc-12 -O2 -march=x86-64-v3 on linux cbc-enc"]
    assert "is for x86-64, this is not" in why_not(
        HostCpu("aarch64"), TOOLCHAINS[0], "host", ("-march=x86-64-v3",)
    )


def test_lto_is_for_compilers_of_the_host() -> None:
    assert "its own compilers" in reasons(AXES)["gcc-9 -O2 -flto on linux cbc-enc"]
    own = replace(AXES, toolchains=(toolchain("gcc", 12, "host"),))
    assert not reasons(own)["gcc-12 -O2 -flto on linux cbc-enc"]


def test_targets_that_a_compiler_lacks_and_sizes_that_a_function_lacks_are_said() -> None:
    emulated = Target("qemu-aarch64", "", "qemu")
    axes = replace(AXES, targets=(emulated,), toolchains=TOOLCHAINS[:1])
    assert {*reasons(axes).values()} >= {"gcc-9 does not compile for qemu-aarch64"}
    of_128 = function("x", "f", (128,), 128)
    odd = Axes((of_128,), TOOLCHAINS[:1], FLAG_SETS[:1], HOST, key_bits=(256,))
    assert "no keys of 256 bits" in plan(odd, PLACE)[0].why_not
    odd = replace(odd, key_bits=(128,), n_bytes=(64,))
    assert "multiples of 128" in plan(odd, PLACE)[0].why_not


def test_a_skipped_cell_is_a_result_with_its_reason() -> None:
    skipped = plan(AXES, PLACE)[0].skipped("because")
    assert (skipped.outcome, skipped.reason, skipped.flag_set) == ("skipped", "because", "O2")


def test_flag_sets_are_found_by_name_and_by_flags() -> None:
    assert [flag_set.name for flag_set in chosen(["O1", "O2+ubsan"], [])] == ["O1", "O2+ubsan"]
    assert chosen([], [["-O2"]]) == (FLAG_SETS[0],)
    assert chosen([], [["-O2", "-fwrapv"]])[0].title == "-O2 -fwrapv"
    assert chosen([], []) == FLAG_SETS
    with pytest.raises(EverycoreError, match="unknown flag set 'O4'"):
        chosen(["O4"], [])
    with pytest.raises(EverycoreError, match="no flags"):
        chosen([], [[]])


def test_names_of_flag_sets_are_of_one_set_each() -> None:
    assert len({flag_set.name for flag_set in FLAG_SETS}) == len(FLAG_SETS)
    assert {"O1", "O2", "O3", "Os", "O2+v3", "O2+native"} <= {
        flag_set.name for flag_set in FLAG_SETS
    }


def test_hand_written_assembly_is_planned_once_for_each_target_and_size() -> None:
    functions = (
        function("linux", "cbc-enc"),
        function("asm", "cbc-enc"),
    )
    axes = replace(AXES, functions=functions, n_bytes=(16, 4096))
    planned = plan(axes, PLACE)
    own = [resolved for resolved in planned if resolved.cell.subject == "asm"]
    assert [(resolved.cell.toolchain, resolved.flag_set) for resolved in own] == [
        ("clang-16", "O2")
    ] * 2
    assert {resolved.cell.n_bytes for resolved in own} == {16, 4096}
    assert len(planned) - 2 == len(plan(replace(axes, functions=functions[:1]), PLACE))
    first = FlagSet("no-hoist", ("-O2", "-fno-code-hoisting"), None)
    (resolved,) = plan(Axes(functions[1:], TOOLCHAINS, (first,), HOST), PLACE)
    assert (resolved.cell.toolchain, resolved.why_not) == ("gcc-12", "")


def test_the_default_flag_sets_are_these_in_this_order() -> None:
    ubsan, bounds = "-fsanitize=undefined", "-fsanitize=bounds -fsanitize=object-size"
    no_pre, no_hoist = "-fno-tree-pre -fno-tree-sra", "-fno-code-hoisting"
    both = {
        "O2": "-O2",
        "O2+v4": "-O2 -march=x86-64-v4",
        "O2+ubsan": f"-O2 {ubsan}",
        "O1": "-O1",
        "Os": "-Os",
        "O3": "-O3",
        "O2+v3": "-O2 -march=x86-64-v3",
        "O2+native": "-O2 -march=native",
        "O2+no-pre-sra": f"-O2 {no_pre}",
        "O2+bounds": f"-O2 {bounds}",
        "O2+no-hoist": f"-O2 {no_hoist}",
        "O2+no-slp": "-O2 -fno-tree-slp-vectorize",
        "O1+ubsan": f"-O1 {ubsan}",
        "O2+no-pre-sra+ubsan": f"-O2 {no_pre} {ubsan}",
        "O2+no-hoist+ubsan": f"-O2 {no_hoist} {ubsan}",
        "O1+bounds": f"-O1 {bounds}",
        "O2+lto": "-O2 -flto",
    }
    of_gcc = {flag_set.name: " ".join(flag_set.flags("gcc") or ()) for flag_set in chosen([], [])}
    assert list(of_gcc.items()) == list(both.items())
    of_clang = {flag_set.name: flag_set.flags("clang") for flag_set in chosen([], [])}
    alone = [name for name in both if "no-pre" in name or "no-hoist" in name]
    expected = {**both, **dict.fromkeys(alone), "O2+no-slp": "-O2 -fno-slp-vectorize"}
    assert of_clang == {name: f.split() and tuple(f.split()) if f else None
                        for name, f in expected.items()}  # fmt: skip
