/* SPDX-License-Identifier: MIT */
/*
 * Threads that share keys of every kind, by every kernel that runs here. Every result is held
 * against that of one thread alone, and the keys lie in memory that cannot be written meanwhile.
 * ThreadSanitizer sees the rest, in a build of its own (THREADS of tests/running.py).
 *
 * Of RSA each thread signs batches under several keys, in which one key is not set up, one number
 * is out of range, and one thread's randomness fails now and then.
 */
#include <pthread.h>
#include <sys/mman.h>

#include "everycore/dh.h"
#include "everycore/gcm.h"
#include "everycore/modes.h"
#include "everycore/pac.h"
#include "everycore/rsa.h"

#include "rsa_numbers.h"
#include "tap.h"

#define N_KEYS 4
#define N_INPUTS 6
#define N_THREADS 4
#define N_BATCHES 60
#define MOST_BYTES 160

static const size_t lengths[N_KEYS] = {1024, 1024, 1280, 1024}; /* bits; the last one
                                                                 * is not set up */
static const struct evc_bn *kernel;
static uint8_t (*keys)[1u << 14]; /* in the memory that cannot be written */
static uint8_t in[N_KEYS][N_INPUTS][MOST_BYTES], expected[N_KEYS][N_INPUTS][MOST_BYTES];

struct thread {
    pthread_t id;
    uint64_t state;
    int calls_left; /* of the randomness; below 0: any */
    unsigned n_wrong, n_good, n_failed, n_used;
    uint8_t scratch[1u << 18];
};

static struct thread threads[N_THREADS];

/* Xorshift of 64 bits. */
static uint64_t next(struct thread *t)
{
    t->state ^= t->state << 13;
    t->state ^= t->state >> 7;
    t->state ^= t->state << 17;
    return t->state;
}

static int fill(void *context, uint8_t *out, size_t n_bytes)
{
    struct thread *const t = context;

    if (t->calls_left == 0)
        return -1;
    t->calls_left -= t->calls_left > 0;
    for (size_t i = 0; i < n_bytes; i++)
        out[i] = (uint8_t)(next(t) >> 24);
    return 0;
}

static const struct evc_rsa_private *key_at(size_t i)
{
    return (const void *)keys[i];
}

static int make_key(struct thread *t, size_t i)
{
    static const uint8_t e[] = {1, 0, 1};
    static uint8_t memory[5 * MOST_BYTES];
    const struct evc_random random = {fill, t};
    const struct evc_prime_search search = {kernel, evc_bn_words_select(evc_cpu_features(), 0),
                                            random, NULL, NULL};
    struct evc_rsa_numbers numbers;
    enum evc_status status =
        evc_rsa_generate(&search, lengths[i], e, sizeof e, memory, sizeof memory, &numbers,
                         t->scratch, sizeof t->scratch);

    if (status == EVC_OK)
        status = evc_rsa_set_private_in(keys[i], sizeof *keys, kernel, &numbers, 1024, t->scratch,
                                        sizeof t->scratch);
    for (size_t j = 0; j < N_INPUTS && status == EVC_OK; j++) {
        must(fill(t, in[i][j], MOST_BYTES) ? EVC_ERR_RANDOM : EVC_OK);
        in[i][j][0] = 0; /* below n */
        status = evc_rsa_private(key_at(i), in[i][j], expected[i][j], &random, t->scratch,
                                 sizeof t->scratch);
    }
    return status == EVC_OK;
}

/* Count an operation of a batch, and whether it is wrong. pick: its key and its input. */
static void judge(struct thread *t, const struct evc_rsa_operation *o, const uint8_t pick[2],
                  int is_refused)
{
    const size_t n_bytes = lengths[pick[0]] / 8;
    int good;

    if (pick[0] == N_KEYS - 1)
        good = o->status == EVC_ERR_KERNEL && all_are(o->out, 0xa5, n_bytes);
    else if (is_refused)
        good = o->status == EVC_ERR_RANGE && all_are(o->out, 0, n_bytes);
    else if (o->status == EVC_ERR_RANDOM)
        good = t->calls_left == 0 && all_are(o->out, 0, n_bytes);
    else
        good = o->status == EVC_OK && same(o->out, expected[pick[0]][pick[1]], n_bytes);
    t->n_wrong += !good;
    t->n_good += o->status == EVC_OK;
    t->n_failed += o->status == EVC_ERR_RANDOM;
}

