# SPDX-License-Identifier: MIT
"""contrib/linux/make-module: the folder that it writes, and kernels that it refuses."""

import importlib.machinery
import importlib.util
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from library_reads import reads_all
from world import PACKAGE

pytestmark = reads_all

TREE = PACKAGE.parent.parent
SCRIPT = TREE / "contrib/linux/make-module"
CONFIGURATION = (
    "CONFIG_ARM64=y\nCONFIG_MODULES=y\nCONFIG_KERNEL_MODE_NEON=y\nCONFIG_CRYPTO=y\n"
    "CONFIG_CRYPTO_AEAD=m\nCONFIG_CRYPTO_SKCIPHER2=y\n"
)
KERNEL = re.compile(r"^KERNEL\((\w+), *(\w+),", re.M)


def loaded() -> ModuleType:
    loader = importlib.machinery.SourceFileLoader("make_module", str(SCRIPT))
    spec = importlib.util.spec_from_loader("make_module", loader)
    assert spec
    module = importlib.util.module_from_spec(spec)
    sys.modules["make_module"] = module
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        loader.exec_module(module)
    finally:
        sys.dont_write_bytecode = before
    return module


MODULE = loaded()


def declared(pattern: str) -> str:
    return pattern.replace("\\", "")


@pytest.fixture
def headers(tmp_path: Path) -> Path:
    """Headers of a kernel that fits, as far as they are looked at."""
    folder = tmp_path / "linux-headers-6.1.0-1-arm64"
    for path, pattern in (*MODULE.STRUCTURE, MODULE.VECTORS["arm64"]):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        with (folder / path).open("a") as file:
            file.write(declared(pattern) + "\n")
    (folder / "include/config").mkdir()
    (folder / "include/config/auto.conf").write_text(CONFIGURATION)
    (folder / "Makefile").write_text("modules:\n\t@echo built; touch $(M)/everycore.ko\n")
    return folder


def run(*words: str | Path) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, str(SCRIPT), *map(str, words)], capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout, done.stderr


def refused(target: Path, headers: Path, *words: str | Path) -> str:
    """Return what is said where nothing may be written."""
    code, said, errors = run(target, "--build", "--headers", headers, *words)
    assert (code, said) == (2, "")
    assert errors.startswith("make-module: ")
    assert errors.count("\n") == 1
    assert not target.exists()
    return errors


def test_a_folder_has_all_that_its_files_include(tmp_path: Path) -> None:
    target = tmp_path / "everycore-0.1.0"
    assert run(target)[0] == 0
    library = target / "library"
    sources = [*library.rglob("*.c"), *library.rglob("*.S"), *library.rglob("*.h")]
    for path in sources:
        for name in re.findall(r'^#include "(.*?)"', path.read_text(), re.M):
            places = (path.parent, library / "src", library / "include")
            assert any((place / name).is_file() for place in places), (path, name)
    assert "@" not in (target / "dkms.conf").read_text()
    assert 'PACKAGE_VERSION="0.1.0"' in (target / "dkms.conf").read_text()


def test_the_folder_has_the_kernels_of_its_list_and_no_others(tmp_path: Path) -> None:
    target = tmp_path / "module"
    assert run(target)[0] == 0
    lines = (target / "library/src/kernels.def").read_text()
    assert "CT" in lines
    assert not re.search(r"VARTIME|HARDENED|512|qarma|bn_words", lines)
    of_all = set(KERNEL.findall((TREE / "src/kernels.def").read_text()))
    there = {
        (path.parent.name, path.stem.removesuffix("_asm"))
        for path in (target / "library/src").rglob("*.[cS]")
    }
    assert there & of_all == set(KERNEL.findall(lines))


@pytest.mark.parametrize("architecture", ["ARM64", "ARM", "X86_64"])
def test_the_folder_has_a_source_of_each_object_that_kbuild_names(
    tmp_path: Path, architecture: str
) -> None:
    target = tmp_path / "module"
    assert run(target)[0] == 0
    rules = f"src := {target}\ninclude $(src)/Kbuild\nall:;@echo $(everycore-y)\n"
    words = ["make", "-s", "-f", "-", f"CONFIG_{architecture}=y"]
    done = subprocess.run(words, input=rules, capture_output=True, text=True, check=True)
    objects = [Path(word) for word in done.stdout.split()]
    assert Path("library/src/gcm/gcm.o") in objects
    for path in objects:
        assert any((target / path).with_suffix(end).is_file() for end in (".c", ".S")), path


def test_by_name_only_kernels_are_left_out() -> None:
    text = (
        "KERNEL(aes, good, ANY, CT, ANY)\n"
        "KERNEL(aes, named, ANY, CT, ANY, NAMED)\n"
        "KERNEL(ghash, next, ANY, CT, ANY, PAIR)\nKERNEL(ghash, leaks, ANY, VARTIME, ANY)\n"
        "KERNEL(ghash, wide, X86_VCLMUL512, CT, ANY)\nKERNEL(bn, no, ANY, CT, ANY)\n"
    )
    assert re.findall(r"\((\w+), (\w+)", MODULE.kernels_def(text)) == [
        ("aes", "good"),
        ("ghash", "next"),
    ]


