"""Find the forms that no sentence of help, messages, docstrings and docs has.

    python -m docs.language

It prints each place, and ends with 1 if there is one. First it tries its own rules on sentences.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import click

import evalcore.cli
import ngramscan.cli

ROOT = Path(__file__).resolve().parent.parent
MAINS = {"ngramscan": ngramscan.cli.main, "evalcore": evalcore.cli.main}
START = r"(?:^|(?<=[.!?:;] )|(?<=[.!?] \()|(?<=[.!?]\*\* ))"
FORMATS = r"(?:valid )?(?:JSON|YAML|Parquet|CSV|UTF-8|zip)"
PLACES = r"twice|once|in(?! for\b)|at|there|beside|between|behind|before|apart"
COMPARED = r"longer|more|less|fewer|such|better|worse|smaller|larger|greater|one"
BANNED = {
    "a sentence that begins with Of": START + r"Of (?!course\b)",
    "a sentence that begins with Nor": START + r"Nor\b",
    "a statement that begins with What": START + r"What\b(?![^.!?]*\?)",
    "again for more": r"\bagain for more\b",
    "no JSON": rf"\b(?:is|are|or|and|as) no {FORMATS}\b|^no {FORMATS}\b(?! file)",
    "is told": r"\b(?:is|are|was|were|been|gets?) told\b(?! (?:to|apart|from)\b)",
    "tells what": r"\btells? (?:that|what)\b",
    "whoever": r"\bwho(?:m)?(?:so)?ever\b|\bof whom\b",
    "of which one": r"\bof which (?:one|nothing|no|none|there)\b",
    "of one's own": r"\bof one's own\b",
    "asked after": r"\basked after\b",
    "a blank before %": r"(?<=[\dX]) %(?![\w(])",
    "was expected": r"\b(?:was|were) expected\b(?=[;.,:)]|$| \()",
    "stands there": rf"\bstands? (?:{PLACES})\b",
    "lies there": r"\blies? (?:in|where|there|near)\b|\bwhere (?:it|they) lies?\b",
    "nobody": r"\b(?:no|any)body\b",
    "goes on": r"\bgo(?:es)? on\b|\bgone on\b",
    "can be asked": r"\b(?:can't|can|not|must) (?:be )?ask(?:ed)?\b(?! (?:for|to|about|the)\b)",
    "asks nothing": r"\bask(?:s|ed|ing)? (?:nothing|again|it|one by one|once|twice)\b",
    "is no text": rf"(?<![Tt]here )\b(?:is|are) no (?!{COMPARED})\w",
    "no document in it": r"\bno \w+ in it\b",
    "word for word": r"\bword for word\b",
    "without a word": r"\bwithout a word\b(?! (?:of|in|that|before)\b)|\bin silence\b",
    "whom to cite": r"\bwhom to cite\b",
    "gives up on": r"\bgives? up on\b",
    "made texts": r"\bmade (?:texts|documents|corpus|corpora|outputs|data)\b",
    "there are a, b": r"; (?:there|here) are:? X\b",
    "there is no folder": r"(?:^|: )there is no (?:file|folder|index|X)\b",
    "reads again": r"\breads again\b",
    "there before": r"\bthere before\b",
    "seen in part": r"\bseen in part\b",
    "not said here": r"\bnot said here\b|\bnothing that is known\b",
    "the name doesn't say": r"\bname (?:doesn't|does not) say\b",
    "a number that can be used": r"\bnumbers? that can be used\b",
    "is worth it": r"\b(?:is|are) worth it\b|\bas they are worth\b",
    "an index knows": r"\bindex(?:es)? knows?\b",
    "can bear": r"\bcan bear\b",
    "one sets": r"\bone sets\b|\bto be on before\b",
    "has 1 MB": r"\b(?:page|file) has [\d.]+ [kMG]B\b",
    "read into": r"\bread into (?:it|them)\b",
    "the command believes": r"\bcommand believes\b|\bthe very words\b",
}
"""Regexes of the forms, in texts without code and with single spaces."""


def plain(text: str) -> str:
    """Return a text without code, and with single spaces."""
    return " ".join(re.sub(r"`[^`]*`", "X", text).split())


def help_texts() -> Iterator[tuple[str, str]]:
    """Yield the description and the options' help of every command."""
    left = list[tuple[str, click.Command]](MAINS.items())
    for name, command in left:
        description, _, _ = (command.help or "").partition("Examples:\n")
        yield from ((f"{name} --help", part) for part in description.split("\n\n"))
        for parameter in command.params:
            if isinstance(parameter, click.Option):
                yield f"{name} {parameter.opts[0]}", parameter.help or ""
        if isinstance(command, click.Group):
            context = click.Context(command)
            for each in command.list_commands(context):
                if found := command.get_command(context, each):
                    left.append((f"{name} {each}", found))


