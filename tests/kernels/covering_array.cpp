#include "tests/kernels/covering_array.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <random>
#include <vector>

namespace stencil_tune {
namespace {

struct Pair {
  std::size_t a, b;  ///< factors, a < b
  int value_a, value_b;
};

/// Greedy: each row starts from a pair that is still missing and is the best of several random completions.
class PairCover {
 public:
  PairCover(std::span<const int> sizes, const Legal& legal, int attempts)
      : sizes_(sizes.begin(), sizes.end()), legal_(legal), attempts_(attempts), random_(20231121) {
    missing_.assign(sizes_.size() * sizes_.size(), {});
    for (std::size_t b = 0; b < sizes_.size(); ++b) {
      for (std::size_t a = 0; a < b; ++a) {
        table(a, b).assign(static_cast<std::size_t>(sizes_[a] * sizes_[b]), true);
      }
    }
  }

  std::vector<Row> rows() {
    std::vector<Row> rows;
    for (std::size_t b = 0; b < sizes_.size(); ++b) {
      for (std::size_t a = 0; a < b; ++a) {
        for (int i = 0; i < sizes_[a]; ++i) {
          for (int j = 0; j < sizes_[b]; ++j) {
            if (!is_missing({a, b, i, j})) continue;
            if (auto row = best_row({a, b, i, j})) {
              mark(*row);
              rows.push_back(std::move(*row));
            }
          }
        }
      }
    }
    return rows;
  }

 private:
  std::vector<bool>& table(std::size_t a, std::size_t b) { return missing_[b * sizes_.size() + a]; }
  std::size_t place(const Pair& pair) const {
    return static_cast<std::size_t>(pair.value_a * sizes_[pair.b] + pair.value_b);
  }
  bool is_missing(const Pair& pair) { return table(pair.a, pair.b)[place(pair)]; }

  std::optional<Row> best_row(const Pair& pair) {
    constexpr int kEnough = 24;
    std::optional<Row> best;
    int best_gain = 0;
    int found = 0;
    for (int attempt = 0; attempt < attempts_ && found < kEnough; ++attempt) {
      Row row(sizes_.size());
      for (std::size_t factor = 0; factor < row.size(); ++factor) {
        row[factor] = std::uniform_int_distribution<int>(0, sizes_[factor] - 1)(random_);
      }
      row[pair.a] = pair.value_a;
      row[pair.b] = pair.value_b;
      // What is hard to satisfy by chance may be easy with every other factor at its plainest.
      if (attempt >= attempts_ / 2 && found == 0) simplify(row, pair);
      if (!legal_(row)) continue;
      ++found;
      const int gain = count_gain(row);
      if (gain > best_gain) {
        best_gain = gain;
        best = std::move(row);
      }
    }
    return best;
  }

  void simplify(Row& row, const Pair& pair) {
    for (std::size_t factor = 0; factor < row.size(); ++factor) {
      if (factor != pair.a && factor != pair.b && random_() % 3 != 0) row[factor] = 0;
    }
  }

  int count_gain(const Row& row) {
    int gain = 0;
    for_each_pair(row, [&](const Pair& pair) { gain += is_missing(pair) ? 1 : 0; });
    return gain;
  }

  void mark(const Row& row) {
    for_each_pair(row, [&](const Pair& pair) { table(pair.a, pair.b)[place(pair)] = false; });
  }

  template <class Function>
  static void for_each_pair(const Row& row, const Function& function) {
    for (std::size_t b = 0; b < row.size(); ++b) {
      for (std::size_t a = 0; a < b; ++a) function(Pair{a, b, row[a], row[b]});
    }
  }

  std::vector<int> sizes_;
  const Legal& legal_;
  int attempts_;
  std::mt19937_64 random_;
  std::vector<std::vector<bool>> missing_;  ///< [b][a][pair of values]
};

}  // namespace

std::vector<Row> cover_pairs(std::span<const int> sizes, const Legal& legal, int attempts) {
  return PairCover(sizes, legal, attempts).rows();
}

}  // namespace stencil_tune
