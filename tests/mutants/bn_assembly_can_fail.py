#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Break big numbers of other CPUs in assembly and vectors, and see that the integers of Python notice.

For each kernel of CPUS the primitive is built once. Then each break of BREAKS is made in a copy of its
file, and an answer to a question of bn_against_python.py has to be wrong, or bn_words_answers.py has to fail
for primitives on words. A break replaces text, which has to be there. A CPU whose compiler or emulator is
missing is skipped.

bn_assembly_can_fail.py hppa20 EMULATOR...: that kernel alone, under an emulator of PA-RISC 2.0 (pa_risc_2.py has one).
"""

import dataclasses
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "oracles"))

import bn_against_python  # noqa: E402
from few_kernels import keep_kernels

ROOT = pathlib.Path(__file__).resolve().parents[2]
PARTS = ("bn", "bn_words", "common", "cpu")
FLAGS = ["-O1", "-Iinclude", "-Isrc", "-w"]
SECONDS = 60
XMPYU, UMAAL, SSE2, NEON, DIGITS = ("src/bn/hppa_xmpyu_asm.S", "src/bn/a32_umaal_asm.S", "src/bn/x86_sse2.c",
    "src/bn/a64_neon.c", "src/bn/c_digit27.c")
POWER, Z = "src/bn/ppc64_mulhdu_asm.S", "src/bn/s390x_mlg_asm.S"
FMPYADD, DOUBLES = "src/bn/hppa_fmpyadd_asm.S", "src/bn/hppa_fmpyadd.c"
UMAAL_WORDS = "src/bn_words/a32_umaal_asm.S"
STEPS, WORDS, COLUMNS = "src/bn/digits_steps.h", "src/bn_words/carry_rows.h", "src/bn_words/steps.h"


@dataclasses.dataclass(frozen=True)
class Cpu:
    kernel: str
    compiler: str
    emulator: str
    breaks: tuple[tuple[str, str, str, str], ...]  # what, file, old, new
    flags: tuple[str, ...] = ()
    model: tuple[str, ...] = ()  # words for the emulator
    rounds: int = 20  # of bn_against_python.py: so many that each break is noticed
    primitive: str = "bn"

    @property
    def program(self) -> str:
        return f"{self.primitive}_answers"


POWER_WORDS = (
    ("words: a carry in a row of four", WORDS, 'PRODUCT("u", "s0", "8", "adde", "t") STORE', 'PRODUCT("u", "s0", "8", "addc", "t") STORE'),
    ("words: the carry above a row of four", WORDS, '"addze %[c], %[u]"\n', '"mr %[c], %[u]"\n'),
    ("words: a carry in a row that is added", WORDS, 'PRODUCT("t", "s2", "16", "adde", "u")\n', 'PRODUCT("t", "s2", "16", "addc", "u")\n'),
    ("words: the carry above products that are added", WORDS, '"addze %[c], %[u]\\n\\t"', '"mr %[c], %[u]\\n\\t"'),
    ("words: a carry between words of a sum", WORDS, 'ADD_TO_WORD("adde", "s2", "16")', 'ADD_TO_WORD("addc", "s2", "16")'),
    ("words: the carry above a sum", WORDS, '"addze %[c], %[c]"\n', '"nop"\n'),
    ("words: a carry between words of a column", COLUMNS, "adde %1, %1, %4", "addc %1, %1, %4"),
    ("words: the bit above two words that are doubled", COLUMNS, "adde %2, %2, %2", "add %2, %2, %2"),
)

Z_WORDS = (
    ("words: a carry in a row of four", WORDS, 'PRODUCT("r2", "r3", "8", "alcgr", "%%r0") STORE', 'PRODUCT("r2", "r3", "8", "algr", "%%r0") STORE'),
    ("words: the carry above a row of four", WORDS, '"lghi %[c], 0\\n\\talcgr %[c], %%r2"\n', '"lgr %[c], %%r2"\n'),
    ("words: a carry in a row that is added", WORDS, 'PRODUCT("r4", "r5", "16", "alcgr", "%%r2")\n', 'PRODUCT("r4", "r5", "16", "algr", "%%r2")\n'),
    ("words: the carry above products that are added", WORDS, '"lghi %[c], 0\\n\\talcgr %%r6, %[c]\\n\\t"', '"lghi %[c], 0\\n\\t"'),
    ("words: a carry between words of a sum", WORDS, 'ADD_TO_WORD("alcg", "r5", "16")', 'ADD_TO_WORD("alg", "r5", "16")'),
    ("words: the carry above a sum", WORDS, '"alcgr %[c], %%r6"\n', '"lgr %[c], %%r6"\n'),
)

CPUS = (
    Cpu("hppa_xmpyu", "hppa-linux-gnu-gcc", "qemu-hppa", (
        ("the carry of a row", XMPYU, "	.ifnc	\\kind, set\n	addc	%r0, CARRY, CARRY\n", "	.ifnc	\\kind, set\n"),
        ("the carry of the block before", XMPYU, "	add	BEFORE, CARRY, CARRY\n", "	nop\n"),
        ("the carry into rows that fill no block", XMPYU, "	add	CARRY, %r3, %r3\n", "	add	%r0, %r3, %r3\n"),
        ("the carry above a result", XMPYU, "	add	CARRY, %r1, %r1\n", ""),
        ("the carry of cross products", XMPYU, "	addc	%r0, CARRY, CARRY\n	sum_at (2 * x + 1)\n", "	sum_at (2 * x + 1)\n"),
        ("the bit above a doubled word", XMPYU, "	shd	%r21, \\before, 31, %r22\n", "	shd	%r21, %r0, 31, %r22\n"),
        ("the carry of squares", XMPYU, "	addc	%r22, %r19, %r19\n", "	add	%r22, %r19, %r19\n"),
        ("the carry of a row of sixteen", XMPYU, "	\\each	wide_add_upper, \\next\n	addc	%r0, CARRY, CARRY\n",
         "	\\each	wide_add_upper, \\next\n"),
        ("the carry of the lowest of sixteen sums", XMPYU, "	.ifc	\\kind\\w, drop0\n	addi	-1, sum, %r0\n",
         "	.ifc	\\kind\\w, drop0\n	addi	0, sum, %r0\n"),
        ("a digit of the upper eight", XMPYU, "	fcpy,sgl	%fr30R, %fr\\f\\()R\n	.endif\n	each_of_n",
         "	fcpy,sgl	%fr30R, %fr\\f\\()L\n	.endif\n	each_of_n"),
    ), rounds=80),
    # As Debian 12's emulator has the instruction.
    Cpu("hppa_fmpyadd", "hppa-linux-gnu-gcc", "qemu-hppa", (
        ("the last sums of rows", FMPYADD, "2:	fadd,dbl	%fr13, %fr26, %fr26\n", "2:	nop\n"),
        ("the sum of a row", FMPYADD, "	.if	\\j == 3\n	next_sum \\i\n", "	.if	\\j == 2\n	next_sum \\i\n"),
        ("a digit that is doubled", FMPYADD, "	fadd,dbl	%fr\\f, %fr\\f, %fr\\f\n", "	nop\n"),
        ("the square of a digit", FMPYADD, "	.if	\\j == \\i\n	.set	factor, digit\n", "	.if	\\j == 9\n	.set	factor, digit\n"),
        ("a sum of the first rows of a square", FMPYADD, "	.if	k == 25\n", "	.if	k == 22\n"),
        ("the carry between digits of a multiple", FMPYADD, "	fadd,dbl	CARRY, place, place\n	.endif\n", "	.endif\n"),
        ("the carry to the next block", FMPYADD, "	fadd,dbl	%fr12, %fr22, %fr22\n", "	nop\n"),
        ("the lowest part of a place", FMPYADD, "	lowest	place, Q, Q\n", "	fcpy,dbl	place, Q\n"),
        ("the upper products of the lowest digits", FMPYADD, "	.if	\\i + \\j >= 8\n", "	.if	\\i + \\j >= 9\n"),
        ("the carry between digits of a result", FMPYADD, "	fadd,dbl	CARRY, %fr\\i, %fr\\i\n", "	nop\n"),
        ("the multiple of the modulus in a sum", FMPYADD, "	fadd,dbl	%fr9, %fr8, %fr8\n", "	nop\n"),
        ("the sums of an entry of a table", FMPYADD, "	fadd,dbl	%fr15, %fr29, %fr29\n", "	nop\n"),
        ("the sign of a sum", DOUBLES, " - (int32_t)((above + 1) >> 63 & 1);", ";"),
        ("a sum that is too large", DOUBLES, "(double)-sign_of(key, a, b, b_sign)", "(double)0"),
        ("a result below zero", DOUBLES, "negative = evc_barrier32((uint32_t)sum);", "negative = 0;"),
        ("digits below zero", DOUBLES, "*above = (x + ((int32_t)1 << (digit_bits - 1))) >> digit_bits;", "*above = x >> digit_bits;"),
        ("numbers of more digits than sums hold", DOUBLES, "#define MOST_BYTES_OF_MOST_BITS 712", "#define MOST_BYTES_OF_MOST_BITS 758"),
    ), ("-DEVC_HPPA_FMPYADD_SWAPPED",), rounds=60),
    Cpu("a32_umaal", "arm-linux-gnueabihf-gcc", "qemu-arm", (
        ("the carry of the strip before", UMAAL, "    subs r3, r3, #1       /* the carry is the carry */\n", "    cmn r3, #0\n"),
        ("the borrow of limbs that make no four", UMAAL, "    sbcs r4, r4, r8\n    str r4, [r12], #4\n",
         "    subs r4, r4, r8\n    str r4, [r12], #4\n"),
        ("the bit between limbs of a square", UMAAL, "    subs r3, r3, #1       /* the bit is the carry */\n", "    cmn r3, #0\n"),
        ("the carry of squares", UMAAL, "    mov r12, #0\n    adc r12, r12, #0\n", "    mov r12, #0\n"),
        ("limbs that fill no strip", UMAAL, "6:  tst lr, #2\n    beq 7f\n", "6:  tst lr, #2\n    b 7f\n"),
        ("a cross product of a strip", UMAAL, "    umaal r10, r12, r5, r6\n", ""),
    )),
    Cpu("x86_sse2", "i686-linux-gnu-gcc", "qemu-i386", (
        ("the carry of the lowest digit", SSE2, "    sum = v_add(sum, v_to_upper(_mm_srli_epi64(sum, DIGIT_BITS)));\n", ""),
        ("the carry of two rows", SSE2, "    t[1] = v_add(t[1], v_to_lower(_mm_srli_epi64(sum, DIGIT_BITS)));\n", ""),
        ("the digit before a vector", SSE2, "_mm_unpacklo_epi64(v_to_lower(before), now)", "v_to_upper(now)"),
        ("the digit behind a number", SSE2, "rows[vectors].shifted = v_to_lower(before);",
         "rows[vectors].shifted = _mm_setzero_si128();"),
        ("the carry between vectors", SSE2, "carry = _mm_srli_epi64(upper, DIGIT_BITS);", "carry = _mm_setzero_si128();"),
        ("the part of a vector", SSE2, "SPARE_BITS + VECTOR_BITS - 1) / VECTOR_BITS", "SPARE_BITS) / VECTOR_BITS"),
        ("a cross product that is doubled", SSE2, "twice1 = v_add(a1, a1);", "twice1 = a1;"),
        ("the square of a second digit", SSE2, "_mm_unpacklo_epi64(v_to_lower(a[i]), ", "_mm_unpacklo_epi64(twice1, "),
        ("a sum of 2n or more", STEPS, " - 2 * modulus_digit(key, i)\n", "\n"),
        ("a difference below zero", STEPS, "mask = evc_barrier32((uint32_t)sum);", "mask = 0;"),
        ("a result that is not below n", STEPS, "mask = ~is_below_modulus(key, a);", "mask = 0;"),
        ("the number of an entry", SSE2, "_mm_sub_epi32(number, _mm_set1_epi32(-1))", "number"),
    )),
    Cpu("a64_neon", "aarch64-linux-gnu-gcc", "qemu-aarch64", (
        ("a product of the first columns", NEON, " + product(a[2], b[1]) + ", " + "),
        ("the carry of the lowest digit", NEON, "s1 += product(q0, n[1]) + ((s0 + product(q0, n[0])) >> DIGIT_BITS);",
         "s1 += product(q0, n[1]);"),
        ("the carry of four rows", NEON, "    c.low = vaddq_u64(c.low, vcombine_u64(vcreate_u64(q.carry), vcreate_u64(0)));\n", ""),
        ("the digits of a multiple", NEON, "vcreate_u32((uint64_t)q3 << 32 | q2)", "vcreate_u32((uint64_t)q2 << 32 | q3)"),
        ("the digits below a block", NEON, "        b_below = b_block;\n", ""),
        ("the digits below the first block of n", NEON, "below = vld1q_u32(n), block", "below = vdupq_n_u32(0), block"),
        ("the digits behind n", NEON, "add_rows(c, multiples, zero, n_below));\n}", "c);\n}"),
        ("the carry between digits", NEON, "        sum >>= DIGIT_BITS;\n", "        sum = 0;\n"),
        ("the part of a block", NEON, "SPARE_BITS + BLOCK_BITS - 1) / BLOCK_BITS", "SPARE_BITS) / BLOCK_BITS"),
        ("digits of a square that are doubled", NEON, "vshlq_n_u32(block, 1), vld1q_u32(a + BLOCK * row)", "block, vld1q_u32(a + BLOCK * row)"),
        ("rows of a square that are doubled", NEON, "row + 1 < blocks ? vshlq_n_u32(digits, 1) : digits", "digits"),
        ("the last four rows of a square", NEON, "row + 1 < blocks ? vshlq_n_u32(digits, 1) : digits", "vshlq_n_u32(digits, 1)"),
        ("what is below the diagonal of a square", NEON, "        return add_rows(c, digits, block, zero);\n",
         "        return add_rows(c, digits, block, vld1q_u32(a));\n"),
        ("the number of an entry", NEON, "vaddq_u32(number, vdupq_n_u32(1))", "number"),
    )),
    Cpu("c_digit27", "mips-linux-gnu-gcc", "qemu-mips", (
        ("the second half of eight products", DIGITS, "        ADD_FOUR(column, x + 4, y - 4);\n", ""),
        ("the digits above 27 bits of a multiple", DIGITS, "* p->n0) & DIGIT_MASK;", "* p->n0);"),
        ("the square of the middle", DIGITS, "    if (i % 2 == 0)\n        ADD_PRODUCT", "    if (i % 4 == 0)\n        ADD_PRODUCT"),
        ("the highest digit", DIGITS, "    q[digits - 1] = (uint32_t)column;\n", ""),
        ("a digit that is doubled", DIGITS, "twice[i] = 2 * a[i];", "twice[i] = a[i];"),
    )),
    Cpu("ppc64_mulhdu", "powerpc64-linux-gnu-gcc", "qemu-ppc64", (
        ("the carry of lower limbs", POWER, "    addze top, zero\n", "    li top, 0\n"),
        ("a carry between lower limbs", POWER, "    adde acc\\i, acc\\i, part1\n", "    addc acc\\i, acc\\i, part1\n"),
        ("a carry between upper limbs", POWER, "    adde acc\\i, acc\\next, part1\n", "    addc acc\\i, acc\\next, part1\n"),
        ("the carry into the highest accumulator", POWER, "    adde last_acc\\width, top, part1\n",
         "    add last_acc\\width, top, part1\n"),
        ("the carry of a limb that becomes 0", POWER, "    addic part0, acc0, -1 //", "    addic part0, zero, 0 //"),
        ("a limb of t that is added", POWER, "    addc sum, sum, acc0\n", "    addc sum, zero, acc0\n"),
        ("the rows behind digits of a strip", POWER, "    addic. part0, limbs, -\\width\n", "    addic. part0, zero, 0\n"),
        ("the carry of the strip before", POWER, "2:  addic part0, carry, -1\n", "2:  addic part0, zero, 0\n"),
        ("the carry above a strip", POWER, "    addze carry, zero\n", ""),
        ("the borrow between limbs", POWER, "    subfe part0, part1, part0\n    stdu", "    subfc part0, part1, part0\n    stdu"),
        ("the carry above a result", POWER, "    addic part1, carry, -1 ", "    addic part1, zero, -1 "),
        ("a result that is not below n", POWER, "    and acc0, part0, part1 ", "    li acc0, -1 "),
        ("the bit between limbs of a square", POWER, "    srdi top, acc0, 63\n", "    li top, 0\n"),
        ("the bit above two limbs of a square", POWER, "    srdi sum, acc2, 63\n", "    li sum, 0\n"),
        ("a limb that is doubled", POWER, "    rldimi top, acc1, 1, 0\n", "    or top, top, acc1\n"),
        ("the carry of squares", POWER, "    adde sum, sum, part0\n", "    addc sum, sum, part0\n"),
        ("limbs that fill no strip", POWER, "    \\strip 7\n", ""),
        ("a cross product of a strip", POWER, "    triangle_row \\width, \\i\n", "    .if \\i != 5\n    triangle_row \\width, \\i\n    .endif\n"),
    ), rounds=60),
    Cpu("s390x_mlg", "s390x-linux-gnu-gcc", "qemu-s390x", (
        ("the carry of lower limbs", Z, "    alcg %r6, ZERO(%r15)\n    algr %r1, \\a0\n", "    algr %r1, \\a0\n"),
        ("the carry into the highest accumulator", Z, "    alcg %r6, ZERO(%r15)\n    lgr \\a0, %r6\n", "    lgr \\a0, %r6\n"),
        ("the same of a strip of three limbs", Z, "    alcg %r4, ZERO(%r15)\n    lgr \\a3, %r4\n", "    lgr \\a3, %r4\n"),
        ("a carry between two products", Z, "    alcgr %r5, %r2\n", "    algr %r5, %r2\n"),
        ("a carry between accumulators", Z, "    alcgr \\a2, %r5\n    alcgr \\a3, %r7\n", "    alcgr \\a2, %r5\n    algr \\a3, %r7\n"),
        ("a limb of t that is added", Z, "    alg %r1, \\at(to_sum)\n", "    alg %r1, ZERO(%r15)\n"),
        ("an accumulator after one row", Z, "    lgr %r11, %r0\n.endif\n1:", "    .endif\n1:"),
        ("an accumulator after two rows", Z, "    lgr %r11, %r1\n", ""),
        ("the carry of the strip before", Z, "    alg %r0, CARRY(%r15) ", "    alg %r0, ZERO(%r15) "),
        ("the carry above a strip", Z, "    alcgr %r0, %r0\n    stg %r0, CARRY(%r15)\n", "    stg %r0, CARRY(%r15)\n"),
        ("the borrow between limbs", Z, "    slbg %r0, 0(%r1, %r12)\n", "    slg %r0, 0(%r1, %r12)\n"),
        ("the carry above a result", Z, "    lg %r0, CARRY(%r15)\n    aghi", "    lg %r0, ZERO(%r15)\n    aghi"),
        ("a result that is not below n", Z, "    ngr %r3, %r0 ", "    lghi %r3, -1 "),
        ("the bit between limbs of a square", Z, "    srlg %r6, %r3, 63\n", "    lghi %r6, 0\n"),
        ("the bit above two limbs of a square", Z, "    srlg %r5, %r2, 63\n", "    lghi %r5, 0\n"),
        ("a limb that is doubled", Z, "    sllg %r7, %r4, 1\n", "    lgr %r7, %r4\n"),
        ("the carry of squares", Z, "    alcgr %r5, %r1\n", "    algr %r5, %r1\n"),
        ("a new accumulator of zero", Z, "    lghi %r11, 0\n", ""),
        ("a cross product of a strip", Z, "    factor_row 2, 2, 8\n", "    factor_row 2, 1, 8\n"),
        ("limbs that fill no strip", Z, "    \\strip 3\n    j 19f\n", "    j 19f\n"),
    ), rounds=60),
    Cpu("a32_umaal", "arm-linux-gnueabihf-gcc", "qemu-arm", (
        ("words: a word below a product", UMAAL_WORDS, "    mov r5, #0\n", ""),
        ("words: no carry before a sum", UMAAL_WORDS, "    cmn r3, #0 ", "    cmp r3, #0 "),
        ("words: no borrow before a difference", UMAAL_WORDS, "    cmp r3, #0 ", "    cmn r3, #0 "),
        ("words: the carry above a sum", UMAAL_WORDS, "    adc r0, r0, #0\n", ""),
        ("words: the borrow above a difference", UMAAL_WORDS, "    sbc r0, r0, r0\n", ""),
        ("words: an open sum of a strip", UMAAL_WORDS, "    mov r10, #0\n", ""),
        ("words: a word of the strip before", UMAAL_WORDS, "    ldr r12, [r0]\n.endif\n    strip_row lr\n",
         "    mov r12, #0\n.endif\n    strip_row lr\n"),
        ("words: the word below a row", UMAAL_WORDS, "    mov r12, #0\n.else\n    ldr r12, [r0]\n.endif\n    strip_row lr\n",
         ".else\n    ldr r12, [r0]\n.endif\n    strip_row lr\n"),
        ("words: a word of b", UMAAL_WORDS, "    umaal r10, r11, \\limb, r7\n", "    umaal r10, r11, \\limb, r6\n"),
        ("words: the sums above a strip", UMAAL_WORDS, "    stmia r0, {r8-r11}\n", ""),
        ("words: where the second strip begins", UMAAL_WORDS, "    sub r0, r0, #16\n", "    sub r0, r0, #12\n"),
        ("words: the words of the second strip", UMAAL_WORDS, "    sub r1, r1, #32\n", "    sub r1, r1, #28\n"),
    ), ("-marm",), primitive="bn_words"),
    Cpu("c_words64", "powerpc64-linux-gnu-gcc", "qemu-ppc64", POWER_WORDS, primitive="bn_words"),
    Cpu("c_words64", "powerpc64le-linux-gnu-gcc", "qemu-ppc64le", POWER_WORDS, primitive="bn_words"),
    Cpu("c_words64", "s390x-linux-gnu-gcc", "qemu-s390x", Z_WORDS, primitive="bn_words"),
)

ROWS = "src/bn/hppa20_asm.S"
HPPA20 = Cpu("hppa20", "hppa-linux-gnu-gcc", "", (
    ("the carry of a sum that comes in", ROWS, "	add,dc	%r\\of, %r\\at, %r\\at\n	add,dc	%r0, %r0, %r\\of\n",
     "	add,l	%r\\of, %r\\at, %r\\at\n	ldi	0, %r\\of\n"),
    ("the carry of products at odd places", ROWS, "	with_carries count_carry, 0, row+1\n", ""),
    ("what is above a word that becomes 0", ROWS, "	add,l	%r19, %r21, %r21\n", ""),
    ("the carries of the block before", ROWS, "	add,l	KEPT_EVEN, EVEN, EVEN\n", "	nop\n"),
    ("the carries into rows that fill no block", ROWS, "	extru	%r28, 31, 16, EVEN\n", "	ldi	0, EVEN\n"),
    ("the carry between words of a result", ROWS, "	add,dc	%r22, %r19, %r19\n", "	add,l	%r22, %r19, %r19\n"),
    ("the carry above a result", ROWS, "	add,l	%r28, %r1, %r1\n", ""),
), ("-DEVC_HPPA_KEEPS_64_BITS",), rounds=200)


def compiled(cpu: Cpu, folder: pathlib.Path, source: str) -> str:
    target = f"objects/{source.replace('/', '_')}.o"
    done = subprocess.run([cpu.compiler, *FLAGS, *cpu.flags, "-c", source, "-o", target], cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{cpu.compiler} does not compile {source}: {done.stderr.strip()[-300:]}")
    return target


def answers_are_right(cpu: Cpu, folder: pathlib.Path, objects: list[str]) -> bool:
    subprocess.run([cpu.compiler, "-static", *objects, "-o", cpu.program], cwd=folder, check=True)
    emulated = [cpu.emulator, *cpu.model, str(folder / cpu.program)]
    if cpu.primitive == "bn":
        return bn_against_python.all_answers_are_right(emulated, cpu.kernel, cpu.rounds, SECONDS)
    words = [str(ROOT / "tests/oracles/bn_words_answers.py"), *emulated, cpu.kernel]
    try:
        done = subprocess.run([sys.executable, *words], capture_output=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def unnoticed(cpu: Cpu, folder: pathlib.Path) -> int:
    for part in ("src", "include"):
        shutil.copytree(ROOT / part, folder / part)
    shutil.copy(ROOT / f"tests/oracles/{cpu.program}.c", folder)
    keep_kernels(folder, lambda stem: stem in (cpu.kernel, "c_ref"))
    (folder / "objects").mkdir()
    others = [*folder.glob("src/*/c_ref.c"), folder / "src/registry.c"]  # which names kernels of all primitives
    sources = sorted({path.relative_to(folder).as_posix()
                      for path in [*others, *(path for part in PARTS for path in (folder / "src" / part).glob("*.[cS]"))]})
    objects = [compiled(cpu, folder, source) for source in [*sources, f"{cpu.program}.c"]]
    if not answers_are_right(cpu, folder, objects):
        sys.exit(f"unbroken, {cpu.kernel} gives wrong answers")
    bad = 0
    for what, file, old, new in cpu.breaks:
        good = (folder / file).read_text()
        if old not in good:
            sys.exit(f"{what}: {file} no longer says {old!r}")
        (folder / file).write_text(good.replace(old, new, 1))
        compiled(cpu, folder, f"src/{cpu.primitive}/{cpu.kernel}.c" if file.endswith(".h") else file)
        if answers_are_right(cpu, folder, objects):
            bad += 1
            print(f"FAILED: {cpu.kernel}: {what} is broken, and all answers are right")
        (folder / file).write_text(good)
    return bad


def main() -> int:
    passed = failed = skipped = 0
    words = sys.argv[1:]
    if words and words[0] != HPPA20.kernel or len(words) == 1:
        sys.exit("usage: bn_assembly_can_fail.py [hppa20 EMULATOR...]")
    cpus = (dataclasses.replace(HPPA20, emulator=words[1], model=tuple(words[2:])),) if words else CPUS
    for cpu in cpus:
        if absent := [name for name in (cpu.compiler, cpu.emulator) if not shutil.which(name)]:
            print(f"skipped: {cpu.kernel}: no {', '.join(absent)}")
            skipped += 1
            continue
        with tempfile.TemporaryDirectory() as name:
            bad = unnoticed(cpu, pathlib.Path(name))
        failed += bad
        passed += len(cpu.breaks) - bad
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
