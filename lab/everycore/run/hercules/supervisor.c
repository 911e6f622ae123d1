// SPDX-License-Identifier: MIT
/*
 * The part of Linux on IBM Z that a program of one thread needs: memory, output, signals, time, and
 * files that were laid into memory beforehand. What is not served returns ENOSYS, and the error
 * stream tells its number.
 *
 * All memory is mapped to itself. A page that the program gives up or protects from all access is
 * invalid, so that a use of it is a fault; so are the pages of this file and below.
 *
 * Source: for numbers and structures Linux include/uapi/asm-generic and arch/s390/include/uapi/asm;
 * for tables and codes z/Architecture Principles of Operation, SA22-7832-12, chapters 3 and 6.
 */
#include "supervisor.h"

enum { PAGE = 4096, MAX_FILES = 16, SIGNALS = 65, OWN_MIB = 16 };
enum { ILL = 4, ABRT = 6, FPE = 8, SEGV = 11 };
enum { ENOENT = 2, EBADF = 9, ENOMEM = 12, EINVAL = 22, ENOTTY = 25, ENOSYS = 38 };
enum { PROT_NONE = 0, MAP_FIXED = 0x10, MAP_ANONYMOUS = 0x20 };
enum { PAGE_IS_INVALID = 0x400, TABLE_OF_2048 = 3 };
enum { EXIT_AT = 0x1000, KILLED_AT = 0x2000, FULL_AT = 0x3000, ASKS_AT = 0x4000 }; // of the end
enum { BEGIN_TO_COUNT = 5000, END_TO_COUNT }; // calls that Linux has not

// ---- What guest_image.py writes

struct buffer {
    uint64_t at, n_bytes; // in the memory: the number of bytes that are in use, then these
};

struct file {
    uint64_t name, at, n_bytes;
};

static volatile struct {
    uint64_t entry, stack, heap, mappings, mappings_end, memory_end;
    struct buffer out, err;
    uint64_t is_z14;        // z14.c serves the program
    uint64_t seed_of_parts; // 0: instructions do all of a text
    uint64_t has_input, n_files;
    struct file files[MAX_FILES]; // the first one is the standard input
} *const boot = (void *)0x1000;

// ---- Entries

static volatile const uint16_t *const svc_code = (void *)0x8a, *const fault_code = (void *)0x8e;
static volatile const uint16_t *const fault_bytes = (void *)0x8c; // of the instruction
static volatile const uint64_t *const event_at = (void *)0x98;

void supervisor_start(void);
void supervisor_call(void);
void supervisor_fault(void);
_Noreturn void supervisor_halt(uint64_t at);
void supervisor_translate(uint64_t asce);

void *memset(void *to, int byte, size_t n)
{
    for (uint8_t *p = to; n--; p++)
        *p = (uint8_t)byte;
    return to;
}

void *memcpy(void *to, const void *from, size_t n)
{
    typedef uint64_t __attribute__((may_alias, aligned(1))) word;
    size_t i = 0;

    for (; n - i >= 8; i += 8)
        *(word *)((uint8_t *)to + i) = *(const word *)((const uint8_t *)from + i);
    for (; i < n; i++)
        ((uint8_t *)to)[i] = ((const uint8_t *)from)[i];
    return to;
}

// ---- Output

static void print(volatile struct buffer *to, const void *from, uint64_t n)
{
    uint64_t *const used = (uint64_t *)to->at;

    if (n > to->n_bytes - 8 - *used)
        supervisor_halt(FULL_AT);
    memcpy((uint8_t *)(used + 1) + *used, from, n);
    *used += n;
}

void print_text(const char *text)
{
    size_t n = 0;

    while (text[n])
        n++;
    print(&boot->err, text, n);
}

static void print_number(uint64_t number, unsigned base)
{
    char digits[20];
    size_t at = sizeof digits;

    do
        digits[--at] = "0123456789abcdef"[number % base];
    while (number /= base);
    print(&boot->err, digits + at, sizeof digits - at);
}

// ---- Memory

