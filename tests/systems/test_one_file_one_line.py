# SPDX-License-Identifier: MIT
"""A kernel is one file and one line: prove it on a copy of the tree.

The template kernel and its line are added, and nothing else. It must then be built, listed,
selected, checked and measured; and when its file breaks, the check must fail. The same with a
second file for its assembly, built for another CPU. Kernels that take no part, above all those for
other CPUs, are deleted with their lines and not compiled.
"""

import contextlib
import dataclasses
import json
import pathlib
import re
import shutil
import sys
from collections.abc import Iterator

import pytest
from few_kernels import keep_kernels
from processes import ROOT, ended, need, run
from reads import LIBRARY
from running import keeping_cross_file, kept_objects

pytestmark = [
    pytest.mark.slow,
    pytest.mark.reads(
        *LIBRARY, "tools/", "tests/systems/few_kernels.py", "tests/systems/template_"
    ),
]
STEM = "c_template"
LINE = f"KERNEL(aes, {STEM},     ANY,         CT,       SERIAL)\n"
ASSEMBLY_STEM = "a64_template"
ASSEMBLY_LINE = f"KERNEL(aes, {ASSEMBLY_STEM},  A64_NEON, CT,       ANY)\n"
CROSS = ("aarch64-linux-gnu-gcc", "qemu-aarch64")
REFERENCE = "c_ref"
NAMED = ("c_halves", "c_words32")  # by tests/oracles/meson.build
# The template is slow, above all when it is emulated: a property of AES that it has need not be
# tried by these, which encrypt the most, and in most tests by FAST alone.
LONGEST = (
    "accesses_stay_inside_the_buffers",
    "many_messages_equal_one_by_one",
    "page_ends_change_no_result",
    "up_to_1024_blocks_equal_reference",
)
FAST = (
    "descriptor_agrees_with_its_line",
    "known_answers",
    "every_length_equals_reference",
    "in_place_equals_disjoint",
    "split_calls_equal_one_call",
    "decryption_inverts_encryption",
)


def copy_tree(to: pathlib.Path) -> None:
    """Without git too, as in an unpacked archive: all but what was made here (.gitignore)."""

    def made(folder: str, names: list[str]) -> list[str]:
        at_top = pathlib.Path(folder) == ROOT
        return [
            name
            for name in names
            if name in (".git", "__pycache__")
            or name.endswith(".egg-info")
            or (at_top and (name.startswith((".venv", "dist", "build")) or name.endswith("cache")))
        ]

    shutil.copytree(ROOT, to, ignore=made, dirs_exist_ok=True)


def facts(text: str, kind: str) -> list[dict[str, object]]:
    """The harness's lines of one type."""
    lines = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    return [line for line in lines if line["type"] == kind]


@dataclasses.dataclass(frozen=True)
class Copy:
    """A copy of the tree, and the file of the template in it."""

    tree: pathlib.Path
    file: pathlib.Path
    cross: str = ""  # catalog/toolchains/<cross>.ini
    # Exit code and output of tools/check-tree before other kernels were deleted.
    rules: tuple[int, str] = (0, "")

    @property
    def harness(self) -> pathlib.Path:
        return self.tree / "build/harness/harness"

    def build(self, target: str = "harness") -> None:
        """Build the library, or the harness too, without the tests and with warnings as errors."""
        kept, settings = kept_objects()
        if not (self.tree / "build").exists():
            options = ["--werror", "-Ddefault_library=static", "-Doptimization=1", "-Ddebug=false"]
            if self.cross:
                options += ["--cross-file", f"catalog/toolchains/{self.cross}.ini"]
                options += keeping_cross_file(self.cross, kept)
            else:
                settings |= {"CC": " ".join([*kept, "cc"])}
            run(["meson", "setup", *options, "build"], self.tree, environment=settings)
        run(["meson", "compile", "-C", "build", target], self.tree, environment=settings)

    @contextlib.contextmanager
    def changed(self, file: pathlib.Path, text: str, target: str = "harness") -> Iterator[None]:
        """Build with another text of a file, which is restored after the block."""
        good = file.read_text()
        assert text != good
        file.write_text(text)
        try:
            self.build(target)
            yield
        finally:
            file.write_text(good)

    def check(self, *words: str, emulator: tuple[str, ...] = ()) -> tuple[int, str]:
        """Return the exit code and the output of a quick check of the template."""
        stem = self.file.stem
        command = [*emulator, str(self.harness), "check", "--kernel", stem, "--quick", *words]
        return ended(*command, cwd=self.tree)


def properties(text: str) -> list[str]:
    return [str(fact["property"]) for fact in facts(text, "check")]


def results(text: str) -> list[object]:
    return [fact["result"] for fact in facts(text, "check")]


