/* SPDX-License-Identifier: MIT */
/*
 * sweep FUNCTION KEY_BITS MULTIPLE_OF FEWEST MOST BUDGET_MS LIMIT_S: the first MOST inputs of
 * patterns.h, each compared, until one is wrong.
 *
 * "inputs N DIGEST": N were compared and are right; the digest is of their bytes, and the same on
 * all machines. N is less than MOST if the time ended. Of a wrong one: what is wrong, then lines
 * "given NAME HEX", of all that the function was given. After a crash, or if the first call that
 * never ends lasts till LIMIT_S (exit code 4), one line names the input.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if !defined(HARNESS_BARE)
#include <signal.h>
#include <time.h>
#include <unistd.h>
#endif

#include "aes/fips197_key.h"
#include "fnv1a.h"
#include "patterns.h"
#include "verbs.h"

#define ENDLESS 4 /* exit code */

static char title[600]; /* of the call that runs: for the handler of signals */

#if defined(HARNESS_BARE) /* no C library: crashes have no name, and calls no limit of time */
static void watch(unsigned limit_s)
{
    (void)limit_s;
}

static double seconds(void)
{
    return 0;
}
#else
static void name_input(int number)
{
    if (write(STDOUT_FILENO, title, strlen(title)) < 0 || write(STDOUT_FILENO, "\n", 1) < 0)
        _exit(2);
    if (number == SIGALRM)
        _exit(ENDLESS);
    raise(number); /* the handler is reset: the program ends as it would without one */
}

static void watch(unsigned limit_s)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGALRM};
    struct sigaction action = {.sa_handler = name_input,
                               .sa_flags = (int)(SA_RESETHAND | SA_NODEFER)};

    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        sigaction(signals[i], &action, NULL);
    alarm(limit_s);
}

/* The time of the CPU that this program has used. */
static double seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}
#endif

static void give(const char *name, const uint8_t *bytes, size_t n_bytes)
{
    printf("given %s ", name);
    for (size_t i = 0; i < n_bytes; i++)
        printf("%02x", bytes[i]);
    puts("");
}

static void give_all(const struct call *call)
{
    const struct material *m = &call->material;
    const size_t schedule_bytes = (call->job.rounds + 1) * 16;

    printf("given key_bits %u\n", call->key_bits);
    give("in", call->job.in, call->n_bytes);
    give("key", m->user_key, sizeof m->user_key);
    give("iv", m->iv, sizeof m->iv);
    if (call->function->mode == MODE_own)
        return;
    give("tweak_key", m->tweak_key, sizeof m->tweak_key);
    give("enc", call->job.enc, schedule_bytes);
    give("dec", call->job.dec, schedule_bytes);
    give("tweak_enc", call->job.tweak_enc, schedule_bytes);
    give("h", m->h[0], sizeof m->h);
    give("given_tag", call->right_tag, sizeof call->right_tag);
}

static bool is_right(const struct function *function, unsigned key_bits, const struct input *input,
                     uint64_t *digest)
{
    static struct call call;
    const struct material *m = &call.material;

    call_make(&call, function, key_bits, input->n_bytes);
    snprintf(title, sizeof title, "%s, input %u (text: %s; key: %s; iv: %s)", call_title(&call),
             input->number, pattern_words(input->text), pattern_words(input->key),
             pattern_words(input->iv));
    call_take(&call, input);
    *digest = fnv1a(m->user_key, sizeof m->user_key, *digest);
    *digest = fnv1a(m->tweak_key, sizeof m->tweak_key, *digest);
    *digest = fnv1a(call.plain, input->n_bytes, fnv1a(m->iv, sizeof m->iv, *digest));
    call_key(&call);
    call_run(&call);
    const char *wrong = call_wrong(&call);
    if (wrong) {
        printf("%s: %s\n", title, wrong);
        give_all(&call);
    }
    call_free(&call);
    return !wrong;
}

int verb_sweep(const struct function *function, int n_words, char **words)
{
    uint64_t digest = FNV1A_BEGIN;
    unsigned number;

    if (n_words != 6 || atol(words[1]) < 1) {
        fprintf(stderr, "sweep takes six words\n");
        return 2;
    }
    const unsigned most = (unsigned)atoi(words[3]) < N_INPUTS ? (unsigned)atoi(words[3]) : N_INPUTS;
    const double end = atof(words[4]) / 1000;
    watch((unsigned)atoi(words[5]));
    for (number = 0; number < most && (number == 0 || seconds() < end); number++) {
        const struct input input = input_of(number, (size_t)atol(words[1]), (size_t)atol(words[2]));
        if (!is_right(function, (unsigned)atoi(words[0]), &input, &digest))
            return 1;
    }
    printf("inputs %u %016llx\n", number, (unsigned long long)digest);
    return 0;
}
