/* SPDX-License-Identifier: MIT */
/*
 * Is pointer authentication here what another CPU makes of it? pac_answers FILE...: what
 * tests/systems/pac_el1 wrote down, held against the layer with every kernel that runs here,
 * directly and through a memo.
 */
#include <stdlib.h>

#include "everycore/pac.h"

#include "../systems/pac_el1/instructions.h"
#include "tap.h"

enum what { ADD, AUTH, STRIP, GENERIC, LOAD, JUMP };
enum key_name { IA, IB, DA, DB, GA, N_KEYS };

#define MEANING(name, what, key, before, instruction, after) {#name, what, key},
static const struct meaning {
    const char *name;
    enum what what;
    enum key_name key;
} meanings[] = {INSTRUCTIONS(MEANING)};
#define N_MEANINGS (sizeof meanings / sizeof *meanings)

/* ---- The CPU that answered, as it stands at a line ------------------------------------------- */

struct cpu {
    const struct evc_pac_algorithm *algorithm;
    unsigned level;
    uint64_t isar1, isar2, mmfr0, mmfr2, hcr, tcr, sctlr; /* hcr: 0 where there is none */
    uint64_t key[N_KEYS][2]; /* Hi, Lo */
    struct evc_pac_regime code, data;
};

static unsigned bits(uint64_t reg, unsigned from, unsigned n)
{
    return (unsigned)(reg >> from & ((UINT64_C(1) << n) - 1));
}

/* ID_AA64ISAR1_EL1.APA and API, ID_AA64ISAR2_EL1.APA3: one of them is the level. */
static void identify(struct cpu *cpu)
{
    const unsigned apa = bits(cpu->isar1, 4, 4), api = bits(cpu->isar1, 8, 4),
                   apa3 = bits(cpu->isar2, 12, 4);

    cpu->algorithm = apa ? &evc_pac_qarma5 : apa3 ? &evc_pac_qarma3 : &evc_pac_impdef;
    cpu->level = apa ? apa : apa3 ? apa3 : api;
}

/* HCR_EL2.RW: the line is there. E2H: TCR_EL2 is as TCR_EL1, of two ranges of addresses. */
static unsigned n_ranges(const struct cpu *cpu)
{
    return bits(cpu->hcr, 31, 1) && !bits(cpu->hcr, 34, 1) ? 1 : 2;
}

/* Has TxSZ room for 52 bits? ID_AA64MMFR2_EL1.VARange (FEAT_LVA), ID_AA64MMFR0_EL1.TGran4
 * and TGran16 (FEAT_LPA2). */
static int is_large(const struct cpu *cpu, unsigned kib)
{
    if (kib == 64)
        return bits(cpu->mmfr2, 16, 4) != 0;
    if (n_ranges(cpu) == 1 || !bits(cpu->tcr, 59, 1))
        return 0;
    return kib == 4 ? bits(cpu->mmfr0, 28, 4) == 1 : kib == 16 ? bits(cpu->mmfr0, 20, 4) == 2 : 0;
}

/* TxSZ as the CPU takes it; ID_AA64MMFR2_EL1.ST (FEAT_TTST). */
static unsigned va_bits_of(const struct cpu *cpu, unsigned half)
{
    /* granules in KiB */
    static const unsigned char granule_of_tg1[] = {0, 16, 4, 64}, granule_of_tg0[] = {4, 64, 16, 0};
    const unsigned kib =
        half ? granule_of_tg1[bits(cpu->tcr, 30, 2)] : granule_of_tg0[bits(cpu->tcr, 14, 2)];
    const unsigned min = is_large(cpu, kib) ? 12 : 16;
    const unsigned max = bits(cpu->mmfr2, 28, 4) == 0 ? 39 : kib == 64 ? 47 : 48;

    return evc_pac_va_bits(bits(cpu->tcr, half ? 16 : 0, 6), min, max, EVC_PAC_SIZE_FORCED);
}

