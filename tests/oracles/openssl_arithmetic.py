#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The arithmetic inside OpenSSL, without OpenSSL: openssl_arithmetic.py [--breaks N]

Two programs call files of contrib/openssl/everycore, and have the functions of OpenSSL that these
need: tests/oracles/openssl/powers.c (exponent.c) and tests/oracles/openssl/products.c
(montgomery.c, mod_word.c). They run on this CPU, and under QEMU on PA-RISC, where powers are made
by digits; there also with an instruction that is wrong, so that words are taken. Then each break of
a build is made in a copy of the sources, and its program has to fail. --breaks draws so many of
them, others for each commit from which the branch began.
"""

import argparse
import dataclasses
import pathlib
import shutil
import subprocess
import sys
import tempfile
import zlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
from changed_files import base_of

FOLDER = "contrib/openssl/everycore"
DIGITS, EXPONENT = f"{FOLDER}/digits.h", f"{FOLDER}/exponent.c"
MONTGOMERY, MOD_WORD = f"{FOLDER}/montgomery.c", f"{FOLDER}/mod_word.c"
POWERS, PRODUCTS = "tests/oracles/openssl/powers.c", "tests/oracles/openssl/products.c"
ASSEMBLY = ("src/bn/hppa_fmpyadd_asm.S", "src/bn/hppa_xmpyu_asm.S", "src/bn_words/hppa_xmpyu_asm.S")
FLAGS = ("-O1", "-Wall", "-Wextra", "-Iinclude", "-Isrc")
SWAPPED = "-DEVC_HPPA_FMPYADD_SWAPPED"  # src/common/hppa_fmpyadd.h
SECONDS = 120

Break = tuple[str, str, str, str]  # what, file, old, new


@dataclasses.dataclass(frozen=True)
class Build:
    name: str
    test: str
    units: tuple[str, ...]  # files of contrib/openssl/everycore
    arguments: tuple[str, ...] = ()
    compiler: str = "cc"
    emulator: str = ""
    flags: tuple[str, ...] = ()
    others: tuple[str, ...] = ()  # files that are linked, too
    breaks: tuple[Break, ...] = ()


BY_DIGITS: tuple[Break, ...] = (
    ("a word that is marked as secret", DIGITS, " && !(a->flags & BN_FLG_CONSTTIME);", ";"),
    ("registers that hold digits", DIGITS, "    evc_clear(&evc_bn_hppa_fmpyadd.kernel);\n", ""),
    (
        "memory that holds digits",
        DIGITS,
        "CRYPTO_clear_free(memory, memory_bytes,",
        "CRYPTO_clear_free(memory, memory_bytes / 2,",
    ),
    ("no memory", DIGITS, "    if (!memory)\n        return 0;\n", ""),
    (
        "no memory, and no result",
        DIGITS,
        "    if (!memory)\n        return 0;\n",
        "    if (!memory)\n        return 1;\n",
    ),
    (
        "no room for the result",
        DIGITS,
        "bn_wexpand(r, (int)n_words) == NULL)",
        "bn_wexpand(r, (int)n_words) == NULL && n_words == 0)",
    ),
    (
        "no room, and no result",
        DIGITS,
        "__FILE__, __LINE__);\n        return 0;",
        "__FILE__, __LINE__);\n        return 1;",
    ),
    (
        "memory that is lost",
        DIGITS,
        "        CRYPTO_clear_free(memory, 1, __FILE__, __LINE__);\n",
        "",
    ),
    ("the longest exponent", DIGITS, " || p->top > MOST_DIGIT_WORDS", ""),
    (
        "an exponent at the limit",
        DIGITS,
        " || p->top > MOST_DIGIT_WORDS",
        " || p->top >= MOST_DIGIT_WORDS",
    ),
    ("the shortest exponent", DIGITS, "p->top < 1 || ", ""),
    ("the longest modulus", DIGITS, " || n_words > MOST_DIGIT_WORDS", ""),
    ("the shortest modulus", DIGITS, "n_words < FEWEST_DIGIT_WORDS || ", ""),
    ("the highest byte of a modulus", DIGITS, " ||\n        m->d[n_words - 1] >> 24 == 0", ""),
    ("no BN_MONT_CTX", DIGITS, "!mont || n_words", "n_words"),
    ("the modulus of a BN_MONT_CTX", DIGITS, "mont->N.top != n_words || ", ""),
    ("the length of R", DIGITS, "mont->ri != n_words * EVC_BN_WORD_BITS ||", ""),
    ("the length of R^2", DIGITS, " ||\n        mont->RR.top > n_words", ""),
    ("a base below zero", DIGITS, "a->neg || ", ""),
    ("a base that is too long", DIGITS, "a->top > n_words || ", ""),
    (
        "a base that is not below the modulus",
        DIGITS,
        "is_below(a, mont->N.d, (size_t)n_words) != 0 && ",
        "",
    ),
    ("the sign of the result", DIGITS, "    r->neg = 0;\n", ""),
    ("the length of the result", DIGITS, "    bn_correct_top(r);\n", ""),
    (
        "R of a short modulus",
        DIGITS,
        "    for (uint32_t i = at_once; i < doubled; i++)\n",
        "    if (doubled == 1)\n",
    ),
    (
        "the status of the first of two powers",
        EXPONENT,
        "ctx, in_mont2) & done;",
        "ctx, in_mont2);",
    ),
    (
        "the status of the second of two powers",
        EXPONENT,
        "    return BN_mod_exp_mont_consttime(rr2, a2, p2, m2, ctx, in_mont2) & done;",
        "    BN_mod_exp_mont_consttime(rr2, a2, p2, m2, ctx, in_mont2);\n    return done;",
    ),
    (
        "the modulus of the second of two powers",
        EXPONENT,
        "(rr2, a2, p2, m2, ctx, in_mont2)",
        "(rr2, a2, p2, m2, ctx, in_mont1)",
    ),
    ("a power that is not secret", EXPONENT, "is_secret && is_by_digits", "is_by_digits"),
    ("the mark of a base", EXPONENT, "(a->flags | p->flags | m->flags)", "(p->flags | m->flags)"),
)

BY_WORDS: tuple[Break, ...] = (
    ("a word that is marked as secret", EXPONENT, "(a->flags & BN_FLG_CONSTTIME) || ", ""),
    ("a base of more words", EXPONENT, "a->top != 1 || ", "a->top < 1 || "),
    ("a base below zero", EXPONENT, "a->top != 1 || a->neg || ", "a->top != 1 || "),
    ("the smallest base", EXPONENT, "a->d[0] < 2", "a->d[0] < 1"),
    ("the shortest exponent", EXPONENT, " || p->top < 1 ||", " ||"),
    ("no BN_MONT_CTX", EXPONENT, " ||\n        !mont)\n", ")\n"),
    ("the longest modulus", EXPONENT, "n_words <= MOST_WORDS && ", ""),
    ("a modulus at the limit", EXPONENT, "n_words <= MOST_WORDS && ", "n_words < MOST_WORDS && "),
    ("the modulus of a BN_MONT_CTX", EXPONENT, "mont->N.top == n_words &&", ""),
    ("the length of R", EXPONENT, "mont->ri == n_words * EVC_BN_WORD_BITS &&", "mont->ri &&"),
    (
        "moduli for which sums take long",
        EXPONENT,
        "#define WORD_SUM_BITS 512 ",
        "#define WORD_SUM_BITS 448 ",
    ),
    (
        "moduli for which sums take less time",
        EXPONENT,
        "#define WORD_SUM_BITS 512 ",
        "#define WORD_SUM_BITS 513 ",
    ),
    ("the carry above a sum", EXPONENT, " & (above ^ 1);", ";"),
    (
        "the word of the first bits of an exponent",
        EXPONENT,
        "i ^ exponent / EVC_BN_WORD_BITS",
        "i ^ exponent / EVC_BN_WORD_BITS / 2",
    ),
    (
        "a sum for a bit of the base",
        EXPONENT,
        "        if (base & bit)\n",
        "        if (base & bit & 1)\n",
    ),
    (
        "no number to help",
        EXPONENT,
        "if (!a || bn_wexpand(a, (int)n_words) == NULL)",
        "if (bn_wexpand(a, (int)n_words) == NULL)",
    ),
    (
        "no room for a number",
        EXPONENT,
        "if (!a || bn_wexpand(a, (int)n_words) == NULL)",
        "if (!a || (bn_wexpand(a, (int)n_words), n_words == 0))",
    ),
    (
        "no room for the third number",
        EXPONENT,
        " && zero(s.z, s.n_words))",
        " && (zero(s.z, s.n_words) || s.z))",
    ),
    (
        "a product that fails, the first",
        EXPONENT,
        "    if (!bn_mul_mont_fixed_top(s->x, s->x, &mont->RR, mont, ctx))\n        return 0;\n",
        "    bn_mul_mont_fixed_top(s->x, s->x, &mont->RR, mont, ctx);\n",
    ),
    (
        "a product that fails, a square",
        EXPONENT,
        "        if (!bn_mul_mont_fixed_top(s->x, s->x, s->x, mont, ctx))\n            return 0;\n",
        "        bn_mul_mont_fixed_top(s->x, s->x, s->x, mont, ctx);\n",
    ),
    (
        "a product that fails, the last",
        EXPONENT,
        "    if (!bn_mul_mont_fixed_top(r, s->x, s->y, mont, ctx))\n        return 0;\n",
        "    bn_mul_mont_fixed_top(r, s->x, s->y, mont, ctx);\n",
    ),
    ("the length of the result", EXPONENT, "    bn_correct_top(r);\n", ""),
    (
        "a number that is not wiped, the first",
        EXPONENT,
        "        OPENSSL_cleanse(s.x->d, s.n_words * sizeof *s.x->d);\n",
        "",
    ),
    (
        "a number that is not wiped, the second",
        EXPONENT,
        "        OPENSSL_cleanse(s.y->d, s.n_words * sizeof *s.y->d);\n",
        "",
    ),
    (
        "a number that is not wiped, the third",
        EXPONENT,
        "        OPENSSL_cleanse(s.z->d, s.n_words * sizeof *s.z->d);\n",
        "",
    ),
    (
        "numbers that are not given back",
        EXPONENT,
        "    BN_CTX_end(ctx);\n    return done;",
        "    if (done)\n        BN_CTX_end(ctx);\n    return done;",
    ),
    (
        "the mark of an exponent",
        EXPONENT,
        "(a->flags | p->flags | m->flags)",
        "(a->flags | m->flags)",
    ),
    (
        "the mark of a modulus",
        EXPONENT,
        "(a->flags | p->flags | m->flags)",
        "(a->flags | p->flags)",
    ),
    ("a power that is not secret", EXPONENT, "is_secret && is_by_words", "is_by_words"),
)

WRONG: tuple[Break, ...] = (
    ("an instruction that is wrong", DIGITS, " != 0 && evc_hppa_fmpyadd_is_right();", " != 0;"),
)


BY_COLUMNS: tuple[Break, ...] = (
    ("a first operand that is too short", MONTGOMERY, "a->top != n_words || ", ""),
    ("a second operand that is too short", MONTGOMERY, "b->top != n_words ||", ""),
    ("the length of R", MONTGOMERY, " ||\n        mont->ri != n_words * EVC_BN_WORD_BITS)", ")"),
    ("the sign of a product", MONTGOMERY, "r->neg = a->neg ^ b->neg;", "r->neg = 0;"),
    ("the length of a product", MONTGOMERY, "    r->top = n_words;\n    r->flags", "    r->flags"),
    ("the mark of a product", MONTGOMERY, "    r->flags |= BN_FLG_FIXED_TOP;\n", ""),
    (
        "no room for a product",
        MONTGOMERY,
        "bn_wexpand(r, n_words) == NULL)\n        return 0;",
        "bn_wexpand(r, n_words) == NULL)\n        return 1;",
    ),
    ("room that is there", MONTGOMERY, "r->dmax < n_words && ", ""),
    (
        "the number that enters a form",
        MONTGOMERY,
        "return bn_mul_mont_fixed_top(r, a, &mont->RR, mont, ctx);",
        "return bn_mul_mont_fixed_top(r, a, a, mont, ctx);",
    ),
    (
        "zeros above a product",
        MONTGOMERY,
        "    bn_correct_top(r);\n    return done;",
        "    return done;",
    ),
    (
        "the status of a product",
        MONTGOMERY,
        "    bn_correct_top(r);\n    return done;",
        "    bn_correct_top(r);\n    return 1;",
    ),
    ("the shortest modulus", MONTGOMERY, "((n_words) >= 4 && ", "((n_words) >= 3 && "),
    ("the longest modulus", MONTGOMERY, ">= 4 && (n_words) <= MOST_WORDS)", ">= 4)"),
    (
        "a modulus at the limit",
        MONTGOMERY,
        ">= 4 && (n_words) <= MOST_WORDS)",
        ">= 4 && (n_words) < MOST_WORDS)",
    ),
    ("a modulus that is not wiped", MONTGOMERY, "    OPENSSL_cleanse(modulus.n, n_bytes);\n", ""),
    ("sums that are not wiped", MONTGOMERY, "    OPENSSL_cleanse(scratch, 3 * n_bytes);\n", ""),
    (
        "products that are taken for squares",
        MONTGOMERY,
        "if (a->d == b->d)\n",
        "if (a->top == b->top)\n",
    ),
    ("a divisor of 0", MOD_WORD, "return (BN_ULONG)-1;", "return 0;"),
    ("a divisor that is not wiped", MOD_WORD, "    OPENSSL_cleanse(&divisor, sizeof divisor);", ""),
    ("a number of less than no words", MOD_WORD, "a->top < 0 ? 0 : ", ""),
)

BY_BLOCKS: tuple[Break, ...] = (
    (
        "a modulus that fills no block",
        MONTGOMERY,
        "((n_words) % 8 == 0 && ",
        "((n_words) % 4 == 0 && ",
    ),
    (
        "the longest modulus",
        MONTGOMERY,
        "(n_words) >= 8 && (n_words) <= MOST_WORDS_TO_REDUCE)",
        "(n_words) >= 8)",
    ),
    (
        "a modulus at the limit",
        MONTGOMERY,
        "(n_words) <= MOST_WORDS_TO_REDUCE)",
        "(n_words) < MOST_WORDS_TO_REDUCE)",
    ),
    (
        "products that are longer than memory for them",
        MONTGOMERY,
        "mont->N.top > MOST_WORDS)",
        "mont->N.top > MOST_WORDS + 8)",
    ),
    ("no number to help", MONTGOMERY, "if (t && (a == b", "if ((a == b"),
    (
        "a product that fails",
        MONTGOMERY,
        "(a == b ? bn_sqr_fixed_top(t, a, ctx) : bn_mul_fixed_top(t, a, b, ctx)) &&",
        "((a == b ? bn_sqr_fixed_top(t, a, ctx) : bn_mul_fixed_top(t, a, b, ctx)), 1) &&",
    ),
    (
        "no room for a long product",
        MONTGOMERY,
        "bn_wexpand(t, 2 * n_words) != NULL)",
        "(bn_wexpand(t, 2 * n_words), 1))",
    ),
    ("what is above a product", MONTGOMERY, "            t->d[i] = 0;\n", "            ;\n"),
    (
        "numbers that are not given back",
        MONTGOMERY,
        "    BN_CTX_end(ctx);\n    return done;",
        "    return done;",
    ),
    (
        "the status of a long product",
        MONTGOMERY,
        "    if (!multiply(r, a, b, mont, ctx))\n        return 0;\n",
        "    multiply(r, a, b, mont, ctx);\n",
    ),
    (
        "the sign of a difference of halves",
        MONTGOMERY,
        "    above -= sub_words(middle, middle, other, n_words);\n",
        "    above += add_words(middle, middle, other, n_words);\n",
    ),
    (
        "the absolute value of a difference",
        MONTGOMERY,
        "0u - sub_words(d, a, a + half, half)",
        "0u * sub_words(d, a, a + half, half)",
    ),
    (
        "the carry of a negative number",
        MONTGOMERY,
        "        carry = (BN_ULONG)(sum >> 32);\n",
        "        carry = 0;\n",
    ),
    (
        "the carry above the middle",
        MONTGOMERY,
        "    add_word(t + half + n_words, above, half);\n",
        "",
    ),
    (
        "halves that are not wiped",
        MONTGOMERY,
        "    OPENSSL_cleanse(room, 5 * half * sizeof *room);\n",
        "",
    ),
    (
        "products that are taken for squares",
        MONTGOMERY,
        "    else if (a == b)\n",
        "    else if (n_words)\n",
    ),
)


class FailedError(Exception):
    """A message that says why a build cannot be tested, or is wrong without a break."""


def run(words: list[str], cwd: pathlib.Path) -> None:
    done = subprocess.run(
        words,
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode != 0:
        raise FailedError(f"{' '.join(words)}: {done.stderr.strip()[-500:]}")


def compiled(build: Build, folder: pathlib.Path, source: str, *options: str) -> str:
    target = f"{build.name}-{source.replace('/', '_')}.o"
    run([build.compiler, *FLAGS, *build.flags, *options, "-c", source, "-o", target], folder)
    return target


def linked(build: Build, folder: pathlib.Path, objects: list[str]) -> str:
    program = f"program-{build.name}"
    run([build.compiler, *(["-static"] if build.emulator else []), *objects, "-o", program], folder)
    return program


def complaint(build: Build, folder: pathlib.Path, program: str, *words: str) -> str:
    """Return what the program says if it fails, or an empty text if it passes."""
    command = [build.emulator] if build.emulator else []
    command += [str(folder / program), *build.arguments, *words]
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "it does not end"
    if done.returncode == 2:
        raise FailedError(f"{' '.join(command)}: {done.stderr.strip()}")
    return f"{done.returncode}: {done.stdout[-1500:]}" if done.returncode != 0 else ""


def unit_of(file: str) -> str:
    """Return what is compiled of a file."""
    return EXPONENT if file == DIGITS else file


def try_build(build: Build, folder: pathlib.Path) -> tuple[int, int]:
    """Return how many breaks are noticed and how many are not. The unbroken build counts as one
    that is noticed.
    """
    objects = [compiled(build, folder, unit, "-Werror") for unit in build.units]
    objects += [compiled(build, folder, source) for source in (build.test, *build.others)]
    if said := complaint(build, folder, linked(build, folder, objects)):
        raise FailedError(f"{build.name}: unbroken, the program ends with {said}")
    unnoticed = 0
    for (what, file, old, new), following in zip(
        build.breaks, [*(break_[1] for break_ in build.breaks[1:]), ""], strict=False
    ):
        good = (folder / file).read_text()
        if old not in good:
            raise FailedError(f"{what}: {file} no longer says {old!r}")
        unit = unit_of(file)
        (folder / file).write_text(good.replace(old, new, 1))
        compiled(build, folder, unit, "-w")
        if not complaint(build, folder, linked(build, folder, objects), "first"):
            unnoticed += 1
            print(f"FAILED: {build.name}: {what}: broken, and each test passes")
        (folder / file).write_text(good)
        if following and unit_of(following) != unit:
            compiled(build, folder, unit, "-w")
    return 1 + len(build.breaks) - unnoticed, unnoticed


def native_builds() -> list[Build]:
    """Return the builds for this CPU: words of its own size and of 32 bits; numbers as OpenSSL 3
    and 4 have them.
    """
    version, products = ("-DEVC_OPENSSL_MAJOR=3",), (MONTGOMERY, MOD_WORD)
    return [
        Build("native", POWERS, (EXPONENT,), ("words",), flags=version, breaks=BY_WORDS),
        Build("native-4", POWERS, (EXPONENT,), ("words",), flags=("-DEVC_OPENSSL_MAJOR=4",)),
        Build("columns", PRODUCTS, products, flags=version),
        Build(
            "columns-32",
            PRODUCTS,
            products,
            flags=(*version, "-DEVC_BN_WORD_BITS=32"),
            breaks=BY_COLUMNS,
        ),
    ]


def hppa_builds() -> list[Build]:
    """Return the builds for PA-RISC: fmpyadd as the emulator has it, and the other one; products by
    xmpyu.
    """
    compiler, emulator = "hppa-linux-gnu-gcc", "qemu-hppa"
    is_swapped = False
    if shutil.which(emulator):
        said = subprocess.run(
            [emulator, "--version"], capture_output=True, text=True, check=True
        ).stdout
        is_swapped = " version 7." in said
    version = "-DEVC_OPENSSL_MAJOR=3"
    right, wrong = (
        ((version, SWAPPED), (version,)) if is_swapped else ((version,), (version, SWAPPED))
    )
    return [
        Build(
            "hppa-digits",
            POWERS,
            (EXPONENT,),
            ("digits",),
            compiler,
            emulator,
            right,
            ASSEMBLY,
            BY_DIGITS,
        ),
        Build(
            "hppa-words",
            POWERS,
            (EXPONENT,),
            ("words",),
            compiler,
            emulator,
            wrong,
            ASSEMBLY,
            WRONG,
        ),
        Build(
            "hppa-blocks",
            PRODUCTS,
            (MONTGOMERY, MOD_WORD),
            (),
            compiler,
            emulator,
            right,
            ASSEMBLY,
            BY_BLOCKS,
        ),
    ]


def drawn(builds: list[Build], n_breaks: int) -> list[Build]:
    """Return the builds with so many breaks of all."""
    base = base_of()

    def place(each: tuple[str, Break]) -> int:
        name, (what, *_) = each
        return zlib.crc32(f"{base}{name}{what}".encode())

    every = [(build.name, each) for build in builds for each in build.breaks]
    chosen = set(sorted(every, key=place)[:n_breaks])
    return [
        dataclasses.replace(
            build, breaks=tuple(each for each in build.breaks if (build.name, each) in chosen)
        )
        for build in builds
    ]


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--breaks", type=int, metavar="N", help="so many, not all")
    n_breaks = parser.parse_args().breaks
    builds = [*native_builds(), *hppa_builds()]
    if n_breaks is not None:
        builds = drawn(builds, n_breaks)
    passed = failed = skipped = 0
    for build in builds:
        if absent := [
            name for name in (build.compiler, build.emulator) if name and not shutil.which(name)
        ]:
            print(f"skipped: {build.name}: no {', '.join(absent)}")
            skipped += 1
            continue
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            for part in ("src", "include", FOLDER, "tests/oracles/openssl"):
                shutil.copytree(ROOT / part, folder / part)
            (folder / "tests/unit").mkdir()
            shutil.copy(ROOT / "tests/unit/tap.h", folder / "tests/unit")
            try:
                good, bad = try_build(build, folder)
            except FailedError as failure:
                print(f"FAILED: {failure}")
                good, bad = 0, 1
        passed += good
        failed += bad
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
