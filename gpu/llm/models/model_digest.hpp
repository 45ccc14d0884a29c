#pragma once

#include <string>

namespace tempera::gpu {

/// A digest by which two machines see that they have the same model, wherever it is: 64
/// hexadecimal digits. It is SHA-256 over the name and size of each file of a model's folder
/// (configuration, tokenizer, weights), or the size of its one file or of each part of a GGUF file,
/// and over bytes of each: all of a file of at most 4 MiB, else its first MiB, its last 4 KiB, and
/// 4 KiB at each of 256 places spread evenly between. So it takes a moment for weights of any size,
/// which stay unread. Models that were trained apart differ in all those places; one that was
/// edited elsewhere is not told.
/// @throw BadInput if a file cannot be read
std::string model_digest(const std::string& path);

}  // namespace tempera::gpu
