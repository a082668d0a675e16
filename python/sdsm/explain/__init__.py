"""sdsm explain: where a predicted time goes, which memory costs it, and what would help.

source       lines of the program, from its debug information
symbols      names of variables and critical sections, from its symbol table
locks        which are taken most
memory       what each array cost, who writes it, and at which lines it is touched
alternatives the same trace with one thing changed: each simulated
start        the simulation and the trace's uses, on their way while Python loads the rest
explanation  all of it about one prediction
words, figure  the same for a terminal, and as a picture
command      the command line
"""
