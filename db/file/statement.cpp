#include "db/file/statement.hpp"

#include "db/file/sqlite_error.hpp"

#include <sqlite3.h>

namespace stencil_tune {

void Statement::Finalize::operator()(sqlite3_stmt* statement) const noexcept { sqlite3_finalize(statement); }

Statement::Statement(sqlite3* connection, std::string_view sql, std::string_view doing)
    : connection_(connection), doing_(doing) {
  sqlite3_stmt* raw = nullptr;
  check(sqlite3_prepare_v2(connection, sql.data(), static_cast<int>(sql.size()), &raw, nullptr));
  statement_.reset(raw);
}

Statement& Statement::bind(std::string_view value) {
  // An empty view may have a null pointer, which SQLite would store as NULL.
  const char* data = value.empty() ? "" : value.data();
  check(sqlite3_bind_text64(statement_.get(), next_parameter_++, data, value.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
  return *this;
}

Statement& Statement::bind(std::int64_t value) {
  check(sqlite3_bind_int64(statement_.get(), next_parameter_++, value));
  return *this;
}

Statement& Statement::bind(double value) {
  check(sqlite3_bind_double(statement_.get(), next_parameter_++, value));
  return *this;
}

bool Statement::step() {
  next_column_ = 0;
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) check(code);
  return false;
}

std::string Statement::text() {
  const int column = next_column_++;
  const auto* data = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column));
  return data ? std::string(data, size) : std::string();
}

std::int64_t Statement::integer() { return sqlite3_column_int64(statement_.get(), next_column_++); }

double Statement::real() { return sqlite3_column_double(statement_.get(), next_column_++); }

void Statement::check(int code) {
  if (code != SQLITE_OK) throw_sqlite_error(connection_, code, doing_);
}

void execute(sqlite3* connection, const std::string& sql, std::string_view doing) {
  const int code = sqlite3_exec(connection, sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) throw_sqlite_error(connection, code, doing);
}

std::int64_t query_integer(sqlite3* connection, std::string_view sql, std::string_view doing) {
  Statement statement(connection, sql, doing);
  return statement.step() ? statement.integer() : 0;
}

Transaction::Transaction(sqlite3* connection, std::string_view doing) : connection_(connection), doing_(doing) {
  execute(connection_, "BEGIN IMMEDIATE", doing_);
}

Transaction::~Transaction() {
  // SQLite has already rolled back by itself after some errors (disk full, I/O); then there is nothing left to end.
  if (sqlite3_get_autocommit(connection_) == 0) sqlite3_exec(connection_, "ROLLBACK", nullptr, nullptr, nullptr);
}

void Transaction::commit() { execute(connection_, "COMMIT", doing_); }

}  // namespace stencil_tune
