# SPDX-License-Identifier: MIT
"""everycore canary check: binaries of real compilers, and faults that are planted in assembly."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from compiled import CLANG, GCC
from library_reads import reads_no_kernel
from world import Lab, objects

pytestmark = reads_no_kernel

pytest.importorskip("capstone", reason="no capstone: extra 'firmware'")
pytest.importorskip("elftools", reason="no pyelftools: extra 'firmware'")

TWO_THREADS = Path(__file__).parents[3] / "tests/systems/firmware/two_threads.c"
MACHINES = {"x86-64": "x86-64", "a64": "aarch64", "a32": "arm", "rv64": "riscv64"}
STRONG = ("-O2", "-g", "-fstack-protector-strong")
SYSREG = (
    "-mstack-protector-guard=sysreg", "-mstack-protector-guard-reg=tpidr_el0",
    "-mstack-protector-guard-offset=16",
)  # fmt: skip
SOURCE = """
extern void use(char *);
int no_array(int x) { return x * 3; }
int copies(const char *s, int n) { char b[40]; for (int i = 0; i < n; i++) b[i] = s[i];
    use(b); return b[3]; }
int leaves_early(const char *s, int n) { if (!n) return 0; char b[40];
    for (int i = 0; i < n; i++) { b[i] = s[i]; use(b + i); } return b[n]; }
