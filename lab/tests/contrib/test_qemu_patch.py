# SPDX-License-Identifier: MIT
"""contrib/qemu: the script, on a tree of our own; our functions, around stand-ins for QEMU's."""

import filecmp
import runpy
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from library_reads import reads_all
from world import DATA, PACKAGE

from everycore.pauth.share import OWN

pytestmark = reads_all

SCRIPT = PACKAGE.parent.parent / "contrib/qemu/patch-qemu"
STUB = DATA / "qemu_stub"
PLACE = "target/arm/tcg"
MODES = ("qemu", "mac", "plain", "memo", "check")
OPERATIONS = "8000"


def run(*words: str | Path, env: Mapping[str, str] | None = None) -> tuple[int, str, str]:
    done = subprocess.run(
        [str(word) for word in words], capture_output=True, text=True, env=env, check=False
    )
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A tree that may be written."""
    return Path(shutil.copytree(STUB, tmp_path / "tree"))


def compiler() -> str:
    found = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if found is None:
        pytest.skip("no C compiler")
    return found


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The stand-in, patched and built."""
    tree = Path(shutil.copytree(STUB, tmp_path_factory.mktemp("qemu") / "tree"))
    assert run(SCRIPT, tree)[0] == 0
    place, result = tree / PLACE, tree / "program"
    sources = [place / "pauth_helper.c", *sorted((place / "everycore").rglob("*.c"))]
    folders = [f"-I{place / 'everycore' / name}" for name in ("include", "src")]
    flags = ["-O1", "-pthread", "-Wall", "-Wextra", "-Wno-unused-function", "-Werror"]
    code, _, errors = run(compiler(), *flags, *folders, *sources, "-o", result)
    assert code == 0, errors
    return result


def test_a_tree_is_as_before_when_the_patch_is_removed(tree: Path) -> None:
    assert run(SCRIPT, tree)[0] == 0
    changed = (tree / PLACE / "pauth_helper.c").read_text().splitlines()
    assert set((STUB / PLACE / "pauth_helper.c").read_text().splitlines()) < set(changed)
    assert run(SCRIPT, "--remove", tree)[0] == 0
    found = filecmp.dircmp(STUB / PLACE, tree / PLACE)
    assert not found.diff_files
    assert found.left_list == found.right_list


def test_a_tree_is_patched_once(tree: Path) -> None:
    assert run(SCRIPT, tree)[0] == 0
    code, _, errors = run(SCRIPT, tree)
    assert code == 2
    assert "is patched already" in errors


def test_a_tree_that_is_not_patched_has_nothing_to_remove(tree: Path) -> None:
    code, _, errors = run(SCRIPT, "--remove", tree)
    assert code == 2
    assert "is not patched" in errors


def test_a_folder_that_cannot_be_removed_is_told(tree: Path, tmp_path: Path) -> None:
    assert run(SCRIPT, tree)[0] == 0
    folder = tree / PLACE / "everycore"
    folder.rename(tmp_path / "elsewhere")
    folder.symlink_to(tmp_path / "elsewhere")
    code, said, errors = run(SCRIPT, "--remove", tree)
    assert (code, said) == (2, "")
    assert "symbolic link" in errors
    folder.unlink()
    folder.mkdir()
    assert run(SCRIPT, "--remove", tree)[0] == 0  # goes on where it was


@pytest.mark.parametrize(
    ("name", "old", "new", "complaint"),
    [
        ("pauth_helper.c", "static uint64_t pauth_addpac(", "static uint64_t add_pac(", "0 lines"),
        ("pauth_helper.c", "HELPER(pacia)", "HELPER(pacxx)", "HELPER(pacia)"),
        (
            "pauth_helper.c",
            "computepac(CPUARMState *env, ",
            "computepac(",
            "computepac(CPUARMState",
        ),
        (
            "pauth_helper.c",
            "pauth_auth(CPUARMState *env, ",
            "pauth_auth(",
            "pauth_auth(CPUARMState",
        ),
        ("pauth_helper.c", "pauth_strip(CPUARMState *env, ", "pauth_strip(", "strip(CPUARMState"),
        ("pauth_helper.c", "bool is_combined)\n{", "bool is_combined, int z)\n{", "parameters"),
        ("meson.build", "'pauth_helper.c'", "'pauth.c'", "does not list"),
    ],
)
def test_an_unexpected_tree_is_refused_and_stays_as_it_is(
    tree: Path, name: str, old: str, new: str, complaint: str
) -> None:
    path = tree / PLACE / name
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    before = {p: p.read_bytes() for p in tree.rglob("*") if p.is_file()}
    code, _, errors = run(SCRIPT, tree)
    assert code == 2
    assert complaint in errors
    assert before == {p: p.read_bytes() for p in tree.rglob("*") if p.is_file()}


