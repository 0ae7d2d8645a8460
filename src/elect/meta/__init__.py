"""What is learned from history: how tasks resemble each other, and which models tell them apart."""
