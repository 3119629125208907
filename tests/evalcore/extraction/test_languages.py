"""Answers that words of other languages announce: each language, and each form that it has."""

import pytest

from evalcore.extraction.languages import stated_abroad


@pytest.mark.parametrize(
    "announcement",
    [
        "Die Antwort ist",
        "Meine endgültige Antwort lautet",
        "Die richtige Antwort ist",
        "Die korrekte Antwort ist:",
        "Antwort:",
        "La respuesta es",
        "Mi respuesta final es",
        "La respuesta correcta es",
        "Respuesta final:",
        "Respuesta correcta :",
        "La réponse est",
        "Ma réponse finale est",
        "La bonne réponse est",
        "La réponse correcte est",
        "Réponse :",
        "Réponse finale:",
        "Réponse correcte:",
        "La risposta è",
        "La mia risposta finale è",
        "La risposta corretta è",
        "La risposta esatta è",
        "Risposta:",
        "Risposta finale:",
        "Risposta corretta:",
        "A resposta é",
        "A resposta final é",
        "A resposta correta é",
        "Resposta:",
        "Resposta final:",
        "Resposta correta:",
        "Het antwoord is",
        "Het juiste antwoord is",
        "Antwoord:",
        "Ответ:",
        "Окончательный ответ — ",
        "Правильный ответ - ",
        "Jibu ni",
        "Jibu sahihi ni",
        "Jibu la mwisho ni",
        "Jibu:",
        "答案",
        "答案是",
        "答案为",
        "答案為：",
        "答案应该是",
        "答案應該是",
        "答案应为",
        "答えは",
        "答え：",
        "正解は",
        "정답은",
        "답는",
        "정답: ",
        "उत्तर:",
        "सही उत्तर:",
        "अंतिम उत्तर :",
        "উত্তর",
        "উত্তর:",
        "উত্তর হল",
        "উত্তর হলো:",
        "คำตอบคือ",
        "คำตอบ:",
        "సమాధానం",
        "సమాధానం:",
        "الجواب هو",
        "الإجابة هي",
        "الجواب النهائية:",
        "الإجابة الصحيحة هي",
    ],
)
def test_words_of_another_language_announce_an_answer(announcement: str) -> None:
    assert stated_abroad(f"9 + 9.\n**{announcement}** 18\n7") == "18"


@pytest.mark.parametrize(
    "ending",
    ["です。", "である。", "입니다.", "이다.", "है।", "।", "টি।", ".", "。", "**", "!", " "],
)
def test_what_ends_a_sentence_is_no_part_of_the_answer(ending: str) -> None:
    assert stated_abroad(f"答案是 $18${ending}") == "18"


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        pytest.param("Die Antwort ist 18. Das sind 9.", "18", id="one sentence"),
        pytest.param("Die Antwort ist 1.5.", "1.5", id="a decimal number"),
        pytest.param("答案是18！每个2美元", "18", id="an exclamation mark"),
        pytest.param("答案是 (B)", "(B)", id="a letter in brackets"),
        pytest.param("答案是 J", "J", id="the last letter of a choice"),
        pytest.param("答案是 K", None, id="a letter of no choice"),
        pytest.param("Die Antwort ist 18.\nDie Antwort ist klar.", "18", id="without a digit"),
        pytest.param("Antwort: 17\nAntwort: 18", "18", id="the last one"),
        pytest.param("Antwort: 17. Antwort: 18", "18", id="the last one of a line"),
        pytest.param("答案是 17，答案是 18。", "18", id="the last one of a sentence"),
        pytest.param("Die Antwort: 18", "18", id="a part of an announcement"),
        pytest.param("Das Ergebnis ist 18", None, id="no announcement"),
        pytest.param(f"答案是{'9' * 150}", "9" * 101, id="a long answer is cut"),
    ],
)
def test_the_last_announced_number_or_choice_is_the_answer(text: str, answer: str | None) -> None:
    assert stated_abroad(text) == answer
