// A step shaped like FSDP's: gathers two layers ahead, reduce-scatters behind backward, `kernels` kernels a
// layer.
#pragma once

#include <vector>

#include "model/program/builder.hpp"

namespace wirewise {

struct StepShape {
    int layers = 32;
    int forward_kernels = 20, backward_kernels = 40;
    std::int64_t tokens = 4096, width = 4096;
};

class ShardedStep {
  public:
    explicit ShardedStep(const StepShape& shape) : shape_(shape), build_(Phase::steady_step) {}

    StepProgram write() {
        std::vector<EventId> gathered;
        for (int i = 0; i < shape_.layers; ++i) {
            build_.at_layer(i);
            gathered.push_back(gather());
            if (i > 0) build_.wait(compute_, gathered[i - 1]);
            kernels(shape_.forward_kernels);
        }
        build_.in_section(Section::backward);
        for (int i = shape_.layers - 1; i >= 0; --i) {
            build_.at_layer(i);
            build_.wait(compute_, gather());
            kernels(shape_.backward_kernels);
            reduce();
        }
        build_.in_section(Section::update);
        build_.join(compute_, reduce_);
        build_.compute(compute_, "update",
                       OptimizerUpdate{.count = parameters() * shape_.layers / 8,
                                       .traffic = Bytes(14 * parameters() * shape_.layers / 8)},
                       {});
        return std::move(build_).finish();
    }

  private:
    std::int64_t parameters() const { return 12 * shape_.width * shape_.width; }
    Bytes bytes() const { return Bytes(2 * parameters()); }

    EventId gather() {
        build_.join(gather_, compute_);
        build_.collective(gather_, "gather",
                          {CollectiveKind::all_gather, Axis::shard, DType::bf16, bytes(), false}, {});
        return build_.record(gather_);
    }
    void reduce() {
        build_.join(reduce_, compute_);
        build_.collective(reduce_, "reduce",
                          {CollectiveKind::reduce_scatter, Axis::shard, DType::bf16, bytes(), false}, {});
    }
    void kernels(int count) {
        const std::int64_t t = shape_.tokens, w = shape_.width;
        for (int i = 0; i < count; ++i)
            if (i % 3 == 0)
                build_.compute(compute_, "product", Gemm{.m = t, .n = w, .k = w}, {});
            else
                build_.compute(compute_, "pointwise",
                               Pointwise{.rows = t, .columns = w, .traffic = Bytes(6 * t * w)}, {});
    }

    StepShape shape_;
    ProgramBuilder build_;
    StreamId compute_ = build_.stream("compute", StreamKind::compute);
    StreamId gather_ = build_.stream("gather", StreamKind::communication);
    StreamId reduce_ = build_.stream("reduce", StreamKind::communication);
};

}  // namespace wirewise
