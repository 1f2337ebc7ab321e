SHELL := /bin/bash
.DEFAULT_GOAL := help

# The server's arguments for `make run`: make run ARGS='--listen 127.0.0.1:9090'
ARGS ?=
# How many histories `make simulate` runs, from a random seed on or from FIRST_SEED, or the SEED of a single one.
SEEDS ?= 1000
SEED ?=
FIRST_SEED ?=
# How many kill -9 `make torture` makes, or how many faults of every kind with STORE=postgres, from a random seed or that SEED,
# and for how many minutes at most. With FORWARDING=yes the servers forward to the owner.
STORE ?=
FORWARDING ?=
KILLS ?= 200
MINUTES ?= 10
soak: MINUTES = 60
# For how many minutes `make bench-postgres` watches what grows, how many rounds it makes, and how many kills and restarts:
# make bench-postgres MINUTES=1 ROUNDS=3 TIMES=3
ROUNDS ?=
TIMES ?=
# How long `make fuzz` runs each fuzzer, and which: make fuzz SECONDS=600 TARGETS='cron zone'
SECONDS ?= 60
TARGETS ?=
# Which benchmarks `make instructions` counts, by how their names begin, and whether it keeps their figures:
# make instructions ONLY='core json' ACCEPT=1
ONLY ?=
ACCEPT ?=
# How many mutants `make mutate` draws, by a random seed or that SEED; with a seed it goes on where its run ended.
COUNT ?= 60
# The arguments of `swift build` for what `make test` and `make torture` run, so that one build serves both. Without it the tests
# are built in debug, and the server that is tortured in release.
BUILD ?=
# Where `make install` puts what is to be installed, below DESTDIR if that is given, and the binary that it installs.
PREFIX ?= /usr/local
DESTDIR ?=
BINARY ?= .build/static/release/timerd
# The version that `make release` checks.
VERSION ?=
# Which parts `make proof` runs: make proof PARTS='sanitize leaks'
PARTS ?=
# How many black-box tests `make test-postgres`, `make test-forwarded`, `make test-tls` and `make test-secrets` run at once.
WORKERS ?= 4
SWIFT_FILES := Sources Tests Fuzz Benchmarks/Micro Package.swift

.PHONY: help run build check test proof test-heavy test-postgres test-forwarded test-tls test-secrets simulate torture cluster-torture \
	soak leaks instructions bench bench-alarms bench-latency bench-more bench-postgres bench-streams bench-tls bench-calendars bench-frames bench-tasks bench-threads holds reference clients compare release mutate screenshots lint format sanitize fuzz clean \
	setup setup-tests setup-clients setup-deploy install uninstall deb test-deb dist test-dist test-deploy

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: setup ## Install what is missing, build release, serve on 127.0.0.1:8080 with data in ./timerd-data
	swift build -c release --product timerd
	exec .build/release/timerd serve $(ARGS)

build: setup ## Build everything in debug, tests included
	swift build --build-tests

check: setup-tests lint ## Check a change in some minutes: lint, and the tests without those that are thorough or heavy
	@THOROUGH=no EXAMPLES=4 SEEDS=8 LONG_SEEDS=2 WORKERS=$${WORKERS:-5} Scripts/test.sh

test: setup-tests ## Run the tests but the heavy ones: Swift, and the real binary from outside
	@Scripts/test.sh

proof: setup-tests ## Run the heavy proof, for what a change touches: PARTS='sanitize leaks'
	@Scripts/proof.sh $(PARTS)

BESIDE = .venv/bin/pytest -q -n $(WORKERS) --dist loadgroup -m 'not alone' -o timeout_method=signal \
	Tests/BlackBox --ignore Tests/BlackBox/test_leaks.py --ignore Tests/BlackBox/test_openapi.py

# A heavy test has longer too.
HEAVY = .venv/bin/pytest -q Tests/BlackBox --timeout 600

# Both parts run, whatever the first one ends with.
test-heavy: export TIMERD_BINARY = $(CURDIR)/.build/debug/timerd
test-heavy: setup-tests ## Run the black-box tests that `make test` leaves out: attacks, load, and the many of a kind
	swift build --product timerd
	status=0; $(HEAVY) -m 'heavy and not alone' -n 2 --dist loadgroup || status=$$?; \
	$(HEAVY) -m 'heavy and alone' || status=$$?; exit $$status

test-postgres: export TEST_STORE = postgres
test-postgres: export TIMERD_BINARY = $(CURDIR)/.build/debug/timerd
test-postgres: setup-tests ## Run the black-box tests on a PostgreSQL that the run starts, as far as they are not about SQLite's files
	swift build --product timerd
	$(BESIDE)

