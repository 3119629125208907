"""Zip files of Inspect, `.eval`: their members, and what is left of a run that was killed."""

import json
import re
import sys
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial

import msgspec

from evalcore.commands.logs.inspect_samples import InspectHeader, InspectSample, InspectSampleKey
from evalcore.commands.logs.readers import Log, LogFile, decode, one_line
from ngramscan.errors import InputError, some_of
from ngramscan.messages import counted
from ngramscan.reading.versions import unchanged_while_read

if sys.version_info >= (3, 14):
    import zipfile

    from compression.zstd import ZstdError
else:
    from backports.zstd import ZstdError, zipfile

_DAMAGED = (zipfile.BadZipFile, RuntimeError, ValueError, OSError, EOFError, zlib.error, ZstdError)
_START = "_journal/start.json"
_IS_READ = re.compile(
    r"header\.json|summaries\.json|_journal/(?:start|summaries/\d+)\.json"
    # A large sample may be a folder; all but its events and messages is in one of its files.
    r"|samples/.*_epoch_\d+/sample\.json|samples/(?!.*_epoch_\d+/).*"
).fullmatch
_SAMPLE = re.compile(r"samples/(?P<id>.+)_epoch_(?P<epoch>\d+)(?:/sample)?\.json")


def replaced_notice(n_attempts: int) -> str:
    """Return the notice about attempts that were repeated and are left out."""
    attempts = counted(n_attempts, "earlier attempt")
    return f"{attempts} left out, since a later one replaced it"


def read_archive(file: LogFile, log: Log) -> InspectHeader:
    """Return the header and the samples of a `.eval` file, also of a run that was killed."""
    header: InspectHeader | None = None
    samples, listed, journal = list[InspectSample](), list[InspectSampleKey](), dict[str, bytes]()
    damaged = list[InspectSample]()  # filled while the others are read
    for place, name, content in _members(file, log, damaged):
        if name == "header.json":
            header = decode(place, content, InspectHeader)
        elif name == "summaries.json":
            listed = decode(place, content, list[InspectSampleKey])
        elif name.startswith("_journal/"):
            journal[name] = content
        elif (error := _json_error(content)) and (broken := _damaged_sample(name, error)):
            damaged.append(broken)
        else:
            samples.append(decode(place, content, InspectSample))
    samples += _unknown_samples(file, log, damaged, n_others=len(samples))
    if header is None:
        return _read_journal(file, journal, samples)
    _refuse_missing_samples(file, listed, samples)
    header.samples = samples
    return header


def _refuse_missing_samples(
    file: LogFile, listed: Sequence[InspectSampleKey], samples: Sequence[InspectSample]
) -> None:
    """Raise an InputError if an archive lacks a sample that its summaries list."""
    present = {_key_of(sample) for sample in samples}
    for key in listed:
        if _key_of(key) not in present:
            lacks = f"lacks sample {key.id}, epoch {key.epoch} of summaries.json"
            raise InputError(file.path, f"it {lacks}, so it is incomplete; copy it again")


def _read_journal(
    file: LogFile, journal: Mapping[str, bytes], samples: list[InspectSample]
) -> InspectHeader:
    """Return what a run that was killed had written: its start, samples, summaries of others."""
    if _START not in journal:
        problem = f"it has no header.json and no {_START}, so it is incomplete; copy it again"
        raise InputError(file.path, problem)
    header = decode(f"{file.path}:{_START}", journal[_START], InspectHeader)
    present = {_key_of(sample) for sample in samples}
    for name, content in journal.items():
        if name != _START:
            summaries = decode(f"{file.path}:{name}", content, list[InspectSample])
            for summary in summaries:
                # It may be shortened, so that its hash would be that of no document.
                summary.input = ""
            samples += [summary for summary in summaries if _key_of(summary) not in present]
    header.status, header.samples = "started", samples
    return header


def _key_of(key: InspectSampleKey) -> tuple[str, int]:
    return str(key.id), key.epoch


def _unknown_samples(
    file: LogFile, log: Log, damaged: Sequence[InspectSample], n_others: int
) -> Sequence[InspectSample]:
    """Return damaged samples, with a notice; raise an InputError if there are no others."""
    listed = some_of(f"{sample.id}, epoch {sample.epoch}" for sample in damaged)
    if not damaged:
        return ()
    if not n_others:
        raise InputError(file.path, f"all its samples are damaged ({listed}); copy it again")
    log.notices.append(f"damaged, so their results are unknown: {listed}; copy it again")
    return damaged


def _members(
    file: LogFile, log: Log, damaged: list[InspectSample]
) -> Iterator[tuple[str, str, bytes]]:
    """Yield the members that are read; of several of one name the last, which replaced others.

    Samples that can't be decompressed are added to the `damaged` ones.
    """
    place, problem = str(file.path), "not a .eval file of Inspect, or truncated; copy it again"
    try:
        with file.path.open("rb") as opened, unchanged_while_read(opened, file.path):
            archive = zipfile.ZipFile(opened)
            member_names = [
                member.filename for member in archive.infolist() if _IS_READ(member.filename)
            ]
            if n_replaced := len(member_names) - len(set(member_names)):
                log.notices.append(replaced_notice(n_replaced))
            for name, member in archive.NameToInfo.items():
                if not _IS_READ(name):
                    continue
                place, problem = f"{file.path}:{name}", "damaged"
                if member.compress_type not in {0, 8, 93}:  # stored, deflated, Zstandard
                    raise zipfile.BadZipFile("compressed by another method")
                file.refuse_long(place, max(member.file_size, member.compress_size))
                try:
                    content = _read_member(archive, member)
                except _DAMAGED as error:
                    if (sample := _damaged_sample(name, error)) is None:
                        raise
                    damaged.append(sample)
                    continue
                yield place, name, content
    except _DAMAGED as error:
        raise InputError(place, f"{problem} ({one_line(error) or 'truncated'})") from error


def _read_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    with archive.open(member) as packed:
        # Python 3.14.0 would decompress all of a read at once, up to 537 MB.
        return b"".join(iter(partial(packed.read, 16384), b""))


def _json_error(content: bytes) -> ValueError | None:
    """Return why a content is not JSON; None if it is."""
    with suppress(ValueError):
        content.decode()
        msgspec.json.decode(content, type=msgspec.Raw)
        return None
    try:
        json.loads(content)  # knows NaN, which Inspect writes
    except ValueError as error:
        return error
    return None


def _damaged_sample(name: str, error: Exception) -> InspectSample | None:
    """Return a sample with nothing but its id and an error; None if a member is something else."""
    member_name = _SAMPLE.fullmatch(name)
    if member_name is None:
        return None
    problem = f"damaged in the log ({one_line(error) or 'truncated'})"
    return InspectSample(id=member_name["id"], epoch=int(member_name["epoch"]), error=problem)
