# Short names for what the presets of CMakePresets.json do. `make help` lists them.
PREFIX ?= /usr/local
PRESET ?= release
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
VALGRIND = valgrind --quiet --error-exitcode=1 --leak-check=full --errors-for-leak-kinds=definite
MAKEFLAGS += --no-print-directory

.DEFAULT_GOAL := all
.PHONY: all setup extras setup-test setup-dev build run python octave test slow matrix results gallery pictures truck-study comparison reference-extended fuzz hmmwv-tables \
        bench auto choices peers setup-peers bench-python engines detest web viewer viewer-pictures run-web web-pictures serve-load bench-web setup-web sanitize clang coverage valgrind abi-update format check-format install clean help

all: build ## set up (install missing packages) and build; the program is build/daedalus

setup: ## install the Debian packages that are missing (SETUP=no skips it)
ifneq ($(SETUP),no)
	@tools/setup.sh
endif

extras: ## install SUNDIALS, HDF5, MPI and the libraries of the web server, and build with them
ifneq ($(SETUP),no)
	@tools/setup.sh --extras
endif
	@test ! -f build/build.ninja || cmake build > /dev/null
	@$(MAKE) build

setup-test: # what the tests and the Python and Octave packages need; CMake looks again for what it did not find
ifneq ($(SETUP),no)
	@tools/setup.sh --test
	@test ! -f build/build.ninja || cmake build > /dev/null
endif

setup-dev: ## also install clang with its sanitizers, clang-format, valgrind and the SVG converter
ifneq ($(SETUP),no)
	@tools/setup.sh --dev
endif

build/build.ninja: CMakePresets.json | setup
	cmake --preset $(PRESET)

build: setup build/build.ninja
	cmake --build build -j $(JOBS)

run: build ## the main job: Andrews' squeezing mechanism, with report, table and plot in out/
	@mkdir -p out
	build/daedalus run andrews --plot out/andrews.svg --out out/andrews.csv

python: setup-test build ## the Python package: build/python (for PYTHONPATH), and a wheel in build/wheel
	cmake --build build -j $(JOBS) --target python
	@"$$(sed -n 's/^DAEDALUS_PYTHON_FOUND:INTERNAL=//p' build/CMakeCache.txt)" apps/python/backend.py build/python/daedalus build/wheel

octave: setup-test build ## the functions for Octave: build/octave (for addpath), and build/octave-daedalus.tar.gz (for pkg install)
	cmake --build build -j $(JOBS) --target octave octave_package
	@echo "in Octave: addpath ('$(CURDIR)/build/octave')"

test: setup-test build viewer web ## every test but the long studies; WEB=no leaves the page and its browser out
	@tools/run_tests.sh build $(JOBS)

slow: setup-test build ## the long studies: tests labeled slow, and the matrix of all solvers, problems and tolerances
	@mkdir -p out
	ctest --test-dir build --output-on-failure -L '^slow$$'
	build/daedalus matrix --jobs $(JOBS) --out out/matrix.jsonl --out out/matrix.csv --condensed out/matrix.md

matrix: build ## docs/testset-matrix.md: every solver on every problem, condensed (goes on where it was)
	@mkdir -p out
	build/daedalus matrix --jobs $(JOBS) --out out/matrix.jsonl --solvers wnys2 --max-seconds 300 --quiet; test $$? -le 1
	build/daedalus matrix --jobs $(JOBS) --out out/matrix.jsonl --max-seconds 15 --out out/matrix.csv --condensed docs/testset-matrix.md

results: build ## docs/testset-results.md: our figures beside those of the test set report
	build/daedalus table --all --rows published --format md --jobs $(JOBS) --max-seconds 300 \
	    --notes docs/testset-deviations.md > build/testset-results.md; test $$? -le 1
	mv build/testset-results.md docs/testset-results.md

