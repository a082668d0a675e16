"""sdsm report: one HTML page of a result, a comparison or a sweep, that needs no other file and no network.

naming    names and paths, or what stands for them with --anonymous
again     commands that make a prediction again; its inputs as they are now
sections  what the page says of each kind of input
excerpt   the most telling part of a timeline
figure    heat map of pages over arrays, timeline
template  HTML of sections, everything escaped
command   the command line
"""
