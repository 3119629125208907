"""Model-written programs, run so that they can do no harm."""

from __future__ import annotations

from evalcore.sandbox.base import Limits, Outcome, Program
from evalcore.sandbox.sandbox import Sandbox

__all__ = ["Limits", "Outcome", "Program", "Sandbox"]
