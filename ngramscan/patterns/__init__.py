"""What is counted: pattern sets, and how patterns lie in each other."""
