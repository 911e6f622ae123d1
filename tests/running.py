# SPDX-License-Identifier: MIT
"""How tests run other programs: builds by Meson, harnesses, and programs that count for themselves.

build/log has all that a program printed; a failing test shows the last lines.
"""

import contextlib
import dataclasses
import fcntl
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence

import pytest
from processes import find, need

from everycore.compile.binaries import LAUNCHER
from everycore.environment.atomic import atomic_write
from everycore.environment.context import system_context

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUILD = ROOT / "build"
HARNESS = pathlib.Path("harness/harness")  # inside a build directory
os.environ["PATH"] = f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"  # Meson
FETCHED = ("crates", "debs", "pauth", "subjects", "toolchains")  # folders of everycore's cache
LINES = 40  # of what failed
# GCC takes half of its time for debugging information, of which only the sanitizers' reports use
# some: lines.
PLAIN = ("-Ddebug=false",)
SANITIZE = (
    "-Db_sanitize=address,undefined",
    "-Ddefault_library=static",
    "-Ddebug=false",
    # An array at the end of a struct has as many elements as it says. Functions with many accesses
    # call their checks: written out there, these take GCC several times as long.
    "-Dc_args=-fno-sanitize-recover=all -fsanitize=bounds-strict -g1"
    " --param=asan-instrumentation-with-call-threshold=250",
)

Argv = Sequence[str | os.PathLike[str]]


@dataclasses.dataclass(frozen=True)
class Build:
    """A build directory: build/<name>."""

    name: str
    options: tuple[str, ...] = PLAIN
    compiler: str | None = None
    cross: str | None = None  # catalog/toolchains/<cross>.ini

    @property
    def directory(self) -> pathlib.Path:
        return BUILD / self.name


def cross(name: str) -> Build:
    """The build for another architecture."""
    return Build(name, cross=name)


BUILDS = {
    build.name: build
    for build in (
        Build("gcc", (*PLAIN, "-Dprovider=auto"), "gcc"),
        Build("clang", PLAIN, "clang"),
        # GCC needs minutes for its sanitizers at -O2.
        Build("sanitize", (*SANITIZE, "-Doptimization=1"), "gcc"),
        Build("sanitize-O2", SANITIZE, "gcc"),
        Build(
            "sanitize-clang",
            (*SANITIZE[:-1], "-Dc_args=-fno-sanitize-recover=all -g1", "-Db_lundef=false"),
            "clang",
        ),
        *(
            Build(f"{compiler}-O{level}", (*PLAIN, f"-Doptimization={level}"), compiler)
            for compiler in ("gcc-11", "clang-15", "clang-16")
            for level in "03s"
        ),
        *map(
            cross,
            (
                "i386",
                "aarch64",
                "armhf",
                "ppc64",
                "ppc64le",
                "s390x",
                "riscv64",
                "riscv64-zkn",
                "mips",
                "m68k",
                "hppa",
            ),
        ),
    )
}

# ThreadSanitizer, for the one test that has threads.
THREADS = Build(
    "sanitize-threads",
    (*PLAIN, "-Db_sanitize=thread", "-Ddefault_library=static", "-Doptimization=1"),
    "gcc",
)


# ---- Programs ------------------------------------------------------------------------------------


def run(log: str, argv: Argv, **settings: str) -> tuple[int, str]:
    """Exit code, and what a program printed, which is also added to build/log/<log>.txt; `settings`
    are added to its environment.
    """
    if list(argv[1:3]) == ["-m", "everycore"] or list(argv[1:2]) == ["tools/budgets"]:
        settings |= {"XDG_CACHE_HOME": str(own_cache()), LAUNCHER: launcher()}
    done = subprocess.run(
        argv,
        cwd=ROOT,
        env={**os.environ, **settings},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    path = BUILD / "log" / f"{log}.txt"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as opened:
        print("$", *argv, file=opened)
        opened.write(done.stdout)
    return done.returncode, done.stdout


def must(log: str, argv: Argv, **settings: str) -> str:
    """Return what a program printed; the test has failed where the program does."""
    code, text = run(log, argv, **settings)
    if code:
        pytest.fail(f"{' '.join(map(str, argv))}: exit code {code}\n{end_of(text)}", pytrace=False)
    return text


def end_of(text: str) -> str:
    lines = [line for line in text.splitlines() if line and not line.startswith("skipped: ")]
    return "\n".join(lines[-LINES:])


def everycore(log: str, *words: str) -> tuple[int, str]:
    """Run the lab of this checkout; what it compiles is not in the user's cache."""
    return run(log, [sys.executable, "-m", "everycore", *words])


def own_cache() -> pathlib.Path:
    """Return the folder in which everycore keeps its compiled files for tests; fetched files stay
    in the user's cache.

    Objects of earlier versions of everycore, which may have named them wrongly, are not in it.
    """
    cache = BUILD / "cache"
    for name in FETCHED:
        (cache / "everycore").mkdir(parents=True, exist_ok=True)
        (place := system_context().cache_dir() / name).mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):  # another worker is as quick
            (cache / "everycore" / name).symlink_to(place)
    return cache


