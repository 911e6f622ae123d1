# SPDX-License-Identifier: MIT
"""Jobs, the answers of workers, and runs that hand jobs out, with a stand-in for Dask."""

import io
import json
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest
from matrix.cells import cell, measured, pipeline, resolved
from world import PACKAGE, Lab

from everycore.compile import catalog
from everycore.environment.context import Context
from everycore.environment.decoding import encode_line
from everycore.environment.errors import EverycoreError, LostError
from everycore.farm import scheduler, work, worker
from everycore.farm.matrix_run import FarmRun
from everycore.farm.scheduler import Farm, Undone, _Exchange
from everycore.farm.work import Answer, Job, Work
from everycore.matrix.bisect import with_switches
from everycore.matrix.cell_runs import Run
from everycore.matrix.checked_cell import CheckedCell
from everycore.matrix.compiled_cell import CompiledCell
from everycore.matrix.miscompilations import AnswerTrials, explain_wrong, wrong_answers
from everycore.matrix.time_limits import Clock
from everycore.model.cells import Anomaly, Cell, Kind, Outcome, Result, Verdict
from everycore.model.domain import Compiler

CELLS = [cell(flags=f"-O{level}").replace(target="qemu-aarch64") for level in "0123s"]


def job_of(where: Cell, **members: Any) -> Job:
    return Job(**{"work": Work.COUNT, "cell": where, "everycore": "1", "tree": "t", **members})


def counted(where: Cell) -> Result:
    return measured(where, 5.0).replace(outcome=Outcome.COUNTED, runs=(), executed=7)


def answer_to(job: Job, **members: Any) -> Answer:
    return Answer(**{"key": job.key, "host": "h", "result": counted(job.cell), **members})


# ---- Lines ---------------------------------------------------------------------------------------


def test_a_job_and_its_answer_come_back_as_they_went() -> None:
    odd = Anomaly(CELLS[0], Kind.FRAME, 2048.0, None, None, 2.0)
    job = job_of(CELLS[0], work=Work.BISECT, anomaly=odd, compiler="gcc 12.2.0")
    assert work.read_job(encode_line(job)) == job
    answer = answer_to(job, functions={"f": 3}, anomaly=odd)
    assert work.read_answer(encode_line(answer)) == answer


def test_equal_jobs_have_equal_keys_and_others_have_others() -> None:
    job = job_of(CELLS[0])
    assert job.key == job_of(CELLS[0].replace()).key
    others = [job_of(CELLS[1]), job_of(CELLS[0], tree="u"), job_of(CELLS[0], time_limit=1.0)]
    others += [job_of(CELLS[0], compiler="gcc 1"), job_of(CELLS[0], work=Work.CT)]
    assert len({job.key, *(other.key for other in others)}) == 6


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "this is no job"),
        ("[]", "this is no job"),
        ('{"work":"count"}', "the job lacks 'format'"),
        ('{"format":1,"work":"count"}', "the job lacks 'cell'"),
        ('{"format":9}', "the job has format 9, this everycore reads format 1"),
        (encode_line(job_of(CELLS[0])).replace('"count"', '"time"'), "'work'.*'time'"),
        (encode_line(job_of(CELLS[0])), "the job is of everycore 1, this host has"),
    ],
)
def test_a_job_that_cannot_be_done_is_one_line(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str, said: str
) -> None:
    path = tmp_path / "job.json"
    path.write_text(text)
    with path.open() as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        done = lab("job")
    assert done.code == 2
    assert done.out == ""
    assert len(done.err.splitlines()) <= 2
    assert re.search(said, done.err), done.err
    named = lab("job", str(path))
    assert (named.code, named.err) == (2, done.err)


def test_a_job_that_is_not_there_is_named(lab: Lab) -> None:
    done = lab("job", "absent.json")
    assert (done.code, done.out) == (2, "")
    assert "cannot read absent.json: No such file" in done.err


def test_a_slow_cell_is_no_job_for_it_has_to_be_timed(lab: Lab) -> None:
    context = lab.context()
    tree = catalog.tree_of(context)
    odd = Anomaly(CELLS[0], Kind.SLOW, 2.0, None, None, 2.0)
    own = {"everycore": worker.own_version(), "tree": worker.tree_digest(tree)}
    with pytest.raises(EverycoreError, match="a job times nothing"):
        worker.do(context, job_of(CELLS[0], work=Work.BISECT, anomaly=odd, **own))


# ---- A run ---------------------------------------------------------------------------------------


