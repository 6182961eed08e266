#include "tuner/workers/wire.hpp"

#include <cmath>
#include <string>
#include <utility>

using BytesSerializer = nlohmann::adl_serializer<std::vector<std::byte>>;

void BytesSerializer::to_json(nlohmann::json& message, const std::vector<std::byte>& bytes) {
  std::vector<std::uint8_t> copy;
  for (const std::byte value : bytes) copy.push_back(std::to_integer<std::uint8_t>(value));
  message = nlohmann::json::binary(std::move(copy));
}

void BytesSerializer::from_json(const nlohmann::json& message, std::vector<std::byte>& bytes) {
  const auto& binary = message.get_binary();
  bytes.clear();
  for (const std::uint8_t value : binary) bytes.push_back(std::byte{value});
}

namespace stencil_tune {

void to_json(Message& message, const Problem& problem) {
  message = {{"stencil", problem.stencil}, {"stage", problem.stage},
             {"type", problem.type},       {"boundaries", problem.boundaries},
             {"extents", problem.extents}, {"pitch", problem.pitch},
             {"steps", problem.steps},     {"layers", problem.stencil.layers.value_or(LayerWidths{})}};
}

void from_json(const Message& message, Problem& problem) {
  auto stencil = message.at("stencil").get<Stencil>();
  stencil.layers = message.at("layers").get<LayerWidths>();
  problem = make_problem(std::move(stencil), message.at("type").get<ElementType>(),
                         message.at("boundaries").get<Boundaries>(), message.at("extents").get<Extents>(),
                         message.at("pitch"), message.at("steps"), message.at("stage"));
}

void require_measurements(const Message& answer) {
  constexpr double kMost = 1e9;  // whole members are read from such numbers too, and hold up to 2^31
  if (answer.is_number_float() && !(std::fabs(answer.get<double>()) < kMost)) {
    throw Message::out_of_range::create(406, "a worker measured " + answer.dump(), &answer);
  }
  if (!answer.is_structured()) return;
  for (const Message& part : answer) require_measurements(part);
}

Message to_message(const Error& error) { return {{"error", error.code()}, {"message", error.what()}}; }

void throw_if_error(const Message& message) {
  if (message.contains("error")) throw Error(message.at("error").get<ErrorCode>(), message.at("message"));
}

}  // namespace stencil_tune
