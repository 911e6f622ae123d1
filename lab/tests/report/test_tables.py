# SPDX-License-Identifier: MIT
import io

from rich.console import Console, RenderableType
from world import data_text

from everycore.model import protocol
from everycore.model.protocol import Arithmetic, Bench, InstructionCount, Kernel, Mode, Resolved
from everycore.report import figures, tables
from everycore.report import kernels as pages


def lines(name: str) -> list[protocol.Line]:
    return [protocol.parse(text) for text in data_text(name + ".jsonl").splitlines()]


def render(renderable: RenderableType, width: int = 80) -> str:
    console = Console(file=io.StringIO(), width=width, highlight=False)
    console.print(renderable)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def in_processes(benches: list[protocol.Line]) -> list[Bench]:
    """The benches, each of whose samples is one process."""
    found = [one for one in benches if isinstance(one, Bench)]
    return [one.replace(parts=(1,) * len(one.cycles)) for one in found]


BENCHES = in_processes(lines("bench"))
MODES = [line for line in lines("resolve") if isinstance(line, Mode)]
KERNELS = [line for line in lines("list") if isinstance(line, Kernel)]
RESOLVED = [line for line in lines("resolve") if isinstance(line, Resolved)]
ORDER = [k.name for k in KERNELS]


def test_three_figures_are_shown() -> None:
    shown = [figures.number(v) for v in (0.1171, 3.5, 22.51, 330.4)]
    assert shown == ["0.117", "3.50", "22.5", "330"]


def test_a_cell_has_cycles_per_byte_and_speed() -> None:
    bench = next(b for b in BENCHES if b.mode == "cbc-enc-many")
    cell = figures.cell(bench)
    assert cell.bytes == 32 * 16384
    assert round(cell.cycles_per_byte or 0, 2) == 0.25
    assert round(cell.gigabytes_per_second or 0) == 16


def test_the_key_of_gcm_is_named_as_one_of_aes() -> None:
    bench = BENCHES[0].replace(primitive="gcm", mode="gcm-seal")
    assert "gcm-seal aes-256" in render(tables.bench_tables([bench], MODES, [], "", 80)[0])


def test_what_has_no_figure_is_named_with_its_reason() -> None:
    benches = [line for line in lines("bench_no_counter") if isinstance(line, Bench)]
    assert tables.unmeasured_notes([*BENCHES, *benches]) == ["no calibrated counter: x86_aesni ctr"]


def loop(mode: str, cycles_per_byte: float, dependent: bool = False) -> Arithmetic:
    held = (InstructionCount("aesenc", 14),)
    figures = (cycles_per_byte,) * 5
    return Arithmetic(
        f"loop_{cycles_per_byte}", (mode,), 256, 128, dependent, 16, held, figures, runs=True
    )


def limit_row(text: str) -> list[str]:
    row = next(line for line in text.splitlines() if line.startswith("  CPU's limit"))
    return row.split()[2:]


def test_bench_tables_show_the_limit_and_how_far_the_best_is_from_it() -> None:
    ctr, *_ = tables.bench_tables(BENCHES, MODES, [loop("ctr", 0.5), loop("ctr", 0.1)], "", 200)
    text = render(ctr, 200)
    assert limit_row(text) == ["0.100", "0.100", "0.100"]
    long = [b for b in BENCHES if (b.mode, b.bytes, b.style) == ("ctr", 16384, "streamed")]
    best = min(figures.cell(b).cycles_per_byte or 1 for b in long)
    assert f"the best at 16384 bytes takes {best / 0.1:.2f} times that" in text


def test_latency_is_no_limit_of_short_messages_that_overlap() -> None:
    ctr, *_ = tables.bench_tables(BENCHES, MODES, [loop("ctr", 0.1, dependent=True)], "", 80)
    assert limit_row(render(ctr)) == ["-", "-", "0.100"]