@dataclass
class Answering:
    """A farm whose answers are given."""

    found: Sequence[Answer | Undone]
    shared: list[str] = field(default_factory=list)
    asked: list[Job] = field(default_factory=list)
    lost_after: int = 99

    def shares_host(self) -> list[str]:
        return self.shared

    def answers(
        self, jobs: Sequence[Job], is_time: Callable[[], bool]
    ) -> Iterator[Answer | Undone]:
        del is_time
        self.asked += jobs
        wanted = {job.key for job in jobs}
        for number, reply in enumerate(self.found):
            if number == self.lost_after:
                raise LostError("the scheduler at x is lost")
            if (reply.job.key if isinstance(reply, Undone) else reply.key) in wanted:
                yield reply


def run_of(lab: Lab, farm: Answering, cells: Sequence[Cell] = CELLS, **job: Any) -> FarmRun:
    bench = pipeline(lab.context(), catalog.find_tree(PACKAGE, ""), {})
    jobs = {planned_cell: job_of(planned_cell, **job) for planned_cell in cells}
    return FarmRun(cast(Farm, farm), bench, Run(bench, Clock(lambda: 0.0)), jobs)


PLANNED = [resolved(cell) for cell in CELLS]


def test_an_answer_that_comes_twice_counts_once(lab: Lab) -> None:
    answers = [answer_to(job_of(planned_cell)) for planned_cell in CELLS]
    run = run_of(lab, Answering([*answers, *answers[:3]]))
    assert [result.cell for result in run.cells(PLANNED)] == CELLS
    assert run.left_out == 0


def test_finished_cells_are_not_lost_with_the_scheduler(lab: Lab) -> None:
    answers = [answer_to(job_of(planned_cell)) for planned_cell in CELLS]
    first = run_of(lab, Answering(answers, lost_after=3))
    seen: list[Result] = []

    def write_all() -> None:
        for result in first.cells(PLANNED):
            seen.append(result)

    with pytest.raises(LostError):
        write_all()
    assert [result.cell for result in seen] == CELLS[:3]
    farm = Answering(answers)
    assert [result.cell for result in run_of(lab, farm).cells(PLANNED)] == CELLS
    assert [job.cell for job in farm.asked] == CELLS[3:]  # the others are known by their keys


def test_what_no_host_could_do_is_skipped_and_asked_again(lab: Lab) -> None:
    undone = Undone(job_of(CELLS[0]), "no space left on device")
    (result,) = run_of(lab, Answering([undone])).cells(PLANNED[:1])
    assert (result.outcome, result.reason) == (Outcome.SKIPPED, "no space left on device")
    farm = Answering([answer_to(job_of(CELLS[0]))])
    (result,) = run_of(lab, farm).cells(PLANNED[:1])
    assert result.outcome is Outcome.COUNTED


def test_an_answer_for_another_cell_is_no_result(lab: Lab) -> None:
    wrong = answer_to(job_of(CELLS[0]), result=counted(CELLS[1]))
    (result,) = run_of(lab, Answering([wrong])).cells(PLANNED[:1])
    assert result.outcome is Outcome.SKIPPED


def test_cells_are_not_timed_beside_a_worker(lab: Lab) -> None:
    farm = Answering([], shared=["tcp://127.0.0.1:1"])
    with pytest.raises(EverycoreError, match=r"tcp://127.0.0.1:1 runs on this host"):
        list(run_of(lab, farm, work=Work.COMPILE).cells(PLANNED))
    assert list(run_of(lab, farm).cells(PLANNED)) == []  # nothing is timed
    assert not [job for job in farm.asked if job.work is Work.COMPILE]


def test_cells_without_time_are_told(lab: Lab) -> None:
    run = run_of(lab, Answering([answer_to(job_of(CELLS[0]))]))
    assert len(list(run.cells(PLANNED))) == 1
    assert run.left_out == len(CELLS) - 1


# ---- Second passes -------------------------------------------------------------------------------


def test_workers_look_for_leaks_and_this_host_keeps_what_it_measured(lab: Lab) -> None:
    own = [
        counted(planned_cell).replace(executed=number) for number, planned_cell in enumerate(CELLS)
    ]
    verdicts = (Verdict(False, "trace", "aes_encrypt+0x1c"),)
    jobs = [job_of(planned_cell, work=Work.CT) for planned_cell in CELLS]
    answers: list[Answer | Undone] = [
        answer_to(job, result=counted(job.cell).replace(verdicts=verdicts)) for job in jobs[:3]
    ]
    farm = Answering([*answers, *answers, Undone(jobs[3], "no compiler")])
    found = list(run_of(lab, farm).looked_at(own, lambda: True))
    assert found[:3] == [result.replace(verdicts=verdicts) for result in own[:3]]
    assert found[3:] == [own[3].replace(verdicts=(Verdict(None, "trace", "no compiler"),))]
    assert {job.work for job in farm.asked} == {Work.CT}


