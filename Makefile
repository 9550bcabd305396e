# The two commands of the README are `make demo` and `make test`. Each sets up all that it needs,
# into .tools and .venv of this folder: Python 3.11 or newer and make are enough to start with.

PYTHON ?= $(shell requirements/python.sh)
# More than there are cores: tests wait for processes, browsers and limits as long as they work.
CORES = $(shell "$(PYTHON)" -c "import os; print(os.cpu_count() or 1)")
WORKERS ?= $(shell expr $(CORES) + 1)
# Of each of two test runs that go side by side, which wait a fifth of their time; WORKERS=8 is for each, too.
HALF = $(shell expr $(CORES) / 2 + 2)
# The tests that run by day; empty for all.
MARKS = not nightly
UV := .tools/bin/uv
RUN := .venv/bin
COMPILE = $(UV) pip compile -q --universal --python-version 3.11 --generate-hashes $(UPGRADE) \
	--no-emit-index-url --no-emit-find-links --no-header --no-annotate --custom-compile-command "make lock"
NPM_LOCK = npm install --package-lock-only --omit-lockfile-registry-resolved --ignore-scripts --no-audit --no-fund

# Networks that inspect their traffic have their root certificate among the system's.
CERTIFICATES := $(wildcard /etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt /etc/ssl/cert.pem)
ifneq ($(CERTIFICATES),)
export UV_SYSTEM_CERTS ?= true
export NODE_EXTRA_CA_CERTS ?= $(firstword $(CERTIFICATES))
endif
# uv has names of its own for what pip was told about this network.
ifdef PIP_INDEX_URL
export UV_DEFAULT_INDEX ?= $(PIP_INDEX_URL)
endif
ifdef PIP_CERT
export SSL_CERT_FILE ?= $(PIP_CERT)
endif
# Without byte-code on the disk every process would compile all anew, and tests start a thousand.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: ahead demo test test-nightly test-scale test-kills check lint types layers licences unit e2e miniwob names apps libraries
.PHONY: conformance frameworks bench sbom audit extras lock screenshots recording packages manifests publication docs clean

# What the tests need holds what the demo needs; an environment that has it is left as it is.
demo: $(if $(wildcard .venv/dev.ready),.venv/dev.ready,.venv/run.ready)
	$(RUN)/python -m demo $(if $(QUESTION),"$(QUESTION)")

# Rows side by side: tests that wait for a browser leave their processor to those that compute, and what runs one process
# at a time does so while there is other work for the second processor.
test: ahead lint .venv/browser.ready
	WORKERS=$(HALF) $(RUN)/python -m tests.run_parallel "$(MAKE)" "types layers publication conformance" "unit" "e2e"

# Everything: the tests marked `nightly`, 200 examples a property, MiniWoB++, every protocol revision, every page of the
# dashboard at both widths and schemes, and a long chaos of replicas.
test-nightly: ahead lint types layers
	HYPOTHESIS_PROFILE=nightly $(MAKE) --no-print-directory unit MARKS=
	OUTRIDER_EVERY_LOOK=1 OUTRIDER_EVERY_MUTATION=1 $(MAKE) --no-print-directory e2e miniwob names apps libraries MARKS=
	$(RUN)/python -m tests.conformance --all
	$(MAKE) --no-print-directory test-scale test-kills frameworks sbom audit

# npm downloads while other tests run; the conformance suite waits for it and reports what went wrong.
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

# Replicas and workers on a real Postgres, broken at random for SECONDS (120); SEED repeats what it printed.
test-scale: .venv/browser.ready
	$(RUN)/pytest tests/scale -q -s -rs

# kill -9 at two hundred random moments each: of an agent's whole work, of content stores, of file writes (ten minutes);
# at fewer of flows and their schedules, on SQLite and Postgres (half an hour).
test-kills: .venv/dev.ready
	OUTRIDER_KILLS=200 $(RUN)/pytest -m "" tests/e2e/test_work_survives.py tests/e2e/test_content_survives.py \
		tests/unit/workspace/test_crash.py tests/unit/workspace/sandbox/test_orphans.py -q
	OUTRIDER_KILLS=100 $(RUN)/pytest -m "" tests/e2e/flows/test_flows_survive.py -q
	OUTRIDER_KILLS=25 $(RUN)/pytest -m "" tests/e2e/flows/test_schedules_survive.py -q

