// Random sound programs: every buffer is first written on its home stream; other streams join before they
// touch it.
#pragma once

#include <rapidcheck.h>

#include "model/program/builder.hpp"

namespace wirewise::testing {

inline StepProgram random_program(FreeRule rule = FreeRule::after_join) {
    const auto pick = [](int below) { return *rc::gen::inRange(0, below); };
    ProgramBuilder b(Phase::evaluation, rule);
    std::vector<StreamId> streams;
    for (int s = 0, count = 1 + pick(3); s < count; ++s)
        streams.push_back(b.stream("stream", StreamKind::compute));
    const auto any_stream = [&] {
        return streams[static_cast<std::size_t>(pick(static_cast<int>(streams.size())))];
    };
    std::vector<BufferId> alive;
    for (int step = 0, count = pick(60); step < count; ++step) {
        const StreamId stream = any_stream();
        switch (alive.empty() ? 0 : pick(4)) {
            case 0: {
                const bool lasting = pick(5) == 0;
                const Bytes bytes(pick(5) == 0 ? 0 : 1 + pick(5000));
                alive.push_back(lasting ? b.persistent("p", bytes, DType::int8, Role::gradient, stream)
                                        : b.transient("t", bytes, DType::int8, Role::activation, stream));
                b.compute(stream, "fill", Pointwise{}, {b.write(alive.back())});
                break;
            }
            case 1:
                b.join(stream, any_stream());
                break;
            case 2: {
                for (const StreamId other : streams) b.join(stream, other);
                const BufferId id = alive[static_cast<std::size_t>(pick(static_cast<int>(alive.size())))];
                b.compute(stream, "use", Pointwise{}, {b.update(id)});
                break;
            }
            case 3: {
                const auto at = alive.begin() + pick(static_cast<int>(alive.size()));
                const StreamId home = b.at(*at).home;
                for (const StreamId other : streams) b.join(home, other);
                b.release(*at);
                alive.erase(at);
                break;
            }
        }
    }
    if (rule == FreeRule::at_last_use)  // what a framework drops, it has joined
        for (const BufferId id : alive) {
            for (const StreamId other : streams) b.join(b.at(id).home, other);
            if (b.at(id).lifetime == Lifetime::transient) b.release(id);
        }
    return std::move(b).finish();
}

}  // namespace wirewise::testing
