/* SPDX-License-Identifier: MIT */
/*
 * Calls in every order. A mode describes its streaming calls, and which of them its standard allows
 * when; the template makes every sequence of up to 5 calls, from a state of zeros, and holds each
 * call against that description:
 *
 *  - a call in order returns EVC_OK (a finish with a wrong tag: EVC_ERR_TAG);
 *  - a call out of order returns EVC_ERR_STATE, writes no output and leaves the state as it was;
 *  - all calls with a key that is not set up return EVC_ERR_KERNEL, write no output and leave the
 *    state as it was (start: leave no message).
 *
 * The calls are with one portable kernel: phases are the business of modes, not of kernels.
 */
#include "tap.h"

#include "everycore/gcm.h"
#include "everycore/modes.h"

#define LONGEST 5
#define MOST_CALLS 10
#define PAINT 0xa5

enum phase { NONE, AAD, TEXT };
enum direction { EITHER, SEAL, OPEN };

/* The model's state of a message: as much as decides which calls are in order. */
struct progress {
    enum phase phase;
    enum direction direction;
    unsigned pieces; /* of text */
};

union state {
    struct evc_gcm_state gcm;
    struct evc_aes_ccm ccm;
    struct evc_aes_xts xts;
    struct evc_aes_cmac cmac;
    struct evc_aes_ctr ctr;
    uint8_t bytes[256];
};

static union {
    union evc_gcm_key gcm;
    struct evc_aes_ccm_key ccm;
    struct evc_aes_xts_key xts;
    struct evc_aes_cmac_key cmac;
    union evc_aes_key aes;
    uint8_t bytes[4096];
} key;

static const uint8_t in[32] = {1, 2, 3}, nonce[16] = {4, 5, 6}, wrong_tag[16] = {7};
static uint8_t out[32], tag[16];

struct call {
    const char *name;
    enum evc_status (*make)(union state *state);
    /* The status that the call must give: EVC_OK if it is in order. Updates the progress if
     * the call does something. */
    enum evc_status (*expected)(struct progress *progress);
    int is_start;
};

struct mode {
    const char *name;
    void (*set_key)(const struct evc_aes *kernel);
    uint8_t *(*phase)(union state *);
    uint8_t *(*direction)(union state *); /* NULL: messages go one way */
    size_t n_calls;
    struct call calls[MOST_CALLS];
};

/* ---- What is in order ------------------------------------------------------------------------ */

static enum evc_status in_start(struct progress *p)
{
    *p = (struct progress){AAD, EITHER, 0};
    return EVC_OK;
}

static enum evc_status in_refused_start(struct progress *p)
{
    *p = (struct progress){NONE, EITHER, 0};
    return EVC_ERR_NONCE_SIZE;
}

static enum evc_status in_aad(struct progress *p)
{
    return p->phase == AAD ? EVC_OK : EVC_ERR_STATE;
}

static enum evc_status in_text(struct progress *p, enum direction direction)
{
    if (p->phase == NONE || (p->direction != EITHER && p->direction != direction))
        return EVC_ERR_STATE;
    p->phase = TEXT;
    p->direction = direction;
    p->pieces++;
    return EVC_OK;
}

static enum evc_status in_seal_text(struct progress *p) { return in_text(p, SEAL); }
static enum evc_status in_open_text(struct progress *p) { return in_text(p, OPEN); }
static enum evc_status in_any_text(struct progress *p) { return in_text(p, EITHER); }

static enum evc_status in_finish(struct progress *p, enum direction direction,
                                 enum evc_status result)
{
    if (p->phase == NONE || (p->direction != EITHER && p->direction != direction))
        return EVC_ERR_STATE;
    *p = (struct progress){NONE, EITHER, 0};
    return result;
}

static enum evc_status in_seal_finish(struct progress *p) { return in_finish(p, SEAL, EVC_OK); }
static enum evc_status in_forged_finish(struct progress *p)
{
    return in_finish(p, OPEN, EVC_ERR_TAG);
}
static enum evc_status in_finish_verify(struct progress *p)
{
    return in_finish(p, EITHER, EVC_ERR_TAG);
}
static enum evc_status in_cmac_finish(struct progress *p) { return in_finish(p, EITHER, EVC_OK); }

