"""Outputs as other people's clusters print them, numbers invented: releases, options, hosts and lines around a table.

They were written after the sources of the benchmarks (esnet/iperf, OSU, NetPIPE, LMbench, JIAJIA), and are no real outputs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

#: Of launchers, schedulers and containers: what stands before a table, and after one.
BEFORE = {
    "open_mpi": "[node1:04242] SET UCX_NET_DEVICES=mlx5_2:1\nWARNING: There was an error initializing an OpenFabrics device.\n\n  Local host: n1\n",
    "slurm": "srun: job 4711 queued and waiting for resources\nsrun: job 4711 has been allocated resources\n",
    "singularity": "INFO:    Converting SIF file to temporary sandbox...\nnode1 slots=2 max-slots=2\n",
    "shell": "+ mpirun -np 2 ./bench\nMon Jan  1 00:00:00 UTC 2024\n",
    "tagged": "[1,0]<stdout>:starting\n",
}
AFTER = {
    "time": "\nreal\t0m1.162s\nuser\t0m0.078s\nsys\t0m0.024s\n",
    "slurm": "slurmstepd: error: *** JOB 4711 ON n1 CANCELLED ***\n",
    "open_mpi": "[node1:01234] 1 more process has sent help message help-mpi-btl-base.txt / no device\n",
    "singularity": "INFO:    Cleaning up image...\n",
}


def osu(title: str, header: str, rows: str, version: str = " v5.8", comments: str = "") -> str:
    return f"\n# OSU {title} Test{version}\n{comments}# {header}\n{rows}"


OSU_LATENCY = osu("MPI Latency", "Size          Latency (us)", "0                       2.00\n8                       2.10\n")
OSU_ROWS = "8                       2.10\n64                      2.20\n"
_LATENCY: dict[int | None, float] = {8: 2.10, 64: 2.20}
#: name: text, quantity, values by size (None: of a table without sizes).
OSU: Mapping[str, tuple[str, str, Mapping[int | None, float]]] = {
    "2_version": (osu("MPI Latency", "Size\t\tLatency (us) ", OSU_ROWS, " (Version 2.2)"), "latency, one way", _LATENCY),
    "3_latency": (osu("MPI Latency", "Size            Latency (us)", OSU_ROWS, " v3.1.1"), "latency, one way", _LATENCY),
    "3_bibw": (osu("MPI Bi-Directional Bandwidth", "Size     Bi-Bandwidth (MB/s)", OSU_ROWS, " v3.3"), "bandwidth, both ways", _LATENCY),
    "4_cuda": (osu("MPI-CUDA Latency", "Size            Latency (us)", OSU_ROWS, " v4.4", "# Send Buffer on DEVICE (D) and Receive Buffer on HOST (H)\n"), "latency, one way", _LATENCY),
    "5_rocm": (osu("MPI-ROCM Bandwidth", "Size      Bandwidth (MB/s)", OSU_ROWS, " v5.9", "# Send Buffer on DEVICE (D) and Receive Buffer on DEVICE (D)\n"), "bandwidth", _LATENCY),
    "5_managed": (osu("MPI-CUDA MANAGED Latency", "Size Latency (us)", OSU_ROWS), "latency, one way", _LATENCY),
    "5_put": (osu("MPI_Put Latency", "Size Latency (us)", OSU_ROWS, " v5.8", "# Window creation: MPI_Win_allocate\n# Synchronization: MPI_Win_flush\n"), "MPI_Put latency", _LATENCY),
    "5_get_bw": (osu("MPI_Get Bandwidth", "Size Bandwidth (MB/s)", OSU_ROWS, comments="# Window creation: MPI_Win_create\n"), "MPI_Get bandwidth", _LATENCY),
    "5_multi_lat": (osu("MPI Multi Latency", "Size          Latency (us)", OSU_ROWS), "Multi latency", _LATENCY),
    "7_multi_lat": (osu("MPI Multi Latency", "Size       Avg Latency(us)", OSU_ROWS, " v7.4", "# Datatype: MPI_CHAR.\n"), "Multi latency", _LATENCY),
    "5_threads": (osu("MPI Multi-threaded Latency", "Size Latency (us)", OSU_ROWS, comments="# Number of Sender threads: 1\n"), "Multi-threaded latency", _LATENCY),
    "5_allreduce": (osu("MPI Allreduce Latency", "Size       Avg Latency(us)", OSU_ROWS), "Allreduce latency", _LATENCY),
    "5_allreduce_full": (
        osu("MPI Allreduce Latency", "Size  Avg Latency(us)  Min Latency(us)  Max Latency(us)  Iterations", "8  2.10  2.05  2.15  1000\n64  2.20  2.15  2.25  1000\n"),
        "Allreduce latency", _LATENCY,
    ),
    "5_alltoall": (osu("MPI All-to-All Personalized Exchange Latency", "Size Avg Latency(us)", OSU_ROWS), "All-to-All Personalized Exchange latency", _LATENCY),
    "5_barrier": (osu("MPI Barrier Latency", "Avg Latency(us)", "             12.34\n"), "Barrier latency", {None: 12.34}),
    "5_barrier_full": (osu("MPI Barrier Latency", "Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations", "  12.34  12.30  12.40  1000\n"), "Barrier latency", {None: 12.34}),
    "7_header_first": (osu("MPI Latency", "Size          Latency (us)", "# Datatype: MPI_CHAR.\n" + OSU_ROWS, " v7.2"), "latency, one way", _LATENCY),
    "7_validation": (osu("MPI Bandwidth", "Size Bandwidth (MB/s) Validation", "8 2.10 Pass\n64 2.20 Pass\n", " v7.5"), "bandwidth", _LATENCY),
    "7_percentiles": (
        osu("MPI Latency", "Size Avg Latency(us) P50 Tail Lat(us) P90 Tail Lat(us) P99 Tail Lat(us)", "8 2.10 2.00 2.30 9.00\n64 2.20 2.10 2.50 9.10\n", " v7.3"),
        "latency, one way", _LATENCY,
    ),
    "7_tail_bandwidth": (osu("MPI Bandwidth", "Size Bandwidth (MB/s) P5 Tail BW(MB/s)", "8 2.10 2.0\n64 2.20 2.1\n", " v7.3"), "bandwidth", _LATENCY),
    "7_barrier_validation": (osu("MPI Barrier Latency", "Avg Latency(us)  P99 Tail Lat(us)", "12.34 20.00\n", " v7.3"), "Barrier latency", {None: 12.34}),
}  # fmt: skip

NETPIPE_ROWS = {1: "3.81", 2: "7.63", 3: "11.44", 4: "15.26"}


def netpipe(lines: str, directions: int = 1, unit: int = 1 << 20) -> str:
    """A print-out of NetPIPE 3, or 4 (unit 10^6): messages of 1 to 4 B in 2 us."""
    rows = (f"{i:3d}: {i + 1:7d} bytes  20000 times --> {directions * (i + 1) * 8 / 2e-6 / unit:8.2f} Mbps in       2.00 usec" for i in range(4))
    return lines + "Now starting the main loop\n" + "\n".join(rows) + "\n"


NETPIPE_MPI = {
    "hosts": "0: alpha\n1: beta\n",
    "-S": "Using synchronous sends\n1: n029\nUsing synchronous sends\n0: n029\n",
    "-p 0": "Using no perturbations\n\n0: n035\nUsing no perturbations\n\n1: n035\n",
    "-p 5": "Using a perturbation value of 5\n\n",
    "-I": "0: a.example.org\n1: b.example.org\nPerformance measured without cache effects\n\n",
    "-a -P": "Preposting asynchronous receives\n\nPreposting all receives before a timed run.\nSome would consider this cheating,\n",
}
NETPIPE_STREAM = "0: alpha\n1: beta\nStreaming in one direction only.\n\nStreaming does not necessarily provide an accurate measurement\nof the latency since small messages may get bundled together.\n\n"
NETPIPE_BOTH = "Bi-directional mode using 1 pairs of nodes.\nPassing data in both directions simultaneously.\nThe output shows the combined throughput.\n\n"
NETPIPE_BOTH_3 = "0: alpha\n1: beta\nPassing data in both directions simultaneously.\nOutput is for the combined bandwidth.\n"
NETPIPE_STREAM_3 = "Streaming in one direction only.\n\nStreaming does not provide an accurate\nmeasurement of the latency since small\nmessages may get bundled together.\n\n0: alpha\n1: beta\n"
NETPIPE_5_PRINTED = """\
Saving output to np.mpi

      Clock resolution ~   1.000 nsecs      Clock accuracy ~  33.000 nsecs

