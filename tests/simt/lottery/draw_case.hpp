#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "gpu/core/lottery/draw_address.hpp"
#include "gpu/core/lottery/row_kernels.hpp"

namespace tempera::gpu {

/// A batch of rows in host memory, with requests of ladders, rungs, seeds and addresses of their
/// own, and room for what the steps write. What is not written stays poison.
class DrawCase {
 public:
  DrawCase(std::size_t rows, std::size_t vocabulary, std::uint64_t seed);

  std::size_t rows() const { return requests_.size(); }
  std::size_t vocabulary() const { return vocabulary_; }
  float& logit(std::size_t row, std::size_t token) { return logits_[row * vocabulary_ + token]; }
  RowRequest& request(std::size_t row) { return requests_[row]; }
  const RowRequest& request(std::size_t row) const { return requests_[row]; }

  /// Gives the rows words at the ends of their intervals: the least or the largest of the winner
  /// that each has now, or of the first or the last token of a chunk, in turn.
  void select_ends();

  /// The batch, over memory of this case: fork a case to run it in another form.
  RowBatch batch();
  /// The largest logit of each run of `width` outputs, [rows, ceil(vocabulary / width)], as a head
  /// leaves it.
  std::vector<float> tile_largest(std::size_t width) const;
  /// All that the steps have written, as bits, with a name for each.
  struct Written {
    std::string what;
    std::vector<std::uint64_t> bits;
    friend bool operator==(const Written&, const Written&) = default;
  };
  std::vector<Written> written() const;
  std::uint64_t token(std::size_t row) const { return token_[row]; }

 private:
  std::size_t vocabulary_;
  std::size_t chunks_;
  std::vector<float> logits_;
  std::vector<double> powers_;
  std::vector<RowRequest> requests_;
  std::vector<float> chunk_largest_;
  std::vector<float> largest_;
  std::vector<std::uint64_t> ticket_sums_;
  std::vector<GrainSum> grain_sums_;
  std::vector<std::uint32_t> status_;
  std::vector<std::uint64_t> token_;
  std::vector<double> log_p_;
  std::vector<double> log_z_;
};

/// The names of what differs between two runs of a case; empty if every bit is the same.
std::vector<std::string> differences(const DrawCase& one, const DrawCase& other);

/// The case after the plain form of the host has drawn it.
DrawCase drawn_by_host(DrawCase rows);

}  // namespace tempera::gpu
