"""Numbers in, numbers out: shares, estimates with intervals, tests, resampling."""