/* ---- GCM ------------------------------------------------------------------------------------- */

static void gcm_pair_key(const struct evc_aes *kernel)
{
    must(evc_gcm_set_pair(&key.gcm, kernel, evc_ghash_named("c_ref"), nonce, 128));
}

static enum evc_status gcm_start(union state *s)
{
    return evc_gcm_start(&key.gcm, &s->gcm, nonce, 12);
}
static enum evc_status gcm_refused_start(union state *s)
{
    return evc_gcm_start(&key.gcm, &s->gcm, nonce, 0);
}
static enum evc_status gcm_aad(union state *s) { return evc_gcm_aad(&key.gcm, &s->gcm, in, 17); }
static enum evc_status gcm_no_aad(union state *s)
{
    return evc_gcm_aad(&key.gcm, &s->gcm, NULL, 0);
}
static enum evc_status gcm_seal(union state *s)
{
    return evc_gcm_seal_update(&key.gcm, &s->gcm, in, out, 17);
}
static enum evc_status gcm_open(union state *s)
{
    return evc_gcm_open_update(&key.gcm, &s->gcm, in, out, 17);
}
static enum evc_status gcm_open_nothing(union state *s)
{
    return evc_gcm_open_update(&key.gcm, &s->gcm, NULL, NULL, 0);
}
static enum evc_status gcm_seal_finish(union state *s)
{
    return evc_gcm_seal_finish(&key.gcm, &s->gcm, tag, 16);
}
static enum evc_status gcm_open_finish(union state *s)
{
    return evc_gcm_open_finish(&key.gcm, &s->gcm, wrong_tag, 16);
}

/* ---- CCM: no lengths are announced that calls could miss, so that order alone decides -------- */

static void ccm_key(const struct evc_aes *kernel)
{
    must(evc_aes_ccm_set_key(&key.ccm, kernel, kernel, nonce, 128));
}

static enum evc_status ccm_start(union state *s)
{
    return evc_aes_ccm_start(&key.ccm, &s->ccm, nonce, 12, 0, 0, 16);
}
static enum evc_status ccm_refused_start(union state *s)
{
    return evc_aes_ccm_start(&key.ccm, &s->ccm, nonce, 14, 0, 0, 16);
}
static enum evc_status ccm_aad(union state *s)
{
    return evc_aes_ccm_aad(&key.ccm, &s->ccm, NULL, 0);
}
static enum evc_status ccm_seal(union state *s)
{
    return evc_aes_ccm_seal_update(&key.ccm, &s->ccm, NULL, NULL, 0);
}
static enum evc_status ccm_open(union state *s)
{
    return evc_aes_ccm_open_update(&key.ccm, &s->ccm, NULL, NULL, 0);
}
static enum evc_status ccm_seal_finish(union state *s)
{
    return evc_aes_ccm_seal_finish(&key.ccm, &s->ccm, tag);
}
static enum evc_status ccm_open_finish(union state *s)
{
    return evc_aes_ccm_open_finish(&key.ccm, &s->ccm, wrong_tag);
}

/* ---- CCM with associated data of 17 bytes and a text of 16, which calls can miss ------------- */

static enum evc_status in_ccm_long_aad(struct progress *p)
{
    if (p->phase != AAD)
        return EVC_ERR_STATE;
    if (p->pieces)
        return EVC_ERR_LENGTH;
    p->pieces = 1; /* here: the associated data is complete */
    return EVC_OK;
}

static enum evc_status in_ccm_long_text(struct progress *p, enum direction direction)
{
    if (p->phase == NONE || (p->direction != EITHER && p->direction != direction) || !p->pieces)
        return EVC_ERR_STATE;
    if (p->pieces == 2)
        return EVC_ERR_LENGTH;
    *p = (struct progress){TEXT, direction, 2};
    return EVC_OK;
}

