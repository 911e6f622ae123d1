/* SPDX-License-Identifier: MIT */
/*
 * Runs a program under ptrace (x86-64 Linux) and follows it, region by region.
 *
 *   stepper OUTPUT LIMIT PROGRAM ARGUMENT...
 *
 * OUTPUT takes the program's standard output. Standard input and output of the stepper are its
 * dialogue with native.py, which decodes instructions: the stepper asks once for every block.
 *
 * A block is a run of instructions of which only the last one, its stop, touches memory or may go
 * elsewhere than to the next. What lies between is known from the code.
 *
 * Most blocks run as copies of themselves, made by translate.py and put into memory of the program:
 * before its stop, a copy writes into a ring which block it is of, and the registers that the stop's
 * addresses are made of. Copies jump to each other. What they cannot do is done at its own place, from
 * stop to stop: up to a HLT, which is privileged and so faults on its own address, or by single steps
 * where only the jump itself tells its target. Both cost a thousand times as much.
 */
#define _GNU_SOURCE
#include <cpuid.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "events.h"

/* ---- The dialogue: messages are a type, a length and as many bytes; native.py has the same --- */

enum { STARTED = 'S', REGION = 'G', BLOCK = 'B', END = 'X', FAILED = 'F' }; /* and of events.h */
enum { CODE_BYTES = 512, MAX_ACCESSES = 4, MAPS_BYTES = 1 << 16 };
enum flow { FALL, JUMP, CONDITIONAL, RETURN, STEP };
enum { NO_REGISTER = 255 };               /* in place of a word of struct user_regs_struct */
enum repeat { ONCE, COUNTED, SEARCHING }; /* string instructions: rcx says how often, or bounds it */
enum { NO_MASK = 0, OPMASK = 255 };       /* else: bytes of the elements whose sign bits are the mask */

struct access {
    int64_t displacement;
    uint16_t size; /* bytes of one element */
    uint8_t mode;  /* READ_MODE, WRITE_MODE, both */
    uint8_t base, base_bits, index, index_bits, scale, segment;
    uint8_t repeat;
    uint8_t lane_bytes, lanes; /* of a vector of indices: `index` is its number */
    uint8_t mask, mask_register;
    uint8_t reserved[2];
};

struct block {
    uint64_t start, stop, target;
    uint32_t instructions;
    uint8_t stop_bytes, flow, condition, accesses;
    struct access access[MAX_ACCESSES];
    /* Of its copy: bytes, and offsets of places with a HLT. */
    uint32_t copy_bytes;
    uint32_t taken, behind; /* five bytes, where a jump to another copy fits; or NOWHERE */
    uint32_t out;           /* in place of a stop that is not copied; or NOWHERE */
    uint8_t scratch;        /* the register that holds the ring's pointer */
    uint8_t registers, recorded[8]; /* that it writes, in this order */
    uint8_t reserved[6];
    uint64_t copy; /* its address; 0: none. Not part of the dialogue */
};
#define NOWHERE UINT32_MAX

static void transfer(int fd, void *data, size_t length, bool out)
{
    for (char *at = data; length != 0;) {
        ssize_t n = out ? write(fd, at, length) : read(fd, at, length);
        if (n <= 0) {
            if (n < 0 && errno == EINTR) continue;
            exit(3); /* native.py is gone */
        }
        at += n;
        length -= (size_t)n;
    }
}

static void say(char type, const void *data, size_t length)
{
    uint32_t header[2] = {(uint32_t)type, (uint32_t)length};
    transfer(STDOUT_FILENO, header, sizeof header, true);
    transfer(STDOUT_FILENO, (void *)(uintptr_t)data, length, true);
}

static void hear(void *data, size_t length) { transfer(STDIN_FILENO, data, length, false); }

