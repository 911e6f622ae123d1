/* SPDX-License-Identifier: MIT */
/*
 * The port to UEFI: an application that reads commands from \everycore\commands.txt of the volume
 * that it was started from, or from its own command line, and writes the harness's lines into
 * \everycore\result.jsonl. The console tells in a few words how far it is.
 * docs/reference/harness.md has the lines that are added. Elsewhere this file is an empty unit.
 *
 * The harness runs with interrupts off; they are on while firmware is called. Each command begins
 * with the variables of a program that was just loaded.
 */
#if !defined(HARNESS_UEFI)
typedef int firmware_is_elsewhere;
#else
#include "uefi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../bare/bare.h"
#include "../../commands.h"
#include "../../emit.h"
#include "../../options.h"
#include "../port.h"
#include "cpu.h"

#define FOLDER "everycore"
#define COMMANDS_FILE FOLDER "\\commands.txt"
#define INPUT_FILE FOLDER "\\input.txt"
#define HERE __attribute__((visibility("hidden")))

enum {
    COLUMNS = 79,
    MOST_COMMANDS = 64,
    MOST_WORDS = 64,
    COMMANDS_BYTES = 8192,
    MOST_RESULTS = 99
};
enum {
    RESULT_BYTES = 1 << 16,
    STACK_BYTES = 1 << 20,
    ERROR_BYTES = 1024,
    MOST_PIECES = 256,
    MOST_HIDDEN = 512
};
enum { WRITE_EVERY_NS = 2000000000 };

int main(int argc, char **argv);

/* ---- Firmware, which is called with interrupts and vectors as it had them -------------------- */

static KEPT struct efi_system_table *table;
static KEPT uint64_t interrupts;

static void enter_firmware(void)
{
    if (cpu_after_fault)
        cpu_leave_faults();
    cpu_interrupts(interrupts);
}

static void leave_firmware(void)
{
    cpu_without_interrupts();
    if (cpu_after_fault)
        cpu_catch_faults();
}

#define FIRMWARE(call) (enter_firmware(), status = (call), leave_firmware(), status)

static void show(const char *text)
{
    efi_status status;
    efi_char wide[128];
    size_t n = 0;

    for (;; text++) {
        if (n > 124 || (!*text && n)) {
            wide[n] = 0;
            FIRMWARE(table->output->output_string(table->output, wide));
            n = 0;
        }
        if (!*text)
            return;
        if (*text == '\n')
            wide[n++] = '\r';
        wide[n++] = (efi_char)(uint8_t)*text;
    }
}

static void show_line(const char *text)
{
    show(text);
    show("\n");
}

/* Status codes that people meet, and what to do; with "everycore: " before
 * it, a line of a console. */