def add_line(tree: pathlib.Path, line: str) -> None:
    registry = tree / "src/kernels.def"
    text = registry.read_text()
    registry.write_text(re.sub("^KERNEL", line + "KERNEL", text, count=1, flags=re.M))


# ---- A kernel in C -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    tree = tmp_path_factory.mktemp("tree")
    copy_tree(tree)
    file = tree / f"src/aes/{STEM}.c"
    shutil.copy(ROOT / "tests/systems/template_kernel.c", file)
    add_line(tree, LINE)
    if (tree / "tools/gen-docs").exists():
        ended(sys.executable, "tools/gen-docs", cwd=tree)
    rules = ended(sys.executable, "tools/check-tree", cwd=tree)
    keep_kernels(tree, lambda stem: stem in (STEM, REFERENCE, *NAMED))
    return Copy(tree, file, rules=rules)


@pytest.fixture
def template(copy: Copy) -> Copy:
    """The copy, built from unbroken files."""
    copy.build()
    return copy


def test_the_tree_with_the_template_keeps_its_rules(copy: Copy) -> None:
    code, text = copy.rules
    assert code == 0, text


def test_list_names_it_first_as_its_line_is(template: Copy) -> None:
    _, text = ended(template.harness, "list")
    assert any(
        fact["name"] == STEM and fact["built"] and fact["runs"] and fact["rank"] == 0
        for fact in facts(text, "kernel")
    ), text


def test_it_is_selected_for_one_chain_as_its_line_says(template: Copy) -> None:
    _, text = ended(template.harness, "resolve")
    assert any(
        fact["use"] == "serial" and fact["kernel"] == STEM for fact in facts(text, "resolve")
    ), text


@pytest.mark.parametrize("left_out", [LONGEST, pytest.param((), marks=pytest.mark.long)])
def test_check_passes_it(template: Copy, left_out: tuple[str, ...]) -> None:
    _, of_reference = ended(template.harness, "check", "--kernel", REFERENCE, "--quick")
    names = [name for name in dict.fromkeys(properties(of_reference)) if name not in left_out]
    code, text = template.check("--property", ",".join(names))
    assert code == 0, text
    assert len(results(text)) > 5
    assert set(results(text)) == {"pass"}
    assert {*FAST} <= {*properties(text)}


def test_bench_measures_it(template: Copy) -> None:
    words = ["--kernel", STEM, "--mode", "ctr", "--bytes", "64", "--samples", "1"]
    code, text = ended(template.harness, "bench", *words)
    assert code == 0, text
    assert any(fact["kernel"] == STEM for fact in facts(text, "bench")), text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("^ 0x63", "^ 0x62", id="S-box"),
        pytest.param("14, 11, 13, 9", "14, 11, 9, 13", id="decryption"),
        pytest.param("in += 16, out += 16", "out += 16", id="second-block"),
    ],
)
def test_check_fails_it_when_it_is_broken(old: str, new: str, copy: Copy) -> None:
    with copy.changed(copy.file, copy.file.read_text().replace(old, new, 1)):
        code, text = copy.check("--property", ",".join(FAST))
    assert code == 1, text
    assert "fail" in results(text)


def test_check_names_a_descriptor_that_has_another_name(copy: Copy) -> None:
    head = f"EVC_KERNEL_HEAD({STEM}"
    text = copy.file.read_text().replace(head, "EVC_KERNEL_HEAD(c_forgotten", 1)
    with copy.changed(copy.file, text):
        code, text = copy.check("--property", ",".join(FAST))
    assert code == 1, text
    assert "its name is c_forgotten" in text
    assert "memory fault" not in text


# ---- A kernel with assembly ----------------------------------------------------------------------


def with_assembly() -> str:
    """The template kernel, whose AddRoundKey is assembly now."""
    text = (ROOT / "tests/systems/template_kernel.c").read_text()
    text = text.replace(STEM, ASSEMBLY_STEM).replace(
        "(a64_template, ANY, CT, SERIAL", "(a64_template, A64_NEON, CT, ANY"
    )
    text = text.replace("ANY.   Timing", "A64_NEON.   Timing").replace(
        "evc_xor16", "evc_aes_a64_template_xor"
    )
    head, rest = text.split('#include "common/bytes.h"\n')
    head = head.replace('"aes/kernel.h"\n', '"aes/kernel.h"\n\n#if EVC_BUILT(A64_NEON)\n')
    declared = "void evc_aes_a64_template_xor(uint8_t *to, const uint8_t *a, const uint8_t *b);\n"
    return f'{head}#include "common/bytes.h"\n\n{declared}{rest}\n#else\nEVC_EMPTY_UNIT\n#endif\n'