static enum evc_status in_ccm_long_seal(struct progress *p) { return in_ccm_long_text(p, SEAL); }
static enum evc_status in_ccm_long_open(struct progress *p) { return in_ccm_long_text(p, OPEN); }

static enum evc_status in_ccm_long_finish(struct progress *p, enum direction direction,
                                          enum evc_status result)
{
    if (p->phase == NONE || (p->direction != EITHER && p->direction != direction))
        return EVC_ERR_STATE;
    if (p->pieces != 2)
        return EVC_ERR_LENGTH;
    *p = (struct progress){NONE, EITHER, 0};
    return result;
}

static enum evc_status in_ccm_long_seal_finish(struct progress *p)
{
    return in_ccm_long_finish(p, SEAL, EVC_OK);
}
static enum evc_status in_ccm_long_open_finish(struct progress *p)
{
    return in_ccm_long_finish(p, OPEN, EVC_ERR_TAG);
}
static enum evc_status ccm_long_start(union state *s)
{
    return evc_aes_ccm_start(&key.ccm, &s->ccm, nonce, 12, 17, 16, 16);
}
static enum evc_status ccm_long_aad(union state *s)
{
    return evc_aes_ccm_aad(&key.ccm, &s->ccm, in, 17);
}
static enum evc_status ccm_long_seal(union state *s)
{
    return evc_aes_ccm_seal_update(&key.ccm, &s->ccm, in, out, 16);
}
static enum evc_status ccm_long_open(union state *s)
{
    return evc_aes_ccm_open_update(&key.ccm, &s->ccm, in, out, 16);
}

/* ---- XTS ------------------------------------------------------------------------------------- */

static void xts_key(const struct evc_aes *kernel)
{
    must(evc_aes_xts_set_key(&key.xts, kernel, kernel, in, 128));
}

/* A finish without bytes needs a piece before it. */
static enum evc_status in_empty_finish(struct progress *p)
{
    if (p->phase == NONE || (p->direction != EITHER && p->direction != SEAL))
        return EVC_ERR_STATE;
    if (!p->pieces)
        return EVC_ERR_LENGTH;
    *p = (struct progress){NONE, EITHER, 0};
    return EVC_OK;
}

static enum evc_status in_open_finish(struct progress *p) { return in_finish(p, OPEN, EVC_OK); }
static enum evc_status xts_start(union state *s)
{
    return evc_aes_xts_start(&key.xts, &s->xts, nonce);
}
static enum evc_status xts_encrypt(union state *s)
{
    return evc_aes_xts_encrypt_update(&key.xts, &s->xts, in, out, 16);
}
static enum evc_status xts_decrypt(union state *s)
{
    return evc_aes_xts_decrypt_update(&key.xts, &s->xts, in, out, 16);
}
static enum evc_status xts_encrypt_finish(union state *s)
{
    return evc_aes_xts_encrypt_finish(&key.xts, &s->xts, in, out, 19);
}
static enum evc_status xts_empty_finish(union state *s)
{
    return evc_aes_xts_encrypt_finish(&key.xts, &s->xts, NULL, NULL, 0);
}
static enum evc_status xts_decrypt_finish(union state *s)
{
    return evc_aes_xts_decrypt_finish(&key.xts, &s->xts, in, out, 19);
}

/* ---- CMAC, CTR ------------------------------------------------------------------------------- */

static void cmac_key(const struct evc_aes *kernel)
{
    must(evc_aes_cmac_set_key(&key.cmac, kernel, nonce, 128));
}

static enum evc_status cmac_start(union state *s) { return evc_aes_cmac_start(&s->cmac); }
static enum evc_status cmac_update(union state *s)
{
    return evc_aes_cmac_update(&key.cmac, &s->cmac, in, 17);
}
static enum evc_status cmac_nothing(union state *s)
{
    return evc_aes_cmac_update(&key.cmac, &s->cmac, NULL, 0);
}
static enum evc_status cmac_finish(union state *s)
{
    return evc_aes_cmac_finish(&key.cmac, &s->cmac, tag, 16);
}
static enum evc_status cmac_verify(union state *s)
{
    return evc_aes_cmac_finish_verify(&key.cmac, &s->cmac, wrong_tag, 16);
}

