# SPDX-License-Identifier: MIT
"""tools/setup sets up once, again for another Python, and once where two run at once."""

import os
import pathlib
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FAKE_PYTHON = """#!/bin/sh
case "$1 $2" in
--version*) cat "$FAKE/version" ;;
"-m venv") mkdir -p "$3/bin" && cp "$0" "$3/bin/python" ;;
"-m pip") sleep "${SLOWLY:-0}"; echo once >>"$FAKE/installed" ;;
esac
"""


class TestSetUp:
    @pytest.fixture(autouse=True)
    def tree(self, tmp_path: pathlib.Path) -> None:
        self.folder = tmp_path / "a folder"
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
        assert self.installed() == 1

    def installed(self) -> int:
        return (self.folder / "installed").read_text().count("once")

    def test_it_sets_up_once_for_each_version_of_python(self) -> None:
        done = []
        for version in ("3.11.2", "3.11.2", "3.13.5", "3.13.5"):
            (self.folder / "version").write_text(f"Python {version}\n")
            subprocess.run(self.command, env=self.environment, check=True, capture_output=True)
            done.append(self.installed())
        assert done == [1, 1, 2, 2]

    def test_it_sets_up_again_for_other_versions_of_packages(self) -> None:
        (self.folder / "version").write_text("Python 3.11.2\n")
        done = []
        for name in ("tools/constraints.txt", "pyproject.toml"):
            (self.folder / name).write_text("rich==15.0.0\n")
            subprocess.run(self.command, env=self.environment, check=True, capture_output=True)
            done.append(self.installed())
        assert done == [1, 2]

    @pytest.mark.skipif(not shutil.which("flock"), reason="no flock: apt-get install util-linux")
    def test_two_at_once_set_up_once(self) -> None:
        (self.folder / "version").write_text("Python 3.11.2\n")
        slowly = {**self.environment, "SLOWLY": "0.5"}
        both = [
            subprocess.Popen(self.command, env=slowly, stderr=subprocess.PIPE, text=True)
            for _ in range(2)
        ]
        said = "".join(process.communicate(timeout=60)[1] for process in both)
        assert [process.returncode for process in both] == [0, 0]
        assert self.installed() == 1
        assert "waiting for it" in said
