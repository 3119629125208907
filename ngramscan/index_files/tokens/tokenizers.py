"""Tokenizers: texts → tokens, as infini-gram's indexer and service do it, and back.

The libraries differ from the indexer: SentencePiece takes `</s>` in a text for text, but the
indexer for the token; and tokens stand for bytes, which the libraries show only as characters.
"""

from __future__ import annotations

import gzip
import json
import os
import random
import re
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, Protocol

from ngramscan.errors import InputError, needs_extra
from ngramscan.index_files.tokens.token_files import TokenFiles
from ngramscan.messages import OptionUse, counted

_SPACE = "▁"
_BYTE = re.compile("<0x([0-9A-F]{2})>")
_ESCAPED_BYTE = re.compile(rb"\\x([0-9a-fA-F]{2})")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f]")
_ENDS = ("</s>", "<|endoftext|>", "<|end_of_text|>", "<|eot|>")
_WANTED = "expected a SentencePiece model or a tokenizer.json"
_IN_FOLDERS = ("tokenizer.json", "tokenizer.model")
"""Files of a tokenizer in a folder, as Hugging Face's models have them; the first one is tried
first."""
_SAMPLE, _LONGEST, _CUT, _FITTING = 32, 2_000, 100, 0.75
"""Documents to try, tokens of each, how many of these a cut through a word can change, and the
share that has to come out the same (a few words do by chance)."""


class Tokenizer(Protocol):
    """Turns texts into tokens and back."""

    name: str
    """The name of its file; `bytes`: UTF-8, without a file."""
    vocabulary: int
    """Number of ids."""
    end_of_text: int
    """The id that the engine shows at the end of a document; 0 if there is no such id."""
    lead: bytes
    """Bytes in front of a document that are not in its text: a space, with SentencePiece.

    The text of a document is `content(ids).removeprefix(lead)`.
    """

    def of_document(self, text: str) -> list[int]:
        """Return the tokens of a document, as the indexer makes them."""

    def after_space(self, text: str) -> list[int]:
        """Return the tokens of a text after a space, as the service tokenizes a query."""

    def of_request(self, text: str) -> list[int]:
        r"""Return the tokens of a query as the service reads it: of bytes, `\xHH` is one."""

    def after_newline(self, text: str) -> list[int] | None:
        """Return the tokens of a text at the beginning of a line, or None."""

    def pieces(self, ids: Sequence[int]) -> list[str]:
        """Return the names of tokens: `▁step`, `Ġstep`, `<0x0A>`."""

    def content(self, ids: Iterable[int]) -> bytes:
        """Return the bytes that tokens stand for, in the middle of a text: spaces are kept."""

    def shown(self, ids: Sequence[int]) -> str:
        """Return the text that the service shows for tokens: Llama's loses a space in front."""


class _OtherKindError(InputError):
    """A tokenizer.json whose tokens do not say their bytes."""


def bytes_of_request(text: str) -> bytes:
    r"""Return the bytes that the service reads in a query of an index of bytes: `\xHH` is one."""
    return _ESCAPED_BYTE.sub(lambda match: bytes([int(match[1], 16)]), text.encode())


def text_of_bytes(content: bytes) -> str:
    r"""Return bytes as the service shows them.

    Those of half characters are `\xHH`, and so are control characters but tabs and newlines.
    """
    text = content.decode("utf-8", "backslashreplace")
    return _CONTROL.sub(lambda match: f"\\x{ord(match[0]):02x}", text)


class _ByteTokenizer:
    """Tokens that are the bytes of a text; 255, which is in no text, separates documents."""

    name, vocabulary, end_of_text, lead = "bytes", 255, 0, b""

    def of_document(self, text: str) -> list[int]:
        return list(text.encode())

    def after_space(self, text: str) -> list[int]:
        return list(text.encode())

    def of_request(self, text: str) -> list[int]:
        return list(bytes_of_request(text))

    def after_newline(self, text: str) -> list[int] | None:  # noqa: ARG002  the same as anywhere
        return None

    def pieces(self, ids: Sequence[int]) -> list[str]:
        return [chr(token) for token in ids]

    def content(self, ids: Iterable[int]) -> bytes:
        return bytes(ids)

    def shown(self, ids: Sequence[int]) -> str:
        return text_of_bytes(bytes(ids))


