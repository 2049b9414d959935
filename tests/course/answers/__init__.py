"""Known answers to the gym, right and wrong, as strangers write them."""
