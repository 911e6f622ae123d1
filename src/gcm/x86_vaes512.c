/* SPDX-License-Identifier: MIT */
/*
 * GCM with VAES and VPCLMULQDQ on 512-bit vectors, 64 blocks with one reduction.
 *
 * Method:   8 vectors of 4 counters through AES while the 8 before are hashed by Karatsuba.
 *           A message is groups of these and a tail, whose blocks are in the
 *           last lanes: gcm/message.h.
 *           The parts of its first and last vector are taken by masks. Where the ABI is that of
 *           System V, messages are in assembly: at most 288 bytes in one straight line of up to 5
 *           vectors. To follow a message: evc_gcm_x86_vaes512_seal in x86_vaes512_asm.S; of over
 *           288 bytes, long_message in x86_vaes512_long_asm.h.
 * Source:   SP 800-38D (2007); Gueron, Kounavis: Intel Carry-Less Multiplication Instruction and
 *           its Usage for Computing the GCM Mode, 2014.
 * Needs:    X86_GCM512.   Timing: CT (no tables, no secret branches).
 * Key form: private.
 */
#include "gcm/kernel.h"

#include "common/bytes.h"
#include "common/clear.h"
#include "common/x86.h"

#if EVC_BUILT(X86_GCM512)
EVC_ISA_BEGIN(X86_GCM512)

#define GROUP 16
#define POWER_SUMS 0
#include "gcm/x86_lanes512.h"

#if EVC_X86_64_SYSV

#define MESSAGES evc_gcm_x86_vaes512
#include "gcm/in_assembly.h"

#else

#define load_part1(p, n_bytes) load_block(p, n_bytes)

/* 0 to 16 bytes, zeros behind. A load with a mask waits for stores to any of the 16, like that of
 * the last message's tag beside the associated data; this reads what it takes. */
EVC_INLINE __m128i load_block(const uint8_t *p, size_t n_bytes)
{
    if (n_bytes == 16)
        return _mm_loadu_si128((const __m128i *)(const void *)p);
    return n_bytes ? evc_x86_load_part(p, n_bytes) : _mm_setzero_si128();
}

EVC_INLINE enum evc_status compare_tag(const uint8_t *tag, __m128i t, size_t n_bytes)
{
    const __mmask16 kept = (__mmask16)first_bytes(n_bytes);

    return evc_tag_status(_mm_mask_cmpneq_epi8_mask(kept, t, load_block(tag, n_bytes)));
}

#define clear_short() EVC_CLEAR(ZMM, 0)
#define CLEAR_AFTER_BLOCK() clear_short()
#if defined(_WIN32) /* vectors are passed in memory */
#define clear_long() EVC_CLEAR(ZMM, EVC_DEEP(448))
#define CLEAR_AFTER_SHORT() clear_long()
#define CLEAR_FRAMES() clear_long()
#else
#define clear_long() EVC_CLEAR(ZMM, 512)
#define CLEAR_AFTER_SHORT() clear_short()
#endif
#define CLEAR_AFTER_LONG() clear_long()

#endif

#include "gcm/x86_steps.h"

EVC_ISA_END

#if EVC_X86_64_SYSV
ASSEMBLY_AGREES(1024);
#endif

const struct evc_gcm evc_gcm_x86_vaes512 = {
    .kernel = EVC_KERNEL_HEAD(x86_vaes512, X86_GCM512, CT, ANY, BATCH, struct key, 0, ZMM, 896),
    GCM_SLOTS,
};
#else
EVC_EMPTY_UNIT
#endif
