/* SPDX-License-Identifier: MIT */
/*
 * QARMA-64 with byte shuffles of 512 bits: four blocks in a vector.
 *
 * Method:   one block as x86_avx512vl does it (nibbles_steps.h), in four lanes. Of many, rho and
 *           rho^2 are one look-up, and two vectors go side by side; other numbers of rounds than
 *           Arm's go block by block.
 * Source:   Avanzi: The QARMA Block Cipher Family, ToSC 2017, issue 1, section 2.
 * Needs:    X86_VBMI512.   Timing: CT (no tables in memory that secrets index, no secret branches).
 * Key form: private.
 */
#include "qarma/kernel.h"

#include "common/bytes.h"
#include "common/x86.h"

#if EVC_BUILT(X86_VBMI512)
EVC_ISA_BEGIN(X86_VBMI512)

typedef __m512i vec;

/* GCC 12 makes a load and a shuffle of the intrinsic. */
EVC_INLINE __m512i load4(const uint8_t *p)
{
    __m512i x;

    __asm__("vbroadcasti32x4 %1, %0" : "=v"(x) : "m"(*(const __m128i *)(const void *)p));
    return x;
}

#define v_load load4
#define v_store(p, x) _mm_store_si128((__m128i *)(void *)(p), _mm512_castsi512_si128(x))
#define v_xor _mm512_xor_si512
#define v_xor3(a, b, e) _mm512_ternarylogic_epi64(a, b, e, 0x96)
#define v_zero _mm512_setzero_si512()
#define v_known(x) (x)
#define v_look _mm512_shuffle_epi8

#define LANES 4
#define OMEGA UINT64_C(0xd894d894d894d894) /* the bytes that omega steps */
static const EVC_ALIGN(16) uint8_t h[16] = {4, 5, 6, 7, 11, 2, 3, 8, 12, 13, 14, 15, 0, 1, 10, 9};

/* Each number twice, to its 16 nibbles. */
EVC_INLINE __m512i spread(__m512i twice)
{
    const __m512i from_bit = _mm512_broadcast_i32x4(
        _mm_set_epi8(60, 56, 52, 48, 44, 40, 36, 32, 28, 24, 20, 16, 12, 8, 4, 0));

    return _mm512_and_si512(_mm512_multishift_epi64_epi8(from_bit, twice), _mm512_set1_epi8(15));
}

#define v_number(x) _mm512_set1_epi64((long long)(x))
#define v_value(x) ((uint64_t)_mm_cvtsi128_si64(_mm512_castsi512_si128(x)))
#define v_wide spread
#define v_wide_xor(x, w) _mm512_xor_si512(spread(x), w)
#define v_clear_upper_halves() EVC_X86_CLEAR_UPPER_HALVES()

#include "qarma/nibbles_steps.h"

/* ---- Many blocks --------------------------------------------------------------------------------
 *
 * One port of most cores does all shuffles of 512 bits. So rho and rho^2 are looked up as one, the
 * lower and the upper nibble of a byte; the upper one comes down when the cells are gathered.
 */

EVC_INLINE __m512i wide4(__m256i numbers)
{
    return spread(_mm512_permutexvar_epi64(_mm512_set_epi64(3, 3, 2, 2, 1, 1, 0, 0),
                                           _mm512_castsi256_si512(numbers)));
}

EVC_INLINE __m256i narrow4(__m512i cells)
{
    /* low nibble + 16 x high */
    return _mm512_cvtepi16_epi8(_mm512_maddubs_epi16(cells, _mm512_set1_epi16(0x1001)));
}

EVC_INLINE __m512i both(const uint8_t *low, const uint8_t *high)
{
    return _mm512_or_si512(v_load(low), _mm512_slli_epi16(v_load(high), 4));
}