def test_bench_tables_fit_in_80_columns_and_mark_the_selected() -> None:
    ctr, *_ = tables.bench_tables(BENCHES, MODES, [], "AMD; tsc; gcc; abc", 80)
    text = render(ctr)
    assert "ctr aes-256: cycles per byte" in text
    assert "* x86_aesni" in text
    assert "  c_ref" in text
    assert "AMD; tsc; gcc; abc" in text
    row = next(line for line in text.splitlines() if "x86_aesni" in line).split()
    assert row[1:] == ["x86_aesni", "0.313", "0.253", "0.250", "16.0", "32"]


def test_the_widest_bench_table_fits_in_80_columns() -> None:
    sizes = (16, 64, 512, 1500, 4096, 16384)
    benches = [
        Bench("aes", "x86_bitslice256", "ctr", 256, size, 1, style, "c", (n, n, n * 1.2, n * 1.4))
        for style in ("streamed", "fenced")
        for size in (sizes if style == "streamed" else sizes[:2])
        for n in (0.8888 * size if size != 64 else 334.4 * size,)
    ]
    text = render(tables.bench_tables(in_processes([*benches]), MODES, [], "", 80)[0])
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= 80
    assert text.count(" ~") == 8


def test_what_was_not_measured_is_a_dash() -> None:
    benches = [line for line in lines("bench_no_counter") if isinstance(line, Bench)]
    assert render(tables.bench_tables(benches, MODES, [], "", 80)[0]).count(" -") == 2


def test_rows_with_help_from_another_kernel_say_so() -> None:
    line = '{"type":"bench","primitive":"aes","kernel":"a","with":"b","mode":"ctr","key_bits":256'
    line += ',"bytes":16384,"messages":1,"style":"streamed","counter":"c"'
    line += ',"cycles":[16384,16384,16384,16384,16384]}'
    (bench,) = in_processes([protocol.parse(line)])
    text = render(tables.bench_tables([bench], MODES, [], "", 80)[0])
    assert "together with b for the other key: a" in text
    kernel = Kernel("aes", "a", 0, "other", "ANY", (), "ct", "any", True, True)
    page = pages.speed_markdown([kernel], [bench], "here")
    assert "| `a` | **1.00**+ |" in page
    assert "+ one of the mode's two keys belongs to b." in page


def test_noise_is_marked() -> None:
    noisy = Bench("aes", "k", "ctr", 256, 100, 1, "streamed", "c", (100, 110, 120, 140, 160),
                  parts=(1,) * 5)  # fmt: skip
    assert "~1.20" in render(tables.bench_tables([noisy], MODES, [], "", 80)[0])


CALM = Bench("aes", "k", "ctr", 256, 100, 1, "streamed", "c", (120.0,) * 5, parts=(1,) * 5)
SHARED = CALM.replace(cycles=(200.0,) * 5, crowded=True)


def test_a_figure_of_a_core_that_something_else_used_is_marked_like_noise() -> None:
    assert "~" not in render(tables.bench_tables([CALM], MODES, [], "", 80)[0])
    assert "~2.00" in render(tables.bench_tables([SHARED], MODES, [], "", 80)[0])
    assert "~2.00" in pages.speed_by_mode([("aes", "k")], [SHARED])
    kernel = Kernel("aes", "k", 0, "other", "ANY", (), "ct", "any", True, True)
    long = SHARED.replace(bytes=pages.SPEED_BYTES)
    assert "| ~**0.012** |" in pages.speed_markdown([kernel], [long], "here")
    assert "something else used" in tables.bench_legend(0)


def test_no_kernel_beats_another_by_such_a_figure() -> None:
    slow = CALM.replace(mode="xts-dec", kernel="c_bitslice64", cycles=(900.0,) * 5)
    quick, allowed = CALM.replace(mode="xts-dec"), {("aes", "k"), ("aes", "c_bitslice64")}
    assert len(tables.order_notes([slow, quick], MODES, allowed)) == 1
    assert not tables.order_notes([slow.replace(crowded=True), quick], MODES, allowed)


