"""`sdsm platform`: platform files of clusters that one has not got.

    networks.py  kinds of networks, each figure with its source
    command.py   the command line
"""
