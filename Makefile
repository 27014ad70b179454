# espy: a thin front over CMake. `make demo` and `make test` need nothing but a Debian 12 machine.
# PRESET picks a configuration of CMakePresets.json; CMAKE_ARGS adds to it.

BUILD := build
CMAKE_ARGS ?=
JOBS ?= $(shell nproc)

.PHONY: help setup build demo test check bench soak clean format

help:
	@echo "make demo    install what is missing, build, bake the sample level, audit it, write out/demo.png"
	@echo "make test    install what is missing, build, run the tests"
	@echo "make build   build only (build/bin/espy, build/lib), and the editor's page where node and clang are"
	@echo "make check   clang, format, analyser, sanitizers, fuzzers for 30 s each, other machines"
	@echo "make bench   speed, as ratios against named peers and bounds"
	@echo "make soak    what takes hours: 1e9 rays, long fuzzing, big audits"
	@echo "make format  rewrite every source file with clang-format"

build:
	@cmake -S . -B $(BUILD) --preset release $(CMAKE_ARGS) > $(BUILD).log 2>&1 || { cat $(BUILD).log; exit 1; }
	@grep -h '^-- espy:' $(BUILD).log || true
	@cmake --build $(BUILD) -j $(JOBS)
	@[ -n "$(NO_PAGE)" ] || scripts/editor.sh $(BUILD) if-possible

demo:
	@scripts/setup.sh build
	@$(MAKE) --no-print-directory build NO_PAGE=1 CMAKE_ARGS="-DESPY_BUILD_TESTS=OFF $(CMAKE_ARGS)"
	@scripts/demo.sh $(BUILD)/bin out

test:
	@scripts/setup.sh build test
	@$(MAKE) --no-print-directory build NO_PAGE=1 CMAKE_ARGS="-DESPY_BUILD_TESTS=ON $(CMAKE_ARGS)"
	@ctest --test-dir $(BUILD) --output-on-failure -j $(JOBS)

check:
	@scripts/setup.sh build test check targets web
	@scripts/check.sh

bench:
	@scripts/setup.sh build bench
	@scripts/bench.sh

soak:
	@scripts/setup.sh build test bench check
	@scripts/soak.sh

format:
	@git ls-files '*.c' '*.h' '*.inl' '*.cpp' '*.hpp' ':!dist' | xargs clang-format -i

clean:
	rm -rf build build-* build.log out