static const char *remedy(efi_status status)
{
    switch (status) {
    case EFI_WRITE_PROTECTED:
    case EFI_ACCESS_DENIED:
        return "the medium is write-protected: unprotect it, or take another one";
    case EFI_VOLUME_FULL:
    case EFI_OUT_OF_RESOURCES:
        return "the volume is full: remove files from it, or take a larger one";
    case EFI_NO_MEDIA:
    case EFI_MEDIA_CHANGED:
        return "the medium was removed: start again, and leave it in";
    case EFI_VOLUME_CORRUPTED:
        return "the file system is damaged: write the image again";
    case EFI_UNSUPPORTED:
        return "this firmware cannot write to the file system of the medium";
    default:
        return "firmware reported a device error: try another medium or port";
    }
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static void *new_pages(size_t n_pages)
{
    efi_status status;
    uint64_t address = 0;

    if (FIRMWARE(table->boot->allocate_pages(EFI_ALLOCATE_ANY_PAGES, EFI_BOOT_SERVICES_DATA,
                                             n_pages, &address)))
        return NULL;
    return (void *)(uintptr_t)address;
}

static size_t pages_of(size_t n_bytes)
{
    return (n_bytes + EFI_PAGE_BYTES - 1) / EFI_PAGE_BYTES;
}

/* Pieces of memory of the present command, which end with it. */
static KEPT struct piece {
    void *start;
    size_t n_pages;
} pieces[MOST_PIECES];

static void *keep_piece(void *start, size_t n_pages)
{
    for (size_t i = 0; start && i < MOST_PIECES; i++)
        if (!pieces[i].start) {
            pieces[i] = (struct piece){start, n_pages};
            return start;
        }
    return NULL;
}

static void end_piece(struct piece *piece)
{
    efi_status status;

    FIRMWARE(table->boot->free_pages((uintptr_t)piece->start, piece->n_pages));
    piece->start = NULL;
}

void *aligned_alloc(size_t alignment, size_t n_bytes)
{
    const size_t n_pages = pages_of(n_bytes ? n_bytes : 1);

    return alignment <= EFI_PAGE_BYTES ? keep_piece(new_pages(n_pages), n_pages) : NULL;
}

void *malloc(size_t n_bytes)
{
    return aligned_alloc(64, n_bytes);
}

void free(void *start)
{
    for (size_t i = 0; start && i < MOST_PIECES; i++)
        if (pieces[i].start == start)
            end_piece(&pieces[i]);
}

/* ---- Pages without access -------------------------------------------------------------------- */

static KEPT struct efi_memory_attribute *attributes;
static KEPT const char *no_guards; /* why there are none */
static KEPT uintptr_t hidden[MOST_HIDDEN];
static KEPT size_t n_hidden;
static KEPT void *spare_tables[8];
static KEPT size_t n_spare;

/* Page tables are allocated before the tables are changed: firmware may change
 * them as it allocates. */
static void fill_spare_tables(void)
{
    while (n_spare < sizeof spare_tables / sizeof spare_tables[0]) {
        void *page = new_pages(1);
        if (!page)
            return;
        spare_tables[n_spare++] = page;
    }
}

static void *spare_table(void)
{
    return n_spare ? spare_tables[--n_spare] : NULL;
}

static const char *set_access(uintptr_t page, bool hide)
{
    efi_status status;

    if (!attributes)
        return cpu_hide_page(page, hide, spare_table);
    FIRMWARE(hide ? attributes->set(attributes, page, EFI_PAGE_BYTES, EFI_MEMORY_RP)
                  : attributes->clear(attributes, page, EFI_PAGE_BYTES, EFI_MEMORY_RP));
    return status ? "firmware's protocol for memory attributes refuses it" : NULL;
}

static void touch(void *page)
{
    *(volatile uint8_t *)page;
}

static const char *hide(uint8_t *page)
{
    if (n_hidden == MOST_HIDDEN)
        return "more pages than this port keeps account of";
    fill_spare_tables();
    const char *why = set_access((uintptr_t)page, true);
    if (why)
        return why;
    hidden[n_hidden++] = (uintptr_t)page;
    return port_survives(touch, page) ? "a page without access could still be read" : NULL;
}

struct guarded port_guarded(size_t at_least_bytes)
{
    struct guarded g = {NULL, 0};
    const size_t n_pages = pages_of(at_least_bytes);
    uint8_t *all = no_guards ? NULL : aligned_alloc(EFI_PAGE_BYTES, (n_pages + 2) * EFI_PAGE_BYTES);

    if (!all)
        return g;
    no_guards = hide(all);
    if (!no_guards)
        no_guards = hide(all + (n_pages + 1) * EFI_PAGE_BYTES);
    if (no_guards)
        return g;
    g.start = all + EFI_PAGE_BYTES;
    g.len_bytes = n_pages * EFI_PAGE_BYTES;
    return g;
}

static void give_pages_back(void)
{
    while (n_hidden)
        set_access(hidden[--n_hidden], false);
    for (size_t i = 0; i < MOST_PIECES; i++)
        if (pieces[i].start)
            end_piece(&pieces[i]);
}

/* ---- The rest of port.h ---------------------------------------------------------------------- */

static KEPT uint64_t ticks_per_second, first_tick;

/* The CPU's own word, or the ticks of two stalls of different length. */
static void learn_ticks(void)
{
    efi_status status;

    first_tick = cpu_ticks();
    ticks_per_second = cpu_ticks_per_second();
    if (ticks_per_second)
        return;
    uint64_t took[2];
    for (size_t i = 0; i < 2; i++) {
        const uint64_t start = cpu_ticks();
        FIRMWARE(table->boot->stall(i ? 60000 : 10000));
        took[i] = cpu_ticks() - start;
    }
    ticks_per_second = took[1] > took[0] ? (took[1] - took[0]) * 20 : 1000000000;
}

uint64_t port_now_ns(void)
{
    const uint64_t ticks = cpu_ticks() - first_tick, seconds = ticks / ticks_per_second;

    return seconds * 1000000000 + (ticks % ticks_per_second) * 1000000000 / ticks_per_second;
}

uint64_t port_preemptions(void)
{
    return 0;
}

bool port_pin(int cpu)
{
    return cpu < 0;
}

bool port_survives(void (*f)(void *), void *arg)
{
    struct bare_place place, *outer = cpu_after_fault;
    volatile bool survived = false;

    if (!outer)
        cpu_catch_faults();
    if (bare_mark(&place) == 0) {
        cpu_after_fault = &place;
        f(arg);
        survived = true;
    }
    cpu_after_fault = outer;
    if (!outer)
        cpu_leave_faults();
    cpu_without_interrupts();
    return survived;
}

bool port_on_stack(void (*f)(void *), void *arg, uint8_t *stack, size_t len_bytes)
{
    bare_on_stack(f, arg, stack + len_bytes);
    return true;
}

/* ---- Files ----------------------------------------------------------------------------------- */

static KEPT struct efi_file *root, *result_file, *input_file;

static struct efi_file *open_file(const char *name, uint64_t mode, uint64_t kind, efi_status *said)
{
    efi_status status = EFI_UNSUPPORTED;
    struct efi_file *file = NULL;
    efi_char wide[128];
    size_t n = 0;

    for (; name[n] && n < 127; n++)
        wide[n] = (efi_char)(name[n] == '/' ? '\\' : name[n]);
    wide[n] = 0;
    if (root)
        FIRMWARE(root->open(root, &file, wide, mode, kind));
    *said = status;
    return status ? NULL : file;
}

static void close_file(struct efi_file *file)
{
    efi_status status;

    FIRMWARE(file->close(file));
}

enum { INPUT_NUMBER = 0, CONSOLE_NUMBER = 2, FIRST_FREE_NUMBER = 3 };

static KEPT struct efi_file *read_file; /* of bare_open */

long bare_open(const char *name)
{
    efi_status status;

    if (read_file)
        return -1;
    read_file = open_file(name, EFI_FILE_READ, 0, &status);
    return read_file ? FIRST_FREE_NUMBER : -1;
}

void bare_close(long number)
{
    (void)number;
    if (read_file)
        close_file(read_file);
    read_file = NULL;
}

long bare_read(long number, void *to, size_t n)
{
    efi_status status;
    struct efi_file *file = read_file;

    if (number == INPUT_NUMBER) {
        if (!input_file)
            input_file = open_file(INPUT_FILE, EFI_FILE_READ, 0, &status);
        file = input_file;
    }
    if (!file || FIRMWARE(file->read(file, &n, to)))
        return -1;
    return (long)n;
}

/* ---- Results: lines, written in pieces ------------------------------------------------------- */

static KEPT char result[RESULT_BYTES], error_text[ERROR_BYTES];
static KEPT size_t result_bytes, error_bytes;
static KEPT uint64_t written_at_ns;
static KEPT bool is_writing; /* else results go to the console */

static KEPT struct progress {
    char line[512]; /* the beginning of the line of results that is being written */
    size_t n;
    uint64_t passed, failed, skipped, points, errors;
    char shown[COLUMNS + 1];
} progress;

static void write_results(void)
{
    efi_status status = EFI_SUCCESS;
    const size_t n = result_bytes;
    size_t done = n;

    if (!is_writing || !n)
        return;
    if (FIRMWARE(result_file->write(result_file, &done, result)))
        done = 0;
    else if (done < n)
        status = EFI_VOLUME_FULL;
    else
        FIRMWARE(result_file->flush(result_file));
    result_bytes = 0;
    written_at_ns = port_now_ns();
    if (!status)
        return;
    is_writing = false;
    show("\neverycore: cannot write results:\neverycore: ");
    show_line(remedy(status));
    show_line("everycore: the result file is cut short; the other lines follow here");
    for (size_t i = done; i < n; i++) {
        const char text[2] = {result[i], 0};
        show(text);
    }
}

/* The value of a member of a line, as far as it is a plain word. */
static const char *word_of(const char *member, char *to, size_t size)
{
    const char *at = strstr(progress.line, member);
    size_t n = 0;

    for (at = at ? at + strlen(member) : ""; *at && *at != '"' && *at != ',' && n + 1 < size; at++)
        to[n++] = *at;
    to[n] = 0;
    return to;
}

/* One line of the console that is written over, up to its last column but one. */
static void show_progress(const char *text)
{
    if (strcmp(text, progress.shown) == 0)
        return;
    show("\r");
    show(text);
    for (size_t n = strlen(text); n < strlen(progress.shown); n++)
        show(" ");
    snprintf(progress.shown, sizeof progress.shown, "%s", text);
}

static void end_progress(void)
{
    show_progress("");
    show("\r");
}

static void look_at_line(void)
{
    char text[COLUMNS + 1], primitive[24], kernel[40], what[48];
    const bool check = strstr(progress.line, "{\"type\":\"check\"") == progress.line;

    word_of("\"primitive\":\"", primitive, sizeof primitive);
    word_of("\"kernel\":\"", kernel, sizeof kernel);
    if (check || strstr(progress.line, "{\"type\":\"vector\"") == progress.line) {
        word_of("\"result\":\"", what, sizeof what);
        progress.passed += strcmp(what, "pass") == 0;
        progress.skipped += strcmp(what, "skip") == 0;
        if (strcmp(what, "fail") == 0) {
            progress.failed++;
            end_progress();
            word_of(check ? "\"property\":\"" : "\"id\":\"", what, sizeof what);
            snprintf(text, sizeof text, "FAILED: %s %s %s", primitive, kernel, what);
            show_line(text);
        }
        snprintf(text, sizeof text, "  %s %s", primitive, kernel);
        show_progress(text);
    } else if (strstr(progress.line, "{\"type\":\"bench\"") == progress.line) {
        progress.points++;
        word_of("\"mode\":\"", what, sizeof what);
        snprintf(text, sizeof text, "  %s %s %s", primitive, kernel, what);
        show_progress(text);
    } else if (strstr(progress.line, "{\"type\":\"error\"") == progress.line) {
        progress.errors++;
        end_progress();
        word_of("\"detail\":\"", what, sizeof what);
        snprintf(text, sizeof text, "ERROR: %s %s %s", primitive, kernel, what);
        show_line(text);
    }
}

static void put_result(char c)
{
    if (!is_writing) {
        const char text[2] = {c, 0};
        show(text);
    } else {
        result[result_bytes++] = c;
        if (result_bytes == RESULT_BYTES)
            write_results();
    }
    if (c != '\n') {
        if (progress.n + 1 < sizeof progress.line)
            progress.line[progress.n++] = c;
        return;
    }
    progress.line[progress.n] = 0;
    progress.n = 0;
    if (is_writing)
        look_at_line();
}

void bare_write(long number, const void *from, size_t n)
{
    const char *text = from;

    for (size_t i = 0; i < n; i++)
        if (number != CONSOLE_NUMBER)
            put_result(text[i]);
        else if (error_bytes + 1 < ERROR_BYTES)
            error_text[error_bytes++] = text[i];
    if (is_writing && port_now_ns() - written_at_ns > WRITE_EVERY_NS)
        write_results();
}

/* The first name that no file has. */
static efi_status open_result(char *name, size_t size)
{
    efi_status status;
    struct efi_file *folder = open_file(FOLDER, EFI_FILE_READ | EFI_FILE_WRITE | EFI_FILE_CREATE,
                                        0x10 /* a folder */, &status);

    if (!folder)
        return status;
    close_file(folder);
    for (unsigned i = 1; i <= MOST_RESULTS; i++) {
        snprintf(name, size, i > 1 ? FOLDER "\\result%u.jsonl" : FOLDER "\\result.jsonl", i);
        struct efi_file *there = open_file(name, EFI_FILE_READ, 0, &status);
        if (there) {
            close_file(there);
            continue;
        }
        if (status != EFI_NOT_FOUND)
            return status;
        result_file = open_file(name, EFI_FILE_READ | EFI_FILE_WRITE | EFI_FILE_CREATE, 0, &status);
        return status;
    }
    return EFI_VOLUME_FULL;
}

/* ---- Commands -------------------------------------------------------------------------------- */

static KEPT struct plan {
    char text[COMMANDS_BYTES];
    char *commands[MOST_COMMANDS];
    size_t n;
    bool leave_state, shutdown;
} plan;

/* The commands without any from outside: enough to trust and to compare, within a few minutes. */
static const char usual_commands[] = "list\n"
                                     "resolve\n"
                                     "check --quick\n"
                                     "bench --samples 21 --bytes 64,1500,16384\n";

extern char efi_variables[] HERE, efi_data_end[] HERE, efi_variables_end[] HERE,
    efi_image_base[] HERE;
static KEPT char *variables_at_start;

static void keep_variables(void)
{
    const size_t n = (size_t)(efi_data_end - efi_variables);

    variables_at_start = new_pages(pages_of(n));
    if (variables_at_start)
        memcpy(variables_at_start, efi_variables, n);
}

static void begin_anew(void)
{
    memcpy(efi_variables, variables_at_start, (size_t)(efi_data_end - efi_variables));
    memset(efi_data_end, 0, (size_t)(efi_variables_end - efi_data_end));
}

static KEPT struct bare_place command_end;
static KEPT int command_code;

_Noreturn void bare_exit(int code)
{
    /* the function that port_survives called does not return: a fault must not lead into it */
    if (cpu_after_fault) {
        cpu_after_fault = NULL;
        cpu_leave_faults();
    }
    command_code = code;
    bare_return_to(&command_end);
}

struct words_of_command {
    int argc;
    char *argv[MOST_WORDS + 1];
};

static void run_words(void *vwords)
{
    struct words_of_command *words = vwords;

    if (bare_mark(&command_end) == 0)
        exit(main(words->argc, words->argv));
}

static void say_outcome(const char *command, uint64_t ns)
{
    char text[3 * COLUMNS];
    size_t n = (size_t)snprintf(text, sizeof text, "%.40s: ", command);

    if (command_code == 2)
        snprintf(text + n, sizeof text - n, "\n  %.77s", error_text);
    else if (progress.passed || progress.failed || progress.skipped)
        snprintf(text + n, sizeof text - n, "%u passed, %u failed, %u skipped, %u s",
                 (unsigned)progress.passed, (unsigned)progress.failed, (unsigned)progress.skipped,
                 (unsigned)(ns / 1000000000));
    else if (progress.points)
        snprintf(text + n, sizeof text - n, "%u points, %u errors, %u s", (unsigned)progress.points,
                 (unsigned)progress.errors, (unsigned)(ns / 1000000000));
    else
        snprintf(text + n, sizeof text - n, "done");
    show_line(text);
}

static int run_command(const char *command, uint8_t *stack)
{
    static KEPT char line[COMMANDS_BYTES];
    static KEPT struct words_of_command words;
    const uint64_t start_ns = port_now_ns();

    begin_anew();
    memset(&progress, 0, sizeof progress);
    error_bytes = 0;
    emit_begin("efi-command");
    emit_text("words", command);
    emit_end();
    snprintf(line, sizeof line, "%s", command);
    words.argc = 1;
    words.argv[0] = line;
    for (char *word = strtok(line, " \t"); word && words.argc < MOST_WORDS;
         word = strtok(NULL, " \t"))
        words.argv[words.argc++] = word;
    words.argv[words.argc] = NULL;
    begin_anew(); /* strtok has a place of its own */
    bare_on_stack(run_words, &words, stack + STACK_BYTES);
    error_text[error_bytes] = 0;
    begin_anew();
    emit_begin("efi-command-end");
    emit_number("code", command_code);
    emit_text("stderr", error_text);
    emit_unsigned("ms", (port_now_ns() - start_ns) / 1000000);
    emit_text("no_guards", no_guards);
    emit_end();
    give_pages_back();
    bare_close(FIRST_FREE_NUMBER);
    if (input_file)
        close_file(input_file);
    input_file = NULL;
    end_progress();
    say_outcome(command, port_now_ns() - start_ns);
    return command_code;
}

/* Lines of commands; those that begin with -- are of this port, and # begins a comment. */
static void read_plan(void)
{
    char *line = plan.text;

    for (char *next; line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = 0;
        line[strcspn(line, "\r#")] = 0;
        line += strspn(line, " \t");
        for (; strncmp(line, "--", 2) == 0; line += strspn(line, " \t")) {
            const size_t n = strcspn(line, " \t");
            if (n == 13 && strncmp(line, "--leave-state", n) == 0)
                plan.leave_state = true;
            else if (n == 10 && strncmp(line, "--shutdown", n) == 0)
                plan.shutdown = true;
            else
                break;
            line += n;
        }
        if (*line && plan.n < MOST_COMMANDS)
            plan.commands[plan.n++] = line;
    }
}

/* The command line of the application, without its name; of the shell, or of a boot entry. */
static bool take_load_options(const struct efi_loaded_image *image)
{
    size_t n = 0, length = image && image->options ? image->options_bytes / sizeof(efi_char) : 0;

    for (size_t i = 0; i < length && image->options[i] && n + 1 < COMMANDS_BYTES; i++) {
        if (image->options[i] > 0x7e || image->options[i] < 0x20)
            return false; /* a boot entry may hold data of its own */
        plan.text[n++] = (char)image->options[i];
    }
    plan.text[n] = 0;
    char *first = plan.text + strspn(plan.text, " ");
    char *second = first + strcspn(first, " ");
    if (strstr(first, ".efi") || strstr(first, ".EFI"))
        first = second + strspn(second, " ");
    memmove(plan.text, first, strlen(first) + 1);
    return plan.text[0] != 0;
}

static const char *source_of_commands(const struct efi_loaded_image *image)
{
    efi_status status;
    struct efi_file *file;
    size_t n = sizeof plan.text - 1;

    if (take_load_options(image))
        return "its command line";
    file = open_file(COMMANDS_FILE, EFI_FILE_READ, 0, &status);
    if (file && !FIRMWARE(file->read(file, &n, plan.text))) {
        plan.text[n] = 0;
        close_file(file);
        return COMMANDS_FILE;
    }
    memcpy(plan.text, usual_commands, sizeof usual_commands);
    return "the usual commands";
}

/* ---- The application ------------------------------------------------------------------------- */

static void open_volume(const struct efi_loaded_image *image)
{
    static const struct efi_guid file_system_guid = EFI_SIMPLE_FILE_SYSTEM_GUID;
    efi_status status;
    void *found = NULL;

    if (!image ||
        FIRMWARE(table->boot->handle_protocol(image->device, &file_system_guid, &found)) ||
        FIRMWARE(((struct efi_file_system *)found)->open_volume(found, &root)))
        root = NULL;
    if (!root) {
        show_line("everycore: this firmware gives no file system on the medium it started from");
        show_line("everycore: (EFI_SIMPLE_FILE_SYSTEM_PROTOCOL): results follow on this console");
    }
}

static void open_results(void)
{
    char name[32] = FOLDER, text[3 * COLUMNS];
    efi_status status;

    if (!root)
        return;
    status = open_result(name, sizeof name);
    if (!status) {
        is_writing = true;
        snprintf(text, sizeof text, "everycore: results are written to \\%s", name);
        show_line(text);
        return;
    }
    snprintf(text, sizeof text, "everycore: cannot write \\%s:", name);
    show_line(text);
    snprintf(text, sizeof text, "everycore: %s", remedy(status));
    show_line(text);
    show_line("everycore: results follow on this console alone");
}

static void describe(const char *state, const char *source)
{
    char vendor[64];
    size_t n = 0;

    for (; table->firmware_vendor && table->firmware_vendor[n] && n + 1 < sizeof vendor; n++)
        vendor[n] = table->firmware_vendor[n] < 0x7f ? (char)table->firmware_vendor[n] : '?';
    vendor[n] = 0;
    emit_begin("efi");
    emit_unsigned("version", 1);
    emit_text("firmware", vendor);
    emit_unsigned("firmware_revision", table->firmware_revision);
    emit_unsigned("uefi_revision", table->header.revision);
    cpu_describe();
    emit_text("state", state);
    emit_bool("emulated", port_emulated());
    emit_text("guards", attributes ? "memory attribute protocol" : "page tables");
    emit_text("commands", source);
    emit_unsigned("ticks_per_second", ticks_per_second);
    emit_end();
}

static KEPT int outcome; /* the worst code of all commands */

static void run_all(void)
{
    uint8_t *stack = new_pages(STACK_BYTES / EFI_PAGE_BYTES);
    int worst = 0;

    if (!stack || !variables_at_start) {
        show_line("everycore: firmware has no memory left: start without other programs");
        outcome = 2;
        return;
    }
    for (size_t i = 0; i < plan.n; i++) {
        const int code = run_command(plan.commands[i], stack);
        worst = code > worst ? code : worst;
    }
    emit_begin("efi-end");
    emit_unsigned("commands", plan.n);
    emit_number("code", worst);
    emit_end();
    write_results();
    outcome = worst;
}

static void say_end(void)
{
    char text[3 * COLUMNS];

    if (no_guards) {
        snprintf(text, sizeof text, "everycore: no guard pages: %s", no_guards);
        show_line(text);
    }
    snprintf(text, sizeof text, "everycore: finished, %u commands, %s", (unsigned)plan.n,
             outcome == 0   ? "all is well"
             : outcome == 1 ? "a check FAILED"
                            : "a command could not be done");
    show_line(text);
}

static void run(void)
{
    static const struct efi_guid image_guid = EFI_LOADED_IMAGE_GUID,
                                 attribute_guid = EFI_MEMORY_ATTRIBUTE_GUID;
    efi_status status;
    void *found = NULL;
    extern KEPT efi_handle own_handle;
    struct efi_loaded_image *image =
        FIRMWARE(table->boot->handle_protocol(own_handle, &image_guid, &found)) ? NULL : found;

    show_line("\neverycore: the harness, without an operating system");
    FIRMWARE(table->boot->set_watchdog_timer(0, 0, 0, NULL));
    if (!FIRMWARE(table->boot->locate_protocol(&attribute_guid, NULL, &found)))
        attributes = found;
    learn_ticks();
    open_volume(image);
    const char *source = source_of_commands(image);
    read_plan();
    open_results();
    const char *state = cpu_enable_state(plan.leave_state);
    describe(state, source);
    run_all();
    cpu_restore_state();
    if (result_file)
        close_file(result_file);
    say_end();
    if (plan.shutdown) {
        cpu_interrupts(interrupts);
        table->runtime->reset_system(EFI_RESET_SHUTDOWN, EFI_SUCCESS, 0, NULL);
    }
}

KEPT efi_handle own_handle;

/* Relocations by the address of the image alone, as SHT_RELR packs them (System V ABI, generic
 * part, 2022 draft, chapter 4, "Relative Relocation Table"): an even word is an address, an odd one
 * a bitmap of the 63 words behind. */
extern const uint64_t efi_relocations[] HERE, efi_relocations_end[] HERE;

static void relocate(void)
{
    const uint64_t base = (uint64_t)(uintptr_t)efi_image_base;
    volatile uint64_t *at = NULL;

    for (const uint64_t *word = efi_relocations; word < efi_relocations_end; word++) {
        if (!(*word & 1)) {
            at = (volatile uint64_t *)(uintptr_t)(base + *word);
            *at++ += base;
            continue;
        }
        for (unsigned i = 0; i < 63; i++)
            if (*word >> (i + 1) & 1)
                at[i] += base;
        at += 63;
    }
}

efi_status EFIAPI efi_entry(efi_handle handle, struct efi_system_table *system);

efi_status EFIAPI efi_entry(efi_handle handle, struct efi_system_table *system)
{
    relocate();
    table = system;
    own_handle = handle;
    interrupts = cpu_without_interrupts();
    keep_variables();
    run();
    cpu_interrupts(interrupts);
    return outcome ? EFI_DEVICE_ERROR : EFI_SUCCESS;
}

/* ---- Commands that stay with operating systems ----------------------------------------------- */

static int absent(const char *command)
{
    usage_error("no %s in firmware: run it under an operating system", command);
}

int limits_command(int argc, char **argv)
{
    (void)argc, (void)argv;
    return absent("limits");
}

int bursts_command(int argc, char **argv)
{
    (void)argc, (void)argv;
    return absent("bursts");
}

int peers_command(int argc, char **argv)
{
    (void)argc, (void)argv;
    return absent("peers");
}

int ct_command(int argc, char **argv)
{
    (void)argc, (void)argv;
    return absent("ct");
}

int genrsa_command(int argc, char **argv)
{
    (void)argc, (void)argv;
    return absent("genrsa");
}

int dhparam_command(int argc, char **argv)
{
    (void)argc, (void)argv;
    return absent("dhparam");
}
#endif
