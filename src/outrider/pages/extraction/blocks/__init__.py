"""From a tree to blocks: what each element does, what is hidden, what a listing or a formula holds."""