gallery: build ## work-precision diagrams of all problems: docs/gallery/, docs/gallery.md (goes on where it was)
	@mkdir -p out
	build/daedalus workprec --all --range ::0.5 --repeat 5 --max-seconds 1.5 --budget 4 --jobs $(JOBS) \
	    --out out/workprec --gallery docs/gallery
	python3 tools/places.py docs

pictures: build ## docs/images/problems: the figures of the documents, one for each problem page
	@tools/pictures.sh build/daedalus docs/images/problems

truck-study: build ## docs/truck-study.md: the truck of the MEXX report, counts and sizes of the steps
	tools/truck_study.sh build/daedalus docs

comparison: build ## docs/comparison.md: direct, stabilized, projected and partitioned integration of mechanisms
	tools/comparison.sh build/daedalus docs

reference-extended: build ## reference solutions in 80 bit arithmetic by radau of order 13 and 9: out/reference-extended.txt
	cmake --build build -j $(JOBS) --target reference_extended
	@mkdir -p out
	build/reference_extended | tee out/reference-extended.txt; grep -q 'fewest digits' out/reference-extended.txt

FUZZ_SECONDS ?= 600
FUZZ_FLAGS = -std=c17 -g -O1 -fsanitize=address,undefined -fno-sanitize-recover=undefined -Isrc -Iinclude -Ibuild/include
fuzz: setup-dev setup-test build ## read mutated model files, guided by coverage, for FUZZ_SECONDS=600 (needs clang with libFuzzer)
	@mkdir -p build-fuzz/corpus
	for f in $$(find src/multibody src/language -name '*.c'); do \
	    clang $(FUZZ_FLAGS) -fsanitize=fuzzer-no-link -c $$f -o build-fuzz/$$(echo $$f | tr / _).o || exit 1; done
	clang $(FUZZ_FLAGS) -fsanitize=fuzzer -x c tests/fuzz/model_entry.h -x none build-fuzz/*.o build/src/libdaedalus.a \
	    $$(sed -n 's/.*LINK_LIBRARIES = .*libdaedalus.a *\(.*cmocka.*\)/\1/p' build/build.ninja | head -1) -lm -o build-fuzz/fuzz_model
	build-fuzz/fuzz_model -dict=tests/fuzz/model.dict -max_total_time=$(FUZZ_SECONDS) -timeout=10 -rss_limit_mb=2000 \
	    -max_len=6000 -artifact_prefix=build-fuzz/ build-fuzz/corpus tests/fuzz/corpus models

# Without the tracing of comparisons, which takes two thirds of the time: a dictionary knows the words. FUZZ_RUNS=10000000 ends after so many.
FUZZ_RUNS ?= -1
fuzz-equations: setup-dev setup-test build ## the same with equation files
	@mkdir -p build-fuzz/equations
	for f in src/equations/*.c src/language/*.c; do \
	    clang $(FUZZ_FLAGS) -O2 -D_POSIX_C_SOURCE=200809L -fsanitize-coverage=inline-8bit-counters,pc-table -c $$f \
	        -o build-fuzz/equations/$$(basename $$f).o || exit 1; done
	clang $(FUZZ_FLAGS) -fsanitize=fuzzer -x c tests/fuzz/equations_entry.h -x none build-fuzz/equations/*.o build/src/libdaedalus.a \
	    $$(sed -n 's/.*LINK_LIBRARIES = .*libdaedalus.a *\(.*cmocka.*\)/\1/p' build/build.ninja | head -1) -lm -o build-fuzz/fuzz_equations
	@mkdir -p build-fuzz/equations-corpus
	OPENBLAS_NUM_THREADS=1 ASAN_OPTIONS=malloc_context_size=2:quarantine_size_mb=4 build-fuzz/fuzz_equations -dict=tests/fuzz/equations.dict -entropic=0 \
	    -runs=$(FUZZ_RUNS) -max_total_time=$(FUZZ_SECONDS) -timeout=20 -rss_limit_mb=2000 -max_len=3000 \
	    -artifact_prefix=build-fuzz/ build-fuzz/equations-corpus tests/equations/models models

auto: build ## the regret of auto: its time over that of the best method at equal accuracy, some minutes
	cmake --build build -j $(JOBS) --target bench_auto bench_mechanisms
	OPENBLAS_NUM_THREADS=1 build/bench/bench_auto
	OPENBLAS_NUM_THREADS=1 build/bench/bench_mechanisms auto

setup-peers:
ifneq ($(SETUP),no)
	@tools/setup.sh --peers
	@test ! -f build/build.ninja || cmake build > /dev/null
endif

peers: setup-peers build ## Fortran codes and engines of Debian beside our methods, time at equal accuracy: docs/performance.md, 15 minutes
	cmake --build build -j $(JOBS) --target bench_peers bench_engines bench_mechanisms
	tools/performance.sh build docs

hmmwv-tables: build ## docs/hmmwv-tables.md: explicit against implicit integration of the HMMWV, about 20 minutes
	cmake --build build -j $(JOBS) --target bench_hmmwv
	{ cat bench/hmmwv-tables.head; OPENBLAS_NUM_THREADS=1 build/bench/bench_hmmwv tables; } > build/hmmwv-tables.md
	mv build/hmmwv-tables.md docs/hmmwv-tables.md

setup-web: ## install what the web page needs: emscripten, node, chromium
ifneq ($(SETUP),no)
	@tools/setup.sh --web
endif

ifeq ($(WEB),no)
web:
else
web: build setup-web ## the static site in build/web: the library itself runs in the page
	sh apps/web/build_site.sh . build $(JOBS)
endif

ifeq ($(WEB),no)
viewer:
else
viewer: build ## the viewer in 3D (three.js, from npm) as part of the library: run --animate, report, Python
	sh apps/viewer/build_viewer.sh . build
	cmake --build build -j $(JOBS)
endif

viewer-pictures: viewer ## docs/images/viewer: what the viewer looks like
	node tests/web/viewer_test.mjs . build docs/images/viewer

web-pictures: web ## docs/images/web: what the page looks like, light, dark and on a phone
	node tests/web/browser_test.mjs . build docs/images/web

serve-load: web ## 200 clients for a minute and 100 000 hostile requests against daedalus serve
	node tests/web/serve_test.mjs . build load 60
	node tests/web/serve_test.mjs . build hostile 100000

bench-web: web ## sizes and speeds of the page, in chromium
	node bench/bench_web.mjs . build

run-web: web ## open the site
	@echo "build/web/index.html"; xdg-open build/web/index.html 2>/dev/null || chromium build/web/index.html 2>/dev/null || true

choices: build ## what "auto" costs on stiff mechanisms beside all other choices, five minutes
	python3 tools/choices.py build/daedalus

bench: build ## build and run the benchmarks
	cmake --build build -j $(JOBS) --target bench
detest: build ## all methods on the DETEST collections: do errors follow tolerances? two minutes (DETEST='radau5 --above 100')
	cmake --build build -j $(JOBS) --target bench_detest
	OPENBLAS_NUM_THREADS=1 build/bench/bench_detest $(DETEST)
bench-python: python ## solve_ivp beside SciPy's, in one run
	cmake --build build -j $(JOBS) --target daedalus_shared
	OPENBLAS_NUM_THREADS=1 PYTHONPATH=build/python "$$(sed -n 's/^DAEDALUS_PYTHON_FOUND:INTERNAL=//p' build/CMakeCache.txt)" \
	    bench/python/bench_python.py --c $(CURDIR)/build $(CURDIR)
engines: build ## chains of bodies beside Simbody and MuJoCo, where they are installed
	cmake --build build -j $(JOBS) --target engines

# One rule for the other builds: configure once, build, test.
define preset
	test -f build-$(1)/build.ninja || cmake --preset $(1)
	cmake --build build-$(1) -j $(JOBS)
	ctest --test-dir build-$(1) --output-on-failure -LE '^slow$$' -j $(JOBS)
endef

.PHONY: faults corrupt mutants fuzz-readers sanitize-run tsan
faults: setup-test build ## every command with allocation k failing, for all k, once and from k on (long)
	python3 tests/faults/faults.py build/daedalus build/tests/libstarve.so . --all

CORRUPT ?= 1000
corrupt: setup-test build ## every kind of file that we read with bytes changed, CORRUPT=1000 times each
	python3 tests/faults/corrupt.py $(CURDIR)/build/daedalus $(CURDIR) $(CORRUPT)

MUTANTS ?=
mutants: setup-test build ## one-line bugs (tools/mutants.txt), each built and tested: which survive? an hour (goes on; MUTANTS="--count 50 --seed 7": others)
	python3 tools/mutants.py $(MUTANTS)

FUZZ_INPUTS ?= 10000000
fuzz-readers: setup-test build ## FUZZ_INPUTS=10000000 changed inputs for every reader that runs in a process: hours
	for t in test_table_fuzz test_expression_fuzz test_equations_fuzz test_model_fuzz test_reader_fuzz test_robot_fuzz test_args; do \
	    FUZZ_INPUTS=$(FUZZ_INPUTS) build/tests/$$t || exit 1; done
	python3 tests/faults/command_lines.py $(CURDIR)/build/daedalus $(CURDIR) 100000

# The sanitizers make every test about ten times slower: fuzz tests get less to do.
sanitize: setup-test ## build and test with address and undefined-behavior sanitizers, in build-debug/
	FUZZ_INPUTS=2000 $(MAKE) sanitize-run
sanitize-run:
	$(call preset,debug)

# All tests but those that say nothing here: lists of sources, documents and symbols, installed copies, and starved allocations, which the
# sanitizer keeps for itself, and the server's bounds of memory and seconds, in which a program with the sanitizer cannot run. Python, Octave and MPI are left out by the preset: their programs are built without the sanitizer.
TSAN_WITHOUT = faults/|source/|docs/|install/|abi/|web/serve_test|web/code_test
tsan: setup-test ## build and test with the thread sanitizer, in build-tsan/
	test -f build-tsan/build.ninja || cmake --preset tsan
	cmake --build build-tsan -j $(JOBS)
	FUZZ_INPUTS=2000 ctest --test-dir build-tsan --output-on-failure -LE '^slow$$' -E '$(TSAN_WITHOUT)' -j $(JOBS)

clang: setup-dev setup-test ## build and test with clang, warnings are errors, in build-clang/
	$(call preset,clang)

coverage: setup-test ## build and test with coverage; prints lines covered per file
	$(call preset,coverage)
	tools/coverage.sh build-coverage

valgrind: setup-dev setup-test build ## one run of each method under valgrind
	OPENBLAS_NUM_THREADS=1 $(VALGRIND) build/tests/test_every_method

abi-update: build ## write tests/abi/symbols.txt anew (a change means a new SOVERSION)
	sh tests/abi/check_abi.sh --update . build

# Tables of numbers keep the layout of their source.
FORMATTED = git ls-files '*.c' '*.h' | grep -vE '(_data|_grid|_netlist|_tables|checkpoints|coefficients|insulator_chain)\.h$$|test_(tba|emep)\.c$$'
format: ## format all C files with clang-format
	$(FORMATTED) | xargs clang-format -i

check-format: ## say which C files clang-format would change
	$(FORMATTED) | xargs clang-format --dry-run

install: build ## install below PREFIX (default /usr/local); DESTDIR is honored
	cmake --install build --prefix $(PREFIX)

clean: ## remove all builds and results
	rm -rf build build-debug build-clang build-coverage out

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1 |\2/p' Makefile | awk -F'|' '{printf "%-20s %s\n", $$1, $$2}'
