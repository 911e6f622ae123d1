# SPDX-License-Identifier: MIT
"""Configurations that add the provider to another."""

import pytest

from everycore.environment.errors import EverycoreError
from everycore.openssl.configuration import added_text, is_ours, sections

MODULE = "/usr/lib/everycore.so"


def result(base: str) -> dict[str, dict[str, str]]:
    """The sections of our configuration, with those of its base."""
    text = added_text(sections(base, no_files), "/etc/base.cnf", MODULE)
    assert is_ours(text)
    return sections(text, lambda name: [base] if name == "/etc/base.cnf" else [])


def no_files(_name: str) -> list[str]:
    return []


def providers(found: dict[str, dict[str, str]]) -> dict[str, dict[str, str]]:
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
    base = """
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
    with pytest.raises(EverycoreError, match="activates legacy, and not the default"):
        result(base)
    found = result(base.replace("# activate", "activate"))
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


def test_preferences_stay_and_ours_is_added_once() -> None:
    base = "openssl_conf=a\n[a]\nalg_section=g\n[g]\ndefault_properties = %s\n"
    both = "fips=yes,?provider=everycore"
    assert result(base % "fips=yes")["g"] == {"default_properties": both}
    assert result(base % both)["g"] == {"default_properties": both}


def test_a_random_generator_of_the_base_stays() -> None:
    found = result("openssl_conf=a\n[a]\nrandom=r\n[r]\nrandom=HASH-DRBG\nproperties=fips=yes\n")
    assert found["r"] == {"random": "HASH-DRBG", "properties": "fips=yes"}


def test_included_files_count() -> None:
    texts = {"/etc/more.cnf": "[init]\nproviders = p\n[p]\nfips = f\n[f]\nactivate = 1\n"}
    base = sections("openssl_conf = init\n.include = /etc/more.cnf\n", lambda name: [texts[name]])
    with pytest.raises(EverycoreError, match="activates fips"):
        added_text(base, "/etc/base.cnf", MODULE)


def test_a_file_that_includes_itself_is_refused() -> None:
    with pytest.raises(EverycoreError, match="includes itself"):
        sections(".include me", lambda _: [".include me"])


@pytest.mark.parametrize("path", ["/with blank/everycore.so", "/with$dollar", "/with#hash"])
def test_paths_that_openssl_would_misread_are_refused(path: str) -> None:
    with pytest.raises(EverycoreError, match="cannot name"):
        added_text({"default": {}}, None, path)
