/* SPDX-License-Identifier: MIT */
/*
 * A plugin of QEMU's TCG that tells every executed address, and every data address, of the regions
 * from one address to another. Arguments: out=FILE begin=HEX end=HEX limit=N keep=all|none|N:N:...
 *
 * Debian ships no header for plugins. What is declared here is of version 1 of their interface, as
 * documented in QEMU 7.2's docs/devel/tcg-plugins.rst.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "events.h"

#define EXPORT __attribute__((visibility("default")))

typedef uint64_t plugin_id;
typedef uint32_t memory_info;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
extern void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id,
                                                  void (*)(plugin_id, struct qemu_plugin_tb *));
extern size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
extern struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *, size_t);
extern uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *);
extern void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *,
                                                   void (*)(unsigned, void *), int flags, void *);
extern void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *,
                                             void (*)(unsigned, memory_info, uint64_t, void *),
                                             int flags, int read_or_write, void *);
extern void qemu_plugin_register_atexit_cb(plugin_id, void (*)(plugin_id, void *), void *);
extern unsigned qemu_plugin_mem_size_shift(memory_info);
extern bool qemu_plugin_mem_is_store(memory_info);
EXPORT extern int qemu_plugin_version;
EXPORT int qemu_plugin_install(plugin_id, const void *, int, char **);

int qemu_plugin_version = 1;

static FILE *out;
static uint64_t begin, end, limit = UINT64_MAX, region;
static const char *kept = "none"; /* all, none, or :N:N: */
static bool active, keep;
static struct totals totals;

static void say(char type, const void *data, uint32_t length)
{
    uint32_t header[2] = {(uint32_t)type, length};
    if (fwrite(header, sizeof header, 1, out) != 1 || fwrite(data, length, 1, out) != 1) {
        fputs("everycore: the trace cannot be written\n", stderr);
        exit(2);
    }
}

static void record(struct event e)
{
    count_event(&totals, &e);
    if (keep)
        say(EVENTS, &e, sizeof e);
}

static void begin_region(void)
{
    char number[24];
    snprintf(number, sizeof number, ":%llu:", (unsigned long long)region++);
    keep = strcmp(kept, "all") == 0 || strstr(kept, number) != NULL;
    totals = (struct totals){0};
    active = true;
}

static void end_region(void)
{
    active = false;
    say(REGION_END, &totals, sizeof totals);
}

/* Called before each instruction; `user` is its address. */
static void execute(unsigned cpu, void *user)
{
    uint64_t pc = (uintptr_t)user;
    (void)cpu;
    if (active && pc == end)
        end_region();
    if (!active && pc == begin)
        begin_region();
    if (!active || totals.instructions > limit)
        return;
    record((struct event){pc, pc, 0, 1, BLOCK_MODE});
}

static void touch(unsigned cpu, memory_info info, uint64_t address, void *user)
{
    (void)cpu;
    if (!active)
        return;
    uint32_t mode = qemu_plugin_mem_is_store(info) ? WRITE_MODE : READ_MODE;
    uint32_t size = UINT32_C(1) << qemu_plugin_mem_size_shift(info);
    record((struct event){(uintptr_t)user, address, UINT64_MAX, size, mode});
}

static void translate(plugin_id id, struct qemu_plugin_tb *tb)
{
    (void)id;
    for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
        struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(tb, i);
        void *pc = (void *)(uintptr_t)qemu_plugin_insn_vaddr(instruction);
        qemu_plugin_register_vcpu_insn_exec_cb(instruction, execute, 0, pc);
        qemu_plugin_register_vcpu_mem_cb(instruction, touch, 0, 3, pc);
    }
}

static void finish(plugin_id id, void *user)
{
    (void)id, (void)user;
    if (fclose(out) != 0)
        fputs("everycore: the trace cannot be written\n", stderr);
}

EXPORT int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv)
{
    (void)info;
    for (int i = 0; i < argc; i++) {
        const char *value = strchr(argv[i], '=');
        if (value++ == NULL)
            return 1;
        if (!strncmp(argv[i], "out=", 4))
            out = fopen(value, "wb");
        if (!strncmp(argv[i], "begin=", 6))
            begin = strtoull(value, NULL, 16);
        if (!strncmp(argv[i], "end=", 4))
            end = strtoull(value, NULL, 16);
        if (!strncmp(argv[i], "limit=", 6))
            limit = strtoull(value, NULL, 10);
        if (!strncmp(argv[i], "keep=", 5))
            kept = strdup(value);
    }
    if (out == NULL || kept == NULL)
        return 1;
    qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
    qemu_plugin_register_atexit_cb(id, finish, NULL);
    return 0;
}
