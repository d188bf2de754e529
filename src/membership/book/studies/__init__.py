"""What the chapters compute: one folder a paper, one function an exhibit."""
