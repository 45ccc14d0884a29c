#pragma once

#include <string>
#include <utility>
#include <vector>

namespace tempera::gpu {

/// The text as it may be in XML or HTML, in an attribute too: &, <, > and quotes by their names,
/// control characters as spaces.
std::string escaped(const std::string& text);

/// A number as printf writes it: "%.2f" if no other format is named.
std::string in_decimal(double value, const char* format = "%.2f");

/// A step of 1, 2 or 5 times a power of ten that cuts a range into at most `parts` or so.
double nice_step(double range, double parts);

/// The colours of a picture, as CSS writes them.
struct Inks {
  std::string text, axis, grid;
  std::string background;           ///< empty: what is after shows through
  std::vector<std::string> curves;  ///< at least one

  /// The k-th curve's, the first again after the last.
  const std::string& curve(std::size_t k) const { return curves[k % curves.size()]; }
};

/// Dark on white. The curves' colours stay apart in print and for colour-blind eyes (Okabe and
/// Ito), without the yellow that a light background swallows.
const Inks& on_white();

/// The shapes of marks, so that curves are told apart without their colours.
enum class Mark { disc, ring, square, diamond, triangle, cross };

/// The place of a panel's axes in the picture, in its units.
struct Panel {
  double left, top, width, height;
  /// The place of a share in [0, 1], from left to right and from the bottom up.
  double x(double share) const { return left + share * width; }
  double y(double share) const { return top + (1.0 - share) * height; }
};

/// An SVG picture that is written from the back to the front. Lengths are in its own units, the
/// text is 13 of them high.
class Picture {
 public:
  /// name: what the picture shows, for those who cannot see it
  Picture(double width, double height, const std::string& name, Inks inks);
  /// The whole picture, <svg> to </svg>.
  std::string end() const { return svg_ + "</svg>\n"; }

  /// more: further attributes of the element, as they are in it
  void text(double x, double y, const std::string& words, const std::string& anchor = "start",
            const std::string& more = "");
  void line(double x1, double y1, double x2, double y2, const std::string& stroke, double width,
            const std::string& more = "");
  /// A line from left to right, or from right to left, that ends in a head.
  void arrow(double x1, double x2, double y, const std::string& stroke);
  void bar(double x, double top, double width, double height, const std::string& fill,
           const std::string& more = "");
  void dot(double x, double y, double radius, const std::string& fill);
  void mark(Mark shape, double x, double y, const std::string& colour);
  void curve(const std::vector<std::pair<double, double>>& points, const std::string& stroke,
             const std::string& more = "");
  /// If the reader's system is dark, each colour of the picture's is replaced by that of `dark`
  /// in its place; a viewer without style sheets shows the picture's own.
  void darken(const Inks& dark);

  /// Frame, title, if it has one, and the name of the y-axis, 62 to its left.
  void frame(const Panel& panel, const std::string& title, const std::string& y_name);
  void y_tick(const Panel& panel, double share, const std::string& words);
  /// Whole numbers from 0 to `last`, and the axis's name.
  void x_ticks(const Panel& panel, std::size_t last, const std::string& name);
  void x_tick(const Panel& panel, double share, const std::string& words);
  /// The name of the k-th curve, to the right of the panel.
  void key(const Panel& panel, std::size_t k, const std::string& words);

 private:
  Inks inks_;
  std::string svg_;
};

}  // namespace tempera::gpu
