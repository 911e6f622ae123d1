# SPDX-License-Identifier: MIT
"""The command line of `everycore profile`: bad input, stored samples, exit codes."""

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from explain.test_recognition import AESENC as AESENC_XMM
from explain.test_recognition import CLMUL, NOTHING, profile_of, region
from library_reads import reads_all
from tiny_elf import AESENC, NOP, elf
from world import PACKAGE, Lab

from everycore.commands import profile as command
from everycore.explain import recording
from everycore.explain.explanation import Explanation, ProfileLine, Remedy
from everycore.explain.trial import Change, change_of, try_remedy
from everycore.openssl import installations
from everycore.openssl.installations import Answer
from everycore.report import potential

SPIN = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; echo done; exit 5"


def everycore(*words: str, **env: str) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-m", "everycore", *words]
    path = os.pathsep.join([str(PACKAGE.parent), os.environ.get("PYTHONPATH", "")])
    env = {**os.environ, "PYTHONPATH": path, **env}
    return subprocess.run(argv, capture_output=True, text=True, check=False, env=env, timeout=60)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "name one of"),
        (("--pid", "4194305"), "there is no process 4194305"),
        (("--pid", "abc"), "'abc' is no number of a process"),
        (("--pid", "0"), "`ps -e` lists the processes that run"),
        (("--bytes", "much", "--", "true"), "'much' is no number of bytes"),
        (("--out", "-", "--", "true"), "--out - would mix with the program's output"),
        (("--store", "-", "--", "true"), "--store - would mix with the program's output"),
        (("--page", "/", "--", "true"), "--page / is a folder"),
        (("--means", "magic", "--", "true"), "unknown means"),
        (("--load", "/no/such/file"), "`profile --store FILE -- CMD...` writes one"),
        (("--load", "/dev/zero"), "it is a device"),
        (("--store", __file__, "--", "true"), "test_profile_command.py exists"),
        (("--pid", "1", "--", "true"), "give only one of: a command"),
        (("--load", "x.jsonl", "--", "true"), "give only one of: a command"),
        (("--try", "--pid", "1"), "--try needs a command"),
        (("--", "no-such-program"), "cannot run no-such-program"),
    ],
)
def test_wrong_usage_is_one_clear_line(lab: Lab, words: tuple[str, ...], message: str) -> None:
    lab("profile", *words).refuses(message)


@pytest.mark.parametrize(
    "words",
    [
        ("query", "--from", "/no/such", "select 1"),
        ("pack", "/no/such"),
        ("provider", "status", "--pid", "4194305"),
    ],
)
def test_what_is_not_there_is_named_with_a_remedy(lab: Lab, words: tuple[str, ...]) -> None:
    found = lab(*words)
    assert found.code == 2
    message, *remedy = found.err.strip().splitlines()
    assert words[-1] in message or "/no/such" in message
    assert remedy


@reads_all
def test_a_command_keeps_its_output_and_its_exit_code() -> None:
    found = everycore("profile", "--", "sh", "-c", SPIN)
    assert (found.returncode, found.stdout) == (5, "done\n")
    assert "samples in" in found.stderr


@reads_all
def test_the_answer_may_have_a_file_of_its_own(tmp_path: Path) -> None:
    """The program writes to standard error too, so JSON there could not be read."""
    file, page, stacks = tmp_path / "answer.json", tmp_path / "page.html", tmp_path / "folded.txt"
    options = ("--json", "--out", str(file), "--page", str(page), "--folded", str(stacks))
    found = everycore("profile", *options, "--", "sh", "-c", f"echo mine >&2; {SPIN}")
    assert (found.returncode, found.stdout, found.stderr) == (5, "done\n", "mine\n")
    answer = json.loads(file.read_text())
    assert answer["samples"] > 0
    assert "Cryptography: " in page.read_text()
    assert all(line.rpartition(" ")[2].isdecimal() for line in stacks.read_text().splitlines())
    assert stacks.read_text().startswith("sh;")


