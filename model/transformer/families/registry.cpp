#include <algorithm>
#include <array>
#include <utility>

#include "model/transformer/families/families.hpp"

namespace wirewise {

namespace {
std::vector<Family> gathered() {
    std::vector<Family> all;
    for (auto group :
         {llama_families, gemma_families, norm_families, fused_families, biased_families, gpt_families,
          open_families, mixture_families, transposed_mixture_families, falcon_families, deepseek_families})
        std::ranges::move(group(), std::back_inserter(all));
    return all;
}
}  // namespace

std::string class_default(const Family& family) { return std::string(family.config_class) + " default"; }

const std::vector<Family>& all_families() {
    static const std::vector<Family> all = gathered();
    return all;
}

const Family* find_family(std::string_view model_type) {
    const auto found = std::ranges::find(all_families(), model_type, &Family::model_type);
    return found == all_families().end() ? nullptr : &*found;
}

}  // namespace wirewise
