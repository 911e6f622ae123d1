# SPDX-License-Identifier: MIT
"""Gates: which tests `make test`, CI and `make test-all` run, in which order, and their count.

Without --gate, pytest runs what it is asked for. The marks are in pyproject.toml: `slow` is left to
CI, `long` to `make test-all`, and what `reads` none of the changed files is left out and named,
unless the command line names tests.
"""

import os
import pathlib
import re
import resource
import shutil
import sys
from collections.abc import Generator, Iterator
from typing import Any

import pytest

ROOT = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT / "tools"))
from changed_files import base_of, changed_files  # noqa: E402

LEFT_OUT = {"test": {"slow", "long"}, "ci": {"long"}, "all": set[str]()}
# A change of these may concern every test.
ALWAYS = (
    "conftest.py",
    "tests/reads.py",
    "tests/running.py",
    "tests/systems/processes.py",
    "tools/changed_files.py",
    "tools/constraints.txt",
    "tools/setup",
    "tools/system-packages",
    "pyproject.toml",
)
APART = tuple(f"tests/systems/test_{name}.py" for name in ("builds", "harness", "lab", "programs"))
# Files that use what another one has built, in the same folder.
TOGETHER = {"tests/systems/test_ssh_login.py": "tests/systems/test_patched_openssl.py"}
UNCONCERNED = pytest.StashKey[dict[str, None]]()
READ = pytest.StashKey[set[str]]()  # of all tests that were collected
STARTED = pytest.StashKey[float]()  # CPU seconds when a phase of a test began
OF_ISA = re.compile(
    r"src/\w+/(x86|a64|a32|ppc|ppc64|s390x|hppa|rv|rv64|rv32)_"
)  # begins kernels of one architecture
# Begins the files of one primitive or layer; what these three folders have is everybody's.
OF_PRIMITIVE = re.compile(r"src/(?!common/|cpu/|random/)(\w+)/")
SLOWEST = 25  # files named at the end, with what they took


def pytest_addoption(parser: pytest.Parser) -> None:
    add = parser.getgroup("everycore").addoption
    add("--gate", choices=LEFT_OUT, help="what make test, CI or make test-all runs")
    add("--every", action="store_true", help="with --gate: also what reads nothing changed")
    # Options of tests/systems.
    add("--rounds", type=int, default=200, help="rounds of test_farm_kills.py")
    add("--seed", type=int, default=1, help="seed of what is drawn")
    add("--inputs", type=int, help="so many inputs in test_fuzz_roms.py")
    add("--update-golden", action="store_true", help="store what test_efi_golden.py finds")
    add("--cpu", action="append", default=[], help="only this CPU, in test_pac_el1.py")
    add("--qemu", action="append", default=[], help="ask this qemu-system-aarch64 instead")
    add("--record", action="store_true", help="write the sample of test_pac_el1.py anew")
    add("--sign-only", action="store_true", help="count signatures of OpenSSL, run no tests of it")
    add("--test-args", default="", help="ARGS of make test, in test_fresh_machines.py")
    add("--store", action="store_true", help="store the counts instead of comparing them")
    add("--module", type=pathlib.Path, help="this everycore.so, in test_openssl_provider*.py")
    add("--out", type=pathlib.Path, help="add the result to this file, as a line of JSON")


def pytest_configure(config: pytest.Config) -> None:
    """Give the lab's tests one folder for what they compile; delete the logs of the last run.

    Workers and the hundreds of Pythons that tests start keep their bytecode, whatever the
    environment says: to compile the lab again takes longer than most commands.
    """
    if config.getoption("--gate"):
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        if not hasattr(config, "workerinput"):
            shutil.rmtree(ROOT / "build/log", ignore_errors=True)
        os.environ["EVERYCORE_TEST_OBJECTS"] = str(ROOT / "build/cache/everycore/objects")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One more than cores: tests wait now and then, for a download, an emulated boot, a lock."""
    return (os.cpu_count() or 1) + 1


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    """Give a worker the tests of a file together, for they share what they compile, in the order of
    testpaths: what takes minutes comes first.
    """
    from xdist.scheduler import LoadScopeScheduling

    class Units(LoadScopeScheduling):  # type: ignore[misc]  # xdist has no types
        def _split_scope(self, nodeid: str) -> str:
            return unit_of(nodeid)

        def remove_node(self, node: object) -> str | None:
            """Return the test at which a worker crashed; give the tests behind it to others. The
            method of xdist gives them the crashing test, too, until all workers have crashed.
            """
            units = self.assigned_work.pop(node)
            left: list[str] = [
                test for unit in units.values() for test, ended in unit.items() if not ended
            ]
            if not left:
                return None
            units[unit_of(left[0])][left[0]] = True
            self.workqueue.update(
                {name: unit for name, unit in units.items() if not all(unit.values())}
            )
            for other in self.assigned_work:
                self._reschedule(other)
            return left[0]

        def _reschedule(self, node: Any) -> None:
            """Give a worker at least two tests: it begins one only when it knows the next, or knows
            that there is none.
            """
            super()._reschedule(node)
            while (
                self.workqueue
                and not node.shutting_down
                and self._pending_of(self.assigned_work[node]) < 2
            ):
                self._assign_work_unit(node)

    config.option.loadscopereorder = False
    return Units(config, log)


def unit_of(nodeid: str) -> str:
    """Return what one worker runs: a file, with those that use what it builds, or one test of files
    whose tests take minutes each.
    """
    file = nodeid.partition("::")[0]
    return nodeid if file in APART else TOGETHER.get(file, file)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what the gate does not run."""
    config.stash[READ] = {path for item in items for path in read_by(item)}
    if gate := config.getoption("--gate"):
        left_out = LEFT_OUT[gate]
        is_whole = gate == "all" or config.getoption("--every") or is_named(config)
        changed = None if is_whole else changed_since_landing()
        kept = []
        for item in items:
            if any(mark.name in left_out for mark in item.iter_markers()):
                continue
            if changed is not None and not concerned(item, changed):
                config.stash.setdefault(UNCONCERNED, {})[unit_of(item.nodeid)] = None
                continue
            kept.append(item)
        config.hook.pytest_deselected(items=[item for item in items if item not in set(kept)])
        items[:] = kept


