# SPDX-License-Identifier: MIT
"""Stored samples of libraries that were built without assembly: explained where they are absent.

Made from Debian's sources: OpenSSL 3.0.20 with `no-asm`, running `openssl dhparam 1024`; nettle
3.8.1 with `--disable-fat`, running AES-GCM. Regions with few samples were left out.
"""

import json
from pathlib import Path

import pytest
from world import DATA, Lab

NO_ASM, NO_FAT = DATA / "profile_no_asm.jsonl", DATA / "profile_no_fat.jsonl"


def answer(lab: Lab, file: Path) -> dict[str, float]:
    rows = json.loads(lab("profile", "--load", str(file), "--json").out)["rows"]
    found: dict[str, float] = {}
    for row in rows:
        name = f"{row['computes']}: {row['implementation']}"
        found[name] = found.get(name, 0.0) + row["share"]
    return found


def test_a_libcrypto_without_assembly_is_named_with_its_cause(lab: Lab) -> None:
    found = answer(lab, NO_ASM)
    assert sum(found[name] for name in found if ": generic C" in name) > 50
    shown = " ".join(lab("profile", "--load", str(NO_ASM)).out.split())
    assert "OpenSSL 3.0.20" in shown
    assert "this libcrypto was built without assembly (no-asm)" in shown
    assert "a search for primes" in shown


def test_a_nettle_without_fat_binaries_is_named_with_its_cause(lab: Lab) -> None:
    found = answer(lab, NO_FAT)
    assert found["AES: T-tables"] > 50
    assert found["GHASH: table"] > 20
    shown = " ".join(lab("profile", "--load", str(NO_FAT)).out.split())
    assert "nettle was built without fat binaries" in shown


@pytest.mark.parametrize("file", [NO_ASM, NO_FAT], ids=["no-asm", "no-fat"])
def test_causes_come_from_the_facts_that_were_stored_with_the_samples(
    lab: Lab, file: Path, tmp_path: Path
) -> None:
    """The library is not on this machine; a file of another version takes no part either."""
    head, *rest = file.read_text().splitlines()
    bare = json.loads(head)
    assert not any(Path(path).exists() for path in bare.pop("files"))
    without = tmp_path / "without.jsonl"
    without.write_text("\n".join([json.dumps(bare), *rest]) + "\n")
    shown = " ".join(lab("profile", "--load", str(without)).out.split())
    assert "was built without" not in shown
