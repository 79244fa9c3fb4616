"""What the kinds on random tables share: cells, blocks of runs, drawing and splitting."""
