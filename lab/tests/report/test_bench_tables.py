# SPDX-License-Identifier: MIT
from harness_lines import BENCHES, CALM, MODES, SHARED, in_processes, lines, render

from everycore.model import protocol
from everycore.model.protocol import Arithmetic, Bench, InstructionCount, Kernel, Mode
from everycore.report import bench_tables, figures, headline
from everycore.report import kernels as pages


def test_the_key_of_gcm_is_named_as_one_of_aes() -> None:
    bench = BENCHES[0].replace(primitive="gcm", mode="gcm-seal")
    assert "gcm-seal aes-256" in render(bench_tables.bench_tables([bench], MODES, [], "", 80)[0])


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
    ctr, *_ = bench_tables.bench_tables(
        BENCHES, MODES, [loop("ctr", 0.5), loop("ctr", 0.1)], "", 200
    )
    text = render(ctr, 200)
    assert limit_row(text) == ["0.100", "0.100", "0.100"]
    long = [b for b in BENCHES if (b.mode, b.bytes, b.style) == ("ctr", 16384, "streamed")]
    best = min(figures.operation_figure(b).cycles_per_byte or 1 for b in long)
    assert f"the best at 16384 bytes takes {best / 0.1:.2f} times that" in text


def test_latency_is_no_limit_of_short_messages_that_overlap() -> None:
    ctr, *_ = bench_tables.bench_tables(BENCHES, MODES, [loop("ctr", 0.1, dependent=True)], "", 80)
    assert limit_row(render(ctr)) == ["-", "-", "0.100"]


def test_bench_tables_fit_in_80_columns_and_mark_the_selected() -> None:
    ctr, *_ = bench_tables.bench_tables(BENCHES, MODES, [], "AMD; tsc; gcc; abc", 80)
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
    text = render(bench_tables.bench_tables(in_processes([*benches]), MODES, [], "", 80)[0])
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= 80
    assert text.count(" ~") == 8


def test_what_was_not_measured_is_a_dash() -> None:
    benches = [line for line in lines("bench_no_counter") if isinstance(line, Bench)]
    assert render(bench_tables.bench_tables(benches, MODES, [], "", 80)[0]).count(" -") == 2


def test_rows_with_help_from_another_kernel_say_so() -> None:
    line = '{"type":"bench","primitive":"aes","kernel":"a","with":"b","mode":"ctr","key_bits":256'
    line += ',"bytes":16384,"messages":1,"style":"streamed","counter":"c"'
    line += ',"cycles":[16384,16384,16384,16384,16384]}'
    (bench,) = in_processes([protocol.parse(line)])
    text = render(bench_tables.bench_tables([bench], MODES, [], "", 80)[0])
    assert "together with b for the other key: a" in text
    kernel = Kernel("aes", "a", 0, "other", "ANY", (), "ct", "any", True, True)
    page = pages.speed_markdown([kernel], [bench], "here")
    assert "| `a` | **1.00**+ |" in page
    assert "+ one of the mode's two keys belongs to b." in page


def test_noise_is_marked() -> None:
    noisy = Bench("aes", "k", "ctr", 256, 100, 1, "streamed", "c", (100, 110, 120, 140, 160),
                  parts=(1,) * 5)  # fmt: skip
    assert "~1.20" in render(bench_tables.bench_tables([noisy], MODES, [], "", 80)[0])


def test_a_figure_of_a_core_that_something_else_used_is_marked_like_noise() -> None:
    assert "~" not in render(bench_tables.bench_tables([CALM], MODES, [], "", 80)[0])
    assert "~2.00" in render(bench_tables.bench_tables([SHARED], MODES, [], "", 80)[0])
    assert "~2.00" in pages.speed_by_mode([("aes", "k")], [SHARED])
    kernel = Kernel("aes", "k", 0, "other", "ANY", (), "ct", "any", True, True)
    long = SHARED.replace(bytes=pages.SPEED_BYTES)
    assert "| ~**0.012** |" in pages.speed_markdown([kernel], [long], "here")
    assert "something else used" in bench_tables.bench_legend(0)


def test_few_samples_are_marked_like_noise() -> None:
    few = Bench("aes", "k", "ctr", 256, 100, 1, "streamed", "c", (120,))
    assert "~1.20" in render(bench_tables.bench_tables([few], MODES, [], "", 80)[0])


PBKDF2 = CALM.replace(primitive="sha2", mode="pbkdf2-sha256", bytes=256, cycles=(51200.0,) * 5)


def test_pbkdf2_has_cycles_per_iteration_and_no_bytes_a_second() -> None:
    own = [Mode("sha256", ("sha256",), ("k",))]
    line = PBKDF2.replace(ns=(1000.0,) * 5)
    (table,) = bench_tables.bench_tables([line], own, (), "", 80)
    shown = render(table)
    assert shown.startswith("pbkdf2-sha256: cycles per iteration\n"), shown
    assert "* k" in shown
    assert "200" in shown
    assert "GB/s" not in shown
    first = render(headline.headline([line], (), "", ""))
    assert "256 iterations" in first
    assert "0.256" not in first
    assert "AES" not in first
    (said,) = headline.first_figures([line], own, 5)
    assert said.startswith("pbkdf2-sha256: k 200 cycles per iteration at 256 iterations")
