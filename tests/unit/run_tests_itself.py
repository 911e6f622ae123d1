#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tools/run-tests counts what was tested: silence is a failure, and what is absent is a skip.

And tools/setup sets up once, and again for another Python; tools/system-packages waits for another
apt. The checks of objects name what they cannot read.
"""

import contextlib
import importlib.machinery
import importlib.util
import io
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import types
import unittest
from typing import Any
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True


def loaded(name: str, path: str) -> types.ModuleType:
    sys.path.insert(0, str(ROOT / "tools"))  # what the program imports from beside it
    loader = importlib.machinery.SourceFileLoader(name, str(ROOT / path))
    spec = importlib.util.spec_from_loader(name, loader)
    assert spec
    sys.modules[name] = module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


steps: Any = loaded("run_tests", "tools/run-tests")
sys.path.insert(0, str(ROOT / "tests/systems"))
fresh: Any = loaded("test_fresh_machines", "tests/systems/test_fresh_machines.py")


class RunTests(unittest.TestCase):
    def setUp(self) -> None:
        folder = self.enterContext(tempfile.TemporaryDirectory())
        self.folder = pathlib.Path(folder)
        self.enterContext(contextlib.redirect_stdout(io.StringIO()))
        self.build, steps.BUILD = steps.BUILD, self.folder
        self.addCleanup(setattr, steps, "BUILD", self.build)

    def counts(self, count: Any) -> tuple[int, int, int]:
        return count.passed, count.failed, count.skipped

    def script(self, program: str) -> tuple[int, int, int]:
        path = self.folder / "script.py"
        path.write_text(program)
        return self.counts(steps.script([str(path)], steps.Log(self.folder / "log.txt")))

    def test_a_script_says_what_it_counted(self) -> None:
        self.assertEqual(self.script("print('3 passed, 0 failed, 1 skipped')"), (3, 0, 1))
        self.assertEqual(
            self.script("print('3 passed, 1 failed, 0 skipped'); raise SystemExit(1)"), (3, 1, 0)
        )

    def test_a_script_that_fails_is_a_failure_whatever_it_counted(self) -> None:
        self.assertEqual(
            self.script("print('3 passed, 0 failed, 0 skipped'); raise SystemExit(1)"), (3, 1, 0)
        )

    def test_a_script_that_says_nothing_is_a_failure(self) -> None:
        self.assertEqual(self.script(""), (0, 1, 0))
        self.assertEqual(self.script("print('3 passed')"), (0, 1, 0))

    def test_the_cpu_time_of_a_program_and_of_what_it_runs_is_added_up(self) -> None:
        log = steps.Log(self.folder / "log.txt")
        log.run([sys.executable, "-c", "pass"])
        idle = log.cpu_seconds
        burn = "import time; end = time.process_time() + 0.2\nwhile time.process_time() < end: pass"
        log.run(["sh", "-c", f"'{sys.executable}' -c '{burn}'; true"])
        self.assertGreater(idle, 0)
        self.assertGreater(log.cpu_seconds, idle + 0.2)

    def test_what_is_compiled_for_a_run_is_not_in_the_users_cache_and_what_is_fetched_is(
        self,
    ) -> None:
        home = self.folder / "home"
        self.enterContext(mock.patch.dict(os.environ, XDG_CACHE_HOME=str(home)))
        before = dict(os.environ)
        log = steps.Log(self.folder / "log.txt")
        with mock.patch.object(log, "run", return_value=(0, "1 passed")) as run:
            steps.lab(log)
        objects = pathlib.Path(run.call_args_list[0].kwargs["EVERYCORE_TEST_OBJECTS"])
        self.assertEqual(objects, self.folder / "cache/everycore/objects")
        self.assertEqual(
            (self.folder / "cache/everycore/debs").resolve(), (home / "everycore/debs").resolve()
        )
        self.assertEqual(dict(os.environ), before)
        (self.folder / "everycore.py").write_text("import os; print(os.environ['XDG_CACHE_HOME'])")
        said = log.run([sys.executable, "-m", "everycore"], cwd=self.folder)[1]
        self.assertEqual(said.strip(), str(self.folder / "cache"))

    def test_a_step_that_tests_nothing_is_a_failure(self) -> None:
        self.assertEqual(
            self.counts(steps.run_step("empty", lambda _log: steps.Count(), None)), (0, 1, 0)
        )

    def test_what_failed_is_named_at_the_end(self) -> None:
        log = self.folder / "log.txt"
        log.write_text(
            "1/2 everycore:core OK 0.1s\n2/2 everycore:cpu TIMEOUT 30.0s\n2/2 everycore:cpu "
            "TIMEOUT 30.0s\n"
            "FAILED lab/tests/test_a.py::test_b - AssertionError\nAssertionError: 0.68 not "
            "greater than 0.7\n"
            "not ok 3 - roots\nsrc/aes/c_ref.c:1:2: error: no\n1 passed\n"
        )
        self.assertEqual(
            steps.failures(log),
            [
                "2/2 everycore:cpu TIMEOUT 30.0s",
                "FAILED lab/tests/test_a.py::test_b - AssertionError",
                "AssertionError: 0.68 not greater than 0.7",
                "not ok 3 - roots",
                "src/aes/c_ref.c:1:2: error: no",
            ],
        )
        log.write_text("a\n\nb\nc\nd\n")
        self.assertEqual(steps.failures(log), ["b", "c", "d"])

    def test_a_failing_step_ends_with_its_assertion_and_not_with_reasons_of_skips(self) -> None:
        log = self.folder / "log.txt"
        log.write_text(
            "    def test_b():\n>       assert f() == 2\nE       assert 1 == 2\nE        +  "
            "where 1 = f()\n\n"
            "a.py:3: AssertionError\n1 failed\nskipped: no clang\n"
            + "SKIPPED [7] lab/tests/a.py:18: no gpg: install it\n"
            * 40
        )
        self.assertEqual(steps.failures(log), ["E       assert 1 == 2"])
        self.assertEqual(steps.without_skips(log)[-1], "1 failed")

    def test_what_is_missing_is_a_skip_with_its_reason(self) -> None:
        count = steps.run_step("absent", lambda _log: steps.need("no-such-program"), None)
        self.assertEqual((self.counts(count), count.notes), ((0, 0, 1), ["no no-such-program"]))

    def test_the_reasons_of_skips_are_kept(self) -> None:
        said = (
            "skipped: no clang\nSKIPPED [7] lab/tests/compile/debs/conftest.py:18: no gpg: "
            "install it\n1 passed, 8 skipped in 2s"
        )
        count = steps.counted(0, said)
        self.assertEqual(
            (self.counts(count), count.notes), ((1, 0, 8), ["no clang", "no gpg: install it"])
        )

    def test_a_harness_that_prints_nothing_is_a_failure(self) -> None:
        self.assertEqual(self.counts(steps.harness_count(0, "")), (0, 1, 0))
        summary = '{"type":"summary","passed":5,"failed":0,"skipped":1,"seed":1}'
        self.assertEqual(self.counts(steps.harness_count(0, summary)), (5, 0, 1))
        self.assertEqual(self.counts(steps.harness_count(-4, summary)), (5, 1, 1))

    def test_each_kernel_of_aes_is_paired_with_each_of_ghash_once(self) -> None:
        tested = ["a+x", "b+y", "b+x", "b+y"]
        said = "\n".join(
            f'{{"type":"check","primitive":"gcm","kernel":"{name}","result":"pass"}}'
            for name in [*tested, "c"]
        )
        self.assertEqual(steps.pairs_beside(said), ["a+y"])
        self.assertEqual(steps.pairs_beside(said.replace("b+x", "a+y")), ["b+x"])

    def test_files_of_vectors_are_counted(self) -> None:
        file = '{"type":"vectors","file":"a","vectors":9,"passed":%d,"failed":%d,"skipped":0}'
        self.assertEqual(
            self.counts(steps.vectors_count(1, "\n".join([file % (9, 0), file % (8, 1)]))),
            (1, 1, 0),
        )
        self.assertEqual(self.counts(steps.vectors_count(0, file % (0, 0))), (0, 0, 1))
        skip = '{"type": "skip", "detail": "pip install it"}'
        count = steps.vectors_count(0, "\n".join([skip, file % (9, 0)]))
        self.assertEqual((self.counts(count), count.notes), ((1, 0, 1), ["pip install it"]))

    def test_pointer_authentication_is_skipped_for_the_network_alone(self) -> None:
        class Said(steps.Log):  # type: ignore[misc]  # which is loaded from a path
            def run(self, *_words: object, **_settings: object) -> tuple[int, str]:
                return 2, said

        self.addCleanup(setattr, steps, "need_cross", steps.need_cross)
        steps.need_cross = lambda _name: None
        said = '{"type": "skip", "detail": "cannot fetch it"}\neverycore: cannot fetch it\n'
        with self.assertRaisesRegex(steps.MissingError, "^cannot fetch it$"):
            steps.pointer_authentication([], Said(self.folder / "log.txt"))
        said = "everycore: internal error: it cannot read the mirror\n"
        self.assertEqual(
            self.counts(steps.pointer_authentication([], Said(self.folder / "log.txt"))), (0, 1, 0)
        )

    def test_a_new_compiler_builds_anew(self) -> None:
        for name, text in (
            ("meson", "#!/bin/sh\n[ $1 != setup ] || mkdir -p $4 && echo $1 >>$LOGGED\n"),
            ("mycc", "#!/bin/sh\necho 1\n"),
        ):
            (self.folder / name).write_text(text)
            (self.folder / name).chmod(0o755)
        logged, path = self.folder / "logged", os.environ["PATH"]
        self.addCleanup(os.environ.update, PATH=path)
        os.environ.update(PATH=f"{self.folder}:{path}", LOGGED=str(logged))

        def setups() -> int:
            steps.meson("x", ["-Da=b"], steps.Log(self.folder / "log.txt"), compiler="mycc")
            return logged.read_text().count("setup")

        self.assertEqual([setups(), setups()], [1, 1])
        (self.folder / "mycc").write_text("#!/bin/sh\necho 2\n")
        self.assertEqual(setups(), 2)


FAKE_PYTHON = """#!/bin/sh
case "$1 $2" in
--version*) cat "$FAKE/version" ;;
"-m venv") mkdir -p "$3/bin" && cp "$0" "$3/bin/python" ;;
"-m pip") sleep "${SLOWLY:-0}"; echo once >>"$FAKE/installed" ;;
esac
"""


class SetUp(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()), "a folder")
        (self.folder / "tools").mkdir(parents=True)
        shutil.copy(ROOT / "tools/setup", self.folder / "tools")
        (self.folder / "pyproject.toml").touch()
        (self.folder / "tools/constraints.txt").touch()
        (self.folder / "python").write_text(FAKE_PYTHON)
        (self.folder / "python").chmod(0o755)
        (self.folder / "python3").symlink_to("python")
        self.command = [str(self.folder / "tools/setup"), "bench"]
        self.environment = {"PATH": f"{self.folder}:{os.environ['PATH']}", "FAKE": str(self.folder)}

    def test_the_set_up_of_the_lab_serves_bench_and_report_too(self) -> None:
        (self.folder / "version").write_text("Python 3.11.2\n")
        (self.folder / "tools/system-packages").write_text("#!/bin/sh\n")
        (self.folder / "tools/system-packages").chmod(0o755)
        for target in ("lab", "bench", "report"):
            subprocess.run(
                [self.command[0], target], env=self.environment, check=True, capture_output=True
            )
        self.assertEqual(self.installed(), 1)

    def installed(self) -> int:
        return (self.folder / "installed").read_text().count("once")

    def test_it_sets_up_once_for_each_version_of_python(self) -> None:
        done = []
        for version in ("3.11.2", "3.11.2", "3.13.5", "3.13.5"):
            (self.folder / "version").write_text(f"Python {version}\n")
            subprocess.run(self.command, env=self.environment, check=True, capture_output=True)
            done.append(self.installed())
        self.assertEqual(done, [1, 1, 2, 2])

    def test_it_sets_up_again_for_other_versions_of_packages(self) -> None:
        (self.folder / "version").write_text("Python 3.11.2\n")
        done = []
        for name in ("tools/constraints.txt", "pyproject.toml"):
            (self.folder / name).write_text("rich==15.0.0\n")
            subprocess.run(self.command, env=self.environment, check=True, capture_output=True)
            done.append(self.installed())
        self.assertEqual(done, [1, 2])

    @unittest.skipUnless(shutil.which("flock"), "no flock: apt-get install util-linux")
    def test_two_at_once_set_up_once(self) -> None:
        (self.folder / "version").write_text("Python 3.11.2\n")
        slowly = {**self.environment, "SLOWLY": "0.5"}
        both = [
            subprocess.Popen(self.command, env=slowly, stderr=subprocess.PIPE, text=True)
            for _ in range(2)
        ]
        said = "".join(process.communicate(timeout=60)[1] for process in both)
        self.assertEqual([process.returncode for process in both], [0, 0])
        self.assertEqual(self.installed(), 1)
        self.assertIn("waiting for it", said)


LISTS = "E: Could not get lock /var/lib/apt/lists/lock. It is held by process 7 (unattended-upgr)"
ARCHIVES = (
    "E: Could not get lock /var/cache/apt/archives/lock - open (11: Resource temporarily "
    "unavailable)"
)
FRONTEND = (
    "E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 7 (unattended-upgr)"
)
DPKG = "dpkg: error: dpkg frontend lock was locked by another process with pid 7"
NOT_OURS = "E: Could not open lock file /var/lib/dpkg/lock-frontend - open (13: Permission denied)"
NO_PACKAGE = (
    "Waiting for cache lock: Could not get lock /var/lib/dpkg/lock. It is held by "
    "process 7\nE: Unable to locate package x"
)


class SystemPackages(unittest.TestCase):
    """tools/system-packages with no program but those of a folder, so that packages are missing."""

    def setUp(self) -> None:
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        (self.folder / "bin").mkdir()
        for name in ("sh", "cat", "sed", "env", "date", "id", "mkdir", "head", "tail"):
            (self.folder / "bin" / name).symlink_to(str(shutil.which(name)))
        self.program("sudo", 'exec "$@"')
        self.program("apt-cache", "exit 0")
        self.program("sleep", 'echo "$@" >>slept')

    def program(self, name: str, text: str) -> None:
        path = self.folder / "bin" / name
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)

    def stand_in(self, action: str, said: str, times: int) -> None:
        """An apt-get that fails so many times to do something."""
        self.program(
            "apt-get",
            f"""echo "$LC_ALL $@" >>calls
