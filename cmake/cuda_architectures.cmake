# The GPUs that a build for CUDA serves if nobody says otherwise: A100, RTX 30, Ada, Hopper; 90 also as PTX, which a newer
# device's driver compiles for itself.
set(TEMPERA_CUDA_ARCHITECTURES 80-real 86-real 89-real 90)
