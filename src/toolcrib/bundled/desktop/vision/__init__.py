"""What is seen in pictures of the screen: text (OCR) and images."""
