# SPDX-License-Identifier: MIT
"""Any C function: called by one expression, held against vectors and a build that is trusted."""

from pathlib import Path

import pytest
from world import Lab

from everycore import subjects
from everycore.compile.catalog import find_tree
from everycore.environment.errors import EverycoreError
from everycore.subjects.describe import load_subject

TOML = """
files = ["sum.c"]
includes = ["inc"]
header = "sum.h"
[functions.sum]
call = "out[0] = sum(key[0], in, n_bytes)"
output = 1
vectors = [{ in = "010203", out = "0a", key = "04" }]
[functions.twice]
setup = "memcpy(own, key, 4)"
call = "twice(out, in, n_bytes, own)"
constant_time = true
"""
HEADER = """
#include <stddef.h>
unsigned char sum(unsigned char begin, const unsigned char *in, size_t n);
void twice(unsigned char *out, const unsigned char *in, size_t n, const unsigned char *key);
"""
SOURCE = """
#include "sum.h"
unsigned char sum(unsigned char begin, const unsigned char *in, size_t n)
{
    while (n--)
        begin += *in++;
    return begin;
}
void twice(unsigned char *out, const unsigned char *in, size_t n, const unsigned char *key)
{
    for (size_t i = 0; i < n; i++)
        out[i] = (unsigned char)(2 * in[i] ^ key[i % 4]);
}
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "inc").mkdir()
    (tmp_path / "inc/sum.h").write_text(HEADER)
    (tmp_path / "sum.c").write_text(SOURCE)
    (tmp_path / "mine.toml").write_text(TOML)
    return tmp_path


def check(lab: Lab, home: Path, name: str, *flags: str) -> None:
    context = lab.context()
    tree = find_tree(context.package)
    subject = subjects.find_subject(tree, str(home / "mine.toml"))
    program = subjects.build(context, tree, subject, flags=flags)
    subjects.check(context, program, subject.function(name))


def test_a_function_is_right_without_an_adapter_of_its_own(real_lab: Lab, home: Path) -> None:
    check(real_lab, home, "sum")
    check(real_lab, home, "twice", "-O3")


def test_the_example_of_the_docs_works(real_lab: Lab, tmp_path: Path) -> None:
    tree = find_tree(real_lab.context().package)
    page = (tree.root / "docs/guides/adding-a-subject.md").read_text(encoding="utf-8")
    text = page.partition("```toml\n")[2].partition("```")[0]
    assert len(text.splitlines()) <= 15
    (tmp_path / "inc").mkdir()
    declaration = (
        "#include <stddef.h>\n#include <stdint.h>\nuint32_t fletcher(const uint8_t *, size_t)"
    )
    (tmp_path / "inc/fletcher.h").write_text(f"{declaration};\n")
    (
        tmp_path / "fletcher.c"
    ).write_text(f"""{declaration.replace("*,", "*in,").replace("t)", "t n)")}
{{
    uint32_t a = 0, b = 0;

    for (size_t i = 0; i < n; i++) {{
        a = (a + in[i]) % 65535;
        b = (b + a) % 65535;
    }}
    return b << 16 | a;
}}
""")
    (tmp_path / "fletcher.toml").write_text(text)
    done = real_lab("subject", "check", str(tmp_path / "fletcher.toml"))
    assert (done.code, "trusted build" in done.out) == (0, True), done.err


def test_a_wrong_vector_and_a_wrong_build_are_told_apart(real_lab: Lab, home: Path) -> None:
    (home / "mine.toml").write_text(TOML.replace('"0a"', '"0b"'))
    with pytest.raises(
        EverycoreError, match="should: the answer to check vector 1, of 3 bytes,"
    ) as told:
        check(real_lab, home, "sum")
    assert str(told.value).count("check vector") == 1
    assert "(byte 0 of 1: got 0a, expected 0b)" in str(told.value)
    check(real_lab, home, "twice")
    # Right by the compiler of the reference, wrong by another: what a miscompilation looks like.
    (home / "sum.c").write_text(SOURCE.replace("2 * in", "FACTOR * in"))
    header = "#ifndef FACTOR\n#define FACTOR 2\n#endif\n"
    (home / "inc/sum.h").write_text(header + HEADER)
    check(real_lab, home, "twice", "-O2")
    with pytest.raises(EverycoreError, match="twice does not compute as it should: 1 byte: the"):
        check(real_lab, home, "twice", "-O2", "-DFACTOR=3")


def test_a_trusted_build_that_fails_a_vector_judges_nothing(real_lab: Lab, home: Path) -> None:
    (home / "sum.c").write_text(SOURCE.replace("begin += *in++", "begin += FACTOR * *in++"))
    (home / "inc/sum.h").write_text("#ifndef FACTOR\n#define FACTOR 3\n#endif\n" + HEADER)
    with pytest.raises(
        EverycoreError, match="answer of the trusted build to check vector 1, of 3 bytes, is wrong"
    ):
        check(real_lab, home, "sum", "-DFACTOR=1")


def test_a_file_of_c_that_another_includes_is_seen_when_it_changes(
    real_lab: Lab, home: Path
) -> None:
    (home / "part.c").write_text("")
    (home / "sum.c").write_text('#include "part.c"\n' + SOURCE)
    check(real_lab, home, "sum")
    (home / "part.c").write_text("#error changed\n")
    with pytest.raises(subjects.NotCompiledError, match="changed"):
        check(real_lab, home, "sum")


def test_a_header_that_changes_is_seen(real_lab: Lab, home: Path) -> None:
    check(real_lab, home, "sum")
    (home / "inc/sum.h").write_text("#error changed\n")
    with pytest.raises(subjects.NotCompiledError, match="changed"):
        check(real_lab, home, "sum")


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("in, n_bytes)", "in, bytes)", r"mine\.toml: call of sum:1:.*bytes"),
        ('"sum.h"', '"some.h"', r"mine\.toml: header:1:.*some\.h"),
        ("memcpy(own", "memcpy(owned", r"mine\.toml: setup of twice:1:.*owned"),
        ('"sum.c"', '"other.c"', "have no file other.c"),
        ("= sum(", "= som(", r"som"),
    ],
)
def test_mistakes_are_shown_where_they_are(
    real_lab: Lab, home: Path, old: str, new: str, why: str
) -> None:
    (home / "mine.toml").write_text(TOML.replace(old, new))
    with pytest.raises(EverycoreError, match=why):
        check(real_lab, home, "sum")


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("*(volatile int *)8 = 1;", "crashes: SIGSEGV"),
        ('for (;;) __asm__ volatile ("");', "comes to no end within 1 second"),
        ("out[n] = 1;", "writes outside of its output"),
    ],
)
def test_what_crashes_or_never_ends_is_told(
    real_lab: Lab, home: Path, code: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subjects.count, "SECONDS", 1)
    broken = SOURCE.replace(
        "    for (size_t i", f"#ifdef __OPTIMIZE_SIZE__\n    {code}\n#endif\n    for (size_t i"
    )
    (home / "sum.c").write_text(broken)
    check(real_lab, home, "twice", "-O2")
    with pytest.raises(EverycoreError, match=why):
        check(real_lab, home, "twice", "-Os")


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ('header = "sum.h"', "", "lacks 'header' or 'declaration'"),
        ('"0a"', '"0a0b"', "has 2 bytes, not 1"),
        ('"0a"', '"xy"', "is not hex: xy"),
        ('key = "04"', f'key = "{"00" * 33}"', "more than 32 bytes"),
        ('out = "0a", ', "", "lacks 'out'"),
        ("vectors = [", "vectors = [1, ", "not a list of tables"),
        ("constant_time = true", "constant_time = 1", "not true or false"),
    ],
)
def test_bad_descriptions_are_named(home: Path, old: str, new: str, why: str) -> None:
    (home / "mine.toml").write_text(TOML.replace(old, new))
    with pytest.raises(EverycoreError, match=why):
        load_subject(home / "mine.toml")


def test_a_description_is_found_by_its_path_and_beside(
    lab: Lab, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = find_tree(lab.context().package)
    monkeypatch.chdir(home)
    names = ("./mine.toml", "mine.toml", "mine", str(home / "mine"))
    assert {subjects.find_subject(tree, name).name for name in names} == {"mine"}
    for name in ("./other.toml", "sub/mine", "other"):
        with pytest.raises(EverycoreError, match=r"no file|unknown subject"):
            subjects.find_subject(tree, name)


def test_a_tree_that_the_user_names_is_asked_for(lab: Lab, home: Path) -> None:
    (home / "mine.toml").write_text('setting = "EVERYCORE_SUM"\n' + TOML)
    context = lab.context()
    tree = find_tree(context.package)
    subject = load_subject(home / "mine.toml")
    with pytest.raises(subjects.SubjectUnavailableError, match="EVERYCORE_SUM names no folder"):
        subjects.build(context, tree, subject)
    lab.env["EVERYCORE_SUM"] = str(home / "inc")
    with pytest.raises(EverycoreError, match=r"there is no sum\.c"):
        subjects.build(lab.context(), tree, subject)


def test_a_file_in_the_current_folder_has_its_adapter_beside_it(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(home)
    assert load_subject(Path("mine.toml")).home == home
