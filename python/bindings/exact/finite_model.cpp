#include "python/bindings/exact/bindings.hpp"

namespace tempera::python {

std::vector<std::string> texts(const std::vector<reference::Rational>& numbers) {
  std::vector<std::string> list;
  for (const auto& number : numbers) list.push_back(reference::to_string(number));
  return list;
}

std::vector<std::string> texts(const std::vector<exact::Fraction>& numbers) {
  std::vector<std::string> list;
  for (const auto& number : numbers) list.push_back(number.text());
  return list;
}

std::vector<std::vector<std::string>> texts(const reference::Matrix& matrix) {
  std::vector<std::vector<std::string>> rows(matrix.rows());
  for (std::size_t x = 0; x < matrix.rows(); ++x)
    for (std::size_t y = 0; y < matrix.columns(); ++y)
      rows[x].push_back(reference::to_string(matrix(x, y)));
  return rows;
}

std::vector<std::vector<std::string>> texts(const std::vector<std::vector<exact::Fraction>>& rows) {
  std::vector<std::vector<std::string>> list;
  for (const auto& row : rows) list.push_back(texts(row));
  return list;
}

std::vector<exact::Fraction> fractions(const std::vector<std::string>& texts) {
  std::vector<exact::Fraction> list;
  for (const std::string& text : texts) list.emplace_back(text);
  return list;
}

void bind_finite_model(nb::module_& module) {
  using exact::FiniteModel;
  nb::class_<FiniteModel>(module, "FiniteModel")
      .def_static("open", &FiniteModel::open, nb::arg("file"))
      .def_static("parse", &FiniteModel::parse, nb::arg("json"), nb::arg("name"))
      .def("json", &FiniteModel::json)
      .def("smaller", &FiniteModel::smaller)
      .def_prop_ro("name", &FiniteModel::name)
      .def_prop_ro("vocabulary", &FiniteModel::vocabulary)
      .def_prop_ro("terminal", &FiniteModel::terminal)
      .def(
          "next",
          [](const FiniteModel& model, const std::vector<std::size_t>& prefix) {
            return texts(model.next(prefix));
          },
          nb::arg("prefix"))
      .def("records", &FiniteModel::records, nb::arg("horizon"))
      .def(
          "base_law",
          [](const FiniteModel& model, std::size_t horizon) {
            return texts(model.base_law(horizon));
          },
          nb::arg("horizon"))
      .def(
          "power_law",
          [](const FiniteModel& model, std::size_t horizon, const std::string& power) {
            return texts(model.power_law(horizon, exact::Fraction(power)));
          },
          nb::arg("horizon"), nb::arg("power"))
      .def(
          "compiled_local_move",
          [](const FiniteModel& model, std::size_t horizon, double power) {
            return texts(exact::compiled_local_move(model, horizon, power));
          },
          nb::arg("horizon"), nb::arg("power"));
}

}  // namespace tempera::python