COUNT = re.compile(r"^(\d+) passed, (\d+) failed, (\d+) skipped\s*\Z", re.M)


def program(argv: Sequence[str], notes: list[str]) -> None:
    """Run a program of ours whose last line is 'N passed, N failed, N skipped': it tests something,
    and nothing fails. Where all is skipped, so is the test.
    """
    name = "-".join([pathlib.Path(argv[0]).stem, *argv[1:]])
    settings = {**kept_objects()[1], LAUNCHER: launcher()}
    code, text = run(re.sub(r"[^\w.-]+", "-", name), [sys.executable, *argv], **settings)
    count = COUNT.search(text)
    skips = re.findall(r"^skipped: (.*)", text, re.M)
    if not count or code or int(count[2]):
        why = f"exit code {code}" if count else f"exit code {code}, without its count"
        pytest.fail(f"{' '.join(argv)}: {why}\n{end_of(text)}", pytrace=False)
    if not int(count[1]):
        assert int(count[3]), f"{argv[0]} tested nothing"
        pytest.skip("; ".join(dict.fromkeys(skips)))
    notes += skips


# ---- Builds --------------------------------------------------------------------------------------


def need_cross(name: str) -> list[str]:
    """The emulator's words of a cross file; a skip where a program that it names is missing."""
    text = (ROOT / f"catalog/toolchains/{name}.ini").read_text()
    need(*re.findall(r"^(?:c|ar|exe_wrapper) = \[?'(.*?)'", text, re.M))
    wrapper = re.search(r"^exe_wrapper = (.*)", text, re.M)
    return re.findall(r"'(.*?)'", wrapper[1]) if wrapper else []


@contextlib.contextmanager
def locked(build: Build) -> Iterator[None]:
    """Keep other workers from a build directory."""
    build.directory.parent.mkdir(exist_ok=True)
    with build.directory.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def kept_objects() -> tuple[list[str], dict[str, str]]:
    """Return the word before a compiler that has ccache keep objects for later clones, and settings
    of it; neither where it is not installed.

    It finds an object by its preprocessed source, the flags and the compiler. The folder that it
    was compiled in does not count, which in the sanitizers' builds only reports name.
    """
    if not find("ccache"):
        return [], {}
    folder = os.environ.get("CCACHE_DIR", str(system_context().cache_dir() / "ccache"))
    return ["ccache"], {"CCACHE_DIR": folder, "CCACHE_NOHASHDIR": "1"}


def launcher() -> str:
    """Return the words that keep what the lab compiles of the C tree, or none."""
    kept, settings = kept_objects()
    variables = [f"{name}={value}" for name, value in settings.items()]
    return shlex.join(["env", *variables, *kept]) if kept else ""


def compiled(build: Build, *targets: str) -> pathlib.Path:
    """Configure and compile, warnings being errors; return the build directory.

    A new version of the compiler or of Meson, which these do not notice, begins anew.
    """
    options = list(build.options)
    kept, settings = kept_objects()
    if build.cross:
        need_cross(build.cross)
        options += ["--cross-file", f"catalog/toolchains/{build.cross}.ini"]
        options += keeping_cross_file(build.cross, kept)
        if (
            build.cross == "hppa"
            and " version 7." in run(build.name, ["qemu-hppa", "--version"])[1]
        ):
            options.append("-Dc_args=-DEVC_HPPA_FMPYADD_SWAPPED")  # src/common/hppa_fmpyadd.h
    elif build.compiler:
        need(build.compiler)
    command = ["meson", "setup", "--werror", *options, str(build.directory)]
    if build.compiler:
        settings["CC"] = " ".join([*kept, build.compiler])
    tools = (build.compiler or "cc", "meson")
    with locked(build):
        versions = [run(build.name, [tool, "--version"])[1] for tool in tools]
        wanted = f"{command} {settings}\n{''.join(versions)}"
        made_by = build.directory / "made-by.txt"
        if not made_by.exists() or made_by.read_text() != wanted:
            shutil.rmtree(build.directory, ignore_errors=True)
            must(build.name, command, **settings)
            made_by.write_text(wanted)
        must(build.name, ["ninja", "-C", build.directory, "-j", "2", *targets], **settings)
    return build.directory


def keeping_cross_file(name: str, kept: Sequence[str]) -> list[str]:
    """Return Meson's words that put `kept` before the compiler of a cross file."""
    if not kept:
        return []
    text = (ROOT / f"catalog/toolchains/{name}.ini").read_text()
    compiler = re.findall(r"'(.*?)'", re.findall(r"^c = (.*)", text, re.M)[0])
    path = BUILD / "ccache" / f"{name}.ini"
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as part:
        part.write_text(f"[binaries]\nc = {[*kept, *compiler]}\n")
    return ["--cross-file", str(path)]


