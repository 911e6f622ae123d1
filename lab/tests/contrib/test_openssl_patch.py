# SPDX-License-Identifier: MIT
"""contrib/openssl: the script on a library and a tree of our own, and our functions in it."""

import dataclasses
import importlib.machinery
import importlib.util
import random
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import everycore

PACKAGE = Path(everycore.__file__).parent
SCRIPT = PACKAGE.parent.parent / "contrib/openssl/patch-openssl"

WORDS = """
#include <stddef.h>
typedef WORD BN_ULONG;
BN_ULONG bn_mul_add_words(BN_ULONG *r, const BN_ULONG *a, int n, BN_ULONG w) { return 0; }
BN_ULONG bn_mul_words(BN_ULONG *r, const BN_ULONG *a, int n, BN_ULONG w) { return 0; }
void bn_sqr_words(BN_ULONG *r, const BN_ULONG *a, int n) {}
BN_ULONG bn_div_words(BN_ULONG h, BN_ULONG l, BN_ULONG d) { return 0; }
BN_ULONG bn_add_words(BN_ULONG *r, const BN_ULONG *a, const BN_ULONG *b, int n) { return 0; }
BN_ULONG bn_sub_words(BN_ULONG *r, const BN_ULONG *a, const BN_ULONG *b, int n) { return 0; }
void bn_mul_comba4(BN_ULONG *r, BN_ULONG *a, BN_ULONG *b) {}
void bn_mul_comba8(BN_ULONG *r, BN_ULONG *a, BN_ULONG *b) {}
void bn_sqr_comba4(BN_ULONG *r, const BN_ULONG *a) {}
void bn_sqr_comba8(BN_ULONG *r, const BN_ULONG *a) {}
"""
TYPES = """
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
typedef WORD BN_ULONG;
typedef struct { BN_ULONG *d; int top, dmax, neg, flags; } BIGNUM;
#if MAJOR < 4
typedef struct { int ri; BIGNUM RR, N, Ni; BN_ULONG n0[2]; int flags; } BN_MONT_CTX;
#else
typedef struct { BIGNUM RR, N, Ni; BN_ULONG n0[2]; int ri, flags; } BN_MONT_CTX;
#endif
"""
# Valgrind tells whether a branch or an address depends on memory that is marked as secret. Without
# Valgrind the marks do nothing.
MARKS = """
#if defined(__has_include)
#if __has_include(<valgrind/memcheck.h>)
#include <valgrind/memcheck.h>
#endif
#endif
#if defined(VALGRIND_MAKE_MEM_UNDEFINED)
#define MARK_SECRET(d, n) VALGRIND_MAKE_MEM_UNDEFINED(d, sizeof *(d) * (n))
#define MARK_PUBLIC(d, n) VALGRIND_MAKE_MEM_DEFINED(d, sizeof *(d) * (n))
#else
#define MARK_SECRET(d, n)
#define MARK_PUBLIC(d, n)
#endif
"""
MONTGOMERY = (
    TYPES
    + """
/* t += a w, n words of it. */
static void add_product(BN_ULONG *t, const BN_ULONG *a, int n, BN_ULONG w)
{
    BN_ULONG carry = 0;
    for (int i = 0; i < n || carry; i++) {
        DOUBLE sum = (i < n ? (DOUBLE)a[i] * w : 0) + t[i] + carry;
        t[i] = (BN_ULONG)sum;
        carry = (BN_ULONG)(sum >> 8 * sizeof(BN_ULONG));
    }
}
/* Returns 77, which is not 0, so that a test sees which function was called. */
int bn_mul_mont_fixed_top(BIGNUM *r, const BIGNUM *a, const BIGNUM *b,
                          BN_MONT_CTX *m, void *c)
{
    const int n = m->N.top;
    BN_ULONG *t = calloc(2 * (size_t)n + 2, sizeof *t), *high = t + n, borrow = 0;
    for (int i = 0; i < b->top; i++) add_product(t + i, a->d, a->top, b->d[i]);
    for (int i = 0; i < n; i++) add_product(t + i, m->N.d, n, t[i] * m->n0[0]);
    for (int i = 0; i < n; i++) {
        DOUBLE rest = (DOUBLE)high[i] - m->N.d[i] - borrow;
        r->d[i] = (BN_ULONG)rest;
        borrow = (BN_ULONG)(rest >> 8 * sizeof(BN_ULONG)) & 1;
    }
    if (borrow && !high[n]) memcpy(r->d, high, sizeof *t * (size_t)n);
    r->top = n;
    free(t);
    return 77;
}
int bn_to_mont_fixed_top(BIGNUM *r, const BIGNUM *a, BN_MONT_CTX *m, void *c)
{ return bn_mul_mont_fixed_top(r, a, &m->RR, m, c); }
int BN_mod_mul_montgomery(BIGNUM *r, const BIGNUM *a, const BIGNUM *b, BN_MONT_CTX *m, void *c)
{ return bn_mul_mont_fixed_top(r, a, b, m, c); }
"""
)
EXPONENT = (
    TYPES
    + """
int BN_mod_exp_mont(BIGNUM *r, const BIGNUM *a, const BIGNUM *p, const BIGNUM *m, void *c,
                    BN_MONT_CTX *n)
{ return 78; }
int BN_mod_exp_mont_consttime(BIGNUM *r, const BIGNUM *a, const BIGNUM *p, const BIGNUM *m,
                              void *c, BN_MONT_CTX *n)
{ return 79; }
int BN_mod_exp_mont_consttime_x2(BIGNUM *r, const BIGNUM *a, const BIGNUM *p, const BIGNUM *m,
                                 BN_MONT_CTX *n, BIGNUM *r2, const BIGNUM *a2, const BIGNUM *p2,
                                 const BIGNUM *m2, BN_MONT_CTX *n2, void *c)
{ return 80; }
"""
)
OTHERS = (
    TYPES
    + MARKS
    + """
BIGNUM *bn_wexpand(BIGNUM *a, int n) { return a->dmax >= n ? a : NULL; }
/* The length of a result is public. */
void bn_correct_top(BIGNUM *a)
{
    MARK_PUBLIC(a->d, a->top);
    while (a->top && !a->d[a->top - 1]) a->top--;
}
void OPENSSL_cleanse(void *p, size_t n) { memset(p, 0, n); }
/* All memory of a power is cleared: otherwise the program ends. */
static size_t taken;
void *CRYPTO_malloc(size_t n, const char *file, int line) { return malloc(taken = n); }
void CRYPTO_clear_free(void *p, size_t n, const char *file, int line)
{
    if (n != taken) abort();
    memset(p, 0, n);
    free(p);
}
static int used, starts[9], n_starts;
void BN_CTX_start(void *c) { starts[n_starts++] = used; }
static BN_ULONG space[5][600];
static BIGNUM temporary[5] = {
    { space[0], 0, 600 }, { space[1], 0, 600 }, { space[2], 0, 600 }, { space[3], 0, 600 },
    { space[4], 0, 600 },
};
/* Returns how many temporaries are not zero, and clears them. */
int n_not_cleared(void)
{
    int n = 0;
    for (int i = 0; i < 5; i++) {
        int is_cleared = 1;
        for (int j = 0; j < 600; j++) is_cleared &= !space[i][j];
        n += !is_cleared;
    }
    memset(space, 0, sizeof space);
    return n;
}
void *BN_CTX_get(void *c) { return used < 5 ? &temporary[used++] : NULL; }
void BN_CTX_end(void *c) { used = starts[--n_starts]; }
int bn_mul_fixed_top(BIGNUM *r, const BIGNUM *a, const BIGNUM *b, void *c)
{
    memset(r->d, 0, sizeof space[0]);
    for (int i = 0; i < a->top; i++) {
        BN_ULONG carry = 0;
        for (int j = 0; j < b->top; j++) {
            DOUBLE sum = (DOUBLE)a->d[i] * b->d[j] + r->d[i + j] + carry;
            r->d[i + j] = (BN_ULONG)sum;
            carry = (BN_ULONG)(sum >> 8 * sizeof(BN_ULONG));
        }
        r->d[i + b->top] = carry;
    }
    r->top = a->top + b->top;
    return 1;
}
int bn_sqr_fixed_top(BIGNUM *r, const BIGNUM *a, void *c) { return bn_mul_fixed_top(r, a, a, c); }
const char version[] = "OpenSSL VERSION 1 Jan 2026";
static const BN_ULONG value[2048 / 8 / sizeof(BN_ULONG)];
const BIGNUM ossl_bignum_ffdhe2048_p = { (BN_ULONG *)value, COUNT, COUNT, 0, FLAGS };
"""
)
MOD_WORD = TYPES + "BN_ULONG BN_mod_word(const BIGNUM *a, BN_ULONG w) { return 0; }\n"
# Reads numbers in hexadecimal, the lowest word first, and prints what the library makes of them.
PROGRAM = (
    TYPES
    + MARKS
    + """
#include <stdio.h>
BN_ULONG bn_mul_add_words(BN_ULONG *, const BN_ULONG *, int, BN_ULONG);
BN_ULONG BN_mod_word(const BIGNUM *, BN_ULONG);
int bn_mul_mont_fixed_top(BIGNUM *, const BIGNUM *, const BIGNUM *, BN_MONT_CTX *, void *);
int BN_mod_exp_mont(BIGNUM *, const BIGNUM *, const BIGNUM *, const BIGNUM *, void *,
                    BN_MONT_CTX *);
int BN_mod_exp_mont_consttime_x2(BIGNUM *, const BIGNUM *, const BIGNUM *, const BIGNUM *,
                                 BN_MONT_CTX *, BIGNUM *, const BIGNUM *, const BIGNUM *,
                                 const BIGNUM *, BN_MONT_CTX *, void *);
int BN_mod_exp_mont_consttime(BIGNUM *, const BIGNUM *, const BIGNUM *, const BIGNUM *, void *,
                              BN_MONT_CTX *);
int n_not_cleared(void);
static BIGNUM number(int n) {
    BIGNUM a = {calloc((size_t)n, sizeof(BN_ULONG)), n, n, 0, 0};
    for (int i = 0; i < n; i++) { unsigned long long w; scanf("%llx", &w); a.d[i] = (BN_ULONG)w; }
    return a;
}
static void print(const BN_ULONG *a, int n) {
    while (n) printf("%0*llx", (int)sizeof *a * 2, (unsigned long long)a[--n]);
    putchar('\\n');
}
static BIGNUM counted_number(void) {
    int n;
    scanf("%d", &n);
    if (n) return number(n);
    return (BIGNUM){NULL, 0, 0, 0, 0}; /* OpenSSL's zero */
}
/* "n -1": a power; n words of the modulus, n of R^2, n0, how many words and bits the BN_MONT_CTX
 * has less than the modulus; numbers of words, and these, of the exponent and of the base; whether
 * the base is negative; flags of base, exponent and modulus; and which function: 2 has no
 * BN_MONT_CTX, 3 is a branch on the exponent, which Valgrind is to notice. */
static void raise_base(int n) {
    BIGNUM m = number(n), rr = number(n), n0 = number(1), a, p;
    BIGNUM r = {calloc((size_t)n, sizeof(BN_ULONG)), 0, n};
    BN_MONT_CTX c = {.RR = rr, .N = m, .n0[0] = n0.d[0]};
    int fewer_words, fewer_bits, which, done;
    scanf("%d %d", &fewer_words, &fewer_bits);
    c.N.top -= fewer_words;
    c.ri = n * 8 * (int)sizeof(BN_ULONG) - fewer_bits;
    p = counted_number();
    a = counted_number();
    scanf("%d %d %d %d %d", &a.neg, &a.flags, &p.flags, &m.flags, &which);
    MARK_SECRET(p.d, p.top);
    if (which == 3) puts(p.d[0] & 1 ? "odd" : "even");
    if (which == 4) { /* the same power twice, in numbers that were below zero */
        BIGNUM other = {calloc((size_t)n, sizeof *r.d), 0, n, 1};
        r.neg = 1;
        done = BN_mod_exp_mont_consttime_x2(&other, &a, &p, &m, &c, &r, &a, &p, &m, &c, NULL);
        if (r.neg || other.neg || other.top != r.top) abort();
        if (memcmp(other.d, r.d, sizeof *r.d * (size_t)r.top)) abort();
    } else {
        done = (which ? BN_mod_exp_mont : BN_mod_exp_mont_consttime)(&r, &a, &p, &m, NULL,
                                                                     which == 2 ? NULL : &c);
    }
    printf("%d %d %d\\n", done, r.top, n_not_cleared());
    memset(r.d + r.top, 0, sizeof *r.d * (size_t)(n - r.top));
    print(r.d, n);
}
int main(void) {
    int n, same;
    while (scanf("%d %d", &n, &same) == 2) {
        if (same < 0) { raise_base(n); continue; }
        BIGNUM m = number(n), a = number(n), b = number(n), n0 = number(1), w = number(1);
        BN_MONT_CTX c = {.RR = b, .N = m, .Ni = b, .n0[0] = n0.d[0]};
        c.ri = n * 8 * (int)sizeof(BN_ULONG);
        BN_ULONG rest = BN_mod_word(&a, w.d[0]), carry;
        BIGNUM r = {calloc((size_t)n, sizeof(BN_ULONG)), 0, n, 0, 0};
        int done = bn_mul_mont_fixed_top(&r, &a, same ? &a : &b, &c, NULL);
        printf("%d\\n", done);
        print(r.d, n);
        print(&rest, 1);
        carry = bn_mul_add_words(b.d, a.d, n, w.d[0]);
        print(b.d, n);
        print(&carry, 1);
    }
    return 0;
}
"""
)


