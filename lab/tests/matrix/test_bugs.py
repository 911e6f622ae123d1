# SPDX-License-Identifier: MIT
"""Texts for a bug tracker."""

import pytest
from matrix.cells import cell, judged, measured, table

from everycore.matrix.anomalies import anomaly_groups, find
from everycore.matrix.bugs import Source, miscompilation, report
from everycore.matrix.failures import group_failures
from everycore.model.cells import Anomaly, Cell, Head, Listing, Outcome, Result
from everycore.model.domain import Machine, Revision

V4 = "-O2 -march=x86-64-v4"
HEAD = Head("2026-01-02", "0.1", Revision("0123456789ab", False), Machine("A CPU"), "tsc", {})
SOURCE = Source(
    "Linux 6.1, portable C",
    "Debian's source package linux 6.1.170-3",
    ("everycore subject get linux-6.1",),
    ("clang-22 -O2 -march=x86-64-v4 -c crypto/aes_generic.c",),
    compiler="clang 22.1.0 (Debian sid, clang-22 1:22.1.0-1)",
)


def results() -> dict[Cell, Result]:
    slow = [measured(cell(f"clang-{v}", V4), 28.5, gathers=64) for v in (22, 23)]
    good = [measured(cell(f"clang-{v}", V4), 12.5) for v in (20, 21)]
    return table(*slow, *good)


def explained(anomaly: Anomaly) -> Anomaly:
    repaired = anomaly.cell.replace(flags=(*anomaly.cell.flags, "-fno-slp-vectorize"))
    return anomaly.replace(
        repair=("-fno-slp-vectorize",),
        repaired=measured(repaired, 12.6),
        causes=("64 vpgatherdd appear",),
        passes=("SLPVectorizerPass on aes_encrypt",),
        before=Listing("aes_encrypt", ("vpgatherdd ymm0",) * 70),
        after=Listing("aes_encrypt", ("mov eax, [rsi]",)),
        tried=4,
    )


@pytest.fixture
def text() -> str:
    known = results()
    (group,) = anomaly_groups([explained(anomaly) for anomaly in find(known)], known)
    return report(group, known, HEAD, SOURCE)


def test_the_first_line_is_the_title(text: str) -> None:
    title = text.splitlines()[0]
    assert title == (
        "clang 22-23 -O2 -march=x86-64-v4 on table ctr: 2.3x; -fno-slp-vectorize repairs it;"
        " 64 vpgatherdd appear"
    )


@pytest.mark.parametrize(
    "part",
    [
        "clang 22.1.0 (Debian sid, clang-22 1:22.1.0-1)",
        "Debian's source package linux 6.1.170-3",
        "A CPU",
        "of the core, by tsc",
        "-fno-slp-vectorize repairs it (4 compilations tried).",
        "bad after the pass SLPVectorizerPass on aes_encrypt",
        "What appears in the code: 64 vpgatherdd appear.",
        "The same elsewhere:\n  clang 23.1.0 -O2 -march=x86-64-v4 on ctr: 2.3x",
        "12.60 repaired",
        "The hot loop, as it is and repaired:\n\naes_encrypt",
        "vpgatherdd ymm0                                            | mov eax, [rsi]",
        "    everycore matrix --subject table --function ctr --toolchain clang-22",
        "    everycore subject get linux-6.1\n    clang-22 -O2 -march=x86-64-v4 -c crypto/",
    ],
)
def test_what_a_maintainer_asks_for_is_there(text: str, part: str) -> None:
    assert part in text


def test_the_table_has_intervals_and_the_versions_around(text: str) -> None:
    rows = {line.split("  ")[0]: line for line in text.splitlines() if "clang" in line}
    assert "28.39 to 28.61" in rows["this"]
    assert "clang 21.1.0" in rows["best neighbour"]
    assert "12.55 to 12.65" in rows["repaired"]


def test_without_a_repair_it_says_so() -> None:
    known = results()
    found = [
        anomaly.replace(why_not="none of 130 switches of the compiler repairs it")
        for anomaly in find(known)
    ]
    (group,) = anomaly_groups(found, known)
    text = report(group, known)
    assert "No repair was found: none of 130 switches of the compiler repairs it." in text


def test_frames_and_leaks_are_told_in_their_own_words() -> None:
    known = table(measured(cell(), 10, frame=4040), measured(cell("gcc-13"), 10, frame=72))
    (group,) = anomaly_groups(find(known), known)
    assert "frame of 4040 bytes instead of 72" in report(group, known).splitlines()[0]
    known = table(judged(cell(), False), judged(cell("gcc-13"), True))
    (group,) = anomaly_groups(find(known), known)
    assert "not constant-time" in report(group, known).splitlines()[0]


def test_wrong_answers_are_a_report_of_their_own() -> None:
    wrong = Result(cell(), Outcome.WRONG, "ctr: AES-128, 16 bytes: the output is wrong")
    (group,) = group_failures([wrong])
    text = miscompilation(group, {}, HEAD, SOURCE)
    assert text.splitlines()[0] == "gcc 12 -O2 on table ctr: wrong answers"
    assert "answer:    ctr: AES-128, 16 bytes: the output is wrong" in text
    assert "--flags=-O2 --key-bits 256" in text
