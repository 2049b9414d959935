"""Hear a program that computes with torch, and tell it as the engine's story."""
