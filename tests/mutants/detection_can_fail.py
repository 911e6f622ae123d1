#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Break the detection of CPU features, and see that tests/unit/test_cpu.c fails.

Each fault changes a few words of a copy of src/cpu, or of a header that it includes; the test that is named beside it
must then fail, and without a fault all tests must pass. tests/mutants/properties_can_fail.py does the same for kernels.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
CC = os.environ.get("CC", "cc").split()
X86, IDREG, SYSTEMS = "src/cpu/x86_cpuid.c", "src/cpu/a64_idreg.c", "src/cpu/system_words.h"
FMPYADD, LANES = "src/common/hppa_fmpyadd.h", "src/cpu/x86_lanes.h"

TABLE = "x86_features_are_those_of_the_table"
STATE = "x86_registers_that_the_system_does_not_keep_are_not_used"
ONE_BIT, WIDE = "x86_each_flag_is_one_bit", "x86_wide_vectors_are_tuned_for_by_maker_family_and_model"
PORTS = "x86_ports_are_shared_by_maker_family_and_model"
MASKED = "x86_masking_a_flag_adds_no_feature"
BASE = "x86_features_have_what_they_build_on"
TRIED = "features_with_wrong_lanes_are_told"
LANES_AGREE = "wide_instructions_are_right_if_each_lane_is"
PRODUCT_AND_SUM = "fmpyadd_is_right_if_product_and_sum_are"
A64 = "features_are_read_from_the_registers"

# Each fault: a title; the file, the words and what they become; the test that must notice.
FAULTS = [
    ("the XCR0 check removed", X86, " && (state & f->xcr0) == f->xcr0", "", STATE),
    ("OSXSAVE not asked for", X86, "if (!bit_of(leaf1_ecx, 27))", "if (0)", STATE),
    ("one bit of XCR0 enough", X86, "(state & f->xcr0) == f->xcr0", "(!f->xcr0 || (state & f->xcr0))", STATE),
    ("mask registers not asked for", X86, "#define XCR0_ZMM 0xe6", "#define XCR0_ZMM 0xc6", STATE),
    ("XMM registers not asked for", X86, "#define XCR0_YMM 0x06", "#define XCR0_YMM 0x04", STATE),
    ("AVX-512VL without its registers", X86, "31, XCR0_ZMM, EVC_CPU(X86_AVX512F)", "31, XCR0_YMM, EVC_CPU(X86_AVX)", STATE),
    ("VAES without AVX", X86, "9, XCR0_YMM, EVC_CPU(X86_AVX)", "9, 0, 0", BASE),
    ("AVX-512F without AVX2", X86, "16, XCR0_ZMM, EVC_CPU(X86_AVX2)", "16, XCR0_ZMM, 0", BASE),
    ("what a feature builds on", X86, " && (have & f->builds_on) == f->builds_on", "", BASE),
    ("a flag that is clear", X86, "(int)(word >> bit & 1)", "(int)(~word >> bit & 1)", MASKED),
    ("leaf 7 where there is none", X86, "id->max_leaf >= 7 ? id->leaf7_ebx : 0", "id->leaf7_ebx", TABLE),
    ("leaf 1 where there is none", X86, "id->max_leaf >= 1 ? id->leaf1_edx : 0", "id->leaf1_edx", TABLE),
    ("AVX10 of 256 bits", X86, "if (has_avx10(id) && ", "if (0 && ", TABLE),
    ("AVX10 without its leaf", X86, "id->max_leaf >= 0x24 && id->leaf7_eax >= 1 && bit_of(id->leaf7_1_edx", "bit_of(id->leaf7_1_edx",
     TABLE),
    ("SSE4.1 without SSSE3", X86, "19, 0, EVC_CPU(X86_SSSE3)", "19, 0, EVC_CPU(X86_SSE2)", ONE_BIT),
    ("AVX-512BW's bit", X86, "LEAF7_EBX, 30,", "LEAF7_EBX, 31,", ONE_BIT),
    ("Ice Lake servers without wide vectors", X86, "!= 0x55;", "!= 0x55 && intel_model_of(id) != 0x6a;", WIDE),
    ("AMD's family 6 with wide vectors", X86, " || id->vendor_ebx != VENDOR_INTEL", "", WIDE),
    ("ports of Emerald Rapids", X86, "case 0xcf:", "", PORTS),
    ("ports where there is no leaf", X86, "id->max_leaf < 1 || ", "", "x86_leaves_that_are_not_there_decide_nothing"),
    ("a family where there is no leaf", X86, "return id->max_leaf >= 1 && family_of(id) == 6", "return family_of(id) == 6",
     "x86_leaves_that_are_not_there_decide_nothing"),
    ("GFNI's bit", X86, "LEAF7_ECX, 8,", "LEAF7_ECX, 7,", TABLE),
    ("Skylake-X with wide vectors", X86, "!= 0x55;", "!= 0x56;", TABLE),
    ("the extended model", X86, "id->leaf1_eax >> 12 & 0xf0", "id->leaf1_eax >> 12 & 0", TABLE),
    ("a Pentium 4's multiplier", X86, "family_of(id) == 6 &&", "family_of(id) >= 6 &&", TABLE),
    ("multipliers of all makers", X86, "(id->vendor_ebx == VENDOR_INTEL || id->vendor_ebx == VENDOR_AMD)", "1", TABLE),
    ("long mode in a leaf that is not there", X86, "id->max_extended_leaf >= 0x80000001 &&", "", TABLE),
    ("a program of 32 bits", X86, "id->mode64 ? EVC_CPU(X86_MODE64)", "1 ? EVC_CPU(X86_MODE64)", TABLE),
    ("the second lane not compared", LANES, "k < 16 * n_lanes", "k < 8 * n_lanes", LANES_AGREE),
    ("lanes of x alike", LANES, "0x9d * i +", "0x9d * (i % 16) +", TRIED),
    ("lanes of y alike", LANES, "0x3b * i * i", "0x3b * (i % 16)", TRIED),
    ("four lanes not tried", LANES, "n_lanes <= most_lanes", "n_lanes <= 2", TRIED),
    ("trials without what they need", LANES, " || (features & trials[i].needs) != trials[i].needs", "", TRIED),
    ("a trial's result turned round", LANES, "if (!evc_x86_lanes_agree(&results", "if (evc_x86_lanes_agree(&results", TRIED),
    ("registers that vzeroupper changes", LANES, '"xmm5", "xmm6", "xmm7", "xmm8", "xmm9",', '"xmm9",',
     "a_trial_leaves_the_caller_its_vectors"),
    ("one instruction of a feature compared", LANES, "i < EVC_X86_LANES_OPERATIONS", "i < 1", LANES_AGREE),
    ("PMULL of a core with AES alone", IDREG, "HAS(A64_PMULL, id->isar0, 4, 2)", "HAS(A64_PMULL, id->isar0, 4, 1)",
     "aes_without_the_product_is_told_apart"),
    ("SHA3's field", IDREG, "HAS(A64_SHA3, id->isar0, 32, 1)", "HAS(A64_SHA3, id->isar0, 36, 1)", A64),
    ("HWCAP_PMULL", SYSTEMS, "EVC_IF_BIT(A64_PMULL, cap, 4)", "EVC_IF_BIT(A64_PMULL, cap, 3)", "hwcap_of_a64_is_read"),
    ("the second word of A32", SYSTEMS, "EVC_IF_BIT(A32_AES, cap2, 0)", "EVC_IF_BIT(A32_AES, cap, 0)", "hwcap_of_a32_is_read"),
    ("the level of the Power ISA", SYSTEMS, "EVC_IF_BIT(CT_MUL, cap2, 31)", "EVC_CPU(CT_MUL) | (cap2 & 0)",
     "the_multipliers_of_power_and_risc_v_are_known_by_their_systems"),
    ("Zkt's bit", SYSTEMS, "EVC_IF_BIT(CT_MUL, ima_ext_0, 16)", "EVC_IF_BIT(CT_MUL, ima_ext_0, 17)",
     "the_multipliers_of_power_and_risc_v_are_known_by_their_systems"),
    ("the product of fmpyadd alone", FMPYADD, " && words[2] == 0x43300000 && words[3] == 2;", ";", PRODUCT_AND_SUM),
    ("the sum of fmpyadd alone", FMPYADD, "words[0] == 0x43300000 && words[1] == 0x0a000001 && words[2]", "words[2]", PRODUCT_AND_SUM),
    ("the upper words of fmpyadd alone", FMPYADD, " && words[1] == 0x0a000001", "", PRODUCT_AND_SUM),
    ("macOS's name for SHA3", SYSTEMS, "arm.FEAT_SHA3", "arm.FEAT_SHA512", "macos_is_asked_by_names_new_and_old"),
    ("Windows's number of the Cryptography Extension", SYSTEMS, "{30, EVC_CPU(A64_AES)", "{31, EVC_CPU(A64_AES)",
     "windows_is_asked_by_numbers"),
]


