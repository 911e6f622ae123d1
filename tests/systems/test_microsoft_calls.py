# SPDX-License-Identifier: MIT
"""Assembly and COFF for other systems than Linux: calling conventions, sections, exports."""

import os
import pathlib
import platform
import re
import subprocess

import pytest
from processes import need
from reads import reads_library_here

pytestmark = reads_library_here

ROOT = pathlib.Path(__file__).resolve().parents[2]
MINGW = "x86_64-w64-mingw32-gcc"
OBJDUMP = "x86_64-w64-mingw32-objdump"
COMPILE = ("-O1", "-std=gnu11", "-ffreestanding", "-Wall", "-Wextra", "-Werror")
INCLUDE = ("-Iinclude", "-Isrc")
KERNELS = {
    "gcm/x86_aesni": "aes pclmul ssse3 sse4.1",
    "gcm/x86_vaes256": "avx2 aes pclmul vaes vpclmulqdq bmi2",
    "gcm/x86_vaes512": "aes pclmul vaes vpclmulqdq avx512f avx512vl avx512bw avx512dq avx512vbmi"
    " bmi2",
    "gcm/x86_vaes512_intel": "aes pclmul vaes vpclmulqdq avx512f avx512vl avx512bw avx512dq"
    " avx512vbmi bmi2",
    "bn_words/x86_adx": "bmi2 adx",
}
BIG_NUMBERS = ("bn/x86_adx", "bn/x86_adx_intel")
ASSEMBLY = [f"src/{stem}_asm.S" for stem in (*KERNELS, *BIG_NUMBERS, "aes/x86_aesni")]
OTHERS = ["gcm/gcm", "gcm/joined", "gcm/key", "gcm/pieces"]
OTHERS += ["cpu/x86_cpuid", *(f"common/{path.stem}" for path in ROOT.glob("src/common/*.c"))]


def words(*command: str | pathlib.Path, **environment: str) -> str:
    """Return what the program prints to both outputs; it must succeed."""
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, (command, done.returncode, done.stdout, done.stderr)
    return done.stdout + done.stderr


def refused(*command: str) -> str:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode != 0, command
    return done.stderr


def flags(stem: str) -> list[str]:
    return [f"-m{word}" for word in KERNELS.get(stem, "").split()]


ON_X86_64 = pytest.mark.skipif(platform.machine() != "x86_64", reason="not on x86-64")


@ON_X86_64
def test_assembly_is_called_by_functions_with_microsofts_convention(tmp_path: pathlib.Path) -> None:
    """GCM and big numbers on Linux with -mabi=ms."""
    need("gcc")
    compile_one = ("gcc", *COMPILE, *INCLUDE, "-mabi=ms", "-DEVC_ISA_BY_FLAGS", "-fno-pic")
    objects = []
    sources = [(stem, f"src/{stem}.c") for stem in (*KERNELS, *OTHERS)]
    for stem, source in [*sources, ("program", "tests/systems/microsoft_calls.c")]:
        objects.append(tmp_path / f"{stem.replace('/', '_')}.o")
        options = ("-fno-stack-protector", "-c", source, "-o", objects[-1])
        words(*compile_one, *flags(stem), *options)
    program = tmp_path / "program"
    assembly = [f"src/{stem}_asm.S" for stem in KERNELS]
    words("gcc", *INCLUDE, "-static", "-nostdlib", "-no-pie", *objects, *assembly, "-o", program)
    words(program)


@ON_X86_64
def test_gcc_refuses_microsofts_convention_behind_target_pragmas() -> None:
    """It would compile functions there for the other convention."""
    command = ("gcc", *COMPILE, *INCLUDE, "-mabi=ms", "-S", "-o", "/dev/null")
    assert "evc_mabi_ms_needs_isa_by_flags" in refused(*command, "src/gcm/x86_aesni.c")


@pytest.mark.parametrize("target", ["x86_64-pc-windows-gnu", "x86_64-unknown-windows"])
def test_a_compiler_that_ignores_sysv_abi_is_refused(target: str) -> None:
    need("clang")
    command = ("clang", f"--target={target}", *COMPILE, *INCLUDE, "-fsyntax-only")
    source = "src/bn_words/x86_adx.c"
    by_flags = ("-DEVC_ISA_BY_FLAGS", *flags("bn_words/x86_adx"))
    words(*command, *by_flags, source)
    assert "evc_compiler_must_know_sysv_abi" in refused(
        *command, *by_flags, "-Dsysv_abi=unused", source
    )


@pytest.mark.parametrize("stem", [*KERNELS, "common/clear"])
def test_clang_for_cygwin_which_ignores_sysv_abi_compiles_no_assembly(stem: str) -> None:
    need("clang")
    command = ("clang", "--target=x86_64-pc-windows-cygnus", *COMPILE, *INCLUDE)
    by_flags = ("-DEVC_ISA_BY_FLAGS", *flags(stem))
    words(*command, *by_flags, "-fsyntax-only", f"src/{stem}.c")