def test_a_verdict_that_is_missing_is_asked_for_again(lab: Lab) -> None:
    job = job_of(CELLS[0], work=Work.CT)
    for verdict, asked in ((Verdict(None, "trace", "no package"), 2), (Verdict(True, "trace"), 1)):
        answer = answer_to(job, result=counted(CELLS[0]).replace(verdicts=(verdict,)))
        farm = Answering([answer])
        for _ in range(2):
            run = run_of(lab, farm)
            (found,) = run.looked_at([counted(CELLS[0])], lambda: True)
            assert found.verdicts == (verdict,)
        assert len(farm.asked) == asked


def test_workers_bisect_what_needs_no_timing(lab: Lab) -> None:
    kinds = (Kind.FRAME, Kind.SLOW, Kind.LEAK)  # wrong answers have a search of their own
    odd = [
        Anomaly(planned_cell, kind, 2.0, None, None, 2.0)
        for planned_cell, kind in zip(CELLS, kinds, strict=False)
    ]
    repaired = odd[0].replace(repair=("-fno-tree-vectorize",))
    jobs = [job_of(anomaly.cell, work=Work.BISECT, anomaly=anomaly) for anomaly in odd]
    answers = [
        answer_to(jobs[0], anomaly=repaired, result=None, again=(counted(CELLS[0]),)),
        answer_to(jobs[2], anomaly=odd[2], result=None, said="it no longer leaks"),
    ]
    farm = Answering([*answers, *answers])
    first, second = run_of(lab, farm).bisected(odd, lambda: True)
    assert (first.anomaly, first.is_noise, first.again) == (repaired, False, (counted(CELLS[0]),))
    assert (second.anomaly, second.is_noise, second.said) == (odd[2], True, "it no longer leaks")
    assert [job.anomaly for job in farm.asked] == [odd[0], odd[2]]


def test_workers_make_wrong_answers_right(lab: Lab) -> None:
    """One of a group first, and the others with its repair; another group beside it."""
    repair = ("-fno-strict-aliasing",)
    results = [
        measured(planned_cell, 5.0).replace(outcome=Outcome.WRONG, runs=(), reason=reason)
        for planned_cell, reason in zip(CELLS, ("bad", "bad", "bad", "worse", "bad"), strict=True)
    ]

    def job(number: int, *repairs: tuple[str, ...]) -> Job:
        odd = wrong_answers(CELLS[number])
        return job_of(CELLS[number], work=Work.BISECT, anomaly=odd, repairs=repairs)

    def answer(job: Job, **found: Any) -> Answer:
        assert job.anomaly
        return answer_to(job, result=None, anomaly=job.anomaly.replace(**found))

    jobs = [job(0), job(3), job(1, repair), job(2, repair), job(4, repair)]
    farm = Answering(
        [
            answer(jobs[0], repair=repair),
            answer(jobs[1], why_not="no switch"),
            *(answer(done, repair=repair) for done in jobs[2:4]),
            Undone(jobs[4], "no host has the compiler"),
        ]
    )
    run = run_of(lab, farm)
    here: list[Cell] = []

    class Here:
        def are_right(self, cells: Sequence[Cell]) -> list[bool | None]:
            here.extend(cells)
            return [True for _ in cells]

    found = explain_wrong(
        cast(AnswerTrials, Here()),
        results,
        elsewhere=lambda asked: run.made_right(asked, lambda: True),
    )
    assert [found[cell].repair for cell in CELLS] == [repair, repair, repair, (), repair]
    assert farm.asked == jobs
    assert here == [with_switches(CELLS[4], [repair])]  # which no worker could do


