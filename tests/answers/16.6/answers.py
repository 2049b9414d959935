"""Sentences that tell a run badly."""

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
