# SPDX-License-Identifier: MIT
"""Judging what selection takes: planted figures whose right answer is known."""

from collections.abc import Mapping

import pytest

from everycore.model import tuning
from everycore.model.protocol import Mode, Resolved, Skipped
from everycore.model.tuning import Operation, Rule

CTR = Operation("aes", "ctr", 1500, 1)
SIGN = Operation("bn", "rsa-private", 256, 1)


def resolved(primitive: str, use: str, *names: str) -> Resolved:
    behind = tuple(Skipped(name, "rank", names[0]) for name in names[1:])
    other_use = Skipped("of_the_other_use", "use", "serial")
    return Resolved("x86", (), "ct", primitive, use, names[0], (*behind, other_use))


RULE = Rule(
    [Mode("ctr(aes)", ("parallel",), ("wide",))],
    [resolved("aes", "parallel", "wide", "narrow"), resolved("bn", "parallel", "ifma", "adx")],
    [
        resolved("aes", "parallel", "wider", "wide", "narrow"),
        resolved("bn", "parallel", "ifma", "adx"),
    ],
)


def judged(times: Mapping[str, Mapping[int, float]], operation: Operation = CTR) -> tuning.Choice:
    (choice,) = tuning.choices("all features", RULE, {operation: times})
    return choice


def steady(ns: float) -> dict[int, float]:
    return dict.fromkeys(range(5), ns)


def test_the_loss_is_that_of_time_to_the_fastest() -> None:
    choice = judged({"wide": steady(130), "narrow": steady(100), "of_the_other_use": steady(10)})
    assert (choice.selected, choice.fastest, choice.undecided) == ("wide", "narrow", "")
    assert choice.loss == pytest.approx(0.3)
    assert choice.is_bad
    assert not judged({"wide": steady(104), "narrow": steady(100)}).is_bad


def test_a_kernel_whose_bit_of_tuning_is_withheld_is_a_candidate() -> None:
    choice = judged({"wide": steady(130), "wider": steady(100)})
    assert (choice.fastest, choice.is_bad) == ("wider", True)


def test_a_rule_that_ignores_the_length_is_noticed_at_short_messages() -> None:
    short = Operation("aes", "ctr", 64, 1)
    times = {
        CTR: {"wide": steady(100), "narrow": steady(130)},
        short: {"wide": steady(12), "narrow": steady(10)},
    }
    bad = [one.bytes for one in tuning.choices("", RULE, times) if one.is_bad]
    assert bad == [64]


def test_a_clock_that_changes_between_processes_changes_no_ratio() -> None:
    clocks = {0: 1.0, 1: 1.0, 2: 1.4, 3: 0.8, 4: 1.1}
    wide, narrow = ({p: ns * clock for p, clock in clocks.items()} for ns in (102, 100))
    choice = judged({"wide": wide, "narrow": narrow})
    assert choice.loss == pytest.approx(0.02)
    assert not choice.undecided


@pytest.mark.parametrize(
    ("times", "reason"),
    [
        ({"narrow": steady(100)}, "wide was not measured"),
        ({"wide": {}, "narrow": steady(100)}, "no process has undisturbed samples of wide"),
        ({"wide": {0: 90.0, 1: 90.0}, "narrow": {0: 80.0, 1: 80.0}}, "fewer than 3 processes"),
        ({"wide": {0: 99.0, 1: 150.0, 2: 130.0}, "narrow": steady(100)}, "differ by"),
        ({"wide": {0: 99.0, 1: 106.0, 2: 107.0}, "narrow": steady(100)}, "not told apart"),
    ],
)
def test_figures_that_do_not_tell_are_undecided(
    times: Mapping[str, Mapping[int, float]], reason: str
) -> None:
    choice = judged(times)
    assert reason in choice.undecided
    assert not choice.is_bad
    assert tuning.worst([choice]) is None


def test_a_loss_that_every_process_tells_is_decided_however_far_they_differ() -> None:
    choice = judged({"wide": {0: 110.0, 1: 150.0, 2: 130.0}, "narrow": steady(100)})
    assert choice.is_bad


def test_the_fastest_is_found_within_processes() -> None:
    """One kernel has no figure of two processes in which all others are slow."""
    slow = {0: 1.0, 1: 1.0, 2: 1.0, 3: 2.0, 4: 2.0}
    wide = {p: 130 * clock for p, clock in slow.items() if p in (0, 3, 4)}
    narrow = {p: 120 * clock for p, clock in slow.items()}
    wider = {p: 100 * clock for p, clock in slow.items() if p in (0, 3, 4)}
    choice = judged({"wide": wide, "narrow": narrow, "wider": wider})
    assert choice.fastest == "wider"
    assert choice.loss == pytest.approx(0.3)


