# SPDX-License-Identifier: MIT
from pathlib import Path

import pytest

from everycore.matrix.portable_paths import file_named, without_paths

KNOWN, OTHER = [Path("/people/a b/work/linux"), Path("/people/a b/work")], [Path("/people/a b")]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("/people/a b/work/linux/lib/aes.c:12:3: error: no", "lib/aes.c:12:3: error: no"),
        ("/people/a b/work/shims/x.h:1: error: no", "shims/x.h:1: error: no"),
        ("cannot read /people/a b/.cache/e/objects/x.o: gone", "cannot read x.o: gone"),
        ("cannot run '/opt/my gcc/gcc'", "cannot run 'my gcc/gcc'"),
        ("cannot run /opt/gcc/bin/gcc-99", "cannot run gcc-99"),
        ("/usr/include/stdint.h:34: note: here", "/usr/include/stdint.h:34: note: here"),
        ("frame of 4/8 bytes, and/or none", "frame of 4/8 bytes, and/or none"),
        ("a file ../x/y.h of https://x/y", "a file ../x/y.h of https://x/y"),
        ("gcc -I/people/alice/inc/a.h", "gcc -Ia.h"),
        ("-L/people/alice/lib/foo -isystem/opt/x/inc", "-Lfoo -isysteminc"),
        ("x.c:3:/people/alice/b/c.h", "x.c:3:c.h"),
        ("gcc --sysroot=/people/alice/root", "gcc --sysroot=root"),
        ("/libsecret/alice/x.c /devel/y.c", "x.c y.c"),
        ("/usr/local/people/alice/x.h", "x.h"),
        ("/usr/lib/../../people/alice/x.h", "x.h"),
        ("/usr/lib/gcc/12/../x.h /lib64/ld.so", "/usr/lib/gcc/12/../x.h /lib64/ld.so"),
        ("-I/usr/include/x -I/people/a b/work/shims", "-I/usr/include/x -Ishims"),
    ],
)
def test_a_message_says_which_file_and_not_where_it_is_kept(text: str, told: str) -> None:
    assert without_paths(text, KNOWN, OTHER) == told


def test_a_known_folder_within_another_path_is_none() -> None:
    assert without_paths("/people/bob/here/x.c:1: /here/y.c", [Path("/here")]) == "x.c:1: y.c"


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ("linux-6.1", "linux-6.1"),
        ("./mine.toml", "./mine.toml"),
        ("below/mine.toml", "below/mine.toml"),
        ("{cwd}/below/mine.toml", "./below/mine.toml"),
        ("{cwd}/../mine.toml", "mine.toml"),
        ("../other/mine.toml", "../other/mine.toml"),
        ("~/mine.toml", "mine.toml"),
    ],
)
def test_a_file_is_named_from_where_one_stood_or_by_its_name(
    tmp_path: Path, given: str, named: str
) -> None:
    assert file_named(given.format(cwd=tmp_path), tmp_path) == named
