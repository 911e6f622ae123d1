# SPDX-License-Identifier: MIT
from fake_archive import paragraph

from everycore.compile.debs.index import Index
from everycore.compile.toolchains.compiler_lock import Part
from everycore.compile.toolchains.compilers_file import FetchableCompilers
from everycore.compile.toolchains.parts import HEADERS
from everycore.compile.toolchains.suites import Suite, parts_of
from everycore.model.domain import Target

ARM = Target(
    "qemu-arm", "", compiler="arm-linux-gcc", packages=("gcc-arm-linux", "libc6-dev-arm-cross")
)
WANTED = FetchableCompilers((), (), {"gcc": 9, "clang": 9}, {})


def suite(title: str, **packages: str) -> Suite:
    """Packages by name ("_" for "-") with their dependencies."""
    texts = []
    for name, depends in packages.items():
        facts = {"Package": name.replace("_", "-"), "Version": "1.0", "Depends": depends}
        facts |= {"Filename": f"pool/{name}.deb", "SHA256": "0" * 64, "Size": "1"}
        texts.append(paragraph(facts))
    return Suite(title, (Index("\n\n".join(texts)),))


def found(*suites: Suite, target: Target = ARM) -> dict[tuple[str, str], Part]:
    return {(part.name, part.target): part for part in parts_of(suites, WANTED, [target])}


def needs(part: Part) -> list[str]:
    return [pin.name for pin in part.files]


def test_a_compiler_is_taken_from_the_first_suite_that_has_it() -> None:
    parts = found(suite("stable", gcc_12=""), suite("new", gcc_12="", gcc_13=""))
    assert parts["gcc-12", "host"].source == "Debian stable"
    assert parts["gcc-13", "host"].origin == "Debian new, gcc-13 1.0"


def test_a_suite_in_motion_that_lacks_something_is_passed_over() -> None:
    parts = found(suite("moving", gcc_16="libisl99"), suite("other", gcc_16=""))
    assert parts["gcc-16", "host"].source == "Debian other"


def test_what_is_only_for_linking_and_for_other_languages_is_left_out() -> None:
    parts = found(
        suite(
            "s",
            gcc_13="cpp-13, libgcc-13-dev, binutils, libcc1-0, libstdc++-13-dev, libc6-dev",
            cpp_13="gcc-13-base, libc6",
            libgcc_13_dev="libasan8, libgcc-s1, libc6-dev",
            libgcc_s1="",
            libc6="",
            binutils="",
            clang_19="libllvm19, libgcc-13-dev, binutils, llvm-19-linker-tools, libc6",
            libllvm19="libz3-4",
            libz3_4="",
        )
    )
    assert needs(parts["gcc-13", "host"]) == [
        "binutils",
        "cpp-13",
        "gcc-13",
        "libc6",
        "libgcc-13-dev",
        "libgcc-s1",
    ]
    assert needs(parts["clang-19", "host"]) == ["clang-19", "libc6", "libllvm19", "libz3-4"]


def test_old_compilers_and_other_packages_are_not_asked_for() -> None:
    assert not found(suite("s", gcc_8="", gcc_13_doc="", clang="", clang_tools_19=""))


def test_cross_compilers_and_the_headers_of_their_target_are_parts_of_their_own() -> None:
    parts = found(
        suite(
            "s",
            gcc_13="",
            gcc_13_arm_linux="libgcc-13-dev-arm-cross",
            libgcc_13_dev_arm_cross="",
            libc6_dev_arm_cross="linux-libc-dev-arm-cross",
            linux_libc_dev_arm_cross="",
        )
    )
    assert needs(parts["gcc-13", "qemu-arm"]) == ["gcc-13-arm-linux", "libgcc-13-dev-arm-cross"]
    assert needs(parts[HEADERS, "qemu-arm"]) == ["libc6-dev-arm-cross", "linux-libc-dev-arm-cross"]
    assert parts["gcc-13", "host"].package == "gcc-13"
