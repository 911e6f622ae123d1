# SPDX-License-Identifier: MIT
"""Lines of the matrix."""

import json
from typing import Any

import pytest

from everycore.environment.decoding import encode_line
from everycore.environment.errors import EverycoreError
from everycore.model import cells
from everycore.model.cells import (
    Anomaly,
    Cell,
    Code,
    Head,
    Kind,
    Line,
    Listing,
    Outcome,
    Result,
    Verdict,
    current_anomalies,
    latest,
    parse,
)
from everycore.model.domain import Machine, Revision

CELL = Cell("linux-6.1", "generic-cbc-enc", "gcc-12", ("-O2", "-fsanitize=undefined"))
RESULT = Result(
    cell=CELL,
    outcome=Outcome.MEASURED,
    compiler="gcc 12.2.0",
    flag_set="O2+ubsan",
    compile_seconds=0.5,
    code=Code(4000, 1000, 12, 0, 3, 1200, "crypto_aes_encrypt"),
    runs=((12.5, 12.75, 13.0, 12.5, 12.5), (14.0, 14.0, 14.25, 14.0, 14.0)),
    counter="tsc+addchain",
    executed=123456,
    estimates={"cortex-a53": (10.0, 12.5)},
    digest="00ff",
    sanitizer_hits=0,
    verdicts=(Verdict(False, "trace", "aes_encrypt+0x1c: address"),),
)
ANOMALY = Anomaly(
    cell=CELL,
    kind=Kind.SLOW,
    value=28.5,
    neighbour=CELL.replace(toolchain="gcc-11"),
    neighbour_value=12.5,
    ratio=2.28,
    differs_in="toolchain",
    repair=("-fno-slp-vectorize",),
    repaired=RESULT,
    causes=("64 vpgatherdd",),
    before=Listing("aes_encrypt", ("movd", "ret"), 0.9),
    tried=7,
    command="everycore matrix --subject linux-6.1",
)
HEAD = Head("2026-01-02", "0.1", Revision("0123456789ab", False), Machine("A CPU"), "tsc", {"a": 1})


@pytest.mark.parametrize("line", [HEAD, RESULT, ANOMALY])
def test_a_line_comes_back_as_it_went(line: Line) -> None:
    assert parse(encode_line(line)) == line


def test_a_line_that_this_version_does_not_know_is_named() -> None:
    with pytest.raises(EverycoreError, match="'type' is 'weather', which this everycore"):
        parse('{"type":"weather"}')
    table = json.loads(encode_line(RESULT)) | {"weather": "fine"}
    with pytest.raises(EverycoreError, match="'weather' is a member that this everycore"):
        parse(json.dumps(table))


@pytest.mark.parametrize("text", ['{"type":"cell"', '{"type":"cell"}', "[]", '"cell"'])
def test_half_a_line_is_named(text: str) -> None:
    with pytest.raises(EverycoreError, match="not a line of the matrix"):
        parse(text)


def test_values_of_other_types_are_named() -> None:
    for member, value in {"executed": "many", "runs": [["1"]], "cell": 5, "compiler": None}.items():
        line = json.dumps(json.loads(encode_line(RESULT)) | {member: value})
        with pytest.raises(EverycoreError, match=f"not a line of the matrix .*'{member}"):
            parse(line)


def test_the_median_of_process_medians_counts() -> None:
    result = RESULT.replace(runs=((9.0, 12.0, 12.1), (20.0,) * 9, (12.5, 12.6, 30.0)))
    assert result.cycles_per_byte == 12.6
    assert RESULT.replace(runs=()).cycles_per_byte is None


def test_processes_of_one_program_are_pooled_and_no_others() -> None:
    def cell(flags: str, **other: object) -> Result:
        values: dict[str, object] = {"digest": "d", "runs": ((1.0,),), "shared": (0,), **other}
        return RESULT.replace(cell=CELL.replace(flags=(flags,)), **values)

    first, second = cell("-O1"), cell("-O2", runs=((2.0,), (3.0,)), shared=(1,))
    apart = [cell("-O3", digest="e"), cell("-Os", digest=""), cell("-Oz", digest="", runs=())]
    longer = first.replace(cell=first.cell.replace(n_bytes=64))
    every = [first, second, *apart, longer]
    found = cells.pooled({result.cell: result for result in every})
    for result in (first, second):
        assert found[result.cell].runs == ((1.0,), (2.0,), (3.0,))
        assert found[result.cell].shared == (0, 2)
    assert [found[result.cell] for result in (*apart, longer)] == [*apart, longer]


def test_samples_are_stored_to_the_last_digit() -> None:
    result = RESULT.replace(runs=((1 / 3, 2 / 3),))
    again = parse(encode_line(result))
    assert isinstance(again, Result)
    assert again.runs == result.runs


def test_the_last_word_on_a_cell_counts() -> None:
    again = RESULT.replace(compile_seconds=0.75)
    assert latest([HEAD, RESULT, ANOMALY, again]) == {CELL: again}


@pytest.mark.parametrize("cell", [CELL, ANOMALY.neighbour])
@pytest.mark.parametrize(
    "change", [{"compiler": "gcc 12.3.0"}, {"contents": "ff"}, {"sweep": RESULT.sweep + 1}]
)
def test_what_was_odd_beside_what_is_another_now_is_to_be_looked_at_again(
    cell: Cell, change: dict[str, Any]
) -> None:
    old = RESULT.replace(cell=cell, contents="00")
    assert current_anomalies([old, ANOMALY, old])
    assert not current_anomalies([old, ANOMALY, old.replace(**change)])
    assert current_anomalies([ANOMALY, old.replace(cell=CELL.replace(toolchain="gcc-9"), **change)])


def test_a_neighbour_that_is_wrong_now_makes_nothing_slow() -> None:
    assert ANOMALY.neighbour
    neighbour = RESULT.replace(cell=ANOMALY.neighbour)
    wrong = neighbour.replace(outcome=Outcome.WRONG)
    assert current_anomalies([neighbour, ANOMALY, neighbour])
    assert not current_anomalies([neighbour, ANOMALY, wrong])


def test_cells_that_differ_have_keys_that_differ() -> None:
    assert CELL.key != CELL.replace(flags=("-O2 -fsanitize=undefined",)).key
    assert CELL.key == CELL.replace().key


@pytest.mark.parametrize(
    ("said", "constant"),
    [
        ((), None),
        ((None,), None),
        ((True, None), True),
        ((None, False), False),
        ((False, True), False),
    ],
)
def test_one_leak_outweighs_a_method_that_found_none(
    said: tuple[bool | None, ...], constant: bool | None
) -> None:
    verdicts = tuple(Verdict(verdict, "trace") for verdict in said)
    result = RESULT.replace(verdicts=verdicts)
    assert result.constant_time is constant
    assert parse(encode_line(result)) == result
