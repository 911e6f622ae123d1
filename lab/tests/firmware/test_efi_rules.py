# SPDX-License-Identifier: MIT
"""Each rule of efi check is broken by one small driver, which breaks no other."""

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from firmware import driver_builds, pe_images

from everycore.binary import disassembly, pe
from everycore.firmware.efi import code_rules, image_rules
from everycore.firmware.efi.driver_rules import RULES, Method
from everycore.firmware.efi.platforms import PLATFORMS
from everycore.firmware.findings import Finding, Level

pytest.importorskip("unicorn", reason="no unicorn: extra 'firmware'")
from everycore.firmware.efi import life_cycle

Images = dict[tuple[str, str], Path]
ALL = tuple(PLATFORMS)
ARM, NO_PC = ("arm-server",), ("arm-server", "non-coherent")

# The platforms that notice a rule's driver, if not all.
NOTICED = {
    "bar_untranslated": ARM,
    "dma_cpu_address": ARM,
    "dma_short_map": ARM,
    "dma_dual_address_cycle": ARM,
    "memory_stack_32_bit": ARM,
    "dma_stale_read": ("non-coherent",),
    "dma_late_write": ("non-coherent",),
    "memory_null": NO_PC,
    "memory_below_4_gib": NO_PC,
    "memory_fixed_address": NO_PC,
    "port_io": NO_PC,
}
# The same fault under another name: what the decoder sees of it, and where addresses are equal.
ALSO = {
    "dma_cpu_address": {"dma-not-mapped"},
    "memory_stack_32_bit": {"code-stack-32-bit"},
    "port_io": {"code-port-io"},
}
LINKS = {  # rules of the image, and the options that break them
    "pe-subsystem": ("/subsystem:efi_application", "/nxcompat"),
    "pe-section-alignment": (*driver_builds.LINK, "/align:512", "/driver"),
    "pe-writable-code": (*driver_builds.LINK, "/section:.text,ERW"),
    "pe-nx-compatible": ("/subsystem:efi_boot_service_driver", "/nxcompat:no"),
}

CASES = [
    (name, machine)
    for name in driver_builds.names()
    for machine in driver_builds.TARGETS
    if driver_builds.is_for(name, machine)
]


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Images]:
    """All drivers for all machines."""
    if missing := driver_builds.find_tools():
        pytest.skip(missing)
    folder = tmp_path_factory.mktemp("drivers")
    with ThreadPoolExecutor(2) as pool:
        paths = pool.map(lambda case: driver_builds.build(folder, *case), CASES)
        yield dict(zip(CASES, paths, strict=True))


def static_findings(image: pe.Image) -> list[Finding]:
    return [*image_rules.check(image), *code_rules.check(image).findings]


@pytest.mark.parametrize(("name", "machine"), CASES)
def test_a_driver_breaks_the_rule_that_it_is_named_after_and_no_other(
    images: Images, name: str, machine: str
) -> None:
    image = pe.read(images[name, machine].read_bytes())
    assert image.machine_name == machine
    rule = name.replace("_", "-")
    expected = set() if name == "clean" else {rule}
    static = {finding.rule.name for finding in static_findings(image)}
    ran = {p.name: life_cycle.run(image, p) for p in PLATFORMS.values()}
    found = {p: {finding.rule.name for finding in run.findings} for p, run in ran.items()}
    assert static | set().union(*found.values()) == expected | ALSO.get(name, set())
    if name != "clean" and RULES[rule].method == Method.RUN:
        noticed = tuple(p for p in ALL if rule in found[p])
        assert noticed == NOTICED.get(name, ALL)


@pytest.mark.parametrize("machine", driver_builds.TARGETS)
def test_the_clean_driver_does_all_its_steps(images: Images, machine: str) -> None:
    image = pe.read(images["clean", machine].read_bytes())
    for platform in PLATFORMS.values():
        run = life_cycle.run(image, platform)
        phases = [step.partition(":")[0] for step in run.steps]
        assert phases == ["entry", "Supported", "Start", "Stop", "unload"]
        assert all(step.endswith(": success") for step in run.steps if "Supported" not in step)
        assert run.calls["PciIo.Map"] == run.calls["PciIo.Unmap"] == 3


def test_each_rule_has_a_driver_or_a_test_of_its_own() -> None:
    # Below, in test_efi_command.py and in test_signatures.py.
    others = {"pe-format", "pe-relocations", "pe-relocation-type", "run-emulator-failed"}
    others |= {"pe-signature-differs", "pe-signature-unread"}
    drivers = {name.replace("_", "-") for name in driver_builds.names()} - {"clean"}
    assert drivers | set(LINKS) | others == set(RULES)