static void one_batch(struct thread *t)
{
    static const uint8_t zeros[MOST_BYTES];
    const struct evc_random random = {fill, t};
    struct evc_rsa_operation o[8];
    uint8_t out[8][MOST_BYTES], pick[8][2];
    const size_t n = 1 + next(t) % 8, refused = next(t) % 8;

    memset(out, 0xa5, sizeof out);
    for (size_t i = 0; i < n; i++) {
        pick[i][0] = (uint8_t)(next(t) % 16 ? next(t) % (N_KEYS - 1) : N_KEYS - 1);
        pick[i][1] = (uint8_t)(next(t) % N_INPUTS);
        o[i] = (struct evc_rsa_operation){.key = key_at(pick[i][0]), .out = out[i]};
        o[i].in = i == refused ? zeros : in[pick[i][0]][pick[i][1]];
    }
    t->calls_left = t == threads && next(t) % 4 == 0 ? (int)(next(t) % 32) : -1;
    (void)!evc_rsa_private_many(o, n, &random, t->scratch, sizeof t->scratch);
    for (size_t i = 0; i < n; i++)
        judge(t, &o[i], pick[i], i == refused);
}

/* ---- Keys of all kinds ----------------------------------------------------------------------- */

#define TEXT_BYTES 40
#define OUT_BYTES 256

static const uint8_t user_key[64] = {1, 2, 3, [40] = 4};

/*
 * needs, set: the bytes of a key by this kernel, and the key itself.
 * use: what threads do with it; OUT_BYTES bytes of out, which were zero, follow from 64 bytes of
 * text. Nonzero: a call failed.
 */
struct kind {
    const char *primitive;
    size_t (*needs)(const void *kernel_of_it);
    enum evc_status (*set)(void *memory, size_t n, const void *kernel_of_it);
    int (*use)(const void *key, const uint8_t *text, uint8_t *out, struct thread *t);
};

#define NEEDS(name, bytes)                    \
    static size_t name##_needs(const void *k) \
    {                                         \
        (void)k;                              \
        return bytes;                         \
    }
#define SET(name, call)                                                      \
    static enum evc_status name##_set(void *memory, size_t n, const void *k) \
    {                                                                        \
        (void)n;                                                             \
        return call;                                                         \
    }
#define AES evc_aes_named("c_fixslice32")

NEEDS(aes, evc_aes_kernel(k)->key_bytes)
SET(aes, evc_aes_set_key_in(memory, n, k, user_key, 128))
static int aes_use(const void *key, const uint8_t *text, uint8_t *out, struct thread *t)
{
    uint8_t iv[4][16] = {{1}, {2}, {3}, {4}};
    const struct evc_msg msgs[] = {{text, out + 160, 16, iv[1]}, {text, out + 176, 32, iv[2]}};
    struct evc_aes_ctr ctr;
    int bad = evc_aes_encrypt(key, text, out, 2) != EVC_OK;

    (void)t;
    bad |= evc_aes_decrypt(key, text, out + 32, 2) != EVC_OK;
    bad |= evc_aes_cbc_encrypt(key, iv[0], text, out + 64, 48) != EVC_OK;
    bad |= evc_aes_cbc_decrypt(key, iv[0], text, out + 112, 48) != EVC_OK;
    bad |= evc_aes_cbc_encrypt_many(key, msgs, 2) != EVC_OK;
    bad |= evc_aes_cbcmac(key, iv[3], text, 48) != EVC_OK;
    bad |= evc_aes_ctr_start(&ctr, iv[3]) != EVC_OK;
    bad |= evc_aes_ctr_update(key, &ctr, text, out + 208, TEXT_BYTES) != EVC_OK;
    return bad;
}

