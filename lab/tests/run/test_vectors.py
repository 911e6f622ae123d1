# SPDX-License-Identifier: MIT
from pathlib import Path

import pytest

from everycore.run import vectors
from everycore.run.vectors import Case

CBC = """# CAVS 11.1
[ENCRYPT]

COUNT = 0
KEY = 00
IV = 11
PLAINTEXT = AA
CIPHERTEXT = BB

[DECRYPT]

COUNT = 0
KEY = 02
IV = 12
CIPHERTEXT = CC
PLAINTEXT = DD
"""

VADT = """Plen = 2
Nlen = 7
Tlen = 4

[Alen = 0]

Key = 01
Nonce = 02020202020202

Count = 0
Adata = 00
Payload = aabb
CT = ccdd01020304

[Alen = 1]

Key = 03

Count = 0
Nonce = 04040404040404
Adata = 05
Payload = eeff
CT = 11220a0b0c0d
"""

DVPT = """[Alen = 0, Plen = 0, Nlen = 7, Tlen = 4]

Key = 01

Count = 0
Nonce = 5a8aa485c316e9
Adata = 00
CT = 02209f55
Result = Pass
Payload = 00

Count = 1
Nonce = 3796cf51b87266
Adata = 00
CT = 9a04c241
Result = Fail
"""


def file_lines(tmp_path: Path, text: str, to_lines: object) -> list[str]:
    path = tmp_path / "x.rsp"
    path.write_text(text)
    return list(vectors.lines(vectors.VectorFile("x.rsp", path, vectors.each(to_lines))))  # type: ignore[arg-type]


def test_sections_give_the_direction(tmp_path: Path) -> None:
    assert file_lines(tmp_path, CBC, vectors._block_lines("cbc")) == [
        "aes cbc-enc * key=00 iv=11 in=aa out=bb id=cbc-enc/0",
        "aes cbc-dec * key=02 iv=12 in=cc out=dd id=cbc-dec/0",
    ]


def test_values_of_a_head_hold_for_all_that_follow() -> None:
    first, second = vectors.parse(VADT)
    assert first.values["nonce"] == "02020202020202"
    assert (first.values["alen"], second.values["alen"]) == ("0", "1")
    assert (first.values["key"], second.values["key"]) == ("01", "03")
    assert second.values["plen"] == "2"


def test_ccm_text_and_tag_are_told_apart_and_placeholders_dropped(tmp_path: Path) -> None:
    lines = file_lines(tmp_path, VADT, vectors._ccm_lines)
    assert lines[0] == (
        "aes ccm-seal * key=01 nonce=02020202020202 aad= tag=01020304 in=aabb out=ccdd"
        " id=ccm-seal/0-2-7-4/0"
    )
    assert lines[3].startswith("aes ccm-open * key=03 nonce=04040404040404 aad=05 tag=0a0b0c0d")


def test_a_wrong_tag_must_be_refused(tmp_path: Path) -> None:
    lines = file_lines(tmp_path, DVPT, vectors._ccm_lines)
    assert [line.split()[1] for line in lines] == ["ccm-seal", "ccm-open", "ccm-open"]
    assert " in= out= " in lines[1]
    assert " out=fail " in lines[2]


def test_xts_keys_are_halved_and_sequence_numbers_are_little_endian() -> None:
    values = {
        "dataunitlen": "128",
        "key": "0102",
        "dataunitseqnumber": "258",
        "pt": "aa",
        "ct": "bb",
    }
    (line,) = vectors._xts_lines(Case("7", True, values))
    assert "key=01 key2=02 iv=0201" + "00" * 14 + " in=bb out=aa" in line
    assert vectors._xts_lines(Case("8", True, values | {"dataunitlen": "130"})) == []


def test_the_package_is_read_whole() -> None:
    files = vectors.find_files()
    if files is None:
        pytest.skip("pip install cryptography-vectors")
    lines = {file.name: list(vectors.lines(file)) for file in files}
    count = {name: len(own) for name, own in lines.items()}
    assert count["ECB/ECBMMT128.rsp"] == 20
    assert count["CBC/CBCVarTxt256.rsp"] == 256
    assert count["CMAC/nist-800-38b-aes128.txt"] == 4
    assert count["CTR/aes-256-ctr.txt"] == 3
    assert count["XTS/tweak-128hexstr/XTSGenAES128.rsp"] == 800
    assert count["CCM/VNT192.rsp"] == 2 * 70
    assert count["KW/KW_AD_128.txt"] == 500
    assert count["KW/KWP_AE_256.txt"] == 500
    assert count["SHA2/SHA256ShortMsg.rsp"] == 65
    assert count["SHA2/SHA512_256LongMsg.rsp"] == 128
    assert count["SHA2/SHA384Monte.rsp"] == 10
    assert not any("SHA512_224" in name for name in count)
    assert any("out=fail" in line for line in lines["KW/KWP_AD_192.txt"])
    assert all(count.values())
    for own in lines.values():
        for line in own:
            assert len(line.split()) == len(line.split(" ")), line
