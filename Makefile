# Every command makes what it needs: `make demo` and `make test` work in a fresh clone with Python 3, pip and make.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
export PIP_ROOT_USER_ACTION := ignore

.PHONY: demo test check wheels format docs fixtures bench clean

# Compiles the example in two specializations without a GPU and compares them; where Triton has no wheel (macOS),
# compares two recorded compilations.
DEMO := $(VENV)/demo
MATMUL := fixtures/kernels/matmul.py::matmul_kernel
SIGNATURE := *fp16:16, *fp16:16, *fp16:16, 256, 256, 256, 256, 1, 256, 1, 256, 1, 64, 64, 32

demo: $(VENV)/demo.stamp
	@set -e; if $(BIN)/python -c 'import importlib.util as u, sys; sys.exit(u.find_spec("triton") is None)'; then \
	  for warps in 4 2; do \
	    echo "$$ irdiff compile $(MATMUL) --num-warps $$warps --target cuda:90 -o $(DEMO)/warps-$$warps ..."; \
	    $(BIN)/irdiff compile $(MATMUL) --signature '$(SIGNATURE)' --num-warps $$warps --num-stages 2 \
	      --target cuda:90 -o $(DEMO)/warps-$$warps; echo; \
	  done; \
	  echo "$$ irdiff compare $(DEMO)/warps-4 $(DEMO)/warps-2"; \
	  $(BIN)/irdiff compare $(DEMO)/warps-4 $(DEMO)/warps-2; \
	else \
	  echo 'Triton has no wheel here: comparing two recorded compilations instead.'; \
	  echo '$$ irdiff compare fixtures/pairs/mma_fallback/before fixtures/pairs/mma_fallback/after'; \
	  $(BIN)/irdiff compare fixtures/pairs/mma_fallback/before fixtures/pairs/mma_fallback/after; \
	fi

test: $(VENV)/test.stamp
	$(BIN)/python -m pytest -q -n 2 --dist worksteal $(ARGS)

check: $(VENV)/lint.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/mypy --config-file plugins/external/irdiff-amdgcn/pyproject.toml plugins/external/irdiff-amdgcn/irdiff_amdgcn
	$(BIN)/mypy --config-file plugins/external/irdiff-spirv/pyproject.toml plugins/external/irdiff-spirv/irdiff_spirv
	PYTHONPATH=.:plugins/bundled $(BIN)/lint-imports --no-cache

# Wheels of the core and of the plugins in plugins/external, installed into an environment of their own and tested there.
wheels: $(VENV)/test.stamp
	$(BIN)/python .ci/wheels.py

format: $(VENV)/lint.stamp
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# The references under docs/reference are generated from the types and the registry; a test holds them to it.
docs: $(VENV)/demo.stamp
	$(BIN)/python docs/make_reference.py

# Needs Linux and several gigabytes: one virtual environment for each Triton release.
fixtures:
	$(PYTHON) fixtures/make.py

# Whole-process ratios, measured in one run on this machine.
bench: $(VENV)/test.stamp
	$(BIN)/python tests/bench/run.py

clean:
	rm -rf $(VENV)

# A Python without ensurepip (Debian's) gets its pip from the pip that is there.
$(VENV)/pip.stamp:
	$(PYTHON) -m venv $(VENV) >/dev/null 2>&1 || $(PYTHON) -m venv --clear --without-pip $(VENV)
	$(BIN)/python -m pip --version >/dev/null 2>&1 || \
	  $(PYTHON) -m pip --disable-pip-version-check --python $(BIN)/python install -q pip
	$(PIP) install -q --upgrade 'pip>=25.1'
	@touch $@

$(VENV)/demo.stamp: $(VENV)/pip.stamp pyproject.toml
	$(PIP) install -q -e '.[sass]' --group demo
	@touch $@

$(VENV)/test.stamp: $(VENV)/demo.stamp plugins/external/irdiff-amdgcn/pyproject.toml
	$(PIP) install -q --group test -e plugins/external/irdiff-amdgcn
	@touch $@

$(VENV)/lint.stamp: $(VENV)/demo.stamp
	$(PIP) install -q --group lint
	@touch $@
