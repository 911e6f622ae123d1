# SPDX-License-Identifier: MIT
"""Options and fixtures of the tests of whole systems."""

import os
import pathlib
import sys

import pytest
from provider_module import module_of


def pytest_addoption(parser: pytest.Parser) -> None:
    add = parser.getgroup("everycore").addoption
    add("--rounds", type=int, default=200, help="rounds of test_farm_kills.py")
    add("--seed", type=int, default=1, help="seed of what is drawn")
    add("--cpu", action="append", default=[], help="only this CPU, in test_pac_el1.py")
    add("--qemu", action="append", default=[], help="ask this qemu-system-aarch64 instead")
    add("--record", action="store_true", help="write the sample of test_pac_el1.py anew")
    add("--sign-only", action="store_true", help="count signatures of OpenSSL, run no tests of it")
    add("--steps", default="", help="only these steps of make test, in test_fresh_machines.py")
    add("--store", action="store_true", help="store the counts instead of comparing them")
    add("--module", type=pathlib.Path, help="this everycore.so, in test_openssl_provider*.py")
    add("--out", type=pathlib.Path, help="add the result to this file, as a line of JSON")


@pytest.fixture(scope="session", autouse=True)
def environment() -> None:
    """Let programs speak English, and find Meson and ninja beside this Python."""
    os.environ.setdefault("LC_ALL", "C.UTF-8")
    os.environ["PATH"] = f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"


@pytest.fixture(scope="session")
def provider(pytestconfig: pytest.Config) -> pathlib.Path:
    """The provider for OpenSSL."""
    return module_of(pytestconfig.getoption("module"))
