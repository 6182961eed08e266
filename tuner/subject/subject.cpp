#include "tuner/subject/subject.hpp"

#include "stencil_tune/error.hpp"
#include "tuner/subject/stencil_subject.hpp"
#include "tuner/user_kernel/user_kernel_subject.hpp"
#include "tuner/workers/wire.hpp"

#include <array>

namespace stencil_tune {
namespace {

struct Kind {
  std::string_view name;
  std::unique_ptr<Subject> (*read)(const Message& message);
};

std::unique_ptr<Subject> read_stencil(const Message& message) {
  return std::make_unique<StencilSubject>(message.at("problem").get<Problem>(), message.at("beside").get<int>());
}

constexpr std::array kKinds{Kind{"stencil", read_stencil}, Kind{"kernel", read_user_kernel}};

}  // namespace

std::unique_ptr<Subject> read_subject(const Message& message) {
  const auto kind = message.at("kind").get<std::string>();
  for (const Kind& each : kKinds) {
    if (each.name == kind) return each.read(message);
  }
  throw Error(ErrorCode::internal, "no kind of subject is called '" + kind + "'");
}

}  // namespace stencil_tune
