# SPDX-License-Identifier: MIT
"""Arm cores by their Main ID Register.

Source: implementer and part number (bits 31:24 and 15:4) from each core's Technical Reference
Manual, MIDR_EL1 or MIDR; those of other makers from Linux 7.1, arch/arm64/include/asm/cputype.h.
Names are those of catalog/targets/cpus.toml where it has the core.
"""

import re

NAMES = {
    (0x41, 0x926): "arm926",
    (0x41, 0xB36): "arm1136",
    (0x41, 0xB76): "arm1176",
    (0x41, 0xC05): "cortex-a5",
    (0x41, 0xC07): "cortex-a7",
    (0x41, 0xC08): "cortex-a8",
    (0x41, 0xC09): "cortex-a9",
    (0x41, 0xC0E): "cortex-a17",
    (0x41, 0xC0F): "cortex-a15",
    (0x41, 0xD01): "cortex-a32",
    (0x41, 0xD02): "cortex-a34",
    (0x41, 0xD03): "cortex-a53",
    (0x41, 0xD04): "cortex-a35",
    (0x41, 0xD05): "cortex-a55",
    (0x41, 0xD06): "cortex-a65",
    (0x41, 0xD07): "cortex-a57",
    (0x41, 0xD08): "cortex-a72",
    (0x41, 0xD09): "cortex-a73",
    (0x41, 0xD0A): "cortex-a75",
    (0x41, 0xD0B): "cortex-a76",
    (0x41, 0xD0C): "neoverse-n1",
    (0x41, 0xD0D): "cortex-a77",
    (0x41, 0xD0E): "cortex-a76ae",
    (0x41, 0xD14): "cortex-r82ae",
    (0x41, 0xD15): "cortex-r82",
    (0x41, 0xD40): "neoverse-v1",
    (0x41, 0xD41): "cortex-a78",
    (0x41, 0xD42): "cortex-a78ae",
    (0x41, 0xD43): "cortex-a65ae",
    (0x41, 0xD44): "cortex-x1",
    (0x41, 0xD46): "cortex-a510",
    (0x41, 0xD47): "cortex-a710",
    (0x41, 0xD48): "cortex-x2",
    (0x41, 0xD49): "neoverse-n2",
    (0x41, 0xD4A): "neoverse-e1",
    (0x41, 0xD4B): "cortex-a78c",
    (0x41, 0xD4C): "cortex-x1c",
    (0x41, 0xD4D): "cortex-a715",
    (0x41, 0xD4E): "cortex-x3",
    (0x41, 0xD4F): "neoverse-v2",
    (0x41, 0xD80): "cortex-a520",
    (0x41, 0xD81): "cortex-a720",
    (0x41, 0xD82): "cortex-x4",
    (0x41, 0xD83): "neoverse-v3ae",
    (0x41, 0xD84): "neoverse-v3",
    (0x41, 0xD85): "cortex-x925",
    (0x41, 0xD87): "cortex-a725",
    (0x41, 0xD88): "cortex-a520ae",
    (0x41, 0xD89): "cortex-a720ae",
    (0x41, 0xD8A): "c1-nano",
    (0x41, 0xD8B): "c1-pro",
    (0x41, 0xD8C): "c1-ultra",
    (0x41, 0xD8E): "neoverse-n3",
    (0x41, 0xD8F): "cortex-a320",
    (0x41, 0xD90): "c1-premium",
    (0x42, 0x516): "thunderx2",  # Broadcom Vulcan, as it was first called
    (0x43, 0x0A0): "thunderx",
    (0x43, 0x0A1): "thunderx",
    (0x43, 0x0A2): "thunderx",
    (0x43, 0x0A3): "thunderx",
    (0x43, 0x0AF): "thunderx2",
    (0x46, 0x001): "a64fx",
    (0x46, 0x003): "monaka",
    (0x48, 0xD01): "kunpeng-920",
    (0x4E, 0x003): "denver",
    (0x4E, 0x004): "carmel",
    (0x4E, 0x010): "olympus",
    (0x51, 0x001): "oryon",
    (0x51, 0x800): "kryo-2xx-gold",
    (0x51, 0x801): "kryo-2xx-silver",
    (0x51, 0x802): "kryo-3xx-gold",
    (0x51, 0x803): "kryo-3xx-silver",
    (0x51, 0x804): "kryo-4xx-gold",
    (0x51, 0x805): "kryo-4xx-silver",
    (0x51, 0xC00): "falkor",
    (0x61, 0x022): "apple-m1-icestorm",
    (0x61, 0x023): "apple-m1",
    (0x61, 0x032): "apple-m2-blizzard",
    (0x61, 0x033): "apple-m2",
    (0x6D, 0xD49): "neoverse-n2",  # Microsoft's Cobalt 100
    (0xC0, 0xAC3): "ampere-1",
    (0xC0, 0xAC4): "ampere-1a",
}


def name(midr: int) -> str:
    """ "cortex-a53"; "" for a core that is not in the list."""
    return NAMES.get((midr >> 24 & 0xFF, midr >> 4 & 0xFFF), "")


def revision(midr: int) -> str:
    """ "r0p4"."""
    return f"r{midr >> 20 & 0xF}p{midr & 0xF}"


def midr_of(facts: dict[str, str]) -> int:
    """Return the MIDR of one processor of /proc/cpuinfo; 0 if it is not Arm's.

    Linux 6.12, arch/arm64/kernel/cpuinfo.c prints the fields of the register; bits 19:16 are
    15 on every core since Armv7.
    """
    words = ("CPU implementer", "CPU variant", "CPU part", "CPU revision")
    if not all(re.fullmatch(r"(0x[0-9a-fA-F]+|\d+)", facts.get(word, "")) for word in words):
        return 0
    implementer, variant, part, patch = (int(facts[word], 0) for word in words)
    return implementer << 24 | variant << 20 | 0xF << 16 | part << 4 | patch
