/* SPDX-License-Identifier: MIT */
/* The codes of pointers that QEMU computes (target/arm: pauth_helper.c), by its own
 * choice of the algorithm. */
#include <setjmp.h>

#include "pac_record.h"
#include "qarma.h"
#include "qemu/cpu.h"

static jmp_buf at_fault;

void subject_fault(void)
{
    longjmp(at_fault, 1);
}

static CPUARMState *key_of(struct subject_job *job)
{
    CPUARMState *cpu = job->own;

    memset(cpu, 0, sizeof *cpu);
    memcpy(&cpu->keys.apga.hi, job->user_key, 8);
    memcpy(&cpu->keys.apga.lo, job->user_key + 8, 8);
    cpu->keys.apia = cpu->keys.apib = cpu->keys.apga;
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

SUBJECT_GLUE static uint64_t authenticated(CPUARMState *cpu, const struct pac_record *r,
                                           uint64_t pointer)
{
    if (setjmp(at_fault))
        return PAC_RECORD_FAULT;
    if (r->combined)
        return (r->key_b ? helper_autib_combined : helper_autia_combined)(cpu, pointer,
                                                                          r->modifier);
    return (r->key_b ? helper_autib : helper_autia)(cpu, pointer, r->modifier);
}

SUBJECT_GLUE void pac_instructions(struct subject_job *job)
{
    CPUARMState *cpu = job->own;

    for (size_t i = 0; i < job->n_bytes; i += PAC_RECORD_BYTES) {
        const struct pac_record r = pac_record(job->in + i);
        uint64_t said[4];

        cpu->pauth_feature = (ARMPauthFeature)r.level;
        cpu->parameters = (ARMVAParameters){64 - r.va_bits, r.tbi};
        said[0] = (r.key_b ? helper_pacib : helper_pacia)(cpu, r.pointer, r.modifier);
        said[1] = authenticated(cpu, &r, said[0]);
        said[2] = authenticated(cpu, &r, r.pointer);
        said[3] = helper_xpaci(cpu, r.pointer);
        memcpy(job->out + i, said, sizeof said);
    }
}
