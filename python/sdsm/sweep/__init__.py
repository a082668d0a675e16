"""sdsm sweep: every combination of what a file asks for, simulated.

spec     the file: what varies, and what is asked of it
points   the combinations, each with the trace that has its threads
results  simulates points, and keeps what came of them
cluster, on_worker, slurm  elsewhere than here
kept     a sweep as its folder keeps it, in sweep.json
answer   which place of an axis is best, in a sentence
table, parquet, figure  all points as tables, and as pictures
command  the command line
"""