def is_named(config: pytest.Config) -> bool:
    """Whether the command line names files, tests, or words of their names (-k)."""
    from_line = config.args_source is pytest.Config.ArgsSource.ARGS
    return from_line or bool(config.getoption("keyword"))


def changed_since_landing() -> set[str] | None:
    """The files that differ from what has landed; none if all are concerned."""
    base = base_of()
    changed = changed_files(base) if base else None
    if changed is None or any(file.startswith(ALWAYS) for file in changed):
        return None
    return changed


def read_by(item: pytest.Item) -> tuple[str, ...]:
    return tuple(path for mark in item.iter_markers("reads") for path in mark.args)


def concerned(item: pytest.Item, changed: set[str]) -> bool:
    """Whether a test reads a changed file; one that does not say what it reads always is."""
    marks = list(item.iter_markers("reads"))
    own = item.nodeid.partition("::")[0]
    return (
        not marks
        or own in changed
        or any(is_read(file, mark) for file in changed for mark in marks)
    )


def is_read(file: str, mark: pytest.Mark) -> bool:
    """Whether a file is one of a mark's paths. `isa`: kernels of architectures that it does not
    name are not; `primitives`: folders of others are not; `all_but`: all files are but those, and
    the mark's paths.
    """
    if "all_but" in mark.kwargs and not file.startswith(mark.kwargs["all_but"]):
        return True
    return file.startswith(mark.args) and all(
        of is None or of[1] in mark.kwargs[word].split()
        for word, pattern in (("isa", OF_ISA), ("primitives", OF_PRIMITIVE))
        if word in mark.kwargs
        for of in [pattern.match(file)]
    )


# ---- What is printed at the end ------------------------------------------------------------------


def cpu_seconds() -> float:
    used = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Note the CPU time of a test and of the programs that it ran, fixtures included."""
    item.stash[STARTED] = cpu_seconds()
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    report.user_properties.append(("cpu", cpu_seconds() - item.stash[STARTED]))
    item.stash[STARTED] = cpu_seconds()
    return report


@pytest.fixture
def notes(request: pytest.FixtureRequest) -> Iterator[list[str]]:
    """Reasons for what a passing test left out; they are printed at the end."""
    told: list[str] = []
    yield told
    request.node.user_properties += [("skipped", note) for note in dict.fromkeys(told)]


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Tell the main process what this worker has left out; all workers leave out the same."""
    if (told := getattr(session.config, "workeroutput", None)) is not None:
        told["unconcerned"] = list(session.config.stash.get(UNCONCERNED, None) or ())


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    if (told := getattr(node, "workeroutput", None)) is not None:  # not of one that crashed
        node.config.stash[UNCONCERNED] = dict.fromkeys(told["unconcerned"])


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """With a gate: what was skipped inside of tests, what took long, and the count."""
    if not config.getoption("--gate"):
        return
    write = terminalreporter.write_line
    reports = [
        report
        for each in terminalreporter.stats.values()
        for report in each
        if isinstance(report, pytest.TestReport)
    ]
    if left_out := config.stash.get(UNCONCERNED, None):
        write(f"not run, for they read nothing that has changed (--every): {' '.join(left_out)}")
    inside: dict[str, list[str]] = {}
    took: dict[str, list[float]] = {}
    for report in reports:
        name = unit_of(report.nodeid)
        spent = took.setdefault(name, [0.0, 0.0])
        spent[0] += report.duration
        for kind, value in report.user_properties:
            if kind == "cpu":
                spent[1] += float(str(value))
            elif kind == "skipped":
                inside.setdefault(str(value), []).append(report.nodeid.rpartition("::")[2])
    for note, names in inside.items():
        write(f"skipped inside {', '.join(dict.fromkeys(names))}: {note}")
    for name, (seconds, cpu) in sorted(took.items(), key=lambda each: -each[1][1])[:SLOWEST]:
        write(f"{seconds:7.1f} s {cpu:7.1f} s of CPU  {name}")
    write(f"{sum(cpu for _, cpu in took.values()):.0f} s of CPU in all")


def pytest_unconfigure(config: pytest.Config) -> None:
    """Print the count as the last line, as every program of ours does."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if config.getoption("--gate") and reporter and not hasattr(config, "workerinput"):
        passed, failed, errors, skipped = (
            len(reporter.stats.get(kind, ())) for kind in ("passed", "failed", "error", "skipped")
        )
        print(f"{passed} passed, {failed + errors} failed, {skipped} skipped", flush=True)


# ---- Fixtures of tests/systems -------------------------------------------------------------------


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Iterator[pathlib.Path]:
    """A folder for all tests of a module, removed after the last of them."""
    folder = tmp_path_factory.mktemp("work")
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def provider(pytestconfig: pytest.Config) -> pathlib.Path:
    """The provider for OpenSSL."""
    from provider_module import module_of

    return module_of(pytestconfig.getoption("module"))