static void ctr_key(const struct evc_aes *kernel)
{
    must(evc_aes_set_encrypt_key(&key.aes, kernel, nonce, 128));
}

static enum evc_status ctr_start(union state *s) { return evc_aes_ctr_start(&s->ctr, nonce); }
static enum evc_status ctr_start32(union state *s) { return evc_aes_ctr_start32(&s->ctr, nonce); }
static enum evc_status ctr_update(union state *s)
{
    return evc_aes_ctr_update(&key.aes, &s->ctr, in, out, 17);
}
static enum evc_status ctr_nothing(union state *s)
{
    return evc_aes_ctr_update(&key.aes, &s->ctr, NULL, NULL, 0);
}

/* ---- The modes ------------------------------------------------------------------------------- */

static uint8_t *gcm_phase(union state *s) { return &s->gcm.phase; }
static uint8_t *gcm_direction(union state *s) { return &s->gcm.direction; }
static uint8_t *ccm_phase(union state *s) { return &s->ccm.phase; }
static uint8_t *ccm_direction(union state *s) { return &s->ccm.direction; }
static uint8_t *xts_phase(union state *s) { return &s->xts.phase; }
static uint8_t *xts_direction(union state *s) { return &s->xts.direction; }
static uint8_t *cmac_phase(union state *s) { return &s->cmac.phase; }
static uint8_t *ctr_phase(union state *s) { return &s->ctr.phase; }

#define START(make, expected) {#make, make, expected, 1}
#define CALL(make, expected) {#make, make, expected, 0}

static const struct mode modes[] = {
    {"gcm",
     gcm_pair_key,
     gcm_phase,
     gcm_direction,
     9,
     {START(gcm_start, in_start), START(gcm_refused_start, in_refused_start), CALL(gcm_aad, in_aad),
      CALL(gcm_no_aad, in_aad), CALL(gcm_seal, in_seal_text), CALL(gcm_open, in_open_text),
      CALL(gcm_open_nothing, in_open_text), CALL(gcm_seal_finish, in_seal_finish),
      CALL(gcm_open_finish, in_forged_finish)}},
    {"ccm",
     ccm_key,
     ccm_phase,
     ccm_direction,
     7,
     {START(ccm_start, in_start), START(ccm_refused_start, in_refused_start), CALL(ccm_aad, in_aad),
      CALL(ccm_seal, in_seal_text), CALL(ccm_open, in_open_text),
      CALL(ccm_seal_finish, in_seal_finish), CALL(ccm_open_finish, in_forged_finish)}},
    {"ccm with lengths",
     ccm_key,
     ccm_phase,
     ccm_direction,
     6,
     {START(ccm_long_start, in_start), CALL(ccm_long_aad, in_ccm_long_aad),
      CALL(ccm_long_seal, in_ccm_long_seal), CALL(ccm_long_open, in_ccm_long_open),
      CALL(ccm_seal_finish, in_ccm_long_seal_finish),
      CALL(ccm_open_finish, in_ccm_long_open_finish)}},
    {"xts",
     xts_key,
     xts_phase,
     xts_direction,
     6,
     {START(xts_start, in_start), CALL(xts_encrypt, in_seal_text), CALL(xts_decrypt, in_open_text),
      CALL(xts_encrypt_finish, in_seal_finish), CALL(xts_empty_finish, in_empty_finish),
      CALL(xts_decrypt_finish, in_open_finish)}},
    {"cmac",
     cmac_key,
     cmac_phase,
     NULL,
     5,
     {START(cmac_start, in_start), CALL(cmac_update, in_any_text), CALL(cmac_nothing, in_any_text),
      CALL(cmac_finish, in_cmac_finish), CALL(cmac_verify, in_finish_verify)}},
    {"ctr",
     ctr_key,
     ctr_phase,
     NULL,
     4,
     {START(ctr_start, in_start), START(ctr_start32, in_start), CALL(ctr_update, in_any_text),
      CALL(ctr_nothing, in_any_text)}},
};
#define N_MODES (sizeof modes / sizeof modes[0])

