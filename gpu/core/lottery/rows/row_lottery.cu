#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/for_each.h>
#include <thrust/host_vector.h>
#include <thrust/iterator/counting_iterator.h>

#include <string>

#include "gpu/core/lottery/cuda/row_steps.hpp"
#include "gpu/core/lottery/row_kernels.hpp"
#include "gpu/core/lottery/row_steps.hpp"
#include "gpu/core/lottery/rows/row_lottery.hpp"
#include "gpu/core/lottery/rows/row_requests.hpp"
#include "gpu/core/lottery/selecting_word.hpp"
#include "gpu/device/device.hpp"

namespace tempera::gpu {
namespace {

struct DeviceSystem {
  template <class T>
  using Vector = thrust::device_vector<T>;
  static auto policy() { return thrust::device; }
  static const float* read(const DeviceMemory<float>& logits, std::size_t, Vector<float>&) {
    return logits.data();
  }
};

struct HostSystem {
  template <class T>
  using Vector = thrust::host_vector<T>;
  static auto policy() { return thrust::host; }
  static const float* read(const DeviceMemory<float>& logits, std::size_t count,
                           Vector<float>& copy) {
    const std::vector<float> downloaded = logits.download(0, count);
    copy.assign(downloaded.begin(), downloaded.end());
    return thrust::raw_pointer_cast(copy.data());
  }
};

/// The steps on Thrust: the device's form, and on the host what the others are compared with.
template <class System>
struct OnThrust {
  static const char* name() { return "thrust"; }
  template <class Kernel>
  static void run(std::uint64_t items, const Kernel& kernel) {
    thrust::for_each(System::policy(), thrust::counting_iterator<std::uint64_t>(0),
                     thrust::counting_iterator<std::uint64_t>(items), kernel);
  }
  using FindChunkLargest = gpu::FindChunkLargest;
  using SumTickets = gpu::SumTickets;
};

template <class System>
const RowSteps& thrust_row_steps() {
  static const RowStepsBy<OnThrust<System>> steps;
  return steps;
}

template <class System>
class RowLotteryOn final : public RowLottery {
  template <class T>
  using Vector = typename System::template Vector<T>;

 public:
  explicit RowLotteryOn(const RowSteps& steps) : steps_(steps) {}
  explicit RowLotteryOn(std::unique_ptr<const RowSteps> steps)
      : own_steps_(std::move(steps)), steps_(*own_steps_) {}

  const char* form() const override { return steps_.name(); }
  void fuse_if_queued(Lottery& lottery, const std::function<void()>& fuse) override {
    struct ByAddress final : OpenDraws {
      explicit ByAddress(const std::function<void()>& fuse_draw) : fuse(fuse_draw) {}
      void by_address() override { fuse(); }
      void by_word(Lottery& /*lottery*/) override {}
      const std::function<void()>& fuse;
    } draws(fuse);
    if (own_steps_) lottery.decide(draws);
  }

  std::vector<ScoredToken> draw(const DeviceMemory<float>& logits, std::size_t vocabulary,
                                std::span<const RowDraw> draws, Lottery& lottery) override {
    const CurrentDevice here(device_);
    Drawn drawn(*this, logits, vocabulary, draws);
    lottery.decide(drawn);
    return std::move(drawn.tokens);
  }

  std::vector<ScoredToken> score(const DeviceMemory<float>& logits, std::size_t vocabulary,
                                 std::span<const RowToken> tokens) override {
    const CurrentDevice here(device_);
    RowRequests rows;
    for (const RowToken& row : tokens) {
      if (row.token >= vocabulary)
        throw ImpossibleToken("token " + std::to_string(row.token) +
                              " is outside the vocabulary of " + std::to_string(vocabulary));
      RowRequest& request = rows.add(row.powers);
      request.decision = Decision::given;
      request.given = row.token;
    }
    return finish(prepare(logits, vocabulary, rows), rows);
  }

  std::vector<double> log_normalizers(const DeviceMemory<float>& logits, std::size_t vocabulary,
                                      std::size_t count, std::span<const double> powers) override {
    const CurrentDevice here(device_);
    RowRequests rows;
    for (std::size_t row = 0; row < count; ++row) rows.add(powers);
    const RowBatch batch = prepare(logits, vocabulary, rows);
    steps_.score_normalizers(batch, powers.size());
    check(batch);
    std::vector<double> log_z(rows.powers.size());
    thrust::copy(log_z_.begin(), log_z_.begin() + static_cast<std::ptrdiff_t>(log_z.size()),
                 log_z.begin());
    return log_z;
  }

 private:
  /// A batch that is drawn as its lottery decides.
  class Drawn final : public OpenDraws {
   public:
    Drawn(RowLotteryOn& lottery_of_rows, const DeviceMemory<float>& logits, std::size_t vocabulary,
          std::span<const RowDraw> row_draws)
        : on_(lottery_of_rows),
          draws_(row_draws),
          rows_(requests_of(row_draws)),
          batch_(on_.prepare(logits, vocabulary, rows_)) {}
    void by_address() override { tokens = on_.finish(batch_, rows_); }
    void by_word(Lottery& lottery) override {
      on_.ask(lottery, batch_, draws_, rows_.requests);
      thrust::copy(rows_.requests.begin(), rows_.requests.end(), on_.requests_.begin());
      tokens = on_.finish(batch_, rows_);
      for (std::size_t row = 0; row < tokens.size(); ++row)
        lottery.won(draws_[row].draw, tokens[row].id);
    }
    std::vector<ScoredToken> tokens;

   private:
    RowLotteryOn& on_;
    std::span<const RowDraw> draws_;
    RowRequests rows_;
    RowBatch batch_;
  };

