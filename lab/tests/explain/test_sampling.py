# SPDX-License-Identifier: MIT
"""Programs are sampled and never harmed: same output, same exit code, whatever they do."""

import ctypes
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

import pytest
from library_reads import reads_all
from world import PACKAGE

from everycore.environment.errors import EverycoreError
from everycore.explain.explanation import shares
from everycore.explain.memory import Snapshots, variables
from everycore.explain.recognise import recognise
from everycore.explain.regions import collect
from everycore.explain.samples import SNAPSHOT_BYTES, Sample, Sampled
from everycore.explain.sampling import SamplingOptions, sample_command, sample_process

MEANS = ("perf", "ptrace")
LOOP = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done"

PROGRAMS = r"""
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <sys/prctl.h>
#include <linux/seccomp.h>
#include <unistd.h>

static volatile sig_atomic_t alarms;
static void count(int number) { (void)number; alarms++; }
static void *spin(void *unused)
{
    volatile long n = 0;
    for (long i = 0; i < (unused ? 150000000 : 300000); i++)
        n += i;
    return unused;
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "alarms")) { /* as `openssl speed` ends its loops */
        struct itimerval each = {{0, 5000}, {0, 5000}};
        signal(SIGALRM, count);
        setitimer(ITIMER_REAL, &each, NULL);
        while (alarms < 40)
            spin(NULL);
        puts("40 alarms");
        return 7;
    }
    if (argc > 1 && !strcmp(argv[1], "threads")) {
        pthread_t threads[200];
        for (int i = 0; i < 200; i++)
            if (pthread_create(&threads[i], NULL, spin, i < 4 ? threads : NULL))
                return 1;
        for (int i = 0; i < 200; i++)
            pthread_join(threads[i], NULL);
        puts("200 threads");
        return 8;
    }
    if (argc > 1 && !strcmp(argv[1], "strict")) {
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
        for (int i = 0; i < 200; i++)
            spin(NULL);
        (void)!write(1, "strict\n", 7);
        return 9; /* exit_group is forbidden: the kernel kills it */
    }
    return 0;
}
"""


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not shutil.which("cc"):
        pytest.skip("no C compiler: apt-get install gcc libc6-dev")
    folder = tmp_path_factory.mktemp("programs")
    source = folder / "programs.c"
    source.write_text(PROGRAMS)
    binary = folder / "programs"
    subprocess.run(["cc", "-O1", "-pthread", "-o", binary, source], check=True)
    return binary


def run(means: str, *argv: str, seconds: float | None = None) -> tuple[Sampled, str]:
    """Sample a command by one means; what it printed."""
    out, into = os.pipe()
    kept: list[bytes] = []
    stream = os.fdopen(out, "rb")
    reader = threading.Thread(target=lambda: kept.append(stream.read()))
    reader.start()
    try:
        asked = SamplingOptions(hz=199, seconds=seconds, means=means)
        sampled = sample_command(argv, asked, dict(os.environ), into)
    except EverycoreError as error:
        if "cannot be used" in error.message or "cannot be sampled" in error.message:
            pytest.skip(error.message)
        raise
    finally:
        os.close(into)
        reader.join()
        stream.close()
    return sampled, kept[0].decode()


@pytest.mark.parametrize("means", MEANS)
def test_signals_reach_a_sampled_program(means: str, programs: Path) -> None:
    sampled, text = run(means, str(programs), "alarms")
    assert (sampled.code, text) == (7, "40 alarms\n")
    assert sampled.samples
    assert means in sampled.method


@pytest.mark.parametrize("means", MEANS)
def test_two_hundred_threads_end_as_they_would(means: str, programs: Path) -> None:
    sampled, text = run(means, str(programs), "threads")
    assert (sampled.code, text) == (8, "200 threads\n")
    assert len({sample.tid for sample in sampled.samples}) > 1


@pytest.mark.parametrize("means", MEANS)
def test_strict_seccomp_is_no_obstacle(means: str, programs: Path) -> None:
    sampled, text = run(means, str(programs), "strict")
    assert (sampled.code, text) == (128 + signal.SIGKILL, "strict\n")
    assert sampled.samples


