# SPDX-License-Identifier: MIT
"""The tables of `profile` and `doctor` on a terminal of 80 columns."""

import io

import pytest
from rich.console import Console, Group

from everycore.report.explained import plain_rows, profile_table

LONG = "/usr/lib/x86_64-linux-gnu/" + "libcrypto" * 12


@pytest.mark.parametrize(
    "table",
    [
        profile_table([(98.3, "AES-256-GCM", "x86_vaes512", LONG, "EVP_Update")], "Title", ""),
        plain_rows("Libraries", ("Library", "File"), [("OpenSSL 3.0", LONG), ("NSS", "a.so")]),
    ],
    ids=["profile", "doctor"],
)
def test_tables_fit_80_columns_and_cut_nothing(table: Group) -> None:
    shown = io.StringIO()
    Console(file=shown, width=80).print(table)
    assert max(map(len, shown.getvalue().splitlines())) <= 80
    assert "…" not in shown.getvalue()
