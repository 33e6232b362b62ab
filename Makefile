# The only build file. `make help` lists the targets.
#
# Options, all on the command line:
#   CC=clang    the compiler                SAN=1      ASan and UBSan
#   SWITCH=1    dispatch by plain switch    OPT=-O0    another optimisation level
#   TSAN=1      ThreadSanitizer             WERROR=    warnings don't stop the build
#   PLAIN=1     as on processors without AVX2
#   M32=1       for 32-bit x86             COV=1      counts lines and branches (-O0)
#   V=1         print the commands
# Each combination has a build directory of its own, so they don't mix.

CC := $(if $(filter default,$(origin CC)),gcc,$(CC))
OPT ?= $(if $(COV),-O0,-O3)
WERROR ?= -Werror
PREFIX ?= /usr/local
DESTDIR ?=
SECONDS ?= 60
SEED ?= 0
ROWS ?=
VERSION := $(shell sed -n 's/^.define STC_VERSION "\(.*\)"/\1/p' include/stcvm.h)
# Programs that were linked to it run with all later libraries of this name: a new name with
# each major version, and while that is 0 with each minor one.
PARTS := $(subst ., ,$(VERSION))
SONAME := libstcvm.so.$(if $(filter 0,$(firstword $(PARTS))),0.$(word 2,$(PARTS)),$(firstword $(PARTS)))

B := build$(if $(filter-out gcc,$(CC)),-$(notdir $(CC)))$(if $(filter-out -O3,$(OPT)),$(OPT))
B := $(B)$(if $(SAN),-san)$(if $(TSAN),-tsan)$(if $(SWITCH),-switch)$(if $(PLAIN),-plain)$(if $(M32),-m32)$(if $(COV),-cov)

WARN := -Wall -Wextra -Wshadow $(WERROR)
# Outputs stay untouched when a call fails, which gcc can't see from outside.
WARN += $(if $(findstring clang,$(CC)),,-Wno-maybe-uninitialized)
# gcc 12 loses the rounding of a pair, a = (float)a and b = (float)b for doubles,
# where it vectorises straight code (loops are safe): complex numbers are pairs.
SAFE := -ffp-contract=off $(if $(findstring clang,$(CC)),,-fno-tree-slp-vectorize)
# Structures of some hundred bytes are cleared and copied by the C library, which knows
# the processor, not by `rep stos` and `rep movs`, which take 30 cycles to begin: 10 %
# of the time from text to program.
ifneq ($(if $(findstring clang,$(CC)),,$(filter x86_64% i%86%,$(shell $(CC) -dumpmachine))),)
SMALL := unrolled_loop:64:noalign,libcall:-1:noalign
SAFE += -mmemset-strategy=$(SMALL) -mmemcpy-strategy=$(SMALL)
endif
# Functions begin where lines of the cache do, so that how fast one is doesn't hang on the
# sizes of others: up to 20 % of a prepared call of 200 ns. (3 % more code.)
SAFE += -falign-functions=64
# Loops step by 1: copies of them for that case are a quarter of the kernels' code.
SAFE += $(if $(findstring clang,$(CC)),,-fno-version-loops-for-strides)
# Lines for debuggers and profilers; variables, too, where nothing is optimised: they take
# a fifth of the time to build.
CFLAGS_ALL := -std=gnu17 $(OPT) $(if $(filter -O0,$(OPT)),-g,-g1) $(WARN) $(SAFE) -fno-math-errno -fPIC \
              -fno-asynchronous-unwind-tables -fvisibility=hidden -MMD -MP $(CFLAGS)
ifdef SAN
CFLAGS_ALL += -fsanitize=address,undefined -fno-sanitize-recover=undefined \
              -fno-omit-frame-pointer -DSTC_SAN