def script() -> ModuleType:
    loader = importlib.machinery.SourceFileLoader("patch_openssl", str(SCRIPT))
    spec = importlib.util.spec_from_loader("patch_openssl", loader)
    assert spec
    module = importlib.util.module_from_spec(spec)
    sys.modules["patch_openssl"] = module
    loader.exec_module(module)
    return module


TOOL = script()


class Target:
    """A compiler, the size of its words, and what starts its programs."""

    def __init__(self, compiler: str, bits: int, emulator: str = "") -> None:
        self.compiler, self.bits, self.emulator = compiler, bits, emulator

    def library(
        self, folder: Path, version: str = "3.0.20", flags: str = "2", without: str = ""
    ) -> Path:
        word = "unsigned long" if self.bits == 64 else "unsigned int"
        double = "unsigned __int128" if self.bits == 64 else "unsigned long long"
        defines = [
            f"-DWORD={word}",
            f"-DDOUBLE={double}",
            f"-DCOUNT={2048 // self.bits}",
            f"-DFLAGS={flags}",
            f"-DMAJOR={version[0]}",
        ]
        files = {
            "bn_asm": WORDS,
            "bn_word": MOD_WORD,
            "bn_mont": MONTGOMERY,
            "bn_exp": EXPONENT,
            "others": OTHERS,
        }
        objects = []
        for name, template in files.items():
            source = folder / f"{name}.c"
            text = template.replace("VERSION", version)
            source.write_text(text.replace(without, f"x_{without}") if without else text)
            objects.append(folder / f"libcrypto-lib-{name}.o")
            subprocess.run(
                [self.compiler, "-w", "-O1", *defines, "-c", source, "-o", objects[-1]], check=True
            )
        library = folder / "libcrypto.a"
        archiver = self.compiler.removesuffix("gcc") + "ar"
        subprocess.run([archiver, "rc", library, *objects], check=True)
        return library

    def ask(self, folder: Path, library: Path, text: str, version: str = "3.0.20") -> list[str]:
        word = "unsigned long" if self.bits == 64 else "unsigned int"
        source, program = folder / "ask.c", folder / "ask"
        source.write_text(PROGRAM)
        subprocess.run(
            [
                self.compiler,
                "-w",
                "-O1",
                *(["-static"] if self.emulator.startswith("qemu") else []),
                f"-DWORD={word}",
                f"-DMAJOR={version[0]}",
                source,
                library,
                "-o",
                program,
            ],
            check=True,
        )
        command = [*self.emulator.split(), str(program)]
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
        return done.stdout.split()


