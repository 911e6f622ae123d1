# SPDX-License-Identifier: MIT
"""The patches of `patch-qemu --series`: our files and edits on QEMU's, in a scratch repository.

series/series.toml says what each patch adds and edits. QEMU's files come from the tree, which is
only read: the patches apply to it with `git am`, and are signed off by whom git knows as the user.
"""

import json
import lzma
import os
import shutil
import subprocess
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
SERIES = HERE / "series"
RESULTS = HERE.parent.parent / "results"
AFTER = " series"  # how `everycore pauth` names an emulator that has the series
OUR_LICENCE = "SPDX-License-Identifier: MIT OR GPL-2.0-or-later"
QEMU_LICENCE = "SPDX-License-Identifier: GPL-2.0-or-later"
POSITIONS = ("before", "after", "instead")
AUTHOR = "@AUTHOR@"
BLURB, SUBJECT = "*** BLURB HERE ***", "*** SUBJECT HERE ***"


class SeriesError(Exception):
    """The series does not fit the tree, or git cannot write it: one line that says so."""


def write_series(tree: Path, folder: Path) -> list[str]:
    """Write the patches and their cover letter to a new folder, and return their names."""
    if folder.exists() and any(folder.iterdir()):
        raise SeriesError(f"{folder} is not empty; name a new folder, for it gets a whole series")
    plan = tomllib.loads((SERIES / "series.toml").read_text(encoding="utf-8"))
    git = _git()
    with tempfile.TemporaryDirectory(prefix="series-") as name:
        scratch = Path(name)
        _begin(git, tree, scratch, plan["patch"])
        for patch in plan["patch"]:
            _apply(scratch, patch, author=f"{git['GIT_AUTHOR_NAME']} <{git['GIT_AUTHOR_EMAIL']}>")
            message = f"{patch['subject']}\n\n{patch['message'].strip()}\n"
            _run(git, scratch, "add", "--all")
            _run(git, scratch, "commit", "--quiet", "--signoff", "--message", message)
        out = scratch / "patches"
        count = str(len(plan["patch"]))
        _run(git, scratch, "format-patch", "--quiet", "--cover-letter", "-o", str(out), f"-{count}")
        _fill_cover(next(out.glob("0000-*")), plan["cover"], tables(RESULTS))
        names = sorted(path.name for path in out.iterdir())
        folder.mkdir(parents=True, exist_ok=True)
        for patch_name in names:
            shutil.copyfile(out / patch_name, folder / patch_name)
    return names


# ---- Edits --------------------------------------------------------------------------------------


def edited(text: str, edit: Mapping[str, str]) -> str:
    """The text with one edit. Raises SeriesError if its lines do not occur exactly once."""
    found = [name for name in POSITIONS if name in edit]
    if len(found) != 1:
        raise SeriesError(f"series.toml: an edit of {edit['file']} needs one of {POSITIONS}")
    anchor = edit[found[0]].strip("\n") + "\n"
    count = ("\n" + text).count("\n" + anchor)
    if count != 1:
        first = anchor.split("\n", maxsplit=1)[0]
        raise SeriesError(
            f"{edit['file']} has the line '{first.strip()}' {count} times as expected, not once: "
            "the series does not know this version of QEMU"
        )
    at = ("\n" + text).index("\n" + anchor)
    start, end = at + len(anchor) * (found[0] == "after"), at + len(anchor) * (found[0] != "before")
    return text[:start] + edit["text"] + text[end:]


def _apply(root: Path, patch: Mapping[str, Any], author: str) -> None:
    for name in patch.get("new", ()):
        target = root / name
        target.parent.mkdir(parents=True, exist_ok=True)
        text = (SERIES / name).read_text(encoding="utf-8")
        if OUR_LICENCE not in text:
            raise SeriesError(f"{SERIES / name} has no line with {OUR_LICENCE}")
        target.write_text(text.replace(OUR_LICENCE, QEMU_LICENCE), encoding="utf-8")
    for edit in patch.get("edit", ()):
        path = root / edit["file"]
        filled = {key: value.replace(AUTHOR, author) for key, value in edit.items()}
        path.write_text(edited(path.read_text(encoding="utf-8"), filled), encoding="utf-8")


# ---- Measurements -------------------------------------------------------------------------------


