# One-word tasks. They need python3 (3.10 or newer), pip and make; a second run reuses .venv.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

# Two pairs: the first is compared at once, c and the scoreboard lead to the other.
DEMO := attention_naive attention_sdpa mlp_eager mlp_compiled

.DEFAULT_GOAL := help
.PHONY: help demo test format snapshots golden bench bench-big traces keys

help:
	@echo "make demo       open tracetui on the bundled samples"
	@echo "make test       lint, types, layers and all tests"
	@echo "make format     rewrite the code in the one style"
	@echo "make snapshots  draw the stored screens anew"
	@echo "make golden     write the stored values anew"
	@echo "make bench      what loading, the screen, comparing and recording cost, as ratios"
	@echo "make bench-big  the same of loading 1 GB and 4 GB; takes 5 GB of disk and 5 GB of memory"
	@echo "make traces     record the bundled samples anew"
	@echo "make keys       write the README's table of keys anew"

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' \
	  || { echo "tracetui needs Python 3.10 or newer: make PYTHON=/path/to/python3" >&2; exit 2; }
	$(PYTHON) -m venv $(VENV)

# The stamps are newer than what they were installed from.
$(VENV)/.installed: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) install -c constraints.txt -e .
	@touch $@

$(VENV)/.installed-dev: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) install -c constraints.txt -e '.[dev,capture]'
	@touch $@ $(VENV)/.installed

demo: $(VENV)/.installed
	$(BIN)/tracetui $(addprefix sample_traces/,$(addsuffix .json.gz,$(DEMO)))

test: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -n 2

format: $(VENV)/.installed-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

snapshots: $(VENV)/.installed-dev
	$(BIN)/python -m pytest tests/ui --snapshot-update

golden: $(VENV)/.installed-dev
	UPDATE_GOLDEN=1 $(BIN)/python -m pytest tests/golden/test_samples.py

bench: $(VENV)/.installed-dev
	$(BIN)/python -m tests.benchmarks
	$(BIN)/python -m tests.benchmarks.screen
	$(BIN)/python -m tests.benchmarks.compare
	$(BIN)/python -m tests.benchmarks.run_overhead

bench-big: $(VENV)/.installed-dev
	$(BIN)/python -m tests.benchmarks 1000 4000

traces: $(VENV)/.installed-dev
	$(BIN)/python -m tracetui.capture.samples sample_traces

keys: $(VENV)/.installed-dev
	$(BIN)/python -m tests.architecture.test_readme