def test_without_a_repair_for_one_cell_workers_are_not_asked_for_others(lab: Lab) -> None:
    results = [
        measured(planned_cell, 5.0).replace(outcome=Outcome.WRONG, runs=(), reason="bad")
        for planned_cell in CELLS
    ]
    odd = wrong_answers(CELLS[0])
    job = job_of(CELLS[0], work=Work.BISECT, anomaly=odd)
    farm = Answering([answer_to(job, result=None, anomaly=odd.replace(why_not="no switch"))])
    run = run_of(lab, farm)
    found = explain_wrong(
        cast(AnswerTrials, None),  # no trial is made here
        results,
        elsewhere=lambda asked: run.made_right(asked, lambda: True),
    )
    assert farm.asked == [job]
    assert [found[planned_cell].why_not for planned_cell in CELLS[:2]] == [
        "no switch",
        f"no more was tried than for {CELLS[0].title}",
    ]


def host_job(context: Context, **members: Any) -> Job:
    """A job of this host's gcc whose versions fit."""
    tree = catalog.find_tree(PACKAGE, "")
    if "gcc-12" not in {
        toolchain.name for toolchain in worker._installed(context.cache_dir(), tree)
    }:
        pytest.skip("no gcc-12: apt-get install gcc-12")
    where = Cell("c_ttable4", "ctr", "gcc-12", ("-O2", "-march=native"))
    own = {"everycore": worker.own_version(), "tree": worker.tree_digest(tree)}
    return job_of(where, work=Work.COMPILE, **own, **members)


def test_a_worker_with_another_cpu_does_not_compile_for_this_one(real_lab: Lab) -> None:
    with pytest.raises(
        EverycoreError, match=r"another machine \(riscv64\) than this worker \(\w+ "
    ):
        worker.do(real_lab.context(), host_job(real_lab.context(), machine="riscv64"))


