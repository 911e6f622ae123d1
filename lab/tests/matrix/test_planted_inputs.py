# SPDX-License-Identifier: MIT
"""Functions that are wrong for few inputs, planted: the matrix has to find each."""

import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from matrix.cells import pipeline
from world import Lab

from everycore import subjects
from everycore.binary.disassembly import can_read_code
from everycore.compile.catalog import find_tree
from everycore.compile.toolchains.installed import installed
from everycore.environment.context import SystemRunner
from everycore.environment.errors import EverycoreError
from everycore.matrix import anomalies, bugs
from everycore.matrix.cell_pipeline import CellPipeline
from everycore.matrix.failures import group_failures
from everycore.matrix.leaks import Suspect
from everycore.matrix.time_limits import Limits
from everycore.model.cells import Cell, Outcome, Result
from everycore.model.domain import Target
from everycore.subjects import sweep
from everycore.subjects.describe import load_subject

pytestmark = pytest.mark.slow

# By name: its entry in the TOML beside `call`, its call, its parameters, and its body. With PLANTED
# the condition WHEN(...) changes an answer.
PLANTED: Mapping[str, tuple[str, str, str]] = {
    "padding": (  # the last byte says how many bytes of padding there are
        "output = 1",
        "*out = padding(in, n_bytes)",
        """unsigned char padding(const unsigned char *in, size_t n)
        {
            unsigned pad = n ? in[n - 1] : 0;
            return (unsigned char)((pad == 0 || pad > 16 || pad > n) ^ WHEN(pad == 16 && n >= 16));
        }""",
    ),
    "turned-key": (  # a word of the key is compared with itself, turned
        "output = 4",
        "turned_key(out, key)",
        """void turned_key(unsigned char *out, const unsigned char *key)
        {
            unsigned w = load(key);
            store(out, w ^ WHEN(w == (w << 8 | w >> 24)));
        }""",
    ),
    "zero-key": (
        "",
        "zero_key(out, in, n_bytes, key)",
        """void zero_key(unsigned char *out, const unsigned char *in, size_t n, const void *secret)
        {
            const unsigned char *key = secret;
            unsigned sum = 0;
            for (int i = 0; i < 32; i++)
                sum |= key[i];
            for (size_t i = 0; i < n; i++)
                out[i] = (unsigned char)(in[i] ^ key[i % 32] ^ WHEN(sum == 0));
        }""",
    ),
    "equal-prefix": (  # of two halves, the shorter common beginning is compared
        "output = 1",
        "*out = equal_prefix(in, n_bytes)",
        """unsigned char equal_prefix(const unsigned char *in, size_t n)
        {
            size_t same = 0;
            while (same < n / 2 && in[same] == in[n / 2 + same])
                same++;
            return (unsigned char)((same < n / 2) ^ WHEN(same > 3 && same < n / 2));
        }""",
    ),
    "tag-and-key": (
        "output = 1",
        "*out = tag_and_key(in, n_bytes, key)",
        """unsigned char tag_and_key(const unsigned char *in, size_t n, const unsigned char *key)
        {
            size_t same = 0;
            while (same < 16 && same < n && in[same] == key[same])
                same++;
            return (unsigned char)((same < 16) ^ WHEN(same > 7));
        }""",
    ),
    "ones-of-100": (
        "output = 1",
        "*out = ones_of_100(in, n_bytes)",
        """unsigned char ones_of_100(const unsigned char *in, size_t n)
        {
            unsigned char any = 0, all = 0xff;
            for (size_t i = 0; i < n; i++)
                any |= in[i], all &= in[i];
            return (unsigned char)(any ^ WHEN(n == 100 && all == 0xff));
        }""",
    ),
    "zeros-of-16": (
        "output = 1",
        "*out = zeros_of_16(in, n_bytes)",
        """unsigned char zeros_of_16(const unsigned char *in, size_t n)
        {
            unsigned char any = 0;
            for (size_t i = 0; i < n; i++)
                any |= in[i];
            return (unsigned char)(any ^ WHEN(n == 16 && any == 0));
        }""",
    ),
    "short": ("", "xor_all(out, in, n_bytes, n_bytes < 16)", ""),
    "empty": ("output = 1", "*out = (unsigned char)(n_bytes ^ changed(n_bytes == 0))", ""),
    "of-33": ("", "xor_all(out, in, n_bytes, n_bytes == 33)", ""),
    "of-1023": ("", "xor_all(out, in, n_bytes, n_bytes == 1023)", ""),
    "zero-word": (
        "multiple_of = 4",
        "words_of(out, (const unsigned *)in, n_bytes / 4, 0)",
        "",
    ),
    "first-word": (
        "multiple_of = 16",
        "xor_all(out, in, n_bytes, n_bytes && *(const unsigned *)in == 0x80000000u)",
        "",
    ),
    "counter": (  # its carry goes through all bytes, in place
        "",
        "memcpy(out, in, n_bytes); count(out, n_bytes, iv)",
        """void count(unsigned char *out, size_t n, unsigned char *iv)
        {
            unsigned char all = 0xff;
            for (int i = 0; i < 16; i++)
                all &= iv[i];
            for (size_t i = 0; i < n; i++)
                out[i] ^= (unsigned char)(iv[i % 16] ^ WHEN(all == 0xff));
        }""",
    ),
    "prepared": (
        'setup = "memcpy(own, key, 32)"',
        "zero_key(out, in, n_bytes, own)",
        "",
    ),
    "of-192-bits": (
        "key_bits = [128, 192, 256]",
        "xor_all(out, in, n_bytes, key_bits == 192 && n_bytes == 5)",
        "",
    ),
}
# Functions for other tests.
OTHERS: Mapping[str, tuple[str, str, str]] = {
    "fragile": (
        "output = 1",
        "*out = fragile(n_bytes)",
        """unsigned char fragile(size_t n)
        {
        #ifdef CRASHES
            if (n == 7)
                *(volatile int *)8 = 1;
        #elif defined STAYS
            while (n == 7)
                __asm__ volatile("");
        #endif
            return (unsigned char)n;
        }""",
    ),
    "always": ("", "xor_all(out, in, n_bytes, 1)", ""),
    "of-36-or-more": ("minimum = 36", "xor_all(out, in, n_bytes, n_bytes < 36)", ""),
    "quick": (  # a cell that is fast, and wrong for one length
        "",
        "quick(out, in, n_bytes)",
        """void quick(unsigned char *out, const unsigned char *in, size_t n)
        {
        #ifndef PLANTED
            static volatile unsigned turns;
            for (turns = 0; turns < 999; turns++)
                ;
        #endif
            for (size_t i = 0; i < n; i++)
                out[i] = (unsigned char)(in[i] ^ WHEN(n == 33));
        }""",
    ),
    "shown": (
        "output = 1",
        "shown(in, n_bytes)",
        """void shown(const unsigned char *in, size_t n)
        {
            printf("text ");
            for (size_t i = 0; i < n; i++)
                printf("%02x", in[i]);
            puts("");
        }""",
    ),
    "shown-blocks": ("output = 1\nmultiple_of = 16", "shown(in, n_bytes)", ""),
}
EVERY = {**PLANTED, **OTHERS}
COMMON = """
#ifdef PLANTED
#define WHEN(condition) ((condition) ? 1u : 0u)
#else
#define WHEN(condition) ((condition) ? 0u : 0u)
#endif
unsigned changed(int condition) { return WHEN(condition); }
static unsigned load(const unsigned char *b)
{
    return b[0] | (unsigned)b[1] << 8 | (unsigned)b[2] << 16 | (unsigned)b[3] << 24;
}
static void store(unsigned char *b, unsigned w)
{
    for (int i = 0; i < 4; i++)
        b[i] = (unsigned char)(w >> 8 * i);
}
void xor_all(unsigned char *out, const unsigned char *in, size_t n, int condition)
{
    for (size_t i = 0; i < n; i++)
        out[i] = (unsigned char)(in[i] ^ WHEN(condition));
}
void words_of(void *out, const unsigned *in, size_t n_words, unsigned odd)
{
    for (size_t i = 0; i < n_words; i++)
        store((unsigned char *)out + 4 * i, in[i] ^ WHEN(in[i] == odd));
}
"""


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory, real_cache: Path) -> CellPipeline:
    """Compilers that are here, and a subject with all planted functions."""
    if not shutil.which("gcc"):
        pytest.skip("no gcc: apt-get install gcc libc6-dev")
    home = tmp_path_factory.mktemp("planted")
    bodies = [body for _, _, body in EVERY.values() if body]
    heads = [re.split(r"\n\s*\{", body)[0] + ";" for body in bodies]
    shared = re.findall(r"(?m)^(?:unsigned|void) .*\)(?=$| \{)", COMMON)
    header = "\n".join(
        [
            "#include <stddef.h>\n#include <stdio.h>",
            *heads,
            *(f"{declaration};" for declaration in shared),
        ]
    )
    (home / "planted.h").write_text(header + "\n")
    (home / "planted.c").write_text("\n".join(['#include "planted.h"', COMMON, *bodies]))
    toml = ['files = ["planted.c"]', 'includes = ["."]', 'header = "planted.h"']
    for name, (more, call, _) in EVERY.items():
        toml += [f"[functions.{name}]", f'call = "{call}"', more]
    (home / "planted.toml").write_text("\n".join(toml) + "\n")
    env = {"XDG_CACHE_HOME": str(real_cache), "PATH": os.environ["PATH"]}
    lab = Lab(SystemRunner(), home, env)
    tree = find_tree(lab.context().package)
    subject = load_subject(home / "planted.toml")
    toolchains = {toolchain.name: toolchain for toolchain in installed(lab.context(), tree)}
    return pipeline(lab.context(), tree, toolchains, {"planted": subject})


