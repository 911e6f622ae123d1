# SPDX-License-Identifier: MIT
import os

import pytest
from players import Compilers
from world import Lab

from everycore.compile.catalog import find_tree
from everycore.compile.toolchains.compilers_file import read_lock
from everycore.compile.toolchains.installed import installed, named_or_fetchable
from everycore.model.domain import Toolchain


def all_of(lab: Lab) -> dict[str, Toolchain]:
    context = lab.context()
    return {
        toolchain.name: toolchain for toolchain in installed(context, find_tree(context.package))
    }


def command(toolchain: Toolchain, target: str) -> list[str]:
    compiler = toolchain.compiler(target)
    assert compiler is not None
    return [os.path.basename(compiler.command[0]), *compiler.command[1:]]  # noqa: PTH119


def test_gccs_come_before_clangs_and_old_before_new(lab: Lab, compilers: Compilers) -> None:
    compilers.add("clang-19", "clang", 19, 1, 7)
    compilers.add("gcc-12", "gcc", 12, 2, 0)
    compilers.add("gcc-9", "gcc", 9, 3, 0)
    found = all_of(lab)
    assert list(found) == ["gcc-9", "gcc-12", "clang-19"]
    assert found["gcc-9"].version == (9, 3, 0)
    assert found["gcc-9"].provider == "host"


def test_the_folder_of_fetched_compilers_is_not_this_machine_s(
    lab: Lab, compilers: Compilers
) -> None:
    compilers.add("gcc-12", "gcc", 12, 2, 0)
    wrappers = lab.context().cache_dir() / "toolchains" / "bin"
    wrappers.mkdir(parents=True)
    compilers.add("clang-19", "clang", 19, 1, 7).rename(wrappers / "clang-19")
    lab.env["PATH"] += f":{wrappers}"
    assert list(all_of(lab)) == ["gcc-12"]


def test_gcc_and_cc_are_called_by_their_versions(lab: Lab, compilers: Compilers) -> None:
    compilers.add("gcc", "gcc", 15, 1, 0)
    compilers.add("cc", "clang", 17, 0, 0)
    assert set(all_of(lab)) == {"gcc-15", "clang-17"}


def test_a_name_with_its_version_is_taken_before_one_that_may_change(
    lab: Lab, compilers: Compilers
) -> None:
    compilers.add("gcc", "gcc", 12, 2, 0)
    compilers.add("gcc-12", "gcc", 12, 2, 0)
    assert command(all_of(lab)["gcc-12"], "host") == ["gcc-12"]


def test_cross_compilers_belong_to_the_toolchain_of_their_version(
    lab: Lab, compilers: Compilers
) -> None:
    compilers.add("gcc-12", "gcc", 12, 2, 0)
    compilers.add("aarch64-linux-gnu-gcc-12", "gcc", 12, 2, 0)
    compilers.add("s390x-linux-gnu-gcc", "gcc", 14, 2, 0)
    found = all_of(lab)
    assert command(found["gcc-12"], "qemu-aarch64") == ["aarch64-linux-gnu-gcc-12"]
    assert found["gcc-12"].compiler("qemu-s390x") is None
    assert command(found["gcc-14"], "qemu-s390x") == ["s390x-linux-gnu-gcc"]
    assert command(found["gcc-14"], "hercules-z") == ["s390x-linux-gnu-gcc"]
    assert found["gcc-14"].compiler("qemu-aarch64") is None


def test_a_cross_compiler_of_another_minor_version_is_another_compiler(
    lab: Lab, compilers: Compilers
) -> None:
    compilers.add("gcc-12", "gcc", 12, 2, 0)
    compilers.add("aarch64-linux-gnu-gcc-12", "gcc", 12, 4, 0)
    assert all_of(lab)["gcc-12"].compiler("qemu-aarch64") is None


def test_clang_compiles_for_every_target_whose_headers_are_here(
    lab: Lab, compilers: Compilers
) -> None:
    compilers.add("clang-19", "clang", 19, 1, 7)
    compilers.refuse = {"--target=hppa-linux-gnu"}
    found = all_of(lab)["clang-19"]
    assert command(found, "qemu-riscv64") == ["clang-19", "--target=riscv64-linux-gnu"]
    assert found.compiler("qemu-hppa") is None
    compilers.calls.clear()
    assert all_of(lab)["clang-19"] == found
    assert not compilers.calls  # not for the target that it does not know, either


def test_targets_of_this_machine_have_its_own_compilers(
    lab: Lab, compilers: Compilers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    compilers.add("gcc-12", "gcc", 12, 2, 0)
    assert command(all_of(lab)["gcc-12"], "qemu-haswell") == ["gcc-12"]


def test_a_compiler_that_compiles_nothing_is_none(lab: Lab, compilers: Compilers) -> None:
    compilers.add("gcc-12", "gcc", 12, 2, 0)
    compilers.refuse = {"gcc-12"}
    assert not all_of(lab)


def test_a_compiler_is_asked_again_only_when_it_has_changed(lab: Lab, compilers: Compilers) -> None:
    compilers.add("gcc-12", "gcc", 12, 2, 0)
    first = all_of(lab)["gcc-12"].compiler("host")
    compilers.calls.clear()
    assert all_of(lab)["gcc-12"].compiler("host") == first
    assert not compilers.calls
    compilers.add("gcc-12", "gcc", 12, 4, 0)
    again = all_of(lab)["gcc-12"]
    assert again.version == (12, 4, 0)
    assert again.compiler("host") != first


def test_a_damaged_memory_of_answers_is_none(lab: Lab, compilers: Compilers) -> None:
    compilers.add("gcc-12", "gcc", 12, 2, 0)
    all_of(lab)
    (lab.context().cache_dir() / "toolchains/answers.json").write_text('{"format": 1')
    assert set(all_of(lab)) == {"gcc-12"}


def test_an_unknown_name_says_which_are_here(lab: Lab, compilers: Compilers) -> None:
    compilers.add("gcc-12", "gcc", 12, 2, 0)
    context = lab.context()
    tree = find_tree(context.package)
    error = named_or_fetchable(context, tree, "gcc-99", all_of(lab))
    assert error.message == "unknown toolchain 'gcc-99'"
    assert "gcc-12" in error.hint
    assert "add" not in error.hint  # no lock has it


def test_an_unknown_name_that_can_be_had_is_fetched_by_a_command(
    lab: Lab, compilers: Compilers
) -> None:
    compilers.add("gcc-12", "gcc", 12, 2, 0)
    context = lab.context()
    tree = find_tree(context.package)
    can_be_had = read_lock(context, tree).names()[-1]
    error = named_or_fetchable(context, tree, can_be_had, all_of(lab))
    assert error.hint == f"`everycore toolchain add {can_be_had}` fetches it"
