"""Exact assignment: rows to columns so that the sum of scores is the largest possible.

Shortest augmenting paths with dual prices (Jonker and Volgenant, Computing 38, 1987), in plain integers, so that
equal sums are equal and the result is the same on every machine.
"""

from __future__ import annotations

from collections.abc import Sequence

ROUNDS = 2
"""Rounds of cheap reduction before paths are searched: most rows find their column in them."""


def assign(scores: Sequence[Sequence[int]]) -> list[int]:
    """The column of each row; a rectangular table of at least as many columns as rows, scores >= 0.

    Every row gets a column of its own. Of several best assignments the one is taken that the order of rows and
    columns gives. Worst case rows * rows * columns steps.
    """
    rows = len(scores)
    columns = len(scores[0]) if rows else 0
    if rows > columns:
        raise ValueError("more rows than columns")
    highest = max((max(row) for row in scores), default=0)
    costs = [[highest - score for score in row] for row in scores]
    work = _Prices(costs, columns)
    free = list(range(rows))
    for _ in range(ROUNDS if columns > 1 else 0):
        free = work.reduced(free)
    for row in free:
        work.augment(row)
    return work.column_of


class _Prices:
    """Columns have prices of at most 0; a column that no row holds costs nothing."""

    def __init__(self, costs: list[list[int]], columns: int) -> None:
        self._costs = costs
        self._prices = [0] * columns
        self._row_of = [-1] * columns
        self.column_of = [-1] * len(costs)

    def reduced(self, free: list[int]) -> list[int]:
        """Let each free row take its cheapest column and bid the price to the next best; rows put out are returned."""
        out: list[int] = []
        budget = 4 * len(free)
        waiting = free[::-1]
        while waiting:
            row = waiting.pop()
            reduced = [cost - price for cost, price in zip(self._costs[row], self._prices, strict=True)]
            least = min(reduced)
            column = reduced.index(least)
            reduced[column] = max(reduced) + 1
            second = min(reduced)
            if second == least and self._row_of[column] >= 0:
                column = reduced.index(second)
            self._prices[column] -= second - least
            held = self._row_of[column]
            self._row_of[column] = row
            self.column_of[row] = column
            if held < 0:
                continue
            self.column_of[held] = -1
            budget -= 1
            if second > least and budget > 0:
                waiting.append(held)
            else:
                out.append(held)
        return out

    def augment(self, start: int) -> None:
        """Give a row a column along the cheapest path of exchanges."""
        prices, row_of = self._prices, self._row_of
        distance = [cost - price for cost, price in zip(self._costs[start], prices, strict=True)]
        before = [start] * len(prices)
        todo = list(range(len(prices)))
        done: list[int] = []
        while True:
            least = min([distance[column] for column in todo])
            ready = [column for column in todo if distance[column] == least]
            end = next((column for column in ready if row_of[column] < 0), -1)
            if end >= 0:
                break
            todo = [column for column in todo if distance[column] != least]
            done += ready
            for column in ready:
                row = row_of[column]
                costs = self._costs[row]
                base = costs[column] - prices[column] - least
                for other in todo:
                    found = costs[other] - prices[other] - base
                    if found < distance[other]:
                        distance[other] = found
                        before[other] = row
        for column in done:
            prices[column] += distance[column] - least
        while True:
            row = before[end]
            row_of[end] = row
            end, self.column_of[row] = self.column_of[row], end
            if row == start:
                return
