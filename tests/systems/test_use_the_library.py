#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Use the library in every way that the docs name, with the example of the README.

Installed shared and static through pkg-config, as a Meson subproject, as bare files without a
build, and with one kernel named so that only that one is linked. The C examples of the pages in
EXAMPLES must compile, and the tables of memory and of counted costs of big numbers must hold. Every
command that README.md and the pages on using the library show is executed, but those of
`everycore`, which lab/tests parses.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMPILER = os.environ.get("CC", "cc").split()
WARNINGS = ["-std=c11", "-Wall", "-Wextra", "-Werror"]
ARM = ("aarch64-linux-gnu-gcc", "qemu-aarch64")
EXAMPLES = (
    "docs/guides/using.md",
    "docs/guides/choosing-a-kernel.md",
    "docs/guides/emulators.md",
    "docs/guides/bignum.md",
    "docs/guides/rsa-and-dh.md",
    "docs/reference/cpu-timing.md",
)
failures: list[str] = []
skipped: list[str] = []
passed: list[str] = []


def expect(condition: bool, what: str, detail: str = "") -> None:
    if condition:
        passed.append(what)
    else:
        failures.append(what)
        print(f"FAILED: {what}\n{detail}")


def run(*argv: str | pathlib.Path, cwd: pathlib.Path = ROOT, **environment: str) -> tuple[int, str]:
    done = subprocess.run(
        argv,
        cwd=cwd,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, **environment},
        check=False,
    )
    return done.returncode, done.stdout


def examples(document: str) -> list[str]:
    """The C blocks of a Markdown file, in order."""
    return re.findall(r"^```c\n(.*?)^```", (ROOT / document).read_text(), re.M | re.S)


def shown(document: str) -> list[str]:
    """The blocks of a Markdown file that are in no language: commands, and the lines of a
    meson.build.
    """
    text = re.sub(r"^```\w+\n.*?^```", "", (ROOT / document).read_text(), flags=re.M | re.S)
    return re.findall(r"^```\n(.*?)^```", text, re.M | re.S)


def shown_commands(document: str) -> list[str]:
    """Each command of these blocks, and of the README's first table, on one line and without its
    comment.
    """
    blocks = "\n".join(block for block in shown(document) if not block.startswith("everycore = "))
    table = re.findall(r"^\| .* \|$", (ROOT / document).read_text().partition("\n## ")[0], re.M)
    inline = [text for text in re.findall(r"`([^`]*)`", "\n".join(table)) if " " in text]
    lines = [*blocks.replace("\\\n", " ").splitlines(), *inline]
    return [command for line in lines if (command := re.sub(r"\s+#.*", "", line).strip())]


def expected_output(document: str) -> str:
    """Return the output of the README's example, from the comment on its last line."""
    return str(re.findall(r"/\* prints (.*?) \*/", (ROOT / document).read_text())[0])


def build_and_run(
    what: str,
    folder: pathlib.Path,
    source: pathlib.Path,
    *flags: str,
    compiler: list[str] = COMPILER,
    emulator: tuple[str, ...] = (),
    **environment: str,
) -> None:
    program = folder / "example"
    program.unlink(missing_ok=True)
    code, text = run(*compiler, *WARNINGS, source, *flags, "-o", program)
    expect(code == 0, f"the example compiles {what}", text)
    if code == 0:
        code, text = run(*emulator, program, cwd=ROOT, **environment)
        expect(
            code == 0 and text.strip() == expected_output("README.md"),
            f"the example works {what}",
            text,
        )


def installed(folder: pathlib.Path, source: pathlib.Path, prefix: pathlib.Path) -> None:
    """Use what the commands of docs/guides/using.md have installed."""
    names = {path.name for path in (ROOT / "include/everycore").iterdir()}
    expect(
        {path.name for path in (prefix / "include/everycore").iterdir()} == names,
        "all headers are installed",
    )
    if not shutil.which("pkg-config"):
        skipped.append("no pkg-config")
        return
    path = {"PKG_CONFIG_PATH": str(prefix / "lib/pkgconfig")}
    code, text = run("pkg-config", "--cflags", "--libs", "everycore", cwd=ROOT, **path)
    expect(code == 0, "pkg-config finds it", text)
    flags = text.split()
    build_and_run(
        "with the installed shared library",
        folder,
        source,
        *flags,
        LD_LIBRARY_PATH=str(prefix / "lib"),
    )
    code, text = run("pkg-config", "--modversion", "everycore", cwd=ROOT, **path)
    header = (ROOT / "include/everycore/everycore.h").read_text()
    expect(
        f'EVC_VERSION "{text.strip()}"' in header, "pkg-config and header name one version", text
    )
    static = [flag for flag in flags if flag != "-leverycore"]
    build_and_run(
        "with the installed static library",
        folder,
        source,
        *static,
        str(prefix / "lib/libeverycore.a"),
    )

    kernel = folder / "one_kernel.c"
    kernel.write_text(
        next(
            text
            for text in examples("docs/guides/choosing-a-kernel.md")
            if "extern const struct evc_aes" in text
        )
    )
    named = set(re.findall(r"extern const struct evc_aes evc_aes_(\w+);", kernel.read_text()))
    code, text = run(
        *COMPILER,
        *WARNINGS,
        "-static",
        kernel,
        *static,
        prefix / "lib/libeverycore.a",
        "-o",
        folder / "one_kernel",
    )
    expect(code == 0, "a program that names one kernel links", text)
    if code:
        return
    _, text = run("nm", folder / "one_kernel")
    linked = set(re.findall(r" [RrDdB] evc_aes_(\w+)$", text, re.M))
    expect(
        len(named) == 1 and linked == named,
        "a program that names one kernel holds only that one",
        f"{linked}",
    )
    expect(run(folder / "one_kernel")[0] == 0, "a program that names one kernel works")