Start testing with 7 trials for each message size
  1: \x1b[32m      1  B\x1b[0m     24999 times -->  \x1b[35m  4.000 Mbps\x1b[0m  in  \x1b[36m  2.000 usecs\x1b[0m
  2:       2  B     24999 times -->    8.000 Mbps  in    2.000 usecs
  3:   4.096 KB     24999 times -->   16.384 Gbps  in    2.000 usecs
  4:   1.049 MB       300 times -->    8.389 Gbps  in    1.000 msecs

Completed with        max bandwidth    16.384 Gbps         2.000 usecs latency


"""
NETPIPE_5 = "        1     0.004     0.004     0.004    2.00\n     4096    16.384    16.000    17.000    2.00\n  1048576     8.389     8.000     9.000 1000.00\n"
NETPIPE_4 = "       1 4.000000   3.90000000   3.80000000   0.00000200\n    4096 16384.000000 16000.00000000 15900.00000000   0.00000200\n"

LMBENCH = """\
[lmbench3.0 results for Linux host 6.1 x86_64]
[BENCHMARK_OS: YES]
Simple syscall: 0.1000 microseconds

"libc bcopy unaligned
0.000512 15000.00
0.001024 16000.00

"size=0k ovr=0.50
2 1.20

Memory load latency
"stride=16
0.00049 1.500
0.00098 1.600

"stride=128
0.00049 1.700
1.00000 9.000

Random load latency
"stride=16
0.00049 1.510
1.00000 90.000

"Mmap read bandwidth
0.524288 11000.00
[Mon Jan  1 00:00:00 UTC 2024]
"""


def jiajia(hosts: int, release: str = "m") -> str:
    """What jia_exit() prints: of M-JIAJIA, the original "v1", one "between" them, or the "fork", with "rdma" or without."""
    counts = ["Msgs Sent", "Msgs Received", "Bytes Sent", "Bytes Received", "SEGVs (local)", "SEGVs (remote)", "SIGIOs (total)", "SIGIOs (user)", "SIGIOs (Syn.)", "SIGIOs (SEGV)", "Barriers", "Locks", "Getp Reqs", *["Prefetch Pages"] * (release not in ("v1", "between")), "Diff Msgs.", "MWdiffs", "Invalidate", "Replaced RO pages", "Replaced RW pages", "Mig in pages", "Mig out pages", "Resent Msgs", "Large message", "Small message"]  # fmt: skip
    start = ["Init time", "|- setting", "|- creat proc", "|--|--creatdir", "|--|--copyfiles", "|--|--startprocs", "|- mem", "|- sync", "|- msg", "|- comm", *["|--|-- context", "|--|-- connect", "|--|-- resource"] * (release == "rdma"), "Alloc time"]  # fmt: skip
    times = ["Barrier time", "Lock time", "Unlock time", "SEGV time (local)", "SEGV time (remote)", "SIGIO time (user)", "SIGIO time (Syn.)", "SIGIO time (SEGV)", *["SIGIO time (Over)"] * (release in ("v1", "between")), "Encode diff time", "Decode diff time"]  # fmt: skip
    times += {"v1": ["Asendmsg time", "comm soft time", "comm hard time"], "between": ["Asendmsg time", "Wait time"]}.get(release, ["Wait time"])
    rule = "-" * (20 + hosts * 9)
    lines = ["#" * (hosts * 9 // 2 - 1) + "  JIAJIA STATISTICS  " + "#" * (hosts * 9 // 2 + hosts % 2)]
    lines += ["           hosts --> " + "".join(f"{i:8d} " for i in range(hosts)) + "     total", rule]
    for name in counts:
        own = [6] * hosts if name == "Barriers" else [10 * (i + 1) for i in range(hosts)]
        lines.append(f"{name:18s} = " + "".join(f"{n:8d} " for n in own) + f" {6 if name == 'Barriers' else sum(own):8d} ")
    lines.append(rule + " (ms) " * (release != "v1"))
    for name in (*(start if release in ("fork", "rdma") else ()), *times):
        lines.append(f"{name:18s} = " + "".join(f"{2:8.2f} " for _ in range(1 if name.startswith(("|--|--c", "|--|--s")) else hosts)))
    lines.append(rule)
    for name in ("SEGV time", "Syn. time", *["Server time"] * (release in ("m", "v1", "between"))):
        own_time = {"SEGV time": 4, "Syn. time": 8 if release == "m" else -4, "Server time": 4}[name]
        lines.append(f"{name:18s} = " + "".join(f"{own_time:8.2f} " for _ in range(hosts)))
    return "\n".join([*lines, "#" * (20 + hosts * 9)]) + "\n"


Document = dict[str, Any]


def iperf3(
    streams: int = 1, *, rate: float = 1e9, trip: int | None = 120, protocol: str = "TCP", version: str = "3.18", is_sender: bool = True, **test: float
) -> Document:
    """A run of two seconds at `rate` by stream, half of whose test_start is given."""

    def span(start: int, end: int, count: int, **more: object) -> Document:
        seconds = end - start
        return {"start": start, "end": end, "seconds": seconds, "bytes": int(rate * count * seconds / 8), "bits_per_second": rate * count, **more}

    of_stream = {"rtt": trip} if trip and is_sender else {}
    trips = {"max_rtt": trip or 0, "min_rtt": trip or 0, "mean_rtt": trip or 0}
    intervals = [
        {
            "streams": [span(i, i + 1, 1, socket=5 + s, omitted=False, sender=is_sender, **of_stream) for s in range(streams)],
            "sum": span(i, i + 1, streams, omitted=False, sender=is_sender),
        }
        for i in range(2)
    ]
    both: Document = {"sender": span(0, 2, 1, socket=5, sender=True, **trips), "receiver": span(0, 2, 1, socket=5, sender=True)}
    whole = [{"udp": span(0, 2, 1, socket=5, jitter_ms=0.01, lost_packets=0, packets=40, sender=True)} if protocol == "UDP" else both] * streams
    start = {"protocol": protocol, "num_streams": streams, "blksize": 131072, "omit": 0, "duration": 2, "reverse": int(not is_sender), **test}
    return {
        "start": {"connected": [], "version": f"iperf {version}", "sock_bufsize": 0, "sndbuf_actual": 87380, "rcvbuf_actual": 87380, "test_start": start},
        "intervals": intervals,
        "end": {"streams": whole, "sum_sent": span(0, 2, streams, retransmits=0, sender=True), "sum_received": span(0, 2, streams, sender=True)},
    }


def buffers_by_stream(document: Document) -> str:
    """As before 3.14: an object names its streams' buffers one after another."""
    buffers = '"sock_bufsize": 0,\n  "sndbuf_actual": 87380,\n  "rcvbuf_actual": 87380,\n  '
    text = json.dumps(document, indent=1)
    return text.replace('"sock_bufsize"', buffers * (document["start"]["test_start"]["num_streams"] - 1) + '"sock_bufsize"', 1)


def json_stream(document: Document) -> str:
    events = [("start", document["start"]), *(("interval", one) for one in document["intervals"]), ("end", document["end"])]
    return "".join(json.dumps({"event": kind, "data": data}) + "\n" for kind, data in events)


def six_digits(document: Document) -> str:
    """As 3.0 prints."""

    def rounded(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: rounded(below) for name, below in value.items()}
        if isinstance(value, list):
            return [rounded(below) for below in value]
        return float(f"{value:.6g}") if isinstance(value, float) or (isinstance(value, int) and value > 10**6) else value

    return json.dumps(rounded(document))


STRANGERS = [
    *(text for text, _, _ in OSU.values()),
    *(netpipe(lines) for lines in NETPIPE_MPI.values()),
    *(netpipe(NETPIPE_STREAM), netpipe(NETPIPE_BOTH, 2), netpipe("", unit=10**6), NETPIPE_4, NETPIPE_5, re.sub("\x1b.*?m", "", NETPIPE_5_PRINTED)),
    LMBENCH,
    *(jiajia(hosts, release) for hosts in (1, 2, 3, 7) for release in ("m", "v1", "between", "fork", "rdma")),
    *(json.dumps(iperf3(n), indent=1) for n in (1, 3)),
    *(buffers_by_stream(iperf3(2)), json_stream(iperf3()), six_digits(iperf3(rate=941234567.891))),
    *(json.dumps(iperf3(protocol="UDP")), *(json.dumps(iperf3(protocol="UDP", target_bitrate=rate)) for rate in (0, 10**6))),
    (json.dumps(iperf3(trip=None, is_sender=False)) + "\n") * 2,
    *(before + OSU_LATENCY + AFTER["time"] for before in BEFORE.values()),
]
