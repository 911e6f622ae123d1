# SPDX-License-Identifier: MIT
from world import data_text

from everycore.model.protocol import Hello, Kernel, Mode, Resolved, parse
from everycore.run import bench_run


def test_the_selection_shown_is_that_of_the_modes_that_are_measured() -> None:
    texts = [data_text(name) for name in ("list.jsonl", "list_numbers.jsonl", "resolve.jsonl")]
    lines = [parse(line) for text in texts for line in text.splitlines()]
    here = bench_run.HarnessInventory(
        next(line for line in lines if isinstance(line, Hello)),
        kernels=[line for line in lines if isinstance(line, Kernel)],
        modes=[line for line in lines if isinstance(line, Mode)],
        uses=[line for line in lines if isinstance(line, Resolved)],
    )

    def shown(*modes: str) -> set[str]:
        return {kernel.primitive for kernel in bench_run.kernels_shown(here, (), modes)}

    assert shown("ctr") == {"aes"}
    assert shown("ctr", "mont-mul") == {"aes", "bn"}
    assert shown("mod-word16") == {"bn_words"}
    assert shown("gcm-seal") == {"aes"}  # no kernel of GHASH is there
    assert shown("ctr", "mode-of-unknown") == {"aes", "bn", "bn_words", "sha2"}
    assert {kernel.name for kernel in bench_run.kernels_shown(here, ("c_ref",), ("ctr",))} == {
        "c_ref"
    }
