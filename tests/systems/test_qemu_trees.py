#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""patch-qemu on sources of QEMU as Debian has them: patched, and restored by --remove.

Of each version that catalog/subjects/ pins, the files that the script reads are fetched once.
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "contrib/qemu/patch-qemu"
SUBJECTS = ("qemu-7.2", "qemu-10.0")
HOOKS = ("begin.c.inc", "mac.c.inc", "helpers.c.inc")


class FailedError(Exception):
    """A tree is not as it should be."""


def fetched(name: str) -> pathlib.Path:
    """The folder with a subject's sources. Raises SubjectUnavailableError."""
    from everycore import subjects
    from everycore.compile.catalog import find_tree
    from everycore.environment.context import system_context

    context = system_context()
    tree = find_tree(context.package, str(ROOT))
    return subjects.sources(context, subjects.find_subject(tree, name))[0]


def contents(tree: pathlib.Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(tree)): path.read_bytes() for path in tree.rglob("*") if path.is_file()
    }


def run(*words: str | pathlib.Path) -> None:
    done = subprocess.run(
        [sys.executable, SCRIPT, *words], stderr=subprocess.PIPE, text=True, check=False
    )
    if done.returncode:
        raise FailedError(done.stderr.strip())


def try_tree(source: pathlib.Path, folder: pathlib.Path) -> None:
    """Lines of ours appear, in this order, and no other line changes; then they are gone."""
    tree = folder / "tree"
    shutil.copytree(source, tree)
    before = contents(tree)
    run(tree)
    patched = contents(tree)
    helper = next(name for name in before if name.endswith("/pauth_helper.c"))
    build = str(pathlib.PurePath(helper).with_name("meson.build"))
    for name in before:
        lines = patched[name].decode().splitlines(keepends=True)
        ours = [line for line in lines if "contrib/qemu/patch-qemu" in line]
        if "".join(line for line in lines if line not in ours).encode() != before[name]:
            raise FailedError(f"lines of {name} that are not ours differ")
        if name == helper and [line.split('"')[1] for line in ours] != [
            f"everycore/{hook}" for hook in HOOKS
        ]:
            raise FailedError(f"{name} has other hooks: {ours}")
        if bool(ours) != (name in (helper, build)):
            raise FailedError(f"{name} has {len(ours)} lines of ours")
    if not any(name.endswith("everycore/tree.h") for name in patched):
        raise FailedError("there is no tree.h")
    run("--remove", tree)
    if contents(tree) != before:
        raise FailedError("the tree is not as it was")


def main() -> int:
    from everycore.environment.errors import EverycoreError
    from everycore.subjects import SubjectUnavailableError

    passed = failed = skipped = 0
    for name in SUBJECTS:
        try:
            source = fetched(name)
            with tempfile.TemporaryDirectory() as folder:
                try_tree(source, pathlib.Path(folder))
            passed += 1
        except SubjectUnavailableError as error:
            print(f"skipped: {name}: {error.message}")
            skipped += 1
        except (FailedError, EverycoreError) as error:
            print(f"FAILED: {name}: {error}")
            failed += 1
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
