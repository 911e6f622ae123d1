# SPDX-License-Identifier: MIT
"""Goals: what may reach them, and whether it does."""

from dataclasses import replace
from pathlib import Path

import pytest

from everycore import subjects
from everycore.compile import catalog
from everycore.environment.errors import EverycoreError
from everycore.estimate import data, goals
from everycore.estimate.core_estimates import Figure, Hidden, OperationEstimate
from everycore.estimate.goals import Goal, candidates, reach, summed, titled
from everycore.model.domain import RegistryLine
from everycore.report import goal_lines as report

FOLDER = Path(data.__file__).parent
GOAL = Goal(
    "fast", "ctr", ("a64_x.*",), cores=("here",), against=("s one", "s two"), ratio=0.8
)  # fmt: skip
LINES = [
    RegistryLine("aes", "a64_x", "A64_NEON", "CT", "ANY"),
    RegistryLine("aes", "a64_x_eor3", "A64_SHA3", "CT", "ANY"),
    RegistryLine("ghash", "a64_p8", "A64_NEON", "CT", "ANY"),
    RegistryLine("ghash", "a64_x", "A64_NEON", "CT", "ANY"),
]


def row(
    kernel: str, model: float, per_byte: float = 1.0, technique: str = "ce"
) -> OperationEstimate:
    found = Figure(model, model, 0.1, "")
    return OperationEstimate(
        "x", kernel, "ctr", 128, 0, (technique,), per_byte, {}, {"here": found}
    )


def test_the_goals_of_this_version_can_be_read_and_name_known_cores_and_functions() -> None:
    cores = data.load_cores(FOLDER, {})
    found = goals.load(FOLDER)
    assert all({*goal.cores} <= {*cores} for goal in found)
    assert all(goal.against or goal.instructions or goal.cycles for goal in found)
    tree = catalog.find_tree(Path(data.__file__).parents[1])
    if tree.is_checkout:
        for goal in found:
            for name, function in goal.functions:
                subjects.find_subject(tree, name).function(function)


def test_candidates_are_kernels_of_the_primitive_and_pairs() -> None:
    assert candidates(GOAL, LINES) == ["a64_x", "a64_x_eor3"]
    assert candidates(replace(GOAL, kernels=("a64_x",)), LINES) == ["a64_x"]
    pair = replace(GOAL, mode="gcm-seal", kernels=("a64_x+a64_p.*",))
    assert candidates(pair, LINES) == ["a64_x+a64_p8"]


def test_the_best_kernel_counts_against_the_best_of_the_others() -> None:
    others = {"one": row("one", 2.0), "two": row("two", 1.25)}
    own = [row("slow", 3.0), row("fast", 1.0)]
    (found,) = reach(GOAL, own, lambda _, name: others[name])
    assert found.row is own[1]
    assert (found.rival, found.met) == ("s two", True)
    assert found.ratio == pytest.approx(0.8)
    (found,) = reach(replace(GOAL, ratio=0.7), own, lambda _, name: others[name])
    assert found.met is False


def test_without_a_kernel_or_an_estimate_nothing_is_said() -> None:
    (found,) = reach(GOAL, [], lambda _subject, _name: None)
    assert (found.row, found.met) == (None, None)
    hidden = replace(row("fast", 1.0), figures={"here": Hidden("no point")})
    (found,) = reach(GOAL, [hidden], lambda _subject, name: row(name, 2.0))
    assert (found.ratio, found.met) == (None, None)
    assert found.rival_instructions == 1.0


def test_a_goal_in_instructions_needs_no_core() -> None:
    goal = Goal("small", "gcm-seal", (".*",), instructions=2.40)
    (found,) = reach(goal, [row("a", 1.0, 2.5), row("b", 9.0, 2.401)], lambda _s, _n: None)
    assert found.row is not None
    assert (found.row.kernel, found.met) == ("b", True)


def test_functions_one_after_the_other_are_summed() -> None:
    both = summed([row("a", 3.0, 2.0), row("b", 1.0, 1.0, "tbl")], "here")
    assert both is not None
    assert (both.kernel, both.instructions_per_byte) == ("a + b", 3.0)
    assert both.figures["here"].model == 4.0
    assert both.techniques == ("ce", "tbl")
    hidden = replace(row("c", 1.0), figures={"here": Hidden("no point")})
    assert summed([row("a", 3.0), hidden], "here") is None


def test_a_stored_line_is_all_that_is_shown() -> None:
    (found,) = reach(GOAL, [row("fast", 1.0)], lambda _, name: row(name, 2.0))
    text = report.text(report.line_of(found))
    assert "fast: 1.00 i/B, 0.50x s one (1.00 i/B), est. 0.90-1.1 cycles/B" in text
    assert text.startswith("yes here")
    assert "| fast (ctr) | here | fast | 1.00 |" in report.markdown([report.line_of(found)])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('title = "x"\nmode = "ctr"\n', "goal 1 lacks 'kernels'"),
        ('title = "x"\nmode = "ctr"\nkernels = ["a"]\n', "goal 1 has no limit"),
        ('title = "x"\nmode = "ctr"\nkernels = ["a"]\nratio = 1.0\n', "a ratio is on cores"),
        ('title = "x"\nmode = "ctr"\nkernels = ["a"]\nspeed = 1\n', "unknown key 'speed'"),
        (
            'title = "x"\nmode = "ctr"\nkernels = ["a"]\ninstructions = 1.0\nagainst = ["s"]\n',
            "wants SUBJECT FUNCTION",
        ),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / goals.FILE).write_text("[[goal]]\n" + text)
    with pytest.raises(EverycoreError, match=message):
        goals.load(tmp_path)
    (tmp_path / goals.FILE).write_text("")
    with pytest.raises(EverycoreError, match="has no goals"):
        goals.load(tmp_path)


def test_goals_are_chosen_by_their_titles() -> None:
    other = replace(GOAL, title="Slow")
    assert titled([GOAL, other], ()) == [GOAL, other]
    assert titled([GOAL, other], ["SLO"]) == [other]
    with pytest.raises(EverycoreError, match="unknown goal 'fats'") as error:
        titled([GOAL, other], ["slow", "fats"])
    assert "fast" in error.value.hint


def test_of_kernels_as_fast_as_each_other_the_smaller_one_counts() -> None:
    own = [row("long", 1.0001, 2.0), row("short", 1.0002, 1.5), row("slow", 1.1, 1.0)]
    (found,) = reach(GOAL, own, lambda _, name: row(name, 2.0))
    assert found.row is not None
    assert found.row.kernel == "short"