NATIVE = Target("gcc", 64)
TARGETS = {
    "native": NATIVE,
    "hppa": Target("hppa-linux-gnu-gcc", 32, "qemu-hppa"),
    "i386": Target("i686-linux-gnu-gcc", 32, "qemu-i386"),
    "armhf": Target("arm-linux-gnueabihf-gcc", 32, "qemu-arm"),
}


def needed(target: Target) -> Target:
    for program in (target.compiler, target.emulator.partition(" ")[0]):
        if program and not shutil.which(program):
            pytest.skip(f"no {program}")
    return target


@pytest.fixture
def library(tmp_path: Path) -> Path:
    return needed(NATIVE).library(tmp_path)


def patch(path: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, SCRIPT, *options, path], capture_output=True, text=True, check=False
    )


def refused(path: Path, words: str, *options: str) -> None:
    """One line that says why, exit code 2, and nothing is written."""
    before = {p: p.read_bytes() for p in path.parent.iterdir() if p.is_file()}
    done = patch(path, *options)
    assert done.returncode == 2, done
    assert done.stderr.startswith("patch-openssl: ")
    assert done.stderr.count("\n") == 1, done.stderr
    assert words in done.stderr
    assert before == {p: p.read_bytes() for p in path.parent.iterdir() if p.is_file()}


