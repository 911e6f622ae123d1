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
 * before its stop, a copy writes into a ring which block it is of, and the registers that the
 * stop's addresses are made of. Copies jump to each other. Where a jump's target is a value, its
 * copy ends in a chain of the targets that it had before, each compared with the value, without
 * flags. What copies cannot do is done at its own place, from stop to stop: up to a HLT, which is
 * privileged and so faults on its own address, or by single steps where only the jump itself tells
 * its target. Both cost a thousand times as much.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "accesses.h"
#include "dialogue.h"
#include "tracee.h"

enum { CODE_BYTES = 512, MAX_ACCESSES = 4 };
enum { FALL, JUMP, CONDITIONAL, RETURN, STEP, JUMP_TO_VALUE, CALL_OF_VALUE };

struct block { /* as told by native.py */
    uint64_t start, stop, target;
    uint32_t instructions;
    uint8_t stop_bytes, flow, condition, accesses;
    struct access access[MAX_ACCESSES];
    /* Properties of its copy: bytes, and offsets of places with a HLT. */
    uint32_t copy_bytes;
    uint32_t taken, behind;         /* five bytes, where a jump to another copy fits; or NOWHERE */
    uint32_t out;                   /* in place of a stop that is not copied; or NOWHERE */
    uint32_t elsewhere;             /* where a jump's value was no target before; or NOWHERE */
    uint8_t scratch;                /* the register that holds the ring's pointer */
    uint8_t registers, recorded[8]; /* that it writes, in this order */
    uint8_t reserved[2];
    /* Not part of the dialogue. */
    uint64_t copy; /* its address */
    uint8_t first; /* its first byte */
};
#define NOWHERE UINT32_MAX

/* ---- Memory for copies: words, the ring, a page without access, the copies ------------------- */

enum {
    RING_POINTER = 8, /* words, as in translate.py */
    TARGET = 16,      /* the value that a jump goes to */
    SAVED_RCX = 24,
    SAVED_RDX = 32,
    RING = PAGE,
    RING_BYTES = 1 << 20,
    COPIES = RING + RING_BYTES + PAGE,
    CACHE_BYTES = 24 << 20
};
enum { RECORD_BYTES = 9 * 8, ANSWER_BYTES = 1 << 17 /* 512 copies of 256 bytes */ };
static uint64_t cache; /* 0: there is none */
static uint64_t room;  /* for the next copy */
static uint64_t ring_read;

static void set_ring(uint64_t position)
{
    ring_read = position;
    write_code(cache + RING_POINTER, &position, sizeof position);
}

/* Without memory that may be written and executed, all is done without copies. */
static void make_cache(uint64_t address)
{
    enum { MMAP = 9, MPROTECT = 10, ALL = 7, PRIVATE_ANONYMOUS_FIXED = 0x100022 };
    if (address == 0 ||
        call_kernel(MMAP, address, CACHE_BYTES, ALL, PRIVATE_ANONYMOUS_FIXED) != address)
        return;
    if (call_kernel(MPROTECT, address + RING + RING_BYTES, PAGE, 0, 0) != 0)
        return;
    cache = address;
    room = address + COPIES;
    set_ring(cache + RING);
}

