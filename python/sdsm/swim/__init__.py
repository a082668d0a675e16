"""Swim on the cluster of jiajia-alpha.xml: `sdsm swim`."""