def subproject(folder: pathlib.Path, source: pathlib.Path) -> None:
    parent = folder / "parent"
    (parent / "subprojects").mkdir(parents=True)
    (parent / "subprojects/everycore").symlink_to(ROOT)
    shutil.copy(source, parent / "program.c")
    (parent / "meson.build").write_text(
        "project('parent', 'c', meson_version: '>= 1.0')\n"
        + next(block for block in shown("docs/guides/using.md") if block.startswith("everycore = "))
    )
    code, text = run(
        "meson", "setup", "--werror", "-Doptimization=1", "-Ddebug=false", parent / "build", parent
    )
    expect(code == 0, "it is a Meson subproject", text)
    code, text = run("meson", "compile", "-C", parent / "build")
    expect(code == 0, "its subproject builds", text)
    code, text = run(parent / "build/program")
    expect(
        code == 0 and text.strip() == expected_output("README.md"),
        "the example works as a parent project",
        text,
    )


def commands_of_the_docs(folder: pathlib.Path, source: pathlib.Path, prefix: pathlib.Path) -> None:
    """Execute each once, in the order of the pages, in a folder that looks like a checkout."""
    tree = folder / "checkout"
    tree.mkdir()
    for path in ROOT.iterdir():
        if path.name not in ("build", ".git", ".venv"):
            (tree / path.name).symlink_to(path)
    shutil.copy(source, tree / "program.c")
    done: set[str] = set()
    for document in ("README.md", "docs/guides/using.md", "docs/guides/without-an-os.md"):
        commands = shown_commands(document)
        expect(len(commands) > 0, f"{document} shows commands", f"{commands}")
        for command in commands:
            if command not in done:
                command_of_the_docs(document, command, tree, prefix)
            done.add(command)


def command_of_the_docs(
    document: str, command: str, tree: pathlib.Path, prefix: pathlib.Path
) -> None:
    """Execute one; the program that it makes, if any, must print what the example should."""
    name = command.split(maxsplit=1)[0]
    if name.endswith("everycore"):
        return
    programs = [COMPILER[0] if name == "cc" else name, *re.findall(r"\$\(([\w-]+)", command)]
    absent = [program for program in programs if not shutil.which(program)]
    if name.startswith("contrib/"):  # tests of its own patch trees of QEMU
        expect(os.access(tree / name, os.X_OK), f"{document}: {name} can be executed")
        return
    if absent:
        skipped.append(f"{document}: {command}: no {', '.join(absent)}")
        return
    if name == "make":  # what they do takes minutes, and one of them is this
        command = command.replace("make ", "make --dry-run ")
    line = re.sub(r"^cc ", " ".join(COMPILER) + " ", command).replace(
        "--prefix=/usr", f"--prefix={prefix} --libdir=lib"
    )
    made = [tree / made for made in ("program", "a.out")]
    for program in made:
        program.unlink(missing_ok=True)
    environment = {
        "PKG_CONFIG_PATH": str(prefix / "lib/pkgconfig"),
        "LD_LIBRARY_PATH": str(prefix / "lib"),
        "CFLAGS": "-O1 -g0",
    }  # for Meson: other steps have its own options
    code, text = run("sh", "-c", line, cwd=tree, **environment)
    expect(code == 0, f"{document}: {command}", text)
    if name == "cc":
        found = next(filter(pathlib.Path.exists, made), None)
        code, text = (1, "no program was made")
        if found:
            code, text = run(found, cwd=ROOT, **environment)
        expect(
            code == 0 and text.strip() == expected_output("README.md"),
            f"{document}: the program of {command}",
            text,
        )


