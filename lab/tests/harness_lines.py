# SPDX-License-Identifier: MIT
"""Lines that harnesses wrote, and values made of them."""

import io

from rich.console import Console, RenderableType
from world import data_text

from everycore.model import protocol
from everycore.model.protocol import Bench, Kernel, Mode, Resolved


def lines(name: str) -> list[protocol.Line]:
    return [protocol.parse(text) for text in data_text(name + ".jsonl").splitlines()]


def render(renderable: RenderableType, width: int = 80) -> str:
    console = Console(file=io.StringIO(), width=width, highlight=False)
    console.print(renderable)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def in_processes(benches: list[protocol.Line]) -> list[Bench]:
    """The benches, each of whose samples is one process."""
    found = [bench for bench in benches if isinstance(bench, Bench)]
    return [bench.replace(parts=(1,) * len(bench.cycles)) for bench in found]


BENCHES = in_processes(lines("bench"))
MODES = [line for line in lines("resolve") if isinstance(line, Mode)]
KERNELS = [line for line in lines("list") if isinstance(line, Kernel)]
RESOLVED = [line for line in lines("resolve") if isinstance(line, Resolved)]
ORDER = [k.name for k in KERNELS]
CALM = Bench("aes", "k", "ctr", 256, 100, 1, "streamed", "c", (120.0,) * 5, parts=(1,) * 5)
SHARED = CALM.replace(cycles=(200.0,) * 5, crowded=True)
