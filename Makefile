# Every target sets up what it needs in .venv; nothing but Python >= 3.11 is asked of the machine.
PYTHON ?= python3
BIN := .venv/bin
SHARED_DATA := ../shared/datasets
export LABELSURE_DATA ?= $(if $(wildcard $(SHARED_DATA)),$(abspath $(SHARED_DATA)),)
export NUMBA_CACHE_DIR ?= $(CURDIR)/.venv/numba

.PHONY: demo test lint types layers tests data-tests uncompiled path lowest newest python coverage validity bench experiments docs wheel clean

demo: .venv/demo-ready  ## the paper's tables on yeast, then a report of a model (needs only the package index)
	$(BIN)/labelsure reproduce yeast
	mkdir -p build/demo
	$(BIN)/labelsure datasets yeast --part train -o build/demo/train.csv
	$(BIN)/labelsure datasets yeast --part test -o build/demo/test.csv
	$(BIN)/labelsure fit build/demo/train.csv --labels "Class*" --learner logistic --folds 5 --model build/demo/yeast.labelsure
	$(BIN)/labelsure report build/demo/yeast.labelsure build/demo/test.csv -o build/demo/report.html

test: lint types layers tests data-tests uncompiled  ## everything CI checks

lint: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/ready
	$(BIN)/mypy

layers: .venv/ready
	$(BIN)/lint-imports --no-cache

# The data folder and the cache of downloads are hidden: what passes here passes on a fresh clone.
HIDDEN := LABELSURE_DATA= XDG_CACHE_HOME=$(CURDIR)/.venv/no-downloads

tests: .venv/ready
	$(HIDDEN) $(BIN)/pytest -n auto -m "not validity"

data-tests: .venv/ready  ## once more what looks at Mulan's files, where there is a folder with them
	$(if $(LABELSURE_DATA),$(BIN)/pytest -n auto -m "data and not validity" tests/datasets tests/paper,@echo "no folder with Mulan's files: skipped")

KERNEL_TESTS = $(shell find tests -name "test_*kernels.py")

uncompiled: .venv/ready  ## kernels as plain Python, and how much of them the tests reach; hundreds of labels take too long
	NUMBA_DISABLE_JIT=1 $(BIN)/pytest -q -n auto -k "not 1000 and not most_labels_tie" $(KERNEL_TESTS) \
		--cov=labelsure --cov-config=tools/uncompiled.coveragerc --cov-report=term

path: .venv/ready  ## the walk from fit to the sizes of regions, and the lines of code by room
	$(BIN)/python tools/count_path.py

# Other versions than those of .venv, each in an environment of its own.
PROCESSES ?= auto
TRY = $(HIDDEN) NUMBA_CACHE_DIR=$(CURDIR)/$(<D)/numba $(<D)/bin/python -m pytest -q -m "not validity" -n $(PROCESSES)

lowest: .venv-lowest/ready  ## the tests with the lowest versions that pyproject.toml declares
	$(TRY)

newest: .venv-newest/ready  ## the tests with the newest versions that have wheels, pre-releases too
	$(TRY)

python: .venv-$(notdir $(PYTHON))/ready  ## the tests with another Python: make python PYTHON=python3.13
	$(TRY)

coverage: .venv/ready  ## the same tests, with the lines and branches that they miss
	$(BIN)/pytest -n auto -m "not validity" --cov --cov-report=term-missing:skip-covered

validity: .venv/ready  ## slow statistical checks
	$(BIN)/pytest -m validity -n auto

bench: .venv/ready  ## speed and memory, as ratios against named baselines
	$(BIN)/python -m benchmarks

experiments: .venv/ready  ## measures, learners and guarantees on seven data sets: hours, goes on where it was stopped
	$(BIN)/python -m experiments

docs: .venv/docs-ready  ## the site, in build/docs; a warning is an error
	$(BIN)/python -m sphinx -W --keep-going -q -b html -d build/doctrees docs build/docs
	@echo "The start page is build/docs/index.html"

wheel: .venv/ready  ## wheel and sdist in dist/, the wheel tried as installed
	$(BIN)/python tools/try_wheel.py

clean:
	rm -rf .venv .venv-lowest .venv-newest .venv-python3* build dist docs/generated .coverage .hypothesis .mypy_cache .pytest_cache .ruff_cache

# Half a package's byte code is of modules that nobody imports: Python compiles the others when it meets them.
INSTALL := -m pip install --quiet --disable-pip-version-check --no-compile

.venv/ready: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python $(INSTALL) -e ".[dev]"
	touch $@

# river only brings yeast's file: without its dependencies.
.venv/demo-ready: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python $(INSTALL) -e ".[cli]"
	$(BIN)/python $(INSTALL) --no-deps river
	touch $@

.venv/docs-ready: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python $(INSTALL) -e ".[docs]"
	touch $@

.venv-newest/ready: pyproject.toml
	$(PYTHON) -m venv .venv-newest
	.venv-newest/bin/python $(INSTALL) --pre --only-binary :all: -e ".[dev]"
	touch $@

.venv-python3%/ready: pyproject.toml
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/python $(INSTALL) -e ".[dev]"
	touch $@

LOWEST := cli,dask,pandas,plots,polars
# river wants newer versions of everything: without its dependencies here, too.
.venv-lowest/ready: pyproject.toml tools/lowest_versions.py
	$(PYTHON) -m venv .venv-lowest
	.venv-lowest/bin/python tools/lowest_versions.py $(LOWEST) > .venv-lowest/constraints.txt
	.venv-lowest/bin/python $(INSTALL) -c .venv-lowest/constraints.txt \
		-e ".[$(LOWEST)]" "coverage[toml]" hypothesis pytest pytest-xdist
	.venv-lowest/bin/python $(INSTALL) --no-deps river
	touch $@