def test_what_native_means_counts_and_folders_do_not(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiler = Compiler(("gcc",), "gcc 12.2.0", "f")
    flags = ("-O2", "-march=native")
    said = ["/a/cc1 -march=znver4 --param l1-cache-size=32", "/b/cc1 -march=znver4"]
    said += ["/b/cc1 -march=znver4 --param l1-cache-size=32", '"-target-cpu" "znver4"', ""]
    words = []
    for text in said:
        monkeypatch.setattr(worker, "meaning_of_native", lambda *_, text=text: text)
        words.append(worker.machine_words(lab.context(), compiler, "host", flags))
    assert words[0] == words[2]
    assert len(set(words)) == 4
    assert worker.machine_words(lab.context(), compiler, "qemu-mips", flags) == ""


# ---- What Dask says ------------------------------------------------------------------------------


@dataclass
class Future:
    text: str = ""
    status: str = "finished"
    error: Exception | None = None

    def result(self, timeout: float) -> str:
        del timeout
        return self.text

    def exception(self) -> Exception | None:
        return self.error

    __hash__ = object.__hash__


def told(context: Context) -> str:
    assert isinstance(context.err.file, io.StringIO)
    return context.err.file.getvalue()


@dataclass
class Client:
    """Dask's client, with one future for each submission."""

    futures: list[Future]
    status: str = "running"
    workers: tuple[str, ...] = ("a", "b", "c")
    sent: list[tuple[str, object]] = field(default_factory=list)

    def nthreads(self) -> dict[str, int]:
        return dict.fromkeys(self.workers, 1)

    def submit(self, function: object, text: str, **options: Any) -> Future:
        assert function is worker.do_text
        work.read_job(text)
        self.sent.append((options["key"], options["workers"]))
        return self.futures.pop(0)

    def cancel(self, futures: object) -> None:
        pass


HOSTS = {"a": "1", "b": "2", "c": "3"}


def exchanged(lab: Lab, client: Client, jobs: Sequence[Job]) -> list[Answer | Undone]:
    farm = Farm(lab.context(), "tcp://x", client, HOSTS)
    return list(_Exchange(farm, list(jobs), lambda: True).run())


def test_a_full_disk_on_one_worker_lets_another_do_the_job(lab: Lab) -> None:
    job = job_of(CELLS[0])
    full = Answer(
        job.key, "1", worker="a", error="no cell can be compiled: No space left on device"
    )
    client = Client([Future(encode_line(full)), Future(encode_line(answer_to(job)))])
    (answer,) = exchanged(lab, client, [job])
    assert isinstance(answer, Answer)
    assert client.sent[1][1] == ["b", "c"]
    assert client.sent[0][0] != client.sent[1][0]  # Dask would give the first answer again


@pytest.mark.parametrize(
    ("error", "why", "hint"),
    [
        (OSError(28, "No space left on device", "somebody/x"), "No space left on", "make room"),
        (PermissionError(13, "Permission denied", "somebody/x"), "Permission denied", "look at"),
        (shutil.Error([("somebody/x", "somebody/y", "why")]), "Error", "look at"),
    ],
)
def test_a_file_that_fails_is_an_answer_of_the_worker(
    monkeypatch: pytest.MonkeyPatch, error: OSError, why: str, hint: str
) -> None:
    """An error that Dask tells does not say whose disk is full."""

    def do(context: Context, job: Job) -> Answer:
        del context, job
        raise error

    monkeypatch.setattr(worker, "do", do)
    answer = work.read_answer(worker.do_text(encode_line(job_of(CELLS[0]))))
    assert answer.error.startswith(f"a file failed: {why}")
    assert answer.hint.startswith(hint)
    assert "somebody" not in encode_line(answer)


def test_another_worker_of_the_same_host_is_asked_if_there_is_no_other(lab: Lab) -> None:
    """Its disk may be another: workers of one host may be containers."""
    job = job_of(CELLS[0])
    fails = [
        Future(encode_line(Answer(job.key, "1", worker=worker_name, error="full")))
        for worker_name in "ab"
    ]
    client = Client([*fails, Future(encode_line(answer_to(job)))])
    farm = Farm(lab.context(), "tcp://x", client, {"a": "1", "b": "1", "c": "1"})
    (answer,) = _Exchange(farm, [job], lambda: True).run()
    assert isinstance(answer, Answer)
    assert [workers for _, workers in client.sent] == [None, ["b", "c"], ["c"]]


def test_a_job_whose_chosen_workers_died_is_done_by_others(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = job_of(CELLS[0])
    full = Future(encode_line(Answer(job.key, "1", worker="a", error="full")))
    client = Client([full, Future(status="pending"), Future(encode_line(answer_to(job)))])
    farm = Farm(lab.context(), "tcp://x", client, HOSTS)
    exchange = _Exchange(farm, [job], lambda: True)
    monkeypatch.setattr(exchange, "_wait", lambda: setattr(client, "workers", ("a", "d")))
    (answer,) = exchange.run()
    assert isinstance(answer, Answer)
    assert [workers for _, workers in client.sent] == [None, ["b", "c"], None]
    assert len({key for key, _ in client.sent}) == 3


def test_a_worker_that_could_not_do_three_jobs_gets_no_more_and_is_named_once(lab: Lab) -> None:
    jobs = [job_of(planned_cell) for planned_cell in CELLS]
    futures = []
    for job in jobs[:3]:
        futures.append(Future(encode_line(Answer(job.key, "1", worker="a", error="full"))))
        futures.append(Future(encode_line(answer_to(job))))
    futures += [Future(encode_line(answer_to(job))) for job in jobs[3:]]
    client = Client(futures)
    context = lab.context()
    farm = Farm(context, "tcp://x", client, HOSTS)
    exchange = _Exchange(farm, [], lambda: True)
    for job in jobs:  # one after the other
        exchange.waiting.append(job)
        (answer,) = exchange.run()
        assert isinstance(answer, Answer)
    assert [workers for _, workers in client.sent[6:]] == [["b", "c"], ["b", "c"]]
    assert told(context).count("worker a cannot do a job: full") == 1


def test_a_job_that_no_host_can_do_does_not_count_against_its_workers(lab: Lab) -> None:
    """The error is the job's own: after it, all workers still get jobs."""
    jobs = [job_of(planned_cell) for planned_cell in CELLS[:4]]
    futures = [
        Future(
            encode_line(Answer(job.key, worker_name, worker=worker_name, error="no such function"))
        )
        for job in jobs[:3]
        for worker_name in "abc"
    ]
    client = Client(
        [*futures, Future(encode_line(answer_to(jobs[3])))], workers=("a", "b", "c", "d")
    )
    farm = Farm(lab.context(), "tcp://x", client, HOSTS)
    exchange = _Exchange(farm, [], lambda: True)
    answers = []
    for job in jobs:  # one after the other
        exchange.waiting.append(job)
        answers += list(exchange.run())
    assert answers[:3] == [Undone(job, "no such function") for job in jobs[:3]]
    assert isinstance(answers[3], Answer)
    assert client.sent[-1][1] is None  # any worker
    assert not +exchange.refused


def test_a_job_that_no_host_can_do_ends(lab: Lab) -> None:
    job = job_of(CELLS[0])
    fails = [Future(encode_line(Answer(job.key, host, error="full"))) for host in "123"]
    (found,) = exchanged(lab, Client(fails), [job])
    assert found == Undone(job, "full")


def test_a_fault_of_the_program_on_a_worker_ends(lab: Lab) -> None:
    fails = [Future(status="error", error=KeyError("x")) for _ in range(9)]
    (found,) = exchanged(lab, Client(fails), [job_of(CELLS[0])])
    assert isinstance(found, Undone)
    assert "KeyError" in found.why
    assert len(fails) == 6


def test_a_job_that_kills_workers_ends(lab: Lab) -> None:
    killed = type("KilledWorker", (Exception,), {})()

    (found,) = exchanged(lab, Client([Future(status="error", error=killed)]), [job_of(CELLS[0])])
    assert isinstance(found, Undone)
    assert "workers died" in found.why


def test_a_scheduler_that_is_gone_is_named(lab: Lab) -> None:
    with pytest.raises(LostError, match="the scheduler at tcp://x is lost"):
        exchanged(lab, Client([Future(status="cancelled")]), [job_of(CELLS[0])])
    with pytest.raises(LostError, match="the scheduler at tcp://x is lost"):
        exchanged(lab, Client([], status="closed"), [job_of(CELLS[0])])


def test_no_scheduler_is_one_line(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed", reason="make lab")
    monkeypatch.setattr(scheduler, "CONNECT_SECONDS", 1)
    with (
        pytest.raises(EverycoreError, match=r"no scheduler answers at tcp://127\.0\.0\.1:9"),
        scheduler.connected(lab.context(), "tcp://127.0.0.1:9", job_of(CELLS[0])),
    ):
        pass


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"everycore": "0"}, "worker a has everycore 0, this is 1"),
        ({"tree": "u"}, "worker a has the C tree u, this is t"),
    ],
)
def test_workers_of_another_version_are_refused(
    lab: Lab, changed: dict[str, object], said: str
) -> None:
    with pytest.raises(EverycoreError, match=said):
        scheduler._checked(
            lab.context(),
            _Facts(changed),
            "tcp://x",
            job_of(CELLS[0]),
        )


