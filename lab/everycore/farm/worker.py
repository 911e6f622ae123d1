# SPDX-License-Identifier: MIT
"""Does a job on this host. Dask calls `do_text` by its name; `everycore job` calls `do`."""

import base64
import errno
import hashlib
import platform
import re
import time
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from everycore import subjects
from everycore.compile import catalog
from everycore.compile.binaries import meaning_of_native
from everycore.compile.toolchains.host import HOST
from everycore.compile.toolchains.installed import installed
from everycore.environment.context import Context, system_context
from everycore.environment.decoding import encode_line
from everycore.environment.errors import EverycoreError, cannot_write
from everycore.environment.version import package_version
from everycore.farm.work import Answer, Job, Work, read_job
from everycore.matrix import second_pass
from everycore.matrix.cell_pipeline import CellPipeline
from everycore.matrix.checked_cell import CheckedCell
from everycore.matrix.compiled_cell import CellTools, CompiledCell
from everycore.matrix.resolved_cell import ResolvedCell, Resolver, why_not
from everycore.matrix.run_request import host_cpu
from everycore.matrix.time_limits import Limits
from everycore.matrix.timed_cell import Timer
from everycore.matrix.traced_call import executed
from everycore.model.cells import Kind, Outcome, Result, is_same
from everycore.model.domain import Compiler, Toolchain, Tree
from everycore.run import machine
from everycore.subjects import Subject

if TYPE_CHECKING:
    from everycore.matrix.trials import Trials

PARTS = (
    "src",
    "include",
    "harness",
    "catalog/subjects",
    "catalog/targets",
)  # of the tree: all that a job reads
_OF_MACHINE = re.compile(
    r"""(?<![^\s"'])-m[\w.=+-]+|--param[= ]"?[\w=-]+|-(?:target|tune)-\w+"? "?[\w.+-]+"""
)
BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


@lru_cache(maxsize=1)
def own_version() -> str:
    """The version of everycore, with a digest of its Python files: checkouts share a version."""
    digest, package = hashlib.sha256(), Path(__file__).parents[1]
    for path in sorted(package.rglob("*.py")):
        digest.update(f"{path.relative_to(package)} {path.stat().st_size} ".encode())
        digest.update(path.read_bytes())
    return f"{package_version()} (Python files {digest.hexdigest()[:8]})".strip()


