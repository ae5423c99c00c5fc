# Everything runs in .venv, which the first target that needs it makes from pyproject.toml and tools/constraints.txt.
BASE := -c "import sys; print(sys._base_executable)" # of a virtual environment, too
PYTHON ?= $(or $(firstword $(foreach name,python3.11 python3.12 python3.13,$(shell $(name) $(BASE) 2>/dev/null))),python3)
BIN := $(CURDIR)/.venv/bin
STAMP := .venv/installed
export PATH := $(BIN):$(PATH)
export DVC_NO_ANALYTICS := 1

.PHONY: help setup pins versions pipeline fresh test slow alltests figures coverage conf schema lint format bench docs screenshots clean

help:  ## What there is
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*##/\t/' | expand -t 12

setup: $(STAMP)  ## Make .venv with the pinned dependencies

VERSION := -c "import sys; print(sys.version)"
ifneq ($(filter command% env%,$(origin PYTHON)),)
ifneq ($(shell $(PYTHON) $(VERSION)),$(shell $(BIN)/python $(VERSION) 2>/dev/null))
.PHONY: $(STAMP) # of another Python than the one that is asked for: made again
endif
endif

$(STAMP): pyproject.toml tools/constraints.txt
	@$(PYTHON) tools/make_environment.py .venv '.[dev]'

pins: $(STAMP)  ## Whether tools/constraints.txt is what a fresh resolve of pyproject.toml needs; asks the package index
	@$(BIN)/python tools/make_environment.py --check

versions: $(STAMP)  ## A short training and the tests of one game with each other declared Python that is installed
	@$(BIN)/python tools/check_versions.py

pipeline: $(STAMP)  ## Train, evaluate and report the published benchmark (dvc repro)
	@$(BIN)/python tools/run_pipeline.py
	@echo "report:  report/index.html"
	@echo "runs:    .venv/bin/cardlab ui"

# The report depends on all of results/, of which git has a part: without the data, DVC takes that for a change.
fresh: $(STAMP)  ## Whether dvc.lock is what dvc repro would leave; needs none of its data
	@$(BIN)/dvc repro --quiet code && git diff --exit-code code.json || { echo "code.json is of other code: run 'dvc repro code' and commit it"; exit 1; }
	@said=$$($(BIN)/dvc repro --allow-missing --dry) || exit 1; echo "$$said" | grep '^Running stage' | (! grep -v "'report'")
	@echo "fresh:   every result is that of this code and these parameters"

test: $(STAMP)  ## The tests, but the slow ones and those of figures; three processes, as some wait for servers
	$(BIN)/pytest --numprocesses 3 --dist worksteal

slow: $(STAMP)  ## The slow tests: kills, whole pipelines, browsers; three processes, as they wait half of the time
	$(BIN)/pytest -m slow --numprocesses 3 --dist worksteal --durations 10

alltests: $(STAMP)  ## The tests and the slow tests in one run, as CI does: no core waits for the last ones of either
	$(BIN)/pytest -m 'not figures' --numprocesses 3 --dist worksteal --durations 10

figures: $(STAMP)  ## The reference scores of scripted agents, as the pages give them; CI does not run it
	$(BIN)/pytest -m figures --numprocesses 2 --dist load --durations 10

coverage: $(STAMP)  ## Tests of rules and kernels with the JIT off, so that coverage measures them
	NUMBA_DISABLE_JIT=1 $(BIN)/pytest --cov=cardlab.games --cov-report=term:skip-covered tests/games/test_playthrough.py tests/learners/losses

lint: $(STAMP)  ## Style, types, layers
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/pyright
	$(BIN)/lint-imports
	$(BIN)/hadolint tools/Dockerfile
	$(BIN)/python tools/generate_conf.py --check

format: $(STAMP)  ## Put the code into the house style
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

conf: $(STAMP)  ## Write the base files of conf/ from the classes of options, and scores into the experiments' files
	$(BIN)/python tools/generate_conf.py

schema: $(STAMP)  ## Write JSON schemas of conf/ for editors: build/schema/
	$(BIN)/python tools/generate_conf.py --schema

bench: $(STAMP)  ## The benchmarks; figures hold for a machine that does nothing else
	$(BIN)/pytest benchmarks --benchmark-only --benchmark-columns=min,median,max,rounds

docs: $(STAMP)  ## The documentation as pages that open from the disk: build/site/index.html
	PYTHONPATH=$(CURDIR)/tools NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --config-file tools/website/mkdocs.yml --strict --quiet
	@echo "pages:   build/site/index.html"

screenshots: $(STAMP)  ## The pictures of docs/images, of this finished checkout; needs Chromium
	$(BIN)/python tools/parts_diagram.py
	$(BIN)/python tools/screenshots.py all
	$(BIN)/python tools/play_screenshots.py

clean:  ## Remove what can be made again, but no runs, models or results
	rm -rf .venv build dist .pytest_cache .ruff_cache .hypothesis .benchmarks
