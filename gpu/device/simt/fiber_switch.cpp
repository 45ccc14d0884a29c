#include "gpu/device/simt/fiber_switch.hpp"

#include <cstdint>

// A switch must be cheap, since every collective of a warp costs 32 of them: on x86-64 it is a swap
// of the registers that a call preserves; elsewhere ucontext, which also saves the signal mask.
#if defined(__x86_64__)
#define TEMPERA_SWITCH_IS_A_SWAP
#else
#include <ucontext.h>
#endif
// AddressSanitizer follows the stack pointer and has to be told.
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

#if defined(TEMPERA_SWITCH_IS_A_SWAP)
extern "C" void tempera_fiber_swap(void** from, void* to);
// Arguments in rdi and rsi. The return address on the new stack is where that fiber goes on.
asm(R"(
.text
.p2align 4
.type tempera_fiber_swap, @function
tempera_fiber_swap:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size tempera_fiber_swap, .-tempera_fiber_swap
.section .note.GNU-stack,"",@progbits
.text
)");
#endif

namespace tempera::gpu::simt {

namespace {

// What nvcc compiled has thousands of registers, each a variable on this stack. Pages that are
// never touched cost no memory.
constexpr std::size_t stack_bytes = std::size_t{1024} * 1024;

}  // namespace

struct Fiber::State {
  void (*entry)() = nullptr;
  std::unique_ptr<unsigned char[]> stack;
#if defined(TEMPERA_SWITCH_IS_A_SWAP)
  void* stack_pointer = nullptr;
#else
  ucontext_t context{};
#endif
  // For AddressSanitizer: the stack that it runs on, and what the sanitizer keeps of it.
  const void* bottom = nullptr;
  std::size_t size = 0;
  void* sanitizer = nullptr;
};

Fiber::Fiber() : state_(std::make_unique<State>()) {}

Fiber::Fiber(void (*entry)()) : state_(std::make_unique<State>()) {
  state_->entry = entry;
  state_->stack = std::make_unique_for_overwrite<unsigned char[]>(stack_bytes);
  state_->bottom = state_->stack.get();
  state_->size = stack_bytes;
  restart();
}

Fiber::~Fiber() {
#if defined(__SANITIZE_ADDRESS__)
  if (state_->stack) __asan_unpoison_memory_region(state_->stack.get(), stack_bytes);
#endif
}

void Fiber::restart() {
#if defined(__SANITIZE_ADDRESS__)
  __asan_unpoison_memory_region(state_->stack.get(), stack_bytes);
#endif
#if defined(TEMPERA_SWITCH_IS_A_SWAP)
  unsigned char* const top = state_->stack.get() + stack_bytes;
  auto** words = reinterpret_cast<void**>(top - reinterpret_cast<std::uintptr_t>(top) % 16) - 8;
  for (int i = 0; i < 8; ++i) words[i] = nullptr;
  words[6] = reinterpret_cast<void*>(state_->entry);  // after six preserved registers
  state_->stack_pointer = words;
#else
  getcontext(&state_->context);
  state_->context.uc_stack.ss_sp = state_->stack.get();
  state_->context.uc_stack.ss_size = stack_bytes;
  state_->context.uc_link = nullptr;
  makecontext(&state_->context, state_->entry, 0);
#endif
}

#if defined(__SANITIZE_ADDRESS__)
namespace {
/// What the last switch left: the sanitizer learns the host's stack from the first fiber it starts.
thread_local constinit const void** left_bottom = nullptr;
thread_local constinit std::size_t* left_size = nullptr;
}  // namespace
#endif

void Fiber::entered() {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(nullptr, left_bottom, left_size);
#endif
}

void Fiber::switch_to(Fiber& to) {
#if defined(__SANITIZE_ADDRESS__)
  left_bottom = &state_->bottom;
  left_size = &state_->size;
  __sanitizer_start_switch_fiber(&state_->sanitizer, to.state_->bottom, to.state_->size);
#endif
#if defined(TEMPERA_SWITCH_IS_A_SWAP)
  tempera_fiber_swap(&state_->stack_pointer, to.state_->stack_pointer);
#else
  swapcontext(&state_->context, &to.state_->context);
#endif
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(state_->sanitizer, nullptr, nullptr);
#endif
}

}  // namespace tempera::gpu::simt