"""
MAIN = """
extern int copies(const char *, int), leaves_early(const char *, int);
void use(char *p) { *p = 1; }
int main(int c, char **v) { return copies(v[0], c) + leaves_early(v[0], c); }
"""
MINGW = "x86_64-w64-mingw32-gcc"
PROGRAM = {"c_unit": SOURCE, "c_main": MAIN}
COMPILERS = [
    *((MACHINES[machine], (GCC[machine],), level) for machine in MACHINES for level in "02"),
    *(
        (MACHINES[machine], ("clang", f"--target={CLANG[machine]}"), level)
        for machine in MACHINES
        for level in "02"
    ),
]


def build(folder: Path, *command: str, name: str = "program", **sources: str) -> Path:
    """Compile sources (c_NAME, s_NAME) with a command; a visible skip without the compiler."""
    if not shutil.which(command[0]):
        pytest.skip(f"no {command[0]}")
    files = []
    for key, text in sources.items():
        kind, _, stem = key.partition("_")
        files.append(folder / f"{stem}.{kind}")
        files[-1].write_text(text)
    words = [*command, *map(str, files), "-o", str(folder / name)]
    done = subprocess.run(words, check=False, capture_output=True, text=True)
    if "No available targets" in done.stderr:
        pytest.skip(f"{command[0]} has no such target")
    assert done.returncode == 0, done.stderr
    return folder / name


def of_kind(text: str, kind: str) -> list[dict[str, Any]]:
    return [row for row in objects(text) if row["type"] == kind]


def rules(text: str) -> dict[str, set[str]]:
    """The functions of each rule."""
    found: dict[str, set[str]] = {}
    for finding in of_kind(text, "finding"):
        found.setdefault(finding["rule"], set()).add(finding["function"])
    return found


# ---- What compilers emit


@pytest.mark.parametrize(("machine", "compiler", "level"), COMPILERS)
def test_the_canaries_of_compilers_are_found_and_have_no_fault(
    system: Lab, tmp_path: Path, machine: str, compiler: tuple[str, ...], level: str
) -> None:
    path = build(tmp_path, *compiler, *STRONG, f"-O{level}", "-c", name="unit.o", c_unit=SOURCE)
    done = system("canary", "check", str(path), "--json")
    assert (done.code, done.err) == (0, done.err)
    (about,) = of_kind(done.out, "binary")
    assert about["machine"] == machine
    guard = "fs+40" if machine == "x86-64" else "the variable __stack_chk_guard"
    assert about["guards"] == {guard: 2}
    assert {function["function"] for function in of_kind(done.out, "function")} == {
        "copies",
        "leaves_early",
    }
    assert not rules(done.out)


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("link", [(), ("-static",)])
def test_linked_programs_have_the_same_canaries(
    system: Lab, tmp_path: Path, machine: str, link: tuple[str, ...]
) -> None:
    path = build(tmp_path, GCC[machine], *STRONG, *link, **PROGRAM)
    done = system("canary", "check", str(path), "--json")
    # A C library for AArch64 may be built by a GCC whose canaries do not protect alloca().
    found = rules(done.out)
    old = found.pop("canary-above-return", set()) if machine == "a64" and link else set()
    assert (found, done.code) == ({}, int(bool(old))), done.out
    assert not {"copies", "leaves_early"} & old
    (about,) = of_kind(done.out, "binary")
    names = {function["function"] for function in of_kind(done.out, "function")}
    assert {"copies", "leaves_early"} <= names
    assert not {"no_array", "main"} & names
    assert len(about["guards"]) == 1
    assert about["protected"] == (2 if not link else about["protected"])
    assert about["protected"] >= (2 if not link else 100)  # the C library is in it


@pytest.mark.parametrize(
    ("machine", "options", "guard"),
    [
        ("x86-64", ("-mstack-protector-guard=global",), "the variable __stack_chk_guard"),
        ("x86-64", ("-mstack-protector-guard=global", "-fPIC"), "the variable __stack_chk_guard"),
        (
            "x86-64",
            (
                "-mcmodel=kernel", "-fno-pie", "-mstack-protector-guard-reg=gs",
                "-mstack-protector-guard-symbol=__ref_guard",
            ),
            "gs:__ref_guard",
        ),
        ("a64", SYSREG, "tpidr_el0+16"),
        ("a64", (*SYSREG[:1], "-mstack-protector-guard-reg=sp_el0",
                 "-mstack-protector-guard-offset=70000"), "sp_el0+70000"),
        ("a32", ("-mstack-protector-guard=tls", "-mtp=cp15", "-mstack-protector-guard-offset=8"),
         "tpidruro+8"),
        ("a32", ("-marm", "-fPIC"), "the variable __stack_chk_guard"),
        ("rv64", ("-mstack-protector-guard=tls", "-mstack-protector-guard-reg=tp",
                  "-mstack-protector-guard-offset=-8"), "tp-8"),
    ],
)  # fmt: skip
def test_the_source_of_the_guard_is_named(
    system: Lab, tmp_path: Path, machine: str, options: tuple[str, ...], guard: str
) -> None:
    path = build(tmp_path, GCC[machine], *STRONG, *options, "-c", name="unit.o", c_unit=SOURCE)
    done = system("canary", "check", str(path), "--json")
    assert done.code == 0
    assert of_kind(done.out, "binary")[0]["guards"] == {guard: 2}
    wanted = "global" if "variable" in guard else "per-task"
    other = "per-task" if wanted == "global" else "global"
    assert system("canary", "check", str(path), "--policy", wanted).code == 0
    done = system("canary", "check", str(path), "--policy", other, "--json")
    assert done.code == 1
    assert rules(done.out)["policy-source"] == {"copies", "leaves_early"}


def test_a_stripped_program_is_read_by_its_unwind_tables(system: Lab, tmp_path: Path) -> None:
    path = build(tmp_path, "gcc", *STRONG, "-s", **PROGRAM)
    done = system("canary", "check", str(path), "--json")
    (about,) = of_kind(done.out, "binary")
    assert about["protected"] == 2
    assert any("no symbol table" in note for note in about["not_checked"])


def test_canaries_of_rust_are_found(system: Lab, tmp_path: Path) -> None:
    if not shutil.which("rustc"):
        pytest.skip("no rustc")
    source = tmp_path / "unit.rs"
    source.write_text(
        '#![no_std]\nextern "C" { fn use_it(p: *mut u8); }\n'
        '#[no_mangle] pub extern "C" fn fills(n: usize) -> u8 {\n'
        "  let mut b = [0u8; 64]; unsafe { use_it(b.as_mut_ptr()); } b[n & 63] }\n"
    )
    command = ["rustc", "-Zstack-protector=all", "-O", "--crate-type=lib", "--emit=obj"]
    path = tmp_path / "unit.o"
    environment = {**os.environ, "RUSTC_BOOTSTRAP": "1"}  # the option is unstable
    done = subprocess.run(
        [*command, str(source), "-o", str(path)],
        check=False, capture_output=True, text=True, env=environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    answer = system("canary", "check", str(path), "--policy", "per-task", "--json")
    assert answer.code == 0, answer.out
    assert "fills" in {function["function"] for function in of_kind(answer.out, "function")}


# ---- Per-task guards, and the trap of a static link

THREADS = """
#include <stdint.h>
__thread uint64_t guard __attribute__((used));
__attribute__((noinline)) int copies(const char *s, int n) {
    char b[16]; for (int i = 0; i < n; i++) b[i] = s[i];
    __asm__ volatile("" :: "r"(b) : "memory"); return b[0]; }
__attribute__((optimize("no-stack-protector"))) int main(int c, char **v) {
    guard = 0x1234567; return copies(v[0], c); }
