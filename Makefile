# rdmadoctor: `make help` lists the targets.
SHELL := /bin/bash
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
LDFLAGS := -s -w -X main.version=$(VERSION)
BIN := bin/rdmadoctor
# The verbs engine is C. Names of hosts and users are still looked up in Go.
TAGS := netgo,osusergo
CGO_ENABLED ?= 1

.PHONY: help run test lab bar build lint generate golden fuzz clean
.DEFAULT_GOAL := help

help: ## list the targets
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sort | awk -F':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

# A verdict (exit 0 to 3, README.md) is no failure of make.
run: build ## build rdmadoctor and examine this host (changes nothing)
	@$(BIN) || [ $$? -le 3 ]

test: ## install what is missing and run the tests, half of the lab on both kernels too
	@scripts/test

lab: build ## boot a sick guest and open the doctor in it (SCENARIO=pfc-off)
	@scripts/packages lab
	@go run ./lab/cmd/lab open $(or $(SCENARIO),pfc-off)

bar: ## the long list: full fuzz, every scenario on both kernels, figures; one line an item
	@scripts/bar

build: ## build bin/rdmadoctor
	@scripts/packages build
	@mkdir -p bin
	@CGO_ENABLED=$(CGO_ENABLED) go build -tags $(TAGS) -trimpath -ldflags '$(LDFLAGS)' -o $(BIN) ./cmd/rdmadoctor

lint: ## gofmt, vet and staticcheck
	@scripts/lint

generate: ## rewrite generated docs and schemas
	@go generate ./...

golden: ## rewrite golden files; read the diff before committing it
	@go test ./checks ./knowledge ./tui ./internal/... ./cmd/... -update

fuzz: ## fuzz every parser (FUZZTIME=2s each)
	@scripts/fuzz $(or $(FUZZTIME),2s)

clean: ## remove what was built; downloads stay in .cache
	@rm -rf bin
