# Everything runs in .venv, which the targets make and keep up to date by themselves.
# Needed beforehand: make, and Python 3.11 or newer with venv.

# Python 3.11 first: the versions in constraints.txt were resolved with it. A name on the PATH may be a shim of a
# version manager that cannot run, so each candidate is run.
CANDIDATES := python3.11 python3.12 python3.13 python3 python
USABLE     := import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))
PYTHON     ?= $(shell for p in $(CANDIDATES); do if $$p -c "$(USABLE)" >/dev/null 2>&1; then echo $$p; break; fi; done)

VENV    := .venv
PY      := $(VENV)/bin/python
# The extras of pyproject.toml: playing needs few packages, checking many, among them a trainer's.
LAB     := $(VENV)/installed-lab
TEST    := $(VENV)/installed-test

# The interpreters of `make pythons`.
PYTHONS ?= python3.12 python3.13

# The libraries we are compared with, each in an environment of its own: .venv-peers/<name>
PEERS   ?= openspiel pettingzoo rlcard pgx

# The trainer libraries with an example, likewise: .venv-interop/<name>. torch is large; PIP_EXTRA_INDEX_URL can name an
# index with builds for the processor alone, which suffice.
INTEROP ?= torchrl tianshou rllib agilerl

WORKERS ?= 2
DEALS   ?= 1000000
LEAST   ?= 10000
AGENT   ?= medium

.DEFAULT_GOAL := help
.PHONY: pythons help setup tournament bench test lint typecheck warm crosscheck boundscheck throughput peers interop \
    docs-tables golden mini clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' Makefile

setup: $(TEST) ## make or refresh .venv (the targets below do it by themselves)

# The stamp is written last, so an interrupted installation is taken up again.
$(VENV)/installed-%: pyproject.toml constraints.txt bestia_env/_version.py
	@$(PY) -c "$(USABLE)" >/dev/null 2>&1 || { \
	    python="$(PYTHON)"; \
	    test -n "$$python" || { echo "No Python >= 3.11 with venv on the PATH: make PYTHON=/path/to/python" >&2; exit 1; }; \
	    echo "making $(VENV) with $$python"; \
	    "$$python" -m venv --clear $(VENV); }
	$(PY) -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[$*]"
	@touch $@

tournament: $(LAB) ## the main job: a first tournament over duplicate deals, into results/first
	$(PY) -m benchmarks.tournament --variant bestia --players 5 --agents random always medium \
	    --deals 20000 --seed 7 --out results/first

bench: $(LAB) ## measure an agent on Bench v1: AGENT=medium
	$(PY) -m benchmarks.bench --agent $(AGENT) --jobs $(WORKERS)

test: lint typecheck warm ## everything that CI runs: lint, types, tests
	$(PY) -m pytest -n $(WORKERS)

lint: $(TEST) ## ruff: rules and format
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .

typecheck: $(TEST) ## mypy --strict on the library
	$(PY) -m mypy --strict bestia_env

# Compiles each family once and keeps it on disk, before several test processes would each do it.
warm: $(TEST) ## compile every game family
	$(PY) -m tests.warm

crosscheck: $(TEST) ## compare the two implementations: DEALS=1000000 LEAST=10000, half an hour or more
	$(PY) -m tests.crosscheck --deals $(DEALS) --least $(LEAST)

# Other interpreters, each in an environment of its own; a Python that is not there is an error.
pythons: $(PYTHONS:%=.venv-pythons/%/installed) ## test the environments on other Pythons: PYTHONS="python3.12 python3.13"
	@for python in $(PYTHONS); do \
	    echo "$$python: $$(.venv-pythons/$$python/bin/python --version)"; \
	    .venv-pythons/$$python/bin/python -m pytest -q -n $(WORKERS) tests/test_trainers.py tests/test_learner.py \
	        tests/test_aec.py tests/test_properties.py tests/test_package.py || exit 1; \
	done

.venv-pythons/%/installed: pyproject.toml constraints.txt
	$* -m venv --clear $(@D)
	$(@D)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[test]"
	@touch $@

boundscheck: $(TEST) ## play with every array access of the compiled code checked
	$(PY) -m tests.boundscheck

throughput: $(LAB) ## measure decisions per second
	$(PY) -m benchmarks.throughput

peers: $(LAB) $(PEERS:%=.venv-peers/%/installed) ## compare speed with other libraries, into results/peers: PEERS="rlcard pgx"
	$(PY) -m benchmarks.peers --peers $(PEERS)

.venv-peers/%/installed: benchmarks/peers/%.txt | $(LAB)
	$(PY) -m venv --clear $(@D)
	$(@D)/bin/python -m pip install --quiet --disable-pip-version-check -r $<
	@touch $@

# All of them run, also after one that failed.
interop: $(INTEROP:%=.venv-interop/%/installed) ## train and measure with other libraries: INTEROP="torchrl tianshou"
	@failed=; for name in $(INTEROP); do \
	    echo "== $$name"; .venv-interop/$$name/bin/python -m training.interop.$$name || failed="$$failed $$name"; done; \
	test -z "$$failed" || { echo "failed:$$failed" >&2; exit 1; }

.venv-interop/%/installed: training/interop/%.txt | $(LAB)
	$(PY) -m venv --clear $(@D)
	$(@D)/bin/python -m pip install --quiet --disable-pip-version-check -r $<
	@touch $@

docs-tables: $(TEST) ## write the generated tables of docs/ anew
	$(PY) -m docs.generate

golden: $(TEST) ## write the golden files of tests/ anew; read the diff before you keep it
	$(PY) -m tests.golden
	$(PY) -m tests.playthroughs

mini: $(TEST) ## solve the mini games anew and write their equilibria, some minutes
	$(PY) -m tests.mini_golden

clean: ## remove .venv, .venv-peers, .venv-interop, .venv-pythons, caches and builds; results/ stays
	rm -rf $(VENV) .venv-peers .venv-interop .venv-pythons build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
