# SPDX-License-Identifier: MIT
"""everycore matrix: any C kernel over every compiler and flag."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

import typer

from everycore.commands.command_groups import DefaultCommandGroup
from everycore.commands.completion import complete_subjects, complete_targets, complete_toolchains
from everycore.commands.option_sets import with_option_sets
from everycore.commands.options import CpuNumber, Json, context_of
from everycore.matrix.time_limits import REDUCTION_SECONDS, Limits

_NOT_OF_PLAN = {"--budget": 1, "--scheduler": 1, "--cpu": 1, "--estimate": 0}  # and their values


class MatrixGroup(DefaultCommandGroup):
    """The commands of the matrix; `run` need not be named."""

    moved: ClassVar[Mapping[str, str]] = {
        "--plan": "plan",
        "--ct": "leaks",
        "--regressions": "regressions",
        "--reduce": "reduce",
    }

    def new_lines(self, words: list[str]) -> list[list[str]]:
        """Return today's command lines; two passes over one run are two commands."""
        rest = [word for word in words if word not in self.moved]
        if "--plan" in words:
            return [["plan", *_without(rest, _NOT_OF_PLAN), *(["--ct"] * ("--ct" in words))]]
        lines = [["leaks", *rest]] if "--ct" in words else []
        if causes := next(
            (option for option in ("--reduce", "--regressions") if option in words), ""
        ):
            again = ["--resume"] * bool(lines and "--resume" not in rest)
            lines.append([self.moved[causes], *rest, *again])
        return lines


def _without(words: list[str], options: Mapping[str, int]) -> list[str]:
    """Return words without some options, and without so many values of each."""
    left: list[str] = []
    n_skipped = 0
    for word in words:
        if n_skipped:
            n_skipped -= 1
        elif word in options:
            n_skipped = options[word]
        elif word.partition("=")[0] not in options:
            left.append(word)
    return left


app = typer.Typer(
    cls=MatrixGroup,
    rich_markup_mode=None,
    help="""Check and time a C function under every compiler and flag.

    A subject is the code: a kernel of ours, another project's, or your own (a TOML file). A cell is
    one function of it, from one compiler with one set of flags, on one target. Each cell is
    compiled, checked, and timed in core cycles; on emulated targets its instructions are counted.
    docs/guides/matrix.md says how to read the tables.

    Without a command: `run`.
    """,
)


@dataclass(frozen=True, slots=True)
class CellOptions:
    """Options that choose cells."""

    subject: Annotated[
        list[str] | None,
        typer.Option(
            "--subject",
            metavar="NAME",
            help="Code to measure: catalog/subjects/, our kernels, a TOML file.",
            autocompletion=complete_subjects,
        ),
    ] = None
    function: Annotated[
        list[str] | None,
        typer.Option("--function", metavar="NAME", help="Only this function; repeatable."),
    ] = None
    toolchain: Annotated[
        list[str] | None,
        typer.Option(
            "--toolchain",
            metavar="NAME",
            help="Such as gcc-12; default: all.",
            autocompletion=complete_toolchains,
        ),
    ] = None
    flag_set: Annotated[
        list[str] | None,
        typer.Option("--flag-set", metavar="NAME", help="Such as O2+ubsan; default: all."),
    ] = None
    flags: Annotated[
        list[str] | None,
        typer.Option("--flags", metavar="FLAGS", help="These flags, quoted; repeatable."),
    ] = None
    target: Annotated[
        list[str] | None,
        typer.Option(
            "--target",
            metavar="NAME",
            help="Of catalog/targets/; emulated ones are counted.",
            autocompletion=complete_targets,
        ),
    ] = None
    key_bits: Annotated[
        list[str] | None,
        typer.Option(
            "--key-bits", metavar="N", help="128, 192 or 256 (default, where there is one)."
        ),
    ] = None
    bytes_: Annotated[
        list[str] | None,
        typer.Option("--bytes", metavar="N", help="Of a message: 4096 by default; repeatable."),
    ] = None
    time_limit: Annotated[
        float | None,
        typer.Option(
            "--time-limit",
            metavar="S",
            min=0.1,
            help=f"Seconds a process may run: {Limits().run:.0f} by default.",
        ),
    ] = None
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="Where the results go; `-`: standard output."),
    ] = None
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Go on with --out, or with the last run: its cells, --time-limit and --estimate.",
        ),
    ] = False
    json: Json = False


