# SPDX-License-Identifier: MIT
"""The harness's answers to bad usage and to bad vectors: usage: harness_usage.py HARNESS."""

import json
import subprocess
import sys
import unittest
from collections.abc import Sequence
from typing import Any

HARNESS: list[str] = []


def run(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*HARNESS, *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def objects(result: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in result.stdout.splitlines()]


class BadUsage(unittest.TestCase):
    def refused(self, *arguments: str, names: Sequence[str] = ()) -> None:
        result = run(*arguments)
        self.assertEqual(result.returncode, 2, arguments)
        self.assertEqual(result.stdout, "", arguments)
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
        for name in names:
            self.assertIn(name, result.stderr)

    def test_an_unknown_command_names_the_nearest(self) -> None:
        self.refused("benhc", names=["'benhc'", "bench"])

    def test_no_command_names_all(self) -> None:
        self.refused(names=["list", "resolve", "check", "bench", "ct", "vectors"])

    def test_an_unknown_kernel_names_the_nearest(self) -> None:
        self.refused("bench", "--kernel", "c_rif", names=["'c_rif'", "c_ref"])
        self.refused("check", "--kernel", "c_ref,c_rif", names=["'c_rif'", "c_ref"])

    def test_an_unknown_half_of_a_pair_names_the_nearest(self) -> None:
        for command in ("check", "bench"):
            self.refused(command, "--kernel", "c_rif+c_ref", names=["kernel of aes", "'c_rif'"])
            self.refused(command, "--kernel", "c_ref+c_rif", names=["kernel of ghash", "'c_rif'"])
            self.refused(command, "--kernel", "c_ref+c_table8", names=["c_table8", "too large"])

    def test_an_unknown_primitive_names_the_nearest(self) -> None:
        for command in ("list", "check", "bench"):
            self.refused(command, "--primitive", "aess", names=["'aess'", " aes"])

    def test_an_unknown_mode_names_the_nearest(self) -> None:
        self.refused("bench", "--mode", "cbc", names=["'cbc'", "cbc-enc", "cbc-dec", "cbcmac"])

    def test_an_unknown_style_names_both(self) -> None:
        self.refused("bench", "--style", "fence", names=["'fence'", "fenced", "streamed"])

    def test_an_unknown_property_names_the_nearest(self) -> None:
        self.refused("check", "--property", "known_answer", names=["known_answers"])

    def test_an_unknown_operation_names_the_nearest(self) -> None:
        self.refused("ct", "--operation", "ecb", names=["'ecb'", "ecb-enc", "ecb-dec"])

    def test_sizes_that_ct_does_not_have_are_named(self) -> None:
        self.refused("ct", "--bytes", "100000", names=["--bytes", "100000"])
        self.refused("ct", "--samples", "1", names=["--samples"])

    def test_ct_times_nothing_at_the_edges_of_pages(self) -> None:
        self.refused("ct", "--timing", "--placement", names=["--timing", "--placement"])

    def test_an_unknown_counter_names_the_nearest(self) -> None:
        self.refused("bench", "--counter", "tsc", names=["tsc+addchain"])

    def test_an_unknown_architecture_or_feature_names_the_nearest(self) -> None:
        self.refused("resolve", "--arch", "arm64", names=["a64", "rv64"])
        self.refused(
            "resolve", "--arch", "x86", "--features", "sse2,avx512", names=["'avx512'", "avx512f"]
        )
        self.refused("resolve", "--arch", "a64", "--features", "sse2", names=["'sse2'", "sve2"])

    def test_features_taken_away_are_known_and_of_this_cpu(self) -> None:
        for command in ("resolve", "bench", "check"):
            self.refused(command, "--without", "sse0", names=["'sse0'"])
        self.refused("resolve", "--arch", "x86", "--without", "aes", names=["--arch"])

    def test_features_without_an_architecture_are_refused(self) -> None:
        self.refused("resolve", "--features", "sse2", names=["--arch"])

    def test_an_unknown_policy_names_all(self) -> None:
        self.refused("resolve", "--policy", "all", names=["ct", "hardened", "vartime"])

    def test_an_unknown_part_of_limits_names_the_nearest(self) -> None:
        self.refused("limits", "--only", "instruction", names=["'instruction'", "instructions"])
        self.refused("limits", "--samples", "0", names=["--samples"])
        self.refused("limits", "--budget-ms", "0", names=["--budget-ms"])

    def test_bursts_have_kernels_lengths_and_pauses_within_bounds(self) -> None:
        self.refused("bursts", "--kernel", "x86_clmul", names=["kernel of gcm 'x86_clmul'"])
        self.refused("bursts", "--bytes", "0", names=["--bytes wants 1 to"])
        self.refused("bursts", "--pause-us", "100001", names=["--pause-us wants 1 to 100000"])
        self.refused("bursts", "--samples", "0", names=["--samples"])

    def test_numbers_are_numbers_within_bounds(self) -> None:
        self.refused("bench", "--bytes", "4k", names=["'4k'"])
        self.refused("bench", "--bytes", "0", names=["0"])
        self.refused("bench", "--bytes", "-16")

    def test_numbers_of_keys_and_of_associated_data_have_bounds(self) -> None:
        self.refused("bench", "--keys", "0", names=["--keys", "1 to 65536"])
        self.refused("bench", "--keys", "1,65537", names=["--keys", "65537"])
        self.refused("bench", "--keys", "many", names=["--keys", "'many'"])
        self.refused(
            "bench",
            "--keys",
            "2",
            "--mode",
            "gcm-seal,ctr",
            names=["--keys 2", "mode ctr ", "gcm-seal"],
        )
        self.refused("bench", "--keys", "2", "--placement", names=["--placement", "--keys 2"])
        self.refused("bench", "--aad-bytes", "1025", names=["--aad-bytes", "0 to 1024"])
        self.refused("bench", "--aad-bytes", "-1", names=["--aad-bytes"])

    def test_lengths_that_are_no_whole_blocks_are_named(self) -> None:
        for mode, length, unit in (
            ("qarma5", "45", "8"),
            ("qarma5-blocks", "12", "8"),
            ("qarma3", "4", "8"),
            ("pac-memo", "24", "16"),
            ("pac-aes128", "8", "16"),
        ):
            self.refused(
                "bench",
                "--mode",
                f"ctr,{mode}",
                "--bytes",
                f"64,{length}",
                names=[f"--bytes {length}", f"mode {mode} ", f"multiple of {unit}"],
            )
        self.refused(
            "bench", "--primitive", "qarma", "--bytes", "45", names=["--bytes 45", "multiple of 8"]
        )

    def test_hashes_of_many_messages_equal_the_reference_and_pbkdf2_has_iterations(self) -> None:
        modes = "sha256-many,hmac-sha512-many,pbkdf2-sha256,pbkdf2-sha512-many"
        words = ["--counter", "none", "--messages", "17", "--bytes", "100,1000"]
        lines = objects(run("bench", "--mode", modes, *words))[1:]
        self.assertEqual({line["type"] for line in lines}, {"bench"})
        found = {(line["mode"], line["bytes"], line["messages"]) for line in lines}
        whole = {(m, n, 17) for m in ("sha256-many", "hmac-sha512-many") for n in (100, 1000)}
        keys = {("pbkdf2-sha256", 128, 1), ("pbkdf2-sha512-many", 128, 17)}
        self.assertEqual(found, whole | keys)

    def test_modes_that_are_not_named_leave_out_a_length_that_they_do_not_take(self) -> None:
        words = ["--kernel", "c_ref", "--counter", "none", "--key-bits", "128"]
        for more in ([], ["--primitive", "aes"]):
            lines = objects(run("bench", *words, *more, "--bytes", "45"))[1:]
            modes = {line["mode"] for line in lines}
            self.assertIn("ctr", modes)
            self.assertFalse([mode for mode in modes if mode.startswith(("qarma", "pac-"))])
        lines = objects(run("bench", *words, "--mode", "setkey", "--bytes", "45"))[1:]
        self.assertIn("qarma", {line["primitive"] for line in lines})
        self.refused("bench", "--key-bits", "512", names=["'512'", "256"])
        self.refused("bench", "--samples", "0")
        self.refused("bench", "--messages", "100000")

    def test_an_unknown_option_names_the_nearest(self) -> None:
        self.refused("bench", "--kernels", "c_ref", names=["'--kernels'", "--kernel"])
        self.refused("list", "c_ref", names=["--primitive"])

    def test_a_missing_value_is_named(self) -> None:
        self.refused("bench", "--kernel", names=["--kernel"])
        self.refused("bench", "--kernel", "c_ref,,c_ref")
        self.refused("check", "--quick=1", names=["--quick"])


class GoodUsage(unittest.TestCase):
    def test_every_line_is_an_object_with_a_type(self) -> None:
        for arguments in (
            ["list"],
            ["resolve"],
            ["check", "--quick", "--property", "known_answers"],
        ):
            result = run(*arguments)
            self.assertEqual(result.returncode, 0, arguments)
            self.assertEqual(objects(result)[0]["type"], "harness")
            self.assertEqual(objects(result)[0]["version"], 1)
            for line in objects(result):
                self.assertIn("type", line)

    def test_combinations_of_lists_are_all_done_once(self) -> None:
        result = run(
            "bench",
            "--kernel=c_ref",
            "--mode",
            "ctr,cbc-enc",
            "--bytes",
            "16,20",
            "--bytes",
            "32",
            "--key-bits",
            "128,256",
            "--counter",
            "none",
        )
        points = [
            (p["mode"], p["key_bits"], p["bytes"]) for p in objects(result) if p["type"] == "bench"
        ]
        wanted = [("ctr", k, n) for k in (128, 256) for n in (16, 20, 32)]
        wanted += [("cbc-enc", k, n) for k in (128, 256) for n in (16, 32)]
        self.assertEqual(sorted(points), sorted(wanted))

    def test_without_a_counter_there_are_no_samples(self) -> None:
        points = objects(run("bench", "--kernel", "c_ref", "--mode", "ctr", "--counter", "none"))[
            1:
        ]
        self.assertEqual(points[0]["cycles"], [])
        self.assertIn("counter", points[0]["why"])

    def test_a_dry_run_measures_nothing(self) -> None:
        self.assertEqual(len(objects(run("bench", "--dry-run", "--mode", "ctr"))), 1)

    def test_every_mode_that_has_a_limit_is_one_of_bench(self) -> None:
        loops = objects(run("limits", "--only", "arithmetic", "--counter", "none"))[1:]
        for mode in {mode for loop in loops for mode in loop["modes"]}:
            self.assertEqual(run("bench", "--dry-run", "--mode", mode).returncode, 0, mode)

    def test_a_named_kernel_of_another_architecture_is_a_visible_skip(self) -> None:
        kernels = objects(run("list"))[1:]
        foreign = {k["name"] for k in kernels} - {k["name"] for k in kernels if k["runs"]}
        chosen = ["--kernel", ",".join(sorted(foreign))]
        for line in (lines := objects(run("check", *chosen))[1:-1]):
            self.assertEqual((line["result"], line["property"]), ("skip", "all"))
            self.assertRegex(line["detail"], "needs")
        self.assertEqual({line["kernel"] for line in lines}, foreign)
        measured = objects(run("bench", *chosen, "--bytes", "64", "--counter", "none"))[1:]
        self.assertEqual({line["kernel"] for line in measured}, foreign)
        self.assertFalse(any(line["runs"] for line in measured))

    def test_ct_has_an_operation_for_every_kernel(self) -> None:
        kernels = {(k["primitive"], k["name"]) for k in objects(run("list"))[1:]}
        listed = objects(run("ct", "--list"))[1:]
        self.assertEqual({(o["primitive"], o["kernel"]) for o in listed if o["operation"]}, kernels)

    def test_ct_runs_every_operation_with_any_secrets(self) -> None:
        able = [o for o in objects(run("ct", "--list"))[1:] if o["runs"]]
        result = run("ct", "--secret", "0x0000000000000001,0xfedcba9876543210")
        self.assertEqual(result.returncode, 0, result.stdout[-2000:])
        done = [o for o in objects(result)[1:] if o["type"] == "ct"]
        self.assertEqual(
            [(o["kernel"], o["operation"], o["key_bits"], o["bytes"]) for o in done],
            [(o["kernel"], o["operation"], o["key_bits"], o["bytes"]) for o in able],
        )

    def test_ct_runs_every_operation_at_three_places_of_a_page(self) -> None:
        kernels = ("--kernel", "c_ref,c_ctmul64", "--bytes", "45")
        names = [
            (o["primitive"], o["operation"], o["key_bits"])
            for o in objects(run("ct", "--list", *kernels))[1:]
        ]
        result = run("ct", "--placement", *kernels)
        self.assertEqual(result.returncode, 0, result.stdout[-2000:])
        done = [
            (o["primitive"], o["operation"], o["key_bits"], o["place"]) for o in objects(result)[1:]
        ]
        self.assertEqual(
            done, [(*name, place) for name in names for place in ("start", "end", "near-end")]
        )

    def test_bench_measures_four_places_of_a_page(self) -> None:
        refused = run("bench", "--placement", "--counter", "none")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("--placement", refused.stderr)
        if (
            objects(run("bench", "--mode", "ctr", "--kernel", "c_ref", "--bytes", "16"))[0][
                "counter"
            ]
            == "none"
        ):
            self.skipTest("no calibrated counter")
        for place in ((), ("--in-place",)):
            result = run(
                "bench",
                "--placement",
                "--mode",
                "ctr,gcm-seal,cbc-enc-many",
                "--bytes",
                "45",
                *place,
                "--kernel",
                "c_fixslice32,c_fixslice32+c_ctmul32",
            )
            lines = objects(result)[1:]
            self.assertEqual(result.returncode, 0, result.stdout)
            self.assertEqual(
                [(o["type"], o["mode"], o["bytes"]) for o in lines],
                [
                    ("placement", "ctr", 45),
                    ("placement", "cbc-enc-many", 32),
                    ("placement", "gcm-seal", 45),
                ],
            )
            self.assertTrue(all(o.get("in_place", False) == bool(place) for o in lines))

    def test_bench_takes_keys_in_turn_and_any_associated_data(self) -> None:
        words = [
            "bench",
            "--kernel",
            "c_fixslice32+c_ctmul32",
            "--bytes",
            "45",
            "--counter",
            "none",
        ]
        lines = objects(
            run(*words, "--mode", "gcm-seal", "--keys", "1,100", "--aad-bytes", "0,13,1024")
        )[1:]
        self.assertEqual(
            [(o["type"], o.get("aad_bytes"), o.get("keys")) for o in lines],
            [("bench", aad, keys) for aad in (0, None, 1024) for keys in (None, 100)],
        )
        lines = objects(run(*words, "--kernel", "c_ref", "--keys", "100", "--aad-bytes", "20"))[1:]
        self.assertEqual([(o["mode"], o["keys"]) for o in lines], [("gcm-seal", 100)])
        lines = objects(
            run(
                "bench",
                "--kernel",
                "c_ref",
                "--mode",
                "ctr,ccm-seal",
                "--bytes",
                "45",
                "--aad-bytes",
                "0,20",
                "--counter",
                "none",
            )
        )[1:]
        self.assertEqual(
            [(o["mode"], o.get("aad_bytes")) for o in lines],
            [("ctr", None), ("ccm-seal", 0), ("ccm-seal", 20)],
        )

    def test_pairs_of_gcm_are_checked_and_timed_by_name(self) -> None:
        pair = "c_ref+c_ctmul32"
        lines = objects(run("check", "--quick", "--kernel", pair, "--property", "known_answers"))
        self.assertEqual(
            [(c["primitive"], c["kernel"], c["result"]) for c in lines[1:-1]],
            [("gcm", pair, "pass")],
        )
        line = objects(run("bench", "--kernel", pair, "--bytes", "64", "--counter", "none"))[1]
        self.assertEqual(
            (line["primitive"], line["kernel"], line["mode"]), ("gcm", pair, "gcm-seal")
        )

    def test_without_names_bench_takes_the_selected_pair(self) -> None:
        arguments = ["bench", "--primitive", "gcm", "--mode", "gcm-seal", "--counter", "none"]
        pairs = [p["kernel"] for p in objects(run(*arguments))[1:] if "+" in p["kernel"]]
        modes = [
            m for m in objects(run("resolve"))[1:] if m.get("algorithm") in ("ctr(aes)", "gcm(aes)")
        ]
        self.assertEqual(len(pairs), 1)
        self.assertEqual(pairs[0].split("+")[0], modes[0]["kernels"][0])
        if len(modes[1]["kernels"]) == 2:
            self.assertEqual(pairs[0], "+".join(modes[1]["kernels"]))

    def test_a_seed_repeats_a_check(self) -> None:
        words = ["--quick", "--primitive", "ghash", "--kernel", "c_ref", "--seed", "0x7"]
        drawn = "every_length_equals_reference,products_are_bilinear,split_calls_equal_one_call"
        once, again = (run("check", *words, "--property", drawn).stdout for _ in range(2))
        self.assertEqual(once, again)
        self.assertEqual(json.loads(once.splitlines()[-1])["seed"], 7)

    def test_what_needs_a_feature_taken_away_neither_runs_nor_helps(self) -> None:
        arch = {k["name"]: k["arch"] for k in objects(run("list")) if k["type"] == "kernel"}
        without = ",".join(objects(run("resolve"))[0]["features"])
        words = ["--mode", "gcm-seal,ccm-seal", "--bytes", "16", "--counter", "none"]
        greeting, *lines = objects(run("bench", *words, "--without", without))
        self.assertEqual(greeting["features"], [])
        self.assertTrue(lines)
        for line in lines:
            took_part = [*line["kernel"].split("+"), line.get("with", "c_ref")]
            self.assertEqual({arch[kernel] for kernel in took_part}, {"other"})
        for line in objects(run("resolve", "--without", without)):
            if line["type"] == "mode":
                self.assertEqual({arch[kernel] for kernel in line["kernels"] if kernel}, {"other"})

    def test_a_cpu_without_features_is_answered(self) -> None:
        lines = objects(run("resolve", "--arch", "x86", "--features", "", "--policy", "vartime"))
        for line in lines[1:]:
            if line["type"] == "resolve":
                self.assertEqual(line["features"], [])
                # No kernel of GCM is portable: a pair serves.
                self.assertEqual(line["kernel"] is None, line["primitive"] == "gcm")
            elif line["algorithm"] == "gcm(aes)":
                self.assertEqual(len(line["kernels"]), 2)

    def warnings(self, *words: str) -> dict[str, str]:
        lines = objects(run("resolve", *words))[1:]
        return {
            line.get("algorithm") or line["primitive"]: line["warning"]
            for line in lines
            if "warning" in line
        }

    def test_a_slow_fallback_is_told_with_its_remedy(self) -> None:
        told = self.warnings("--arch", "other", "--features", "tune-word64")
        faster = {
            "ghash": "c_ctmul64",
            "gcm(aes)": "c_ctmul64",
            "gcm-siv(aes)": "c_ctmul64",
            "bn": "c_limb64",
            "bn_words": "c_words64",
            "x25519": "c_limb51",
        }
        self.assertEqual(set(told), set(faster))
        for what, text in told.items():
            for word in ("c_ref", faster[what], "ct-mul", "EVC_CPU(CT_MUL)"):
                self.assertIn(word, text)
        self.assertIn("c_ctmul32", self.warnings("--arch", "x86", "--features", "sse2")["gcm(aes)"])

    def test_no_fallback_no_warning(self) -> None:
        self.assertEqual(self.warnings("--arch", "other", "--features", "tune-word64,ct-mul"), {})
        # No other kernel of these is constant-time without ct-mul.
        numbers = {"bn", "bn_words", "x25519"}
        for arch, features in (("x86", "sse2,ssse3"), ("a64", "neon"), ("a32", "neon")):
            self.assertEqual(set(self.warnings("--arch", arch, "--features", features)), numbers)

    def test_the_policy_vartime_selects_kernels_that_multiply(self) -> None:
        self.assertEqual(
            self.warnings("--arch", "other", "--features", "", "--policy", "vartime"), {}
        )
        for features, wanted in (("", "c_limb32"), ("tune-word64", "c_limb64")):
            for policy in ("vartime", "hardened"):
                lines = objects(
                    run("resolve", "--arch", "other", "--features", features, "--policy", policy)
                )[1:]
                bn = next(line for line in lines if line.get("primitive") == "bn")
                self.assertEqual(bn["kernel"], wanted if policy == "vartime" else "c_ref")
                self.assertEqual("note" in bn, policy == "vartime")
                self.assertEqual("warning" in bn, policy == "hardened")
        known = objects(
            run("resolve", "--arch", "other", "--features", "ct-mul", "--policy", "vartime")
        )[1:]
        self.assertFalse([line for line in known if "note" in line])


F_KEY = "2b7e151628aed2a6abf7158809cf4f3c"
GOOD = (
    f"aes ecb-enc c_ref key={F_KEY} in=3243f6a8885a308d313198a2e0370734"
    " out=3925841d02dc09fbdc118597196a0b32"
)
ZERO = "0" * 32


class Vectors(unittest.TestCase):
    def verdict(self, *lines: str) -> tuple[int, list[dict[str, Any]]]:
        result = run("vectors", stdin="\n".join(lines) + "\n")
        return result.returncode, objects(result)[1:]

    def test_a_right_answer_passes(self) -> None:
        code, lines = self.verdict("# FIPS 197 appendix B", "", GOOD, GOOD.replace("c_ref", "*"))
        self.assertEqual(code, 0)
        self.assertEqual(len(lines), 1)
        self.assertGreaterEqual(lines[0]["passed"], 2)

    def test_a_wrong_answer_fails_with_its_byte(self) -> None:
        code, lines = self.verdict(GOOD.replace("0b32", "0b33") + " id=one")
        self.assertEqual(code, 1)
        self.assertEqual(lines[0]["id"], "one")
        self.assertIn("byte 15", lines[0]["detail"])

    def test_a_line_that_makes_no_sense_fails(self) -> None:
        for line in (
            "aes ecb-enc",
            "des ecb-enc c_ref",
            GOOD.replace("ecb-enc", "ecb"),
            GOOD.replace("c_ref", "c_rif"),
            GOOD.replace("key=", "kee="),
            GOOD.replace("3243", "324"),
            GOOD.replace("3243", "32zz"),
            GOOD.replace("ecb-enc", "cbc-enc"),
            GOOD + " iv=00",
            GOOD + f" iv={ZERO}",  # which the mode does not take
            GOOD + " aad=",
            GOOD.replace("in=", "x"),
        ):
            code, lines = self.verdict(line)
            self.assertEqual((code, lines[-1]["failed"]), (1, 1), line)
            self.assertTrue(lines[0]["detail"], line)

    def test_a_forgery_must_be_refused_and_a_message_accepted(self) -> None:
        ccm = f"aes ccm-{{}} c_ref key={F_KEY} nonce={'0' * 24} tag={ZERO} in={ZERO} out={{}}"
        self.assertEqual(self.verdict(ccm.format("open", "fail"))[0], 0)
        self.assertEqual(self.verdict(ccm.format("open", ZERO))[0], 1)
        self.assertEqual(self.verdict(ccm.format("seal", ZERO))[0], 1)

    def test_a_line_of_gcm_is_for_its_kernels_and_pairs(self) -> None:
        # McGrew, Viega: The Galois/Counter Mode of Operation (GCM), 2005, appendix B, test case 1
        line = (
            f"gcm gcm-seal {{}} key={ZERO} nonce={'0' * 24} "
            f"tag=58e2fccefa7e3061367f1d57a4e7455a in= out="
        )
        count = {}
        for kernel in ("c_ref+c_ctmul32", "*", "*+*"):
            code, lines = self.verdict(line.format(kernel))
            self.assertEqual((code, lines[-1]["failed"]), (0, 0), kernel)
            count[kernel] = lines[-1]["passed"]
        self.assertEqual(count["c_ref+c_ctmul32"], 1)
        self.assertGreater(count["*"], 5)
        self.assertGreater(count["*+*"], count["*"])
        for wrong in ("c_ref", "c_ref+c_rif", "c_rif+c_ref", "+", "c_ref+"):
            code, lines = self.verdict(line.format(wrong))
            self.assertEqual((code, lines[0]["detail"]), (1, "no such kernel"), wrong)
        code, lines = self.verdict(line.format("*").replace("gcm gcm", "aes gcm", 1))
        self.assertEqual(code, 1)
        self.assertIn("another primitive", lines[0]["detail"])

    def test_a_mac_is_verified(self) -> None:
        # SP 800-38B appendix D.1, example 1
        line = f"aes cmac-verify c_ref key={F_KEY} in= tag=bb1d6929e95937287fa37d129b756746 out="
        self.assertEqual(self.verdict(line)[0], 0)
        self.assertEqual(self.verdict(line + "fail")[0], 1)
        self.assertEqual(self.verdict(line.replace("6746", "6747") + "fail")[0], 0)

    def test_arguments_are_refused(self) -> None:
        result = run("vectors", "file.txt")
        self.assertEqual(result.returncode, 2)


if __name__ == "__main__":
    HARNESS = [sys.argv.pop(1)]
    unittest.main()
