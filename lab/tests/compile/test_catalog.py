# SPDX-License-Identifier: MIT
from pathlib import Path

import pytest
from library_reads import reads_all
from world import PACKAGE

from everycore.compile import catalog
from everycore.environment.errors import EverycoreError
from everycore.model.domain import RegistryLine, Tree


def test_registry_lines_are_read_in_order_and_comments_are_not() -> None:
    text = (
        "/* KERNEL(no) */\n"
        "KERNEL(aes, x86_aesni,   X86_AESNI, CT, ANY)\n"
        "KERNEL(aes,c_ref,ANY,VARTIME,SERIAL,NAMED)\n"
    )
    assert catalog.parse_registry(text) == [
        RegistryLine("aes", "x86_aesni", "X86_AESNI", "CT", "ANY"),
        RegistryLine("aes", "c_ref", "ANY", "VARTIME", "SERIAL"),
    ]


def test_features_are_grouped_by_architecture() -> None:
    text = """A(OTHER, "other") A(X86, "x86") A(S390X, "s390x") \\
        F(X86_SSE41, X86, 2, "sse4.1") \\
        F(A64_AES, A64, 1, "aes")
        F(CT_MUL, OTHER, 63, "ct-mul")"""
    assert catalog.parse_features(text) == {
        "other": ["ct-mul"],
        "x86": ["sse4.1"],
        "s390x": [],
        "a64": ["aes"],
    }


def test_the_real_registry_and_features_are_found() -> None:
    tree = catalog.find_tree(PACKAGE)
    assert tree.is_checkout
    assert "c_ref" in [line.name for line in catalog.registry(tree)]
    features = catalog.features(tree)
    assert {"sse2", "vaes", "x86-64", "tune-zmm"} <= set(features["x86"])
    assert {"tune-word64", "ct-mul"} <= set(features["other"])


@reads_all
def test_every_registry_line_has_a_source() -> None:
    tree = catalog.find_tree(PACKAGE)
    sources = {path.as_posix() for path in catalog.sources(tree)}
    for line in catalog.registry(tree):
        assert f"src/{line.primitive}/{line.name}.c" in sources


def test_sources_and_headers_are_those_below_their_folders(tmp_path: Path) -> None:
    for name in (
        "src/a.c",
        "src/x/b.S",
        "src/x/c.h",
        "harness/port/d.c",
        "include/e.h",
        "tests/f.c",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    tree = Tree(tmp_path, True)
    assert [p.as_posix() for p in catalog.sources(tree)] == [
        "harness/port/d.c",
        "src/a.c",
        "src/x/b.S",
    ]
    assert [p.as_posix() for p in catalog.headers(tree)] == ["include/e.h", "src/x/c.h"]


def test_the_packaged_tree_is_found_where_there_is_no_checkout(tmp_path: Path) -> None:
    package = tmp_path / "site-packages" / "everycore"
    registry = package / "tree" / "src" / "kernels.def"
    registry.parent.mkdir(parents=True)
    registry.touch()
    assert catalog.find_tree(package) == Tree(package / "tree", is_checkout=False)


def test_a_tree_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(EverycoreError, match="not where they should be"):
        catalog.find_tree(tmp_path)
    with pytest.raises(EverycoreError, match=r"no src/kernels.def"):
        catalog.find_tree(PACKAGE, str(tmp_path))


@reads_all
def test_what_resolve_waits_for_the_first_time_is_no_kernel() -> None:
    """A few files, which compile in a second; with all kernels it would be a minute."""
    tree = catalog.find_tree(PACKAGE)
    primitives = {line.primitive for line in catalog.registry(tree)}
    own = catalog.resolver_sources(tree)
    assert not {path.parts[1] for path in own if path.parts[0] == "src"} & primitives
    assert len(own) < len(catalog.sources(tree)) / 4


@reads_all
def test_a_bench_of_ciphers_compiles_a_third_of_the_files() -> None:
    tree = catalog.find_tree(PACKAGE)
    every = catalog.sources(tree)
    running = {("aes", "c_ref"), ("aes", "x86_vaes512"), ("ghash", "c_ref")}
    names = {path.as_posix() for path in catalog.cipher_sources(tree, running)}
    assert len(names) < len(every) / 3
    assert {"src/aes/c_ref.c", "src/aes/x86_vaes512.c", "src/ghash/c_ref.c"} <= names
    assert {"src/modes/xts.c", "src/gcm/pieces.c", "harness/bench_gcm.c"} <= names
    assert not {"src/aes/c_ttable4.c", "src/gcm/x86_vaes512_asm.S", "src/bn/c_ref.c"} & names
    assert not {"harness/check.c", "harness/bench_bn.c", "harness/ct.c"} & names


def test_properties_are_those_of_the_tables_of_the_harness(tmp_path: Path) -> None:
    (tmp_path / "harness").mkdir()
    (tmp_path / "harness/check_x.c").write_text(
        "static void others(void) {\n    PROPERTY(none);\n}\n"
        "static const struct property properties[] = {\n"
        "#define PROPERTY(name) {#name, name, false}\n    PROPERTY(one),\n#undef PROPERTY\n"
        '    {"two", own_two, true},\n    PROPERTY(one),\n};\n'
    )
    assert catalog.properties(Tree(tmp_path, is_checkout=True)) == ["one", "two"]
