# Recipes of daily work; `just` lists them. Each runs in the environment that is active.

cog := 'python -m cogapp --verbosity=1 -I docs -p "import cog; from examples import *; begin(cog.inFile)"'

_list:
    @just --list

# Run the tests.
test *options:
    pytest {{options}}

# Run the tests that take long: simulations, the widths of pages, large indexes.
slow *options:
    pytest -m slow {{options}}

# Put small faults into modules and list those that no test notices: just mutate ngramscan/statistics
mutate *options:
    python benchmarks/mutate.py {{options}}

# Check style, types, language and generated pages, beside each other; nothing is changed.
[parallel]
check: types pages

[private]
types:
    ruff check
    ruff format --check
    mypy

[private]
pages:
    python -m docs.language
    python -m tests.house.columns
    python -m tests.house.packed_names
    python -m tests.house.plain_names
    python -m tests.house.note_texts
    python -m tests.house.unread_names
    {{cog}} --check README.md docs/*.md docs/results/*.md
    python -m docs.figures.report --check

# Format, and print again what commands print in README.md and docs/.
fix:
    ruff check --fix
    ruff format
    FRESH=1 {{cog}} -r README.md docs/*.md docs/results/*.md
    python -m docs.figures.report

# Time commands against named alternatives: just bench scan
bench name *options:
    python benchmarks/{{name}}.py {{options}}
