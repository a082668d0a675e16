#!/usr/bin/env python3
"""A deterministic stand-in for `sdsm trace` and `sdsm simulate`: what the main job does is tested without tracing.

Times follow simple formulas over plausible event counts; a trace is a small text file. `behaviour.json` beside this
file may say {"fail": {NAME: REASON}, "hang": [NAME], "garbage": [NAME]}; a NAME is a trace's stem or
PROGRAM-IMPL-LAYOUT.
Every call is appended to `calls.txt` beside this file.
"""

import json
import random
import sys
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))  # isolated, Python does not look there itself

import run_results  # noqa: E402


def option(arguments: list[str], name: str) -> str:
    return arguments[arguments.index(name) + 1]


def behave(behaviour: dict, name: str) -> None:
    if name in behaviour.get("fail", {}):
        print("sdsm: a first line\nsdsm: " + behaviour["fail"][name], file=sys.stderr)
        sys.exit(1)
    if name in behaviour.get("hang", []):
        (HERE / "hanging").touch()
        time.sleep(600)
    if name in behaviour.get("garbage", []):
        print('{"format": 1, "nodes"')
        sys.exit(0)


def trace(arguments: list[str], behaviour: dict) -> None:
    out = Path(option(arguments, "-o"))
    behave(behaviour, out.stem)
    program = arguments[arguments.index("--") + 1 :]
    out.write_text(json.dumps({"threads": int(option(arguments, "-n")), "program": program}))


def laplace_counts(implementation: int, threads: int) -> tuple[dict[str, int], int]:
    """Faults of the slowest thread in the whole run, and barriers."""
    barriers = 200 if implementation % 2 else 100
    if threads == 1:
        return {}, barriers
    pages = 2048 // threads
    if implementation in (1, 2):
        remote = pages * (threads - 1) // threads
        return {"WROH": 100 * (pages - remote), "WUMR": 100 * remote, "RUMR": 100 * remote}, barriers
    return {"WROH": 100 * pages, "RUMR": 100 * 2 * min(2, threads - 1)}, barriers


def fft_counts(implementation: int, threads: int) -> tuple[dict[str, int], int]:
    if threads == 1:
        return {}, 0
    pages = 4096 // threads
    remote = pages * (threads - 1) // threads // (1 if implementation in (1, 2) else 2)
    return {"WROH": pages, "WUMR": remote, "RUMR": remote, "WROL": remote // 8}, 2 * threads


COST_US = {"WROH": 8, "WUMR": 599, "RUMR": 587, "WROL": 44}


def print_directives(layout: str) -> None:
    """As EPCC's program does. The reference takes 10 us, BARRIER 0.5 us more than [WR-env] gives, SINGLE 100 us."""
    barrier = {"1x1": 0.2, "2x1": 661, "1x2": 225, "4x1": 7305, "4x2": 17631}[layout] + 0.5
    nodes, per_node = layout.split("x")
    print(f" Running OpenMP benchmark on {int(nodes) * int(per_node)} thread(s)\n")
    for name, mean in (("reference time 1", 10.0), ("BARRIER time", barrier + 10), ("SINGLE time", 110.0)):
        print(f" Computing {name}\n\n Sample_size Average Min Max S.D. Outliers\n 3 {mean} {mean} {mean} 0.0 0\n")
        if name.startswith("reference"):
            print(f" Reference_time_1 = {mean} microseconds +/- 0.0\n")
        else:
            print(f" {name} = {mean} microseconds +/- 0.0")
            print(f" {name.removesuffix('time')}overhead = {mean - 10} microseconds +/- 0.0\n")


def simulate(arguments: list[str], behaviour: dict) -> None:
    if arguments == ["--help"]:
        print("  --protocol scash|home-open|jiajia=scash\n       protocol of the shared memory")
        return
    if "--protocol" in arguments and option(arguments, "--protocol") == "jiajia":
        print("sdsm: platform.xml gives no costs for protocol jiajia (it has scash). Name another", file=sys.stderr)
        sys.exit(2)
    document = json.loads(Path(arguments[0]).read_text())
    program = Path(document["program"][0]).name
    if program == "epcc":
        layout = f"{option(arguments, '--nodes')}x{option(arguments, '--threads-per-node')}"
        behave(behaviour, f"epcc-{layout}")
        return print_directives(layout)
    implementation = int(option(document["program"], "--impl"))
    nodes, per_node = int(option(arguments, "--nodes")), int(option(arguments, "--threads-per-node"))
    seed = int(option(arguments, "--seed"))
    name = f"{program}-{implementation}-{nodes}x{per_node}"
    behave(behaviour, name)
    behave(behaviour, f"{name}-seed{seed}")
    threads = nodes * per_node
    assert threads == document["threads"]
    sequential_s = float(option(arguments, "--sequential-time").removesuffix("s"))
    faults, barriers = (laplace_counts if program == "laplace" else fft_counts)(implementation, threads)
    spread = 1 + 0.01 * random.Random(seed).random() if "WUMR" in faults else 1.0
    fault_s = {kind: round(count * COST_US[kind] * 1e-6 * spread, 9) for kind, count in faults.items()}
    barrier_s = {1: 0.0, 2: 661e-6, 4: 7305e-6, 8: 17631e-6}[threads] * barriers
    time_s: dict[str, Any] = {
        "compute": sequential_s / threads,
        "fault": fault_s,
        "diff": 0.1 * fault_s.get("WUMR", 0.0),
        "protect": 18.95e-6 * faults.get("WROH", 0),
        "barrier": barrier_s,
        "stolen": 0.02 * sum(fault_s.values()),
    }
    makespan_s = sum(v if not isinstance(v, dict) else sum(v.values()) for v in time_s.values())
    accounts = [
        run_results.thread(
            thread,
            thread // per_node,
            time_s,
            faults=faults,
            barriers=barriers,
            messages=3 * faults.get("RUMR", 0) + thread,
            bytes=64 * faults.get("RUMR", 0),
            diffs=faults.get("WUMR", 0),
            diff_bytes=100 * faults.get("WUMR", 0),
        )
        for thread in range(threads)
    ]
    extrapolated = ["barrier"] if behaviour.get("extrapolate") == name else []
    result = run_results.simulation(
        nodes,
        makespan_s,
        program=document["program"],
        threads_per_node=per_node,
        seed=seed,
        threads=accounts,
        extrapolated=extrapolated,
    )
    print(json.dumps(result))


def main() -> None:
    subcommand, *arguments = sys.argv[1:]
    with (HERE / "calls.txt").open("a") as calls:
        calls.write(json.dumps(sys.argv[1:]) + "\n")
    path = HERE / "behaviour.json"
    behaviour = json.loads(path.read_text()) if path.exists() else {}
    {"trace": trace, "simulate": simulate}[subcommand](arguments, behaviour)


if __name__ == "__main__":
    main()