for word; do [ "$word" = {action} ] && mine=1; done
[ "$mine" ] && [ "$(cat failed 2>/dev/null | sed -n '$=')" != {times} ] || exit 0
echo x >>failed
cat <<'SAID' >&2
{said}
SAID
exit 100""",
        )

    def install(self, seconds: int = 600) -> tuple[str, list[str]]:
        settings = {
            "PATH": str(self.folder / "bin"),
            "YES": "1",
            "EVERYCORE_APT_SECONDS": str(seconds),
            "LC_ALL": "de_DE.UTF-8",
        }
        done = subprocess.run(
            ["sh", ROOT / "tools/system-packages", "install", "u-boot"],
            cwd=self.folder,
            env=settings,
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        calls = (
            (self.folder / "calls").read_text().splitlines()
            if (self.folder / "calls").exists()
            else []
        )
        return done.stdout + done.stderr, calls

    def test_a_lock_that_another_program_holds_is_waited_for(self) -> None:
        for action, said in (
            ("update", LISTS),
            ("install", ARCHIVES),
            ("install", FRONTEND),
            ("install", DPKG),
        ):
            with self.subTest(said):
                for name in ("calls", "failed", "slept"):
                    (self.folder / name).unlink(missing_ok=True)
                self.stand_in(action, f"Reading package lists...\n{said}\nE: Unable to lock it", 3)
                told, calls = self.install()
                self.assertEqual(sum(action in call for call in calls), 4, calls)
                self.assertEqual(
                    sum("install" in call for call in calls), 4 if action == "install" else 1
                )
                self.assertEqual(told.count(said), 1)  # who holds it, once
                self.assertNotIn(fresh.NOT_INSTALLED, told)
                self.assertTrue(
                    all("DPkg::Lock::Timeout=" in call and call.startswith("C ") for call in calls),
                    calls,
                )

    def test_a_lock_that_stays_is_told_with_who_holds_it(self) -> None:
        self.stand_in("install", FRONTEND, 1000)
        told, calls = self.install(seconds=0)
        self.assertIn(f"{fresh.NOT_INSTALLED} ({FRONTEND})", told)
        self.assertEqual(len(calls), 2)
        self.stand_in("update", LISTS, 1000)
        self.assertIn(f"everycore: apt-get update gave up: {LISTS}", self.install(seconds=0)[0])

    def test_other_errors_are_not_tried_again(self) -> None:
        for said in (NOT_OURS, NO_PACKAGE, "E: Unable to fetch some archives"):
            for name in ("calls", "failed"):
                (self.folder / name).unlink(missing_ok=True)
            self.stand_in("install", said, 1000)
            told, calls = self.install()
            self.assertEqual(len(calls), 2, calls)
            self.assertIn(f"{fresh.NOT_INSTALLED} (build/system-packages.log)", told)
            self.assertIn(said, (self.folder / "build/system-packages.log").read_text())

    def test_the_system_s_own_apt_waits_for_a_lock_on_its_lists(self) -> None:
        """A lock of fcntl, as apt and dpkg take them, is held while `sleep` has not been called."""
        apt = shutil.which("apt-get")
        if not apt:
            self.skipTest("no apt-get")
        for name in (
            "lists/partial",
            "cache/archives/partial",
            "state",
            "etc/apt.conf.d",
            "etc/preferences.d",
        ):
            (self.folder / name).mkdir(parents=True)
        for name in ("status", "etc/sources.list", "lists/lock"):
            (self.folder / name).touch()
        places = {
            "Dir::State": "state",
            "Dir::State::lists": "lists",
            "Dir::State::status": "status",
            "Dir::Cache": "cache",
            "Dir::Etc": "etc",
            "Dir::Etc::sourcelist": "etc/sources.list",
        }
        text = "".join(f'{name} "{self.folder / place}";\n' for name, place in places.items())
        (self.folder / "apt.conf").write_text(text + 'Dir::Etc::sourceparts "/dev/null";\n')
        self.program(
            "apt-get",
            f"""case "$*" in *install*) exit 0 ;; esac
