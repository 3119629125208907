"""Answers that words of other languages announce, such as those of multilingual GSM8K."""

import re
from collections.abc import Sequence

_ANNOUNCEMENTS: Sequence[str] = (
    r"(?:die|meine) (?:endgültige |richtige |korrekte )?antwort (?:ist|lautet)|antwort\s*[:：]",
    r"(?:la|mi) respuesta (?:final |correcta )?es|respuesta(?: final| correcta)?\s*[:：]",
    r"(?:la|ma) (?:bonne )?réponse (?:finale |correcte )?est|réponse(?: finale| correcte)?\s*[:：]",
    r"(?:la|mia) risposta (?:finale |corretta |esatta )?è|risposta(?: finale| corretta)?\s*[:：]",
    r"a resposta (?:final |correta )?é|resposta(?: final| correta)?\s*[:：]",
    r"het (?:juiste )?antwoord is|antwoord\s*[:：]",
    r"(?:окончательный |правильный )?ответ\s*(?:[:：]|[-–—]\s)",
    r"jibu (?:sahihi |la mwisho )?ni|jibu\s*[:：]",
    r"答案(?:应该|應該|应)?[是为為]?\s*[:：]?",
    r"答えは|答え\s*[:：]|正解は",
    r"(?:정답|답)(?:은|는|\s*[:：])",
    r"(?:सही |अंतिम )?उत्तर\s*[:：]",
    r"উত্তর\s*(?:হলো|হল)?\s*[:：]?",
    r"คำตอบ(?:คือ|\s*[:：])",
    r"సమాధానం\s*[:：]?",
    r"(?:الجواب|الإجابة)(?: النهائية| الصحيحة)?\s*(?:هو|هي|[:：])",
)
_ANNOUNCED = re.compile(
    rf"(?:{'|'.join(_ANNOUNCEMENTS)})[\s*_:：]*(?=(?P<answer>[^\s。！][^\n。！]{{0,100}}))",
    re.IGNORECASE,
)
_ENDING = re.compile(r"(?:です|である|입니다|이다|है|টি)?[\s.。।!*_]*\Z")
_SENTENCE_END = re.compile(r"\.\s")


def stated_abroad(text: str) -> str | None:
    """Take what follows the last "die Antwort ist", "答案是" and the like, if it has a digit."""
    for found in reversed(list(_ANNOUNCED.finditer(text))):
        sentence = _SENTENCE_END.split(found["answer"], maxsplit=1)[0]
        answer = _ENDING.sub("", sentence, count=1).strip(" *_$")
        if re.search(r"\d", answer) or re.fullmatch(r"\(?[A-J]\)?", answer):
            return answer
    return None
