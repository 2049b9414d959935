"""Five sentences, told well and badly."""

good = [
    "It began at 2.31 because a network that knows nothing says ln 10.",
    "After 300 steps the loss on new images was 0.14, a third more than in training.",
    "Linear takes 60 % of the time, since it multiplies the largest matrices.",
    "When labels were drawn for themselves, the loss stayed near the one at the start.",
    "Twice as many hidden units should bring the loss to about 0.1.",
]
of_code = [
    "The class Linear saves x and W with save_for_backward in forward.",
    "My function train draws a batch in a loop and calls the optimizer.",
    "Then CrossEntropy.apply is called and returns the mean of the losses.",
    "I forgot one line of code and then I wrote it again.",
    "I would define another class for the next layer of the network.",
]
vague = [
    "The loss began at a value that means knowing nothing at all.",
    "In the end it was much lower on images it had not seen.",
    "The first layer takes most of the time, being the largest.",
    "A wrong gradient made it fall much more slowly than before.",
    "A larger network would probably reach an even lower loss next time.",
]
