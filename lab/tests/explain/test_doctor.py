# SPDX-License-Identifier: MIT
"""`everycore doctor`: facts of the machine, verdicts on libraries, probes."""

import json
import os
import platform
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from world import Lab

from everycore.commands import doctor as command
from everycore.explain import health, probe
from everycore.explain.health import Installed, KernelAlgorithm
from everycore.explain.libraries import identify
from everycore.explain.probing import Probed, probe_library, too_slow
from everycore.report.explained import slow_sentence, speed_rows
from everycore.run.own_speeds import OwnSpeeds, measure_own

CRYPTO = """\
name         : xts(aes)
driver       : xts-aes-vaes-avx512
priority     : 800
internal     : no

name         : xts(aes)
driver       : xts(ecb(aes-generic))
priority     : 100
internal     : no

name         : aes
driver       : aes-generic
priority     : 100

name         : cbc(aes)
driver       : __cbc-aes-aesni
priority     : 900
internal     : yes
"""
CPUINFO = """\
vendor_id	: AuthenticAMD
cpu family	: 25
model name	: AMD EPYC
flags		: fpu pclmulqdq sha_ni avx2 bmi2 adx vaes hypervisor
"""
HAS = dict.fromkeys(("aes", "clmul", "sha", "mulx", "vaes"), True)
GOOD = Installed("/lib/libcrypto.so.3", "OpenSSL", "3", HAS)
SHA_MASK = "OPENSSL_ia32cap=:~0x20000000"
FLAGS = ("aes", "pclmulqdq", "sha_ni", "bmi2", "vaes", "avx512vl")


def test_the_kernel_resolves_to_the_driver_of_the_highest_priority() -> None:
    found = health.kernel_algorithms(CRYPTO, ("xts(aes)", "aes", "cbc(aes)"))
    assert [algorithm.driver for algorithm in found] == ["xts-aes-vaes-avx512", "aes-generic", ""]
    assert [algorithm.is_slow for algorithm in found] == [False, True, False]
    assert "not registered" in found[2].resolved


def test_features_that_a_hypervisor_hides_are_named() -> None:
    cpu = health.cpu(CPUINFO)
    assert cpu.is_virtual
    assert cpu.hidden == ("aes", "vpclmulqdq")
    assert health.cpu(CPUINFO.replace("AuthenticAMD", "Other")).hidden == ()
    intel = CPUINFO.replace("AuthenticAMD", "GenuineIntel").replace("25", "6\nmodel\t\t: 207")
    assert health.cpu(intel).hidden == ("aes", "avx512f", "vpclmulqdq", "avx512ifma", "gfni")
    assert health.cpu(intel.replace("207", "151")).hidden == ()  # a client's: some lack features


