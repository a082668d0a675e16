"""Readers of timelines, stricter than viewers: of Chrome's format, of Paje's and of Paraver's."""

from __future__ import annotations

import json
import re
import shlex
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jsonschema

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "docs" / "timeline.schema.json").read_text())


@dataclass
class Timeline:
    """Times in nanoseconds. state_ns, slices: by thread and state. faults: pages by kind. messages: by kind."""

    other: dict[str, Any] = field(default_factory=dict)
    state_ns: Counter[tuple[int, str]] = field(default_factory=Counter)
    slices: Counter[tuple[int, str]] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    messages: Counter[str] = field(default_factory=Counter)
    bytes: int = 0
    arrays: set[str] = field(default_factory=set)
    longest_queue: int = 0
    begin_ns: int = 0
    end_ns: int = 0


def ns(text: float | str, scale: int) -> int:
    """Of a time in units of `scale` nanoseconds, which it must give to the nanosecond."""
    value = float(text) * scale
    assert abs(value - round(value)) < 0.2 and value >= 0, text
    return round(value)


def read_chrome(path: Path) -> Timeline:
    document = json.loads(path.read_text())
    # Each kind of event once and the whole frame; thousands of like ones would take long.
    kinds = {(event["ph"], event.get("cat"), tuple(event), tuple(event.get("args", ()))): event for event in document["traceEvents"]}
    jsonschema.Draft202012Validator(SCHEMA).validate(document | {"traceEvents": list(kinds.values())})
    found = Timeline(document["otherData"])
    stacks: dict[int, list[tuple[str, int, int]]] = defaultdict(list)
    sent: dict[int, int] = {}
    names = {event["tid"]: event["args"]["name"] for event in document["traceEvents"] if event["name"] == "thread_name"}
    queues: dict[tuple[int, str], int] = {}
    for event in document["traceEvents"]:
        if event["ph"] in "Mi":
            continue
        at = ns(event["ts"], 1000)
        if event["ph"] == "X":
            until = at + ns(event["dur"], 1000)
            stack = stacks[event["tid"]]
            while stack and stack[-1][2] <= at and stack[-1][1] < stack[-1][2]:
                stack.pop()
            while stack and stack[-1][0] == event["cat"]:
                assert stack[-1][2] <= at, "slices of one kind overlap"
                stack.pop()
            assert not stack or stack[-1][2] >= until, "a slice sticks out of the one that it lies in"
            assert len(stack) == (event["cat"] == "fault"), "a fault lies in a state, and nothing else does"
            stack.append((event["cat"], at, until))
            if event["cat"] == "state":
                thread = int(names[event["tid"]].removeprefix("thread "))
                found.state_ns[thread, event["name"]] += until - at
                found.slices[thread, event["name"]] += 1
                found.end_ns = max(found.end_ns, until)
            elif event["cat"] == "fault":
                found.faults[event["args"]["fault"]] += event["args"]["pages"]
                found.arrays.add(event["args"]["array"])
        elif event["ph"] == "s":
            sent[event["id"]] = at
            found.messages[event["name"]] += 1
            found.bytes += event["args"]["bytes"]
        elif event["ph"] == "f":
            assert sent.pop(event["id"]) <= at, "a message arrives before it is sent"
            assert event["tid"] in names, "an arrow leads to a thread that is not shown"
        else:
            queues[event["pid"], event["name"]] = next(iter(event["args"].values()))
            found.longest_queue = max(found.longest_queue, queues[event["pid"], event["name"]])
    assert not sent, "a message does not arrive"
    if not found.other["cut_events"] and "window_s" not in found.other:
        assert not any(queues.values()), "a queue is not empty in the end"
    return found


