#include "tools/run/session.hpp"

#include <fmt/format.h>

#include <cstring>

#include "model/strategy/native/layout.hpp"
#include "tools/inputs/files.hpp"
#include "tools/run/facts.hpp"
#include "tools/run/run_calibration.hpp"
#include "tools/run/run_report.hpp"
#include "tools/run/training_loop.hpp"

namespace wirewise {

namespace {

// Tells the others where this rank is, as long as there is someone to ask.
class PlaceTeller {
  public:
    PlaceTeller(TcpRendezvous* ranks, const char* at_first) : ranks_(ranks) {
        tell([at_first] { return std::string(at_first); });
    }
    PlaceTeller(TcpRendezvous* ranks, const Executor& executor) : ranks_(ranks) {
        tell([&executor] {
            const std::string position = executor.position();
            return position.empty() ? "loading weights" : position;
        });
    }
    ~PlaceTeller() { tell({}); }
    PlaceTeller(const PlaceTeller&) = delete;
    PlaceTeller& operator=(const PlaceTeller&) = delete;

  private:
    void tell(std::function<std::string()> where) {
        if (ranks_) ranks_->tell_place(std::move(where));
    }
    TcpRendezvous* ranks_;
};

std::string timeline_key(int rank) { return fmt::format("timeline/{}", rank); }

Timeline timeline_from(const std::vector<std::byte>& bytes) {
    Timeline timeline;
    timeline.spans.resize(bytes.size() / sizeof(Span));
    if (!bytes.empty()) std::memcpy(timeline.spans.data(), bytes.data(), bytes.size());
    if (!bytes.empty()) timeline.host_end = timeline.end = timeline.spans.back().end;
    return timeline;
}

// Of all ranks on rank 0; of none elsewhere.
std::vector<Timeline> timelines(const Executor& executor, int world, TcpRendezvous* ranks) {
    std::vector<Timeline> all;
    const bool here = !ranks;
    if (ranks && ranks->rank() > 0) {
        const Timeline& own = executor.timeline(ranks->rank());
        ranks->set(timeline_key(ranks->rank()), std::as_bytes(std::span(own.spans)));
        return all;
    }
    for (int rank = 0; rank < world; ++rank)
        all.push_back(here || rank == 0 ? executor.timeline(rank)
                                        : timeline_from(ranks->get(timeline_key(rank))));
    return all;
}

void check_agreement(const RunInputs& inputs, const Backend& backend, const WeightSource& weights,
                     TcpRendezvous& ranks) {
    const PlaceTeller place(&ranks, "comparing inputs with the other ranks");
    const ModelLayout layout(inputs.model, inputs.plan.mesh.shard);
    agree(ranks, facts_of(inputs, backend, weights, unit_tensors(inputs.model, layout)));
}

Prediction predicted(const RunInputs& inputs, Backend& backend, TcpRendezvous* ranks) {
    const PlaceTeller place(ranks, "predicting the step");
    return backend.predict(inputs);
}

}  // namespace

Report train_and_report(const RunOptions& options, const RunInputs& inputs, Backend& backend,
                        TcpRendezvous* ranks, const InterruptWatch& interrupt) {
    const bool leads = !ranks || ranks->rank() == 0;
    const auto weights = weights_of(options, inputs);
    if (ranks) check_agreement(inputs, backend, *weights, *ranks);
    backend.require_room(inputs, ranks);
    const Prediction prediction = leads ? predicted(inputs, backend, ranks) : Prediction();
    interrupt.check();
    const auto executor = backend.make(inputs, ranks);
    const PlaceTeller place(ranks, *executor);
    executor->load(*weights);
    const std::vector<StepResult> steps = train(*executor, inputs, options, interrupt);
    std::vector<Timeline> all;
    if (!options.trace.empty() || !options.calibrate.empty())
        all = timelines(*executor, inputs.plan.mesh.world(), ranks);
    if (!leads) return {};
    if (!options.trace.empty())
        write_file(options.trace, run_trace(executor->program(), all, prediction), "--trace");
    Report report = run_report(inputs, backend, *executor, steps, prediction);
    if (!options.calibrate.empty()) add_calibration(options.calibrate, all, inputs, prediction, report);
    return report;
}

}  // namespace wirewise
