# SPDX-License-Identifier: MIT
"""Programs whose cryptography is known, and judgements of what `everycore profile` says of them.

`programs.toml` lists the programs with the right answers, which were written down before the
programs were profiled.
"""

import dataclasses
import datetime
import pathlib
import re
import tomllib
from collections.abc import Mapping, Sequence

from everycore.explain.explanation import explain, shares
from everycore.explain.recognise import recognise
from everycore.explain.regions import Profile
from everycore.report import explained

HERE = pathlib.Path(__file__).resolve().parent
LIST = HERE / "programs.toml"
LARGEST_FALSE = 2.0  # per cent
RIGHT = "right"
NOT_RECORDED = "not recorded"
# "primitive": only the implementation is wrong.
VERDICTS = (RIGHT, "primitive", "wrong", NOT_RECORDED)


@dataclasses.dataclass(frozen=True)
class Program:
    """A program, what it computes, and what was answered."""

    name: str
    first_used: datetime.date  # the date from which on rules may have been made with its answer
    # Pattern of "primitive: implementation" -> smallest share of the samples, in per cent.
    expected: dict[str, float]
    allowed: str = ""  # other answers that are no fault
    control: bool = False  # it computes no cryptography
    verdict: str = RIGHT  # of the rules as they are
    why: str = ""  # how the right answer is known
    says: str = ""  # the answer in words holds it
    says_not: str = ""
    # Programs that can be run again, by record.py:
    command: str = ""
    environment: dict[str, str] = dataclasses.field(default_factory=dict)
    varies: bool = False  # it prints something else in each run
    short: bool = False  # `make test` runs it
    build: tuple[str, ...] = ()  # commands
    debian: tuple[str, ...] = ()  # packages that are unpacked, not installed


@dataclasses.dataclass(frozen=True)
class Answer:
    """The names, kinds and words that a profile of a program was answered with."""

    shares: Mapping[str, float]  # "primitive: implementation" -> per cent
    kinds: Mapping[str, str]  # of primitives
    text: str


def programs() -> dict[str, Program]:
    """Return the list, by name."""
    table = tomllib.loads(LIST.read_text(encoding="utf-8"))
    found: dict[str, Program] = {}
    for row in table["program"]:
        program = Program(**{"expected": {}} | row)
        if program.name in found:
            raise ValueError(f"{LIST.name}: '{program.name}' is listed twice")
        if program.verdict not in VERDICTS:
            raise ValueError(f"{LIST.name}: {program.name}: '{program.verdict}' is no verdict")
        found[program.name] = program
    return found


def answer_of(profile: Profile, cpu_flags: Sequence[str]) -> Answer:
    """Recognise and explain a profile."""
    named = recognise(profile)
    kinds = {
        recognition.primitive: recognition.kind for region in named for recognition in region.found
    }
    said = explain(profile, named, cpu_flags)
    words = [row.library for row in said.rows] + explained.sentences(said, (), ())
    return Answer(shares(named), kinds, " ".join(words))


def faults(program: Program, answer: Answer) -> list[str]:
    """Say what is wrong with an answer."""
    wrong = []
    for pattern, least in program.expected.items():
        share = sum(value for label, value in answer.shares.items() if re.search(pattern, label))
        if share < least:
            wrong.append(f"{pattern}: {share:.0f} % of at least {least:.0f} %")
    for label, share in answer.shares.items():
        primitive = label.split(":")[0]
        wanted = any(_first_words(pattern) in primitive for pattern in program.expected)
        is_allowed = program.allowed and re.search(program.allowed, label)
        is_harmless = answer.kinds.get(primitive) in ("checksum", "overhead")
        if share > LARGEST_FALSE and not is_harmless and not wanted and not is_allowed:
            wrong.append(f"{label}: {share:.0f} % is false")
    if program.says not in answer.text:
        wrong.append(f"it does not say '{program.says}'")
    if program.says_not and program.says_not in answer.text:
        wrong.append(f"it says '{program.says_not}'")
    return wrong


def judged(program: Program, answer: Answer) -> tuple[str, list[str]]:
    """Return the verdict on an answer, and what is wrong with it."""
    wrong = faults(program, answer)
    if not wrong:
        return RIGHT, []
    loose = {_without_names(name): least for name, least in program.expected.items()}
    is_primitive = not faults(dataclasses.replace(program, expected=loose), answer)
    return "primitive" if is_primitive else "wrong", wrong


def _first_words(pattern: str) -> str:
    """Return what a pattern begins with that is no sign of a regular expression."""
    found = re.match(r"[\w -]+", pattern)
    if not found:
        raise ValueError(f"{LIST.name}: '{pattern}' does not begin with the name of a primitive")
    return found[0].rstrip()


def _without_names(pattern: str) -> str:
    """Return the part of a pattern that the primitive has to match."""
    if "(" in pattern:
        return pattern.partition(":")[0]
    return "|".join(part.partition(":")[0] for part in pattern.split("|"))