def read_paje(path: Path) -> Timeline:
    """The grammar of the Paje trace file format: definitions, then events of a number and its fields, in order of time."""
    found = Timeline()
    fields: dict[str, list[str]] = {}
    names: dict[str, str] = {}
    types, containers, open_states = {"0"}, {"0"}, defaultdict(list)
    links: dict[str, int] = {}
    current, last = "", 0
    for line in path.read_text().splitlines():
        if line.startswith("#"):
            found.other.setdefault("notes", []).append(line[2:])
            continue
        if line.startswith("%EventDef"):
            _, name, current = line.split()
            fields[current], names[current] = [], name
            continue
        if line.startswith("%"):
            if line != "%EndEventDef":
                _, name, kind = line.split()
                assert kind in {"string", "date", "double", "color"}
                fields[current].append(name)
            continue
        number, *values = shlex.split(line)
        assert len(values) == len(fields[number]), line
        event = dict(zip(fields[number], values, strict=True))
        name = names[number]
        for key in ("Container", "StartContainer", "EndContainer"):
            if key in event:
                assert event[key] in containers, line
        if name.startswith("PajeDefine"):
            assert event.get("Type", "0") in types, line
            types.add(event["Alias"])
            continue
        assert event["Type"] in types, line
        at = ns(event["Time"], 10**9)
        assert at >= last, "events are out of order"
        last = at
        if name == "PajeCreateContainer":
            containers.add(event["Alias"])
        elif name == "PajeDestroyContainer":
            containers.remove(event["Name"])
        elif name == "PajePushState":
            open_states[event["Container"], event["Type"]].append((at, event["Value"]))
            if event["Type"] == "Fault":
                found.faults[event["Value"]] += int(event["Pages"])
                found.arrays.add(event["Array"])
        elif name == "PajePopState":
            since, value = open_states[event["Container"], event["Type"]].pop()
            if event["Type"] == "State":
                found.state_ns[int(event["Container"][1:]), value] += at - since
                found.slices[int(event["Container"][1:]), value] += 1
                found.end_ns = max(found.end_ns, at)
        elif name == "PajeSetVariable":
            found.longest_queue = max(found.longest_queue, int(event["Value"]))
        elif name == "PajeStartLink":
            links[event["Key"]] = at
            found.messages[event["Value"]] += 1
            found.bytes += int(event["Bytes"])
        else:
            assert links.pop(event["Key"]) <= at, "a message arrives before it is sent"
    assert not links and containers == {"0"} and not any(open_states.values())
    return found


def read_paraver(path: Path) -> Timeline:
    """Records of three kinds in the order of their times, and the names of their numbers in the file beside it."""
    names: dict[str, dict[int, str]] = {"STATES": {}, "48000001": {}}
    section = ""
    tags: dict[int, str] = {}
    for line in path.with_suffix(".pcf").read_text().splitlines():
        words = line.split(maxsplit=2)
        if line.startswith("# ") and words[1].isdigit():
            tags[int(words[1])] = words[2].split()[0]
        elif line in ("STATES", "EVENT_TYPE"):
            section = line
        elif section == "EVENT_TYPE" and words[:1] == ["0"] and words[1].isdigit():
            section = words[1]
        elif section in names and words and words[0].isdigit():
            names[section][int(words[0])] = line.split(maxsplit=1)[1]
    head, *lines = path.read_text().splitlines()
    match = re.fullmatch(r"#Paraver \(01/01/2000 at 00:00\):(\d+)_ns:(\d+)\((.*)\):1:\2\((.*)\)", head)
    assert match
    per_node = [int(count) for count in match[3].split(",")]
    assert [part.split(":") for part in match[4].split(",")] == [[str(count), str(node)] for node, count in enumerate(per_node, start=1)]
    rows = path.with_suffix(".row").read_text()
    assert f"LEVEL NODE SIZE {match[2]}\n" in rows and f"LEVEL THREAD SIZE {sum(per_node)}\n" in rows
    found = Timeline(end_ns=int(match[1]))
    states: dict[int, str] = {}
    last = 0
    for line in lines:
        kind, cpu, program, task, thread, *values = map(int, line.split(":"))
        assert program == 1 and cpu == sum(per_node[: task - 1]) + thread <= sum(per_node)
        assert last <= values[0] <= found.end_ns, line
        last = values[0]
        if kind == 1:
            begin, end, state = values
            states[cpu - 1] = names["STATES"][state]
            found.state_ns[cpu - 1, states[cpu - 1]] += end - begin
            found.slices[cpu - 1, states[cpu - 1]] += 1
        elif kind == 2:
            events = dict(zip(values[1::2], values[2::2], strict=True))
            if array := events.get(48000001):
                found.arrays.add(names["48000001"][array])
                found.faults[states[cpu - 1]] += events[48000003]
            found.longest_queue = max(found.longest_queue, events.get(48000005, 0))
        else:
            assert kind == 3
            sent, sent_again, *_, arrived, arrived_again, size, tag = values
            assert sent == sent_again <= arrived == arrived_again
            found.messages[tags[tag]] += 1
            found.bytes += size
    return found
