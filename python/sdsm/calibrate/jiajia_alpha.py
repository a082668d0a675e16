"""platforms/jiajia-alpha.xml: the cluster on which [HY] ran OpenMP programs on JIAJIA.

    python3 -m sdsm.calibrate.jiajia_alpha [-o platforms/jiajia-alpha.xml]

No cost of that cluster is published, only times of a whole program. They tell one number: what a message costs, in
whatever way it costs it. sdsm swim --calibrate finds the fixed part of a message with which Swim on two threads takes
its published time. A cost per byte cannot be had beside it: most messages belong to page requests, so requests of one
size fix the sum of both parts alone. (JIAJIA's own reports, which sdsm.calibrate.jiajia reads, have the same lack:
there all messages have one size on the wire.) The cost per byte is therefore assumed: the wire's. So is all else in
assumed/jiajia-alpha.csv that is not published.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from sdsm.base.command_line import Parser, command, file_name
from sdsm.base.output_file import print_or_write
from sdsm.base.places import CALIBRATION
from sdsm.calibrate.p3_score import Given, given
from sdsm.platform.derived import ASSUMED as ASSUMED_COSTS
from sdsm.platform.derived import REPLY_BYTES, REQUEST_BYTES
from sdsm.platform.platform_file import Blank, Comment, Node, cluster, platform_text, prop

NAME = "jiajia-alpha"
ASSUMED = CALIBRATION / "assumed" / f"{NAME}.csv"

ABOUT = """\
The cluster of [HY]: eight nodes with a Compaq Alpha 21264 each, pages of 8192 bytes, JIAJIA. Made by
python/sdsm/calibrate/jiajia_alpha.py.

Every number says where it comes from: "published", "fitted" (to the published time of Swim on two threads, by
sdsm swim, so that this time is no prediction), "assumed" (no source; docs/validation.md says what depends on it)."""


def platform(path: Path = ASSUMED, message_fixed_us: float | None = None) -> str:
    """Returns the platform file's text. message_fixed_us: replaces the fitted value. Raises PublishedDataError."""
    assumed = given(path)

    def us(name: str) -> float:
        return float(assumed[name].text)

    fixed_us = us("message_fixed") if message_fixed_us is None else message_fixed_us
    page_bytes = us("page")
    request_us = us("trap") + 2 * fixed_us + (REQUEST_BYTES + REPLY_BYTES + page_bytes) * us("message_per_byte")

    def costs(names: str, value_us: float) -> list[Node]:
        return [prop(f"jiajia.{name}", f"{value_us:.2f}us") for name in names.split()]

    body: list[Node] = [
        _comment("Pages, and processors of a node.", assumed, "page"),
        prop("page.size", assumed["page"].with_unit),
        Blank(),
        _comment("The fixed part of a message.", assumed, "message_fixed"),
        *costs("message.fixed", fixed_us),
        _comment("Its part for each byte.", assumed, "message_per_byte"),
        prop("jiajia.message.per-byte", assumed["message_per_byte"].with_unit),
        _comment("Acknowledgements.", assumed, "acknowledgement"),
        prop("jiajia.message.acknowledgement", assumed["acknowledgement"].with_unit),
        Blank(),
        _comment("A trap.", assumed, "trap"),
        *costs("fault.WROH", us("trap")),
        Comment("A trap and two messages, with a page in one; a twin where it is written."),
        *costs("fault.RUMR fault.RIVR", request_us),
        *costs("fault.WUMR fault.WIVR", request_us + us("copy")),
        _comment("A trap and a twin; a comparison of page and twin.", assumed, "copy"),
        *costs("fault.WROR", us("trap") + us("copy")),
        *costs("diff", us("copy")),
        _comment("A page's protection.", assumed, "protect"),
        *costs("protect invalidate", us("protect")),
        prop(ASSUMED_COSTS, "jiajia.message.per-byte jiajia.fault.* jiajia.diff jiajia.protect jiajia.invalidate"),
        Blank(),
        _comment("The network.", assumed, "bandwidth"),
        prop("reference.bandwidth", assumed["bandwidth"].with_unit),
        prop("reference.latency", assumed["cable_latency"].with_unit),
        prop("reference.links", assumed["links_between_nodes"].with_unit),
        *(prop(f"frame.{part}", assumed[f"frame_{part}"].with_unit) for part in ("payload", "overhead", "minimum")),
        _comment("A home's share of the processors' time.", assumed, "home_share"),
        prop("local-part.home-share", assumed["home_share"].with_unit),
        Blank(),
        *cluster(
            nodes=int(assumed["nodes"].text),
            speed="1Gf",
            cores=int(assumed["processors_per_node"].text),
            bandwidth=assumed["bandwidth"].with_unit,
            latency=assumed["cable_latency"].with_unit,
            hosts="Compaq Alpha 21264 [HY]. Speeds are not used: computing takes what the program's one-thread time says.",
            links="Full-duplex cables to one switch, assumed.",
        ),
    ]
    return platform_text(ABOUT, NAME, body)


def _comment(what: str, assumed: dict[str, Given], name: str) -> Comment:
    value = assumed[name]
    return Comment(f"{what} {value.basis.capitalize()}: {value.source}.")


@command
def main(arguments: Sequence[str] | None = None) -> int:
    """Writes the platform file. Returns the exit status."""
    parser = Parser("python3 -m sdsm.calibrate.jiajia_alpha", __doc__ or "", "Exit status: 0 done, 2 bad input.")
    parser.add_argument("-o", "--output", type=file_name, default=Path("-"), metavar="FILE", help="to write (default: -)")
    given_options: argparse.Namespace = parser.parse_args(arguments)
    print_or_write(given_options.output, platform())
    return 0


if __name__ == "__main__":
    sys.exit(main())
