"""Formats of local indexes: mapped files, compiled kernels, building from documents."""