APT_CONFIG={self.folder}/apt.conf {apt} "$@"; code=$?; echo "$code" >>calls; exit $code""",
        )
        holder = subprocess.Popen(
            [
                sys.executable,
                "-c",
                "import fcntl, sys; f = open(sys.argv[1], 'a'); fcntl.lockf(f, 2);"
                " print('held', flush=True); sys.stdin.read()",
                self.folder / "lists/lock",
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert holder.stdin
        assert holder.stdout
        self.addCleanup(holder.stdout.close)
        self.addCleanup(holder.wait)
        self.addCleanup(holder.stdin.close)
        self.assertEqual(holder.stdout.readline(), b"held\n")
        self.program("sleep", f"kill {holder.pid}")
        told, codes = self.install()
        self.assertEqual((codes[0], codes[-1]), ("100", "0"), told)
        self.assertIn(f"E: Could not get lock {self.folder}/lists/lock", told)


class Checks(unittest.TestCase):
    def ended(self, *command: str) -> tuple[int, str]:
        done = subprocess.run(
            [sys.executable, *command], cwd=ROOT, capture_output=True, text=True, check=False
        )
        self.assertNotIn("Traceback", done.stderr)
        return done.returncode, done.stderr

    def test_files_that_cannot_be_read_are_named(self) -> None:
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        (folder / "empty").touch()
        for check in ("check-objects", "check-instructions", "check-vzeroupper", "check-spills"):
            for name in ("empty", "absent"):
                if check == "check-spills" and not any(map(shutil.which, ("gcc", "clang"))):
                    continue
                code, text = self.ended(f"tools/{check}", str(folder / name))
                self.assertEqual(code, 2, text)
                self.assertTrue(text.startswith(f"{check}: "), text)
                self.assertIn(name, text)

    def test_programs_that_are_absent_are_named(self) -> None:
        code, text = self.ended("tools/check-objects", "--nm", "nosuch-nm", "libeverycore.a")
        self.assertEqual(
            (code, text),
            (
                2,
                "check-objects: nosuch-nm cannot be run: No such file or directory; is it "
                "installed?\n",
            ),
        )

    @unittest.skipUnless(
        all(map(shutil.which, ("gcc", "ar", "nm", "readelf"))), "needs gcc and binutils"
    )
    def test_too_much_code_of_a_gcm_kernel_is_found(self) -> None:
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        code = folder / "code.S"
        for suffix, options, cpu, size, is_too_much in (
            ("_asm.S", [], "x86_64", 24576, False),
            ("_asm.S", [], "x86_64", 24577, True),
            ("_asm.S", [], "aarch64", 24577, False),
            (".c", [], "x86_64", 24577, False),
            (".c", ["--optimized"], "x86_64", 24577, True),
        ):
            member, library = (
                folder / f"src_gcm_x86_vaes512{suffix}.o",
                folder / f"{cpu}-{size}-{len(options)}{suffix}.a",
            )
            code.write_text(
                f'.text\n.skip 24000\n.section .text.second, "ax"\n.skip {size - 24000}\n'
            )
            subprocess.run(["gcc", "-c", code, "-o", member], check=True)
            subprocess.run(["ar", "rc", library, member], check=True)
            for readelf in filter(shutil.which, ("readelf", "llvm-readelf")):
                done = subprocess.run(
                    [
                        sys.executable,
                        "tools/check-objects",
                        "--readelf",
                        readelf,
                        "--cpu",
                        cpu,
                        *options,
                        library,
                    ],
                    cwd=ROOT,
                    capture_output=True,
                    text=True,
                    check=False,
                )
                told = f"{member.name}: {size} bytes of code, more than 24576\n" in done.stdout
                self.assertEqual(
                    told, is_too_much, (readelf, suffix, size, done.stdout, done.stderr)
                )

    def test_a_full_disk_is_told(self) -> None:
        with pathlib.Path("/dev/full").open("w") as full:
            done = subprocess.run(
                [sys.executable, "tools/run-tests", "--list"],
                cwd=ROOT,
                stdout=full,
                stderr=subprocess.PIPE,
                text=True,
                check=False,
            )
        self.assertEqual(
            (done.returncode, done.stderr),
            (2, "run-tests: standard output: No space left on device\n"),
        )


def main() -> int:
    result = unittest.TextTestRunner(stream=sys.stderr).run(
        unittest.TestSuite(
            map(
                unittest.defaultTestLoader.loadTestsFromTestCase,
                (RunTests, SetUp, SystemPackages, Checks),
            )
        )
    )
    bad = len(result.failures) + len(result.errors)
    skipped = len(result.skipped)
    for _, reason in result.skipped:
        print(f"skipped: {reason}")
    print(f"{result.testsRun - bad - skipped} passed, {bad} failed, {skipped} skipped")
    return 1 if bad or not result.testsRun else 0


if __name__ == "__main__":
    sys.exit(main())