/* ---- The template ---------------------------------------------------------------------------- */

static int is_painted(void)
{
    for (size_t i = 0; i < sizeof out; i++)
        if (out[i] != PAINT)
            return 0;
    for (size_t i = 0; i < sizeof tag; i++)
        if (tag[i] != PAINT)
            return 0;
    return 1;
}

static int is_zero(const union state *state)
{
    for (size_t i = 0; i < sizeof *state; i++)
        if (state->bytes[i])
            return 0;
    return 1;
}

static void describe(const struct mode *mode, const uint8_t *sequence, size_t n,
                     enum evc_status status)
{
    printf("# %s:", mode->name);
    for (size_t i = 0; i < n; i++)
        printf(" %s", mode->calls[sequence[i]].name);
    printf(": the last returned: %s\n", evc_status_text(status));
}

/* The last call of a sequence, from the state that the others left. Nonzero if
 * all is as it must be. */
static int try_call(const struct call *call, union state *state, struct progress *progress,
                    enum evc_status *status)
{
    const union state before = *state;
    const enum evc_status expected = call->expected(progress);

    memset(out, PAINT, sizeof out);
    memset(tag, PAINT, sizeof tag);
    *status = call->make(state);
    if (*status != expected)
        return 0;
    if (expected == EVC_OK)
        return 1;
    if (!is_painted())
        return 0;
    if (call->is_start || expected == EVC_ERR_TAG)
        return is_zero(state);
    return memcmp(state, &before, sizeof before) == 0;
}

/* Every sequence that begins with the first n calls, which left this state and this progress. */
static void try_sequences(const struct mode *mode, uint8_t *sequence, size_t n,
                          const union state *state, const struct progress *progress, size_t *tried)
{
    if (n == LONGEST)
        return;
    for (size_t i = 0; i < mode->n_calls; i++) {
        union state next = *state;
        struct progress after = *progress;
        enum evc_status status = EVC_OK;
        sequence[n] = (uint8_t)i;
        ++*tried;
        if (!try_call(&mode->calls[i], &next, &after, &status)) {
            describe(mode, sequence, n + 1, status);
            EXPECT(0);
            continue;
        }
        try_sequences(mode, sequence, n + 1, &next, &after, tried);
    }
}

static const struct mode *mode;

static void calls_out_of_order_are_refused_and_do_nothing(void)
{
    uint8_t sequence[LONGEST];
    const struct progress none = {NONE, EITHER, 0};
    union state state;
    size_t tried = 0, all = 0;

    memset(&state, 0, sizeof state);
    mode->set_key(evc_aes_named("c_ref"));
    try_sequences(mode, sequence, 0, &state, &none, &tried);
    for (size_t n = 1, of_n = mode->n_calls; n <= LONGEST; n++, of_n *= mode->n_calls)
        all += of_n;
    EXPECT(tried == all);
}

/* After a start, and after one more call in order, which may leave a state that few comparisons
 * take. Calls without a key (start of CMAC and CTR) may succeed. */
static void keys_that_are_not_set_up_are_refused(void)
{
    for (size_t n = 0; n < mode->n_calls * mode->n_calls; n++) {
        const struct call *call = &mode->calls[n % mode->n_calls];
        union state state, before;
        memset(&state, 0, sizeof state);
        mode->set_key(evc_aes_named("c_ref"));
        must(mode->calls[0].make(&state));
        before = state;
        if (mode->calls[n / mode->n_calls].make(&state) != EVC_OK)
            state = before;
        before = state;
        memset(&key, 0, sizeof key); /* as evc_wipe() and a set-up that failed leave it */
        memset(out, PAINT, sizeof out);
        memset(tag, PAINT, sizeof tag);
        const enum evc_status status = call->make(&state);
        if (call->is_start && status == EVC_OK &&
            (mode->set_key == cmac_key || mode->set_key == ctr_key))
            continue;
        EXPECT(status == EVC_ERR_KERNEL);
        EXPECT(is_painted());
        EXPECT(call->is_start ? is_zero(&state) : memcmp(&state, &before, sizeof state) == 0);
    }
}

