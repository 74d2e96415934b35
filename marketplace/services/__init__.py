"""What may happen in the marketplace: one module per thing that changes, all inside transactions."""
