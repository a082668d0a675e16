"""`sdsm platform`: platform files of clusters that one does not have.

    networks.py  kinds of networks, each figure with its source
    command.py   the command line
"""
