# Set up and run, with nothing but Python 3.11 or newer (on Debian: python3 and python3-venv).
# Another Python: make test PYTHON=python3.13 VENV=/tmp/batsched-py-3.13

PYTHON ?= python3
VENV ?= .venv
SECONDS ?= 60
THOROUGH ?= 1
PYTHONS ?= $(PYTHON)
# Of the wheels in dist, the one for a Python: cp311-cp311.
TAG = "import sys; print('cp{0}{1}-cp{0}{1}'.format(*sys.version_info))"
# The tests of packages of which modules are compiled.
COMPILED_TESTS = $(addprefix tests/unit/,model/test_name_set.py model/test_packed_jobs.py planning/future \
  planning/test_random_lives.py protocol scheduling schedulers session state transcripts test_bits.py test_builds.py \
  test_compiled.py test_hostset.py $(addprefix simulator/,jobs machines referee time wire test_contention_runs.py \
  test_golden_runs.py test_live_loop.py test_properties.py test_simgrid_cases.py test_simulation.py test_turns.py)) \
  $(addprefix tests/integration/,test_contract.py test_direct_exchange.py test_packed_runs.py)
DEMO = batsched-py simulate -p platforms/cluster32.xml -w workloads/lublin200.json -s easy --gantt -e out/demo

BIN = $(VENV)/bin
PIP_INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check

.DEFAULT_GOAL := help
.PHONY: help demo test check fix fuzz schema bench docs wheels test-compiled test-readers clean

help: ## This list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(VENV)/.installed ## Simulate 200 jobs on 32 hosts with EASY backfilling, and draw what happened
	@mkdir -p out
	$(BIN)/$(DEMO)

test: $(VENV)/.installed-dev ## Run the whole test-suite (PYTEST="-k easy" passes options on, THOROUGH=10 draws more cases)
	THOROUGH=$(THOROUGH) PYTHONSAFEPATH=1 $(BIN)/pytest -n auto $(PYTEST)

test-readers: $(VENV)/.installed-dev ## Run the tests with evalys and batsim-py, which pip installs in an environment of their own
	READERS=1 PYTHONSAFEPATH=1 $(BIN)/pytest tests/integration/test_readers.py

check: $(VENV)/.installed-dev ## Lint, formatting, types, the walls between packages and the prose of docs; changes nothing
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m tests.docs.prose

fix: $(VENV)/.installed-dev ## Mend what the linter can mend, and format
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

fuzz: $(VENV)/.installed-dev ## Search for input that leads to anything but one clear line (SECONDS=600 for longer)
	$(BIN)/python -m tests.fuzz --seconds $(SECONDS) $(FUZZ)

schema: $(VENV)/.installed-dev $(VENV)/schemathesis/.installed ## Ask a site whatever its OpenAPI description allows, and what it does not
	$(BIN)/python -m tests.fuzz.openapi $(VENV)/schemathesis/bin/st $(SCHEMA)

bench: $(VENV)/.installed-dev ## Measure messages per second, and how the cost grows
	$(BIN)/python -m tests.benchmarks $(BENCH)

docs: $(VENV)/.installed-dev ## Build the documentation as a site, into build/site
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

# From a source distribution, because the compiler leaves its results beside the sources.
wheels: $(VENV)/.installed-dev ## Build a compiled wheel with each of PYTHONS ("python3.12 python3.13"), into dist
	@rm -rf build/sdist
	@$(BIN)/hatchling build -t sdist -d build/sdist >/dev/null
	@for python in $(PYTHONS); do \
	  echo "Compiling with $$python ..."; \
	  HATCH_BUILD_HOOK_ENABLE_MYPYC=true $$python -m pip wheel --quiet --disable-pip-version-check --no-deps \
	    --wheel-dir dist build/sdist/batsched_py-*.tar.gz || exit 1; \
	done
	@ls dist/batsched_py-*.whl

test-compiled: $(VENV)/.installed-dev ## Run the tests of what is compiled in a compiled wheel, as for `make wheels`
	@rm -rf build/compiled
	@$(MAKE) --no-print-directory wheels PYTHONS=$(BIN)/python
	@$(PIP_INSTALL) --no-deps --target build/compiled dist/batsched_py-*-$$($(BIN)/python -c $(TAG))-*.whl
	PYTHONPATH=build/compiled PYTHONSAFEPATH=1 $(BIN)/pytest -n auto -m "not variant" $(COMPILED_TESTS) $(PYTEST)

clean: ## Remove the virtual environment, caches and outputs
	rm -rf $(VENV) out build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The stamps say for which pyproject.toml the installation was made. It is editable: changes of code need none. Of the many
# packages of the development tools, those that are imported are compiled to bytecode then: that takes half the time.
$(VENV)/.installed: pyproject.toml | $(BIN)/python
	@echo "Installing batsched-py into $(VENV) ..."
	@$(PIP_INSTALL) --editable .
	@touch $@

$(VENV)/.installed-dev: pyproject.toml | $(BIN)/python
	@echo "Installing batsched-py and its development tools into $(VENV) ..."
	@$(PIP_INSTALL) --no-compile --editable ".[dev]"
	@touch $(VENV)/.installed $@

# In an environment of its own: it brings a dozen packages that nothing else needs.
$(VENV)/schemathesis/.installed: | $(BIN)/python
	@echo "Installing schemathesis into $(VENV)/schemathesis ..."
	@$(PYTHON) -m venv $(VENV)/schemathesis
	@$(VENV)/schemathesis/bin/python -m pip install --quiet --disable-pip-version-check "schemathesis>=4.32,<5"
	@touch $@

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed, $(PYTHON) is " + sys.version.split()[0])'
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); echo "No virtual environment: on Debian, apt install python3-venv" >&2; exit 1; }