def cell_of(bench: CellPipeline, name: str, flags: str) -> Cell:
    gcc = [
        toolchain.name
        for toolchain in bench.resolver.toolchains.values()
        if toolchain.family == "gcc"
    ][-1]
    return Cell("planted", name, gcc, tuple(flags.split()), n_bytes=256)


def prepared(bench: CellPipeline, name: str, flags: str) -> Result:
    made = bench.prepare(bench.resolve(cell_of(bench, name, flags)))
    return made if isinstance(made, Result) else made.result


@pytest.mark.parametrize("name", PLANTED)
def test_a_function_that_is_wrong_for_few_inputs_is_called_wrong(
    bench: CellPipeline, name: str
) -> None:
    right = prepared(bench, name, "-O1")
    assert right.outcome is Outcome.MEASURED, right.reason
    assert (right.sweep, right.n_inputs) == (sweep.VERSION, sweep.N_INPUTS)
    wrong = prepared(bench, name, "-O1 -DPLANTED")
    assert wrong.outcome is Outcome.WRONG
    told = r"bytes?, input \d+ \(text: .*; key: .*; iv: .*\): the output is wrong"
    assert re.search(told, wrong.reason)
    assert wrong.given
    assert {"in", "key", "iv", "key_bits"} == {*wrong.given}


