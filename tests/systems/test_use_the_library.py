# SPDX-License-Identifier: MIT
"""The library works in every way that the docs name, with the example of the README.

Installed shared and static through pkg-config, as a Meson subproject, as bare files without a
build, from Python, Rust and Go, and with one kernel named so that only that one is linked. The C
examples of the pages in EXAMPLES must compile, and the tables of memory and of counted costs of big
numbers must hold. Every command that README.md and the pages on using the library show is executed,
but those of `everycore`, which lab/tests parses. The library is built with the kernels of FEW
alone; whether the others compile, tools/check-compile tells.
"""

import dataclasses
import os
import pathlib
import re
import shutil

import pytest
from few_kernels import keep_kernels
from processes import ROOT, ended, find, need, run
from reads import LIBRARY

pytestmark = pytest.mark.reads(
    *LIBRARY, "docs/", "README.md", "contrib/", "tools/", "tests/systems/few_kernels.py"
)
COMPILER = os.environ.get("CC", "cc").split()
WARNINGS = ["-std=c11", "-Wall", "-Wextra", "-Werror"]
ARM = ("aarch64-linux-gnu-gcc", "qemu-aarch64")
# References, kernels that the pages name, and some of x86-64 and Arm with assembly and without.
FEW = (
    "c_ref",
    "c_fixslice32",
    "c_limb64",
    "c_words64",
    "x86_aesni",
    "x86_clmul",
    "a64_ce_inorder",
    "a64_p8x8",
    "a64_umulh",
)
PAGES_WITH_COMMANDS = ("README.md", "docs/guides/using.md", "docs/guides/without-an-os.md")
EXAMPLES = (
    "docs/guides/using.md",
    "docs/guides/choosing-a-kernel.md",
    "docs/guides/emulators.md",
    "docs/guides/bignum.md",
    "docs/guides/rsa-and-dh.md",
    "docs/guides/gcm-siv.md",
    "docs/guides/hmac.md",
    "docs/guides/x25519.md",
    "docs/reference/cpu-timing.md",
)
BIGNUM = "docs/evidence/bignum.md"
KEY_FILES = "docs/guides/rsa-key-files.md"


def examples(document: str) -> list[str]:
    """Return the C blocks of a Markdown file, in order."""
    return re.findall(r"^```c\n(.*?)^```", (ROOT / document).read_text(), re.M | re.S)


def shown(document: str) -> list[str]:
    """Return the blocks of a Markdown file that are in no language: commands, and the lines of a
    meson.build.
    """
    text = re.sub(r"^```\w+\n.*?^```", "", (ROOT / document).read_text(), flags=re.M | re.S)
    return re.findall(r"^```\n(.*?)^```", text, re.M | re.S)


def shown_commands(document: str) -> list[str]:
    """Return each command of these blocks, and of the README's first table, on one line and without
    its comment.
    """
    blocks = "\n".join(block for block in shown(document) if not block.startswith("everycore = "))
    table = re.findall(r"^\| .* \|$", (ROOT / document).read_text().partition("\n## ")[0], re.M)
    inline = [text for text in re.findall(r"`([^`]*)`", "\n".join(table)) if " " in text]
    lines = [*blocks.replace("\\\n", " ").splitlines(), *inline]
    return [command for line in lines if (command := re.sub(r"\s+#.*", "", line).strip())]


def commands() -> dict[str, str]:
    """Return each command of the pages that is executed here, with the first page that has it."""
    found: dict[str, str] = {}
    for document in PAGES_WITH_COMMANDS:
        for command in shown_commands(document):
            if not command.split(maxsplit=1)[0].endswith("everycore"):
                found.setdefault(command, document)
    return found


def expected_output(document: str) -> str:
    """Return the output of the README's example, from the comment on its last line."""
    return str(re.findall(r"/\* prints (.*?) \*/", (ROOT / document).read_text())[0])


