"""Functions from arrays to arrays, compiled when they are first called."""