LDFLAGS_ALL := -fsanitize=address,undefined
endif
ifdef TSAN
CFLAGS_ALL += -fsanitize=thread -DSTC_SAN
LDFLAGS_ALL := -fsanitize=thread
endif
ifdef M32
CFLAGS_ALL += -m32 -msse2 -mfpmath=sse -Wno-psabi
LDFLAGS_ALL += -m32
endif
ifdef COV
# Branches as they stand in the source: nothing is copied into where it is called.
# Threads count, too: each count is atomic, or branches that ran look as if they hadn't.
CFLAGS_ALL += --coverage -fprofile-update=atomic -DSTC_SAN -Dalways_inline=unused
LDFLAGS_ALL += --coverage
endif
ifdef SWITCH
CFLAGS_ALL += -DSTC_SWITCH
endif
ifdef PLAIN
CFLAGS_ALL += '-D__builtin_cpu_supports(x)=0'
endif
LDFLAGS_ALL += $(LDFLAGS)
LIBS := -lm -pthread
Q := $(if $(V),,@)

# Each floor has files of its own, and rooms: folders.
files = $(foreach d,$(1),$(wildcard $(d)/*.$(2) $(d)/*/*.$(2)))
LIB_C := $(filter-out src/cli/%,$(call files,src vm formats,c))
CLI_C := $(wildcard src/cli/*.c)
LIB_O := $(LIB_C:%.c=$(B)/%.o)
CLI_O := $(CLI_C:%.c=$(B)/%.o)

# A tests/*.c with a main() is a program; what the others define is linked
# into each of them. The same holds for tests/bench and samples.
mains = $(if $(wildcard $(1)/*.c),$(shell grep -lE '^int main\b' $(wildcard $(1)/*.c)))
TEST_MAIN := $(call mains,tests)
TEST_HELP := $(filter-out $(TEST_MAIN),$(wildcard tests/*.c))
TESTS := $(TEST_MAIN:%.c=$(B)/%)
TEST_O := $(TEST_HELP:%.c=$(B)/%.o)
CHECKS := $(filter $(B)/tests/check%,$(TESTS))
ORACLES := $(filter $(B)/tests/oracle%,$(TESTS))
FUZZERS := $(filter $(B)/tests/fuzz%,$(TESTS))
BENCH_MAIN := $(call mains,tests/bench)
BENCH_HELP := $(filter-out $(BENCH_MAIN),$(wildcard tests/bench/*.c))
BENCHES := $(BENCH_MAIN:%.c=$(B)/%)
BENCH_O := $(BENCH_HELP:%.c=$(B)/%.o)
PAPERS := $(wildcard tests/papers/*.stc)
SAMPLES := $(patsubst %.c,$(B)/%,$(wildcard samples/*.c))
# The bench has a side of GraphBLAS where that is installed.
GRAPHBLAS := $(if $(M32),,$(wildcard /usr/include/GraphBLAS.h))
CHECK_LIBS = $(shell pkg-config --libs check 2>/dev/null || \
             echo -lcheck_pic -lsubunit -lrt -lm)

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SECONDARY:

## all: the tool build/stcvm, build/libstcvm.a and build/libstcvm.so
all: $(B)/stcvm $(B)/libstcvm.a $(B)/libstcvm.so

$(B)/%.o: %.c Makefile
	@mkdir -p $(@D)
	@echo "  cc $@"
	$(Q)$(CC) $(CFLAGS_ALL) $(if $(filter src/cli/% samples/% tests/fuzz_files.c,$<),-Iinclude) \
	  $(if $(filter tests/bench/%,$<),-march=native -ftree-slp-vectorize \
	  $(if $(GRAPHBLAS),-DBENCH_GRAPHBLAS)) -c -o $@ $<

$(B)/libstcvm.a: $(LIB_O)
	@echo "  ar $@"; rm -f $@
	$(Q)ar rcs $@ $^

$(B)/libstcvm.so: $(LIB_O) src/api/stcvm.map
	@echo "  ld $@"
	$(Q)$(CC) -shared -Wl,-soname,$(SONAME) -Wl,--version-script=src/api/stcvm.map \
	  -o $@ $(LIB_O) $(LDFLAGS_ALL) $(LIBS)

$(B)/stcvm: $(CLI_O) $(B)/libstcvm.a
	@echo "  ld $@"
	$(Q)$(CC) -o $@ $^ $(LDFLAGS_ALL) $(LIBS)

$(TESTS): $(B)/%: $(B)/%.o $(TEST_O) $(B)/libstcvm.a
	@echo "  ld $@"
	$(Q)$(CC) -o $@ $(filter-out $(if $(filter check%,$(@F)),%.a,%.a $(B)/tests/check_%),$^) \
	  $(B)/libstcvm.a \
	  $(LDFLAGS_ALL) $(if $(filter check%,$(@F)),$(CHECK_LIBS)) $(LIBS)

# Files go through the tool's commands, too.
$(B)/tests/fuzz_files: $(filter-out $(B)/src/cli/main.o,$(CLI_O))

$(BENCHES): $(B)/%: $(B)/%.o $(BENCH_O) $(B)/libstcvm.a
	@echo "  ld $@"
	$(Q)$(CC) -o $@ $^ $(LDFLAGS_ALL) $(if $(GRAPHBLAS),-lgraphblas) $(LIBS)

$(SAMPLES): $(B)/%: $(B)/%.o $(B)/libstcvm.a
	@echo "  ld $@"
	$(Q)$(CC) -o $@ $^ $(LDFLAGS_ALL) $(LIBS)

## demo: builds the tool and runs the samples' main job, on data in samples/
demo: $(B)/stcvm
	./$(B)/stcvm spy samples/plate.mtx
	./$(B)/stcvm samples/demo.stc

## deps: installs what the tests need (the Check library), if it is missing
deps:
	@if echo '#include <check.h>' | $(CC) -E - >/dev/null 2>&1; then \
	  echo "deps: Check is there"; \
	elif command -v apt-get >/dev/null; then \
	  sudo=; [ "$$(id -u)" = 0 ] || sudo=sudo; \
	  $$sudo apt-get update -q && \
	  DEBIAN_FRONTEND=noninteractive $$sudo apt-get install -y -q check pkg-config; \
	else \
	  echo "deps: install the Check unit test library (libcheck)" >&2; exit 1; \
	fi

# The tests, step by step: make runs as many at once as there are processors. The suites of
# check_main are dealt out to PARTS_OF_CHECK of them. A step tells what its last line was and
# how long it took, or all that it said where it fails.
PARTS_OF_CHECK := 8
MAIN_STEPS := $(addprefix step-main-,$(shell seq $(PARTS_OF_CHECK)))
RUN_STEPS := $(patsubst $(B)/tests/%,step-run-%,$(filter-out %/check_main,$(CHECKS)) $(ORACLES))
TABLE_STEPS := step-papers step-plans
FUZZ_STEPS := $(FUZZERS:$(B)/tests/%=step-fuzz-%)
SCRIPT_STEPS := $(patsubst tests/%.sh,step-script-%,$(wildcard tests/*.sh))
SAMPLE_STEPS := $(SAMPLES:$(B)/samples/%=step-sample-%)
STEPS := $(SCRIPT_STEPS) $(MAIN_STEPS) $(RUN_STEPS) $(TABLE_STEPS) $(FUZZ_STEPS) $(SAMPLE_STEPS)
UNIT := CK_VERBOSITY=normal CK_DEFAULT_TIMEOUT=300 $(if $(COV),CK_FORK=no )
.PHONY: steps $(STEPS)

# $(call step,what runs,what is shown if it fails)
step = @mkdir -p $(B)/steps; log=$(B)/steps/$(@:step-%=%).out; from=$$(date +%s); \
  if env -u MAKEFLAGS -u MFLAGS STCVM=./$(B)/stcvm BUILD=$(B) $(1) >$$log 2>&1; \
  then echo "== $(@:step-%=%), $$(($$(date +%s) - from)) s: $$(tail -n 1 $$log)"; \
  else $(or $(2),cat) $$log; echo "== $(@:step-%=%): FAILED"; exit 1; fi

$(MAIN_STEPS): step-main-%: $(B)/tests/check_main
	$(call step,$(UNIT)$< $* $(PARTS_OF_CHECK))
$(RUN_STEPS): step-run-%: $(B)/tests/%
	$(call step,$(UNIT)$<)
step-papers: $(B)/tests/papers
	$(call step,$< $(PAPERS),grep -v 'holds$$')
step-plans: $(B)/tests/plans
	$(call step,$< tests/plans.txt,grep -v 'holds$$')
$(FUZZ_STEPS): step-fuzz-%: $(B)/tests/%
	$(call step,$< --seconds 5 --seed 1)
$(SCRIPT_STEPS): step-script-%: tests/%.sh all $(SAMPLES)
	$(call step,sh $<)
$(SAMPLE_STEPS): step-sample-%: $(B)/samples/%
	$(call step,$<)

steps: $(STEPS)

## check: builds everything and runs every test (SAN=1, CC=clang, SWITCH=1 …), on all
##           processors; JOBS=1: one step after the other
JOBS ?= $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)
SIDE = $(if $(findstring -j,$(MAKEFLAGS)),,-j$(JOBS))
check:
	@$(MAKE) --no-print-directory $(SIDE) all $(SAMPLES) $(TESTS)
	@$(MAKE) --no-print-directory $(SIDE) -k steps
	@echo "check: all passed ($(B))"

## ci: what has to hold of every commit, leg by leg (.ci/legs NAME… for some)
ci:
	@.ci/legs

## fuzz: every fuzzer for SECONDS=60, from SEED=0 (0: from the clock); with COV=1
##           each tells which lines and branches it reached, all of them from none
fuzz: $(FUZZERS)
	@set -e; for t in $(FUZZERS); do \
	  echo "== $$t"; $(if $(COV),find $(B) -name '*.gcda' -delete;) \
	  ./$$t --seconds $(SECONDS) --seed $(SEED); \
	  $(if $(COV),for d in $(FOLDERS); do $(call covered,$$d) | \
	    awk -v dirs=$$d -f tests/coverage.awk | sed -n "s|^together|  $$d|p"; done;) \
	done

# What gcov says of the files of a folder and of those in it, one after the other.
covered = for c in $$(find $(1) -name '*.c'); do \
	    gcov -b -c -t -o $(B)/$$(dirname $$c) $$c 2>/dev/null; done
FOLDERS := $(patsubst %/,%,$(sort $(dir $(LIB_C))))

## coverage: with COV=1: lines and branches of vm/ and formats/ that ran so far
##           (MISSING=1: those that didn't); fails if a function, an opcode or an
##           error never did that tests/unreached.txt lacks
coverage: $(filter check,$(MAKECMDGOALS)) # with -j, too, it counts what check ran
	@for d in vm formats; do $(call covered,$$d) | \
	  awk -v dirs=$$d -v missing=$(MISSING) -f tests/coverage.awk; \
	done
	@for d in $(FOLDERS); do \
	  gcov -b -t -o $(B)/$$d $$d/*.c 2>/dev/null; \
	done | awk -v allowed=tests/unreached.txt -f tests/reached.awk

## layers: fails if a folder uses one that it may not; part of check
layers:
	@BUILD=$(B) sh tests/check_layers.sh

## bench: prints ratios to hand-written C loops; ROWS=pattern picks rows
bench: $(BENCHES)
	@set -e; for t in $(BENCHES); do ./$$t $(ROWS); done

## papers: what the papers promise about work, held against counters: a table; TIME=1: against a clock
papers: $(B)/tests/papers
	@./$< $(if $(TIME),--time) $(PAPERS)

## plans: statements beside the best split by hand: steps and times
plans: $(B)/tests/plans
	@./$< tests/plans.txt --time

## samples: builds samples/ against an installed stcvm with pkg-config, and runs it
samples: $(SAMPLES)
	@$(MAKE) --no-print-directory install DESTDIR= PREFIX=$(CURDIR)/$(B)/stage >/dev/null
	@sh samples/run.sh $(CURDIR)/$(B)/stage $(CC)

## python: the Python package, in build/python (PYTHONPATH=build/python python3 …)
PYTHON := /usr/bin/python3
python: $(B)/libstcvm.a
	@rm -rf $(B)/python $(B)/python-src && cp -r samples/python $(B)/python-src
	@cd $(B)/python-src && STCVM_ROOT=$(CURDIR) STCVM_LIB=$(CURDIR)/$(B)/libstcvm.a \
	  $(PYTHON) -W ignore setup.py -q build --build-lib $(CURDIR)/$(B)/python

## format: runs clang-format over all sources
format:
	clang-format -i $(call files,include formats vm src tests,[ch]) $(wildcard samples/*.c)

## install: to PREFIX=/usr/local (below DESTDIR), with a pkg-config file
install: all
	install -d $(addprefix $(DESTDIR)$(PREFIX)/,bin include lib/pkgconfig share/man/man1 share/man/man3)
	install -m 755 $(B)/stcvm $(DESTDIR)$(PREFIX)/bin/
	install -m 644 include/stcvm.h $(DESTDIR)$(PREFIX)/include/
	install -m 644 src/cli/stcvm.1 $(DESTDIR)$(PREFIX)/share/man/man1/
	install -m 644 src/api/stcvm.3 $(DESTDIR)$(PREFIX)/share/man/man3/
	install -m 644 $(B)/libstcvm.a $(DESTDIR)$(PREFIX)/lib/
	install -m 755 $(B)/libstcvm.so $(DESTDIR)$(PREFIX)/lib/$(SONAME)
	ln -sf $(SONAME) $(DESTDIR)$(PREFIX)/lib/libstcvm.so
	printf '%s\n' 'prefix=$(PREFIX)' 'libdir=$${prefix}/lib' \
	  'includedir=$${prefix}/include' '' 'Name: stcvm' \
	  'Description: evaluates sparse array expressions at once' \
	  'Version: $(VERSION)' 'Cflags: -I$${includedir}' 'Libs: -L$${libdir} -lstcvm' \
	  'Libs.private: -lm -pthread' >$(DESTDIR)$(PREFIX)/lib/pkgconfig/stcvm.pc

## uninstall: removes what install put there
uninstall:
	rm -f $(addprefix $(DESTDIR)$(PREFIX)/,bin/stcvm include/stcvm.h lib/libstcvm.a \
	  lib/libstcvm.so lib/$(SONAME) lib/pkgconfig/stcvm.pc share/man/man1/stcvm.1 \
	  share/man/man3/stcvm.3)

## dist: stcvm-VERSION.tar.gz of what is committed
dist:
	git archive --format=tar.gz --prefix=stcvm-$(VERSION)/ \
	  -o stcvm-$(VERSION).tar.gz HEAD

## exports: fails if the shared library exports anything but stc_*
exports: $(B)/libstcvm.so
	@nm -D --defined-only $< | awk '$$2 == "A" { next } \
	  $$3 !~ /^stc_[a-z0-9_]*@@STCVM_/ { print; bad = 1 } END { print "exports: " NR " names" (bad ? "" : ", all of them stc_*"); exit bad }'

## man: the manual page of the library, src/api/stcvm.3, from the header
man:
	@awk -f src/api/man.awk include/stcvm.h >src/api/stcvm.3

## format-check: fails where `make format` would change a file
format-check:
	@clang-format --dry-run -Werror $(call files,include formats vm src tests,[ch]) $(wildcard samples/*.c)

## version: prints it
version:
	@echo $(VERSION)

## clean: removes every build directory
clean:
	rm -rf build build-* stcvm-*.tar.gz

## help: this list
help:
	@sed -n 's/^## //p' Makefile

.PHONY: all demo deps check ci fuzz coverage layers bench papers plans samples python format install uninstall \
  dist exports man format-check version clean help

-include $(patsubst %.o,%.d,$(LIB_O) $(CLI_O) $(TEST_O) $(BENCH_O)) \
  $(addsuffix .d,$(TESTS) $(BENCHES) $(SAMPLES))
