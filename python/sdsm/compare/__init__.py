"""sdsm compare: predicted and measured results beside each other.

comparison  how far results are from the one that they are held against: times, terms of the account, counts
table       the same for a terminal, and as CSV
figure      the same as a picture
command     the command line
"""