/* TCR_ELx (DDI 0487, D24.2): TxSZ, TBI and TBID. */
static void read_tcr(struct cpu *cpu)
{
    const unsigned n = n_ranges(cpu);
    unsigned va_bits[2], tbi[2], tbi_code[2];

    for (unsigned half = 0; half < n; half++) {
        va_bits[half] = va_bits_of(cpu, half);
        tbi[half] = bits(cpu->tcr, n == 1 ? 20 : 37 + half, 1);
        tbi_code[half] = tbi[half] & ~bits(cpu->tcr, n == 1 ? 29 : 51 + half, 1);
    }
    EXPECT(evc_pac_set_regime(&cpu->data, cpu->level, n, va_bits, tbi, EVC_PAC_SELECT_QEMU) ==
           EVC_OK);
    EXPECT(evc_pac_set_regime(&cpu->code, cpu->level, n, va_bits, tbi_code, EVC_PAC_SELECT_QEMU) ==
           EVC_OK);
}

static int in_use(const struct cpu *cpu, enum key_name key)
{
    static const unsigned char enable[N_KEYS] = {31, 30, 27, 13}; /* SCTLR_EL1.EnIA,
                                                                   * EnIB, EnDA, EnDB */

    return key == GA || bits(cpu->sctlr, enable[key], 1);
}

/* ---- What the layer answers ------------------------------------------------------------------ */

enum { N_SETS = 1024 }; /* so many that what a setting leaves behind is there in the next one */

struct layer {
    struct evc_pac_keys keys;
    struct evc_pac_memo memo;
    struct evc_pac_memo_set sets[N_SETS];
    int use_memo;
    unsigned long n_answers; /* instructions compared */
};

/* As a line has it: the result, or a fault. */
struct answer {
    uint64_t result, esr, far;
    int faulted;
};

/* ESR_EL1.EC, and IL; of a PAC Fail exception the ISS is the key. */
#define ESR(class_, iss) ((uint64_t)(class_) << 26 | UINT64_C(1) << 25 | (iss))
enum { PAC_FAIL = 0x1c, INSTRUCTION_ABORT = 0x21, DATA_ABORT = 0x25 };

/* Loads and branches that fail without a PAC Fail go to an address that is none. */
static struct answer authenticated(const struct meaning *meaning, struct evc_pac_result result)
{
    if (result.fault)
        return (struct answer){0, ESR(PAC_FAIL, (uint64_t)meaning->key), 0, 1};
    if (!result.valid && meaning->what == LOAD)
        return (struct answer){0, ESR(DATA_ABORT, 0), result.value, 1};
    if (!result.valid && meaning->what == JUMP)
        return (struct answer){0, ESR(INSTRUCTION_ABORT, 0), result.value, 1};
    return (struct answer){meaning->what == JUMP ? 1 : result.value, 0, 0, 0};
}

static struct answer answer_of(struct layer *layer, const struct cpu *cpu,
                               const struct meaning *meaning, uint64_t x, uint64_t y)
{
    const struct evc_pac_key *key =
        evc_pac_keys_get(&layer->keys, cpu->key[meaning->key][0], cpu->key[meaning->key][1]);
    const struct evc_pac_regime *regime =
        meaning->key == IA || meaning->key == IB ? &cpu->code : &cpu->data;
    const struct evc_pac_rules *rules =
        meaning->what == ADD ? evc_pac_rules_to_add(regime, x) : evc_pac_rules_to_auth(regime, x);
    const uint64_t context = evc_pac_context(key, rules);
    const enum evc_pac_letter letter =
        meaning->key == IA || meaning->key == DA ? EVC_PAC_KEY_A : EVC_PAC_KEY_B;
    const int combined = meaning->what == LOAD || meaning->what == JUMP;

    if (meaning->what == STRIP)
        return (struct answer){evc_pac_strip(rules, x), 0, 0, 0};
    if (!in_use(cpu, meaning->key))
        return authenticated(meaning, (struct evc_pac_result){x, evc_pac_strip(rules, x) == x, 0});
    if (meaning->what == GENERIC)
        return (struct answer){layer->use_memo
                                   ? evc_pac_memo_generic(&layer->memo, context, key, x, y)
                                   : evc_pac_generic(key, x, y),
                               0, 0, 0};
    if (meaning->what == ADD)
        return (struct answer){layer->use_memo
                                   ? evc_pac_memo_add(&layer->memo, context, rules, key, x, y)
                                   : evc_pac_add(rules, key, x, y),
                               0, 0, 0};
    return authenticated(
        meaning, layer->use_memo
                     ? evc_pac_memo_auth(&layer->memo, context, rules, key, letter, combined, x, y)
                     : evc_pac_auth(rules, key, letter, combined, x, y));
}