/* Applies M, with the shuffles of g, to cells whose rho and rho^2 are both, and adds add. */
EVC_INLINE __m512i gathered_both(const struct gather *g, __m512i both, __m512i add)
{
    const __m512i two = _mm512_srli_epi16(v_look(both, v_load(g->two)), 4);
    const __m512i sum = v_xor3(v_look(both, v_load(g->one)), v_look(both, v_load(g->three)), two);

    return _mm512_ternarylogic_epi64(sum, add, _mm512_set1_epi8(15), 0x28); /* (sum ^ add) & 15 */
}

EVC_INLINE __m512i next_tweaks(__m512i t)
{
    const __m512i moved = v_look(t, v_load(h));

    return _mm512_mask_shuffle_epi8(moved, OMEGA, v_load(omega), moved);
}

#define MOST 5 /* rounds of Arm's */

/* Two vectors side by side: one alone waits for itself, and a core does not look far enough ahead
 * for the next. One at the end, if there are no blocks for two. */
EVC_INLINE void run_vectors(const struct key *key, __m512i x[2], const __m512i tweak[2], unsigned n,
                            int rounds)
{
    const struct boxes *box = &boxes[key->head.sigma];
    const __m512i rho = both(rho1, rho2), s = both(box->s1, box->s2),
                  inverse = both(box->inverse1, box->inverse2);
    const uint8_t(*there)[16] = key->there, (*back)[16] = key->back;
    __m512i t[MOST + 1][2], k;

    UNROLLED for (unsigned j = 0; j < n; j++) {
        t[0][j] = tweak[j];
    }
    UNROLLED for (int i = 1; i <= rounds; i++) {
        UNROLLED for (unsigned j = 0; j < n; j++)
            t[i][j] = next_tweaks(t[i - 1][j]);
    }
    UNROLLED for (int i = 1; i <= rounds; i++) {
        k = v_load(i < rounds ? there[i] : key->w1);
        UNROLLED for (unsigned j = 0; j < n; j++)
            x[j] = gathered_both(&m_tau, v_xor(v_look(s, x[j]), v_look(rho, v_xor(k, t[i][j]))),
                                 v_zero);
    }
    k = v_load(key->centre[0]);
    UNROLLED for (unsigned j = 0; j < n; j++)
        x[j] = gathered_both(&untau_m_tau, v_look(s, x[j]), k);
    UNROLLED for (int i = rounds; i >= 1; i--) {
        k = v_load(i < rounds ? back[i] : key->w0);
        UNROLLED for (unsigned j = 0; j < n; j++)
            x[j] = gathered_both(&untau_m, v_look(inverse, x[j]), v_xor(k, t[i][j]));
    }
}

/* One vector of the n blocks at p, zeros behind. Not by a mask: what it leaves out might lie on a
 * page without access, and a CPU repairs that by microcode, in hundreds of cycles. */
EVC_INLINE __m256i load_blocks(const uint64_t *p, size_t n)
{
    __m128i last;

    if (n >= LANES)
        return _mm256_loadu_si256((const __m256i *)(const void *)p);
    last =
        n & 1 ? _mm_loadl_epi64((const __m128i *)(const void *)(p + (n & 2))) : _mm_setzero_si128();
    if (n & 2)
        return _mm256_inserti128_si256(
            EVC_X86_EXTEND256(_mm_loadu_si128((const __m128i *)(const void *)p)), last, 1);
    return EVC_X86_EXTEND256(last);
}

/* As many of v as there are in the n blocks at p. */
EVC_INLINE void store_blocks(uint64_t *p, __m256i v, size_t n)
{
    __m128i last = _mm256_castsi256_si128(v);

    if (n >= LANES) {
        _mm256_storeu_si256((__m256i *)(void *)p, v);
        return;
    }
    if (n & 2) {
        _mm_storeu_si128((__m128i *)(void *)p, last);
        last = _mm256_extracti128_si256(v, 1);
    }
    if (n & 1)
        _mm_storel_epi64((__m128i *)(void *)(p + (n & 2)), last);
}