def tree_digest(tree: Tree) -> str:
    """Digest of all files of the C tree that a job may read."""
    digest = hashlib.sha256()
    for part in PARTS:
        for path in sorted((tree.root / part).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                digest.update(f"{path.relative_to(tree.root)} {path.stat().st_size} ".encode())
                digest.update(path.read_bytes())
    return digest.hexdigest()[:32]


def machine_words(context: Context, compiler: Compiler, target: str, flags: tuple[str, ...]) -> str:
    """Return the machine that cells of this host are compiled for: its architecture; with
    -march=native and its like also a digest of what they mean. Empty: they are of another
    target."""
    if target != HOST:
        return ""
    text = meaning_of_native(context, compiler, flags)
    words = _OF_MACHINE.findall(text)  # folders of the compiler differ from host to host
    digest = hashlib.sha256(" ".join(words).encode()).hexdigest()[:16] if text else ""
    return f"{platform.machine()} {digest}".strip()


def host_digest() -> str:
    """A name of this host that tells nothing else of it: equal in all its containers."""
    try:
        text = BOOT_ID.read_text(encoding="ascii")
    except OSError:
        text = platform.node()
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def about() -> dict[str, object]:
    """Facts of a worker that have to fit the client."""
    context = system_context()
    tree = catalog.tree_of(context)
    return {
        "everycore": own_version(),
        "tree": tree_digest(tree),
        "host": host_digest(),
        "architecture": platform.machine(),
        "time": time.time(),
    }


def do_text(text: str) -> str:
    """Do a job; both are lines of JSON, so that client and worker share no pickled class."""
    job = read_job(text)
    try:
        return encode_line(do(system_context(), job))
    except EverycoreError as error:
        refused = Answer(job.key, host_digest(), error=error.message, hint=error.hint)
    except OSError as error:  # a full disk; paths of this host are nobody else's concern
        why = error.strerror or type(error).__name__
        is_full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        what = "make room there" if is_full else "look at the disk and the permissions there"
        hint = f"{what}; XDG_CACHE_HOME names another folder for its cache"
        refused = Answer(job.key, host_digest(), error=f"a file failed: {why}", hint=hint)
    return encode_line(replace(refused, worker=_own_address()))


def _own_address() -> str:
    """The address of the worker that this code runs in; empty: it runs in none."""
    try:
        from distributed import get_worker

        return str(get_worker().address)
    except (ModuleNotFoundError, ValueError):
        return ""


def do(context: Context, job: Job) -> Answer:
    """The answer; EverycoreError: this host cannot do the job."""
    tree = catalog.tree_of(context)
    _refuse_other_versions(tree, job)
    pipeline = _pipeline(context, tree, job)
    answer = Answer(job.key, host_digest())
    if job.work is Work.BISECT:
        return _bisected(pipeline, job, answer)
    made = pipeline.prepare(pipeline.resolve(job.cell, job.flag_set))
    match job.work:
        case Work.COMPILE | Work.COUNT:
            return _made(made, job, answer)
        case Work.TRACE:
            if isinstance(made, Result):
                return replace(answer, result=made)
            call = executed(context, made.compiled)
            counted = made.result.replace(executed=call.instructions)
            return replace(answer, result=counted, functions=dict(call.functions))
        case Work.CT:
            result = made if isinstance(made, Result) else made.result
            (looked,) = second_pass.looked_at(pipeline, [result], 1)
            return replace(answer, result=looked)


def _made(made: CheckedCell | Result, job: Job, answer: Answer) -> Answer:
    if isinstance(made, Result):
        return replace(answer, result=made)
    if job.work is Work.COUNT or made.result.outcome is Outcome.COUNTED:
        return replace(answer, result=made.result)
    program = base64.b64encode(made.compiled.program.binary.read_bytes()).decode()
    return replace(answer, result=made.result, program=program)


def _bisected(pipeline: CellPipeline, job: Job, answer: Answer) -> Answer:
    from everycore.matrix.bisect import explain
    from everycore.matrix.trials import Trials

    if job.anomaly is None:
        raise EverycoreError("the job bisect lacks 'anomaly'")
    if job.anomaly.kind is Kind.WRONG:
        return _made_right(Trials(pipeline), job, answer)
    if job.anomaly.kind is Kind.SLOW:
        raise EverycoreError(
            "a slow cell has to be timed, and a job times nothing",
            "everycore matrix regressions, on the host that measures",
        )
    found = explain(Trials(pipeline), job.anomaly)
    return replace(answer, anomaly=found.anomaly, said=found.said, again=found.again)


def _made_right(trials: "Trials", job: Job, answer: Answer) -> Answer:
    """The flags that make wrong answers right; an error if the answers are right on this host."""
    from everycore.matrix.miscompilations import explain_cell

    (is_right,) = trials.are_right([job.cell])
    if is_right is not False:
        what = "gives right answers" if is_right else "gives no answers"
        raise EverycoreError(f"{job.cell.title} {what} on this host")
    return replace(answer, anomaly=explain_cell(trials, job.cell, job.repairs))


def ready(context: Context, resolved: ResolvedCell, answer: Answer) -> CheckedCell | Result:
    """The cell of an answer, ready to be timed here; a Result: it came to no more."""
    assert answer.result is not None
    if not answer.program:
        return answer.result
    binary = context.cache_dir() / "programs" / answer.key
    if not binary.exists():
        try:
            binary.parent.mkdir(parents=True, exist_ok=True)
            with TemporaryDirectory(dir=binary.parent) as scratch:
                copy = Path(scratch) / "program"
                copy.write_bytes(base64.b64decode(answer.program))
                copy.chmod(0o755)
                copy.replace(binary)
        except OSError as error:
            raise cannot_write(binary, error, "make room; --resume goes on") from error
    return CheckedCell(CompiledCell(resolved, (), resolved.program(binary)), answer.result)


def _refuse_other_versions(tree: Tree, job: Job) -> None:
    for what, theirs, ours in (
        ("everycore", job.everycore, own_version()),
        ("a C tree", job.tree, tree_digest(tree)),
    ):
        if theirs != ours:
            raise EverycoreError(
                f"the job is of {what} {theirs or 'without a version'},"
                f" this host has {ours or 'one without a version'}",
                "client and workers need the same everycore",
            )


def _pipeline(context: Context, tree: Tree, job: Job) -> CellPipeline:
    here = {toolchain.name: toolchain for toolchain in _installed(context.cache_dir(), tree)}
    known = here.get(job.cell.toolchain)
    if known and not is_same(job.compiler, known.title_for(job.cell.target)):
        raise EverycoreError(
            f"{job.cell.toolchain} is {known.title_for(job.cell.target)} on this host,"
            f" and the job is of {job.compiler}",
            "workers need the compilers of the client: everycore toolchain add",
        )
    compiler = known.compiler(job.cell.target) if known else None
    where = (job.cell.target, job.cell.flags)
    if compiler and job.machine != (here_is := machine_words(context, compiler, *where)):
        raise EverycoreError(
            f"{job.cell.title} is of another machine ({job.machine or 'any'}) than this worker"
            f" ({here_is or 'any'})",
            "host cells need workers of the client's architecture, -march=native its CPU, too",
        )
    own: dict[str, Subject] = {}
    if job.subject_file:
        subject = subjects.find_subject(tree, job.subject_file)
        own[subject.name] = subject
    here_runs = host_cpu(machine.gather(context))
    if known and (why := why_not(here_runs, known, job.cell.target, job.cell.flags)):
        raise EverycoreError(f"this host cannot do {job.cell.title}: {why}")
    tools = CellTools(context, tree, Limits(run=job.time_limit))
    return CellPipeline(tools, Resolver(tree, here, here_runs, own), Timer(tools))


@lru_cache(maxsize=4)
def _installed(cache: Path, tree: Tree) -> tuple[Toolchain, ...]:
    """The compilers of this host, asked once in the life of a worker."""
    del cache  # another folder may have other compilers
    return tuple(installed(system_context(), tree))
