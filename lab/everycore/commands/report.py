# SPDX-License-Identifier: MIT
"""everycore report: what do all these results say, on one page?"""

import json as jsonlib
import lzma
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from everycore.commands.option_sets import with_option_sets
from everycore.commands.options import context_of
from everycore.compile import catalog
from everycore.environment import extras
from everycore.environment.context import Context
from everycore.environment.errors import EverycoreError, unreadable
from everycore.environment.outputs import atomic_output, is_stream, refuse_device
from everycore.environment.progress import Progress
from everycore.environment.version import package_version
from everycore.measure.processes import merged
from everycore.model import cells as records
from everycore.model.targets import load_peers
from everycore.report.page import benches, history, html, plots
from everycore.report.page.benches import Table
from everycore.report.page.facts import Facts, Source, collect
from everycore.report.page.html import Page, Section
from everycore.store import journal, matrix_files, run_files, views
from everycore.store.result_search import packs_of
from everycore.store.run_files import Results

PAGE = Path("report.html")
PLOT_SCALE = 2.0  # pixels of a PNG for each of the SVG


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """The files to write."""

    out: Annotated[
        Path,
        typer.Option(
            "--out", metavar="FILE", help="The page, written anew each time; `-`: standard output."
        ),
    ] = PAGE
    plots_dir: Annotated[
        Path | None,
        typer.Option("--plots", metavar="DIR", help="The plots too, as PNG and SVG files."),
    ] = None
    with_history: Annotated[
        bool,
        typer.Option(
            "--history", help="Figures over time of all cells, not only of those with a step."
        ),
    ] = False


@with_option_sets
def report(
    command: typer.Context,
    options: ReportOptions,
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[FILE...]",
            help="Result files, or folders of them. Default: the stored ones, and your own.",
        ),
    ] = None,
) -> None:
    """Write one page of all results: what is wrong or slow, and why."""
    context = context_of(command)
    found = _read(context, files)
    if not found.sources and not found.runs:
        raise EverycoreError(
            "no results to show",
            "name result files, or measure first: `everycore matrix`, `everycore bench`",
        )
    facts = collect(found.sources)
    since = {p.name: p.since for p in load_peers(catalog.tree_of(context)) if p.since}
    own_first = sorted(found.runs, key=lambda run: not found.is_own(run.path))
    sections = tuple(
        replace(section, is_own=found.is_own(run.path))
        for run in own_first
        if (section := _section(run, since)).tables
    )
    with _extra():
        over_time = _history(context, found, options.with_history)
    page = Page(
        facts,
        (*sections, *over_time),
        context.now().isoformat(sep=" ", timespec="minutes")[:16],
        package_version(),
        tuple(found.notes),
    )
    with _extra():
        text = html.render(page, _plot_library() if facts.facts else "")
    _write(context, options.out, text)
    if options.plots_dir:
        _plots(context, facts, options.plots_dir)
    for note in found.notes:
        context.warn(note)
    if facts.facts:
        context.err.print(html.headline_of(facts), markup=False, soft_wrap=True)
    if not is_stream(options.out):
        context.out.print(str(options.out.resolve()), markup=False, soft_wrap=True)


# ---- What is read --------------------------------------------------------------------------------


@dataclass
class ResultFiles:
    """Files by what they are, and what was wrong with others."""

    sources: list[Source] = field(default_factory=list)
    runs: list[Results] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    files: list[Path] = field(default_factory=list)  # that were read
    stored: Path | None = None  # the folder of the results that everycore brings, if it was read

    def is_own(self, path: Path) -> bool:
        """Whether the user named or measured a file; others are stored with everycore."""
        return self.stored is None or not path.is_relative_to(self.stored)


def _read(context: Context, named: Sequence[Path] | None) -> ResultFiles:
    """A file that is named must be readable; of those found in folders, what is not is noted."""
    found = ResultFiles()
    if named:
        for path in named:
            if path.is_dir():
                _read_folder(path, found)
            else:
                _read_file(path, found)
        return found
    own = context.state_dir() / "results"
    found.stored = catalog.tree_of(context).root / "results"
    for folder in (found.stored, own):
        if folder.is_dir():
            _read_folder(folder, found)
    found.runs = _newest(found.runs)
    return found


def _read_folder(folder: Path, found: ResultFiles) -> None:
    for path in sorted(path for pattern in run_files.PATTERNS for path in folder.rglob(pattern)):
        try:
            _read_file(path, found)
        except EverycoreError as error:
            found.notes.append(f"skipped: {error.message}")


def _read_file(path: Path, found: ResultFiles) -> None:
    refuse_device(path)
    packed = path.suffix == journal.PACKED
    try:
        with (lzma.open if packed else open)(path, "rt", encoding="utf-8") as file:
            first = file.readline()
    except (EOFError, lzma.LZMAError):
        first = ""  # the reader below says what is wrong
    except (OSError, UnicodeDecodeError) as error:
        raise unreadable(path, error) from error
    if _type(first) in ("matrix", "cell", "anomaly") or (packed and _type(first) != "run"):
        found.sources.append(_matrix(path, found))
    else:
        stored = run_files.read(path, partial=True)
        if any(bench.side for bench in stored.benches()):
            found.notes.append(
                f"{path.name}: two programs in turn; everycore compare FILE tells it"
            )
        else:
            found.runs.append(stored)
    found.files.append(path)