def harness_of(build: Build | str) -> list[str]:
    """The command that runs the harness of a build, by its emulator where it has one."""
    if isinstance(build, str):
        build = BUILDS[build]
    wrapper = need_cross(build.cross) if build.cross else []
    program = HARNESS.with_suffix(".exe") if build.cross == "windows" else HARNESS
    return [*wrapper, str(compiled(build, str(program)) / program)]


def meson_tests(build: Build, notes: list[str], *options: str) -> None:
    """Compile all, and run the tests of a build; the test has failed where one of them has."""
    directory = compiled(build)
    with locked(build):
        for old in (directory / "meson-logs").glob("testlog*.json"):
            old.unlink()  # if no test is chosen, Meson writes none, and succeeds
        command: Argv = ["meson", "test", "-C", directory, "--no-rebuild", "--print-errorlogs"]
        code, text = run(build.name, [*command, "--num-processes", "1", *options])
        results = [
            json.loads(line)
            for path in (directory / "meson-logs").glob("testlog*.json")
            for line in path.read_text().splitlines()
        ]
    assert results, f"{build.name}: nothing was tested"
    for result in results:
        notes += skip_lines(result.get("stdout", ""))
        if result["result"] == "SKIP":
            notes.append(result["name"].rpartition(" / ")[2])
    good = {"OK", "EXPECTEDFAIL", "SKIP"}
    bad = [result["name"] for result in results if result["result"] not in good]
    if code or bad:
        pytest.fail(f"{build.name}: {', '.join(bad)}\n{end_of(text)}", pytrace=False)
    if all(result["result"] == "SKIP" for result in results):
        pytest.skip("; ".join(dict.fromkeys(notes)))


# ---- Harnesses -----------------------------------------------------------------------------------

# Properties for CPU models, on which a kernel could execute an instruction that the model lacks:
# they call every slot of every kernel. The same objects are tried with all properties elsewhere:
# those of x86-64 on the host, those of Arm on QEMU's model with all features.
OF_A_MODEL = ",".join(
    (
        "descriptor_agrees_with_its_line",
        "known_answers",
        "every_length_equals_reference",
        "own_operations_equal_composed_ones",
        "messages_in_pieces_equal_one_call",
        "many_equal_one_by_one",
        "powers_equal_reference",
        "many_powers_equal_one_by_one",
        "quotients_equal_reference",
        "calls_keep_the_abi",
    )
)


def skip_lines(text: str) -> list[str]:
    """The harness's skips in a test's output: 'needs architecture x86: x86_vaes512, x86_aesni'."""
    found: dict[str, dict[str, None]] = {}
    for line in text.splitlines():
        if '"result":"skip"' in line.replace(" ", ""):
            try:
                fact = json.loads(line[line.index("{") :])
            except ValueError:
                continue
            reason = str(fact.get("detail", "no reason given"))
            found.setdefault(reason, {})[fact.get("kernel", "?")] = None
    return sorted(f"{reason}: {', '.join(kernels)}" for reason, kernels in found.items())


def passed(ended: tuple[int, str], notes: list[str]) -> str:
    """Return what a program printed that ends with the summary of `harness check`: something has
    passed, and nothing has failed.
    """
    code, text = ended
    summaries = [json.loads(line) for line in text.splitlines() if '"summary"' in line]
    if code or not summaries or summaries[-1]["failed"]:
        bad = [line for line in text.splitlines() if '"result":"fail"' in line.replace(" ", "")]
        told = "\n".join(bad[:LINES]) or end_of(text)
        pytest.fail(f"exit code {code}, {summaries[-1:] or 'no summary'}\n{told}", pytrace=False)
    if not summaries[-1]["passed"]:
        assert summaries[-1]["skipped"], "nothing was tested"
        pytest.skip("; ".join(skip_lines(text)) or "all was skipped")
    notes += skip_lines(text)
    return text


def pairs_of(arch: str) -> list[str]:
    """Return pairs of GCM, as few as have every kernel of an architecture in one of them."""
    lines = (ROOT / "src/kernels.def").read_text()
    aes, ghash = (
        re.findall(rf"^KERNEL\({primitive}, *({arch}_\w+),.*PAIR", lines, re.M)
        for primitive in ("aes", "ghash")
    )
    return [
        f"{aes[i % len(aes)]}+{ghash[i % len(ghash)]}" for i in range(max(len(aes), len(ghash)))
    ]


def kernels(pattern: str, left_out: str = "") -> str:
    """The kernels of src/kernels.def whose whole name is a regular expression, joined by commas;
    without the lines that another expression matches.
    """
    lines = (ROOT / "src/kernels.def").read_text()
    if left_out:
        lines = re.sub(left_out, "", lines, flags=re.M)
    return ",".join(dict.fromkeys(re.findall(rf"^KERNEL\(\w+, *({pattern}),", lines, re.M)))
