"""Answers to 01.5."""

MIXED: list[float] = []
