"""The infini-gram service on a loopback address: true answers, late answers and faults.

True answers come from `ngramscan.serve.token_protocol`, which its own tests hold against recordings
of the original's server.
"""

import json
from collections.abc import Mapping
from pathlib import Path

from ngramscan.index_files.tokens.shard import open_token_folder
from ngramscan.index_files.tokens.tokenizers import check_fit, open_tokenizer
from ngramscan.serve.protocol import to_json
from ngramscan.serve.token_protocol import ServedTokens, answer_about_tokens
from tests.support.service import ApiServer, Faults, Json, Reply

Folders = Mapping[str, tuple[Path, Path | None]]


class TokenServer(ApiServer):
    """The service; `folders` maps the name of each index to its folder and tokenizer.

    `lies` maps types of questions to what is changed in their answers. `listing` is the reply to a
    GET of the address; without it, the names are listed.
    """

    def __init__(
        self,
        folders: Folders,
        *,
        faults: Faults | None = None,
        delay: float = 0.0,
        lies: Mapping[str, Json] | None = None,
        listing: Reply | None = None,
    ) -> None:
        super().__init__({}, faults=faults, delay=delay)
        self._lies, self._listing = lies or {}, listing
        self._served = {}
        for name, (path, file) in folders.items():
            folder = open_token_folder(path)
            tokenizer = open_tokenizer(file, folder.width)
            check_fit(tokenizer, folder)
            self._served[name] = ServedTokens(name, folder, tokenizer)

    def rename(self, name: str, new_name: str) -> None:
        """Serve an index under another name, and no longer what had it before."""
        self._served[new_name] = self._served[name]

    def list(self, path: str) -> Reply:
        """Return the list of indexes, which the original has at its address only."""
        if path != "/":
            return super().list(path)
        return self._listing or Reply(200, to_json([*self._served]))

    def answer(self, asked: Json, body: bytes) -> Json:
        if asked["index"] not in self._served:
            return {"error": f"[Flask] Invalid index: {asked['index']}"}
        fields = answer_about_tokens(self._served[asked["index"]], json.loads(body))
        return {**fields, **self._lies.get(asked["query_type"], {})}
