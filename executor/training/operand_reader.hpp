// A kernel's operands, one after the other, in the order that model/program/kernel.hpp gives.
#pragma once

#include <vector>

#include "model/units/error.hpp"

namespace wirewise {

// Values: how a backend addresses an operand.
template <class Values>
class OperandReader {
  public:
    explicit OperandReader(const std::vector<Values>& operands) : operands_(operands) {}
    Values next() {
        ensure(at_ < operands_.size(), "a kernel has an operand for each of its parts");
        return operands_[at_++];
    }
    Values next_if(bool present) { return present ? next() : Values{}; }
    std::size_t left() const { return operands_.size() - at_; }

  private:
    const std::vector<Values>& operands_;
    std::size_t at_ = 0;
};

}  // namespace wirewise
