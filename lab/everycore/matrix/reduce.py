# SPDX-License-Identifier: MIT
"""A short test case of an anomaly: one C file that cvise makes as small as it can.

The files of the subject, its adapter and a small main become one preprocessed source. A smaller
one is interesting as long as interesting.py says so: the two compilations, bad and good, still
differ, and nothing tells that the source has undefined behaviour.
"""

import hashlib
import json
import os
import re
import shlex
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from everycore import subjects
from everycore.compile.toolchains import find_compiler
from everycore.environment.atomic import atomic_write
from everycore.environment.context import Context
from everycore.environment.errors import EverycoreError
from everycore.matrix import interesting
from everycore.matrix.bisect import with_switches
from everycore.matrix.case_main import calls_of, direct_main_text, lengths, main_text
from everycore.matrix.coarse_reduction import shortened
from everycore.matrix.compiled_cell import without_local_paths
from everycore.matrix.interesting import SOURCE
from everycore.matrix.neighbours import family
from everycore.matrix.reduction_passes import pass_group
from everycore.matrix.resolved_cell import ResolvedCell
from everycore.matrix.time_limits import REDUCTION_SECONDS
from everycore.matrix.trials import Trials
from everycore.matrix.used_declarations import (
    with_plain_types,
    without_tables,
    without_unused_declarations,
    without_unused_members,
)
from everycore.model.cells import Anomaly, Cell, Kind, Outcome, Reduced, Result
from everycore.model.domain import Compiler
from everycore.model.targets import load_target
from everycore.subjects.adapter import adapter_text, names_in_calls
from everycore.subjects.assemble import OUR_FLAGS

CONFIRMED = 3  # fresh processes that have to show the anomaly
KEPT = 0.5  # the share of what a slow cell loses that has to stay in each step
KEPT_AT_LAST = 0.35  # and in the result: of many attempts, some pass by chance
MOST_RUNS = 4  # of cvise: its result may not show it, and it goes on with an earlier source
LEAST_LOSS = 1.10  # the ratio from which on a whole source is worth reducing
CPU_SECONDS = 1  # of one run: an attempt may never end
COMPILE_SECONDS = 20.0
RUN_SECONDS = 5.0
CHECK_SECONDS = 20.0
SANITIZERS = "sanitizers"  # checks of this name do the same: the first that works is taken
ACCEPTED, KNOWN = "accepted", "known"  # folders of interesting.py
LONGEST_LINE = 100  # that is not formatted anew
# Sources that a later run goes on with: the last one that cvise had, and the last confirmed one.
BEST, CONFIRMED_SOURCE = "best.c", "confirmed.c"
STORED = (BEST, CONFIRMED_SOURCE)


class _NotReducedError(Exception):
    """There is no test case, and the message says why."""


def find_cvise(context: Context) -> str:
    """The path of cvise; an error that names its package if it is not installed."""
    found = shutil.which("cvise", path=context.env.get("PATH", ""))
    if not found:
        raise EverycoreError(
            "a reduction needs cvise, which is not on the PATH", "Debian: apt-get install cvise"
        )
    return found


def good_cell(anomaly: Anomaly, results: Mapping[Cell, Result]) -> Cell | None:
    """Return the cell to compare with: the repaired cell, its best neighbour, or, for a wrong one,
    the most similar right cell of the same function."""
    cell = anomaly.cell
    if anomaly.repair:
        return with_switches(cell, [anomaly.repair])
    if anomaly.neighbour:
        return anomaly.neighbour
    if anomaly.kind is not Kind.WRONG:
        return None
    own = family(results[cell]) if cell in results else ""
    right = [
        result
        for result in results.values()
        if result.outcome is Outcome.MEASURED
        and (result.cell.subject, result.cell.function) == (cell.subject, cell.function)
        and (result.cell.target, result.cell.key_bits) == (cell.target, cell.key_bits)
    ]
    found = min(
        right,
        key=lambda result: (
            result.cell.flags != cell.flags,
            family(result) != own,
            result.cell.n_bytes,
        ),
        default=None,
    )
    return found.cell if found else None


