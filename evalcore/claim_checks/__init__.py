"""Whether published figures hold together: tables and claims in, verdicts out."""

from evalcore.claim_checks.checking import AuditRow, check_claims
from evalcore.claim_checks.claims import read_claims
from evalcore.claim_checks.tables import read_tables
from evalcore.claim_checks.verdicts import MISMATCH, OK, VERDICTS

__all__ = [
    "MISMATCH",
    "OK",
    "VERDICTS",
    "AuditRow",
    "check_claims",
    "read_claims",
    "read_tables",
]
