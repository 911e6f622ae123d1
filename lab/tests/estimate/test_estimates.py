# SPDX-License-Identifier: MIT
"""From what a model says to what is shown."""

import pytest

from everycore.estimate.core_estimates import (
    Core,
    Figure,
    Fit,
    Hidden,
    OperationEstimate,
    Point,
    figure,
    ratio,
    rivals,
    spoken,
    techniques,
    two_digits,
)

CORE = Core("here", "Here", "llvm-mca", "", mcpu="here", margin=0.1)


def point(technique: str, cost: float, mode: str = "ctr", **more: object) -> Point:
    return Point(
        core="here", subject="other", function=f"{technique}-{mode}", mode=mode,
        techniques=(technique,), cycles_per_byte=cost, source="somewhere", **more,  # type: ignore[arg-type]
    )  # fmt: skip


def row(found: Figure | Hidden, technique: str = "ce") -> OperationEstimate:
    return OperationEstimate(
        "everycore", "k", "ctr", 128, 0, (technique,), 1.0, {}, {"here": found}
    )


def test_an_estimate_is_scaled_by_the_point_of_its_technique() -> None:
    fits = [Fit(point("ce", 1.8), 1.6), Fit(point("tbl", 9.0), 9.0)]
    found = figure(CORE, 1.6, ["ce"], False, fits)
    assert isinstance(found, Figure)
    assert found.center == pytest.approx(1.8)
    assert (found.low, found.high) == pytest.approx((1.62, 1.98))
    assert found.basis == "other ce-ctr -11%"


def test_points_that_disagree_widen_the_range() -> None:
    fits = [Fit(point("ce", 1.0), 1.0), Fit(point("ce", 1.6, "ecb-enc"), 1.0)]
    found = figure(CORE, 1.0, ["ce"], False, fits)
    assert isinstance(found, Figure)
    assert found.center == pytest.approx(1.6**0.5)
    assert found.high == pytest.approx(1.6)


@pytest.mark.parametrize(
    ("fit", "unsure", "margin"),
    [
        (Fit(point("ce", 1.5), 1.0), 0.0, 0.25),  # half of what the model missed, at least
        (Fit(point("ce", 1.0), 1.0), 0.3, 0.3),  # other fits differ
        (Fit(point("ce", 1.0, derived=True), 1.0), 0.0, 0.25),
    ],
)
def test_what_is_not_sure_widens_the_range(fit: Fit, unsure: float, margin: float) -> None:
    found = figure(CORE, 1.0, ["ce"], False, [fit], unsure)
    assert isinstance(found, Figure)
    assert found.margin == pytest.approx(margin)


def test_no_point_of_the_technique_hides_the_estimate_and_says_so() -> None:
    fits = [Fit(point("ce", 1.0), 1.0)]
    assert figure(CORE, 1.0, ["tbl"], False, fits) == Hidden(
        "no published point of tbl of many blocks on Here", 1.0
    )
    chain = figure(CORE, 1.0, ["ce"], True, fits)  # the point is of many blocks
    assert isinstance(chain, Hidden)
    assert "ce in one chain" in chain.why
    assert isinstance(figure(CORE, 1.0, ["ce", "pmull.p64"], False, fits), Hidden)


def test_a_model_that_misses_its_point_hides_the_estimate() -> None:
    found = figure(CORE, 1.0, ["ce"], False, [Fit(point("ce", 1.0), 2.0)])
    assert found == Hidden("the model misses other ce-ctr by +100%", 1.0)


def test_the_error_of_a_fitted_model_is_that_without_the_point() -> None:
    assert Fit(point("ce", 2.0), 2.0, left_out=1.5).error == pytest.approx(-0.25)


def test_a_ratio_within_a_technique_needs_no_calibration() -> None:
    a, b = row(Hidden("no point", 1.0)), row(Hidden("no point", 2.0))
    assert ratio(a, b, "here") == 0.5
    assert ratio(a, row(Hidden("no point", 2.0), "tbl"), "here") is None
    shown = Figure(1.0, 3.0, 0.1, "")
    assert ratio(row(shown), row(Figure(5.0, 6.0, 0.1, ""), "tbl"), "here") == 0.5


def test_rivals_do_the_same_work_on_the_same_cpus_the_best_first() -> None:
    def of(technique: str, model: float, mode: str = "ctr") -> OperationEstimate:
        found = Figure(model, model, 0.1, "")
        return OperationEstimate(
            "x", technique, mode, 128, 0, (technique,), 1.0, {}, {"here": found}
        )

    others = [of("tbl", 4.0), of("vperm", 2.0), of("ce", 0.5), of("vperm", 1.0, "cbc-enc")]
    found = rivals(of("bitslice", 1.0), others, "here")
    assert [(value, other.kernel) for value, other in found] == [(0.5, "vperm"), (0.25, "tbl")]


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0"), (0.2547, "0.25"), (0.996, "1.0"), (1.96, "2.0"), (9.96, "10"), (14.4, "14"),
     (0.0314, "0.031"), (148.0, "150")],
)  # fmt: skip
def test_two_significant_digits(value: float, text: str) -> None:
    assert two_digits(value) == text


def test_a_range_of_one_figure_is_that_figure() -> None:
    assert spoken(12.1, 16.6) == "12-17"
    assert spoken(12.1, 12.4) == "12"


@pytest.mark.parametrize(
    ("primitive", "kernel", "expected"),
    [
        ("aes", "a64_bitslice", ("bitslice",)),
        ("aes", "a64_bitslice_eor3", ("bitslice",)),
        ("aes", "a64_ttable1", ("table",)),
        ("aes", "a64_ce_asm", ("ce",)),
        ("aes", "c_bitslice64", ("portable bitslice",)),
        ("aes", "c_ttable4", ("table",)),
        ("ghash", "a64_p8x8", ("pmull.p8",)),
        ("ghash", "a64_pmull", ("pmull.p64",)),
        ("gcm", "a64_ce4", ("ce", "pmull.p64")),
        ("gcm", "a64_bitslice+a64_p8x8", ("bitslice", "pmull.p8")),
        ("aes", "a64_new", ("aes new",)),
    ],
)
def test_the_technique_of_a_kernel_is_in_its_name(
    primitive: str, kernel: str, expected: tuple[str, ...]
) -> None:
    assert techniques(primitive, kernel) == expected
