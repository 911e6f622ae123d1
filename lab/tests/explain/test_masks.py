# SPDX-License-Identifier: MIT
"""Variables that hide instructions: which ones a value hides. Values are of public reports."""

import pytest

from everycore.explain import libraries, masks
from everycore.explain.environments import wanted
from everycore.explain.explanation import _causes, _effects

X86, ARM = "x86_64", "aarch64"


@pytest.mark.parametrize(
    ("variable", "value", "hides", "keeps"),
    [
        # Without a second part, OpenSSL clears the words of leaf 7.
        ("OPENSSL_ia32cap", "~0x200000200000000", "aes pclmulqdq sha_ni avx2 bmi2", "ssse3 avx"),
        ("OPENSSL_ia32cap", "~0x200000200000000:~0x0", "aes pclmulqdq", "sha_ni avx2 bmi2"),
        ("OPENSSL_ia32cap", ":~0x20000000", "sha_ni", "aes pclmulqdq avx2 avx512f"),
        ("OPENSSL_ia32cap", "~0x2000000", "sse sha_ni vaes", "aes pclmulqdq"),
        ("OPENSSL_ia32cap", "~0x1000000:~0", "aes pclmulqdq avx", "ssse3 avx2"),
        ("OPENSSL_ia32cap", "~144115196665790464:~0", "aes pclmulqdq", "sha_ni"),
        ("OPENSSL_ia32cap", "0xFFFFFFFFFFFFFFFF:0xFFFFFFFFFFFFFFFF", "", "aes sha_ni vaes adx"),
        ("OPENSSL_ia32cap", "0", "aes pclmulqdq ssse3 sha_ni adx", ""),
        ("OPENSSL_ia32cap", ":", "sha_ni avx2", "aes pclmulqdq"),
        ("OPENSSL_ia32cap", "::~0x4", "", "aes sha_ni avx2"),
        ("GNUTLS_CPUID_OVERRIDE", "0x1", "aes ssse3 pclmulqdq avx sha_ni", ""),
        ("GNUTLS_CPUID_OVERRIDE", "0xA", "sha_ni avx", "aes pclmulqdq"),
        ("GNUTLS_CPUID_OVERRIDE", "0x3e", "", "aes ssse3 pclmulqdq avx sha_ni"),
        ("NETTLE_FAT_OVERRIDE", "vendor:intel", "aes sha_ni pclmulqdq", ""),
        ("NETTLE_FAT_OVERRIDE", "vendor:amd,aesni,sha_ni,pclmul", "", "aes sha_ni pclmulqdq"),
        ("GODEBUG", "http2debug=1,cpu.aes=off", "aes", "pclmulqdq"),
        ("GODEBUG", "cpu.all=off,cpu.aes=on", "pclmulqdq avx2 sha_ni", "aes"),
        ("GODEBUG", "cpu.avx512f=off", "avx512f", "aes pclmulqdq"),
        ("GODEBUG", "cpu.aes=off,cpu.aes=on", "", "aes"),
        ("GODEBUG", "tlsrsakex=1", "", "aes"),
        ("BOTAN_CLEAR_CPUID", "aesni,clmul", "aes pclmulqdq", "avx2"),
        ("NSS_DISABLE_HW_AES", "0", "aes", "sha_ni"),
        ("OPENSSL_armcap", "0", "", "aes sha_ni"),
        ("OPENSSL_ppccap", "0", "", "aes sha_ni"),
        ("OPENSSL_s390xcap", "zEC12", "", "aes sha_ni"),
    ],
)
def test_a_value_hides_what_its_library_says(
    variable: str, value: str, hides: str, keeps: str
) -> None:
    found = masks.hidden(variable, value, X86)
    assert found is not None
    assert set(hides.split()) <= found
    assert not set(keeps.split()) & found


def test_variables_of_another_machine_hide_nothing_and_its_own_do() -> None:
    assert masks.hidden("OPENSSL_ia32cap", "0", ARM) == frozenset()
    hidden = masks.hidden("OPENSSL_armcap", "0", ARM)
    assert hidden is not None
    assert {"aes", "pmull", "sha2", "sha3"} <= hidden
    assert masks.hidden("OPENSSL_armcap", "0x3d", ARM) == frozenset(
        {"sha512", "sha3", "sve", "sve2"}
    )
    assert masks.hidden("NETTLE_FAT_OVERRIDE", "aes,pmull", ARM) == frozenset({"sha1", "sha2"})
    assert masks.hidden("GODEBUG", "cpu.all=off", "a64") == masks.hidden("OPENSSL_armcap", "0", ARM)
    assert masks.hidden("OPENSSL_ppccap", "0", "ppc64le") is None


def test_variables_of_causes_are_those_of_the_libraries_and_are_decoded() -> None:
    """A variable that is not read from a process, or whose value is not understood, is no use."""
    of_libraries = {mask for library in libraries.known() for mask in library.masks}
    of_causes = {name for cause in _causes() for name in cause.get("set", ())}
    assert of_causes <= wanted()
    assert of_causes - {"GODEBUG"} == of_libraries - {"OPENSSL_ppccap", "OPENSSL_s390xcap"}
    for name in of_causes:
        assert masks.hidden(name, "1", ARM if name.endswith("armcap") else X86) is not None


def test_features_of_effects_are_ones_that_a_variable_can_hide() -> None:
    every = set[str]()
    for machine in (X86, ARM):
        every |= masks.hidden("GODEBUG", "cpu.all=off", machine) or set()
    for effect in _effects():
        assert set(effect["hides"]) <= every, effect