"""


def test_the_offset_of_a_thread_local_guard_is_compared(system: Lab, tmp_path: Path) -> None:
    path = build(tmp_path, GCC["a64"], *STRONG, *SYSREG, c_unit=THREADS)
    words = ("canary", "check", str(path), "--policy", "per-task", "--symbol", "guard")
    done = system(*words)
    assert done.code == 0
    assert "tpidr_el0+16 (thread-local variable 'guard')" in done.out
    done = system(*words, "--offset", "24", "--json")
    assert (done.code, rules(done.out)) == (1, {"policy-source": {"copies"}})
    done = system("canary", "check", str(path))
    assert done.code == 0
    assert "[guard-variable]" in done.out


@pytest.mark.parametrize(
    ("options", "code", "end"),
    [
        (("-DPER_TASK=0",), 0, "the overflow was not noticed"),
        (("-DPER_TASK=1", *SYSREG), -signal.SIGABRT, "stack smashing detected"),
    ],
)
def test_a_canary_that_another_thread_leaked_helps_only_where_all_threads_have_the_same(
    system: Lab, tmp_path: Path, options: tuple[str, ...], code: int, end: str
) -> None:
    flags = ("-O2", "-fstack-protector-all", *options)
    path = build(tmp_path, GCC["a64"], *flags, c_two_threads=TWO_THREADS.read_text())
    if not shutil.which("qemu-aarch64"):
        pytest.skip("no qemu-aarch64")
    emulator = ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu", str(path)]
    done = subprocess.run(emulator, check=False, capture_output=True, text=True)
    assert done.returncode == code, done.stdout + done.stderr
    assert end in done.stdout + done.stderr
    leaked, own = re.findall(r"canary ([0-9a-f]{16})", done.stdout)
    assert (leaked == own) == (code == 0)
    words = ("canary", "check", str(path), "--policy", "per-task", "--arrays", "none")
    assert system(*words, *(("--symbol", "guard") if code else ())).code == int(not code)


def test_a_static_link_that_moves_the_guard_is_found(system: Lab, tmp_path: Path) -> None:
    path = build(tmp_path, GCC["a64"], *STRONG, *SYSREG, "-static", c_unit=THREADS)
    words = ("canary", "check", str(path), "--policy", "per-task", "--symbol", "guard")
    done = system(*words, "--json")
    assert done.code == 1
    found = rules(done.out)
    assert found["guard-offset"] == {"copies"}
    offset = next(
        finding for finding in of_kind(done.out, "finding") if finding["rule"] == "guard-offset"
    )
    symbols = subprocess.run(
        [GCC["a64"].replace("gcc", "nm"), str(path)], check=True, capture_output=True, text=True
    ).stdout
    place = next(line for line in symbols.splitlines() if line.endswith(" guard"))
    assert f"'guard' is at offset {int(place.split()[0], 16) + 16}" in offset["text"]
    assert len(found["policy-source"]) > 100  # the C library has the global guard
    assert found["guard-mixed"] == {""}


# ---- Planted faults

A64 = """
    .text
    .macro function name
    .globl \\name
    .type \\name, %function
