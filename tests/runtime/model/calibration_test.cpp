#include "runtime/model/calibration.hpp"

#include "generator/candidates/family.hpp"
#include "runtime/model/family_model.hpp"
#include "stencil_tune/error.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace stencil_tune {
namespace {

TEST(Calibration, OfAGpuIsItsOwnAndElseTheFirst) {
  EXPECT_EQ(calibration_of(find_device_model("h200")).gpu, "NVIDIA H200");
  EXPECT_EQ(&calibration_of(find_device_model("a100")), &calibrations().front());
  EXPECT_EQ(calibrations().front().gpu, "NVIDIA H200");
}

TEST(Calibration, EachOneThatShipsIsOfAKnownGpu) {
  for (const Calibration& calibration : calibrations()) {
    int known = 0;
    for (const DeviceModel& model : device_models()) known += model.gpu == calibration.gpu ? 1 : 0;
    EXPECT_EQ(known, 1) << calibration.gpu;
  }
}

TEST(Calibration, IsTheSameAfterItWasWrittenAndReadAgain) {
  const nlohmann::json written = calibrations().front();
  EXPECT_EQ(nlohmann::json(written.get<Calibration>()), written);
}

TEST(Calibration, WithAConstantMissingIsRefused) {
  nlohmann::json written = calibrations().front();
  written["fused"].erase("trip_ns");
  EXPECT_THROW(written.get<Calibration>(), nlohmann::json::exception);
}

TEST(FamilyModel, IsThereForEachFamilyAndMissedWhereThereIsNone) {
  for (const Family* family : families()) EXPECT_EQ(family_model(family->name).family, family->name);
  EXPECT_THROW(family_model("new"), Error);
}

}  // namespace
}  // namespace stencil_tune