/* Whatever the phase and direction in memory that no start has written: nothing is done. */
static void memory_that_no_start_has_written_is_refused(void)
{
    mode->set_key(evc_aes_named("c_ref"));
    for (size_t i = 0; i < mode->n_calls; i++)
        for (unsigned phase = 1; phase < 4; phase++)
            for (unsigned direction = 0; direction < 4 && !mode->calls[i].is_start; direction++) {
                union state state, before;
                memset(&state, 0xa5, sizeof state);
                *mode->phase(&state) = (uint8_t)phase;
                if (mode->direction)
                    *mode->direction(&state) = (uint8_t)direction;
                before = state;
                memset(out, PAINT, sizeof out);
                memset(tag, PAINT, sizeof tag);
                EXPECT(mode->calls[i].make(&state) == EVC_ERR_STATE);
                EXPECT(is_painted() && memcmp(&state, &before, sizeof state) == 0);
            }
}

/* No start and no other call leaves such lengths, phases or forms. */
static void counts_that_no_call_leaves_are_refused(void)
{
    static const struct {
        uint64_t aad_bytes, text_bytes;
        uint8_t phase, form; /* forms of the hash: 0, 1, 2 */
        enum evc_status wanted;
    } counts[] = {{64, 0, 1, 0, EVC_OK},
                  {64, 0, 3, 0, EVC_ERR_STATE},
                  {64, 0, 255, 0, EVC_ERR_STATE},
                  {64, 0, 1, 3, EVC_ERR_STATE},
                  {64, 0, 1, 255, EVC_ERR_STATE},
                  {EVC_GCM_MAX_AAD + 1, 0, 1, 0, EVC_ERR_STATE},
                  {EVC_GCM_MAX_AAD + 1, 0, 1, 1, EVC_ERR_STATE},
                  {EVC_GCM_MAX_AAD + 1, 0, 2, 0, EVC_ERR_STATE},
                  {UINT64_C(0x4000000000000080), 0, 1, 0, EVC_ERR_STATE},
                  {UINT64_MAX, 0, 1, 0, EVC_ERR_STATE},
                  {0, EVC_GCM_MAX_TEXT + 1, 2, 0, EVC_ERR_STATE},
                  {0, EVC_GCM_MAX_TEXT + 1, 2, 2, EVC_ERR_STATE},
                  {0, UINT64_MAX, 2, 1, EVC_ERR_STATE}};

    static enum evc_status (*const calls[])(union state *) = {
        gcm_aad, gcm_no_aad, gcm_seal, gcm_open, gcm_open_nothing, gcm_seal_finish};

    gcm_pair_key(evc_aes_named("c_ref"));
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        for (size_t j = 0; j < sizeof calls / sizeof calls[0]; j++) {
            union state state, before;
            memset(&state, 0, sizeof state);
            must(gcm_start(&state));
            state.gcm.phase = counts[i].phase;
            state.gcm.form = counts[i].form;
            state.gcm.aad_bytes = counts[i].aad_bytes;
            state.gcm.text_bytes = counts[i].text_bytes;
            before = state;
            EXPECT(calls[j](&state) == counts[i].wanted);
            EXPECT(counts[i].wanted == EVC_OK || memcmp(&state, &before, sizeof state) == 0);
        }
}

/* The phase decides, whatever else a message has left. */
static void states_without_a_message_are_refused(void)
{
    mode->set_key(evc_aes_named("c_ref"));
    for (size_t i = 0; i < mode->n_calls; i++) {
        union state state, before;
        if (mode->calls[i].is_start)
            continue;
        memset(&state, 0, sizeof state);
        must(mode->calls[0].make(&state));
        *mode->phase(&state) = 0;
        before = state;
        memset(out, PAINT, sizeof out);
        memset(tag, PAINT, sizeof tag);
        EXPECT(mode->calls[i].make(&state) == EVC_ERR_STATE);
        EXPECT(is_painted() && memcmp(&state, &before, sizeof state) == 0);
    }
}

