# SPDX-License-Identifier: MIT
"""Sources that lose whole functions and statements."""

from everycore.matrix.coarse_reduction import shortened, statements

SOURCE = """struct job { int n; };
int printf(const char *, ...);
static int table[3] = { 1, 2, 3 };
static int helper(int a)
{
    return a + 1;
}
static void prepare(struct job *job)
{
    int values[2] = { helper(1), 2 };
    for (int i = 0; i < 2; i++)
        job->n += values[i];
}
static int slow(struct job *job)
{
    int sum = 0;
    do {
        sum += table[sum % 3];
        if (sum > 5) { sum -= 1; } else if (sum > 3) sum -= 2;
        else { sum += 0; }
        sum++;
    } while (sum < job->n);
    printf("%d", job->n);
    return sum;
}
int main(void)
{
    struct job job = { 5 };
    prepare(&job);
    printf("%d", slow(&job));
    return 0;
}
"""


def texts(depth: int) -> list[str]:
    found = [
        SOURCE[statement.begin : statement.end]
        for statement in statements(SOURCE)
        if statement.depth == depth
    ]
    return [" ".join(text.split()) for text in found]


def test_statements_are_found_with_all_that_is_in_them() -> None:
    outer = texts(0)
    assert outer[:3] == [
        "return a + 1;",
        "int values[2] = { helper(1), 2 };",
        "for (int i = 0; i < 2; i++) job->n += values[i];",
    ]
    assert outer[4].startswith("do { sum += table")
    assert outer[4].endswith("} while (sum < job->n);")
    assert texts(1) == [
        "sum += table[sum % 3];",
        "if (sum > 5) { sum -= 1; } else if (sum > 3) sum -= 2; else { sum += 0; }",
        "sum++;",
    ]
    assert texts(2) == ["sum -= 1;", "sum += 0;"]


def test_what_is_not_needed_goes_with_its_declarations() -> None:
    asked: list[str] = []

    def shows(source: str) -> bool:
        asked.append(source)
        return all(text in source for text in ("table[sum % 3]", "slow(&job)", "int sum"))

    short = shortened(SOURCE, shows, lambda: True)
    assert " ".join(short.split()) == (
        "struct job { int n; }; int printf(const char *, ...); static int table[3] = { 1, 2, 3 };"
        " static int slow(struct job *job) { int sum = 0; do { sum += table[sum % 3]; }"
        ' while (sum < job->n); } int main(void) { printf("%d", slow(&job)); }'
    )
    assert len(asked) < 60
    assert len(set(asked)) == len(asked)


def test_without_time_nothing_is_tried() -> None:
    assert shortened(SOURCE, lambda _: True, lambda: False) == SOURCE


def test_a_function_without_its_body_returns_a_value_if_it_has_one() -> None:
    def first(source: str) -> str:
        asked: list[str] = []

        def shows(text: str) -> bool:
            asked.append(text)
            return False

        shortened(source, shows, lambda: not asked)
        return asked[0]

    main = "int main(void)\n{\n    return f() != 0;\n}\n"
    assert first("static int *f(void)\n{\n    return p;\n}\n" + main).startswith(
        "static int *f(void)\n{ return 0; }\n"
    )
    named = '__attribute__((section("x"))) void f(void (*call)(int))'
    assert first(f"{named}\n{{\n    call(1);\n}}\n{main}").startswith(f"{named}\n{{ }}\n")
