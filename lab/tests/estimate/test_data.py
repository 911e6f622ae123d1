# SPDX-License-Identifier: MIT
"""The data files, and what is said of wrong ones."""

from pathlib import Path

import pytest

from everycore import subjects
from everycore.compile import catalog
from everycore.environment.errors import EverycoreError
from everycore.estimate import data
from everycore.estimate.core_estimates import Gain, Message
from everycore.estimate.fitting import Refit

FOLDER = Path(data.__file__).parent
CORES = '[one]\ntitle = "One"\nmodel = "llvm-mca"\nmcpu = "one"\nmargin = 0.1\nwhy = ""\n'
POINT = (
    '[sources.s]\ntext = "S"\n[[point]]\ncore = "one"\nsubject = "x"\nfunction = "f"\n'
    'mode = "ctr"\ntechniques = ["ce"]\ncycles_per_byte = 1.5\nsource = "s"\n'
)


def test_the_data_of_this_version_can_be_read() -> None:
    evaluated = data.load_evaluated(FOLDER)
    cores = data.load_cores(FOLDER, evaluated.parameters)
    points = data.load_points(FOLDER, cores)
    fits = data.fits(points, evaluated)
    assert {"cortex-a53", "cortex-a72", "cortex-m4"} <= {*cores}
    assert {fit.point.core for fit in fits} >= {"cortex-a53", "neoverse-n1"}
    assert all(point.source for point in points)


def points_of(folder: Path, cores: str, points: str) -> None:
    (folder / data.CORES).write_text(cores)
    (folder / data.PUBLISHED).write_text(points)
    data.load_points(folder, data.load_cores(folder, {}))


@pytest.mark.parametrize(
    ("cores", "points", "message"),
    [
        (CORES.replace("mcpu", "cpu"), POINT, r"cores.toml: \[one\]: unknown key 'cpu'"),
        (CORES.replace("llvm-mca", "guess"), POINT, "'guess' is none of in-order"),
        (CORES.replace('mcpu = "one"', ""), POINT, r"\[one\] lacks 'mcpu'"),
        (CORES.replace("0.1", "1.1"), POINT, "'margin' is not between 0 and 1"),
        (CORES.replace("margin", "parameters"), POINT, "unknown key 'parameters'"),
        (CORES, POINT.replace('"one"', '"two"'), "unknown core 'two'"),
        (CORES, POINT.replace("1.5", "-1"), "point 1: cycles_per_byte is -1"),
        (CORES, POINT.replace('source = "s"', 'source = "t"'), "unknown source 't'"),
        (CORES, POINT.replace('mode = "ctr"\n', ""), "point 1 lacks 'mode'"),
        (CORES, POINT + POINT[POINT.index("[[point]]") :], "two points of one x f"),
        (CORES, POINT + 'use = "both"\n', "use is none of calibrate"),
        (CORES, POINT.replace('["ce"]', '"ce"'), "point 1: 'techniques' is not a list of texts"),
        (CORES, POINT.replace('"ctr"', "1"), "point 1: 'mode' is not a text"),
        (CORES, "point = 1\n" + POINT[: POINT.index("[[")], r"points are \[\[point\]\]"),
        (CORES, "[", r"cannot read .*published\.toml"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, cores: str, points: str, message: str) -> None:
    points_of(tmp_path, CORES, POINT)
    with pytest.raises(EverycoreError, match=message):
        points_of(tmp_path, cores, points)


def test_parameters_that_do_not_fit_the_model_are_named(tmp_path: Path) -> None:
    points_of(tmp_path, CORES.replace("llvm-mca", "in-order"), POINT)
    with pytest.raises(EverycoreError, match=r"evaluated\.json: one: wrong parameters: aes"):
        data.load_cores(tmp_path, {"one": {"logic": 1}})


def test_evaluations_survive_being_written(tmp_path: Path) -> None:
    refit = Refit({"logic": 2.0}, {"a": 1.0})
    evaluated = data.Evaluated(
        {"llvm": "19"}, {"a": 1.5}, {"a": 1.4}, {"a": 2.0}, {"x": {"logic": 3.0}}, {"x": [refit]}
    )
    data.save_evaluated(tmp_path, evaluated)
    assert data.load_evaluated(tmp_path) == evaluated
    (tmp_path / data.EVALUATED).write_text("{}")
    with pytest.raises(EverycoreError, match=r"cannot read evaluated\.json") as error:
        data.load_evaluated(tmp_path)
    assert "--calibrate" in error.value.hint


MESSAGE = (
    '[[message]]\ncore = "one"\ncode = "a loop"\nkey_bits = 256\nbytes = 512\n'
    'cycles_per_byte = 2\nsource = "s"\n'
)
GAIN = (
    '[[gain]]\ncore = "one"\nfunction = "x f"\nkey_bits = [128, 256]\nbytes = [512, 1500]\n'
    'percent = [4, 3, 2, -1]\nsource = "s"\n'
)


def messages_of(folder: Path, published: str) -> tuple[list[Message], list[Gain]]:
    (folder / data.CORES).write_text(CORES)
    (folder / data.PUBLISHED).write_text(published)
    return data.load_messages(folder, data.load_cores(folder, {}))


def test_published_messages_and_gains_are_read_with_their_sources(tmp_path: Path) -> None:
    (message,), (gain,) = messages_of(tmp_path, POINT + MESSAGE + GAIN)
    assert (message.key_bits, message.bytes, message.source) == (256, 512, "S")
    assert gain.rows == [(128, (4, 3)), (256, (2, -1))]
    assert messages_of(tmp_path, POINT) == ([], [])


@pytest.mark.parametrize(
    ("published", "message"),
    [
        (MESSAGE.replace('"one"', '"two"'), "unknown core 'two'"),
        (MESSAGE.replace("= 2\n", "= 0\n"), "message 1: cycles_per_byte is 0"),
        (MESSAGE.replace("= 2\n", '= "2"\n'), "message 1: 'cycles_per_byte' is not a number"),
        (MESSAGE.replace('source = "s"', 'source = "t"'), "unknown source 't'"),
        (MESSAGE.replace("key_bits = 256\n", ""), "message 1 lacks 'key_bits'"),
        (GAIN.replace(", -1", ""), "gain 1: 'percent' has not one number for each size and key"),
        (GAIN.replace("percent", "gains"), "gain 1: unknown key 'gains'"),
    ],
)
def test_what_is_wrong_in_published_messages_is_named(
    tmp_path: Path, published: str, message: str
) -> None:
    with pytest.raises(EverycoreError, match=message):
        messages_of(tmp_path, POINT + published)
    with pytest.raises(EverycoreError, match=r"messages are \[\[message\]\]"):
        messages_of(tmp_path, "message = 1\n" + POINT)


def test_published_messages_of_this_version_name_functions_that_can_be_traced() -> None:
    cores = data.load_cores(FOLDER, {})
    messages, gains = data.load_messages(FOLDER, cores)
    tree = catalog.find_tree(FOLDER.parent)
    named = [message.function for message in messages] + [gain.function for gain in gains]
    functions = {function for function in named if function}
    assert len(functions) == 3
    for subject, name in (function.split() for function in functions):
        assert subjects.find_subject(tree, subject).function(name).computes == "gcm-seal"