@pytest.mark.parametrize("suffix", ["", "-gnu"])
def test_objects_for_uefi_link(suffix: str, tmp_path: pathlib.Path) -> None:
    """clang defines __GNUC__ with one of these targets alone, and must use GNU C with both."""
    need("clang", "lld-link")
    target = f"--target=x86_64-unknown-windows{suffix}"
    command = ("clang", target, *COMPILE, *INCLUDE, "-mno-red-zone", "-DEVC_ISA_BY_FLAGS")
    stems = [*OTHERS, "gcm/pair", "aes/aes", "aes/c_fixslice32", "ghash/ghash", "ghash/c_ctmul32"]
    sources = [(stem, f"src/{stem}.c") for stem in (*stems, "gcm/x86_aesni")]
    for stem, source in [*sources, ("program", "tests/systems/uefi_gcm.c")]:
        output = tmp_path / f"{stem.replace('/', '_')}.obj"
        words(*command, *flags(stem), "-c", source, "-o", output)
    words(*command, "-c", "src/gcm/x86_aesni_asm.S", "-o", tmp_path / "assembly.obj")
    linked = ("-subsystem:efi_application", "-entry:efi_main", "-nodefaultlib")
    words("lld-link", *linked, f"-out:{tmp_path}/program.efi", *sorted(tmp_path.glob("*.obj")))


@pytest.mark.parametrize("system", ["-D_WIN32", "-D__CYGWIN__", "-D__UEFI__"])
def test_assembly_suits_coff(system: str, tmp_path: pathlib.Path) -> None:
    """Constants are read-only, and functions that push something have tables for unwinding.

    Cygwin and UEFI do not define _WIN32. No address is held in 32 bits, which a place above
    4 GiB would not fit.
    """
    need(MINGW)
    for source in ASSEMBLY:
        output = tmp_path / "object"
        words(MINGW, "-U_WIN32", system, *INCLUDE, "-c", source, "-o", output)
        listing = words(OBJDUMP, "-h", "-r", output)
        sections = re.findall(r"^ +\d+ (\.\S+) .*\n +(.*)$", listing, re.M)
        assert {name for name, how in sections if "READONLY" not in how} <= {".data", ".bss"}
        names = {name for name, _ in sections}
        assert ".rodata" not in names
        pushes = re.search(r"evc_save|CFI_ADJUST", (ROOT / source).read_text())
        assert (".pdata" in names) == bool(pushes), source
        assert not re.search(r"R_X86_64_(32|DIR32)|dir32\b|ADDR32\b", listing), source


@ON_X86_64
def test_x32_compiles_without_assembly() -> None:
    """Pointers have 32 bits there, and the stack pointer 64."""
    for stem in ("common/clear", "gcm/pieces", "cpu/x86_cpuid", "gcm/x86_aesni"):
        words("gcc", "-mx32", *COMPILE, *INCLUDE, "-c", f"src/{stem}.c", "-o", "/dev/null")


def test_a_dll_exports_marked_functions_alone(tmp_path: pathlib.Path) -> None:
    """A linker for Windows exports all others, too, if none is marked."""
    need(MINGW)
    dll = tmp_path / "everycore.dll"
    sources = [f"src/common/{name}.c" for name in ("wipe", "status", "clear")]
    assembly = ["src/bn_words/x86_adx_asm.S"]
    library = (*COMPILE, *INCLUDE, "-shared", "-DEVC_DLL")
    words(MINGW, *library, *sources, *assembly, "-o", dll)
    table = words(OBJDUMP, "-p", dll).partition("[Ordinal/Name Pointer] Table")[2]
    names = re.findall(r"^\t\[ *\d+\].*?(\w+)$", table.partition("\n\n")[0], re.M)
    assert names == ["evc_status_text", "evc_wipe"]


@pytest.mark.long
def test_faults_in_assembly_are_unwound_on_windows(tmp_path: pathlib.Path) -> None:
    """As by a debugger, a profiler, or a program that reads a file in memory whose disk fails."""
    need(MINGW, "wine")
    program = tmp_path / "unwind.exe"
    stems = [stem for stem in KERNELS if stem.startswith("gcm")] + ["bn/x86_adx"]
    sources = [f"src/{stem}.c" for stem in (*stems, *OTHERS, "bn/bn")]
    assembly = [f"src/{stem}_asm.S" for stem in stems]
    options = (*INCLUDE, "-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections", "-static")
    sources.append("tests/systems/windows_unwind.c")
    words(MINGW, "-O1", "-std=gnu11", *options, *sources, *assembly, "-o", program)
    wine = {"WINEPREFIX": str(tmp_path / "wine"), "WINEDEBUG": "-all"}
    assert re.search(r"^(\d+) of \1$", words("wine", program, **wine), re.M)