static uint64_t segments[2048] __attribute__((aligned(4096)));
static uint64_t heap_end, mapped_to;

static uint64_t *page_entry(uint64_t address)
{
    uint64_t *const pages = (uint64_t *)(segments[address >> 20] & ~(uint64_t)2047);

    return pages + (address >> 12 & 255);
}

static void map_all(uint64_t tables)
{
    for (uint64_t i = 0; i < 2048; i++) {
        segments[i] = 0x20; // invalid
        if (i << 20 < boot->memory_end) {
            segments[i] = tables + 2048 * i;
            for (uint64_t page = 0; page < 256; page++)
                ((uint64_t *)segments[i])[page] =
                    i << 20 | page << 12 | (i < OWN_MIB ? PAGE_IS_INVALID : 0);
        }
    }
    supervisor_translate((uint64_t)segments | TABLE_OF_2048);
}

int is_accessible(uint64_t address, uint64_t n_bytes)
{
    if (!n_bytes)
        return 1;
    if (address > boot->memory_end || n_bytes > boot->memory_end - address)
        return 0;
    for (uint64_t at = address & -(uint64_t)PAGE; at < address + n_bytes; at += PAGE)
        if (*page_entry(at) & PAGE_IS_INVALID)
            return 0;
    return 1;
}

static int64_t protect(uint64_t address, uint64_t n_bytes, int is_valid)
{
    if (address % PAGE || address > boot->memory_end || n_bytes > boot->memory_end - address)
        return -EINVAL;
    for (uint64_t at = address; at < address + n_bytes; at += PAGE)
        *page_entry(at) = at | (is_valid ? 0 : PAGE_IS_INVALID);
    supervisor_translate((uint64_t)segments | TABLE_OF_2048);
    return 0;
}

static uint64_t rounded(uint64_t n_bytes)
{
    return (n_bytes + PAGE - 1) & ~(uint64_t)(PAGE - 1);
}

static int64_t change_heap(uint64_t end)
{
    if (end >= boot->heap && end <= boot->mappings) {
        if (end > heap_end)
            memset((void *)heap_end, 0, end - heap_end);
        heap_end = end;
    }
    return (int64_t)heap_end;
}

/* a: address, length, protection, flags, file, offset */
static int64_t map(const uint64_t a[6])
{
    const uint64_t n_bytes = rounded(a[1]);
    uint64_t at = a[0];

    if (!n_bytes || !(a[3] & MAP_ANONYMOUS))
        return n_bytes ? -ENOSYS : -EINVAL;
    if (!(a[3] & MAP_FIXED)) {
        if (n_bytes > boot->mappings_end - mapped_to)
            return -ENOMEM;
        at = mapped_to;
        mapped_to += n_bytes;
    }
    if (protect(at, n_bytes, a[2] != PROT_NONE) != 0)
        return -EINVAL;
    memset((void *)at, 0, n_bytes);
    return (int64_t)at;
}

// ---- Files

static struct {
    int is_open;
    uint64_t file, at;
} open_files[MAX_FILES]; // by their numbers; 1 and 2 are streams

static int same(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    return *a == *b;
}

static int64_t open_file(const char *name)
{
    for (uint64_t file = 1; file < boot->n_files; file++)
        for (int64_t i = 3; same(name, (const char *)boot->files[file].name) && i < MAX_FILES; i++)
            if (!open_files[i].is_open) {
                open_files[i].is_open = 1;
                open_files[i].file = file;
                open_files[i].at = 0;
                return i;
            }
    return -ENOENT;
}

static int is_file(uint64_t number)
{
    return number == 0 || (number > 2 && number < MAX_FILES && open_files[number].is_open);
}

static int64_t read_file(uint64_t number, void *to, uint64_t n)
{
    uint64_t left;

    if (!is_file(number))
        return -EBADF;
    if (number == 0 && !boot->has_input)
        supervisor_halt(ASKS_AT);
    left = boot->files[open_files[number].file].n_bytes - open_files[number].at;
    n = n < left ? n : left;
    memcpy(to, (void *)(boot->files[open_files[number].file].at + open_files[number].at), n);
    open_files[number].at += n;
    return (int64_t)n;
}

