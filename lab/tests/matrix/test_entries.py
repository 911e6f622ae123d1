# SPDX-License-Identifier: MIT
from types import SimpleNamespace
from typing import Any

import pytest

from everycore import subjects
from everycore.environment.errors import EverycoreError, MissingPackagesError
from everycore.matrix import entries as module
from everycore.matrix.entries import entered, entries
from everycore.model.domain import Target
from everycore.subjects import Function
from everycore.subjects.reference import FLAGS
from everycore.trace.record import UntraceableError


def entries_if_building_raises(error: EverycoreError, monkeypatch: pytest.MonkeyPatch) -> Any:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(subjects, "build", fail)
    function = Function("f", "ecb-enc", multiple_of=16, key_bits=(128,))
    nothing: Any = None
    return entries(nothing, nothing, nothing, function, Target("host", ""))


def test_where_nothing_can_be_traced_there_are_no_entries(monkeypatch: pytest.MonkeyPatch) -> None:
    for error in (UntraceableError("not here"), MissingPackagesError("no iced")):
        assert entries_if_building_raises(error, monkeypatch) == ()


def test_an_error_stays_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(EverycoreError, match="no file /x/main \\(deleted\\)"):
        entries_if_building_raises(EverycoreError("no file /x/main (deleted)"), monkeypatch)


def test_where_the_usual_build_is_wrong_the_trusted_one_has_the_entries(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def build(*_: object, flags: tuple[str, ...] = ("-O2",), **__: object) -> SimpleNamespace:
        return SimpleNamespace(flags=flags, compiler="cc")

    def trace(_: object, program: SimpleNamespace, *__: object) -> tuple[SimpleNamespace, ...]:
        if program.flags not in right:
            raise subjects.WrongAnswersError("mine sum does not compute as it should")
        image = SimpleNamespace(place=lambda pc: f"{pc}+0x0")
        traced = SimpleNamespace(program=SimpleNamespace(image=image), pcs=lambda: ["glue", "sum"])
        return (SimpleNamespace(trace=traced),)

    monkeypatch.setattr(subjects, "build", build)
    monkeypatch.setattr(subjects, "trace", trace)
    monkeypatch.setattr(subjects, "objects", lambda *_: ())
    monkeypatch.setattr(module, "functions_of", lambda _: {"sum"})
    function = Function("f", multiple_of=1, key_bits=(128,))
    nothing: Any = None
    right = [FLAGS]
    assert entries(nothing, nothing, nothing, function, Target("host", "")) == ("sum",)
    right.clear()
    with pytest.raises(subjects.WrongAnswersError):
        entries(nothing, nothing, nothing, function, Target("host", ""))


def test_what_others_call_is_an_entry_and_what_it_calls_is_none() -> None:
    places = ["main+0x4", "encrypt+0x0", "encrypt+0x4", "round+0x0", "encrypt+0x8", "main+0x8"]
    assert entered(places, {"encrypt", "round"}) == ("encrypt",)


def test_a_return_into_a_function_is_no_entry() -> None:
    places = ["glue+0x0", "outer+0x0", "memcpy+0x0", "outer+0x8", "glue+0x4", "other+0x0"]
    assert entered(places, {"outer", "other"}) == ("outer", "other")


def test_clones_have_the_name_of_their_source() -> None:
    assert entered(["encrypt.constprop.0+0x0 (a.c:3)"], {"encrypt.constprop.0"}) == ("encrypt",)