def test_a_worker_whose_clock_is_off_is_told(lab: Lab) -> None:
    context = lab.context()
    scheduler._checked(context, _Facts({"time": 1.0}), "x", job_of(CELLS[0]))
    assert "the clock of worker a is" in told(context)


@dataclass
class _Facts:
    changed: dict[str, object]
    fault: Exception | None = None

    def nthreads(self) -> dict[str, int]:
        return {"a": 1}

    def wait_for_workers(self, count: int, timeout: float) -> None:
        del count, timeout

    def run(self, function: object, on_error: str) -> dict[str, object]:
        assert (function, on_error) == (worker.about, "return")
        import time

        own = {"everycore": "1", "tree": "t", "host": "h", "time": time.time()}
        return {"a": self.fault or own | self.changed, "dead": OSError("gone")}


def test_a_worker_without_everycore_is_named(lab: Lab) -> None:
    client = _Facts({}, ModuleNotFoundError("No module named 'everycore'"))
    with pytest.raises(EverycoreError, match="worker a cannot run everycore: No module named"):
        scheduler._checked(lab.context(), client, "x", job_of(CELLS[0]))


def test_a_worker_that_comes_to_this_host_before_the_timing_is_noticed(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = job_of(CELLS[0], work=Work.COMPILE)
    farm = Answering([answer_to(job, program="AA==")])

    def ready(*words: object) -> CheckedCell:
        del words
        farm.shared = ["tcp://10.0.0.9:1"]
        return CheckedCell(cast(CompiledCell, None), counted(CELLS[0]))

    monkeypatch.setattr(worker, "ready", ready)
    with pytest.raises(EverycoreError, match=r"tcp://10.0.0.9:1 runs on this host"):
        list(run_of(lab, farm, CELLS[:1], work=Work.COMPILE).cells(PLANNED[:1]))


def test_the_plan_lists_jobs(lab: Lab) -> None:
    words = ("--subject", "c_ttable4", "--function", "ctr", "--flags=-O2", "--toolchain", "gcc-12")
    done = lab("matrix", "plan", *words, "--json")
    assert done.code == 0, done.err
    (line,) = done.out.splitlines()
    job = work.read_job(line)
    assert (job.work, job.cell.subject, job.cell.flags) == (Work.COMPILE, "c_ttable4", ("-O2",))
    with_ct = lab("matrix", "plan", *words, "--json", "--ct").out.splitlines()
    assert [json.loads(text)["work"] for text in with_ct] == ["compile", "ct"]