def test_a_folder_is_written_again_and_one_of_others_is_not(tmp_path: Path) -> None:
    target, other = tmp_path / "module", tmp_path / "other"
    assert run(target)[0] == 0
    (target / "glue.h").write_text("changed")
    assert run(target)[0] == 0
    assert (target / "glue.h").read_text() == (TREE / "contrib/linux/glue.h").read_text()
    other.mkdir()
    (other / "mine").write_text("mine")
    code, _, errors = run(other)
    assert code == 2
    assert "was not written by make-module" in errors
    assert [path.name for path in other.iterdir()] == ["mine"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["module", "other"]


def test_a_kernel_that_fits_is_built_for(tmp_path: Path, headers: Path) -> None:
    code, said, errors = run(tmp_path / "module", "--build", "--headers", headers)
    assert (code, errors) == (0, "")
    assert str(tmp_path / "module/everycore.ko") in said


def test_a_kernel_without_headers_is_refused(tmp_path: Path) -> None:
    code, _, errors = run(tmp_path / "module", "--build", "--kernel", "6.1.0-no-such")
    assert code == 2
    assert "Linux 6.1.0-no-such has no headers here" in errors
    assert "apt-get install linux-headers-6.1.0-no-such" in errors
    assert not (tmp_path / "module").exists()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda t: t.replace("CONFIG_ARM64", "CONFIG_MIPS"), "a CPU that the module is not for"),
        (lambda t: t + "CONFIG_CPU_BIG_ENDIAN=y\n", "a CPU that the module is not for"),
        (lambda t: t.replace("CONFIG_MODULES=y", ""), "without CONFIG_MODULES"),
        (lambda t: t.replace("CONFIG_KERNEL_MODE_NEON=y", ""), "without CONFIG_KERNEL_MODE_NEON"),
        (lambda t: t.replace("CONFIG_CRYPTO_AEAD=m", ""), "without CONFIG_CRYPTO_AEAD"),
        (lambda t: t + "CONFIG_MODULE_SIG_FORCE=y\n", "loads signed modules only"),
    ],
)
def test_kernels_of_other_configurations_are_refused(
    tmp_path: Path, headers: Path, change: Callable[[str], str], said: str
) -> None:
    path = headers / "include/config/auto.conf"
    path.write_text(change(path.read_text()))
    assert said in refused(tmp_path / "module", headers)


@pytest.mark.parametrize("index", range(len(MODULE.STRUCTURE) + 1))
def test_each_declaration_that_moved_is_named(tmp_path: Path, headers: Path, index: int) -> None:
    path, pattern = (*MODULE.STRUCTURE, MODULE.VECTORS["arm64"])[index]
    file = headers / path
    kept = [line for line in file.read_text().splitlines() if line != declared(pattern)]
    file.write_text("\n".join(kept))
    said = refused(tmp_path / "module", headers)
    assert declared(pattern) in said
    assert "structure of this kernel is another" in said


def test_folders_without_headers_are_refused(tmp_path: Path, headers: Path) -> None:
    assert "no include/config/auto.conf" in refused(tmp_path / "module", tmp_path)
    (headers / "include/crypto/internal/skcipher.h").unlink()
    assert "install all of the headers" in refused(tmp_path / "module", headers)


def test_a_module_that_does_not_compile_leaves_nothing(tmp_path: Path, headers: Path) -> None:
    (headers / "Makefile").write_text("modules:\n\t@echo 'glue.h:1: error: no'; false\n")
    assert "does not compile for Linux" in refused(tmp_path / "module", headers)


def test_a_lack_of_compilers_is_told(tmp_path: Path, headers: Path) -> None:
    said = refused(tmp_path / "module", headers, "--cross-compile", "no-such-")
    assert "there is no no-such-gcc" in said


@pytest.mark.parametrize(("enforce", "lockdown"), [("Y\n", None), ("N\n", "none [integrity]\n")])
def test_a_running_kernel_that_wants_signatures_is_refused(
    tmp_path: Path,
    headers: Path,
    enforce: str,
    lockdown: str | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, text in (("RUNNING", enforce), ("LOCKDOWN", lockdown)):
        path = tmp_path / name
        if text:
            path.write_text(text)
        monkeypatch.setattr(MODULE, name, path)
    kernel = MODULE.kernel_of(headers, None)
    with pytest.raises(MODULE.ModuleError, match="signed modules only"):
        MODULE.check_signing(kernel, None, is_running=True)
    MODULE.check_signing(kernel, None, is_running=False)
    (tmp_path / "RUNNING").write_text("N\n")
    (tmp_path / "LOCKDOWN").write_text("[none] integrity confidentiality\n")
    MODULE.check_signing(kernel, None, is_running=True)


def test_keys_for_signing_have_to_be_there(tmp_path: Path, headers: Path) -> None:
    said = refused(tmp_path / "module", headers, "--sign", tmp_path / "no.key", tmp_path / "no.pem")
    assert "no.key is no file" in said


def test_signed_modules_are_signed_by_the_kernels_own_program(
    tmp_path: Path, headers: Path
) -> None:
    (headers / "scripts").mkdir()
    program = headers / "scripts/sign-file"
    program.write_text('#!/bin/sh\necho "$@" > "$4.signed"\n')
    program.chmod(0o755)
    key, certificate = tmp_path / "key", tmp_path / "certificate"
    key.write_text("k"), certificate.write_text("c")
    (headers / "include/config/auto.conf").write_text(CONFIGURATION + "CONFIG_MODULE_SIG_FORCE=y\n")
    target = tmp_path / "module"
    code, _, errors = run(target, "--build", "--headers", headers, "--sign", key, certificate)
    assert (code, errors) == (0, "")
    assert (target / "everycore.ko.signed").read_text().split() == [
        "sha256",
        str(key),
        str(certificate),
        str(target / "everycore.ko"),
    ]


def test_options_of_building_need_it(tmp_path: Path) -> None:
    code, _, errors = run(tmp_path / "module", "--kernel", "6.1")
    assert code == 2
    assert "need --build" in errors
