"""REST for machines: how they join, what people approve and run there, and who may look at them."""