def test_every_kernel_stands_somewhere_in_the_selection() -> None:
    standing = {name: tables.selection_status(name, RESOLVED[0]) for name in ORDER}
    assert standing == {
        "x86_vaes512": "no tune-zmm",
        "x86_gfni": "no gfni",
        "a64_ce": "only for a64",
        "x86_aesni": "selected",
        "c_bitslice64": "after x86_aesni",
        "c_ttable4": "variable time",
        "c_ref": "variable time",
    }


def test_reasons_are_words() -> None:
    assert tables.why_not("timing", "vartime") == "variable time"
    assert tables.why_not("use", "serial") == "made for serial use"


def test_two_kernels_of_an_algorithm_are_named_with_their_uses() -> None:
    text = [tables.resolved_as(mode) for mode in MODES]
    assert text[0] == "x86_aesni"
    assert text[2] == "c_bitslice64 (parallel), x86_aesni (serial)"
    assert text[3] == "x86_aesni (parallel), nothing (serial)"


def test_the_list_says_what_is_missing() -> None:
    text = render(tables.kernels_table(KERNELS, "x86", 120), 120)
    assert "no gfni" in text
    assert "only on a64" in text
    assert max(map(len, render(tables.kernels_table(KERNELS, "x86", 80)).splitlines())) <= 80


def test_checks_are_counted_per_kernel() -> None:
    checks = [line for line in lines("check_failed") if isinstance(line, protocol.Check)]
    text = render(tables.checks_table(checks)).splitlines()
    aesni = next(line for line in text if line.startswith("x86_aesni"))
    assert aesni.split() == ["x86_aesni", "2", "0", "0", "4156"]
    assert any("needs gfni" in line for line in text)


def test_a_faster_kernel_behind_the_selected_is_noted() -> None:
    def bench(kernel: str, cycles: float) -> Bench:
        return CALM.replace(kernel=kernel, bytes=64, cycles=(cycles,) * 5)

    modes = [Mode("ctr(aes)", ("parallel",), ("a",))]
    allowed = {("aes", "a"), ("aes", "b"), ("other", "table")}
    both = [bench("a", 100), bench("b", 80), bench("table", 10)]
    both.append(bench("a", 100).replace(bytes=512))
    both.append(bench("b", 50).replace(bytes=512))
    best, *notes = tables.order_notes(both, modes, allowed)
    assert best == "ctr at 512 bytes: b takes 0.50 of the time of the selected a"
    assert notes == ["ctr at 64 bytes: b takes 0.80 of the time of the selected a"]
    assert not tables.order_notes([bench("a", 100), bench("b", 98)], modes, allowed)
    few = [one.replace(cycles=one.cycles[:2], parts=(1, 1)) for one in both[:2]]
    assert not tables.order_notes(few, modes, allowed), "two processes say nothing"


def test_markdown_names_every_kernel_in_order() -> None:
    text = pages.registry_markdown(KERNELS)
    assert [row.split("`")[1] for row in text.splitlines()[2:]] == ORDER
    assert (
        "| `x86_aesni` | constant time | any | sse2 ssse3 sse4.1 aes | 8 | 496 | fips197 |" in text
    )
    assert len({row.count("|") for row in text.splitlines()}) == 1


def test_markdown_speeds_have_peers_below_the_kernels() -> None:
    peers = in_processes(lines("peers"))
    rows = pages.speed_markdown(KERNELS, [*peers, *BENCHES], "here").splitlines()
    assert rows[5] == "| openssl-3.0.22 | **0.250** |  |  |"


def test_markdown_speeds_have_their_source_and_the_best_in_bold() -> None:
    text = pages.speed_markdown(KERNELS, BENCHES, "AMD, tsc, gcc, commit abc")
    assert "| kernel | ctr | cbc-enc | cbc-enc-many x 32 |" in text
    assert "| `x86_aesni` | **0.250** | **3.50** | **0.250** |" in text
    assert text.endswith("AMD, tsc, gcc, commit abc\n")


