# SPDX-License-Identifier: MIT
import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from library_reads import reads_no_kernel
from world import Lab

from everycore.compile.binaries import build_object, build_tool
from everycore.compile.depends import names_in
from everycore.compile.toolchains import find_compiler
from everycore.environment.context import Completed, SystemRunner
from everycore.environment.errors import EverycoreError
from everycore.model.domain import Compiler, Target

pytestmark = reads_no_kernel


def test_rules_of_make_are_read_with_odd_names() -> None:
    text = "object: /a/x.c \\\n  ../with\\ space.h \\\n\\\n /a/b\\#c.h a$$b.h C:/x.h\n"
    assert names_in(text) == ["/a/x.c", "../with space.h", "/a/b#c.h", "a$b.h", "C:/x.h"]
    assert names_in("object:\n") == names_in("") == []


@dataclass
class Slow:
    """Real processes; a compiler has read everything when something happens, then it ends."""

    happens: Callable[[], None]
    real: SystemRunner = field(default_factory=SystemRunner)

    def run(self, argv: Sequence[str], **options: object) -> Completed:
        done = self.real.run(argv, **options)  # type: ignore[arg-type]
        if "-MD" in argv:
            self.happens()
        return done


@dataclass
class Watched:
    """Real processes, and which files they compiled."""

    real: SystemRunner = field(default_factory=SystemRunner)
    compiled: list[str] = field(default_factory=list)
    meanwhile: Path | None = None  # what somebody writes while the compiler runs

    def run(self, argv: Sequence[str], **options: object) -> Completed:
        if "-MD" in argv:
            self.compiled.append(Path(argv[argv.index("-c") + 1]).name)
            if self.meanwhile:
                self.meanwhile.write_text(self.meanwhile.read_text() + "\n")
        return self.real.run(argv, **options)  # type: ignore[arg-type]


@pytest.fixture
def code(tmp_path: Path) -> Path:
    """A file that reads one beside its folder, and one that only a flag names."""
    folder = tmp_path / "code" / "src"
    folder.mkdir(parents=True)
    (folder.parent / "x.h").write_text("#define X 1\n")
    (folder.parent / "first.h").write_text("#define Y 1\n")
    (folder / "a.c").write_text('#include "../x.h"\nint a(void) { return 4 * X + Y; }\n')
    return folder / "a.c"


@pytest.fixture(params=["gcc", "clang"])
def compiler(real_lab: Lab, request: pytest.FixtureRequest) -> Compiler:
    try:
        found = find_compiler(real_lab.context(), Target("host", ""), request.param, (), "")
    except EverycoreError as error:
        pytest.skip(f"{error.message}: apt-get install {request.param}")
    real_lab.runner = Watched()
    return found


def made(lab: Lab, compiler: Compiler, code: Path) -> Path:
    flags = ["-include", "../first.h"]
    return build_object(lab.context(), compiler, code, flags, cwd=code.parent)


@pytest.mark.parametrize("name", ["x.h", "first.h"])
def test_files_outside_of_all_folders_of_headers_count(
    real_lab: Lab, compiler: Compiler, code: Path, name: str
) -> None:
    before = made(real_lab, compiler, code)
    header = code.parent.parent / name
    text = header.read_text()
    header.write_text(text.replace("1", "2"))
    after = made(real_lab, compiler, code)
    assert after.read_bytes() != before.read_bytes()
    header.write_text(text)
    assert made(real_lab, compiler, code) == before
    assert real_lab.runner.compiled == ["a.c", "a.c"]


def test_the_same_file_elsewhere_has_the_headers_from_there(
    real_lab: Lab, compiler: Compiler, code: Path, tmp_path: Path
) -> None:
    before = made(real_lab, compiler, code)
    shutil.copytree(tmp_path / "code", tmp_path / "other")
    (tmp_path / "other/x.h").write_text("#define X 3\n")
    other = made(real_lab, compiler, tmp_path / "other/src/a.c")
    assert other.read_bytes() != before.read_bytes()


def test_a_header_that_is_gone_is_missed(real_lab: Lab, compiler: Compiler, code: Path) -> None:
    made(real_lab, compiler, code)
    (code.parent.parent / "x.h").unlink()
    with pytest.raises(EverycoreError, match=r"cannot compile a\.c") as error:
        made(real_lab, compiler, code)
    assert "x.h" in error.value.hint


def test_what_was_written_while_the_compiler_ran_is_compiled_again(
    real_lab: Lab, compiler: Compiler, code: Path
) -> None:
    real_lab.runner.meanwhile = code.parent.parent / "x.h"
    made(real_lab, compiler, code)
    real_lab.runner.meanwhile = None
    made(real_lab, compiler, code)
    made(real_lab, compiler, code)
    assert real_lab.runner.compiled == ["a.c", "a.c"]


def test_a_run_that_was_overtaken_leaves_the_object_of_the_other_alone(
    real_lab: Lab, compiler: Compiler, code: Path
) -> None:
    quick: list[tuple[Path, bytes]] = []

    def another_run() -> None:
        real_lab.runner = Watched()
        (code.parent.parent / "x.h").write_text("#define X 2\n")
        path = made(real_lab, compiler, code)
        quick.append((path, path.read_bytes()))

    real_lab.runner = Slow(another_run)
    overtaken = made(real_lab, compiler, code)
    (path, of_two) = quick[0]
    assert overtaken != path
    assert overtaken.read_bytes() != of_two
    assert path.read_bytes() == of_two
    assert made(real_lab, compiler, code) == path
    assert real_lab.runner.compiled == ["a.c"]


def test_a_damaged_memory_of_what_was_read_is_none(
    real_lab: Lab, compiler: Compiler, code: Path
) -> None:
    before = made(real_lab, compiler, code)
    for path in before.parent.glob("*.read"):
        path.write_text('[{"names": ')
    assert made(real_lab, compiler, code) == before
    assert real_lab.runner.compiled == ["a.c", "a.c"]


def test_a_program_is_made_again_when_a_header_of_one_source_changes(
    real_lab: Lab, compiler: Compiler, code: Path
) -> None:
    main = code.with_name("main.c")
    main.write_text("int a(void);\nint main(void) { return a(); }\n")
    flags = [f"-include{code.parent.parent / 'first.h'}"]
    codes = []
    for text in ("#define Y 1\n", "#define Y 2\n", "#define Y 1\n"):
        (code.parent.parent / "first.h").write_text(text)
        program = build_tool(real_lab.context(), compiler, [main, code], flags)
        codes.append(os.waitstatus_to_exitcode(os.system(str(program))))
    assert codes == [5, 6, 5]
