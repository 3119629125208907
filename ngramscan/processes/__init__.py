"""Tasks spread over processes of this machine or a cluster; each is done exactly once."""
