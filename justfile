# Recipes of daily work; `just` lists them. Each runs in the environment that is active.

_list:
    @just --list

# Run the tests.
test *options:
    pytest {{options}}

# Check style, types and generated pages; nothing is changed.
check:
    ruff check
    ruff format --check
    mypy
    python -m cogapp --check README.md docs/commands.md docs/rows.md docs/evaluation-rows.md

# Format, and generate the pages anew that show what commands print.
fix:
    ruff check --fix
    ruff format
    python -m cogapp -r README.md docs/commands.md docs/rows.md docs/evaluation-rows.md

# Time commands against named alternatives: just bench scan
bench name *options:
    python benchmarks/{{name}}.py {{options}}
