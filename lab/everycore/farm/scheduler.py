# SPDX-License-Identifier: MIT
"""Hands jobs to the workers of a Dask scheduler, and takes their answers as they come.

Dask moves lines of JSON and nothing else. A job has its key as name: asked twice, it is done once,
and what a worker that died was doing is done by another one.
"""

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from everycore.environment import extras
from everycore.environment.context import Context
from everycore.environment.decoding import encode_line
from everycore.environment.errors import EverycoreError, LostError
from everycore.farm import worker
from everycore.farm.work import Answer, Job, read_answer

if TYPE_CHECKING:
    from distributed import Client, Future

CONNECT_SECONDS = 10
WORKER_SECONDS = 600  # for the first worker: a batch system may have to start it
SILENT_SECONDS = 60  # without a single worker, and the farm counts as lost
LOOK_SECONDS = 1.0  # between two looks at workers and scheduler
SKEW_SECONDS = 60  # by which a worker's clock may be off
AHEAD = 4  # jobs that wait for each thread of a worker
MOST_HOSTS = 3  # that are tried with a job that one could not do
MOST_REFUSED = 3  # jobs: a worker that could not do them gets no more, where others are
QUIETENED = ("distributed", "tornado", "asyncio")  # loggers: an error of ours says it all
KILLED = 3  # workers that may die of one job


@dataclass(frozen=True, slots=True)
class Undone:
    """A job that no host could do."""

    job: Job
    why: str


@dataclass
class Farm:
    """The workers of one scheduler."""

    context: Context
    address: str
    client: "Client"
    hosts: Mapping[str, str]  # a digest of the host of each worker, by its address

    def shares_host(self) -> list[str]:
        """Return the workers that run on this host now: some may have come since the beginning."""
        own = worker.host_digest()
        try:
            hosts = self.client.run(worker.host_digest, on_error="ignore")
        except Exception as error:
            raise _lost(self.address) from error
        return [name for name, host in hosts.items() if host == own]

    def answers(
        self, jobs: Sequence[Job], is_time: Callable[[], bool] = lambda: True
    ) -> Iterator[Answer | Undone]:
        """Yield answers as they come; once there is no time, those of jobs under way alone."""
        return _Exchange(self, list(jobs)[::-1], is_time).run()


@dataclass
class _Exchange:
    """Jobs that are out, and those that wait."""

    farm: Farm
    waiting: list[Job]
    is_time: Callable[[], bool]
    out: dict["Future", Job] = field(default_factory=dict)
    failed: dict[str, set[str]] = field(default_factory=dict)  # workers that could not, by key
    refused: Counter[str] = field(
        default_factory=Counter
    )  # jobs that a worker could not do; not those that nobody could
    hosts: dict[str, str] = field(default_factory=dict)  # of workers that came later, too
    chosen: dict["Future", frozenset[str]] = field(default_factory=dict)  # workers; empty: any
    moved: Counter[str] = field(default_factory=Counter)  # from chosen workers that died, by key
    warned: set[tuple[str, str]] = field(default_factory=set)
    tries: dict[str, int] = field(default_factory=dict)  # that failed, by key
    seen: float = field(default_factory=time.monotonic)  # when a worker was there

    def run(self) -> Iterator[Answer | Undone]:
        try:
            self._fill()
            while self.out:
                for future in self._done():
                    job = self.out.pop(future)
                    if (answer := self._answer(future, job)) is not None:
                        yield answer
                self._fill()
        finally:
            with suppress(Exception):
                self.farm.client.cancel(list(self.out))

    def _fill(self) -> None:
        most = max(1, sum(self._threads().values())) * AHEAD
        while self.waiting and len(self.out) < most and self.is_time():
            self._submit(self.waiting.pop())

    def _submit(self, job: Job, tries: int = 0, others: Sequence[str] = ()) -> None:
        """Hand out a job; `others`: the workers that are to do it, as long as one of them lives.

        Dask lets idle workers take jobs of busy ones, unless it is told who may do them; and who
        fails at once is idle.
        """
        names = list(others) or list(self._threads())
        able = [name for name in names if self.refused[name] < MOST_REFUSED]
        chosen = (able or names) if others or len(able) < len(names) else None
        key = f"everycore-{job.key}" + (f"-{tries}" if tries else "")
        future = self.farm.client.submit(
            worker.do_text, encode_line(job), key=key, pure=True, workers=chosen, retries=0
        )
        self.out[future] = job
        self.chosen[future] = frozenset(chosen or ())

    def _hand_out_again(self, there: Mapping[str, int]) -> None:
        """Jobs whose chosen workers have all died since wait for ever: others do them."""
        for future, job in list(self.out.items()):
            chosen = self.chosen.get(future)
            if chosen and future.status == "pending" and not chosen & there.keys():
                del self.out[future]
                with suppress(Exception):
                    self.farm.client.cancel([future])
                self.moved[job.key] += 1
                self._submit(job, MOST_HOSTS * self.moved[job.key] + self.tries.get(job.key, 0))

    def _done(self) -> list["Future"]:
        """Wait for a job that is done; LostError: there is no scheduler, or no worker, any more."""
        while True:
            done = [future for future in self.out if future.status != "pending"]
            if done:
                return done
            if there := self._threads():
                self.seen = time.monotonic()
                self._hand_out_again(there)
            elif time.monotonic() - self.seen > SILENT_SECONDS:
                raise LostError(
                    f"{self.farm.address} has had no worker for {SILENT_SECONDS} seconds",
                    "start workers and go on with --resume",
                )
            self._wait()

    def _wait(self) -> None:
        from distributed import wait

        with suppress(TimeoutError, CancelledError):  # cancelled: _done asks why
            wait(list(self.out), timeout=LOOK_SECONDS, return_when="FIRST_COMPLETED")

    def _threads(self) -> dict[str, int]:
        """The threads of each worker; LostError: the scheduler is gone."""
        client = self.farm.client
        try:
            if client.status != "running":
                raise OSError(client.status)
            return dict(client.nthreads())
        except Exception as error:
            raise _lost(self.farm.address) from error

    def _answer(self, future: "Future", job: Job) -> Answer | Undone | None:
        """The answer; None: another host tries."""
        if future.status in ("cancelled", "lost"):
            raise _lost(self.farm.address)
        if future.status == "error":
            error = future.exception()
            if type(error).__name__ == "KilledWorker":
                return Undone(job, f"{KILLED} workers died while they did it")
            return self._again(job, "", "", f"{type(error).__name__}: {error}")
        try:
            text = future.result(CONNECT_SECONDS)
        except (CancelledError, OSError, TimeoutError):  # who had the answer has died
            self._threads()
            time.sleep(LOOK_SECONDS)
            self.out[future] = job  # Dask lets another do it
            return None
        answer = read_answer(text)
        if not answer.error:
            return answer
        hint = f" ({answer.hint})" if answer.hint else ""
        return self._again(job, answer.worker, answer.host, answer.error + hint)

    def _again(self, job: Job, name: str, host: str, why: str) -> Undone | None:
        """Let another worker do what one could not, on another host if there is one: the disk of
        the first may be full."""
        tries = self.tries[job.key] = self.tries.get(job.key, 0) + 1
        failed = self.failed.setdefault(job.key, set())
        if name:
            self.refused[name] += name not in failed
            failed.add(name)
            self.hosts[name] = host
        left = [worker_name for worker_name in self._threads() if worker_name not in failed]
        tried = {self._host(worker_name) for worker_name in failed}
        elsewhere = [worker_name for worker_name in left if self._host(worker_name) not in tried]
        if not left or tries >= MOST_HOSTS:
            self.refused.subtract(failed)  # the job is at fault: no host could do it
            return Undone(job, why)
        where = f"worker {name}" if name else "a worker"
        if (where, why) not in self.warned:
            self.warned.add((where, why))
            self.farm.context.warn(f"{where} cannot do a job: {why}")
        self._submit(job, tries, (elsewhere or left) if failed else ())
        return None

    def _host(self, name: str) -> str:
        """Return the digest of the host of a worker; empty: it came later, and has said nothing."""
        return self.hosts.get(name) or self.farm.hosts.get(name, "")


