#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The wheel carries the C tree: installed apart, it builds and runs the harness from elsewhere."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
failures: list[str] = []
passed: list[str] = []


def expect(condition: bool, what: str, detail: str = "") -> None:
    if condition:
        passed.append(what)
    else:
        failures.append(what)
        print(f"FAILED: {what}\n{detail}")


def run(folder: pathlib.Path, *argv: str | pathlib.Path) -> tuple[int, str]:
    """With the wheel's package before that of the checkout, and nothing of the user's."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(folder / "site"),
        "HOME": str(folder),
        "XDG_CACHE_HOME": str(folder / "cache"),
        "XDG_STATE_HOME": str(folder / "state"),
    }
    done = subprocess.run(
        argv,
        cwd=folder,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environment,
        check=False,
    )
    return done.returncode, done.stdout


def source_files() -> list[str]:
    return [
        str(path.relative_to(ROOT))
        for folder in (
            "include",
            "src",
            "harness",
            "catalog/peers",
            "catalog/targets",
            "catalog/toolchains",
        )
        for path in (ROOT / folder).rglob("*.*")
        if path.suffix in (".c", ".h", ".S", ".def", ".toml", ".lock")
        and "target" not in path.parts
    ]


def lab_files() -> list[str]:
    """Paths in the wheel of the lab's files: its modules, and the data beside them."""
    return [
        str(path.relative_to(ROOT / "lab"))
        for path in (ROOT / "lab/everycore").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    ]


def main() -> int:
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
        code, text = run(
            folder, *pip, "wheel", "--no-deps", "--no-build-isolation", "-w", folder, ROOT
        )
        wheels = list(folder.glob("everycore-*-py3-none-any.whl"))
        expect(code == 0 and len(wheels) == 1, "pip makes a pure wheel", text)
        if code == 0:
            held = set(zipfile.ZipFile(wheels[0]).namelist())
            missing = [name for name in source_files() if f"everycore/tree/{name}" not in held]
            expect(not missing, "it holds every source file", " ".join(missing))
            missing = [name for name in lab_files() if name not in held]
            expect(not missing, "it holds every file of the lab", " ".join(missing))
            code, text = run(
                folder, *pip, "install", "--no-deps", "--target", folder / "site", *wheels
            )
            expect(code == 0, "pip installs it", text)
            expect("everycore/tree/pyproject.toml" in held, "it names the packages of the extras")
            git = subprocess.run(
                ["git", "-C", ROOT, "rev-parse", "--short=12", "HEAD"],
                capture_output=True,
                text=True,
                check=False,
            )
            if git.returncode == 0:
                code, text = run(folder, sys.executable, "-m", "everycore", "--version")
                expect(f"commit {git.stdout.strip()}" in text, "it knows its commit", text)
        code, text = run(
            folder, sys.executable, "-c", "import everycore; print(everycore.__file__)"
        )
        expect(text.startswith(str(folder)), "Python finds the wheel's package", text)
        code, text = run(folder, sys.executable, "-m", "everycore", "list", "--json")
        stems = re.findall(r"^KERNEL\(\w+, *(\w+)", (ROOT / "src/kernels.def").read_text(), re.M)
        expect(
            code == 0 and all(f'"{stem}"' in text for stem in stems), "it lists every kernel", text
        )
        code, text = run(
            folder,
            sys.executable,
            "-m",
            "everycore",
            "check",
            "--quick",
            "--kernel",
            "c_ref",
            "--flags=-O1",
        )  # to be quick
        expect(code == 0, "it builds and checks a kernel", text)
    print(f"{len(passed)} passed, {len(failures)} failed, 0 skipped")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