static int64_t write_stream(uint64_t number, const void *from, uint64_t n)
{
    if (number != 1 && number != 2)
        return -EBADF;
    print(number == 1 ? &boot->out : &boot->err, from, n);
    return (int64_t)n;
}

static int64_t write_pieces(uint64_t number, const uint64_t (*pieces)[2], uint64_t n_pieces)
{
    int64_t all = 0, n;

    for (uint64_t i = 0; i < n_pieces; i++) {
        n = write_stream(number, (const void *)pieces[i][0], pieces[i][1]);
        if (n < 0)
            return n;
        all += n;
    }
    return all;
}

/* struct stat: 144 bytes, st_mode at 24, st_size at 48 */
static int64_t describe(uint64_t number, uint8_t *stat)
{
    if (number > 2 && !is_file(number))
        return -EBADF;
    memset(stat, 0, 144);
    *(uint32_t *)(stat + 24) = number > 2 ? 0100444 : 0020620;
    if (number > 2)
        *(uint64_t *)(stat + 48) = boot->files[open_files[number].file].n_bytes;
    return 0;
}

// ---- Signals

static struct action {
    uint64_t handler, flags, restorer, mask;
} actions[SIGNALS];

static int64_t set_action(uint64_t number, const struct action *to, struct action *old)
{
    if (number >= SIGNALS)
        return -EINVAL;
    if (old)
        *old = actions[number];
    if (to)
        actions[number] = *to;
    return 0;
}

/* A handler may look at its number and leave by a jump. It has no way back: see `sigreturn`. */
static void raise(unsigned number)
{
    if (actions[number].handler > 1) {
        frame->r[2] = number;
        frame->r[3] = frame->r[4] = 0;
        frame->r[14] = actions[number].restorer;
        frame->r[15] = (frame->r[15] - 4 * PAGE) & ~(uint64_t)7;
        frame->psw_at = actions[number].handler;
        return;
    }
    print_text("killed by signal ");
    print_number(number, 10);
    print_text(" at 0x");
    print_number(frame->psw_at, 16);
    print_text("\n");
    supervisor_halt(KILLED_AT + number);
}

// ---- Instructions that encrypt and hash

/* The instructions that compilers make of src/common/s390x.h, as guest_image.py knows them. */
static const uint32_t ciphers[] = {0xb92e0024, 0xb92f0024, 0xb91e0004, 0xb93e0004, 0xb92d6024};

static int is_cipher(uint32_t instruction)
{
    for (size_t i = 0; i < sizeof ciphers / sizeof *ciphers; i++)
        if (ciphers[i] == instruction)
            return 1;
    return 0;
}

/* The bytes of a block: of SHA-256 64 and of SHA-512 128, which are functions of KIMD. */
static uint64_t block_bytes(uint32_t instruction, uint64_t function)
{
    const int is_kimd = instruction >> 16 == 0xb93e;

    return is_kimd && function == 2 ? 64 : is_kimd && function == 3 ? 128 : 16;
}

/* The first bytes of a text, with and in the registers of the program. */
static void do_part(const uint32_t *instruction, uint64_t n_bytes)
{
    register uint64_t r0 __asm__("0") = frame->r[0];
    register uint64_t r1 __asm__("1") = frame->r[1];
    register uint64_t r2 __asm__("2") = frame->r[2];
    register uint64_t r4 __asm__("4") = frame->r[4];
    register uint64_t r5 __asm__("5") = n_bytes;
    register uint64_t r6 __asm__("6") = frame->r[6];

    __asm__ volatile("0: ex %%r0, 0(%6)\n brc 1, 0b"
                     : "+d"(r2), "+d"(r4), "+d"(r5), "+d"(r6)
                     : "d"(r0), "d"(r1), "a"(instruction)
                     : "cc", "memory");
    frame->r[2] = r2;
    frame->r[4] = r4;
    frame->r[6] = r6;
    frame->r[5] -= n_bytes - r5;
}

