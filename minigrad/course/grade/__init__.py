"""Grade submissions of strangers: their code computes in a box, the verdict is ours.

A worker in the box loads one submission and says what it saw; cases are drawn, right
values worked out and verdicts made out here, so that nothing to be guessed goes in.
"""
