# Every target sets up what it needs in .venv; nothing but Python >= 3.11 is asked of the machine.
PYTHON ?= python3
BIN := .venv/bin
SHARED_DATA := ../shared/datasets
export LABELSURE_DATA ?= $(if $(wildcard $(SHARED_DATA)),$(abspath $(SHARED_DATA)),)
export NUMBA_CACHE_DIR ?= $(CURDIR)/.venv/numba

.PHONY: demo test lint types layers tests coverage validity bench experiments clean

demo: .venv/ready  ## reproduce the paper's tables on yeast (needs only the package index)
	$(BIN)/labelsure reproduce yeast

test: lint types layers tests  ## everything CI checks

lint: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/ready
	$(BIN)/mypy

layers: .venv/ready
	$(BIN)/lint-imports --no-cache

tests: .venv/ready
	$(BIN)/pytest -n auto -m "not validity"

coverage: .venv/ready  ## the same tests, with the lines and branches that they miss
	$(BIN)/pytest -n auto -m "not validity" --cov --cov-report=term-missing:skip-covered

validity: .venv/ready  ## slow statistical checks
	$(BIN)/pytest -m validity -n auto

bench: .venv/ready  ## speed and memory, as ratios against named baselines
	$(BIN)/python -m benchmarks

experiments: .venv/ready  ## measures, learners and guarantees on seven data sets: hours, goes on where it was stopped
	$(BIN)/python -m experiments

clean:
	rm -rf .venv build dist .coverage .hypothesis .mypy_cache .pytest_cache .ruff_cache

.venv/ready: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[dev]"
	touch $@
