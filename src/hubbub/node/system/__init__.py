"""What a machine's parts ask of the operating system: the kernel's own calls, files opened without a link, load."""