# A relay is no place for what reads the metrics, the log or the process of the server that it asks.
test-forwarded: export TEST_FORWARDED = 1
test-forwarded: export TEST_STORE = postgres
test-forwarded: export TIMERD_BINARY = $(CURDIR)/.build/debug/timerd
test-forwarded: setup-tests ## Run the black-box tests through a server that forwards to the owner
	swift build --product timerd
	$(BESIDE)

test-tls: export TEST_TLS = 1
test-tls: export TIMERD_BINARY = $(CURDIR)/.build/debug/timerd
test-tls: setup-tests ## Run the black-box tests with clients that come by TLS
	swift build --product timerd
	$(BESIDE)

test-secrets: export TEST_SECRETS = 1
test-secrets: export TIMERD_BINARY = $(CURDIR)/.build/debug/timerd
test-secrets: setup-tests ## Run the black-box tests, and search all that servers and commands give out for the secrets that the tests use
	swift build --product timerd
	$(BESIDE) -m 'not alone and not heavy'

test-deploy: setup-deploy ## Check rules and alerts, and run the dashboard's queries on a Prometheus that scrapes a server
	swift build --product timerd
	TIMERD_BINARY=$(CURDIR)/.build/debug/timerd .venv/bin/pytest -q -c Tests/BlackBox/pytest.ini --rootdir . Tests/Deploy

reference: setup-tests ## Write the page at /docs and /openapi.json, which are compiled in, from openapi.yaml
	.venv/bin/python Scripts/reference.py

clients: setup-clients ## Generate clients from openapi.yaml in six languages, check their models, compile them as far as Debian can
	.venv/bin/python Tests/BlackBox/generators.py .build/clients

simulate: setup ## Run random histories against a model: SEEDS=1000 of them, or the one of SEED=123
	$(if $(SEED),SEED=$(SEED),SEEDS=$(SEEDS)) $(if $(FIRST_SEED),FIRST_SEED=$(FIRST_SEED)) swift test -c release \
		-Xswiftc -enable-testing --scratch-path .build-simulate --disable-xctest --filter SimulationTests

torture: setup-tests ## Kill the real server again and again under load and check every answer: KILLS=200 MINUTES=10 SEED= STORE=postgres FORWARDING=yes
	swift build $(or $(BUILD),-c release --product timerd)
	TIMERD_BINARY=$(CURDIR)/.build/release/timerd .venv/bin/python Tests/Torture --kills $(KILLS) --minutes $(MINUTES) \
		$(if $(SEED),--seed $(SEED)) $(if $(STORE),--store $(STORE)) $(if $(FORWARDING),--forwarding $(FORWARDING))

cluster-torture: setup-tests ## The same with three servers, PostgreSQL and a standby in network namespaces, as root: KILLS=200 MINUTES=10 SEED=
	swift build -c release --product timerd
	TIMERD_BINARY=$(CURDIR)/.build/release/timerd .venv/bin/python Tests/Torture --store postgres --network \
		--kills $(KILLS) --minutes $(MINUTES) $(if $(SEED),--seed $(SEED)) $(if $(FORWARDING),--forwarding $(FORWARDING))

soak: setup-tests ## Hold 200,000 timers under a steady mixed load and watch what must not grow: MINUTES=60
	swift build -c release --product timerd
	TIMERD_BINARY=$(CURDIR)/.build/release/timerd .venv/bin/python Tests/Soak --minutes $(MINUTES)

leaks: setup-tests ## Run whole lives of the release binary under valgrind
	swift build -c release --product timerd
	TIMERD_BINARY=$(CURDIR)/.build/release/timerd .venv/bin/pytest -q Tests/BlackBox/test_leaks.py

instructions: setup-tests ## Count instructions under valgrind; none may take 3 % more than kept, or a tenth with the whole server: ONLY='core json' ACCEPT=1
	swift build -c release --product timerd
	swift build -c release --product instructions
	python3 Benchmarks/instructions.py $(if $(ACCEPT),--accept) $(ONLY)

# Beside the usual build, as the flag changes every object. Its size is a figure of the bench; it is what is installed, as it
# needs no Swift where it runs.
.build/static/release/timerd: Package.swift openapi.yaml $(shell find Sources -type f) | setup
	swift build -c release --static-swift-stdlib --product timerd --scratch-path .build/static
	touch $@

bench: setup .build/static/release/timerd ## Measure beside peers; writes the figures and the chart of docs/PERFORMANCE.md
	Benchmarks/run.sh

bench-more: setup ## Measure what takes longer or has no peer; writes its figures there too
	Benchmarks/run.sh more

bench-postgres: setup-tests ## Measure the server on PostgreSQL in 40 minutes; writes its figures there too: MINUTES=10 ROUNDS=9 TIMES=10
	swift build -c release --product timerd
	$(if $(ROUNDS),ROUNDS=$(ROUNDS)) $(if $(TIMES),TIMES=$(TIMES)) MINUTES=$(MINUTES) Benchmarks/run.sh postgres

