#include "executor/ranks/agreement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "model/units/error.hpp"

namespace wirewise {

namespace {

constexpr char kFacts[] = "facts", kAgreed[] = "all agree";
std::string agreed_key(int rank) { return fmt::format("agrees/{}", rank); }

void set_text(Rendezvous& ranks, const std::string& key, const std::string& text) {
    ranks.set(key, std::as_bytes(std::span(text)));
}

std::vector<Fact> facts_from(const std::vector<std::byte>& bytes) {
    std::istringstream text(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
    std::vector<Fact> facts;
    for (Fact fact; std::getline(text, fact.name) && std::getline(text, fact.value);) facts.push_back(fact);
    return facts;
}

[[noreturn]] void refuse(const Rendezvous& ranks, const std::string& name, const std::string& own,
                         const std::string& first) {
    throw InputError(name, fmt::format("rank {} has {}, rank 0 has {}", ranks.rank(), own, first),
                     "start all ranks with the same program, options and files");
}

void compare(const Rendezvous& ranks, const std::vector<Fact>& own, const std::vector<Fact>& first) {
    for (std::size_t i = 0; i < std::max(own.size(), first.size()); ++i) {
        const Fact none{"", "nothing"};
        const Fact &here = i < own.size() ? own[i] : none, &there = i < first.size() ? first[i] : none;
        const std::string& name = here.name.empty() ? there.name : here.name;
        if (here.name != there.name || here.value != there.value)
            refuse(ranks, name, here.value, there.name == name ? there.value : "nothing");
    }
}

}  // namespace

void agree(Rendezvous& ranks, const std::vector<Fact>& facts) {
    if (ranks.rank() > 0) {
        compare(ranks, facts, facts_from(ranks.get(kFacts)));
        set_text(ranks, agreed_key(ranks.rank()), "");
        ranks.get(kAgreed);
        return;
    }
    std::string text;
    for (const Fact& fact : facts) text += fact.name + '\n' + fact.value + '\n';
    set_text(ranks, kFacts, text);
    for (int rank = 1; rank < ranks.world(); ++rank) ranks.get(agreed_key(rank));
    set_text(ranks, kAgreed, "");
}

}  // namespace wirewise