class _Vocabulary(ABC):
    """The common part of tokenizers with a vocabulary."""

    def __init__(self, name: str, pieces: Mapping[int, str], contents: Mapping[int, bytes]) -> None:
        self.name = name
        self.vocabulary = max(pieces, default=-1) + 1
        ids = {piece: token for token, piece in pieces.items()}
        self.end_of_text = next((ids[end] for end in _ENDS if end in ids), 0)
        self._pieces, self._contents = pieces, contents

    @abstractmethod
    def after_space(self, text: str) -> list[int]: ...

    def of_request(self, text: str) -> list[int]:
        return self.after_space(text)

    def after_newline(self, text: str) -> list[int] | None:
        ids, before = self.after_space(f"\n{text}"), b""
        for number, token in enumerate(ids):
            if b"\n" in before:
                return ids[number:] if before in {b"\n", b" \n"} else None
            before += self._contents[token]
        return None

    def pieces(self, ids: Sequence[int]) -> list[str]:
        try:
            return [self._pieces[token] for token in ids]
        except KeyError as error:
            raise self._unknown(error) from error

    def content(self, ids: Iterable[int]) -> bytes:
        try:
            return b"".join([self._contents[token] for token in ids])
        except KeyError as error:
            raise self._unknown(error) from error

    def _unknown(self, error: KeyError) -> InputError:
        has = f"it has {counted(self.vocabulary, 'token')}"
        return InputError(
            OptionUse("tokenizer", self.name),
            f"{has}, but not {error.args[0]}, which the index has",
        )


class _SentencePiece(_Vocabulary):
    """A SentencePiece model, as Hugging Face's LlamaTokenizer uses it (not in its legacy mode)."""

    lead = b" "

    def __init__(self, name: str, processor: Any) -> None:
        numbers = range(processor.get_piece_size())
        pieces = {token: processor.id_to_piece(token) for token in numbers}
        self._bytes = {token for token in numbers if processor.is_byte(token)}
        contents = {
            token: bytes.fromhex(piece[3:5]) if token in self._bytes else _spaced(piece)
            for token, piece in pieces.items()
        }
        super().__init__(name, pieces, contents)
        self._encode, self._space = processor.encode, processor.piece_to_id(_SPACE)
        self._special = {
            pieces[token]: token
            for token in numbers
            if processor.is_control(token) or processor.is_unknown(token)
        }
        longest_first = sorted(self._special, key=len, reverse=True)
        self._special_names = re.compile(f"({'|'.join(map(re.escape, longest_first))})")

    def of_document(self, text: str) -> list[int]:
        """Return the tokens; names of special ones in the text are these."""
        first, *names_and_texts = self._special_names.split(text)
        ids: list[int] = self._encode(first)
        for special, part in zip(names_and_texts[::2], names_and_texts[1::2], strict=True):
            ids.append(self._special[special])
            # Only a text's beginning gets a space; the library has no other way to leave it out.
            inner = self.after_newline(part) if part else []
            ids += self._encode(part) if inner is None else inner
        return ids

    def after_space(self, text: str) -> list[int]:
        ids = self.of_document(text)
        return ids[1:] if ids[:1] == [self._space] else ids

    def shown(self, ids: Sequence[int]) -> str:
        text = ""
        for is_byte, run in groupby(ids, self._bytes.__contains__):
            content = self.content(run)
            try:
                text += content.decode()
            except UnicodeDecodeError:  # only bytes can be no characters
                text += "\N{REPLACEMENT CHARACTER}" * len(content) if is_byte else ""
        return text.removeprefix(" ")