def test_all_functions_of_ours_count_as_pointer_authentication(tree: Path, tmp_path: Path) -> None:
    nm = shutil.which("nm") or shutil.which("llvm-nm")
    if nm is None:
        pytest.skip("no nm")
    assert run(SCRIPT, tree)[0] == 0
    ours = tree / PLACE / "everycore"
    sources = [ours / "pauth.c", *(ours / "src/pac").glob("*.c"), *(ours / "src/qarma").glob("*.c")]
    # c_ref alone is no kernel that an emulator gets: another portable one is before it.
    sources = [path for path in sources if path.name != "c_ref.c"]
    for level in ("-O0", "-O2"):
        folder = tmp_path / level
        folder.mkdir()
        argv = [compiler(), level, "-c", f"-I{ours / 'include'}", f"-I{ours / 'src'}", *sources]
        done = subprocess.run(argv, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        symbols = [line.split() for line in run(nm, *folder.glob("*.o"))[1].splitlines()]
        names = {words[2] for words in symbols if len(words) == 3 and words[1] in "tT"}
        assert {"evc_pac_memo_add", "evc_pac_hash_mac", "encrypt", "set_key"} <= names
        assert not [name for name in sorted(names) if not OWN.match(name)]


def test_a_tree_whose_registers_are_structures_does_not_compile(tree: Path, tmp_path: Path) -> None:
    path = tree / PLACE / "cpu.h"
    numbers = "uint64_t tcr_el[4];"
    assert numbers in path.read_text()
    structures = "struct { uint64_t raw_tcr; uint32_t mask, base_mask; } tcr_el[4];"
    path.write_text(path.read_text().replace(numbers, structures))
    assert run(SCRIPT, tree)[0] == 0
    folder = tree / PLACE / "everycore/include"
    helper = tree / PLACE / "pauth_helper.c"
    code, _, errors = run(compiler(), "-c", f"-I{folder}", helper, "-o", tmp_path / "helper.o")
    assert code != 0
    assert "TCR_EL0 to TCR_EL3 are numbers of 64 bits" in errors


@pytest.mark.parametrize("name", ["pauth_helper.c", "meson.build"])
def test_a_file_that_is_no_text_is_refused(tree: Path, name: str) -> None:
    (tree / PLACE / name).write_bytes(b"/* \xff */")
    code, _, errors = run(SCRIPT, tree)
    assert code == 2
    assert f"{name} is no text in UTF-8 (byte 3)" in errors


@pytest.mark.parametrize("at", ["_copy", "_write"])
def test_an_interrupted_patch_leaves_the_tree_as_it_was(
    tree: Path, at: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = runpy.run_path(str(SCRIPT))
    whole = script[at]

    def interrupted(*arguments: object) -> None:
        monkeypatch.setitem(script["main"].__globals__, at, whole)
        whole(*arguments)
        raise KeyboardInterrupt

    monkeypatch.setitem(script["main"].__globals__, at, interrupted)
    assert script["main"]([str(tree)]) == 130
    found = filecmp.dircmp(STUB / PLACE, tree / PLACE)
    assert not found.diff_files
    assert found.left_list == found.right_list


def test_what_is_no_tree_of_qemu_is_refused(tmp_path: Path) -> None:
    code, _, errors = run(SCRIPT, tmp_path)
    assert code == 2
    assert "is no source tree of QEMU" in errors


@pytest.mark.parametrize("algorithm", ["qarma5", "qarma3", "impdef"])
@pytest.mark.parametrize("level", ["1", "2", "3", "4", "5", "6"])  # 6: not known to the library
def test_every_mode_has_the_same_results(program: Path, algorithm: str, level: str) -> None:
    said = {
        mode: run(program, algorithm, level, OPERATIONS, env={"EVERYCORE_PAUTH": mode})
        for mode in MODES
    }
    assert {code for code, _, _ in said.values()} == {0}
    assert len({out for _, out, _ in said.values()}) == 1
    exceptions = int(said["qemu"][1].split()[1])
    assert (exceptions > 200) == (level in ("4", "5", "6"))


@pytest.mark.parametrize("level", ["1", "5"])
def test_another_cpu_at_the_same_address_has_its_own_state(program: Path, level: str) -> None:
    said = {
        mode: run(program, "qarma5", level, OPERATIONS, "anew", env={"EVERYCORE_PAUTH": mode})
        for mode in MODES
    }
    assert {code for code, _, _ in said.values()} == {0}
    assert len({out for _, out, _ in said.values()}) == 1


def test_an_unknown_algorithm_is_left_to_qemu_and_named_once(program: Path) -> None:
    said = {
        mode: run(program, "qarma5", "3", OPERATIONS, "unknown", env={"EVERYCORE_PAUTH": mode})
        for mode in MODES
    }
    assert len({out for _, out, _ in said.values()}) == 1
    assert said["qemu"][2] == ""
    assert {said[mode][2].count("unknown algorithm") for mode in MODES[1:]} == {1}


def test_check_mode_ends_at_the_first_difference(program: Path) -> None:
    settings = {"EVERYCORE_PAUTH": "check"}
    code, _, errors = run(program, "qarma5", "3", OPERATIONS, "wrong", env=settings)
    assert code < 0
    assert "QEMU has" in errors


@pytest.mark.parametrize("level", ["1", "2", "3", "4", "5"])
def test_check_mode_sees_one_wrong_code_though_qemu_raises_an_exception(
    program: Path, level: str
) -> None:
    settings = {"EVERYCORE_PAUTH": "check"}
    code, _, errors = run(program, "qarma5", level, "10", "once", env=settings)
    assert code < 0
    assert "the code, in Auth by the memo" in errors


def test_operations_of_several_processes_are_counted(program: Path, tmp_path: Path) -> None:
    path = tmp_path / "counts"
    for _ in range(2):
        run(program, "qarma5", "3", OPERATIONS, env={"EVERYCORE_PAUTH_COUNTS": str(path)})
    code, said, _ = run(SCRIPT, "--counts", path)
    found = dict(line.split() for line in said.splitlines())
    assert code == 0
    assert found["algorithm"] == "qarma5"
    operations = int(found["adds"]) + int(found["auths"]) + int(found["generics"])
    assert 2 * 8000 < operations < 2 * 2 * 8000
    assert 0 < int(found["macs"]) < operations  # the rest the memo had


@pytest.mark.parametrize(
    ("mode", "macs"),
    [("plain", 4000), ("memo", 2)],  # an Auth finds what AddPAC kept
)
def test_codes_are_counted_where_they_are_computed(
    program: Path, tmp_path: Path, mode: str, macs: int
) -> None:
    path = tmp_path / "counts"
    env = {"EVERYCORE_PAUTH": mode, "EVERYCORE_PAUTH_COUNTS": str(path)}
    assert run(program, "qarma5", "3", "2000", "turns", env=env)[0] == 0
    said = run(SCRIPT, "--counts", path)[1]
    found = dict(line.split() for line in said.splitlines())
    assert (found["adds"], found["auths"]) == ("2000", "2000")
    assert int(found["macs"]) == macs
    assert found["schedules"] == "2"


@pytest.mark.parametrize("content", [b"a letter", b"x" * 80, b"evcpac0\0" + bytes(72)])
def test_a_file_with_something_else_is_not_counted_to(
    program: Path, tmp_path: Path, content: bytes
) -> None:
    path = tmp_path / "letter"
    path.write_bytes(content)
    env = {"EVERYCORE_PAUTH_COUNTS": str(path)}
    code, _, errors = run(program, "qarma5", "3", "10", env=env)
    assert code == 2
    assert "letter: has something else in it" in errors
    assert path.read_bytes() == content


def test_a_relative_file_of_counts_is_refused(program: Path) -> None:
    env = {"EVERYCORE_PAUTH_COUNTS": "counts"}
    code, _, errors = run(program, "qarma5", "3", "10", env=env)
    assert code == 2
    assert "EVERYCORE_PAUTH_COUNTS=counts: not an absolute name" in errors


def test_processes_may_begin_to_count_together(program: Path, tmp_path: Path) -> None:
    path = tmp_path / "counts"
    path.touch()
    env = {"EVERYCORE_PAUTH_COUNTS": str(path)}
    argv = [str(program), "qarma5", "3", "100", "turns"]
    started = [subprocess.Popen(argv, stdout=subprocess.DEVNULL, env=env) for _ in range(8)]
    assert [process.wait() for process in started] == [0] * 8
    assert "adds 800\n" in run(SCRIPT, "--counts", path)[1]


def test_an_unknown_mode_is_named(program: Path) -> None:
    code, _, errors = run(program, "qarma5", "3", "1", env={"EVERYCORE_PAUTH": "fast"})
    assert code == 2
    assert "EVERYCORE_PAUTH=fast: not one of qemu, mac, plain, memo, check" in errors


def test_what_is_no_file_of_counts_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "counts"
    path.write_bytes(b"x" * 80)
    code, _, errors = run(SCRIPT, "--counts", path)
    assert code == 2
    assert "is no file of EVERYCORE_PAUTH_COUNTS" in errors
