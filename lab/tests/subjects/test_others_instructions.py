# SPDX-License-Identifier: MIT
"""Our kernels for POWER and RISC-V beside OpenSSL's: both counted in one run, by whole calls."""

import pytest
from world import Lab

from everycore import subjects
from everycore.compile.catalog import find_tree
from everycore.subjects import Program, SubjectUnavailableError

pytestmark = pytest.mark.long

LONG = 16384
SIZES = (1, 16, 31, 32, 64, 100, 128, 160, 224, 256, 384, 512, 1024, 1500, 4096)
# By OpenSSL's subject and the mode: our kernel, its instructions of 16 KiB to OpenSSL's at most,
# and the length in bytes from which it needs fewer; whole blocks alone for XTS.
GOALS = [
    ("openssl-ppc64le", "ctr", "ppc_vcipher", 0.9, 1),
    ("openssl-ppc64le", "cbc-enc", "ppc_vcipher", 0.9, 32),
    ("openssl-ppc64le", "cbc-dec", "ppc_vcipher", 0.9, 32),
    ("openssl-ppc64le", "xts-enc", "ppc_vcipher", 0.9, 176),
    ("openssl-ppc64le", "xts-dec", "ppc_vcipher", 0.9, 64),
    ("openssl-ppc64le", "ghash", "ppc_vpmsum", 0.9, 1024),
    ("openssl-ppc64le", "gcm-seal", "ppc_vcipher", 0.9, 1),
    ("openssl-ppc64le", "gcm-open", "ppc_vcipher", 0.9, 1),
    ("openssl-ppc64le", "gcm-p10-seal", "ppc_vcipher", 0.9, 1024),
    ("openssl-ppc64le", "gcm-p10-open", "ppc_vcipher", 0.9, 1024),
    ("openssl-riscv64-zkn", "ctr", "rv64_zkn", 0.95, 1),
    ("openssl-riscv64-zkn", "cbc-enc", "rv64_zkn", 0.95, 64),
    ("openssl-riscv64-zkn", "cbc-dec", "rv64_zkn", 0.95, 16),
    ("openssl-riscv64-zkn", "xts-enc", "rv64_zkn", 0.95, 16),
    ("openssl-riscv64-zkn", "xts-dec", "rv64_zkn", 0.95, 64),
    ("openssl-riscv64-zkn", "ghash", "rv64_zbc", 0.95, 512),
    ("openssl-riscv32-zkn", "ctr", "rv32_zkn", 0.6, 1),
    ("openssl-riscv32-zkn", "cbc-enc", "rv32_zkn", 0.9, 16),
    ("openssl-riscv32-zkn", "cbc-dec", "rv32_zkn", 0.8, 16),
    ("openssl-riscv32-zkn", "xts-enc", "rv32_zkn", 0.6, 16),
    ("openssl-riscv32-zkn", "xts-dec", "rv32_zkn", 0.6, 16),
]


def counts(lab: Lab, program: Program, name: str, sizes: list[int]) -> list[int]:
    function = program.subject.function(name)
    calls = subjects.trace(lab.context(), program, function, 256, sizes)
    return [call.instructions for call in calls]


@pytest.mark.parametrize(
    ("theirs", "mode", "ours", "most", "fewer_from"),
    GOALS,
    ids=[f"{theirs} {mode}" for theirs, mode, *_ in GOALS],
)
def test_our_kernels_execute_fewer_instructions_than_those_of_openssl(
    real_lab: Lab, theirs: str, mode: str, ours: str, most: float, fewer_from: int
) -> None:
    context = real_lab.context()
    tree = find_tree(context.package)
    other = subjects.find_subject(tree, theirs)
    own = subjects.find_subject(tree, ours)
    try:
        programs = [
            subjects.build(context, tree, other),
            subjects.build(context, tree, own, target_name=other.target),
        ]
    except SubjectUnavailableError as error:
        pytest.skip(f"{error.message} ({error.hint})")
    blocks = 16 if mode.startswith("xts") else 1
    names = (mode, mode.replace("-p10", ""))  # OpenSSL's kernel for POWER10
    functions = (other.function(names[0]), own.function(names[1]))
    sizes = [
        size
        for size in (*SIZES, LONG)
        if size >= fewer_from and size % blocks == 0 and all(f.takes(size) for f in functions)
    ]
    of_theirs, of_ours = (
        counts(real_lab, program, name, sizes)
        for program, name in zip(programs, names, strict=True)
    )
    assert of_ours[-1] <= most * of_theirs[-1]
    pairs = zip(sizes, of_ours, of_theirs, strict=True)
    assert [pair for pair in pairs if pair[1] >= pair[2]] == []