\\name:
    stp x29, x30, [sp, #-48]!
    .endm
    .macro guard register
    adrp \\register, :got:__stack_chk_guard
    ldr \\register, [\\register, :got_lo12:__stack_chk_guard]
    .endm
    .macro store
    guard x8
    ldr x8, [x8]
    str x8, [sp, #40]
    .endm
    .macro check
    guard x8
    ldr x8, [x8]
    ldr x9, [sp, #40]
    cmp x8, x9
    b.ne 9f
    .endm
    .macro leave name
    ldp x29, x30, [sp], #48
    ret
9:  bl __stack_chk_fail
    .size \\name, . - \\name
    .endm
function good
    store
    check
    leave good
function returns_early
    store
    cbz x0, 1f
    check
1:  leave returns_early
function never_stores
    check
    leave never_stores
function stores_the_address
    guard x8
    str x8, [sp, #40]
    guard x8
    ldr x9, [sp, #40]
    cmp x8, x9
    b.ne 9f
    leave stores_the_address
function jumps_away
    store
    cbz x0, good
    check
    leave jumps_away
function moved_for_an_erratum
    guard x8
    b 4f
1:  str x8, [sp, #40]
    check
    leave moved_for_an_erratum
4:  ldr x8, [x8]
    b 1b
function compares_another
    store
    mrs x8, tpidr_el0
    ldr x8, [x8, #16]
    ldr x9, [sp, #40]
    cmp x8, x9
    b.ne 9f
    leave compares_another
"""
X86 = """
    .text
    .macro leave name
    add $24, %rsp
    ret
9:  call __stack_chk_fail@PLT
    .size \\name, . - \\name
    .endm
    .macro function name
    .globl \\name
    .type \\name, @function
\\name:
    sub $24, %rsp
    .endm
    .macro store
    mov %fs:0x28, %rax
    mov %rax, 8(%rsp)
    .endm
    .macro check
    mov 8(%rsp), %rax
    sub %fs:0x28, %rax
    jne 9f
    .endm
function good
    store
    check
    leave good
function returns_early
    store
    test %edi, %edi
    je 1f
    check
1:  leave returns_early
function never_stores
    check
    leave never_stores
function stores_the_address
    mov __stack_chk_guard@GOTPCREL(%rip), %rax
    mov %rax, 8(%rsp)
    mov __stack_chk_guard@GOTPCREL(%rip), %rax
    cmp 8(%rsp), %rax
    jne 9f
    leave stores_the_address
function jumps_away
    store
    test %edi, %edi
    je good
    check
    leave jumps_away
function compares_another
    store
    mov __stack_chk_guard@GOTPCREL(%rip), %rax
    mov (%rax), %rax
    cmp 8(%rsp), %rax
    jne 9f
    leave compares_another
"""
FAILURE = "void __stack_chk_fail(void) { for (;;) ; } long __stack_chk_guard; "
FAULTS = {
    "check-missing": {"returns_early", "jumps_away"},
    "set-missing": {"never_stores"},
    "guard-address": {"stores_the_address"},
    "check-other-guard": {"compares_another"},
    "guard-mixed": {""},
}


@pytest.mark.parametrize("is_linked", [False, True])
@pytest.mark.parametrize(("machine", "text"), [("a64", A64), ("x86-64", X86)])
def test_planted_faults_are_found_and_nothing_else(
    system: Lab, tmp_path: Path, machine: str, text: str, is_linked: bool
) -> None:
    if is_linked:
        extra = {"c_main": f"{FAILURE} int main(void) {{ return 0; }}"}
        path = build(tmp_path, GCC[machine], "-fno-stack-protector", s_unit=text, **extra)
    else:
        path = build(tmp_path, GCC[machine], "-c", name="unit.o", s_unit=text)
    done = system("canary", "check", str(path), "--json")
    assert done.code == 1
    expected = dict(FAULTS)
    if machine == "a64" and is_linked:  # the program has no thread-local variables
        expected["guard-not-a-variable"] = {"compares_another"}
    assert rules(done.out) == expected
    names = {function["function"] for function in of_kind(done.out, "function")}
    assert set().union(*FAULTS.values()) - {""} < names
    assert ("moved_for_an_erratum" in names) == (machine == "a64")  # by a linker: errata of Arm


def test_an_object_without_protector_is_found_by_its_arrays(system: Lab, tmp_path: Path) -> None:
    none = build(tmp_path, "gcc", *STRONG, "-fno-stack-protector", "-c", name="a.o", c_unit=SOURCE)
    text = MAIN.replace(
        "int main", "int fills(int n) { char b[9]; use(b); return b[n]; }\nint main"
    )
    path = build(tmp_path, "gcc", *STRONG, str(none), c_main=text)
    done = system("canary", "check", str(path), "--json")
    assert done.code == 1
    assert rules(done.out) == {"array-unprotected": {"copies", "leaves_early"}}
    words = ("canary", "check", str(path), "--allow", "copies", "--allow", "leaves_early")
    assert system(*words).code == 0
    assert system("canary", "check", str(path), "--arrays", "none").code == 0


def test_only_long_arrays_of_characters_count_as_gcc_has_it(system: Lab, tmp_path: Path) -> None:
    text = """
    void use(void *);
    int numbers(int n) { int b[9]; use(b); return b[n]; }
    int few(int n) { char b[4]; use(b); return b[n]; }
    int many(int n) { struct { int a; const char b[12]; } s; use(&s); return s.b[n]; }
    void use(void *p) { *(char *)p = 0; }
    int main(int c, char **v) { return numbers(c) + few(c) + many(c); }
    """
    path = build(tmp_path, "gcc", "-O1", "-g", "-fno-inline", "-fno-stack-protector", c_unit=text)
    every = {"numbers", "few", "many"}
    done = system("canary", "check", str(path), "--json")
    assert rules(done.out) == {"array-unprotected": every}
    done = system("canary", "check", str(path), "--arrays", "char", "--json")
    assert rules(done.out) == {"array-unprotected": {"many"}}
    path = build(tmp_path, "gcc", "-O1", "-g", "-fno-inline", "-fstack-protector", c_unit=text)
    assert system("canary", "check", str(path), "--arrays", "char").code == 0


@pytest.mark.parametrize(("compiler", "is_left"), [("gcc", False), ("clang", True)])
def test_a_guard_that_is_left_in_a_register_is_found(
    system: Lab, tmp_path: Path, compiler: str, is_left: bool
) -> None:
    pytest.importorskip("unicorn", reason="no unicorn: extra 'firmware'")
    path = build(tmp_path, compiler, *STRONG, **PROGRAM)
    done = system("canary", "check", "--residue", str(path), "--json")
    notes = of_kind(done.out, "binary")[0]["not_checked"]
    assert "registers at return: 2 of 2 functions could be run" in notes
    expected = {"residue": {"copies", "leaves_early"}} if is_left else {}
    assert (done.code, rules(done.out)) == (int(is_left), expected)


# ---- PE images

WINDOWS = """
unsigned long long __security_cookie = 0x2B992DDFA232ULL;
void __security_check_cookie(unsigned long long c) { while (c != __security_cookie) ; }
"""


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_pe_images_have_names_by_their_map(system: Lab, tmp_path: Path, machine: str) -> None:
    for tool in ("clang", "lld-link"):
        if not shutil.which(tool):
            pytest.skip(f"no {tool}")
    source = tmp_path / "unit.c"
    entry = "int efi_main(char *s, int n) { return copies(s, n) + leaves_early(s, n); }"
    source.write_text(f"{SOURCE}{entry}\nvoid use(char *p) {{ *p = 1; }}{WINDOWS}")
    unit, image, names = (tmp_path / f"unit.{kind}" for kind in ("obj", "efi", "map"))
    target = f"--target={machine}-unknown-windows"
    flags = ("-O2", "-ffreestanding", "-fno-builtin", "-fstack-protector-strong")
    inline = "-fno-inline-functions"
    subprocess.run(["clang", target, *flags, inline, "-c", source, "-o", unit], check=True)
    link = ("/subsystem:efi_application", "/entry:efi_main", "/nodefaultlib", "/dll", "/nologo")
    subprocess.run(["lld-link", *link, f"/map:{names}", f"/out:{image}", unit], check=True)
    done = system("canary", "check", str(image), "--map", str(names), "--json")
    assert done.code == 0, done.out
    assert of_kind(done.out, "binary")[0]["guards"] == {"the variable __security_cookie": 2}
    done = system("canary", "check", str(image), "--map", str(names), "--policy", "per-task")
    assert done.code == 1
    assert "give the linker's map" in system("canary", "check", str(image)).err


def test_mingw_programs_have_names_themselves(system: Lab, tmp_path: Path) -> None:
    path = build(tmp_path, MINGW, *STRONG, name="program.exe", **PROGRAM)
    done = system("canary", "check", str(path), "--json")
    assert done.code == 0, done.out
    assert {"copies", "leaves_early"} <= {
        function["function"] for function in of_kind(done.out, "function")
    }


# ---- Memory of variable length, and the place of the canary: CVE-2023-4039

VARIABLE = """
extern int atoi(const char *);
static char *volatile last;
__attribute__((noinline)) void use(char *p, int n) { for (int i = 0; i < n; i++) p[i] = 'A';
    last = p; }
__attribute__((noinline)) int array(int n, int m) { char b[n]; use(b, m); return b[0] + last[1]; }
__attribute__((noinline)) int allocated(int n, int m) { char *b = __builtin_alloca(n); use(b, m);
    return b[0] + last[1]; }
__attribute__((noinline)) int constant(int m) { char *b = __builtin_alloca(16); use(b, m);
    return b[0] + last[1]; }
__attribute__((noinline)) int fixed(int m) { char b[16]; use(b, m); return b[0] + last[1]; }
__attribute__((noinline)) int large(int m) { char b[70000]; use(b, m); return b[0] + last[1]; }
int main(int c, char **v) { int n = atoi(v[2]); switch (v[1][0]) {
    case 'a': return array(16, n) == 0;
    case 'l': return allocated(16, n) == 0;
    case 'c': return constant(n) == 0;
    case 'g': return large(8) == 0;
    default: return fixed(n) == 0; } }
"""
VARIABLE_FUNCTIONS = {"a": "array", "l": "allocated", "c": "constant", "f": "fixed"}


@pytest.mark.parametrize("level", ["-O1", "-O2", "-O2 -fstack-clash-protection"])
@pytest.mark.parametrize("compiler", [GCC["a64"], "clang"])
def test_an_overflow_that_passes_the_canary_is_found_where_it_happens(
    system: Lab, tmp_path: Path, compiler: str, level: str
) -> None:
    target = (f"--target={CLANG['a64']}",) if compiler == "clang" else ()
    flags = (*target, "-fstack-protector-strong", *level.split())
    if compiler == "clang":  # its own linker finds the C library of the cross compiler
        unit = build(tmp_path, compiler, *flags, "-c", name="unit.o", c_unit=VARIABLE)
        path = build(tmp_path, GCC["a64"], str(unit))
    else:
        path = build(tmp_path, compiler, *flags, c_unit=VARIABLE)
    if not shutil.which("qemu-aarch64"):
        pytest.skip("no qemu-aarch64")
    unnoticed = set()
    for letter, name in VARIABLE_FUNCTIONS.items():
        words = ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu", str(path), letter]
        assert subprocess.run([*words, "8"], check=False, capture_output=True).returncode == 0
        done = subprocess.run([*words, "40"], check=False, capture_output=True, text=True)
        assert done.returncode < 0, (name, done)  # it returned to an address of A's, or not at all
        if "stack smashing detected" not in done.stderr:
            unnoticed.add(name)
    assert "fixed" not in unnoticed
    checked = system("canary", "check", str(path), "--arrays", "none", "--json")
    assert rules(checked.out) == ({"canary-above-return": unnoticed} if unnoticed else {})
    assert checked.code == int(bool(unnoticed))
    if unnoticed:
        shown = system("canary", "check", str(path), "--arrays", "none").out
        assert "CVE-2023-4039" in shown
        assert "13.3" in shown


PLACES = """
    .text
    .macro function name
    .globl \\name
    .type \\name, %function
\\name:
    .endm
    .macro guard register
    adrp \\register, :got:__stack_chk_guard
    ldr \\register, [\\register, :got_lo12:__stack_chk_guard]
    ldr \\register, [\\register]
    .endm
    .macro store place:vararg
    guard x8
    str x8, \\place
    .endm
    .macro leave name, place:vararg
    guard x8
    ldr x9, \\place
    cmp x8, x9
    b.ne 9f
    mov sp, x29
    ldp x29, x30, [sp], #48
    ret
9:  bl __stack_chk_fail
    .size \\name, . - \\name
    .endm
    .macro frame
    stp x29, x30, [sp, #-48]!
    mov x29, sp
    .endm
function old_array
    frame
    store [x29, #40]
    sub sp, sp, x0
    mov x0, sp
    bl use
    leave old_array, [x29, #40]
function old_constant
    frame
    sub sp, sp, #112
    store [x29, #40]
    add x0, sp, #16
    bl use
    leave old_constant, [x29, #40]
function old_probed
    frame
    store [x29, #40]
    and x4, x0, #0xffffffffffff0000
    sub x4, sp, x4
1:  cmp sp, x4
    b.eq 2f
    sub sp, sp, #0x10, lsl #12
    str xzr, [sp, #1024]
    b 1b
2:  and x1, x0, #0xffff
    sub sp, sp, x1
    mov x0, sp
    bl use
    leave old_probed, [x29, #40]
function old_through_a_register
    frame
    store [x29, #40]
    mov x8, sp
    sub x20, x8, x9
    mov sp, x20
    mov x0, x20
    bl use
    leave old_through_a_register, [x29, #40]
function old_far
    sub sp, sp, #0x11, lsl #12
    stp x29, x30, [sp]
    mov x29, sp
    add x3, x29, #0x10, lsl #12
    store [x3, #2040]
    sub sp, sp, x0
    mov x0, sp
    bl use
    add x3, x29, #0x10, lsl #12
    leave old_far, [x3, #2040]
function old_behind_a_branch
    frame
    store [x29, #40]
    cbz x0, 3f
    guard x8
    ldr x9, [x29, #40]
    cmp x8, x9
    b.ne 9f
    ldp x29, x30, [sp], #48
    ret
3:  sub sp, sp, x1
    mov x0, sp
    bl use
    leave old_behind_a_branch, [x29, #40]
function old_in_a_loop
    frame
    store [x29, #40]
    b 2f
1:  cmp w19, #99
    b.gt 3f
    mov sp, x20
2:  mov x20, sp
    sub sp, sp, x21
    mov x0, sp
    bl use
    cbz x0, 1b
3:  mov sp, x20
    leave old_in_a_loop, [x29, #40]
function without_array
    frame
    store [x29, #40]
    add x0, sp, #16
    bl use
    leave without_array, [x29, #40]
function arguments_on_the_stack
    frame
    sub sp, sp, #32
    store [x29, #40]
    str w0, [sp]
    str w1, [sp, #8]
    add x7, x29, #16
    bl use
    leave arguments_on_the_stack, [x29, #40]
function large_frame
    mov x12, #0x13b0
    sub sp, sp, x12
    stp x29, x30, [sp]
    mov x29, sp
    store [sp, #5016]
    add x0, sp, #16
    bl use
    leave large_frame, [sp, #5016]
function large_frame_probed
    sub x9, sp, #0x30, lsl #12
1:  sub sp, sp, #0x10, lsl #12
    str xzr, [sp, #1024]
    cmp sp, x9
    b.ne 1b
    sub sp, sp, #64
    stp x29, x30, [sp]
    mov x29, sp
    store [sp, #5016]
    add x0, sp, #16
    bl use
    leave large_frame_probed, [sp, #5016]
function far
    sub sp, sp, #0x11, lsl #12
    stp x29, x30, [sp]
    mov x29, sp
    add x3, x29, #0x10, lsl #12
    store [x3, #2040]
    add x0, x29, #16
    bl use
    add x3, x29, #0x10, lsl #12
    leave far, [x3, #2040]
function new_array
    frame
    sub sp, sp, #16
    store [x29, #-8]
    sub sp, sp, x0
    mov x0, sp
    bl use
    leave new_array, [x29, #-8]
function new_constant
    frame
    sub sp, sp, #128
    store [x29, #-8]
    mov x0, sp
    bl use
    leave new_constant, [x29, #-8]
"""


@pytest.mark.parametrize("is_linked", [False, True])
def test_canaries_above_the_return_address_are_told_apart_by_the_code(
    system: Lab, tmp_path: Path, is_linked: bool
) -> None:
    if is_linked:
        main = f"void use(void *p) {{ }} {FAILURE} int main(void) {{ return 0; }}"
        path = build(tmp_path, GCC["a64"], "-fno-stack-protector", s_unit=PLACES, c_main=main)
    else:
        path = build(tmp_path, GCC["a64"], "-c", name="unit.o", s_unit=PLACES)
    done = system("canary", "check", str(path), "--json")
    names = {function["function"] for function in of_kind(done.out, "function")}
    assert len(names) == 14
    assert rules(done.out) == {"canary-above-return": {n for n in names if n.startswith("old_")}}
    allowed = [word for name in names for word in ("--allow", name)]
    assert system("canary", "check", str(path), *allowed).code == 0


# ---- Nothing was looked at


def refusal(system: Lab, path: Path, *options: str) -> str:
    """The message about a file that is not looked at; no answer is printed."""
    done = system("canary", "check", str(path), *options)
    assert (done.code, done.out) == (2, ""), done.out
    return done.err


BARE = ("-nostdlib", "-static", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables")
START = """void use(char *p) { *p = 1; } void __stack_chk_fail(void) { } long __stack_chk_guard;
int fills(int n) { char b[40]; use(b); return b[n]; } void _start(void) { fills(0); }"""


@pytest.mark.parametrize("machine", MACHINES)
def test_a_program_without_symbols_and_unwind_tables_is_not_looked_at(
    system: Lab, tmp_path: Path, machine: str
) -> None:
    path = build(tmp_path, GCC[machine], *STRONG[:1], STRONG[2], *BARE, "-s", c_unit=START)
    if machine != "a32":  # whose ABI has unwind tables of its own
        assert "not looked at: no functions found in " in refusal(system, path)
    whole = bytearray(path.read_bytes())
    is_64 = whole[4] == 2
    begin, count = (0x28, 0x3C) if is_64 else (0x20, 0x30)
    whole[begin : begin + (8 if is_64 else 4)] = bytes(8 if is_64 else 4)  # no sections
    whole[count : count + 4] = bytes(4)
    path.write_bytes(whole)
    assert "not looked at: no functions found in " in refusal(system, path)


ASSEMBLY = ".globl f\nf: nop\n ret\n"


@pytest.mark.parametrize(
    ("command", "sources", "words"),
    [
        *(
            (
                (GCC[machine_name], *STRONG, "-static", "-s"),
                PROGRAM,
                "check the file before it is stripped",
            )
            for machine_name in ("a64", "a32", "rv64")
        ),
        (("gcc", "-c"), {"s_unit": ASSEMBLY}, "functions in assembly need .type and .size"),
        ((MINGW, *STRONG, "-s"), PROGRAM, "give the linker's map: --map"),
    ],
)
def test_a_program_that_names_neither_functions_nor_guards_is_not_looked_at(
    system: Lab, tmp_path: Path, command: tuple[str, ...], sources: dict[str, str], words: str
) -> None:
    message = refusal(system, build(tmp_path, *command, name="program.exe", **sources))
    assert "not looked at: " in message
    assert words in message


def test_an_archive_is_refused_with_what_to_do(system: Lab, tmp_path: Path) -> None:
    (tmp_path / "lib.a").write_bytes(b"!<arch>\n")
    assert "an archive of objects\nunpack it" in refusal(system, tmp_path / "lib.a")


def test_an_object_of_data_has_nothing_to_look_at(system: Lab, tmp_path: Path) -> None:
    path = build(tmp_path, "gcc", "-c", name="unit.o", c_unit="const int table[9] = {1};")
    done = system("canary", "check", str(path))
    assert done.code == 0
    assert "there is no code in it: nothing to check" in done.err


@pytest.mark.parametrize("options", [(), ("-s",)])
def test_a_library_that_needs_no_canary_is_looked_at_and_clean(
    system: Lab, tmp_path: Path, options: tuple[str, ...]
) -> None:
    text = "int twice(int x) { return 2 * x; } int thrice(int x) { return 3 * x; }"
    path = build(tmp_path, "gcc", *STRONG, "-shared", "-fPIC", *options, c_unit=text)
    done = system("canary", "check", str(path), "--json")
    assert (done.code, rules(done.out)) == (0, {})
    (about,) = of_kind(done.out, "binary")
    assert about["functions"] >= 2
    assert about["protected"] == 0
    assert about["instructions"] > 0
    assert not any("no code" in note for note in about["not_checked"])


def test_code_that_belongs_to_no_function_is_told(system: Lab, tmp_path: Path) -> None:
    text = ".globl f\n.type f,@function\nf: ret\n.size f,.-f\n.fill 9000, 1, 0x90\n"
    path = build(tmp_path, "gcc", "-c", name="unit.o", s_unit=text)
    done = system("canary", "check", str(path))
    assert "9000 of 9001 bytes of code belong to no known function" in done.err


# ---- Wrong input and outputs


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "neither ELF nor PE: it begins with nothing"),
        (b"\x7fELF", "the ELF file is damaged"),
        (b"\x7fELF" + bytes(60), "the ELF file is damaged"),
        (b"M", "neither ELF nor PE"),
        (b"#!/bin/sh\n", "neither ELF nor PE"),
    ],
)
def test_files_that_are_no_binaries_are_refused(
    system: Lab, tmp_path: Path, data: bytes, words: str
) -> None:
    (tmp_path / "file").write_bytes(data)
    done = system("canary", "check", str(tmp_path / "file"))
    assert (done.code, done.out) == (2, "")
    assert words in done.err


def test_damaged_programs_end_with_a_line_or_an_answer(system: Lab, tmp_path: Path) -> None:
    path = build(tmp_path, "gcc", *STRONG, **PROGRAM)
    whole = path.read_bytes()
    for step in range(60):
        data = bytearray(whole)
        if step % 2:
            at = step * 37 % 64 if step < 20 else step * 7919 % len(data)
            data[at : at + 4] = b"\xff\xff\xff\xff"
        else:
            del data[len(data) * step // 60 :]
        path.write_bytes(data)
        done = system("canary", "check", str(path))
        assert done.code in (0, 1, 2), done.err
        assert "internal error" not in done.err, (step, done.err)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--offset", "ten"), "is no number"),
        (("--symbol", "nothing"), "no variable 'nothing'"),
        (("--map", "map"), "is no PE image"),
    ],
)
def test_wrong_options_are_refused(
    system: Lab, tmp_path: Path, options: tuple[str, ...], words: str
) -> None:
    path = build(tmp_path, "gcc", *STRONG, **PROGRAM)
    done = system("canary", "check", str(path), *options)
    assert (done.code, done.out) == (2, "")
    assert words in done.err


def test_a_file_that_cannot_be_read_does_not_keep_others_from_a_check(
    system: Lab, tmp_path: Path
) -> None:
    path = build(tmp_path, "gcc", *STRONG, **PROGRAM)
    done = system("canary", "check", "absent", str(path), "--sarif", "found.sarif")
    assert done.code == 2
    assert "absent: no such file\nname an ELF or PE file" in done.err
    assert str(path) in done.out
    assert not (tmp_path / "found.sarif").exists()


def test_another_machine_is_refused_by_its_name(system: Lab, tmp_path: Path) -> None:
    path = build(tmp_path, GCC["s390x"], *STRONG, "-c", name="unit.o", c_unit=SOURCE)
    done = system("canary", "check", str(path))
    assert done.code == 2
    assert "IBM Z" in done.err


def test_sarif_has_the_findings(system: Lab, tmp_path: Path) -> None:
    path = build(tmp_path, GCC["x86-64"], "-c", name="unit.o", s_unit=X86)
    assert system("canary", "check", str(path), "--sarif", "found.sarif").code == 1
    (run,) = json.loads((tmp_path / "found.sarif").read_text())["runs"]
    assert {result["ruleId"] for result in run["results"]} == set(FAULTS)
    assert run["tool"]["driver"]["name"] == "everycore canary check"


def test_missing_packages_are_named(
    system: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = build(tmp_path, GCC["x86-64"], "-c", name="unit.o", c_unit=SOURCE)
    monkeypatch.setitem(sys.modules, "capstone", None)
    done = system("canary", "check", str(path))
    assert done.code == 2
    assert "extra 'firmware'" in done.err
