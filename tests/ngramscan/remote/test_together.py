"""Coroutines at the same time: all results in order, or the first error as it was raised."""

import asyncio

import pytest

from ngramscan.remote.together import together


def test_results_are_in_order_and_waits_are_shared() -> None:
    async def run() -> tuple[list[int], int]:
        running, most, arrived = 0, 0, asyncio.Event()

        async def wait(number: int) -> int:
            nonlocal running, most
            running += 1
            most = max(most, running)
            if running == 9:
                arrived.set()
            await arrived.wait()
            running -= 1
            return number

        return await together(wait(number) for number in range(9)), most

    assert asyncio.run(run()) == ([*range(9)], 9)
    assert asyncio.run(together([])) == []


def test_an_error_ends_the_others_and_is_raised_as_it_is() -> None:
    cancelled: list[int] = []

    async def wait(number: int) -> None:
        try:
            await asyncio.sleep(600)
        except asyncio.CancelledError:
            cancelled.append(number)
            raise

    async def fail() -> None:
        await asyncio.sleep(0)
        raise LookupError("the cause")

    async def nested() -> None:
        await together([wait(1), fail(), wait(2)])

    with pytest.raises(LookupError, match="the cause"):
        asyncio.run(together([wait(0), nested()]))
    assert sorted(cancelled) == [0, 1, 2]
