// Expectations on the Error that a statement throws: its code, and words its message must have.
#pragma once

#include "stencil_tune/error.hpp"

#include <gtest/gtest.h>

#include <string>

#define EXPECT_ERROR(statement, expected_code, words)                                                   \
  try {                                                                                                 \
    statement;                                                                                          \
    ADD_FAILURE() << "no error from " #statement;                                                       \
  } catch (const ::stencil_tune::Error& error) {                                                        \
    EXPECT_EQ(::stencil_tune::name(error.code()), ::stencil_tune::name(expected_code)) << error.what(); \
    EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();                \
  }