@dataclass(frozen=True)
class Reducer:
    """Makes test cases with a cvise that is installed."""

    trials: Trials
    cvise: str
    cores: int = os.cpu_count() or 1

    def reduced(
        self, anomaly: Anomaly, results: Mapping[Cell, Result], seconds: float = REDUCTION_SECONDS
    ) -> Reduced:
        """A test case of an anomaly, or why there is none. It takes at most `seconds`, and the
        time of some compilations."""
        odd = self.trials.pipeline.resolve(anomaly.cell)
        try:
            good = self._comparable(anomaly, odd, results)
            plan = self._plan(anomaly, odd, good)
            known = results.get(anomaly.cell)
            sources = self._sources(anomaly, odd, (known and known.given) or {})
            digest = hashlib.sha256(json.dumps([sources, plan]).encode()).hexdigest()[:16]
            folder = self._context.cache_dir() / "reduce" / f"{anomaly.cell.key}-{digest}"
            folder.mkdir(parents=True, exist_ok=True)
            with _work_folder(folder) as work:
                search = _Search(self._context, work, plan)
                found = self._searched(search, folder, sources, seconds)
                return found.replace(notes=(*found.notes, *self._others(search, anomaly, results)))
        except _NotReducedError as error:
            return self._not_reduced(odd, str(error))
        except EverycoreError as error:
            return self._not_reduced(odd, error.message)
        except TimeoutError:
            return Reduced(why_not=f"a preprocessor was not done after {COMPILE_SECONDS:.0f} s")
        except OSError as error:
            return Reduced(why_not=f"the cache cannot be written: {error.strerror}")

    def _not_reduced(self, odd: ResolvedCell, why: str) -> Reduced:
        return Reduced(why_not=without_local_paths(self.trials.pipeline.tools, odd.subject, why))

    @property
    def _context(self) -> Context:
        return self.trials.pipeline.tools.context

    def _comparable(
        self, anomaly: Anomaly, odd: ResolvedCell, results: Mapping[Cell, Result]
    ) -> ResolvedCell:
        if anomaly.kind not in (Kind.SLOW, Kind.WRONG):
            raise _NotReducedError(f"only wrong and slow cells are reduced, not a {anomaly.kind}")
        good = good_cell(anomaly, results)
        if good is None:
            raise _NotReducedError("no flags and no version of the compiler are known to be good")
        if anomaly.cell.target != "host":
            raise _NotReducedError("only cells of this machine are reduced, not emulated ones")
        if any(not name.endswith(".c") for name in odd.subject.files):
            raise _NotReducedError("only C is reduced, and the subject has other files")
        return self.trials.pipeline.resolve(good)

    def _others(
        self, search: "_Search", anomaly: Anomaly, results: Mapping[Cell, Result]
    ) -> list[str]:
        """Tell which other versions of the compiler that were measured show the test case, too."""
        cell, toolchains = anomaly.cell, self.trials.pipeline.resolver.toolchains
        family = toolchains[cell.toolchain].family
        names = sorted(
            {
                other_cell.toolchain
                for other_cell in results
                if (other_cell.subject, other_cell.function, other_cell.target)
                == (cell.subject, cell.function, cell.target)
                and other_cell.toolchain != cell.toolchain
                and other_cell.toolchain in toolchains
                and toolchains[other_cell.toolchain].family == family
            },
            key=lambda name: toolchains[name].version,
        )
        seen: dict[bool, list[str]] = {True: [], False: []}
        for name in names:
            other = cell.replace(toolchain=name)
            bad = [*self._compilation(self.trials.pipeline.resolve(other)), "-w"]
            found = search.measured(search.source(), checks=[], bad=bad)
            shows = "not_interesting" not in found
            if shows or interesting.COMPILES_AND_RUNS in found:
                seen[shows].append(name)
        told = [f"with {', '.join(seen[True])}"] if seen[True] else []
        told += [f"not with {', '.join(seen[False])}"] if seen[False] else []
        return [f"the same flags show it {' and '.join(told)}"] if told else []

    # ---- The whole source --------------------------------------------------------------------

    def _sources(self, anomaly: Anomaly, odd: ResolvedCell, given: Mapping[str, str]) -> list[str]:
        """Return sources to begin with, the best one first.

        Most subjects work without the declarations that they do not use. If one does not, the
        whole files come last. `given`: the input that is answered wrongly, where it is known.
        """
        subject, function = odd.subject, odd.function
        adapter = subject.adapter and f'#include "{subject.home / subject.adapter}"'
        whole = self._preprocessed(odd, adapter or adapter_text(subject))
        short = whole
        if not adapter:
            short = self._preprocessed(odd, adapter_text(subject, names_in_calls(subject)))
        fields = set(re.findall(r"(?:->|\.)\s*(\w+)", short))
        every = lengths(anomaly, function)
        mains = [
            direct_main_text(anomaly, function, *call)
            for call in (calls_of(sorted(every), given) if not adapter else ())
        ]
        calls = calls_of(every, given)
        mains += [main_text(anomaly, function, *call, fields=fields) for call in calls]
        sources = [without_unused_declarations(short + main) for main in mains]
        sources = [short for source in sources for short in _shortened(source)]
        sources += [whole + main_text(anomaly, function, *call) for call in calls]
        return list(dict.fromkeys(sources))

    def _preprocessed(self, odd: ResolvedCell, adapter: str) -> str:
        """Return the files of a subject and an adapter, preprocessed as the odd cell is."""
        subject, root = odd.subject, self._root
        folder, _ = subjects.sources(self._context, subject)
        parts = [f'#include "{(folder / name).absolute()}"' for name in subject.files]
        where = [str(root / word[2:]) for word in OUR_FLAGS if word.startswith("-I")]
        words = [f"-I{path}" for path in (folder, root, *where)]
        words += [f"-D{name}" for name in subject.adapter_defines]
        command = [*odd.compiler.command, *self.trials.words(odd), *words]
        with tempfile.TemporaryDirectory() as scratch:
            path = Path(scratch) / "whole.c"
            path.write_text("\n".join([*parts, adapter, ""]), encoding="utf-8")
            done = self._context.runner.run(
                [*command, "-w", "-E", "-P", str(path)], seconds=COMPILE_SECONDS
            )
        if done.code:
            reason = next((line for line in done.stderr.splitlines() if "error" in line), "")
            raise _NotReducedError(f"the subject and its driver are not one file: {reason}")
        text = "".join(f"{line}\n" for line in done.stdout.splitlines() if line.strip())
        return text.replace(f"{folder.absolute()}/", "")  # in __FILE__

    @property
    def _root(self) -> Path:
        return self.trials.pipeline.tools.tree.root

    # ---- The test ----------------------------------------------------------------------------

    def _plan(self, anomaly: Anomaly, odd: ResolvedCell, good: ResolvedCell) -> dict[str, Any]:
        """Return the plan that interesting.py reads."""
        target = load_target(self.trials.pipeline.tools.tree, "host")
        host = find_compiler(self._context, target, None, target.compile_flags, "")
        bad_words, good_words = self._compilation(odd), self._compilation(good)
        link = [*host.command, "-no-pie"]
        if odd.is_whole_program or good.is_whole_program:
            raise _NotReducedError("cells with -flto are not reduced")
        machine = [w for w in good_words if w.startswith("-m") and w != "-mllvm"]
        options = [*machine, "-O0", "-w", "-g", "-no-pie"]
        sanitized = [[*sanitizer, *options] for sanitizer in self._sanitizers(host)]
        plain = [*good_words, "-w", "-O0"]
        patterned = [*good_words, "-w", "-ftrivial-auto-var-init=pattern"]
        checks = [
            *(
                {"name": SANITIZERS, "compile": compile_words, "link": compile_words}
                for compile_words in sanitized
            ),
            {"name": "without optimisation", "compile": plain, "link": link},
            {"name": "with other values in unset variables", "compile": patterned, "link": link},
        ]
        return {
            "kind": str(anomaly.kind),
            "bad": [*bad_words, "-w"],
            "good": good_words,
            "shown": [self._shown_command(odd), self._shown_command(good)],
            "link": link,
            "checks": checks,
            "allowed_warnings": [],
            "appeared": re.findall(r"\d+ (\w+) appears?\b", "; ".join(anomaly.causes)),
            "least_ratio": LEAST_LOSS,
            "least_seconds": 0.0,
            "compile_seconds": COMPILE_SECONDS,
            "run_seconds": RUN_SECONDS,
            "check_seconds": CHECK_SECONDS,
        }

    def _sanitizers(self, host: Compiler) -> list[tuple[str, ...]]:
        """Return compilers with their sanitizers: the first that takes the source will do.

        A source that clang has preprocessed declares types that GCC has built in, such as _Float32;
        and clang has a run time only if its package is installed, but can do without.
        """
        path = self._context.env.get("PATH", "")
        full = ("-fno-sanitize-recover=all", "-fsanitize=undefined,address")
        others = [(name, *full) for name in ("gcc", "clang")]
        others += [("clang", "-fsanitize=undefined", "-fsanitize-trap=undefined")]
        there = [compiler for compiler in others if shutil.which(compiler[0], path=path)]
        return [(*host.command, *full), *there]

    def _compilation(self, resolved: ResolvedCell) -> list[str]:
        """The compiler and its words for a source that is preprocessed already."""
        return [*resolved.compiler.command, *self._flags(resolved)]

    def _shown_command(self, resolved: ResolvedCell) -> str:
        """A line that makes and runs the program, for those who have the compiler by its name."""
        name = Path(resolved.compiler.command[0]).name
        return f"{shlex.join([name, *self._flags(resolved)])} {SOURCE} && ./a.out"

    def _flags(self, resolved: ResolvedCell) -> list[str]:
        """All flags of a cell but those for the preprocessor."""
        words = iter(self.trials.words(resolved))
        kept: list[str] = []
        for word in words:
            if word in ("-include", "-imacros", "-isystem", "-iquote", "-I", "-D", "-U"):
                next(words, "")
            elif not word.startswith(("-I", "-D", "-U")):
                kept.append(word)
        return kept

    # ---- The search --------------------------------------------------------------------------

    def _searched(
        self, search: "_Search", folder: Path, sources: Sequence[str], seconds: float
    ) -> Reduced:
        whole, notes = search.settled(sources)
        stored = {path: _text(path) for name in STORED if (path := folder / name).is_file()}
        candidates = sorted(stored.values(), key=len)
        shows = (
            candidate
            for candidate in candidates
            if "not_interesting" not in search.measured(candidate)
        )
        search.put(next(shows, whole))
        try:
            confirmed, is_final, why_not = self._runs(search, folder, whole, seconds, stored)
            search.format()
        finally:  # also at Ctrl-C: the next run goes on with it
            _store(folder / BEST, search.source(), stored)
        (bad, good), (bad_shows, good_shows) = search.plan["shown"], _shows(confirmed.seen)
        return Reduced(
            search.source(),
            bad,
            good,
            bad_shows,
            good_shows,
            notes=tuple(notes),
            why_not=why_not,
            is_final=is_final,
        )

    def _runs(
        self,
        search: "_Search",
        folder: Path,
        whole: str,
        seconds: float,
        stored: Mapping[Path, str],
    ) -> tuple["_Confirmed", bool, str]:
        """Run cvise until its result is confirmed; the case is then the last confirmed source.

        Returns what confirmed it, whether cvise came to its end, and why not; no reason: the time
        ended. A source that was confirmed stays when a later run fails.
        """
        end = time.monotonic() + seconds
        confirmed: _Confirmed | None = None
        has_ended, failure = False, ""
        for _ in range(MOST_RUNS):
            begun = search.source()
            try:
                has_ended = search.run(self.cvise, self.cores, end - time.monotonic(), whole)
            except (_NotReducedError, EverycoreError) as error:
                has_ended, failure = False, str(error)
            try:
                confirmed = search.confirm()
            except _NotReducedError as error:
                search.put(begun)  # what was confirmed before, if something was
                failure = failure or str(error)
            if confirmed is None or (failure and search.source() == whole):
                raise _NotReducedError(failure)
            if search.source() != whole:
                _store(folder / CONFIRMED_SOURCE, search.source(), stored)
            if failure or confirmed.is_last or time.monotonic() >= end:
                break
        assert confirmed is not None
        return confirmed, has_ended and not failure and confirmed.is_last, failure


