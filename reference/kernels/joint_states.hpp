#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "reference/model/record_space.hpp"
#include "reference/numbers/matrix.hpp"

namespace tempera::reference {

/// The most joint states whose laws and kernels are computed.
inline constexpr std::size_t joint_limit = 4096;
/// The most whose law a program of a few steps leaves, by the matrices of single rungs.
inline constexpr std::size_t joint_law_limit = 16'384;

/// Sizes of the coordinates of a product of finite spaces; a joint state is its row-major index, so
/// rung 1 is the slowest.
using Shape = std::vector<std::size_t>;

/// |S|^K of K rungs with `records` records each, or limit + 1 if it is more than `limit`.
std::size_t joint_states_up_to(std::size_t limit, std::size_t records, std::size_t rungs);
/// Number of joint states.
/// @throw BadInput if it exceeds the limit
std::size_t joint_size(const Shape& shape, std::size_t limit = joint_limit);
/// Coordinates of a joint state, rung 1 first.
std::vector<std::size_t> coordinates(const Shape& shape, std::size_t state);
std::size_t joint_state(const Shape& shape, const std::vector<std::size_t>& coordinates);

/// Product of one law per rung (eq:theory-product-target).
Law product_law(const std::vector<Law>& laws);
/// Marginal of a joint law at `rung`, counted from 0.
Law marginal(const Law& joint, const Shape& shape, std::size_t rung);

/// Joint states written "s1|s2", in order.
std::vector<std::string> joint_names(const RecordSpace& space, std::size_t rungs);
/// Index of the joint state written "s1|s2".
/// @throw BadInput, naming `where`, if it is no state
std::size_t parse_joint_state(const RecordSpace& space, std::size_t rungs, std::string_view text,
                              const std::string& where);

/// Generated tokens of each record, and of each joint state: the size by which the smallest
/// violation of a claim is chosen.
std::vector<std::size_t> token_counts(const RecordSpace& space, std::size_t rungs = 1);

}  // namespace tempera::reference
