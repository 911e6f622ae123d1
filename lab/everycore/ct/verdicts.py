# SPDX-License-Identifier: MIT
"""A method's verdict on an operation, and what all of them together mean."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from everycore.model.protocol import CtOperation

GATING = ("taint", "trace")
METHODS = (*GATING, "timing")


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict of one method on one operation with keys of one size."""

    operation: CtOperation
    method: str
    result: str  # pass: nothing found; fail: something found; impossible: it could not look
    detail: str = ""
    t: float = 0.0  # of timing: the largest |t|


@dataclass(frozen=True, slots=True)
class Conclusion:
    """Whether an operation keeps what its kernel's timing class promises."""

    primitive: str
    kernel: str
    timing: str
    operation: str
    result: str  # pass, fail, skip
    detail: str = ""


def of_kernels(operations: Iterable[CtOperation]) -> list[list[CtOperation]]:
    """The operations of each kernel, in order."""
    groups: dict[tuple[str, str], list[CtOperation]] = {}
    for operation in operations:
        groups.setdefault((operation.primitive, operation.kernel), []).append(operation)
    return list(groups.values())


def conclude(
    operations: Iterable[CtOperation], verdicts: Sequence[Verdict], methods: Sequence[str]
) -> list[Conclusion]:
    """One conclusion per operation, over all key sizes; `methods`: those that were asked for.

    None if none of them decides.
    """
    found: list[Conclusion] = []
    if not {*GATING} & {*methods}:
        return found
    for own in of_kernels(operations):
        for name in dict.fromkeys(o.operation or "" for o in own):
            lines = [o for o in own if (o.operation or "") == name]
            first = lines[0]
            gating = [v for v in verdicts if v.operation in lines and v.method in GATING]
            result, detail = _judge(lines, gating, {*GATING} <= {*methods})
            found.append(
                Conclusion(first.primitive, first.kernel, first.timing, name, result, detail)
            )
    return found


def count(conclusions: Iterable[Conclusion]) -> dict[str, int]:
    results = [c.result for c in conclusions]
    words = {"passed": "pass", "failed": "fail", "skipped": "skip"}
    return {word: results.count(result) for word, result in words.items()}


def _judge(
    lines: Sequence[CtOperation], gating: Sequence[Verdict], complete: bool
) -> tuple[str, str]:
    first = lines[0]
    if not first.operation:
        return "fail", "the harness has no operations of this primitive: harness/ct.c lists them"
    if not first.runs:
        return "skip", first.why
    failed = [v for v in gating if v.result == "fail"]
    passed = [v for v in gating if v.result == "pass"]
    if first.timing == "ct" and failed:
        return "fail", _said(failed[0])
    if first.timing != "ct" and any(first.bytes) and passed:
        return "fail", f"{passed[0].method} finds nothing, and the kernel is not constant-time"
    looked = {v.operation.key_bits for v in (*failed, *passed)}
    if missing := [line for line in lines if line.key_bits not in looked]:
        reasons = dict.fromkeys(_said(v) for v in gating if v.operation in missing)
        sizes = ", ".join(str(line.key_bits) for line in missing)
        detail = f"no method could look at keys of {sizes} bits: {'; '.join(reasons)}"
        return ("fail" if complete else "skip"), detail
    return "pass", ""


def _said(verdict: Verdict) -> str:
    return f"{verdict.method}: {verdict.detail}"
