# SPDX-License-Identifier: MIT
"""Programs of tools, contrib and tests/mutants that check something and count it themselves."""

import os
import sys

import pytest
from reads import ARITHMETIC, CIPHERS, LIBRARY
from running import must, program

SLOW, LONG = pytest.mark.slow, pytest.mark.long
KERNEL = pytest.mark.reads("src/", "include/", "contrib/linux/")
PROFILE = pytest.mark.reads(
    "tests/corpus/", "lab/everycore/explain/", "lab/everycore/environment/", "lab/everycore/binary/"
)
FUZZ_SECONDS = os.environ.get("FUZZ_SECONDS", "600")


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(words.split(), id=words, marks=marks)
        for words, *marks in (
            ("tests/mutants/run --changed --at-most 25",),
            ("tests/mutants/run --all", LONG),
            ("tools/check-compile --quick",),
            ("tools/check-compile", LONG),
            (
                "tools/check-vzeroupper --compile --quick",
                pytest.mark.reads(*LIBRARY, "tools/check-vzeroupper", isa="x86"),
            ),
            ("tools/check-vzeroupper --compile", LONG),
            ("tools/check-spills --quick", pytest.mark.reads(*LIBRARY, "tools/check-spills")),
            ("tools/check-spills", LONG),
            (
                "tools/budgets",
                SLOW,
                pytest.mark.reads(
                    *(*LIBRARY, "tools/budgets", "tools/costs/", "lab/everycore/estimate/"),
                    isa="a64 a32",
                    primitives=CIPHERS,
                ),
            ),
            (
                "tools/count-footprint --check --only cortex-m4 --no-emulator",
                pytest.mark.reads(
                    *LIBRARY, "tools/count-footprint", "tools/costs/", "contrib/cortex-m/"
                ),
            ),
            ("tools/count-footprint --check --only cortex-m4", LONG),
            (
                "tools/count-words --check",
                SLOW,
                pytest.mark.reads(*LIBRARY, "tools/count-words", "tools/costs/"),
            ),
            (
                "tools/count-costs --check",
                pytest.mark.reads(*LIBRARY, "tools/count-costs", "tools/costs/"),
            ),
            ("tools/check-tree",),
            ("tools/check-tree --self-test", LONG),
            ("tools/bench-query", LONG),
            (f"tools/fuzz --seconds {FUZZ_SECONDS}", LONG),
            (f"tools/fuzz --target rsa_key_file --seconds {FUZZ_SECONDS}", LONG),
            (
                "tests/oracles/openssl_arithmetic.py --breaks 20",
                SLOW,
                pytest.mark.reads(*LIBRARY, "contrib/openssl/", primitives=ARITHMETIC),
            ),
            ("tests/oracles/openssl_arithmetic.py", LONG),
            ("tests/corpus/record.py --check --short", PROFILE),
            ("tests/corpus/record.py --check", LONG),
            ("contrib/linux/boot-test arm64-6.1", SLOW, KERNEL),
            ("contrib/linux/boot-test amd64-6.1 --build", SLOW, KERNEL),
            (
                "contrib/linux/boot-test arm64-6.1 amd64-6.1 --counts contrib/linux/counts.json",
                LONG,
            ),
            ("contrib/linux/boot-test", LONG),
        )
    ],
)
def test_program(words: list[str], notes: list[str]) -> None:
    program(words, notes)


@pytest.mark.parametrize(
    "words", [["ruff", "check"], ["ruff", "format", "--check"], ["mypy"]], ids=" ".join
)
def test_style(words: list[str]) -> None:
    """Lint, format and types of all Python files."""
    must("style", [sys.executable, "-m", *words])
