# SPDX-License-Identifier: MIT
"""Estimates of GCM beside published figures, as the docs show them."""

from typing import Any

from everycore.estimate.core_estimates import BULK, Core, Gain, Message
from everycore.model.run_lines import CoreEstimate, EstimateLine
from everycore.report import messages

CORES = {
    "one": Core("one", "One", "llvm-mca", ""),
    "two": Core("two", "Two", "llvm-mca", ""),
    "three": Core("three", "Three", "llvm-mca", ""),
}
HIDDEN = CoreEstimate(hidden="no published point of ce on Two", model=1.0)


def line(owner: str, kernel: str, size: int | str, **more: Any) -> EstimateLine:
    """One stored estimate: a range on One, hidden on Two, nothing of Three."""
    found = EstimateLine(
        owner=owner,
        kernel=kernel,
        mode="gcm-seal",
        techniques=("ce", "pmull.p64"),
        key_bits=128,
        bytes=size,
        instructions_per_byte=2.5,
        classes={},
        estimates={"one": CoreEstimate(low=1.04, high=1.26), "two": HIDDEN},
        published={},
    )
    return found.replace(**more)


OURS = line("everycore", "a64_ce", 512, ratios={"one": {"x f": 0.9}, "two": {"x f": 0.8}})
THEIRS = line("x-arm64", "f", 512)


def rows(text: str, start: str) -> list[str]:
    return [row for row in text.splitlines() if row.startswith(f"| {start}")]


def test_a_figure_is_a_range_or_hidden_with_its_reason() -> None:
    text = messages.page([OURS, THEIRS], CORES, [], [])
    assert "With AES instructions" in text
    assert "Without AES instructions" not in text
    assert "Three" not in text
    ours = rows(text, "a64_ce")[0]
    assert ours == "| a64_ce | 128 | 512 | 2.50 | 1.0-1.3 |"  # nothing is shown of Two
    beside = line("x-arm64", "g", 512, estimates={"two": CoreEstimate(low=1.0, high=2.0)})
    text = messages.page([OURS, beside], CORES, [], [])
    assert rows(text, "a64_ce")[0].endswith("| 1.0-1.3 | hidden |")
    assert text.count("* Two, hidden: no published point of ce on Two.") == 1


def test_kernels_without_aes_instructions_have_a_table_of_their_own() -> None:
    text = messages.page([OURS, THEIRS.replace(techniques=("bitslice", "pmull.p8"))], CORES, [], [])
    before, after = text.split("### Without AES instructions")
    assert rows(before, "a64_ce")
    assert rows(after, "x-arm64 f")
    assert not rows(before, "x-arm64 f")


def test_a_published_figure_stands_beside_the_estimate_of_that_code_alone() -> None:
    same = Message("one", "its loop", 128, 512, 1.1, "a talk", "x-arm64 f")
    other_size = Message("one", "its loop", 128, 1024, 1.05, "a talk", "x-arm64 f")
    long = Message("one", "other code", 128, BULK, 1.3, "a list", derived=True, note="a sum")
    text = messages.page([OURS, THEIRS], CORES, [same, other_size, long], [])
    assert rows(text, "One") == [
        "| One | its loop | 128 | 512 | 1.10 | 1.0-1.3 | a talk |",
        "| One | its loop | 128 | 1024 | 1.05 |  | a talk |",
        "| One | other code | 128 | long | 1.30 (derived) |  | a list; a sum |",
    ]


def test_of_long_messages_the_longest_stored_one_stands_for_them() -> None:
    known = [THEIRS, line("x-arm64", "f", 16384)]
    published = [Message("one", "its loop", 128, BULK, 29.0, "a talk", "x-arm64 f")]
    (row,) = rows(messages.page(known, CORES, published, []), "One")
    assert row == "| One | its loop | 128 | long | 29.0 | 1.0-1.3 (16384 B) | a talk |"
    known.append(line("x-arm64", "f", "bulk"))
    (row,) = rows(messages.page(known, CORES, published, []), "One")
    assert "| 1.0-1.3 |" in row


def test_ratios_to_other_code_are_shown_of_hidden_estimates_too() -> None:
    text = messages.page([OURS, THEIRS], CORES, [], [])
    assert "| kernel | beside | key bits | bytes | One | Two |" in text
    assert "| a64_ce | x f | 128 | 512 | 0.90x | 0.80x |" in text


def test_published_gains_keep_their_signs() -> None:
    gain = Gain("one", "x-arm64 f", (128, 256), (512, 1500), (7, 8, 0, -4), "a commit")
    assert rows(messages.page([OURS, THEIRS], CORES, [], [gain]), "One") == [
        "| One | x-arm64 f | 128 | +7 % | +8 % | a commit |",
        "| One | x-arm64 f | 256 | +0 % | -4 % | a commit |",
    ]
