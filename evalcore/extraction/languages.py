"""Answers that words of other languages announce, such as those of multilingual GSM8K."""

import re
from itertools import chain

_ANNOUNCEMENTS = {
    "German": (
        r"(?:die|meine) (?:endgültige |richtige |korrekte )?antwort (?:ist|lautet)",
        r"antwort\s*[:：]",
    ),
    "Spanish": (
        r"(?:la|mi) respuesta (?:final |correcta )?es",
        r"respuesta(?: final| correcta)?\s*[:：]",
    ),
    "French": (
        r"(?:la|ma) (?:bonne )?réponse (?:finale |correcte )?est",
        r"réponse(?: finale| correcte)?\s*[:：]",
    ),
    "Italian": (
        r"(?:la|mia) risposta (?:finale |corretta |esatta )?è",
        r"risposta(?: finale| corretta)?\s*[:：]",
    ),
    "Portuguese": (
        r"a resposta (?:final |correta )?é",
        r"resposta(?: final| correta)?\s*[:：]",
    ),
    "Dutch": (
        r"het (?:juiste )?antwoord is",
        r"antwoord\s*[:：]",
    ),
    "Russian": (r"(?:окончательный |правильный )?ответ\s*(?:[:：]|[-–—]\s)",),
    "Swahili": (
        r"jibu (?:sahihi |la mwisho )?ni",
        r"jibu\s*[:：]",
    ),
    "Chinese": (r"答案(?:应该|應該|应)?[是为為]?\s*[:：]?",),
    "Japanese": (
        r"答えは",
        r"答え\s*[:：]",
        r"正解は",
    ),
    "Korean": (r"(?:정답|답)(?:은|는|\s*[:：])",),
    "Hindi": (r"(?:सही |अंतिम )?उत्तर\s*[:：]",),
    "Bengali": (r"উত্তর\s*(?:হলো|হল)?\s*[:：]?",),
    "Thai": (r"คำตอบ(?:คือ|\s*[:：])",),
    "Telugu": (r"సమాధానం\s*[:：]?",),
    "Arabic": (r"(?:الجواب|الإجابة)(?: النهائية| الصحيحة)?\s*(?:هو|هي|[:：])",),
}
"""Words for "the answer is", "answer:" and the like, by language."""
_ANNOUNCEMENT = "|".join(chain.from_iterable(_ANNOUNCEMENTS.values()))
_ANNOUNCED = re.compile(
    rf"(?:{_ANNOUNCEMENT})[\s*_:：]*(?=(?P<answer>[^\s。！][^\n。！]{{0,100}}))",
    re.IGNORECASE,
)
_ENDING = re.compile(r"(?:です|である|입니다|이다|है|টি)?[\s.。।!*_]*\Z")
_SENTENCE_END = re.compile(r"\.\s")


def stated_abroad(text: str) -> str | None:
    """Take what follows the last "die Antwort ist", "答案是" and the like, if it has a digit."""
    for match in reversed(list(_ANNOUNCED.finditer(text))):
        sentence = _SENTENCE_END.split(match["answer"], maxsplit=1)[0]
        answer = _ENDING.sub("", sentence, count=1).strip(" *_$")
        if re.search(r"\d", answer) or re.fullmatch(r"\(?[A-J]\)?", answer):
            return answer
    return None
