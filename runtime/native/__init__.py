"""Programs on the CPU: C text built by the machine's C compiler and run in this process."""
