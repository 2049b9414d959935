"""The interpreters: forward mode, vmap, and what torch.func is made of."""