@pytest.mark.parametrize(
    ("library", "environment", "words"),
    [
        (GOOD, {}, "uses the CPU's instructions"),
        (
            replace(GOOD, instructions={**dict.fromkeys(HAS, False), "mulx": True}),
            {},
            "has no code for aes, pclmulqdq, sha_ni",
        ),
        (replace(GOOD, instructions=HAS | {"vaes": False}), {}, "has no code for vaes"),
        (replace(GOOD, name="libgcrypt", instructions=HAS | {"vaes": False}), {}, "uses the CPU's"),
        (replace(GOOD, deleted={7: "sshd"}), {}, "sshd still runs a file that was replaced"),
        (replace(GOOD, processes={7: "x"}, masks={7: ["OPENSSL_ia32cap=0"]}), {}, "x runs it with"),
        (GOOD, {"OPENSSL_ia32cap": "0"}, "OPENSSL_ia32cap is set here"),
        (GOOD, {"OPENSSL_ia32cap": "0xffffffffffffffff:0xffffffffffffffff"}, "uses the CPU's"),
        (GOOD, {"OPENSSL_armcap": "0"}, "uses the CPU's"),
        (replace(GOOD, name="libgcrypt"), {"OPENSSL_ia32cap": "0"}, "uses the CPU's"),
        (replace(GOOD, masks={7: ["OPENSSL_ia32cap=~0x0:~0x0"]}), {}, "uses the CPU's"),
        (
            replace(GOOD, processes={7: "x"}, masks={6: ["OPENSSL_ia32cap=~0:~0"], 7: [SHA_MASK]}),
            {},
            "x runs it with OPENSSL_ia32cap=:~0x20000000",
        ),
        (replace(GOOD, unread={7: "server"}), {}, "the variables of server cannot be read"),
        # A program of ours that only hashes.
        (Installed("/bin/x", "everycore", "", HAS | {"aes": False}), {}, "uses the CPU's"),
        (
            Installed("/lib/libeverycore.so.0", "everycore", "", HAS | {"aes": False}),
            {},
            "has no code for aes",
        ),
    ],
)
def test_a_library_gets_one_verdict(
    library: Installed, environment: dict[str, str], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    assert words in health.verdict(library, FLAGS, environment)[0]


def test_wide_aes_is_missed_with_avx512_alone() -> None:
    """OpenSSL 3.6 has no code for a CPU with VAES and without AVX-512 either."""
    library = replace(GOOD, instructions=HAS | {"vaes": False})
    assert "newer OpenSSL" in health.verdict(library, FLAGS, {})[1]
    assert health.verdict(library, FLAGS[:-1], {})[1] == ""


def test_processes_are_found_with_masks_and_replaced_files(tmp_path: Path) -> None:
    for pid, mark in ((11, ""), (12, " (deleted)")):
        folder = tmp_path / str(pid)
        folder.mkdir()
        (folder / "maps").write_text(f"1000-2000 r-xp 0 00:00 1 /lib/libcrypto.so.3{mark}\n")
        (folder / "comm").write_text("server\n")
        (folder / "environ").write_bytes(b"HOME=/x\0OPENSSL_ia32cap=~0x2\0")
    found = [replace(GOOD, processes={}, deleted={}, masks={})]
    health.add_processes(found, tmp_path)
    assert found[0].processes == {11: "server"}
    assert found[0].deleted == {12: "server"}
    assert found[0].masks[11] == ["OPENSSL_ia32cap=~0x2"]


def test_masks_are_those_that_the_library_of_a_process_reads(tmp_path: Path) -> None:
    """A process that wrote its title over its environment is no process without masks."""
    for pid, environ in (
        (21, b"OPENSSL_ia32cap=~0x2\0GODEBUG=cpu.all=off\0NETTLE_FAT_OVERRIDE=vendor:amd\0"),
        (22, b"server: worker of a pool\0\0\0\0OME=/x\0"),
    ):
        folder = tmp_path / str(pid)
        folder.mkdir()
        (folder / "maps").write_text(
            "1000-2000 r-xp 0 00:00 1 /lib/libcrypto.so.3\n3000-4000 r-xp 0 00:00 1 /lib/y.so.1\n"
        )
        (folder / "comm").write_text("server\n")
        (folder / "environ").write_bytes(environ)
    other = Installed("/lib/y.so.1", "nettle", "8", HAS)
    found = [replace(GOOD, processes={}, masks={}, unread={}), other]
    health.add_processes(found, tmp_path)
    assert [library.masks for library in found] == [
        {21: ["OPENSSL_ia32cap=~0x2"]},
        {21: ["NETTLE_FAT_OVERRIDE=vendor:amd"]},
    ]
    assert [library.unread for library in found] == [{22: "server"}, {22: "server"}]


def test_a_file_tells_its_library_and_version(tmp_path: Path) -> None:
    file = tmp_path / "program"
    file.write_bytes(b"\0AES for x86_64, CRYPTOGAMS by x\0OpenSSL 3.9.1 7 May\0")
    assert str(identify(str(file))) == "OpenSSL 3.9.1"


def test_our_library_is_known_inside_of_a_program(tmp_path: Path) -> None:
    file = tmp_path / "program"
    file.write_bytes(b"\0x86_shani\0c_words32\0")
    assert identify(str(file)).name == "everycore"
    other = tmp_path / "other"
    other.write_bytes(b"\0c_words323\0")
    assert identify(str(other)).name == ""


def probed(path: str, rate: float, error: str = "") -> Probed:
    return Probed(path, path, "aes-256-gcm", rate, "", error)


def test_more_than_twice_is_too_slow() -> None:
    every = [probed("a", 9.0), probed("b", 4.0), probed("c", 4.6), probed("d", 0, "x")]
    assert [(result.path, times) for result, times in too_slow(every, {})] == [("b", 2.25)]


def test_our_kernels_are_the_best_where_no_library_is_faster() -> None:
    every = [probed("a", 9.0), probed("b", 4.0)]
    found = too_slow(every, {"aes-256-gcm": 20.0, "rsa2048": 1.0})
    assert [(result.path, times) for result, times in found] == [("b", 5.0), ("a", 20 / 9)]


@pytest.mark.parametrize(
    ("operation", "remedy"),
    [
        ("aes-256-gcm", "a newer OpenSSL, or the provider of everycore (docs/guides/adopt.md)."),
        (
            "ffdh2048",
            "none in OpenSSL; contrib/openssl/patch-openssl helps builds without assembly alone.",
        ),
        ("sha256", "none in OpenSSL."),
    ],
)
def test_the_remedy_for_openssl_serves_the_operation(operation: str, remedy: str) -> None:
    item = Probed("libcrypto.so.3", "OpenSSL", operation, 1.0, "")
    said = slow_sentence(item, 3.0, [item], OwnSpeeds(rates={operation: 3.0}))
    assert said.endswith(f"Remedy: {remedy}")


@pytest.mark.parametrize(("processes", "code"), [({}, 0), ({5: "sshd"}, 1)])
def test_exit_code_1_only_if_a_process_uses_what_is_slow(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, processes: dict[int, str], code: int
) -> None:
    fast, slow = replace(GOOD, path="/fast"), replace(GOOD, path="/slow", processes=processes)
    monkeypatch.setattr(health, "installed", lambda files: [*files, fast, slow])
    monkeypatch.setattr(health, "add_processes", lambda _: None)
    rates = {"/fast": 9.0, "/slow": 2.0}
    monkeypatch.setattr(
        command, "probe_library", lambda library, _: [probed(library.path, rates[library.path])]
    )
    monkeypatch.setattr(command, "measure_own", lambda _: OwnSpeeds())
    found = lab("doctor")
    assert found.code == code
    assert ("takes 4.5 times as long here as /fast" in " ".join(found.out.split())) == bool(code)


def test_the_kernel_has_a_table_of_its_own(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    algorithms = [KernelAlgorithm("xts(aes)", "xts-aes-vaes-avx512", 800)]
    monkeypatch.setattr(health, "kernel_algorithms", lambda _: algorithms)
    found = lab("doctor", "--kernel")
    assert found.code == 0
    assert "Resolved as" in found.out
    assert "xts-aes-vaes-avx512" in found.out
    rows = [json.loads(line) for line in lab("doctor", "--kernel", "--json").out.splitlines()]
    assert rows[0]["resolved"] == "xts-aes-vaes-avx512"


def test_the_kernel_alone_leaves_no_file_out_silently(lab: Lab) -> None:
    found = lab("doctor", "--kernel", sys.executable)
    assert found.code == 2
    assert f"--kernel looks into no file: {sys.executable}" in " ".join(found.err.split())


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/no/such/program", "there is no file /no/such/program"),
        ("/", "/ is a folder"),
        (__file__, "is no ELF file that can be read"),
    ],
)
def test_a_file_that_is_no_program_is_named(lab: Lab, path: str, message: str) -> None:
    lab("doctor", "--no-probe", path).refuses(message, "name programs or libraries")


