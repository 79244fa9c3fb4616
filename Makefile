# Every target sets up what it needs first; see `make help`.
VENV   := .venv
PY     := $(VENV)/bin/python
READY  := $(VENV)/.ready
RUNS   ?=
JOBS   ?=
CONFIG ?=
DATA   ?=
SECONDS ?=
OPTIONS = $(if $(RUNS),--runs $(RUNS)) $(if $(JOBS),--jobs $(JOBS))

.DEFAULT_GOAL := help
.PHONY: help env all figures report table1 table1-corrected table2 table2-corrected table3 excess table4 table4-corrected ihd ihd-honest optimality adversary worst-tables replay run reference test test-slow lint bench clean

help:  ## list the targets
	@echo "usage: make TARGET [RUNS=500] [JOBS=1]"
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  %-18s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

env: $(READY)  ## create .venv with the pinned packages and splitlab installed

$(READY): requirements.txt pyproject.toml scripts/setup_env.sh
	@sh scripts/setup_env.sh $(VENV)
	@touch $(READY)

table1: $(READY)  ## Table 1 of the paper: win percentages for Gini, beside the published ones
	@$(PY) -m experiments table1 $(OPTIONS)

table1-corrected: $(READY)  ## Table 1 with PCext as its authors defined it
	@$(PY) -m experiments table1_corrected $(OPTIONS)

table2: $(READY)  ## Table 2: the same for entropy, on the same random tables
	@$(PY) -m experiments table2 $(OPTIONS)

table2-corrected: $(READY)  ## Table 2 with PCext as its authors defined it
	@$(PY) -m experiments table2_corrected $(OPTIONS)

table3: $(READY)  ## Table 3: time relative to LCA, plain Python and compiled; FRESH=1 times anew
	@$(PY) -m experiments table3 $(OPTIONS) $(if $(FRESH),--fresh)

excess: $(READY)  ## relative excess for max_count 2, 7, 15, beside the published maxima
	@$(PY) -m experiments excess $(OPTIONS)

adversary: $(READY)  ## worst cases: tables on which splitters are far from the optimum; SECONDS=270
	@$(PY) -m experiments adversary $(if $(SECONDS),--seconds $(SECONDS))

worst-tables: $(READY)  ## take what make adversary found into the committed list of worst tables, and the README
	@$(PY) -m scripts.worst_tables results/adversary
	@$(PY) -m scripts.readme
table4: $(READY)  ## Table 4: decision trees on real data, as published; DATA=DIR names the folder of the data
	@$(if $(DATA),SPLITLAB_DATA="$(DATA)") $(PY) -m experiments table4 $(OPTIONS)

table4-corrected: $(READY)  ## Table 4 with the splitters as they are defined
	@$(if $(DATA),SPLITLAB_DATA="$(DATA)") $(PY) -m experiments table4_corrected $(OPTIONS)

ihd: $(READY)  ## the study of the Hellinger criteria (IJCAI 2019); DATA=DIR names the folder of the data
	@$(if $(DATA),SPLITLAB_DATA="$(DATA)") $(PY) -m experiments ihd $(OPTIONS)

ihd-honest: $(READY)  ## the same sets by repeated stratified cross-validation; text columns coded and grouped
	@$(if $(DATA),SPLITLAB_DATA="$(DATA)") $(PY) -m experiments ihd_honest $(OPTIONS)

optimality: $(READY)  ## how often each splitter finds the optimum, and at what cost
	@$(PY) -m experiments optimality $(OPTIONS)

figures: $(READY)  ## all figures, into results/figures
	@$(PY) -m experiments figures $(OPTIONS)

report: $(READY)  ## one page about everything: results/report.html
	@$(PY) -m experiments report $(OPTIONS)

all: $(READY)  ## everything about random tables, and a summary: about six minutes on two idle cores
	@$(PY) -m experiments all $(OPTIONS)

replay: $(READY)  ## the authors' own random tables: every Monte Carlo number of the paper, digit for digit
	@$(PY) -m experiments replay $(OPTIONS)

run: $(READY)  ## your own experiment: make run CONFIG=my.yaml
	@test -n "$(CONFIG)" || { echo "make run needs a config: make run CONFIG=my.yaml" >&2; exit 2; }
	@$(PY) -m splitlab run "$(CONFIG)" $(OPTIONS)

reference: $(READY)  ## copy the summaries of finished runs to results/reference, and show them in the README
	@$(PY) -m scripts.reference $(addprefix results/,table1 table2 table1_corrected table2_corrected replay excess optimality table3 figures) $(wildcard results/table4 results/table4_corrected results/ihd results/ihd_honest)
	@$(PY) -m scripts.readme

test: $(READY)  ## all tests but the long statistical ones, in two processes
	@$(PY) -m splitlab.splitters.precompile
	@$(PY) -m pytest -m "not slow" -n 2 --dist loadfile

test-slow: $(READY)  ## the long statistical checks
	@$(PY) -m pytest -m slow

lint: $(READY)  ## ruff and mypy
	@$(PY) -m ruff check . && $(PY) -m ruff format --check . && $(PY) -m mypy

bench: $(READY)  ## time, growth, memory, compilation, beside targets and reference; QUICK=1 only tries it
	@$(PY) -m scripts.benchmark $(if $(QUICK),--quick) $(if $(LONG),--long)

clean:  ## remove results (results/reference stays), caches and .venv
	@test ! -d results || find results -mindepth 1 -maxdepth 1 ! -name reference -exec rm -rf {} +
	@rm -rf $(VENV) build *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
