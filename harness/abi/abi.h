/* SPDX-License-Identifier: MIT */
/*
 * A call that checks what a function owes its caller by the calling convention of the platform:
 * registers that it has to restore, the stack pointer, and the modes of the CPU. Compilers keep
 * this for C; assembly and intrinsics that change modes may not, and tests by plain calls do not
 * notice, because the code around them saves registers itself.
 *
 * Each architecture has a trampoline in assembly beside this file. It fills the registers
 * with known values, aligns the stack pointer as little as the convention allows, calls, and
 * stores the registers again.
 *
 * Source: System V ABI, AMD64 supplement (1.0, 2024) section 3.2.1 and Intel386 supplement (1.1,
 *         2015) section 2.2.1; Microsoft, x64 calling convention; AAPCS64 (2024) section 6.1;
 *         AAPCS32 (2024) section 6.1; RISC-V ELF psABI (1.0, 2022) chapter 1; Power Architecture
 *         64-Bit ELF V2 ABI Specification (2024) section 2.2.1; zSeries ELF Application Binary
 *         Interface Supplement (2002) chapter 1; The 32-bit PA-RISC Run-time Architecture Document
 *         (1997) chapter 2. The method is that of checkasm, the test program of FFmpeg and dav1d.
 */
#ifndef HARNESS_ABI_H
#define HARNESS_ABI_H

/* NULL if there is a trampoline here, else why there is none. */
const char *abi_missing(void);

/*
 * Calls run(argument). NULL if it left everything as a function has to, else what it did not; the
 * text lasts until the next call. run should do no more than call the function under test as its
 * last action: what run restores itself hides what that function did not.
 */
const char *abi_call(void (*run)(void *), void *argument);

/* Whether abi_call notices upper halves of vector registers in use: this CPU tells which
 * parts of its state are. */
int abi_sees_upper_halves(void);

#endif