# The programs of the guide to agent frameworks, each in an environment of its own with the newest versions.
frameworks: .venv/browser.ready
	$(RUN)/pytest tests/frameworks -q

# Every page of the dashboard at 1280 and 390 pixels, light and dark, into .cache/screenshots. The guide to the dashboard
# shows live-1280-light.png.
screenshots: .venv/browser.ready
	$(RUN)/python tests/screenshots.py

# Commands that really run, as the animated picture of the guide to the terminal.
recording: .venv/browser.ready
	$(RUN)/python -m release.recording

# 130 small tasks for the browser toolset; their pages are fetched once.
miniwob: .venv/browser.ready
	$(RUN)/python -m evals.miniwob

# Tasks in real applications from the indexes of Debian, npm and PyPI, installed into .tools/apps and served on loopback.
# `make apps APPS="DokuWiki --task search"` plays some of them.
apps: .venv/browser.ready
	$(RUN)/python -m tests.apps $(APPS)

# Pages of component libraries of npm, bundled into .cache/libraries: widgets are operated, and the outlines compared with
# what a reader sees. `make libraries LIBRARIES="mui antd --server playwright"` plays the tasks of some of them alone.
libraries: .venv/browser.ready
	$(RUN)/python -m tests.libraries $(LIBRARIES)
	$(if $(LIBRARIES),,PYTHONPATH=tests $(RUN)/python -m tests.libraries.look)

# Compares names and roles with Chromium's on the cases of Web Platform Tests and axe, if WPT or AXE names a copy.
# WPT is a checkout of web-platform-tests/wpt; AXE is tests/assets/axe-core of microsoft/playwright, which needs Node.
WPT ?= .cache/wpt
AXE ?= .cache/axe-core
names: .venv/browser.ready
	$(RUN)/python -m evals.names --wpt "$(WPT)" --axe "$(AXE)"

# The browser that is installed; else Debian's, or Playwright's download.
.venv/browser.ready: .venv/dev.ready
	$(RUN)/outrider browser install
	touch $@

# The protocol's own conformance suite for the newest revision; it needs npm, and says so where there is none.
conformance: .venv/dev.ready
	$(RUN)/python -m tests.conformance

# `make bench PARTS="cold_start tokens"` measures only these.
bench: .venv/dev.ready
	$(RUN)/python -m bench $(PARTS)

# What the image contains, with versions, licences and dependencies, as CycloneDX 1.6 in dist/sbom.cdx.json.
sbom: .tools/supply.ready
	$(UV) venv -q --clear --python "$(PYTHON)" .cache/image
	$(UV) pip sync -q --python .cache/image --require-hashes requirements/image.txt
	mkdir -p dist
	.tools/supply/bin/cyclonedx-py environment --pyproject pyproject.toml --spec-version 1.6 --output-format JSON \
		--output-reproducible --output-file dist/sbom.cdx.json .cache/image

# The packages for the index into dist/packages, built with locked tools; TAG must be that of the version.
packages: .venv/run.ready
	test "$(TAG)" = "v$$($(RUN)/python -m hatchling version)"
	rm -rf dist/packages
	$(RUN)/python -m hatchling build -d dist/packages

# The documentation as a website in dist/site; a link that leads nowhere fails.
docs: .tools/publish.ready .venv/run.ready
	$(RUN)/python -m release.site .tools/publish/bin/zensical

# Entries for the MCP registry, Claude Desktop and Docker's catalog, into dist: make manifests REPOSITORY=owner/name.
manifests: .venv/dev.ready
	$(RUN)/python -m release "$(REPOSITORY)" "$$(git rev-parse HEAD)"

# Whether registries, hosts and GitHub would take what the repository gives them.
publication: .tools/publish.ready .venv/dev.ready
	$(RUN)/python -m tests.publication

# Known vulnerabilities of the locked versions, from the database of PyPI; says so where that cannot be reached.
audit: .tools/supply.ready
	requirements/audit.sh .tools/supply/bin

# Whether each extra can be installed from wheels on each supported Python, without installing any.
extras: $(UV)
	requirements/extras.sh $(UV) "$(PYTHON)"

# Rewrites the locked versions from the ranges in pyproject.toml; UPGRADE=--upgrade takes the newest.
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

# The programs of `sbom` and `audit`, and of `docs` and `publication`, have dozens of dependencies that no test needs.
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
