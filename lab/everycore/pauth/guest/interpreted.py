# SPDX-License-Identifier: MIT
"""Calls, JSON, regular expressions, dictionaries and a sort with a key. interpreted.py WORK"""

import json
import re
import sys


def fibonacci(n: int) -> int:
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def records(n: int) -> list[dict[str, object]]:
    state, found = 1, []
    for i in range(n):
        state = (state * 1103515245 + 12345) % 2147483648
        found.append({"key": state, "name": f"item {i}", "tags": [state % 7, f"{state:08x}"]})
    return sorted(found, key=lambda record: str(record["tags"]))


def main(work: int) -> int:
    total = 0
    for _ in range(work):
        total += fibonacci(10)
        text = json.dumps(records(25))
        total += len(json.loads(text)) + sum(int(d) for d in re.findall(r"\b\d{3,5}\b", text))
        total += len(re.sub(r"item (\d+)", r"\1", text))
    return total


print(main(int(sys.argv[1])))
