#include <cstring>

#include "gpu/device/device_memory.hpp"
#include "gpu/llm/transformer/cache/page_part.hpp"
#include "tests/catch.hpp"
#include "tests/gpu/llm/transformer/kernels/forms.hpp"
#include "tests/gpu/llm/transformer/pages_at.hpp"

namespace tempera::gpu::page_copies_test {

TEST_CASE("every form copies what a page has in every array, and nothing else", "[kernels]") {
  constexpr std::size_t pages = 5;
  // Parts of less than a piece of 4,096 bytes, of several, and of one and a bit; with and without
  // what is of no layer.
  for (const ArraysLayout& layout :
       {ArraysLayout{3, 48, 80}, ArraysLayout{2, 3 * 4096 + 16, 4096}, ArraysLayout{4, 4112, 0}}) {
    std::vector<std::byte> before(pages * layout.bytes());
    for (std::size_t i = 0; i < before.size(); ++i)
      before[i] = static_cast<std::byte>((i * 7 + i / 256 * 31) % 251);
    // Pages 4 and 0 become what 1 and 3 are.
    std::vector<std::byte> expected = before;
    for (std::size_t array = 0; array < layout.arrays(); ++array) {
      const PagePart from = part_of_array(pages_at(before.data(), pages, layout), array);
      const PagePart to = part_of_array(pages_at(expected.data(), pages, layout), array);
      std::memcpy(part_of_page<std::byte>(to, 4), part_of_page<std::byte>(from, 1), to.stride);
      std::memcpy(part_of_page<std::byte>(to, 0), part_of_page<std::byte>(from, 3), to.stride);
    }
    const std::vector<std::uint32_t> numbers{1, 3, 4, 0};
    const DeviceMemory<std::uint32_t> copies{std::span<const std::uint32_t>(numbers)};
    for (const Arithmetic arithmetic : {Arithmetic::float32, Arithmetic::tensor_core,
                                        Arithmetic::bfloat16_pairs, Arithmetic::integer}) {
      for (const Kernels* form : forms_of_the_kernels(arithmetic)) {
        CAPTURE(form->name(), layout.equal_arrays);
        DeviceMemory<std::byte> bytes{std::span<const std::byte>(before)};
        form->copy_pages(copies.data(), copies.data() + 2, 2,
                         pages_at(bytes.data(), pages, layout));
        CHECK((bytes.download(0, before.size()) == expected));
      }
    }
  }
}

}  // namespace tempera::gpu::page_copies_test
