/* SPDX-License-Identifier: MIT */
/*
 * A plugin of QEMU's user emulation that counts executed instructions of a process and of all that
 * it forks. Argument: to=FILE. The file is a number n and 255 pairs (process, count), of 64 bits
 * each, of which n are in use.
 *
 * It is mapped into memory that processes share: a server may change its root, its user, and close
 * what it did not open. A process is noticed at its first system call; what its parent has counted
 * until its last one is taken off.
 *
 * Debian ships no header for plugins. What is declared here is of version 1 of their interface, as
 * documented in QEMU 7.2's docs/devel/tcg-plugins.rst.
 */
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

typedef uint64_t plugin_id;
struct qemu_plugin_tb;
typedef void system_call(plugin_id, unsigned, int64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                         uint64_t, uint64_t, uint64_t, uint64_t);
extern void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id,
                                                  void (*)(plugin_id, struct qemu_plugin_tb *));
extern size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
extern void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *, int add, void *,
                                                     uint64_t);
extern void qemu_plugin_register_vcpu_syscall_cb(plugin_id, system_call *);
extern void qemu_plugin_register_atexit_cb(plugin_id, void (*)(plugin_id, void *), void *);
EXPORT extern int qemu_plugin_version;
EXPORT int qemu_plugin_install(plugin_id, const void *, int, char **);

int qemu_plugin_version = 1;

#define MOST_PROCESSES 255

static struct {
    uint64_t n;
    struct {
        uint64_t process, count;
    } list[MOST_PROCESSES];
} *counts;

static uint64_t executed, of_parent, noted, slot;
static pid_t process;

static void note(void)
{
    if (getpid() != process) {
        process = getpid();
        of_parent = noted;
        slot = __atomic_fetch_add(&counts->n, 1, __ATOMIC_SEQ_CST) % MOST_PROCESSES;
        counts->list[slot].process = (uint64_t)process;
    }
    noted = executed;
    counts->list[slot].count = executed - of_parent;
}

static void translate(plugin_id id, struct qemu_plugin_tb *block)
{
    (void)id;
    qemu_plugin_register_vcpu_tb_exec_inline(block, 0, &executed, qemu_plugin_tb_n_insns(block));
}

static void call(plugin_id id, unsigned cpu, int64_t number, uint64_t a, uint64_t b, uint64_t c,
                 uint64_t d, uint64_t e, uint64_t f, uint64_t g, uint64_t h)
{
    (void)id, (void)cpu, (void)number, (void)a, (void)b, (void)c, (void)d, (void)e, (void)f,
        (void)g, (void)h;
    note();
}

static void end(plugin_id id, void *user)
{
    (void)id, (void)user;
    note();
}

EXPORT int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv)
{
    int file = -1;

    (void)info;
    for (int i = 0; i < argc; i++)
        if (strncmp(argv[i], "to=", 3) == 0)
            file = open(argv[i] + 3, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (file < 0 || ftruncate(file, sizeof *counts) != 0)
        return 1;
    counts = mmap(NULL, sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (counts == MAP_FAILED)
        return 1;
    qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
    qemu_plugin_register_vcpu_syscall_cb(id, call);
    qemu_plugin_register_atexit_cb(id, end, NULL);
    return 0;
}
