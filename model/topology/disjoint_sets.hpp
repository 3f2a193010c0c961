// Sets that merge (union-find), listed in order of their first member.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace wirewise {

class DisjointSets {
  public:
    explicit DisjointSets(std::size_t count) : parent_(count) {
        std::iota(parent_.begin(), parent_.end(), std::size_t{0});
    }

    std::size_t root(std::size_t member) const {
        while (parent_[member] != member) member = parent_[member];
        return member;
    }
    bool together(std::size_t a, std::size_t b) const { return root(a) == root(b); }
    void join(std::size_t a, std::size_t b) {
        const std::size_t ra = root(a), rb = root(b);
        parent_[std::max(ra, rb)] = std::min(ra, rb);
    }

    // Only the sets of these members.
    std::vector<std::vector<std::size_t>> sets(const std::vector<std::size_t>& members) const {
        std::vector<std::vector<std::size_t>> all;
        std::vector<std::size_t> roots;
        for (const std::size_t member : members) {
            std::size_t i = 0;
            while (i < roots.size() && roots[i] != root(member)) ++i;
            if (i == roots.size()) roots.push_back(root(member)), all.emplace_back();
            all[i].push_back(member);
        }
        return all;
    }

  private:
    std::vector<std::size_t> parent_;
};

}  // namespace wirewise
