"""Copies of a question in eight languages, and what finds them: a table of docs/contaminate.md."""

from __future__ import annotations

import json
import tempfile
import textwrap
import unicodedata
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

from ngramscan.indexes.opening import open_indexes
from ngramscan.indexes.options import IndexOptions
from ngramscan.prevalence.contamination.contaminate import Entry, run_contaminate
from ngramscan.prevalence.contamination.rules import make_rule
from ngramscan.prevalence.trace import GivenText, TraceOptions, run_trace
from ngramscan.progress import SILENT

Form = Literal["NFC", "NFD"]
RULES = ("mini", "gpt4", "gpt4-stripped", "gpt3", "palm")
FINDERS = (*RULES, "trace")
LINE = 40
"""Characters of a line of a wrapped copy."""
QUESTIONS = {
    "English": "A gardener plants nineteen rows of tulips with twenty four bulbs in every row, and"
    " gives seventy bulbs to a neighbour who lost hers in the frost. How many bulbs are left?",
    "Chinese": "园丁种了十九行郁金香，每行有二十四个球茎，然后把七十个球茎送给了一位在霜冻中失去"
    "花朵的邻居。请问棚子里还剩下多少个球茎？如果每个球茎卖三元，一共可以卖多少钱？",
    "Japanese": "庭師がチューリップを十九列植え、どの列にも球根が二十四個ずつあります。その後、"
    "霜で花を失った隣の人に球根を七十個あげました。物置に残っている球根は全部でいくつでしょうか。",
    "Thai": "ชาวสวนปลูกดอกทิวลิปสิบเก้าแถว แต่ละแถวมีหัวยี่สิบสี่หัว แล้วแบ่งเจ็ดสิบหัวให้เพื่อนบ้านที่เสียดอกไม้ไป"
    "เพราะน้ำค้างแข็ง ในโรงเก็บของเหลือหัวทิวลิปกี่หัว",
    "Korean": "정원사는 튤립을 열아홉 줄 심었고 한 줄에 알뿌리가 스물네 개씩 있습니다. 그런 다음"
    " 서리로 꽃을 잃은 이웃에게 알뿌리 일흔 개를 나누어 주었습니다. 남은 알뿌리는 몇 개입니까?",
    "Arabic": "زرع البستاني تسعة عشر صفًا من الزنبق وفي كل صف أربع وعشرون بصلة ثم أعطى سبعين بصلة"
    " لجاره الذي فقد أزهاره بسبب الصقيع. كم بصلة بقيت في المخزن بعد ذلك؟",
    "Hindi": "माली ने ट्यूलिप की उन्नीस पंक्तियाँ लगाईं और हर पंक्ति में चौबीस कंद हैं। फिर उसने सत्तर कंद उस"
    " पड़ोसी को दे दिए जिसके फूल पाले में नष्ट हो गए थे। गोदाम में अब कितने कंद बचे हैं?",
    "Greek": "Ο κηπουρός φυτεύει δεκαεννέα σειρές τουλίπες με είκοσι τέσσερις βολβούς σε κάθε σειρά"
    " και έπειτα δίνει εβδομήντα βολβούς σε έναν γείτονα που έχασε τους δικούς του στον παγετό.",
}
_UNSPACED = {"Chinese", "Japanese", "Thai"}
NOTICE = "notice"
"""Where a copy in another form is not found, but a notice names it."""


def in_form(language: str, form: Form) -> str:
    """Return the question of a language in a normal form of Unicode."""
    return unicodedata.normalize(form, QUESTIONS[language])


def copies(language: str, form: Form) -> dict[str, str]:
    """Return documents that have the question whole, within other text, and in short lines."""
    text = in_form(language, form)
    if language in _UNSPACED:
        around = QUESTIONS[language][:9]
        lines = [text[start : start + LINE] for start in range(0, len(text), LINE)]
        return {"whole": text, "embedded": f"{around}{text}{around}", "wrapped": "\n".join(lines)}
    return {
        "whole": text,
        "embedded": f"It says: {text} So it was.",
        "wrapped": textwrap.fill(text, LINE),
    }


def found_by(finder: str, text: str, document: str, folder: Path) -> bool | None:
    """Tell whether a rule, or trace, finds a text in a document; None: a notice does."""
    corpus = folder / "corpus.jsonl"
    corpus.write_text(json.dumps({"text": document}) + "\n", encoding="utf-8")
    if finder == "trace":
        with open_indexes(
            [f"scan:{corpus}"], IndexOptions(journal=folder / "journal", workers=1), SILENT
        ) as indexes:
            traced = run_trace([GivenText("", "", "", "q", "", text)], indexes, TraceOptions())
        has_notice = bool(traced.found_forms)
        is_found = bool(traced.rows[0].coverage) and not has_notice
    else:
        rule = make_rule(finder)
        options = IndexOptions(
            journal=folder / "journal", workers=1, normalization=rule.normalization
        )
        with open_indexes([f"scan:{corpus}"], options, SILENT) as indexes:
            judged = run_contaminate([Entry("q", text)], rule, indexes)
        has_notice = bool(judged.found_forms)
        is_found = judged.rows[0].verdict != "clean"
    return None if has_notice and not is_found else is_found


def found_copies(language: str, given: Form, copied: Form) -> Mapping[str, list[str]]:
    """Return, by rule, the copies that it finds; those of which a notice tells are marked."""
    text = in_form(language, given)
    results: dict[str, list[str]] = {finder: [] for finder in FINDERS}
    with tempfile.TemporaryDirectory() as folder:
        for name, document in copies(language, copied).items():
            for finder in FINDERS:
                is_found = found_by(finder, text, document, Path(folder))
                if is_found is None:
                    results[finder].append(f"{name} ({NOTICE})")
                elif is_found:
                    results[finder].append(name)
    return results


def scripts() -> str:
    """Return which copies are found, by language and form."""
    return "\n".join(_lines())


def _lines() -> Iterator[str]:
    yield f"| question · copy | {' | '.join(f'`{finder}`' for finder in FINDERS)} |"
    yield f"|---|{'---|' * len(FINDERS)}"
    for language in QUESTIONS:
        for copied in ("NFC", "NFD"):
            if copied == "NFD" and in_form(language, "NFD") == in_form(language, "NFC"):
                continue
            cells = [_shown(names) for names in found_copies(language, "NFC", copied).values()]
            yield f"| {language} · {copied} | {' | '.join(cells)} |"


def _shown(names: list[str]) -> str:
    return "all" if names == ["whole", "embedded", "wrapped"] else ", ".join(names) or "–"