NEEDS(xts, evc_aes_xts_key_bytes(k, AES))
SET(xts, evc_aes_xts_set_key_in(memory, n, k, AES, user_key, 128))
static int xts_use(const void *key, const uint8_t *text, uint8_t *out, struct thread *t)
{
    struct evc_aes_xts state;
    int bad = evc_aes_xts_encrypt(key, text, text, out, TEXT_BYTES) != EVC_OK;

    (void)t;
    bad |= evc_aes_xts_decrypt(key, text, text, out + 64, TEXT_BYTES) != EVC_OK;
    bad |= evc_aes_xts_start(key, &state, text) != EVC_OK;
    bad |= evc_aes_xts_encrypt_update(key, &state, text, out + 128, 16) != EVC_OK;
    bad |= evc_aes_xts_encrypt_finish(key, &state, text, out + 144, 24) != EVC_OK;
    return bad;
}

NEEDS(cmac, evc_aes_cmac_key_bytes(k))
SET(cmac, evc_aes_cmac_set_key_in(memory, n, k, user_key, 192))
static int cmac_use(const void *key, const uint8_t *text, uint8_t *out, struct thread *t)
{
    const struct evc_msg msgs[] = {{text, NULL, 5, out + 32}, {text, NULL, 48, out + 48}};
    struct evc_aes_cmac state;
    int bad = evc_aes_cmac(key, text, TEXT_BYTES, out, 16) != EVC_OK;

    (void)t;
    bad |= evc_aes_cmac_verify(key, text, TEXT_BYTES, out, 16) != EVC_OK;
    bad |= evc_aes_cmac_many(key, msgs, 2) != EVC_OK;
    bad |= evc_aes_cmac_start(&state) != EVC_OK;
    bad |= evc_aes_cmac_update(key, &state, text, TEXT_BYTES) != EVC_OK;
    bad |= evc_aes_cmac_finish(key, &state, out + 16, 16) != EVC_OK;
    return bad;
}

NEEDS(ccm, evc_aes_ccm_key_bytes(k, AES))
SET(ccm, evc_aes_ccm_set_key_in(memory, n, k, AES, user_key, 256))
static int ccm_use(const void *key, const uint8_t *text, uint8_t *out, struct thread *t)
{
    struct evc_aes_ccm state;
    int bad = (int)evc_aes_ccm_seal(key, text, 12, text, 20, text, out, TEXT_BYTES, out + 48, 16);

    (void)t;
    bad |= (int)evc_aes_ccm_open(key, text, 12, text, 20, out, out + 64, TEXT_BYTES, out + 48, 16);
    bad |= evc_aes_ccm_start(key, &state, text, 12, 3, TEXT_BYTES, 16) != EVC_OK;
    bad |= evc_aes_ccm_aad(key, &state, text, 3) != EVC_OK;
    bad |= evc_aes_ccm_seal_update(key, &state, text, out + 128, TEXT_BYTES) != EVC_OK;
    bad |= evc_aes_ccm_seal_finish(key, &state, out + 176) != EVC_OK;
    return bad;
}

