"""AMD's last two stages for irdiff: ``amdgcn`` (the assembly that LLVM writes) and ``hsaco`` (the code object)."""
