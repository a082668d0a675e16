"""`sdsm plot`: speedup from results of `sdsm simulate` and `sdsm run`.

    results.py   reads their JSON
    series.py    which results make one line, and what its speedups refer to
    figure.py    the panels
    command.py   the command line
"""
