# SPDX-License-Identifier: MIT
"""Configurations that add the provider to another."""

import pytest

from everycore.environment.errors import EverycoreError
from everycore.openssl.configuration import (
    NO_BASE,
    Base,
    File,
    Sections,
    added_text,
    base_of,
    clauses,
    hindrance,
    is_ours,
    preference_of,
)

MODULE = "/usr/lib/everycore.so"
PATH = "/etc/base.cnf"


def base(text: str) -> Base:
    return base_of(File(PATH, text), lambda _: [])


def result(text: str) -> Sections:
    """The sections of our configuration, with those of its base."""
    ours = added_text(base(text), MODULE)
    assert is_ours(ours)
    return base_of(File("", ours), lambda name: [File(PATH, text)] if name == PATH else []).sections


def providers(found: Sections) -> Sections:
    init = found[found["default"]["openssl_conf"]]
    return {name: found[section] for name, section in found[init["providers"]].items()}


def test_an_empty_configuration_gets_both_providers() -> None:
    found = result("")
    assert providers(found) == {
        "default": {"activate": "1"},
        "everycore": {"module": MODULE, "activate": "1"},
    }
    init = found[found["default"]["openssl_conf"]]
    assert found[init["alg_section"]] == {"default_properties": "?provider=everycore"}
    assert found[init["random"]] == {"properties": "provider=default"}


def test_values_of_the_base_stay() -> None:
    text = """
HOME = .
openssl_conf = mine # used by all
[ mine ]
providers = list
ssl_conf = of_ssl
[list]
default = def
legacy = old
[def]
# activate = 1
[old]
activate = yes
[of_ssl]
system_default = x
"""
    with pytest.raises(EverycoreError, match="it activates legacy, and not the default"):
        result(text)
    found = result(text.replace("# activate", "activate"))
    assert providers(found) == {
        "default": {"activate": "1"},
        "legacy": {"activate": "yes"},
        "everycore": {"module": MODULE, "activate": "1"},
    }
    assert found["mine"]["ssl_conf"] == "of_ssl"
    assert found["default"]["HOME"] == "."


def test_a_default_provider_that_nobody_activated_is_activated() -> None:
    found = result("openssl_conf=a\n[a]\nproviders=p\n[p]\ndefault=d\n[d]\n")
    assert providers(found)["default"] == {"activate": "1"}


PREFERS = "openssl_conf=a\n[a]\nalg_section=g\n[g]\ndefault_properties = %s\n"


def test_preferences_stay_and_ours_is_added_once() -> None:
    both = "fips=yes,?provider=everycore"
    for query in ("fips=yes", both):
        assert result(PREFERS % query)["g"] == {"default_properties": both}


@pytest.mark.parametrize("query", ["?provider=oqsprovider", "provider!=fips", "? Provider = tpm2"])
def test_a_query_never_names_provider_twice(query: str) -> None:
    """OpenSSL ignores a query that names a property twice."""
    both = f"{query},?everycore.aes=yes"
    assert result(PREFERS % query)["g"] == {"default_properties": both}
    assert result(PREFERS % both)["g"] == {"default_properties": both}


def test_a_query_that_openssl_ignores_is_refused_with_its_line() -> None:
    text = PREFERS % "?provider=a, ?provider=b"
    with pytest.raises(EverycoreError, match=f"{PATH}:5: .*names 'provider' more than once"):
        added_text(base(text), MODULE)


@pytest.mark.parametrize(
    ("query", "winner", "part"),
    [
        ("?provider=default", "default", "?provider=default"),
        ("?provider=oqsprovider", "default", None),
        ("provider=oqsprovider", "nobody", "provider=oqsprovider"),
        ("provider!=everycore", "default", "provider!=everycore"),
        ("provider!=fips", "default", None),
        ("x.y=1,fips=yes", "fips", "x.y=1"),
        ("?x.y='a,b', fips = yes", "fips", "fips = yes"),
        ("?fips=yes", "fips", "?fips=yes"),
        ("fips=no", "default", None),
        ("-fips", "default", None),
    ],
)
def test_the_part_that_hinders_us_is_found(query: str, winner: str, part: str | None) -> None:
    found = hindrance(query, winner)
    assert (found.text if found else None) == part


def test_a_query_is_told_with_file_and_line() -> None:
    """A value may go on behind a backslash, and be in a file that is included."""
    more = File("/etc/more.cnf", "# one\n\n[g]\ndefault_properties = \\\n fips=yes\n")
    text = "openssl_conf=a\n[a]\nalg_section=g\n.include more.cnf\n"
    found = base_of(File(PATH, text), lambda _: [more])
    assert preference_of(found) == ("fips=yes", "/etc/more.cnf:4")
    assert preference_of(NO_BASE) == ("", "")
    assert [clause.text for clause in clauses("a.b=1, ?c")] == ["a.b=1", "?c"]


def test_a_random_generator_of_the_base_stays() -> None:
    found = result("openssl_conf=a\n[a]\nrandom=r\n[r]\nrandom=HASH-DRBG\nproperties=fips=yes\n")
    assert found["r"] == {"random": "HASH-DRBG", "properties": "fips=yes"}


def test_included_files_count() -> None:
    more = File("/etc/more.cnf", "[init]\nproviders = p\n[p]\nfips = f\n[f]\nactivate = 1\n")
    files = {"/etc/more.cnf": [more]}
    text = "openssl_conf = init\n.include = /etc/more.cnf\n"
    with pytest.raises(EverycoreError, match=r"/etc/more[.]cnf:4: it activates fips"):
        added_text(base_of(File(PATH, text), lambda name: files[name]), MODULE)


def test_a_file_that_includes_itself_is_refused() -> None:
    with pytest.raises(EverycoreError, match="includes itself"):
        base_of(File("me", ".include me"), lambda _: [File("me", ".include me")])


@pytest.mark.parametrize("path", ["/with blank/everycore.so", "/with$dollar", "/with#hash"])
def test_paths_that_openssl_would_misread_are_refused(path: str) -> None:
    with pytest.raises(EverycoreError, match="cannot name"):
        added_text(NO_BASE, path)
