# The two commands of the README are `make demo` and `make test`. Each installs everything that it needs into .tools
# and .venv of this folder. Only Python 3.11 or newer and make must be there already.

PYTHON ?= $(shell requirements/python.sh)
# One more than there are cores, because tests wait about half of the time for processes, browsers and limits.
CORES = $(shell "$(PYTHON)" -c "import os; print(os.cpu_count() or 1)")
WORKERS ?= $(shell expr $(CORES) + 1)
# Workers for each of two test runs side by side, which wait for a fifth of their time. WORKERS=8 applies to each.
HALF = $(shell expr $(CORES) / 2 + 2)
# The tests to run; empty for all, as at night.
MARKS = not nightly
UV := .tools/bin/uv
RUN := .venv/bin
COMPILE = $(UV) pip compile -q --universal --python-version 3.11 --generate-hashes $(UPGRADE) \
	--no-emit-index-url --no-emit-find-links --no-header --no-annotate --custom-compile-command "make lock"
NPM_LOCK = npm install --package-lock-only --omit-lockfile-registry-resolved --ignore-scripts --no-audit --no-fund

# On networks that inspect traffic, the inspecting root certificate is among the system's certificates.
CERTIFICATES := $(wildcard /etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt /etc/ssl/cert.pem)
ifneq ($(CERTIFICATES),)
export UV_SYSTEM_CERTS ?= true
export NODE_EXTRA_CA_CERTS ?= $(firstword $(CERTIFICATES))
endif
# uv has its own names for the variables that tell pip about this network.
ifdef PIP_INDEX_URL
export UV_DEFAULT_INDEX ?= $(PIP_INDEX_URL)
endif
ifdef PIP_CERT
export SSL_CERT_FILE ?= $(PIP_CERT)
endif
# Without byte code on disk, each of the thousand processes that the tests start would compile everything again.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: ahead demo test test-nightly test-scale test-kills check lint types layers licences unit e2e miniwob names apps libraries
.PHONY: conformance frameworks bench sbom audit extras lock screenshots recording packages manifests publication docs clean

# The test requirements include those of the demo, so an environment that has them is left unchanged.
demo: $(if $(wildcard .venv/dev.ready),.venv/dev.ready,.venv/run.ready)
	$(RUN)/python -m demo $(if $(QUESTION),"$(QUESTION)")

# The groups run side by side: while tests of one group wait for a browser, those of another can compute, and steps
# with a single process leave the second processor to other work.
test: ahead lint .venv/browser.ready
	WORKERS=$(HALF) $(RUN)/python -m tests.run_parallel "$(MAKE)" "types layers conformance" "unit" "e2e"

# Everything: the tests marked `nightly`, 200 examples per property, MiniWoB++, every protocol revision, every page of
# the dashboard at both widths and in both colour schemes, and a long chaos test of replicas.
test-nightly: ahead lint types layers
	HYPOTHESIS_PROFILE=nightly $(MAKE) --no-print-directory unit MARKS=
	OUTRIDER_EVERY_LOOK=1 OUTRIDER_EVERY_MUTATION=1 $(MAKE) --no-print-directory e2e miniwob names apps libraries MARKS=
	$(RUN)/python -m tests.conformance --all
	$(MAKE) --no-print-directory test-scale test-kills frameworks publication sbom audit

# Let npm download while other tests run. The conformance suite waits for the download and reports its errors.
ahead: .venv/dev.ready
	@$(RUN)/python -m tests.conformance.npm >/dev/null 2>&1 &

# The quick half: what to run before each commit.
check: lint types layers unit

lint: .venv/dev.ready
	$(RUN)/ruff check .
	$(RUN)/ruff format --check .

types: .venv/dev.ready
	$(RUN)/ty check

layers: .venv/dev.ready
	$(RUN)/lint-imports
	$(RUN)/deptry src
	$(RUN)/pip-licenses > /dev/null

# Every installed package with its licence; fails for one that `tool.pip-licenses` in pyproject.toml does not allow.
licences: .venv/dev.ready
	$(RUN)/pip-licenses --order=license

unit: .venv/browser.ready
	$(RUN)/pytest tests/unit tests/contract -m "$(MARKS)" -n $(WORKERS) --dist worksteal

e2e: .venv/browser.ready
	$(RUN)/pytest tests/e2e -m "$(MARKS)" -n $(WORKERS) --dist worksteal --reruns 2 -rfER

# Breaks replicas and workers on a real Postgres at random for SECONDS (120). SEED=… repeats a run.
test-scale: .venv/browser.ready
	$(RUN)/pytest tests/scale -q -s -rs

# kill -9 at two hundred random moments each, during an agent's whole work, changes of content stores, and file writes
# (ten minutes), and at fewer moments during flows and their schedules, on SQLite and Postgres (half an hour).
test-kills: .venv/dev.ready
	OUTRIDER_KILLS=200 $(RUN)/pytest -m "" tests/e2e/test_work_survives.py tests/e2e/test_content_survives.py \
		tests/unit/workspace/test_crash.py tests/unit/workspace/sandbox/test_orphans.py -q
	OUTRIDER_KILLS=100 $(RUN)/pytest -m "" tests/e2e/flows/test_flows_survive.py -q
	OUTRIDER_KILLS=25 $(RUN)/pytest -m "" tests/e2e/flows/test_schedules_survive.py -q

# Runs the programs of the frameworks guide, each in its own environment with the newest versions.
frameworks: .venv/browser.ready
	$(RUN)/pytest tests/frameworks -q

# Writes a screenshot of every page of the dashboard at 1280 and 390 pixels, light and dark, to .cache/screenshots.
# The dashboard guide shows live-1280-light.png.
screenshots: .venv/browser.ready
	$(RUN)/python tests/screenshots.py

