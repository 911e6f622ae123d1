/* SPDX-License-Identifier: MIT */
/*
 * A plugin of QEMU that counts the instructions executed that compute a pointer authentication
 * code, to add it or to check it.
 *
 *     cc -shared -fPIC -DAPI=1 count.c -o count.so; qemu-aarch64 -plugin count.so,to=FILE PROGRAM
 *
 * Only the few declarations of QEMU's plugin interface that are needed (its manual, "QEMU TCG
 * Plugins"); API is the version of that interface: since 3 instructions are copied out.
 * Encodings: Arm ARM DDI 0487, C4.1 (branches and system instructions, data processing, loads).
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct qemu_plugin_tb;
struct qemu_plugin_insn;
typedef uint64_t plugin_id;
struct qemu_info; /* not looked at */

void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id id,
                                           void (*translated)(plugin_id, struct qemu_plugin_tb *));
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *block, size_t i);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *instruction,
                                            void (*executed)(unsigned, void *), int flags,
                                            void *data);
void qemu_plugin_register_atexit_cb(plugin_id id, void (*at_exit)(plugin_id, void *), void *data);
#if API < 3
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *instruction);
#else
size_t qemu_plugin_insn_data(const struct qemu_plugin_insn *instruction, void *copy,
                             size_t len_bytes);
#endif

#define EXPORTED __attribute__((visibility("default")))

EXPORTED int qemu_plugin_version = API;

static uint64_t n_computed;
static char place[4096];

static uint32_t
word_of(const struct qemu_plugin_insn *instruction)
{
    uint8_t b[4] = {0};
#if API < 3
    memcpy(b, qemu_plugin_insn_data(instruction), sizeof b);
#else
    qemu_plugin_insn_data(instruction, b, sizeof b);
#endif
    return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

/* PACIA1716 ... AUTIB1716 are HINT 8, 10, 12, 14; PACIAZ ... AUTIBSP are 24 to 31. */
static int
is_hint(uint32_t word)
{
    uint32_t number = word >> 5 & 0x7f;
    return (word & 0xfffff01f) == 0xd503201f && ((number & 0x79) == 8 || (number & 0x78) == 24);
}

static int
computes(uint32_t word)
{
    return is_hint(word) || ((word & 0xffffc000) == 0xdac10000) /* PACIA ... AUTDZB */
           || (word & 0xffe0fc00) == 0x9ac03000                 /* PACGA */
           || (word & 0xfe1ff800) == 0xd61f0800                 /* B, BL, RET, ERET, with A or B */
           || (word & 0xff200400) == 0xf8200400;                /* LDRAA, LDRAB */
}

static void
executed(unsigned vcpu, void *data)
{
    (void)vcpu, (void)data;
    __atomic_fetch_add(&n_computed, 1, __ATOMIC_RELAXED);
}

static void
translated(plugin_id id, struct qemu_plugin_tb *block)
{
    (void)id;
    for (size_t i = 0, n = qemu_plugin_tb_n_insns(block); i < n; i++) {
        struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(block, i);
        if (computes(word_of(instruction)))
            qemu_plugin_register_vcpu_insn_exec_cb(instruction, executed, 0, NULL);
    }
}

static void
at_exit(plugin_id id, void *data)
{
    (void)id, (void)data;
    FILE *file = fopen(place, "w");
    if (file) {
        fprintf(file, "%llu\n", (unsigned long long)n_computed);
        fclose(file);
    }
}

EXPORTED int
qemu_plugin_install(plugin_id id, const struct qemu_info *info, int argc, char **argv)
{
    (void)info;
    if (argc != 1 || strncmp(argv[0], "to=", 3) || strlen(argv[0]) >= sizeof place) {
        fprintf(stderr, "count: to=FILE is missing\n");
        return 1;
    }
    strcpy(place, argv[0] + 3);
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, at_exit, NULL);
    return 0;
}
