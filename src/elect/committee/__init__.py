"""What the models of the pool say of a row together."""