@dataclass(frozen=True, slots=True)
class MeasuringOptions:
    """Options of a run that measures."""

    budget: Annotated[
        str, typer.Option("--budget", metavar="TIME", help="Time for all, such as 10m.")
    ] = ""
    estimate: Annotated[
        bool,
        typer.Option("--estimate", help="Of emulated cells: ranges for calibrated cores."),
    ] = False
    cpu: CpuNumber = None
    scheduler: Annotated[
        str,
        typer.Option(
            "--scheduler",
            metavar="ADDRESS",
            help="Let the workers of Dask's scheduler there do what needs no timing:"
            " tcp://host:8786.",
        ),
    ] = ""


# The steps import the compilers, tracers and tables of the matrix, which takes a second: a shell
# that completes an option, and help, do without.


@app.command("run")
@with_option_sets
def run(command: typer.Context, cells: CellOptions, measuring: MeasuringOptions) -> None:
    """Compile, check and time every cell. The default."""
    from everycore.commands import matrix_steps as steps

    job = steps.begin(context_of(command), cells, measuring)
    with steps.measured(job) as (_, results):
        pass
    steps.show_tables(job, results)
    raise typer.Exit(steps.exit_code(job, results))


@app.command("plan")
@with_option_sets
def plan(
    command: typer.Context,
    cells: CellOptions,
    ct: Annotated[
        bool, typer.Option("--ct", help="With --json: the jobs of `matrix leaks`, too.")
    ] = False,
) -> None:
    """List the cells in their order, and measure nothing.

    With --json: as jobs, for `everycore job`.
    """
    from everycore.commands import matrix_steps as steps

    steps.list_plan(context_of(command), cells, with_ct=ct)


@app.command("leaks")
@with_option_sets
def leaks(command: typer.Context, cells: CellOptions, measuring: MeasuringOptions) -> None:
    """Measure; then look whether each cell is constant-time."""
    from everycore.commands import matrix_steps as steps

    job = steps.begin(context_of(command), cells, measuring, here_only="leaks")
    with steps.measured(job) as (opened, measured):
        results = steps.look_for_leaks(opened, measured)
    steps.show_tables(job, results)
    raise typer.Exit(steps.exit_code(job, results))


@app.command("regressions")
@with_option_sets
def regressions(command: typer.Context, cells: CellOptions, measuring: MeasuringOptions) -> None:
    """Find the flags that repair wrong and slow cells.

    A report on each cause is printed. A cell is slow if it is worse than a neighbour: another
    version, or other flags. Exit code 1 if one is.
    """
    from everycore.commands import matrix_steps as steps

    job = steps.begin(context_of(command), cells, measuring, here_only="regressions")
    with steps.measured(job) as (opened, results):
        causes = steps.look_for_causes(opened, results)
    raise typer.Exit(steps.show_causes(job, causes))


@app.command("reduce")
@with_option_sets
def reduce(
    command: typer.Context,
    cells: CellOptions,
    measuring: MeasuringOptions,
    reduce_time: Annotated[
        str,
        typer.Option(
            "--reduce-time",
            metavar="TIME",
            help=f"Time for each test case; {REDUCTION_SECONDS / 60:.0f}m by default.",
        ),
    ] = "",
) -> None:
    """Make a short test case of each cause, with cvise.

    Causes are looked for and printed as by `regressions`.
    """
    from everycore.commands import matrix_steps as steps

    context = context_of(command)
    reduction = steps.find_reduction(context, reduce_time)  # before anything is measured
    job = steps.begin(context, cells, measuring, here_only="regressions")
    with steps.measured(job) as (opened, results):
        causes = steps.look_for_causes(opened, results, reduction)
    raise typer.Exit(steps.show_causes(job, causes))
