# SPDX-License-Identifier: MIT
"""Functions of one expression are inlined, and parameters dropped, as text."""

from everycore.matrix.inlining import inlined, n_parameters, without_parameter

SOURCE = """int g(int (*call)(int), int x[2]);
static int twice(int a, const int *b)
{
    return a * 2 + b[0] + job->a;
}
static void store(int *p) { *p = twice(1, p); }
static int many(void) { int i = 0; return i; }
int main(void)
{
    int v[2] = { many(), 3 };
    store(v);
    return twice(twice(v[0], v), v + 1);
}
"""


def test_calls_of_a_function_are_its_expression() -> None:
    text = inlined(SOURCE, "twice")
    assert "static void store(int *p) { *p = (1 * 2 + p[0] + job->a); }" in text
    assert "return ((((v[0]) * 2 + v[0] + job->a)) * 2" in text
    assert " + (v + 1)[0] + job->a);" in text
    assert "    (*v = twice(1, v));\n" in inlined(SOURCE, "store")


def test_other_functions_are_left_alone() -> None:
    assert inlined(SOURCE, "many") == SOURCE
    assert inlined(SOURCE, "absent") == SOURCE
    again = "int f(int a) { return f(a); }\nint main(void) { return f(1); }\n"
    assert inlined(again, "f") == again
    loop = "void f(int a) { while (a); }\nint main(void) { f(1); }\n"
    assert inlined(loop, "f") == loop
    few = "int f(int a) { return a; }\nint main(void) { return f(); }\n"
    assert inlined(few, "f") == few


def test_a_parameter_goes_with_the_arguments() -> None:
    assert [n_parameters(SOURCE, name) for name in ("twice", "store", "many", "g")] == [2, 1, 0, 0]
    text = without_parameter(SOURCE, "twice", 0)
    assert "static int twice(const int *b)\n" in text
    assert "return twice(v + 1);" in text
    assert "*p = twice(p);" in text
    none = without_parameter(SOURCE, "store", 0)
    assert "static void store(void) {" in none
    assert "    store();\n" in none
    assert without_parameter(SOURCE, "twice", 2) == SOURCE
