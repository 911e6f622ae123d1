# SPDX-License-Identifier: MIT
"""A QEMU that is patched and built: from a package of our own, with tools that only pretend."""

import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from fake_archive import FakeArchive, tarball
from library_reads import reads_all
from world import DATA, PACKAGE, Lab

from everycore.compile import debs
from everycore.compile.catalog import find_tree
from everycore.environment.context import Completed, Context, SystemRunner
from everycore.environment.errors import CannotRunError, EverycoreError
from everycore.pauth import qemu_build
from everycore.pauth.qemu_build import Libraries, Recipe, build_qemu

TREE = find_tree(PACKAGE)
RECIPE = Recipe("test")
CONFIGURE = """\
echo "$PKG_CONFIG_LIBDIR" "$@" >settings
test -f "$(dirname "$0")/target/arm/tcg/everycore/meson.build" || exit 1
"""
# As ninja -C FOLDER PROGRAM: the program says its version, and that it is the one.
NINJA = """\
#!/bin/sh
echo "[1/2] Compiling"; echo "$2" >>"$(dirname "$0")/built"
printf '#!/bin/sh\\necho %s\\n' "$3" >"$2/$3"; chmod +x "$2/$3"; echo "[2/2] Linking $3"
"""


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "tools"
    folder.mkdir()
    (folder / "ninja").write_text(NINJA)
    (folder / "ninja").chmod(0o755)
    monkeypatch.setattr(qemu_build, "_tools", lambda _: folder)
    monkeypatch.setattr(qemu_build, "_libraries", lambda *_: Libraries(("-Lx",), ()))
    return folder


def publish(archive: FakeArchive, files: dict[str, str] | None = None) -> None:
    """The package: what patch-qemu looks for, and a configure."""
    stub = DATA / "qemu_stub"
    found = {str(p.relative_to(stub)): p.read_text() for p in stub.rglob("*") if p.is_file()}
    found |= {"pc-bios/meson.build": "['a.rom', 'b.fd', 'c.dts']", "configure": CONFIGURE}
    data = tarball({f"qemu-1/{name}": text for name, text in (found | (files or {})).items()})
    parts = {"qemu_1-1.dsc": data[:40], "qemu_1.orig.tar.xz": data}
    archive.add_source("qemu", "1-1", parts)
    archive.publish()


@pytest.fixture
def context(tmp_path: Path, archive: FakeArchive) -> Context:
    env = {
        "PATH": "/usr/bin:/bin",
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "EVERYCORE_MIRROR": str(archive.folder),
        "EVERYCORE_KEYRING": str(archive.key.keyring),
    }
    archive.folder.mkdir()
    return Lab(SystemRunner(), tmp_path, env).context()


@pytest.fixture
def published(context: Context, archive: FakeArchive, tools: Path) -> None:
    """The package, and the tools that build it."""
    del context, tools
    publish(archive)


@reads_all
@pytest.mark.usefixtures("published")
def test_a_program_is_built_once(context: Context, tools: Path) -> None:
    program = build_qemu(context, TREE, RECIPE)
    assert program.name == "qemu-aarch64"
    assert context.runner.run([str(program)]).stdout == "qemu-aarch64\n"
    assert build_qemu(context, TREE, RECIPE) == program
    assert len((tools / "built").read_text().splitlines()) == 1


@reads_all
@pytest.mark.usefixtures("published")
def test_what_was_unpacked_stays_as_it_was(context: Context) -> None:
    build_qemu(context, TREE, RECIPE)
    helper = next((context.cache_dir() / "debs").rglob("pauth_helper.c"))
    assert "everycore/begin" not in helper.read_text()
    assert not list((context.cache_dir() / "pauth").glob("qemu-*"))  # nor is anything left


@reads_all
@pytest.mark.usefixtures("published")
@pytest.mark.parametrize(
    ("recipe", "name"),
    [
        (Recipe("test", system=True), "qemu-system-aarch64"),
        (Recipe("test", static=True), "qemu-aarch64"),
    ],
)
def test_a_program_of_another_recipe_is_another_one(
    context: Context, recipe: Recipe, name: str
) -> None:
    other = build_qemu(context, TREE, recipe)
    assert other.name == name
    assert other.parent != build_qemu(context, TREE, RECIPE).parent
    assert ("--static" in recipe.options("10.0.13")) == recipe.static


@reads_all
@pytest.mark.usefixtures("tools")
def test_a_tree_that_the_script_does_not_know_is_refused(
    context: Context, archive: FakeArchive
) -> None:
    publish(archive, {"target/arm/tcg/pauth_helper.c": "int x;\n"})
    with pytest.raises(EverycoreError, match="0 lines, not one"):
        build_qemu(context, TREE, RECIPE)


@reads_all
@pytest.mark.parametrize(
    ("configure", "ninja", "expected"),
    [
        ("echo no glib; exit 1\n", NINJA, "qemu-aarch64 of test cannot be configured"),
        (CONFIGURE, "#!/bin/sh\necho bad.c:1: error; exit 1\n", "qemu-aarch64 of test cannot be"),
    ],
)
def test_a_build_that_fails_says_why(
    context: Context,
    archive: FakeArchive,
    tools: Path,
    configure: str,
    ninja: str,
    expected: str,
) -> None:
    (tools / "ninja").write_text(ninja)
    publish(archive, {"configure": configure})
    with pytest.raises(EverycoreError, match=expected) as error:
        build_qemu(context, TREE, RECIPE)
    assert error.value.hint in ("no glib", "bad.c:1: error")


