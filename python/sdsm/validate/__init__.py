"""`sdsm validate`: the simulator compared with the native DSM on the same programs.

    plan.py      which programs on how many nodes
    measure.py   microbenchmarks, traces, runs and simulations, in that order
    outcome.py   what a line says: prediction, measurement, their spreads, the error
    epcc.py      EPCC's table of the emulated cluster
    tables.py    text, CSV and JSON
    figure.py    predicted against measured speedup
    command.py   the command line
"""
