# SPDX-License-Identifier: MIT
"""Variables are those of the program that was sampled, whoever set them on the way to it."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from explain.test_recognition import BYTE, LOOKUP, profile_of, region, table
from explain.test_sampling import LOOP, MEANS, run
from world import Lab

from everycore.environment.errors import EverycoreError
from everycore.explain import constants, recording
from everycore.explain.emulated_guest import guest_environment
from everycore.explain.environments import ENDED, OVERWRITTEN, read_environment
from everycore.explain.explanation import Remedy, explain
from everycore.explain.recognise import recognise
from everycore.explain.regions import Module, Profile, collect
from everycore.explain.samples import Look, Sampled
from everycore.explain.sampling import SamplingOptions, sample_process
from everycore.explain.trial import change_of, try_remedy
from everycore.report.explained import sentences

MASK = "OPENSSL_ia32cap=~0x200000200000000"
NAME, _, VALUE = MASK.partition("=")


def counted(sampled: Sampled) -> dict[str | None, int]:
    """Return how many user samples were taken under which value of the variable."""
    found: dict[str | None, int] = {}
    for user_sample in (sample for sample in sampled.samples if sample.is_user):
        known = sampled.environment_at(user_sample.pid, user_sample.time)
        value = None if known is None else dict(known).get(NAME, "")
        found[value] = found.get(value, 0) + 1
    return found


@pytest.mark.parametrize("means", MEANS)
@pytest.mark.parametrize(
    "argv",
    [
        ("env", MASK, "sh", "-c", LOOP),
        ("env", "-i", MASK, "/bin/sh", "-c", LOOP),
        ("sh", "-c", f"export {MASK}; exec sh -c '{LOOP}'"),
        ("nice", "-n", "1", "sh", "-c", f"{MASK} sh -c '{LOOP}'; true"),
        ("timeout", "60", "env", "A=b", "env", MASK, "sh", "-c", LOOP),
    ],
)
def test_a_variable_that_a_wrapper_sets_is_known(means: str, argv: tuple[str, ...]) -> None:
    sampled, _ = run(means, *argv)
    found = counted(sampled)
    # On a busy machine the wrapper's start may have many of the samples.
    assert found.get(VALUE, 0) > sum(found.values()) / 2
    regions = collect(sampled, argv).regions
    known = [region for region in regions if (region.environment or {}).get(NAME) == VALUE]
    assert sum(region.samples for region in known) > sum(region.samples for region in regions) / 2


@pytest.mark.parametrize("means", MEANS)
def test_each_program_of_a_process_has_its_own_environment(means: str, tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text(f"""{LOOP}
case ${NAME} in
"") {NAME}=0 exec sh "$0" ;;
0) exec env {MASK} sh "$0" ;;
esac
""")
    found = counted(run(means, "env", "-u", NAME, "sh", str(script))[0])
    assert min(found.get(value, 0) for value in ("", "0", VALUE)) > 0
    assert found.get(None, 0) <= 0.2 * sum(found.values())


@pytest.mark.parametrize("means", MEANS)
def test_each_process_has_its_own_environment(means: str) -> None:
    script = f"{MASK} sh -c '{LOOP}' & {NAME}=0 sh -c '{LOOP}' & ({LOOP}) & wait"
    found = counted(run(means, "sh", "-c", script)[0])
    assert min(found.get(value, 0) for value in ("", "0", VALUE)) > 0
    assert found.get(None, 0) <= 0.2 * sum(found.values())


@pytest.mark.parametrize("means", MEANS)
def test_a_process_that_runs_already_has_its_own_environment(means: str) -> None:
    code = "import time\nt = time.time()\nwhile time.time() < t + 1.5: pass"
    argv = ["env", MASK, sys.executable, "-c", code]
    process = subprocess.Popen(argv)
    try:
        time.sleep(0.3)
        sampled = sample_process(process.pid, SamplingOptions(hz=499, seconds=0.3, means=means))
        process.wait(20)
    except EverycoreError as error:
        pytest.skip(error.message)
    finally:
        process.kill()
    assert set(counted(sampled)) == {VALUE}


def test_a_command_that_ends_before_anyone_looks_has_the_environment_it_was_given() -> None:
    sampled = Sampled("x86_64", "perf", given=(7, "sh", ((NAME, VALUE),)))
    sampled.exec(7, "sh", 100)
    sampled.exec(7, "env", 200)
    assert sampled.environment_at(7, 150) == ((NAME, VALUE),)
    assert sampled.environment_at(7, 250) is None


def test_a_look_counts_for_the_program_that_ran_from_its_beginning_to_its_end() -> None:
    sampled = Sampled("x86_64", "perf")
    sampled.looks[7] = [Look(50, 60, (("A", "1"),)), Look(190, 210, (("A", "2"),))]
    sampled.exec(7, "one", 40)
    sampled.exec(7, "two", 200)  # while it was being read: it may be the environment of either
    assert sampled.environment_at(7, 45) == (("A", "1"),)
    assert sampled.environment_at(7, 220) is None
    sampled.fork(8, 7, 100)
    assert sampled.environment_at(8, 300) == (("A", "1"),)
    sampled.exec(8, "three", 400)
    assert sampled.environment_at(8, 500) is None


def folder_of(tmp_path: Path, environ: bytes, state: str = "R") -> Path:
    (tmp_path / "environ").write_bytes(environ)
    (tmp_path / "stat").write_text(f"7 (a) b) {state} 1 7")
    return tmp_path


@pytest.mark.parametrize(
    ("environ", "state", "expected"),
    [
        (f"HOME=/x\0{MASK}\0".encode(), "R", (((NAME, VALUE),), "")),
        (f"{MASK}\0{NAME}=0\0".encode(), "R", (((NAME, VALUE),), "")),  # C takes the first
        (b"GODEBUG=\xff\0", "R", ((("GODEBUG", "\udcff"),), "")),
        (b"HOME=/x\0", "R", ((), "")),
        (b"", "R", ((), "")),  # env -i
        (b"", "Z", (None, ENDED)),
        (b"a pool\0\0\0\0\0", "R", (None, OVERWRITTEN)),
        (f"worker process\0ME=/x\0{MASK}\0".encode(), "R", (None, OVERWRITTEN)),
    ],
)
def test_an_environment_is_read_or_said_to_be_unreadable(
    tmp_path: Path, environ: bytes, state: str, expected: object
) -> None:
    assert read_environment(folder_of(tmp_path, environ, state)) == expected


def test_a_process_that_is_gone_or_may_not_be_read_is_not_clean(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert read_environment(tmp_path / "none") == (None, ENDED)

    def refuse(*_: object) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)
    assert read_environment(folder_of(tmp_path, b"")) == (None, "Permission denied")


def masked(value: str | None, variable: str = NAME) -> Profile:
    """Return a profile of a libcrypto that computes AES by tables, under a variable."""
    lookups = region((LOOKUP + BYTE) * 20, references=(table("", constants.aes_te(0), 4),))
    lookups.module = Module("/no/such/libcrypto.so.3")
    lookups.environment = None if value is None else {variable: value}
    lookups.unread = OVERWRITTEN if value is None else ""
    return profile_of(lookups)


@pytest.mark.parametrize(
    ("variable", "value", "machine", "flags", "is_blamed"),
    [
        (NAME, VALUE, "x86-64", ["aes", "pclmulqdq"], True),
        (NAME, VALUE, "x86-64", [], True),  # nothing is known of the CPU
        (NAME, ":~0x20000000", "x86-64", ["aes", "sha_ni"], False),  # hides SHA
        (NAME, "0xffffffffffffffff:0xffffffffffffffff", "x86-64", ["aes"], False),
        (NAME, "~0x2000000", "x86-64", ["aes", "sse"], False),
        (NAME, VALUE, "x86-64", ["ssse3"], False),  # the CPU has nothing to hide
        (NAME, "0", "x86-64", ["aes"], True),
        (NAME, "0", "a64", ["aes"], False),
        ("OPENSSL_armcap", "0", "x86-64", ["aes"], False),
        ("OPENSSL_armcap", "0", "a64", ["aes"], True),
        ("OPENSSL_ppccap", "0", "x86-64", ["aes"], False),
        ("NETTLE_FAT_OVERRIDE", "0", "x86-64", ["aes"], False),  # of another library
    ],
)
def test_a_variable_is_blamed_only_if_it_hides_what_its_library_would_take(
    variable: str, value: str, machine: str, flags: list[str], is_blamed: bool
) -> None:
    found = masked(value, variable)
    named = recognise(found)
    named[0].region.machine = machine
    remedy = explain(found, named, flags).rows[0].remedy
    assert (remedy is not None and variable in remedy.says) == is_blamed
    if is_blamed:
        assert remedy is not None
        assert remedy.unset == (variable,)


def test_an_environment_that_could_not_be_read_is_told() -> None:
    found = masked(None)
    answer = explain(found, recognise(found), ["aes"])
    (unread,) = answer.unread
    assert unread == f"the environment of x could not be read ({OVERWRITTEN})"
    said = sentences(answer, (), ())
    assert any(line.startswith(f"Note: {unread}") for line in said)
    assert not any("everycore knows" in line for line in said)
    clean = masked(":~0x0")
    assert explain(clean, recognise(clean), ["aes"]).unread == ()


def test_stored_samples_keep_the_environments(tmp_path: Path) -> None:
    for value in (VALUE, None):
        path = tmp_path / f"{value}.jsonl"
        found = masked(value)
        path.write_text("".join(f"{line}\n" for line in recording.lines(found, [])))
        again, _ = recording.read(path)
        assert again.regions == found.regions


def test_files_of_older_versions_have_one_environment(tmp_path: Path) -> None:
    head, own, end = recording.lines(masked(VALUE), ["aes"])
    old = head.replace('"environment": {}', f'"environment": {{"{NAME}": "{VALUE}"}}')
    before = own[: own.index(', "environment"')] + "}"
    path = tmp_path / "old.jsonl"
    path.write_text(f"{old}\n{before}\n{end}\n")
    again, flags = recording.read(path)
    assert again.regions[0].environment == {NAME: VALUE}
    remedy = explain(again, recognise(again), flags).rows[0].remedy
    assert remedy is not None
    assert NAME in remedy.says


def test_a_variable_in_a_word_of_the_command_is_taken_out_for_a_trial() -> None:
    remedy = Remedy("masked", f"unset {NAME}", (NAME,))
    change = change_of(("env", MASK, "run", "-x"), {"HOME": "/x"}, remedy)
    assert change is not None
    assert (change.argv, change.words) == (("env", "run", "-x"), f"without {NAME}=")
    script = ("sh", "-c", f"{MASK} run")
    assert change_of(script, {}, remedy) is None
    tried = try_remedy(script, {}, remedy)
    assert (tried.gain, tried.by) == (None, "the variable is set by what the command starts")


def test_the_guest_of_an_emulator_has_the_variables_of_its_options() -> None:
    argv = ("qemu-aarch64", "-U", "GODEBUG,A", "-E", "OPENSSL_armcap=0,B=1", "./x", "-E")
    env = {"GODEBUG": "cpu.aes=off", "A": "1", "QEMU_SET_ENV": "C=2"}
    found = dict(guest_environment(argv, env))
    assert found == {"QEMU_SET_ENV": "C=2", "OPENSSL_armcap": "0", "B": "1", "C": "2"}


def test_profile_blames_the_variable_that_env_sets(lab: Lab) -> None:
    """The example of `profile --help`, with a variable in front."""
    program = shutil.which("openssl")
    flags = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    if not program or " aes " not in flags:
        pytest.skip("no openssl on a CPU of x86 with AES: apt-get install openssl")
    lab.env.update(PATH=os.environ["PATH"])
    speed = (program, "speed", "-seconds", "1", "-bytes", "16384", "-evp", "aes-256-cbc")
    for words, is_blamed in ((("env", MASK), True), (("env", f"{NAME}=:~0x20000000"), False)):
        shown = " ".join(lab("profile", "--", *words, *speed).err.split())
        if "cannot be sampled" in shown:
            pytest.skip(shown)
        assert ("OPENSSL_ia32cap hides instructions of this CPU" in shown) == is_blamed, shown