def tables(results: Path) -> str:
    """Text for the cover letter: seconds before and after, of the stored run of each machine.

    A run counts if it timed one version of QEMU with the series and without it.
    """
    found = [text for path in sorted(results.glob("*/pauth.jsonl.xz")) if (text := _table(path))]
    return "\n\n".join(found)


def _table(path: Path) -> str:
    with lzma.open(path, "rt", encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    run = lines[0]
    seconds = {
        (line["program"], line["algorithm"], line["emulator"]): line["seconds"]
        for line in lines
        if line["type"] == "pauth" and not line["wrong"]
    }
    rows, pairs = [], 0
    for (program, algorithm, emulator), after in seconds.items():
        if not emulator.endswith(AFTER):
            continue
        before = seconds.get((program, algorithm, emulator.removesuffix(AFTER)))
        pairs += before is not None
        row = f"  {program:<10} {algorithm:<10} "
        row += (
            f"{'-':>8} {after:8.3f} {'-':>6}"
            if before is None
            else f"{before:8.3f} {after:8.3f} {before / after:6.2f}"
        )
        rows.append(row)
    if not pairs:
        return ""
    machine, emulators = run["machine"], {name for _, _, name in seconds}
    version = min(emulators, key=len)
    head = (
        f"User time in seconds, the median of {run['options']['rounds']} runs: {version} without\n"
        f"and with the series, on {machine['cpu']} family {machine['family']} model "
        f"{machine['model']},\nguests by {run['compiler']} {run['flags'][0]}, {run['date'][:10]}."
    )
    columns = f"  {'program':<10} {'algorithm':<10} {'without':>8} {'with':>8} {'ratio':>6}"
    return "\n".join([head, "", columns, *rows])


# ---- git ----------------------------------------------------------------------------------------


def _git() -> dict[str, str]:
    """The environment of git: no configuration of the user's but name and address."""
    known = {}
    for field in ("name", "email"):
        variable = f"GIT_AUTHOR_{field.upper()}"
        value = os.environ.get(variable) or _asked(f"user.{field}")
        if not value:
            raise SeriesError(
                f"git knows no user.{field}, and patches for QEMU are signed off; "
                f"set it: git config --global user.{field} ..."
            )
        known[variable] = known[variable.replace("AUTHOR", "COMMITTER")] = value
    return {**os.environ, **known, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}


def _asked(name: str) -> str:
    try:
        done = subprocess.run(
            ["git", "config", "--get", name], capture_output=True, text=True, check=False
        )
    except FileNotFoundError as error:
        raise SeriesError("there is no git, which writes the patches; install it") from error
    return done.stdout.strip()


def _run(env: Mapping[str, str], root: Path, *words: str) -> None:
    done = subprocess.run(
        ["git", *words],
        cwd=root,
        env=dict(env),
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode:
        said = done.stderr.strip().splitlines() or ["no message"]
        raise SeriesError(f"git {words[0]}: {said[-1]}")


def _begin(
    git: Mapping[str, str], tree: Path, scratch: Path, patches: Sequence[Mapping[str, Any]]
) -> None:
    """A repository with the files of the tree that the series edits."""
    ours = {name for patch in patches for name in patch.get("new", ())}
    for name in sorted({edit["file"] for patch in patches for edit in patch.get("edit", ())}):
        if not (tree / name).is_file():
            raise SeriesError(f"{tree} has no {name}, which the series edits")
        (scratch / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(tree / name, scratch / name)
    for name in ours:
        if (tree / name).exists():
            raise SeriesError(f"{tree} has {name} already: the series was applied")
    _run(git, scratch, "init", "--quiet", "--initial-branch=series")
    _run(git, scratch, "add", "--all")
    _run(git, scratch, "commit", "--quiet", "--message", "QEMU's files")


def _fill_cover(path: Path, cover: Mapping[str, str], tables: str) -> None:
    text = path.read_text(encoding="utf-8")
    blurb = "\n".join(part for part in (cover["text"].strip("\n") + "\n", tables) if part)
    if SUBJECT not in text or BLURB not in text:
        raise SeriesError(f"git wrote a cover letter without {SUBJECT} and {BLURB}")
    filled = text.replace(SUBJECT, cover["subject"]).replace(BLURB, blurb.rstrip("\n"))
    path.write_text(filled, encoding="utf-8")
