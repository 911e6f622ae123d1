# SPDX-License-Identifier: MIT
"""Sources without what their programs do not use."""

from everycore.matrix.used_declarations import (
    with_plain_types,
    without_tables,
    without_unused_declarations,
    without_unused_members,
)

SOURCE = """
# 1 "somewhere.h"
typedef unsigned int u32; typedef unsigned long u64;
struct pair { u32 a, b; } __attribute__((packed));
struct other { u64 a; };
enum { FEW = 3, MANY = 300 };
enum { NEVER };
extern int unused(const char *text, u64 n) __attribute__((nothrow));
extern int printf(const char *, ...);
static const u32 table[FEW] = { 1, 2, 3 }, more[1] = { 4 };
static struct other *others(void) { return 0; }
static u32 first(struct pair *p)
{
    if (p->a) { return table[0]; }
    return '}' + sizeof "unused(";
}
static u32 (*volatile call)(struct pair *) = first;
int main(void)
{
    struct pair p = { 1, 2 };
    printf("%u\\n", call(&p));
}
int after;
"""
NEEDED = """
typedef unsigned int u32;
struct pair { u32 a, b; } __attribute__((packed));
enum { FEW = 3, MANY = 300 };
extern int printf(const char *, ...);
static const u32 table[FEW] = { 1, 2, 3 }, more[1] = { 4 };
static u32 first(struct pair *p)
{
    if (p->a) { return table[0]; }
    return '}' + sizeof "unused(";
}
static u32 (*volatile call)(struct pair *) = first;
int main(void)
{
    struct pair p = { 1, 2 };
    printf("%u\\n", call(&p));
}
"""


def test_only_what_main_needs_is_kept_in_its_order() -> None:
    assert without_unused_declarations(SOURCE) == NEEDED.lstrip()


def test_a_declaration_after_the_definition_is_left_out() -> None:
    before = "void f(void *);\nvoid f(void *p) { (void)p; }\n"
    main = "int main(void) { f(0); }\n"
    assert without_unused_declarations(before + main) == before + main
    defined = "static void f(int *p) { (void)p; }\n"
    assert without_unused_declarations(f"{defined}void f(void *);\n{main}") == defined + main


def test_a_definition_is_kept_with_its_earlier_declaration() -> None:
    source = "struct s;\nint get(struct s *);\nstruct s { int a; };\n"
    source += "int get(struct s *p) { return p->a; }\nint main(void) { return get(0); }\n"
    assert without_unused_declarations(source) == source


def test_long_tables_lose_their_values_and_may_be_written_to() -> None:
    values = ", ".join(f"{i:#06x}" for i in range(256))
    source = f"static const u8 box[] = {{ {values}, }};\nconst u8 few[2] = {{ 1, 2 }};\n"
    source += f"const u32 __attribute__((aligned(64))) table[N] = {{\n{values} }};\n"
    assert without_tables(source) == (
        "u8 box[256];\nconst u8 few[2] = { 1, 2 };\nu32 __attribute__((aligned(64))) table[N];\n"
    )


def test_a_table_without_values_is_not_declared_as_constant_before() -> None:
    values = ", ".join(["0x12345678"] * 64)
    source = (
        f"extern const u32 t[64];\nextern const u32 more[2];\nconst u32 t[64] = {{ {values} }};\n"
    )
    assert without_tables(source) == "extern const u32 more[2];\nu32 t[64];\n"
    assert without_tables("extern const u32 more[2];\n") == "extern const u32 more[2];\n"


def test_other_names_of_types_are_the_types_themselves() -> None:
    source = (
        "typedef unsigned char __u8;\ntypedef __u8 u8;\ntypedef struct s s_t;\n"
        "typedef int pair[2];\ntypedef void (*call)(u8);\n"
        "void f(u8 *p, s_t *s) __attribute__((__nothrow__)) __attribute__ ((nonnull (1, 2)));\n"
        "int g(struct job *job) { return job->u8 + job->s_t.u8 + (u8)1; }\n"
    )
    assert with_plain_types(source) == (
        "typedef int pair[2];\ntypedef void (*call)(unsigned char);\n"
        "void f(unsigned char *p, struct s *s)  ;\n"
        "int g(struct job *job) { return job->u8 + job->s_t.u8 + (unsigned char)1; }\n"
    )
    assert with_plain_types("int a;\n") == "int a;\n"


def test_members_that_nobody_names_are_left_out() -> None:
    source = (
        "struct key { int used, other; long spare[4]; struct part; int (*hook)(int);"
        " union u inner; };\n"
        "union all { int one; int two; };\nint f(struct key *k) { return k->used + k->inner.x; }\n"
    )
    assert without_unused_members(source) == (
        "struct key { int used, other; struct part; union u inner;\n};\n"
        "union all { int one;\n};\nint f(struct key *k) { return k->used + k->inner.x; }\n"
    )
