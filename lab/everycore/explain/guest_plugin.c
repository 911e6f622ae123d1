/* SPDX-License-Identifier: MIT */
/*
 * A plugin of QEMU's TCG for programs of qemu-user: how often each block of the guest ran, its
 * code, and pages that its loads read. Argument: out=FILE; a process writes FILE.PID when it ends.
 * Lines of text, numbers in hexadecimal:
 *
 *     base HOST-ADDRESS                   of guest address 0
 *     map START-END MODE OFFSET ... PATH  as /proc/self/maps has it, in host addresses
 *     block ADDRESS COUNT CODE
 *     load PLACE ADDRESS                  an address that the instruction at PLACE read
 *     page ADDRESS BYTES
 *
 * Debian ships no header for plugins. The declarations are of version 1 of their interface, as
 * documented in QEMU 7.2's docs/devel/tcg-plugins.rst.
 */
#define _GNU_SOURCE
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

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
extern void *qemu_plugin_insn_haddr(const struct qemu_plugin_insn *);
extern const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *);
extern size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *);
extern void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *, int operation, void *,
                                                     uint64_t);
extern void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *,
                                             void (*)(unsigned, memory_info, uint64_t, void *),
                                             int flags, int read_or_write, void *);
extern void qemu_plugin_register_atexit_cb(plugin_id, void (*)(plugin_id, void *), void *);
EXPORT extern int qemu_plugin_version;
EXPORT int qemu_plugin_install(plugin_id, const void *, int, char **);

int qemu_plugin_version = 1;

enum { ADD_U64 = 0, NO_REGISTERS = 0, READS = 1 };
#define BUCKETS 65536u
#define PAGE 4096u
#define MOST_ADDRESSES 24 /* of an instruction that loads: at calls 1, 2, 4, 8, ... */
#define MOST_PAGES 1024u

struct load {
    struct load *next;
    uint64_t place, calls, addresses[MOST_ADDRESSES];
    unsigned n_addresses;
};

struct block {
    struct block *next;
    uint64_t address, count;
    size_t n_bytes;
    uint8_t code[];
};

static const char *name;
static uint64_t base;
static struct block *blocks[BUCKETS];
static struct load *loads;

static void touch(unsigned cpu, memory_info info, uint64_t address, void *user)
{
    struct load *load = user;
    uint64_t calls = ++load->calls;

    (void)cpu, (void)info;
    if (!(calls & (calls - 1)) && load->n_addresses < MOST_ADDRESSES)
        load->addresses[load->n_addresses++] = address;
}

/* The same code may be translated again: its count goes on. */
static struct block *find(uint64_t address, const uint8_t *code, size_t n_bytes)
{
    struct block **bucket = &blocks[(address >> 2) % BUCKETS], *found = *bucket;

    while (found && (found->address != address || found->n_bytes != n_bytes ||
                     memcmp(found->code, code, n_bytes)))
        found = found->next;
    if (found || !(found = calloc(1, sizeof *found + n_bytes)))
        return found;
    found->next = *bucket;
    found->address = address;
    found->n_bytes = n_bytes;
    memcpy(found->code, code, n_bytes);
    return *bucket = found;
}

static void translate(plugin_id id, struct qemu_plugin_tb *tb)
{
    uint8_t code[8192];
    size_t n_bytes = 0, n = qemu_plugin_tb_n_insns(tb);

    (void)id;
    if (!n)
        return;
    for (size_t i = 0; i < n; i++) {
        const struct qemu_plugin_insn *one = qemu_plugin_tb_get_insn(tb, i);
        size_t size = qemu_plugin_insn_size(one);

        if (n_bytes + size > sizeof code)
            break;
        memcpy(code + n_bytes, qemu_plugin_insn_data(one), size);
        n_bytes += size;
    }
    const struct qemu_plugin_insn *first = qemu_plugin_tb_get_insn(tb, 0);
    struct block *block = find(qemu_plugin_insn_vaddr(first), code, n_bytes);
    if (!block)
        return;
    if (qemu_plugin_insn_haddr(first))
        base = (uintptr_t)qemu_plugin_insn_haddr(first) - qemu_plugin_insn_vaddr(first);
    qemu_plugin_register_vcpu_tb_exec_inline(tb, ADD_U64, &block->count, 1);
    for (size_t i = 0; i < n; i++) {
        struct qemu_plugin_insn *one = qemu_plugin_tb_get_insn(tb, i);
        struct load *load = calloc(1, sizeof *load);

        if (!load)
            return;
        load->place = qemu_plugin_insn_vaddr(one);
        load->next = loads;
        loads = load;
        qemu_plugin_register_vcpu_mem_cb(one, touch, NO_REGISTERS, READS, load);
    }
}

static void put_bytes(FILE *out, const uint8_t *data, size_t n_bytes)
{
    for (size_t i = 0; i < n_bytes; i++)
        fprintf(out, "%02x", data[i]);
    putc('\n', out);
}

static void put_page(FILE *out, uint64_t address)
{
    static uint64_t known[MOST_PAGES];
    static unsigned n_known;
    uint8_t data[PAGE];
    struct iovec here = {data, sizeof data},
                 there = {(void *)(uintptr_t)(base + address), sizeof data};

    for (unsigned i = 0; i < n_known; i++)
        if (known[i] == address)
            return;
    if (n_known == MOST_PAGES)
        return;
    known[n_known++] = address;
    if (process_vm_readv(getpid(), &here, 1, &there, 1, 0) != (ssize_t)sizeof data)
        return; /* it was unmapped meanwhile */
    fprintf(out, "page %llx ", (unsigned long long)address);
    put_bytes(out, data, sizeof data);
}

static void put_maps(FILE *out)
{
    char line[8192];
    FILE *maps = fopen("/proc/self/maps", "r");

    while (maps && fgets(line, sizeof line, maps))
        fprintf(out, "map %s", line);
    if (maps)
        fclose(maps);
}

static void finish(plugin_id id, void *user)
{
    char path[4096];
    FILE *out;

    (void)id, (void)user;
    snprintf(path, sizeof path, "%s.%ld", name, (long)getpid());
    if (!(out = fopen(path, "w"))) {
        fputs("everycore: the counts of the guest cannot be written\n", stderr);
        return;
    }
    fprintf(out, "base %llx\n", (unsigned long long)base);
    put_maps(out);
    for (size_t i = 0; i < BUCKETS; i++)
        for (const struct block *one = blocks[i]; one; one = one->next)
            if (one->count) {
                fprintf(out, "block %llx %llx ", (unsigned long long)one->address,
                        (unsigned long long)one->count);
                put_bytes(out, one->code, one->n_bytes);
            }
    for (const struct load *one = loads; one; one = one->next)
        for (unsigned i = 0; i < one->n_addresses; i++) {
            fprintf(out, "load %llx %llx\n", (unsigned long long)one->place,
                    (unsigned long long)one->addresses[i]);
            if (one->calls >= MOST_ADDRESSES) /* rare ones look no table up */
                put_page(out, one->addresses[i] & ~(uint64_t)(PAGE - 1));
        }
    fputs("end\n", out);
    fclose(out);
}

EXPORT int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv)
{
    (void)info;
    if (argc != 1 || strncmp(argv[0], "out=", 4) != 0 || !(name = strdup(argv[0] + 4)))
        return 1;
    qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
    qemu_plugin_register_atexit_cb(id, finish, NULL);
    return 0;
}