@pytest.fixture(scope="module")
def arm_copy(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    need(*CROSS)
    tree = tmp_path_factory.mktemp("arm-tree")
    copy_tree(tree)
    keep_kernels(tree, lambda stem: stem == REFERENCE)
    add_line(tree, ASSEMBLY_LINE)
    file = tree / f"src/aes/{ASSEMBLY_STEM}.c"
    file.write_text(with_assembly())
    shutil.copy(ROOT / "tests/systems/template_kernel_asm.S", assembly_of(tree))
    return Copy(tree, file, "aarch64")


def assembly_of(tree: pathlib.Path) -> pathlib.Path:
    return tree / f"src/aes/{ASSEMBLY_STEM}_asm.S"


def check_objects(tree: pathlib.Path) -> tuple[int, str]:
    programs = [
        word for name in ("nm", "readelf") for word in (f"--{name}", f"aarch64-linux-gnu-{name}")
    ]
    words = [*programs, "--cpu", "aarch64", "build/libeverycore.a"]
    return ended(sys.executable, "tools/check-objects", *words, cwd=tree)


def test_check_passes_a_kernel_with_assembly(arm_copy: Copy) -> None:
    arm_copy.build()
    code, text = arm_copy.check("--property", ",".join(FAST), emulator=CROSS[1:])
    assert code == 0, text
    assert results(text) == ["pass"] * len(FAST)


def test_its_objects_keep_the_rules(arm_copy: Copy) -> None:
    arm_copy.build()
    code, text = check_objects(arm_copy.tree)
    assert code == 0, text


def test_check_objects_finds_an_empty_kernel(arm_copy: Copy) -> None:
    text = arm_copy.file.read_text().replace("#if EVC_BUILT(A64_NEON)", "#if 0", 1)
    with arm_copy.changed(arm_copy.file, text, "everycore"):
        code, text = check_objects(arm_copy.tree)
    assert code == 1, text
    assert f"needs evc_aes_{ASSEMBLY_STEM} from outside" in text


def test_check_fails_it_when_its_assembly_is_broken(arm_copy: Copy) -> None:
    assembly = assembly_of(arm_copy.tree)
    with arm_copy.changed(assembly, assembly.read_text().replace("    eor v0", "    orr v0")):
        code, text = arm_copy.check("--property", "known_answers", emulator=CROSS[1:])
    assert code == 1, text
    assert "fail" in results(text)


def test_check_instructions_finds_what_its_cpus_may_lack(arm_copy: Copy) -> None:
    assembly = assembly_of(arm_copy.tree)
    text = assembly.read_text().replace("evc_isa_neon", "evc_isa_crypto")
    text = text.replace("    eor v0", "    aesmc v0.16b, v0.16b\n    eor v0")
    with arm_copy.changed(assembly, text, "everycore"):
        words = ["--objdump", "aarch64-linux-gnu-objdump", "--cpu", "aarch64"]
        tool = "tools/check-instructions"
        code, text = ended(sys.executable, tool, *words, "build/libeverycore.a", cwd=arm_copy.tree)
    assert code == 1, text
    assert "not A64_AES: aesmc" in text


FUNCTION = "evc_aes_a64_template_xor"
NO_WORD_ON_BRANCHES = """#include "common/any_asm.h"
#define EVC_ASM_A64 1
.macro evc_isa_neon
.endm
.macro evc_end name
.endm
.macro evc_function name
.globl \\name
.hidden \\name
\\name:
.endm"""
# Each case: a text of the assembly, and a wrong one for it; an empty text: its end.
WRONG_ASSEMBLY = [
    pytest.param("", f".protected {FUNCTION}\n", id="visible-function"),
    pytest.param(
        "",
        "evc_function evc_aes_a64_other\n    ret\nevc_end evc_aes_a64_other\n",
        id="name-that-is-not-its-own",
    ),
    pytest.param("    ret\n", "    b memcpy\n", id="call"),
    pytest.param('#include "common/a64_asm.h"', NO_WORD_ON_BRANCHES, id="no-word-on-its-branches"),
]


@pytest.mark.parametrize(("old", "new"), WRONG_ASSEMBLY)
def test_check_objects_finds_wrong_assembly(old: str, new: str, arm_copy: Copy) -> None:
    assembly = assembly_of(arm_copy.tree)
    good = assembly.read_text()
    with arm_copy.changed(assembly, good.replace(old, new) if old else good + new, "everycore"):
        code, text = check_objects(arm_copy.tree)
    assert code == 1, text
    assert assembly.name in text


def test_check_objects_finds_an_executable_stack(arm_copy: Copy) -> None:
    notes = arm_copy.tree / "src/common/any_asm.h"
    text = notes.read_text().replace('.note.GNU-stack, ""', '.note.GNU-stack, "x"')
    with arm_copy.changed(notes, text, "everycore"):
        code, text = check_objects(arm_copy.tree)
    assert code == 1, text
    assert "executable stack" in text
