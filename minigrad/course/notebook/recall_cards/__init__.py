"""Recall cards, a file for each lesson."""
