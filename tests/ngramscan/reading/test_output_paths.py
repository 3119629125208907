"""What the path of recorded outputs names."""

from pathlib import Path

import pytest

from ngramscan.reading.output_paths import PromptGroup, group_of


@pytest.mark.parametrize(
    "path",
    [
        "q/m-1/f-1+cot.jsonl",
        "/a/b/q/m-1/f-1+cot.jsonl",
        "q/m-1/f-1+cot.jsonl.gz",
        "q/m-1/f-1+cot.jsonl.zst",
        "q/m-1/f-1+cot.jsonl.zstd",
        "q/raw_f-1+cot_outputs/m-1.json",
        "q/raw_f-1+cot_outputs/m-1.json.gz",
        "q/raw_f-1+cot_outputs/m-1.json.zstd",
    ],
)
def test_a_path_names_dataset_model_and_prompt(path: str) -> None:
    assert group_of(Path(path)) == PromptGroup(dataset="q", model="m-1", prompt="f-1+cot")


@pytest.mark.parametrize(
    "path",
    [
        "q/m/cot.json",
        "q/m/cot.jsonl.bz2",
        "q/m/cotjsonl",
        "/cot.jsonl",
        "q/raw_cot_outputs/m.json.bz2",
        "q/processed_cot_outputs/m.json",
    ],
)
def test_another_path_names_nothing(path: str) -> None:
    assert group_of(Path(path)) is None


def test_a_path_is_completed_by_the_folder_of_the_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "q" / "m").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "q" / "m")
    assert group_of(Path("cot.jsonl")) == PromptGroup("q", "m", "cot")
