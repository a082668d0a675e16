"""Barriers of clusters that are known, played message by message and node by node.

Nothing here is the model's (models/barrier_shape.hpp): sender and receiver each pay their own part of a message, releases go out
as early as they can, each node goes into the next synchronisation when it is let out of the last one, every message is a
little early or late, and a barrier has a part without messages.
"""

from __future__ import annotations

import random
from dataclasses import dataclass


@dataclass(frozen=True)
class Barriers:
    """us. sender, receiver: processor times of a message; own: without messages; noise: of each message's times, in parts."""

    shape: str
    wire: float
    link: float
    sender: float
    receiver: float
    own: float
    noise: float = 0.05


def children(shape: str, node: int, nodes: int) -> list[int]:
    """In the order in which the node releases them: the largest subtree first."""
    if shape == "flat":
        return list(range(1, nodes)) if node == 0 else []
    if shape == "4-ary":
        return [child for child in range(4 * node + 1, 4 * node + 5) if child < nodes]
    gaps = []
    gap = 1
    while node + gap < nodes and node & gap == 0:
        gaps.append(gap)
        gap *= 2
    return [node + gap for gap in reversed(gaps)]


def mean_us(truth: Barriers, nodes: int, count: int, seed: int) -> float:
    """Of `count` barriers in a row on that many nodes."""
    generator = random.Random(f"{seed} {nodes} {truth.shape}")
    free = [0.0] * nodes

    def off(time: float) -> float:
        return time * max(1 + truth.noise * generator.gauss(0, 1), 0.1)

    def gather(node: int) -> float:
        """When the node has told its parent."""
        arrived = -1e300
        for sent in sorted(gather(child) for child in children(truth.shape, node, nodes)):
            arrived = max(sent + off(truth.wire), arrived + truth.link)
            free[node] = max(free[node], arrived) + off(truth.receiver)
        if node > 0:
            free[node] += off(truth.sender)
        return free[node]

    def release(node: int) -> None:
        left = -1e300
        for child in children(truth.shape, node, nodes):
            free[node] += off(truth.sender)
            left = max(free[node], left + truth.link)
            free[child] = left + off(truth.wire) + off(truth.receiver)
        for child in children(truth.shape, node, nodes):
            release(child)

    for _ in range(count):
        for _ in range(3):
            gather(0)
            release(0)
        free = [time + off(truth.own) for time in free]
    return max(free) / count


def lock_us(truth: Barriers, nodes: int) -> float:
    """Mean of a hand-off when the lock goes round: a message to the manager, node 0, and one from it, inside it none."""
    message = truth.sender + truth.wire + truth.receiver
    return sum((holder != 0) + ((holder + 1) % nodes != 0) for holder in range(nodes)) / nodes * message


def draw(shape: str, seed: int, most_own: float = 0.1) -> Barriers:
    """Wire and processors between fast and slow, each log-uniform. most_own: of a barrier of two nodes, in parts."""
    generator = random.Random(f"barriers {seed} {shape}")

    def between(low: float, high: float) -> float:
        return low * (high / low) ** generator.random()

    wire = between(5, 100)
    sender, receiver = between(3, 60), between(3, 60)
    own = most_own * generator.random() * 6 * (wire + sender + receiver)
    return Barriers(shape, wire, wire * between(0.05, 0.4), sender, receiver, own)
