#include "model/program/timeline.hpp"

#include <algorithm>

namespace wirewise {

namespace {

// Of the step: a GPU that waits this much, or a host that is busy this much, makes the step host-bound.
constexpr double kWaitingGpu = 0.1, kBusyHost = 0.9;

// The time covered by intervals that come in order of their begin.
class Cover {
  public:
    void add(Instant begin, Instant end) {
        begin = std::max(begin, until_);
        if (end <= begin) return;
        length_ += end - begin;
        until_ = end;
    }
    Instant length() const { return length_; }

  private:
    Instant until_, length_;
};

enum class Class { compute, communication, update, host };

Class class_of(const Op& op) {
    const Class work = op.section == Section::update ? Class::update : Class::compute;
    return std::visit(Overloaded{
                          [&](const Compute&) { return work; },
                          [&](const Copy&) { return work; },
                          [](const Collective&) { return Class::communication; },
                          [](const Send&) { return Class::communication; },
                          [](const Receive&) { return Class::communication; },
                          [](const Record&) { return Class::host; },
                          [](const Wait&) { return Class::host; },
                          [](const Allocate&) { return Class::host; },
                          [](const Release&) { return Class::host; },
                          [](const HostWork&) { return Class::host; },
                      },
                      op.payload);
}

}  // namespace

TimelineSummary summarize(const StepProgram& program, const Timeline& timeline) {
    Cover compute, update, work, all, while_issuing;
    Instant communication, last_begin;
    for (const Span& span : timeline.spans) {
        ensure(span.begin >= last_begin && span.end >= span.begin, "spans come in order of their begin");
        last_begin = span.begin;
        const Class kind = class_of(program.ops[index_of(span.op)]);
        if (kind == Class::host) continue;
        if (kind == Class::compute) compute.add(span.begin, span.end);
        if (kind == Class::update) update.add(span.begin, span.end);
        if (kind == Class::communication)
            communication += span.end - span.begin;
        else
            work.add(span.begin, span.end);
        all.add(span.begin, span.end);
        while_issuing.add(std::min(span.begin, timeline.host_end), std::min(span.end, timeline.host_end));
    }
    const Instant starved = timeline.host_end - while_issuing.length();
    return {.step = to_seconds(timeline.end),
            .compute = to_seconds(compute.length()),
            .communication = to_seconds(communication),
            .exposed_communication = to_seconds(all.length() - work.length()),
            .optimizer = to_seconds(update.length()),
            .idle = to_seconds(timeline.end - all.length()),
            .host_busy = to_seconds(timeline.host_busy),
            .host_bound = to_seconds(starved) > kWaitingGpu * to_seconds(timeline.end) ||
                          to_seconds(timeline.host_busy) > kBusyHost * to_seconds(timeline.end)};
}

}  // namespace wirewise
