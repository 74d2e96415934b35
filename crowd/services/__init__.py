"""What happens to stages, HITs and assignments."""
