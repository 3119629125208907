"""Who can answer how often something occurs."""
