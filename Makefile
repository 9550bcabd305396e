# The two commands of the README are `make demo` and `make test`. Each sets up all that it needs,
# into .tools and .venv of this folder: Python 3.11 or newer and make are enough to start with.

PYTHON ?= python3
UV_VERSION := $(shell cat requirements/uv.txt)
UV := .tools/bin/uv
RUN := .venv/bin
LOCKED := requirements/dev.txt

.PHONY: demo test check lint types layers unit e2e conformance bench lock clean

demo: .venv/ready
	$(RUN)/python -m demo

test: lint types layers unit e2e conformance

# The quick half: what to run before each commit.
check: lint types layers unit

lint: .venv/ready
	$(RUN)/ruff check .
	$(RUN)/ruff format --check .

types: .venv/ready
	$(RUN)/ty check

layers: .venv/ready
	$(RUN)/lint-imports

unit: .venv/ready
	$(RUN)/pytest tests/unit tests/contract -n auto

e2e: .venv/ready
	$(RUN)/pytest tests/e2e

conformance: .venv/ready
	$(RUN)/python -m tests.conformance

bench: .venv/ready
	$(RUN)/python -m bench

# Rewrites the locked versions from the ranges in pyproject.toml.
lock: $(UV)
	$(UV) pip compile -q --universal --generate-hashes --no-emit-index-url --no-emit-find-links --no-header \
		pyproject.toml -o requirements/run.txt
	$(UV) pip compile -q --universal --generate-hashes --no-emit-index-url --no-emit-find-links --no-header \
		--all-extras --group dev pyproject.toml -o requirements/dev.txt

.venv/ready: $(LOCKED) pyproject.toml $(UV)
	$(UV) venv -q --allow-existing --python $(PYTHON) .venv
	$(UV) pip sync -q --python .venv --require-hashes --compile-bytecode $(LOCKED)
	$(UV) pip install -q --python .venv --no-deps --editable .
	touch $@

# Debian's Python comes without venv; pip can then install into a folder all the same.
$(UV): requirements/uv.txt
	$(PYTHON) -m venv .tools 2>/dev/null && .tools/bin/python -m pip install -q uv==$(UV_VERSION) || \
		( rm -rf .tools && $(PYTHON) -m pip install -q --target .tools/lib uv==$(UV_VERSION) && \
		  mkdir -p .tools/bin && ln -sf ../lib/bin/uv .tools/bin/uv )
	touch $@

clean:
	rm -rf .venv .tools .cache dist build
