# SPDX-License-Identifier: MIT
"""Other people's code: described by a file, built, compared and counted."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from world import DATA, Lab

from everycore import subjects
from everycore.compile.catalog import find_tree, registry
from everycore.compile.debs import Lock, Request
from everycore.compile.debs.archive import write_lock
from everycore.compile.debs.lock import File, Pinned
from everycore.compile.toolchains import find_compiler
from everycore.environment.context import Completed, SystemRunner
from everycore.environment.errors import EverycoreError
from everycore.model.domain import Compiler
from everycore.model.targets import load_target
from everycore.subjects import (
    NotCompiledError,
    Subject,
    SubjectUnavailableError,
    ours,
    source_files,
)
from everycore.subjects.describe import load_subject

SOURCE = """
description = "a subject of the tests"
target = "qemu-aarch64"
folder = "theirs"
files = ["xor.c"]
adapter = "adapter.c"
[functions.adds]
computes = "ghash"
technique = "none"
key = "adds_key"
[functions.wrong]
computes = "ctr"
technique = "none"
[functions.beyond]
computes = "ghash"
technique = "none"
key = "adds_key"
[functions.trusts]
computes = "gcm-open"
technique = "none"
key = "trusts_key"
"""
PACKAGE = SOURCE.replace(
    'folder = "theirs"', 'suite = "test"\npackage = "tool"\nunpack = ["theirs"]'
)


@pytest.fixture
def subject(tmp_path: Path) -> Subject:
    shutil.copytree(DATA / "subject", tmp_path / "home")
    return written(tmp_path, SOURCE)


def written(folder: Path, text: str) -> Subject:
    path = folder / "home" / "fake.toml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return load_subject(path)


@pytest.fixture
def program(subject: Subject, real_lab: Lab) -> subjects.Program:
    tree = find_tree(real_lab.context().package)
    target = load_target(tree, subject.target)
    for name in (target.compiler, target.emulator[0]):
        if not shutil.which(name):
            pytest.skip(f"no {name}: apt-get install {' '.join(target.packages)}")
    return subjects.build(real_lab.context(), tree, subject)


def test_only_their_instructions_are_counted(real_lab: Lab, program: subjects.Program) -> None:
    adds = program.subject.function("adds")
    subjects.check(real_lab.context(), program, adds)
    short, long = subjects.trace(real_lab.context(), program, adds, 128, [160, 320])
    places = {long.trace.program.image.place(pc).partition("+")[0] for pc in long.pcs}
    assert places == {"theirs_add"}
    assert 5 * 320 < long.instructions < 12 * 320 < long.trace.instructions + 1000
    assert long.trace.instructions - long.instructions > 1000  # the adapter's loop
    steady = subjects.steady(real_lab.context(), program, adds, 128)
    assert steady.per_byte == (long.instructions - short.instructions) / 160


def test_other_flags_make_other_code_of_theirs(real_lab: Lab, program: subjects.Program) -> None:
    tree = find_tree(real_lab.context().package)
    adds = program.subject.function("adds")
    slow = subjects.build(real_lab.context(), tree, program.subject, flags=["-O0"])
    assert slow.binary != program.binary
    counts = [
        subjects.trace(real_lab.context(), p, adds, 128, [160])[0].instructions
        for p in (program, slow)
    ]
    assert counts[0] * 1.5 < counts[1]


def test_a_header_of_theirs_that_changes_makes_another_program(
    real_lab: Lab, program: subjects.Program
) -> None:
    header = program.subject.home / "theirs/size.h"
    header.write_text(header.read_text().replace("16", "8"))
    tree = find_tree(real_lab.context().package)
    assert subjects.build(real_lab.context(), tree, program.subject).binary != program.binary


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("wrong", "the output is wrong"),
        ("beyond", "writes outside"),
        ("trusts", "the tag is wrong"),
    ],
)
def test_what_is_wrong_is_an_error_and_no_number(
    real_lab: Lab, program: subjects.Program, name: str, why: str
) -> None:
    function = program.subject.function(name)
    for attempt in (
        lambda: subjects.check(real_lab.context(), program, function),
        lambda: subjects.trace(real_lab.context(), program, function, 128, [160]),
    ):
        with pytest.raises(EverycoreError, match=why) as error:
            attempt()
        assert error.value.code == 1


def test_sizes_and_keys_that_a_function_does_not_take_are_named(
    real_lab: Lab, subject: Subject
) -> None:
    program = subjects.Program(subject, None, None, (), "", Path())  # type: ignore[arg-type]
    for arguments, why in (
        ((128, [100]), "takes no 100 bytes"),
        ((128, [0]), "takes no 0 bytes"),
        ((64, [160]), "has no AES-64"),
    ):
        with pytest.raises(EverycoreError, match=why):
            subjects.trace(real_lab.context(), program, subject.function("adds"), *arguments)


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ('folder = "theirs"', 'folder = "theirs"\nsetting = "X"', "one of 'package', 'setting'"),
        ('folder = "theirs"', 'package = "tool"', "needs 'suite' and 'unpack'"),
        ('adapter = "adapter.c"', "", "lacks 'call'"),
        ('computes = "ctr"', 'computes = "ctr"\ncall = "f()"', "has a 'call', and there is an"),
        ('computes = "ctr"', 'computes = "ctr"\noutput = 4', "are of functions that compute"),
        ('files = ["xor.c"]', 'files = ["xor.c"]\nmatrix = ["add"]', "function of fake 'add'"),
        ('adapter = "adapter.c"', "adapter = 1", "'adapter' is not a text"),
        ('files = ["xor.c"]', 'files = "xor.c"', "'files' is not a list of texts"),
        ('files = ["xor.c"]', "files = []", "no files"),
        ("description", "comment", "unknown key 'comment'"),
        ('computes = "ctr"', 'computes = "crt"', "unknown mode"),
        ('computes = "ctr"', 'computes = "ctr"\nkey_bits = [64]', "'key_bits' are of 128"),
        ('computes = "ctr"', 'computes = "ctr"\nmultiple_of = 0', "at least 1"),
        ("[functions.wrong]", '[functions."a b"]', "letters, digits"),
        ("[functions.wrong]", "[functions]\nx = 1\n[functions.wrong]", "x] is no table"),
        ('target = "qemu-aarch64"', "target = ", "cannot read .*fake.toml"),
    ],
)
def test_bad_descriptions_are_named(tmp_path: Path, old: str, new: str, why: str) -> None:
    with pytest.raises(EverycoreError, match=why):
        written(tmp_path, SOURCE.replace(old, new))


def test_unknown_names_get_the_nearest(subject: Subject, real_lab: Lab) -> None:
    with pytest.raises(EverycoreError, match="'ads'") as error:
        subject.function("ads")
    assert "adds" in error.value.hint
    with pytest.raises(EverycoreError, match="unknown subject"):
        subjects.find_subject(find_tree(real_lab.context().package), "linux-vax")


def test_xts_has_no_keys_of_192_bits(tmp_path: Path) -> None:
    text = SOURCE.replace('computes = "ctr"', 'computes = "xts-enc"')
    assert written(tmp_path, text).function("wrong").key_bits == (128, 256)


@pytest.fixture
def packaged(tmp_path: Path, real_lab: Lab) -> Subject:
    """One that comes from the archive of a folder, which lacks its package."""
    if not shutil.which("aarch64-linux-gnu-gcc"):
        pytest.skip("no aarch64-linux-gnu-gcc: apt-get install gcc-aarch64-linux-gnu")
    real_lab.env |= {"EVERYCORE_MIRROR": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "empty")}
    subject = written(tmp_path, PACKAGE)
    request = Request(("test",), "source", sources=("tool",))
    names = ("pool/tool_1.dsc", "pool/tool_1.orig.tar.xz")
    pin = Pinned("tool", "1", tuple(File(name, "0" * 64, 1) for name in names))
    write_lock(subject.lock, Lock(request, "", (), (pin,)))
    return subject


def test_without_network_and_cache_a_subject_is_unavailable(
    packaged: Subject, real_lab: Lab
) -> None:
    with pytest.raises(SubjectUnavailableError, match=r"has no pool/tool_1\.orig") as error:
        subjects.build(real_lab.context(), find_tree(real_lab.context().package), packaged)
    assert "EVERYCORE_MIRROR" in error.value.hint


def test_sources_that_somebody_changed_are_no_reason_to_skip(
    packaged: Subject, real_lab: Lab, tmp_path: Path
) -> None:
    (tmp_path / "pool").mkdir()
    (tmp_path / "pool/tool_1.orig.tar.xz").write_text("x")
    with pytest.raises(EverycoreError, match="wrong sha256") as error:
        subjects.build(real_lab.context(), find_tree(real_lab.context().package), packaged)
    assert not isinstance(error.value, SubjectUnavailableError)


def test_a_missing_compiler_makes_it_unavailable(subject: Subject, lab: Lab) -> None:
    lab.runner.absent = ("aarch64-linux-gnu-gcc",)
    with pytest.raises(SubjectUnavailableError, match="aarch64-linux-gnu-gcc") as error:
        subjects.build(lab.context(), find_tree(lab.context().package), subject)
    assert "gcc-aarch64-linux-gnu" in error.value.hint


@pytest.mark.slow
def test_our_own_kernels_are_subjects_by_their_names(real_lab: Lab) -> None:
    context = real_lab.context()
    tree = find_tree(context.package)
    names = {line.name for line in registry(tree) if line.primitive in ours.FUNCTIONS}
    assert {subject.name for subject in subjects.kernel_subjects(tree)} == names
    # c_ref is also what knows the answers.
    # c_limb32 answers for big numbers.
    portable = [("c_ref", "aes"), ("c_bitslice64", "aes"), ("c_swar64", "qarma")]
    others = [("c_limb32", "bn"), ("c_halves", "bn_words"), ("c_small", "sha2")]
    for name, folder in (*portable, *others):
        subject = subjects.find_subject(tree, name)
        assert subject.files[0] == f"src/{folder}/{name}.c"
        program = subjects.build(context, tree, subject, flags=["-O1"])
        for function in subject.functions:
            subjects.check(context, program, function)
    pair = subjects.find_subject(tree, "x86_vperm")
    assert pair.files == ("src/aes/x86_vperm.c", "src/ghash/x86_vperm.c")
    assert {"cbc-enc", "ctr", "ghash"} == {function.name for function in pair.measured}
    hashes = [subjects.find_subject(tree, name) for name in ("a64_sha2", "a64_sha512", "c_ref")]
    modes = [{f.name for f in hash.functions if f.name.startswith("sha")} for hash in hashes]
    assert modes == [{"sha256-blocks"}, {"sha512-blocks"}, {"sha256-blocks", "sha512-blocks"}]
    assembly = subjects.find_subject(tree, "a64_p8x8")
    assert assembly.files == ("src/ghash/a64_p8x8.c", "src/ghash/a64_p8x8_asm.S")


def test_only_the_files_of_a_subject_are_made_by_the_compiler_in_question(
    real_lab: Lab,
) -> None:
    context = real_lab.context()
    tree = find_tree(context.package)
    target = load_target(tree, "host")
    subject = subjects.find_subject(tree, "c_ctmul64")
    around = subjects.surroundings(context, tree, subject, target)
    flags = ("-O2", "-fstack-usage")
    (made,) = subjects.objects(context, subject, around.compiler, flags, target)
    assert "ctmul" in made.with_suffix(".su").read_text()
    seconds = subjects.compile_seconds(made)
    assert seconds is not None
    assert seconds > 0
    (other,) = subjects.objects(context, subject, around.compiler, ("-O0",), target)
    assert other != made
    assert subjects.link(context, around, [made]) != subjects.link(context, around, [other])
    assert subjects.surroundings(context, tree, subject, target) == around
    with pytest.raises(NotCompiledError, match=r"cannot be linked: .*evc_ghash_c_ctmul64"):
        subjects.link(context, around, [])


def test_a_file_that_does_not_compile_says_the_first_error(real_lab: Lab, subject: Subject) -> None:
    context = real_lab.context()
    tree = find_tree(context.package)
    compiler = find_compiler(context, load_target(tree, "host"), None, [], "")
    for text, why in (
        ("int x = ;\nint y = ;\n", r"cannot compile xor\.c: .*xor\.c:1:9: error: expected"),
        ('#include "nowhere.h"\n', r"error: .*nowhere\.h"),
    ):
        (subject.home / "theirs/xor.c").write_text(text)
        with pytest.raises(NotCompiledError, match=why):
            subjects.objects(context, subject, compiler, ("-O2",), load_target(tree, "host"))


def test_a_program_writes_files_of_several_names_and_is_not_told_the_folder(
    real_lab: Lab, tmp_path: Path
) -> None:
    """OpenSSL's programs write SHA-512 where the name has that number, in a folder's name too."""
    if not shutil.which("perl"):
        pytest.skip("no perl: apt-get install perl")
    text = SOURCE.replace('["xor.c"]', '["size.pl:sha256-x", "size.pl"]')
    subject = written(tmp_path, text)
    assert subject.paths == ("size.pl", "size.pl")
    program = tmp_path / "size.pl"
    program.write_text('open OUT, ">", $ARGV[1]; print OUT $ARGV[1]; close OUT;\n')
    for name in ("sha256-x", "size"):
        made = source_files.written(real_lab.context(), subject, tmp_path, program, name)
        assert (made.name, made.read_text()) == (f"{name}.S", f"{name}.S")
    program.write_text("exit 0;\n")
    with pytest.raises(EverycoreError, match="it wrote nothing"):
        source_files.written(real_lab.context(), subject, tmp_path, program, "size")


def test_the_subjects_of_this_tree_are_pinned(lab: Lab) -> None:
    found = subjects.load_subjects(find_tree(lab.context().package))
    assert {"linux-arm64"} <= {subject.name for subject in found}
    for subject in found:
        assert (subject.home / subject.adapter).is_file()
        if subject.package:
            assert subject.lock.is_file()


def test_what_qemu_lacks_of_ibm_z_has_advice(lab: Lab, subject: Subject) -> None:
    class Unfit(SystemRunner):
        def run(self, *_: Any, **_more: Any) -> Completed:
            return Completed(3, "", "this CPU cannot run s390x_kimd\n")

    context = replace(lab.context(), runner=Unfit())
    hints = []
    for name in ("qemu-s390x", "qemu-hppa"):
        target = load_target(find_tree(context.package), name)
        compiler = Compiler(("cc",), "gcc 12.2.0", "")
        program = subjects.Program(subject, target, compiler, (), "", Path("program"))
        with pytest.raises(SubjectUnavailableError, match="cannot run s390x_kimd") as error:
            subjects.check(context, program, subject.function("adds"))
        hints.append(error.value.hint)
    assert "everycore check --target hercules-z" in hints[0]
    assert hints[1] == ""
