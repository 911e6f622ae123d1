# SPDX-License-Identifier: MIT
"""`everycore pauth --system`, and the share of time by perf."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from pauth.shown import text_of
from world import Lab

from everycore.environment.context import SystemRunner
from everycore.environment.errors import EverycoreError
from everycore.pauth import interleaved_runs, share, stored_lines, system_boot
from everycore.pauth.emulators import Emulator
from everycore.pauth.interleaved_runs import Samples
from everycore.pauth.programs import GUEST, Program
from everycore.pauth.variants import Variant

Script = Callable[..., Path]
SYSTEM = "QEMU emulator version 10.0.1 (Debian)"
PROGRAM = Program("boot", "boots", (), {}, ("-append",), 0, "WORK=", system_boot.DONE)
REPORT = """
    43.71%  qemu-system-aarch64       [.] pauth_computepac_architected
    36.84%  qemu-system-aarch64       [.] pac_mult
     4.61%  qemu-system-aarch64       [.] helper_autia
     3.20%  qemu-system-aarch64       [.] evc_pac_hash_mac
     2.50%  qemu-system-aarch64       [.] encrypt
     1.60%  qemu-system-aarch64       [.] encrypt_many.constprop.0
     0.80%  qemu-system-aarch64       [.] evc_pac_put.isra.0
     0.40%  qemu-system-aarch64       [.] set_key
     0.20%  qemu-system-aarch64       [.] tweak_cell_rot
     0.90%  qemu-system-aarch64       [.] encrypt_a_disk
     0.70%  qemu-system-aarch64       [.] set_key_of_a_keyboard
     2.10%  qemu-system-aarch64       [.] aa64_va_parameters
     1.00%  [JIT] tid 1410            [.] 0x00007ff14c034c69
     0.50%  [kernel.kallsyms]         [k] pac_from_elsewhere
"""


def members(archive: bytes) -> dict[str, tuple[int, bytes]]:
    """Mode and contents of what a cpio archive of the format newc holds."""
    found: dict[str, tuple[int, bytes]] = {}
    at = 0
    while True:
        numbers = [int(archive[at + 6 + i * 8 : at + 14 + i * 8], 16) for i in range(13)]
        assert archive[at : at + 6] == b"070701"
        name = archive[at + 110 : at + 110 + numbers[11] - 1].decode()
        at += (110 + numbers[11] + 3) // 4 * 4
        if name == "TRAILER!!!":
            return found
        found[name] = (numbers[1], archive[at : at + numbers[6]])
        at += (numbers[6] + 3) // 4 * 4


def test_the_first_file_system_has_a_console_and_a_program() -> None:
    found = members(system_boot.archive_of(b"12345"))
    assert found == {
        "dev": (0o40755, b""),
        "dev/console": (0o20600, b""),
        "init": (0o100755, b"12345"),
    }


def test_a_system_emulator_is_known_by_what_it_runs(world: Lab, script: Script) -> None:
    path = script(SYSTEM, lacks=("pauth-qarma3", "pauth-qarma5"), body="exit 0")
    found = system_boot.identify(world.context(), (str(path),))
    assert found.name == "qemu 10.0.1"
    assert found.properties == {"pauth", "pauth-impdef"}
    assert found.signs_by_default is None


@pytest.mark.parametrize(
    ("version", "complaint"),
    [
        ("qemu-aarch64 version 7.2.1", "emulates programs of aarch64, not a system"),
        ("GNU bash", "is no QEMU"),
    ],
)
def test_another_program_is_no_system_emulator(
    world: Lab, script: Script, version: str, complaint: str
) -> None:
    world("pauth", "--system", "--qemu", str(script(version))).refuses(complaint)


def test_a_system_emulator_of_another_architecture_is_refused(world: Lab, script: Script) -> None:
    path = script(SYSTEM, body="echo 'unsupported machine type' >&2; exit 1")
    world("pauth", "--system", "--qemu", str(path)).refuses(
        "does not run a kernel of eight instructions: unsupported machine type"
    )


def test_the_emulator_is_named_where_a_loader_starts_it(world: Lab, script: Script) -> None:
    path = str(script(SYSTEM, body="echo broken >&2; exit 1"))
    with pytest.raises(EverycoreError, match=f"^{path} does not run a kernel"):
        system_boot.identify(world.context(), ("/usr/bin/nice", "-n", "0", path))


def test_a_machine_has_no_default_cpu_to_measure(world: Lab) -> None:
    world("pauth", "--system", "--algorithm", "default").refuses(
        "--system has no algorithm 'default'"
    )


def test_a_kernel_that_never_comes_up_is_no_result(world: Lab, script: Script) -> None:
    variant = Variant(
        Emulator("a", (str(script(SYSTEM, body="echo panic; exit 0")),)), "off", "max"
    )
    with pytest.raises(EverycoreError, match="did not print 'everycore: all ', but 'panic'"):
        interleaved_runs.run_in_turn(world.context(), PROGRAM, 1.0, [variant], 1, lambda _: None)


def test_a_boot_alone_has_no_work_at_any_scale() -> None:
    assert PROGRAM.words(100.0) == ["-append", "WORK=0"]


@pytest.fixture
def first_program(tmp_path: Path) -> Callable[[str], Path]:
    """guest/init.c for this machine, which it leaves on; some of its calls fail."""

    def make(failing: str) -> Path:
        fails = tmp_path / "fails.c"
        fails.write_text(
            "int no_call(void *a) { (void)a; return -1; } int no_reboot(int a) { return a; }\n"
        )
        path = tmp_path / "init"
        defines = [f"-D{failing}=no_call", "-Dreboot=no_reboot"]
        argv = ["cc", *defines, str(GUEST / "init.c"), str(fails), "-o", str(path)]
        assert SystemRunner().run(argv).code == 0
        return path

    return make


@pytest.mark.parametrize("failing", ["pipe", "fork"])
def test_work_that_fails_everywhere_is_no_success(
    first_program: Callable[[str], Path], failing: str
) -> None:
    argv = ["env", "WORK=2", str(first_program(failing))]
    done = SystemRunner().run(argv, seconds=20)
    assert done.stdout == "everycore: up\neverycore: 0 answers, not 800\n"
    assert system_boot.DONE not in done.stdout


def test_a_boot_alone_has_all_of_no_answers(first_program: Callable[[str], Path]) -> None:
    done = SystemRunner().run(["env", "WORK=0", str(first_program("unused"))], seconds=20)
    assert system_boot.DONE in done.stdout


# ---- Shares --------------------------------------------------------------------------------------


def test_the_share_is_that_of_functions_of_pointer_authentication() -> None:
    found = share.share_in(REPORT.splitlines(), "qemu-system-aarch64")
    assert found == pytest.approx(0.9386)


def test_a_stripped_emulator_has_no_known_share() -> None:
    stripped = REPORT.replace("pac_mult", "0x0000000000152bed")
    assert share.share_in(stripped.splitlines(), "qemu-system-aarch64") is None


def test_shares_stand_in_the_table_where_they_were_looked_for() -> None:
    samples = Samples(Variant(Emulator("qemu", ("qemu",)), "off", ""), [1.0])
    plain = stored_lines.table_of(PROGRAM, 1.0, [samples], None)
    rows = (plain.rows[0].replace(share=0.125),)
    assert "share" not in text_of(plain.lines())
    assert "12.5%" in text_of(replace(plain, rows=rows, is_sampled=True).lines())
    assert "  ?\n" in text_of(replace(plain, is_sampled=True).lines())
