# SPDX-License-Identifier: MIT
# The front door: each target sets up what is missing (Python packages in .venv), then delegates.
# The library's build is meson.build; the lab is lab/everycore; of the tests, conftest.py.

.PHONY: help bench report lab efi-image check test test-all clean
.NOTPARALLEL: # make -j: one set-up at a time

help:
	@echo 'make bench     what each kernel costs on this machine, and which is selected'
	@echo '               (ARGS=--quick: under 10 seconds once it is compiled; ARGS=--help: all options;'
	@echo '               ARGS="--target board.toml": on a board, docs/guides/adding-a-target.md)'
	@echo 'make report    one page of all results, stored and your own: build/report.html'
	@echo '               (ARGS="FILE...": of these; ARGS=--help: plots, CSV, Parquet)'
	@echo 'make lab       set up all of .venv/bin/everycore: toolchain add, matrix, report, ...'
	@echo 'make efi-image build/everycore-efi.img, for a USB stick: the harness without an operating system'
	@echo 'make check     the tests that belong to files: make check FILE..., or to what you have changed'
	@echo 'make test      all normal tests; ARGS="--every", or options of pytest and paths'
	@echo 'make test-all  the long runs too: full lengths, Monte Carlo, sanitizers, more compilers'
	@echo 'make clean     remove what these made: build, .venv, .cache'
	@echo
	@echo 'YES=1 lets them install system packages with apt-get; CI=true implies it.'

bench:
	@tools/setup $(if $(findstring --target,$(ARGS)),farm,bench)
	@.venv/bin/everycore bench $(ARGS)

report:
	@tools/setup report
	@mkdir -p build
	@.venv/bin/everycore report --out build/report.html $(ARGS)

lab:
	@tools/setup lab
	@echo 'everycore: ready; for example:'
	@echo '  .venv/bin/everycore toolchain add gcc-14 clang-19'
	@echo '  .venv/bin/everycore matrix --subject linux-6.1 --budget 10m'
	@echo '  .venv/bin/everycore report'

efi-image:
	@tools/setup efi
	@mkdir -p build
	@rm -f build/everycore-efi.img
	@.venv/bin/everycore efi image --out build/everycore-efi.img $(ARGS)

check:
	@tools/setup test
	@.venv/bin/python tools/check $(FILES)

ifeq (check,$(firstword $(MAKECMDGOALS)))
FILES := $(wordlist 2,$(words $(MAKECMDGOALS)),$(MAKECMDGOALS))
.PHONY: $(FILES)
$(FILES): check ; @:
endif

test test-all:
	@tools/setup $@
	@.venv/bin/python -m pytest -rfEs --tb=short -n auto --gate $(or $(if $(filter test-all,$@),all),$(if $(filter true,$(CI)),ci),test) $(ARGS)

clean:
	rm -rf build .venv .cache
