# SPDX-License-Identifier: MIT
"""Dependencies of packages, as Debian counts."""

import pytest

from everycore.compile.debs.closure import closure
from everycore.compile.debs.index import Index, Relation
from everycore.environment.errors import EverycoreError


def index(*packages: str) -> Index:
    """Packages as lines: `name version; Depends: b (>= 2); Provides: c`."""
    paragraphs = []
    for line in packages:
        head, *fields = line.split("; ")
        name, version = head.split()
        own = [f"Package: {name}", f"Version: {version}", "Filename: f", "SHA256: s", "Size: 1"]
        paragraphs.append("\n".join([*own, *fields]))
    return Index("\n\n".join(paragraphs))


def names(indices: list[Index], *roots: str, exclude: tuple[str, ...] = ()) -> list[str]:
    return [f"{p.name} {p.version}" for p in closure(indices, roots, exclude)]


def test_depends_and_pre_depends_are_followed_to_the_end() -> None:
    suite = index("a 1; Depends: b", "b 1; Pre-Depends: c", "c 1; Depends: a", "d 1")
    assert names([suite], "a") == ["a 1", "b 1", "c 1"]


def test_the_first_alternative_that_exists_is_taken() -> None:
    suite = index("a 1; Depends: x | c | b", "b 1", "c 1")
    assert names([suite], "a") == ["a 1", "c 1"]


def test_an_alternative_that_is_there_already_is_enough() -> None:
    suite = index("a 1; Depends: c | b", "b 1", "c 1")
    assert names([suite], "a", "b") == ["a 1", "b 1"]


def test_what_provides_a_name_serves_for_it() -> None:
    suite = index("a 1; Depends: virtual", "b 1; Provides: other, virtual")
    assert names([suite], "a") == ["a 1", "b 1"]


@pytest.mark.parametrize(
    ("provided", "is_met"), [("v (= 2)", True), ("v (= 1)", False), ("v", False)]
)
def test_a_version_is_only_provided_by_a_version(provided: str, is_met: bool) -> None:
    suite = index("a 1; Depends: v (>= 2)", f"b 1; Provides: {provided}")
    if is_met:
        assert names([suite], "a") == ["a 1", "b 1"]
    else:
        with pytest.raises(EverycoreError, match=r"a needs v \(>= 2\), which the archive does not"):
            closure([suite], ["a"])


@pytest.mark.parametrize(
    ("relation", "version", "accepted"),
    [
        (Relation("a", ">=", "1.10"), "1.9", False),  # numbers, not letters
        (Relation("a", ">=", "1.0"), "1.0~rc1", False),  # a tilde is before the end
        (Relation("a", ">>", "9"), "1:0.1", True),  # the epoch decides
        (Relation("a", "<<", "1.0-2"), "1.0-1+b1", True),
        (Relation("a", "=", "1.0"), "1.0-0", True),
        (Relation("a", "<=", "2"), "2", True),
        (Relation("a", "<<", "2"), "2", False),
        (Relation("a"), "anything", True),
    ],
)
def test_versions_compare_as_debian_says(relation: Relation, version: str, accepted: bool) -> None:
    assert relation.accepts(version) is accepted


def test_what_is_named_is_the_newest_of_all_suites_what_it_needs_is_of_the_first() -> None:
    stable = index("a 1; Depends: b", "b 1")
    newer = index("a 2; Depends: b", "b 2")
    assert names([stable, newer], "a") == ["a 2", "b 1"]
    assert names([stable, newer], "a (<< 2)") == ["a 1", "b 1"]


def test_a_dependency_that_the_first_suite_is_too_old_for_comes_from_the_next() -> None:
    stable, newer = index("b 1"), index("a 2; Depends: b (>= 2)", "b 2")
    assert names([stable, newer], "a") == ["a 2", "b 2"]


def test_a_version_that_another_package_needs_is_not_silently_replaced() -> None:
    first = index("a 1; Depends: c (= 1)", "b 1; Depends: c (= 2)", "c 1")
    second = index("c 2")
    with pytest.raises(EverycoreError, match=r"b needs c \(= 2\), but c 1 is taken already"):
        closure([first, second], ["a", "b"])


def test_excluded_packages_are_missing_with_what_only_they_need() -> None:
    suite = index("a 1; Depends: b, d", "b 1; Depends: c", "c 1", "d 1")
    assert names([suite], "a", exclude=("b",)) == ["a 1", "d 1"]


def test_what_only_scripts_of_packages_need_is_left_out() -> None:
    suite = index("a 1; Depends: debconf (>= 0.5) | debconf-2.0, perl:any", "debconf 1", "perl 5")
    assert names([suite], "a") == ["a 1"]


def test_a_root_may_have_alternatives() -> None:
    assert names([index("b 1")], "a | b") == ["b 1"]


def test_an_unknown_root_is_named() -> None:
    with pytest.raises(EverycoreError, match="no package nowhere-dev"):
        closure([index("a 1")], ["nowhere-dev"])
