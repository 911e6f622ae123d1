# SPDX-License-Identifier: MIT
"""Both commands of the README work on fresh machines.

pytest tests/systems/test_fresh_machines.py [-k SUITE] [--test-args ARGS]

For each suite of Debian (bookworm and trixie), mmdebstrap makes a root with the packages that the
README asks for and no others. The last commit is cloned there; `make bench` and `YES=1 make test`
run in the clone. What is not committed is not tested. `--test-args` are the ARGS of `make
test`.
"""

import pathlib
import re
import shlex

import pytest
from debian_roots import bundle, last, network, run_in_root

pytestmark = pytest.mark.long
SUITES = ("bookworm", "trixie")  # Debian 12 and 13
PACKAGES = ("python3", "gcc", "libc6-dev", "make", "git")
NOT_INSTALLED = "everycore: apt-get failed"  # tools/system-packages
RESULT = re.compile(r"^fresh machine: (.*): exit code (\d+)$", re.M)

# Runs inside the root, and writes nothing of its own into the clone, which check-tree looks at.
# `make bench` may fail once, if the remedy that it names is a command that makes it work.
IN_ROOT = r"""
export HOME=/srv DEBIAN_FRONTEND=noninteractive
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
cd /srv && git clone --quiet checkout.bundle everycore && cd everycore || exit 0
system=$(. /etc/os-release; echo "$PRETTY_NAME")
echo "fresh machine: $system, $(python3 --version), $(gcc --version | head -n 1)"
code=0
make bench >../bench.log 2>&1 </dev/null || code=$?
remedy=$(sed -n 's/.*remedy: \(apt-get install .*\)/\1/p' ../bench.log | head -n 1)
if [ $code -ne 0 ] && [ -n "$remedy" ]; then
    cat ../bench.log
    echo "fresh machine: following the remedy: $remedy"
    apt-get update >../remedy.log 2>&1 && $remedy >>../remedy.log 2>&1 </dev/null ||
        tail -n 20 ../remedy.log
    code=0
    make bench >../bench.log 2>&1 </dev/null || code=$?
fi
cat ../bench.log
[ $code -eq 0 ] || cat .venv/setup.log
echo "fresh machine: make bench: exit code $code"
code=0
YES=1 make test ARGS="$TEST_ARGS" >../test.log 2>&1 </dev/null || code=$?
cat ../test.log
[ $code -eq 0 ] || cat .venv/setup.log
echo "fresh machine: make test: exit code $code"
"""


def output_of(suite: str, arguments: str, folder: pathlib.Path) -> str:
    """Run both commands on a fresh machine; return their output."""
    assignments, files = network()
    script = folder / "run.sh"
    script.write_text("\n".join([*assignments, f"TEST_ARGS={shlex.quote(arguments)}"]) + IN_ROOT)
    uploads = [(bundle(folder), "/srv/checkout.bundle"), *files]
    code, text = run_in_root(suite, PACKAGES, script, uploads)
    assert code == 0, f"mmdebstrap failed:\n{last(text)}"
    return text


def verdicts(text: str) -> dict[str, str]:
    """Return why each command failed, by command; an empty text for those that passed.

    One that did not end has failed.

    Packages that apt-get did not install would only make `make test` skip tests: that is a failure
    here, and so is a `make test` that counts nothing.
    """
    codes = dict(RESULT.findall(text))
    found = {
        command: "" if codes.get(command) == "0" else f"exit code {codes.get(command, 'unknown')}"
        for command in ("make bench", "make test")
    }
    if not found["make test"] and NOT_INSTALLED in text:
        found["make test"] = NOT_INSTALLED
    if not found["make test"] and not counts(text):
        found["make test"] = "it counted no test"
    return found


def counts(text: str) -> list[str]:
    """Return the counts of `make test`; its last line."""
    return re.findall(r"^[1-9]\d* passed, \d+ failed, \d+ skipped$", text, re.M)[-1:]


@pytest.fixture(scope="module", params=SUITES)
def output(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp(request.param)
    return output_of(request.param, request.config.getoption("test_args"), folder)


@pytest.mark.parametrize("command", ["make bench", "make test"])
def test_a_command_of_the_readme_works(command: str, output: str) -> None:
    why = verdicts(output)[command]
    print(*counts(output))
    assert not why, last(output)
