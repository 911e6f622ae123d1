# SPDX-License-Identifier: MIT
"""The remainder of a bench that was cut off."""

from collections.abc import Sequence

from everycore.environment.decoding import Record
from everycore.model.protocol import Bench, Kernel, Resolved
from everycore.run.bench_calls import (
    LIMITS,
    MODES,
    Job,
    left_of,
    modes_of,
    plan,
    selected_pair,
)

CTR = Job("ctr", (64, 100, 1500))
CBC = Job("cbc-enc", (16, 20, 1500))
GCM = Job("gcm-seal", (64, 1500))


def kernel(primitive: str, name: str) -> Kernel:
    return Kernel(primitive, name, 0, "other", "ANY", (), "ct", "any", built=True, runs=True)


RUNNING = [kernel("aes", "a"), kernel("aes", "b"), kernel("ghash", "a"), kernel("gcm", "g")]


def measured(job: Job, primitive: str, *points: tuple[str, int]) -> list[Bench]:
    return [
        Bench(
            primitive=primitive, kernel=name, mode=job.mode, key_bits=256, bytes=size,
            messages=job.messages, style=job.style, counter="clock+addchain", cycles=(1.0,),
        )
        for name, size in points
    ]  # fmt: skip


def left(job: Job, earlier: Sequence[Record], kernels: Sequence[str] = ()) -> list[Job]:
    return left_of(job, earlier, kernels, RUNNING, "a+x")[0]


def test_of_nothing_everything_is_left() -> None:
    assert left_of(CTR, (), (), RUNNING, "a+x") == ([CTR], [])
    assert left(CTR, measured(GCM, "gcm", ("g", 64))) == [CTR]


def test_what_lacks_is_left_and_what_is_there_stays() -> None:
    have = measured(CTR, "aes", ("a", 64), ("b", 64), ("a", 100))
    jobs, kept = left_of(CTR, have, (), RUNNING, "a+x")
    assert jobs == [Job("ctr", (100,), kernels=("b",)), Job("ctr", (1500,))]
    assert kept == have
    assert left(CTR, have, ["a"]) == [Job("ctr", (1500,))]


def test_sizes_that_a_mode_rounds_down_are_known() -> None:
    have = measured(CBC, "aes", ("a", 16), ("b", 16), ("a", 1488))
    assert left(CBC, have) == [Job("cbc-enc", (1500,), kernels=("b",))]


def test_the_selected_pair_of_gcm_is_measured_too() -> None:
    have = measured(GCM, "gcm", ("g", 64))
    assert left(GCM, have) == [Job("gcm-seal", (64,), kernels=("a+x",)), Job("gcm-seal", (1500,))]
    have += measured(GCM, "gcm", ("a+x", 64))
    assert left(GCM, have) == [Job("gcm-seal", (1500,))]


def test_a_job_that_came_to_its_end_leaves_nothing() -> None:
    have = [*measured(CTR, "aes", ("a", 64)), CTR.done()]
    assert left_of(CTR, have, (), RUNNING, "a+x") == ([], have[:1])
    assert left(Job("ctr", (64,), style="fenced"), have) == [Job("ctr", (64,), style="fenced")]
    assert left(LIMITS, have) == [LIMITS]
    assert left(LIMITS, [LIMITS.done()]) == []


def test_a_job_without_sizes_is_done_again() -> None:
    setkey = Job("setkey", ())
    assert left_of(setkey, measured(setkey, "aes", ("a", 32)), (), RUNNING, "") == ([setkey], [])


def test_every_job_has_a_line_of_its_own() -> None:
    jobs = plan(["ctr", "cbc-enc-many", "setkey"], [16, 1500])
    assert len({job.done() for job in [*jobs, LIMITS]}) == len(jobs) + 1


def test_sizes_of_blocks_and_of_pairs_of_operations_are_whole() -> None:
    assert plan(["ctr"], [12, 1500])[0].sizes_bytes == (12, 1500)
    assert plan(["qarma5"], [12, 1500])[0].sizes_bytes == (8, 1496)
    assert plan(["pac-memo"], [12, 1500])[0].sizes_bytes == (1488,)


def test_iterations_are_no_sizes_of_messages() -> None:
    assert plan(["pbkdf2-sha256"], [64, 1500]) == [Job("pbkdf2-sha256", ())]
    many = plan(["pbkdf2-sha256-many"], [64, 1500])
    assert many == [Job("pbkdf2-sha256-many", (), messages=16)]


def test_each_primitive_has_its_modes() -> None:
    assert {*modes_of("aes"), *modes_of("gcm")} == {*MODES}
    assert not {*modes_of("aes")} & {*modes_of("gcm")}
    assert "sha256-many" in modes_of("sha2")


def test_the_pair_is_that_of_the_selected_kernels() -> None:
    def use(primitive: str, use: str, kernel: str) -> Resolved:
        return Resolved("a64", (), "ct", primitive, use, kernel)

    uses = [use("aes", "parallel", "p"), use("aes", "serial", "s"), use("ghash", "parallel", "h")]
    assert selected_pair(uses) == "p+h"
