/* SPDX-License-Identifier: MIT */
/* The codes of pointers that QEMU computes (target/arm: pauth_helper.c), by its own choice of the algorithm. */
#include <stdlib.h>

#include "qarma.h"
#include "qemu/cpu.h"

void subject_fault(void)
{
    abort(); /* no function that is called here can fault */
}

static CPUARMState *key_of(struct subject_job *job)
{
    CPUARMState *cpu = job->own;

    memset(cpu, 0, sizeof *cpu);
    memcpy(&cpu->keys.apga.hi, job->user_key, 8);
    memcpy(&cpu->keys.apga.lo, job->user_key + 8, 8);
    return cpu;
}

void qarma5_key(struct subject_job *job)
{
    CPUARMState *cpu = key_of(job);

    cpu->aa64_pauth_arch = cpu->aa64_pauth_qarma5 = true;
}

void qarma3_key(struct subject_job *job)
{
    key_of(job)->aa64_pauth_qarma3 = true;
}

void impdef_key(struct subject_job *job)
{
    key_of(job);
}

#define MAC(job, block, tweak) \
    subject_mac((job)->own, block, tweak, ((CPUARMState *)(job)->own)->keys.apga)

CHAIN(qarma5, MAC)
EACH(qarma5_each, MAC)
CHAIN(qarma3, MAC)
EACH(qarma3_each, MAC)
CHAIN(impdef, MAC)
EACH(impdef_each, MAC)