class _HuggingFace(_Vocabulary):
    """A tokenizer.json: BPE of bytes as in GPT-2, or like Llama's."""

    def __init__(self, name: str, tokenizer: Any, is_of_bytes: bool) -> None:
        tokenizer.no_truncation()
        tokenizer.no_padding()
        pieces = {token: piece for piece, token in tokenizer.get_vocab().items()}
        added = tokenizer.get_added_tokens_decoder()
        content_of = _unmapped if is_of_bytes else _unescaped
        contents = {
            token: content_of(piece) for token, piece in pieces.items() if token not in added
        }
        contents |= {number: token.content.encode() for number, token in added.items()}
        super().__init__(name, pieces, contents)
        self._tokenizer, self._is_of_bytes = tokenizer, is_of_bytes
        self._space = tokenizer.token_to_id(_SPACE)
        self.lead = b"" if is_of_bytes else self.content(self.of_document("a")).removesuffix(b"a")

    def of_document(self, text: str) -> list[int]:
        ids: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return ids

    def after_space(self, text: str) -> list[int]:
        if self._is_of_bytes:
            return self.of_document(f" {text}") if text else []
        ids = self.of_document(text)
        return ids[1:] if ids[:1] == [self._space] else ids

    def shown(self, ids: Sequence[int]) -> str:
        text: str = self._tokenizer.decode(list(ids), skip_special_tokens=False)
        return text


def _spaced(piece: str) -> bytes:
    return piece.replace(_SPACE, " ").encode()


def _unescaped(piece: str) -> bytes:
    """Return the bytes of a piece of a Llama-like vocabulary."""
    return bytes.fromhex(match[1]) if (match := _BYTE.fullmatch(piece)) else _spaced(piece)


def _unmapped(piece: str) -> bytes:
    """Return the bytes of a piece in which each byte is written as a printable character."""
    try:
        return piece.translate(_ALPHABET).encode("latin-1")
    except UnicodeEncodeError:
        return piece.encode()


def contents_of_names(names: Sequence[str]) -> Iterator[list[bytes]]:
    """Yield the bytes of tokens with some names, in either kind of vocabulary."""
    yield [*map(_unescaped, names)]
    yield [*map(_unmapped, names)]


def _alphabet() -> dict[int, int]:
    """Return the byte of each character: printable ones are themselves, others from 256 on."""
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = sorted({*range(256)} - printable)
    return {byte: byte for byte in printable} | {256 + n: byte for n, byte in enumerate(others)}


_ALPHABET = _alphabet()


def open_tokenizer(path: str | Path | None, width: int) -> Tokenizer:
    """Open a SentencePiece `.model` or a `tokenizer.json` (also gzipped) for tokens of some bytes.

    A folder may have one of them. None is for bytes, tokens of one byte; otherwise an InputError
    asks for --tokenizer.
    """
    if path is None and width > 1:
        problem = f"tokens of {width} bytes are numbers in its vocabulary, which no index holds"
        raise InputError(OptionUse("tokenizer", placeholder="FILE"), problem)
    tokenizer = load_tokenizer(path)
    if tokenizer.vocabulary >= 1 << 8 * width:
        has = f"its {counted(tokenizer.vocabulary, 'token')} aren't those of the index"
        cure = "; leave it out: an index of bytes has none" if width == 1 else ""
        raise InputError(
            OptionUse("tokenizer", path), f"{has}, which have {counted(width, 'byte')}{cure}"
        )
    return tokenizer


def load_tokenizer(path: str | Path | None) -> Tokenizer:
    """Open a tokenizer for tokens of any width; None is for bytes.

    A folder has it in `tokenizer.json`, or in `tokenizer.model` if the other is of another kind.
    """
    if path is None:
        return _ByteTokenizer()
    file = Path(path).expanduser()
    if not file.is_dir():
        return _load_file(file)
    files = _files_in(file)
    if not files:
        problem = f"the folder has neither {' nor '.join(_IN_FOLDERS)}"
        raise InputError(OptionUse("tokenizer", path), problem)
    try:
        return _load_file(files[0])
    except _OtherKindError:
        if len(files) == 1:
            raise
        return _load_file(files[1])


def describe_choice(path: str | Path | None, tokenizer: Tokenizer) -> str:
    """Return a notice about which file of a folder was opened; empty if it has only one."""
    if path is None or len(_files_in(Path(path).expanduser())) < 2:
        return ""
    return f"{path}: tokenized by {tokenizer.name}, one of {' and '.join(_IN_FOLDERS)} there"


def _files_in(folder: Path) -> list[Path]:
    """Return the files of a tokenizer in a folder; a link to a file that is missing is one."""
    return [folder / name for name in _IN_FOLDERS if os.path.lexists(folder / name)]


