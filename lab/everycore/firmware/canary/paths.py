# SPDX-License-Identifier: MIT
"""The returns of a function that can be reached from its prologue without a check of the canary."""

from bisect import bisect_left
from collections.abc import Container, Iterable, Iterator, Mapping

from everycore.firmware.canary.walk import Flow, Trail

# Functions that do not return, by their names in libraries.
NO_RETURN = frozenset(
    {
        "abort", "exit", "_exit", "_Exit", "quick_exit", "longjmp", "siglongjmp", "__longjmp",
        "__longjmp_chk", "_longjmp", "__assert_fail", "__assert", "__chk_fail", "__fortify_fail",
        "__stack_chk_fail", "_Unwind_Resume", "__cxa_throw", "__cxa_rethrow", "__cxa_bad_cast",
        "_ZSt9terminatev", "__cxa_throw_bad_array_new_length", "pthread_exit", "thrd_exit",
        "__libc_fatal", "__malloc_assert", "__libc_assert_fail", "err", "errx", "verr", "verrx",
        "_dl_signal_error", "__report_gsfailure", "__builtin_unreachable", "panic", "do_exit",
    }
)  # fmt: skip


def unchecked_return(trail: Trail, starts: Container[int], sets: Iterable[int]) -> int | None:
    """The address of a return, or of a jump to another function, behind no check; None: none.

    `starts`: where functions begin. `sets`: where the canary is stored. A path ends without finding
    at a check, at a call that does not return and at a computed jump. A branch one of whose ways is
    the call for a changed canary is a check, whatever it compares.
    """
    graph = _Graph(trail)
    waiting = list(sets)
    seen: set[int] = set()
    while waiting:
        for flow in graph.until_check(waiting.pop(), seen):
            if flow.kind == "return":
                return flow.address
            if flow.kind in ("call", "unknown") or flow.target is None:
                continue
            if graph.has(flow.target):
                waiting.append(flow.target)
            elif flow.target in starts and flow.name not in NO_RETURN and not flow.is_failure:
                return flow.address
    return None


class _Graph:
    """Control flow and checks of a function, by their addresses."""

    def __init__(self, trail: Trail) -> None:
        self.flows: Mapping[int, Flow] = {flow.address: flow for flow in trail.flows}
        self.checks = {event.address for event in trail.events if event.kind == "check"}
        self.places = sorted({*self.flows, *self.checks})
        self._parts = [(part.address, part.end) for part in trail.function.parts]

    def until_check(self, address: int, seen: set[int]) -> Iterator[Flow]:
        """The control flow from an address on, up to a check or an end; `seen` grows by it."""
        index = bisect_left(self.places, address)
        while index < len(self.places):
            place = self.places[index]
            index += 1
            if place in seen:
                return
            seen.add(place)
            flow = self.flows.get(place)
            if place in self.checks or flow is None or self.leads_to_failure(flow):
                return
            yield flow
            is_end = flow.kind == "call" and (flow.is_failure or flow.name in NO_RETURN)
            if is_end or (flow.kind != "call" and not flow.is_conditional):
                return

    def has(self, address: int) -> bool:
        return any(begin <= address < end for begin, end in self._parts)

    def leads_to_failure(self, flow: Flow) -> bool:
        """Whether the next instruction that matters, on one way of a branch, is that call."""
        if flow.kind != "branch":
            return False
        ways = [flow.address + flow.size]
        if flow.target is not None:
            ways.append(flow.target)
        return flow.is_failure or any(self._is_failure(way) for way in ways)

    def _is_failure(self, address: int) -> bool:
        index = bisect_left(self.places, address)
        if index == len(self.places):
            return False
        flow = self.flows.get(self.places[index])
        if flow is not None and flow.kind == "jump" and flow.target is not None:
            index = bisect_left(self.places, flow.target)
            flow = self.flows.get(self.places[index]) if index < len(self.places) else None
        return flow is not None and flow.is_failure