def test_both_directions_of_an_operation_are_one_word() -> None:
    assert (
        tables.fused(["ctr32", "cbc_encrypt", "xts_encrypt", "xts_decrypt"]) == "ctr32 cbc-enc xts"
    )
    every = [
        "ctr32",
        "cbc_encrypt",
        "cbc_decrypt",
        "xts_encrypt",
        "xts_decrypt",
        "cbc_encrypt_many",
    ]
    assert tables.fused(every) == "ctr32 cbc xts many"
    assert tables.fused(["cbc_encrypt", "cbcmac"]) == "cbc-enc cbcmac"
    assert tables.fused(["cbc_decrypt"]) == "cbc-dec"
    assert tables.fused([]) == ""


def test_kernels_of_one_name_and_two_primitives_are_told_apart() -> None:
    both = [
        Kernel(primitive, "c_ref", 0, "other", "ANY", (), timing, "any", True, True)
        for primitive, timing in (("aes", "vartime"), ("ghash", "ct"))
    ]
    uses = [
        Resolved(
            "x86", (), "ct", "aes", "any", "", (protocol.Skipped("c_ref", "timing", "vartime"),)
        ),
        Resolved("x86", (), "ct", "ghash", "any", "c_ref"),
    ]
    aes, ghash = render(tables.selection_table(both, uses, "Why")).split("Why: ghash")
    assert "variable time" in aes
    assert "selected" not in aes
    assert "selected" in ghash
    assert "variable time" not in ghash
    checks = [protocol.Check(k.primitive, "c_ref", "p", "pass", 7) for k in both]
    rows = [row for row in render(tables.checks_table(checks)).splitlines() if "c_ref" in row]
    assert [row.split()[-1] for row in rows] == ["7", "7"]
    assert render(tables.kernels_table(both, "x86", 80)).count("Kernels of ") == 2


def test_few_samples_are_marked_like_noise() -> None:
    one = Bench("aes", "k", "ctr", 256, 100, 1, "streamed", "c", (120,))
    assert "~1.20" in render(tables.bench_tables([one], MODES, [], "", 80)[0])


def test_dropped_samples_are_told() -> None:
    calm = Bench("aes", "calm", "ctr", 256, 64, 1, "streamed", "c", (1.0,) * 30)
    shaky = Bench("aes", "shaky", "ctr", 256, 64, 1, "streamed", "c", (1.0,) * 10, dropped=30)
    never = Bench("aes", "never", "ctr", 256, 64, 1, "streamed", "c", ())
    assert tables.dropped_note([calm, never]) == ""
    note = tables.dropped_note([calm, shaky, never])
    assert note.startswith("30 of 70 samples dropped")
    assert note.endswith("shaky ctr at 64 bytes: 30 of 40")


def test_a_page_of_speeds_has_a_table_for_each_mode() -> None:
    order, five = [("aes", "b"), ("aes", "a"), ("ghash", "peer")], (1,) * 5
    benches = [
        Bench("aes", "a", "ctr", 256, 100, 1, "streamed", "c", (100.0,) * 5, parts=five),
        Bench(
            *("aes", "b", "ctr", 256, 100, 1, "streamed", "c", (50.0,) * 5),
            partner="a",
            parts=five,
        ),
        Bench("aes", "peer", "ctr", 256, 100, 1, "fenced", "c", (300.0,) * 5, parts=five),
        Bench("aes", "a", "setkey", 256, 0, 1, "streamed", "c", (70.0,) * 5, parts=five),
        Bench("aes", "a", "xts-enc", 256, 100, 1, "streamed", "c", ()),
    ]
    assert pages.speed_by_mode(order, benches).splitlines() == [
        "ctr, aes-256:",
        "",
        "| kernel | 100 B | 100 B alone, cycles |",
        "| --- | ---: | ---: |",
        "| b | 0.500+ |  |",
        "| a | 1.00 |  |",
        "| peer |  | 300 |",
        "",
        "+ one of the mode's two keys belongs to a.",
        "",
        "setkey, aes-256:",
        "",
        "| kernel | cycles |",
        "| --- | ---: |",
        "| a | 70.0 |",
    ]