@pytest.mark.parametrize("means", MEANS)
def test_children_and_executed_programs_are_sampled_too(means: str) -> None:
    sampled, text = run(
        means, "sh", "-c", f"(exec sh -c '{LOOP}; echo child'); {LOOP}; echo end; exit 3"
    )
    assert (sampled.code, text) == (3, "child\nend\n")
    assert len({sample.pid for sample in sampled.samples}) > 1
    known = [sample for sample in sampled.samples if sampled.mapping_of(sample.pid, sample.place)]
    assert len(known) >= 0.8 * sum(sample.is_user for sample in sampled.samples) > 0


@pytest.mark.parametrize("means", MEANS)
def test_a_child_that_executes_nothing_has_the_mappings_of_its_parent(means: str) -> None:
    sampled, text = run(means, "sh", "-c", f"({LOOP}; echo child); echo end")
    assert (sampled.code, text) == (0, "child\nend\n")
    counted = Counter(sample.pid for sample in sampled.samples if sample.is_user)
    child, most = counted.most_common(1)[0]
    own = [sample for sample in sampled.samples if sample.is_user and sample.pid == child]
    assert most >= 0.5 * counted.total()
    assert (
        len([sample for sample in own if sampled.mapping_of(child, sample.place)]) >= 0.8 * most > 0
    )


@pytest.mark.parametrize("means", MEANS)
def test_an_executed_program_gives_its_name_to_the_process(means: str) -> None:
    code = "n = 0\nwhile n < 3000000: n += 1"
    sampled, _ = run(means, "sh", "-c", f"exec {sys.executable} -c '{code}'")
    assert sampled.code == 0
    assert set(sampled.names.values()) == {Path(sys.executable).name[:15]}


@pytest.mark.parametrize("means", MEANS)
def test_a_program_that_ends_at_once_keeps_its_exit_code(means: str) -> None:
    assert run(means, "true")[0].code == 0
    assert run(means, "false")[0].code == 1
    assert run(means, "sh", "-c", "kill -SEGV $$")[0].code == 128 + signal.SIGSEGV


@pytest.mark.parametrize("means", MEANS)
def test_sampling_may_end_before_the_program(means: str) -> None:
    sampled, text = run(means, "sh", "-c", "sleep 2; echo whole", seconds=0.1)
    assert (sampled.code, text) == (0, "whole\n")
    assert sampled.seconds < 1.8  # a busy machine may wake the sampler late


@pytest.mark.parametrize("means", MEANS)
def test_a_program_that_does_not_exist_is_named(means: str) -> None:
    with pytest.raises(EverycoreError, match="cannot run no-such-program"):
        run(means, "no-such-program")


@pytest.mark.parametrize("means", MEANS)
def test_a_process_that_runs_already_goes_on_after_its_sampling(means: str) -> None:
    code = "import time, sys\nt = time.time()\nwhile time.time() < t + 1.2: pass\nsys.exit(5)"
    process = subprocess.Popen([sys.executable, "-c", code])
    try:
        time.sleep(0.2)
        sampled = sample_process(process.pid, SamplingOptions(hz=1999, seconds=0.4, means=means))
        assert process.wait(20) == 5
    finally:
        process.kill()
    assert len(sampled.samples) > 10
    assert sampled.code is None


@pytest.mark.parametrize("means", MEANS)
def test_a_process_may_vanish_while_it_is_sampled(means: str) -> None:
    process = subprocess.Popen(["sleep", "0.3"])
    reaper = threading.Thread(target=process.wait)
    try:
        if means == "perf":  # ptrace needs the zombie of a child that is ours
            reaper.start()
        sampled = sample_process(process.pid, SamplingOptions(seconds=20, means=means))
    finally:
        process.kill()
    assert sampled.seconds < 10


