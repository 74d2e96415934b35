"""Commands that train models: how they tell of it, and how they are stopped."""
