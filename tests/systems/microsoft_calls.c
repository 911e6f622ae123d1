/* SPDX-License-Identifier: MIT */
/*
 * Calls of assembly from functions with Microsoft's calling convention, in a program without libc:
 * for Linux with -mabi=ms, where no macro tells the convention. GCM with an IV of 12 bytes and with
 * one whose counter wraps, big numbers, and the vector registers of the caller. The exit status is
 * the line of the first failure, modulo 256, or 0.
 */
#include <stddef.h>
#include <stdint.h>

#include "everycore/bn_words.h"
#include "everycore/cpu.h"
#include "everycore/gcm.h"

/* Compilers call these, with the convention of all other functions. */
void *memset(void *p, int byte, size_t n);
void *memcpy(void *to, const void *from, size_t n);
void *memmove(void *to, const void *from, size_t n);
int memcmp(const void *a, const void *b, size_t n);

void *memset(void *p, int byte, size_t n)
{
    for (volatile uint8_t *at = p; n--; at++)
        *at = (uint8_t)byte;
    return p;
}
void *memmove(void *to, const void *from, size_t n)
{
    volatile uint8_t *out = to;
    const uint8_t *in = from;

    for (size_t i = 0; i < n; i++)
        if ((uintptr_t)to > (uintptr_t)from)
            out[n - 1 - i] = in[n - 1 - i];
        else
            out[i] = in[i];
    return to;
}
void *memcpy(void *to, const void *from, size_t n)
{
    return memmove(to, from, n);
}
int memcmp(const void *a, const void *b, size_t n)
{
    const volatile uint8_t *p = a, *q = b;

    for (size_t i = 0; i < n; i++)
        if (p[i] != q[i])
            return p[i] < q[i] ? -1 : 1;
    return 0;
}

#define MUST(condition)      \
    do {                     \
        if (!(condition))    \
            return __LINE__; \
    } while (0)

/* The counter that this IV of 16 bytes makes wraps within the text. Key and text are 0, 1, 2...
 * Source: D. Bleichenbacher, Rooterberg (2025), aes_gcm_128_128_128.json, test 143. */
static const uint8_t wrapping_iv[16] = {0xb0, 0xbc, 0x14, 0x5f, 0xa2, 0x74, 0xfb, 0xed,
                                        0xdb, 0x04, 0x34, 0x07, 0x7e, 0xa2, 0x96, 0x86};
static const uint8_t wrapped[80] = {
    0x0b, 0x31, 0x74, 0x76, 0x25, 0x11, 0xf1, 0xd7, 0xe4, 0x52, 0x88, 0x88, 0x0f, 0x6b, 0x66, 0xde,
    0x47, 0x85, 0x0d, 0xe0, 0x55, 0x4d, 0x97, 0xb7, 0xaa, 0xbe, 0x8b, 0x61, 0xd9, 0xe7, 0x2d, 0xa7,
    0xe6, 0x80, 0x19, 0x14, 0xa3, 0xaa, 0x7d, 0xa5, 0x47, 0x66, 0xab, 0x49, 0x8d, 0xe5, 0xf6, 0x56,
    0x43, 0x77, 0x21, 0xa6, 0xa1, 0xf5, 0x82, 0x29, 0x71, 0x42, 0x87, 0xd8, 0x59, 0xc9, 0x13, 0x35,
    0x09, 0x97, 0xc5, 0x10, 0xdd, 0xde, 0xe0, 0xcb, 0xab, 0xc0, 0x30, 0x23, 0x2c, 0xcc, 0xfe, 0xd2};
static const uint8_t wrapped_tag[16] = {0x2e, 0x97, 0x5e, 0xd2, 0xd4, 0x60, 0x73, 0x79,
                                        0x4b, 0x07, 0x73, 0xae, 0xf2, 0xb3, 0xe7, 0xfd};

/* Test case 4 of McGrew, Viega: The Galois/Counter Mode of Operation (2005). */
static const uint8_t key_4[16] = {0xfe, 0xff, 0xe9, 0x92, 0x86, 0x65, 0x73, 0x1c,
                                  0x6d, 0x6a, 0x8f, 0x94, 0x67, 0x30, 0x83, 0x08};
static const uint8_t iv_4[12] = {0xca, 0xfe, 0xba, 0xbe, 0xfa, 0xce,
                                 0xdb, 0xad, 0xde, 0xca, 0xf8, 0x88};
static const uint8_t aad_4[20] = {0xfe, 0xed, 0xfa, 0xce, 0xde, 0xad, 0xbe, 0xef, 0xfe, 0xed,
                                  0xfa, 0xce, 0xde, 0xad, 0xbe, 0xef, 0xab, 0xad, 0xda, 0xd2};
static const uint8_t text_4[60] = {
    0xd9, 0x31, 0x32, 0x25, 0xf8, 0x84, 0x06, 0xe5, 0xa5, 0x59, 0x09, 0xc5, 0xaf, 0xf5, 0x26,
    0x9a, 0x86, 0xa7, 0xa9, 0x53, 0x15, 0x34, 0xf7, 0xda, 0x2e, 0x4c, 0x30, 0x3d, 0x8a, 0x31,
    0x8a, 0x72, 0x1c, 0x3c, 0x0c, 0x95, 0x95, 0x68, 0x09, 0x53, 0x2f, 0xcf, 0x0e, 0x24, 0x49,
    0xa6, 0xb5, 0x25, 0xb1, 0x6a, 0xed, 0xf5, 0xaa, 0x0d, 0xe6, 0x57, 0xba, 0x63, 0x7b, 0x39};