@pytest.mark.parametrize("means", MEANS)
def test_a_program_of_32_bits_is_sampled_too(means: str, tmp_path: Path) -> None:
    compiler = "i686-linux-gnu-gcc"
    if not shutil.which(compiler):
        pytest.skip("no compiler for i386: apt-get install gcc-i686-linux-gnu libc6-dev-i386-cross")
    source, binary = tmp_path / "small.c", tmp_path / "small"
    source.write_text("int main(void){for(volatile long i=0;i<90000000;i++);return 4;}\n")
    subprocess.run([compiler, "-O1", "-static", "-o", binary, source], check=True)
    try:
        sampled, _ = run(means, str(binary))
    except EverycoreError as error:
        pytest.skip(f"the kernel does not run programs of 32 bits: {error.message}")
    assert sampled.code == 4
    assert {sample.bits for sample in sampled.samples if sample.is_user} == {32}
    (first, *_) = collect(sampled).regions
    assert (first.machine, first.function.name) == ("i386", "main")


PLAIN_USER = """
import os, sys
from everycore.explain.sampling import SamplingOptions, sample_command
import ctypes, encodings.idna
os.setgid(65534); os.setuid(65534); os.chdir('/')
ctypes.CDLL(None).prctl(4, 1)  # PR_SET_DUMPABLE, as a login has it
found = sample_command(sys.argv[2:], SamplingOptions(means=sys.argv[1]), {})
print(found.code, len(found.samples), all(one.is_user for one in found.samples))
"""


def sampled_by_a_plain_user(
    means: str, programs: Path, mode: int, request: pytest.FixtureRequest
) -> list[str]:
    """Return what PLAIN_USER prints of a program of root's."""
    if os.geteuid():
        pytest.skip("this user is no root: all other tests show it")
    folder = Path(tempfile.mkdtemp())  # pytest's own may not be read by others
    folder.chmod(0o755)
    request.addfinalizer(lambda: shutil.rmtree(folder))
    program = folder / "programs"
    shutil.copy(programs, program)
    program.chmod(mode)
    path = os.pathsep.join([str(PACKAGE.parent), os.environ.get("PYTHONPATH", "")])
    argv = [sys.executable, "-c", PLAIN_USER, means, str(program), "alarms"]
    env = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run(argv, capture_output=True, text=True, check=False, env=env)
    if "cannot be" in done.stderr or "Permission denied" in done.stderr:
        pytest.skip(done.stderr.splitlines()[-1])
    assert done.returncode == 0, done.stderr
    return done.stdout.split()[-3:]


@reads_all
@pytest.mark.parametrize("means", MEANS)
def test_a_plain_user_may_sample(
    means: str, programs: Path, request: pytest.FixtureRequest
) -> None:
    end, count, is_user = sampled_by_a_plain_user(means, programs, 0o755, request)
    assert (end, is_user) == ("7", "True")
    assert int(count) > 0


@reads_all
@pytest.mark.parametrize("means", MEANS)
def test_a_setuid_program_of_root_runs_to_its_end(
    means: str, programs: Path, request: pytest.FixtureRequest
) -> None:
    end, *_ = sampled_by_a_plain_user(means, programs, 0o4755, request)
    assert end == "7"


def test_a_program_does_not_start_if_all_means_are_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from everycore.explain import perf, stopping

    def refuse(*words: object, **more: object) -> None:
        del words, more
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(perf, "_open", refuse)
    monkeypatch.setattr(stopping.Stopper, "seize", refuse)
    mark = tmp_path / "started"
    with pytest.raises(EverycoreError, match="ptrace: Operation not permitted") as error:
        sample_command(["touch", str(mark)], SamplingOptions(), dict(os.environ))
    assert "perf_event_paranoid" in error.value.hint
    assert not mark.exists()


def test_a_means_that_was_asked_for_and_is_refused_is_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from everycore.explain import perf

    def refuse(*words: object) -> None:
        del words
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(perf, "_open", refuse)
    with pytest.raises(EverycoreError, match=r"perf cannot be used: .*not permitted") as error:
        sample_command(["true"], SamplingOptions(means="perf"), dict(os.environ))
    assert "perf_event_paranoid" in error.value.hint