__attribute__((format(printf, 1, 2), noreturn)) static void fail(const char *format, ...)
{
    char text[512];
    va_list words;
    va_start(words, format);
    int n = vsnprintf(text, sizeof text, format, words);
    va_end(words);
    say(FAILED, text, n < 0 ? 0 : (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
    exit(1);
}

/* ---- The program ----------------------------------------------------------------------------- */

static pid_t program;
static int memory = -1;               /* /proc/PID/mem */
static struct user_regs_struct cpu;   /* as it was when the program last stopped */
static bool changed;                  /* cpu is newer than the program's registers */
static bool pending;                  /* the stop at cpu.rip is recorded and not yet executed */

static void read_registers(void)
{
    if (ptrace(PTRACE_GETREGS, program, 0, &cpu) != 0) fail("PTRACE_GETREGS: %s", strerror(errno));
}

static void end_of_program(int status)
{
    int32_t code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    say(END, &code, sizeof code);
    exit(0);
}

/* Go on until the program stops with `wanted`, and has `arrived`. Other signals are its own. */
static void resume(enum __ptrace_request how, int wanted, bool (*arrived)(uint64_t), uint64_t where)
{
    long deliver = 0;
    for (;;) {
        int status;
        if (changed && ptrace(PTRACE_SETREGS, program, 0, &cpu) != 0) fail("PTRACE_SETREGS: %s", strerror(errno));
        changed = false;
        if (ptrace(how, program, 0, deliver) != 0) fail("ptrace: %s", strerror(errno));
        if (waitpid(program, &status, 0) != program) fail("waitpid: %s", strerror(errno));
        if (!WIFSTOPPED(status)) end_of_program(status);
        read_registers();
        deliver = WSTOPSIG(status);
        if (deliver == wanted && arrived(where)) return;
        if (how == PTRACE_SINGLESTEP) /* its handler would be stepped into */
            fail("signal %ld while the jump at %#lx was followed", deliver, (unsigned long)cpu.rip);
        if (deliver == SIGTRAP) deliver = 0; /* of an exec */
    }
}

static bool anywhere(uint64_t where)
{
    (void)where;
    return true;
}

static bool exactly(uint64_t where) { return cpu.rip == where; }

/* ---- Its code, and the one HLT in it ----------------------------------------------------------- */

enum { PAGE = 4096, PAGES = 1 << 14, HLT = 0xf4 };
static struct {
    uint64_t number; /* of the page, with 1 added; 0: a free place */
    uint8_t *code;   /* as it is without our HLT */
} pages[PAGES];
static uint64_t hlt_at; /* 0: nowhere */

/* The page with that address; NULL: nothing is there. */
static const uint8_t *page_at(uint64_t address)
{
    uint64_t number = address / PAGE + 1;
    size_t slot = (size_t)(number * 0x9e3779b97f4a7c15u >> 40) % PAGES;
    for (size_t tries = 0; pages[slot].number != 0; tries++, slot = (slot + 1) % PAGES) {
        if (pages[slot].number == number) return pages[slot].code;
        if (tries == PAGES / 2) fail("too much code");
    }
    uint8_t *code = malloc(PAGE);
    if (code == NULL) fail("out of memory");
    if (pread(memory, code, PAGE, (off_t)(address & -(uint64_t)PAGE)) != PAGE) {
        free(code);
        return NULL;
    }
    pages[slot].number = number;
    pages[slot].code = code;
    return code;
}

static void write_code(uint64_t address, const void *code, size_t n)
{
    if (pwrite(memory, code, n, (off_t)address) != (ssize_t)n)
        fail("cannot write the program's code at %#lx: %s", (unsigned long)address, strerror(errno));
}

static void lift_hlt(void)
{
    if (hlt_at != 0) write_code(hlt_at, page_at(hlt_at) + hlt_at % PAGE, 1);
    hlt_at = 0;
}

/* Most often both places are near each other, and one write does it. */
static void move_hlt(uint64_t to)
{
    enum { NEAR = 256 };
    const uint8_t *page = page_at(to);
    uint8_t code[NEAR];
    if (page == NULL) fail("no code at %#lx", (unsigned long)to);
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

static void step(void)
{
    lift_hlt();
    resume(PTRACE_SINGLESTEP, SIGTRAP, anywhere, 0);
    pending = false;
}

/* Run until `address` is next. */
static void run_to(uint64_t address)
{
    if (pending && cpu.rip == address) step();
    if (!pending && cpu.rip == address) return;
    move_hlt(address);
    resume(PTRACE_CONT, SIGSEGV, exactly, address);
    pending = false;
}

static size_t read_maps(char *text)
{
    char name[32];
    snprintf(name, sizeof name, "/proc/%d/maps", (int)program);
    int fd = open(name, O_RDONLY);
    size_t length = 0;
    for (ssize_t n; fd >= 0 && (n = read(fd, text + length, MAPS_BYTES - length)) > 0;)
        length += (size_t)n;
    if (fd >= 0) close(fd);
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

static void start(const char *output, char **argv)
{
    stay_on_this_cpu();
    program = fork();
    if (program == 0) {
        int in = open("/dev/null", O_RDONLY), out = open(output, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        if (personality(ADDR_NO_RANDOMIZE) == -1 || in < 0 || out < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 ||
            ptrace(PTRACE_TRACEME, 0, 0, 0) != 0)
            _exit(errno);
        execvp(argv[0], argv);
        _exit(errno);
    }
    int status;
    if (program < 0 || waitpid(program, &status, 0) != program) fail("fork: %s", strerror(errno));
    if (WIFEXITED(status)) fail("cannot start %s under ptrace: %s", argv[0], strerror(WEXITSTATUS(status)));
    if (ptrace(PTRACE_SETOPTIONS, program, 0, PTRACE_O_EXITKILL) != 0)
        fail("PTRACE_SETOPTIONS: %s", strerror(errno));
    char name[32];
    snprintf(name, sizeof name, "/proc/%d/mem", (int)program);
    memory = open(name, O_RDWR | O_CLOEXEC);
    if (memory < 0) fail("%s: %s", name, strerror(errno));
    read_registers();
}

/* ---- Vector registers: the XSAVE area, Intel SDM volume 1 (2023) section 13.4 ------------------ */

enum { X_LEGACY_XMM = 160, X_YMM = 2, X_OPMASK = 5, X_ZMM_HIGH = 6, X_ZMM16 = 7, X_BYTES = 1 << 14 };
static uint8_t xstate[X_BYTES];
static uint32_t component[8]; /* offsets; 0: the CPU has it not */

static void find_components(void)
{
    for (uint32_t i = 2; i < 8; i++) {
        uint32_t size, offset, c, d;
        if (__get_cpuid_count(0xd, i, &size, &offset, &c, &d) && size != 0) component[i] = offset;
    }
}

static void read_vectors(void)
{
    struct iovec area = {xstate, sizeof xstate};
    if (ptrace(PTRACE_GETREGSET, program, 0x202 /* NT_X86_XSTATE */, &area) != 0)
        fail("PTRACE_GETREGSET: %s", strerror(errno));
}

/* `bytes` (4 or 8, or 1) of a vector register, at a byte offset, with their sign. */
static int64_t vector_element(unsigned number, unsigned offset, unsigned bytes)
{
    size_t at = number >= 16   ? component[X_ZMM16] + 64u * (number - 16) + offset
                : offset >= 32 ? component[X_ZMM_HIGH] + 32u * number + offset - 32
                : offset >= 16 ? component[X_YMM] + 16u * number + offset - 16
                               : X_LEGACY_XMM + 16u * number + offset;
    int32_t four;
    int64_t eight;
    if (bytes == 1) return (int8_t)xstate[at];
    memcpy(&four, xstate + at, sizeof four);
    memcpy(&eight, xstate + at, sizeof eight);
    return bytes == 4 ? four : eight;
}

/* The bits of the mask, element 0 first. */
static uint64_t mask_of(const struct access *a)
{
    uint64_t bits = 0;
    if (a->mask == NO_MASK) return UINT64_MAX;
    if (a->mask == OPMASK) {
        memcpy(&bits, xstate + component[X_OPMASK] + 8u * a->mask_register, sizeof bits);
        return bits;
    }
    unsigned width = a->lanes != 0 ? a->lanes * a->mask : a->size;
    for (unsigned i = 0; i < width / a->mask; i++)
        bits |= (uint64_t)(vector_element(a->mask_register, i * a->mask, a->mask) < 0) << i;
    return bits;
}

/* ---- What is recorded -------------------------------------------------------------------------- */

static struct event events[4096];
static unsigned n_events;
static bool keep;
static struct totals totals;

static void flush_events(void)
{
    if (n_events != 0) say(EVENTS, events, n_events * sizeof events[0]);
    n_events = 0;
}

static void record(struct event e)
{
    count_event(&totals, &e);
    if (!keep) return;
    events[n_events++] = e;
    if (n_events == sizeof events / sizeof events[0]) flush_events();
}

static uint64_t word(unsigned number, unsigned bits)
{
    uint64_t value;
    if (number == NO_REGISTER) return 0;
    memcpy(&value, (const char *)&cpu + 8u * number, sizeof value);
    return bits == 64 ? value : value & ((UINT64_C(1) << bits) - 1);
}

static void record_lanes(uint64_t pc, const struct access *a, uint64_t origin, uint64_t mask)
{
    for (unsigned i = 0; i < a->lanes; i++) {
        uint64_t index = (uint64_t)vector_element(a->index, i * a->lane_bytes, a->lane_bytes);
        if (mask >> i & 1)
            record((struct event){pc, origin + index * a->scale, UINT64_MAX, a->size, a->mode});
    }
}

/* The accesses of a stop that is about to be executed; `count`: of a string instruction. */
static void record_accesses(const struct block *b, uint64_t count)
{
    bool vectors = false;
    for (unsigned i = 0; i < b->accesses; i++) {
        const struct access *a = &b->access[i];
        if (!vectors && (a->mask != NO_MASK || a->lanes != 0)) {
            read_vectors();
            vectors = true;
        }
        uint64_t address = word(a->base, a->base_bits) + (uint64_t)a->displacement;
        if (a->lanes != 0) {
            record_lanes(b->stop, a, address + word(a->segment, 64), mask_of(a));
            continue;
        }
        address += word(a->index, a->index_bits) * a->scale;
        if (a->base_bits == 32) address = (uint32_t)address;
        address += word(a->segment, 64);
        if (a->repeat != ONCE && count == 0) continue;
        if (a->repeat != ONCE && (cpu.eflags & 0x400)) address -= (count - 1) * a->size;
        uint32_t size = (uint32_t)(a->repeat == ONCE ? a->size : a->size * count);
        record((struct event){b->stop, address, mask_of(a), size, a->mode});
    }
}

/* ---- Memory for copies: two words, the ring, a page without access, the copies ------------------ */

enum { WORDS = 0, RING = PAGE, RING_BYTES = 1 << 20, COPIES = RING + RING_BYTES + PAGE, CACHE_BYTES = 24 << 20 };
enum { RECORD_BYTES = 9 * 8, ANSWER_BYTES = 1 << 17 /* 512 copies of 256 bytes */ };
static uint64_t cache; /* 0: there is none */
static uint64_t room;  /* for the next copy */
static uint64_t ring_read;

static uint64_t call_kernel(uint64_t number, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    static const uint8_t syscall_hlt[3] = {0x0f, 0x05, HLT};
    struct user_regs_struct before = cpu;
    uint8_t code[3];
    if (pread(memory, code, 3, (off_t)cpu.rip) != 3) fail("the program has no code");
    write_code(cpu.rip, syscall_hlt, 3);
    cpu.rax = number, cpu.rdi = a, cpu.rsi = b, cpu.rdx = c, cpu.r10 = d, cpu.r8 = UINT64_MAX, cpu.r9 = 0;
    cpu.orig_rax = UINT64_MAX; /* no system call is to be repeated */
    changed = true;
    resume(PTRACE_CONT, SIGSEGV, exactly, before.rip + 2);
    uint64_t result = cpu.rax;
    write_code(before.rip, code, 3);
    cpu = before;
    changed = true;
    return result;
}

static void set_ring(uint64_t position)
{
    ring_read = position;
    write_code(cache + WORDS + 8, &position, sizeof position);
}

/* Without memory that may be written and executed, all is done without copies. */
static void make_cache(uint64_t address)
{
    enum { MMAP = 9, MPROTECT = 10, ALL = 7, PRIVATE_ANONYMOUS_FIXED = 0x100022 };
    if (address == 0 || call_kernel(MMAP, address, CACHE_BYTES, ALL, PRIVATE_ANONYMOUS_FIXED) != address) return;
    if (call_kernel(MPROTECT, address + RING + RING_BYTES, PAGE, 0, 0) != 0) return;
    cache = address;
    room = address + COPIES;
    set_ring(cache + RING);
}

static uint64_t ring_position(void)
{
    uint64_t position;
    if (pread(memory, &position, 8, (off_t)(cache + WORDS + 8)) != 8 || position < ring_read ||
        position > cache + RING + RING_BYTES)
        fail("the program has destroyed the trace");
    return position;
}

/* ---- Blocks ------------------------------------------------------------------------------------ */

enum { TABLE = 1 << 20 }; /* a power of two */
static struct block *table[TABLE];
static struct block *blocks[TABLE / 2]; /* in the order of their copies */
static unsigned n_blocks;

static size_t code_from(uint64_t pc, uint8_t *code)
{
    size_t n = 0;
    for (const uint8_t *page; n < CODE_BYTES && (page = page_at(pc + n)) != NULL;) {
        size_t offset = (pc + n) % PAGE, here = PAGE - offset;
        if (here > CODE_BYTES - n) here = CODE_BYTES - n;
        memcpy(code + n, page + offset, here);
        n += here;
    }
    if (n == 0) fail("no code at %#lx", (unsigned long)pc);
    return n;
}

static size_t slot_of(uint64_t pc)
{
    size_t slot = (size_t)(pc * 0x9e3779b97f4a7c15u >> 44) % TABLE;
    while (table[slot] != NULL && table[slot]->start != pc)
        slot = (slot + 1) % TABLE;
    return slot;
}

static void hear_block(void)
{
    static uint8_t copy[ANSWER_BYTES];
    struct block *b = calloc(1, sizeof *b);
    if (b == NULL || n_blocks == TABLE / 2) fail("too many blocks");
    hear(b, offsetof(struct block, copy));
    b->copy = room;
    if (b->copy_bytes != 0) {
        if (b->copy_bytes > sizeof copy) fail("a block's copy is too long");
        hear(copy, b->copy_bytes);
        write_code(room, copy, b->copy_bytes);
        room += b->copy_bytes;
    }
    blocks[n_blocks++] = b;
    table[slot_of(b->start)] = b;
}

/* The answer holds blocks that follow in the same code, too. */
static void ask_for_block(uint64_t pc)
{
    bool fits = cache != 0 && room + ANSWER_BYTES <= cache + CACHE_BYTES;
    struct {
        uint64_t pc, cache, room, number;
        uint8_t code[CODE_BYTES];
    } question = {.pc = pc, .cache = cache, .room = fits ? room : 0, .number = n_blocks};
    uint32_t n;
    say(BLOCK, &question, offsetof(__typeof__(question), code) + code_from(pc, question.code));
    hear(&n, sizeof n);
    while (n-- != 0)
        hear_block();
}

static const struct block *block_at(uint64_t pc)
{
    if (table[slot_of(pc)] == NULL) ask_for_block(pc);
    return table[slot_of(pc)];
}

/* The block whose copy has that address. */
static const struct block *copy_with(uint64_t address)
{
    unsigned low = 0, high = n_blocks; /* blocks[low] begins before, blocks[high] behind */
    while (high - low > 1) {
        unsigned middle = low + (high - low) / 2;
        if (blocks[middle]->copy <= address) low = middle;
        else high = middle;
    }
    return blocks[low];
}

/* ---- Following --------------------------------------------------------------------------------- */

/* A condition of a jump by its number in the opcode: SDM volume 1 appendix B. */
static bool holds(unsigned condition)
{
    bool c = cpu.eflags & 1, p = cpu.eflags & 4, z = cpu.eflags & 0x40;
    bool s = cpu.eflags & 0x80, o = cpu.eflags & 0x800;
    bool even[8] = {o, c, z, c || z, s, p, s != o, z || s != o};
    return even[condition >> 1] != (condition & 1);
}

/* The program is at `pc`, and what led there is done. */
static void be_at(uint64_t pc)
{
    changed = changed || cpu.rip != pc;
    cpu.rip = pc;
    pending = false;
}

/* Where execution goes after the stop, which is pending. */
static uint64_t next_pc(const struct block *b)
{
    uint64_t behind = b->stop + b->stop_bytes, target;
    switch (b->flow) {
    case JUMP: return b->target;
    case CONDITIONAL: return holds(b->condition) ? b->target : behind;
    case RETURN:
        if (pread(memory, &target, 8, (off_t)cpu.rsp) != 8) fail("cannot read the program's stack");
        cpu.rsp += 8;
        be_at(target);
        return target;
    case STEP: step(); return cpu.rip;
    default: return behind;
    }
}

static void record_block(const struct block *b)
{
    record((struct event){b->start, b->stop, 0, b->instructions, BLOCK_MODE});
}

/* What copies have written. */
static void read_ring(void)
{
    static uint64_t ring[RING_BYTES / 8];
    uint64_t end = ring_position();
    size_t bytes = end - ring_read;
    if (bytes != 0 && pread(memory, ring, bytes, (off_t)ring_read) != (ssize_t)bytes)
        fail("cannot read the ring: %s", strerror(errno));
    struct user_regs_struct now = cpu;
    for (const uint64_t *at = ring; at < ring + bytes / 8;) {
        if (*at >= n_blocks) fail("the program has destroyed the trace");
        const struct block *b = blocks[*at++];
        for (unsigned i = 0; i < b->registers; i++)
            memcpy((char *)&cpu + 8u * b->recorded[i], at++, 8);
        record_block(b);
        record_accesses(b, 0);
    }
    cpu = now;
    ring_read = end;
}

static bool ring_is_full(void) { return ring_position() + RECORD_BYTES > cache + RING + RING_BYTES; }

static bool copy_has_stopped(uint64_t unused)
{
    (void)unused;
    if (cpu.rip < cache + COPIES || cpu.rip >= room) return false;
    const struct block *b = copy_with(cpu.rip);
    uint64_t offset = cpu.rip - b->copy;
    return offset == b->taken || offset == b->behind || offset == b->out || ring_is_full();
}

/* Runs copies, from that of *b, where the program is. True: up to the next place without a copy,
 * told in *pc, from which the copy may be left at *exit without us. False: up to the stop of *b. */
static bool run_copies(const struct block **b, uint64_t *pc, uint64_t *exit)
{
    be_at((*b)->copy);
    for (;;) {
        resume(PTRACE_CONT, SIGSEGV, copy_has_stopped, 0);
        read_ring();
        const struct block *last = *b = copy_with(cpu.rip);
        uint64_t offset = cpu.rip - last->copy;
        if (offset == last->out) {
            be_at(last->stop);
            return false;
        }
        if (offset == last->taken || offset == last->behind) {
            *exit = cpu.rip;
            *pc = offset == last->taken ? last->target : last->stop + last->stop_bytes;
            be_at(*pc);
            return true;
        }
        set_ring(cache + RING);
        memcpy((char *)&cpu + 8u * last->scratch, &ring_read, 8);
        changed = true;
    }
}

/* The stop, where the program is, done at its own place. */
static uint64_t do_stop(const struct block *b)
{
    bool searches = b->accesses != 0 && b->access[0].repeat == SEARCHING;
    struct user_regs_struct before = cpu;
    record_block(b);
    pending = true;
    if (!searches) {
        record_accesses(b, cpu.rcx);
        return next_pc(b);
    }
    run_to(b->stop + b->stop_bytes);
    struct user_regs_struct after = cpu;
    cpu = before;
    record_accesses(b, before.rcx - after.rcx);
    cpu = after;
    return cpu.rip;
}

static void link_copies(uint64_t exit, uint64_t to)
{
    uint8_t jump[5] = {0xe9};
    int32_t distance = (int32_t)(to - (exit + sizeof jump));
    memcpy(jump + 1, &distance, sizeof distance);
    write_code(exit, jump, sizeof jump);
}

/* From `begin`, where the program stands, to `end`; or, if that is 0, to the return from `begin`. */
static void follow(uint64_t end, uint64_t limit)
{
    uint64_t stack = end == 0 ? cpu.rsp : 0, pc = cpu.rip, exit = 0;
    if (end == 0 && pread(memory, &end, 8, (off_t)cpu.rsp) != 8) fail("cannot read the program's stack");
    do {
        const struct block *b = block_at(pc);
        if (b->copy_bytes != 0) {
            run_to(pc);
            if (exit != 0 && pc != end) link_copies(exit, b->copy);
            exit = 0;
            if (!run_copies(&b, &pc, &exit)) pc = do_stop(b);
        } else {
            run_to(b->stop);
            pc = do_stop(b);
            exit = 0;
        }
        if (totals.instructions > limit) fail("a region has more than %lu instructions", (unsigned long)limit);
        if (pc == end) run_to(end);
    } while (pc != end || cpu.rsp <= stack);
}

int main(int argc, char **argv)
{
    if (argc < 4) return 2;
    static char maps[MAPS_BYTES];
    uint64_t place[3]; /* begin, end, and where copies may be */
    uint64_t limit = strtoull(argv[2], NULL, 10);
    find_components();
    start(argv[1], argv + 3);
    say(STARTED, maps, read_maps(maps));
    hear(place, sizeof place);
    make_cache(place[2]);
    for (bool first = true;; first = false) {
        pending = !first; /* the end of the region before may be the begin of this one */
        run_to(place[0]);
        say(REGION, maps, first ? read_maps(maps) : 0);
        uint8_t answer;
        hear(&answer, sizeof answer);
        keep = answer != 0;
        totals = (struct totals){0};
        follow(place[1], limit);
        flush_events();
        say(REGION_END, &totals, sizeof totals);
    }
}