# ---- The commands of the docs --------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Executed:
    """The end of a command; `absent`: programs without which it was not executed."""

    code: int = 0
    text: str = ""
    program_output: str | None = None  # of the program that it made, if any
    absent: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Checkout:
    """A checkout in which all commands were executed in order."""

    tree: pathlib.Path
    prefix: pathlib.Path
    executed: dict[str, Executed]

    def environment(self) -> dict[str, str]:
        return {
            "PKG_CONFIG_PATH": str(self.prefix / "lib/pkgconfig"),
            "LD_LIBRARY_PATH": str(self.prefix / "lib"),
            "CFLAGS": "-O1 -g0",  # for Meson: other steps have its own options
        }

    def execute(self, command: str) -> Executed:
        """Execute a command, and the program that it makes, if any."""
        name = command.split(maxsplit=1)[0]
        if name.startswith("contrib/"):  # tests of its own patch trees of QEMU
            return Executed(0 if os.access(self.tree / name, os.X_OK) else 126)
        programs = [COMPILER[0] if name == "cc" else name, *re.findall(r"\$\(([\w-]+)", command)]
        if absent := [program for program in programs if not find(program)]:
            return Executed(absent=tuple(absent))
        if name == "make":  # what they do takes minutes, and one of them is this
            command = command.replace("make ", "make --dry-run ")
        line = re.sub(r"^cc ", " ".join(COMPILER) + " ", command)
        if "--prefix=/usr" in line:
            line = line.replace("--prefix=/usr", f"--prefix={self.prefix} --libdir=lib")
        else:  # not into this system
            line = line.replace("meson setup build", f"meson setup build --prefix={self.prefix}-2")
        made = [self.tree / made for made in ("program", "a.out")]
        for program in made:
            program.unlink(missing_ok=True)
        code, text = ended("sh", "-c", line, cwd=self.tree, environment=self.environment())
        if name != "cc":
            return Executed(code, text)
        found = next(filter(pathlib.Path.exists, made), None)
        if found is None:
            return Executed(code, text, "no program was made")
        ended_with, output = ended(found, environment=self.environment())
        return Executed(code or ended_with, f"{text}{output}", output)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """The README's example."""
    path = tmp_path_factory.mktemp("example") / "example.c"
    path.write_text(examples("README.md")[0])
    return path


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A folder that looks like a checkout, with few kernels."""
    tree = tmp_path_factory.mktemp("use") / "checkout"
    tree.mkdir()
    for path in ROOT.iterdir():
        if path.name not in ("build", ".git", ".venv", "src"):
            (tree / path.name).symlink_to(path)
    shutil.copytree(ROOT / "src", tree / "src")
    keep_kernels(tree, lambda stem: stem in FEW)
    return tree


@pytest.fixture(scope="module")
def checkout(tree: pathlib.Path, source: pathlib.Path) -> Checkout:
    made = Checkout(tree, tree.parent / "prefix", {})
    shutil.copy(source, tree / "program.c")
    for command in commands():
        made.executed[command] = made.execute(command)
    return made


@pytest.fixture(scope="module")
def prefix(checkout: Checkout) -> pathlib.Path:
    """The folder in which the commands of docs/guides/using.md have installed the library."""
    if not (checkout.prefix / "include").is_dir():
        absent = [name for executed in checkout.executed.values() for name in executed.absent]
        assert absent, "the commands of the docs installed nothing"
        need(*absent)
    return checkout.prefix


@pytest.mark.parametrize("document", PAGES_WITH_COMMANDS)
def test_the_page_shows_commands(document: str) -> None:
    assert shown_commands(document)


@pytest.mark.parametrize("command", commands())
def test_a_command_of_the_docs_works(command: str, checkout: Checkout) -> None:
    executed = checkout.executed[command]
    need(*executed.absent)
    assert executed.code == 0, f"{commands()[command]}: {command}\n{executed.text}"
    if executed.program_output is not None:
        assert executed.program_output.strip() == expected_output("README.md")


# ---- The installed library -----------------------------------------------------------------------


@pytest.fixture(scope="module")
def flags(prefix: pathlib.Path) -> list[str]:
    """The flags that pkg-config says to compile and link with."""
    need("pkg-config")
    path = {"PKG_CONFIG_PATH": str(prefix / "lib/pkgconfig")}
    return run(["pkg-config", "--cflags", "--libs", "everycore"], environment=path).split()


@pytest.fixture(scope="module")
def static_flags(flags: list[str], prefix: pathlib.Path) -> list[str]:
    return [
        *(flag for flag in flags if flag != "-leverycore"),
        str(prefix / "lib/libeverycore.a"),
    ]


def output_of_example(
    source: pathlib.Path,
    program: pathlib.Path,
    *flags: str,
    compiler: list[str] = COMPILER,
    emulator: tuple[str, ...] = (),
    environment: dict[str, str] | None = None,
) -> str:
    run([*compiler, *WARNINGS, source, *flags, "-o", program])
    return run([*emulator, program], environment=environment).strip()


def test_all_headers_are_installed(prefix: pathlib.Path) -> None:
    names = {path.name for path in (ROOT / "include/everycore").iterdir()}
    assert {path.name for path in (prefix / "include/everycore").iterdir()} == names


def test_the_example_works_with_the_installed_shared_library(
    source: pathlib.Path, flags: list[str], prefix: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    environment = {"LD_LIBRARY_PATH": str(prefix / "lib")}
    program = tmp_path / "example"
    output = output_of_example(source, program, *flags, environment=environment)
    assert output == expected_output("README.md")


def test_the_example_works_with_the_installed_static_library(
    source: pathlib.Path, static_flags: list[str], tmp_path: pathlib.Path
) -> None:
    output = output_of_example(source, tmp_path / "example", *static_flags)
    assert output == expected_output("README.md")


LANGUAGES = "docs/guides/other-languages.md"


@pytest.mark.parametrize(
    ("language", "program"), [("python", "python3"), ("rust", "rustc"), ("go", "go")]
)
def test_an_example_in_another_language_works_by_the_command_of_its_page(
    language: str, program: str, prefix: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    """It calls no function that is not exported, and a set_best function selects and sets a key."""
    need(program)
    text = (ROOT / LANGUAGES).read_text()
    code = re.findall(rf"^```{language}\n(.*?)^```", text, re.M | re.S)[0]
    command = next(line for line in shown_commands(LANGUAGES) if re.search(rf"\b{program} ", line))
    name = re.findall(r"\bseal\.\w+", command)[0]
    (tmp_path / name).write_text(code)
    line = command.replace("$HOME/everycore", str(prefix))
    said = run(["sh", "-c", line], cwd=tmp_path)
    assert said.strip() == re.findall(r"(?:#|//) prints (.*)", code)[0]
    assert said.split()[-1] == expected_output("README.md")


def test_keys_have_the_sizes_that_other_languages_are_told(tmp_path: pathlib.Path) -> None:
    sizes = re.findall(r"^  \| `(\w+ \w+)` \| (\d+) \|$", (ROOT / LANGUAGES).read_text(), re.M)
    assert len(sizes) == 6
    source = tmp_path / "sizes.c"
    source.write_text(
        "#include <everycore/gcm.h>\n#include <everycore/modes.h>\n"
        + "".join(f'_Static_assert(sizeof({key}) == {n}, "{key}");\n' for key, n in sizes)
    )
    run([*COMPILER, *WARNINGS, "-Iinclude", "-c", source, "-o", os.devnull])


def test_every_set_best_function_is_exported(prefix: pathlib.Path) -> None:
    headers = "".join(path.read_text() for path in (ROOT / "include/everycore").glob("*.h"))
    best = set(re.findall(r"\b(evc_\w*set_best\w*)\(", headers))
    symbols = run(["nm", "-D", prefix / "lib/libeverycore.so"])
    exported = set(re.findall(r" T (\w+)$", symbols, re.M))
    assert len(best) > 10
    assert best <= exported


def test_the_guide_signs_with_every_form_of_a_key_that_openssl_writes(
    prefix: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    """By the commands of the page, which make the key, sign with it and verify the signature."""
    need("openssl", "pkg-config")
    (tmp_path / "sign.c").write_text(examples(KEY_FILES)[0])
    environment = {
        "PKG_CONFIG_PATH": str(prefix / "lib/pkgconfig"),
        "LD_LIBRARY_PATH": str(prefix / "lib"),
    }
    output = ""
    for command in shown_commands(KEY_FILES):
        line = re.sub(r"^cc ", f"{' '.join([*COMPILER, *WARNINGS])} ", command)
        line = line.replace("3072", "2048")
        code, text = ended("sh", "-c", line, cwd=tmp_path, environment=environment)
        assert code == 0, f"{line}: {text}"
        output += text
    assert "Verified OK" in output
    for form in ("pkcs1.pem", "pkcs8.pem", "key.der"):
        line = f"./sign {form} < message | cmp - signature"
        code, text = ended("sh", "-c", line, cwd=tmp_path, environment=environment)
        assert code == 0, f"{line}: {text}"
    line = "./sign genrsa.pem < message | wc -c"
    assert ended("sh", "-c", line, cwd=tmp_path, environment=environment)[1].strip() == "256"


def test_pkg_config_and_header_name_one_version(flags: list[str], prefix: pathlib.Path) -> None:
    del flags
    path = {"PKG_CONFIG_PATH": str(prefix / "lib/pkgconfig")}
    version = run(["pkg-config", "--modversion", "everycore"], environment=path).strip()
    header = (ROOT / "include/everycore/everycore.h").read_text()
    assert f'EVC_VERSION "{version}"' in header


def test_a_program_that_names_one_kernel_holds_only_that_one(
    static_flags: list[str], tmp_path: pathlib.Path
) -> None:
    kernel, program = tmp_path / "one_kernel.c", tmp_path / "one_kernel"
    texts = examples("docs/guides/choosing-a-kernel.md")
    kernel.write_text(next(text for text in texts if "extern const struct evc_aes" in text))
    named = set(re.findall(r"extern const struct evc_aes evc_aes_(\w+);", kernel.read_text()))
    run([*COMPILER, *WARNINGS, "-static", kernel, *static_flags, "-o", program])
    linked = set(re.findall(r" [RrDdB] evc_aes_(\w+?)(?:_forward)?$", run(["nm", program]), re.M))
    assert len(named) == 1
    assert linked == named
    run([program])


def test_set_key_functions_link_no_registry(
    static_flags: list[str], tmp_path: pathlib.Path
) -> None:
    """Functions that select stand in files of their own, for the registry holds all kernels."""
    headers = "".join(path.read_text() for path in (ROOT / "include/everycore").glob("*.h"))
    names = sorted(set(re.findall(r"\bevc_\w+_set_(?!best)\w*(?=\()", headers)))
    assert len(names) > 20
    source, program = tmp_path / "keys.c", tmp_path / "keys"
    source.write_text(
        "#include <everycore/gcm.h>\n#include <everycore/modes.h>\n#include <everycore/pac.h>\n"
        "#include <everycore/rsa.h>\n#include <everycore/dh.h>\n"
        "#include <everycore/hmac.h>\n#include <everycore/gcm_siv.h>\n"
        "void (*const volatile functions[])(void) = {"
        + ", ".join(f"(void (*)(void)){name}" for name in names)
        + "};\n"
        "int main(void) { return functions[0] == 0; }\n"
    )
    run([*COMPILER, *WARNINGS, "-static", source, *static_flags, "-o", program])
    symbols = run(["nm", program])
    assert "evc_gcm_set_key" in symbols
    assert "evc_aes_select" not in symbols
    assert "evc_aes_c_ref" not in symbols


# ---- Other ways ----------------------------------------------------------------------------------


def test_the_example_works_in_a_parent_project(
    source: pathlib.Path, tree: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    """Also where this system has the library: the subproject is what is tried."""
    parent = tmp_path / "parent"
    (parent / "subprojects").mkdir(parents=True)
    (parent / "subprojects/everycore").symlink_to(tree)
    shutil.copy(source, parent / "program.c")
    (parent / "meson.build").write_text(
        "project('parent', 'c', meson_version: '>= 1.0')\n"
        + next(block for block in shown("docs/guides/using.md") if block.startswith("everycore = "))
    )
    options = ["--werror", "-Doptimization=1", "-Ddebug=false", "--wrap-mode=forcefallback"]
    run(["meson", "setup", *options, parent / "build", parent])
    run(["meson", "compile", "-C", parent / "build"])
    assert run([parent / "build/program"]).strip() == expected_output("README.md")


def test_the_example_works_from_bare_files_for_arm(
    source: pathlib.Path, tree: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    need(*ARM)
    files = sorted(str(path) for path in (tree / "src").rglob("*.[cS]"))
    flags = ["-static", "-O1", "-std=gnu11", f"-I{tree}/include", f"-I{tree}/src", *files]
    program = tmp_path / "example"
    output = output_of_example(source, program, *flags, compiler=[ARM[0]], emulator=ARM[1:])
    assert output == expected_output("README.md")


@pytest.mark.parametrize(
    ("document", "number"),
    [(document, number) for document in EXAMPLES for number in range(len(examples(document)))],
)
def test_an_example_compiles(document: str, number: int, tmp_path: pathlib.Path) -> None:
    source = tmp_path / "example.c"
    source.write_text(examples(document)[number])
    run([*COMPILER, *WARNINGS, "-Iinclude", "-c", source, "-o", os.devnull])


# ---- Tables --------------------------------------------------------------------------------------


def test_the_guide_tells_the_memory_of_big_numbers(
    prefix: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    """docs/guides/bignum.md says in a table how much memory a modulus needs with c_limb64, and how
    much is scratch.
    """
    rows = re.findall(
        r"^\| (\d+) bits \| ([\d,]+) \| ([\d,]+) \|$",
        (ROOT / "docs/guides/bignum.md").read_text(),
        re.M,
    )
    assert len(rows) >= 3
    source, program = tmp_path / "memory.c", tmp_path / "memory"
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
    library = prefix / "lib/libeverycore.a"
    run([*COMPILER, *WARNINGS, "-Iinclude", source, library, "-o", program])
    told = [f"{memory} {scratch}".replace(",", "") for _, memory, scratch in rows]
    assert run([program, *(bits for bits, _, _ in rows)]).splitlines() == told


def products(bits: int) -> tuple[list[int], list[int]]:
    """Return the squares and the other products of RSA: of half the length in a private operation,
    and of the whole length in a public one.

    These are the counts of tests/unit/test_rsa.c, with windows of 5 bits.
    """
    windows = -(-(bits // 2 + 64) // 5)
    return [2 * (16 + 15 + 5 * (windows - 1)), 2 * (7 + 17 + windows - 1) + 2], [16, 2]


@pytest.mark.parametrize("bits", [2048, 3072, 4096])
def test_the_evidence_counts_the_products_of_rsa(bits: int) -> None:
    half, _ = products(bits)
    row = f"{bits // 2} bits: {half[0]:,}, {half[1]:,}; {bits} bits: 16, 4"
    assert f"| RSA-{bits}, private | {row} |" in (ROOT / BIGNUM).read_text()


@pytest.mark.parametrize("bits", [2048, 3072, 4096])
def test_the_evidence_counts_the_instructions_of_rsa_on_a_cortex_m4(bits: int) -> None:
    """They are those of its products, of which another table has the instructions of one."""
    document = (ROOT / BIGNUM).read_text()
    row = re.search(r"^\| Cortex-M4 \| `\w+` \| (.*) \|$", document, re.M)
    assert row
    costs = [
        [int(cost.replace(",", "")) for cost in cell.split(", ")] for cell in row[1].split(" | ")
    ]
    cost_of = dict(zip((1024, 1536, 2048, 3072, 4096), costs, strict=True))
    half, public = products(bits)
    private_cost = (
        half[0] * cost_of[bits // 2][0]
        + half[1] * cost_of[bits // 2][1]
        + 16 * cost_of[bits][0]
        + 4 * cost_of[bits][1]
    )
    public_cost = public[0] * cost_of[bits][0] + public[1] * cost_of[bits][1]
    for name, cost in (("private", private_cost), ("public", public_cost)):
        assert f"| RSA-{bits}, {name} | {cost / 1e6:.3g} M |" in document