def source_texts() -> Iterator[tuple[str, str]]:
    """Yield every text of the packages: messages, and the paragraphs of docstrings."""
    for path in sorted([*ROOT.glob("ngramscan/**/*.py"), *ROOT.glob("evalcore/**/*.py")]):
        nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        file = path.relative_to(ROOT)
        joined = [node for node in nodes if isinstance(node, ast.JoinedStr)]
        parts = {id(part) for node in joined for part in node.values}
        for node in nodes:
            place = f"{file}:{getattr(node, 'lineno', 0)}"
            if isinstance(node, ast.JoinedStr):
                values = [getattr(part, "value", None) for part in node.values]
                yield place, "".join(one if isinstance(one, str) else "X" for one in values)
            elif isinstance(node, ast.Constant) and id(node) not in parts:
                given = re.split(r"\n\s*\n|\n *(?=\w+ : )|\n *-+\n", str(node.value))
                yield from ((place, part) for part in given)


def page_texts() -> Iterator[tuple[str, str]]:
    """Yield the headings, paragraphs, points and cells of every page, and texts of templates."""
    names = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "outputs/README.md")
    for path in [*map(ROOT.joinpath, names), *sorted(ROOT.glob("docs/**/*.md"))]:
        text = re.sub(r"<!--.*?-->", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        text = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
        for part in re.split(r"\n\s*\n|\n *[*-] |\n\d\. |\n(?=#)|\|", text):
            yield str(path.relative_to(ROOT)), part.strip(" #*\n")
    for path in sorted(ROOT.glob("ngramscan/**/*.html")):
        text = re.sub(r"{%.*?%}|{#.*?#}", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        text = re.sub(r"{{.*?}}|<code>.*?</code>", "X", text, flags=re.DOTALL)
        for part in re.split(r"</?(?!(?:a|b|cite|em|i|strong)\b)[^>]*>", text):
            yield str(path.relative_to(ROOT)), re.sub(r"<[^>]*>", "", part)


FOUND = (
    "Of intervals.",
    "A file. Of what is drawn at random.",
    "**Sources.** Of texts a third is in spans.",
    "Nor will any other question be answered.",
    "What whoever runs tasks is told of meanwhile.",
    "Where to look; again for more.",
    "x.json: it is no JSON",
    "The fault is told.",
    "It tells that it goes on.",
    "Judges, of whom one is missing.",
    "A benchmark of which nothing is known.",
    "it is empty; a text to count was expected",
    "X stands twice",
    "A formula lies in another one.",
    "Until nobody is left.",
    "The same command goes on.",
    "The index can't be asked.",
    "run again to ask it",
    "The answer is no text.",
    "no documents in it",
    "In corpora, word for word.",
    "It closed without a word.",
    "It says whom to cite.",
    "It gives up on them.",
    "Sixty made texts.",
    "a.txt is skipped in silence",
    "no index named X; here are X",
    "there is no folder",
    "--refresh reads again",
    "0 answered, 50 there before of 50",
    "Documents seen in part.",
    "2 other values, not said here",
    "its name doesn't say the format",
    "It is not a number that can be used.",
    "Show which methods are worth it.",
    "Hosted indexes know occurrences only.",
    "At a rate that it can bear.",
    "Options that one sets once.",
    "The page has 1 MB.",
    "So nothing is read into them.",
    "A prompt of one's own.",
    "The column that was asked after.",
    "In 15 % of texts.",
    "The command believes it and stops.",
)
PASSED = (
    "What does it look like there?",
    "Of course.",
    "They are told apart.",
    "It has no JSON.",
    "X stands for all models.",
    "There is no interval.",
    "It is no longer needed.",
    "The bytes that were asked for.",
    "A word without a word before it",
    "More than was expected of it.",
    "The folder stands in for a model's name.",
    "It can't ask the kernel.",
    "The interval is no smaller.",
)


def banned(text: str) -> Iterator[str]:
    """Yield each banned form of a text, with the words around it."""
    text = plain(text)
    for form, rule in BANNED.items():
        for match in re.finditer(rule, text):
            yield f"{form}: {text[max(0, match.start() - 30) : match.end() + 60]}"


def main() -> None:
    """Print the sentences to mend."""
    wrong = [text for text in FOUND if not any(banned(text))]
    found = [problem for text in FOUND for problem in banned(text)]
    wrong += [form for form in BANNED if not any(each.startswith(f"{form}: ") for each in found)]
    wrong += [text for text in PASSED if any(banned(text))]
    if wrong:
        raise SystemExit("\n".join(["rules that don't do what they should:", *wrong]))
    texts = (pair for given in (help_texts, source_texts, page_texts) for pair in given())
    found = [f"{place}: {problem}" for place, text in texts for problem in banned(text)]
    if found:
        raise SystemExit("\n".join(found))


if __name__ == "__main__":
    main()
