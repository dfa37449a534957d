# Every target builds what it needs, from nothing but a Python of at least 3.11.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test test-fast test-newer test-statistical test-mutations test-faults fuzz lint docs bench-kernels bench-samplers bench-ablation bench-accuracy bench-rank bench-startup bench-compilation bench-reading bench-start same-draws same-speed clean

demo: $(VENV)/installed
	$(BIN)/manifill demo --out demo

test: lint docs test-fast

# Two processes, a file of tests to one of them: the kernels compile twice, and the tests take half as long.  A test that
# hangs fails, and says where.
PYTEST := $(BIN)/python -m pytest --numprocesses 2 --dist loadfile --no-loadscope-reorder --timeout 600 --durations 60

test-fast: $(VENV)/tested
	$(PYTEST)

# A slice for another interpreter: make test-newer PYTHON=python3.13 VENV=.venv-newer
test-newer: $(VENV)/tested
	$(PYTEST) tests/posterior tests/cli/test_cli.py

test-statistical: $(VENV)/tested
	$(BIN)/python -m pytest -m statistical -rP  # which shows what the tests print: p-values of calibration

# One-line breaks of the samplers, each of which the tests must catch; part of a name chooses: ARGS=slice
test-mutations: $(VENV)/tested
	$(BIN)/python -m tests.mutations $(ARGS)

# Commands and their processes, killed at many moments
test-faults: $(VENV)/tested
	$(BIN)/python -m pytest -m faults

# Inputs made at random: make fuzz ARGS='--target readers --cases 200000 --seed 1'
fuzz: $(VENV)/tested
	$(BIN)/python -m tests.fuzz $(ARGS)

lint: $(VENV)/tested
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(VENV)/tested
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict --site-dir $(VENV)/site

bench-kernels: $(VENV)/benched
	$(BIN)/python bench/kernels.py

bench-samplers: $(VENV)/benched
	$(BIN)/python bench/samplers.py $(ARGS)

bench-ablation: $(VENV)/benched
	$(BIN)/python bench/ablation.py $(ARGS)

# Several hours, which a second call continues; a few minutes: make bench-accuracy ARGS=--quick
bench-accuracy: $(VENV)/benched
	PYTHONPATH=bench $(BIN)/python -m accuracy $(ARGS)

# What a rank that is far too large costs; a single repetition: make bench-rank ARGS=--quick
bench-rank: $(VENV)/tested
	$(BIN)/python bench/rank.py $(ARGS)

bench-startup: $(VENV)/tested
	$(BIN)/python bench/startup.py $(ARGS)

bench-compilation: $(VENV)/tested
	$(BIN)/python bench/compilation.py

bench-reading: $(VENV)/tested
	$(BIN)/python bench/reading.py $(ARGS)

bench-start: $(VENV)/tested
	$(BIN)/python bench/start.py $(ARGS)

# Two checkouts fitted next to each other: make same-draws OLD=../other-checkout
same-draws: $(VENV)/tested
	$(BIN)/python bench/same_draws.py $(OLD) $(ARGS)

same-speed: $(VENV)/tested
	$(BIN)/python bench/same_speed.py $(OLD) $(ARGS)

$(VENV)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	touch $@

$(VENV)/installed: $(VENV)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[plot]'
	touch $@

$(VENV)/tested: $(VENV)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[plot,test]'
	touch $(VENV)/installed $@

$(VENV)/benched: $(VENV)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[bench,test]'
	touch $@

clean:
	rm -rf $(VENV) demo
