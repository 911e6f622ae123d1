# SPDX-License-Identifier: MIT
"""The model of KMA that stands for a z14 on Hercules, asked by a program of a few instructions."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from library_reads import reads_all
from world import PACKAGE

pytestmark = [
    reads_all,
    pytest.mark.skipif(
        not shutil.which("hercules"), reason="no hercules: apt-get install hercules"
    ),
    pytest.mark.skipif(
        not shutil.which("s390x-linux-gnu-gcc"),
        reason="no s390x-linux-gnu-gcc: apt-get install gcc-s390x-linux-gnu libc6-dev-s390x-cross",
    ),
]
SECONDS = 60
ILLEGAL, MEMORY = 128 + 4, 128 + 11

# Words: flags and function of register 0, bytes of associated data, bytes of text, and what is
# wrong or special. KMA is repeated while its condition code is 3.
SOURCE = r"""
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Test case 4 of D. McGrew, J. Viega, "The Galois/Counter Mode of Operation (GCM)", 2005. */
static const char KEY[] = "feffe9928665731c6d6a8f9467308308", IV[] = "cafebabefacedbaddecaf888",
                  AAD[] = "feedfacedeadbeeffeedfacedeadbeefabaddad2",
                  TEXT[] = "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
                           "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39";

static struct parameters {
    uint8_t zeros[12];
    uint32_t counter;
    uint8_t hash[16], hash_key[16];
    uint64_t aad_bits, text_bits;
    uint8_t j0[16], key[16];
} p = {.counter = 1};
static uint8_t aad[64], in[64], out[64];
static uint64_t facilities[8];

static void bytes(uint8_t *to, const char *digits)
{
    for (unsigned byte; sscanf(digits, "%2x", &byte) == 1; digits += 2)
        *to++ = (uint8_t)byte;
}

/* In the name of the library's detection, for the runner looks for it. */
__attribute__((noinline)) int evc_cpu_features(void)
{
    register uint64_t n __asm__("0") = 7;
    int cc;

    __asm__ volatile(".insn s, 0xb2b00000, %1\n ipm %0\n srl %0, 28"
                     : "=d"(cc), "=Q"(facilities), "+d"(n) : : "cc");
    return 10 * (int)(n & 255) + cc;
}

#define KMA(how)                                                                          \
    do {                                                                                  \
        register uint64_t r0 __asm__("0") = flags;                                        \
        register void *r1 __asm__("1") = &p;                                              \
        register uint8_t *r2 __asm__("2") = a, *r4 __asm__("4") = i, *r6 __asm__("6") = o; \
        register uint64_t r3 __asm__("3") = n_aad, r5 __asm__("5") = n_text;              \
        __asm__ volatile(".insn rrf, 0xb9290000, " how "\n ipm %0\n srl %0, 28"           \
                         : "=d"(cc), "+d"(r2), "+d"(r3), "+d"(r4), "+d"(r5), "+d"(r6)     \
                         : "d"(r0), "d"(r1)                                               \
                         : "cc", "memory");                                               \
        a = r2, n_aad = r3, i = r4, n_text = r5, o = r6;                                  \
    } while (0)