/* A CPU may end such an instruction whenever it likes, with condition code 3, even before the first
 * byte. So guest_image.py makes each an invalid one (0xb8 instead of 0xb9), and here as many blocks
 * are done as a generator says. Nonzero if it was one. Access is not checked against the tables. */
static int do_in_parts(void)
{
    static uint64_t state;
    uint32_t instruction = *(const uint32_t *)(frame->psw_at - 4) | 0x01000000;
    const uint64_t in_block = block_bytes(instruction, frame->r[0] & 0x7f);
    uint64_t n_blocks = frame->r[5] / in_block, part = frame->r[5];

    if (!boot->seed_of_parts || !is_cipher(instruction))
        return 0;
    if ((frame->r[0] & 0x7f) != 0) { // no query
        state = (state ? state : boot->seed_of_parts) * 6364136223846793005 + 1442695040888963407;
        part = in_block * ((state >> 33) % (n_blocks + 1));
    }
    do_part(&instruction, part);
    frame->psw_mask &= ~(UINT64_C(3) << 44);
    if ((frame->r[0] & 0x7f) != 0 && frame->r[5])
        frame->psw_mask |= UINT64_C(3) << 44;
    return 1;
}

/* Whether an instruction that the CPU does not know has been dealt with. */
static int is_modelled(void)
{
    if (!boot->is_z14 || *fault_bytes != 4)
        return 0;
    switch (execute_z14(*(const uint32_t *)(frame->psw_at - 4), boot->seed_of_parts)) {
    case DONE: return 1;
    case NO_ACCESS: raise(SEGV); return 1;
    case NO_MODEL:
    case BAD_OPERAND: break;
    }
    return 0;
}

// ---- Counting of instructions, by an interruption behind each: program-event recording

static struct {
    uint64_t all, ciphers;
} counted;

static void begin_to_count(void)
{
    static const uint64_t all_fetches[3] = {0x40000000, 0, UINT64_MAX}; // control registers 9 to 11

    __asm__ volatile("lctlg 9, 11, %0" : : "Q"(all_fetches));
    counted.all = counted.ciphers = 0;
    frame->psw_mask |= UINT64_C(1) << 62;
}

static void end_to_count(uint64_t to[2])
{
    frame->psw_mask &= ~(UINT64_C(1) << 62);
    to[0] = counted.all;
    to[1] = counted.ciphers;
}

static void count_one(void)
{
    counted.all++;
    counted.ciphers += (uint64_t)is_cipher(*(const uint32_t *)*event_at);
}

void supervisor_fault(void)
{
    if (*fault_code & 0x80)
        count_one();
    if (*fault_code == 0x80 || ((*fault_code & 0x7f) == 0x01 && do_in_parts()))
        return;
    switch (*fault_code & 0x7f) {
    case 0x01: // operation
        if (is_modelled())
            return;
        raise(ILL);
        return;
    case 0x02: // privileged operation
    case 0x03: // execute
    case 0x06: // specification
        raise(ILL);
        return;
    case 0x04: // protection
    case 0x05: // addressing
    case 0x10: // segment translation
    case 0x11: // page translation
    case 0x38: // address beyond the table of segments
    case 0x39: // of regions
    case 0x3a:
    case 0x3b:
        raise(SEGV);
        return;
    default: raise(FPE);
    }
}

// ---- Time

/* The clock has 4096 units a microsecond. */
static uint64_t now_ns(void)
{
    uint64_t clock;

    __asm__ volatile("stck %0" : "=Q"(clock) : : "cc");
    return (clock >> 9) * 125;
}

static int64_t tell_time(uint64_t to[2])
{
    to[0] = now_ns() / 1000000000;
    to[1] = now_ns() % 1000000000;
    return 0;
}

