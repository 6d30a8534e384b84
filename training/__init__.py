"""Scripts that learn: self-play with Stable-Baselines3, deep Monte Carlo, and examples for other trainers."""
