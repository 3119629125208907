"""Model-written programs, run so that they can do no harm."""

from __future__ import annotations

from evalcore.sandbox.layers import Limits
from evalcore.sandbox.sandbox import Outcome, Program, Sandbox

__all__ = ["Limits", "Outcome", "Program", "Sandbox"]
