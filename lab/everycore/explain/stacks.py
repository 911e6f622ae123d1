# SPDX-License-Identifier: MIT
"""Stacks of a profile, from the outermost function to the primitive that the innermost computes."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from everycore.explain.recognise import Named
from everycore.explain.regions import Caller, Region

_START = "__libc_start_main"


@dataclass(frozen=True, slots=True)
class Stack:
    """Frames from the outermost to the innermost, and the samples that had them."""

    frames: tuple[str, ...]
    samples: float
    primitives: str = ""  # that the innermost function computes; empty: none is known
    kind: str = ""


@dataclass
class Frame:
    """A node of the tree of stacks; `begin` and `end` count samples from the left."""

    name: str
    depth: int
    begin: float = 0.0
    end: float = 0.0
    primitives: str = ""
    kind: str = ""
    inner: dict[str, "Frame"] = field(default_factory=dict)


def stacks(named: Iterable[Named]) -> list[Stack]:
    """Return the stacks of all regions, those with most samples first.

    A region keeps the chains of some of its samples; the others are shared out among these.
    """
    counted: Counter[tuple[tuple[str, ...], str, str]] = Counter()
    for named_region in named:
        region = named_region.region
        leaf = " + ".join(dict.fromkeys(found.label for found in named_region.found))
        primitives = " + ".join(dict.fromkeys(found.primitive for found in named_region.found))
        kind = named_region.found[0].kind if named_region.found else ""
        chains = region.chains or [(1, ())]
        total = sum(count for count, _ in chains)
        for count, chain in chains:
            outer = _outer_names(chain)
            inner = (_own_name(region), *((leaf,) if leaf else ()))
            frames = (region.process or "?", *outer, *inner)
            share = region.samples * count / total
            counted[frames, primitives, kind] += share  # type: ignore[assignment]
    return [
        Stack(frames, samples, primitives, kind)
        for (frames, primitives, kind), samples in counted.most_common()
    ]


def _outer_names(chain: Sequence[Caller]) -> list[str]:
    """Return names from the outermost caller on; those outside of the C library's start go."""
    names = [_name_of(caller) for caller in reversed(chain)]
    starts = [place for place, name in enumerate(names) if name.startswith(_START)]
    return names[starts[-1] if starts else 0 :]


def _name_of(caller: Caller) -> str:
    return caller.name or f"{caller.module.rsplit('/', 1)[-1]}+{caller.start:#x}"


def _own_name(region: Region) -> str:
    if region.is_generated:
        return f"generated code of {region.process}"
    return region.function.name or f"{region.module.name}+{region.function.start:#x}"


def folded(found: Iterable[Stack]) -> Iterable[str]:
    """Yield a line for each stack, as tools for flame graphs read it: frames, `;`, samples."""
    for stack in found:
        frames = (frame.replace(";", ",").replace("\n", " ") for frame in stack.frames)
        if samples := round(stack.samples):
            yield f"{';'.join(frames)} {samples}"


def flame(found: Iterable[Stack]) -> list[Frame]:
    """Return the frames of a flame graph: stacks with common outer frames lie on these.

    Frames that one frame calls are in the order of their names, so that two graphs of a program
    look alike.
    """
    root = Frame("", -1)
    for stack in found:
        node = root
        for depth, name in enumerate(stack.frames):
            node.end += stack.samples
            node = node.inner.setdefault(name, Frame(name, depth))
        node.end += stack.samples
        node.primitives, node.kind = stack.primitives, stack.kind
    laid: list[Frame] = []
    _lay(root, laid)
    return laid


def _lay(outer: Frame, laid: list[Frame]) -> None:
    """Give inner frames their places, which so far have their widths in `end`."""
    begin = outer.begin
    for name in sorted(outer.inner):
        frame = outer.inner[name]
        frame.begin, frame.end = begin, begin + frame.end
        begin = frame.end
        laid.append(frame)
        _lay(frame, laid)


def primitives_by_share(found: Sequence[Stack]) -> list[str]:
    """Return the names of what stacks compute, the one with most samples first."""
    counted: Counter[str] = Counter()
    for stack in found:
        if stack.primitives:
            counted[stack.primitives] += stack.samples  # type: ignore[assignment]
    return [name for name, _ in counted.most_common()]
