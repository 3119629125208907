"""What the sizes of the files of a shard tell: the widths of tokens and pointers."""

import pytest

from ngramscan.errors import IndexFormatError
from ngramscan.index_files.tokens.layout import SizedFile, pointer_bytes_for, read_layout


@pytest.mark.parametrize(
    ("text_bytes", "expected"),
    [
        (0, 1),
        (1, 1),
        (2, 1),
        (256, 1),
        (257, 2),
        (1 << 16, 2),
        ((1 << 16) + 1, 3),
        (1 << 32, 4),
        ((1 << 32) + 2, 5),
        (1 << 40, 5),
    ],
)
def test_a_pointer_has_the_bytes_of_the_last_place(text_bytes: int, expected: int) -> None:
    assert pointer_bytes_for(text_bytes) == expected
    assert max(text_bytes - 1, 0) < 256**expected


def files(text: int, table: int, offsets: int) -> tuple[SizedFile, SizedFile, SizedFile]:
    return (
        SizedFile("/x/tokenized.0", "tokenized.0", text),
        SizedFile("/x/table.0", "table.0", table),
        SizedFile("/x/offset.0", "offset.0", offsets),
    )


@pytest.mark.parametrize("width", [1, 2, 4])
@pytest.mark.parametrize("tokens", [1, 3, 64, 65, 70_000, 1 << 33])
def test_the_width_of_tokens_follows_from_the_sizes(tokens: int, width: int) -> None:
    text = tokens * width
    pointer = pointer_bytes_for(text)
    layout = read_layout(*files(text, tokens * pointer, 8 * 3))
    assert layout == (3, tokens, width, pointer)


def test_a_shard_without_documents_fits_any_width() -> None:
    assert read_layout(*files(0, 0, 0))[:3] == (0, 0, 0)


@pytest.mark.parametrize(
    ("sizes", "said"),
    [
        pytest.param((8, 4, 7), "/x/offset.0: 7 bytes, expected a multiple of 8", id="offsets"),
        pytest.param(
            (8, 5, 16),
            "/x/table.0: 5 bytes, but tokenized.0 has 8 bytes and offset.0 2 documents: "
            "expected 8 or 4 or 2; one of them is cut",
            id="table",
        ),
        pytest.param((7, 4, 8), "/x/table.0: 4 bytes, but tokenized.0 has 7 bytes", id="text"),
        pytest.param((0, 0, 8), "/x/table.0: 0 bytes, but tokenized.0 has 0 bytes", id="no text"),
        pytest.param((8, 4, 0), "/x/table.0: 4 bytes", id="no documents"),
        pytest.param((0, 4, 0), "/x/table.0: 4 bytes", id="a table alone"),
    ],
)
def test_a_file_that_is_cut_is_named(sizes: tuple[int, int, int], said: str) -> None:
    with pytest.raises(IndexFormatError) as raised:
        read_layout(*files(*sizes))
    assert str(raised.value).startswith(said)
