#include "model/program/trace.hpp"

#include <fmt/format.h>

#include <ostream>

#include <nlohmann/json.hpp>

namespace wirewise {

namespace {

std::string json_text(std::string_view text) {
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// The format counts in microseconds; six decimals keep our picoseconds.
std::string microseconds(Instant at) {
    constexpr std::int64_t per_microsecond = 1'000'000;
    return fmt::format("{}.{:06}", at.count() / per_microsecond, at.count() % per_microsecond);
}

class TraceWriter {
  public:
    explicit TraceWriter(std::ostream& out) : out_(out) {}

    void write(const TraceSource& source) {
        ++process_;
        name_process(source);
        for (const Span& span : source.timeline->spans) {
            write(*source.program, span);
            if (source.allocated_by_op) write_memory(span, (*source.allocated_by_op)[index_of(span.op)]);
        }
        event(fmt::format(R"("ph":"X","name":"issue","cat":"host","pid":{},"tid":0,"ts":0,"dur":{})",
                          process_, microseconds(source.timeline->host_end)));
    }

  private:
    void event(const std::string& members) {
        out_ << (first_ ? "\n{" : ",\n{") << members << '}';
        first_ = false;
    }

    void name_thread(std::size_t thread, std::string_view name) {
        event(fmt::format(R"("ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":{}}})", process_,
                          thread, json_text(name)));
        event(
            fmt::format(R"("ph":"M","name":"thread_sort_index","pid":{},"tid":{},"args":{{"sort_index":{}}})",
                        process_, thread, thread));
    }

    // Thread 0 is the host, thread 1 + s is stream s.
    void name_process(const TraceSource& source) {
        event(fmt::format(R"("ph":"M","name":"process_name","pid":{},"tid":0,"args":{{"name":{}}})", process_,
                          json_text(source.name)));
        event(
            fmt::format(R"("ph":"M","name":"process_sort_index","pid":{},"tid":0,"args":{{"sort_index":{}}})",
                        process_, process_));
        name_thread(0, "host");
        for (std::size_t s = 0; s < source.program->streams.size(); ++s)
            name_thread(s + 1, source.program->streams[s].name);
    }

    void write(const StepProgram& program, const Span& span) {
        const Op& op = program.ops[index_of(span.op)];
        event(fmt::format(R"("ph":"X","name":{},"cat":"{}","pid":{},"tid":{},"ts":{},"dur":{},"args":{{{}}})",
                          json_text(to_text(op.name)), name_of(op.section), process_,
                          index_of(span.stream) + 1, microseconds(span.begin),
                          microseconds(span.end - span.begin), arguments(program, span.op)));
    }

    static std::string arguments(const StepProgram& program, OpId id) {
        const Op& op = program.ops[index_of(id)];
        std::string text =
            fmt::format(R"("op":{},"section":"{}","micro_batch":{},"layer":{},"what":{},"bytes":{})",
                        index_of(id), name_of(op.section), op.micro_batch, op.name.layer,
                        json_text(what_of(program, op)), bytes_of(program, op));
        if (const auto* compute = std::get_if<Compute>(&op.payload))
            if (const double flops = flops_of(program.at(compute->kernel)).value(); flops > 0)
                text += fmt::format(R"(,"flops":{})", flops);
        return text;
    }

    // What a collective's S counts; else what the operands name.
    static std::int64_t bytes_of(const StepProgram& program, const Op& op) {
        if (const auto* call = std::get_if<Collective>(&op.payload)) return call->bytes.count();
        Bytes sum;
        for (const Operand& operand : program.operands_of(op)) sum += operand.bytes;
        return sum.count();
    }

    void write_memory(const Span& span, Bytes allocated) {
        event(fmt::format(R"("ph":"C","name":"allocated","pid":{},"tid":0,"ts":{},"args":{{"bytes":{}}})",
                          process_, microseconds(span.begin), allocated.count()));
    }

    std::ostream& out_;
    int process_ = 0;
    bool first_ = true;
};

}  // namespace

void write_trace(std::ostream& out, std::span<const TraceSource> sources) {
    out << R"({"schema":"wirewise.trace/1","displayTimeUnit":"ms","traceEvents":[)";
    TraceWriter writer(out);
    for (const TraceSource& source : sources) writer.write(source);
    out << "\n]}\n";
}

}  // namespace wirewise
