import minigrad as torch
