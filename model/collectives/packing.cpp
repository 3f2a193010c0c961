#include "model/collectives/packing.hpp"

#include <algorithm>
#include <limits>

namespace wirewise {
namespace {

constexpr double kTolerance = 1e-9;
constexpr int kMostPatterns = 500;

class Simplex {
  public:
    explicit Simplex(std::size_t wires)
        : size_(wires), inverse_(wires * wires, 0.0), basis_(wires, -1), level_(wires) {
        for (std::size_t i = 0; i < size_; ++i) {
            inverse_[i * size_ + i] = 1;
            // Wires that fill up together stall a simplex; a grain of sand in each breaks the ties.
            level_[i] = 1 + kTolerance * static_cast<double>(i * 7919 % 1009) / 1009;
        }
    }

    // What a unit of each wire is worth at the present amounts.
    std::vector<double> prices() const {
        std::vector<double> prices(size_, 0.0);
        for (std::size_t row = 0; row < size_; ++row)
            if (basis_[row] >= 0)
                for (std::size_t wire = 0; wire < size_; ++wire) prices[wire] += inverse_[row * size_ + wire];
        return prices;
    }

    // Takes a column in, the one that empties first out. `name`: the pattern's number; -1: room on a wire.
    void enter(const Column& column, int name) {
        std::vector<std::size_t> taken;  // wires of the column
        for (std::size_t wire = 0; wire < size_; ++wire)
            if (column[wire] != 0) taken.push_back(wire);
        std::vector<double> change(size_, 0.0);
        for (std::size_t row = 0; row < size_; ++row)
            for (const std::size_t wire : taken) change[row] += inverse_[row * size_ + wire] * column[wire];
        std::size_t out = size_;
        for (std::size_t row = 0; row < size_; ++row)
            if (change[row] > kTolerance &&
                (out == size_ || level_[row] * change[out] < level_[out] * change[row]))
                out = row;
        if (out == size_) return;
        pivot(change, out);
        basis_[out] = name;
    }

    std::vector<double> amounts(std::size_t patterns) const {
        std::vector<double> amounts(patterns, 0.0);
        for (std::size_t row = 0; row < size_; ++row)
            if (basis_[row] >= 0) amounts[static_cast<std::size_t>(basis_[row])] = std::max(0.0, level_[row]);
        return amounts;
    }

  private:
    void pivot(const std::vector<double>& change, std::size_t out) {
        double* pivot_row = &inverse_[out * size_];
        for (std::size_t wire = 0; wire < size_; ++wire) pivot_row[wire] /= change[out];
        level_[out] /= change[out];
        for (std::size_t row = 0; row < size_; ++row) {
            const double times = change[row];
            if (row == out || times == 0) continue;
            double* other_row = &inverse_[row * size_];
            for (std::size_t wire = 0; wire < size_; ++wire) other_row[wire] -= times * pivot_row[wire];
            level_[row] -= times * level_[out];
        }
    }

    std::size_t size_;
    std::vector<double> inverse_;  // of the basis, row by row
    std::vector<int> basis_;
    std::vector<double> level_;
};

// A wire worth less than nothing should rather have room.
Column room_wanted(const std::vector<double>& prices) {
    const auto least = std::min_element(prices.begin(), prices.end());
    if (least == prices.end() || *least > -kTolerance) return {};
    Column room(prices.size(), 0.0);
    room[static_cast<std::size_t>(least - prices.begin())] = 1;
    return room;
}

}  // namespace

std::vector<double> pack(std::size_t wires, const CheapestPattern& cheapest) {
    Simplex simplex(wires);
    std::vector<double> prices(wires, 0.01);  // none has a price yet: the first pattern loads little
    std::size_t patterns = 0;
    for (int step = 0; step < 4 * kMostPatterns && patterns < kMostPatterns; ++step) {
        if (const Column room = room_wanted(prices); !room.empty()) {
            simplex.enter(room, -1);
        } else {
            // A pattern that costs 1 or more at these prices adds nothing.
            const double limit =
                patterns == 0 ? std::numeric_limits<double>::infinity() : 1 - 10 * kTolerance;
            const Column column = cheapest(prices, limit);
            if (column.empty()) break;
            simplex.enter(column, static_cast<int>(patterns++));
        }
        prices = simplex.prices();
    }
    return simplex.amounts(patterns);
}

}  // namespace wirewise
