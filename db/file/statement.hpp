// A prepared SQL statement, and a transaction, each ended by its destructor.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace stencil_tune {

/// Parameters are bound, and columns read, from left to right.
class Statement {
 public:
  /// `doing` completes "cannot ..." in error messages.
  Statement(sqlite3* connection, std::string_view sql, std::string_view doing);

  Statement& bind(std::string_view value);
  Statement& bind(std::int64_t value);
  Statement& bind(int value) { return bind(static_cast<std::int64_t>(value)); }
  Statement& bind(bool value) { return bind(static_cast<std::int64_t>(value)); }
  Statement& bind(double value);

  /// True while there is a row; its columns are then read from the first on.
  bool step();

  /// The next column of the row.
  std::string text();
  std::int64_t integer();
  double real();

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const noexcept;
  };

  void check(int code);

  sqlite3* connection_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  std::string doing_;
  int next_parameter_ = 1;
  int next_column_ = 0;
};

/// Runs SQL that returns nothing of interest; several statements may follow each other.
void execute(sqlite3* connection, const std::string& sql, std::string_view doing);

/// The first column of the first row; 0 without a row.
std::int64_t query_integer(sqlite3* connection, std::string_view sql, std::string_view doing);

/// A write transaction: it takes the write lock when it begins, so that what it reads stays true until it commits.
/// Rolled back unless commit() succeeded.
class Transaction {
 public:
  Transaction(sqlite3* connection, std::string_view doing);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  void commit();

 private:
  sqlite3* connection_;
  std::string doing_;
};

}  // namespace stencil_tune
