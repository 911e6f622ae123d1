/* SPDX-License-Identifier: MIT */
/*
 * Detection, over CPUs of published dumps: x86_dumps.txt.
 *
 * x86_dumps FILE [--print]
 *
 * Tests what holds for each CPU, whatever its features are. --print writes these for x86_dumps.py,
 * one line for programs of 64 bits and one for those of 32: the CPU's name, the dump's, the bits of
 * the program, and the names of the features.
 */
#include "everycore/cpu.h"

#include "tap.h"

#define NAME_SIZE 64

struct dump {
    char cpu[NAME_SIZE], name[NAME_SIZE];
    struct evc_x86_id id; /* of a program of 32 bits */
};

static struct dump dumps[300];
static size_t n_dumps;

/* Whether the line is a CPU's. */
static int read_line(const char *line, struct dump *to)
{
    unsigned max, signature, ecx1, edx1, eax7, ebx7, ecx7, eax7_1, edx7_1, ebx24, extended, xcr0;

    if (sscanf(line, "%63s %63s %x %x %x %x %x %x %x %x %x %x %x %x", to->cpu, to->name, &max,
               &signature, &ecx1, &edx1, &eax7, &ebx7, &ecx7, &eax7_1, &edx7_1, &ebx24, &extended,
               &xcr0) != 14 ||
        line[0] == '#')
        return 0;
    const int has_xsave = (int)(ecx1 >> 26 & 1);
    const unsigned char *vendor = (const unsigned char *)to->name;
    const struct evc_x86_id id = {.max_leaf = max,
                                  .vendor_ebx = vendor[0] | (uint32_t)vendor[1] << 8 |
                                                (uint32_t)vendor[2] << 16 |
                                                (uint32_t)vendor[3] << 24,
                                  .leaf1_eax = signature,
                                  .leaf1_ecx = ecx1 | (uint32_t)has_xsave << 27,
                                  .leaf1_edx = edx1,
                                  .leaf7_eax = eax7,
                                  .leaf7_ebx = ebx7,
                                  .leaf7_ecx = ecx7,
                                  .leaf7_1_eax = eax7_1,
                                  .leaf7_1_edx = edx7_1,
                                  .leaf24_ebx = ebx24,
                                  .max_extended_leaf = 0x80000001,
                                  .extended1_edx = extended,
                                  .xcr0 = has_xsave ? xcr0 : 0};
    to->id = id;
    return 1;
}

static int is_of_64_bits(const struct dump *dump)
{
    return (int)(dump->id.extended1_edx >> 29 & 1);
}

static uint64_t features_of(const struct dump *dump, int mode64)
{
    struct evc_x86_id id = dump->id;

    id.mode64 = (uint32_t)mode64;
    return evc_x86_features(&id);
}

static void print_features(const struct dump *dump, int mode64)
{
    const uint64_t features = features_of(dump, mode64);

    printf("%s %s %d", dump->cpu, dump->name, mode64 ? 64 : 32);
#define PRINT(constant, arch, bit, text)                                                  \
    if ((EVC_ARCH_##arch == EVC_ARCH_X86 || EVC_ARCH_##arch == EVC_ARCH_OTHER) &&         \
        (features & EVC_CPU(constant)))                                                   \
        printf(" %s", text);
    EVC_FEATURE_LIST(PRINT)
#undef PRINT
    printf("\n");
}

static void each_dump_is_another(void)
{
    EXPECT(n_dumps > 150);
    for (size_t i = 0; i < n_dumps; i++)
        for (size_t k = 0; k < i; k++)
            EXPECT(strcmp(dumps[i].name, dumps[k].name) != 0);
}

static void modes_differ_in_what_they_say_of_the_mode(void)
{
    const uint64_t of_mode = EVC_CPU(X86_MODE64) | EVC_CPU(TUNE_WORD64);

    for (size_t i = 0; i < n_dumps; i++)
        EXPECT(!is_of_64_bits(&dumps[i]) ||
               features_of(&dumps[i], 1) == (features_of(&dumps[i], 0) | of_mode));
}

static void wide_vectors_are_wanted_wherever_a_kernel_uses_them(void)
{
    const uint64_t needs[] = {EVC_NEEDS_X86_VAES512, EVC_NEEDS_X86_VBMI512,
                              EVC_NEEDS_X86_VCLMUL512, EVC_NEEDS_X86_GCM512, EVC_NEEDS_X86_IFMA};

    for (size_t i = 0; i < n_dumps; i++)
        for (size_t k = 0; k < sizeof needs / sizeof needs[0]; k++) {
            const uint64_t features = features_of(&dumps[i], 1);
            EXPECT(((features | EVC_CPU(TUNE_ZMM)) & needs[k]) != needs[k] ||
                   (features & EVC_CPU(TUNE_ZMM)));
        }
}

/* Hypervisors mask any flag, or all flags of a word. */
static void masking_adds_no_feature(void)
{
    for (size_t i = 0; i < n_dumps; i++) {
        const uint64_t whole = features_of(&dumps[i], 1);
        for (unsigned bit = 0; bit <= 32; bit++) {
            struct dump less[5] = {dumps[i], dumps[i], dumps[i], dumps[i], dumps[i]};
            const uint32_t others = bit < 32 ? ~(UINT32_C(1) << bit) : 0;
            less[0].id.leaf1_ecx &= others;
            less[1].id.leaf1_edx &= others;
            less[2].id.leaf7_ebx &= others;
            less[3].id.leaf7_ecx &= others;
            less[4].id.leaf7_1_eax &= others;
            for (int k = 0; k < 5; k++)
                EXPECT((features_of(&less[k], 1) & ~whole) == 0);
        }
    }
}

/* Flags of each dump with the numbers of all others of the same maker. */
static void the_number_of_another_core_changes_no_feature_but_ports(void)
{
    for (size_t i = 0; i < n_dumps; i++)
        for (size_t k = 0; k < n_dumps; k++) {
            struct dump other = dumps[i];
            if (dumps[k].id.vendor_ebx != dumps[i].id.vendor_ebx)
                continue;
            other.id.leaf1_eax = dumps[k].id.leaf1_eax;
            const uint64_t was = features_of(&dumps[i], 1), is = features_of(&other, 1);
            EXPECT(((was ^ is) & ~EVC_CPU(TUNE_SHARED_PORTS)) == 0);
            EXPECT(was == is || !(was & EVC_CPU(X86_AVX512VL)));
        }
}

int main(int argc, char **argv)
{
    char line[512];
    FILE *file = argc > 1 ? fopen(argv[1], "r") : NULL;

    if (!file) {
        fprintf(stderr, "usage: x86_dumps FILE [--print]\n");
        return 2;
    }
    while (n_dumps < sizeof dumps / sizeof dumps[0] && fgets(line, sizeof line, file))
        n_dumps += (size_t)read_line(line, &dumps[n_dumps]);
    fclose(file);
    if (argc > 2) {
        for (size_t i = 0; i < n_dumps; i++) {
            print_features(&dumps[i], 0);
            if (is_of_64_bits(&dumps[i]))
                print_features(&dumps[i], 1);
        }
        return 0;
    }
    RUN(each_dump_is_another);
    RUN(modes_differ_in_what_they_say_of_the_mode);
    RUN(wide_vectors_are_wanted_wherever_a_kernel_uses_them);
    RUN(masking_adds_no_feature);
    RUN(the_number_of_another_core_changes_no_feature_but_ports);
    return tap_done();
}
