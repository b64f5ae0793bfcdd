# Capsid's front door. `make help` tells what there is; CMake does the work.
#
#   BUILD=dir    where to build (build)          JOBS=n   how many at once
#   PREFIX=dir   where to install (/usr/local)   DESTDIR=dir  staging root

BUILD ?= build
JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
DESTDIR ?=
BENCH ?=
FUZZ_SECONDS ?= 60
STAGES ?= tests

# scripts/setup may have put a newer Node.js there than the machine's own.
export PATH := $(CURDIR)/build-tools/bin:$(PATH)
export BUILD JOBS FUZZ_SECONDS
export CMAKE_BUILD_PARALLEL_LEVEL := $(JOBS)

.DEFAULT_GOAL := build
.PHONY: help setup configure build demo check check-all bench fuzz format \
	images install clean

help:
	@echo 'make            install what is missing and build (into $(BUILD)/)'
	@echo 'make demo       … and run examples/hello.ts with host functions'
	@echo 'make check      … and run every quick test; ends with the count'
	@echo 'make check-all  check, sanitizers, linters, a minute of each fuzzer'
	@echo 'make bench      measure, beside Node; BENCH="--quick --only NAME"'
	@echo 'make fuzz       run each fuzzer for FUZZ_SECONDS=$(FUZZ_SECONDS)'
	@echo 'make format     let clang-format lay out the C files'
	@echo 'make images     OCI image layouts of the guests; IMAGES="python node"'
	@echo 'make install    headers, libraries, capsid.pc, command; PREFIX, DESTDIR'
	@echo 'make clean      remove what was built (not what was downloaded)'

setup:
	@scripts/setup

configure: setup
	@test -e $(BUILD)/build.ninja || cmake --preset release -B $(BUILD)

build: configure
	@cmake --build $(BUILD)

demo: build
	@scripts/demo $(BUILD)/bin/capsid

check:
	@scripts/check $(STAGES)

check-all:
	@scripts/check tests asan tsan tidy cppcheck fuzz

bench: build
	@$(BUILD)/bin/bench --json $(BUILD)/bench.json $(BENCH)
	@CAPSID_ADDON=$(abspath $(BUILD))/lib/capsid.node \
		node adapters/node/bench/main.mjs \
		--json $(BUILD)/bench-node.json $(BENCH)

fuzz: setup
	@scripts/check fuzz

format: setup
	@scripts/check-format --fix

images: build
	@scripts/images --build $(BUILD) $(IMAGES)

install: build
	@DESTDIR='$(DESTDIR)' cmake --install $(BUILD) --prefix '$(PREFIX)'

clean:
	rm -rf $(BUILD) build-dev build-asan build-tsan build-fuzz