static uint64_t ring_position(void)
{
    uint64_t position;
    if (pread(memory, &position, 8, (off_t)(cache + RING_POINTER)) != 8 || position < ring_read ||
        position > cache + RING + RING_BYTES)
        fail("the program has destroyed the trace");
    return position;
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

enum { TABLE = 1 << 20 }; /* a power of two */
static struct block *table[TABLE];
static struct block *blocks[TABLE / 2]; /* in the order of their copies */
static unsigned n_blocks;

static size_t code_from(uint64_t pc, uint8_t *code)
{
    size_t n = 0;
    for (const uint8_t *page; n < CODE_BYTES && (page = page_at(pc + n)) != NULL;) {
        size_t offset = (pc + n) % PAGE, here = PAGE - offset;
        if (here > CODE_BYTES - n)
            here = CODE_BYTES - n;
        memcpy(code + n, page + offset, here);
        n += here;
    }
    if (n == 0)
        fail("no code at %#lx", (unsigned long)pc);
    return n;
}

static size_t slot_of(uint64_t pc)
{
    size_t slot = (size_t)(pc * 0x9e3779b97f4a7c15u >> 44) % TABLE;
    while (table[slot] != NULL && table[slot]->start != pc)
        slot = (slot + 1) % TABLE;
    return slot;
}

/* ---- Jumps between copies -------------------------------------------------------------------- */

/* A jump waits for the copy of its target. */
struct gate {
    uint64_t at, to;
    struct gate *next;
};
enum { GATES = 1 << 16, JUMP_BYTES = 5 };
static struct gate *waiting[GATES];

static struct gate **gates_to(uint64_t pc)
{
    return &waiting[(pc * 0x9e3779b97f4a7c15u >> 48) % GATES];
}

static void make_jump(uint8_t *code, uint64_t at, uint64_t to)
{
    int32_t distance = (int32_t)(to - (at + JUMP_BYTES));
    code[0] = 0xe9;
    memcpy(code + 1, &distance, sizeof distance);
}

static void write_jump(uint64_t at, uint64_t to)
{
    uint8_t code[JUMP_BYTES];
    make_jump(code, at, to);
    write_code(at, code, sizeof code);
}

/* The jump at an offset of the copy of *b, which is in `code` and not yet written. */
static void link_to(const struct block *b, uint8_t *code, uint32_t offset, uint64_t to)
{
    const struct block *target = table[slot_of(to)];
    if (offset == NOWHERE)
        return;
    if (target != NULL && target->copy_bytes != 0) {
        make_jump(code + offset, b->copy + offset, target->copy);
        return;
    }
    struct gate *gate = malloc(sizeof *gate);
    if (gate == NULL)
        fail("out of memory");
    *gate = (struct gate){b->copy + offset, to, *gates_to(to)};
    *gates_to(to) = gate;
}

static void link_waiting(const struct block *b)
{
    for (struct gate **gate = gates_to(b->start), *one; (one = *gate) != NULL;) {
        if (one->to != b->start) {
            gate = &one->next;
            continue;
        }
        write_jump(one->at, b->copy);
        *gate = one->next;
        free(one);
    }
}

/* While a region is followed, the copy of what comes behind it begins with a HLT. */
static uint64_t end_of_region;
static const struct block *guarded;

static void guard_end(void)
{
    static const uint8_t hlt = 0xf4;
    const struct block *b = table[slot_of(end_of_region)];
    if (guarded != NULL || b == NULL || b->copy_bytes == 0)
        return;
    write_code(b->copy, &hlt, 1);
    guarded = b;
}

static void lift_guard(void)
{
    if (guarded != NULL)
        write_code(guarded->copy, &guarded->first, 1);
    guarded = NULL;
}

/* ---- Asking for blocks ----------------------------------------------------------------------- */

static struct block *new_block(void)
{
    struct block *b = calloc(1, sizeof *b);
    if (b == NULL || n_blocks == TABLE / 2)
        fail("too many blocks");
    return b;
}

static void hear_block(void)
{
    static uint8_t copy[ANSWER_BYTES];
    struct block *b = new_block();
    hear(b, offsetof(struct block, copy));
    b->copy = room;
    blocks[n_blocks++] = b;
    table[slot_of(b->start)] = b;
    if (b->copy_bytes == 0)
        return;
    if (b->copy_bytes > sizeof copy)
        fail("a block's copy is too long");
    hear(copy, b->copy_bytes);
    b->first = copy[0];
    link_to(b, copy, b->taken, b->target);
    link_to(b, copy, b->behind, b->stop + b->stop_bytes);
    write_code(room, copy, b->copy_bytes);
    room += b->copy_bytes;
    link_waiting(b);
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
    guard_end();
}

static const struct block *block_at(uint64_t pc)
{
    if (table[slot_of(pc)] == NULL)
        ask_for_block(pc);
    return table[slot_of(pc)];
}

/* The block whose copy has that address. */
static const struct block *copy_with(uint64_t address)
{
    unsigned low = 0, high = n_blocks; /* blocks[low] begins before, blocks[high] behind */
    while (high - low > 1) {
        unsigned middle = low + (high - low) / 2;
        if (blocks[middle]->copy <= address)
            low = middle;
        else
            high = middle;
    }
    return blocks[low];
}

/* ---- Following ------------------------------------------------------------------------------- */

/* A condition of a jump by its number in the opcode: SDM volume 1 appendix B. */
static bool holds(unsigned condition)
{
    bool c = cpu.eflags & 1, p = cpu.eflags & 4, z = cpu.eflags & 0x40;
    bool s = cpu.eflags & 0x80, o = cpu.eflags & 0x800;
    bool even[8] = {o, c, z, c || z, s, p, s != o, z || s != o};
    return even[condition >> 1] != (condition & 1);
}

/* Returns the address at which execution goes on after the stop, which is pending. */
static uint64_t next_pc(const struct block *b)
{
    uint64_t behind = b->stop + b->stop_bytes, target;
    switch (b->flow) {
    case JUMP: return b->target;
    case CONDITIONAL: return holds(b->condition) ? b->target : behind;
    case RETURN:
        if (pread(memory, &target, 8, (off_t)cpu.rsp) != 8)
            fail("cannot read the program's stack");
        cpu.rsp += 8;
        be_at(target);
        return target;
    case STEP:
    case JUMP_TO_VALUE:
    case CALL_OF_VALUE: step(); return cpu.rip;
    default: return behind;
    }
}

static void record_block(const struct block *b)
{
    record((struct event){b->start, b->stop, 0, b->instructions, BLOCK_MODE});
}

/* Reads the records that copies have written. */
static void read_ring(void)
{
    static uint64_t ring[RING_BYTES / 8];
    uint64_t end = ring_position();
    size_t bytes = end - ring_read;
    if (bytes != 0 && pread(memory, ring, bytes, (off_t)ring_read) != (ssize_t)bytes)
        fail("cannot read the ring: %s", strerror(errno));
    struct user_regs_struct now = cpu;
    for (const uint64_t *at = ring; at < ring + bytes / 8;) {
        if (*at >= n_blocks)
            fail("the program has destroyed the trace");
        const struct block *b = blocks[*at++];
        for (unsigned i = 0; i < b->registers; i++)
            memcpy((char *)&cpu + 8u * b->recorded[i], at++, 8);
        record_block(b);
        record_accesses(b->stop, b->access, b->accesses, 0);
    }
    cpu = now;
    ring_read = end;
}

static bool ring_is_full(void)
{
    return ring_position() + RECORD_BYTES > cache + RING + RING_BYTES;
}

static bool copy_has_stopped(uint64_t unused)
{
    (void)unused;
    if (cpu.rip < cache + COPIES || cpu.rip >= room)
        return false;
    const struct block *b = copy_with(cpu.rip);
    uint64_t offset = cpu.rip - b->copy;
    return offset == b->taken || offset == b->behind || offset == b->out ||
           offset == b->elsewhere || (offset == 0 && b == guarded) || ring_is_full();
}

/* Does a jump to a value that is compared with no target yet; returns the value. */
static uint64_t go_elsewhere(const struct block *b)
{
    uint64_t words[2], behind = b->stop + b->stop_bytes; /* TARGET, SAVED_RCX */
    if (pread(memory, words, sizeof words, (off_t)(cache + TARGET)) != sizeof words)
        fail("the program has destroyed the trace");
    cpu.rcx = words[1];
    if (b->flow == RETURN)
        cpu.rsp += 8;
    if (b->flow == CALL_OF_VALUE) {
        cpu.rsp -= 8;
        write_code(cpu.rsp, &behind, sizeof behind);
    }
    be_at(words[0]);
    return words[0];
}

/* A place behind compared targets, and the block whose jump goes on from there. */
struct stub {
    uint64_t at; /* 0: none */
    const struct block *from;
};

/* Both return where the code ends then. */
static size_t add(uint8_t *code, size_t n, const void *bytes, size_t n_bytes)
{
    memcpy(code + n, bytes, n_bytes);
    return n + n_bytes;
}

/* An instruction with a word of the cache, by its distance; `opcode`: the prefix first. */
static size_t add_word(uint8_t *code, size_t n, unsigned opcode, unsigned operands, uint64_t word)
{
    uint8_t head[3] = {(uint8_t)opcode, (uint8_t)(opcode >> 8), (uint8_t)operands};
    uint64_t distance = cache + word - (room + n + 7);
    return add(code, add(code, n, head, 3), &distance, 4);
}

/* Lengthens a chain of compared targets by one, which has a copy. The code is room's. */
static void compare_target(struct stub stub, uint64_t target, uint64_t copy)
{
    uint8_t code[96];
    uint64_t minus = -target, behind = stub.from->stop + stub.from->stop_bytes;
    size_t n = 0;
    if (room + sizeof code > cache + CACHE_BYTES)
        return;
    n = add_word(code, n, 0x8948, 0x15, SAVED_RDX); /* mov %rdx, SAVED_RDX */
    n = add(code, n, (const uint8_t[]){0x48, 0xba}, 2);
    n = add(code, n, &minus, 8);                                    /* mov $-target, %rdx */
    n = add(code, n, (const uint8_t[]){0x48, 0x8d, 0x0c, 0x11}, 4); /* lea (%rcx, %rdx), %rcx */
    n = add_word(code, n, 0x8b48, 0x15, SAVED_RDX);                 /* mov SAVED_RDX, %rdx */
    n = add(code, n, (const uint8_t[]){0xe3, 7 + JUMP_BYTES}, 2);   /* jrcxz over the next two */
    n = add_word(code, n, 0x8b48, 0x0d, TARGET);                    /* mov TARGET, %rcx */
    uint32_t elsewhere = (uint32_t)n;
    n = add(code, n, (const uint8_t[JUMP_BYTES]){0xf4}, JUMP_BYTES); /* hlt, and room for a jump */
    n = add_word(code, n, 0x8b48, 0x0d, SAVED_RCX);                  /* mov SAVED_RCX, %rcx */
    if (stub.from->flow == RETURN)
        n = add(code, n, (const uint8_t[]){0x48, 0x8d, 0x64, 0x24, 8}, 5); /* lea 8(%rsp), %rsp */
    if (stub.from->flow == CALL_OF_VALUE) { /* lea -8(%rsp), %rsp; two movl to there */
        n = add(code, n, (const uint8_t[]){0x48, 0x8d, 0x64, 0x24, 0xf8, 0xc7, 0x04, 0x24}, 8);
        n = add(code, n, &behind, 4);
        n = add(code, n, (const uint8_t[]){0xc7, 0x44, 0x24, 4}, 4);
        n = add(code, n, (const uint8_t *)&behind + 4, 4);
    }
    make_jump(code + n, room + n, copy);
    n += JUMP_BYTES;

    struct block *b = new_block(); /* whose copy is this piece of code */
    *b = *stub.from;
    b->copy = room;
    b->copy_bytes = (uint32_t)n;
    b->elsewhere = elsewhere;
    blocks[n_blocks++] = b;
    write_code(room, code, n);
    write_jump(stub.at, room);
    room += n;
}

static uint64_t limit;

static void refuse_endless(void)
{
    if (totals.instructions > limit)
        fail("a region has more than %lu instructions", (unsigned long)limit);
}

/*
 * Runs copies, from that of *b, where the program is. True: up to a place that no copy jumps to
 * yet, *pc; behind *stub, it may be compared. False: up to the stop of *b, which is not copied.
 */
static bool run_copies(const struct block **b, uint64_t *pc, struct stub *stub)
{
    be_at((*b)->copy);
    for (;;) {
        run_until(copy_has_stopped, 0);
        read_ring();
        const struct block *last = *b = copy_with(cpu.rip);
        uint64_t offset = cpu.rip - last->copy;
        if (offset == last->out && last != guarded) { /* where out is 0, the guard stands */
            be_at(last->stop);
            return false;
        }
        if (offset == last->elsewhere) {
            *stub = (struct stub){cpu.rip, last};
            *pc = go_elsewhere(last);
            return true;
        }
        if (offset == last->taken || offset == last->behind || last == guarded) {
            *pc = offset == last->taken    ? last->target
                  : offset == last->behind ? last->stop + last->stop_bytes
                                           : last->start;
            be_at(*pc);
            return true;
        }
        refuse_endless();
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
        record_accesses(b->stop, b->access, b->accesses, cpu.rcx);
        return next_pc(b);
    }
    run_to(b->stop + b->stop_bytes);
    struct user_regs_struct after = cpu;
    cpu = before;
    record_accesses(b->stop, b->access, b->accesses, before.rcx - after.rcx);
    cpu = after;
    return cpu.rip;
}

/* From `begin`, where the program is, to `end`; or, if that is 0, to the return from `begin`. */
static void follow(uint64_t end)
{
    uint64_t stack = end == 0 ? cpu.rsp : 0, pc = cpu.rip;
    if (end == 0 && pread(memory, &end, 8, (off_t)cpu.rsp) != 8)
        fail("cannot read the program's stack");
    struct stub stub = {0};
    end_of_region = end;
    guard_end();
    do {
        const struct block *b = block_at(pc);
        if (b->copy_bytes != 0 && pc != end) {
            run_to(pc);
            if (stub.at != 0)
                compare_target(stub, pc, b->copy);
            stub.at = 0;
            if (!run_copies(&b, &pc, &stub))
                pc = do_stop(b);
        } else {
            stub.at = 0;
            run_to(b->stop);
            pc = do_stop(b);
        }
        refuse_endless();
        if (pc == end)
            run_to(end);
    } while (pc != end || cpu.rsp <= stack);
    lift_guard();
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    static char maps[MAPS_BYTES];
    uint64_t place[3]; /* begin, end, and where copies may be */
    limit = strtoull(argv[2], NULL, 10);
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
        follow(place[1]);
        flush_events();
        say(REGION_END, &totals, sizeof totals);
    }
}
