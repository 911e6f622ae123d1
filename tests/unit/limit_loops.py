# SPDX-License-Identifier: MIT
"""The loops of `harness limits` hold what their lines say.

limit_loops.py HARNESS OBJDUMP [Loops | Figures]

Each line names its functions and what their bodies hold; the disassembly of the harness is counted.
Figures, which a busy machine bends, are held against each other only when that class is asked for.
"""

import collections
import functools
import itertools
import json
import re
import statistics
import subprocess
import sys
import unittest
from typing import Any

# x86 mnemonics for the loads and stores of each width.
COPIES = {64: "mov", 128: "movdqa", 256: "vmovdqa", 512: "vmovdqa64"}
HARNESS: list[str] = []
OBJDUMP: list[str] = []


def limits(*arguments: str) -> list[dict[str, Any]]:
    command = [*HARNESS, "limits", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return [line for line in lines if line["type"] in ("limit", "arithmetic")]


@functools.cache
def loops() -> dict[str, collections.Counter[str]]:
    """Function -> how often its loop, from the jump's target to the jump, has each instruction."""
    command = [*OBJDUMP, "-d", "--no-show-raw-insn", *HARNESS]
    text = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout
    found = {}
    for block in text.split("\n\n"):
        name = re.match(r"\s*[0-9a-f]+ <(\w+)>:", block)
        back = re.search(r"\tjne +([0-9a-f]+) ", block)
        if name and back:
            body = re.split(rf"^ *{back[1]}:", block[: back.end()], flags=re.M)[-1]
            found[name[1]] = collections.Counter(map(plain, re.findall(r"\t(\w+)", body)))
    return found


def plain(word: str) -> str:
    """A multiplication has other names for other halves of its operands."""
    return re.sub("mul[hl]q[hl]qdq", "mulqdq", word)


class Loops(unittest.TestCase):
    def test_the_loop_of_an_instruction_holds_it_as_often_as_is_said(self) -> None:
        for line in limits("--only", "instructions", "--counter", "none"):
            word = line["instruction"]
            word = COPIES[line["width_bits"]] if word in ("load", "store") else word
            for name in filter(None, (line["chain"], line["streams"])):
                self.assertEqual(loops()[name][word], line["count"], name)

    def test_loads_and_stores_lie_side_by_side(self) -> None:
        """Some CPUs do as many as they can only within few lines of the cache."""
        command = [*OBJDUMP, "-d", "--no-show-raw-insn", *HARNESS]
        text = subprocess.run(
            command, capture_output=True, text=True, timeout=120, check=True
        ).stdout
        bodies = {block.partition(">:")[0].partition("<")[2]: block for block in text.split("\n\n")}
        for line in limits("--only", "instructions", "--counter", "none"):
            if line["instruction"] not in ("load", "store") or line["width_bits"] not in COPIES:
                continue
            body = re.split(r"\tj\w+ ", bodies[line["streams"]])[0].rpartition("\tnop")[2]
            places = re.findall(r"\t\w+ +(?:%\w+,)?(0x[0-9a-f]+)?\(%r\w\w\)", body)
            used = sorted({int(place or "0", 16) for place in places})
            if used:  # of x86
                self.assertEqual(
                    {after - at for at, after in itertools.pairwise(used)},
                    {line["width_bits"] // 8},
                    line["streams"],
                )

    def test_the_arithmetic_of_a_mode_holds_what_is_said_and_nothing_else(self) -> None:
        for line in limits("--only", "arithmetic", "--counter", "none"):
            held = {entry["instruction"]: entry["count"] for entry in line["holds"]}
            self.assertEqual(loops()[line["name"]], held | {"dec": 1, "jne": 1}, line["name"])

    def test_a_mode_has_one_loop_for_each_width_method_and_key_size(self) -> None:
        lines = limits("--only", "arithmetic", "--counter", "none")
        seen = [
            (mode, line["key_bits"], line["width_bits"], line["method"])
            for line in lines
            for mode in line["modes"]
        ]
        self.assertEqual(len(seen), len(set(seen)))
        self.assertLessEqual({128, 192, 256}, {key for mode, key, _, _ in seen if mode == "ctr"})

    def test_what_does_not_run_here_says_what_it_needs(self) -> None:
        for line in limits("--counter", "none"):
            if not line["runs"]:
                self.assertRegex(line["why"], "^needs ")

    def test_text_of_a_call_is_whole_rounds(self) -> None:
        for line in limits("--only", "arithmetic", "--counter", "none"):
            vectors = line["bytes"] * 8 // line["width_bits"]
            rounds = line["key_bits"] // 32 + 6  # FIPS 197 table 3
            for entry in line["holds"]:
                if "aes" in entry["instruction"]:
                    self.assertEqual(entry["count"], vectors * rounds, line["name"])
                else:
                    self.assertIn(entry["count"], (3 * vectors, 4 * vectors), line["name"])


class Figures(unittest.TestCase):
    """Factors of two and more."""

    def setUp(self) -> None:
        self.lines = limits("--samples", "5")

    def test_streams_are_no_slower_than_chains(self) -> None:
        for line in self.lines:
            if line["type"] == "limit" and line["latency_cycles"] and line["per_cycle"]:
                at_once = statistics.median(line["latency_cycles"]) * statistics.median(
                    line["per_cycle"]
                )
                self.assertGreater(at_once, 0.7, line["instruction"])
                self.assertLess(at_once, 64, line["instruction"])

    def test_chained_blocks_cost_more_than_independent_ones(self) -> None:
        cost = {
            line["name"]: statistics.median(line["cycles_per_byte"])
            for line in self.lines
            if line["type"] == "arithmetic" and line["cycles_per_byte"]
        }
        for key_bits in (128, 192, 256):
            chain, many = (cost.get(f"{name}_128_key_{key_bits}") for name in ("chain", "encrypt"))
            if chain and many:
                self.assertGreater(chain, 1.5 * many)


if __name__ == "__main__":
    OBJDUMP = [sys.argv.pop(2)]
    HARNESS = [sys.argv.pop(1)]
    unittest.main()