@pytest.mark.parametrize("machine", driver_builds.TARGETS)
@pytest.mark.parametrize("rule", LINKS)
def test_options_of_the_linker_break_rules_of_the_image(
    images: Images, tmp_path: Path, rule: str, machine: str
) -> None:
    assert images
    path = driver_builds.build(tmp_path, "clean", machine, LINKS[rule])
    found = static_findings(pe.read(path.read_bytes()))
    assert {finding.rule.name for finding in found} == {rule}


@pytest.mark.parametrize("machine", driver_builds.TARGETS)
def test_stripped_relocations_are_found(images: Images, machine: str) -> None:
    data = bytearray(images["clean", machine].read_bytes())
    data[pe.read(bytes(data)).header_offset + 22] |= pe.RELOCS_STRIPPED
    assert [finding.rule.name for finding in image_rules.check(pe.read(bytes(data)))] == [
        "pe-relocations"
    ]


@pytest.mark.parametrize("machine", [pe_images.X86_64, pe_images.AARCH64])
def test_a_header_of_32_bits_is_found(machine: int) -> None:
    narrow, wide = (
        pe.read(pe_images.make_pe(machine=machine, is_64_bit=is_64_bit))
        for is_64_bit in (False, True)
    )
    assert [(finding.rule.name, finding.evidence) for finding in image_rules.check(narrow)] == [
        ("pe-format", "the magic at 0x98 is 0x010b, not 0x020b")
    ]
    assert image_rules.check(wide) == []


def test_relocations_of_32_bits_are_found(images: Images) -> None:
    data = bytearray(images["clean", "x86-64"].read_bytes())
    image = pe.read(bytes(data))
    first = next(pe.relocations(image))
    at = pe.file_offset(image, first.table_address)
    assert at is not None
    data[at + 1] = pe.RELOC_HIGHLOW << 4 | data[at + 1] & 15
    found = image_rules.check(pe.read(bytes(data)))
    assert [(finding.rule.name, finding.count) for finding in found] == [("pe-relocation-type", 1)]


def test_rules_say_what_breaks_them_where_it_is_written_and_what_to_do() -> None:
    for rule in RULES.values():
        assert rule.remedy
        assert not rule.text.endswith(".")
        assert rule.basis
        assert rule.level in Level


def test_a_finding_is_at_the_instruction_that_does_it(images: Images) -> None:
    for machine in driver_builds.TARGETS:
        image = pe.read(images["memory_null", machine].read_bytes())
        run = life_cycle.run(image, PLATFORMS["arm-server"])
        (finding,) = run.findings
        assert finding.place.address is not None
        code = bytes(pe.memory(image))[finding.place.address : finding.place.address + 4]
        # mov 0x10(%reg), %reg and ldr wN, [xM, #16]: Intel SDM volume 2, MOV; Arm ARM, C6.2.
        load = code[0] == 0x8B if machine == "x86-64" else code[3] == 0xB9
        assert load, code.hex()


def forget_decoders(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Prevent the import of these packages."""
    engine = disassembly.capstone_engine.__wrapped__
    monkeypatch.setattr(disassembly, "capstone_engine", engine)
    for name in names:
        monkeypatch.setitem(sys.modules, name, None)


def sites(scan: code_rules.Scan) -> list[tuple[str, int | None]]:
    return [(finding.rule.name, finding.place.address) for finding in scan.findings]


def test_another_decoder_finds_the_same(images: Images, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("iced_x86", reason="no iced-x86, so there is one decoder")
    drivers = [pe.read(images[case].read_bytes()) for case in images if case[1] == "x86-64"]
    expected = [code_rules.check(image) for image in drivers]
    assert any(sites(scan) for scan in expected)
    forget_decoders(monkeypatch, "iced_x86")
    found = [code_rules.check(image) for image in drivers]
    assert [(sites(scan), scan.instructions) for scan in found] == [
        (sites(scan), scan.instructions) for scan in expected
    ]


@pytest.mark.parametrize("machine", ["x86-64", "aarch64"])
def test_without_a_decoder_a_note_names_the_extra(
    images: Images, monkeypatch: pytest.MonkeyPatch, machine: str
) -> None:
    forget_decoders(monkeypatch, "capstone", "iced_x86")
    scan = code_rules.check(pe.read(images["clean", machine].read_bytes()))
    (note,) = scan.notes
    assert note.startswith("instructions not scanned: reading the code of EFI drivers needs Python")
    assert "(extra 'firmware'); " in note
    assert not scan.findings
    assert not scan.instructions