def test_the_answer_may_go_to_a_descriptor(tmp_path: Path) -> None:
    command = f"{sys.executable} -m everycore profile --json --out /dev/fd/3 -- sh -c 'echo mine'"
    file = tmp_path / "answer"
    path = os.pathsep.join([str(PACKAGE.parent), os.environ.get("PYTHONPATH", "")])
    env = {**os.environ, "PYTHONPATH": path}
    argv = ["sh", "-c", f"{command} 3>{file}"]
    done = subprocess.run(argv, capture_output=True, text=True, env=env, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "mine\n", "")
    assert json.loads(file.read_text())["code"] == 0


def test_what_the_cpu_could_do_stands_beside_what_the_program_took(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A stored profile of the CPU whose results this repository has."""
    code = (AESENC_XMM + CLMUL) * 10 + NOTHING * 30
    found = replace(profile_of(region(code)), core=("AuthenticAMD", "26", "2"), user_seconds=2.0)
    file = tmp_path / "samples.jsonl"
    file.write_text("".join(f"{line}\n" for line in recording.lines(found, [])))
    shown = lab("profile", "--load", str(file)).out
    assert "AES-GCM: this CPU's limit is 0.109, everycore takes 0.14" in shown
    shown = " ".join(lab("profile", "--load", str(file), "--bytes", "8G").out.split())
    assert re.search(
        r"AES-GCM: this program takes \d\.\d+ cycles per byte, this CPU's limit", shown
    )
    monkeypatch.setattr(potential, "costs_of", lambda *_: {})
    assert "limit" not in lab("profile", "--load", str(file)).out


@reads_all
def test_stored_samples_are_explained_later(tmp_path: Path) -> None:
    file = tmp_path / "samples.jsonl"
    first = everycore("profile", "--store", str(file), "--json", "--", "sh", "-c", SPIN)
    assert first.returncode == 5
    again = everycore("profile", "--load", str(file), "--json")
    assert again.returncode == 0
    sampled, loaded = json.loads(first.stderr), json.loads(again.stdout)
    assert sampled["rows"] == loaded["rows"]
    assert sampled["samples"] == loaded["samples"] > 0
    file.write_bytes(file.read_bytes()[:-30])
    cut = everycore("profile", "--load", str(file))
    assert cut.returncode == 2
    assert "cut off" in cut.stderr


def test_a_remedy_is_tried_and_its_gain_is_measured(lab: Lab) -> None:
    del lab
    script = 'sleep 0.0$SLOW; echo "done 7"'
    env = {**os.environ, "SLOW": "9"}
    found = try_remedy(["sh", "-c", script], env, Remedy("slow", "unset SLOW", ("SLOW",)))
    assert found.gain is not None
    assert found.gain > 1.5
    rate = 'sleep 0.05; if [ "$SLOW" ]; then echo "rate 10k"; else echo "rate 30k"; fi'
    found = try_remedy(["sh", "-c", rate], env, Remedy("slow", "unset SLOW", ("SLOW",)))
    assert found.gain == 3.0 or "time" in found.by
    end = 'exit "${SLOW:-3}"'
    assert try_remedy(["sh", "-c", end], env, Remedy("", "", ("SLOW",))).gain is None


ELSE = Remedy("why", "how")


def test_each_kind_of_remedy_says_what_it_changes() -> None:
    env, argv = {"MASK": "1", "HOME": "/x"}, ("run", "-cpu", "max", "file")
    unset = change_of(argv, env, replace(ELSE, unset=("MASK",)))
    assert unset == Change(argv, {"HOME": "/x"})
    put = replace(ELSE, put=("QEMU_CPU=a,b=on",), append=("-cpu", ",b=on"))
    longer = change_of(argv, env, put)
    assert longer is not None
    assert longer.argv == ("run", "-cpu", "max,b=on", "file")
    assert longer.env == env
    variable = change_of(("run", "file"), env, put)
    assert variable is not None
    assert variable.env == {**env, "QEMU_CPU": "a,b=on"}
    assert change_of(argv, env, ELSE) is None


def test_a_provider_is_tried_by_a_configuration_of_openssl(tmp_path: Path) -> None:
    """A configuration that the user has chosen is not replaced."""
    remedy, file = replace(ELSE, provider=True), tmp_path / "openssl.cnf"
    change = change_of(("run",), {"HOME": "/x"}, remedy, provider=file)
    assert change is not None
    assert change.env == {"HOME": "/x", "OPENSSL_CONF": str(file)}
    assert change.words == "with our provider"
    assert change_of(("run",), {"OPENSSL_CONF": "/own"}, remedy, provider=file) is None
    assert change_of(("run",), {}, remedy) is None
    assert change_of(("run",), {}, ELSE, provider=file) is None


def test_a_provider_that_is_not_installed_is_not_tried(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The folder of OpenSSL's modules is asked for, and Meson's default below it."""
    answer = Answer("/lib/libcrypto.so.3", "OpenSSL 3.0", "/etc/ssl", str(tmp_path))
    monkeypatch.setattr(installations, "executable", lambda *_: Path("openssl"))
    monkeypatch.setattr(installations, "libcrypto_of", lambda *_: answer.library)
    monkeypatch.setattr(installations, "ask", lambda *_: answer)
    (tmp_path / "conf").mkdir()
    assert command._provider(lab.context(), tmp_path / "conf") is None
    (tmp_path / "everycore.so").touch()
    found = command._provider(lab.context(), tmp_path / "conf")
    assert found is not None
    assert f"module = {tmp_path}/everycore.so" in found.read_text()
    monkeypatch.setattr(installations, "libcrypto_of", lambda *_: None)
    assert command._provider(lab.context(), tmp_path / "conf") is None


def test_a_library_without_instructions_is_replaced_by_the_system_s(tmp_path: Path) -> None:
    own, system, other = tmp_path / "own", tmp_path / "system", tmp_path / "other"
    for folder, code in ((own, NOP), (system, AESENC), (other, NOP)):
        folder.mkdir()
        elf(folder / "libx.so.8", NOP * 80 + (code + NOP * 3) * 4 + NOP * 80)
    remedy = replace(ELSE, library=str(own / "libx.so.8"), lacks="aes")
    change = change_of(("run",), {"LD_LIBRARY_PATH": "/own"}, remedy, (other, system))
    assert change is not None
    assert change.env["LD_PRELOAD"] == str(system / "libx.so.8")
    assert change.env["LD_LIBRARY_PATH"] == f"{system}:/own"
    assert change_of(("run",), {}, remedy, (other, own)) is None


@pytest.mark.parametrize("is_installed", [False, True])
def test_a_trial_is_offered_only_where_it_can_be_made(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, is_installed: bool
) -> None:
    remedy = Remedy("old", "the provider", provider=True)
    rows = (ProfileLine(50.0, "AES", "T-tables", "x", "", True, "its code", remedy),)
    answer = Explanation(rows, 500, 0.0, 100.0, ())
    monkeypatch.setattr(command, "explain", lambda *_: answer)
    monkeypatch.setattr(command, "_provider", lambda *_: Path("x.cnf") if is_installed else None)
    lab.env.update(PATH=os.environ["PATH"])
    shown = " ".join(lab("profile", "--", "sh", "-c", SPIN).err.split())
    assert ("Not tried (--try does it)" in shown) == is_installed
    assert ("Not tried: it needs another build" in shown) != is_installed


def test_all_remedies_of_an_answer_are_tried_and_their_gains_are_told(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The masked variable makes the command slower; the other remedy cannot be tried."""
    rows = tuple(
        ProfileLine(50.0, "AES", "T-tables", "x", "", True, "its code", remedy)
        for remedy in (Remedy("masked", "unset SLOW", ("SLOW",)), Remedy("old", "a new build"))
    )
    answer = Explanation(rows, 500, 0.0, 100.0, ())
    monkeypatch.setattr(command, "explain", lambda *_: answer)
    script = "i=0; while [ $i -lt ${SLOW:-600} ]; do i=$((i+1)); done; echo done"
    lab.env.update(PATH=os.environ["PATH"], SLOW="60000")
    found = lab("profile", "--try", "--json", "--", "sh", "-c", script)
    trials = {trial["remedy"]: trial for trial in json.loads(found.err.splitlines()[-1])["trials"]}
    assert trials["unset SLOW"]["gain"] > 1.5
    assert trials["a new build"]["gain"] is None
    shown = lab("profile", "--try", "--", "sh", "-c", script).err
    assert "times as fast" in shown
    assert "Not tried: it needs another build" in shown