def _lost(address: str) -> LostError:
    return LostError(
        f"the scheduler at {address} is lost", "finished cells are stored; go on with --resume"
    )


@contextmanager
def connected(context: Context, address: str, expected: Job) -> Iterator[Farm]:
    """Yields the farm of a scheduler whose workers have the everycore of `expected`."""
    try:
        import dask
        from distributed import Client
    except ModuleNotFoundError as error:
        raise extras.missing_packages("--scheduler", "cluster") from error
    for name in ("distributed", *logging.root.manager.loggerDict):
        if name.partition(".")[0] in QUIETENED:
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    settings = {
        "distributed.comm.timeouts.connect": CONNECT_SECONDS,
        "distributed.scheduler.allowed-failures": KILLED,
    }
    with dask.config.set(settings):
        try:
            client = Client(address, timeout=CONNECT_SECONDS)
        except (OSError, TimeoutError, ValueError, ImportError) as error:
            raise EverycoreError(
                f"no scheduler answers at {address}",
                "start one: dask scheduler; its address is in its first lines",
            ) from error
        try:
            yield Farm(context, address, client, _checked(context, client, address, expected))
        finally:
            with suppress(Exception):
                client.close(timeout=CONNECT_SECONDS)


def _checked(context: Context, client: "Client", address: str, expected: Job) -> dict[str, str]:
    """Return the host of each worker; an error if one has another everycore."""
    if not client.nthreads():
        context.err.print(f"waiting for a worker of {address}", markup=False, soft_wrap=True)
    try:
        client.wait_for_workers(1, timeout=WORKER_SECONDS)
    except TimeoutError as error:
        raise EverycoreError(
            f"{address} has no worker", f"start one: dask worker {address} --nthreads 1"
        ) from error
    try:
        told = client.run(worker.about, on_error="return")
        there = client.nthreads()
    except Exception as error:
        raise _lost(address) from error
    for name, found in told.items():
        if isinstance(found, BaseException) and name in there:  # others have died meanwhile
            said = str(found).strip().splitlines() or [type(found).__name__]
            raise EverycoreError(
                f"worker {name} cannot run everycore: {said[0]}",
                "install the same everycore for the Python of the workers",
            )
    facts = {name: found for name, found in told.items() if isinstance(found, Mapping)}
    for name, found in facts.items():
        for what, theirs, ours in (
            ("everycore", found["everycore"], expected.everycore),
            ("the C tree", found["tree"], expected.tree),
        ):
            if theirs != ours:
                raise EverycoreError(
                    f"worker {name} has {what} {theirs or 'without a version'},"
                    f" this is {ours or 'one without a version'}",
                    "client and workers need the same everycore",
                )
        off = abs(float(found["time"]) - time.time())
        if off > SKEW_SECONDS:
            context.warn(f"the clock of worker {name} is {off:.0f} s off; dates are of this host")
    return {name: str(found["host"]) for name, found in facts.items()}
