"""What accompanies a published release: a JSON file and a page, each in two forms."""