def _shortened(source: str) -> list[str]:
    """Return a source in shorter forms, the shortest one first; one may not show the anomaly."""
    without = without_tables(source)
    plain = without_unused_members(with_plain_types(without))
    return [without_unused_declarations(plain), without, source]


@contextmanager
def _work_folder(folder: Path) -> Iterator[Path]:
    """A folder for one reduction, gone after it."""
    with tempfile.TemporaryDirectory(dir=folder, ignore_cleanup_errors=True) as work:
        yield Path(work)


@dataclass(frozen=True, slots=True)
class _Confirmed:
    """Findings of fresh runs of a source."""

    seen: Mapping[str, Any]
    is_last: bool  # it is what cvise left, and not one of its earlier sources


@dataclass
class _Search:
    """One source, its test, and cvise."""

    context: Context
    folder: Path
    plan: dict[str, Any]

    @property
    def case(self) -> Path:
        return self.folder / SOURCE

    def put(self, source: str) -> None:
        self.case.write_text(source, encoding="utf-8")

    def source(self) -> str:
        return _text(self.case)

    def measured(self, source: str, **changed: object) -> dict[str, Any]:
        """Measure a source in a fresh process of the test."""
        with tempfile.TemporaryDirectory(dir=self.folder) as scratch:
            path = Path(scratch)
            (path / SOURCE).write_text(source, encoding="utf-8")
            (path / "plan.json").write_text(json.dumps({**self.plan, **changed}), encoding="utf-8")
            argv = [sys.executable, "-I", interesting.__file__, "plan.json", "measure"]
            done = self.context.runner.run(argv, cwd=path)
        if done.code:
            raise _NotReducedError(f"the test of a source failed: {done.stderr.strip()[-200:]}")
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    def settled(self, sources: Sequence[str]) -> tuple[str, list[str]]:
        """The first of some whole sources that is odd, and what is not checked of it."""
        reason = None
        for whole in sources:
            try:
                return whole, self._settle(whole)
            except _NotReducedError as error:
                reason = reason or error
        assert reason is not None
        raise reason

    def _settle(self, whole: str) -> list[str]:
        """Make the plan fit the whole source: what fails there already tells nothing later. What
        is therefore not checked is returned in words."""
        checks, notes = self.plan["checks"], []
        known: list[str] = []
        seen = self.measured(whole, checks=[])
        if "not_interesting" in seen:  # perhaps other programs disturbed it
            seen = self.measured(whole, checks=[])
        while seen.get("not_interesting", "").startswith("a warning"):
            reason = seen["not_interesting"].rpartition(": ")[2].split(", ")
            known += reason
            seen = self.measured(whole, checks=[], allowed_warnings=known)
        if "not_interesting" in seen:
            raise _NotReducedError(
                f"as one file with its driver it is not odd: {seen['not_interesting']}"
            )
        if known:
            notes.append(f"the whole source has these warnings, too: {', '.join(known)}")
        self.plan["allowed_warnings"] = known
        self.plan["checks"] = []
        complaints: list[str] = []
        for check in checks:
            if check["name"] in (planned["name"] for planned in self.plan["checks"]):
                continue
            again = self.measured(whole, **self.plan | {"checks": [check]})
            if "not_interesting" not in again:
                self.plan["checks"].append(check)
            elif check["name"] == SANITIZERS:
                complaints.append(again["not_interesting"])
        if complaints and SANITIZERS not in (planned["name"] for planned in self.plan["checks"]):
            notes.append(f"no sanitizer could check it: {complaints[0]}")
        if self.plan["kind"] == str(Kind.SLOW):
            self.plan["sign"] = self._sign(whole)
            ratio = seen["bad_seconds"] / seen["good_seconds"]
            self.plan["least_ratio"] = 1 + KEPT * (ratio - 1)
            self.plan["least_seconds"] = seen["bad_seconds"] / 2
        return notes

    def _sign(self, source: str) -> str:
        """Return a mnemonic that appeared in the code of the bad cell, and that the bad object
        alone has; empty: there is none.

        Who looks for it in the objects refuses most attempts before anything runs.
        """
        found: list[set[str]] = []
        with tempfile.TemporaryDirectory(dir=self.folder) as scratch:
            path = Path(scratch)
            (path / SOURCE).write_text(source, encoding="utf-8")
            for words in (self.plan["bad"], [*self.plan["good"], "-w"]):
                self.context.runner.run([*words, "-c", SOURCE, "-o", "case.o"], cwd=path)
                try:
                    done = self.context.runner.run(["objdump", "-d", "case.o"], cwd=path)
                except EverycoreError:  # no objdump
                    return ""
                found.append(set(re.findall(r"\t([a-z]\w+)\b", done.stdout)))
        own = found[0] - found[1]
        return next((name for name in self.plan["appeared"] if name in own), "")

    def confirm(self) -> _Confirmed:
        """Measure the case in fresh processes. If it does not show it, put the smallest of the
        sources that the test accepted which does."""
        case = self.source()
        try:
            return _Confirmed(self._confirmed(case), is_last=True)
        except _NotReducedError as error:
            why = error
        earlier = sorted({_text(path) for path in self._accepted()} - {case}, key=len)
        best: tuple[str, Mapping[str, Any]] | None = None
        low, high, step = 0, len(earlier), 1  # those below `low` do not show it
        while low < high:
            # Longer ones are likelier to show it: first with growing steps, then by halves.
            at = (low + high) // 2 if best else min(low + step - 1, high - 1)
            try:
                best, high = (earlier[at], self._confirmed(earlier[at])), at
            except _NotReducedError:
                low, step = at + 1, 2 * step
        if best is None:
            raise why
        self.put(best[0])
        return _Confirmed(best[1], is_last=False)

    def format(self) -> None:
        """Format a case with long lines: passes of cvise leave whole functions on one."""
        path = self.context.env.get("PATH", "")
        names = ("clang-format", *(f"clang-format-{version}" for version in range(30, 10, -1)))
        program = next((name for name in names if shutil.which(name, path=path)), "")
        before = self.source()
        if not program or max(map(len, before.splitlines()), default=0) <= LONGEST_LINE:
            return
        text = re.sub(r"(?m)^\s*;\s*$\n?", "", before)  # an empty declaration that was left
        self.put(text)
        done = self.context.runner.run([program, "-style=LLVM", "-i", SOURCE], cwd=self.folder)
        if done.code or "not_interesting" in self.measured(self.source(), checks=[]):
            self.put(before)

    def _confirmed(self, source: str) -> Mapping[str, Any]:
        """Return what the last of some fresh processes saw; _NotReducedError: one saw nothing."""
        least = 1 + (self.plan["least_ratio"] - 1) * KEPT_AT_LAST / KEPT
        seen = []
        for _ in range(CONFIRMED):
            seen.append(self.measured(source, least_ratio=least))
            if "not_interesting" in seen[-1]:
                why = seen[-1]["not_interesting"]
                raise _NotReducedError(f"a fresh run of the reduced source did not show it: {why}")
        return seen[-1]

    def _accepted(self) -> list[Path]:
        return sorted((self.folder / ACCEPTED).glob("*.c"))

    def run(self, cvise: str, cores: int, seconds: float, whole: str) -> bool:
        """Let cvise reduce the case; whether it came to its end.

        A case that is not the whole source was accepted before, and counts as accepted.
        """
        plan, test = self.folder / "plan.json", self.folder / "interesting"
        for name in (ACCEPTED, KNOWN):
            shutil.rmtree(self.folder / name, ignore_errors=True)
            (self.folder / name).mkdir()
        if (begun := self.source()) != whole:
            (self.folder / ACCEPTED / "begun.c").write_text(begun, encoding="utf-8")
        self.plan |= {name: str(self.folder / name) for name in (ACCEPTED, KNOWN)}
        plan.write_text(json.dumps(self.plan), encoding="utf-8")
        passes = self.folder / "passes.json"
        passes.write_text(pass_group(), encoding="utf-8")
        test.write_text(quick_test(self.plan, plan), encoding="utf-8")
        test.chmod(0o755)
        end = time.monotonic() + seconds
        self._shorten(test, end)
        if (seconds := end - time.monotonic()) <= 0:
            return False
        # Its sockets need paths of at most 107 bytes: a folder of the cache may be deeper.
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
            options = ["--tidy", "--skip-key-off", "--n", str(cores)]
            options += ["--pass-group-file", str(passes)]
            argv = ["env", f"TMPDIR={scratch}", cvise, *options, str(test), SOURCE]
            try:
                done = self.context.runner.run(argv, cwd=self.folder, seconds=seconds)
            except TimeoutError:
                return False
        if done.code:
            reason = (done.stderr or done.stdout).strip().splitlines()[-1:]
            raise _NotReducedError(f"cvise ended with {done.code}: {''.join(reason)[:200]}")
        return True

    def _shorten(self, test: Path, end: float) -> None:
        """Leave out functions and statements, as long as the script says that the case shows it."""

        def shows(source: str) -> bool:
            with tempfile.TemporaryDirectory(dir=self.folder) as scratch:
                path = Path(scratch)
                (path / SOURCE).write_text(source, encoding="utf-8")
                is_shown = self.context.runner.run(["sh", str(test)], cwd=path).code == 0
            if is_shown:  # also for who interrupts it
                self.put(source)
            return is_shown

        shortened(self.source(), shows, lambda: time.monotonic() < end)


