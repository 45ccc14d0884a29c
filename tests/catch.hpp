// One include for Catch2 2 (Debian 12) and Catch2 3 (Debian 13, Ubuntu 24.04).
#pragma once
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>

namespace Catch {
/// Catch2 2's name for it.
inline auto Contains(const std::string& text) { return Matchers::ContainsSubstring(text); }
using Matchers::StartsWith;
}  // namespace Catch
#else
#include <catch2/catch.hpp>
#endif
