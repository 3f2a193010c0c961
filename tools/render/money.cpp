#include "tools/render/money.hpp"

#include <fmt/format.h>

namespace wirewise {

Job job_of(const Inputs& inputs, const PlanCandidate& candidate) {
    constexpr double kSecondsPerHour = 3600;
    Job job;
    job.hours = inputs.tokens_total / candidate.throughput.tokens_per_second / kSecondsPerHour;
    job.gpu_hours = job.hours * static_cast<double>(candidate.gpus.size());
    if (inputs.price) {
        job.cost = job.gpu_hours * inputs.price->per_gpu_hour;
        job.currency = inputs.price->currency;
    }
    return job;
}

Json job_json(const Job& job) {
    Json json{{"hours", job.hours}, {"gpu_hours", job.gpu_hours}};
    if (job.cost) json.update({{"cost", *job.cost}, {"currency", job.currency}});
    return json;
}

std::string to_text(const Job& job) {
    return job.cost ? fmt::format("{:.1f} h, {:.0f} {}", job.hours, *job.cost, job.currency)
                    : fmt::format("{:.1f} h", job.hours);
}

}  // namespace wirewise
