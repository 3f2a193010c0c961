// A file descriptor that is closed when its owner goes.
#pragma once

#include <utility>

namespace wirewise {

class Descriptor {
  public:
    Descriptor() = default;
    explicit Descriptor(int number) : number_(number) {}
    Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(number_, other.number_);
        return *this;
    }
    ~Descriptor();

    explicit operator bool() const { return number_ >= 0; }
    int number() const { return number_; }

  private:
    int number_ = -1;
};

}  // namespace wirewise