NEEDS(pair, evc_gcm_pair_key_bytes(k, evc_ghash_select(evc_cpu_features(), 0)))
SET(pair, evc_gcm_set_pair_in(memory, n, k, evc_ghash_select(evc_cpu_features(), 0), user_key, 256))
NEEDS(gcm, evc_gcm_kernel(k)->key_bytes)
SET(gcm, evc_gcm_set_key_in(memory, n, k, user_key, 256))
static int gcm_use(const void *key, const uint8_t *text, uint8_t *out, struct thread *t)
{
    struct evc_gcm_msg msgs[] = {
        {text, text, text, out + 64, out + 112, 12, 9, TEXT_BYTES, 16, EVC_OK},
        {text, text, text, out + 128, out + 176, 16, 0, TEXT_BYTES, 16, EVC_OK}};
    struct evc_gcm_state state;
    uint8_t again[TEXT_BYTES];
    int bad = evc_gcm_seal(key, text, 12, text, 20, text, out, TEXT_BYTES, out + 48, 16) != EVC_OK;

    (void)t;
    bad |= evc_gcm_open(key, text, 12, text, 20, out, again, TEXT_BYTES, out + 48, 16) != EVC_OK;
    bad |= !same(again, text, TEXT_BYTES);
    bad |= evc_gcm_seal_many(key, msgs, 2) != EVC_OK;
    bad |= evc_gcm_start(key, &state, text, 12) != EVC_OK;
    bad |= evc_gcm_aad(key, &state, text, 3) != EVC_OK;
    bad |= evc_gcm_seal_update(key, &state, text, out + 192, 17) != EVC_OK;
    bad |= evc_gcm_seal_update(key, &state, text + 17, out + 209, 16) != EVC_OK;
    bad |= evc_gcm_seal_finish(key, &state, out + 240, 16) != EVC_OK;
    return bad;
}

NEEDS(ghash, evc_ghash_kernel(k)->key_bytes)
SET(ghash, evc_ghash_set_key_in(memory, n, k, user_key))
static int ghash_use(const void *key, const uint8_t *text, uint8_t *out, struct thread *t)
{
    (void)t;
    evc_ghash_blocks(key, out, text, 4);
    evc_ghash_padded(key, out + 16, text, TEXT_BYTES);
    return 0;
}

NEEDS(qarma, sizeof(union evc_qarma_key))
SET(qarma, evc_qarma_set_key(memory, k, 1, 2, EVC_QARMA_SIGMA2, 5))
static int qarma_use(const void *key, const uint8_t *text, uint8_t *out, struct thread *t)
{
    uint64_t words[8], result[10];

    (void)t;
    memcpy(words, text, sizeof words);
    result[8] = evc_qarma_encrypt(key, words[0], words[1]);
    result[9] = evc_qarma_decrypt(key, words[0], words[1]);
    evc_qarma_encrypt_many(key, words, words, result, 8);
    memcpy(out, result, sizeof result);
    return 0;
}

NEEDS(pac, sizeof(struct evc_pac_key))
static enum evc_status pac_set(void *memory, size_t n, const void *k)
{
    const struct evc_pac_kernels kernels = {k, NULL};

    (void)n;
    return evc_pac_set_key(memory, &evc_pac_qarma3, &kernels, 1, 2);
}
static int pac_use(const void *key, const uint8_t *text, uint8_t *out, struct thread *t)
{
    struct evc_pac_rules rules;
    uint64_t words[2];
    int bad = evc_pac_set_rules(&rules, EVC_PAC_PAUTH2, 48, 0, EVC_PAC_EXTEND_55) != EVC_OK;

    (void)t;
    memcpy(words, text, sizeof words);
    words[0] = evc_pac_add(&rules, key, words[0] >> 20, words[1]);
    memcpy(out, words, sizeof words);
    return bad | !evc_pac_auth(&rules, key, EVC_PAC_KEY_A, 0, words[0], words[1]).valid;
}

/* Numbers below n of the key, which begins with a byte beyond 0x7f. */
#define NUMBER(text) ((const uint8_t[N_BYTES]){0x7f, (text)[0], (text)[1], (text)[2]})

NEEDS(bn, evc_bn_modulus_bytes(k, 8 * N_BYTES))
SET(bn, evc_bn_set_modulus_in(memory, n, k, first_n, N_BYTES))
static int bn_use(const void *key, const uint8_t *text, uint8_t *out, struct thread *t)
{
    const uint8_t *const a = NUMBER(text);
    const size_t room = sizeof t->scratch;
    int bad = evc_bn_mod_mul(key, a, a, out, t->scratch, room) != EVC_OK;

    bad |= evc_bn_mod_add(key, a, a, out + N_BYTES, t->scratch, room) != EVC_OK;
    bad |= evc_bn_exp(key, a, text, 2, out + 2 * N_BYTES, t->scratch, room) != EVC_OK;
    bad |= evc_bn_exp_public(key, a, text, 2, out + 3 * N_BYTES, t->scratch, room) != EVC_OK;
    bad |= evc_bn_exp_small(key, 2, text, 2, out + 4 * N_BYTES, t->scratch, room) != EVC_OK;
    return bad;
}

