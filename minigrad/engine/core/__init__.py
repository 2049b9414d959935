"""The core of the engine: tensors, ctx, and what apply and backward do with them."""
