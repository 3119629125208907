"""A test bed for copies: a benchmark, a corpus with planted copies and decoys, and the truth.

    python -m benchmarks.copies [--seed N] [--out FILE]

It is made from texts that every machine has (Python's library and its documentation) and from
questions in seven languages. docs/results/copies.md has the results.
"""
