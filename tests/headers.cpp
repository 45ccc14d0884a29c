// Empty: what this target holds is the precompiled headers that every test program uses.
