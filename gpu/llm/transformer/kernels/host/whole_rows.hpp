#pragma once

#include "gpu/device/whole_numbers.hpp"
#include "gpu/llm/transformer/kernels/host/tensor_core_rows.hpp"

// The steps of `integer` that are one loop over a row: call operator()(item) for every item.

namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET {

/// normed_i = weight_i · (x_i · factor), the factor from the exact sum of the row's squares.
inline void whole_normalize_row(const float* states, const float* weight, std::size_t size,
                                float epsilon, float* normed) {
  const float factor = 1.0f / sqrtf(whole_mean_of_squares(states, size) + epsilon);
  for (std::size_t i = 0; i < size; ++i) normed[i] = weight[i] * (states[i] * factor);
}

using WholeNormalize = NormalizeRows<float, whole_normalize_row>;
using WholeNormalizeIntoPages = NormalizeRowsIntoPages<float, whole_normalize_row>;

/// Stores a head of a key or of a value as SixteenBitElements, in pairs as PairsInPages has them.
/// The head is rotated in its own place first.
struct WholeHeads {
  static float mean_of_squares(const float* head, std::size_t size) {
    return whole_mean_of_squares(head, size);
  }
  template <class Make>
  static void store_key(const PagePart& part, std::size_t page, std::size_t head, std::size_t slot,
                        std::size_t head_dim, float* room, const Make& make) {
    store(part_of_head(part, page, head, head_dim), slot, head_dim, room, weight_squares, make,
          [&](std::size_t d) { return PairsInPages::key(0, slot, d, head_dim); });
  }
  template <class Make>
  static void store_value(const PagePart& part, std::size_t page, std::size_t head,
                          std::size_t slot, std::size_t head_dim, float* room, const Make& make) {
    store(part_of_head(part, page, head, head_dim), slot, head_dim, room, any_squares, make,
          [&](std::size_t d) { return PairsInPages::value(0, slot, d, head_dim); });
  }

  /// Where a head begins in a page.
  static std::int16_t* part_of_head(const PagePart& part, std::size_t page, std::size_t head,
                                    std::size_t head_dim) {
    return part_of_page<std::int16_t>(
        part_after(part, head * SixteenBitElements::head_bytes(head_dim)), page);
  }
  /// The exponents of its tokens.
  template <class Element>
  static auto* exponents(Element* head, std::size_t head_dim) {
    using Exponents =
        std::conditional_t<std::is_const_v<Element>, const std::int32_t, std::int32_t>;
    return reinterpret_cast<Exponents*>(head + page_tokens * head_dim);
  }

 private:
  template <class Make, class Place>
  static void store(std::int16_t* elements, std::size_t slot, std::size_t head_dim, float* room,
                    std::uint64_t most_squares, const Make& make, const Place& place) {
    make([&](std::size_t d, float x) { room[d] = x; });
    const WholeRow row = whole_row(room, head_dim, most_squares);
    exponents(elements, head_dim)[slot] = !row.fits          ? SixteenBitElements::unfit
                                          : row.squares == 0 ? SixteenBitElements::of_zeros
                                                             : row.exponent;
    const float power = power_of_two(row.exponent);
    for (std::size_t d = 0; d < head_dim; ++d) {
      elements[place(d)] =
          row.fits ? static_cast<std::int16_t>(whole_number(room[d], power)) : std::int16_t{0};
    }
  }
};

}  // namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET
