/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tracee.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dialogue.h"

/* ---- The program ----------------------------------------------------------------------------- */

static pid_t program;
int memory = -1;
static bool is_writable;
struct user_regs_struct cpu;
bool changed;
bool pending;

static void read_registers(void)
{
    if (ptrace(PTRACE_GETREGS, program, 0, &cpu) != 0)
        fail("PTRACE_GETREGS: %s", strerror(errno));
}

static void end_of_program(int status)
{
    int32_t code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    say(END, &code, sizeof code);
    exit(0);
}

static void resume(enum __ptrace_request how, int wanted, bool (*arrived)(uint64_t), uint64_t where)
{
    long deliver = 0;
    for (;;) {
        int status;
        if (changed && ptrace(PTRACE_SETREGS, program, 0, &cpu) != 0)
            fail("PTRACE_SETREGS: %s", strerror(errno));
        changed = false;
        if (ptrace(how, program, 0, deliver) != 0)
            fail("ptrace: %s", strerror(errno));
        if (waitpid(program, &status, 0) != program)
            fail("waitpid: %s", strerror(errno));
        if (!WIFSTOPPED(status))
            end_of_program(status);
        read_registers();
        deliver = WSTOPSIG(status);
        if (deliver == wanted && arrived(where))
            return;
        if (how == PTRACE_SINGLESTEP) /* its handler would be stepped into */
            fail("signal %ld while the jump at %#lx was followed", deliver, (unsigned long)cpu.rip);
        if (deliver == SIGTRAP)
            deliver = 0; /* of an exec */
    }
}

static bool anywhere(uint64_t where)
{
    (void)where;
    return true;
}

static bool exactly(uint64_t where)
{
    return cpu.rip == where;
}

void run_until(bool (*arrived)(uint64_t where), uint64_t where)
{
    resume(PTRACE_CONT, SIGSEGV, arrived, where);
}

/* ---- Its code, and the one HLT in it --------------------------------------------------------- */

enum { PAGES = 1 << 14, HLT = 0xf4 };
static struct {
    uint64_t number; /* of the page, with 1 added; 0: a free place */
    uint8_t *code;   /* as it is without our HLT */
} pages[PAGES];
static uint64_t hlt_at; /* 0: nowhere */

const uint8_t *page_at(uint64_t address)
{
    uint64_t number = address / PAGE + 1;
    size_t slot = (size_t)(number * 0x9e3779b97f4a7c15u >> 40) % PAGES;
    for (size_t tries = 0; pages[slot].number != 0; tries++, slot = (slot + 1) % PAGES) {
        if (pages[slot].number == number)
            return pages[slot].code;
        if (tries == PAGES / 2)
            fail("too much code");
    }
    uint8_t *code = malloc(PAGE);
    if (code == NULL)
        fail("out of memory");
    if (pread(memory, code, PAGE, (off_t)(address & -(uint64_t)PAGE)) != PAGE) {
        free(code);
        return NULL;
    }
    pages[slot].number = number;
    pages[slot].code = code;
    return code;
}

/* By words, through ptrace: where /proc cannot be written, as in some containers. */
static bool poke(uint64_t address, const uint8_t *code, size_t n)
{
    for (size_t done = 0, of_word; done < n; done += of_word) {
        uint64_t at = address + done, start = at & -(uint64_t)sizeof(long);
        long word;
        if (pread(memory, &word, sizeof word, (off_t)start) != sizeof word)
            return false;
        of_word = start + sizeof word - at < n - done ? start + sizeof word - at : n - done;
        memcpy((uint8_t *)&word + (at - start), code + done, of_word);
        if (ptrace(PTRACE_POKETEXT, program, start, word) != 0)
            return false;
    }
    return true;
}

void write_code(uint64_t address, const void *code, size_t n)
{
    if (!(is_writable ? pwrite(memory, code, n, (off_t)address) == (ssize_t)n
                      : poke(address, code, n)))
        fail("cannot write the program's code at %#lx: %s", (unsigned long)address,
             strerror(errno));
}

static void lift_hlt(void)
{
    if (hlt_at != 0)
        write_code(hlt_at, page_at(hlt_at) + hlt_at % PAGE, 1);
    hlt_at = 0;
}

/* Most often both places are near each other, and one write does it. */
static void move_hlt(uint64_t to)
{
    enum { NEAR = 256 };
    const uint8_t *page = page_at(to);
    uint8_t code[NEAR];
    if (page == NULL)
        fail("no code at %#lx", (unsigned long)to);
    if (hlt_at / PAGE != to / PAGE || hlt_at - to + NEAR / 2 >= NEAR) {
        lift_hlt();
        hlt_at = to;
    }
    uint64_t low = to < hlt_at ? to : hlt_at, high = to < hlt_at ? hlt_at : to;
    memcpy(code, page + low % PAGE, high - low + 1);
    code[to - low] = HLT;
    write_code(low, code, high - low + 1);
    hlt_at = to;
}

void step(void)
{
    lift_hlt();
    resume(PTRACE_SINGLESTEP, SIGTRAP, anywhere, 0);
    pending = false;
}

void run_to(uint64_t address)
{
    if (pending && cpu.rip == address)
        step();
    if (!pending && cpu.rip == address)
        return;
    move_hlt(address);
    run_until(exactly, address);
    pending = false;
}

void be_at(uint64_t pc)
{
    changed = changed || cpu.rip != pc;
    cpu.rip = pc;
    pending = false;
}

uint64_t call_kernel(uint64_t number, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    static const uint8_t syscall_hlt[3] = {0x0f, 0x05, HLT};
    struct user_regs_struct before = cpu;
    uint8_t code[3];
    if (pread(memory, code, 3, (off_t)cpu.rip) != 3)
        fail("the program has no code");
    write_code(cpu.rip, syscall_hlt, 3);
    cpu.rax = number, cpu.rdi = a, cpu.rsi = b, cpu.rdx = c, cpu.r10 = d;
    cpu.r8 = UINT64_MAX, cpu.r9 = 0; /* of mmap: no file */
    cpu.orig_rax = UINT64_MAX;       /* no system call is to be repeated */
    changed = true;
    run_until(exactly, before.rip + 2);
    uint64_t result = cpu.rax;
    write_code(before.rip, code, 3);
    cpu = before;
    changed = true;
    return result;
}

void read_vectors(void *area, size_t bytes)
{
    struct iovec vector = {area, bytes};
    if (ptrace(PTRACE_GETREGSET, program, 0x202 /* NT_X86_XSTATE */, &vector) != 0)
        fail("PTRACE_GETREGSET: %s", strerror(errno));
}

bool is_readable(uint64_t address)
{
    char byte;
    struct iovec here = {&byte, 1}, there = {(void *)(uintptr_t)address, 1};
    return process_vm_readv(program, &here, 1, &there, 1, 0) == 1;
}

size_t read_maps(char *text)
{
    char name[32];
    snprintf(name, sizeof name, "/proc/%d/maps", (int)program);
    int fd = open(name, O_RDONLY);
    size_t length = 0;
    for (ssize_t n; fd >= 0 && (n = read(fd, text + length, MAPS_BYTES - length)) > 0;)
        length += (size_t)n;
    if (fd >= 0)
        close(fd);
    return length;
}

/* One CPU for both: a stop is a switch, not a message to another CPU. */
static void stay_on_this_cpu(void)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((unsigned)sched_getcpu(), &set);
    (void)sched_setaffinity(0, sizeof set, &set);
}

void start(const char *output, char **argv)
{
    stay_on_this_cpu();
    program = fork();
    if (program == 0) {
        int in = open("/dev/null", O_RDONLY),
            out = open(output, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        if (personality(ADDR_NO_RANDOMIZE) == -1 || in < 0 || out < 0 || dup2(in, 0) < 0 ||
            dup2(out, 1) < 0 || ptrace(PTRACE_TRACEME, 0, 0, 0) != 0)
            _exit(errno);
        execvp(argv[0], argv);
        _exit(errno);
    }
    int status;
    if (program < 0 || waitpid(program, &status, 0) != program)
        fail("fork: %s", strerror(errno));
    if (WIFEXITED(status))
        fail("cannot start %s under ptrace: %s", argv[0], strerror(WEXITSTATUS(status)));
    if (ptrace(PTRACE_SETOPTIONS, program, 0, PTRACE_O_EXITKILL) != 0)
        fail("PTRACE_SETOPTIONS: %s", strerror(errno));
    char name[32];
    snprintf(name, sizeof name, "/proc/%d/mem", (int)program);
    memory = open(name, O_RDWR | O_CLOEXEC);
    is_writable = memory >= 0;
    if (!is_writable && errno == EROFS)
        memory = open(name, O_RDONLY | O_CLOEXEC);
    if (memory < 0)
        fail("%s: %s", name, strerror(errno));
    read_registers();
}
