# SPDX-License-Identifier: MIT
"""Events, timers and task priority levels: UEFI 2.10, section 7.1."""

from collections.abc import Callable
from dataclasses import dataclass, field

APPLICATION, CALLBACK, NOTIFY, HIGH_LEVEL = 4, 8, 16, 31
EVT_TIMER, EVT_NOTIFY_WAIT, EVT_NOTIFY_SIGNAL = 0x8000_0000, 0x100, 0x200
TIMER_CANCEL, TIMER_PERIODIC, TIMER_RELATIVE = 0, 1, 2
MOST_NOTIFICATIONS = 10_000  # of one run: more is a notification that signals itself


@dataclass(slots=True)
class Event:
    """One event. due, period: microseconds of the model's clock; due < 0: no timer."""

    token: int
    kind: int
    level: int
    function: int
    context: int
    group: bytes
    owner: str
    phase: str
    site: int | None
    is_signaled: bool = False
    due: int = -1
    period: int = 0


@dataclass(slots=True)
class Events:
    """All events, the clock and the task priority level."""

    call: Callable[[int, int, int], int]  # a function of the driver with two arguments
    level: int = APPLICATION
    now: int = 0  # microseconds
    known: dict[int, Event] = field(default_factory=dict)
    queue: list[Event] = field(default_factory=list)
    notifications: int = 0

    def signal(self, event: Event) -> None:
        """Signal an event and all of its group."""
        group = [e for e in self.known.values() if event.group and e.group == event.group]
        for member in group or [event]:
            if member.is_signaled:
                continue
            member.is_signaled = True
            if member.kind & EVT_NOTIFY_SIGNAL:
                self.queue.append(member)

    def advance(self, microseconds: int) -> None:
        """Let time pass; timers that are due signal their events."""
        self.now += microseconds
        for event in list(self.known.values()):
            if 0 <= event.due <= self.now:
                event.due = self.now + event.period if event.period else -1
                self.signal(event)

    def dispatch(self) -> bool:
        """Notify for signaled events above the current level; False after too many of them."""
        while True:
            ready = [e for e in self.queue if e.level > self.level]
            if not ready:
                return True
            event = max(ready, key=lambda e: e.level)
            self.queue.remove(event)
            self.notifications += 1
            if self.notifications > MOST_NOTIFICATIONS:
                return False
            if event.token in self.known:
                event.is_signaled = False
                self.notify(event)

    def notify(self, event: Event) -> None:
        """Call the function of an event at its level."""
        before, self.level = self.level, event.level
        try:
            self.call(event.function, event.token, event.context)
        finally:
            self.level = before

    def close(self, token: int) -> None:
        event = self.known.pop(token, None)
        self.queue = [e for e in self.queue if e is not event]