bench-latency: setup ## Measure latencies at constant rates beside peers, in twenty minutes; writes the figures and the curves of docs/PERFORMANCE.md
	swift build -c release --product timerd
	Benchmarks/run.sh latency

bench-threads: setup-tests ## Measure what more I/O threads give and cost, in two minutes; as root
	swift build -c release --product timerd
	.venv/bin/python Benchmarks/threads.py .build/release/timerd

bench-alarms: setup ## Measure how late timers fire by each alarm, both in turn
	swift build -c release --product timerd
	Benchmarks/alarms.sh

bench-streams: setup ## Measure event streams; writes their figures there too
	Benchmarks/streams.sh

bench-tls: setup-tests ## Measure TLS beside plain connections, nginx and OpenSSL; writes the figures there too
	swift build -c release --product timerd
	Benchmarks/tls.sh

bench-calendars: setup-tests ## Measure what timers by a calendar cost, and what a changed calendar costs
	swift build -c release --product timerd
	.venv/bin/python Benchmarks/calendars.py .build/release/timerd

bench-frames: setup-tests ## Measure the dashboard's frames with 100,000 timers and 2,000 events/s
	swift build -c release --product timerd
	.venv/bin/python Benchmarks/frames.py .build/release/timerd

bench-tasks: setup-tests ## Count the clicks, keys and seconds that an operator's tasks take on the dashboard
	swift build -c release --product timerd
	.venv/bin/python Benchmarks/tasks.py .build/release/timerd

holds: setup-tests ## Load the server with all that could hold the engine's lock long, and measure every hold: SECONDS=30
	swift build -c release --product timerd
	.venv/bin/python Benchmarks/holds.py .build/release/timerd $(SECONDS)

compare: setup ## Hold this build against another binary, both measured in turn: OLD=path/to/timerd
	swift build -c release --product timerd
	Benchmarks/compare.sh "$(OLD)"

# 520 fires are two minutes of them.
screenshots: setup-tests ## Take the README's pictures of the dashboard anew, in two minutes
	swift build -c release --product timerd
	mkdir -p docs/images
	TIMERD_BINARY=$(CURDIR)/.build/release/timerd SCREENSHOT_FIRES=520 SCREENSHOT_FOLDER=$(CURDIR)/docs/images \
	    .venv/bin/pytest -q Tests/BlackBox/test_screenshots.py

release: setup ## Check that every place says the version, and print the tag's text: VERSION=1.2.3
	@swift build -c release --product timerd >&2
	@Scripts/release.py "$(VERSION)" .build/release/timerd

install: $(BINARY) ## Install program, manual, completions, unit files and documents: PREFIX=/usr/local DESTDIR=
	Scripts/install.sh $(BINARY) "$(PREFIX)" "$(DESTDIR)"

uninstall: ## Remove what `make install` with the same PREFIX and DESTDIR put there (never the data)
	Scripts/install.sh --remove "$(PREFIX)" "$(DESTDIR)"

deb: $(BINARY) ## Make a Debian package of it in .build/deb, and have lintian check it
	Scripts/deb.sh $(BINARY) .build/deb

test-deb: deb ## Install, start, remove and purge the package in an empty Debian of its own; as root
	Scripts/test-deb.sh .build/deb

dist: $(BINARY) ## Make a tarball for x86-64 that needs glibc alone, with its checksums, in .build/dist
	Scripts/dist.sh $(BINARY) .build/dist

test-dist: dist ## Unpack the tarball in an empty Debian and run what is in it; as root
	Scripts/test-dist.sh .build/dist $(BINARY)

lint: ## Check the format of every Swift file
	swift format lint --strict --parallel --recursive $(SWIFT_FILES)

format: ## Format every Swift file
	swift format --in-place --parallel --recursive $(SWIFT_FILES)

sanitize: setup ## Run the Swift tests under ThreadSanitizer, then under AddressSanitizer
	Scripts/sanitize.sh

fuzz: setup ## Run the parsers and the whole server on mutated input, each fuzzer for SECONDS (60): TARGETS=
	Fuzz/run.sh $(SECONDS) $(TARGETS)

mutate: setup ## Break the sources in small ways and show which breaks no Swift test notices, for hours: COUNT=60 SEED=
	Scripts/mutate.py --count $(COUNT) $(if $(SEED),--seed $(SEED))

clean: ## Remove what was built (never the data)
	rm -rf .build .build-tsan .build-asan .build-simulate .venv

setup:
	@Scripts/setup.sh

setup-tests:
	@Scripts/setup.sh --tests

setup-deploy:
	@Scripts/setup.sh --deploy

setup-clients:
	@Scripts/setup.sh --clients
