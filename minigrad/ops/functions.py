"""The free functions of all operations: empty here, filled by ``@op``.

Their types are in the generated stub beside this file.
"""

__all__: list[str] = []
