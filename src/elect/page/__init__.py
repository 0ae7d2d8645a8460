"""The local web page: one state over the product, one guarded server, and the files a browser gets."""
