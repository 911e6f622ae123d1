# SPDX-License-Identifier: MIT
"""contrib/openssl: the script on a library and a tree of our own, and our functions in it."""

import dataclasses
import importlib.machinery
import importlib.util
import random
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import everycore

pytestmark = pytest.mark.reads(
    "contrib/openssl/",
    "include/",
    "lab/tests/conftest.py",
    "lab/tests/library_reads.py",
    "src/bn/",
    "src/bn_words/",
    "src/common/",
    "src/kernels.def",
)
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


@dataclasses.dataclass(frozen=True)
class Target:
    """A compiler, the size of its words, and what starts its programs."""

    compiler: str
    bits: int
    emulator: str = ""

    @property
    def word(self) -> str:
        return f"-DWORD=unsigned {'long' if self.bits == 64 else 'int'}"

    def library(
        self, folder: Path, version: str = "3.0.20", flags: str = "2", without: str = ""
    ) -> Path:
        double = "unsigned __int128" if self.bits == 64 else "unsigned long long"
        defines = [
            self.word,
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


@dataclasses.dataclass(frozen=True)
class Patched:
    """A patched library, and a program that asks it."""

    target: Target
    library: Path
    said: str  # by the script

    def ask(self, text: str, emulator: str = "") -> list[str]:
        emulated = (emulator or self.target.emulator).split()
        command = [*emulated, str(self.library.with_name("ask"))]
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
        return done.stdout.split()

    def ask_all(self, powers: Sequence["Power"]) -> list[list[str]]:
        """The four words that answer each."""
        said = self.ask("".join(asked.question for asked in powers))
        assert len(said) == 4 * len(powers)
        return [said[i : i + 4] for i in range(0, len(said), 4)]


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


class Workshop:
    """Makes each library and each program once, for many tests."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._libraries: dict[tuple[Target, str], Path] = {}
        self._patched: dict[tuple[Target, str, str], Patched] = {}

    def library(self, target: Target, version: str = "3.0.20") -> Path:
        """A library as a compiler made it; tests change copies of it."""
        if (target, version) not in self._libraries:
            folder = self.folder / f"library{len(self._libraries)}"
            folder.mkdir()
            self._libraries[target, version] = needed(target).library(folder, version)
        return self._libraries[target, version]

    def patched(self, target: Target, version: str = "3.0.20", option: str = "") -> Patched:
        """`option`: of the compiler of our functions."""
        if (target, version, option) not in self._patched:
            original = self.library(target, version)
            folder = self.folder / f"patched{len(self._patched)}"
            folder.mkdir()
            library = Path(shutil.copy(original, folder))
            done = patch(library, "--cc", f"{target.compiler} {option}".strip())
            assert done.returncode == 0, done.stderr
            (folder / "ask.c").write_text(PROGRAM)
            words = [target.compiler, "-w", "-O1", target.word, f"-DMAJOR={version[0]}"]
            words += ["-static"] if target.emulator else []
            subprocess.run([*words, folder / "ask.c", library, "-o", folder / "ask"], check=True)
            self._patched[target, version, option] = Patched(target, library, done.stdout)
        return self._patched[target, version, option]


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    return Workshop(tmp_path_factory.mktemp("openssl"))


@pytest.fixture
def library(tmp_path: Path, workshop: Workshop) -> Path:
    return Path(shutil.copy(workshop.library(NATIVE), tmp_path))


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
def test_functions_of_a_patched_library_are_right(
    name: str, version: str, workshop: Workshop
) -> None:
    target = TARGETS[name]
    patched = workshop.patched(target, version)
    has_montgomery = any(f"{n} functions" in patched.said for n in (16, 17))
    chance = random.Random(18)
    lengths = (1, 3, 4, 7, 8, 12, 16, 24, 31, 32, 40, 48, 64, 96, 104, 128, 129, 136, 192)
    rows = [
        (words, *lines(target.bits, words, i % 3 == 0, chance))
        for words in lengths
        for i in range(30)
    ]
    said = patched.ask("".join(question for _, question, _ in rows))
    for i, (words, _, answers) in enumerate(rows):
        got = said[5 * i : 5 * i + 5]
        if got[0] == "77":  # of OpenSSL's own function
            answers[:2] = got[:2]
            most = 4096 // target.bits
            assert not has_montgomery or words < 4 or words > most or (name == "hppa" and words % 8)
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


def who_answers(patched: Patched, whole: Power, *rows: tuple[dict[str, Any], str]) -> None:
    """Ask for powers that differ from a whole one; expect ours, or a function of OpenSSL's that
    says its number.
    """
    asked = [dataclasses.replace(whole, **changed) for changed, _ in rows]
    for power, said, (changed, expected) in zip(asked, patched.ask_all(asked), rows, strict=True):
        if expected == "1":
            assert said == power.answer, changed
        else:
            assert said[0] == expected, changed


SUMS = {2: 1, 3: 2, 4: 3, 5: 3, 7: 4}  # the most of them for a base


@pytest.mark.parametrize("name", TARGETS)
def test_powers_of_words_are_right(name: str, workshop: Workshop) -> None:
    target = TARGETS[name]
    patched = workshop.patched(target)
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
    n_by_sums = 0
    for asked, got in zip(powers, patched.ask_all(powers), strict=True):
        n_bits, has_words = asked.words * bits, asked.exponent or asked.exponent_words > 0
        if has_words and n_bits >= 512 * SUMS[asked.base]:
            n_by_sums += 1
            assert got == asked.answer, asked
        else:  # of OpenSSL's own function: no exponent, or the modulus is too short for the sums
            is_own = got[:2] == ["78" if asked.which else "79", "0"]
            assert is_own or (name == "hppa" and got == asked.answer), asked  # digits take more
    assert n_by_sums > 90


def test_powers_by_digits_are_right(workshop: Workshop) -> None:
    """Powers of any base, where fmpyadd is right; QEMU 7.2 has it wrong, and our code for it."""
    target = needed(TARGETS["hppa"])
    is_old = " version 7." in subprocess.check_output([target.emulator, "--version"], text=True)
    patched = workshop.patched(target, option="-DEVC_HPPA_FMPYADD_SWAPPED" if is_old else "")
    assert "17 functions replaced" in patched.said
    chance = random.Random(20)
    powers = []
    for turn in range(60):
        words = chance.choice([8, 9, 16, 17, 24, 32, 48, 64, 96, 104, 128, 178, 179, 256])
        top = 32 * words
        n = chance.choice([2**top - 1, 2 ** (top - 1) + 1, chance.randrange(2**top)])
        n |= 1 | 1 << (top - chance.choice([1, 1, 3, 8]))
        base = chance.choice([0, 1, 2, 5, n - 1, n >> 1, chance.randrange(n), 2**33])
        size = chance.choice([1, 31, 32, 33, 64, 64 if words > 64 else 400])
        exponent = chance.choice([0, 2**size - 1, 2 ** (size - 1), chance.randrange(2**size)])
        least = chance.choice([1, 1, 2])
        powers.append(Power(32, words, n, base % n, exponent, least, which=turn % 2))
    for asked, said in zip(powers, patched.ask_all(powers), strict=True):
        assert said == asked.answer, asked
    whole = Power(32, 32, n=2**1024 - 105, base=3**100, exponent=5)
    who_answers(
        patched,
        whole,
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
    )


def test_powers_make_no_branch_or_address_of_their_exponents(workshop: Workshop) -> None:
    emulator = needed(Target("gcc", 64, "valgrind -q --error-exitcode=9")).emulator
    header = ["gcc", "-E", "-include", "valgrind/memcheck.h", "-x", "c", "/dev/null"]
    if subprocess.run(header, capture_output=True, check=False).returncode:
        pytest.skip("no valgrind/memcheck.h")
    patched = workshop.patched(NATIVE)
    powers = [
        Power(64, words, 2 ** (64 * words - 1) + 1, base, exponent, exponent_words=2, which=0)
        for words, base in ((8, 2), (17, 2), (24, 3), (32, 5))
        for exponent in (0, 5 << 118 | 12345)
    ]
    said = patched.ask("".join(asked.question for asked in powers), emulator)
    assert said == [word for asked in powers for word in asked.answer]
    with pytest.raises(subprocess.CalledProcessError) as noticed:
        patched.ask(dataclasses.replace(powers[0], which=3).question, emulator)
    assert noticed.value.returncode == 9


def test_other_powers_are_of_openssls_own_functions(workshop: Workshop) -> None:
    whole = Power(64, 16, n=2**1024 - 105, base=2, exponent=5)
    who_answers(
        workshop.patched(NATIVE),
        whole,
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
    )


def test_a_library_with_montgomery_in_assembly_keeps_it(tmp_path: Path, library: Path) -> None:
    called = "int bn_mul_mont(void);\nint (*volatile used)(void) = bn_mul_mont;\n"
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


def test_a_copy_of_another_library_is_not_overwritten(library: Path, workshop: Workshop) -> None:
    copy = library.with_name("libcrypto.a.before-everycore")
    copy.write_bytes(b"precious")
    refused(library, "is in the way", "--cc", "gcc")
    shutil.copy(workshop.patched(NATIVE).library, library)
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
    symbol: str, workshop: Workshop, tmp_path: Path
) -> None:
    before, library = TOOL.Library(workshop.library(NATIVE)), workshop.patched(NATIVE).library
    assert TOOL.prove(before, TOOL.Library(library), replaced_here()) > 0
    subprocess.run(
        ["objcopy", f"--redefine-sym={symbol}=lost", library, tmp_path / "lost.a"], check=True
    )
    with pytest.raises(TOOL.PatchError):
        TOOL.prove(before, TOOL.Library(tmp_path / "lost.a"), replaced_here())


def test_code_that_has_changed_is_noticed(workshop: Workshop, tmp_path: Path) -> None:
    before = TOOL.Library(workshop.library(NATIVE))
    data = workshop.patched(NATIVE).library.read_bytes()
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