def test_hashes_are_judged_by_their_own_uses() -> None:
    uses = [resolved("sha2", "sha512", "c"), resolved("sha2", "sha256", "lanes", "unit")]
    rule = Rule([], uses, uses)
    many = Operation("sha2", "sha256-many", 1024, 16)
    keys = Operation("sha2", "pbkdf2-sha256", 256, 1)
    times = {
        many: {"lanes": steady(100), "unit": steady(200), "c": steady(10)},
        keys: {"lanes": steady(110), "unit": steady(100)},
        Operation("sha2", "sha512", 64, 1): {"c": steady(10)},
    }
    found = tuning.choices("", rule, times)
    assert [(one.selected, one.fastest) for one in found] == [
        ("lanes", "lanes"),
        ("lanes", "unit"),
        ("c", "c"),
    ]
    assert found[0].operation == "sha256-many 1024 B x 16"
    assert found[1].operation == "pbkdf2-sha256 256 iterations"


CCM = Operation("aes", "ccm-seal", 1500, 1)
CHAINED = Rule(
    [Mode("ccm(aes)", ("parallel", "serial"), ("wide", "one"))],
    [],
    [resolved("aes", "parallel", "wide", "narrow")],
)


def test_a_mode_of_two_keys_is_judged_with_the_kernels_of_both() -> None:
    times = {"wide+one": steady(130), "narrow+one": steady(110), "narrow": steady(100)}
    (choice,) = tuning.choices("", CHAINED, {CCM: times})
    assert (choice.selected, choice.fastest) == ("wide+one", "narrow")
    assert choice.loss == pytest.approx(0.3)


def test_a_second_key_of_a_kernel_that_the_class_lacks_judges_nothing() -> None:
    newer = {"wide+newest": steady(50), "narrow+newest": steady(40), "narrow": steady(100)}
    assert tuning.choices("", CHAINED, {CCM: newer}) == []
    times = {**newer, "wide+one": steady(100)}
    (choice,) = tuning.choices("", CHAINED, {CCM: times})
    assert (choice.fastest, choice.loss) == ("wide+one", 0)


def test_a_primitive_without_modes_is_judged_by_its_use() -> None:
    choice = judged({"ifma": steady(100), "adx": steady(300)}, SIGN)
    assert (choice.selected, choice.fastest, choice.loss) == ("ifma", "ifma", 0)


def test_a_kernel_that_no_rule_allows_here_is_no_candidate() -> None:
    assert tuning.choices("", RULE, {CTR: {"of_the_other_use": steady(1)}}) == []


def test_classes_are_features_that_older_cpus_lack() -> None:
    zen4 = ["ssse3", "sse4.1", "aes", "pclmul", "avx2", "vaes", "avx512f", "adx", "tune-zmm"]
    found = tuning.classes_of(zen4)
    assert found["all features"] == zen4
    assert "avx512f" not in found["no AVX-512"]
    assert found["no AES"] == ["ssse3", "sse4.1", "tune-zmm"]
    arm = tuning.classes_of(["neon", "aes", "pmull"])
    assert list(arm) == ["all features", "no AES"]
    assert arm["no AES"] == ["neon"], "cores have both or neither"


def test_each_class_has_what_its_cpus_have() -> None:
    every = (
        "sse2 ssse3 sse4.1 aes pclmul avx avx2 bmi2 adx vaes vpclmulqdq gfni avx512f avx512vl"
        " avx512bw avx512dq avx512vbmi avx512vbmi2 avx512ifma"
    )
    kept = {name: " ".join(own) for name, own in tuning.classes_of(every.split()).items()}
    assert kept == {
        "all features": every,
        "no AVX-512": "sse2 ssse3 sse4.1 aes pclmul avx avx2 bmi2 adx vaes vpclmulqdq gfni",
        "no VAES": "sse2 ssse3 sse4.1 aes pclmul avx avx2 bmi2 adx gfni",
        "no AVX": "sse2 ssse3 sse4.1 aes pclmul",
        "no AES": "sse2 ssse3 sse4.1",
        "no SSSE3": "sse2",
    }
