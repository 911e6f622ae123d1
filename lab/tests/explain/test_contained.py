# SPDX-License-Identifier: MIT
"""Instructions of a file are decided by decoding: their bytes elsewhere are none."""

import shutil
import subprocess
from pathlib import Path

import pytest
from tiny_elf import AARCH64, AESENC, NOP, elf

from everycore.explain.contained import instructions_in, lacking

VAESENC = bytes.fromhex("c4e271dcc2")  # vaesenc xmm0, xmm1, xmm2
WIDE = bytes.fromhex("c4e275dcc2")  # vaesenc ymm0, ymm1, ymm2
WIDEST = bytes.fromhex("62f27548dcc2")  # vaesenc zmm0, zmm1, zmm2
CLMUL = bytes.fromhex("660f3a44c100")  # pclmulqdq xmm0, xmm1, 0
SHA = bytes.fromhex("0f38cbc1")  # sha256rnds2 xmm0, xmm1
MULX = bytes.fromhex("c4e2f3f6c2")  # mulx rax, rcx, rdx
IMMEDIATE = bytes.fromhex("b80f38dcc1")  # mov eax, 0xc1dc380f
AESE = bytes.fromhex("2048284e")  # aese v0.16b, v1.16b


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (AESENC, "aes"),
        (VAESENC, "aes"),
        (CLMUL, "clmul"),
        (SHA, "sha"),
        (MULX, "mulx"),
        (WIDE, "aes vaes"),
        (WIDEST, "aes vaes"),
    ],
)
def test_each_kind_of_instructions_is_found(tmp_path: Path, code: bytes, kind: str) -> None:
    found = instructions_in(elf(tmp_path / "x", NOP * 80 + (code + NOP * 3) * 4 + NOP * 80))
    assert [name for name, has in found.items() if has] == kind.split()


def test_bytes_inside_of_another_instruction_are_none(tmp_path: Path) -> None:
    place = elf(tmp_path / "x", NOP * 80 + (IMMEDIATE + NOP * 3) * 9)
    assert instructions_in(place)["aes"] is False
    assert lacking(place, "aes")


def test_bytes_in_data_are_none(tmp_path: Path) -> None:
    code = NOP * 80 + (AESENC + NOP * 3) * 4 + NOP * 80
    assert lacking(elf(tmp_path / "data", code, flags=4), "aes")
    assert not lacking(elf(tmp_path / "code", code, flags=5), "aes")


def test_arm_instructions_stand_at_multiples_of_four(tmp_path: Path) -> None:
    plain = bytes.fromhex("0000018b") * 8  # add x0, x0, x1
    found = instructions_in(elf(tmp_path / "x", plain + AESE * 2, machine=AARCH64))
    assert found == {"aes": True, "clmul": False, "sha": False}
    shifted = elf(tmp_path / "y", plain + b"\0\0" + AESE * 2, machine=AARCH64)
    assert instructions_in(shifted)["aes"] is False


def test_nothing_is_said_of_what_cannot_be_read_or_does_not_exist_there(tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.write_bytes(AESENC * 9)
    assert instructions_in(str(broken)) == {}
    assert not lacking(str(broken), "aes")
    arm = elf(tmp_path / "arm", bytes(64), machine=AARCH64)
    assert not lacking(arm, "mulx")  # a kind of x86 alone


def test_a_function_with_bounds_is_decoded_from_its_beginning(tmp_path: Path) -> None:
    if not shutil.which("cc"):
        pytest.skip("no C compiler: apt-get install gcc libc6-dev")
    source = tmp_path / "x.s"
    # The table in .text has the bytes of aesenc, and no function holds it.
    source.write_text(
        ".text\n.globl f\n.type f, @function\nf: .cfi_startproc\n"
        ".byte 0xb8, 0x0f, 0x38, 0xdc, 0xc1\nret\n.cfi_endproc\n.size f, .-f\n"
        ".globl g\n.type g, @function\ng: .cfi_startproc\n.byte 0x66, 0x0f, 0x3a, 0x44, 0xc1, 0\n"
        'ret\n.cfi_endproc\n.size g, .-g\n.section .note.GNU-stack,"",@progbits\n'
    )
    library = tmp_path / "x.so"
    argv = ["cc", "-shared", "-nostdlib", "-o", str(library), str(source)]
    if subprocess.run(argv, capture_output=True, check=False).returncode:
        pytest.skip("this compiler is for another CPU than x86-64")
    found = instructions_in(str(library))
    assert found["clmul"] is True  # one is enough where bounds are known
    assert found["aes"] is False