/* A group, and behind it a table. */
static size_t table_at(const void *k)
{
    return (evc_dh_group_bytes(k, 8 * N_BYTES) + 63) & ~(size_t)63;
}
NEEDS(dh, table_at(k) + evc_dh_table_bytes(k, 8 * N_BYTES, 1))
static enum evc_status dh_set(void *memory, size_t n, const void *k)
{
    static const uint8_t two = 2, q[16] = {1, [15] = 1}; /* a short secret */
    const struct evc_dh_params params = {NULL, first_n, q, &two, N_BYTES, sizeof q, 1};
    const enum evc_status status =
        evc_dh_set_group_in(memory, table_at(k), k, &params, 8 * N_BYTES);

    return status != EVC_OK ? status
                            : evc_dh_set_table_in((uint8_t *)memory + table_at(k), n - table_at(k),
                                                  memory, 1, threads[0].scratch,
                                                  sizeof threads[0].scratch);
}
static int dh_use(const void *key, const uint8_t *text, uint8_t *out, struct thread *t)
{
    const struct evc_dh_group *const group = key;
    const void *const table = (const uint8_t *)key + table_at(group->kernel);
    const size_t room = sizeof t->scratch;
    uint8_t x[16] = {0, text[0], [15] = 1};
    int bad = evc_dh_public(group, x, out, t->scratch, room) != EVC_OK;

    bad |= evc_dh_public_by_table(group, table, x, out + N_BYTES, t->scratch, room) != EVC_OK;
    bad |= !same(out, out + N_BYTES, N_BYTES);
    return bad;
}

NEEDS(rsa, evc_rsa_public_bytes(k, 8 * N_BYTES))
SET(rsa, evc_rsa_set_public_in(memory, n, k, first_n, N_BYTES, first_e, 3, 8 * N_BYTES))
static int rsa_use(const void *key, const uint8_t *text, uint8_t *out, struct thread *t)
{
    return evc_rsa_public(key, NUMBER(text), out, t->scratch, sizeof t->scratch) != EVC_OK;
}

static const struct kind kinds[] = {
#define KIND(primitive, name, use) {primitive, name##_needs, name##_set, use##_use}
    KIND("aes", aes, aes),       KIND("aes", xts, xts), KIND("aes", cmac, cmac),
    KIND("aes", ccm, ccm),       KIND("aes", pair, gcm), KIND("gcm", gcm, gcm),
    KIND("ghash", ghash, ghash), KIND("qarma", qarma, qarma), KIND("qarma", pac, pac),
    KIND("bn", bn, bn),          KIND("bn", dh, dh), KIND("bn", rsa, rsa),
};

#define MOST_SHARED 256
#define N_TEXTS 3
#define N_ROUNDS 4
#define ARENA_BYTES (8u << 20)

static struct shared {
    const struct kind *kind;
    const char *name; /* of the kernel */
    const void *key;
    uint8_t expected[N_TEXTS][OUT_BYTES];
} all_shared[MOST_SHARED];

static size_t n_shared, arena_used;
static uint8_t *arena, texts[N_TEXTS][64];

static void *room_for(size_t n_bytes)
{
    void *const room = arena + arena_used;

    arena_used += (n_bytes + 63) & ~(size_t)63;
    return arena_used <= ARENA_BYTES ? room : NULL;
}

