"""Tasks over processes, of this machine or of a cluster; each is done exactly once."""