def _type(line: str) -> str:
    try:
        value = jsonlib.loads(line)
    except ValueError:
        return ""
    return str(value.get("type", "")) if isinstance(value, dict) else ""


def _matrix(path: Path, found: ResultFiles) -> Source:
    """A run may be under way, or was killed: its last line may be half of one."""
    stored = matrix_files.read(path)
    if stored.dropped:
        found.notes.append(f"{path.name}: its last line is cut short, and left out")
    head = stored.heads[-1]
    if head.format != records.FORMAT:
        raise EverycoreError(
            f"{path} has format {head.format}, this everycore reads format {records.FORMAT}",
            "use the everycore that wrote it",
        )
    is_own = found.is_own(path)
    name = path.name if is_own else f"{path.parent.name}/{path.name}"
    return Source(name, head, stored.lines, is_own=is_own)


def _newest(runs: Sequence[Results]) -> list[Results]:
    """Return the last run of each command on each machine."""
    found: dict[tuple[object, ...], Results] = {}
    for results in sorted(runs, key=lambda results: results.run.date):
        run = results.run
        bits = run.options.get("key_bits")
        host = run.machine.title(), run.machine.installation
        kinds = run.command, *host, run.target, str(bits)
        found[kinds] = results
    return list(found.values())


def _history(context: Context, found: ResultFiles, everything: bool) -> list[Section]:
    """Return a section of cells that several runs on one machine have measured, if there is one.

    Without `everything`: of those whose figure changed by a step.
    """
    if len(found.files) < 2 and not everything:
        return []
    packs = packs_of(context, found.files, strict=False).packs
    if not packs:
        return []
    chosen = "count(*) > 1" if everything else "bool_or(is_step)"
    with views.Database(packs) as database:
        rows = database.ask(
            f"""
            SELECT machine || if(installation = '', '', ' (host ' || installation || ')'),
                concat_ws(' ', subject, function, if(bytes > 0, bytes || ' B', NULL), conditions),
                concat_ws(' ', if(compiler = '', toolchain, compiler), flags,
                    if(target IN ('', 'host'), NULL, 'for ' || target)),
                unit, date, revision, value, low, high, ratio, is_step
            FROM history SEMI JOIN (
                SELECT what, machine, installation FROM history
                GROUP BY what, machine, installation HAVING {chosen}
            ) USING (what, machine, installation)
            ORDER BY machine, installation, unit, subject, function, bytes, what, date
            """
        ).rows
    points = [history.HistoryPoint(*row) for row in rows]
    if not points:
        return []
    said = f"{history.steps(points)} steps in {len(points)} figures"
    tables = history.tables(points, views.STEP, views.STEP_PROCESSES)
    return [Section("history", "History", said, tuple(tables))]


def _section(stored: Results, since: dict[str, str]) -> Section:
    run = stored.run
    is_measured = run.command not in ("goals", "estimate")
    source = stored.source() if is_measured else f"{run.machine.cpu}, commit {run.revision}"
    cut = f"; a partial result: {stored.cut_off}" if stored.cut_off else ""
    return Section(
        run.command,
        f"{run.command.capitalize()} {run.date[:10]}",
        source + cut,
        _tables(stored, since),
    )


def _tables(stored: Results, since: dict[str, str]) -> tuple[Table, ...]:
    command, lines = stored.run.command, merged(stored.records)
    if found := benches.goal_table(lines) or benches.estimate_table(lines):
        return (found,)
    if command.startswith("pauth"):
        return tuple(benches.pauth_tables(lines))
    if command == "limits":
        return tuple(benches.limit_tables(lines))
    if command.startswith("peers"):
        return tuple(benches.peer_tables(lines, since))
    return tuple(benches.bench_tables(lines))


# ---- What is written -----------------------------------------------------------------------------


@contextmanager
def _extra() -> Iterator[None]:
    """Turn the error of a missing package into the command that installs the extra [report]."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise extras.missing_packages("a report", "report") from error


def _plot_library() -> str:
    return plots.plot_library()


def _write(context: Context, path: Path, text: str) -> None:
    with _written(context, path) as scratch:
        scratch.write_text(text, encoding="utf-8")


def _written(context: Context, path: Path) -> AbstractContextManager[Path]:
    return atomic_output(path, context.out.file)


def _plots(context: Context, facts: Facts, folder: Path) -> None:
    """heat-SUBJECT-FUNCTION and series-SUBJECT-FUNCTION, each as .svg and .png."""
    panels = facts.panels()
    names: set[str] = set()
    with _extra(), Progress(context.err, "plots", len(panels)) as progress:
        import vl_convert

        for panel, own in panels.items():
            parts = (panel.subject, panel.function, "" if panel.target == "host" else panel.target)
            stem = re.sub(r"[^A-Za-z0-9._-]+", "-", "-".join(part for part in parts if part))
            while stem in names:  # of another machine, or with other sizes
                stem += "-2"
            names.add(stem)
            for kind, draw in _KINDS.items():
                if (chart := draw(panel, own)) is not None:
                    svg = vl_convert.vegalite_to_svg(chart.to_json())
                    _write(context, folder / f"{kind}-{stem}.svg", svg)
                    with _written(context, folder / f"{kind}-{stem}.png") as scratch:
                        scratch.write_bytes(vl_convert.svg_to_png(svg, scale=PLOT_SCALE))
            progress.step(panel.title)


_KINDS: dict[str, Callable[[Any, Any], Any]] = {"heat": plots.heat, "series": plots.series_of}