/* The defects that were found first, each as its finder would try it. */
static void a_second_finish_accepts_no_tag(void)
{
    struct evc_aes_ccm ccm;
    struct evc_aes_cmac cmac;

    ccm_key(evc_aes_named("c_ref"));
    must(evc_aes_ccm_start(&key.ccm, &ccm, nonce, 12, 0, 0, 16));
    EXPECT(evc_aes_ccm_open_finish(&key.ccm, &ccm, wrong_tag) == EVC_ERR_TAG);
    EXPECT(evc_aes_ccm_open_finish(&key.ccm, &ccm, wrong_tag) == EVC_ERR_STATE);
    cmac_key(evc_aes_named("c_ref"));
    must(evc_aes_cmac(&key.cmac, NULL, 0, tag, 16));
    must(evc_aes_cmac_start(&cmac));
    must(evc_aes_cmac_update(&key.cmac, &cmac, in, 20));
    EXPECT(evc_aes_cmac_finish_verify(&key.cmac, &cmac, tag, 16) == EVC_ERR_TAG);
    EXPECT(evc_aes_cmac_finish_verify(&key.cmac, &cmac, tag, 16) == EVC_ERR_STATE);
}

/* With a state that was overwritten in part. */
static void a_tag_of_a_size_that_no_start_takes_is_not_compared(void)
{
    static const uint8_t sizes[] = {0, 1, 3, 17, 255};
    struct evc_aes_ccm ccm;

    memset(out, PAINT, sizeof out);
    ccm_key(evc_aes_named("c_ref"));
    for (size_t i = 0; i < sizeof sizes; i++) {
        must(evc_aes_ccm_start(&key.ccm, &ccm, nonce, 12, 0, 0, 16));
        ccm.tag_bytes = sizes[i];
        EXPECT(evc_aes_ccm_open_finish(&key.ccm, &ccm, wrong_tag) == EVC_ERR_STATE);
        memset(tag, PAINT, sizeof tag);
        EXPECT(evc_aes_ccm_seal_finish(&key.ccm, &ccm, tag) == EVC_ERR_STATE);
        EXPECT(is_painted());
    }
}