OWN = OwnSpeeds(4.0, {"aes-256-gcm": 16e9, "rsa2048": 5000.0}, {"aes-256-gcm": 0.2})


def test_speeds_stand_beside_our_kernels_and_the_limit() -> None:
    lacking = replace(probed("b", 0, "not available"), is_available=False)
    rows = speed_rows([probed("a", 4e9), lacking], OWN)
    assert rows == [
        ("aes-256-gcm", "this CPU's limit", "20.00 GB/s", "0.200", "", ""),
        ("aes-256-gcm", "everycore", "16.00 GB/s", "0.250", "100%", "the selected kernel"),
        ("aes-256-gcm", "a", "4.00 GB/s", "1.00", "25%", ""),
        ("rsa2048", "everycore", "5,000 per second", "", "100%", "the selected kernel"),
    ]


def test_lines_of_the_answer_fit_80_columns_and_the_page_has_them(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    slow = replace(GOOD, path="/usr/lib/x86_64-linux-gnu/libcrypto.so.3", processes={5: "sshd"})
    monkeypatch.setattr(health, "installed", lambda _: [slow])
    monkeypatch.setattr(health, "add_processes", lambda _: None)
    result = replace(probed(slow.path, 4e9), library="OpenSSL", code="AES: AES-NI + GHASH: CLMUL")
    monkeypatch.setattr(command, "probe_library", lambda *_: [result])
    monkeypatch.setattr(command, "measure_own", lambda _: OWN)
    page = tmp_path / "page.html"
    found = lab("doctor", "--page", str(page))
    assert found.code == 1
    assert max(map(len, found.out.splitlines())) <= 80
    text = " ".join(found.out.split())
    assert "takes 4.0 times as long here as everycore, and running processes use it" in text
    assert "the provider of everycore (docs/guides/adopt.md)" in text
    shown = page.read_text()
    for word in ("everycore", "20.00 GB/s", "docs/guides/adopt.md", "sshd"):
        assert word in shown
    assert "<script" not in shown
    rows = [json.loads(line) for line in lab("doctor", "--json").out.splitlines()]
    (own,) = [row for row in rows if row["type"] == "everycore"]
    assert own["rates"]["rsa2048"] == 5000.0
    assert [row for row in rows if row["type"] == "slow"]


def test_the_reason_is_told_if_our_kernels_cannot_be_measured(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab.runner.absent = ("cc", "gcc", "clang")
    assert measure_own(lab.context()).error
    monkeypatch.setattr(health, "installed", lambda _: [])
    assert "Not measured: the kernels of everycore" in lab("doctor").out


@pytest.mark.slow
def test_our_own_kernels_are_measured_as_the_libraries_are(real_lab: Lab) -> None:
    found = measure_own(real_lab.context())
    assert not found.error
    assert 0.3 < found.gigahertz < 10
    assert set(found.rates) == {"aes-256-gcm", "aes-256-cbc", "aes-256-xts", "rsa2048", "ffdh2048"}
    assert all(rate > 0 for rate in found.rates.values())
    assert set(found.limits) <= set(found.rates)
    assert all(limit > 0 for limit in found.limits.values())
    # The core's clock and the limits agree: no kernel is faster than the CPU.
    assert all(found.rates[name] < 1.2 * found.limit_rate(name) for name in found.limits)


def test_xts_is_not_called_ghash(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tweaks of XTS are multiplied by carry-less products in libgcrypt."""
    libraries = [library for library in health.installed() if library.name == "libgcrypt"]
    if not libraries:
        pytest.skip("no libgcrypt: apt-get install libgcrypt20")
    monkeypatch.setitem(probe.OPERATIONS, "libgcrypt", ("aes-256-xts",))
    (found,) = probe_library(libraries[0], dict(os.environ))
    assert found.code.startswith("AES: ")
    assert "GHASH" not in found.code


def test_a_probe_measures_and_names_what_ran(monkeypatch: pytest.MonkeyPatch) -> None:
    libraries = [library for library in health.installed() if library.name == "OpenSSL"]
    if not libraries:
        pytest.skip("no libcrypto: apt-get install libssl3")
    monkeypatch.setitem(probe.OPERATIONS, "OpenSSL", ("sha256", "nothing"))
    found = probe_library(libraries[0], dict(os.environ))
    assert found[0].rate > 1e6
    assert found[0].code.startswith("SHA-256: ")
    assert not found[1].is_available


def test_a_probe_of_a_broken_library_says_so(tmp_path: Path) -> None:
    broken = tmp_path / "libcrypto.so"
    broken.write_bytes(b"\x7fELF, but no more")
    argv = [sys.executable, "-I", probe.__file__, "OpenSSL", str(broken), "sha256"]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert "error" in json.loads(done.stdout)
