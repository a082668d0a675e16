"""The main job: trace the programs, simulate them on the Pentium III cluster, compare with the published times.

    python -m sdsm.report.main_job                   the whole job (scripts/reproduce builds first, then calls this)
    python -m sdsm.report.main_job.figures RESULTS   the figures again, from the tables that the job left

Modules, each using those above it: plan (which runs), tracing, simulation (one command each), report (rows and
statistics), tables (text, CSV), figures, job (all of it in order).
"""
