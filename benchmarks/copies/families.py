"""Families of generated problems: entries whose siblings are in the corpus, though they are not."""

from __future__ import annotations

import random
from collections.abc import Callable

from benchmarks.copies.problems import shared

_PLAYERS = ("Alice", "Bob", "Claire", "Dave", "Eve")
_COLOURS = ("yellow", "blue", "pink", "purple", "orange", "green", "red", "white")
_ORDINALS = ("First", "Then", "Next", "After that", "Finally")
_OBJECTS = ("flute", "violin", "piano", "drum", "trumpet", "cello", "harp", "accordion", "oboe")
_DIRECTIONS = ("forward", "backward", "left", "right")
_MONTHS = ("January", "March", "May", "July", "August", "October", "December")


def arithmetic(draw: random.Random) -> str:
    terms = [f"{draw.choice('+-*')} {draw.randint(2, 99)}" for _ in range(draw.randint(3, 5))]
    return f"Compute the value of {draw.randint(2, 99)} {' '.join(terms)}."


def boolean(draw: random.Random) -> str:
    def operand() -> str:
        value = draw.choice(("True", "False"))
        return draw.choice((value, f"not {value}", f"( {value} )", f"not ( {value} )"))

    text = operand()
    for _ in range(draw.randint(4, 6)):
        text += f" {draw.choice(('and', 'or'))} {operand()}"
    return f"Evaluate the result of the Boolean expression: {text} is"


def sorting(draw: random.Random) -> str:
    words = draw.sample(shared().slots["word"], draw.randint(7, 11))
    return f"Sort the following words alphabetically: List: {' '.join(words)}"


def navigation(draw: random.Random) -> str:
    steps = []
    for _ in range(draw.randint(5, 7)):
        direction, count = draw.choice(_DIRECTIONS), draw.randint(1, 10)
        turn = draw.choice(("Turn left.", "Turn right.", "Turn around."))
        steps.append(draw.choice((turn, f"Take {count} steps {direction}.")))
    asked_before = "If you follow these instructions, do you return to the starting point?"
    return f"{asked_before} {' '.join(steps)}"


def dates(draw: random.Random) -> str:
    date = f"{draw.choice(_MONTHS)} {draw.randint(1, 31)}, {draw.randint(1920, 2019)}"
    distance = f"{draw.randint(2, 40)} {draw.choice(('days', 'weeks', 'months'))}"
    direction = draw.choice(("ago", "from today"))
    return f"Today is {date}. What is the date {distance} {direction} in MM/DD/YYYY?"


def counting(draw: random.Random) -> str:
    objects = draw.sample(_OBJECTS, draw.randint(5, 7))
    listed = ", ".join(f"{draw.randint(2, 9)} {thing}s" for thing in objects)
    return f"I have {listed}. How many musical instruments do I have?"


def polynomial(draw: random.Random) -> str:
    high, middle, low, x = (draw.randint(2, 60) for _ in range(4))
    question = draw.choice((f"what is f({x})?", f"what is the derivative of f at {x}?"))
    return f"If f(x) = {high}x^2 + {middle}x - {low}, {question}"


def swapping(draw: random.Random) -> str:
    players = _PLAYERS[: draw.randint(3, 5)]
    colours = draw.sample(_COLOURS, len(players))
    starts = ", ".join(
        f"{player} has a {colour} ball" for player, colour in zip(players, colours, strict=True)
    )
    swaps = []
    for ordinal in _ORDINALS[: len(players)]:
        first, second = draw.sample(players, 2)
        swaps.append(f"{ordinal}, {first} and {second} swap balls.")
    return (
        f"{', '.join(players[:-1])}, and {players[-1]} are playing a game. At the start of the"
        f" game, they are each holding a ball: {starts}. As the game progresses, pairs of players"
        f" trade balls. {' '.join(swaps)} At the end of the game, {draw.choice(players)} has the"
    )


FAMILIES: dict[str, Callable[[random.Random], str]] = {
    "arithmetic": arithmetic,
    "boolean": boolean,
    "sorting": sorting,
    "navigation": navigation,
    "dates": dates,
    "counting": counting,
    "polynomial": polynomial,
    "swapping": swapping,
}