static const void *kernel_named(const char *primitive, const char *name)
{
    return strcmp(primitive, "aes") == 0     ? (const void *)evc_aes_named(name)
           : strcmp(primitive, "ghash") == 0 ? (const void *)evc_ghash_named(name)
           : strcmp(primitive, "gcm") == 0   ? (const void *)evc_gcm_named(name)
           : strcmp(primitive, "qarma") == 0 ? (const void *)evc_qarma_named(name)
                                             : (const void *)evc_bn_named(name);
}

/* Each kind, by each kernel of its primitive. */
static void make_shared(void)
{
    const struct evc_registry_line *line;

    for (const struct kind *kind = kinds; kind < kinds + sizeof kinds / sizeof kinds[0]; kind++)
        for (unsigned i = 0; (line = evc_registry_at(i)) != NULL; i++) {
            if (strcmp(line->primitive, kind->primitive) != 0 || !line->built ||
                missing_feature(line) || n_shared == MOST_SHARED)
                continue;
            const void *const k = kernel_named(line->primitive, line->name);
            struct shared *const s = &all_shared[n_shared++];
            void *const key = room_for(kind->needs(k));

            *s = (struct shared){.kind = kind, .name = line->name, .key = key};
            EXPECT(key && kind->set(key, kind->needs(k), k) == EVC_OK);
            for (size_t j = 0; j < N_TEXTS && key; j++)
                EXPECT(kind->use(key, texts[j], s->expected[j], &threads[0]) == 0);
        }
    EXPECT(n_shared < MOST_SHARED);
}

static void use_shared(struct thread *t, const struct shared *s)
{
    for (size_t j = 0; j < N_TEXTS; j++) {
        uint8_t out[OUT_BYTES] = {0};

        t->n_wrong += s->kind->use(s->key, texts[j], out, t) != 0 ||
                      !same(out, s->expected[j], sizeof out);
        t->n_used++;
    }
}

/* ---- Threads --------------------------------------------------------------------------------- */

static void *work(void *argument)
{
    struct thread *const t = argument;

    for (size_t i = 0, at = next(t) % n_shared; i < N_ROUNDS * n_shared; i++, at++)
        use_shared(t, &all_shared[at % n_shared]);
    for (int i = 0; i < N_BATCHES; i++)
        one_batch(t);
    return NULL;
}

static void threads_share_keys(void)
{
    unsigned n_good = 0, n_failed = 0;

    EXPECT(mprotect(arena, ARENA_BYTES, PROT_READ) == 0);

    for (size_t i = 0; i < N_THREADS; i++)
        EXPECT(pthread_create(&threads[i].id, NULL, work, &threads[i]) == 0);
    for (size_t i = 0; i < N_THREADS; i++) {
        EXPECT(pthread_join(threads[i].id, NULL) == 0);
        EXPECT(threads[i].n_wrong == 0);
        EXPECT(threads[i].n_used == N_ROUNDS * n_shared * N_TEXTS);
        n_good += threads[i].n_good;
        n_failed += threads[i].n_failed;
    }
    EXPECT(n_good > 2 * N_THREADS * N_BATCHES && n_failed > 0);
}

int main(void)
{
    int made = 1;

    kernel = evc_bn_select_for(evc_cpu_features(), 0, EVC_USE_PARALLEL, 512);
    printf("# %s\n", kernel ? evc_bn_kernel(kernel)->name : "no kernel");
    EXPECT(kernel != NULL);
    arena = mmap(NULL, ARENA_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (arena == MAP_FAILED)
        return 1;
    keys = room_for(sizeof *keys * N_KEYS);
    for (size_t i = 0; i < N_THREADS; i++) {
        threads[i].state = 0x9e3779b97f4a7c15 * (i + 1);
        threads[i].calls_left = -1;
    }
    for (size_t i = 0; i < N_KEYS - 1 && kernel; i++)
        made &= make_key(&threads[0], i);
    EXPECT(made);
    random_fill(texts[0], sizeof texts);
    make_shared();
    printf("# %zu keys, %zu bytes\n", n_shared + N_KEYS - 1, arena_used);
    if (kernel && made)
        RUN(threads_share_keys);
    return tap_done();
}