# ---- A finished library --------------------------------------------------------------------------


def test_a_library_is_patched_and_then_as_it_was(library: Path) -> None:
    before = library.read_bytes()
    done = patch(library, "--cc", "gcc")
    assert done.returncode == 0, done.stderr
    assert "16 functions replaced" in done.stdout
    assert library.read_bytes() != before
    refused(library, "is patched already", "--cc", "gcc")
    assert patch(library, "--remove").returncode == 0
    assert library.read_bytes() == before
    assert not list(library.parent.glob("*.before-everycore"))
    refused(library, "is not patched", "--remove")


def lines(bits: int, words: int, structured: bool, chance: random.Random) -> tuple[str, list[str]]:
    """A question to the program, and its answers by Python's integers."""
    base, radix = 1 << bits * words, 1 << bits

    def number() -> int:
        if structured:
            return chance.choice([base - 1, base - 2, base // radix, radix - 1, 1, 0])
        return chance.randrange(base)

    modulus = number() | 1 | base // 2 if structured else number() | 1 | base // radix
    a, b = number() % modulus, number() % modulus
    same = chance.randrange(2)
    w = chance.choice(
        [1, 2, 3, 65521, radix - 1, radix // 8, radix // 8 + 1, chance.randrange(radix) or 1]
    )
    n0 = -pow(modulus, -1, radix) % radix
    product = a * (a if same else b) * pow(base, -1, modulus) % modulus
    summed = b + a * w
    digits = bits // 4

    def told(x: int) -> str:
        return " ".join(f"{x >> bits * i & radix - 1:x}" for i in range(words))

    question = f"{words} {same} {told(modulus)} {told(a)} {told(b)} {n0:x} {w:x}\n"
    answers = [
        "1",
        f"{product:0{digits * words}x}",
        f"{a % w:0{digits}x}",
        f"{summed % base:0{digits * words}x}",
        f"{summed // base:0{digits}x}",
    ]
    return question, answers


@pytest.mark.parametrize(
    ("name", "version"), [*((name, "3.0.20") for name in TARGETS), ("native", "4.0.2")]
)
def test_functions_of_a_patched_library_are_right(name: str, version: str, tmp_path: Path) -> None:
    target = needed(TARGETS[name])
    library = target.library(tmp_path, version)
    done = patch(library, "--cc", target.compiler)
    assert done.returncode == 0, done.stderr
    has_montgomery = any(f"{n} functions" in done.stdout for n in (16, 17))
    chance = random.Random(18)
    for words in (1, 3, 4, 7, 8, 12, 16, 24, 31, 32, 40, 48, 64, 96, 104, 128, 129, 136, 192):
        rows = [lines(target.bits, words, i % 3 == 0, chance) for i in range(30)]
        said = target.ask(tmp_path, library, "".join(question for question, _ in rows), version)
        for i, (_, answers) in enumerate(rows):
            got = said[5 * i : 5 * i + 5]
            if got[0] == "77":  # of OpenSSL's own function
                answers[:2] = got[:2]
                most = 4096 // target.bits
                assert (
                    not has_montgomery
                    or words < 4
                    or words > most
                    or (name == "hppa" and words % 8)
                )
            assert got == answers, (words, i)


CONSTANT_TIME = 4  # a flag of numbers


@dataclasses.dataclass(frozen=True)
class Power:
    """A power modulo n: a question to the program, and its answer by Python's integers."""

    bits: int  # of a word
    words: int  # of the modulus
    n: int
    base: int
    exponent: int
    exponent_words: int = 0  # at least; a zero of OpenSSL has none
    is_negative: int = 0
    flags: tuple[int, int, int] = (0, CONSTANT_TIME, 0)  # of base, exponent, modulus
    which: int = 1
    fewer_words: int = 0  # of the BN_MONT_CTX than of the modulus
    fewer_bits: int = 0

    def length(self, x: int) -> int:
        return -(-x.bit_length() // self.bits)

    def told(self, x: int, count: int) -> str:
        return " ".join(f"{x >> self.bits * i & (1 << self.bits) - 1:x}" for i in range(count))

    def counted(self, x: int, least: int = 0) -> str:
        count = max(least, self.length(x))
        return f"{count} {self.told(x, count)}"

    @property
    def question(self) -> str:
        rr = (1 << 2 * self.bits * self.words) % self.n
        n0 = -pow(self.n, -1, 1 << self.bits) % (1 << self.bits)
        return (
            f"{self.words} -1 {self.told(self.n, self.words)} {self.told(rr, self.words)} {n0:x}"
            f" {self.fewer_words} {self.fewer_bits}"
            f" {self.counted(self.exponent, self.exponent_words)} {self.counted(self.base)}"
            f" {self.is_negative} {' '.join(map(str, self.flags))} {self.which}\n"
        )

    @property
    def answer(self) -> list[str]:
        """The return value, the length of the result, temporaries not cleared, the result."""
        result = pow(self.base, self.exponent, self.n)
        return [
            "1",
            str(self.length(result)),
            "0",
            f"{result:0{self.words * self.bits // 4}x}",
        ]


SUMS = {2: 1, 3: 2, 4: 3, 5: 3, 7: 4}  # the most of them for a base


@pytest.mark.parametrize("name", TARGETS)
def test_powers_of_words_are_right(name: str, tmp_path: Path) -> None:
    target = needed(TARGETS[name])
    library = target.library(tmp_path)
    assert patch(library, "--cc", target.compiler).returncode == 0
    chance, bits = random.Random(19), target.bits
    lengths = [15, 16, 17, 24, 32, 47, 48, 64, 96] if bits == 32 else [7, 8, 9, 16, 17, 24, 32, 64]
    powers = []
    for turn in range(180):
        words = chance.choice(lengths)
        top = bits * words
        n = chance.choice(
            [2**top - 1, 2 ** (top - 1) + 1, 2**top - 2**64 - 1, chance.randrange(2**top)]
        )
        n |= 1
        if turn % 3 == 0:  # a top word of 1
            n = n % 2 ** (top - bits) | 2 ** (top - bits)
        else:
            n |= 1 << (top - 1 - chance.choice([0, 0, 9]))
        base = (2, 2, 3, 5, 4, 7, 2)[turn % 7]
        size = chance.choice([1, 2, 31, 32, 33, 64, 200, 512])
        exponent = chance.choice([0, 1, 2**size - 1, 2 ** (size - 1), chance.randrange(2**size)])
        least = chance.choice([0, 1, 1, 8])
        powers.append(Power(bits, words, n, base, exponent, least, which=turn // 7 % 2))
    said = target.ask(tmp_path, library, "".join(asked.question for asked in powers))
    n_by_sums = 0
    for i, asked in enumerate(powers):
        got = said[4 * i : 4 * i + 4]
        n_bits, has_words = asked.words * bits, asked.exponent or asked.exponent_words > 0
        if has_words and n_bits >= 512 * SUMS[asked.base]:
            n_by_sums += 1
            assert got == asked.answer, asked
        else:  # of OpenSSL's own function: no exponent, or the modulus is too short for the sums
            is_own = got[:2] == ["78" if asked.which else "79", "0"]
            assert is_own or (name == "hppa" and got == asked.answer), asked  # digits take more
    assert n_by_sums > 90


def test_powers_by_digits_are_right(tmp_path: Path) -> None:
    """Powers of any base, where fmpyadd is right; QEMU 7.2 has it wrong, and our code for it."""
    target = needed(TARGETS["hppa"])
    is_old = " version 7." in subprocess.check_output([target.emulator, "--version"], text=True)
    library = target.library(tmp_path)
    compiler = f"{target.compiler} -DEVC_HPPA_FMPYADD_SWAPPED" if is_old else target.compiler
    done = patch(library, "--cc", compiler)
    assert "17 functions replaced" in done.stdout, done.stderr
    chance = random.Random(20)
    powers = []
    for turn in range(120):
        words = chance.choice([8, 9, 16, 17, 24, 32, 48, 64, 96, 104, 128, 178, 179, 256])
        top = 32 * words
        n = chance.choice([2**top - 1, 2 ** (top - 1) + 1, chance.randrange(2**top)])
        n |= 1 | 1 << (top - chance.choice([1, 1, 3, 8]))
        base = chance.choice([0, 1, 2, 5, n - 1, n >> 1, chance.randrange(n), 2**33])
        size = chance.choice([1, 31, 32, 33, 64, 100 if words > 64 else 400])
        exponent = chance.choice([0, 2**size - 1, 2 ** (size - 1), chance.randrange(2**size)])
        least = chance.choice([1, 1, 2])
        powers.append(Power(32, words, n, base % n, exponent, least, which=turn % 2))
    said = target.ask(tmp_path, library, "".join(asked.question for asked in powers))
    for i, asked in enumerate(powers):
        assert said[4 * i : 4 * i + 4] == asked.answer, asked
    whole = Power(32, 32, n=2**1024 - 105, base=3**100, exponent=5)
    for changed, expected in (
        ({}, "1"),
        ({"flags": (0, 0, 0)}, "78"),
        ({"flags": (CONSTANT_TIME, 0, 0)}, "1"),
        ({"which": 4}, "1"),
        ({"flags": (CONSTANT_TIME, 0, 0), "base": 2}, "1"),
        ({"base": 2**1024 - 105}, "78"),
        ({"is_negative": 1}, "78"),
        ({"exponent": 0}, "78"),
        ({"which": 2}, "78"),
        ({"fewer_words": 1}, "78"),
        ({"fewer_bits": 32}, "78"),
        ({"n": 2**1015 - 1}, "78"),
        ({"words": 7, "n": 2**224 - 1}, "78"),
        ({"words": 257, "n": 2**8224 - 1}, "78"),
    ):
        asked = dataclasses.replace(whole, **changed)
        said = target.ask(tmp_path, library, asked.question)
        if expected == "1":
            assert said == asked.answer, changed
        else:
            assert said[0] == expected, changed


def test_powers_make_no_branch_or_address_of_their_exponents(tmp_path: Path) -> None:
    target = needed(Target("gcc", 64, "valgrind -q --error-exitcode=9"))
    header = ["gcc", "-E", "-include", "valgrind/memcheck.h", "-x", "c", "/dev/null"]
    if subprocess.run(header, capture_output=True, check=False).returncode:
        pytest.skip("no valgrind/memcheck.h")
    library = target.library(tmp_path)
    assert patch(library, "--cc", "gcc").returncode == 0
    powers = [
        Power(64, words, 2 ** (64 * words - 1) + 1, base, exponent, exponent_words=2, which=0)
        for words, base in ((8, 2), (17, 2), (24, 3), (32, 5))
        for exponent in (0, 5 << 118 | 12345)
    ]
    said = target.ask(tmp_path, library, "".join(asked.question for asked in powers))
    assert said == [word for asked in powers for word in asked.answer]
    with pytest.raises(subprocess.CalledProcessError) as noticed:
        target.ask(tmp_path, library, dataclasses.replace(powers[0], which=3).question)
    assert noticed.value.returncode == 9


def test_other_powers_are_of_openssls_own_functions(library: Path, tmp_path: Path) -> None:
    assert patch(library, "--cc", "gcc").returncode == 0
    whole = Power(64, 16, n=2**1024 - 105, base=2, exponent=5)
    for changed, expected in (
        ({}, "1"),
        ({"base": 0}, "78"),
        ({"base": 1}, "78"),
        ({"base": 2**63}, "78"),
        ({"base": 2**64 + 2}, "78"),
        ({"is_negative": 1}, "78"),
        ({"exponent": 0}, "78"),
        ({"exponent": 0, "exponent_words": 1}, "1"),
        ({"flags": (CONSTANT_TIME, CONSTANT_TIME, 0)}, "78"),
        ({"flags": (0, 0, CONSTANT_TIME)}, "1"),
        ({"flags": (0, 0, 0)}, "78"),
        ({"flags": (CONSTANT_TIME, 0, 0), "which": 0}, "79"),
        ({"flags": (0, 0, 0), "which": 0}, "1"),
        ({"which": 2}, "78"),
        ({"fewer_words": 1}, "78"),
        ({"fewer_bits": 64}, "78"),
        ({"fewer_words": 1, "fewer_bits": 64}, "78"),
        ({"words": 512, "n": 2**32768 - 1}, "1"),
        ({"words": 513, "n": 2**32832 - 1}, "78"),
    ):
        asked = dataclasses.replace(whole, **changed)
        said = NATIVE.ask(tmp_path, library, asked.question)
        if expected == "1":
            assert said == asked.answer, changed
        else:
            assert said[0] == expected, changed


def test_a_library_with_montgomery_in_assembly_keeps_it(tmp_path: Path) -> None:
    target = needed(NATIVE)
    called = "int bn_mul_mont(void);\nint (*volatile used)(void) = bn_mul_mont;\n"
    library = target.library(tmp_path)
    (tmp_path / "extra.c").write_text(MONTGOMERY + called)
    (tmp_path / "mont.c").write_text("int bn_mul_mont(void) { return 0; }\n")
    for source, name in (("extra", "bn_mont"), ("mont", "x86_64-mont")):
        made = tmp_path / f"libcrypto-lib-{name}.o"
        words = ["-DWORD=unsigned long", "-DDOUBLE=unsigned __int128"]
        subprocess.run(
            ["gcc", "-w", *words, "-c", tmp_path / f"{source}.c", "-o", made], check=True
        )
        subprocess.run(["ar", "r", library, made], check=True, capture_output=True)
    assert "11 functions replaced" in patch(library, "--cc", "gcc").stdout


def test_what_is_no_library_that_it_knows_is_refused(tmp_path: Path, library: Path) -> None:
    whole = library.read_bytes()
    for name, data, words in (
        ("text.a", b"hello", "neither"),
        ("empty.a", b"", "neither"),
        ("thin.a", b"!<thin>\n", "thin"),
        ("cut.a", whole[:-100], "cut"),
        ("none.a", b"!<arch>\n", "no libcrypto.a"),
        ("version.a", whole.replace(b"OpenSSL 3.0.20", b"OpenSSL 1.1.10"), "knows 3.0, 3.5, 4.0"),
        ("header.a", whole.replace(b"`\n", b"xy"), "damaged"),
    ):
        path = tmp_path / name
        path.write_bytes(data)
        refused(path, words, "--cc", "gcc")
    refused(tmp_path / "absent.a", "no such file or folder", "--cc", "gcc")
    refused(library, "--cc names a compiler")
    refused(library, "no compiler", "--cc", "no-such-gcc")
    refused(library, "fails", "--cc", "gcc -no-such-option")


@pytest.mark.parametrize(
    ("flags", "version", "without", "words"),
    [
        ("3", "3.0.20", "", "unexpected layout"),
        ("2", "3.1.0", "", "knows"),
        ("2", "3.0.20", "BN_mod_word", "defines BN_mod_word 0 times"),
        ("2", "3.0.20", "ossl_bignum_ffdhe2048_p", "0 times"),
        ("2", "3.0.20", "bn_wexpand", "needs bn_wexpand"),
    ],
)
def test_libraries_of_other_shapes_are_refused(
    flags: str, version: str, without: str, words: str, tmp_path: Path
) -> None:
    path = needed(NATIVE).library(tmp_path, version, flags, without)
    refused(path, words, "--cc", "gcc")


def test_a_compiler_for_another_target_is_refused(library: Path) -> None:
    refused(library, "is for ELF machine 62", "--cc", needed(TARGETS["hppa"]).compiler)


def test_a_copy_of_another_library_is_not_overwritten(library: Path) -> None:
    copy = library.with_name("libcrypto.a.before-everycore")
    copy.write_bytes(b"precious")
    refused(library, "is in the way", "--cc", "gcc")
    copy.unlink()
    assert patch(library, "--cc", "gcc").returncode == 0
    copy.write_bytes(b"another")
    refused(library, "is not the library from which", "--remove")


def replaced_here() -> list[str]:
    """All functions but the one that is replaced on PA-RISC alone."""
    names = {name for names in TOOL.UNITS.values() for name in names}
    return sorted(names - {"BN_mod_exp_mont_consttime_x2"})


@pytest.mark.parametrize(
    "symbol", ["bn_correct_top", "bn_mul_add_words", "evc_openssl_BN_mod_word"]
)
def test_a_symbol_that_is_lost_or_renamed_is_noticed(
    symbol: str, library: Path, tmp_path: Path
) -> None:
    before = TOOL.Library(library)
    assert patch(library, "--cc", "gcc").returncode == 0
    assert TOOL.prove(before, TOOL.Library(library), replaced_here()) > 0
    subprocess.run(
        ["objcopy", f"--redefine-sym={symbol}=lost", library, tmp_path / "lost.a"], check=True
    )
    with pytest.raises(TOOL.PatchError):
        TOOL.prove(before, TOOL.Library(tmp_path / "lost.a"), replaced_here())


def test_code_that_has_changed_is_noticed(library: Path, tmp_path: Path) -> None:
    before = TOOL.Library(library)
    assert patch(library, "--cc", "gcc").returncode == 0
    data = library.read_bytes()
    (tmp_path / "changed.a").write_bytes(data.replace(b"\x4d\x00\x00\x00", b"\x4e\x00\x00\x00"))
    with pytest.raises(TOOL.PatchError, match=r"not as before|has changed"):
        TOOL.prove(before, TOOL.Library(tmp_path / "changed.a"), replaced_here())


# ---- A source tree -------------------------------------------------------------------------------


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "openssl"
    place = root / "crypto/bn"
    place.mkdir(parents=True)
    (root / "VERSION.dat").write_text("MAJOR=3\nMINOR=0\nPATCH=20\n")
    (place / "build.info").write_text("LIBS=../../libcrypto\nSOURCE[../../libcrypto]=bn_asm.c\n")
    for unit, name in TOOL.HOOKED.items():
        functions = "".join(f"int {function}(int a)\n{{\n}}\n" for function in TOOL.UNITS[unit])
        (place / name).write_text(f'#include <x.h>\n#include "bn_local.h"\n\n{functions}')
    return root


def contents(root: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_a_tree_is_patched_and_then_as_it_was(tree: Path) -> None:
    before = contents(tree)
    assert patch(tree).returncode == 0
    after = contents(tree)
    assert (tree / "crypto/bn/everycore/src/bn_words/steps.h") in after
    for path, data in before.items():
        kept = TOOL._without_ours(after[path].decode())
        assert kept.encode() == data
    assert "is patched already" in patch(tree).stderr
    assert patch(tree, "--remove").returncode == 0
    assert contents(tree) == before
    assert "is not patched" in patch(tree, "--remove").stderr


@pytest.mark.parametrize(
    ("name", "old", "new", "words"),
    [
        ("VERSION.dat", "MAJOR=3", "MAJOR=1", "this script knows"),
        ("VERSION.dat", "MINOR=0", "MINOR=", "does not name a version"),
        ("crypto/bn/bn_asm.c", "bn_div_words", "bn_other", "does not define bn_div_words"),
        ("crypto/bn/bn_mont.c", '#include "bn_local.h"\n', "", "not one line"),
        ("crypto/bn/build.info", "SOURCE", "OTHER", "does not list"),
        ("crypto/bn/bn_word.c", "x.h", "\xff.h", "no text in UTF-8"),
    ],
)
def test_trees_that_do_not_fit_are_refused(
    name: str, old: str, new: str, words: str, tree: Path
) -> None:
    path = tree / name
    path.write_bytes(path.read_text().replace(old, new).encode("latin-1"))
    before = contents(tree)
    done = patch(tree)
    assert done.returncode == 2, done
    assert words in done.stderr
    assert contents(tree) == before


def test_a_folder_that_is_no_tree_is_refused(tmp_path: Path) -> None:
    done = patch(tmp_path)
    assert done.returncode == 2
    assert "is no source tree of OpenSSL" in done.stderr
    assert "--cc is for a libcrypto.a" in patch(tmp_path, "--cc", "gcc").stderr


@pytest.mark.parametrize("options", [(), ("--remove",)])
def test_a_path_that_does_not_exist_is_named(tmp_path: Path, options: tuple[str, ...]) -> None:
    refused(tmp_path / "none", f"{tmp_path / 'none'}: no such file or folder", *options)
