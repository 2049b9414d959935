"""The engine: tensors, Functions, nodes, and the traversal that backward is."""