def test_a_process_that_is_not_there_is_named() -> None:
    with pytest.raises(EverycoreError, match="no process 4194305"):
        sample_process(4194305, SamplingOptions())


def test_a_refusal_of_perf_leads_to_ptrace_and_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    from everycore.explain import perf

    def refuse(*words: object) -> None:
        del words
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(perf, "_open", refuse)
    sampled, _ = run("auto", "sh", "-c", LOOP)
    assert sampled.method == "ptrace"
    assert "Operation not permitted" in sampled.why
    assert sampled.samples


def test_code_that_becomes_hot_late_is_read_though_the_start_used_much_memory() -> None:
    """A virtual machine's start has more places than are read; its hot loop comes after."""
    held = ctypes.create_string_buffer(b"\x90" * 4 * SNAPSHOT_BYTES)
    place = ctypes.addressof(held) + 2 * SNAPSHOT_BYTES
    sample = Sample(os.getpid(), 1, place, True, registers={"rip": place})
    for most, is_read in ((20, False), (200, True)):
        sampled = Sampled("x86_64", "perf")
        sampled.memory |= {(1, SNAPSHOT_BYTES * n): b"" for n in range(1500)}
        snapshots = Snapshots(sampled)
        for _ in range(most // 20):
            snapshots.take([sample] * 20)
        assert (sampled.bytes_at(os.getpid(), place, 8) == b"\x90" * 8) is is_read


MAPS = """\
1000-2000 r-xp 00000000 00:01 7 /usr/bin/x
2000-3000 r--p 00001000 00:01 7 /usr/bin/x
3000-4000 rw-p 00002000 00:01 7 /usr/bin/x
4000-6000 rw-p 00000000 00:00 0
8000-9000 rw-p 00000000 00:00 0
a000-b000 rw-p 00002000 00:01 8 /usr/lib/y
b000-c000 r--p 00000000 00:00 0
"""


def test_variables_of_a_file_are_what_may_be_written_and_what_follows() -> None:
    assert variables(MAPS, "/usr/bin/x") == [(0x3000, 0x4000), (0x4000, 0x6000)]
    assert variables(MAPS, "/usr/lib/y") == [(0xA000, 0xB000)]


TABLE_AT_START = r"""
#include <stdint.h>
#include <time.h>
static uint8_t box[256];
static unsigned product(unsigned x, unsigned y)
{
    unsigned sum = 0;
    for (; y; y >>= 1, x = x << 1 ^ (x & 128 ? 0x11b : 0))
        sum ^= y & 1 ? x : 0;
    return sum;
}
int main(void)
{
    unsigned sum = 0;
    for (unsigned n = 0; n < 256; n++) {
        unsigned s = 0;
        for (unsigned m = 1; n && !s; m++)
            s = product(n, m) == 1 ? m * 0x101 : 0;
        box[n] = (uint8_t)(0x63 ^ s ^ s >> 4 ^ s >> 5 ^ s >> 6 ^ s >> 7);
    }
    while (clock() < CLOCKS_PER_SEC / 2)
        for (unsigned n = 0; n < 100000; n++)
            sum = (sum << 1 ^ (sum & 128 ? 0x1b : 0) ^ box[sum & 255] ^ n) & 0xffff;
    return sum == 12345;
}
"""


def test_a_table_that_a_program_makes_in_its_variables_is_found(tmp_path: Path) -> None:
    if not shutil.which("cc"):
        pytest.skip("no C compiler")
    (tmp_path / "x.c").write_text(TABLE_AT_START)
    subprocess.run(["cc", "-O1", "-s", "-o", tmp_path / "x", tmp_path / "x.c"], check=True)
    sampled = sample_command([str(tmp_path / "x")], SamplingOptions(999), dict(os.environ))
    found = shares(recognise(collect(sampled)))
    assert sum(share for name, share in found.items() if name.startswith("AES: S-box")) > 50