/* Not for keys: numbers of a generator that starts from the clock. */
static int64_t random(uint8_t *to, uint64_t n)
{
    static uint64_t state;

    state += now_ns();
    for (uint64_t i = 0; i < n; i++) {
        state = state * 6364136223846793005 + 1442695040888963407;
        to[i] = (uint8_t)(state >> 56);
    }
    return (int64_t)n;
}

// ---- Calls

static int64_t name_system(char *to)
{
    static const char *const words[] = {"Linux", "hercules", "6.1.0", "1", "s390x", ""};

    memset(to, 0, 6 * 65);
    for (size_t i = 0; i < 6; i++)
        for (size_t j = 0; words[i][j]; j++)
            to[65 * i + j] = words[i][j];
    return 0;
}

static int64_t tell_limit(uint64_t to[2])
{
    if (to) {
        to[0] = 8 << 20;
        to[1] = UINT64_MAX;
    }
    return 0;
}

static int64_t serve(uint64_t number, uint64_t *a)
{
    switch (number) {
    case 1:   // exit
    case 248: // exit_group
        supervisor_halt(EXIT_AT + (a[0] & 255));
    case 3: return read_file(a[0], (void *)a[1], a[2]);
    case 4: return write_stream(a[0], (const void *)a[1], a[2]);
    case 5: return open_file((const char *)a[0]);
    case 6: // close
        if (is_file(a[0]))
            open_files[a[0]].is_open = 0;
        return 0;
    case 45: return change_heap(a[0]);
    case 90: return map((const uint64_t *)a[0]);
    case 91: return protect(a[0], rounded(a[1]), 0); // munmap
    case 108: return describe(a[0], (uint8_t *)a[1]);
    case 122: return name_system((char *)a[0]);
    case 125: return protect(a[0], rounded(a[1]), a[2] != PROT_NONE); // mprotect
    case 146: return write_pieces(a[0], (const uint64_t(*)[2])a[1], a[2]);
    case 174: return set_action(a[0], (const struct action *)a[1], (struct action *)a[2]);
    case 288: return open_file((const char *)a[1]); // openat
    case 260: return tell_time((uint64_t *)a[1]);
    case 261: // clock_getres
        if (a[1])
            ((uint64_t *)a[1])[0] = 0, ((uint64_t *)a[1])[1] = 1;
        return 0;
    case 334: return tell_limit((uint64_t *)a[3]); // prlimit64
    case 349: return random((uint8_t *)a[0], a[1]);
    case 20:  // getpid
    case 236: // gettid
    case 252: // set_tid_address
        return 1;
    case 54: return -ENOTTY;                      // ioctl
    case 85:                                      // readlink
    case 298: return -ENOENT;                     // readlinkat
    case 175:                                     // rt_sigprocmask
    case 219:                                     // madvise
    case 304: return 0;                           // set_robust_list
    case 239:                                     // sched_setaffinity
    case 240:                                     // sched_getaffinity
    case 293:                                     // newfstatat
    case 383: return number == 293 ? -ENOENT : -ENOSYS; // rseq
    default:
        print_text("system call ");
        print_number(number, 10);
        print_text(" is not served\n");
        return -ENOSYS;
    }
}

void supervisor_call(void)
{
    const uint64_t number = *svc_code ? *svc_code : frame->r[1];

    if (number == 37 || number == 241) { // kill, tgkill
        raise((unsigned)frame->r[number == 37 ? 3 : 4] % SIGNALS);
        return;
    }
    if (number == BEGIN_TO_COUNT)
        begin_to_count();
    else if (number == END_TO_COUNT)
        end_to_count((uint64_t *)frame->r[2]);
    else
        frame->r[2] = (uint64_t)serve(number, frame->r + 2);
}

void supervisor_start(void)
{
    heap_end = boot->heap;
    mapped_to = boot->mappings;
    map_all(boot->memory_end - ((boot->memory_end >> 20) * 2048));
    memset(frame, 0, sizeof *frame);
    frame->r[15] = boot->stack;
    frame->psw_mask = UINT64_C(0x0401000180000000); // translation, problem state, 64 bits
    frame->psw_at = boot->entry;
}
