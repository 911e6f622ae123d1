# SPDX-License-Identifier: MIT
from harness_lines import BENCHES, CALM, MODES, lines

from everycore.model.protocol import Bench, Mode
from everycore.report import bench_notes


def test_what_has_no_figure_is_named_with_its_reason() -> None:
    benches = [line for line in lines("bench_no_counter") if isinstance(line, Bench)]
    assert bench_notes.unmeasured_notes([*BENCHES, *benches]) == [
        "no calibrated counter: x86_aesni ctr"
    ]


def test_no_kernel_beats_another_by_such_a_figure() -> None:
    slow = CALM.replace(mode="xts-dec", kernel="c_bitslice64", cycles=(900.0,) * 5)
    quick, allowed = CALM.replace(mode="xts-dec"), {("aes", "k"), ("aes", "c_bitslice64")}
    assert len(bench_notes.order_notes([slow, quick], MODES, allowed)) == 1
    assert not bench_notes.order_notes([slow.replace(crowded=True), quick], MODES, allowed)


def test_a_faster_kernel_behind_the_selected_is_noted() -> None:
    def bench(kernel: str, cycles: float) -> Bench:
        return CALM.replace(kernel=kernel, bytes=64, cycles=(cycles,) * 5)

    modes = [Mode("ctr(aes)", ("parallel",), ("a",))]
    allowed = {("aes", "a"), ("aes", "b"), ("other", "table")}
    both = [bench("a", 100), bench("b", 80), bench("table", 10)]
    both.append(bench("a", 100).replace(bytes=512))
    both.append(bench("b", 50).replace(bytes=512))
    best, *notes = bench_notes.order_notes(both, modes, allowed)
    assert best == "ctr at 512 bytes: b takes 0.50 of the time of the selected a"
    assert notes == ["ctr at 64 bytes: b takes 0.80 of the time of the selected a"]
    assert not bench_notes.order_notes([bench("a", 100), bench("b", 98)], modes, allowed)
    few = [line.replace(cycles=line.cycles[:2], parts=(1, 1)) for line in both[:2]]
    assert not bench_notes.order_notes(few, modes, allowed), "two processes say nothing"


def test_dropped_samples_are_told() -> None:
    calm = Bench("aes", "calm", "ctr", 256, 64, 1, "streamed", "c", (1.0,) * 30)
    shaky = Bench("aes", "shaky", "ctr", 256, 64, 1, "streamed", "c", (1.0,) * 10, dropped=30)
    never = Bench("aes", "never", "ctr", 256, 64, 1, "streamed", "c", ())
    assert bench_notes.dropped_note([calm, never]) == ""
    note = bench_notes.dropped_note([calm, shaky, never])
    assert note.startswith("30 of 70 samples dropped")
    assert note.endswith("shaky ctr at 64 bytes: 30 of 40")
