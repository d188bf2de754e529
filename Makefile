# Needs make and Python 3.11, 3.12 or 3.13; everything else is installed into .venv. `make` alone lists the targets.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PROFILE ?= quick
AT_ONCE ?= 2
CLUSTER ?= laptop
MINUTES ?= 10
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

# Tried rather than looked up: a version manager may answer to a name it has no Python for. The JAX
# that is locked has no build for 3.14.
FITS := -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))'
PYTHON ?= $(shell for p in python3.11 python3 python3.12 python3.13; do \
	$$p $(FITS) 2>/dev/null && echo $$p && break; done)
TORCH := torch==2.13.0
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile

# What one process has compiled the others need not, whatever the shell asks of Python.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help setup book pdf cluster archive dist notebooks lab bench test test-fast test-faults test-slurm test-wheel mutants on-gpu browser \
	lint format clean

help: ## List the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile

setup: $(STAMP) ## Make the environment in .venv

$(STAMP): requirements.lock pyproject.toml
	@$(or $(PYTHON),false) $(FITS) 2>/dev/null || { \
		echo "This needs Python 3.11, 3.12 or 3.13; name one: make PYTHON=/path/to/python3.11" >&2; exit 1; }
	@echo "Making the environment in $(VENV) (2 GB, a few minutes)"
	@$(PYTHON) -m venv $(VENV)
	@$(INSTALL) $(TORCH)
	@$(INSTALL) --no-deps -r requirements.lock
	@$(INSTALL) --no-deps -e .
	@# pip would compile on one core; what some packages ship only as an example does not compile.
	@$(BIN)/python -m compileall -qq -j 0 -x '/tests?/' $(VENV)/lib src || true
	@touch $(STAMP)

book: setup ## Run every chapter and build the site (PROFILE=tiny, quick or paper)
	@$(BIN)/membership run --profile $(PROFILE) --at-once $(AT_ONCE)
	@$(BIN)/membership build

pdf: setup browser ## Print the built site as one PDF, _build/membership.pdf, and link it there
	@$(BIN)/python -m workflow.print_book

# Add SNAKEMAKE=--dry-run to see the jobs, or whatever else Snakemake takes.
cluster: setup notebooks $(VENV)/.cluster ## Make the book as a Snakemake workflow (CLUSTER=laptop or slurm)
	@mkdir -p logs
	@$(BIN)/membership plan --profile $(PROFILE) --json logs/plan.json
	@PATH="$(CURDIR)/$(VENV)/cluster/bin:$$PATH" snakemake --snakefile workflow/Snakefile \
		--profile workflow/profiles/$(CLUSTER) $(SNAKEMAKE) \
		--config profile=$(PROFILE) plan=logs/plan.json alone=$$(nproc)

# In an environment of its own: its pins are not the book's.
$(VENV)/.cluster: requirements-cluster.lock $(STAMP)
	@$(BIN)/python -m venv $(VENV)/cluster
	@$(VENV)/cluster/bin/python -m pip install --quiet --disable-pip-version-check --no-deps \
		-r requirements-cluster.lock
	@touch $@

test-slurm: setup notebooks $(VENV)/.cluster ## Run a chapter on a SLURM cluster of this machine
	@$(BIN)/python workflow/test_slurm.py

# Without setup: each environment is made of the wheel alone.
test-wheel: ## Test the wheel at the floors, newest, without extras, on other Pythons (ENVIRONMENTS=...)
	@$(PYTHON) workflow/test_wheel.py $(ENVIRONMENTS)

archive: setup ## Pack site, committed results and source into one file in _build
	@$(BIN)/membership archive

notebooks: setup ## Write notebooks/*.ipynb, for papermill and JupyterLab; changed ones stay
	@$(BIN)/python -c 'from membership.book import site; site.write_notebooks()'

# The kernel of this environment, not one that the user has installed under the same name.
lab: $(VENV)/.lab notebooks ## Open the notebooks in JupyterLab
	@JUPYTER_PREFER_ENV_PATH=1 $(BIN)/jupyter lab --notebook-dir notebooks

$(VENV)/.lab: requirements-lab.lock $(STAMP)
	@$(INSTALL) --no-deps -r requirements-lab.lock
	@touch $@

# Both from the environment's own setuptools, so that nothing is downloaded.
dist: setup ## Make the wheel and the sdist in dist
	@rm -rf build dist
	@$(BIN)/python -c 'from setuptools import build_meta as b; b.build_sdist("dist"); b.build_wheel("dist")' >/dev/null
	@rm -rf build
	@ls dist/*

bench: setup ## Time the fast paths against what one would write first
	@$(BIN)/python -m benchmarks

# Three processes with one thread each, for two cores: many tests wait for processes of their own.
test: setup notebooks browser lint ## Check the style and run every test
	@OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses 3 --dist loadscope --no-loadscope-reorder

test-fast: setup lint ## Check the style and run the quick tests of every room
	@OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses 3 --dist loadscope --no-loadscope-reorder -m 'not slow'

test-faults: setup ## Kill, fill, lock and starve runs, and see what they say and leave
	@$(BIN)/python -m pytest tests/faults

mutants: setup ## Try faults of one token (tests/mutants.toml), and note what notices each
	@OMP_NUM_THREADS=1 $(BIN)/python -m workflow.mutants

on-gpu: setup ## Go on with what a GPU is wanted for, for MINUTES (PIECES=...), and say what is left
	@$(BIN)/python -m workflow.on_gpu --minutes $(MINUTES) $(PIECES)

browser: setup ## Find a Chromium for the tests of the site, or install one
	@$(BIN)/python tests/chromium.py

lint: setup ## Check the style and the types
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/pyrefly check --summary=none

# Long lines are broken before they are complained about; what is left then is for people to mend.
format: setup ## Put the code in its style
	@$(BIN)/ruff check --fix-only --quiet .
	@$(BIN)/ruff format --quiet .
	@$(BIN)/ruff check .

clean: setup ## Remove the site, the executed notebooks and the logs
	@$(BIN)/membership clean
