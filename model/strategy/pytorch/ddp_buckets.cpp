#include "model/strategy/pytorch/ddp_buckets.hpp"

#include "model/strategy/pytorch/gradient_order.hpp"

namespace wirewise {

namespace {

constexpr Bytes kFirstLimit = Bytes(1) * 1048576;
constexpr Bytes kLimit = Bytes(25) * 1048576;

}  // namespace

Buckets::Buckets(PytorchContext& context) : context_(context), places_(context.weights.size()) {
    const std::vector<WeightId> order = gradient_order(context);
    declare(first_, order, false);
    declare(rebuilt_, order, true);
    find_places();
}

Bytes Buckets::bytes(WeightId weight) const {
    return bytes_of(context_.weights.at(weight).count(), context_.plan().precision.parameter);
}

// A bucket closes once it has reached its limit.
void Buckets::declare(std::vector<Bucket>& buckets, const std::vector<WeightId>& order, bool limited) {
    Bytes filled;
    std::vector<WeightId> members;
    const auto close = [&] {
        const BufferId buffer =
            context_.build().persistent("gradient bucket", filled, context_.plan().precision.parameter,
                                        Role::communication, context_.compute);
        buckets.push_back({buffer, std::move(members)});
        members.clear();
        filled = Bytes(0);
    };
    for (const WeightId weight : order) {
        members.push_back(weight);
        filled += bytes(weight);
        if (limited && filled >= (buckets.empty() ? kFirstLimit : kLimit)) close();
    }
    if (!members.empty()) close();
}

void Buckets::find_places() {
    for (std::size_t b = 0; b < current().size(); ++b) {
        Bytes offset;
        for (const WeightId weight : current()[b].weights) {
            places_[index_of(weight)] = {b, offset, bytes(weight)};
            offset += bytes(weight);
        }
    }
}

std::vector<BufferId> Buckets::rebuilt_buffers() const {
    std::vector<BufferId> buffers;
    for (const Bucket& bucket : rebuilt_) buffers.push_back(bucket.buffer);
    return buffers;
}

void Buckets::use_rebuilt() {
    rebuilt_in_use_ = true;
    find_places();
}

}  // namespace wirewise
