# Set up and run, with nothing but Python 3.11 or newer (on Debian: python3 and python3-venv).
# Another Python: make test PYTHON=python3.13 VENV=/tmp/batsched-py-3.13

PYTHON ?= python3
VENV ?= .venv
SECONDS ?= 60
DEMO = batsched-py simulate -p platforms/cluster32.xml -w workloads/lublin200.json -s easy --gantt -e out/demo

BIN = $(VENV)/bin
PIP_INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check

.DEFAULT_GOAL := help
.PHONY: help demo test check fix fuzz schema bench docs clean

help: ## This list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(VENV)/.installed ## Simulate 200 jobs on 32 hosts with EASY backfilling, and draw what happened
	@mkdir -p out
	$(BIN)/$(DEMO)

test: $(VENV)/.installed-dev ## Run the whole test-suite (PYTEST="-k easy" passes options on)
	PYTHONSAFEPATH=1 $(BIN)/pytest -n auto $(PYTEST)

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

clean: ## Remove the virtual environment, caches and outputs
	rm -rf $(VENV) out build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The stamps say for which pyproject.toml the installation was made. It is editable: changes of code need none.
$(VENV)/.installed: pyproject.toml | $(BIN)/python
	@echo "Installing batsched-py into $(VENV) ..."
	@$(PIP_INSTALL) --editable .
	@touch $@

$(VENV)/.installed-dev: pyproject.toml | $(BIN)/python
	@echo "Installing batsched-py and its development tools into $(VENV) ..."
	@$(PIP_INSTALL) --editable ".[dev]"
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
