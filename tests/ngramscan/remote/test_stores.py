"""What errors of stores mean, and what is shown and asked of an address."""

from typing import Any

import pytest

from ngramscan.remote.stores import encoded, is_http, is_remote, problem_of, shown, version_of


class NoCredentialsError(Exception):
    """Named as that of botocore."""


class ConnectTimeoutError(Exception):
    """Named as that of botocore."""


class StatusError(Exception):
    """Has a status, as errors of libraries over HTTP."""

    def __init__(self, status: int) -> None:
        super().__init__(f"HTTP {status}")
        self.status = status


@pytest.mark.parametrize(
    ("error", "kind", "is_final"),
    [
        (NoCredentialsError("none"), "credentials", True),
        (PermissionError(13, "no"), "denied", True),
        (OSError("Forbidden: x"), "denied", True),
        (FileNotFoundError(2, "none"), "missing", True),
        (ConnectTimeoutError("late"), "no connection", False),
        (ConnectionRefusedError(111, "refused"), "no connection", False),
        (StatusError(403), "refused", True),
        (StatusError(503), "failed", False),
        (OSError(5, "broken"), "failed", False),
    ],
    ids=ascii,
)
def test_what_an_error_of_a_store_means(error: Exception, kind: str, is_final: bool) -> None:
    problem = problem_of(error)
    assert (problem.kind, problem.is_final) == (kind, is_final)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        pytest.param(
            "https://me:secret@host/a/f?signature=secret#part",
            "https://host/a/f",
            id="login, query and fragment",
        ),
        pytest.param(
            "https://host/a@b/f#secret", "https://host/a@b/f", id="an at sign in the path"
        ),
        pytest.param("s3://bucket/f", "s3://bucket/f", id="a bucket"),
    ],
)
def test_an_address_is_shown_without_what_may_be_secret(url: str, expected: str) -> None:
    assert shown(url) == expected


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        pytest.param("https://host/a b", "https://host/a%20b", id="a space"),
        pytest.param("https://host/é", "https://host/%C3%A9", id="a letter"),
        pytest.param(
            "https://host/a%20b%2Fc?x=%41", "https://host/a%20b%2Fc?x=%41", id="escaped before"
        ),
        pytest.param("https://host/100%", "https://host/100%25", id="a percent sign"),
        pytest.param(
            "https://host/100%zz", "https://host/100%25zz", id="a percent sign before letters"
        ),
    ],
)
def test_what_must_be_escaped_in_an_address_is_escaped_once(url: str, expected: str) -> None:
    assert encoded(url) == expected


@pytest.mark.parametrize(
    ("path", "remote", "over_http"),
    [
        ("https://host/f", True, True),
        ("http://host/f", True, True),
        ("s3://bucket/f", True, False),
        ("folder/http:/f", False, False),
    ],
)
def test_which_paths_are_far_away(path: str, remote: bool, over_http: bool) -> None:
    assert (is_remote(path), is_http(path)) == (remote, over_http)


@pytest.mark.parametrize(
    ("info", "expected"),
    [
        ({"ETag": "a", "size": 3}, "a"),
        ({"ETag": "", "mtime": 1.5}, "1.5"),
        ({"size": 3}, ""),
    ],
    ids=["a tag", "a time", "neither"],
)
def test_what_changes_with_the_content_of_a_file(info: dict[str, Any], expected: str) -> None:
    assert version_of(info) == expected
