"""Pictures of a recording: the graph, the player and the page that carries it.

Nothing here is loaded before it is used: graphviz, ipywidgets and matplotlib stay
outside ``import minigrad``.
"""