def quick_test(plan: Mapping[str, Any], path: Path) -> str:
    """Return the script that cvise runs.

    Most attempts do not compile, or lose the difference. A shell finds that in a fraction of the
    time that an interpreter of Python needs to start; what is left is for interesting.py.

    A pair of objects that does not show the anomaly is remembered as not interesting. A command
    that was not done in its time, or could not start (124 to 127 of timeout), says nothing about
    the objects.
    """
    limit = f"timeout {plan['compile_seconds']:.0f}"
    run = f"ulimit -t {CPU_SECONDS}; exec timeout {plan['run_seconds']:.0f}"
    link, bad, good = (shlex.join(plan[name]) for name in ("link", "bad", "good"))
    noted = shlex.join(interesting.WARNINGS)
    same = "!=" if plan["kind"] == str(Kind.WRONG) else "="
    words = shlex.join([sys.executable, "-I", interesting.__file__, str(path), "made"])
    right, wrong = interesting.GOOD, interesting.BAD
    known = shlex.quote(plan.get(KNOWN, "."))
    sign = plan.get("sign", "")
    has_sign = f"objdump -d {{}}.o | grep -qw {shlex.quote(sign)}"
    sieve = f"{has_sign.format(wrong)} || exit 1\n{has_sign.format(right)} && exit 1\n"
    return f"""#!/bin/sh
exec 2>/dev/null
{limit} {good} {noted} -c {SOURCE} -o {right}.o 2>{right}.txt || exit 1
{limit} {bad} -w -c {SOURCE} -o {wrong}.o || exit 1
cmp -s {right}.o {wrong}.o && exit 1
{sieve if sign else ""}known={known}/$(cat {right}.o {wrong}.o | sha256sum | cut -d' ' -f1)
[ -e "$known.{interesting.NOT_INTERESTING}" ] && exit 1
not_interesting() {{
  case $? in 12[4567]) ;; *) : >"$known.{interesting.NOT_INTERESTING}" ;; esac
  exit 1
}}
{limit} {link} {right}.o -o {right} && right=$({run} ./{right}) || not_interesting
{limit} {link} {wrong}.o -o {wrong} && answer=$({run} ./{wrong}) || not_interesting
[ -n "$right" ] && [ "$answer" {same} "$right" ] || not_interesting
exec {words}
"""


def _store(path: Path, source: str, seen: Mapping[Path, str]) -> None:
    """Store a source for a later run, unless another process has stored a smaller one meanwhile.

    `seen`: what the files held when this process read them.
    """
    with suppress(OSError):
        now = _text(path)
        if now != seen.get(path) and len(now) < len(source):
            return
    with atomic_write(path) as scratch:
        scratch.write_text(source, encoding="utf-8")


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


def _shows(seen: Mapping[str, Any]) -> tuple[str, str]:
    if "bad_seconds" in seen:
        slow, fast = seen["bad_seconds"], seen["good_seconds"]
        return f"takes {slow:.3f} s, {slow / fast:.2f}x", f"takes {fast:.3f} s"
    return f"prints {seen['bad'].strip()[:60]}", f"prints {seen['good'].strip()[:60]}"
