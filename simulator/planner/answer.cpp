#include "simulator/planner/candidate.hpp"
#include "simulator/planner/neighbours.hpp"
#include "simulator/planner/question.hpp"
#include "simulator/planner/recommend.hpp"
#include "simulator/planner/remedy.hpp"

namespace wirewise {

namespace {

Baseline baseline_of(const PlanCandidate& single) {
    return {single.throughput.tokens_per_second, single.fits, single.estimate.device_used()};
}

void report(const Question& question, std::size_t done, std::string_view now) {
    if (question.progress) question.progress(done, question.strategies.size() + 1, now);
}

}  // namespace

Answer answer(const Question& question) {
    Answer answer;
    const Site everywhere = site_of(question, question.gpus);
    const Site one = site_of(question, {question.gpus.front()});
    report(question, 0, "single");
    const PlanCandidate single = judge(question, plan_for(question, Strategy::single, 1), one);
    answer.single = baseline_of(single);
    for (const Strategy strategy : question.strategies) {
        report(question, answer.candidates.size() + 1, name_of(strategy));
        const Site& site = strategy == Strategy::single ? one : everywhere;
        PlanCandidate candidate = strategy == Strategy::single
                                      ? single
                                      : judge(question, plan_for(question, strategy, site.ranks()), site);
        candidate.throughput.speedup_over_single =
            candidate.throughput.tokens_per_second / answer.single.tokens_per_second;
        candidate.odd = odd_against_neighbours(question, candidate);
        if (candidate.fits != Fit::yes) candidate.remedies = remedies_for(question, candidate, site);
        answer.candidates.push_back(std::move(candidate));
    }
    const Recommendation chosen = recommend(answer.candidates);
    answer.recommended = chosen.index;
    answer.why = chosen.why;
    return answer;
}

}  // namespace wirewise