def _load_file(path: Path) -> Tokenizer:
    where, name = OptionUse("tokenizer", path), path.name
    try:
        content = path.read_bytes()
        if content.startswith(b"\x1f\x8b"):
            content = gzip.decompress(content)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(where, f"not a gzip file, or truncated; {_WANTED}") from error
    except OSError as error:
        raise InputError(where, f"{error.strerror}; {_WANTED}") from error
    if not content:
        raise InputError(where, f"the file is empty; {_WANTED}")
    if content.lstrip()[:1] in {b"{", b"["}:
        return _from_json(content, name, where)
    with needs_extra(where, "tokens"):
        from sentencepiece import SentencePieceProcessor
    try:
        return _SentencePiece(name, SentencePieceProcessor(model_proto=content))
    except (RuntimeError, ValueError) as error:
        raise InputError(where, f"not a tokenizer; {_WANTED}") from error


def _from_json(content: bytes, name: str, where: OptionUse) -> Tokenizer:
    try:
        parts = json.loads(content)
        vocabulary = parts["model"]["vocab"]
        steps = json.dumps([parts.get("pre_tokenizer"), parts.get("decoder")])
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise InputError(where, f"not a tokenizer.json; {_WANTED}") from error
    is_of_bytes = '"ByteLevel"' in steps
    if not is_of_bytes and not (isinstance(vocabulary, dict) and "<0x0A>" in vocabulary):
        kinds = "BPE of bytes, or with bytes for unknown characters"
        raise _OtherKindError(where, f"another kind of tokenizer; expected {kinds}")
    with needs_extra(where, "tokens"):
        from tokenizers import Tokenizer as Library
    try:
        library = Library.from_str(content.decode())
    except Exception as error:  # the library has no class for it
        first = (str(error).splitlines() or [""])[0]
        raise InputError(where, f"not a tokenizer.json: {first}") from error
    return _HuggingFace(name, library, is_of_bytes)


def check_fit(tokenizer: Tokenizer, folder: TokenFiles) -> None:
    """Set whether documents of an index are backwards, or raise if the tokenizer doesn't fit.

    Some documents of each folder are decoded and encoded again: forwards or backwards, this gives
    the same tokens.
    """
    folder.backwards = False
    if folder.width == 1 and tokenizer.name == _ByteTokenizer.name:
        return
    backwards_by_folder = {
        path: _is_backwards(tokenizer, folder, path, documents)
        for path, documents in folder.documents_by_folder.items()
    }
    first, *others = backwards_by_folder
    for other in others:
        if backwards_by_folder[other] != backwards_by_folder[first]:
            ways = (other, first) if backwards_by_folder[other] else (first, other)
            problem = f"the documents of {ways[0]} are stored backwards, those of {ways[1]} are not"
            raise InputError(str(other), f"{problem}; give each folder as an index of its own")
    folder.backwards = backwards_by_folder[first]


def _is_backwards(tokenizer: Tokenizer, folder: TokenFiles, path: object, documents: range) -> bool:
    """Tell whether some documents are backwards; an InputError says that they don't fit."""
    sampled_documents = random.Random(1).sample(documents, min(_SAMPLE, len(documents)))
    total, forwards, backwards = 0, 0, 0
    for ids in folder.tokens_of_documents(sampled_documents):
        total += min(len(ids), _LONGEST)
        forwards += _same(tokenizer, ids[:_LONGEST].tolist(), len(ids))
        backwards += _same(tokenizer, ids[-_LONGEST:][::-1].tolist(), len(ids))
    if max(forwards, backwards) < _FITTING * total:
        agreement = f"encoded again, {max(forwards, backwards):,} of {total:,} come out the same"
        problem = f"the tokens of {path} aren't made by it ({agreement}); give the one that did"
        raise InputError(OptionUse("tokenizer", tokenizer.name), problem)
    return backwards > forwards


def _same(tokenizer: Tokenizer, ids: list[int], length: int) -> int:
    """Return the number of tokens if all of them come out the same, or else 0."""
    if not ids:
        return 0
    is_cut = length > len(ids)
    content = tokenizer.content(ids).removeprefix(tokenizer.lead)
    try:
        encoded_again = tokenizer.of_document(
            content.decode("utf-8", "ignore" if is_cut else "strict")
        )
    except UnicodeDecodeError:
        return 0
    comparable = len(ids) - _CUT if is_cut else max(len(ids), len(encoded_again))
    return len(ids) if encoded_again[:comparable] == ids[:comparable] else 0
