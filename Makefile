# Every target sets up .venv by itself: slow the first time, nothing to do after that,
# done again when pyproject.toml or constraints.txt changes.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
EXTRAS := cluster,dev,docs,reddit,studio,tensorboard
READY := $(VENV)/.ready
MODULES := $(if $(shell command -v npm),node_modules/.ready)
ARGS :=  # for pytest, such as ARGS='-n 0 -k graph'
# processes of one thread each: threads of torch that wait for each other on a busy machine make tests many times slower
# compiled modules are kept whatever the shell says: every small process of a test would compile them anew
PYTEST := PYTHONDONTWRITEBYTECODE= OMP_NUM_THREADS=1 $(BIN)/python -m pytest --dist loadfile
# many tests wait for disks, servers and browsers: three processes keep two cores busy
THREE := $(PYTEST) -n 3
TWO := $(PYTEST) -n 2

.PHONY: help demo check docs page pages quick test tested long kernels clean
.DEFAULT_GOAL := help

help:
	@echo "make demo    the main job on embedded data"
	@echo "make check   ruff, mypy and, where npm is installed, the page's checks"
	@echo "make page    tsc and a linter on the studio's page"
	@echo "make quick   the tests that are marked neither slow nor long"
	@echo "make test    check, and all tests that are not marked long"
	@echo "make long    the long ones: kills, agreement with references, whole jobs"
	@echo "make kernels the GPU kernels, in Triton's interpreter on the CPU"
	@echo "make docs    the documentation site in build/docs; its examples are run"
	@echo "make pages   the figures in README and docs, anew from benchmarks/results"
	@echo "make clean   remove .venv and everything that was built"

demo: $(READY)
	$(BIN)/nodewise demo

check: $(READY) $(if $(MODULES),page)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(if $(MODULES),,@echo "npm is not installed: the page's modules are not checked")

page: node_modules/.ready
	npm run --silent check

node_modules/.ready: package.json package-lock.json
	npm ci --silent --no-audit --no-fund
	@touch $@

quick: $(READY)
	$(THREE) -m "not slow and not long" $(ARGS)

# the check beside the tests: mypy takes one core for most of a minute; the page's modules first, which tests use
test: $(READY) $(MODULES)
	@$(MAKE) --no-print-directory -j 2 check tested

tested: $(READY)
	$(THREE) -m "not long" $(ARGS)

long: $(READY)
	$(TWO) -m long $(ARGS)

kernels: $(READY)
	$(BIN)/python -c 'import triton' 2>/dev/null || $(BIN)/python -m pip install -qq -c constraints.txt triton
	TRITON_INTERPRET=1 $(TWO) tests/classifiers/gcn/test_cuda.py tests/environment/test_prediction_kernels.py \
		tests/graph/test_sparse_kernels.py tests/policy/test_layer_kernels.py tests/classifiers/views/test_kernels.py \
		tests/strategies/test_gain_kernels.py $(ARGS)

docs: $(READY)
	OMP_NUM_THREADS=1 $(BIN)/python -m sphinx -W --keep-going -q -b html -d build/doctrees docs build/docs
	@echo "the site is build/docs/index.html"

pages: $(READY)
	$(BIN)/python benchmarks/pages.py

clean:
	rm -rf $(VENV) node_modules build dist docs/_generated src/*.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; sys.exit(0 if (3, 11) <= v <= (3, 14) else \
		"nodewise needs Python 3.11 to 3.14, $(PYTHON) is %d.%d: name another one, as in make PYTHON=python3.12" % v)'
	@echo "setting up $(VENV): a few minutes the first time"
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -qq --prefer-binary -c constraints.txt -e '.[$(EXTRAS)]'
	@touch $@