/* Terms that are added first and last, and the table that undoes S. */
struct ends {
    __m512i first, undone;
    __m256i last;
};

/* The n blocks at in, as many as n_vectors vectors have, or fewer in the last one. */
EVC_INLINE void step(const struct key *key, const struct ends *ends, const uint64_t *in,
                     const uint64_t *tweak, uint64_t *out, size_t n, unsigned n_vectors, int rounds)
{
    __m256i narrow[2];
    __m512i x[2], t[2];

    UNROLLED for (unsigned j = 0; j < n_vectors; j++) {
        narrow[j] = load_blocks(tweak + LANES * j, n - LANES * j);
        t[j] = wide4(narrow[j]);
        x[j] = v_xor3(wide4(load_blocks(in + LANES * j, n - LANES * j)), t[j], ends->first);
    }
    run_vectors(key, x, t, n_vectors, rounds);
    UNROLLED for (unsigned j = 0; j < n_vectors; j++)
        x[j] = v_look(ends->undone, x[j]);
    UNROLLED for (unsigned j = 0; j < n_vectors; j++)
        store_blocks(out + LANES * j,
                     _mm256_ternarylogic_epi64(narrow4(x[j]), narrow[j], ends->last, 0x96),
                     n - LANES * j);
}

/* As encrypt_many, of a number of rounds that the compiler knows. */
EVC_INLINE void many(const struct key *key, const uint64_t *in, const uint64_t *tweak,
                     uint64_t *out, size_t n, int rounds)
{
    const struct ends ends = {
        v_load(key->first[0]), v_load(boxes[key->head.sigma].inverse0),
        _mm256_broadcastq_epi64(_mm_load_si128((const __m128i *)(const void *)key->last[0]))};

    for (; n > LANES; in += 2 * LANES, tweak += 2 * LANES, out += 2 * LANES, n -= 2 * LANES) {
        step(key, &ends, in, tweak, out, n, 2, rounds);
        if (n <= 2 * LANES)
            return;
    }
    if (n)
        step(key, &ends, in, tweak, out, n, 1, rounds);
}

/* Not inlined: the loop around it would keep its tables on the stack. */
EVC_OUT_OF_LINE uint64_t evc_qarma_encrypt_one(const struct key *key, uint64_t block,
                                               uint64_t tweak)
{
    return one(key, block, tweak, 0);
}

/* Not inlined, so that their frames do not add up. */
EVC_OUT_OF_LINE void evc_qarma_many_5(const struct key *key, const uint64_t *in,
                                      const uint64_t *tweak, uint64_t *out, size_t n)
{
    many(key, in, tweak, out, n, 5);
}

EVC_OUT_OF_LINE void evc_qarma_many_3(const struct key *key, const uint64_t *in,
                                      const uint64_t *tweak, uint64_t *out, size_t n)
{
    many(key, in, tweak, out, n, 3);
}

static void encrypt_many(const void *vkey, const uint64_t *in, const uint64_t *tweak, uint64_t *out,
                         size_t n)
{
    const struct key *key = vkey;

    switch (key->head.rounds) {
    case 5: evc_qarma_many_5(key, in, tweak, out, n); break;
    case 3: evc_qarma_many_3(key, in, tweak, out, n); break;
    default:
        for (size_t i = 0; i < n; i++)
            out[i] = evc_qarma_encrypt_one(key, in[i], tweak[i]);
    }
    v_clear_upper_halves();
}

const struct evc_qarma evc_qarma_x86_vbmi512 = {
    .kernel = EVC_KERNEL_HEAD(x86_vbmi512, X86_VBMI512, CT, PARALLEL, 2 * LANES, struct key, 0, ZMM,
                              1728),
    .set_key = set_key,
    .encrypt = encrypt,
    .decrypt = decrypt,
    .encrypt_many = encrypt_many,
};

EVC_ISA_END
#else
EVC_EMPTY_UNIT
#endif