def test_old_versions_lack_an_option() -> None:
    recipe = Recipe("bookworm", system=True)
    assert "--enable-pixman" in recipe.options("10.0.13")
    assert "--enable-pixman" not in recipe.options("7.2.0")


def test_only_debian_has_suites(tmp_path: Path) -> None:
    release = tmp_path / "os-release"
    release.write_text('ID=debian\nVERSION_CODENAME=trixie\nHOME_URL="a=b"\n')
    assert qemu_build._suite_here(release) == "trixie"
    release.write_text("ID=ubuntu\nVERSION_CODENAME=noble\n")
    assert qemu_build._suite_here(release) == ""
    assert qemu_build._suite_here(tmp_path / "nothing") == ""


@reads_all
@pytest.mark.usefixtures("published")
@pytest.mark.parametrize("setting", ["CC=another-cc", "CFLAGS=-O3", "LDFLAGS=-s"])
def test_another_compiler_or_other_flags_make_another_program(
    tmp_path: Path, context: Context, setting: str
) -> None:
    program = build_qemu(context, TREE, RECIPE)
    name, value = setting.split("=")
    other = Lab(SystemRunner(), tmp_path, {**context.env, name: value}).context()
    assert build_qemu(other, TREE, RECIPE) != program


@reads_all
@pytest.mark.usefixtures("published")
def test_files_that_cannot_be_copied_are_told(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    def copytree(*_: object, **__: object) -> None:
        raise shutil.Error([("a", "b", "[Errno 18] Invalid cross-device link: 'a' -> 'b'")])

    monkeypatch.setattr(shutil, "copytree", copytree)
    with pytest.raises(EverycoreError, match=r"cannot build QEMU in .*: .*Invalid cross-device"):
        build_qemu(context, TREE, RECIPE)


def test_packages_without_the_library_are_an_error(
    tmp_path: Path, context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(qemu_build, "_suite_here", lambda: "test")
    monkeypatch.setattr(qemu_build, "locked", lambda *_: None)
    monkeypatch.setattr(debs, "unpacked", lambda *_: tmp_path)
    with pytest.raises(EverycoreError, match="test's packages hold no libglib"):
        qemu_build._libraries(context, RECIPE, update=False)


@dataclass
class Environments:
    """A runner under which `venv` and `pip install` make a folder at once."""

    broken: list[str] = field(default_factory=list)  # paths that do not run
    during_install: Callable[[], object] = lambda: None
    made: int = 0

    def run(self, argv: Sequence[str], **_: object) -> Completed:
        program = Path(argv[0])
        if "venv" in argv:
            self.made += 1
        elif program.name == "pip":
            then, self.during_install = self.during_install, lambda: None
            then()
            program.parent.mkdir(exist_ok=True)
            (program.parent / "meson").write_text(str(program.parent))
            (program.parent / "ninja").touch()
        elif not program.is_file() or str(program) in self.broken:
            raise CannotRunError(f"cannot run {program}")
        return Completed(0)


def environments(tmp_path: Path) -> tuple[Context, Environments]:
    runner = Environments()
    return Lab(runner, tmp_path, {"XDG_CACHE_HOME": str(tmp_path / "cache")}).context(), runner


def test_tools_are_made_once(tmp_path: Path) -> None:
    context, runner = environments(tmp_path)
    assert qemu_build._tools(context) == qemu_build._tools(context)
    assert runner.made == 1


def test_two_first_runs_leave_one_whole_set_of_tools(tmp_path: Path) -> None:
    context, runner = environments(tmp_path)
    others: list[Path] = []
    runner.during_install = lambda: others.append(qemu_build._tools(context))
    tools = qemu_build._tools(context)
    assert others == [tools]
    assert (tools / "meson").read_text() == str(tools)  # is where its programs say
    folders = [p for p in (context.cache_dir() / "pauth").iterdir() if not p.is_symlink()]
    assert folders == [tools.parent]


def test_tools_that_no_longer_run_are_made_again(tmp_path: Path) -> None:
    context, runner = environments(tmp_path)
    before = qemu_build._tools(context)
    runner.broken = [str(before / "meson")]
    after = qemu_build._tools(context)
    assert after != before
    assert not before.exists()
    assert qemu_build._tools(context) == after


def test_tools_that_cannot_be_had_leave_nothing(tmp_path: Path) -> None:
    context, runner = environments(tmp_path)

    def fail() -> None:
        raise EverycoreError("no network")

    runner.during_install = fail
    with pytest.raises(EverycoreError, match="no network"):
        qemu_build._tools(context)
    assert not list((context.cache_dir() / "pauth").iterdir())


def test_another_python_has_tools_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    context, _ = environments(tmp_path)
    before = qemu_build._tools(context)
    monkeypatch.setattr(sys, "version", "3.99.0")
    assert qemu_build._tools(context) != before
