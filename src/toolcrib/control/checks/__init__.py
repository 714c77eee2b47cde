"""What the doctor looks at, one thing a file; each module offers `check(place)`."""
