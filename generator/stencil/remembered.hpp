// What follows from a problem, and is asked for again and again: by candidates, of which a search judges 100000.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <typeindex>
#include <utility>

namespace stencil_tune {

/// Values by their type and a key, each derived once. For several threads.
class Remembered {
 public:
  using Key = std::array<int, 9>;

  /// The value of the key; `derive` makes it where nobody has asked before.
  template <class Value, class Derive>
  std::shared_ptr<const Value> recall(const Key& key, const Derive& derive) {
    const std::pair place(std::type_index(typeid(Value)), key);
    std::unique_lock lock(mutex_);
    auto found = values_.find(place);
    if (found == values_.end()) {
      lock.unlock();
      const auto derived = std::make_shared<const Value>(derive());
      lock.lock();
      found = values_.emplace(place, derived).first;
    }
    return std::static_pointer_cast<const Value>(found->second);
  }

 private:
  std::mutex mutex_;
  std::map<std::pair<std::type_index, Key>, std::shared_ptr<const void>> values_;  // guarded by mutex_
};

}  // namespace stencil_tune