int main(int count, char **words)
{
    uint64_t flags = strtoull(words[1], NULL, 16), n_aad = strtoull(words[2], NULL, 10),
             n_text = strtoull(words[3], NULL, 10);
    const char *what = count > 4 ? words[4] : "";
    const uint64_t n_all = n_text;
    uint8_t *a = aad, *i = in, *o = out, *page;
    int cc, n_calls = 0, gone_wrong = 0;

    bytes(p.key, KEY), bytes(p.j0, IV), bytes(aad, AAD), bytes(in, TEXT);
    p.j0[15] = 1;
    p.aad_bits = 8 * n_aad, p.text_bits = 8 * n_text;
    page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(page + 4096, 4096, PROT_NONE);
    if (strcmp(what, "zeros") == 0)
        p.zeros[11] = 1;
    if (strcmp(what, "guarded-aad") == 0)
        a = page + 4096 - n_aad + 1;
    if (strcmp(what, "guarded-in") == 0)
        i = page + 4096 - n_text + 1;
    if (strcmp(what, "guarded-out") == 0)
        o = page + 4096 - n_text + 1;
    if (strcmp(what, "beside-guards") == 0)
        o = memcpy(page + 4096 - n_text, out, n_text);
    if (strcmp(what, "query") == 0) {
        int found = evc_cpu_features();
        KMA("%5, %3, %1, 0");
        printf("%d %d %d", found, (int)(facilities[2] >> (191 - 146) & 1), cc);
        printf(" %016lx\n", *(uint64_t *)&p);
        return 0;
    }
    if (strcmp(what, "odd") == 0)
        KMA("%%r7, %3, %1, 0");
    if (strcmp(what, "zero") == 0)
        KMA("%5, %3, %%r0, 0");
    if (strcmp(what, "same") == 0)
        KMA("%5, %3, %3, 0");
    do {
        const uint64_t before = n_aad + n_text;
        KMA("%5, %3, %1, 0");
        n_calls++;
        gone_wrong |= cc == 3 && before && n_aad + n_text == before;
        if (!(flags & 0x400) && cc == 3)
            gone_wrong |= p.hash_key[0] != 0xb8; /* H of the paper */
    } while (cc == 3);
    printf("cc %d left %d calls %d wrong %d counter %u ", cc, (int)(n_aad + n_text), n_calls,
           gone_wrong, p.counter);
    for (int k = 0; k < 16; k++)
        printf("%02x", p.hash[k]);
    printf(" %02x%02x\n", o[-1], out[n_all]);
    return 0;
}
"""
TAG = "5bc94fbc3221a5db94fae95ae7121a47"
LAST_TEXT, LAST_AAD, AES_128 = 0x100, 0x200, 18
WHOLE = LAST_TEXT | LAST_AAD | AES_128


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("z14")
    (folder / "kma.c").write_text(SOURCE)
    words = ["s390x-linux-gnu-gcc", "-O1", "-static", "-no-pie", "kma.c", "-o", "kma"]
    subprocess.run(words, check=True, capture_output=True, cwd=folder)
    return folder / "kma"


def on_z(
    program: Path, r0: int, n_aad: int, n_text: int, *words: str, cpu: str = "3906", parts: int = 0
) -> subprocess.CompletedProcess[str]:
    """Run the program. What hangs fails."""
    paths = os.pathsep.join([str(PACKAGE.parent), os.environ.get("PYTHONPATH", "")])
    given: list[str | Path] = [program, f"{r0:x}", str(n_aad), str(n_text), *words]
    return subprocess.run(
        [
            sys.executable,
            "-m",
            "everycore.run.hercules.z_machine",
            "--cpu",
            cpu,
            "--parts",
            str(parts),
            *given,
        ],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
        env={**os.environ, "PYTHONPATH": paths},
    )


def test_a_published_message_has_its_tag_in_one_call(program: Path) -> None:
    done = on_z(program, WHOLE, 20, 60)
    assert done.stdout == f"cc 0 left 0 calls 1 wrong 0 counter 5 {TAG} 9100\n", done.stderr


def test_a_message_that_stops_early_goes_on_to_the_same_tag(program: Path) -> None:
    calls = set()
    for seed in range(1, 9):
        done = on_z(program, WHOLE, 20, 60, parts=seed)
        first, _, rest = done.stdout.partition(" calls ")
        number, _, rest = rest.partition(" ")
        calls.add(number)
        assert (first, rest) == ("cc 0 left 0", f"wrong 0 counter 5 {TAG} 9100\n"), done.stderr
    assert len(calls) > 1, "no seed, or every seed, stops early"


def test_pieces_end_with_a_condition_code_of_their_own(program: Path) -> None:
    done = on_z(program, AES_128, 16, 0)
    assert done.stdout.startswith("cc 2 left 0 calls 1 wrong 0 counter 1 "), done.stderr
    done = on_z(program, LAST_AAD | AES_128, 20, 48)
    assert done.stdout.startswith("cc 2 left 0 calls 1 wrong 0 counter 4 "), done.stderr


def test_the_query_and_the_facility_tell_of_kma_on_a_z14_alone(program: Path) -> None:
    done = on_z(program, 0, 0, 0, "query")
    number, has, code, functions = done.stdout.split()
    assert (has, code, functions) == ("1", "0", "8000380000000000"), done.stderr
    assert int(number) // 10 >= 2, "STFLE says that there are fewer than three doublewords"
    done = on_z(program, 0, 0, 0, "query", cpu="2827")
    assert done.returncode == ILLEGAL


@pytest.mark.parametrize(
    ("r0", "n_aad", "n_text", "words", "said"),
    [
        (WHOLE | 0x800, 20, 60, (), "a reserved bit of register 0"),
        (WHOLE, 20, 60, ("zeros",), "reserved bytes of the parameters"),
        (AES_128, 20, 0, (), "without the last associated data"),
        (AES_128, 16, 16, (), "without the last associated data"),
        (LAST_TEXT | AES_128, 16, 0, (), "without the last associated data"),
        (LAST_AAD | AES_128, 20, 60, (), "not the last of the text"),
        (WHOLE + 3, 20, 60, (), "a function that does not exist"),
        (WHOLE, 20, 60, ("odd",), "registers that it does not take"),
        (WHOLE, 20, 60, ("zero",), "registers that it does not take"),
        (WHOLE, 20, 60, ("same",), "registers that it does not take"),
    ],
)
def test_what_the_definition_forbids_ends_the_program(
    program: Path, r0: int, n_aad: int, n_text: int, words: tuple[str, ...], said: str
) -> None:
    done = on_z(program, r0, n_aad, n_text, *words)
    assert done.returncode == ILLEGAL
    assert done.stderr.startswith("KMA: ")
    assert said in done.stderr


def test_memory_that_may_not_be_used_is_a_fault(program: Path) -> None:
    for what in ("guarded-aad", "guarded-in", "guarded-out"):
        assert on_z(program, WHOLE, 20, 60, what).returncode == MEMORY, what
    assert f" {TAG} 9100" in on_z(program, WHOLE, 20, 60, "beside-guards").stdout