/* ---- Lines ----------------------------------------------------------------------------------- */

enum { MAX_NUMBERS = 5 };

struct line {
    char word[16], sub[16]; /* sub: of "key ia ..." */
    uint64_t number[MAX_NUMBERS];
    int n_numbers, faulted;
};

/* "word [sub] hex ... [! hex ...]" */
static struct line parsed(const char *text)
{
    struct line line = {"", "", {0}, 0, 0};
    int used = 0;
    char *end;

    if (sscanf(text, "%15s%n", line.word, &used) != 1)
        return line;
    text += used;
    if (strcmp(line.word, "key") == 0 && sscanf(text, "%15s%n", line.sub, &used) == 1)
        text += used;
    while (line.n_numbers < MAX_NUMBERS) {
        const char *mark = text + strspn(text, " ");
        if (*mark == '!') {
            line.faulted = 1;
            text = mark + 1;
        }
        line.number[line.n_numbers] = strtoull(text, &end, 16);
        if (end == text)
            break;
        line.n_numbers++;
        text = end;
    }
    return line;
}

/* 1: the line says what the CPU is, or what it is set to. */
static int is_setting(struct cpu *cpu, const struct line *line)
{
    static const char *const names[N_KEYS] = {"ia", "ib", "da", "db", "ga"};

    if (strcmp(line->word, "cpu") == 0) {
        cpu->isar1 = line->number[1];
        cpu->isar2 = line->number[2];
        cpu->mmfr2 = line->number[3];
        cpu->mmfr0 = line->number[4];
        identify(cpu);
        return line->n_numbers == 5;
    }
    if (strcmp(line->word, "tcr") == 0 || strcmp(line->word, "hcr") == 0) {
        *(line->word[0] == 't' ? &cpu->tcr : &cpu->hcr) = line->number[0];
        read_tcr(cpu);
        return line->n_numbers == 1;
    }
    if (strcmp(line->word, "sctlr") == 0) {
        cpu->sctlr = line->number[0];
        return line->n_numbers == 1;
    }
    for (unsigned i = 0; strcmp(line->word, "key") == 0 && i < N_KEYS; i++) {
        if (strcmp(line->sub, names[i]) == 0) {
            memcpy(cpu->key[i], line->number, sizeof cpu->key[i]);
            return line->n_numbers == 2;
        }
    }
    return 0;
}

static const struct meaning *meaning_of(const struct line *line)
{
    for (size_t i = 0; i < N_MEANINGS; i++)
        if (strcmp(line->word, meanings[i].name) == 0)
            return line->n_numbers == (line->faulted ? 4 : 3) ? &meanings[i] : NULL;
    return NULL;
}

/* Compares the class of a fault, and its address if the answer has one; the rest of
 * a fault is the MMU's. */
static int agree(const struct line *line, const struct answer *answer)
{
    if (!line->faulted || !answer->faulted)
        return line->faulted == answer->faulted && line->number[2] == answer->result;
    if (answer->esr >> 26 == PAC_FAIL)
        return line->number[2] == answer->esr;
    return line->number[2] >> 26 == answer->esr >> 26 && line->number[3] == answer->far;
}