static const uint8_t tag_4[16] = {0x5b, 0xc9, 0x4f, 0xbc, 0x32, 0x21, 0xa5, 0xdb,
                                  0x94, 0xfa, 0xe9, 0x5a, 0xe7, 0x12, 0x1a, 0x47};

/* Values in the registers that a function gives back stay there over a call. */
static int keeps_vectors(const union evc_gcm_key *key, uint8_t text[60], uint8_t tag[16])
{
#define EACH(R) R(6) R(7) R(8) R(9) R(10) R(11) R(12) R(13) R(14) R(15)
#define BEFORE(i) register double v##i __asm__("xmm" #i) = i + 0.5;
#define HELD(i) __asm__ volatile("" : "+x"(v##i));
#define KEPT(i) kept &= v##i == i + 0.5;
    int kept = 1;
    enum evc_status status;
    EACH(BEFORE)

    EACH(HELD)
    status = evc_gcm_seal(key, iv_4, 12, aad_4, 20, text, text, 60, tag, 16);
    EACH(HELD)
    EACH(KEPT)
    return status == EVC_OK && kept;
}

static int gcm(const struct evc_gcm *kernel)
{
    static union evc_gcm_key key;
    static uint8_t text[80], tag[16], zeros[80];

    for (size_t i = 0; i < 80; i++)
        text[i] = (uint8_t)i;
    MUST(evc_gcm_set_key(&key, kernel, text, 128) == EVC_OK);
    MUST(evc_gcm_seal(&key, wrapping_iv, 0, NULL, 0, text, text, 80, tag, 16) ==
         EVC_ERR_NONCE_SIZE);
    MUST(evc_gcm_seal(&key, wrapping_iv, 16, NULL, 0, text, text, 80, tag, 16) == EVC_OK);
    MUST(!memcmp(text, wrapped, 80) && !memcmp(tag, wrapped_tag, 16));
    MUST(evc_gcm_open(&key, wrapping_iv, 16, NULL, 0, text, text, 80, tag, 16) == EVC_OK);
    for (size_t i = 0; i < 80; i++)
        MUST(text[i] == i);

    MUST(evc_gcm_set_key(&key, kernel, key_4, 128) == EVC_OK);
    memcpy(text, text_4, 60);
    MUST(keeps_vectors(&key, text, tag));
    MUST(!memcmp(tag, tag_4, 16));
    MUST(evc_gcm_open(&key, iv_4, 12, aad_4, 20, text, text, 60, tag, 16) == EVC_OK);
    MUST(!memcmp(text, text_4, 60));
    tag[15] ^= 1;
    MUST(evc_gcm_open(&key, iv_4, 12, aad_4, 20, text_4, text, 60, tag, 16) == EVC_ERR_TAG);
    MUST(!memcmp(text, zeros, 60));
    return 0;
}

/* (2^n - 1) m and (2^n - 1) + (2^n - 1) have limbs that are known. */
static int numbers(const struct evc_bn_words *kernel)
{
    enum { N = 11 };
    static uint64_t a[N], r[N];

    for (size_t i = 0; i < N; i++)
        a[i] = UINT64_MAX;
    MUST(kernel->add_words(r, a, a, N) == 1 && r[0] == UINT64_MAX - 1 && r[N - 1] == UINT64_MAX);
    MUST(kernel->sub_words(r, a, a, N) == 0 && r[0] == 0 && r[N - 1] == 0);
    MUST(kernel->mul_words(r, a, N, 5) == 4 && r[0] == UINT64_MAX - 4 && r[N - 1] == UINT64_MAX);
    MUST(kernel->mul_add_words(r, a, N, 5) == 5);
    return 0;
}

extern const struct evc_gcm evc_gcm_x86_aesni, evc_gcm_x86_vaes256, evc_gcm_x86_vaes512,
    evc_gcm_x86_vaes512_intel;
extern const struct evc_bn_words evc_bn_words_x86_adx;

static int run(void)
{
    static const struct evc_gcm *const kernels[] = {&evc_gcm_x86_aesni, &evc_gcm_x86_vaes256,
                                                    &evc_gcm_x86_vaes512,
                                                    &evc_gcm_x86_vaes512_intel};
    const uint64_t features = evc_cpu_features();
    int failed = 0;

    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0] && !failed; i++)
        if (!(kernels[i]->kernel.needs & ~features & ~EVC_CPU(TUNE_SHARED_PORTS)))
            failed = gcm(kernels[i]);
    if (!failed && !(evc_bn_words_x86_adx.kernel.needs & ~features))
        failed = numbers(&evc_bn_words_x86_adx);
    return failed;
}

__attribute__((sysv_abi, force_align_arg_pointer, noreturn)) void _start(void)
{
    const int status = run();

    for (;;)
        __asm__ volatile("syscall" : : "a"(60L), "D"((long)status) : "rcx", "r11", "memory");
}