def memory_of_big_numbers(folder: pathlib.Path, archive: pathlib.Path) -> None:
    """docs/guides/bignum.md says in a table how much memory a modulus needs with c_limb64, and how
    much is scratch.
    """
    rows = re.findall(
        r"^\| (\d+) bits \| ([\d,]+) \| ([\d,]+) \|$",
        (ROOT / "docs/guides/bignum.md").read_text(),
        re.M,
    )
    expect(len(rows) >= 3, "docs/guides/bignum.md has a table of memory", f"{rows}")
    source, program = folder / "memory.c", folder / "memory"
    source.write_text("""#include <stdio.h>
#include <stdlib.h>
#include <everycore/bn.h>
extern const struct evc_bn evc_bn_c_limb64;
int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        printf("%zu %zu\\n", evc_bn_modulus_bytes(&evc_bn_c_limb64, strtoul(argv[i], NULL, 10)),
               evc_bn_scratch_bytes(&evc_bn_c_limb64, strtoul(argv[i], NULL, 10)));
    return 0;
}
""")
    code, text = run(*COMPILER, *WARNINGS, "-Iinclude", source, archive, "-o", program)
    expect(code == 0, "a program that asks for the memory of big numbers links", text)
    if code == 0:
        _, text = run(program, *(bits for bits, _, _ in rows))
        shown_sizes = [f"{memory} {scratch}".replace(",", "") for _, memory, scratch in rows]
        expect(
            text.split("\n")[:-1] == shown_sizes,
            "docs/guides/bignum.md tells the memory of big numbers",
            text,
        )


def counted_costs() -> None:
    """docs/evidence/bignum.md counts the products of operations, and the instructions of them on a
    Cortex-M4: those of one product.
    """
    document = (ROOT / "docs/evidence/bignum.md").read_text()
    row = re.search(r"^\| Cortex-M4 \| `\w+` \| (.*) \|$", document, re.M)
    expect(row is not None, "docs/evidence/bignum.md has a table of products on a Cortex-M4")
    if row is None:
        return
    costs = [
        [int(cost.replace(",", "")) for cost in cell.split(", ")] for cell in row[1].split(" | ")
    ]
    of = dict(zip((1024, 1536, 2048, 3072, 4096), costs, strict=True))
    for bits in (2048, 3072, 4096):
        # These are the counts of tests/unit/test_rsa.c, with windows of 5 bits.
        windows = -(-(bits // 2 + 64) // 5)
        half, public = [2 * (16 + 15 + 5 * (windows - 1)), 2 * (7 + 17 + windows - 1) + 2], [16, 2]
        row_of_half = f"{bits // 2} bits: {half[0]:,}, {half[1]:,}; {bits} bits: 16, 4"
        expect(
            f"| RSA-{bits}, private | {row_of_half} |" in document,
            f"docs/evidence/bignum.md counts the products of RSA-{bits}",
            row_of_half,
        )
        private = (
            half[0] * of[bits // 2][0]
            + half[1] * of[bits // 2][1]
            + 16 * of[bits][0]
            + 4 * of[bits][1]
        )
        for name, count in (
            ("private", private),
            ("public", public[0] * of[bits][0] + public[1] * of[bits][1]),
        ):
            shown = f"{count / 1e6:.3g}"
            expect(
                f"| RSA-{bits}, {name} | {shown} M |" in document,
                f"docs/evidence/bignum.md counts the instructions of RSA-{bits}, {name}",
                shown,
            )


def bare_files_for_arm(folder: pathlib.Path, source: pathlib.Path) -> None:
    files = sorted(str(path) for path in (ROOT / "src").rglob("*.[cS]"))
    flags = ["-O1", "-std=gnu11", f"-I{ROOT}/include", f"-I{ROOT}/src", *files]
    absent = [name for name in ARM if not shutil.which(name)]  # most assembly is for it
    if absent:
        skipped.append(f"from bare files for Arm: no {', '.join(absent)}")
    else:
        build_and_run(
            "from bare files for Arm",
            folder,
            source,
            "-static",
            *flags,
            compiler=[ARM[0]],
            emulator=ARM[1:],
        )


def main() -> int:
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        source = folder / "example.c"
        source.write_text(examples("README.md")[0])
        prefix = folder / "prefix"
        commands_of_the_docs(folder, source, prefix)
        installed(folder, source, prefix)
        subproject(folder, source)
        bare_files_for_arm(folder, source)
        counted_costs()
        memory_of_big_numbers(folder, prefix / "lib/libeverycore.a")
        for document in EXAMPLES:
            for number, text in enumerate(examples(document), 1):
                source.write_text(text)
                code, output = run(
                    *COMPILER, *WARNINGS, "-Iinclude", "-c", source, "-o", os.devnull
                )
                expect(code == 0, f"example {number} of {document} compiles", output)
    for why in skipped:
        print(f"skipped: {why}")
    print(f"{len(passed)} passed, {len(failures)} failed, {len(skipped)} skipped")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