# Runs commands and records them as the animated picture of the terminal guide.
recording: .venv/browser.ready
	$(RUN)/python -m release.recording

# 130 small tasks for the browser toolset; their pages are fetched once.
miniwob: .venv/browser.ready
	$(RUN)/python -m evals.miniwob

# Tasks in real applications from Debian, npm and PyPI, installed into .tools/apps and served on loopback.
# `make apps APPS="DokuWiki --task search"` runs only some of them.
apps: .venv/browser.ready
	$(RUN)/python -m tests.apps $(APPS)

# Pages of component libraries from npm, bundled into .cache/libraries: operates their widgets, and compares the
# outlines with what a reader sees. `make libraries LIBRARIES="mui antd --server playwright"` only runs the tasks of
# some of them.
libraries: .venv/browser.ready
	$(RUN)/python -m tests.libraries $(LIBRARIES)
	$(if $(LIBRARIES),,PYTHONPATH=tests $(RUN)/python -m tests.libraries.look)

# Compares names and roles with Chromium's on the cases of Web Platform Tests and axe. WPT and AXE name your copies.
# WPT is a checkout of web-platform-tests/wpt; AXE is tests/assets/axe-core of microsoft/playwright, which needs Node.
WPT ?= .cache/wpt
AXE ?= .cache/axe-core
names: .venv/browser.ready
	$(RUN)/python -m evals.names --wpt "$(WPT)" --axe "$(AXE)"

# Uses the installed browser, or else installs Debian's or Playwright's.
.venv/browser.ready: .venv/dev.ready
	$(RUN)/outrider browser install
	touch $@

# Runs MCP's own conformance suite for the newest revision. It needs npm, and says so if it is missing.
conformance: .venv/dev.ready
	$(RUN)/python -m tests.conformance

# `make bench PARTS="cold_start tokens"` measures only these parts.
bench: .venv/dev.ready
	$(RUN)/python -m bench $(PARTS)

# Writes the image's contents, with versions, licences and dependencies, to dist/sbom.cdx.json (CycloneDX 1.6).
sbom: .tools/supply.ready
	$(UV) venv -q --clear --python "$(PYTHON)" .cache/image
	$(UV) pip sync -q --python .cache/image --require-hashes requirements/image.txt
	mkdir -p dist
	.tools/supply/bin/cyclonedx-py environment --pyproject pyproject.toml --spec-version 1.6 --output-format JSON \
		--output-reproducible --output-file dist/sbom.cdx.json .cache/image

# Builds the packages for the index into dist/packages, with locked tools. TAG must match the version.
packages: .venv/run.ready
	test "$(TAG)" = "v$$($(RUN)/python -m hatchling version)"
	rm -rf dist/packages
	$(RUN)/python -m hatchling build -d dist/packages

# Builds the documentation as a website in dist/site. A broken link is an error.
docs: .tools/publish.ready .venv/run.ready
	$(RUN)/python -m release.site .tools/publish/bin/zensical

# Writes entries for the MCP registry, Claude Desktop and Docker's catalog to dist.
# Usage: make manifests REPOSITORY=owner/name
manifests: .venv/dev.ready
	$(RUN)/python -m release "$(REPOSITORY)" "$$(git rev-parse HEAD)"

# Checks whether registries, hosts and GitHub would accept the repository's manifests and workflows.
publication: .tools/publish.ready .venv/dev.ready
	$(RUN)/python -m tests.publication

# Asks PyPI for known vulnerabilities of the locked versions, and says so if PyPI cannot be reached.
audit: .tools/supply.ready
	requirements/audit.sh .tools/supply/bin

# Checks whether each extra can be installed from wheels on each supported Python, without installing any.
extras: $(UV)
	requirements/extras.sh $(UV) "$(PYTHON)"

# Updates the lock files from the ranges in pyproject.toml. UPGRADE=--upgrade takes the newest versions.
lock: $(UV)
	echo uv | $(COMPILE) - -o requirements/uv.txt
	$(COMPILE) --all-extras --group dev pyproject.toml -o requirements/dev.txt
	$(COMPILE) --extra agents --group build --group demo -c requirements/dev.txt pyproject.toml -o requirements/run.txt
	$(COMPILE) --extra agents --extra documents --extra embeddings --extra objects --extra postgres --extra telemetry \
		--group build -c requirements/dev.txt pyproject.toml -o requirements/image.txt
	$(COMPILE) --group supply -o requirements/supply.txt
	$(COMPILE) --group publish -o requirements/publish.txt
	$(COMPILE) bench/peers.in -o bench/peers.txt
	cd tests/conformance && $(NPM_LOCK)
	cd bench && $(NPM_LOCK)
	cd tests/libraries && $(NPM_LOCK)

# The tools of `sbom`, `audit`, `docs` and `publication` have dozens of dependencies that no test needs.
.tools/supply.ready .tools/publish.ready: .tools/%.ready: requirements/%.txt $(UV)
	$(UV) venv -q --clear --python "$(PYTHON)" .tools/$*
	$(UV) pip sync -q --python .tools/$* --require-hashes $<
	touch $@

.venv/%.ready: requirements/%.txt pyproject.toml $(UV)
	test -x $(RUN)/python || $(UV) venv -q --python "$(PYTHON)" .venv
	$(UV) pip sync -q --python .venv --require-hashes --compile-bytecode $<
	$(UV) pip install -q --python .venv --no-deps --no-build-isolation --editable .
	touch $@

$(UV): requirements/uv.txt
	requirements/uv.sh "$(PYTHON)"
	touch $@

clean:
	rm -rf .venv .tools .cache dist build