def failed(tree: pathlib.Path) -> set[str]:
    """The tests that fail with the sources of this tree."""
    program = tree / "test_cpu"
    sources = sorted(str(path) for path in (tree / "src/cpu").glob("*.c"))
    subprocess.run([*CC, "-std=gnu11", "-O1", "-w", f"-I{tree}/include", f"-I{tree}/src", "-o", program,
                    tree / "tests/unit/test_cpu.c", *sources], check=True)
    done = subprocess.run([program], text=True, stdout=subprocess.PIPE)
    if "\n1.." not in done.stdout:
        sys.exit(f"the tests did not end:\n{done.stdout}")
    return set(re.findall(r"^not ok \d+ - (\w+)", done.stdout, re.M))


def main() -> int:
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        tree = pathlib.Path(folder)
        for part in ("include", "src/common", "src/cpu"):
            shutil.copytree(ROOT / part, tree / part)
        (tree / "tests/unit").mkdir(parents=True)
        for name in ("test_cpu.c", "tap.h", "x86_cpus.h"):
            shutil.copy(ROOT / "tests/unit" / name, tree / "tests/unit")
        if names := failed(tree):
            sys.exit(f"unbroken, it fails {', '.join(sorted(names))}")
        for what, file, old, new, test in FAULTS:
            path = tree / file
            good = path.read_text()
            assert good.count(old) == 1, f"{what}: {file} has {old!r} {good.count(old)} times"
            path.write_text(good.replace(old, new))
            if test not in (names := failed(tree)):
                missed += 1
                print(f"FAILED: {what} is broken, and {test} passes; failing: {', '.join(sorted(names)) or 'none'}")
            path.write_text(good)
    print(f"{len(FAULTS) - missed} passed, {missed} failed, 0 skipped")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