def test_of_what_is_always_wrong_an_input_is_shown_too(bench: CellPipeline) -> None:
    found = prepared(bench, "always", "-O1 -DPLANTED")
    assert (found.outcome, ", input " in found.reason) == (Outcome.WRONG, True)
    assert found.given


@pytest.mark.parametrize(
    ("flags", "outcome", "why"),
    [
        ("-DCRASHES", Outcome.CRASHED, "SIGSEGV: subject_fragile: 7 bytes, input"),
        ("-DSTAYS", Outcome.TIME_LIMIT, "subject_fragile: 7 bytes, input"),
    ],
)
def test_the_input_that_a_function_crashes_or_stays_with_is_named(
    bench: CellPipeline, flags: str, outcome: Outcome, why: str
) -> None:
    tools = replace(bench.tools, limits=Limits(run=2))
    found = prepared(replace(bench, tools=tools), "fragile", f"-O1 {flags}")
    assert found.outcome is outcome
    assert found.reason.startswith(why)


def test_no_right_cell_is_slow_beside_a_wrong_one(bench: CellPipeline) -> None:
    cells = [cell_of(bench, "quick", flags) for flags in ("-O1", "-O1 -DPLANTED", "-O1 -DOTHER")]
    found = {cell: bench.measure(bench.resolve(cell)) for cell in cells}
    outcomes = [result.outcome for result in found.values()]
    assert outcomes == [Outcome.MEASURED, Outcome.WRONG, Outcome.MEASURED]
    assert not [anomaly for anomaly in anomalies.find(found) if anomaly.neighbour == cells[1]]