/* ---- Tests ----------------------------------------------------------------------------------- */

/* One line through the layer, twice if there is a memo: the second time it remembers. */
static void compare(struct layer *layer, const struct cpu *cpu, const struct line *line,
                    const char *text)
{
    const struct meaning *meaning = meaning_of(line);

    if (!meaning || !cpu->algorithm) {
        printf("# not understood: %s", text);
        tap_complaints++;
        return;
    }
    for (int i = 0; i <= layer->use_memo; i++) {
        const struct answer answer =
            answer_of(layer, cpu, meaning, line->number[0], line->number[1]);
        if (!agree(line, &answer) && tap_complaints++ < 8)
            printf("# hcr %llx, tcr %llx: %s#   here %s%llx %llx\n", (unsigned long long)cpu->hcr,
                   (unsigned long long)cpu->tcr, text, answer.faulted ? "! " : "",
                   (unsigned long long)(answer.faulted ? answer.esr : answer.result),
                   (unsigned long long)answer.far);
    }
    layer->n_answers++;
}

static void compare_all(FILE *file, struct layer *layer, const struct evc_pac_kernels *kernels)
{
    struct cpu cpu = {0};
    char text[128] = "";

    rewind(file);
    EXPECT(evc_pac_memo_init(&layer->memo, layer->sets, N_SETS) == EVC_OK);
    while (fgets(text, sizeof text, file) && strcmp(text, "end\n") != 0) {
        const struct line line = parsed(text);
        if (line.word[0] == '#')
            continue;
        if (!is_setting(&cpu, &line))
            compare(layer, &cpu, &line, text);
        else if (strcmp(line.word, "cpu") == 0)
            EXPECT(evc_pac_keys_init(&layer->keys, cpu.algorithm, kernels) == EVC_OK);
    }
    EXPECT(strcmp(text, "end\n") == 0); /* else the file is not whole */
    EXPECT(layer->n_answers > 0);
    if (layer->use_memo)
        EXPECT(layer->memo.hits[EVC_PAC_OP_ADD] && layer->memo.hits[EVC_PAC_OP_AUTH]);
}

/* The file's own name. */
static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* 0: the file is of the algorithm that has no kernels. */
static int with_kernel(const char *path, FILE *file, const struct evc_qarma *kernel, int use_memo)
{
    static struct layer layer;
    const struct evc_pac_kernels kernels = {kernel, NULL};
    char name[256];
    int is_qarma;

    layer.use_memo = use_memo;
    layer.n_answers = 0;
    compare_all(file, &layer, &kernels);
    is_qarma = layer.keys.algorithm != &evc_pac_impdef;
    snprintf(name, sizeof name, "%lu answers of %s are ours%s", layer.n_answers, last_part(path),
             use_memo ? ", through a memo" : "");
    tap_result(name, is_qarma ? evc_qarma_kernel(kernel)->name : NULL);
    return is_qarma;
}

static void with_every_kernel_and_a_memo(const char *path, FILE *file)
{
    const struct evc_registry_line *line;

    for (unsigned i = 0; (line = evc_registry_at(i)) != NULL; i++) {
        if (strcmp(line->primitive, "qarma") != 0 || !line->built)
            continue;
        const char *why = missing_feature(line);
        if (why)
            printf("ok %u - answers of %s with %s # SKIP needs %s\n", ++tap_tests, last_part(path),
                   line->name, why);
        else if (!with_kernel(path, file, evc_qarma_named(line->name), 0))
            break;
    }
    with_kernel(path, file, evc_qarma_select(evc_cpu_features(), EVC_ALLOW_VARTIME, EVC_USE_SERIAL),
                1);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        FILE *file = fopen(argv[i], "r");
        EXPECT(file != NULL);
        if (file) {
            with_every_kernel_and_a_memo(argv[i], file);
            fclose(file);
        } else {
            tap_result(argv[i], NULL);
        }
    }
    return tap_done();
}
