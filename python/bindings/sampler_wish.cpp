#include <nlohmann/json.hpp>

#include "python/bindings/bindings.hpp"
#include "settings/field_json.hpp"

namespace tempera::python {
namespace {

namespace field = gpu::field;

// The value that Python gives, by the kind of its setting. python/tempera/wishes.py has checked its
// type.

std::size_t read(nb::handle value, const std::string&, const field::Count&) {
  return nb::cast<std::size_t>(value);
}
std::vector<std::size_t> read(nb::handle value, const std::string&, const field::Counts&) {
  if (nb::isinstance<nb::int_>(value)) return {nb::cast<std::size_t>(value)};
  return nb::cast<std::vector<std::size_t>>(value);
}
std::vector<std::uint64_t> read(nb::handle value, const std::string&, const field::Weights&) {
  return nb::cast<std::vector<std::uint64_t>>(value);
}
std::vector<double> read(nb::handle value, const std::string&, const field::Powers&) {
  return nb::cast<std::vector<double>>(value);
}
std::size_t read(nb::handle value, const std::string& key, const field::Limit& kind) {
  const auto limit = nb::cast<std::size_t>(value);  // 0 for -1
  if (limit > kind.most)
    throw BadInput(key, "is " + std::to_string(limit), "give at most " + std::to_string(kind.most));
  return limit;
}
double read(nb::handle value, const std::string& key, const field::Number& kind) {
  return gpu::in_range(nb::cast<double>(value), kind, key);
}
double read(nb::handle value, const std::string&, const field::Temperature&) {
  return nb::cast<double>(value);
}
bool read(nb::handle value, const std::string&, const field::Truth&) {
  return nb::cast<bool>(value);
}
std::string read(nb::handle value, const std::string&, const field::Name&) {
  return nb::cast<std::string>(value);
}
std::vector<std::string> read(nb::handle value, const std::string&, const field::Texts&) {
  return nb::cast<std::vector<std::string>>(value);
}
template <class Value, std::size_t n>
Value read(nb::handle value, const std::string& key, const field::OneOf<Value, n>& kind) {
  return gpu::choice_named(kind.choices, nb::cast<std::string>(value), key);
}

}  // namespace

gpu::SamplerWish sampler_wish(const nb::dict& wishes) {
  gpu::SamplerWish wish;
  gpu::visit_fields([&](const auto& row) {
    const std::string key(row.key);
    if (wishes.contains(key.c_str()) && !wishes[key.c_str()].is_none())
      gpu::member_of(wish, row.wish) = read(wishes[key.c_str()], key, row.kind);
  });
  return wish;
}

std::string describe_settings() { return gpu::describe_settings().dump(); }

}  // namespace tempera::python
