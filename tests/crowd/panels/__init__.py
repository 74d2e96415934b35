"""The simulated panel against the contract it serves, and the client against the simulated panel."""