/* A piece that is too long changes nothing: neither the phase nor the direction of the message. */
static void lengths_that_are_refused_change_nothing(void)
{
    union state state, before;

    gcm_pair_key(evc_aes_named("c_ref"));
    memset(&state, 0, sizeof state);
    must(evc_gcm_start(&key.gcm, &state.gcm, nonce, 13));
    state.gcm.text_bytes = EVC_GCM_MAX_TEXT;
    state.gcm.aad_bytes = EVC_GCM_MAX_AAD;
    before = state;
    EXPECT(gcm_seal(&state) == EVC_ERR_LENGTH && memcmp(&state, &before, sizeof state) == 0);
    EXPECT(gcm_open(&state) == EVC_ERR_LENGTH && memcmp(&state, &before, sizeof state) == 0);
    EXPECT(gcm_aad(&state) == EVC_ERR_LENGTH && memcmp(&state, &before, sizeof state) == 0);
    must(gcm_seal_finish(&state));

    ccm_key(evc_aes_named("c_ref"));
    memset(&state, 0, sizeof state);
    must(evc_aes_ccm_start(&key.ccm, &state.ccm, nonce, 12, 16, 16, 16));
    before = state;
    EXPECT(ccm_long_aad(&state) == EVC_ERR_LENGTH && memcmp(&state, &before, sizeof state) == 0);
    must(evc_aes_ccm_aad(&key.ccm, &state.ccm, in, 16));
    before = state;
    EXPECT(evc_aes_ccm_seal_update(&key.ccm, &state.ccm, in, out, 17) == EVC_ERR_LENGTH);
    EXPECT(memcmp(&state, &before, sizeof state) == 0);
    must(evc_aes_ccm_open_update(&key.ccm, &state.ccm, in, out, 16));
    must(evc_aes_ccm_start(&key.ccm, &state.ccm, nonce, 12, 1, 0, 16));
    before = state;
    EXPECT(ccm_seal_finish(&state) == EVC_ERR_LENGTH && ccm_open_finish(&state) == EVC_ERR_LENGTH);
    EXPECT(memcmp(&state, &before, sizeof state) == 0);

    xts_key(evc_aes_named("c_ref"));
    memset(&state, 0, sizeof state);
    must(xts_start(&state));
    before = state;
    EXPECT(evc_aes_xts_encrypt_update(&key.xts, &state.xts, in, out, 17) == EVC_ERR_LENGTH);
    EXPECT(evc_aes_xts_decrypt_finish(&key.xts, &state.xts, in, out, 15) == EVC_ERR_LENGTH);
    EXPECT(memcmp(&state, &before, sizeof state) == 0);
    must(xts_encrypt(&state));
    must(xts_encrypt(&state));
    EXPECT(state.xts.done_bytes == 32);
    state.xts.done_bytes = EVC_AES_XTS_MAX_BYTES - 16;
    before = state;
    EXPECT(evc_aes_xts_encrypt_update(&key.xts, &state.xts, in, out, 32) == EVC_ERR_LENGTH);
    EXPECT(evc_aes_xts_encrypt_finish(&key.xts, &state.xts, in, out, 17) == EVC_ERR_LENGTH);
    EXPECT(evc_aes_xts_encrypt_finish(&key.xts, &state.xts, in, out, SIZE_MAX) == EVC_ERR_LENGTH);
    EXPECT(memcmp(&state, &before, sizeof state) == 0);
    must(xts_encrypt(&state));
    EXPECT(xts_encrypt(&state) == EVC_ERR_LENGTH);
    must(xts_empty_finish(&state));
    EXPECT(is_zero(&state));
}

/* A message may begin anew with the counter or tweak that its state holds, and whatever else
 * it holds is forgotten. */
static void starts_read_their_arguments_from_the_state_too(void)
{
    static const uint8_t first[16] = {8, 8, 8};
    union state state, fresh;

    memset(&state, PAINT, sizeof state);
    memset(&fresh, PAINT, sizeof fresh);
    memcpy(state.ctr.counter, first, 16);
    must(evc_aes_ctr_start(&state.ctr, state.ctr.counter));
    must(evc_aes_ctr_start(&fresh.ctr, first));
    EXPECT(memcmp(&state, &fresh, sizeof state) == 0 && memcmp(state.ctr.counter, first, 16) == 0);
    EXPECT(state.ctr.left == 0);
    xts_key(evc_aes_named("c_ref"));
    memcpy(state.xts.tweak, first, 16);
    must(evc_aes_xts_start(&key.xts, &state.xts, state.xts.tweak));
    must(evc_aes_xts_start(&key.xts, &fresh.xts, first));
    EXPECT(memcmp(&state.xts, &fresh.xts, sizeof state.xts) == 0);
    EXPECT(state.xts.done_bytes == 0 && state.xts.direction == 0);
}

int main(void)
{
    for (mode = modes; mode < modes + N_MODES; mode++) {
        calls_out_of_order_are_refused_and_do_nothing();
        tap_result("calls_out_of_order_are_refused_and_do_nothing", mode->name);
        keys_that_are_not_set_up_are_refused();
        tap_result("keys_that_are_not_set_up_are_refused", mode->name);
        memory_that_no_start_has_written_is_refused();
        tap_result("memory_that_no_start_has_written_is_refused", mode->name);
        states_without_a_message_are_refused();
        tap_result("states_without_a_message_are_refused", mode->name);
    }
    RUN(a_second_finish_accepts_no_tag);
    RUN(a_tag_of_a_size_that_no_start_takes_is_not_compared);
    RUN(lengths_that_are_refused_change_nothing);
    RUN(counts_that_no_call_leaves_are_refused);
    RUN(starts_read_their_arguments_from_the_state_too);
    return tap_done();
}
