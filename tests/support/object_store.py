"""An object store on loopback: moto's server, which speaks S3, as a process of its own."""

import atexit
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import httpx

BUCKET = "bucket"
KEYS = {
    "AWS_ACCESS_KEY_ID": "key",
    "AWS_SECRET_ACCESS_KEY": "secret",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_EC2_METADATA_DISABLED": "true",
}
_PUBLIC = {"Effect": "Allow", "Principal": "*", "Action": "s3:GetObject"}
_POLICY = {"Statement": [{**_PUBLIC, "Resource": f"arn:aws:s3:::{BUCKET}/*"}]}
_CLIENT = httpx.Client(trust_env=False, timeout=60)
atexit.register(_CLIENT.close)


@dataclass
class ObjectStore:
    """A store with one bucket, which everybody may read."""

    endpoint: str
    uploads: list[str] = field(default_factory=list)
    """The paths of uploaded files, as they were complete."""

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, **KEYS, "AWS_ENDPOINT_URL": self.endpoint}

    def has_uploads(self, amount: int) -> bool:
        return len(self.uploads) >= amount

    def put(self, path: str, content: bytes = b"") -> None:
        _CLIENT.put(f"{self.endpoint}/{path}", content=content).raise_for_status()

    def files(self, folder: str) -> dict[str, bytes]:
        """Return the files in a folder of the bucket, asked for without any key."""
        root, asked = f"{self.endpoint}/{BUCKET}", {"list-type": "2", "prefix": folder}
        names = re.findall("<Key>(.*?)</Key>", _CLIENT.get(root, params=asked).text)
        return {n.removeprefix(folder): _CLIENT.get(f"{root}/{n}").content for n in names}


@contextmanager
def object_store() -> Iterator[ObjectStore]:
    """Start moto's server on a free port, and make the bucket."""
    program = "from moto.server import main; main(['-H', '127.0.0.1', '-p', '0'])"
    command = [sys.executable, "-u", "-W", "ignore", "-c", program]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr
        try:
            line = next(line for line in process.stderr if "Running on" in line)
            store = ObjectStore(line.split()[-1])
            log = process.stderr

            def read() -> None:
                for line in log:
                    if found := re.search(r'"PUT /bucket/([^ ?]*) HTTP/1.1" 200', line):
                        store.uploads.append(found[1])

            reader = threading.Thread(target=read, daemon=True)
            reader.start()
            store.put(BUCKET)
            store.put(f"{BUCKET}?policy", json.dumps(_POLICY).encode())
            yield store
        finally:
            process.kill()
            process.wait()
            reader.join(timeout=10)
