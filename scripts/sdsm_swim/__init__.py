"""Swim on the cluster of jiajia-alpha.xml: `scripts/swim`."""
