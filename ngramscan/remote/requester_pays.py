"""Buckets of Amazon S3 whose owners have the reader pay: who agreed to it, and what S3 charges."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from ngramscan.errors import InputError
from ngramscan.messages import Message, OptionUse, Text

PAYER_HEADERS: Mapping[str, str] = {"x-amz-request-payer": "requester"}
"""By this header a reader agrees to pay; the signature of a request covers it."""
DOLLARS_PER_REQUEST = 0.0004 / 1000
"""The price of GET from S3 Standard in us-east-1, in 2025 (aws.amazon.com/s3/pricing)."""
DOLLARS_PER_GB = 0.09
"""For 10^9 bytes from us-east-1 to the internet, in 2025 (aws.amazon.com/s3/pricing).

Within a region they cost nothing.
"""
CHARGES = (
    f"about ${DOLLARS_PER_REQUEST * 1e6:.2f} per million requests and ${DOLLARS_PER_GB:.2f} per GB"
    " to the internet"
)
CONSENT: Message = OptionUse("requester_pays") + ", with credentials of your account"
"""How the user agrees to pay."""
_PROTOCOLS = ("s3", "s3a")
_FALSE_TEXTS = {"", "0", "false", "no", "off"}
_BUCKET = re.compile(r"\bs3a?://([^/,:]+)")


def dollars_for(requests: int, size_bytes: int) -> float:
    """Return what S3 charges for some requests and for the bytes that they bring to the internet.

    Parameters
    ----------
    requests : int
        Number of requests.
    size_bytes : int
        Bytes of all answers.

    Returns
    -------
    float
        US dollars, at the prices of S3 Standard in us-east-1.
    """
    return requests * DOLLARS_PER_REQUEST + size_bytes / 1e9 * DOLLARS_PER_GB


def is_configured() -> bool:
    """Tell whether the configuration of fsspec says that the user pays for reading from S3.

    Its files, and `FSSPEC_S3_REQUESTER_PAYS`, may have texts for truth values.
    """
    import fsspec

    values = [fsspec.config.conf.get(protocol, {}) for protocol in _PROTOCOLS]
    decisions = [value["requester_pays"] for value in values if "requester_pays" in value]
    return any(
        decision.strip().lower() not in _FALSE_TEXTS if isinstance(decision, str) else decision
        for decision in decisions
    )


def store_options(url: str, pays: bool) -> dict[str, dict[str, bool]]:
    """Return the options by which fsspec signs for one who pays, or else for one who doesn't.

    They stand below the protocol of S3, which may be inside a chain: `simplecache::s3://…`.
    """
    return {
        protocol: {"requester_pays": pays}
        for protocol in _PROTOCOLS
        if re.search(rf"\b{protocol}://", url)
    }


def is_on_s3(url: str) -> bool:
    """Tell whether a URL, or a spec with one, is of a file or folder on S3."""
    return bool(_BUCKET.search(url))


def refuse_unpaid(url: str, pays: bool, paying_buckets: Collection[str]) -> None:
    """Raise an InputError for a bucket whose reader pays, unless the user agreed to it."""
    buckets = [bucket for bucket in _BUCKET.findall(url) if bucket in paying_buckets]
    if buckets and not pays:
        problem = f"the bucket's owner has the reader pay, {CHARGES}; to pay: "
        raise InputError(f"s3://{buckets[0]}", problem + CONSENT)


def cure_of_refusal(pays: bool) -> Text:
    """Return what may help where S3 denies access, to one who pays or to one who doesn't."""
    if pays:
        return "is its name right, and may the account of the credentials read it?"
    condition = f"If the bucket's owner has the reader pay ({CHARGES}): "
    return f"is it public, is its name right? {condition}" + CONSENT