  template <class T>
  static T* grow(Vector<T>& memory, std::uint64_t size) {
    // Scratch: nothing in it is worth carrying over, and growing from empty would copy from
    // nowhere.
    if (memory.size() < size) memory = Vector<T>(size);
    return thrust::raw_pointer_cast(memory.data());
  }

  /// Everything up to the sums of tickets.
  RowBatch prepare(const DeviceMemory<float>& logits, std::size_t vocabulary,
                   const RowRequests& rows) {
    require_drawable(vocabulary);
    RowBatch batch;
    batch.rows = rows.requests.size();
    batch.vocabulary = vocabulary;
    batch.chunks = (vocabulary + RowBatch::chunk - 1) / RowBatch::chunk;
    batch.logits = System::read(logits, batch.rows * vocabulary, logits_);
    batch.powers = grow(powers_, rows.powers.size());
    thrust::copy(rows.powers.begin(), rows.powers.end(), powers_.begin());
    batch.requests = grow(requests_, batch.rows);
    thrust::copy(rows.requests.begin(), rows.requests.end(), requests_.begin());
    batch.chunk_largest = grow(chunk_largest_, batch.rows * batch.chunks);
    batch.largest = grow(largest_, batch.rows);
    batch.ticket_sums = grow(ticket_sums_, batch.chunks * rows.powers.size());
    batch.grain_sums = grow(grain_sums_, batch.rows * batch.chunks);
    batch.status = grow(status_, batch.rows);
    batch.token = grow(token_, batch.rows);
    batch.log_p = grow(log_p_, batch.rows);
    batch.log_z = grow(log_z_, rows.powers.size());
    steps_.find_largest(batch);
    steps_.sum_tickets(batch);
    return batch;
  }

  /// Shows each row's tickets to a lottery on the host and gives the row the counter whose Philox
  /// word is the lottery's answer, so that what decides the row is production's draw alone.
  void ask(Lottery& lottery, const RowBatch& batch, std::span<const RowDraw> draws,
           std::vector<RowRequest>& requests) {
    check(batch);
    grow(tickets_, batch.rows * batch.vocabulary);
    steps_.write_tickets(batch, thrust::raw_pointer_cast(tickets_.data()));
    std::vector<std::uint64_t> tickets(batch.rows * batch.vocabulary);
    thrust::copy(tickets_.begin(), tickets_.begin() + static_cast<std::ptrdiff_t>(tickets.size()),
                 tickets.begin());
    for (std::size_t row = 0; row < draws.size(); ++row) {
      const auto row_tickets = std::span(tickets).subspan(row * batch.vocabulary, batch.vocabulary);
      requests[row].counter =
          counter_giving(lottery.word(row_tickets, draws[row].draw), requests[row].seed);
    }
  }

  std::vector<ScoredToken> finish(const RowBatch& batch, const RowRequests& rows) {
    steps_.draw_winners(batch);
    check(batch);
    const auto count = static_cast<std::ptrdiff_t>(batch.rows);
    std::vector<std::uint64_t> token(batch.rows);
    std::vector<double> log_p(batch.rows);
    std::vector<double> log_z(rows.powers.size());
    thrust::copy(token_.begin(), token_.begin() + count, token.begin());
    thrust::copy(log_p_.begin(), log_p_.begin() + count, log_p.begin());
    thrust::copy(log_z_.begin(), log_z_.begin() + static_cast<std::ptrdiff_t>(log_z.size()),
                 log_z.begin());
    std::vector<ScoredToken> drawn(batch.rows);
    for (std::size_t row = 0; row < drawn.size(); ++row)
      drawn[row] = scored_token(token[row], log_p[row], log_z, rows.requests[row]);
    return drawn;
  }

  void check(const RowBatch& batch) const {
    std::vector<std::uint32_t> status(batch.rows);
    thrust::copy(status_.begin(), status_.begin() + static_cast<std::ptrdiff_t>(batch.rows),
                 status.begin());
    for (std::size_t row = 0; row < status.size(); ++row) require_sound(status[row], row);
  }

  const Device device_ = current_device();
  std::unique_ptr<const RowSteps> own_steps_;  // of CUDA; null if the steps outlive the lottery
  const RowSteps& steps_;
  Vector<double> powers_;
  Vector<float> logits_;
  Vector<RowRequest> requests_;
  Vector<float> chunk_largest_;
  Vector<float> largest_;
  Vector<std::uint64_t> ticket_sums_;
  Vector<GrainSum> grain_sums_;
  Vector<std::uint32_t> status_;
  Vector<std::uint64_t> token_;
  Vector<double> log_p_;
  Vector<double> log_z_;
  Vector<std::uint64_t> tickets_;
};

}  // namespace

std::unique_ptr<RowLottery> make_device_row_lottery() {
#if defined(TEMPERA_DEVICE_CUDA)
  return make_cuda_row_lottery();
#else
  return std::make_unique<RowLotteryOn<DeviceSystem>>(host_row_steps(chosen_instruction_set()));
#endif
}

std::unique_ptr<RowLottery> make_cuda_row_lottery(const DrawLaunch& launch) {
  return std::make_unique<RowLotteryOn<DeviceSystem>>(make_cuda_row_steps(launch));
}

std::unique_ptr<RowLottery> make_thrust_row_lottery() {
  return std::make_unique<RowLotteryOn<DeviceSystem>>(thrust_row_steps<DeviceSystem>());
}

std::unique_ptr<RowLottery> make_host_row_lottery() {
  return std::make_unique<RowLotteryOn<HostSystem>>(thrust_row_steps<HostSystem>());
}

}  // namespace tempera::gpu
