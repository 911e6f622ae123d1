#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Use the library in every way that the docs name, with the example of the README.

Installed shared and static through pkg-config, as a Meson subproject, as bare files without a build, and with
one kernel named so that only that one is linked. The C examples of docs/USING.md must compile.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
COMPILER = os.environ.get("CC", "cc").split()
WARNINGS = ["-std=c11", "-Wall", "-Wextra", "-Werror"]
ARM = ("aarch64-linux-gnu-gcc", "qemu-aarch64")
failures: list[str] = []
skipped: list[str] = []
passed = 0


def expect(condition: bool, what: str, detail: str = "") -> None:
    global passed
    if condition:
        passed += 1
    else:
        failures.append(what)
        print(f"FAILED: {what}\n{detail}")


def run(*argv: str | pathlib.Path, cwd: pathlib.Path = ROOT, **environment: str) -> tuple[int, str]:
    done = subprocess.run(argv, cwd=cwd, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env={**os.environ, **environment})
    return done.returncode, done.stdout


def examples(document: str) -> list[str]:
    """The C blocks of a Markdown file, in order."""
    return re.findall(r"^```c\n(.*?)^```", (ROOT / document).read_text(), re.M | re.S)


def expected_output(document: str) -> str:
    """What the README says that its example prints: the comment on its last line."""
    return re.findall(r"/\* prints (.*?) \*/", (ROOT / document).read_text())[0]


def build_and_run(what: str, folder: pathlib.Path, source: pathlib.Path, *flags: str, compiler: list[str] = COMPILER,
                  emulator: tuple[str, ...] = (), **environment: str) -> None:
    program = folder / "example"
    program.unlink(missing_ok=True)
    code, text = run(*compiler, *WARNINGS, source, *flags, "-o", program)
    expect(code == 0, f"the example compiles {what}", text)
    if code == 0:
        code, text = run(*emulator, program, **environment)
        expect(code == 0 and text.strip() == expected_output("README.md"), f"the example works {what}", text)


def installed(folder: pathlib.Path, source: pathlib.Path) -> None:
    prefix = folder / "prefix"
    for argv in (("setup", f"--prefix={prefix}", "--libdir=lib", "-Dtests=disabled", "-Ddebug=false", folder / "build",
                  ROOT),
                 ("install", "-C", folder / "build", "--quiet")):
        code, text = run("meson", *argv)
        if code:
            expect(False, f"meson {argv[0]}", text)
            return
    names = {path.name for path in (ROOT / "include/everycore").iterdir()}
    expect({path.name for path in (prefix / "include/everycore").iterdir()} == names, "all headers are installed")
    if not shutil.which("pkg-config"):
        skipped.append("no pkg-config")
        return
    path = {"PKG_CONFIG_PATH": str(prefix / "lib/pkgconfig")}
    code, text = run("pkg-config", "--cflags", "--libs", "everycore", **path)
    expect(code == 0, "pkg-config finds it", text)
    flags = text.split()
    build_and_run("with the installed shared library", folder, source, *flags, LD_LIBRARY_PATH=str(prefix / "lib"))
    code, text = run("pkg-config", "--modversion", "everycore", **path)
    header = (ROOT / "include/everycore/everycore.h").read_text()
    expect(f'EVC_VERSION "{text.strip()}"' in header, "pkg-config and header name one version", text)
    static = [flag for flag in flags if flag != "-leverycore"]
    build_and_run("with the installed static library", folder, source, *static, str(prefix / "lib/libeverycore.a"))

    kernel = folder / "one_kernel.c"
    kernel.write_text(next(text for text in examples("docs/USING.md") if "extern const struct evc_aes" in text))
    named = set(re.findall(r"extern const struct evc_aes evc_aes_(\w+);", kernel.read_text()))
    code, text = run(*COMPILER, *WARNINGS, "-static", kernel, *static, prefix / "lib/libeverycore.a", "-o",
                     folder / "one_kernel")
    expect(code == 0, "a program that names one kernel links", text)
    if code:
        return
    _, text = run("nm", folder / "one_kernel")
    linked = set(re.findall(r" [RrDdB] evc_aes_(\w+)$", text, re.M))
    expect(len(named) == 1 and linked == named, "a program that names one kernel holds only that one", f"{linked}")
    expect(run(folder / "one_kernel")[0] == 0, "a program that names one kernel works")


def subproject(folder: pathlib.Path, source: pathlib.Path) -> None:
    parent = folder / "parent"
    (parent / "subprojects").mkdir(parents=True)
    (parent / "subprojects/everycore").symlink_to(ROOT)
    shutil.copy(source, parent / "example.c")
    (parent / "meson.build").write_text(
        "project('parent', 'c', meson_version: '>= 1.3')\n"
        "executable('example', 'example.c', dependencies: dependency('everycore', fallback: 'everycore'))\n")
    code, text = run("meson", "setup", "--werror", "-Doptimization=1", "-Ddebug=false",
                     "-Deverycore:default_library=static", parent / "build", parent)
    expect(code == 0, "it is a Meson subproject", text)
    code, text = run("meson", "compile", "-C", parent / "build")
    expect(code == 0, "its subproject builds", text)
    code, text = run(parent / "build/example")
    expect(code == 0 and text.strip() == expected_output("README.md"), "the example works as a parent project", text)


def documented_command(document: str) -> str:
    """The line that compiles a program together with all files, as README and USING show it."""
    found = re.search(r"^cc -O2 .*program\.c .* -o program$", (ROOT / document).read_text(), re.M)
    return found[0] if found else ""


def bare_files(folder: pathlib.Path, source: pathlib.Path) -> None:
    command = documented_command("README.md")
    expect(bool(command) and command == documented_command("docs/USING.md"), "README and USING show the same command")
    line = command.replace("cc ", " ".join(COMPILER) + " ", 1).replace("program.c", str(source))
    code, text = run("sh", "-c", line.replace("-o program", f"-o {folder / 'program'}"))
    expect(code == 0, "the command of the README compiles and links a program", text)
    code, text = run(folder / "program") if code == 0 else (1, "")
    expect(code == 0 and text.strip() == expected_output("README.md"), "the program of the README's command works", text)
    files = sorted(str(path) for path in (ROOT / "src").rglob("*.[cS]"))
    flags = ["-O1", "-std=gnu11", f"-I{ROOT}/include", f"-I{ROOT}/src", *files]
    absent = [name for name in ARM if not shutil.which(name)]  # most assembly is for it
    if absent:
        skipped.append(f"from bare files for Arm: no {', '.join(absent)}")
    else:
        build_and_run("from bare files for Arm", folder, source, "-static", *flags, compiler=[ARM[0]], emulator=ARM[1:])


def main() -> int:
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        source = folder / "example.c"
        source.write_text(examples("README.md")[0])
        installed(folder, source)
        subproject(folder, source)
        bare_files(folder, source)
        for number, text in enumerate(examples("docs/USING.md"), 1):
            source.write_text(text)
            code, output = run(*COMPILER, *WARNINGS, "-Iinclude", "-c", source, "-o", os.devnull)
            expect(code == 0, f"example {number} of docs/USING.md compiles", output)
    for why in skipped:
        print(f"skipped: {why}")
    print(f"{passed} passed, {len(failures)} failed, {len(skipped)} skipped")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