def test_lengths_that_a_function_does_not_take_are_left_out(bench: CellPipeline) -> None:
    found = prepared(bench, "of-36-or-more", "-O1 -DPLANTED")
    assert found.outcome is Outcome.MEASURED, found.reason
    assert found.n_inputs == sweep.N_INPUTS
    if can_read_code():
        assert found.code
    assert min(Suspect(Path("p"), "f", Target("host", ""), 256, 4, 37).lengths) == 40


def test_equal_wrong_answers_are_one_group(bench: CellPipeline) -> None:
    results = [prepared(bench, name, "-O1 -DPLANTED") for name in ("zero-word", "zero-key")]
    like = [result.replace(cell=result.cell.replace(function="f")) for result in results]
    reasons = [result.reason.replace(result.reason.split(":")[0], "f") for result in like]
    assert reasons[0] != reasons[1]
    same = [result.replace(reason=said) for result, said in zip(like, reasons, strict=True)]
    assert len(group_failures(same)) == 1
    text = bugs.miscompilation(group_failures(results)[0], {})
    assert re.search(r"(?m)^input: +in = [0-9a-f]", text)


def program(bench: CellPipeline, target: str) -> list[str]:
    """The words that start the driver with the planted functions on a target."""
    tools, subject = bench.tools, bench.resolver.subjects["planted"]
    made = subjects.build(tools.context, tools.tree, subject, target_name=target)
    return [*made.target.emulator, str(made.binary)]


def test_inputs_are_the_same_on_a_big_endian_machine_of_32_bits(bench: CellPipeline) -> None:
    shown = []
    for name in ("host", "qemu-hppa"):
        try:
            words = program(bench, name)
            done = bench.tools.context.runner.run([*words, *swept(bench, "short", 150)])
        except EverycoreError as error:
            pytest.skip(error.message)
        shown.append(done.stdout)
    assert shown[0] == shown[1]
    assert shown[0].startswith("inputs 150 ")


def swept(bench: CellPipeline, name: str, most: int) -> list[str]:
    function = bench.resolver.subjects["planted"].function(name)
    return ["sweep", function.symbol, *sweep.words(function, 256, 60, most)]


@pytest.mark.parametrize(("name", "step"), [("shown", 1), ("shown-blocks", 16)])
def test_more_than_a_thousand_inputs_differ_and_all_lengths_are_among_them(
    bench: CellPipeline, name: str, step: int
) -> None:
    words = program(bench, "host")
    seen = bench.tools.context.runner.run([*words, *swept(bench, name, sweep.N_INPUTS)]).stdout
    texts = set(re.findall(r"(?m)^text (.*)$", seen))
    assert len(texts) > 1000
    lengths = {len(text) // 2 for text in texts}
    assert {*range(0, 131, step)} <= lengths
    assert {n for n in (512, 1023, 1024, 2048) if n % step == 0} <= lengths
    assert f"inputs {sweep.N_INPUTS} " in seen
